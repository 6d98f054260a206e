"""Differences of the file from its versions in git, and from other files."""

from __future__ import annotations

from typing import Literal, TypedDict

MarkState = Literal["added", "removed", "changed"]


class Revisions(TypedDict):
    """do: "revisions" {path}: what the file can be compared with."""

    # The commits that have changed it, the latest first.
    commits: list[Commit]
    # Why there are none: no git, no repository, never committed.
    why: str | None


class Commit(TypedDict):
    id: str
    # ISO 8601.
    when: str
    author: str
    subject: str


class Changes(TypedDict):
    """do: "changes" {path, commit?, other?}: what has changed in the file as it is on disk, since
    one of its commits, or from another file of the project."""

    old: str
    # Of the text that was compared.
    revision: str
    groups: list[ChangeGroup]
    # By the `within` of a sheet.
    sheets: dict[str, Marks]
    notes: list[str]


class ChangeGroup(TypedDict):
    """Changes under one heading: "blocks", "wires"."""

    heading: str
    changes: list[ChangeLine]


class ChangeLine(TypedDict):
    sign: Literal["+", "-", "~", ">"]
    # What has changed: "law.kp".
    what: str
    # Empty where it was not there, or is not there any more.
    before: str
    after: str
    unit: str
    # The sheet that shows it, and the block; null where no block does.
    at: str | None
    block: str | None


class Marks(TypedDict):
    """What is marked on a sheet."""

    # Those that are there.
    blocks: dict[str, MarkState]
    # Those that are gone.
    gone: list[GoneBlock]
    # Wires that came, by source and target as in the file.
    wires: list[MarkedWire]
    # Wires that are gone, between blocks of the sheet or gone ones.
    lost: list[LostWire]


class GoneBlock(TypedDict):
    name: str
    type: str


class MarkedWire(TypedDict):
    source: str
    target: str


class LostWire(TypedDict):
    """A wire that is gone: its ends in words, and their blocks."""

    source: str
    target: str
    start: str
    end: str
