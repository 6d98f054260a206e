"""Handlers of the requests about opened files: sheets, edits and forms."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

from spart_blocks.base.errors import Fault, InputError
from spart_blocks.studio.client import Client, Handler
from spart_blocks.studio.files.opened import OpenedFile
from spart_blocks.studio.files.operations import asked_of, spot_of
from spart_blocks.studio.files.reading import LOADING
from spart_blocks.studio.files.session import changed_by, opened_files, path_in, with_file
from spart_blocks.studio.files.types import block_types
from spart_blocks.studio.requests import text_of
from spart_blocks.versions.edits.values import scalar_text

Given = dict[str, Any]

_NEW = """\
name: {name}
blocks: {{}}
wires: []
run: {{T: 10}}
"""


async def _open(client: Client, given: Given) -> Any:
    files = opened_files(client.session)
    file = await files.open(client, text_of(given, "path"))
    await files.look(file)
    if file.problem is not None:
        raise InputError(
            Fault(f"{file.problem.get('place', file.name)}: {file.problem['message']}",
                  hint=file.problem.get("hint"))
        )  # fmt: skip
    return await with_file(file, file.opened)


async def _new(client: Client, given: Given) -> Any:
    path, name = path_in(client.session.root, text_of(given, "path"), new=True)
    title = text_of(given, "name", path.stem)
    await asyncio.to_thread(_create, path, name, title)
    return await _open(client, {"path": name})


def _create(path: Path, name: str, title: str) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("x", encoding="utf-8", newline="\n") as stream:
            stream.write(_NEW.format(name=scalar_text(title, in_flow=False)))
    except FileExistsError:
        raise InputError(Fault(f"{name} is there already", hint="choose another name")) from None
    except OSError as error:
        raise InputError(f"{name} cannot be written: {error.strerror or error}") from None


async def _close(client: Client, given: Given) -> Any:
    files = opened_files(client.session)
    await files.close(client, files.of(given))


def _file(client: Client, given: Given) -> OpenedFile:
    return opened_files(client.session).of(given)


def _at(given: Given) -> str:
    return text_of(given, "at", "")


async def _sheet(client: Client, given: Given) -> Any:
    file = _file(client, given)
    return await with_file(file, file.sheet, _at(given))


async def _form(client: Client, given: Given) -> Any:
    file = _file(client, given)
    return await with_file(file, file.form, _at(given), text_of(given, "block"))


async def _fits(client: Client, given: Given) -> Any:
    file = _file(client, given)
    return await with_file(file, file.fits, *_start(given))


async def _unfit(client: Client, given: Given) -> Any:
    file = _file(client, given)
    return await with_file(file, file.unfit, *_start(given))


def _start(given: Given) -> tuple[str, str, str, bool]:
    """The end of a wire being drawn, from a request: sheet, block, port, and whether the port is an
    output."""
    start = given.get("from")
    if not isinstance(start, dict):
        raise InputError("the request needs the port that the wire is from")
    return _at(given), text_of(start, "block"), text_of(start, "port"), bool(given.get("output"))


async def _contents(client: Client, given: Given) -> Any:
    file = _file(client, given)
    return await with_file(file, file.contents)


async def _edit(client: Client, given: Given) -> Any:
    file, asked = _file(client, given), asked_of(given.get("operations"))
    revision = text_of(given, "revision")
    return await changed_by(client, file, _at(given), file.edit, revision, asked)


async def _try(client: Client, given: Given) -> Any:
    file, asked = _file(client, given), asked_of(given.get("operations"))
    return {"problems": await with_file(file, file.tried, text_of(given, "revision"), asked)}


def _step(step: Callable[[OpenedFile], Callable[[], None]]) -> Handler:
    async def handler(client: Client, given: Given) -> Any:
        file = _file(client, given)
        return await changed_by(client, file, _at(given), step(file))

    return handler


async def _place(client: Client, given: Given) -> Any:
    file, places = _file(client, given), given.get("places")
    if not isinstance(places, dict) or not places:
        raise InputError("the request needs the places of blocks")
    spots = {str(name): spot_of(point) for name, point in places.items()}
    return await changed_by(client, file, _at(given), file.place, _at(given), spots)


async def _tidy(client: Client, given: Given) -> Any:
    file = _file(client, given)
    return await changed_by(client, file, _at(given), file.tidy, _at(given))


async def _choose(client: Client, given: Given) -> Any:
    file, slot, choice = _file(client, given), text_of(given, "slot"), text_of(given, "choice")
    return await changed_by(client, file, _at(given), file.choose, slot, choice)


async def _types(client: Client, given: Given) -> Any:
    return await asyncio.to_thread(all_types)


def all_types() -> list[dict[str, Any]]:
    """All block types, as the page shows them."""
    with LOADING:
        return block_types()


HANDLERS: dict[str, Handler] = {
    "open": _open,
    "new": _new,
    "close": _close,
    "sheet": _sheet,
    "form": _form,
    "fits": _fits,
    "unfit": _unfit,
    "contents": _contents,
    "edit": _edit,
    "try": _try,
    "undo": _step(lambda file: file.undo),
    "redo": _step(lambda file: file.redo),
    "place": _place,
    "tidy": _tidy,
    "choose": _choose,
    "types": _types,
}
