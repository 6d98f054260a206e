"""Every solver reaches the closed form, on every way the engines can run it."""

import numpy as np
import pytest

import spart_blocks as sb
from spart_blocks.errors import SpartWarning
from spart_blocks.simulation.compiled import CompiledLoop

OSCILLATOR = """
blocks:
  force: {type: GAIN, K: -4.0}
  v: {type: INTEGRATOR, x0: 0.0}
  x: {type: INTEGRATOR, x0: 1.0}
wires: [x -> force, force -> v, v -> x]
"""
SWITCHED = """
clocks: {c: {T: 0.3}}
blocks:
  up: {type: STEP, T: 0.75, on: 2.0}
  hold: {type: ZOH, clock: c}
  sum: {type: SUM, signs: "++"}
  x: {type: INTEGRATOR}
wires: [x -> hold, up -> sum.0, hold -> sum.1, sum -> x]
"""
ADAPTIVE = ["RK45", "DOP853", "RK23", "Radau", "BDF", "LSODA", "CVODES", "Adams"]
FIXED = {"euler": 1, "heun": 2, "RK4": 4}


@pytest.fixture
def diagram(tmp_path):
    def make(text):
        path = tmp_path / "diagram.yaml"
        path.write_text(text)
        return sb.load(path)

    return make


@pytest.fixture(params=["compiled", "virtual machine", "interpreter"])
def engine(request, monkeypatch):
    """The engine's name, with or without the compiled loop behind 'native'."""
    if request.param == "virtual machine":
        monkeypatch.setattr("spart_blocks.simulation.compiled.library_of", lambda *a: None)
    return "interpreter" if request.param == "interpreter" else "native"


@pytest.mark.parametrize("solver", ADAPTIVE)
def test_an_adaptive_solver_keeps_its_tolerance(diagram, engine, solver):
    if engine == "interpreter" and solver in ("CVODES", "Adams"):
        with pytest.raises(sb.InputError, match="not traced"):
            sb.simulate(diagram(OSCILLATOR), engine=engine, solver=solver)
        return
    options = {"solver": solver, "rtol": 1e-9, "atol": 1e-11, "T": 5}
    results = sb.simulate(diagram(OSCILLATOR), engine=engine, **options)
    assert np.abs(results["states.x"][:, 0] - np.cos(2 * results.t)).max() < 1e-5


@pytest.mark.parametrize(("solver", "order"), FIXED.items())
def test_a_fixed_step_method_shows_its_order(diagram, engine, solver, order):
    def error(step):
        options = {"solver": solver, "max_step": step, "T": 2, "every": 2}
        results = sb.simulate(diagram(OSCILLATOR), engine=engine, **options)
        return np.hypot(
            results["states.x"][-1, 0] - np.cos(4), results["states.v"][-1, 0] + 2 * np.sin(4)
        )

    coarse = 0.05 if order == 4 else 0.01
    assert np.log2(error(coarse) / error(coarse / 2)) == pytest.approx(order, abs=0.2)


@pytest.mark.parametrize("solver", [*ADAPTIVE, *FIXED])
def test_no_solver_steps_over_a_tick_or_a_switch(diagram, engine, solver):
    # x' = hold + 2 (t >= 0.75), the hold taken every 0.3 s: straight lines throughout.
    if engine == "interpreter" and solver in ("CVODES", "Adams"):
        return
    options = {"solver": solver, "T": 1.2, "every": 0.15, "max_step": 0.5}
    results = sb.simulate(diagram(SWITCHED), engine=engine, **options)
    # Up to 0.75 nothing moves; 0.9: x = 0.3, held from there; 1.2: 0.3 + 0.3 (0.3 + 2).
    expected = {0.75: 0.0, 0.9: 0.3, 1.05: 0.3 + 0.15 * 2.3, 1.2: 0.3 + 0.3 * 2.3}
    for time, value in expected.items():
        k = int(np.argmin(np.abs(results.t - time)))
        assert results["x"][k] == pytest.approx(value, abs=1e-7)
    assert results["hold"][-1] == pytest.approx(0.3 + 0.3 * 2.3, abs=1e-7)


def test_the_compiled_loop_takes_scipys_steps(diagram, monkeypatch):
    compiled = sb.simulate(diagram(OSCILLATOR), engine="native", T=5)
    monkeypatch.setattr("spart_blocks.simulation.compiled.library_of", lambda *a: None)
    scipys = sb.simulate(diagram(OSCILLATOR), engine="native", T=5)
    assert abs(compiled.info["steps"] - scipys.info["steps"]) <= 2
    assert np.abs(compiled["states.x"] - scipys["states.x"]).max() < 1e-6


def test_the_compiled_loop_is_what_runs_where_there_is_a_compiler(diagram, monkeypatch):
    used = []
    go = CompiledLoop.go
    monkeypatch.setattr(CompiledLoop, "go", lambda self: (used.append(self), go(self)))
    from spart_blocks.simulation.compiler import compiler_name

    sb.simulate(diagram(OSCILLATOR), engine="native", T=1)
    assert bool(used) == (compiler_name() is not None)


def test_cvodes_refuses_events_before_the_run(diagram):
    text = OSCILLATOR.replace("blocks:", "blocks:\n  stop: {type: STOP}").replace(
        "x -> force", '"x -> force, stop"'
    )
    with pytest.raises(sb.InputError, match="STOP and EVENT"):
        sb.simulate(diagram(text), solver="CVODES")


def test_too_many_samples_are_refused_before_the_run(diagram):
    with pytest.raises(sb.InputError, match=r"longer run\.every"):
        sb.simulate(diagram(OSCILLATOR), T=1e9, every=1e-3)


def test_too_many_ticks_are_refused_before_the_run(diagram):
    with pytest.raises(sb.InputError, match="longer period"):
        sb.simulate(diagram(SWITCHED.replace("T: 0.3}", "T: 1.0e-9}")), T=10)


def test_a_continued_run_begins_where_it_starts(diagram, engine):
    first = sb.simulate(diagram(OSCILLATOR), engine=engine, T=1.2345, every=0.1)
    second = sb.simulate(diagram(OSCILLATOR), engine=engine, T=2, every=0.1, initial=first)
    assert (second.t[0], second.t[-1]) == (1.2345, 2.0)
    assert second["states.x"][0, 0] == first["states.x"][-1, 0]


def test_auto_picks_a_solver_and_says_which(diagram, monkeypatch):
    def picked(**options):
        return sb.simulate(diagram(OSCILLATOR), T=0.1, **options).info["solver"]

    assert picked(engine="interpreter") == "RK45"
    assert picked(solver="BDF") == "BDF"
    monkeypatch.setattr("spart_blocks.simulation.start.compiler_name", lambda: None)
    monkeypatch.setattr("spart_blocks.simulation.compiled.library_of", lambda *a: None)
    assert picked() == "CVODES"
    monkeypatch.setattr("spart_blocks.simulation.start.compiler_name", lambda: "cc")
    assert picked() == "RK45"


def test_a_library_that_cannot_be_loaded_means_a_warning_and_a_run(diagram, monkeypatch, tmp_path):
    broken = tmp_path / "broken.so"
    broken.write_bytes(b"not a library")
    monkeypatch.setattr("spart_blocks.simulation.compiler.shared_library", lambda source: broken)
    monkeypatch.setattr("spart_blocks.simulation.compiler.compiler_name", lambda: "cc")
    with pytest.warns(SpartWarning, match="without compiled code"):
        results = sb.simulate(diagram(OSCILLATOR), T=1)
    assert results["x"][-1] == pytest.approx(np.cos(2), abs=1e-5)
