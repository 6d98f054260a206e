"""Access of runs to the opened files."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from spart_blocks.base.errors import InputError
from spart_blocks.studio.client import Client, Session
from spart_blocks.studio.files.opened import OpenedFile
from spart_blocks.studio.files.reading import Reading, is_large
from spart_blocks.studio.files.session import changed_by, opened_files, path_in, with_file
from spart_blocks.versions.edits import Operation

AHEAD = "spart_blocks.studio.runs.ahead"
_MOST_SHEETS = 50


def job_of(session: Session, given: str) -> tuple[str, dict[str, Any]]:
    """A diagram's name, and the job for its process, which only describes the file so far. Raises
    InputError for a path that is no diagram of the project."""
    path, name = path_in(session.root, given)
    opened = opened_files(session).files.get(name)
    chosen = opened.state.chosen if opened is not None else {}
    file = {
        "path": str(path),
        "root": str(session.root.resolve()),
        "blocks": list(session.blocks),
        "variants": [f"{slot}={choice}" for slot, choice in chosen.items()],
    }
    return name, {"file": file}


def order_of(session: Session, path: str, trace: bool) -> Mapping[str, Any] | None:
    """What `runs.ahead` shall prepare of an opened file as it is; None if nothing. trace: whether
    also a program that is not in the cache. Nothing where there are the user's own blocks: a
    process that has imported their code would not see that it changes."""
    file = opened_files(session).files.get(path)
    if file is None or session.blocks or file.problem is not None:
        return None
    reading = file.reading
    if reading.pending or reading.faults or is_large(reading.file):
        return None
    state = [reading.revision, [[str(other), stamp] for other, stamp in file.others.items()]]
    return {"module": AHEAD, **job_of(session, path)[1], "trace": trace, "state": state}


async def keep(client: Client, path: str, at: str, operations: list[Operation]) -> dict[str, Any]:
    """Apply operations to a file, as an edit of the page."""
    file = await opened_files(client.session).open(client, path)
    return await changed_by(client, file, {"at": at}, file.apply, operations, "keep what was tuned")


async def wire_signals(session: Session, path: str, at: str) -> list[str] | None:
    """The signals of the wires on a sheet; None if they are not known."""
    file = opened_files(session).files.get(path)
    if file is None:
        return None
    known = session.part(_no_signals)
    before = known.get((path, at))
    if before is None or before[0] is not file.reading:
        try:
            names = await with_file(file, _signals, file, at)
        except InputError:
            return None
        while len(known) >= _MOST_SHEETS:
            del known[next(iter(known))]
        before = known[path, at] = file.reading, names
    return before[1]


def _no_signals(session: Session) -> dict[tuple[str, str], tuple[Reading, list[str]]]:
    """The signals of wires by file and sheet, with the reading that they are of: none yet."""
    return {}


def _signals(file: OpenedFile, at: str) -> list[str]:
    wires = file.sheet(at)["wires"]
    return list(dict.fromkeys(wire["signal"] for wire in wires if wire["signal"]))
