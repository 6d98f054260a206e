"""New names of parameters, slots and choices reach sweeps, fits and designs."""

import pytest

from spart_blocks.base.document import parse_document
from spart_blocks.base.errors import InputError
from spart_blocks.versions.edits import (
    RemoveChoice,
    RenameBlock,
    RenameChoice,
    RenameParameter,
    edited,
)

TEXT = """\
name: study
params: {kp: 1.0, a: 2.0}
blocks:
  one: {type: CONSTANT, value: 1.0}
  s: {type: SCOPE}
variants:
  plant:
    default: fast
    choices:
      fast: {type: GAIN, K: $a}
      slow: {type: GAIN, K: $kp}
wires: [one -> plant, plant -> s]
sweep:
  over: {a: [1, 2]}
  faults: {worn: {at: 1, set: {kp: 0.5}}}
fit:
  parameters: {kp: [0, 1]}
  experiments:
    step: {file: step.csv, signals: {plant: y}, set: {a: 1}, estimate: {one.value: null}}
tune:
  parameters: {kp: [0, 9]}
  minimize: rms(plant)
  over: {a: [1, 2]}
  variants: {plant: [fast, slow]}
"""


def data_of(*operations):
    return parse_document(edited(TEXT, operations).after, "it").data


def test_a_parameter():
    data = data_of(RenameParameter("kp", "gain"), RenameParameter("a", "b"))
    assert data["sweep"] == {"over": {"b": [1, 2]},
                             "faults": {"worn": {"at": 1, "set": {"gain": 0.5}}}}  # fmt: skip
    assert data["fit"]["parameters"].keys() == {"gain"}
    assert data["fit"]["experiments"]["step"]["set"] == {"b": 1}
    assert data["tune"]["parameters"].keys() == {"gain"}
    assert data["tune"]["over"] == {"b": [1, 2]}


def test_a_block():
    data = data_of(RenameBlock("one", "source"))
    assert data["fit"]["experiments"]["step"]["estimate"] == {"source.value": None}


def test_a_slot_and_a_choice():
    data = data_of(RenameBlock("plant", "motor"), RenameChoice("motor", "slow", "lazy"))
    assert data["tune"]["variants"] == {"motor": ["fast", "lazy"]}
    assert data["tune"]["minimize"] == "rms(motor)"
    with pytest.raises(InputError, match=r"slow is named in tune\.variants\.plant"):
        data_of(RemoveChoice("plant", "slow"))
