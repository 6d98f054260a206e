"""The metrics of a sweep: which measurements they need, and their values for the runs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Any

import numpy as np

from spart_blocks.base.errors import Fault, InputError, Place, brief
from spart_blocks.base.paths import element_names, split_index
from spart_blocks.formulas.reader import Value, parsed
from spart_blocks.measures.formulas import DURATION, OF_RUNS, Floats, MetricReader
from spart_blocks.measures.metric_values import (
    Formulas,
    Function,
    MeasuredRuns,
    OneRun,
    Supposed,
    asked_key,
    numbers,
    own,
)
from spart_blocks.measures.work import FAILED, STATUSES, Done
from spart_blocks.program import Program
from spart_blocks.program.added_signals import entries, with_signals
from spart_blocks.run.measure.gauges import Gauge

Given = Mapping[str, str | Function]
"""Metrics by name: a formula, or a Python function of `OneRun`."""

COLUMNS = (
    "run", "draw", "grid", "variant", "fault", "status", "message", "passed", "missed", "t_end",
    "steps", "no_gradient",
)  # fmt: skip
"""The columns of a sweep's table besides varied values, metrics and derivatives."""
EVENTFUL = ("stop", "event", "mode")
"""The kinds of crossings that count as events of their blocks."""
LONGEST_NAME = 100
SUPPOSED = (1.0, 0.0, -1.0, 1e9, -1e9, np.nan)
"""The numbers with which a Python metric is called once, to learn which formulas it reads."""


class Metrics(Formulas):
    """The metrics of the runs of one program. A Work runs `program`, and measures `gauges` and the
    events of `blocks`.
    """

    @staticmethod
    def of(
        given: Given,
        program: Program,
        varied: Mapping[str, Any] | Iterable[str] = (),
        places: Mapping[str, Place] = MappingProxyType({}),
    ) -> Metrics:
        """Compile metrics.

        varied: paths of the varied values, or values by path. places: where each metric is
        written. Raises InputError with all faults.
        """
        return _Reading(program, dict(given), varied, places).metrics()

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the metric columns, in order."""
        return tuple(label for name, width in self.widths.items() for label in labels(name, width))

    def columns(
        self, done: Done, values: Mapping[str, Any] = MappingProxyType({})
    ) -> dict[str, Floats]:
        """The columns (n,) of the metrics of n runs.

        A vector metric has a column for each element: miss[0], miss[1]. Values are NaN where a run
        failed or the metric is undefined. values: the varied values of these runs by path, (n,) or
        (n, m).
        """
        runs = MeasuredRuns(self, done, values)
        failed = done.status == STATUSES.index(FAILED)
        columns: dict[str, Floats] = {}
        with np.errstate(all="ignore"):
            for name, width in self.widths.items():
                found = np.array(np.broadcast_to(runs.metric(name), (len(done.runs), width)))
                found[failed] = np.nan
                columns.update(zip(labels(name, width), found.T, strict=True))
        return columns


def labels(name: str, width: int) -> list[str]:
    """The names of the values of a metric: miss, or miss[0], miss[1]."""
    return [name] if width == 1 else [f"{name}[{k}]" for k in range(width)]


def derivative_labels(name: str, width: int, parameter: str, shape: Sequence[int]) -> list[str]:
    """The names of the derivatives of a metric by a parameter, d(miss)/d(kp[0]): those of its first
    value by each element of the parameter, then those of the next.
    """
    elements = element_names(parameter, shape)
    return [f"d({one})/d({element})" for one in labels(name, width) for element in elements]


class _Reading:
    """Compiles metrics, in the order of their dependencies."""

    def __init__(
        self,
        program: Program,
        given: dict[str, str | Function],
        varied: Mapping[str, Any] | Iterable[str],
        places: Mapping[str, Place],
    ) -> None:
        self.given, self.places = given, places
        self.examples = dict(varied) if isinstance(varied, Mapping) else {}
        self.varied = {alias: path for path in varied for alias in aliases(path)}
        self.blocks = {c.block for c in program.crossings if c.kind in EVENTFUL}
        self.found = Metrics(program, (), (), {}, {}, {}, self.varied)
        self.faults: list[Fault] = []
        self.uses: dict[str, tuple[str, ...]] = {}

    def metrics(self) -> Metrics:
        for name in self.given:
            self._attempt(name, self._check_name)
        for name, formula in self.given.items():
            if not callable(formula):
                self._attempt(name, self._read_text)
        order = [name for name in self.given if name in self.uses]
        for name in order if not self.faults else ():
            self._attempt(name, self._check_circle)
        for name, formula in self.given.items():
            if callable(formula) or not self.faults:
                self._attempt(name, self._learn_width)
        if self.faults:
            raise InputError(self.faults)
        widths = {name: self.found.widths[name] for name in self.given}
        return replace(self.found, widths=widths)

    def _attempt(self, name: str, step: Callable[[str], None]) -> None:
        try:
            step(name)
        except InputError as error:
            for fault in error.faults:
                text = fault.message
                message = text if text.startswith("metric ") else f"metric {name}: {text}"
                one = replace(fault, message=message, place=fault.place or self.places.get(name))
                if one not in self.faults:
                    self.faults.append(one)

    def _check_name(self, name: str) -> None:
        if not isinstance(name, str) or not name or len(name) > LONGEST_NAME or "[" in name:
            hint = "a letter, then letters, digits and _"
            raise InputError(Fault(f"{brief(name)} is no name of a metric", hint=hint))
        if name in COLUMNS or name in self.varied or name == DURATION:
            raise InputError(Fault("the name is taken", hint="give it another name"))

    # --- formulas ----------------------------------------------------------------------

    def _read_text(self, name: str) -> None:
        text = self.given[name]
        value, metrics = self._read(text)
        self.uses[name] = metrics
        self._keep(name, value)

    def _read(self, given: Any) -> tuple[Value, tuple[str, ...]]:
        """The closure of a formula, and the names of the other metrics in it. The gauges and
        events that it needs are recorded.
        """
        text, tree = parsed(given, several="metrics", params=False)
        reader = MetricReader(
            text,
            (),
            OF_RUNS,
            program=self.found.program,
            varied=self.varied,
            others=self.given,
            blocks=self.blocks,
        )
        value = reader.value(tree)
        have = {slot.name for slot in self.found.program.signals}
        added = {name: v for name, v in reader.added.items() if name not in have}
        program = with_signals(self.found.program, added)
        for gauge in reader.gauges:
            _check_gauge(program, gauge)
        self.found = replace(
            self.found,
            program=program,
            gauges=tuple(dict.fromkeys((*self.found.gauges, *reader.gauges))),
            blocks=tuple(dict.fromkeys((*self.found.blocks, *reader.events))),
        )
        return value, tuple(reader.metrics)

    def _keep(self, key: str, value: Value) -> None:
        self.found = replace(self.found, values={**self.found.values, key: value})

    def _check_circle(self, name: str) -> None:
        seen: list[str] = []
        waiting = list(self.uses[name])
        while waiting:
            other = waiting.pop()
            if other == name:
                raise InputError(
                    Fault("it is computed from itself", hint=" -> ".join([*seen, name]))
                )
            if other not in seen and other in self.uses:
                seen.append(other)
                waiting += self.uses[other]

    # --- how many values ---------------------------------------------------------------

    def _learn_width(self, name: str) -> None:
        if name in self.found.widths:
            return
        formula = self.given[name]
        with np.errstate(all="ignore"):
            if callable(formula):
                self._suppose(name, formula)
                return
            for other in self.uses[name]:
                self._learn_width(other)
            self._hold(name, self._supposed(self.found.values[name], 1.0).shape[-1])

    def _suppose(self, name: str, function: Function) -> None:
        """Call a Python metric with fictitious values, to learn which formulas it reads. Several
        numbers are tried, because a function may read some formulas only where another value is
        large.
        """
        wrong, failed = list[InputError](), list[InputError]()
        widths: list[int] = []
        for number in SUPPOSED:
            run = OneRun(self._asking(name, number, wrong))
            try:
                widths.append(numbers(f"metric {name}", function, run, None).size)
            except InputError as error:
                failed.append(error)
        if wrong or not widths:
            raise [*wrong, *failed][0]
        self._hold(name, widths[0], {**self.found.functions, name: function})

    def _hold(self, name: str, width: int, functions: Mapping[str, Function] | None = None) -> None:
        widths = {**self.found.widths, name: width}
        kept = self.found.functions if functions is None else functions
        self.found = replace(self.found, widths=widths, functions=kept)

    def _supposed(self, value: Value, number: float) -> Floats:
        run = Supposed(self.found, self.examples, number)
        try:
            return np.atleast_2d(np.asarray(value(run), dtype=float))
        except ValueError as error:
            raise InputError(_shapes(error)) from None

    def _asking(self, name: str, number: float, wrong: list[InputError]) -> Callable[[str], Any]:
        """A function that compiles each formula that a Python metric reads, and returns its
        fictitious value. wrong: collects the errors of these formulas.
        """

        def read(text: str) -> Any:
            key = asked_key(name, text)
            if key not in self.found.values:
                try:
                    self._keep(key, self._asked(text))
                except InputError as error:
                    wrong.append(error)
                    raise
            return own(self._supposed(self.found.values[key], number)[0])

        return read

    def _asked(self, text: str) -> Value:
        value, metrics = self._read(text)
        for other in metrics:
            if callable(self.given[other]):
                hint = "a metric in Python takes others that are formulas"
                raise InputError(Fault(f"{other} is a metric in Python", hint=hint))
            self._learn_width(other)
        return value


def _shapes(error: ValueError) -> str:
    """The message for values whose shapes do not match."""
    text = str(error)
    if "broadcast" in text:
        return "its parts have different numbers of elements; take some, as plant.qm[0:2]"
    return text


def aliases(path: str) -> set[str]:
    """The names that formulas may use for a varied path."""
    return {path, path.removeprefix("params."), path.removeprefix("blocks.")}


def _check_gauge(program: Program, gauge: Gauge) -> None:
    """Raise InputError if the signal of a gauge does not have the size that the gauge needs."""
    size = entries(program, gauge.signal).size
    if gauge.kind == "rotation" and size != 9:
        hint = f"{split_index(gauge.signal)[0]} has {size} elements"
        raise InputError(Fault("largest_rotation takes an attitude (3, 3)", hint=hint))
    if gauge.reference is not None:
        other = entries(program, gauge.reference).size
        if other not in (1, size):
            message = f"{gauge.signal} has {size} elements, {gauge.reference} has {other}"
            raise InputError(Fault(message, hint="a reference has as many, or one"))
