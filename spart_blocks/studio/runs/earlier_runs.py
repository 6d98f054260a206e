"""Records of earlier runs whose processes are gone."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

from spart_blocks.results import Results


@lru_cache(maxsize=4)
def loaded(file: Path) -> Results:
    """The record in a file that this session has written."""
    return Results.load(file)
