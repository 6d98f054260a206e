"""Sides of shipped diagrams, and of edits of their data."""

from __future__ import annotations

from copy import deepcopy
from dataclasses import replace
from pathlib import Path

from spart_blocks.base.document import Document, YamlNode, read_document
from spart_blocks.diagram.written.files import project_root
from spart_blocks.versions.differences import difference_of
from spart_blocks.versions.differences.sides import DiffSide

ROOT = Path(__file__).parents[2]
SHIPPED = sorted(
    path
    for path in (ROOT / "diagrams").rglob("*.yaml")
    if "baselines" not in path.parts and path.parent.name != "controllers"
)


def side_of(path):
    """The side of a file."""
    return DiffSide(str(path), read_document(path), path, project_root(path))


def edited(side, edit):
    """A side whose data a function has changed."""
    data = deepcopy(side.data)
    edit(data)
    return with_data(side, data)


def with_data(side, data):
    return replace(side, document=Document(side.label, data, YamlNode(data, 0, 0)))


def told(old, new):
    """The changes from one side to another as (subject, kind, path)."""
    found = difference_of(old, new)
    return [(change.subject, change.kind, change.path) for change in found.changes]
