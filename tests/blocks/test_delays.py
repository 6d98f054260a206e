"""UNIT_DELAY and TRANSPORT_DELAY: what comes out when, on both engines."""

from __future__ import annotations

import json

import numpy as np
import pytest

import spart_blocks as sb
from spart_blocks.base.errors import InputError

ENGINES = ("interpreter", "native")


@pytest.fixture
def diagram(bdsim_runtime):
    return bdsim_runtime.blockdiagram(name="delays")


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("N", [1, 5])
def test_a_unit_delay_gives_the_sample_of_n_ticks_before(diagram, engine, N):
    bd, clock = diagram, diagram.clock(0.25, name="clock")
    delay = bd.UNIT_DELAY(clock, initial=-7.0, N=N, name="delay")
    after = bd.ZOH(clock, name="after")  # what a block on the clock reads at a tick
    bd.connect(bd.TIME(name="time"), delay)
    bd.connect(delay, after)
    results = sb.simulate(bd, T=3.0, engine=engine, every=0.125, log=["delay", "after"])
    tick = np.floor(results.t / 0.25)
    for name in ("delay", "after"):
        want = np.where(tick < N, -7.0, (tick - N) * 0.25)
        np.testing.assert_array_equal(results[name], want)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("kind", ["UNIT_DELAY", "TRANSPORT_DELAY"])
@pytest.mark.parametrize(
    ("initial", "shape", "signal"),
    [
        (0.5, None, 2.0),
        ([0.5], None, [2.0]),
        (np.eye(2), None, [[1.0, 2.0], [3.0, 4.0]]),
        (0.0, [2, 3], np.arange(6.0).reshape(2, 3)),
    ],
)
def test_delays_carry_signals_of_any_shape(diagram, engine, kind, initial, shape, signal):
    clock = diagram.clock(0.5, name="clock")
    given = {"delay": 0.5} if kind == "TRANSPORT_DELAY" else {}
    delay = getattr(diagram, kind)(clock, initial=initial, shape=shape, name="delay", **given)
    diagram.connect(diagram.CONSTANT(np.array(signal), name="signal"), delay)
    results = sb.simulate(diagram, T=1.0, engine=engine, every=0.25, log=["delay"])
    first = np.broadcast_to(initial, np.shape(signal))
    for k, want in enumerate([first, first, signal, signal, signal]):
        np.testing.assert_array_equal(results["delay"][k], want)


def sine_of(diagram, delay, T, interpolation, engine="native", offset=0.0, phase=0.0):
    """t, and a sine of t + phase behind a delay."""
    bd = diagram
    clock = bd.clock(T, offset=offset, name="clock")
    block = bd.TRANSPORT_DELAY(clock, delay, -3.0, interpolation=interpolation, name="delay")
    wave = bd.WAVEFORM("sine", freq=1 / (2 * np.pi), phase=-phase / (2 * np.pi), name="wave")
    bd.connect(wave, block)
    results = sb.simulate(bd, T=6.0, engine=engine, every=0.0173, log=["delay"])
    return results.t, results["delay"]


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("delay", [0.3, 1.234])
@pytest.mark.parametrize(("interpolation", "bound"), [("linear", 1 / 8), ("cubic", 3 / 128)])
def test_a_delayed_sine_is_within_the_bound_of_its_interpolation(
    diagram, engine, delay, interpolation, bound
):
    T, offset = 0.1, 0.03
    t, got = sine_of(diagram, delay, T, interpolation, engine, offset)
    start = offset + delay
    np.testing.assert_array_equal(got[t < start - 1e-9], -3.0)
    # The first interval of all is a line.
    later = t > start + (T if interpolation == "cubic" else 0) + 1e-9
    error = np.abs(got - np.sin(t - delay))[later].max()
    order = {"linear": 2, "cubic": 4}[interpolation]
    assert error <= bound * T**order
    assert error > bound * T**order / 2


@pytest.mark.parametrize(("interpolation", "order"), [("linear", 2), ("cubic", 4)])
def test_the_error_falls_with_the_order_of_the_interpolation(bdsim_runtime, interpolation, order):
    errors = []
    for T in (0.2, 0.1, 0.05):
        t, got = sine_of(bdsim_runtime.blockdiagram(name="d"), 0.43, T, interpolation)
        errors.append(np.abs(got - np.sin(t - 0.43))[t > 0.43 + 0.2].max())
    np.testing.assert_allclose(-np.diff(np.log2(errors)), order, atol=0.2)


@pytest.mark.parametrize("engine", ENGINES)
def test_a_loop_with_a_delay_follows_the_method_of_steps(diagram, engine):
    """x' = -x(t - 1) with x = 1 before: 1 - t, then 1 - t + (t - 1)^2 / 2. Lines are exact on
    the first; the clock's period is no divisor of the delay."""
    bd = diagram
    delay = bd.TRANSPORT_DELAY(bd.clock(0.03, name="clock"), 1.0, 1.0, name="delay")
    x, minus = bd.INTEGRATOR(x0=1.0, name="x"), bd.GAIN(-1.0, name="minus")
    bd.connect(x, delay)
    bd.connect(delay, minus)
    bd.connect(minus, x)
    results = sb.simulate(bd, T=1.95, engine=engine, every=0.05, rtol=1e-9, atol=1e-12)
    t = results.t
    want = np.where(t < 1, 1 - t, 1 - t + (t - 1) ** 2 / 2)
    np.testing.assert_allclose(results["x"], want, atol=1e-9)


def test_a_run_in_two_parts_keeps_what_is_under_way(diagram):
    block = diagram.TRANSPORT_DELAY(diagram.clock(0.1, name="clock"), 0.75, name="delay")
    diagram.connect(diagram.TIME(name="time"), block)
    whole = sb.simulate(diagram, T=2.0, every=0.25, log=["delay"])
    half = sb.simulate(diagram, T=1.0, every=0.25, log=["delay"])
    rest = sb.simulate(diagram, T=2.0, every=0.25, log=["delay"], initial=half.final_state)
    np.testing.assert_array_equal(rest["delay"], whole["delay"][4:])


WRONG = {
    "delay must be at least its clock's period": ("TRANSPORT_DELAY", {"delay": 0.05}),
    "at least 2 periods": ("TRANSPORT_DELAY", {"delay": 0.1, "interpolation": "cubic"}),
    "delay must be finite": ("TRANSPORT_DELAY", {"delay": float("nan")}),
    "did you mean 'cubic'": ("TRANSPORT_DELAY", {"delay": 1.0, "interpolation": "cubik"}),
    "would hold 100,001 numbers": ("TRANSPORT_DELAY", {"delay": 1e4}),
    "initial must be finite": ("UNIT_DELAY", {"initial": float("inf")}),
    r"initial has shape \(2,\), shape says \(3,\)": (
        "UNIT_DELAY",
        {"initial": [1, 2], "shape": [3]},
    ),
    "would hold 10,000,000,000 numbers": ("UNIT_DELAY", {"shape": [1e5, 1e5]}),
    "shape must be whole numbers": ("UNIT_DELAY", {"shape": [1.5]}),
    "N must be a whole number": ("UNIT_DELAY", {"N": 0}),
}


@pytest.mark.parametrize("problem", WRONG)
def test_what_is_no_delay_is_refused(bdsim_runtime, diagram, problem):
    kind, given = WRONG[problem]
    with pytest.raises((ValueError, InputError), match=problem):
        bdsim_runtime._blocklibrary[kind]["class"](diagram.clock(0.1, name="clock"), **given)


def test_a_wire_of_another_shape_is_refused(bdsim_runtime, tmp_path):
    path = tmp_path / "delay.yaml"
    path.write_text("""
clocks: {c: {rate: 10}}
blocks:
  u: {type: CONSTANT, value: [1, 2, 3]}
  delay: {type: UNIT_DELAY, clock: c, initial: [0, 0]}
wires: [u -> delay]
run: {T: 1}
""")
    with pytest.raises(InputError, match=r"delay\.yaml:6.* u is \(3,\), delay\.u takes \(2,\)"):
        sb.simulate(path)


@pytest.mark.parametrize("kind", ["TRANSPORT_DELAY", "VARIABLE_DELAY"])
@pytest.mark.parametrize("engine", ["native", "interpreter"])
def test_a_delay_stands_still_while_its_subsystem_is_disabled(engine, kind, tmp_path):
    """u = t. The last tick before the pause is at 0.9 s: y stops at 0.7 and goes on from there."""
    fixed = kind == "TRANSPORT_DELAY"
    delay = {"type": kind, "clock": "c", **({"delay": 0.3} if fixed else {"max_delay": 1.0})}
    text = {
        "clocks": {"c": {"T": 0.1}},
        "subsystems": {"part": {
            "inputs": ["on", "u"], "outputs": ["y"], "enabled": {"by": "on", "states": "held"},
            "blocks": {"d": delay, "three": {"type": "CONSTANT", "value": 0.3}},
            "wires": ["in.u -> d.u", "d -> out.y", *([] if fixed else ["three -> d.delay"])]}},
        "blocks": {"clock": {"type": "TIME"}, "part": {"type": "part"}, "end": {"type": "NULL"},
                   "on": {"type": "FCN", "expression": "abs(u - 1.5) > 0.52"}},
        "wires": ["clock -> on, part.u", "on -> part.on", "part.y -> end"],
        "run": {"T": 2.6, "every": 0.05, "log": ["part/d"]},
    }  # fmt: skip
    (tmp_path / "d.yaml").write_text(json.dumps(text))
    results = sb.simulate(tmp_path / "d.yaml", engine=engine)
    t, y = results.t, np.ravel(results["part/d"])
    paused = (t > 1.01) & (t < 1.99)
    np.testing.assert_allclose(y[paused], 0.7, atol=1e-12)
    assert y[np.isclose(t, 2.25)][-1] == pytest.approx(0.85)
    assert y[-1] == pytest.approx(2.3)
