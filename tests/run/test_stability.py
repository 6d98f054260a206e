"""Fixed steps that are too long: the run says which would be short enough."""

from __future__ import annotations

import re
import warnings

import numpy as np
import pytest

import spart_blocks as sb
from spart_blocks.base.errors import SpartWarning
from spart_blocks.base.tableaus import tableau
from spart_blocks.run.solvers.stability import growth_of, stable_step

# A mass held by a PD: s^2 + kd s + kp, with modes at -50 and -2000 1/s.
PD = """
blocks:
  x: {type: INTEGRATOR, x0: 1.0}
  v: {type: INTEGRATOR, x0: 0.0}
  f: {type: FCN, expression: "-kp*x - kd*v", arguments: [x, v], params: {kp: 1.0e+5, kd: 2050.0}}
wires: [x -> f.x, v -> f.v, f -> v, v -> x]
"""
REAL_BORDER = {"euler": 2.0, "heun": 2.0, "RK4": 2.785293563405282}
"""Of Hairer and Wanner, sec. IV.2: R(z) = 1 at z = -2; of RK4 at -2.7853."""


@pytest.mark.parametrize(("solver", "border"), REAL_BORDER.items())
def test_the_border_on_the_real_axis_is_the_books(solver, border):
    assert stable_step(tableau(solver), -10.0) == pytest.approx(border / 10, rel=1e-9)


def test_the_border_along_the_imaginary_axis_is_the_books():
    assert stable_step(tableau("RK4"), 1j) == pytest.approx(2 * np.sqrt(2), rel=1e-9)
    assert stable_step(tableau("euler"), 5j) == 0
    # |1 + z| = 1 along the ray at 120 degrees: |z| = 1.
    assert stable_step(tableau("euler"), 4 * np.exp(2j * np.pi / 3)) == pytest.approx(0.25)


def test_a_step_multiplies_by_the_polynomial_of_the_method():
    z = -0.7 + 0.4j
    assert growth_of(tableau("RK4"), z) == pytest.approx(
        abs(1 + z + z**2 / 2 + z**3 / 6 + z**4 / 24), rel=1e-14
    )


@pytest.mark.parametrize(("solver", "border"), REAL_BORDER.items())
def test_a_run_that_blows_up_says_the_step_that_would_not(load, engine, solver, border):
    with pytest.raises(sb.RunError) as error:
        sb.simulate(load(PD), engine=engine, T=2, solver=solver, max_step=0.002)
    text = str(error.value)
    assert f"steps of 0.002 s make {solver} unstable" in text
    assert "decays at 2e+03 1/s" in text
    told = float(re.search(r"max_step of at most (\S+) s", text)[1])
    assert border / 2000 * 0.85 <= told < border / 2000
    # With that step the run goes through and settles, without a word.
    results = sb.simulate(load(PD), engine=engine, T=0.5, solver=solver, max_step=told)
    assert abs(results["states.x"][-1, 0]) < 1e-6


def test_a_run_that_goes_through_unstable_is_told(load, engine):
    # One decade in 20 steps: large, and finite to the end.
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        options = {"T": 0.5, "solver": "RK4", "max_step": 0.0015}
        results = sb.simulate(load(PD), engine=engine, **options)
    assert np.abs(results["states.x"][-1, 0]) > 10
    (warning,) = caught
    assert warning.category is SpartWarning
    assert "give a max_step of at most 0.0013 s, or solver: auto" in str(warning.message)


def test_implicit_steps_far_beyond_the_border_settle_without_a_word(load, engine):
    options = {"T": 0.5, "solver": "Rodas3", "max_step": 0.1}  # 72 times RK4's border
    results = sb.simulate(load(PD), engine=engine, every=0.1, **options)
    x = results["states.x"][:, 0]
    assert np.abs(x[1:]).max() < 0.2
    assert abs(x[-1]) < 1e-4


def test_what_grows_by_itself_is_not_blamed_on_the_step(load, engine):
    text = """
blocks:
  x: {type: INTEGRATOR, x0: 1.0}
  gain: {type: GAIN, K: 40.0}
wires: [x -> gain, gain -> x]
"""
    with pytest.raises(sb.RunError) as error:
        sb.simulate(load(text), engine=engine, T=40, solver="RK4", max_step=0.05)
    assert "unstable" not in str(error.value)


def test_a_block_that_fails_is_not_blamed_on_the_step(load, engine):
    text = PD.replace("- kd*v", "- kd*v + 1e-9*log(0.3 - t)")
    with pytest.raises(sb.RunError) as error:
        sb.simulate(load(text), engine=engine, T=1, solver="RK4", max_step=0.0005)
    assert "unstable" not in str(error.value)
