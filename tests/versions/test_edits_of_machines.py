"""What edits of state machines change in a text, to the byte."""

from __future__ import annotations

import pytest

from spart_blocks.base.document import parse_document
from spart_blocks.base.errors import InputError
from spart_blocks.versions.edits import (
    MoveItem,
    MoveState,
    RemoveState,
    RenameState,
    RenameValue,
    applied,
    edited,
)

TEXT = """\
blocks:
  robot:
    type: STATE_MACHINE
    outputs: {speed: 0}
    initial: prepare
    states:
      prepare:
        parallel: true
        states:
          arm:
            initial: moves
            states: {moves: {entry: {speed: 0.1}}, there: {}}
          # it opens at once
          gripper: # two fingers
            initial: opens
            states: {opens: {}, opened: {}}
      grasp: {} # at last
      rest: {}
    transitions:
      - {from: moves, to: there, when: u > 0.4}
      - {from: [opens, opened], to: opened, after: 1.5}   # s
      - {from: prepare, to: grasp, when: active(there) and active(opened)}
      - {from: grasp, to: rest, after: 1}
  scope: {type: SCOPE}
wires:
  - robot.arm -> scope
run: {T: 1, log: [robot.arm, robot.gripper]}
"""
AT = "blocks.robot.states"


def lines(operation, text=TEXT):
    """The lines that go, and those that come; the edit is taken back too."""
    done = edited(text, [operation])
    back = done.after
    for patches in done.back:
        back = applied(back, patches)
    assert back == text
    parse_document(done.after, "it")
    old, new = text.splitlines(), done.after.splitlines()
    return [line for line in old if line not in new], [line for line in new if line not in old]


def order(operation, text=TEXT):
    """The names of the outermost states after an operation."""
    return list(edited(text, [operation]).file.data["blocks"]["robot"]["states"])


def test_a_state_is_renamed_with_its_uses():
    assert lines(RenameState("robot.states.prepare.states.arm.states.there", "done")) == (
        ["            states: {moves: {entry: {speed: 0.1}}, there: {}}",
         "      - {from: moves, to: there, when: u > 0.4}",
         "      - {from: prepare, to: grasp, when: active(there) and active(opened)}"],
        ["            states: {moves: {entry: {speed: 0.1}}, done: {}}",
         "      - {from: moves, to: done, when: u > 0.4}",
         "      - {from: prepare, to: grasp, when: active(done) and active(opened)}"],
    )  # fmt: skip
    _, new = lines(RenameState(f"{AT}.prepare.states.gripper.states.opens", "o"))
    assert "            initial: o" in new
    assert "      - {from: [o, opened], to: opened, after: 1.5}   # s" in new


def test_a_region_is_renamed_with_the_wires_and_logs_of_its_signal():
    assert lines(RenameState(f"{AT}.prepare.states.arm", "boom"))[1] == [
        "          boom:",
        "  - robot.boom -> scope",
        "run: {T: 1, log: [robot.boom, robot.gripper]}",
    ]


VALUES = """\
blocks:
  heater:
    type: STATE_MACHINE
    arguments: [temp, goal]
    outputs: {power: 0} # W
    variables: {count: 0}
    params: {gain: 2}
    initial: cold
    states:
      cold: {entry: {power: "gain*(goal - temp)", count: count + 1}}
      temp: {during: {power: 0}}
    transitions:
      - {from: cold, to: temp, when: "temp > goal and not active(temp)", do: {count: 2*count}}
  x: {type: CONSTANT, value: 1}
  scope: {type: SCOPE}
wires:
  - x -> heater.temp, heater.goal
  - heater.power -> scope
run: {T: 1, log: [heater.power, x], tunable: [heater.gain]}
"""


def test_values_of_a_machine_are_renamed_in_its_formulas_wires_and_sections():
    _, new = lines(RenameValue("heater.arguments.temp", "measured"), VALUES)
    assert new == [
        "    arguments: [measured, goal]",
        '      cold: {entry: {power: "gain*(goal - measured)", count: count + 1}}',
        '      - {from: cold, to: temp, when: "measured > goal and not active(temp)", '
        "do: {count: 2*count}}",
        "  - x -> heater.measured, heater.goal",
    ]
    _, new = lines(RenameValue("blocks.heater.outputs.power", "heat"), VALUES)
    assert new == [
        "    outputs: {heat: 0} # W",
        '      cold: {entry: {heat: "gain*(goal - temp)", count: count + 1}}',
        "      temp: {during: {heat: 0}}",
        "  - heater.heat -> scope",
        "run: {T: 1, log: [heater.heat, x], tunable: [heater.gain]}",
    ]
    assert lines(RenameValue("heater.variables.count", "n"), VALUES)[1] == [
        "    variables: {n: 0}",
        '      cold: {entry: {power: "gain*(goal - temp)", n: n + 1}}',
        '      - {from: cold, to: temp, when: "temp > goal and not active(temp)", do: {n: 2*n}}',
    ]
    assert lines(RenameValue("heater.params.gain", "k"), VALUES)[1][0] == "    params: {k: 2}"


def test_the_input_of_a_machine_without_arguments_gets_a_name():
    _, new = lines(RenameValue("robot.arguments.u", "way"))
    assert new == [
        "      - {from: moves, to: there, when: way > 0.4}",
        "    arguments: [way]",
    ]


def test_a_state_is_removed_with_its_transitions():
    assert lines(RemoveState(f"{AT}.rest")) == (
        ["      rest: {}", "      - {from: grasp, to: rest, after: 1}"],
        [],
    )
    assert lines(RemoveState(f"{AT}.grasp"))[0] == [
        "      grasp: {} # at last",
        "      - {from: prepare, to: grasp, when: active(there) and active(opened)}",
        "      - {from: grasp, to: rest, after: 1}",
    ]
    old, new = lines(RemoveState(f"{AT}.prepare.states.gripper.states.opens"))
    assert "            initial: opened" in new
    assert "      - {from: opened, to: opened, after: 1.5}   # s" in new
    assert len(old) == len(new)


def test_states_are_moved_with_their_text():
    assert lines(MoveState(f"{AT}.grasp", f"{AT}.prepare"))[1] == ["          grasp: {} # at last"]
    assert order(MoveState(f"{AT}.rest", "blocks.robot", "grasp")) == ["prepare", "rest", "grasp"]
    assert order(MoveState(f"{AT}.prepare", "robot")) == ["grasp", "rest", "prepare"]
    moved = edited(TEXT, MoveState(f"{AT}.prepare.states.gripper", f"{AT}.prepare", "arm")).after
    assert moved.index("# it opens at once\n          gripper: # two fingers") < moved.index("arm:")
    out = edited(TEXT, MoveState(f"{AT}.prepare.states.arm", "blocks.robot", "rest")).file.data
    assert list(out["blocks"]["robot"]["states"]) == ["prepare", "grasp", "arm", "rest"]


def test_transitions_are_moved_with_their_comments():
    moved = edited(TEXT, MoveItem("robot.transitions[1]", 0)).after.splitlines()
    assert moved[19] == "      - {from: [opens, opened], to: opened, after: 1.5}   # s"
    windows = TEXT.replace("\n", "\r\n")
    assert edited(windows, MoveItem("robot.transitions[0]", 3)).after.count("\r\n") == (
        windows.count("\r\n")
    )


@pytest.mark.parametrize(
    ("operation", "why"),
    [
        (RenameState(f"{AT}.rest", "grasp"), "already a state 'grasp'"),
        (RenameState(f"{AT}.rest", "a b"), "is no name of a state"),
        (RenameState(f"{AT}.rst", "b"), "no state"),
        (RenameState("scope.states.a", "b"), "is no state machine"),
        (RenameValue("robot.outputs.sped", "v"), "has no outputs.sped"),
        (RenameValue("robot.outputs.speed", "arm"), "the name 'arm' is taken"),
        (RenameValue("robot.outputs.speed", "sin"), "is taken"),
        (RenameValue("robot.outputs.speed", "a b"), "is no name of a value"),
        (RenameValue("robot.states.rest.params.a", "v"), "is no state machine"),
        (RemoveState(f"{AT}.prepare.states.arm.states.there"), "asks whether there is active"),
        (MoveState(f"{AT}.prepare", f"{AT}.prepare.states.arm"), "cannot be in itself"),
        (MoveItem("robot.transitions[7]", 0), "no item"),
    ],
)
def test_what_a_machine_does_not_allow_is_refused(operation, why):
    with pytest.raises(InputError, match=why):
        edited(TEXT, operation)


def test_the_last_state_stays_and_a_state_without_substates_is_plain_again():
    text = (
        "blocks:\n  m:\n    type: STATE_MACHINE\n"
        "    states:\n      a:\n        initial: b\n        states: {b: {}}\n"
        "        entry: {y: 1}\n"
    )
    with pytest.raises(InputError, match="no other state"):
        edited(text, RemoveState("m.states.a"))
    states = edited(text, RemoveState("m.states.a.states.b")).file.data["blocks"]["m"]["states"]
    assert states == {"a": {"entry": {"y": 1}}}
