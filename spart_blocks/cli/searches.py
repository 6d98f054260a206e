"""What the commands share that search: values with bounds, and what becomes of the result."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Protocol

import typer

from spart_blocks.cli.commands import Texts
from spart_blocks.cli.terminal import say


class Searched(Protocol):
    """The result of a search."""

    def save(self, path: Path) -> Path:
        """Write it."""

    def report(self, path: Path) -> Path:
        """Write a page."""

    def write(self, path: Path) -> Path | None:
        """Write it into the file of a diagram; the file that is written beside it, if any."""


def bounded(option: str, texts: Texts) -> dict[str, Any] | None:
    """Bounds by name of `NAME=[MIN,MAX]`, or of NAME alone; None where nothing is given."""
    from spart_blocks.base.document import parse_value

    if not texts:
        return None
    found: dict[str, Any] = {}
    for text in texts:
        name, equals, bounds = text.partition("=")
        found[name.strip()] = parse_value(bounds, f"{option} {text}") if equals else None
    return found


def given(changes: dict[str, Any]) -> dict[str, Any]:
    """What was given."""
    return {name: value for name, value in changes.items() if value is not None}


def finish(
    found: Searched,
    file: Path,
    out: Path | None,
    page: Path | None,
    writes: str | None,
    quiet: bool,
) -> None:
    """Print and save a result. writes: what goes into the diagram's file; None for nothing."""
    if not quiet:
        typer.echo(str(found))
    saved = [found.save(out)] if out is not None else []
    saved += [found.report(page)] if page is not None else []
    beside = found.write(file) if writes is not None else None
    saved += [beside] if beside is not None else []
    for path in saved:
        say(f"written: {path}", unless=quiet)
    if writes is not None:
        say(f"written: {writes} into {file}", unless=quiet)
