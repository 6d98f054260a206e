"""Handlers of the requests about differences of a file."""

from __future__ import annotations

import asyncio
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from spart_blocks.base.errors import Fault, InputError
from spart_blocks.studio.changes.marks import changes_data
from spart_blocks.studio.client import Client, Handler
from spart_blocks.studio.files.opened import OpenedFile
from spart_blocks.studio.files.session import opened_files, path_in
from spart_blocks.studio.requests import text_of
from spart_blocks.versions.differences import DiffSide, difference_of
from spart_blocks.versions.differences.revisions import Commit, Revision, commits_of, top_of
from spart_blocks.versions.differences.sides import at_revision, file_side, inner_path

Given = dict[str, Any]


async def revisions(client: Client, given: Given) -> Given:
    """The commits of a file."""
    file = opened_files(client.session).of(given)
    why = None
    commits: list[Commit] = []
    try:
        commits = await asyncio.to_thread(commits_of, file.path)
    except InputError as error:
        why = _without_git(error)
    if not commits and why is None:
        why = f"git has no commit of {file.name} yet"
    return {"commits": [vars(one) for one in commits], "why": why}


def _without_git(error: InputError) -> str:
    text = str(error)
    return "the file is in no git repository" if "not a git repository" in text else text


async def changes(client: Client, given: Given) -> Given:
    """What has changed in a file since one of its commits, or from another file."""
    file = opened_files(client.session).of(given)
    other = given.get("other")
    if other is not None:
        path, name = path_in(client.session.root, text_of(given, "other"))
        return await asyncio.to_thread(_from_file, file, path, name)
    return await asyncio.to_thread(_since, file, text_of(given, "commit"))


def _since(file: OpenedFile, commit: str) -> Given:
    """The changes since a commit, which must be one of those that are listed."""
    if commit not in {one.id for one in commits_of(file.path)}:
        text = f"{commit[:20]!r} is no commit that has changed {file.name}"
        raise InputError(Fault(text, hint="choose one of the list"))
    with ExitStack() as stack:
        revision = Revision.of(commit, file.path.parent)
        stack.callback(revision.close)
        top = top_of(file.path.parent).resolve()
        root = file.root if file.root.is_relative_to(top) else None
        old = at_revision(revision, inner_path(top, file.path), root, missing=True)
        return _between(file, old)


def _from_file(file: OpenedFile, path: Path, name: str) -> Given:
    return _between(file, file_side(path, name, file.root))


def _between(file: OpenedFile, old: DiffSide) -> Given:
    """The changes from a file to an opened one. It may be read again meanwhile."""
    reading = file.reading
    new = file_side(file.path, file.name, file.root)
    found = difference_of(old, new)
    return {**changes_data(reading, old, new, found), "revision": reading.revision}


HANDLERS: dict[str, Handler] = {"revisions": revisions, "changes": changes}
