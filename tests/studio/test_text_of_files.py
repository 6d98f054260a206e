"""The text of an opened file as the page edits it: changes of lines, checks and completions."""

from __future__ import annotations

import pytest
from asking import ARM, Asking


@pytest.fixture
def asking(tmp_path, monkeypatch):
    monkeypatch.setenv("SPART_CACHE", str(tmp_path / "cache"))
    root = tmp_path / "project"
    root.mkdir()
    (root / "spart.toml").write_text("")
    (root / "arm.yaml").write_bytes(ARM.replace("\n", "\r\n").encode())
    (root / "user.yaml").write_text(
        "blocks:\n  part: {use: part.yaml}\n  step: {type: STEP}\nwires: [step -> part.u]\n"
    )
    (root / "part.yaml").write_text(
        "inputs: [u]\nblocks:\n  s: {type: SCOPE}\nwires: [in.u -> s] # in it\n"
    )
    return Asking(root)


def change(old, new):
    """The operation that replaces one line of ARM."""
    number = ARM.split("\n").index(old)
    return {"op": "text", "changes": [[number, number + 1, new]]}


def tried(asking, *operations):
    revision = asking.ok("open", path="arm.yaml")["revision"]
    return asking.ok("try", path="arm.yaml", at="", revision=revision, operations=list(operations))


def labels(asking, *keys, kind="key", given=None, typed=""):
    asking.ok("open", path="arm.yaml")
    found = asking.ok("complete", path="arm.yaml", keys=list(keys), kind=kind, given=given or {},
                      typed=typed)  # fmt: skip
    return [one["label"] for one in found]


def test_a_change_of_lines_is_one_step_of_the_history(asking):
    file = asking.session.root / "arm.yaml"
    raw = file.read_bytes()
    new = ["  k: 3   # 1/s", "  # more", "  m: 1"]
    changed = asking.edit("arm.yaml", change("  k: 2   # 1/s", new))
    assert changed["opened"]["undo"] == "edit the text"
    assert file.read_bytes() == raw.replace(b"  k: 2   # 1/s", "\r\n".join(new).encode())
    text = asking.ok("text", path="arm.yaml", at="")
    assert text["revision"] == changed["opened"]["revision"]
    assert text["text"].encode() == file.read_bytes()
    asking.ok("undo", path="arm.yaml", at="")
    assert file.read_bytes() == raw


def test_a_block_that_is_renamed_in_the_text_keeps_its_place(asking):
    asking.ok("open", path="arm.yaml")
    asking.ok("place", path="arm.yaml", at="", places={"hold": [4000, 3000]})
    operation = change("  hold: {type: ZOH, clock: tick}", ["  held: {type: ZOH, clock: tick}"])
    wires = change("  - two.x -> scope, hold", ["  - two.x -> scope, held"])
    sheet = asking.edit("arm.yaml", operation, wires)["sheet"]
    (held,) = (block for block in sheet["blocks"] if block["name"] == "held")
    assert (held["x"], held["y"]) == (4000, 3000)


def test_a_change_is_refused_for_another_revision_or_a_wrong_form(asking):
    revision = asking.ok("open", path="arm.yaml")["revision"]
    about = {"path": "arm.yaml", "at": "", "revision": revision}
    asking.edit("arm.yaml", {"op": "set", "path": "params.k", "text": "5"})
    assert "changed meanwhile" in asking.problem(
        "edit", **about, operations=[change("run: {T: 2}", [])]
    )
    about["revision"] = asking.ok("open", path="arm.yaml")["revision"]
    for changes in ("all", [[0, 1]], [[0, True, []]], [[0, 1, "a"]], [[0, 1, [1]]], [[-1, 0, []]],
                    [[0, 999, []]], [[0, 1, ["a: 1\nb: 2"]]], [[0, 1, ["\ud800"]]]):  # fmt: skip
        operations = [{"op": "text", "changes": changes}]
        message = asking.problem("edit", **about, operations=operations)
        assert "arguments" not in message
    assert asking.ok("open", path="arm.yaml")["revision"] == about["revision"]


def test_a_text_is_right_if_it_adds_no_mistake_but_inputs_without_a_wire(asking):
    hold = "  hold: {type: ZOH, clock: tick}"
    found = tried(asking, change(hold, [hold, "  more: {type: GAIN, K: 2}"]))
    assert found["right"] is True
    assert [one["place"] for one in found["problems"]] == ["arm.yaml:25:3"]
    found = tried(asking, change(hold, ["  hold: {type: ZOHH, clock: tick}"]))
    assert found["right"] is False
    assert found["problems"][0]["place"] == "arm.yaml:24:16"
    asking.edit("arm.yaml", change(hold, ["  hold: {type: ZOHH, clock: tick}"]))
    run = tried(asking, {"op": "set", "path": "run.T", "text": "3"})
    assert run["right"] is True
    assert run["problems"]


def test_the_text_of_a_part_in_another_file_is_for_reading(asking):
    asking.ok("open", path="user.yaml")
    text = asking.ok("text", path="user.yaml", at="part")
    assert (text["path"], text["revision"]) == ("part.yaml", "")
    assert "# in it" in text["text"]
    assert asking.ok("text", path="user.yaml", at="")["path"] == "user.yaml"


def test_keys_and_values_are_completed_from_the_schema_and_the_types(asking):
    assert {"blocks", "wires", "run", "expect", "params"} <= set(labels(asking))
    assert {"T", "solver", "log"} <= set(labels(asking, "run"))
    assert "DOP853" in labels(asking, "run", "solver", kind="value")
    assert labels(asking, "blocks", "new") == ["type", "use"]
    assert labels(asking, "blocks", "new", given={"type": "LOOKUP", "x": "[0, 1]"}) == [
        "y", "interpolation", "outside"]  # fmt: skip
    assert labels(asking, "blocks", "one", given={"type": "servo"}) == ["gain", "for_each"]
    types = labels(asking, "subsystems", "servo", "blocks", "law", "type", kind="value")
    assert {"servo", "GAIN", "MULTIBODY"} <= set(types)
    given = {"type": "LOOKUP"}
    assert "cubic" in labels(asking, "blocks", "n", "interpolation", kind="value", given=given)
    assert (
        labels(asking, "blocks", "hold", "clock", kind="value", given={"type": "ZOH"})[0] == "tick"
    )
    assert "$k" in labels(asking, "blocks", "n", "K", kind="value", given={"type": "GAIN"})
    inner = labels(asking, "subsystems", "servo", "blocks", "law", "K", kind="value")
    assert inner == ["$gain"]
    assert {"signal", "value", "within"} <= set(labels(asking, "expect", "final", 0))


def test_wire_ends_and_signals_are_completed(asking):
    assert labels(asking, "wires", 0, kind="value") == ["step", "one", "two", "hold", "scope"]
    assert labels(asking, "wires", 0, kind="value", typed="one.") == ["one.x", "one.goal"]
    inner = labels(asking, "subsystems", "servo", "wires", 0, kind="value", typed="in.")
    assert inner == ["in.goal"]
    for keys in (["expect", "final", 0, "signal"], ["run", "log", 0], ["compare", "effort", 0]):
        assert {"one.x", "one/law", "step"} <= set(labels(asking, *keys, kind="value"))
    assert "one.x" in labels(asking, "compare", "track")
    assert labels(asking, "nothing", "there", 3, kind="value") == ["$k"]
    assert "a key or a value" in asking.problem("complete", path="arm.yaml", keys=[], kind="x")


def test_a_large_text_is_checked_without_building_it(asking, monkeypatch):
    monkeypatch.setattr("spart_blocks.studio.files.reading.AT_ONCE", 2)
    hold = "  hold: {type: ZOH, clock: tick}"
    assert tried(asking, change(hold, [hold, "  more: {type: GAIN}"]))["right"] is True
    found = tried(asking, change("run: {T: 2}", ["run: {t: 2}"]))
    assert found["right"] is False
