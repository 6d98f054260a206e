"""Metrics as text, such as abs(final(plant.qm[0])) or sqrt(integral(ctrl[0]**2)) / duration.

A metric is a formula of measurements of whole runs, of the values that a sweep varies, of
parameters of the program and of other metrics. It is read once, and evaluated for all runs at once:
each value in it is an array (n, m) over n runs, of m elements.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import reduce
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from spart_blocks.base.errors import did_you_mean
from spart_blocks.formulas.reader import FUNCTIONS, Function, Reader, Value
from spart_blocks.formulas.values import written
from spart_blocks.measures.signal_formulas import (
    OF_SIGNALS,
    SignalReader,
    defined,
    is_parameter,
    kind_of,
    unknown_hint,
)
from spart_blocks.program import Program
from spart_blocks.run.measure.gauges import Gauge, Readings

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Measure:
    """A measurement of a signal over a whole run, such as `final` or `integral`.

    kind: the kind of gauge that it needs. read: computes its value from the readings of this
    gauge. reference: whether a second signal may or must be given.
    """

    kind: Literal["extremes", "integral", "square", "step", "rotation", "displacement"]
    read: Callable[[Readings], Floats]
    reference: Literal["none", "may", "must"] = "none"


def _seen(name: str) -> Callable[[Readings], Floats]:
    """A function that reads one quantity of an `extremes` gauge. It gives NaN where nothing was
    measured; the gauge itself is infinite there.
    """
    return lambda found: np.where(found["any"] > 0, found[name], np.nan)


def _peak(found: Readings) -> Floats:
    largest = np.maximum(np.abs(found["least"]), np.abs(found["most"]))
    return np.where(found["any"] > 0, largest, np.nan)


def _mean(found: Readings) -> Floats:
    return np.asarray(found["integral"] / np.where(found["span"] > 0, found["span"], np.nan))


def _rms(found: Readings) -> Floats:
    return np.asarray(np.sqrt(_mean(found)))


def _reached(name: str) -> Callable[[Readings], Floats]:
    """A function that reads a time of a step response: infinite if the run ended before it was
    reached, NaN if there was no step.
    """

    def read(found: Readings) -> Floats:
        pending = np.isnan(found[name]) & ~np.isnan(found["overshoot_percent"])
        return np.where(pending, np.inf, found[name])

    return read


MEASURES: Mapping[str, Measure] = {
    "initial": Measure("extremes", _seen("first")),
    "final": Measure("extremes", _seen("last")),
    "least": Measure("extremes", _seen("least")),
    "most": Measure("extremes", _seen("most")),
    "time_of_least": Measure("extremes", _seen("when_least")),
    "time_of_most": Measure("extremes", _seen("when_most")),
    "peak": Measure("extremes", _peak, "may"),
    "integral": Measure("integral", lambda found: found["integral"]),
    "mean": Measure("integral", _mean),
    "rms": Measure("square", _rms, "may"),
    "rise_time": Measure("step", _reached("rise_time"), "must"),
    "settling_time": Measure("step", _reached("settling_time"), "must"),
    "overshoot": Measure("step", lambda found: found["overshoot_percent"], "must"),
    "largest_rotation": Measure("rotation", lambda found: found["largest"]),
    "largest_displacement": Measure("displacement", lambda found: found["largest"]),
}
"""The measurements of signals by name. `time_of` and `duration` are not here: they are not of a
signal.
"""
EXTREME = {"min": "least", "max": "most"}
"""min and max of one signal are measurements; these are the names of their readings."""
TIME_OF = "time_of"
DURATION = "duration"
_WINDOW = ("since", "until")


def _folded(whole: Any, pair: Any) -> Callable[..., Any]:
    """min or max as a function: of one argument over its elements, of several elementwise."""
    return lambda *values: (
        whole(values[0], axis=-1, keepdims=True) if len(values) == 1 else reduce(pair, values)
    )


OF_RUNS: Mapping[str, Function] = {
    **FUNCTIONS,
    "min": Function(_folded(np.min, np.minimum), 1, None),
    "max": Function(_folded(np.max, np.maximum), 1, None),
    "norm": Function(lambda v: np.sqrt(np.sum(v**2, axis=-1, keepdims=True))),
    "sum": Function(lambda v: np.sum(v, axis=-1, keepdims=True)),
}


@dataclass
class MetricReader(Reader):
    """Compiles the formula of a metric to a closure, which takes the data of runs
    (`metric_values.MeasuredRuns`).

    varied: names of the varied values. others: names of the other metrics. blocks: names of blocks
    that have events. added: collects formulas of signals, each under the name of the new signal.
    partial: for a new signal that may be undefined, the name of a signal that is 1 where it is
    undefined. gauges, events, metrics: collect what the formula needs.
    """

    program: Program = field(kw_only=True)
    varied: Collection[str] = ()
    others: Collection[str] = ()
    blocks: Collection[str] = ()
    added: dict[str, Callable[[Any], Any]] = field(default_factory=dict)
    partial: dict[str, str] = field(default_factory=dict)
    gauges: list[Gauge] = field(default_factory=list)
    events: list[str] = field(default_factory=list)
    metrics: list[str] = field(default_factory=list)

    # --- names -------------------------------------------------------------------------

    def value(self, node: ast.expr) -> Value:
        name = written(node)
        if name is not None:
            return self._named(node, name)
        if isinstance(node, ast.Subscript):
            return self._part(node)
        return super().value(node)

    def _named(self, node: ast.expr, name: str) -> Value:
        if name in self.varied:
            return lambda known: known.varied(name)
        if name in self.others:
            self.metrics.append(name)
            return lambda known: known.metric(name)
        if name == DURATION:
            return lambda known: known.duration()
        if isinstance(node, ast.Subscript) and written(node.value) in {*self.varied, *self.others}:
            return self._part(node)
        if isinstance(node, ast.Name) and name in {"pi", "e", *self.functions}:
            return super()._name(node)
        if is_parameter(self.program, name):
            signal = f"({name})"
            self.added[signal] = lambda known: known.parameter(name)
            return self._reading(Gauge("extremes", signal), _seen("last"))
        if kind_of(self.program, name) == "signal":
            hint = f"measure it, as in final({name}), most({name}) or rms({name})"
            raise self.fault(node, f"{name} is a signal, which changes during a run", hint)
        known = {*self.varied, *self.others, DURATION, *self.program.given}
        near = unknown_hint(self.program, name) if "." in name else did_you_mean(name, known)
        raise self.fault(node, f"there is no value {name!r}", near)

    def _part(self, node: ast.Subscript) -> Value:
        """Elements of a vector value, v[0] or v[1:3]."""
        values = self.value(node.value)
        if isinstance(node.slice, ast.Slice):
            ends = (node.slice.lower, node.slice.upper, node.slice.step)
            chosen = slice(*(None if end is None else self._index(end) for end in ends))
        else:
            at = self._index(node.slice)
            chosen = slice(at, at + 1 or None)
        place = self.fault(node, "").faults[0].message

        def part(known: Any) -> Any:
            whole = values(known)
            if not np.size(whole[:1, chosen]) and len(whole):
                raise ValueError(f"{place}the value has {whole.shape[1]} elements")
            return whole[:, chosen]

        return part

    # --- measurements ------------------------------------------------------------------

    def _call(self, node: ast.Call) -> Value:
        name: str = node.func.id if isinstance(node.func, ast.Name) else ""
        if name == TIME_OF:
            return self._time_of(node)
        if name in EXTREME and len(node.args) == 1 and self._of_signals(node.args[0]):
            name = EXTREME[name]
        if name in MEASURES:
            return self._measured(node, name)
        if name and name not in self.functions:
            hint = did_you_mean(name, {*self.functions, *MEASURES, TIME_OF})
            raise self.fault(node, f"there is no function {name!r}", hint)
        return super()._call(node)

    def _of_signals(self, node: ast.expr) -> bool:
        """Whether a formula contains only signals, parameters and t, and no measurements."""
        if isinstance(node, ast.Call):
            called = node.func.id if isinstance(node.func, ast.Name) else ""
            if called in MEASURES or called == TIME_OF:
                return False
        name = written(node)
        if name is not None:
            if name in self.varied or name in self.others or is_parameter(self.program, name):
                return False
            return kind_of(self.program, name) == "signal"
        inner = [n for n in ast.iter_child_nodes(node) if isinstance(n, ast.expr)]
        return any(self._of_signals(n) for n in inner)

    def _measured(self, node: ast.Call, name: str) -> Value:
        measure = MEASURES[name]
        most = 1 if measure.reference == "none" else 2
        least = 2 if measure.reference == "must" else 1
        if not least <= len(node.args) <= most or any(
            isinstance(a, ast.Starred) for a in node.args
        ):
            takes = {(1, 1): "a signal", (1, 2): "a signal, and a reference if you like"}
            wanted = takes.get((least, most), "a signal and its reference")
            raise self.fault(node, f"{name} takes {wanted}", f"write {_example(name, most)}")
        window = {key.arg or "**": self._time(key) for key in node.keywords}
        kind, argument = measure.kind, node.args[0]
        if kind == "integral" and name == "integral" and (base := _squared(argument)) is not None:
            kind, argument = "square", base
        signal = self._formula(argument, needs="signal")
        reference = self._formula(node.args[1]) if len(node.args) == 2 else None
        partial = [self.partial[name] for name in (signal, reference) if name in self.partial]
        undefined = [Gauge("extremes", name, None, **window) for name in partial]
        return self._reading(Gauge(kind, signal, reference, **window), measure.read, undefined)

    def _time(self, key: ast.keyword) -> float:
        """The number [s] of a keyword since= or until=."""
        if key.arg not in _WINDOW:
            raise self.fault(key.value, f"there is no {key.arg or '**'}=", "it has since=, until=")
        found = key.value
        if not isinstance(found, ast.Constant) or not isinstance(found.value, (int, float)):
            raise self.fault(found, f"{key.arg}= takes a time in seconds", f"write {key.arg}=2.5")
        return float(found.value)

    def _formula(self, node: ast.expr, needs: str | None = None) -> str:
        """The name of the signal to measure. A formula of signals is added as a new signal, whose
        name is returned.
        """
        reader = SignalReader(self.text, (), OF_SIGNALS, program=self.program)
        value = reader.value(node)
        if needs and not reader.signals:
            hint = "a measurement is of a signal, such as plant.qm[0]"
            raise self.fault(node, f"{ast.unparse(node)} is no signal", hint)
        plain = written(node)
        if plain is not None and reader.signals:
            return plain
        name = f"({ast.unparse(node)})"
        if not reader.partial:
            self.added[name] = value
            return name
        # What is not finite would fail the run: 0 stands for it, and a further signal tells of it.
        self.partial[name] = f"{name} is undefined"
        self.added[name] = lambda known: np.where(defined(v := value(known)), v, 0.0)
        self.added[self.partial[name]] = lambda known: np.where(defined(value(known)), 0.0, 1.0)
        return name

    def _reading(
        self,
        gauge: Gauge,
        read: Callable[[Readings], Floats],
        undefined: Sequence[Gauge] = (),
    ) -> Value:
        """A closure that reads a gauge.

        undefined: gauges of signals that are above 0 where the measured signal is undefined; the
        value is NaN for such runs.
        """
        self.gauges += [gauge, *undefined]

        def value(known: Any) -> Any:
            found = known.reading(gauge, read)
            for one in undefined:
                ever = known.ever(one)
                whole = np.any(ever, axis=-1, keepdims=True)
                found = np.where(whole if found.shape[-1] == 1 else ever, np.nan, found)
            return found

        return value

    def _time_of(self, node: ast.Call) -> Value:
        name = written(node.args[0]) if len(node.args) == 1 and not node.keywords else None
        if name is None:
            raise self.fault(node, "time_of takes a block with events", "write time_of(landing)")
        if name not in self.blocks:
            hint = did_you_mean(name, self.blocks) or "no block stops, resets or switches"
            raise self.fault(node.args[0], f"there is no block {name!r} with events", hint)
        self.events.append(name)
        return lambda known: known.event(name)


def _squared(node: ast.expr) -> ast.expr | None:
    """x for an expression x**2 where x is a name; None for any other expression."""
    if not isinstance(node, ast.BinOp) or not isinstance(node.op, ast.Pow):
        return None
    two = isinstance(node.right, ast.Constant) and node.right.value == 2
    return node.left if two and written(node.left) is not None else None


def _example(name: str, most: int) -> str:
    return f"{name}(plant.qm[0])" if most == 1 else f"{name}(plant.qm[0], goal[0])"
