"""Ports of subsystems renamed and removed: wires, conditions and sections follow."""

from __future__ import annotations

import pytest

import spart_blocks as sb
from spart_blocks.base.document import parse_document
from spart_blocks.base.errors import InputError
from spart_blocks.versions.edits import RemovePort, RenamePort, edit
from spart_blocks.versions.edits.operations import data_after

TEXT = """\
subsystems:
  law:
    inputs: [goal, angle, on] # of a servo
    outputs: [force, error]
    enabled: {by: on, outputs: held, initial: {force: 0.5}}
    blocks:
      e: {type: SUM, signs: "+-"}
      gain: {type: GAIN, K: 2}
    wires:
      - in.goal -> e.0
      - in.angle -> e.1
      - e -> gain, out.error
      - gain -> out.force
  two:
    inputs: [goal]
    outputs: [force]
    blocks:
      inner: {type: law}
    wires:
      - in.goal -> inner.{goal, angle, on}
      - inner.force -> out.force
variants:
  choice:
    default: a
    choices: {a: {type: law}}
blocks:
  goal: {type: STEP, T: 0}
  one: {type: two}
  left: {type: law}
  many: {type: law, for_each: {over: [goal], count: 2}}
  goals: {type: CONSTANT, value: [1, 2]}
  x: {type: INTEGRATOR}
  scope: {type: SCOPE}
wires:
  - goal -> one, left.goal, choice.goal, left.on, choice.on, many.on
  - goals -> many.goal
  - x -> left.angle, choice.angle, many.angle
  - left.{force, error} -> scope
  - left.force -> x
run:
  T: 1
  log: [left.force, one/inner.force]
expect:
  final:
    - {signal: left.force, value: 2, within: 3}
    - {signal: choice.force, value: 2, within: 3}
"""
TEXT = TEXT.replace("inner.{goal, angle, on}", "inner.goal, inner.angle, inner.on").replace(
    "  - left.{force, error} -> scope\n", "  - left.force -> scope\n  - left.error -> scope\n"
)


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "ports.yaml"
    path.write_text(TEXT)
    return path


def test_an_output_is_renamed_wherever_it_is_named(file):
    before = sb.simulate(file)
    edit(file, [RenamePort("force", "u", "outputs", "law")])
    text = file.read_text()
    wanted = TEXT
    for old, new in (
        ("outputs: [force, error]", "outputs: [u, error]"),
        ("gain -> out.force", "gain -> out.u"),
        ("initial: {force: 0.5}", "initial: {u: 0.5}"),
        ("inner.force -> out.force", "inner.u -> out.force"),
        ("left.force -> scope", "left.u -> scope"),
        ("left.force -> x", "left.u -> x"),
        ("log: [left.force, one/inner.force]", "log: [left.u, one/inner.u]"),
        ("{signal: left.force,", "{signal: left.u,"),
        ("{signal: choice.force,", "{signal: choice.u,"),
    ):
        assert old in wanted
        wanted = wanted.replace(old, new)
    assert text == wanted
    after = sb.simulate(file)
    assert after["left.u"].tolist() == before["left.force"].tolist()


def test_an_input_is_renamed_in_conditions_and_copies(file):
    edit(file, [RenamePort("on", "run", "inputs", "law"), RenamePort("goal", "r", "inputs", "law")])
    text = file.read_text()
    assert "inputs: [r, angle, run] # of a servo" in text
    assert "enabled: {by: run," in text
    assert "over: [r], count: 2" in text
    assert "in.goal -> inner.r, inner.angle, inner.run" in text
    assert "goal -> one, left.r, choice.r, left.run, choice.run, many.run" in text
    sb.load(file)


def test_a_port_goes_with_its_wires(file):
    edit(file, [RemovePort("error", "outputs", "law")])
    text = file.read_text()
    assert "outputs: [force]" in text
    assert "- e -> gain\n" in text
    assert "left.error" not in text
    sb.load(file)


def test_ports_of_the_file_itself_are_renamed_within_it():
    head = "inputs: [a]\noutputs: [b]\nblocks:\n  g: {type: GAIN}\n"
    text = f"{head}wires:\n  - in.a -> g\n  - g -> out.b\n"
    data = data_after(parse_document(text, "it").data, RenamePort("a", "c", "inputs"))
    data = data_after(data, RenamePort("b", "d", "outputs"))
    assert (data["inputs"], data["outputs"]) == (["c"], ["d"])
    assert data["wires"] == ["in.c -> g", "g -> out.d"]


@pytest.mark.parametrize(
    ("operation", "message"),
    [
        (RenamePort("gaol", "x", "inputs", "law"), r"law has no input 'gaol'"),
        (RenamePort("force", "x", "inputs", "law"), r"law has no input 'force'"),
        (RenamePort("goal", "angle", "inputs", "law"), r"there is already an input 'angle'"),
        (RenamePort("goal", "a b", "inputs", "law"), r"the name 'a b'"),
        (RenamePort("goal", "x", "blocks", "law"), r"law has no 'blocks'"),
        (RenamePort("goal", "x", "inputs", "lav"), r"there is no subsystem 'lav'"),
        (RenamePort("goal", "x", "inputs"), r"the file has no input 'goal'"),
        (RemovePort("force", "outputs", "law"), r"force of law is named in run\.log\.0"),
    ],
)
def test_what_cannot_be_done_is_told(operation, message):
    with pytest.raises(InputError, match=message):
        data_after(parse_document(TEXT, "it").data, operation)
