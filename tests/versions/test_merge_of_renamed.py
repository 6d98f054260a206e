"""A merge follows what a side has renamed or moved, as diff tells it."""

from __future__ import annotations

import pytest

from spart_blocks.base.document import parse_document
from spart_blocks.versions.edits import (
    AddWire,
    Append,
    Draw,
    Group,
    RemoveBlock,
    RemoveWire,
    RenameBlock,
    RenameParameter,
    RenamePort,
    Set,
    Vary,
    edited,
)
from spart_blocks.versions.merge import merge

BASE = """\
# A servo.
params: {kp: 40} # N m/rad
clocks: {fast: {rate: 100}}
robots: {sc: {urdf: sc.urdf, base: fixed}}
subsystems:
  law: # the control law
    inputs: [e, rate]
    outputs: [u]
    blocks:
      p: {type: GAIN, K: $kp} # proportional
      d: {type: GAIN, K: 8}
      sum: {type: SUM, signs: +-}
    wires:
      - in.e -> p
      - in.rate -> d
      - p -> sum.0
      - d -> sum.1
      - sum -> out.u
variants:
  filter:
    default: slow
    choices:
      slow: {type: GAIN, K: 1}
      quick: {type: GAIN, K: 2}
blocks:
  qd: {type: STEP} # target
  error: {type: SUM, signs: +-}
  ctrl: {type: law}
  hold: {type: ZOH, clock: fast}
  plant: {type: MULTIBODY, robot: sc}
  scope: {type: SCOPE}
wires:
  - qd -> error.0
  - plant.qm -> error.1, scope
  - error -> ctrl.e
  - plant.um -> ctrl.rate
  - ctrl -> filter
  - filter -> hold
  - hold -> plant.taum
run: {T: 5, log: [ctrl, ctrl/p, error]}
sweep: {over: {kp: [1, 2]}}
"""


def edit(text, *changes):
    """A text in which parts, each there once, are replaced."""
    for old, new in changes:
        assert text.count(old) == 1, (old, text.count(old))
        text = text.replace(old, new)
    return text


def of(*operations):
    return edited(BASE, operations).after


def connections(wires):
    """The wires with one input each, sorted."""
    pairs = (text.split(" -> ") for text in wires)
    return sorted(f"{source} -> {end}" for source, ends in pairs for end in ends.split(", "))


def merged(one, two):
    """The values of a merge, which are the same whichever side is ours."""
    found = [merge(BASE, *sides) for sides in ((one, two), (two, one))]
    assert [each.conflicts for each in found] == [(), ()]
    data, other = (parse_document(each.text, "it").data for each in found)
    data, other = ({**each, "wires": connections(each["wires"])} for each in (data, other))
    assert data == other
    return data


def conflicts(one, two):
    found = merge(BASE, one, two)
    assert found.text is None
    return list(map(str, found.conflicts))


# --- blocks -----------------------------------------------------------------------------------


def test_a_block_renamed_on_one_side_and_changed_on_the_other():
    renamed = of(RenameBlock("error", "e"))
    changed = edit(BASE, ("error: {type: SUM, signs: +-}", "error: {type: SUM, signs: -+}"))
    data = merged(renamed, changed)
    assert data["blocks"]["e"] == {"type": "SUM", "signs": "-+"}
    assert "error" not in data["blocks"]
    assert data["run"]["log"] == ["ctrl", "ctrl/p", "e"]


def test_the_text_of_ours_stays_and_what_theirs_adds_keeps_its_comments():
    renamed = of(RenameBlock("qd", "goal"))
    changed = edit(
        BASE, ("  - hold -> plant.taum\n", "  - hold -> plant.taum\n  - qd -> scope # new\n")
    )
    wanted = edit(
        renamed, ("  - hold -> plant.taum\n", "  - hold -> plant.taum\n  - goal -> scope # new\n")
    )
    assert merge(BASE, renamed, changed).text == wanted
    assert merge(BASE, changed, renamed).text == wanted


def test_new_wires_and_references_of_the_other_side_follow_the_new_name():
    renamed = of(RenameBlock("plant", "arm"))
    changed = edit(
        of(AddWire("plant.um -> scope")),
        ("error]}", "error, plant.um]}\nexpect: {final: [{signal: plant.qm, value: 1}]}"),
    )
    data = merged(renamed, changed)
    assert "arm.um -> scope" in data["wires"]
    assert data["run"]["log"][-1] == "arm.um"
    assert data["expect"]["final"][0]["signal"] == "arm.qm"


def test_wires_rerouted_on_the_other_side():
    renamed = of(RenameBlock("hold", "zoh"))
    rerouted = of(RemoveWire("filter -> hold"), AddWire("ctrl -> hold"))
    assert merged(renamed, rerouted)["wires"] == [
        *("ctrl -> filter", "ctrl -> zoh", "error -> ctrl.e", "plant.qm -> error.1"),
        *("plant.qm -> scope", "plant.um -> ctrl.rate", "qd -> error.0", "zoh -> plant.taum"),
    ]


def test_a_wire_removed_and_its_source_renamed():
    data = merged(of(RemoveWire("qd -> error.0")), of(RenameBlock("qd", "goal")))
    assert "goal" in data["blocks"]
    assert not any("goal" in text or "qd" in text for text in data["wires"])


def test_both_sides_rename_otherwise():
    one, two = of(RenameBlock("ctrl", "pd")), of(RenameBlock("ctrl", "controller"))
    assert conflicts(one, two) == ["block ctrl: ours calls it pd, theirs calls it controller"]
    assert conflicts(two, one) == ["block ctrl: ours calls it controller, theirs calls it pd"]


def test_both_sides_rename_alike_and_one_changes_it_too():
    one, two = (of(RenameBlock("plant", "arm"), *more) for more in ((), (Set("arm.x0", 1),)))
    assert merged(one, two)["blocks"]["arm"] == {"type": "MULTIBODY", "robot": "sc", "x0": 1}


def test_a_conflict_of_values_names_the_block_by_both_names():
    one = edit(of(RenameBlock("error", "e")), ("signs: +-}\n  ctrl", "signs: ++}\n  ctrl"))
    two = edit(BASE, ("signs: +-}\n  ctrl", "signs: --}\n  ctrl"))
    assert conflicts(one, two) == [
        "blocks.e.signs (error before): ours has '++', theirs has '--' (before: '+-')"
    ]


def test_a_block_renamed_and_removed_is_removed():
    removed = edit(
        of(RemoveBlock("hold")), ("  - ctrl -> filter\n", "  - ctrl -> filter, plant.taum\n")
    )
    data = merged(of(RenameBlock("hold", "zoh")), removed)
    assert not {"hold", "zoh"} & data["blocks"].keys()
    assert "ctrl -> plant.taum" in data["wires"]


def test_the_new_name_is_one_that_the_other_side_gives_a_new_block():
    added = edit(BASE, ("  scope: {type: SCOPE}\n", "  scope: {type: SCOPE}\n  pd: {type: TIME}\n"))
    (told,) = (one for one in conflicts(of(RenameBlock("ctrl", "pd")), added) if "blocks.pd" in one)
    assert told.startswith("blocks.pd: ours has")


def test_two_blocks_that_take_each_other_s_names():
    swapped = BASE.replace("hold", "other").replace("error", "hold").replace("other", "error")
    data = merged(swapped, edit(BASE, ("T: 5", "T: 6")))
    assert data["run"]["T"] == 6
    assert data["blocks"] == parse_document(swapped, "it").data["blocks"]


# --- subsystems, variants, parameters, clocks, robots -----------------------------------------


def test_a_block_of_a_subsystem_and_the_subsystem_itself():
    renamed = of(RenameBlock("p", "gain", within="law"))
    renamed = edit(renamed, ("  law: #", "  servo: #"), ("{type: law}", "{type: servo}"))
    changed = edit(
        BASE, ("K: 8", "K: 9"), ("K: $kp}", "K: 50}"), ("- qd ->", "- ctrl/p -> scope\n  - qd ->")
    )
    changed = edit(changed, ("  - ctrl/p -> scope\n", ""), ("error]}", "error, ctrl/d]}"))
    data = merged(renamed, changed)
    assert data["blocks"]["ctrl"] == {"type": "servo"}
    assert list(data["subsystems"]) == ["servo"]
    blocks = data["subsystems"]["servo"]["blocks"]
    assert blocks["gain"]["K"] == 50
    assert blocks["d"]["K"] == 9
    assert "in.e -> gain" in data["subsystems"]["servo"]["wires"]
    assert data["run"]["log"] == ["ctrl", "ctrl/gain", "error", "ctrl/d"]


def test_another_use_of_a_renamed_subsystem():
    renamed = edit(BASE, ("  law: #", "  servo: #"), ("{type: law}", "{type: servo}"))
    changed = edit(BASE, ("  hold: {", "  second: {type: law}\n  hold: {"))
    assert merged(renamed, changed)["blocks"]["second"] == {"type": "servo"}


def test_a_slot_and_a_choice_of_it():
    renamed = edit(
        BASE.replace("filter", "lowpass"),
        ("default: slow", "default: lag"),
        ("      slow:", "      lag:"),
    )
    changed = edit(BASE, ("slow: {type: GAIN, K: 1}", "slow: {type: GAIN, K: 3}"),
                   ("  - hold ->", "  - filter -> scope\n  - hold ->"))  # fmt: skip
    data = merged(renamed, changed)
    slot = data["variants"]["lowpass"]
    assert slot["default"] == "lag"
    assert slot["choices"]["lag"]["K"] == 3
    assert "lowpass -> scope" in data["wires"]


def test_a_parameter():
    renamed = BASE.replace("kp", "gain")
    changed = edit(BASE, ("{kp: 40}", "{kp: 45}"), ("K: 8", "K: $kp"))
    data = merged(renamed, changed)
    assert data["params"] == {"gain": 45}
    assert data["subsystems"]["law"]["blocks"]["d"]["K"] == "$gain"
    assert data["sweep"]["over"] == {"gain": [1, 2]}


def test_what_is_declared_of_a_parameter():
    """Whichever side declares it, it goes with the new name."""
    base = BASE.replace("clocks:", "declare: {kp: {unit: N m/rad}}\nclocks:")
    renamed, bounded = (
        edited(base, [one]).after
        for one in (RenameParameter("kp", "stiffness"), Set("declare.kp.min", 0))
    )
    for sides in ((renamed, bounded), (bounded, renamed)):
        data = parse_document(merge(base, *sides).text, "it").data
        assert data["declare"] == {"stiffness": {"unit": "N m/rad", "min": 0}}
    data = merged(of(RenameParameter("kp", "k")), of(Set("declare.kp", {"unit": "N m/rad"})))
    assert data["declare"] == {"k": {"unit": "N m/rad"}}


def test_a_clock_and_a_robot():
    renamed = BASE.replace("fast", "loop").replace("sc:", "arm:").replace("robot: sc", "robot: arm")
    changed = edit(
        BASE,
        ("rate: 100", "T: 0.01"),
        ("base: fixed", "base: floating"),
        (
            "  scope:",
            "  delay: {type: UNIT_DELAY, clock: fast}\n  mass: {type: MASS, robot: sc}\n  scope:",
        ),
        ("sweep: {over: {", "sweep: {over: {sc.mass: [1], clocks.fast.T: [1], "),
    )
    data = merged(renamed, changed)
    assert data["clocks"] == {"loop": {"T": 0.01}}
    assert data["robots"] == {"arm": {"urdf": "sc.urdf", "base": "floating"}}
    assert data["blocks"]["delay"]["clock"] == "loop"
    assert data["blocks"]["mass"]["robot"] == "arm"
    assert data["sweep"]["over"].keys() == {"arm.mass", "clocks.loop.T", "kp"}


@pytest.mark.parametrize(
    ("old", "one", "two", "told"),
    [
        ("law", "pd", "servo", "subsystem law: ours calls it pd, theirs calls it servo"),
        ("kp", "gain", "k", "parameter kp: ours calls it gain, theirs calls it k"),
        ("fast", "loop", "quick1", "clock fast: ours calls it loop, theirs calls it quick1"),
        ("filter", "a", "b", "variant filter: ours calls it a, theirs calls it b"),
    ],
)
def test_other_things_renamed_otherwise(old, one, two, told):
    assert told in conflicts(BASE.replace(old, one), BASE.replace(old, two))


# --- moves ------------------------------------------------------------------------------------

GROUPED = Group("front", ("error", "hold"))


def test_a_block_moved_into_a_subsystem_and_changed():
    changed = edit(BASE, ("signs: +-}\n  ctrl", "signs: -+}\n  ctrl"), ("error]}", "error, hold]}"))
    data = merged(of(GROUPED), changed)
    assert data["subsystems"]["front"]["blocks"]["error"] == {"type": "SUM", "signs": "-+"}
    assert "error" not in data["blocks"]
    assert data["run"]["log"] == ["ctrl", "ctrl/p", "front/error", "front/hold"]


def test_a_block_moved_into_a_subsystem_and_renamed():
    data = merged(of(GROUPED), of(RenameBlock("error", "e")))
    assert data["subsystems"]["front"]["blocks"].keys() == {"e", "hold"}
    assert data["run"]["log"][-1] == "front/e"


def test_a_wire_that_one_side_removes_between_blocks_that_the_other_groups_is_removed():
    data = merged(of(Group("both", ("qd", "error"))), of(RemoveWire("qd -> error.0")))
    both = data["subsystems"]["both"]
    assert connections(both["wires"]) == ["error -> out.error", "in.qm -> error.1"]
    assert (both["inputs"], both["outputs"]) == (["qm"], ["error"])


def test_a_wire_to_the_outside_that_one_side_removes_takes_the_port_of_the_group_with_it():
    data = merged(of(GROUPED), of(RemoveWire("hold -> plant.taum")))
    assert data["subsystems"]["front"]["outputs"] == ["error"]
    assert not any("plant.taum" in text for text in data["wires"])


def test_a_new_wire_of_grouped_blocks_goes_into_the_group_or_to_a_port_of_it():
    data = merged(of(GROUPED), of(AddWire("error -> hold.1"), AddWire("qd -> error.2")))
    assert {"error -> hold.1", "in.qd -> error.2"} <= set(
        connections(data["subsystems"]["front"]["wires"])
    )
    data = merged(of(GROUPED), of(AddWire("plant.um -> hold.2")))
    assert "um" in data["subsystems"]["front"]["inputs"]
    assert "plant.um -> front.um" in data["wires"]


def test_a_group_that_is_made_a_choice_takes_new_wires_too():
    data = merged(of(GROUPED, Vary("front", "one")), of(AddWire("error -> hold.1, scope")))
    assert "error -> hold.1" in connections(data["subsystems"]["front"]["wires"])
    assert "front.error -> scope" in data["wires"]


def test_an_area_around_a_block_that_the_other_side_groups_is_around_the_group():
    area = {"title": "a", "blocks": ["qd", "error"]}
    data = merged(of(GROUPED), of(Draw("areas", area)))
    assert data["drawing"]["areas"] == [{"title": "a", "blocks": ["qd", "front"]}]


def test_a_wire_removed_from_a_port_that_the_other_side_renames_is_removed():
    data = merged(of(RenamePort("e", "angle", "inputs", "law")), of(RemoveWire("error -> ctrl.e")))
    assert data["subsystems"]["law"]["inputs"] == ["angle", "rate"]
    assert not any("ctrl.angle" in text or "ctrl.e" in text for text in data["wires"])


def test_a_new_wire_to_a_port_that_the_other_side_renames_follows():
    data = merged(of(RenamePort("u", "force", "outputs", "law")), of(AddWire("ctrl.u -> scope")))
    assert "ctrl.force -> scope" in data["wires"]


def test_wires_to_the_only_port_name_it_where_the_other_side_adds_one():
    one = of(RemoveWire("ctrl -> filter"), AddWire("ctrl -> filter, hold.1"))
    data = merged(one, of(Append("subsystems.law.outputs", "v")))
    assert {"ctrl.u -> filter", "ctrl.u -> hold.1"} <= set(data["wires"])


def test_a_block_moved_to_two_places():
    told = conflicts(of(GROUPED), of(Group("inner", ("error", "hold"))))
    assert "block error: ours calls it front/error, theirs calls it inner/error" in told


# --- one equality -----------------------------------------------------------------------------

EQUAL = [
    ("K: 8", "K: 8.0", "K: 9", 9),
    ("K: 8", "K: [1, 2]", "K: [1.0, 2.0]", [1, 2]),
    ("K: 1}", "K: 1.0}", "K: 5}", 5),
]


@pytest.mark.parametrize(("old", "one", "two", "value"), EQUAL)
def test_numbers_are_equal_as_for_diff(old, one, two, value):
    data = merged(edit(BASE, (old, one)), edit(BASE, (old, two)))
    gain = (
        data["subsystems"]["law"]["blocks"]["d"]
        if "8" in old
        else data["variants"]["filter"]["choices"]["slow"]
    )
    assert gain["K"] == value


def test_lists_of_equal_numbers_are_no_change():
    base = edit(BASE, ("K: 8", "K: [1, 2]"))
    one, two = edit(BASE, ("K: 8", "K: [1.0, 2.0]")), edit(BASE, ("K: 8", "K: [1, 2, 3]"))
    for sides in ((one, two), (two, one)):
        assert "K: [1, 2, 3]" in merge(base, *sides).text
    assert "K: [1.0, 2.0]" in merge(base, one, edit(base, ("T: 5", "T: 6"))).text


def test_true_is_not_1():
    one, two = edit(BASE, ("K: 8", "K: 1")), edit(BASE, ("K: 8", "K: true"))
    assert conflicts(one, two) == [
        "subsystems.law.blocks.d.K: ours has 1, theirs has True (before: 8)"
    ]


def test_a_period_is_its_rate_and_a_default_what_is_not_written():
    one = edit(
        BASE,
        ("{rate: 100}", "{T: 0.01}"),
        ("{type: SUM, signs: +-}\n  ctrl", "{type: SUM, signs: +-, mode: null}\n  ctrl"),
    )
    two = edit(
        BASE,
        ("{rate: 100}", "{rate: 200}"),
        ("{type: SUM, signs: +-}\n  ctrl", "{type: SUM, signs: +-, mode: x}\n  ctrl"),
    )
    data = merged(one, two)
    assert data["clocks"]["fast"] == {"rate": 200}
    assert data["blocks"]["error"]["mode"] == "x"


def test_a_port_by_its_number_and_by_its_name_is_one_input():
    one = edit(BASE, ("error -> ctrl.e", "error.0 -> ctrl.0"))
    two = edit(BASE, ("error -> ctrl.e", "qd -> ctrl.e"))
    assert [text for text in merged(one, two)["wires"] if "-> ctrl.e" in text] == ["qd -> ctrl.e"]
