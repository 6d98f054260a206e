"""The file of a diagram, read once for all its executions."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import Any

import yaml

import spart_blocks as sb
from spart_blocks.diagram import Diagram


def opened(path: Path) -> Diagram:
    """The diagram, one object for all: what an execution leaves in it would show in the next."""
    return _opened(path, path.read_text(encoding="utf-8"))


def content_of(path: Path) -> dict[str, Any]:
    """What is written in it."""
    return _content(path.read_text(encoding="utf-8"))


@lru_cache(maxsize=1)
def _opened(path: Path, text: str) -> Diagram:
    return sb.load(path)


@lru_cache(maxsize=1)
def _content(text: str) -> dict[str, Any]:
    found: dict[str, Any] = yaml.load(text, getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    return found
