"""Runs that would last without end are told so: by their duration, and by their steps."""

from __future__ import annotations

import warnings

import pytest
from typer.testing import CliRunner

import spart_blocks as sb
from spart_blocks.base.errors import SpartWarning
from spart_blocks.cli.app import app
from spart_blocks.run import begin

TEXT = """
blocks:
  a: {type: STEP}
  s: {type: SUM, signs: "+-"}
  i: {type: INTEGRATOR}
wires: [a -> s.0, i -> s.1, s -> i]
run:
  T: 5
"""
SPRING = """
blocks:
  x: {type: INTEGRATOR, x0: 1}
  v: {type: INTEGRATOR}
  k: {type: GAIN, K: -100}
wires: [v -> x, x -> k, k -> v]
run: {T: 1.0e+12}
"""


def test_a_duration_beyond_all_reason_is_refused_at_its_place(load):
    with pytest.raises(sb.DiagramError) as error:
        load(TEXT.replace("T: 5", "T: 1e300"))
    assert ":8:6: run.T: 1e+300 s is longer than any run can be" in str(error.value)


def test_and_in_a_call(load):
    with pytest.raises(sb.InputError, match=r"^run option T: 1e\+300 s is longer than any run"):
        sb.simulate(load(TEXT), T=1e300)


def test_and_on_the_command_line(tmp_path):
    path = tmp_path / "loop.yaml"
    path.write_text(TEXT)
    for option in (["--t", "1e300"], ["--set", "run.T=1e300"]):
        result = CliRunner().invoke(app(), ["run", str(path), "--headless", *option])
        assert result.exit_code == 2
        assert "1e+300 s is longer than any run can be" in " ".join(result.output.split())


@pytest.mark.parametrize("engine", ["native", "interpreter"])
def test_a_long_run_of_a_sound_model_blames_its_duration(load, engine):
    with pytest.raises(sb.RunError, match=r"T = 1e\+12 s takes some \de\+1\d steps") as error:
        sb.simulate(load(SPRING), engine=engine, every=1e6)
    assert error.value.block is None
    assert "shorter T" in error.value.hint


@pytest.mark.parametrize("engine", ["native", "interpreter"])
def test_more_than_a_thousand_million_steps_are_refused(load, engine):
    said = r"a max_step of 1e-12 s takes 5e\+12 steps until T = 5 s; the most is 1,000,000,000"
    with pytest.raises(sb.InputError, match=said) as error:
        sb.simulate(load(TEXT), max_step=1e-12, engine=engine)
    assert "leave max_step out" in str(error.value)


@pytest.mark.parametrize("engine", ["native", "interpreter"])
def test_many_steps_are_told_before_they_are_taken(load, engine):
    with pytest.warns(SpartWarning, match="takes at least 5e[+]08 steps until T = 5 s, which"):
        begin(load(TEXT), max_step=1e-8, engine=engine)


@pytest.mark.parametrize("options", [{}, {"max_step": 1e-3}, {"max_step": 1e-6}])
def test_usual_steps_are_not(load, options):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        begin(load(TEXT), **options)
