"""Every solver reaches the closed form, on every way the engines can run it."""

import numpy as np
import pytest

import spart_blocks as sb
from spart_blocks.base.errors import SpartWarning
from spart_blocks.base.tableaus import FIXED_STEP, PAIRS, tableau
from spart_blocks.run.engines.compiled import CompiledLoop

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
ADAPTIVE = [*PAIRS, "RK23", "Radau", "BDF", "LSODA", "CVODES", "Adams"]


@pytest.mark.parametrize("solver", ADAPTIVE)
def test_an_adaptive_solver_keeps_its_tolerance(load, engine, solver):
    if engine == "interpreter" and solver in ("CVODES", "Adams"):
        with pytest.raises(sb.InputError, match="not traced"):
            sb.simulate(load(OSCILLATOR), engine=engine, solver=solver)
        return
    options = {"solver": solver, "rtol": 1e-9, "atol": 1e-11, "T": 5}
    results = sb.simulate(load(OSCILLATOR), engine=engine, **options)
    assert np.abs(results["states.x"][:, 0] - np.cos(2 * results.t)).max() < 1e-5


EDGES = """
blocks:
  decay: {type: GAIN, K: -1}
  x: {type: INTEGRATOR, x0: 1}
  first: {type: STEP, T: 1}
  second: {type: STEP, T: %r}
  a: {type: GAIN, K: 1}
  b: {type: GAIN, K: 1}
wires: [decay -> x, x -> decay, first -> a, second -> b]
run: {T: 2}
"""


@pytest.mark.parametrize("solver", [s for s in ADAPTIVE if s not in ("CVODES", "Adams")])
def test_a_tiny_step_to_an_edge_makes_the_next_no_shorter(load, engine, solver):
    one, two = (
        sb.simulate(load(EDGES % t), engine=engine, solver=solver).info["steps"]
        for t in (1.0, 1 + 2.0**-26)
    )
    assert two <= one + 1


@pytest.mark.parametrize("solver", FIXED_STEP)
def test_a_fixed_step_method_shows_its_order(load, engine, solver):
    order = tableau(solver).order

    def error(step):
        options = {"solver": solver, "max_step": step, "T": 2, "every": 2}
        results = sb.simulate(load(OSCILLATOR), engine=engine, **options)
        return np.hypot(
            results["states.x"][-1, 0] - np.cos(4), results["states.v"][-1, 0] + 2 * np.sin(4)
        )

    coarse = 0.05 if order > 3 else 0.01
    assert np.log2(error(coarse) / error(coarse / 2)) == pytest.approx(order, abs=0.2)


@pytest.mark.parametrize("solver", [*ADAPTIVE, *FIXED_STEP])
def test_no_solver_steps_over_a_tick_or_a_switch(load, engine, solver):
    # x' = hold + 2 (t >= 0.75), the hold taken every 0.3 s: straight lines throughout.
    if engine == "interpreter" and solver in ("CVODES", "Adams"):
        return
    options = {"solver": solver, "T": 1.2, "every": 0.15, "max_step": 0.5}
    results = sb.simulate(load(SWITCHED), engine=engine, **options)
    # Up to 0.75 nothing moves; 0.9: x = 0.3, held from there; 1.2: 0.3 + 0.3 (0.3 + 2).
    expected = {0.75: 0.0, 0.9: 0.3, 1.05: 0.3 + 0.15 * 2.3, 1.2: 0.3 + 0.3 * 2.3}
    for time, value in expected.items():
        k = int(np.argmin(np.abs(results.t - time)))
        assert results["x"][k] == pytest.approx(value, abs=1e-7)
    assert results["hold"][-1] == pytest.approx(0.3 + 0.3 * 2.3, abs=1e-7)


def test_the_compiled_loop_takes_scipys_steps(load, monkeypatch):
    compiled = sb.simulate(load(OSCILLATOR), engine="native", T=5, every=0.01)
    monkeypatch.setattr("spart_blocks.run.engines.compiled.library_of", lambda *a, **k: None)
    scipys = sb.simulate(load(OSCILLATOR), engine="native", T=5, every=0.01)
    assert abs(compiled.info["steps"] - scipys.info["steps"]) <= 2
    assert np.abs(compiled["states.x"] - scipys["states.x"]).max() < 1e-6


def test_the_compiled_loop_is_what_runs_where_there_is_a_compiler(load, monkeypatch):
    used = []
    go = CompiledLoop.go
    monkeypatch.setattr(CompiledLoop, "go", lambda self: (used.append(self), go(self)))
    from spart_blocks.program.c.compiler import compiler_name

    sb.simulate(load(OSCILLATOR), engine="native", T=1)
    assert bool(used) == (compiler_name() is not None)


@pytest.mark.parametrize("solver", ["RK45", "CVODES", "Adams"])
def test_a_stop_is_located_within_a_step(load, solver):
    # x = cos 2t falls through zero at pi/4; the signal of the STOP is -x.
    text = OSCILLATOR.replace(
        "blocks:", "blocks:\n  minus: {type: GAIN, K: -1.0}\n  stop: {type: STOP}"
    ).replace("wires: [", "wires: [x -> minus, minus -> stop, ")
    options = {"solver": solver, "rtol": 1e-10, "atol": 1e-12, "T": 5, "every": 0.1}
    results = sb.simulate(load(text), **options)
    assert results.t[-1] == pytest.approx(np.pi / 4, abs=1e-8)
    assert abs(results["states.x"][-1, 0]) < 1e-8
    assert results.events[0].block == "stop"
    assert np.allclose(np.diff(results.t[:-1]), 0.1)


def test_too_many_samples_are_refused_before_the_run(load):
    with pytest.raises(sb.InputError, match=r"longer run\.every"):
        sb.simulate(load(OSCILLATOR), T=1e9, every=1e-3)


def test_too_many_ticks_are_refused_before_the_run(load):
    with pytest.raises(sb.InputError, match="longer period"):
        sb.simulate(load(SWITCHED.replace("T: 0.3}", "T: 1.0e-9}")), T=10)


def test_a_continued_run_begins_where_it_starts(load, engine):
    first = sb.simulate(load(OSCILLATOR), engine=engine, T=1.2345, every=0.1)
    second = sb.simulate(load(OSCILLATOR), engine=engine, T=2, every=0.1, initial=first)
    assert (second.t[0], second.t[-1]) == (1.2345, 2.0)
    assert second["states.x"][0, 0] == first["states.x"][-1, 0]


@pytest.mark.parametrize(
    "more",
    [
        "  stop: {type: STOP}\nwires: [x -> stop, ",
        "  held: {type: ZOH, clock: c}\nclocks: {c: {T: 0.05}}\nwires: [x -> held, ",
    ],
    ids=["crossing", "clock"],
)
def test_auto_is_rk45_where_steps_are_cut_short_also_at_tight_tolerances(load, more):
    text = OSCILLATOR.replace("wires: [", more)
    assert sb.simulate(load(text), T=0.1, rtol=1e-12).info["solver"] == "RK45"


def test_auto_picks_a_solver_and_says_which(load, monkeypatch):
    def picked(**options):
        return sb.simulate(load(OSCILLATOR), T=0.1, **options).info["solver"]

    assert picked(engine="interpreter") == "RK45"
    assert picked(solver="BDF") == "BDF"
    assert picked(rtol=2e-10) == "RK45"
    assert picked(rtol=1e-10) == "Vern8"
    monkeypatch.setattr("spart_blocks.run.start.compiler_name", lambda: None)
    monkeypatch.setattr("spart_blocks.run.engines.compiled.library_of", lambda *a, **k: None)
    assert picked() == "CVODES"
    monkeypatch.setattr("spart_blocks.run.start.compiler_name", lambda: "cc")
    assert picked() == "RK45"


def test_a_library_that_cannot_be_loaded_means_a_warning_and_a_run(load, monkeypatch, tmp_path):
    broken = tmp_path / "broken.so"
    broken.write_bytes(b"not a library")
    monkeypatch.setattr("spart_blocks.program.c.compiler.shared_library", lambda *source: broken)
    monkeypatch.setattr("spart_blocks.run.engines.compiled.compiler_name", lambda: "cc")
    with pytest.warns(SpartWarning, match="without compiled code"):
        results = sb.simulate(load(OSCILLATOR), T=1)
    assert results["x"][-1] == pytest.approx(np.cos(2), abs=1e-5)


JUMPS = {
    "a step": ("j: {type: STEP, T: 1.0, off: -1.0, on: 1.0}", 1.0),
    "time itself": (
        "t: {type: TIME}\n  one: {type: CONSTANT, value: 1}\n  j: {type: SUM, signs: +-}", 1.0,
    ),
    "a held sample": (
        "t: {type: STEP, T: 0.7, off: -1.0}\n  j: {type: ZOH, clock: c, x0: -1.0}", 1.0,
    ),
    "a constant": ("j: {type: CONSTANT, value: 1}", 0.0),
}  # fmt: skip
WIRES = {"time itself": "t -> j.0, one -> j.1, ", "a held sample": "t -> j, "}


@pytest.mark.parametrize("states", [True, False], ids=["with states", "without"])
@pytest.mark.parametrize("kind", JUMPS)
def test_a_stop_acts_on_signals_that_jump(load, engine, kind, states):
    blocks, time = JUMPS[kind]
    more = "\n  i: {type: INTEGRATOR}\n  z: {type: CONSTANT, value: 0.0}" if states else ""
    wires = WIRES.get(kind, "") + "j -> stop" + (", z -> i" if states else "")
    text = (
        f"clocks: {{c: {{T: 0.5}}}}\nblocks:\n  {blocks}\n  stop: {{type: STOP}}{more}\n"
        f"wires: [{wires}]\n"
    )
    results = sb.simulate(load(text), engine=engine, T=3)
    assert results.final_state.t == pytest.approx(time, abs=1e-9)
    assert results.t[-1] == results.final_state.t
    assert "stopped by block stop" in results.stopped


@pytest.mark.parametrize("solver", ["RK45", "LSODA", "RK4", "heun", "euler", "CVODES"])
def test_stops_that_rounding_parts_are_no_obstacle(load, engine, solver):
    if engine == "interpreter" and solver == "CVODES":
        return
    text = """
clocks: {k: {T: 0.1}}
blocks:
  w: {type: WAVEFORM, wave: square, freq: 2.5}
  z: {type: ZOH, clock: k}
  i: {type: INTEGRATOR}
wires: [w -> z, z -> i]
"""
    results = sb.simulate(load(text), engine=engine, solver=solver, max_step=0.01, T=2)
    assert results.complete
    assert np.abs(results["i"]).max() < 0.5


def test_an_interrupt_in_the_compiled_loop_leaves_states_of_one_time(load, monkeypatch):
    text = "clocks: {c: {T: 0.01}}\nblocks:\n  i: {type: INTEGRATOR}\n  z: {type: ZOH, clock: c}\n"
    text += "  one: {type: CONSTANT, value: 1.0}\nwires: [one -> i, i -> z]\n"
    monkeypatch.setattr("spart_blocks.run.run.STEPS_A_REPORT", 1000)
    calls = []

    def interrupt(t, end):
        calls.append(t)
        if len(calls) == 3:
            raise KeyboardInterrupt

    part = sb.simulate(load(text), T=100, engine="native", progress=interrupt)
    assert not part.complete
    state = part.final_state
    assert state.continuous["i"][0] == pytest.approx(state.t, rel=1e-12)
    rest = sb.simulate(load(text), T=100, engine="native", initial=part)
    assert rest["i"][-1] == pytest.approx(100, rel=1e-12)
    assert rest.final_state.ticks == {"0.01+0.0": 10001}


def test_a_function_cannot_write_into_a_signal(tmp_path):
    bd = sb.new_diagram("greedy")
    integrator = bd.INTEGRATOR(x0=[1.0, 2.0], name="i")
    greedy = bd.FUNCTION(lambda x: x.__setitem__(0, 9.0) or -x, name="greedy")
    bd.connect(integrator, greedy)
    bd.connect(greedy, integrator)
    with pytest.raises(sb.RunError, match=r"block greedy.*read-only"):
        sb.simulate(bd, T=1, engine="interpreter")


def test_wrong_initial_states_are_refused(load):
    for value in ("abc", [np.nan], [1.0, 2.0]):
        with pytest.raises(sb.InputError, match="initial of x"):
            sb.simulate(load(OSCILLATOR), T=1, initial={"x": value})


def test_labels_that_do_not_fit_a_scope_are_refused(load):
    text = "blocks: {c: {type: CONSTANT, value: [1, 2, 3]}, s: {type: SCOPE, labels: [a, b]}}\n"
    with pytest.raises(sb.DiagramError, match="2 labels for 3 lines"):
        sb.simulate(load(text + "wires: [c -> s]\n"), T=1)


def test_the_adaptive_method_is_scipys():
    from scipy.integrate import RK45

    ours = tableau("RK45")
    for got, want in ((ours.A[:6, :5], RK45.A), (ours.A[6, :6], RK45.B), (ours.b[:6], RK45.B),
                      (ours.c[:6], RK45.C), (ours.e, RK45.E)):  # fmt: skip
        np.testing.assert_array_equal(got, want)
    for theta in (0.1, 0.5, 0.93, 1.0):
        weights = RK45.P @ theta ** np.arange(1, 5)
        np.testing.assert_allclose(ours.dense_weights(theta), weights, rtol=1e-13, atol=1e-15)


@pytest.mark.parametrize("solver", ["RK45", "Radau", "CVODES", "Adams"])
def test_no_step_is_longer_than_max_step(load, solver):
    ready = load(SWITCHED)
    steps = [
        sb.simulate(ready, solver=solver, T=3, every=3, max_step=longest).info["steps"]
        for longest in (None, 0.01)
    ]
    assert steps[0] < 200
    assert 300 <= steps[1] < 600
