"""Writes estimates into the file of a diagram."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np

from spart_blocks.base.document import read_file
from spart_blocks.base.errors import Fault, InputError
from spart_blocks.fits.free import Free
from spart_blocks.fits.problem import Problem, of_robot
from spart_blocks.fits.statistics import Statistics
from spart_blocks.gradients.tangents import Floats
from spart_blocks.versions.edits import LineChange, Operation, ReplaceLines, Tune, edit, edited

DIGITS = 8
"""Significant digits that are written."""
_NOTE = re.compile(r"\s*# fitted: .*$")


def write_estimates(
    path: Path, problem: Problem, statistics: Statistics, confidence: float
) -> None:
    """Set the values in the file, and note their intervals at the ends of their lines. Raises
    InputError for those of robots, which stand in their files.
    """
    for one in (one for one in problem.free if of_robot(one, problem)):
        text = f"{one.label} stands in the robot's file, which a fit does not write"
        raise InputError(Fault(text, hint="keep the estimates by --out FILE.json"))
    shared = [one for one in problem.free if one.experiment is None]
    tunes = [Tune(one.name, rounded(statistics.values, one)) for one in shared]
    after = edited(read_file(path)[1], tunes, str(path))
    noted: dict[int, list[str]] = {}
    for tune, one in zip(tunes, shared, strict=True):
        for step in tune.steps(after.file):
            line = after.file.document.place(*step.path).line
            assert line is not None
            noted.setdefault(line - 1, []).append(_interval(statistics, confidence, one))
    lines = after.after.splitlines()
    changes = tuple(
        LineChange(k, k + 1, (f"{_NOTE.sub('', lines[k])}  # fitted: {', '.join(noted[k])}",))
        for k in sorted(noted)
    )
    operations: list[Operation] = [*tunes, ReplaceLines(changes)]
    edit(path, operations)


def rounded(values: Floats, one: Free, digits: int = DIGITS) -> object:
    """A quantity among the values of all, as a number or nested lists with so many digits."""
    numbers = [float(f"{number:.{digits}g}") for number in values[one.part].tolist()]
    found: object = np.array(numbers).reshape(one.shape).tolist()
    return found


def _interval(s: Statistics, confidence: float, one: Free) -> str:
    """`J 0.0129 to 0.0130 (95 %)`, or why there is none."""
    part = one.part
    if not np.isfinite(s.errors[part]).all():
        return f"{one.name} not identifiable"
    share = f"{100 * confidence:g} %"
    spans = [f"{low:.4g} to {high:.4g}" for low, high in zip(s.low[part], s.high[part],
                                                             strict=True)]  # fmt: skip
    return f"{one.name} {spans[0] if not one.shape else spans} ({share})".replace("'", "")
