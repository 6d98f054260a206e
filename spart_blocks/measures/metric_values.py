"""The values of metrics: formulas for all runs at once, Python functions run by run."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from spart_blocks.base.errors import Fault, InputError, brief, raised_in, told, warn
from spart_blocks.formulas.reader import Value
from spart_blocks.measures.formulas import Floats
from spart_blocks.measures.work import FAILED, STATUSES, Done
from spart_blocks.program import Program
from spart_blocks.program.added_signals import entries
from spart_blocks.run.measure.gauges import Gauge, Readings


class OneRun(Mapping[str, Any]):
    """The argument of a metric in Python: maps the text of a formula to its value in one run.

    The value is a float or an array (m,), for example run["final(plant.qm)"] or run["kp"].
    """

    def __init__(self, read: Callable[[str], Any]) -> None:
        self._read = read

    def __getitem__(self, text: str) -> Any:
        return self._read(text)

    def __iter__(self) -> Iterator[str]:
        raise TypeError("a run has a value for every formula, and no list of them")

    def __len__(self) -> int:
        raise TypeError("a run has a value for every formula, and no list of them")


Function = Callable[[OneRun], Any]


@dataclass(frozen=True, eq=False)
class Formulas:
    """Compiled metrics.

    program: the program, with the formulas of signals added as signals. gauges, blocks: what must
    be measured for the metrics. widths: number of values of each metric, in order. values:
    closures of the metrics that are formulas, and of the formulas that Python functions read.
    functions: the metrics in Python. varied: for each name of a varied value in formulas, its
    path.
    """

    program: Program
    gauges: tuple[Gauge, ...]
    blocks: tuple[str, ...]
    widths: Mapping[str, int]
    values: Mapping[str, Value]
    functions: Mapping[str, Function]
    varied: Mapping[str, str]

    def width_of(self, gauge: Gauge) -> int:
        """The number of values in each reading of a gauge."""
        whole = gauge.kind in ("rotation", "displacement")
        return 1 if whole else entries(self.program, gauge.signal).size


class Unvaried:
    """The data of one run that formulas read, with the metrics that are formulas. constants: varied
    values by path.
    """

    metrics: Formulas
    constants: Mapping[str, Any]

    def varied(self, name: str) -> Any:
        return varied_value(self.constants, self.metrics.varied[name], 1)

    def metric(self, name: str) -> Any:
        return self.metrics.values[name](self)


class MeasuredRuns:
    """The data of finished runs that formulas read; each value has shape (n runs, m elements)."""

    def __init__(self, formulas: Formulas, done: Done, values: Mapping[str, Any]) -> None:
        self.formulas, self.done, self.values = formulas, done, values
        self.n = len(done.runs)
        self._known: dict[str, Floats] = {}

    def reading(self, gauge: Gauge, read: Callable[[Readings], Floats]) -> Floats:
        found = self.done.readings.get(gauge)
        if found is None:  # no run came so far
            return np.full((self.n, self.formulas.width_of(gauge)), np.nan)
        return read(found)

    def ever(self, gauge: Gauge) -> Any:
        """Whether a signal with values 0 and 1 was 1 at any time of each run."""
        return self.reading(gauge, lambda found: found["most"]) > 0.5

    def event(self, block: str) -> Floats:
        return np.asarray(self.done.events[block])[:, None]

    def duration(self) -> Floats:
        return self.done.t[:, None]

    def varied(self, name: str) -> Floats:
        return varied_value(self.values, self.formulas.varied[name], self.n)

    def metric(self, name: str) -> Floats:
        if name not in self._known:
            function = self.formulas.functions.get(name)
            found = self._called(name, function) if function else self.formulas.values[name](self)
            self._known[name] = np.asarray(found, dtype=float)
        return self._known[name]

    def _called(self, name: str, function: Function) -> Floats:
        """The values of a metric in Python, computed run by run. Where it raises an error the
        values are NaN, and a warning is given.
        """
        width = self.formulas.widths[name]
        out = np.full((self.n, width), np.nan)
        texts: dict[str, Floats] = {}
        failed = STATUSES.index(FAILED)
        without: list[InputError] = []
        for k in np.flatnonzero(self.done.status != failed):

            def read(text: str, k: int = int(k)) -> Any:
                if text not in texts:
                    value = self._asked(name, text)
                    texts[text] = np.broadcast_to(value, (self.n, value.shape[-1]))
                return own(texts[text][k])

            try:
                out[k] = numbers(f"run {self.done.runs[k]}", function, OneRun(read), width)
            except InputError as error:
                without.append(error)
        if without:
            count = f"{len(without)} of {self.n} runs"
            warn(f"metric {name} has no value in {count}; the first: {without[0]}")
        return out

    def _asked(self, name: str, text: str) -> Floats:
        value = self.formulas.values.get(asked_key(name, text))
        if value is None:
            hint = "ask for it first, whatever the run, so that it can be measured"
            raise InputError(Fault(f"{name} asks for {brief(text)} of some runs only", hint=hint))
        return np.atleast_2d(value(self))


class Supposed(MeasuredRuns):
    """One fictitious run in which every value is the same number. It shows how many values a
    metric has.
    """

    def __init__(self, formulas: Formulas, given: Mapping[str, Any], number: float) -> None:
        none, one = np.zeros(0), np.ones(1)
        done = Done(np.zeros(1, int), np.zeros(1, np.uint8), one, np.ones(1, int), none, none)
        super().__init__(formulas, done, given)
        self.number = number

    def _of(self, width: int) -> Floats:
        return np.full((1, width), self.number)

    def reading(self, gauge: Gauge, read: Callable[[Readings], Floats]) -> Floats:
        return self._of(self.formulas.width_of(gauge))

    def ever(self, gauge: Gauge) -> Any:
        return np.zeros((1, 1), dtype=bool)

    def event(self, block: str) -> Floats:
        return self._of(1)

    def duration(self) -> Floats:
        return self._of(1)

    def varied(self, name: str) -> Floats:
        return self._of(np.size(self.values.get(self.formulas.varied[name], 1.0)))

    def metric(self, name: str) -> Floats:
        return self._of(self.formulas.widths[name])


def varied_value(values: Mapping[str, Any], path: str, n: int) -> Floats:
    """The values (n, m) of a varied path in n runs. Raises InputError for what is no number."""
    try:
        return np.asarray(values[path], dtype=float).reshape(n, -1)
    except (TypeError, ValueError):
        raise InputError(f"{path} varies over what is no number; no metric can use it") from None


def own(values: Floats) -> Any:
    """The values of one run: a float if there is one value, otherwise a copy of the array."""
    return float(values[0]) if len(values) == 1 else values.copy()


def asked_key(name: str, text: str) -> str:
    """The key of a formula that the Python metric `name` reads."""
    return f"{name}: {text}"


def numbers(label: str, function: Function, run: OneRun, width: int | None) -> Floats:
    """The result of a Python metric as an array. Raises InputError if it is not numeric, or not of
    `width` numbers.
    """
    try:
        found = np.asarray(function(run), dtype=float)
    except InputError:
        raise
    except Exception as error:
        raise InputError(Fault(f"{label}: {told(error)}", hint=raised_in(error))) from error
    if found.ndim > 1 or (width is not None and found.size != width):
        wanted = "a number, or a list of them" if width is None else f"{width} numbers"
        raise InputError(f"{label}: it gives an array {found.shape}, expected {wanted}")
    return found.reshape(-1)
