"""Opened files: what is shown of them, edits, undoing, places, and changes outside."""

from __future__ import annotations

import json
import os

import pytest
from asking import ARM, Asking
from studio_sheets import assert_apart, assert_routed, blocks, whole

WIRE = {"op": "wire", "source": "one.x", "target": "more", "within": ""}
MORE = {"op": "add", "name": "more", "type": "GAIN", "within": "", "parameters": {"K": "[1, 2]"}}


@pytest.fixture
def asking(tmp_path, monkeypatch):
    monkeypatch.setenv("SPART_CACHE", str(tmp_path / "cache"))
    root = tmp_path / "project"
    root.mkdir()
    (root / "spart.toml").write_text("")
    (root / "arm.yaml").write_text(ARM)
    return Asking(root)


@pytest.fixture
def file(asking):
    return asking.session.root / "arm.yaml"


def ends(sheet):
    return {
        (w["from"]["block"], w["from"]["port"], w["to"]["block"], w["to"]["port"])
        for w in sheet["wires"]
    }


def test_a_file_is_told_with_its_settings(asking):
    opened = asking.ok("open", path="arm.yaml")
    assert (opened["name"], opened["description"]) == ("arm", "two servos")
    assert opened["problems"] == []
    assert opened["undo"] is opened["redo"] is None
    assert opened["run"] == {"T": 2, "solver": "auto"}
    (tick,) = opened["clocks"]
    assert (tick["path"], tick["text"]) == ("clocks.tick", "{T: 0.1}")
    assert opened["subsystems"] == ["servo"]
    (k,) = opened["params"]
    assert (k["path"], k["text"], k["kind"], k["tunable"]) == (
        "params.k", "2", "number", "one/law.K")  # fmt: skip


def test_a_sheet_has_all_blocks_with_ports_and_signals(asking):
    asking.ok("open", path="arm.yaml")
    sheet = asking.ok("sheet", path="arm.yaml", at="")
    found = blocks(sheet)
    looks = {name: block["look"] for name, block in found.items()}
    assert looks == {"step": "source", "one": "subsystem", "two": "subsystem",
                     "hold": "sampled", "scope": "sink"}  # fmt: skip
    assert found["one"]["opens"] == "one"
    assert found["one"]["file"] is None
    assert found["hold"]["clock"] == "tick"
    assert found["step"]["face"] == {"glyph": "step", "over": "T = 1", "under": ""}
    assert [port["wired"] for port in found["scope"]["inputs"]] == [True, True, False]
    assert ends(sheet) == {
        ("step", "0", "one", "goal"),
        ("one", "x", "two", "goal"),
        ("one", "x", "scope", "0"),
        ("two", "x", "scope", "1"),
        ("two", "x", "hold", "0"),
    }
    signals = {wire["signal"] for wire in sheet["wires"]}
    assert signals == {"step", "one/x", "two/x"}
    wire = next(wire for wire in sheet["wires"] if wire["to"] == {"block": "scope", "port": "1"})
    assert (wire["source"], wire["target"]) == ("two.x", "scope")


def test_wires_begin_and_end_at_ports(asking):
    asking.ok("open", path="arm.yaml")
    for at in ("", "one"):
        sheet = asking.ok("sheet", path="arm.yaml", at=at)
        assert_routed(sheet)
        asking.ok("place", path="arm.yaml", at=at, places={sheet["blocks"][0]["name"]: [900, 700]})
        assert_routed(asking.ok("sheet", path="arm.yaml", at=at))


def test_an_instance_of_a_subsystem_has_its_signals(asking):
    asking.ok("open", path="arm.yaml")
    sheet = asking.ok("sheet", path="arm.yaml", at="two")
    assert sheet["within"] == "servo"
    found = blocks(sheet)
    assert found["in"]["look"] == found["out"]["look"] == "border"
    assert {wire["signal"] for wire in sheet["wires"]} == {
        "one/x", "two/error", "two/law", "two/x"}  # fmt: skip
    assert "no subsystem" in asking.problem("sheet", path="arm.yaml", at="two/law")


def test_an_edit_is_written_and_the_other_lines_stay(asking, file):
    changed = asking.edit("arm.yaml", MORE, WIRE)
    before, after = ARM.splitlines(), file.read_text().splitlines()
    assert [line for line in after if line not in before] == [
        "  more: {type: GAIN, K: [1, 2]}", "  - one.x -> more"]  # fmt: skip
    assert len(after) == len(before) + 2
    assert changed["opened"]["undo"] == "add more and 1 more"
    assert ("one", "x", "more", "0") in ends(changed["sheet"])


def test_several_operations_are_done_all_or_none(asking, file):
    revision = asking.ok("open", path="arm.yaml")["revision"]
    wrong = {"op": "remove", "names": ["nobody"], "within": ""}
    given = {"path": "arm.yaml", "at": "", "revision": revision}
    assert "no block 'nobody'" in asking.problem("edit", **given, operations=[MORE, wrong])
    assert file.read_text() == ARM
    assert asking.ok("open", path="arm.yaml")["undo"] is None


def test_an_edit_of_an_old_revision_is_refused(asking, file):
    revision = asking.ok("open", path="arm.yaml")["revision"]
    asking.edit("arm.yaml", MORE)
    given = {"path": "arm.yaml", "at": "", "revision": revision, "operations": [WIRE]}
    assert "changed" in asking.problem("edit", **given)
    assert "changed" in asking.problem("try", **given)
    assert "one.x -> more" not in file.read_text()


def test_undo_and_redo_give_the_bytes_back(asking, file):
    raw = b"\xef\xbb\xbf" + ARM.replace("\n", "\r\n").encode()
    file.write_bytes(raw)
    asking.edit("arm.yaml", MORE, WIRE)
    made = file.read_bytes()
    asking.ok("place", path="arm.yaml", at="", places={"more": [500, 300]})
    assert asking.ok("undo", path="arm.yaml", at="")["opened"]["undo"] == "add more and 1 more"
    undone = asking.ok("undo", path="arm.yaml", at="")
    assert file.read_bytes() == raw
    assert undone["opened"]["redo"] == "add more and 1 more"
    assert "nothing to undo" in asking.problem("undo", path="arm.yaml", at="")
    asking.ok("redo", path="arm.yaml", at="")
    assert file.read_bytes() == made
    moved = blocks(asking.ok("redo", path="arm.yaml", at="")["sheet"])["more"]
    assert (moved["x"], moved["y"], moved["moved"]) == (500, 300, True)
    assert "nothing" in asking.problem("redo", path="arm.yaml", at="")


def test_each_operation_changes_the_file(asking, file):
    asking.edit("arm.yaml", {"op": "set", "path": "blocks.step.T", "text": "0.5"})
    asking.edit("arm.yaml", {"op": "set", "path": "subsystems.servo.blocks.law.K", "text": "4"})
    asking.edit("arm.yaml", {"op": "unset", "path": "blocks.hold.clock"})
    asking.edit("arm.yaml", {"op": "rename", "name": "law", "to": "gain", "within": "servo"})
    asking.edit("arm.yaml", {"op": "retype", "name": "hold", "type": "DELAY_S", "within": ""})
    asking.edit("arm.yaml", {"op": "set", "path": "description", "text": "said"})
    unwire = {"op": "unwire", "source": "two.x", "target": "scope", "within": ""}
    asking.edit("arm.yaml", unwire)
    asking.edit("arm.yaml", {"op": "remove", "names": ["scope"], "within": ""})
    asking.edit("arm.yaml", {"op": "group", "name": "pair", "names": ["one", "two"], "within": ""})
    text = file.read_text()
    for part in ("step: {type: STEP, T: 0.5}", "gain: {type: GAIN, K: 4}", "- gain -> x",
                 "type: DELAY_S", "pair: {type: pair}", "pair.x -> hold"):  # fmt: skip
        assert part in text, part
    assert "scope" not in text
    assert "clock: tick" not in text
    assert "description: said" in text
    for _ in range(9):
        asking.ok("undo", path="arm.yaml", at="")
    assert file.read_text() == ARM


def test_another_type_leaves_no_parameters_of_the_old_one(asking, file):
    asking.edit("arm.yaml", {"op": "set", "path": "blocks.step.on", "text": "3"})
    before = file.read_text()
    retype = {"op": "retype", "name": "step", "type": "RAMP", "within": ""}
    assert asking.edit("arm.yaml", retype)["opened"]["problems"] == []
    assert "step: {type: RAMP, T: 1}" in file.read_text()
    asking.ok("undo", path="arm.yaml", at="")
    assert file.read_text() == before
    asking.edit("arm.yaml", {**retype, "name": "one", "type": "GAIN"})
    assert "one: {type: GAIN}" in file.read_text()
    asking.edit("arm.yaml", {**retype, "name": "hold", "type": "servo"})
    assert "hold: {type: servo}" in file.read_text()
    asking.edit("arm.yaml", {**retype, "name": "step", "type": "unknown"})
    assert "step: {type: unknown, T: 1, on: 3}" in file.read_text()


def test_a_parameter_of_the_file_is_renamed_with_its_uses_and_removed(asking, file):
    rename = {"op": "rename-parameter", "name": "k", "to": "stiffness"}
    changed = asking.edit("arm.yaml", rename)["opened"]
    assert changed["problems"] == []
    assert changed["undo"] == "rename k"
    text = ARM.replace("  k: 2", "  stiffness: 2").replace("gain: $k", "gain: $stiffness")
    assert file.read_text() == text
    asking.edit("arm.yaml", {"op": "unset", "path": "params.stiffness"})
    assert "stiffness: 2" not in file.read_text()
    for _ in range(2):
        asking.ok("undo", path="arm.yaml", at="")
    assert file.read_text() == ARM


def test_a_clock_of_the_file_is_renamed_with_its_uses(asking, file):
    rename = {"op": "rename-entry", "section": "clocks", "name": "tick", "to": "control"}
    changed = asking.edit("arm.yaml", rename)["opened"]
    assert changed["problems"] == []
    assert file.read_text() == ARM.replace("tick", "control")
    revision = asking.ok("undo", path="arm.yaml", at="")["opened"]["revision"]
    assert file.read_text() == ARM
    for given in (
        {**rename, "section": "blocks"},
        {**rename, "name": "x"},
        {**rename, "to": "a b"},
    ):
        about = {"path": "arm.yaml", "at": "", "revision": revision, "operations": [given]}
        assert asking.problem("edit", **about)


def test_a_file_with_ports_can_be_added(asking, file):
    (asking.session.root / "part.yaml").write_text(
        "inputs: [u]\noutputs: [y]\nblocks: {g: {type: GAIN, K: 2}}\n"
        "wires: [in.u -> g, g -> out.y]\n"
    )
    add = {"op": "add", "name": "part", "type": "part.yaml", "within": ""}
    sheet = asking.edit("arm.yaml", add)["sheet"]
    assert "part: {use: part.yaml}" in file.read_text()
    part = blocks(sheet)["part"]
    assert (part["file"], part["opens"]) == ("part.yaml", "part")
    inner = asking.ok("sheet", path="arm.yaml", at="part")
    assert inner["within"] is None
    assert set(blocks(inner)) == {"g", "in", "out"}
    assert [one["path"] for one in asking.ok("form", path="arm.yaml", at="part", block="g")
            ["fields"]] == ["", ""]  # fmt: skip
    given = {"op": "remove", "names": ["g"], "within": None}
    revision = asking.ok("open", path="arm.yaml")["revision"]
    assert "another file" in asking.problem(
        "edit", path="arm.yaml", at="part", revision=revision, operations=[given]
    )
    own = asking.ok("open", path="part.yaml")
    assert own["problems"] == []
    assert set(blocks(asking.ok("sheet", path="part.yaml", at=""))) == {"g", "in", "out"}


def test_a_sheet_around_is_shown_where_one_is_gone(asking):
    asking.edit("arm.yaml", {"op": "add", "name": "three", "type": "servo", "within": ""})
    undone = asking.ok("undo", path="arm.yaml", at="three")
    assert undone["sheet"]["at"] == ""


# --- mistakes ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("old", "new", "block", "argument"),
    [
        ("type: STEP", "type: STEPP", "step", "type"),
        ("type: STEP, T: 1", "type: STEP, T: soon", "step", "T"),
        ("step -> one", "step -> one.gaol", "one", "gaol"),
        ("  - step -> one\n", "", "one", "goal"),
        ("K: $gain", "K: $gian", "one/law", "K"),
        ("law -> x\n", "law -> y\n", "one/y", None),
        ("gain: $k", "gain: $kk", "one", "gain"),
        ("clock: tick", "clock: tock", "hold", "clock"),
        ("T: 1}", "T: [1, 2], off: [1, 2, 3]}", "step", "T"),
    ],
)
def test_a_mistake_is_shown_at_its_block(asking, file, old, new, block, argument):
    file.write_text(ARM.replace(old, new))
    opened = asking.ok("open", path="arm.yaml")
    places = [(one.get("block"), one.get("argument")) for one in opened["problems"]]
    assert (block, argument) in places, opened["problems"]
    assert opened["problems"][0]["place"].startswith("arm.yaml:")
    sheet = asking.ok("sheet", path="arm.yaml", at="one" if "/" in block else "")
    told = [one for thing in (*sheet["blocks"], *sheet["wires"]) for one in thing["problems"]]
    assert told
    assert len(sheet["blocks"]) >= 5


SLOT = """\
name: slot
variants:
  law:
    default: two
    choices:
      two: {type: PID, P: 2}
      one: {type: GAIN, K: 3}
blocks:
  r: {type: CONSTANT, value: 1}
  s: {type: SCOPE}
wires: [r -> law.0, r -> law.1, law -> s]
"""


def test_the_wrapper_of_a_choice_with_other_ports_is_an_edit_of_its_mistake(asking, file):
    file.write_text(SLOT)
    opened = asking.ok("open", path="arm.yaml")
    [problem] = opened["problems"]
    assert (problem["block"], problem["message"]) == ("law", "law: one has other ports than two")
    wires = ["in.u0 -> block.0", "in.u1", "block.0 -> out.y"]
    assert problem["edit"] == {"op": "wrap", "slot": "law", "choice": "one", "wires": wires}
    given = {"path": "arm.yaml", "at": "", "revision": opened["revision"]}
    changed = asking.ok("edit", **given, operations=[problem["edit"]])
    assert changed["opened"]["problems"] == []
    assert "one: {type: one_law}" in file.read_text()


def test_shapes_that_do_not_fit_are_mistakes(asking, file):
    file.write_text(ARM.replace("type: GAIN, K: $gain", "type: GAIN, K: [[1, 2], [3, 4]]")
                       .replace("T: 1}", "T: 1, on: [1, 2, 3]}"))  # fmt: skip
    problems = asking.ok("open", path="arm.yaml")["problems"]
    assert any(one.get("block", "").startswith("one/") for one in problems), problems


def test_a_file_that_is_no_yaml_is_refused_with_its_place(asking, file):
    file.write_text("blocks: {a: [}\n")
    found = asking.ask("open", path="arm.yaml")["problem"]
    assert found["place"] == "arm.yaml:1:14"


def test_what_would_be_wrong_is_tried_without_writing(asking, file):
    opened = asking.ok("open", path="arm.yaml")
    given = {"path": "arm.yaml", "at": "", "revision": opened["revision"]}
    bad = {"op": "set", "path": "blocks.step.T", "text": "soon"}
    (problem,) = asking.ok("try", **given, operations=[bad])["problems"]
    assert (problem["block"], problem["argument"]) == ("step", "T")
    assert asking.ok("try", **given, operations=[{**bad, "text": "3"}])["problems"] == []
    assert "not YAML" in asking.problem("try", **given, operations=[{**bad, "text": "[1"}])
    assert file.read_text() == ARM


# --- places ------------------------------------------------------------------------------------


def test_moved_blocks_stay_where_they_are_put(asking, file):
    asking.ok("open", path="arm.yaml")
    first = blocks(asking.ok("sheet", path="arm.yaml", at=""))
    asking.ok("place", path="arm.yaml", at="", places={"two": [700, 900]})
    again = Asking(asking.session.root)
    again.ok("open", path="arm.yaml")
    later = blocks(again.ok("sheet", path="arm.yaml", at=""))
    assert (later["two"]["x"], later["two"]["y"], later["two"]["moved"]) == (700, 900, True)
    for name in first.keys() - {"two"}:
        assert later[name]["x"] == first[name]["x"]
        assert not later[name]["moved"]
    renamed = again.edit("arm.yaml", {"op": "rename", "name": "two", "to": "b", "within": ""})
    assert blocks(renamed["sheet"])["b"]["x"] == 700
    tidy = again.ok("tidy", path="arm.yaml", at="")["sheet"]
    assert not any(block["moved"] for block in tidy["blocks"])
    assert file.read_text() == ARM.replace("two:", "b:").replace("two.", "b.")
    assert blocks(again.ok("undo", path="arm.yaml", at="")["sheet"])["b"]["x"] == 700


def test_new_blocks_come_beside_the_others(asking):
    sheet = asking.edit("arm.yaml", MORE, WIRE, {**MORE, "name": "alone"})["sheet"]
    assert_apart(sheet)
    again = asking.edit("arm.yaml", {**MORE, "name": "put", "place": [400, 50]})["sheet"]
    assert blocks(again)["put"]["x"] == 400
    assert blocks(again)["more"]["x"] == blocks(sheet)["more"]["x"]


def test_blocks_that_grow_push_their_neighbours_and_undo_brings_these_back(asking):
    add = {"op": "add", "within": ""}
    sums = [{**add, "name": name, "type": "SUM", "place": [2000, y]} for name, y in
            (("upper", 0), ("lower", 70))]  # fmt: skip
    before = blocks(asking.edit("arm.yaml", *sums)["sheet"])
    assert before["lower"]["y"] == 70
    more = {"op": "set", "path": "blocks.upper.signs", "text": '"++++++"'}
    grown = asking.edit("arm.yaml", more)["sheet"]
    assert_apart(grown)
    upper, lower = blocks(grown)["upper"], blocks(grown)["lower"]
    assert (upper["x"], upper["y"]) == (2000, 0)
    assert lower["moved"]
    again = Asking(asking.session.root)
    again.ok("open", path="arm.yaml")
    assert blocks(again.ok("sheet", path="arm.yaml", at=""))["lower"]["y"] == lower["y"]
    undone = asking.ok("undo", path="arm.yaml", at="")["sheet"]
    assert blocks(undone)["lower"] == before["lower"]
    assert_apart(asking.ok("redo", path="arm.yaml", at="")["sheet"])


def test_a_new_block_comes_on_no_other_and_one_that_a_person_puts_there_stays(asking):
    asking.ok("open", path="arm.yaml")
    first = asking.ok("sheet", path="arm.yaml", at="")
    x, y = (blocks(first)["one"][axis] for axis in "xy")
    added = asking.edit("arm.yaml", {**MORE, "place": [x + 30, y + 10]})["sheet"]
    assert_apart(added)
    assert blocks(added)["one"] == blocks(first)["one"]
    put = asking.ok("place", path="arm.yaml", at="", places={"more": [x + 30, y + 10]})["sheet"]
    assert (blocks(put)["more"]["x"], blocks(put)["more"]["y"]) == (x + 30, y + 10)
    assert_apart(put)  # what nobody has put there gives way
    asking.ok("place", path="arm.yaml", at="", places={"step": [x + 30, y + 20]})
    wider = {"op": "set", "path": "blocks.more.K", "text": "[1, 2, 3, 4, 5, 6]"}
    kept = blocks(asking.edit("arm.yaml", wider)["sheet"])
    assert (kept["more"]["x"], kept["more"]["y"]) == (x + 30, y + 10)
    assert (kept["step"]["x"], kept["step"]["y"]) == (x + 30, y + 20)


@pytest.mark.parametrize(
    "point", [[1], [1, "2"], [float("nan"), 0], [1e300, 0], [True, 0], None, {"x": 1}]
)
def test_a_place_is_two_numbers(asking, point):
    asking.ok("open", path="arm.yaml")
    assert "place" in asking.problem("place", path="arm.yaml", at="", places={"one": point})


def test_stored_places_that_are_spoilt_do_no_harm(asking, tmp_path):
    asking.ok("open", path="arm.yaml")
    asking.ok("place", path="arm.yaml", at="", places={"one": [1, 2]})
    (stored,) = (tmp_path / "cache" / "studio").iterdir()
    for text in ("", "[]", "{", '{"": 3}', '{"": {"one": [1, 2]}}', '{"": {"one": ["a", 2, 1]}}',
                 "[" * 5000):  # fmt: skip
        stored.write_text(text)
        again = Asking(asking.session.root)
        again.ok("open", path="arm.yaml")
        assert not blocks(again.ok("sheet", path="arm.yaml", at=""))["one"]["moved"]


# --- changes outside ------------------------------------------------------------------------------


def test_a_change_outside_is_told_to_all(asking, file):
    asking.edit("arm.yaml", MORE)
    file.write_text(ARM.replace("T: 2}", "T: 7}"))
    asking.look()
    (told,) = asking.told()
    assert told["tell"] == "changed"
    assert told["path"] == "arm.yaml"
    assert told["opened"]["run"]["T"] == 7
    assert told["opened"]["undo"] is None
    asking.look()
    assert asking.told() == []


def test_a_file_that_is_spoilt_and_mended_outside(asking, file):
    asking.ok("open", path="arm.yaml")
    revision = asking.ok("open", path="arm.yaml")["revision"]
    for spoil in (lambda: file.write_text("blocks: ["), file.unlink):
        spoil()
        asking.look()
        (told,) = asking.told()
        assert told["tell"] == "conflict"
        assert "message" in told["problem"]
        assert len(asking.ok("sheet", path="arm.yaml", at="")["blocks"]) == 5
        given = {"path": "arm.yaml", "at": "", "revision": revision, "operations": [MORE]}
        assert "cannot be read" in asking.problem("edit", **given)
        assert asking.problem("open", path="arm.yaml")
    file.write_text(ARM)
    asking.look()
    assert [one["tell"] for one in asking.told()] == ["changed"]
    asking.edit("arm.yaml", MORE)


def test_an_edit_never_overwrites_a_change_outside(asking, file):
    revision = asking.ok("open", path="arm.yaml")["revision"]
    other = ARM.replace("T: 2}", "T: 9}")
    file.write_text(other)
    given = {"path": "arm.yaml", "at": "", "revision": revision, "operations": [MORE]}
    assert "changed outside" in asking.problem("edit", **given)
    assert file.read_text() == other
    assert [one["tell"] for one in asking.told()] == ["changed"]
    assert "changed" in asking.problem("edit", **given)
    asking.edit("arm.yaml", MORE)
    assert "T: 9}" in file.read_text()
    assert "more" in file.read_text()


def test_a_file_that_is_used_changes_outside(asking, file):
    part = asking.session.root / "part.yaml"
    part.write_text("inputs: [u]\nblocks: {g: {type: NULL}}\nwires: [in.u -> g]\n".replace(
        "NULL", "'NULL'"))  # fmt: skip
    asking.edit("arm.yaml", {"op": "add", "name": "part", "type": "part.yaml", "within": ""},
                {"op": "wire", "source": "one.x", "target": "part.u", "within": ""})  # fmt: skip
    assert asking.ok("open", path="arm.yaml")["problems"] == []
    part.write_text(part.read_text().replace("'NULL'", "NOTHING"))
    asking.look()
    (told,) = asking.told()
    assert told["opened"]["problems"][0]["block"] == "part"
    assert told["opened"]["undo"] is not None


def test_other_pages_are_told_of_an_edit(asking, file):
    asking = Asking(asking.session.root, pages=2)
    asking.ok("open", path="arm.yaml", page=1)
    asking.edit("arm.yaml", MORE)
    (told,) = asking.told(page=1)
    assert told["tell"] == "changed"
    assert told["opened"]["undo"] == "add more"
    assert asking.told() == []


# --- which files ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "path",
    ["../secret.yaml", "/etc/passwd", "link.yaml", "folder/../../secret.yaml", "notes.txt", "",
     ".", "no.yaml", "a\0.yaml", "x" * 5000 + ".yaml", "diagrams"],
)  # fmt: skip
def test_only_diagrams_of_the_project_are_opened(asking, path):
    root = asking.session.root
    (root / "notes.txt").write_text(ARM)
    secret = root.parent / "secret.yaml"
    secret.write_text("blocks: {hidden: {type: STEP}}\n")
    os.symlink(secret, root / "link.yaml")
    found = asking.ask("open", path=path)
    assert "problem" in found
    assert "hidden" not in json.dumps(found)
    assert "ok" not in asking.ask("sheet", path=path, at="")


def test_used_files_outside_are_not_read(asking, file):
    (asking.session.root.parent / "secret.yaml").write_text(
        "outputs: [y]\nblocks: {hidden: {type: STEP}}\nwires: [hidden -> out.y]\n"
    )
    file.write_text("blocks: {a: {use: ../secret.yaml}}\n")
    opened = asking.ok("open", path="arm.yaml")
    assert "leaves the project" in opened["problems"][0]["message"]
    sheet = asking.ok("sheet", path="arm.yaml", at="")
    assert sheet["blocks"][0]["opens"] is None
    assert "hidden" not in json.dumps(sheet)
    assert "no subsystem" in asking.problem("sheet", path="arm.yaml", at="a")


def test_a_new_file_is_built_from_nothing(asking):
    opened = asking.ok("new", path="deep/new.yaml", name="My thing")
    assert opened["name"] == "My thing"
    assert opened["path"] == "deep/new.yaml"
    asking.edit("deep/new.yaml", {"op": "add", "name": "s", "type": "STEP", "within": ""})
    sink = {"op": "add", "name": "scope", "type": "SCOPE", "within": "", "place": [300, 0]}
    wire = {"op": "wire", "source": "s", "target": "scope", "within": ""}
    assert asking.edit("deep/new.yaml", sink, wire)["opened"]["problems"] == []
    assert (asking.session.root / "deep/new.yaml").read_text() == (
        "name: My thing\nblocks:\n  s: {type: STEP}\n  scope: {type: SCOPE}\n"
        "wires:\n  - s -> scope\nrun: {T: 10}\n"
    )
    assert "there already" in asking.problem("new", path="deep/new.yaml", name="x")
    assert "leaves the project" in asking.problem("new", path="../new.yaml", name="x")
    assert "yaml" in asking.problem("new", path="new.py", name="x")


def test_changes_of_a_sheet_make_the_sheet_that_another_page_gets(asking):
    asking.ok("open", path="arm.yaml")
    sheet = asking.ok("sheet", path="arm.yaml", at="")
    edits = [
        MORE,
        WIRE,
        {"op": "rename", "name": "more", "to": "other", "within": ""},
        {"op": "set", "path": "blocks.other.K", "text": "[1, 2, 3]"},
        {"op": "remove", "names": ["two"], "within": ""},
    ]
    requests = [("place", {"places": {"one": [500, 300]}})]
    requests += [("edit", {"operations": [operation]}) for operation in edits]
    requests += [("undo", {})] * len(requests) + [("redo", {}), ("tidy", {})]
    for what, given in requests:
        revision = asking.ok("open", path="arm.yaml")["revision"]
        given = {"path": "arm.yaml", "at": "", "revision": revision, **given}
        change = asking.ok(what, version=sheet["version"], **given)["sheet"]
        sheet = json.loads(json.dumps(whole(sheet, json.loads(json.dumps(change)))))
        new = json.loads(json.dumps(asking.ok("sheet", path="arm.yaml", at="")))
        assert {**sheet, "version": 0} == {**new, "version": 0}
        sheet = new


def test_a_page_with_an_older_sheet_gets_the_whole(asking):
    asking.ok("open", path="arm.yaml")
    old = asking.ok("sheet", path="arm.yaml", at="")["version"]
    given = {"path": "arm.yaml", "at": "", "places": {"one": [500, 300]}}
    first = asking.ok("place", version=old, **given)["sheet"]
    assert first["base"] == old
    assert "base" not in asking.ok("place", version=old, **given)["sheet"]
    assert "base" not in asking.ok("place", version="no number", **given)["sheet"]


def test_a_move_among_2000_blocks_is_told_in_few_bytes_and_routes_few_wires(asking):
    rows = [f"  b{k}: {{type: {'GAIN' if k % 20 else 'RAMP'}}}" for k in range(2000)]
    wires = [f"  - b{k - 1} -> b{k}" for k in range(2000) if k % 20]
    text = "\n".join(["blocks:", *rows, "wires:", *wires, ""])
    (asking.session.root / "large.yaml").write_text(text)
    asking.ok("open", path="large.yaml")
    sheet = asking.ok("sheet", path="large.yaml", at="")
    right, bottom = (
        max(block[at] + block[size] for block in sheet["blocks"])
        for at, size in (("x", "width"), ("y", "height"))
    )
    assert 0.5 < right / bottom < 3  # no column
    block = blocks(sheet)["b1010"]
    given = {"path": "large.yaml", "at": "", "places": {"b1010": [block["x"], block["y"] + 60]}}
    answer = asking.ok("place", version=sheet["version"], **given)
    assert len(json.dumps(answer)) < 6000
    change = answer["sheet"]
    assert [one["name"] for one in change["blocks"] if isinstance(one, dict)] == ["b1010"]
    routed = {one["target"] for one in change["wires"] if isinstance(one, dict)}
    assert {"b1010", "b1011"} <= routed
    assert len(routed) < 8
    assert_routed(whole(sheet, change))
    back = asking.ok("undo", path="large.yaml", at="", version=change["version"])
    assert len(json.dumps(back)) < 6000
