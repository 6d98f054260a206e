"""Buses as sheets draw them, their forms, where they fit, and their signals renamed."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from asking import Asking

MODELS = Path(__file__).parents[2] / "models"
LOOP = """\
subsystems:
  law:
    inputs: [goal, state.level, state.arm.angle]
    outputs: [command, seen.level]
    blocks:
      pick: {type: BUS_SELECTOR, signals: [level, arm]}
      sum: {type: SUM, signs: "+-+"}
    wires:
      - in.state -> pick
      - in.goal -> sum.0
      - pick.level -> sum.1
      - pick.arm.angle -> sum.2
      - sum -> out.command
      - in.state.level -> out.seen.level
  two:
    inputs: [u]
    outputs: [level, rate]
    blocks: {level: {type: GAIN, K: 2}, rate: {type: GAIN, K: 3}}
    wires: [in.u -> level, in.u -> rate, level -> out.level, rate -> out.rate]
blocks:
  t: {type: TIME}
  two: {type: two}
  arm: {type: BUS_CREATOR}
  all: {type: BUS_CREATOR}
  law: {type: law}
  changed: {type: BUS_ASSIGNMENT, signals: [level]}
  some: {type: BUS_SELECTOR, signals: [rate, arm], outputs: [speed, limb]}
  top: {type: BUS_CREATOR, signals: [inner, t]}
  scope: {type: SCOPE}
  gain: {type: GAIN}
wires:
  - t -> two.u, arm.angle, top.t # s
  - two.* -> all
  - arm -> all.arm
  - all -> law.state, changed.bus, some, top.inner, scope
  - t -> law.goal, changed.level, scope
  - all.arm -> scope
run: {T: 1, log: [law.command, all.level]}
"""


@pytest.fixture
def ask(tmp_path, monkeypatch):
    monkeypatch.setenv("SPART_CACHE", str(tmp_path / "cache"))

    def opened(text):
        (tmp_path / "bus.yaml").write_text(text)
        asking = Asking(tmp_path)
        asking.ok("open", path="bus.yaml")
        return lambda what, at="", **given: asking.ok(what, path="bus.yaml", at=at, **given)

    return opened


def drawn(sheet):
    """The buses among the wires, with their ports and signals; the number of all wires."""
    buses = {
        f"{one['source']} -> {one['target']}": (
            one["from"]["port"],
            one["to"]["port"],
            [signal["name"] for signal in one["bus"]],
        )
        for one in sheet["wires"]
        if one["bus"]
    }
    return buses, len(sheet["wires"])


def ports(sheet, block, side):
    found = next(one for one in sheet["blocks"] if one["name"] == block)
    return [(port["name"], port["label"], port["bus"], port["wired"]) for port in found[side]]


ALL = ["level", "rate", "arm.angle"]


def test_a_bus_is_one_wire_with_its_signals(ask):
    buses, count = drawn(ask(LOOP)("sheet"))
    assert buses == {
        "two.* -> all": ("*", "*", ["level", "rate"]),
        "arm -> all.arm": ("*", "arm", ["angle"]),
        "all -> law.state": ("*", "state", ALL),
        "all -> changed.bus": ("*", "bus", ALL),
        "all -> some": ("*", "*", ALL),
        "all -> top.inner": ("*", "inner", ALL),
        "all -> scope": ("*", "0", ALL),
        "all.arm -> scope": ("arm", "4", ["angle"]),
    }
    assert count == len(buses) + 6


def test_blocks_of_buses_have_one_port_for_a_bus(ask):
    sheet = ask(LOOP)("sheet")
    assert ports(sheet, "all", "inputs") == [("arm", "arm", True, True), ("*", "+", True, True)]
    assert ports(sheet, "all", "outputs") == [
        ("*", "bus", True, True),
        ("arm", "arm", True, True),
    ]
    assert ports(sheet, "top", "inputs") == [
        ("inner", "inner", True, True),
        ("t", "t", False, True),
        ("*", "+", True, False),
    ]
    assert ports(sheet, "some", "outputs") == [
        ("speed", "speed", False, False),
        ("limb", "limb", True, False),
    ]
    assert ports(sheet, "law", "outputs") == [
        ("command", "command", False, False),
        ("seen", "seen", True, False),
    ]
    assert [name for name, *_ in ports(sheet, "scope", "inputs")] == ["0", "3", "4", "5"]


def test_a_bus_that_comes_into_a_subsystem_is_one_port_of_its_sheet(ask):
    inside = ask(LOOP)("sheet", at="law")
    assert drawn(inside)[0] == {"in.state -> pick": ("state", "*", ["level", "arm.angle"])}
    assert ("state", "state", True, True) in ports(inside, "in", "outputs")
    assert ("state.level", "state.level", False, True) in ports(inside, "in", "outputs")


@pytest.mark.parametrize(
    ("blocks", "wires", "found"),
    [
        ("f: {type: law, for_each: {over: [goal], n: 2}}", "all -> f.state", ("*", "state", ALL)),
        ("f: {type: BUS_CREATOR}", "all.arm.* -> f", ("arm", "*", ["angle"])),
        ("f: {type: BUS_CREATOR}", "all.{level, rate} -> f.x", ("*", "x", ["level", "rate"])),
        ("f: {type: MUX}", "all -> f", ("*", "0", ALL)),
        ("f: {type: BUS_CREATOR}", "law -> f.law", ("*", "law", ["command", "seen.level"])),
        ("f: {type: BUS_SELECTOR, signals: [level]}", "two -> f", ("*", "*", ["level", "rate"])),
    ],
)
def test_buses_lead_to_copies_parts_and_several_outputs(ask, blocks, wires, found):
    text = LOOP.replace("  gain:", f"  {blocks}\n  gain:").replace("run:", f"  - {wires}\nrun:")
    buses, _ = drawn(ask(text)("sheet"))
    assert buses.get(wires.replace("{level, rate}", "{level,rate}")) == found


VARIANTS = """\
variants:
  law:
    default: one
    choices:
      one: {use: law.yaml}
      two: {type: law}
"""


def test_a_bus_leads_to_a_slot_of_variants_and_to_another_file(ask, tmp_path):
    (tmp_path / "law.yaml").write_text(
        "inputs: [goal, state.level, state.arm.angle]\noutputs: [command, seen.level]\n"
        "blocks: {pick: {type: BUS_SELECTOR, signals: [level]}}\n"
        "wires: [in.state -> pick, in.goal -> out.command, pick -> out.seen.level]\n"
    )
    text = LOOP.replace("  law: {type: law}\n", "").replace(
        "wires:\n  - t", f"{VARIANTS}wires:\n  - t"
    )
    find = ask(text)
    for choice, within in (("one", None), ("two", "law")):
        sheet = find("choose", slot="law", choice=choice)["sheet"]
        assert drawn(sheet)[0]["all -> law.state"] == ("*", "state", ALL)
        inside = find("sheet", at="law")
        assert inside["within"] == within
        assert drawn(inside)[0]["in.state -> pick"][:2] == ("state", "*")


def test_the_signals_of_a_bus_have_their_shapes_and_units(ask, tmp_path):
    shutil.copy(MODELS / "spacecraft_3dof.urdf", tmp_path)
    text = """\
robots: {sc: {urdf: spacecraft_3dof.urdf, base: floating}}
blocks:
  plant: {type: MULTIBODY, robot: sc}
  torque: {type: CONSTANT, value: [0, 0, 0]}
  bus: {type: BUS_CREATOR}
  scope: {type: SCOPE}
wires: [torque -> plant.taum, plant.qm -> bus.arm.q, plant.R0 -> bus.R0, bus -> scope]
"""
    [bus] = [one["bus"] for one in ask(text)("sheet")["wires"] if one["bus"]]
    assert bus == [
        {"name": "arm.q", "shape": "3", "unit": "rad"},
        {"name": "R0", "shape": "3 × 3", "unit": ""},
    ]


def test_blocks_of_buses_without_wires_have_the_ports_that_they_name(ask):
    text = "blocks: {b: {type: BUS_CREATOR}, s: {type: BUS_SELECTOR}, a: {type: BUS_ASSIGNMENT}, "
    sheet = ask(text + "c: {type: BUS_SELECTOR, signals: [x.y, z]}}\n")("sheet")
    names = {
        block["name"]: [[port["label"] for port in block[side]] for side in ("inputs", "outputs")]
        for block in sheet["blocks"]
    }
    assert names == {
        "b": [["+"], ["bus"]],
        "s": [["bus"], []],
        "a": [["bus"], ["bus"]],
        "c": [["bus"], ["y", "z"]],
    }


def test_forms_list_the_signals_that_come_in_and_those_of_a_creator(ask):
    find = ask(LOOP)
    form = find("bus", block="some")
    assert [one["name"] for one in form["incoming"]] == ALL
    assert (form["signals"], form["outputs"]) == (["rate", "arm"], ["speed", "limb"])
    assert [one["name"] for one in find("bus", block="changed")["incoming"]] == ALL
    assert find("bus", block="all")["own"] == ["level", "rate", "arm"]
    top = find("bus", block="top")
    assert (top["own"], top["signals"], top["path"]) == (
        ["inner", "t"],
        ["inner", "t"],
        "blocks.top",
    )
    assert [one["name"] for one in find("bus", at="law", block="pick")["incoming"]] == [
        "level",
        "arm.angle",
    ]


def test_wires_say_where_a_bus_does_not_fit(ask):
    find = ask(LOOP)
    fits = find("fits", **{"from": {"block": "all", "port": "*"}, "output": True})
    assert fits["gain.0"] == "all is a bus, gain.0 takes one signal"
    assert fits["some.*"] == "some has a wire already"
    assert fits["top.*"] is None
    fits = find("fits", **{"from": {"block": "t", "port": "0"}, "output": True})
    assert fits["all.*"] is None
    assert fits["all.arm"] == "all.arm has a wire already"
    fits = find("fits", **{"from": {"block": "changed", "port": "bus"}, "output": False})
    assert fits["t.0"] == "changed.bus has a wire already"
    unfit = find("unfit", **{"from": {"block": "all", "port": "*"}, "output": True})
    assert unfit["GAIN"] == "all is a bus, and it takes single signals"
    assert unfit["two"] == "all is a bus, and it takes single signals"
    assert not {"BUS_SELECTOR", "BUS_CREATOR", "SCOPE", "MUX", "law"} & set(unfit)


def test_a_signal_renamed_in_the_page_is_renamed_wherever_the_bus_leads(ask, tmp_path):
    find = ask(LOOP)
    rename = {"op": "rename-signal", "block": "all", "name": "level", "to": "height", "within": ""}
    revision = find("open")["revision"]
    changed = find("edit", revision=revision, operations=[rename])
    text = (tmp_path / "bus.yaml").read_text()
    for part in (
        "state.height",
        "in.state.height -> out.seen.level",
        "signals: [height, arm]",
        "all.height]",
        "# s\n",
    ):
        assert part in text, part
    assert [one["block"] for one in changed["opened"]["problems"]] == ["gain"]  # as before
    assert drawn(changed["sheet"])[0]["all -> law.state"][2] == ["rate", "arm.angle", "height"]
    find("undo")
    assert (tmp_path / "bus.yaml").read_text() == LOOP
    tried = {"revision": find("open")["revision"]}
    with pytest.raises(AssertionError, match="all has a signal 'arm' already"):
        find("try", operations=[{**rename, "to": "arm"}], **tried)
