"""At its tick k a sampled block shows y_k = g(x_k, u_k) to every reader, held to tick k + 1, and
then x_{k+1} = f(x_k, u_k), as Simulink has it; in bdsim's manner y_k = g(x_{k+1})."""

from __future__ import annotations

import numpy as np
import pytest
from bdsim.components import SampledBlock
from scipy.linalg import expm
from scipy.signal import tf2ss

import spart_blocks as sb

TIGHT = {"rtol": 1e-11, "atol": 1e-13}
PERIOD = 0.05  # s
JUMP = 0.25  # s, a tick
CONTROLLERS = {
    "PI": ([1.2, -1.14], [1.0, -1.0]),
    "lead": ([4.0, -3.8], [1.0, -0.6]),
    "without feed-through": ([0.4], [1.0, -0.6]),
}
LAG = np.array([[-0.7]]), np.array([1.5])
DOUBLE = np.array([[0.0, 1.0], [0.0, 0.0]]), np.array([0.0, 1.0])
PLANTS = {"lag": LAG, "double integrator": DOUBLE}


class Discrete:
    """D(z), in Simulink's order: the output of the tick, then the state."""

    def __init__(self, numerator, denominator):
        self.A, self.B, self.C, self.D = tf2ss(numerator, denominator)
        self.x = np.zeros(len(self.A))

    def output(self, u):
        return float((self.C @ self.x)[0] + self.D[0, 0] * u)

    def update(self, u):
        self.x = self.A @ self.x + self.B[:, 0] * u


def flow(plant, T):
    """The map (x, u) -> x over T, u held."""
    A, B = plant
    n = len(A)
    whole = expm(np.block([[A, B[:, None]], [np.zeros((1, n + 1))]]) * T)
    return whole[:n, :n], whole[:n, n]


def closed_form(controller, plant, ticks, period=PERIOD):
    """The plant's first state and the controller's output at each tick; a step of one comes
    at JUMP."""
    Phi, Gamma = flow(plant, period)
    D, x, found = Discrete(*controller), np.zeros(len(Phi)), []
    for k in range(ticks):
        e = (k >= round(JUMP / period)) - x[0]
        y = D.output(e)
        found.append((x[0], y))
        D.update(e)
        x = Phi @ x + Gamma * y
    return np.array(found).T


@pytest.fixture
def looped(diagram, wire):
    """looped(controller, plant): D(z) in a loop with a plant."""

    def make(controller, plant=DOUBLE, **clock):
        bd = diagram()
        bd.STEP(T=JUMP, name="r")
        bd.SUM("+-", name="e")
        bd.LTI_SISO_S(bd.clock(PERIOD, **clock), *map(list, controller), name="D")
        A, B = plant
        bd.LTI_SS(A=A, B=B[:, None], C=np.eye(len(A))[:1], x0=np.zeros(len(A)), name="x")
        wire(bd, "r -> e.0", "x -> e.1", "e -> D", "D -> x")
        return bd

    return make


def run(simulate, bd, **options):
    given = {"T": 4, "every": PERIOD, "log": ["x", "D"], **TIGHT, **options}
    return simulate(bd, **given)


# --- one controller before a plant ----------------------------------------------------------


@pytest.mark.parametrize("plant", PLANTS)
@pytest.mark.parametrize("controller", CONTROLLERS)
def test_a_controller_before_a_plant_is_the_exact_sampled_loop(controller, plant, looped, simulate):
    results = run(simulate, looped(CONTROLLERS[controller], PLANTS[plant]))
    x, y = closed_form(CONTROLLERS[controller], PLANTS[plant], len(results.t))
    np.testing.assert_allclose(np.ravel(results["x"]), x, rtol=0, atol=1e-10)
    np.testing.assert_allclose(np.ravel(results["D"]), y, rtol=0, atol=1e-9)


@pytest.mark.parametrize("solver", ["RK4", "RK45", "DOP853", "CVODES", "Radau"])
@pytest.mark.parametrize("compiler", ["", "none"])
def test_every_solver_sees_the_held_output(solver, compiler, looped, monkeypatch):
    if compiler:
        monkeypatch.setenv("SPART_COMPILER", compiler)
    options = {"rtol": 1e-10, "atol": 1e-12, "solver": solver, "engine": "native"}
    if solver == "RK4":
        options["max_step"] = 0.005
    lead = CONTROLLERS["lead"]
    results = run(sb.simulate, looped(lead), **options)
    x, y = closed_form(lead, DOUBLE, len(results.t))
    np.testing.assert_allclose(np.ravel(results["x"]), x, rtol=0, atol=1e-7)
    np.testing.assert_allclose(np.ravel(results["D"]), y, rtol=0, atol=1e-6)


def test_between_two_ticks_it_does_not_move(looped, simulate):
    results = run(simulate, looped(CONTROLLERS["lead"]), every=PERIOD / 10)
    D = np.ravel(results["D"])[: 10 * 79].reshape(-1, 10)
    np.testing.assert_array_equal(D, D[:, :1] * np.ones(10))
    assert (np.diff(D[:, 0]) != 0).sum() > 60  # but at the ticks


def test_bdsims_way_follows_the_input(looped, simulate):
    lead = CONTROLLERS["lead"]
    results = run(simulate, looped(lead), every=PERIOD / 10, first_tick="bdsim")
    x, D = np.ravel(results["x"]), np.ravel(results["D"])
    assert (np.diff(D) != 0).sum() > 700
    held, _ = closed_form(lead, DOUBLE, 81)
    assert 0.05 < np.abs(x[::10] - held).max() < 0.5
    assert "notes" not in results.info
    assert list(results.final_state.discrete) == ["D"]


def test_an_output_without_end_of_feed_through_is_the_limit_of_those_with_it(looped, simulate):
    # No sample more or less of delay where D goes to zero.
    without = run(simulate, looped(([0.0, 0.4], [1.0, -0.6])))
    nearly = run(simulate, looped(([1e-9, 0.4], [1.0, -0.6])))
    np.testing.assert_allclose(without["x"], nearly["x"], rtol=0, atol=1e-7)


# --- several --------------------------------------------------------------------------------


def test_a_chain_on_one_clock_has_no_delay_within(diagram, wire, simulate):
    first, second = CONTROLLERS["lead"], ([1.5, -1.0], [1.0, 0.2])
    bd = diagram()
    clock = bd.clock(PERIOD)
    bd.STEP(T=JUMP, name="r")
    bd.SUM("+-", name="e")
    bd.LTI_SISO_S(clock, *map(list, second), name="D2")
    bd.LTI_SISO_S(clock, *map(list, first), name="D1")
    bd.GAIN(0.5, name="half")
    bd.LTI_SS(A=LAG[0], B=LAG[1][:, None], C=np.eye(1), x0=[0.0], name="x")
    wire(bd, "r -> e.0", "x -> e.1", "e -> D1", "D1 -> half", "half -> D2", "D2 -> x")
    results = simulate(bd, T=3, every=PERIOD, log=["x", "D1", "D2"], **TIGHT)
    Phi, Gamma = flow(LAG, PERIOD)
    D1, D2, x = Discrete(*first), Discrete(*second), 0.0
    for k in range(len(results.t)):
        e = (k >= 5) - x
        y1 = D1.output(e)
        y2 = D2.output(0.5 * y1)
        got = [results[name].ravel()[k] for name in ("x", "D1", "D2")]
        np.testing.assert_allclose(got, [x, y1, y2], rtol=0, atol=1e-9, err_msg=f"tick {k}")
        D1.update(e)
        D2.update(0.5 * y1)
        x = Phi[0, 0] * x + Gamma[0] * y2


@pytest.mark.parametrize("compiler", ["", "none"])
@pytest.mark.parametrize("periods", [(0.05, 0.1), (0.1, 0.05), (0.1, 0.1), (0.05, 0.15)])
def test_what_ticks_together_hands_over_the_value_of_the_tick(
    periods, compiler, diagram, wire, simulate, monkeypatch
):
    if compiler:
        monkeypatch.setenv("SPART_COMPILER", compiler)
    first, second = CONTROLLERS["lead"], ([1.5, -1.0], [1.0, 0.2])
    bd = diagram()
    bd.TIME(name="t")
    bd.FUNCTION(lambda t: np.sin(3 * t), name="u")
    clocks = [bd.clock(period, name=f"c{k}") for k, period in enumerate(periods)]
    bd.LTI_SISO_S(clocks[0], *map(list, first), name="D1")
    bd.LTI_SISO_S(clocks[1], *map(list, second), name="D2")
    bd.ZOH(clocks[0], x0=0, name="last")
    bd.INTEGRATOR(x0=0.0, name="x")
    wire(bd, "t -> u", "u -> D1", "D1 -> D2", "D2 -> last, x")
    results = simulate(bd, T=2, every=0.05, log=["D1", "D2", "last"], **TIGHT)
    D1, D2, y1, y2, last = Discrete(*first), Discrete(*second), 0.0, 0.0, 0.0
    for k in range(len(results.t)):
        u = np.sin(3 * 0.05 * k)
        due = [k % round(period / 0.05) == 0 for period in periods]
        y1 = D1.output(u) if due[0] else y1
        y2 = D2.output(y1) if due[1] else y2
        last = y2 if due[0] else last
        got = [results[name].ravel()[k] for name in ("D1", "D2", "last")]
        np.testing.assert_allclose(got, [y1, y2, last], rtol=0, atol=1e-12, err_msg=f"{k}")
        if due[0]:
            D1.update(u)
        if due[1]:
            D2.update(y1)


def test_what_a_hold_has_sampled_goes_on_without_more_delay(diagram, wire, simulate):
    # A sampler before D(z), as one puts it in Simulink: the same loop as without.
    lead = CONTROLLERS["lead"]
    bd = diagram()
    clock = bd.clock(PERIOD)
    bd.STEP(T=JUMP, name="r")
    bd.SUM("+-", name="e")
    bd.ZOH(clock, x0=0, name="sampler")
    bd.LTI_SISO_S(clock, *map(list, lead), name="D")
    bd.LTI_SS(A=DOUBLE[0], B=DOUBLE[1][:, None], C=np.eye(2)[:1], x0=np.zeros(2), name="x")
    wire(bd, "r -> e.0", "x -> e.1", "e -> sampler", "sampler -> D", "D -> x")
    results = run(simulate, bd)
    x, _ = closed_form(lead, DOUBLE, len(results.t))
    np.testing.assert_allclose(np.ravel(results["x"]), x, rtol=0, atol=1e-10)


def test_a_hold_after_it_changes_nothing(diagram, wire, simulate):
    lead = CONTROLLERS["lead"]
    bd = diagram()
    clock = bd.clock(PERIOD)
    bd.STEP(T=JUMP, name="r")
    bd.SUM("+-", name="e")
    bd.LTI_SISO_S(clock, *map(list, lead), name="D")
    bd.ZOH(clock, x0=0, name="hold")
    bd.LTI_SS(A=DOUBLE[0], B=DOUBLE[1][:, None], C=np.eye(2)[:1], x0=np.zeros(2), name="x")
    wire(bd, "r -> e.0", "x -> e.1", "e -> D", "D -> hold", "hold -> x")
    results = run(simulate, bd)
    x, _ = closed_form(lead, DOUBLE, len(results.t))
    np.testing.assert_allclose(np.ravel(results["x"]), x, rtol=0, atol=1e-10)


def test_an_integrator_and_a_derivative_are_those_of_their_equations(diagram, wire, simulate):
    bd = diagram()
    clock = bd.clock(0.1)
    bd.TIME(name="t")
    bd.FUNCTION(lambda t: t * t, name="u")
    bd.INTEGRATOR_S(clock, x0=2.0, name="sum")
    bd.DERIV_S(clock, x0=0.0, name="rate")
    wire(bd, "t -> u", "u -> sum, rate")
    results = simulate(bd, T=1, every=0.1, log=["sum", "rate"])
    u = (0.1 * np.arange(11)) ** 2
    # y_k = x_k, x_{k+1} = x_k + T u_k; y_k = (u_k - u_{k-1}) / T.
    sums = 2.0 + 0.1 * np.concatenate([[0.0], np.cumsum(u)[:-1]])
    np.testing.assert_allclose(np.ravel(results["sum"]), sums, atol=1e-14)
    rates = np.diff(u, prepend=0.0) / 0.1
    np.testing.assert_allclose(np.ravel(results["rate"]), rates, atol=1e-13)


@pytest.mark.parametrize("structure", ["parallel", "series", "ideal"])
def test_a_pid_is_held_as_a_whole(structure, diagram, wire, simulate):
    P, I, D, T = 2.0, 1.5, 0.3, 0.05
    bd = diagram()
    bd.STEP(T=JUMP, name="r")
    bd.INTEGRATOR(x0=0.0, name="x")
    bd.PID_S(bd.clock(T), P=P, I=I, D=D, structure=structure, name="pid")
    wire(bd, "x -> pid.0", "r -> pid.1", "pid -> x")
    results = simulate(bd, T=3, every=T, log=["x", "pid"], **TIGHT)
    x = total = last = 0.0
    for k in range(len(results.t)):
        e = (k >= 5) - x
        if structure == "parallel":
            y, inner, seen = P * e + total + D * (e - last) / T, e, e
        elif structure == "ideal":
            inner = seen = P * e
            y = inner + total + D * (seen - last) / T
        else:
            inner = P * e
            seen = inner + total
            y = seen + D * (seen - last) / T
        got = [results[name].ravel()[k] for name in ("x", "pid")]
        np.testing.assert_allclose(got, [x, y], rtol=0, atol=1e-9, err_msg=f"tick {k}")
        total, last, x = total + I * T * inner, seen, x + T * y


class Filter(SampledBlock):
    """Two outputs that feed through: a matrix and a number."""

    nin = 1
    nout = 2

    def __init__(self, clock, **blockargs):
        super().__init__(clock=clock, x0=[0.0, 0.0], feedthrough=True, nin=1, nout=2, **blockargs)

    def output(self, t, inputs, x):
        u = inputs[0]
        return [np.stack([x, u * np.ones(2)]), x[0] + 2 * u]

    def next(self, t, inputs, x):
        return np.array([0.5 * x[0] + inputs[0], x[0]])


def test_a_block_of_ones_own_that_feeds_through_is_held(diagram, wire, simulate):
    bd = diagram()
    bd.TIME(name="t")
    Filter(bd.clock(0.25), name="own", bd=bd)
    wire(bd, "t -> own")
    results = simulate(bd, T=1, every=0.05, log=["own.0", "own.1"])
    x, want = np.zeros(2), []
    for k in range(5):
        u = 0.25 * k
        want += [(np.stack([x, u * np.ones(2)]), x[0] + 2 * u)] * 5
        x = np.array([0.5 * x[0] + u, x[0]])
    for k, (matrix, number) in enumerate(want[:21]):
        np.testing.assert_allclose(results["own.0"][k], matrix, atol=1e-14)
        assert results["own.1"][k] == pytest.approx(number, abs=1e-14)


def test_blocks_without_direct_feedthrough_show_the_value_of_their_tick(diagram, wire, simulate):
    bd = diagram()
    clock = bd.clock(0.25)
    bd.TIME(name="t")
    bd.UNIT_DELAY(clock, name="one")
    bd.UNIT_DELAY(clock, name="two", N=2)
    bd.RATE_LIMITER_S(clock, rising=0.4, name="limited")
    bd.ZOH(clock, name="hold")
    bd.ZOH(clock, name="again")
    wire(bd, "t -> one, two, limited, hold", "hold -> again")
    results = simulate(bd, T=1, every=0.25, log=["one", "two", "limited", "hold", "again"])
    np.testing.assert_allclose(np.ravel(results["one"]), [0, 0, 0.25, 0.5, 0.75])
    np.testing.assert_allclose(np.ravel(results["two"]), [0, 0, 0, 0.25, 0.5])
    np.testing.assert_allclose(np.ravel(results["limited"]), [0, 0.1, 0.2, 0.3, 0.4])
    np.testing.assert_allclose(np.ravel(results["hold"]), [0, 0.25, 0.5, 0.75, 1.0])
    np.testing.assert_array_equal(results["again"], results["hold"])


def test_a_unit_delay_in_a_loop_delays_by_a_period(diagram, wire, simulate):
    bd = diagram()
    bd.STEP(T=0, name="r")
    bd.SUM("+-", name="e")
    bd.GAIN(8.0, name="k")
    bd.UNIT_DELAY(bd.clock(0.1), name="delay")
    bd.INTEGRATOR(name="x")
    wire(bd, "r -> e.0", "x -> e.1", "e -> k", "k -> delay", "delay -> x")
    results = simulate(bd, T=0.5, every=0.1, log=["x"], **TIGHT)
    want = [0, 0, 0.8, 1.6, 1.76, 1.28]
    np.testing.assert_allclose(np.ravel(results["x"]), want, rtol=0, atol=1e-9)


@pytest.mark.parametrize("limited", [False, True])
def test_what_reads_a_delay_alone_is_held_all_the_same(limited, diagram, wire, simulate):
    """UNIT_DELAY -> a gain on the clock -> plant: the plant sees u_{k-1}, whatever is between."""
    bd = diagram()
    clock = bd.clock(0.1)
    bd.TIME(name="t")
    bd.UNIT_DELAY(clock, name="delay")
    bd.STATE_SPACE_S(clock, A=[[0.0]], B=[[0.0]], C=[[0.0]], D=[[2.0]], name="gain")
    bd.RATE_LIMITER_S(clock, rising=1e6, name="limiter")
    bd.INTEGRATOR(name="x")
    way = ("gain -> limiter", "limiter -> x") if limited else ("gain -> limiter, x",)
    wire(bd, "t -> delay", "delay -> gain", *way)
    results = simulate(bd, T=0.5, every=0.1, log=["x", "gain"], **TIGHT)
    np.testing.assert_allclose(np.ravel(results["gain"]), [0, 0, 0.2, 0.4, 0.6, 0.8], atol=1e-14)
    np.testing.assert_allclose(np.ravel(results["x"]), [0, 0, 0, 0.02, 0.06, 0.12], atol=1e-12)


@pytest.mark.parametrize("periods", [(0.1, 0.2), (0.2, 0.1), (0.1, 0.1)])
def test_blocks_in_bdsims_manner_hand_over_between_clocks(periods, diagram, wire, simulate):
    first, second = periods
    bd = diagram()
    bd.TIME(name="t")
    bd.ZOH(bd.clock(first, name="one"), name="a")
    bd.RATE_LIMITER_S(bd.clock(second, name="two"), rising=1.0, name="b")
    bd.UNIT_DELAY(bd.clock(0.1, name="three"), name="c")
    wire(bd, "t -> a", "a -> b", "b -> c")
    results = simulate(bd, T=1, every=0.1, log=["a", "b", "c"])
    a = b = c = before = 0.0
    for k in range(11):
        a = 0.1 * k if k % round(first / 0.1) == 0 else a
        if k % round(second / 0.1) == 0:
            b = b + min(a - b, second)
        c, before = before, b
        got = [results[name].ravel()[k] for name in "abc"]
        np.testing.assert_allclose(got, [a, b, c], rtol=0, atol=1e-12, err_msg=f"tick {k}")


# --- the start, the end, loops -----------------------------------------------------------------


def test_before_the_first_tick_nothing_feeds_through(diagram, wire, simulate):
    bd = diagram()
    clock = bd.clock(0.5, offset=0.2)
    bd.CONSTANT(3.0, name="u")
    bd.LTI_SISO_S(clock, [2.0, 1.0], [1.0, -0.5], name="D")
    bd.INTEGRATOR_S(clock, x0=4.0, name="sum")
    wire(bd, "u -> D, sum")
    results = simulate(bd, T=0.8, every=0.1, log=["D", "sum"])
    np.testing.assert_allclose(np.ravel(results["D"]), [0, 0, 6, 6, 6, 6, 6, 12, 12], atol=1e-12)
    np.testing.assert_allclose(np.ravel(results["sum"]), [4.0] * 7 + [5.5] * 2, atol=1e-12)
    moved = simulate(bd, T=0.8, every=0.1, log=["sum"], initial={"sum": 1.0})
    np.testing.assert_allclose(np.ravel(moved["sum"]), [1.0] * 7 + [2.5] * 2, atol=1e-12)


@pytest.mark.parametrize("at", [1.0, 1.02])
def test_a_run_split_in_two_is_one_run(at, looped, simulate, tmp_path):
    lead = CONTROLLERS["lead"]
    whole = run(simulate, looped(lead))
    first = run(simulate, looped(lead), T=at, every=0.01)
    assert set(first.final_state.discrete) == {"D", "D.held"}
    for start in (first, first.save(tmp_path / "half.npz")):
        second = run(simulate, looped(lead), initial=start)
        assert second["x"][-1] == pytest.approx(whole["x"][-1], abs=1e-11)
        for name in ("D", "D.held"):
            np.testing.assert_allclose(
                second.final_state.discrete[name], whole.final_state.discrete[name], atol=1e-9
            )


def test_a_run_goes_on_from_one_that_did_not_hold(looped, simulate):
    lead = CONTROLLERS["lead"]
    first = run(simulate, looped(lead), T=1.02, every=0.01, first_tick="bdsim")
    second = run(simulate, looped(lead), initial=first.final_state, every=0.01, T=1.08)
    D = np.ravel(second["D"])
    np.testing.assert_allclose(D[:3], np.ravel(first["D"])[-1], rtol=1e-9)
    assert D[3] != D[2]  # the tick at 1.05 s


def test_an_event_leaves_what_is_held(diagram, wire):
    def reset(event, states):
        states["x"] = 0.5 * states["x"]

    bd = diagram()
    bd.CONSTANT(1.0, name="r")
    bd.SUM("+-", name="e")
    bd.LTI_SISO_S(bd.clock(0.1), [2.0, -1.0], [1.0, -0.5], name="D")
    bd.INTEGRATOR(x0=0.0, name="x")
    bd.FUNCTION(lambda x: x - 0.45, name="level")
    bd.EVENT("+", reset, name="event")
    wire(bd, "r -> e.0", "x -> e.1", "e -> D", "D -> x", "x -> level", "level -> event")
    options = {"T": 1, "every": 0.01, "log": ["x", "D"], **TIGHT}
    blocks = sb.simulate(bd, engine="interpreter", **options)
    assert len(blocks.events) > 1
    for other in (
        sb.simulate(bd, engine="native", **options),
        sb.simulate(sb.trace(bd), **options),
    ):
        np.testing.assert_allclose(other["x"], blocks["x"], atol=1e-8)
        np.testing.assert_allclose(other["D"], blocks["D"], atol=1e-8)


def test_a_loop_of_what_feeds_through_is_still_refused(diagram, wire, simulate):
    bd = diagram()
    bd.LTI_SISO_S(bd.clock(0.1), [1.0, 2.0], [1.0, -0.5], name="D")
    bd.GAIN(0.5, name="K")
    wire(bd, "D -> K", "K -> D")
    with pytest.raises(sb.DiagramError, match=r"algebraic loop: .*D .LTI_SISO_S."):
        simulate(bd, T=1)


def test_a_loop_through_a_unit_delay_has_its_one_delay(diagram, wire, simulate):
    bd = diagram()
    clock = bd.clock(0.1)
    bd.STEP(T=0.05, name="r")
    bd.SUM("+-", name="e")
    bd.LTI_SISO_S(clock, [0.5, 0.1], [1.0, -0.5], name="D")
    bd.UNIT_DELAY(clock, name="last")
    wire(bd, "r -> e.0", "last -> e.1", "e -> D", "D -> last")
    results = simulate(bd, T=2, every=0.1, log=["D"])
    D, y = Discrete([0.5, 0.1], [1.0, -0.5]), 0.0
    for k in range(21):
        e = (k > 0) - y
        y = D.output(e)
        assert results["D"].ravel()[k] == pytest.approx(y, abs=1e-13)
        D.update(e)


def test_a_loop_of_holds_is_an_algebraic_loop_that_says_so(diagram, wire, simulate):
    bd = diagram()
    bd.STEP(T=0.05, name="r")
    bd.SUM("+-", name="e")
    bd.ZOH(bd.clock(0.1), name="hold")
    wire(bd, "r -> e.0", "hold -> e.1", "e -> hold")
    with pytest.raises(sb.DiagramError, match=r"algebraic loop: .*hold .ZOH.") as error:
        simulate(bd, T=1)
    assert "such as INTEGRATOR, UNIT_DELAY or the plant" in str(error.value)
    simulate(bd, T=1, first_tick="bdsim")


# --- what is said of it ------------------------------------------------------------------------


def test_a_line_names_what_is_held_and_the_other_way(looped, simulate):
    results = run(simulate, looped(CONTROLLERS["PI"]), T=1)
    assert results.info["notes"] == (
        "D (LTI_SISO_S) holds its output from tick to tick, as in Simulink; "
        "bdsim's way is run: {first_tick: bdsim}"
    )
    assert f"note: {results.info['notes']}" in results.summary().splitlines()


def test_a_linear_system_is_the_exact_map_of_a_period(looped):
    numerator, denominator = CONTROLLERS["lead"]
    system = sb.linearize(looped((numerator, denominator)), inputs="r", outputs=["x", "D"])
    Phi, Gamma = flow(DOUBLE, PERIOD)
    A, B, C, D = tf2ss(numerator, denominator)
    c, b, d = C[0], B[:, 0], D[0, 0]
    first = np.array([1.0, 0.0])
    want = np.block(
        [[Phi - d * np.outer(Gamma, first), np.outer(Gamma, c)], [-np.outer(b, first), A]]
    )
    assert system.states == ("x[0]", "x[1]", "D")
    np.testing.assert_allclose(system.A, want, atol=1e-14)
    np.testing.assert_allclose(system.B[:, 0], [*(Gamma * d), *b], atol=1e-14)
    np.testing.assert_allclose(system.C, [[1, 0, 0], [-d, 0, *c]], atol=1e-14)
    np.testing.assert_allclose(system.D, [[0], [d]], atol=1e-14)


def test_a_point_of_rest_has_its_held_outputs(diagram, wire):
    bd = diagram()
    bd.CONSTANT(1.0, name="r")
    bd.SUM("+-", name="e")
    bd.LTI_SISO_S(bd.clock(0.1), [2.0, -1.0], [1.0, -0.5], name="D")
    bd.LTI_SISO([1.5], [1.0, 0.7], name="x")
    wire(bd, "r -> e.0", "x -> e.1", "e -> D", "D -> x")
    found = sb.trim(bd, unknowns=["x", "D"])
    results = sb.simulate(bd, initial=found.states, T=2, log=["x", "D"])
    assert np.ptp(results["x"]) < 1e-10
    assert np.ptp(results["D"]) < 1e-9
    assert results["x"][0] == pytest.approx(2 * 1.5 / 0.7 / (1 + 2 * 1.5 / 0.7), rel=1e-9)
