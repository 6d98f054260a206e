"""Signals and references from files."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from bdsim.components import SourceBlock

from spart_blocks.base.curves.lines import LineTable, parted, without_sides
from spart_blocks.base.curves.piecewise import MOST_CHOSEN, cubic_spline, linear
from spart_blocks.base.errors import Fault, InputError, brief
from spart_blocks.base.spatial import Array
from spart_blocks.block_support.declared import Declared, PortSpec
from spart_blocks.block_support.parameters import fixed
from spart_blocks.block_support.ports import Port, taken_names
from spart_blocks.block_support.reference_values import MOTION
from spart_blocks.block_support.tables import MOST_NUMBERS
from spart_blocks.results.csv_columns import read_csv
from spart_blocks.results.recordings import read_recording

MOST_BENDS = 256
"""Largest number of samples at which steps end, for linear interpolation."""
_SIGNALS = "write signals: [plant.qm, plant.um], or {qm: plant.qm}"
_NAME = re.compile(r"[A-Za-z]\w{0,59}")


class Data(Declared, SourceBlock):
    """Recorded signals from a file.

    The file was written by `results.save`, `spart run --out` or `--record`, to replay a run, or is
    any other of these kinds: .csv with a header row, where a vector q has the columns q[0], q[1],
    ...; .npz or .mat (-v7) with an array for each signal, whose first axis is time; an MCAP file,
    or a bag of ROS 1 (.bag) or ROS 2 (.db3, or the metadata.yaml of its folder), whose signals are
    fields of topics, such as /imu.linear_acceleration.x and /joint_states.position[elbow]. A sample
    at time t is used at offset + scale t. Between samples, ``linear`` interpolates linearly and
    ``previous`` holds each until the next; outside, ``hold`` keeps the first and the last one,
    ``zero`` gives zeros, ``refuse`` ends the run with an error.

    Steps end at the samples with ``previous``, and with ``linear`` at those of recordings with up
    to 256. Kinks of longer recordings are left to the solver's error control; max_step should not
    exceed the shortest event in the recording. Long recordings are searched in O(1) if samples are
    evenly spaced, otherwise in O(log n).

    :arg file: a .csv, .npz, .mat, .mcap, .bag or .db3 file, or the metadata.yaml of a folder
    :arg signals: names of signals in the file, or a mapping from outputs to signals:
        [plant.qm, plant.um] has the outputs qm and um, like {qm: plant.qm, um: plant.um}
    :arg time: the name of the times [s] in the file; of messages t, since the first one was logged,
        or a field such as header.stamp
    :arg interpolation: linear or previous
    :arg outside: hold, zero or refuse
    :arg offset: time of the recording's t = 0
    :arg scale: duration of a unit of its times
    """

    nin = 0
    nout = 1
    gives = (PortSpec("u", "any", "", "an output for each signal, by its name"),)
    bounds_files = True
    file = fixed("path")
    signals = fixed("str or list or mapping")
    time = fixed("str", "", "t")
    interpolation = fixed("str", "", "linear", choices=("linear", "previous"))
    outside = fixed("str", "", "hold", choices=("hold", "zero", "refuse"))
    offset = fixed("float", "s", 0.0)
    scale = fixed("float", "s", 1.0)

    def build(self, file: Any, signals: Any, time: Any, offset: Any, scale: Any) -> dict[str, Any]:
        named = _named(signals)
        if not (math.isfinite(offset) and math.isfinite(scale) and scale > 0):
            raise ValueError(f"offset must be a time [s] and scale above 0, not {offset}, {scale}")
        found = read_recording(file, list(named.values()), time)
        samples = [found[name] for name in named.values()]
        single = next((name for name, one in found.items() if len(one.times) < 2), None)
        if single is not None:
            raise ValueError(f"{file} has one sample of {single}, a recording has two or more")
        count = sum(one.values.size for one in samples)
        if count > MOST_NUMBERS:
            raise ValueError(f"{file} has {count:,} numbers of these, at most {MOST_NUMBERS:,}")
        moved = {id(one.times): parted(offset + scale * one.times) for one in samples}
        self._shapes = [one.values.shape[1:] for one in samples]
        self._lines = [
            LineTable(
                moved[id(one.times)],
                one.values.reshape(len(one.times), -1),
                self.interpolation,
            )
            for one in samples
        ]
        pairs = zip(named, self._shapes, strict=True)
        return self.set_ports((), (Port(name, shape) for name, shape in pairs))

    def output(self, t: float, inputs: list[Any], x: Any) -> list[Any]:
        pairs = zip(self._lines, self._shapes, strict=True)
        values = [_shaped(line.at(t), shape) for line, shape in pairs]
        if self.outside == "hold":
            return values
        there = 0.0 if self.outside == "zero" else np.nan
        return [
            np.where(np.logical_or(t < line.points[0], t > line.points[-1]), there, value)
            for line, value in zip(self._lines, values, strict=True)
        ]

    def edges(self) -> list[tuple[float, float]]:
        """The samples at which the signals have jumps or kinks, unless there are too many."""
        bends = np.unique(np.concatenate([line.points for line in self._lines]))
        if self.interpolation != "previous" and len(bends) > MOST_BENDS:
            bends = np.unique([line.points[[0, -1]] for line in self._lines])
        return [(float(t), 0.0) for t in bends]


def _shaped(entries: list[Any], shape: tuple[int, ...]) -> Any:
    return np.array(entries).reshape(shape) if shape else entries[0]


def _named(signals: Any) -> dict[str, str]:
    """The signals by the names of their outputs; InputError for names that no port can have."""
    if isinstance(signals, Mapping):
        named = dict(signals)
    elif not isinstance(signals, str) and not isinstance(signals, Sequence):
        raise InputError(Fault(f"signals are names, not {brief(signals)}", hint=_SIGNALS))
    else:
        listed = [signals] if isinstance(signals, str) else list(signals)
        named = {str(name).rpartition(".")[2]: name for name in listed}
        if len(named) < len(listed):
            hint = "give each output a name: {one: a.qm, other: b.qm}"
            raise InputError(Fault("signals: two of them end in the same name", hint=hint))
    if not named or not all(isinstance(name, str) for name in named.values()):
        raise InputError(Fault(f"signals are names, not {brief(signals)}", hint=_SIGNALS))
    wrong = [name for name in named if not isinstance(name, str) or not _NAME.fullmatch(name)]
    wrong += taken_names(Data, [name for name in named if name not in wrong])
    if wrong:
        hint = f"name the output, as in {{signal: {named[wrong[0]]}}}"
        raise InputError(Fault(f"signals: no output can be called {brief(wrong[0])}", hint=hint))
    return named


class Trajectory_File(Declared, SourceBlock):
    """Joint motion through the samples of a file.

    A .csv file has a row of names, then rows of numbers with commas between; lines that begin with
    # are comments. `results.save("run.csv")` writes such a file. A name such as `plant.qm` stands
    for the columns `plant.qm[0]`, `plant.qm[1]`, ... Other files are those of DATA, and columns
    names their signals, which have the same times. The samples are interpolated by a cubic spline
    (`clamped`: at rest at its ends; `natural`: with zero acceleration there) or linearly (`linear`,
    whose rate jumps and whose acceleration is zero). Rate and acceleration are the derivatives.
    Outside the samples the first and last position are held. Of the two rows at an event, which a
    run records by default, the later one is used.

    Source: C. de Boor, "A Practical Guide to Splines" (1978), chapter IV.

    :arg path: the file
    :arg columns: names of the columns, in the order of the joints; by default all of a .csv file
        except time
    :arg time: name of the column of time [s], the first one by default; of other files t
    :arg method: clamped, natural or linear, defaults to clamped
    :arg T: time of the simulation at the file's time zero, defaults to 0
    """

    nin = 0
    nout = 3
    gives = tuple(replace(spec, shape="n") for spec in MOTION)
    bounds_files = True
    path = fixed("path")
    columns = fixed("list of str", "", None)
    time = fixed("str", "", None)
    method = fixed("str", "", "clamped", choices=("clamped", "natural", "linear"))
    T = fixed("float", "s", 0.0)

    def build(self, path: Any, columns: Any, time: Any, method: Any, T: Any) -> dict[str, Any]:
        self.times, points = _samples(Path(path).expanduser(), columns, time)
        self.times, points = without_sides(self.times + T, points)
        pieces = (
            linear(self.times, points)
            if method == "linear"
            else cubic_spline(self.times, points, method)
        )
        self.pieces = pieces.held(self.times[-1])
        # A run stops at the kinks of lines; at the samples of a long spline it need not.
        few = method == "linear" or len(self.times) <= MOST_CHOSEN
        self.bends = self.times if few else self.times[[0, -1]]
        return self.resolve_ports(n=points.shape[1:])

    def output(self, t: float, inputs: list[Any], x: Any) -> list[Any]:
        return self.pieces.at(t, derivatives=2)

    def edges(self) -> list[tuple[Any, Any]]:
        return [(float(t), 0.0) for t in self.bends]


def _samples(path: Path, columns: list[str] | str | None, time: str | None) -> tuple[Array, Array]:
    """The times (m,) [s] of a file's samples, and the joints' positions (m, n)."""
    wanted = [columns] if isinstance(columns, str) else columns
    names = read_csv(path).names if path.suffix.lower() == ".csv" else ()
    clock = time or (names[0] if names else "t")
    if wanted is None:
        wanted = [name for name in names if name != clock]
    wanted = [str(name) for name in wanted]
    read = read_recording(path, wanted, clock)
    found = [read[name] for name in wanted]
    if not found or len(found[0].times) < 2:
        raise InputError(f"{path} needs a column beside the time, and two samples")
    times = found[0].times
    if any(not np.array_equal(one.times, times) for one in found):
        raise InputError(f"{path}: its columns have samples at different times")
    table = np.column_stack([one.values.reshape(len(times), -1) for one in found])
    if table.size > MOST_NUMBERS:
        raise InputError(f"{path} has {table.size:,} numbers of these, at most {MOST_NUMBERS:,}")
    return times, table
