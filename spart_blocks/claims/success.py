"""The claim `success:` about a sweep: enough of its runs pass."""

from __future__ import annotations

import math
import shutil
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from spart_blocks.base.errors import InputError, RunError
from spart_blocks.diagram.sections.expectations import SuccessClaim
from spart_blocks.run import DiagramFile
from spart_blocks.run.run import Progress
from spart_blocks.sweeps.statistics import success_of
from spart_blocks.sweeps.statistics.grouping import about_draws
from spart_blocks.sweeps.storage.store import holds_sweep

if TYPE_CHECKING:
    from spart_blocks.sweeps.results import SweepResults

FOLDER = "sweep_of_test"


def shown_by_sweep(
    file: DiagramFile, claim: SuccessClaim, folder: Path | None, progress: Progress | None = None
) -> tuple[str, float]:
    """Run the sweep of a file for its claim `success:`. Returns the message, and the bound to
    compare with the claim.

    folder: where the runs are stored if the claim fails, so that one can be replayed; None stores
    none. For a sweep with random draws, the lower confidence bound of the success probability
    (Clopper and Pearson) is compared with the claim; otherwise the share of runs that passed.
    """
    from spart_blocks.sweeps.sweep import sweep

    found = sweep(file, gradients=(), progress=progress)  # they would not change the verdict
    if not found.complete:
        raise RunError(f"the sweep was interrupted after {len(found):,} runs")
    passed = np.asarray(found.success(), dtype=bool)
    bound, how = judged(found, claim)
    held = bound >= claim.at_least
    return how if held else f"{how}{_replay(file, found, passed, folder)}", bound


def judged(found: SweepResults, claim: SuccessClaim) -> tuple[float, str]:
    """The lower bound of the success probability, or the share of a single draw; and it as text,
    with a line for each variant and fault. Where the claim is one of each, the least bound counts.
    """
    labels = found.labels()
    bound, text = _of_runs(found, claim, np.ones(len(found), bool))
    if labels is None:
        return bound, text
    parts = {str(name): _of_runs(found, claim, labels == name) for name in dict.fromkeys(labels)}
    lines = "".join(f"\n  {name}: {told}" for name, (_, told) in parts.items())
    return min(low for low, _ in parts.values()) if claim.each else bound, text + lines


def _of_runs(
    found: SweepResults, claim: SuccessClaim, rows: NDArray[np.bool_]
) -> tuple[float, str]:
    """The same of some runs of a sweep (n,)."""
    passed, draws = found.success()[rows], found["draw"][rows]
    n, k = len(passed), int(passed.sum())
    counted = f"{k:,} of {n:,} runs passed"
    wanted = f"expected at least {claim.at_least:g}"
    share = k / n
    if draws.max() == 0:
        return share, f"{counted}, {share:.6g} of all; {wanted}"
    draws = draws // found.together
    low = success_of(passed, claim.confidence, draws, side="low").low
    bound = 0.0 if math.isnan(low) else low
    text = (
        f"{counted}; with confidence {claim.confidence:g} the probability is at least "
        f"{bound:.6g}, {wanted}"
    )
    guide = "".join(f"; {note}" for note in about_draws(found.design, found.together))
    return bound, text + _too_few(k == n, int(draws.max()) + 1, claim) + guide


def _too_few(all_passed: bool, draws: int, claim: SuccessClaim) -> str:
    """Advice if all runs passed, but there are too few of them: the bound for n passed draws is (1
    - confidence)^(1 / n)."""
    if not all_passed:
        return ""
    if claim.at_least == 1.0:
        return "; no number of draws shows a probability of 1: write at_least: 0.99, for example"
    needed = math.ceil(math.log(1 - claim.confidence) / math.log(claim.at_least))
    return f"; {draws:,} draws are too few to show it: {needed:,} draws do, if all pass"


def _replay(file: DiagramFile, found: Any, passed: Any, folder: Path | None) -> str:
    """The command that repeats the first failed run; '' if all passed."""
    if passed.all():
        return ""
    run = int(np.asarray(found["run"])[~passed][0])
    path = quote(str(file.path))
    kept = None if folder is None else _kept(found, folder)
    first = f"spart sweep {path} --out DIR; " if kept is None else ""
    home = "DIR" if kept is None else quote(str(kept))
    command = f"{first}spart run {path} --from-sweep {home} --run {run}"
    return f"\n  replay the first that did not: {command}"


def _kept(found: Any, folder: Path) -> Path | None:
    """Store the runs in a test's folder; those of an earlier test are replaced. Returns the folder,
    or None if it fails."""
    target = folder / FOLDER
    try:
        if holds_sweep(target):
            shutil.rmtree(target)
        found.save(target)
    except (OSError, InputError):
        return None
    return target
