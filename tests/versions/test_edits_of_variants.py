"""Slots of variants made, changed and taken back by edits of the text."""

from __future__ import annotations

import pytest

from spart_blocks.base.errors import InputError
from spart_blocks.versions.edits import (
    AddChoice,
    Fix,
    RemoveChoice,
    RenameBlock,
    RenameChoice,
    Vary,
    edited,
)

LOOP = """\
blocks:
  goal: {type: STEP, T: 0}
  # the law
  law: {type: GAIN, K: 2} # 1/s
  x: {type: INTEGRATOR}
wires:
  - goal -> law
  - law -> x
"""
SLOT = """\
blocks:
  goal: {type: STEP, T: 0}
  x: {type: INTEGRATOR}
variants:
  law:
    default: soft # for now
    choices:
      soft: {type: GAIN, K: 1}
      stiff: {type: GAIN, K: 9} # 1/s
wires:
  - goal -> law
  - law -> x
sweep:
  variants: {law: [soft, stiff]}
"""
ALONE = SLOT.partition("sweep:")[0]


def after(text, *operations):
    return edited(text, operations).after


def test_a_block_becomes_a_slot_and_gets_choices():
    found = after(LOOP, Vary("law", "p"), AddChoice("law", "pi", "PID", {"P": 2, "I": 1}))
    assert "  law: {type" not in found
    assert "default: p" in found
    assert "p: {type: GAIN, K: 2}" in found
    assert "pi: {type: PID, P: 2, I: 1}" in found
    assert "  - law -> x\n" in found


def test_a_choice_is_copied_renamed_and_removed_with_all_that_names_it():
    copied = after(SLOT, AddChoice("law", "mild", like="soft"))
    assert "mild: {type: GAIN, K: 1}" in copied
    renamed = after(SLOT, RenameChoice("law", "soft", "gentle"))
    assert renamed == SLOT.replace("soft", "gentle")
    assert after(ALONE, RemoveChoice("law", "soft")) == ALONE.replace(
        "      soft: {type: GAIN, K: 1}\n", ""
    ).replace("default: soft", "default: stiff")
    assert after(SLOT, RenameBlock("law", "ctrl")).count("ctrl") == 4


def test_a_slot_becomes_a_block_again():
    found = after(ALONE, Fix("law", "stiff"))
    assert "law: {type: GAIN, K: 9}" in found
    assert "default" not in found
    assert (
        after(after(LOOP, Vary("law", "p")), Fix("law", "p")).count("law: {type: GAIN, K: 2}") == 1
    )


@pytest.mark.parametrize(
    ("text", "operation", "why"),
    [
        (LOOP, Vary("lav", "p"), "there is no block 'lav'"),
        (LOOP, Vary("law", "a b"), "the choice name 'a b'"),
        (SLOT, Vary("law", "p"), "is a slot of variants already"),
        (SLOT, AddChoice("law", "soft", "GAIN"), "has a choice 'soft' already"),
        (SLOT, AddChoice("law", "new", like="none"), "law has no choice 'none'"),
        (SLOT, RenameChoice("law", "soft", "stiff"), "has a choice 'stiff' already"),
        (SLOT, RemoveChoice("law", "stiff"), "stiff is named in sweep.variants.law"),
        (SLOT, Fix("law", "stiff"), "law is named in sweep.variants.law"),
        (SLOT, Fix("x", "stiff"), "there is no slot 'x'"),
        (after(LOOP, Vary("law", "p")), RemoveChoice("law", "p"), "p is the only choice of law"),
    ],
)
def test_what_cannot_be_done_is_refused(text, operation, why):
    with pytest.raises(InputError, match=why.replace(".", r"\.")):
        after(text, operation)
