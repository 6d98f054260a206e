"""A reference for joints from a file of samples."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from bdsim.components import SourceBlock

from spart_blocks.base.curves.lines import without_sides
from spart_blocks.base.curves.piecewise import MOST_CHOSEN, cubic_spline, linear
from spart_blocks.base.errors import InputError
from spart_blocks.base.spatial import Array
from spart_blocks.block_support.declared import Declared
from spart_blocks.block_support.parameters import fixed
from spart_blocks.block_support.reference_values import MOTION
from spart_blocks.block_support.tables import MOST_NUMBERS
from spart_blocks.results.csv_columns import read_csv


class Trajectory_File(Declared, SourceBlock):
    """Joint motion through the samples of a CSV file.

    The file has a row of names, then rows of numbers with commas between; lines that begin with #
    are comments. `results.save("run.csv")` writes such a file. A name such as `plant.qm` stands for
    the columns `plant.qm[0]`, `plant.qm[1]`, ... The samples are interpolated by a cubic spline
    (`clamped`: at rest at its ends; `natural`: with zero acceleration there) or linearly (`linear`,
    whose rate jumps and whose acceleration is zero). Rate and acceleration are the derivatives.
    Outside the samples the first and last position are held. Of the two rows at an event, which a
    run records by default, the later one is used.

    Source: C. de Boor, "A Practical Guide to Splines" (1978), chapter IV.

    :arg path: the file
    :arg columns: names of the columns, in the order of the joints; by default all except time
    :arg time: name of the column of time [s], the first one by default
    :arg method: clamped, natural or linear, defaults to clamped
    :arg T: time of the simulation at the file's time zero, defaults to 0
    """

    nin = 0
    nout = 3
    gives = tuple(replace(spec, shape="n") for spec in MOTION)
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
    file = read_csv(path)
    clock = file.names[0] if time is None else file.signal(time)[0][0]
    wanted = [name for name in file.names if name != clock] if columns is None else columns
    wanted = [wanted] if isinstance(wanted, str) else list(wanted)
    chosen = [one for name in wanted for one in file.signal(str(name))[0]]
    table = file.numbers([clock, *chosen])
    if not chosen or len(table) < 2:
        raise InputError(f"{path} needs a column beside the time, and two samples")
    if table.size > MOST_NUMBERS:
        raise InputError(f"{path} has {table.size:,} numbers of these, at most {MOST_NUMBERS:,}")
    file.check_rising(clock, table[:, 0])
    return table[:, 0], table[:, 1:]
