"""A signal of a bus renamed: it is followed to all of its uses, and results stay the same."""

from __future__ import annotations

import numpy as np
import pytest

import spart_blocks as sb
from spart_blocks.base.document import parse_document
from spart_blocks.base.errors import InputError
from spart_blocks.versions.edits import AddWire, RenameSignal, applied, edited
from spart_blocks.versions.edits.operations import data_after

TEXT = """\
subsystems:
  sensor:
    inputs: [u]
    outputs: [level, rate]
    blocks: {level: {type: GAIN, K: 2}, rate: {type: GAIN, K: 3}}
    wires: [in.u -> level, in.u -> rate, level -> out.level, rate -> out.rate]
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
  reads:
    inputs: [level, rate]
    outputs: [y]
    blocks: {sum: {type: SUM, signs: "++"}}
    wires: [in.level -> sum.0, in.rate -> sum.1, sum -> out.y]
blocks:
  t: {type: TIME}
  one: {type: CONSTANT, value: 1}
  s: {type: sensor}
  joint: {type: GAIN, K: 5}
  arm: {type: BUS_CREATOR}
  all: {type: BUS_CREATOR}
  law: {type: law}
  again: {type: law}
  changed: {type: BUS_ASSIGNMENT, signals: [level]}
  some: {type: BUS_SELECTOR, signals: [rate, level], outputs: [speed, height]}
  named: {type: reads}
  braced: {type: reads}
  top: {type: BUS_CREATOR, signals: [inner, t]}
  scope: {type: SCOPE}
wires:
  - t -> s.u, joint
  - joint -> arm.angle # rad
  - s.* -> all
  - arm -> all.arm
  - all -> law.state, changed.bus, some, top.inner, scope
  - one -> law.goal, again.goal, changed.level
  - changed -> again.state
  - all.* -> named
  - all.{level, rate} -> braced
  - t -> top.t
run:
  T: 1
  log: [law.command, again.command, some.speed, named.y, braced.y, top.inner.arm.angle, all.level]
expect:
  final:
    - {signal: all.level, value: 2, within: 1e-9}
    - {signal: law.seen.level, value: 2, within: 1e-9}
"""


def after(text, *operations):
    found = edited(text, operations)
    back = found.after
    for patches in found.back:
        back = applied(back, patches)
    assert back == text
    return found.after


@pytest.fixture(scope="module")
def before(tmp_path_factory):
    return run(tmp_path_factory.mktemp("before"), TEXT)


def run(folder, text):
    file = folder / "bus.yaml"
    file.write_text(text)
    return sb.simulate(file)


@pytest.mark.parametrize(
    ("block", "signal", "new", "names"),
    [
        ("all", "level", "height", {"all.level": "all.height"}),
        ("all", "rate", "speed", {}),
        ("all", "arm", "limb", {"top.inner.arm.angle": "top.inner.limb.angle"}),
        ("arm", "angle", "q", {"top.inner.arm.angle": "top.inner.arm.q"}),
        ("all", "arm.angle", "q", {"top.inner.arm.angle": "top.inner.arm.q"}),
        ("top", "inner", "plant", {"top.inner.arm.angle": "top.plant.arm.angle"}),
        ("some", "height", "z", {}),
        ("changed", "level", "z", {"all.level": "all.z"}),
    ],
)
def test_a_renamed_signal_is_what_it_was_wherever_it_leads(
    block, signal, new, names, before, tmp_path
):
    text = after(TEXT, RenameSignal(block, signal, new))
    results = run(tmp_path, text)
    for name in parse_document(TEXT, "it").data["run"]["log"]:
        assert np.array_equal(results[names.get(name, name)], before[name]), name
    assert " # rad\n" in text
    back = after(text, RenameSignal(block, signal.rpartition(".")[0] + "." * ("." in signal) + new,
                                    signal.rpartition(".")[2]))  # fmt: skip
    assert np.array_equal(run(tmp_path, back)["named.y"], before["named.y"])


def test_all_uses_of_a_signal_are_renamed():
    text = after(TEXT, RenameSignal("all", "level", "height"))
    for part in (
        "inputs: [goal, state.height, state.arm.angle]",
        "outputs: [command, seen.level]",
        "signals: [height, arm]",
        "- pick.height -> sum.1",
        "- in.state.height -> out.seen.level",
        "signals: [rate, height], outputs: [speed, height]",
        "- one -> law.goal, again.goal, changed.height",
        "- all.{rate} -> braced",
        "- all.height -> braced.level",
        "- all.height -> named.level",
        "- s.{rate} -> all",
        "- s.level -> all.height",
        "- {signal: all.height, value: 2, within: 1e-9}",
        "- {signal: law.seen.level, value: 2, within: 1e-9}",
    ):
        assert part in text, part


def test_a_wire_adds_its_signal_to_the_list_of_a_creator_that_has_one():
    data = data_after(parse_document(TEXT, "it").data, AddWire("joint -> top.joint"))
    assert data["blocks"]["top"]["signals"] == ["inner", "t", "joint"]
    data = data_after(data, AddWire("joint -> arm.other"))
    assert data["blocks"]["arm"] == {"type": "BUS_CREATOR"}


@pytest.mark.parametrize(
    ("operation", "told"),
    [
        (RenameSignal("t", "x", "y"), "t is no block of buses"),
        (RenameSignal("all", "leve", "y"), "all has no signal 'leve'"),
        (RenameSignal("all", "level", "a b"), "the name 'a b'"),
        (RenameSignal("all", "level", "arm"), "all has a signal 'arm' already"),
        (RenameSignal("top", "t", "inner"), "top has a signal 'inner' already"),
        (RenameSignal("nothing", "t", "inner"), "there is no block 'nothing'"),
    ],
)
def test_what_cannot_be_renamed_is_refused(operation, told):
    with pytest.raises(InputError, match=told):
        edited(TEXT, [operation])
