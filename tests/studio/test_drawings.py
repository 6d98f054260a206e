"""Looks of blocks, notes and areas: what the page gets of them, and how they are changed."""

from __future__ import annotations

from typing import get_args

import pytest
import yaml
from asking import ARM, Asking
from studio_sheets import assert_routed, blocks

from spart_blocks.diagram.sections import drawing_section
from spart_blocks.drawing import faced
from spart_blocks.studio.protocol import types


@pytest.fixture
def asking(tmp_path, monkeypatch):
    monkeypatch.setenv("SPART_CACHE", str(tmp_path / "cache"))
    (tmp_path / "spart.toml").write_text("")
    (tmp_path / "arm.yaml").write_text(ARM)
    found = Asking(tmp_path)
    found.ok("open", path="arm.yaml")
    return found


def draw(asking, *changes, at="", within="", **more):
    operations = [{"op": "draw", "path": p, "text": t, "within": within} for p, t in changes]
    revision = asking.ok("open", path="arm.yaml")["revision"]
    about = {"revision": revision, "operations": operations, **more}
    return asking.ok("edit", path="arm.yaml", at=at, **about)


def drawing(asking):
    return yaml.safe_load((asking.session.root / "arm.yaml").read_text()).get("drawing")


def test_the_page_has_the_colours_and_sides_of_files():
    assert get_args(types.Colour) == drawing_section.COLOURS
    assert get_args(types.Facing) == get_args(faced.Facing)


@pytest.mark.parametrize("facing", get_args(faced.Facing))
def test_wires_lead_to_the_ports_of_a_block_that_faces_any_side(asking, facing):
    for name in ("one", "hold", "scope"):
        sheet = draw(asking, (f"looks.{name}.facing", facing))["sheet"]
        assert blocks(sheet)[name]["facing"] == facing
        assert_routed(sheet)
    asking.ok("place", path="arm.yaml", at="", places={"one": [300, 300]})
    assert_routed(asking.ok("sheet", path="arm.yaml", at=""))


def test_a_look_that_is_taken_back_leaves_the_file_as_it_was(asking):
    sheet = draw(asking, ("looks.one.colour", "red"), ("looks.one.name", "false"))["sheet"]
    assert (blocks(sheet)["one"]["colour"], blocks(sheet)["one"]["named"]) == ("red", False)
    draw(asking, ("looks.one.colour", None), ("looks.one.name", None))
    assert (asking.session.root / "arm.yaml").read_text() == ARM


def test_notes_stay_with_their_blocks_and_areas_around_them(asking):
    note = '{text: "a\\nb", at: [5, -40], by: one}'
    sheet = draw(asking, ("notes", note), ("areas", "{title: T, blocks: [one, two]}"))["sheet"]
    (found,), (area,) = sheet["notes"], sheet["areas"]
    assert (found["text"], found["by"], found["index"]) == ("a\nb", "one", 0)
    one = blocks(sheet)["one"]
    assert (found["x"], found["y"]) == (one["x"] + 5, one["y"] - 40)
    assert (area["title"], area["blocks"], area["colour"]) == ("T", ["one", "two"], "blue")
    moved = draw(asking, ("notes[0].text", "c"), places={"one": [700, 10], "two": [700, 200]})
    (found,) = moved["sheet"]["notes"]
    assert (found["text"], found["x"], found["y"]) == ("c", 705, -30)
    back = asking.ok("undo", path="arm.yaml", at="")["sheet"]
    assert back["notes"] == sheet["notes"]
    assert blocks(back)["one"]["x"] == one["x"]


def test_drawings_follow_blocks_that_are_renamed_removed_and_grouped(asking):
    draw(asking, ("looks.one.facing", "left"), ("notes", "{text: n, at: [1, 2], by: one}"),
         ("areas", "{title: T, blocks: [one, hold]}"))  # fmt: skip
    revision = asking.ok("open", path="arm.yaml")["revision"]
    rename = {"op": "rename", "name": "one", "to": "first", "within": ""}
    edit = {"path": "arm.yaml", "at": ""}
    opened = asking.ok("edit", revision=revision, operations=[rename], **edit)["opened"]
    assert drawing(asking) == {
        "looks": {"first": {"facing": "left"}},
        "notes": [{"text": "n", "at": [1, 2], "by": "first"}],
        "areas": [{"title": "T", "blocks": ["first", "hold"]}],
    }
    group = {"op": "group", "name": "both", "names": ["first", "hold"], "within": ""}
    asking.ok("edit", revision=opened["revision"], operations=[group], **edit)
    assert drawing(asking) is None
    inner = asking.ok("sheet", path="arm.yaml", at="both")
    assert blocks(inner)["first"]["facing"] == "left"
    assert [area["blocks"] for area in inner["areas"]] == [["first", "hold"]]
    opened = asking.ok("undo", **edit)["opened"]
    gone = {"op": "remove", "names": ["first"], "within": ""}
    asking.ok("edit", revision=opened["revision"], operations=[gone], **edit)
    assert drawing(asking) == {
        "notes": [{"text": "n", "at": [1, 2]}],
        "areas": [{"title": "T", "blocks": ["hold"]}],
    }


def test_a_subsystem_has_a_drawing_of_its_own(asking):
    sheet = draw(asking, ("looks.law.facing", "up"), at="one", within="servo")["sheet"]
    assert blocks(sheet)["law"]["facing"] == "up"
    assert blocks(asking.ok("sheet", path="arm.yaml", at="two"))["law"]["facing"] == "up"


def test_a_drawing_with_mistakes_is_told_and_shown_as_far_as_it_is_right(asking):
    changed = draw(asking, ("looks.nobody.facing", "up"), ("notes", "{text: a, at: [0, 0]}"),
                   ("notes", "{text: b}"), ("looks.one", "{facing: upp}"))  # fmt: skip
    messages = [problem["message"] for problem in changed["opened"]["problems"]]
    assert any("notes.1" in text and "'at'" in text for text in messages), messages
    assert any("upp" in text for text in messages), messages
    assert [note["text"] for note in changed["sheet"]["notes"]] == ["a"]
    assert blocks(changed["sheet"])["one"]["facing"] == "right"
    changed = draw(asking, ("notes[1]", None), ("looks.one", None))
    assert [one["message"] for one in changed["opened"]["problems"]] == [
        "the drawing names 'nobody', which is no block"]  # fmt: skip
