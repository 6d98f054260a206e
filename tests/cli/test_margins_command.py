"""`spart margins`."""

import pytest

LOOP = """
name: loop
params: {k: 0.6666667}
blocks:
  goal: {type: CONSTANT, value: 0.0}
  error: {type: SUM, signs: "+-"}
  gain: {type: GAIN, K: $k}
  lag: {type: PT1, tau: 1, gain: 1}
  x: {type: INTEGRATOR}
wires: [goal -> error.0, x -> error.1, error -> gain, gain -> lag, lag -> x]
run: {T: 1}
"""


@pytest.fixture
def loop(tmp_path):
    (tmp_path / "loop.yaml").write_text(LOOP, encoding="utf-8")
    return tmp_path / "loop.yaml"


def test_margins_and_their_derivatives_are_printed(spart, loop):
    """L = k / (s (s + 1)) with k = 2/3: a phase margin of 60 degrees at tan(30 deg)."""
    answer = spart("margins", loop, "--cut", "gain", "--by", "k")
    assert answer.code == 0
    rows = [line.split() for line in answer.out.splitlines()]
    assert ["phase_margin_deg", "60", "deg", "0.57735"] in rows
    assert ["gain_margin_db", "inf", "dB"] in rows
    assert ["derivative", "by", "k"] in rows
    assert any(row[:1] == ["crossover"] and len(row) == 2 for row in rows)


def test_where_poles_meet_it_says_why_there_is_no_derivative(spart, loop):
    answer = spart("margins", loop, "--cut", "gain", "--by", "k", "--set", "k=0.25")
    assert answer.code == 0
    assert "decay: 2 poles meet at -0.5" in answer.out


def test_a_loop_that_is_not_stable_fails_with_its_pole(spart, loop):
    answer = spart("margins", loop, "--cut", "gain", "--set", "k=-1")
    assert answer.code == 1
    assert "the closed loop is not stable" in answer.err
    assert spart("margins", loop, "--cut", "y").code == 2
