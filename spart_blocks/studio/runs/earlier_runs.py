"""Saved results of earlier runs whose processes have ended."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

from spart_blocks.results import Results


@lru_cache(maxsize=4)
def loaded(file: Path) -> Results:
    """The results in a file that this session has saved."""
    return Results.load(file)
