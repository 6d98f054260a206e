"""Writes estimates into the file of a diagram."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from spart_blocks.base.document import read_file
from spart_blocks.versions.edits import LineChange, Operation, ReplaceLines, Tune, edit, edited

if TYPE_CHECKING:
    from spart_blocks.fits.estimate import Fit
    from spart_blocks.fits.problem import Free

DIGITS = 8
"""Significant digits that are written."""
_NOTE = re.compile(r"\s*# fitted: .*$")


def write_estimates(fit: Fit, path: Path) -> None:
    """Set the values in the file, and note their intervals at the ends of their lines."""
    shared = [one for one in fit.problem.free if one.experiment is None]
    tunes = [Tune(one.name, _rounded(fit, one)) for one in shared]
    after = edited(read_file(path)[1], tunes, str(path))
    noted: dict[int, list[str]] = {}
    for tune, one in zip(tunes, shared, strict=True):
        for step in tune.steps(after.file):
            line = after.file.document.place(*step.path).line
            assert line is not None
            noted.setdefault(line - 1, []).append(_interval(fit, one))
    lines = after.after.splitlines()
    changes = tuple(
        LineChange(k, k + 1, (f"{_NOTE.sub('', lines[k])}  # fitted: {', '.join(noted[k])}",))
        for k in sorted(noted)
    )
    operations: list[Operation] = [*tunes, ReplaceLines(changes)]
    edit(path, operations)


def _rounded(fit: Fit, one: Free) -> object:
    value = fit.statistics.values[one.part]
    with np.errstate(divide="ignore"):
        rounded = [float(f"{number:.{DIGITS}g}") for number in value.tolist()]
    found: object = np.array(rounded).reshape(one.shape).tolist()
    return found


def _interval(fit: Fit, one: Free) -> str:
    """`J 0.0129 to 0.0130 (95 %)`, or why there is none."""
    s, part = fit.statistics, one.part
    if not np.isfinite(s.errors[part]).all():
        return f"{one.name} not identifiable"
    share = f"{100 * fit.section.confidence:g} %"
    spans = [f"{low:.4g} to {high:.4g}" for low, high in zip(s.low[part], s.high[part],
                                                             strict=True)]  # fmt: skip
    return f"{one.name} {spans[0] if not one.shape else spans} ({share})".replace("'", "")
