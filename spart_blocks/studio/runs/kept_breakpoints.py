"""The breakpoints of files, kept in the user's cache folder."""

from __future__ import annotations

import json
from contextlib import suppress
from pathlib import Path
from typing import Any

from spart_blocks.base.cache import cache_folder, key_of
from spart_blocks.base.errors import InputError
from spart_blocks.formulas.reader import parsed
from spart_blocks.results.files import write_whole
from spart_blocks.studio.client import Session
from spart_blocks.studio.files.session import path_in
from spart_blocks.studio.runs.breakpoints import MOST_BREAKPOINTS
from spart_blocks.studio.runs.conditions import LONGEST

Breakpoint = dict[str, Any]
_MOST_BYTES = 1_000_000


class BreakpointBook:
    """The breakpoints of a session's files, by their names in the project."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self._known: dict[str, list[Breakpoint]] = {}

    def of(self, path: str) -> list[Breakpoint]:
        """The breakpoints of a file."""
        whole, name = path_in(self.session.root, path)
        if name not in self._known:
            self._known[name] = _stored(whole)
        return self._known[name]

    def set(self, path: str, given: Any) -> list[Breakpoint]:
        """Set the breakpoints of a file, and store them. Raises InputError."""
        found = checked(given)
        whole, name = path_in(self.session.root, path)
        self._known[name] = found
        _store(whole, found)
        return found


def enabled_breakpoints(session: Session, path: str) -> list[str]:
    """The conditions at which runs of a file pause."""
    book = session.part(BreakpointBook)
    return [one["condition"] for one in book.of(path) if one["enabled"]]


def checked(given: Any) -> list[Breakpoint]:
    """The breakpoints of a request, each once. Raises InputError."""
    if not isinstance(given, list) or len(given) > MOST_BREAKPOINTS:
        raise InputError(f"breakpoints are a list of at most {MOST_BREAKPOINTS}")
    found: dict[str, Breakpoint] = {}
    for one in given:
        text = one.get("condition") if isinstance(one, dict) else None
        if not isinstance(text, str) or len(text) > LONGEST:
            raise InputError(f"a breakpoint has a condition of at most {LONGEST} characters")
        text = parsed(text, several="breakpoints", params=False)[0]
        found[text] = {"condition": text, "enabled": one.get("enabled") is not False}
    return list(found.values())


def _stored(path: Path) -> list[Breakpoint]:
    file = _file(path)
    try:
        if file is None or file.stat().st_size > _MOST_BYTES:
            return []
        return checked(json.loads(file.read_text(encoding="utf-8")))
    except (OSError, ValueError, InputError, RecursionError):
        return []


def _store(path: Path, breakpoints: list[Breakpoint]) -> None:
    file = _file(path)
    if file is None:
        return
    with suppress(OSError, InputError):  # runs go without them
        if breakpoints:
            write_whole(file, json.dumps(breakpoints).encode())
        else:
            file.unlink(missing_ok=True)


def _file(path: Path) -> Path | None:
    folder = cache_folder()
    name = f"{key_of(str(path.resolve()))}.breakpoints.json"
    return None if folder is None else folder / "studio" / name
