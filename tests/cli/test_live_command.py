"""`spart live`: list and set the parameters of a loop that runs."""

from __future__ import annotations

import contextlib
import os
import shlex

import numpy as np
import pytest
from live_loop import SERVO, DirectedLoop

import spart_blocks as sb
from spart_blocks.realtime.live import LiveServer

pytestmark = pytest.mark.usefixtures("loop_folder")


def rows_of(text):
    """The lines of a table by their first word."""
    return {line.split()[0]: line for line in text.splitlines() if line.strip()}


def test_it_lists_values_shapes_units_and_bounds(spart, server):
    answer = spart("live")
    assert answer.code == 0
    rows = rows_of(answer.out)
    assert f"servo (process {os.getpid()}): running, 1000 Hz, t = 1.500 s" in answer.out
    assert "[40, 40, 10]" in rows["ctrl.kp"]
    assert "0..500" in rows["ctrl.kp"]
    assert rows["qd"].endswith("input")
    assert rows["sum.x0"].endswith("is used at the start only")
    assert rows["qm"].endswith("is received over a link")


def test_it_sets_several_at_once(spart, server, loop):
    answer = spart("live", "ctrl.kp=[60, 60, 20]", "qd=0.3", "ctrl.kd[1]=1e1")
    assert (answer.code, answer.err) == (0, "")
    assert answer.out.splitlines() == [
        "ctrl.kp = [60, 60, 20]",
        "qd = [0.3, 0.3, 0.3]",
        "ctrl.kd = [20, 10, 5]",
    ]
    assert len(loop.library.tuned) == 1
    assert "changed" in rows_of(spart("live").out)["ctrl.kp"]


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["ctrl.kq=1"], "error: there is no parameter or free input 'ctrl.kq'\n  did you mean"),
        (["ctrl.kp=600"], "error: ctrl.kp must lie between 0 and 500"),
        (["ctrl.kp=[1,2]"], "error: parameter ctrl.kp has shape (3,), not (2,)"),
        (["ctrl.kp=.nan"], "error: ctrl.kp takes finite numbers"),
        (["ctrl.kp=stiff"], "error: ctrl.kp takes numbers, not 'stiff'"),
        (["ctrl.kp="], "error: ctrl.kp takes numbers, not None"),
        (["ctrl.kp=[1,"], "error: ctrl.kp=[1,:2:1: not YAML"),
        (["sum.x0=0"], "error: sum.x0 cannot be set while the loop runs"),
        (["qd=1", "qd=2"], "error: qd is given twice"),
        (["servo", "qd"], "error: 'qd' sets nothing, and 'servo' is the loop\n  what is set"),
        (["servo", "--loop", "pd"], "error: 'pd' sets nothing"),
        (["sevro"], "error: no loop 'sevro' is running\n  did you mean 'servo'?"),
        (["=3"], "error: there is no parameter or free input ''"),
        (["ctrl.kd=1", "ctrl.kp=-1"], "error: ctrl.kp must lie between 0 and 500"),
    ],
    ids=str,
)
def test_a_bad_value_is_refused_and_the_loop_goes_on(spart, server, loop, words, told):
    answer = spart("live", *words)
    assert answer.code == 2
    assert answer.err.startswith(told)
    assert loop.library.tuned == []
    assert spart("live", "ctrl.kp=3").code == 0


def test_every_mistake_is_told(spart, server):
    answer = spart("live", "ctrl.kq=1", "qm=2")
    assert answer.code == 2
    assert "'ctrl.kq'" in answer.err
    assert "qm cannot be set" in answer.err
    assert answer.err.endswith("error: 2 mistakes\n")


def test_without_a_loop_it_says_how_to_start_one(spart):
    answer = spart("live")
    assert answer.code == 2
    assert answer.err == "error: no loop is running\n  start one: spart realtime FILE\n"


def test_several_loops_are_listed_and_told_apart(spart):
    loops = [DirectedLoop(), DirectedLoop()]
    with contextlib.ExitStack() as kept:
        for loop, name in zip(loops, ("plant", "ctrl"), strict=True):
            kept.enter_context(LiveServer(loop, name))
        answer = spart("live")
        assert answer.code == 0
        assert list(rows_of(answer.out)) == ["loop", "ctrl", "plant"]
        assert spart("live", "qd=1").code == 2
        assert spart("live", "plant", "qd=1").code == 0
        assert spart("live", "--loop", "ctrl", "qd=2").code == 0
    assert [loop.parameters.values["qd"][0] for loop in loops] == [1, 2]


def test_what_was_tuned_goes_back_into_the_file_s_commands(spart, server, tmp_path):
    spart("live", "ctrl.kp=[0.1, 60, 0.30000000000000004]", "ctrl.kd=3", "qd=1")
    answer = spart("live", "--print-set")
    assert answer.code == 0
    words = shlex.split(answer.out)
    assert words[0::2] == ["--set", "--set"]  # qd is no parameter of the file
    (tmp_path / "servo.yaml").write_text(SERVO, encoding="utf-8")
    program = sb.trace(sb.load(tmp_path / "servo.yaml", overrides=words[1::2]))
    np.testing.assert_array_equal(program.parameter("ctrl.kp"), [0.1, 60, 0.30000000000000004])
    np.testing.assert_array_equal(program.parameter("ctrl.kd"), [3, 3, 3])


def test_what_was_tuned_is_saved_in_the_file(spart, server, tmp_path):
    file = tmp_path / "servo.yaml"
    file.write_text("# kept\n" + SERVO, encoding="utf-8")
    spart("live", "ctrl.kp=[0.1, 60, 0.30000000000000004]", "ctrl.kd=3", "qd=1")
    answer = spart("live", "--save", file)
    assert answer.code == 0, answer.err
    program = sb.trace(sb.load(file))
    np.testing.assert_array_equal(program.parameter("ctrl.kp"), [0.1, 60, 0.30000000000000004])
    np.testing.assert_array_equal(program.parameter("ctrl.kd"), [3, 3, 3])
    before, after = ("# kept\n" + SERVO).splitlines(), file.read_text().splitlines()
    assert [a == b for a, b in zip(before, after, strict=True)].count(False) <= 2
    file.write_text("blocks: {x: {type: TIME}}")
    assert spart("live", "--save", file).code == 2


def test_nothing_changed_prints_no_options(spart, server):
    answer = spart("live", "--print-set")
    assert (answer.code, answer.out.strip()) == (0, "")


def test_a_terminal_is_not_fooled_by_what_a_loop_is_called(spart):
    with LiveServer(DirectedLoop(), "a\x1b[2Jb"):
        answer = spart("live")
    assert "\x1b" not in answer.out + answer.err
