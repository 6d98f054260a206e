"""The changes from one diagram file to another: blocks, parameters, wires, robots, used files."""

from __future__ import annotations

from spart_blocks.versions.differences.changes import ABSENT, Change, Difference
from spart_blocks.versions.differences.compare import (
    diff,
    difference_of,
    marks_between,
    signal_names,
    union_of,
)
from spart_blocks.versions.differences.sides import DiffSide, two_sides

__all__ = [
    "ABSENT",
    "Change",
    "Difference",
    "DiffSide",
    "diff",
    "difference_of",
    "marks_between",
    "signal_names",
    "two_sides",
    "union_of",
]
