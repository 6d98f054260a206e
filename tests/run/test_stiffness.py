"""Stiffness is told, and a run that chooses its solver itself changes it on the way."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import spart_blocks as sb
from spart_blocks.base.errors import SpartWarning
from spart_blocks.base.tableaus import PAIRS
from spart_blocks.program.c.compiler import compiler_name

# A. Prothero, A. Robinson, Math. Comp. 28 (1974): y' = -lam (y - cos t) - sin t, y = cos t.
PROTHERO_ROBINSON = """
blocks:
  y: {type: INTEGRATOR, x0: 1.0}
  f: {type: FCN, expression: "-lam*(y - cos(t)) - sin(t)", arguments: [y], params: {lam: 1.0e+6}}
wires: [y -> f.y, f -> y]
"""
# A PD with a gain of 1e6 holds a mass of 1 kg: (s + 1.13e1) (s + 8.87e4).
PD = """
blocks:
  x: {type: INTEGRATOR, x0: 1.0}
  v: {type: INTEGRATOR, x0: 0.0}
  f: {type: FCN, expression: "-kp*x - kd*v", arguments: [x, v], params: {kp: 1.0e+6, kd: 8.87e+4}}
wires: [x -> f.x, v -> f.v, f -> v, v -> x]
run: {T: 2}
"""
VAN_DER_POL = """
blocks:
  x: {type: INTEGRATOR, x0: 2.0}
  v: {type: INTEGRATOR, x0: 0.0}
  f: {type: FCN, expression: "mu*(1 - x**2)*v - x", arguments: [x, v], params: {mu: 1000.0}}
wires: [x -> f.x, v -> f.v, f -> v, v -> x]
run: {T: 300}
"""
STOPPED = VAN_DER_POL.replace(
    "wires: [",
    "  low: {type: FCN, expression: '1.9 - u'}\n  stop: {type: STOP}\n"
    "wires: [x -> low, low -> stop, ",
)


def told(run):
    """What a run gives, and its warnings."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        results = run()
    return results, [str(w.message) for w in caught if w.category is SpartWarning]


def test_auto_changes_to_an_implicit_method_and_says_so(load, engine):
    results, words = told(
        lambda: sb.simulate(load(PROTHERO_ROBINSON), engine=engine, T=10, every=0.02)
    )
    assert not words
    assert np.abs(results["states.y"][:, 0] - np.cos(results.t)).max() < 2e-6
    method = "Rodas5P" if engine == "native" else "BDF"
    assert results.info["solver"] == method
    # Held by stability to 3.3e-6 s: three million steps.
    assert results.info["solvers"].startswith(f"RK45, {method} from t = 0.0")
    assert results.info["steps"] < 10_000
    assert results.complete
    assert np.allclose(np.diff(results.t), 0.02)


def test_auto_changes_from_vern8_at_tight_tolerances(load, engine):
    options = {"T": 0.5, "rtol": 1e-10, "atol": 1e-12}
    results, words = told(lambda: sb.simulate(load(PROTHERO_ROBINSON), engine=engine, **options))
    assert not words
    assert results.info["solvers"].startswith("Vern8, ")
    assert np.abs(results["states.y"][:, 0] - np.cos(results.t)).max() < 2e-8


@pytest.mark.parametrize("solver", [*PAIRS, "RK23"])
def test_a_solver_asked_for_is_kept_and_stiffness_told_once(load, engine, solver, request):
    in_c = solver in PAIRS and request.node.callspec.params["engine"] == "compiled"
    T = 0.1 if in_c else 0.01
    diagram = load(PROTHERO_ROBINSON)
    options = {"T": T, "every": T / 500, "solver": solver}
    results, words = told(lambda: sb.simulate(diagram, engine=engine, **options))
    assert len(words) == 1
    assert "the diagram is stiff at t = 0.00" in words[0]
    assert f"{solver} has to take steps of " in words[0]
    assert "give run: {solver: " in words[0]
    assert results.info["solver"] == solver
    assert "solvers" not in results.info
    assert np.abs(results["states.y"][:, 0] - np.cos(results.t)).max() < 3e-5


def test_the_step_that_is_told_is_the_stable_one(load):
    _, (text,) = told(lambda: sb.simulate(load(PROTHERO_ROBINSON), T=0.1, solver="RK45"))
    step = float(text.split("steps of ")[1].split(" s")[0])
    assert step == pytest.approx(3.3e-6, rel=0.1)  # RK45 is stable to h lam = 3.31


def test_a_stiff_pd_meets_its_closed_form(load, engine):
    results, words = told(lambda: sb.simulate(load(PD), engine=engine, rtol=1e-8, atol=1e-11))
    assert not words
    s = np.roots([1.0, 8.87e4, 1e6])
    x = (s[1] * np.exp(s[0] * results.t) - s[0] * np.exp(s[1] * results.t)) / (s[1] - s[0])
    assert np.abs(results["states.x"][:, 0] - x).max() < 2e-7
    assert "from t = " in results.info["solvers"]


def test_van_der_pol_agrees_with_radau(load, engine):
    results, words = told(lambda: sb.simulate(load(VAN_DER_POL), engine=engine, every=0.6))
    assert not words
    best = sb.simulate(load(VAN_DER_POL), every=0.6, solver="Radau", rtol=1e-10, atol=1e-12)
    assert np.abs(results["states.x"] - best["states.x"]).max() < 2e-5
    assert "from t = " in results.info["solvers"]


def test_crossings_are_met_beyond_the_change(load, engine):
    results, words = told(lambda: sb.simulate(load(STOPPED), engine=engine, T=800))
    assert not words
    method = "Rodas5P" if engine == "native" else "BDF"
    assert results.info["solvers"].startswith(f"RK45, {method} from t = ")
    # On the slow manifold x' = -x / (mu (x**2 - 1)): t = mu (ln x - x**2/2) up to O(1/mu).
    slow = 1000 * (np.log(1.9 / 2) - (1.9**2 - 4) / 2)
    assert results.t[-1] == pytest.approx(slow, abs=3)
    assert results["states.x"][-1, 0] == pytest.approx(1.9, abs=1e-8)
    assert [event.block for event in results.events] == ["stop"]


def test_ticks_are_counted_across_the_change(load, engine):
    text = PROTHERO_ROBINSON.replace("blocks:", "clocks: {c: {T: 2.5}}\nblocks:").replace(
        "wires: [", "  n: {type: ZOH, clock: c}\nwires: [y -> n, "
    )
    diagram = load(text.rstrip() + "\nrun: {T: 10, every: 0.5, log: [n]}\n")
    results, words = told(lambda: sb.simulate(diagram, engine=engine))
    assert not words
    held = np.cos(2.5 * np.floor(results.t / 2.5 + 1e-9))
    assert np.abs(results["n"] - held).max() < 2e-6
    assert list(results.final_state.ticks.values()) == [5]


def test_fast_oscillations_are_not_stiff(load, engine):
    # Accuracy bounds the steps of an undamped oscillator: thousands of them are no stiffness.
    text = """
blocks:
  x: {type: INTEGRATOR, x0: 1.0}
  v: {type: INTEGRATOR, x0: 0.0}
  f: {type: GAIN, K: -1.0e+6}
wires: [x -> f, f -> v, v -> x]
run: {T: 2, rtol: 1.0e-4, atol: 1.0e-6}
"""
    results, words = told(lambda: sb.simulate(load(text), engine=engine, solver="RK45"))
    assert not words
    assert results.info["steps"] > 1000


def test_a_stiff_run_that_costs_little_is_left_alone(load):
    for solver in ("auto", "RK45"):
        diagram = load(PROTHERO_ROBINSON)
        results, words = told(lambda d=diagram, s=solver: sb.simulate(d, T=0.02, solver=s))
        assert not words
        assert results.info["solver"] == "RK45"


def test_a_changed_run_is_continued_to_the_same_end(load, engine):
    whole = sb.simulate(load(PD), engine=engine, T=2)
    half = sb.simulate(load(PD), engine=engine, T=1)
    rest = sb.simulate(load(PD), engine=engine, T=2, initial=half)
    assert np.abs(rest["states.x"][-1] - whole["states.x"][-1]).max() < 1e-6


@pytest.mark.skipif(compiler_name() is None, reason="no C compiler")
def test_a_limit_that_is_never_met_costs_no_steps(load):
    """A step of 4 s, far too long for the lag of 1 ms, seems to cross it just after its start."""
    diagram = load("""
blocks:
  goal: {type: STEP, T: 1, on: 100}
  error: {type: SUM, signs: "+-"}
  fast: {type: PT1, gain: 1, tau: 1e-3}
  limit: {type: SATURATION, lower: -1e6, upper: 1e6}
  slow: {type: PT1, gain: 5, tau: 0.5}
wires: [goal -> error.0, slow -> error.1, error -> fast, fast -> limit, limit -> slow]
run: {T: 1.1, solver: RK45}
""")
    compiled, reference = (
        sb.simulate(diagram, engine=engine).info["steps"] for engine in ("native", "interpreter")
    )
    assert compiled <= reference + 5
