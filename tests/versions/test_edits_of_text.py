"""What an edit changes in a text, to the byte."""

from __future__ import annotations

import re

import pytest

from spart_blocks.base.document import parse_document
from spart_blocks.base.errors import InputError
from spart_blocks.versions.edits import (
    AddBlock,
    AddWire,
    Append,
    Group,
    Put,
    RemoveBlock,
    RemoveWire,
    RenameBlock,
    RenameEntry,
    RenameParameter,
    Retype,
    Set,
    Tune,
    Unset,
    Wrap,
    applied,
    edited,
)

TEXT = """\
# A servo.
name: servo
params: {k: 2.0, T: &T 0.5} # gains

blocks:
  goal: {type: STEP, T: 1}   # at 1 s
  # the loop
  error: {type: SUM, signs: "+-"}
  gain:
    type: GAIN
    K: $k # of the loop
  motor: {type: PT1, gain: 1, tau: 'x'}
  scope: {type: SCOPE,
          labels: [a, # the goal
                   b]}
wires:
  - goal -> error.0, scope.0
  - error   ->   gain
  - gain -> motor # to the motor
  - motor -> error.1, scope.1
run: {T: 5, log: [motor, gain]}
"""
"""It need not be a diagram that runs: edits of text know blocks and wires only."""


def after(*operations, text=TEXT):
    done = edited(text, operations)
    back = done.after
    for patches in done.back:
        back = applied(back, patches)
    assert back == text
    return done.after


def lines(*operations, text=TEXT):
    """The lines that go, and those that come."""
    old, new = text.splitlines(), after(*operations, text=text).splitlines()
    while old and new and old[0] == new[0]:
        old, new = old[1:], new[1:]
    while old and new and old[-1] == new[-1]:
        old, new = old[:-1], new[:-1]
    return old, new


CHANGES = [
    (Set("params.k", 3.5), "params: {k: 2.0, T: &T 0.5} # gains",
     "params: {k: 3.5, T: &T 0.5} # gains"),
    (Set("goal.T", [1, 2]), "  goal: {type: STEP, T: 1}   # at 1 s",
     "  goal: {type: STEP, T: [1, 2]}   # at 1 s"),
    (Set("gain.K", 4), "    K: $k # of the loop", "    K: 4 # of the loop"),
    (Set("error.signs", "++"), '  error: {type: SUM, signs: "+-"}',
     '  error: {type: SUM, signs: "++"}'),
    (Set("motor.tau", "it's"), "  motor: {type: PT1, gain: 1, tau: 'x'}",
     "  motor: {type: PT1, gain: 1, tau: 'it''s'}"),
    (Put(("blocks", "scope", "labels", 0), "c"), "          labels: [a, # the goal",
     "          labels: [c, # the goal"),
    (Set("blocks.motor.x0", 0.1), "  motor: {type: PT1, gain: 1, tau: 'x'}",
     "  motor: {type: PT1, gain: 1, tau: 'x', x0: 0.1}"),
    (Unset("goal.T"), "  goal: {type: STEP, T: 1}   # at 1 s", "  goal: {type: STEP}   # at 1 s"),
    (Unset("motor.gain"), "  motor: {type: PT1, gain: 1, tau: 'x'}",
     "  motor: {type: PT1, tau: 'x'}"),
    (RemoveWire("goal -> scope.0"), "  - goal -> error.0, scope.0", "  - goal -> error.0"),
    (Retype("goal", "RAMP"), "  goal: {type: STEP, T: 1}   # at 1 s",
     "  goal: {type: RAMP, T: 1}   # at 1 s"),
]  # fmt: skip


@pytest.mark.parametrize(("operation", "old", "new"), CHANGES, ids=lambda x: type(x).__name__)
def test_one_line_changes(operation, old, new):
    assert lines(operation) == ([old], [new])


ADDED = [
    (AddBlock("lag", "PT1", {"tau": 0.1}), "  lag: {type: PT1, tau: 0.1}"),
    (AddWire("motor -> lag"), "  - motor -> lag"),
    (Set("blocks.gain.name", "g"), "    name: g"),
    (Set("clocks.c", {"T": 0.1}), ["clocks:", "  c: {T: 0.1}"]),
    (Set("description", "a motor"), "description: a motor"),
    (Set("expect.baseline", {"samples": 5}), ["expect:", "  baseline: {samples: 5}"]),
    (
        Append("expect.final", {"signal": "motor", "value": 1}),
        ["expect:", "  final:", "    - {signal: motor, value: 1}"],
    ),
]


@pytest.mark.parametrize(("operation", "new"), ADDED, ids=lambda x: type(x).__name__)
def test_lines_are_added(operation, new):
    wanted = new if isinstance(new, list) else [new]
    assert lines(operation) == ([], wanted)


CLAIMS = """\
blocks: {x: {type: INTEGRATOR}, y: {type: STEP}}
expect: # what it must show
  baseline:
  settles: [{signal: x, to: 1, within: 0.1, by: 2}]   # soon
  final:
    - {signal: x, value: 1, within: 1e-3} # the angle
    # the rate
    - signal: y
      value: [0, 1]
      within: 1e-3
  each_variant: true
"""
AT_REST = {"signal": "y", "value": 0, "within": 0.1}
OF_LISTS = [
    (Set("expect.final[0].within", 0.01), ["    - {signal: x, value: 1, within: 1e-3} # the angle"],
     ["    - {signal: x, value: 1, within: 0.01} # the angle"]),
    (Set("expect.final.1.value[1]", 2), ["      value: [0, 1]"], ["      value: [0, 2]"]),
    (Set("expect.final[1].signal", "x"), ["    - signal: y"], ["    - signal: x"]),
    (Set("expect.settles[0].from", 1), None, None),
    (Set("expect.final[0]", AT_REST), ["    - {signal: x, value: 1, within: 1e-3} # the angle"],
     ["    - {signal: y, value: 0, within: 0.1} # the angle"]),
    (Append("expect.final", AT_REST), [], ["    - {signal: y, value: 0, within: 0.1}"]),
    (Append("expect.conserved", {"signal": "x", "within": 0}), [],
     ["  conserved:", "    - {signal: x, within: 0}"]),
    (Append("expect.settles", AT_REST),
     ["  settles: [{signal: x, to: 1, within: 0.1, by: 2}]   # soon"],
     ["  settles: [{signal: x, to: 1, within: 0.1, by: 2}, {signal: y, value: 0, within: 0.1}]"
      "   # soon"]),
    (Unset("expect.final[0]"), ["    - {signal: x, value: 1, within: 1e-3} # the angle"], []),
    (Unset("expect.final[1].within"), ["      within: 1e-3"], []),
    (Unset("expect.settles"), ["  settles: [{signal: x, to: 1, within: 0.1, by: 2}]   # soon"], []),
    (Unset("expect.settles[0]"), ["  settles: [{signal: x, to: 1, within: 0.1, by: 2}]   # soon"],
     ["  settles: []   # soon"]),
]  # fmt: skip


@pytest.mark.parametrize(("operation", "old", "new"), OF_LISTS)
def test_items_of_lists_have_indices(operation, old, new):
    if old is None:
        assert "by: 2, from: 1}" in after(operation, text=CLAIMS)
    else:
        assert lines(operation, text=CLAIMS) == (old, new)


def test_all_claims_are_removed_one_after_the_other():
    some = ("each_variant", "final[1]", "final[0]", "final", "settles", "baseline")
    found = after(*(Unset(f"expect.{path}") for path in some), text=CLAIMS)
    assert "expect: # what it must show\n" in found
    assert parse_document(found, "it").data["expect"] == {}
    found = after(Append("expect.final", AT_REST), text="blocks: {}\nexpect: {}\n")
    assert found.endswith("expect:\n  final:\n    - {signal: y, value: 0, within: 0.1}\n")


@pytest.mark.parametrize(
    ("operation", "told"),
    [
        (Set("expect.final[2].within", 1), "there is no entry 2"),
        (Set("expect.final[2]", AT_REST), "2 is not an index of a list of 2"),
        (Set("expect.final.last.within", 1), "there is no entry 'last'"),
        (Unset("expect.final[2]"), "there is no expect.final[2] in the file"),
        (Append("expect.each_variant", 1), "expect.each_variant is not a list"),
        (Append("motor.gain", 1), "there is nothing named 'motor'"),
    ],
)
def test_items_that_there_are_not_are_told(operation, told):
    with pytest.raises(InputError, match=re.escape(told)):
        edited(CLAIMS, operation)


def test_a_removed_line_goes_with_its_comment_alone():
    assert lines(RemoveWire("gain -> motor")) == (["  - gain -> motor # to the motor"], [])


def test_a_block_leaves_its_wires_and_the_log_with_it():
    found = after(RemoveBlock("gain"))
    assert "gain" not in found.replace("# gains", "").replace("gain: 1", "")
    assert "  # the loop\n" in found
    assert "run: {T: 5, log: [motor]}" in found


def test_a_renamed_block_is_renamed_in_wires_and_signals_alone():
    found = after(RenameBlock("motor", "drive"))
    assert found.count("drive") == 4
    assert "  - gain -> drive # to the motor\n" in found  # comments are not touched
    assert "  - error   ->   gain\n" in found


def test_a_block_of_a_subsystem_that_holds_itself_is_renamed():
    text = """\
subsystems:
  part:
    blocks: {law: {type: GAIN}, inner: {type: part}}
blocks: {one: {type: part}}
run: {log: [one/law, one/inner/law]}
"""
    found = edited(text, [RenameBlock("law", "gain", "part")], "a.yaml").after
    assert "{gain: {type: GAIN}" in found
    assert "log: [one/gain, one/inner/law]" in found  # there is no such block


def test_a_renamed_parameter_is_renamed_where_it_is_used():
    found = after(RenameParameter("k", "stiffness"))
    assert "{stiffness: 2.0, T: &T 0.5}" in found
    assert "K: $stiffness # of the loop" in found


def test_entries_of_brackets_over_several_lines_keep_their_comments():
    found = after(Put(("blocks", "scope", "labels"), ["a", "z"]))
    assert "labels: [a, # the goal\n                   z]}" in found


def test_a_group_has_the_wires_that_cross_its_border_as_ports():
    found = parse_document(after(Group("loop", ("error", "gain"))), "it").data
    assert found["subsystems"]["loop"] == {
        "inputs": ["goal", "motor"],
        "outputs": ["gain"],
        "blocks": {"error": {"type": "SUM", "signs": "+-"}, "gain": {"type": "GAIN", "K": "$k"}},
        "wires": ["in.goal -> error.0", "error   ->   gain", "gain -> out.gain",
                  "in.motor -> error.1"],
    }  # fmt: skip
    assert found["blocks"]["loop"] == {"type": "loop"}
    assert found["wires"] == [
        "goal -> scope.0, loop.goal", "loop.gain -> motor", "motor -> scope.1, loop.motor",
    ]  # fmt: skip
    assert found["run"]["log"] == ["motor", "loop/gain"]


def test_blocks_of_a_group_keep_their_text_and_comments():
    found = after(Group("loop", ("goal", "gain")))
    assert "      goal: {type: STEP, T: 1}   # at 1 s\n" in found
    assert "      gain:\n        type: GAIN\n        K: $k # of the loop\n" in found


SLOT = """\
variants:
  law:
    default: a
    choices:
      a: {type: a}
      b: {type: JOINT_PD, kp: 3} # the other
blocks: {}
"""


def test_a_wrapped_choice_has_the_ports_of_its_wires_in_their_order():
    wires = ("in.goal -> block.qd", "in.rate", "block -> out.force", "in.angle -> block.qm, out.q")
    found = after(Wrap("law", "b", wires), text=SLOT)
    assert "      b: {type: b_law} # the other\n" in found
    assert parse_document(found, "it").data["subsystems"] == {
        "b_law": {
            "inputs": ["goal", "rate", "angle"],
            "outputs": ["force", "q"],
            "blocks": {"block": {"type": "JOINT_PD", "kp": 3}},
            "wires": ["in.goal -> block.qd", "block -> out.force", "in.angle -> block.qm, out.q"],
        }
    }


def test_a_second_wrapper_of_a_choice_has_a_name_of_its_own():
    found = after(*[Wrap("law", "b", ("in.u -> block", "block -> out.y"))] * 2, text=SLOT)
    assert "b: {type: b_law2}" in found
    assert parse_document(found, "it").data["subsystems"]["b_law2"]["blocks"] == {
        "block": {"type": "b_law"}
    }


@pytest.mark.parametrize(
    ("operation", "told"),
    [
        (Wrap("laws", "b", ("in.u -> block",)), "no slot 'laws'.*'law'"),
        (Wrap("law", "c", ("in.u -> block",)), "law has no choice 'c'"),
        (Wrap("law", "b", ("a.u -> block",)), "a.u is no port of the wrapper.*in.PORT"),
        (Wrap("law", "b", ("in -> block",)), "in is no port"),
        (Wrap("law", "b", ("in.{u, v} -> block",)), "is no port"),
        (Wrap("law", "b", ("block -> out",)), "out is no port"),
        (Wrap("law", "b", ("block",)), "block is no port"),
        (Wrap("law", "b", ("in.u -> -> block",)), "one arrow"),
    ],
    ids=lambda x: str(x)[:40],
)
def test_a_wrapper_that_cannot_be_made_is_told(operation, told):
    with pytest.raises(InputError, match="(?s).*" + told):
        edited(SLOT, operation)


def test_line_breaks_stay_those_of_the_file():
    text = TEXT.replace("\n", "\r\n")
    found = after(AddBlock("lag", "PT1"), RemoveWire("gain -> motor"), text=text)
    assert found.count("\n") == found.count("\r\n")
    assert "  lag: {type: PT1}\r\n" in found


def test_lines_may_end_in_carriage_returns_alone():
    text = TEXT.replace("\n", "\r")
    found = after(Set("k", 3.0), RenameBlock("motor", "drive"), text=text)
    assert found.startswith("# A servo.\rname: servo\rparams: {k: 3.0, T: &T 0.5} # gains\r")
    assert "\n" not in found


def test_a_block_of_an_odd_type_is_passed_over():
    text = "blocks: {a: {type: [1]}}\nsubsystems: {s: {blocks: {g: {type: GAIN}}}}\n"
    assert "h: {type: GAIN}" in after(RenameBlock("g", "h", within="s"), text=text)


def test_a_tuned_value_is_written_where_the_file_has_it():
    assert "params: {k: 3, T: &T 0.5}" in after(Tune("gain.K", 3.0))  # K: $k
    assert "T: 0.25}   # at 1 s" in after(Tune("goal.T", [0.25, 0.25]))
    assert "T: [0.25, 1]}   # at 1 s" in after(Tune("goal.T", [0.25, 1.0]))


def test_a_file_without_a_last_line_break_keeps_to_it():
    text = "blocks:\n  a: {type: TIME}"
    assert after(AddBlock("b", "TIME"), text=text) == text + "\n  b: {type: TIME}"
    assert after(RemoveBlock("a"), text="blocks:\n  b: {type: X}\n  a: {type: TIME}") == (
        "blocks:\n  b: {type: X}"
    )


@pytest.mark.parametrize("empty", ["wires:\n", "wires: []\n", "wires: [ ]\n", ""])
def test_an_empty_section_takes_its_first_entry(empty):
    found = after(AddWire("a -> b"), text=f"name: x\nblocks: {{}}\n{empty}run: {{T: 1}}\n")
    assert parse_document(found, "it").data["wires"] == ["a -> b"]
    assert found.endswith("run: {T: 1}\n")


def test_the_last_entry_leaves_an_empty_section():
    assert after(RemoveWire("a -> b"), text="name: x\nwires:\n  - a -> b # c\n") == (
        "name: x\nwires: [] # c\n"
    )


def test_an_alias_is_changed_at_its_own_place():
    text = "params: {a: &a [1, 2], b: *a}\n"
    assert after(Set("params.b", 3), text=text) == "params: {a: &a [1, 2], b: 3}\n"


def test_a_value_that_aliases_share_is_refused():
    text = "params: {a: &a [1, 2], b: *a}\n"
    with pytest.raises(InputError, match="cannot be changed without"):
        edited(text, Put(("params", "a", 0), 3))


def test_long_entries_are_broken_into_lines():
    found = after(AddBlock("table", "LOOKUP", {"x": list(range(60))}))
    assert max(map(len, found.splitlines())) <= 100
    assert parse_document(found, "it").data["blocks"]["table"]["x"] == list(range(60))


REFUSED = [
    (RemoveBlock("moto"), "did you mean 'motor'"),
    (AddBlock("gain", "GAIN"), "already a block 'gain'"),
    (AddBlock("a b", "GAIN"), "has a space"),
    (RenameBlock("gain", "motor"), "already a block"),
    (AddWire("goal -> error.0"), "already a wire"),
    (AddWire("goal error"), "no arrow"),
    (RemoveWire("goal -> gain"), "no wire goal -> gain"),
    (RenameParameter("q", "r"), "no parameter 'q'"),
    (RenameEntry("clocks", "tick", "r"), "no clock 'tick'"),
    (Group("loop", ("none",)), "no block 'none'"),
    (Group("loop", ()), "name the blocks"),
    (Set("nothing", 1), "nothing named 'nothing'"),
    (Unset("goal.x"), "there is no goal.x"),
    (Set("params.k", object()), "has no place in a file"),
]


@pytest.mark.parametrize(("operation", "told"), REFUSED, ids=lambda x: str(x)[:40])
def test_what_cannot_be_done_is_told(operation, told):
    with pytest.raises(InputError, match="(?s).*" + told):
        edited(TEXT, operation)


def test_a_block_that_a_claim_names_is_not_removed():
    text = TEXT + "expect: {settles: [{signal: motor, to: 1, within: 0.1}]}\n"
    with pytest.raises(InputError, match=r"named in expect\.settles\.0\.signal"):
        edited(text, RemoveBlock("motor"))


@pytest.mark.parametrize(
    ("before", "head"),
    [
        ("blocks: {}\nwires: []\n", "blocks:"),
        ("blocks:\nwires:\n", "blocks:"),
        ("blocks: # of it\nwires: []\n", "blocks: # of it"),
        ("blocks: { }", "blocks:"),
        ("subsystems: {}\nblocks: {}\nrun: {T: 1}\n", "blocks:"),
    ],
)
def test_the_first_entries_of_a_section_have_lines_of_their_own(before, head):
    operations = [AddBlock("a", "STEP", {"T": 2}), AddBlock("b", "GAIN"), AddWire("a -> b")]
    done = edited(before, operations)
    assert f"{head}\n  a: {{type: STEP, T: 2}}\n  b: {{type: GAIN}}\n" in done.after
    assert "wires:\n  - a -> b" in done.after
    text = done.after
    for patches in done.back:
        text = applied(text, patches)
    assert text == before


def test_a_section_in_brackets_with_more_on_its_line_stays_there():
    done = edited("blocks: {} # none\n", [AddBlock("a", "STEP")])
    assert done.after == "blocks: {a: {type: STEP}} # none\n"
