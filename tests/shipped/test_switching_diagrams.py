"""The diagrams of switching blocks show what theory says of them."""

from pathlib import Path

import numpy as np
import pytest

import spart_blocks as sb

SIGNALS = Path(__file__).parents[2] / "diagrams/signals"
TIGHT = {"rtol": 1e-10, "atol": 1e-12}

# Of thrusters.yaml: a double integrator under Schmitt triggers on angle + K rate.
ON, OFF, K, A = 0.02, 0.01, 0.5, 0.91 / 45.5
COASTING = (ON - OFF) / (2 * K)
AMPLITUDE = (ON + OFF) / 2 + COASTING**2 / (2 * A)
FIRING = 2 * COASTING / A
PERIOD = 2 * FIRING + 2 * (ON + OFF) / COASTING


@pytest.fixture(scope="module")
def thrusters():
    path = SIGNALS / "thrusters.yaml"
    return sb.simulate(path, engine="native", every=sb.load(path).run.T / 500, **TIGHT)


def test_thrusters_end_in_the_limit_cycle_of_theory(thrusters):
    late = thrusters.t > 11
    assert np.abs(thrusters["attitude"][late, 2]).max() == pytest.approx(AMPLITUDE, abs=1e-6)
    assert np.abs(thrusters["plant.u0"][late, 2]).max() == pytest.approx(COASTING, abs=1e-5)
    times = np.array([event.t for event in thrusters.events if event.t > 8])
    firings, coasts = np.diff(times)[::2], np.diff(times)[1::2]
    lengths = sorted([firings.mean(), coasts.mean()])
    assert lengths == pytest.approx(sorted([FIRING, PERIOD / 2 - FIRING]), abs=2e-2)


def test_on_its_limit_cycle_the_thrusters_switch_at_the_times_of_theory():
    # Coasting from the lower edge: 3 s to the upper one, then 1 s of thrust, and back.
    start = {"plant": {"angles321": [0, 0, -0.015], "omega0": [0, 0, COASTING]}}
    overrides = {"blocks.plant.initial": start["plant"]}
    diagram = sb.load(SIGNALS / "thrusters.yaml", overrides=overrides)
    got = sb.simulate(diagram, T=2.5 * PERIOD, engine="native", **TIGHT)
    want = np.ravel([[4 * k + 3, 4 * k + 4] for k in range(5)])
    found = np.array([event.t for event in got.events if event.t < 19.99])
    assert np.abs(found - want[: len(found)]).max() < 1e-7
    assert len(found) >= 9


def test_a_dead_zone_needs_thrust_in_short_pulses_alone(thrusters):
    open_ = thrusters["valves"].sum(axis=1)
    assert set(open_) == {0.0, 1.0}  # never both
    late = thrusters.t > 8
    share = np.trapezoid(open_[late], thrusters.t[late]) / np.ptp(thrusters.t[late])
    assert share == pytest.approx(2 * FIRING / PERIOD, abs=0.03)


def test_the_servo_s_command_is_replaced_while_it_is_out_of_range():
    path = SIGNALS / "limited_servo.yaml"
    got = sb.simulate(path, engine="native", every=sb.load(path).run.T / 500, **TIGHT)
    t = got.t
    command = 1.5 * np.sin(np.pi / 2 * t)
    np.testing.assert_array_equal(got["outside"], (np.abs(command) > 1.2).astype(float))
    assert got["lost"][-1] == pytest.approx(4 * (1 - 2 * np.arcsin(0.8) / np.pi), abs=1e-7)
    assert np.abs(np.diff(got["slow"])).max() <= 2 * np.diff(t).max() * (1 + 1e-9)
    np.testing.assert_allclose(got["sensor"] / 0.05, np.round(got["sensor"] / 0.05), atol=1e-9)
    assert np.abs(got["sensor"] - got["angle"]).max() <= 0.025 + 1e-9
    # The sampled limiter is a tick behind, and otherwise at the command or at its rate.
    ticks = got["ticks"][:: round(0.05 / (t[1] - t[0]))]
    assert np.abs(np.diff(ticks)).max() <= 0.1 + 1e-12


@pytest.mark.parametrize("engine", ["native", "interpreter"])
def test_a_fixed_step_keeps_its_order_over_jumps(engine):
    # With a stage behind a jump the error would be 1e-4, whatever the order of the method.
    path, names = SIGNALS / "limited_servo.yaml", ["angle", "v", "slow", "lost"]
    at = {"T": 0.5, "every": 1e-3}
    exact = sb.simulate(path, rtol=1e-12, atol=1e-14, solver="DOP853", **at)
    got = sb.simulate(path, solver="RK4", max_step=1e-3, engine=engine, **at)
    for name in names:
        assert np.abs(got[name] - exact[name]).max() < 1e-7, name
