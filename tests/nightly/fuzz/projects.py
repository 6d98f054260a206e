"""Projects of several files, as tests/any_text.py draws and examines them: also that nothing
is executed, written or read elsewhere, and that each fault names its line and column."""

from __future__ import annotations

import random
import shutil
import tempfile
import tracemalloc
from pathlib import Path

from any_text import KINDS, Project, Tally, drawn, examine

from fuzz.cases import Case, Format

MOST_MEMORY = 100e6


def draw(chance: random.Random) -> Case:
    kind, seed = chance.randrange(len(KINDS)), chance.randrange(2**32)
    return Case(drawn(kind, seed).files, {"kind": kind, "seed": seed})


def attempt(case: Case, ground: Path) -> str:
    project: Project = drawn(case.options["kind"], case.options["seed"])
    tally = Tally()
    folder = Path(tempfile.mkdtemp(dir=ground))
    measured = case.options["seed"] % 20 == 1
    if measured:
        tracemalloc.start()
    try:
        examine(
            project, folder, tally, run="interpreter" if case.options["seed"] % 3 == 0 else None
        )
        peak = tracemalloc.get_traced_memory()[1] if measured else 0
        assert peak < MOST_MEMORY, f"{peak / 1e6:.0f} MB"
    finally:
        tracemalloc.stop()
        shutil.rmtree(folder)
    return next(iter(reversed(tally.answers)))


FORMAT = Format("projects", 12, draw, attempt)
