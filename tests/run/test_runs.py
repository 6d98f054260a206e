"""Runs: split and continued, started elsewhere, logged or not, interrupted."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest
import robots

import spart_blocks as sb
from spart_blocks.run import begin, finish

TIGHT = {"rtol": 1e-11, "atol": 1e-13, "solver": "DOP853"}


@pytest.fixture
def loop(diagram, wire):
    """A sampled controller, a plant, a filter with a state: every kind of state there is."""
    robot = robots.golden_robot("spart_sc_3dof")
    bd = diagram("loop")
    bd.STEP(T=0.33, on=np.array([0.2, -0.1, 0.1]), off=np.zeros(3), name="qd")
    bd.JOINT_PD(kp=4.0, kd=2.0, name="ctrl")
    bd.ZOH(bd.clock(0.05), x0=np.zeros(3), name="hold")
    bd.MULTIBODY(robot, initial={"qm": [0.1, 0, 0]}, name="plant")
    bd.INTEGRATOR(x0=np.zeros(3), name="sum")
    wire(
        bd,
        "qd -> ctrl.qd",
        "plant.qm -> ctrl.qm, sum",
        "plant.um -> ctrl.um",
        "ctrl -> hold",
        "hold -> plant.taum",
    )
    return bd


@pytest.mark.parametrize("split", [0.2, 0.33, 0.25, 0.4321])
def test_a_run_split_in_two_equals_one_run(split, loop, simulate, close):
    whole = simulate(loop, T=1, every=0.1, **TIGHT)
    first = simulate(loop, T=split, every=0.1, **TIGHT)
    rest = simulate(loop, T=1, every=0.1, initial=first, **TIGHT)
    assert split <= rest.t[0] < split + 0.1
    assert dict(rest.final_state.ticks) == dict(whole.final_state.ticks)
    for part in ("continuous", "discrete"):
        for name, value in getattr(whole.final_state, part).items():
            close(getattr(rest.final_state, part)[name], value, name, rel=1e-9)


def test_a_run_continues_from_a_file(loop, simulate, close, tmp_path):
    first = simulate(loop, T=0.5, **TIGHT)
    first.save(tmp_path / "half.npz")
    rest = simulate(loop, T=1, initial=tmp_path / "half.npz", **TIGHT)
    again = simulate(loop, T=1, initial=first.final_state, **TIGHT)
    close(rest.final_state.continuous["plant"], again.final_state.continuous["plant"], "plant")


def test_a_run_leaves_no_trace_in_the_diagram(loop, simulate):
    first, second = (simulate(loop, T=0.5) for _ in range(2))
    for name, value in first.final_state.continuous.items():
        np.testing.assert_array_equal(second.final_state.continuous[name], value)


def test_a_run_starts_where_a_mapping_says(loop, simulate, close):
    start = {
        "plant": {"qm": [0, 0.7, 0], "r0": [1, 2, 3]},
        "sum": [4, 5, 6],
        "hold": [0, 0, 0.1],
    }
    res = simulate(loop, T=0.2, initial=start)
    close(res["plant.qm"][0], [0, 0.7, 0])
    close(res["plant.r0"][0], [1, 2, 3])
    close(res["sum"][0], [4, 5, 6])
    assert res.t[0] == 0


@pytest.mark.parametrize(
    ("initial", "message"),
    [
        ({"plan": {"qm": [0, 0, 0]}}, "initial: no block 'plan' with a state\n  did you mean 'pl"),
        ({"sum": [1, 2]}, r"initial of sum has shape \(2,\), takes \(3,\)"),
        ({"sum": {"x": 1}}, "initial of sum must be a vector; only a plant takes entries"),
        ({"plant": {"qn": [0, 0, 0]}}, "initial has no entry 'qn'"),
        (42, "initial must be a final state, a file or a mapping, not 42"),
    ],
)
def test_a_wrong_start_says_what_is_wrong(initial, message, loop, interpret):
    with pytest.raises(sb.InputError, match=message):
        interpret(loop, T=0.1, initial=initial)


def test_a_run_cannot_end_before_it_starts(loop, interpret):
    first = interpret(loop, T=0.2)
    with pytest.raises(sb.SpartError, match=r"would end at T = 0.1 s, it starts at 0.2 s"):
        interpret(loop, T=0.1, initial=first)


def test_a_signal_that_was_not_kept_is_computed_when_asked_for(loop, simulate, close):
    plain = simulate(loop, T=0.6, every=0.05)
    logged = simulate(loop, T=0.6, every=0.05, log=["ctrl", "plant.R0", "plant.qm[0:2]"])
    assert "ctrl.tau" in logged
    assert "ctrl.tau" not in plain
    close(plain["ctrl"], logged["ctrl"], "ctrl", rel=1e-10)
    close(plain["plant.R0"], logged["plant.R0"], "R0")
    close(plain["plant.qm[0:2]"], logged["plant.qm"][:, :2], "qm")


def test_scopes_are_kept_without_asking(loop, wire, simulate):
    loop.SCOPE(nin=1, vector=3, name="scope")
    wire(loop, "plant.qm -> scope")
    res = simulate(loop, T=0.2)
    assert list(res) == ["plant.qm"]
    (scope,) = res.scopes
    assert (scope.name, scope.signals) == ("scope", ("plant.qm",))


def test_samples_are_every_interval_and_at_the_end(loop, simulate):
    res = simulate(loop, T=0.35, every=0.1)
    np.testing.assert_allclose(res.t, [0, 0.1, 0.2, 0.3, 0.35], atol=1e-15)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"t": 3}, "there is no run option 't'"),
        ({"rtoll": 1e-3}, "there is no run option 'rtoll'\n  did you mean 'rtol'"),
        ({"T": -1}, "run option T: Input should be greater than 0"),
        ({"T": float("nan")}, "run option T"),
        ({"solver": "RK99"}, "run option solver: Input should be '"),
        ({"log": ["plant.qmm"]}, "run.log: there is no signal 'plant.qmm'\n  did you mean"),
        ({"first_tick": "late"}, "run option first_tick"),
    ],
)
def test_a_wrong_option_says_what_is_right(options, message, loop, interpret):
    with pytest.raises(sb.InputError, match=message):
        interpret(loop, **{"T": 0.1, **options})


def test_there_are_three_engines(loop):
    with pytest.raises(sb.InputError, match="there is no engine 'fast'\n  engine is 'auto', 'na"):
        sb.simulate(loop, engine="fast")


def test_what_is_not_a_diagram_is_refused():
    with pytest.raises(sb.InputError, match="a diagram is a path, a loaded diagram or a bdsim"):
        sb.simulate({"blocks": []})


def test_an_interrupt_keeps_what_was_computed(loop, interpret):
    def press_ctrl_c(t, T):
        assert T == 10
        if t > 0.5:
            raise KeyboardInterrupt

    res = interpret(loop, T=10, every=0.05, progress=press_ctrl_c)
    assert not res.complete
    assert res.stopped.startswith("interrupted at t = 0.5")
    assert 0.4 < res.t[-1] < 0.7
    # It can go on from there.
    rest = interpret(loop, T=1, initial=res)
    assert rest.complete
    assert rest.final_state.t == 1


def test_progress_goes_from_start_to_end(loop, interpret):
    seen = []
    interpret(loop, T=0.5, progress=lambda t, T: seen.append((t, T)))
    times = [t for t, _ in seen]
    assert times == sorted(times)
    assert seen[-1] == (0.5, 0.5)


def test_units_and_short_names_come_with_the_results(loop, simulate):
    res = simulate(loop, T=0.1)
    assert res.units["plant.qm"] == "rad"  # all joints turn
    assert res.units["hold"] == "N m"  # as the plant reads it
    assert res.aliases["ctrl"] == "ctrl.tau"
    assert res.info["T"] == 0.1
    assert res.complete
    assert res.stopped is None


# --- subsystems ------------------------------------------------------------------------------


def oscillator(bd, wire, *, nested, make):
    """x'' = -4 x - 0.3 x', its spring within a subsystem within a subsystem, or not."""
    bd.INTEGRATOR(x0=1.0, name="x")
    bd.INTEGRATOR(x0=0.0, name="v")
    bd.GAIN(-0.3, name="damper")
    bd.SUM("++", name="force")
    if nested:
        inner = make("inner")
        inner.INPORT(1, name="in")
        inner.GAIN(-4.0, name="spring")
        inner.INTEGRATOR(x0=0.0, name="count")
        inner.OUTPORT(2, name="out")
        wire(inner, "in -> spring, count", "spring -> out.0", "count -> out.1")
        outer = make("outer")
        outer.INPORT(1, name="in")
        outer.SUBSYSTEM(inner, name="deep")
        outer.OUTPORT(2, name="out")
        wire(outer, "in -> deep", "deep.0 -> out.0", "deep.1 -> out.1")
        bd.SUBSYSTEM(outer, name="springs")
        bd.NULL(name="end")
        wire(bd, "x -> springs", "springs.0 -> force.1", "springs.1 -> end")
    else:
        bd.GAIN(-4.0, name="spring")
        bd.INTEGRATOR(x0=0.0, name="count")
        wire(bd, "x -> spring, count", "spring -> force.1")
    wire(bd, "v -> x, damper", "damper -> force.0", "force -> v")
    return bd


def test_subsystems_nested_two_deep_are_the_same_as_flat(diagram, wire, simulate, close):
    flat = simulate(oscillator(diagram(), wire, nested=False, make=diagram), T=3, **TIGHT)
    deep = simulate(oscillator(diagram(), wire, nested=True, make=diagram), T=3, **TIGHT)
    assert "springs/deep/count" in deep.final_state.continuous
    close(deep["x"], flat["x"], "x", rel=1e-9)
    close(deep["springs/deep/count"], flat["count"], "count", rel=1e-9)
    w = np.sqrt(4 - 0.15**2)
    want = np.exp(-0.15 * flat.t) * (np.cos(w * flat.t) + 0.15 / w * np.sin(w * flat.t))
    close(np.ravel(flat["x"]), want, "closed form", rel=1e-8)


def test_flattening_leaves_the_diagram_as_it_was(diagram, wire, interpret):
    bd = oscillator(diagram(), wire, nested=True, make=diagram)
    before = [block.name for block in bd.blocklist], len(bd.wirelist)
    interpret(bd, T=0.1)
    assert ([block.name for block in bd.blocklist], len(bd.wirelist)) == before


def test_samples_that_come_one_at_a_time_take_little_more_than_their_numbers(diagram, wire):
    # One kept signal of many: an array for each sample would keep the others alive.
    bd = diagram()
    bd.CONSTANT(1.0, name="one")
    bd.INTEGRATOR(x0=0.0, name="x")
    bd.SCOPE(name="scope")
    wire(bd, "one -> x", "x -> scope")
    for k in range(50):
        bd.GAIN(np.ones(20), name=f"g{k}")
        bd.NULL(name=f"n{k}")
        wire(bd, f"x -> g{k}", f"g{k} -> n{k}")
    run = begin(sb.trace(bd), T=1.0, every=1e-4, solver="DOP853")
    tracemalloc.start()
    try:
        results = finish(run)
        held, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert len(results.t) == 10_001
    assert held < 3 * 10_001 * 8 * 4  # t, the signal and the state are three numbers
