"""What errors say stays short, readable and cheap, whatever the input holds."""

from __future__ import annotations

import tracemalloc

import pytest

from spart_blocks.base import errors
from spart_blocks.base.errors import (
    MOST_SHOWN,
    Fault,
    InputError,
    Place,
    RunError,
    brief,
    did_you_mean,
    pip_install,
)


def test_messages_hold_no_control_characters():
    wild = "a\x1b[2J\x07\x9b\u202eb\ud800\u2028"
    shown = r"a\x1b[2J\x07\x9b\u202eb\ud800\u2028"
    fault = Fault(wild, Place(wild, 1, 2), wild)
    assert str(fault) == f"{shown}:1:2: {shown}\n  {shown}"
    assert wild not in str(InputError(wild))
    assert wild not in str(RunError(wild))


def test_text_of_any_script_is_shown_as_it_is():
    for text in ("Größe", "位置", "موقع", "e\u0301", "line\nline", "\U0001f680"):
        assert Fault(text).message == text


def test_a_long_message_keeps_its_beginning_and_its_end():
    text = Fault("begin" + "x" * 10**6 + "end").message
    assert text.startswith("begin")
    assert text.endswith("end")
    assert len(text) < MOST_SHOWN


def test_a_value_is_quoted_at_a_bounded_cost():
    wide = [[["x" * 10**6] * 100] * 100] * 100
    tracemalloc.start()
    texts = [brief(value) for value in (wide, "y" * 10**6, {"k": wide}, 10**300)]
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert max(map(len, texts)) <= 60
    assert peak < 5e6
    assert brief([1, 2]) == "[1, 2]"
    assert brief("K") == "'K'"


def test_a_near_name_is_found_among_very_many():
    names = [f"joint{i}" for i in range(100_000)]
    assert "'joint31415'" in (did_you_mean("joint31415x", names) or "")


def test_very_long_names_are_neither_compared_nor_listed():
    names = [f"{'ab' * 5000}{i}" for i in range(50)]
    hint = did_you_mean("ba" * 5000, names)
    assert hint is not None
    assert hint.startswith("it has abab")
    assert len(hint) < 2000


@pytest.mark.parametrize(
    ("name", "choices", "hint"),
    [
        ("kD", ("kp", "kd", "robot"), "did you mean 'kd'?"),
        ("R0", ("r0", "qm"), "did you mean 'r0'?"),
        ("ud", ("qd", "robot"), "did you mean 'qd'?"),
        ("qm", ("plant.qm", "plant.um", "plant.3"), "did you mean 'plant.qm'?"),
        ("plant.qmm", ("plant.qm", "plant.3", "plant.4"), "did you mean 'plant.qm'?"),
        ("j7", ("j5", "j6"), "it has j5, j6"),  # no slip
        ("nothing", ("ctrl.ud=0.0", "ctrl.tau"), "it has ctrl.tau"),
    ],
)
def test_a_hint_names_what_was_meant(name, choices, hint):
    assert did_you_mean(name, choices) == hint


def test_a_hint_to_install_an_extra_names_the_clone_or_the_release(monkeypatch, tmp_path):
    monkeypatch.setattr(errors, "SOURCES", tmp_path)
    assert pip_install("studio") == "pip install 'spart_blocks[studio]'"
    (tmp_path / "hatch_build.py").touch()
    assert pip_install("studio") == f"pip install -e '{tmp_path}[studio]'"
    monkeypatch.chdir(tmp_path)
    assert pip_install("studio") == "pip install -e '.[studio]'"
