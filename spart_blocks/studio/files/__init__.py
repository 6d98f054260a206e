"""Handlers of the requests about opened files: sheets, edits and forms."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from spart_blocks.base.errors import Fault, InputError
from spart_blocks.drawing.placed import Spot
from spart_blocks.studio.client import Client, Handler
from spart_blocks.studio.files.bus_forms import bus_form
from spart_blocks.studio.files.completion import Written, completions
from spart_blocks.studio.files.contents import contents_of
from spart_blocks.studio.files.fits import fits_of, unfit_types
from spart_blocks.studio.files.forms import file_form, form_of
from spart_blocks.studio.files.kind_forms import kinds_form
from spart_blocks.studio.files.opened import OpenedFile
from spart_blocks.studio.files.operations import Asked, asked_of, spot_of
from spart_blocks.studio.files.panels import store_panels, stored_panels
from spart_blocks.studio.files.ports import palette_types
from spart_blocks.studio.files.reading import LOADING
from spart_blocks.studio.files.scopes import Scope, scope_at
from spart_blocks.studio.files.session import changed_by, opened_files, path_in, with_file
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


def _at(given: Given) -> str:
    return text_of(given, "at", "")


def _of_file(work: Callable[[OpenedFile, Given], Any]) -> Handler:
    """A handler that answers with the result of a function of the opened file and the request."""

    async def handler(client: Client, given: Given) -> Any:
        file = opened_files(client.session).of(given)
        return await with_file(file, work, file, given)

    return handler


def _changing(work: Callable[[OpenedFile, Given], None]) -> Handler:
    """A handler that changes the opened file by a function of it and the request."""

    async def handler(client: Client, given: Given) -> Any:
        file = opened_files(client.session).of(given)
        return await changed_by(client, file, given, work, file, given)

    return handler


def _form(file: OpenedFile, given: Given) -> Any:
    block = text_of(given, "block")
    scope = _scope(file, given)
    return form_of(scope, block) if block else file_form(scope)


def _scope(file: OpenedFile, given: Given) -> Scope:
    return scope_at(file.reading, _at(given))


def _start(given: Given) -> tuple[str, str, bool]:
    """The end of a wire being drawn, from a request: block, port, and whether the port is an
    output."""
    start = given.get("from")
    if not isinstance(start, dict):
        raise InputError("the request needs the port that the wire is from")
    return text_of(start, "block"), text_of(start, "port"), bool(given.get("output"))


def _revised(file: OpenedFile, given: Given) -> tuple[str, Asked]:
    """The revision and the operations of a request, with the blocks that move in the same step."""
    asked = asked_of(given.get("operations"))
    if given.get("places"):
        sheet = _scope(file, given).key
        moved = {(sheet, name): spot for name, spot in _places(given).items()}
        asked = replace(asked, placed={**moved, **asked.placed})
    return text_of(given, "revision"), asked


def _place(file: OpenedFile, given: Given) -> None:
    file.place(_at(given), _places(given))


def _places(given: Given) -> dict[str, Spot]:
    places = given.get("places")
    if not isinstance(places, dict) or not places:
        raise InputError("the request needs the places of blocks")
    return {str(name): spot_of(point) for name, point in places.items()}


def _complete(file: OpenedFile, given: Given) -> Any:
    keys, beside = given.get("keys"), given.get("given", {})
    if not isinstance(keys, list) or not all(type(key) in (str, int) for key in keys):
        raise InputError("the request needs the path of what is written")
    if not isinstance(beside, dict) or not all(isinstance(one, str) for one in beside.values()):
        raise InputError("the request needs the texts beside it")
    place = Written(tuple(keys), text_of(given, "kind"), beside, text_of(given, "typed", ""))
    return completions(file.reading, place)


def _keep_panels(file: OpenedFile, given: Given) -> None:
    panels = given.get("panels")
    if not isinstance(panels, dict):
        raise InputError("the request needs the panels")
    store_panels(file.path, panels)


async def _sheet(client: Client, given: Given) -> Any:
    files = opened_files(client.session)
    file = files.of(given)
    found = await with_file(file, file.sheet, _at(given))
    file.shown = True
    files.settle(file)
    return found


async def _types(client: Client, given: Given) -> Any:
    return await asyncio.to_thread(all_types)


def all_types() -> list[dict[str, Any]]:
    """All block types, as the page shows them."""
    with LOADING:
        return palette_types()


HANDLERS: dict[str, Handler] = {
    "open": _open,
    "new": _new,
    "close": _close,
    "sheet": _sheet,
    "form": _of_file(_form),
    "bus": _of_file(lambda file, given: bus_form(_scope(file, given), text_of(given, "block"))),
    "kinds": _of_file(lambda file, given: kinds_form(_scope(file, given), text_of(given, "block"))),
    "fits": _of_file(lambda file, given: fits_of(_scope(file, given), *_start(given))),
    "unfit": _of_file(lambda file, given: unfit_types(_scope(file, given), *_start(given))),
    "contents": _of_file(lambda file, given: contents_of(file.reading)),
    "edit": _changing(lambda file, given: file.edit(*_revised(file, given))),
    "try": _of_file(lambda file, given: file.tried(*_revised(file, given))),
    "text": _of_file(lambda file, given: file.text_at(_at(given))),
    "complete": _of_file(_complete),
    "undo": _changing(lambda file, given: file.undo()),
    "redo": _changing(lambda file, given: file.redo()),
    "place": _changing(_place),
    "tidy": _changing(lambda file, given: file.tidy(_at(given))),
    "choose": _changing(
        lambda file, given: file.choose(text_of(given, "slot"), text_of(given, "choice"))
    ),
    "panels": _of_file(lambda file, given: stored_panels(file.path)),
    "keep-panels": _of_file(_keep_panels),
    "types": _types,
}
