"""`spart linearize` and `spart check`."""

from __future__ import annotations

import json
import re

import numpy as np
import pytest

LOOP = """
name: loop
blocks:
  goal: {type: CONSTANT, value: 0.0}
  error: {type: SUM, signs: "+-"}
  gain: {type: GAIN, K: 4.0}
  x: {type: INTEGRATOR}
wires: [goal -> error.0, x -> error.1, error -> gain, gain -> x]
run: {T: 1}
"""


@pytest.fixture
def loop(tmp_path):
    (tmp_path / "loop.yaml").write_text(LOOP, encoding="utf-8")
    return tmp_path / "loop.yaml"


def test_matrices_and_poles_are_printed(spart, loop):
    answer = spart("linearize", loop, "--input", "goal", "--output", "x", "--output", "gain")
    assert answer.code == 0
    assert answer.out.startswith("loop: continuous, 1 states\n")
    rows = [line.split() for line in answer.out.splitlines()]
    assert ["x", "-4"] in rows
    assert ["x", "4"] in rows
    assert ["gain", "-4"] in rows
    assert ["-4", "4", "1", "0.25"] in rows
    assert "linearizing loop" in answer.err
    assert "warning" not in answer.err


def test_a_loop_is_cut_and_the_system_saved(spart, loop, tmp_path):
    words = ["-i", "gain", "-y", "gain", "--open", "gain", "--set", "blocks.gain.K=5"]
    answer = spart("linearize", loop, *words, "-o", "l.json", "--plots", "figs")
    assert answer.code == 0
    read = json.loads((tmp_path / "l.json").read_text())
    assert (read["A"], read["B"], read["C"]) == ([[0.0]], [[1.0]], [[-5.0]])
    for name in ("bode.png", "poles.png"):
        assert (tmp_path / "figs" / name).read_bytes().startswith(b"\x89PNG")


def test_the_point_is_the_end_of_a_run(spart, ramp, tmp_path):
    assert spart("run", ramp, "-o", "run.npz", "-q").code == 0
    answer = spart("linearize", ramp, "-i", "step", "-y", "int", "--at", "run.npz", "-o", "l.npz")
    assert answer.code == 0
    with np.load(tmp_path / "l.npz") as file:
        assert file["x"] == pytest.approx(2.0, rel=1e-6)
        assert file["u"] == 2.0
    assert "not at rest here: int has the rate 2" in answer.err


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["-i", "goal", "-y", "y"], "no signal or block input 'y'"),
        (["-i", "gaol", "-y", "x"], "did you mean 'goal'"),
        (["-i", "goal", "-y", "x", "-o", "l.mat"], "end it in .npz or .json"),
        (["-i", "goal", "-y", "x", "--at", "none.npz"], "none.npz"),
    ],
)
def test_wrong_input_is_told(spart, loop, words, message):
    answer = spart("linearize", loop, *words)
    assert answer.code == 2
    assert message in answer.err


def test_inputs_and_outputs_are_needed(spart, loop):
    assert spart("linearize", loop, "-i", "goal").code == 2


def test_check_prints_how_far_the_engines_are_apart(spart, ramp):
    answer = spart("check", ramp, "--t", "1.5")
    assert answer.code == 0
    assert "running ramp on both engines to t = 1.5 s" in answer.err
    assert re.search(r"states.int +\d\.\d\de[+-]\d\d", answer.out)
    assert "ramp: the engines agree to 1e-07" in answer.out


def test_check_fails_where_they_are_apart(spart, ramp, monkeypatch):
    from spart_blocks.analysis import agreement

    apart = agreement.EngineDifference("int", 2e-7, 1.0, 0.5)
    monkeypatch.setattr(agreement, "compare_engines", lambda *_: (apart,))
    answer = spart("check", ramp)
    assert answer.code == 1
    assert "more than 1e-07 apart in int" in answer.err


def test_check_of_what_cannot_be_traced_says_why(spart, tmp_path):
    text = "blocks:\n  one: {type: CONSTANT, value: 1.0}\n  d: {type: DICT, keys: [a]}\n"
    (tmp_path / "dict.yaml").write_text(text + "wires: [one -> d.0]\n", encoding="utf-8")
    answer = spart("check", tmp_path / "dict.yaml")
    assert answer.code != 0
    assert "d" in answer.err


def test_equal_poles_are_one_row(spart, tmp_path):
    """Those of a delay of three periods are at 0."""
    file = tmp_path / "delay.yaml"
    file.write_text("""
clocks: {c: {rate: 10}}
blocks:
  one: {type: CONSTANT, value: 1}
  a: {type: UNIT_DELAY, clock: c, initial: 1}
  b: {type: UNIT_DELAY, clock: c, initial: 1}
  d: {type: UNIT_DELAY, clock: c, initial: 1}
wires: [one -> a, a -> b, b -> d]
""")
    answer = spart("linearize", str(file), "--input", "one", "--output", "d")
    assert answer.code == 0, answer.err
    assert "0  (3 times)" in answer.out
