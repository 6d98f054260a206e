"""Subsystems made, given conditions and copies, and made plain again."""

from __future__ import annotations

import numpy as np
import pytest

import spart_blocks as sb
from spart_blocks.base.document import parse_document
from spart_blocks.base.errors import InputError
from spart_blocks.versions.edits import (
    AddCondition,
    AddSubsystem,
    AddWire,
    Append,
    ForEach,
    Group,
    RemoveCondition,
    RemovePort,
    RenamePort,
    RenameSubsystem,
    Set,
    applied,
    edit,
    edited,
)
from spart_blocks.versions.edits.operations import data_after

TEXT = """\
blocks:
  rate: {type: CONSTANT, value: 1} # 1/s
  button: {type: WAVEFORM, wave: square, freq: 0.5}
  time: {type: INTEGRATOR}
wires:
  - rate -> time
run: {T: 5, log: [time]}
"""
PARTS = """\
subsystems:
  part:
    inputs: [u, on]
    outputs: [y, z]
    enabled: {by: on, outputs: {y: 0}, initial: {z: 1}}
    blocks: {x: {type: INTEGRATOR}}
    wires: [in.u -> x, x -> out.y, x -> out.z]
blocks:
  a: {type: CONSTANT, value: [1, 2]}
  part: {type: part, for_each: {over: [u]}}
wires: [a -> part.u, "a[0] -> part.on"]
"""


def after(text, *operations):
    data = parse_document(text, "it").data
    for operation in operations:
        data = data_after(data, operation)
    return data


def test_the_only_port_is_named_in_wires_where_another_comes_beside_it():
    text = """\
subsystems:
  lag: {inputs: [u], outputs: [y], blocks: {y: {type: GAIN}}, wires: [in -> y, y -> out]}
blocks: {one: {type: CONSTANT}, lag: {type: lag}, scope: {type: SCOPE}}
wires: [one -> lag, lag -> scope]
"""
    data = after(text, Append("subsystems.lag.outputs", "z"))
    assert data["wires"] == ["one -> lag", "lag.y -> scope"]
    assert data["subsystems"]["lag"]["wires"] == ["in -> y", "y -> out.y"]
    data = after(text, Append("subsystems.lag.inputs", "v"))
    assert data["wires"] == ["one -> lag.u", "lag -> scope"]
    data = after(text, AddCondition("enabled", "lag"))
    assert data["wires"] == ["one -> lag.u", "lag -> scope"]
    assert data["subsystems"]["lag"]["wires"] == ["in.u -> y", "y -> out"]
    data = after(text, RemovePort("u", "inputs", "lag"))
    assert data["wires"] == ["lag -> scope"]
    assert data["subsystems"]["lag"]["wires"] == ["y -> out"]


def test_a_new_subsystem_passes_its_input_on_until_it_is_filled():
    data = after(TEXT, AddSubsystem("guard"))
    passes = {"inputs": ["u"], "outputs": ["y"], "wires": ["in.u -> out.y"]}
    assert data["subsystems"] == {"guard": passes}
    assert data["blocks"]["guard"] == {"type": "guard"}
    inner = after(TEXT, AddSubsystem("guard"), AddSubsystem("core", "guard"))
    assert inner["subsystems"]["guard"]["blocks"] == {"core": {"type": "core"}}


def test_a_condition_and_parameters_come_before_blocks_and_wires():
    text = """\
subsystems:
  part:
    inputs: [u]
    outputs: [y]
    blocks: {gain: {type: GAIN}}
    wires: [in.u -> gain, gain -> out.y]
blocks: {}
"""
    made = [AddCondition("reset", "part"), Set("subsystems.part.params.k", 2)]
    part = parse_document(edited(text, made).after, "it").data["subsystems"]["part"]
    assert list(part) == ["inputs", "outputs", "reset", "params", "blocks", "wires"]


def test_a_group_that_is_made_enabled_runs_while_its_input_is_above_zero(tmp_path):
    file = tmp_path / "watch.yaml"
    file.write_text(TEXT)
    made = [Group("watch", ("time",)), AddCondition("enabled", "watch"),
            AddWire("button -> watch.enable")]  # fmt: skip
    edit(file, made)
    assert "    enabled: {by: enable}\n" in file.read_text()
    assert "  rate: {type: CONSTANT, value: 1} # 1/s\n" in file.read_text()
    results = sb.simulate(file)
    assert abs(results["watch/time"][-1] - 3) < 1e-9  # on from 0 to 1, 2 to 3 and 4 to 5
    found = edited(file.read_text(), [RemoveCondition("enabled", "watch")])
    data = parse_document(found.after, "it").data
    assert data == after(TEXT, made[0])


@pytest.mark.parametrize(
    ("kind", "edge"), [("enabled", None), ("triggered", "either"), ("reset", "level")]
)
def test_what_is_made_conditional_is_plain_again_afterwards(kind, edge):
    text = edited(TEXT, [AddSubsystem("a"), AddCondition(kind, "a", "go")]).after
    if edge:
        text = text.replace("{by: go}", f"{{by: go, edge: {edge}}}")
    data = parse_document(text, "it").data
    assert data["subsystems"]["a"]["inputs"] == ["u", "go"]
    back = edited(text, [RemoveCondition(kind, "a")])
    assert parse_document(back.after, "it").data == after(TEXT, AddSubsystem("a"))
    before = back.after
    for patches in back.back:
        before = applied(before, patches)
    assert before == text


def test_an_input_that_is_there_can_be_the_condition_and_stays_when_it_is_read():
    plain = PARTS.replace("    enabled: {by: on, outputs: {y: 0}, initial: {z: 1}}\n", "")
    data = after(plain, AddCondition("reset", "part", "u"))
    assert data["subsystems"]["part"]["inputs"] == ["u", "on"]
    back = after(plain, AddCondition("reset", "part", "u"), RemoveCondition("reset", "part"))
    assert back == parse_document(plain, "it").data


def test_an_input_of_two_conditions_stays_with_the_other():
    data = after(PARTS, AddCondition("triggered", "part", "on"), RemoveCondition("enabled", "part"))
    assert data["subsystems"]["part"]["inputs"] == ["u", "on"]
    assert data["subsystems"]["part"]["triggered"] == {"by": "on"}


def test_a_port_that_is_renamed_or_removed_takes_its_condition_along():
    renamed = after(PARTS, RenamePort("on", "go", "inputs", "part"))
    assert renamed["subsystems"]["part"]["enabled"]["by"] == "go"
    removed = after(PARTS, RemovePort("on", "inputs", "part"))
    assert "enabled" not in removed["subsystems"]["part"]
    assert removed["wires"] == ["a -> part.u"]
    output = after(PARTS, RemovePort("y", "outputs", "part"))["subsystems"]["part"]
    assert output["enabled"] == {"by": "on", "initial": {"z": 1}}


def test_copies_are_for_each_entry_of_the_inputs_that_are_no_conditions():
    plain = PARTS.replace(", for_each: {over: [u]}", "")
    data = after(plain, ForEach("part"))
    assert data["blocks"]["part"]["for_each"] == {"over": ["u"]}
    assert after(PARTS, RemovePort("u", "inputs", "part"))["blocks"]["part"] == {"type": "part"}
    other = after(PARTS, ForEach("part", ("on",)))
    assert other["blocks"]["part"]["for_each"] == {"over": ["on"]}


def test_a_group_of_vectors_made_for_each_gives_what_it_gave(tmp_path):
    file = tmp_path / "each.yaml"
    file.write_text(
        "blocks:\n  a: {type: CONSTANT, value: [1, 2, 3]}\n  x: {type: INTEGRATOR, x0: 0}\n"
        "  s: {type: SCOPE}\nwires:\n  - a -> x\n  - x -> s\nrun: {T: 2}\n"
    )
    edit(file, [Group("each", ("x",)), ForEach("each")])
    results = sb.simulate(file)
    assert np.allclose(results["each.x"][-1], [2, 4, 6])


def test_a_subsystem_is_renamed_where_blocks_are_of_it():
    data = after(PARTS, RenameSubsystem("part", "servo"))
    assert list(data["subsystems"]) == ["servo"]
    assert data["blocks"]["part"] == {"type": "servo", "for_each": {"over": ["u"]}}


@pytest.mark.parametrize(
    ("operation", "told"),
    [
        (AddCondition("enabled", "part"), "part is enabled already"),
        (AddCondition("enabled", ""), "a diagram without ports has no conditions"),
        (AddCondition("enable", "part"), "there is no condition 'enable'"),
        (AddCondition("reset", "party"), "there is no subsystem 'party'"),
        (AddCondition("reset", "part", "a b"), "the name 'a b'"),
        (RemoveCondition("reset", "part"), "part is not reset"),
        (ForEach("a"), "a is no subsystem, of which there could be copies"),
        (ForEach("b"), "there is no block 'b'"),
        (AddSubsystem("part"), "there is already a block 'part'"),
        (RenameSubsystem("part", "part"), "there is already a subsystem 'part'"),
        (RenameSubsystem("", "part"), "name the subsystem"),
    ],
)
def test_what_cannot_be_is_refused(operation, told):
    with pytest.raises(InputError, match=told):
        after(PARTS, operation)
