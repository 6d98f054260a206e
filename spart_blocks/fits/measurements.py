"""What was measured: samples of signals in the runs of a fit."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from spart_blocks.base.errors import Fault, InputError
from spart_blocks.diagram.sections.bounds import Bounds
from spart_blocks.diagram.sections.fit_section import Experiment, MeasuredSignal
from spart_blocks.gradients.tangents import Floats
from spart_blocks.results.recordings import read_recording

LEAST_SPREAD = 1e-300


@dataclass(frozen=True)
class Measured:
    """Samples of one signal. times (n,): of the run [s]. values (n, w). sd: that of the noise, None
    if unknown. bias, delay: bounds of what the sensor adds, None if it adds nothing.
    """

    signal: str
    shape: tuple[int, ...]
    times: Floats
    values: Floats
    sd: float | None
    weight: float
    bias: Bounds | None
    delay: Bounds | None

    @property
    def spreads(self) -> Floats:
        """A typical size of the changes of each element (w,), above zero."""
        sizes, most = np.std(self.values, axis=0), abs(self.values).max(axis=0)
        sizes = np.where(sizes > 0, sizes, np.where(most > 0, most, 1.0))
        return np.maximum(sizes, LEAST_SPREAD)


def measured(
    name: str,
    experiment: Experiment,
    path_of: Callable[[str, str, str], Path],
    start: float,
) -> list[Measured]:
    """The samples of an experiment. path_of: the path of a file, from the names of the experiment,
    of a signal that it holds, and of the file. start: of the run [s]. Raises InputError.
    """
    found = []
    for file, time in dict.fromkeys(_files(experiment)):
        some = {s: one for s, one in experiment.signals.items() if _file(one, experiment) == file
                and (one.time or experiment.time) == time}  # fmt: skip
        path = path_of(name, next(iter(some)), file)
        columns = list(dict.fromkeys(one.column for one in some.values()))
        samples = read_recording(path, columns, time)
        about = f"experiment {name}: {path}"
        windows = {
            column: _windowed(about, experiment, times, start)
            for column, (times, _) in samples.items()
        }
        for signal, one in some.items():
            inside, times = windows[one.column]
            array = samples[one.column].values
            found.append(Measured(
                signal, array.shape[1:], times, array.reshape(len(array), -1)[inside],
                one.sd, one.weight, one.bias, one.delay,
            ))  # fmt: skip
    return found


def _windowed(
    about: str, experiment: Experiment, times: Floats, start: float
) -> tuple[Any, Floats]:
    """Which samples at times (k,) of a file an experiment uses, and their times in the run. about:
    the experiment and its file, for errors."""
    times = times + experiment.offset
    inside = _window(experiment, times)
    if not inside.any():
        span = f"{times[0]:g} to {times[-1]:g} s" if len(times) else "no time at all"
        text = f"{about} has no sample in its window; it covers {span}"
        raise InputError(Fault(text, hint="look at offset, since and until"))
    if times[inside][0] < start:
        text = f"{about} has samples before the run starts at {start:g} s"
        hint = f"shift them by offset: {start - times[inside][0]:g}, or leave them out by since"
        raise InputError(Fault(text, hint=hint))
    if times[inside][-1] <= start:
        raise InputError(f"{about} has no sample after the start of the run")
    return inside, times[inside]


def _file(one: MeasuredSignal, experiment: Experiment) -> str:
    return one.file or experiment.file


def _files(experiment: Experiment) -> Iterable[tuple[str, str]]:
    for one in experiment.signals.values():
        yield _file(one, experiment), one.time or experiment.time


def _window(experiment: Experiment, times: Floats) -> Any:
    low = -np.inf if experiment.since is None else experiment.since
    high = np.inf if experiment.until is None else experiment.until
    return (times >= low) & (times <= high)
