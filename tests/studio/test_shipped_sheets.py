"""Every shipped diagram in the studio: its sheets are whole, and an edit changes one line."""

from __future__ import annotations

import difflib
import shutil
from pathlib import Path

import pytest
from asking import Asking
from studio_sheets import assert_apart, assert_routed

from spart_blocks.base.document import read_document
from spart_blocks.diagram.written.wires import parse_wire

ROOT = Path(__file__).parents[2]
SHIPPED = sorted(path.relative_to(ROOT).as_posix() for path in ROOT.glob("diagrams/**/*.yaml"))
NUMBERS = ("number", "integer", "array")


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    root = tmp_path_factory.mktemp("shipped")
    for folder in ("diagrams", "models"):
        shutil.copytree(ROOT / folder, root / folder)
    (root / "spart.toml").write_text("")
    return root


@pytest.fixture
def asking(project, tmp_path, monkeypatch):
    monkeypatch.setenv("SPART_CACHE", str(tmp_path / "cache"))
    return Asking(project)


def sheets(asking, path, at=""):
    """A sheet, and all those that its blocks open."""
    sheet = asking.ok("sheet", path=path, at=at)
    yield sheet
    for block in sheet["blocks"]:
        if block["opens"] is not None:
            yield from sheets(asking, path, block["opens"])


@pytest.mark.parametrize("path", SHIPPED)
def test_every_sheet_of_a_diagram_is_whole(asking, project, path):
    assert asking.ok("open", path=path)["problems"] == []
    data = read_document(project / path).data
    found = list(sheets(asking, path))
    assert {"", *data.get("subsystems", {})} <= {sheet["within"] for sheet in found}
    for sheet in found:
        assert_apart(sheet)
        assert_routed(sheet)
        if "chart" in sheet:
            assert_drawn(sheet["chart"])
        elif sheet["within"] is not None:
            within = sheet["within"]
            section = data["subsystems"][within] if within else data
            names = {block["name"] for block in sheet["blocks"]}
            assert set(section["blocks"]) <= names
            assert names - set(section["blocks"]) - set(data.get("variants", {})) <= {"in", "out"}
            assert_wires(sheet, section.get("wires") or [])


def assert_drawn(chart):
    """Each state lies within the one around it and apart from those beside it; each transition
    leads from states to a state."""
    boxes = {one["path"]: one for one in chart["states"]}
    for one in chart["states"]:
        around = boxes.get(one["parent"])
        assert around is None or around["y"] < one["y"] < around["y"] + around["height"]
        for other in chart["states"]:
            if other["parent"] == one["parent"] and other["y"] > one["y"]:
                assert one["y"] + one["height"] < other["y"]
    assert all(len(one["lines"]) == len(one["sources"]) > 0 for one in chart["transitions"])
    assert chart["problems"] == []


def assert_wires(sheet, written):
    """Each end of each wire is on the sheet, and each wire of the sheet is written."""
    drawn = {(wire["from"]["block"], wire["to"]["block"]) for wire in sheet["wires"]}
    meant = set()
    for text in written:
        wire = parse_wire(text)
        meant |= {(wire.source.block, end.block) for end in wire.ends}
    assert drawn == meant
    assert all(wire["problems"] == [] for wire in sheet["wires"])
    for wire in sheet["wires"]:
        assert wire["to"]["port"] or wire["from"]["port"]
        assert parse_wire(f"{wire['source']} -> {wire['target']}")


@pytest.mark.parametrize("path", SHIPPED)
def test_blocks_are_moved_and_one_parameter_is_set(asking, project, path):
    file = project / path
    raw = file.read_bytes()
    asking.ok("open", path=path)
    sheet = asking.ok("sheet", path=path, at="")
    places = {b["name"]: [b["x"] + 40 * k, b["y"] + 900] for k, b in enumerate(sheet["blocks"])}
    asking.ok("place", path=path, at="", places=places)
    assert file.read_bytes() == raw
    moved = asking.ok("sheet", path=path, at="")
    assert_routed(moved)
    assert all(block["moved"] for block in moved["blocks"])
    keys = changeable(asking, path, sheet, raw.decode())
    asking.edit(path, {"op": "set", "path": keys, "text": "7.25"})
    before, after = (data.decode().splitlines() for data in (raw, file.read_bytes()))
    lines = [line for line in difflib.ndiff(before, after) if line[0] in "+-"]
    assert len(lines) == 2, lines
    assert "7.25" in lines[1]
    asking.ok("undo", path=path, at="")
    asking.ok("undo", path=path, at="")
    assert file.read_bytes() == raw
    assert not any(block["moved"] for block in asking.ok("sheet", path=path, at="")["blocks"])


def changeable(asking, path, sheet, written):
    """The path of a parameter that is written in one line."""
    for block in ("", *(block["name"] for block in sheet["blocks"])):
        for field in asking.ok("form", path=path, at="", block=block)["fields"]:
            if field["text"] and field["text"] in written and field["kind"] in NUMBERS:
                return field["path"]
    raise AssertionError("nothing to change")
