"""FRICTION_MASS: where it stops, sticks, breaks away and meets its stops, and under a normal force
that is a signal: in closed form, in C and as an FMU.
"""

from __future__ import annotations

import numpy as np
import pytest
from dynamic_blocks import check_c, check_engines, check_fmu, made

import spart_blocks as sb
from spart_blocks.base.errors import InputError
from spart_blocks.program.c.compiler import compiler_name

KIND = "FRICTION_MASS"
CASES = [
    (KIND, {"mass": 1.0, "coulomb": 0.7, "v0": 0.3}, [None]),
    (KIND, {"mass": 1.0, "coulomb": [0.5, 0.3], "static": [0.9, 0.6], "viscous": 0.2}, [2]),
    (KIND, {"mass": 1.0, "coulomb": 0.7, "v0": 1.0, "upper": 0.2, "exponent": 1.0}, [None]),
    (KIND, {"mass": 0.2, "coulomb": [0.2, 0.3], "lower": -0.1, "upper": [0.2, 0.3], "static": 0.4,
            "stribeck": 0.3, "restitution": [0.5, 0.2], "rest_speed": 0.1}, [2]),
    (KIND, {"mass": 0.5, "coulomb": [0.5, 0.3], "static": 0.6, "stribeck": 0.3, "upper": 0.3,
            "pressed": True}, [2, 2]),
]  # fmt: skip
ENGINES = ["native", "interpreter"]
NO_FORCE = ("CONSTANT", {"value": 0.0})


def test_both_engines_run_alike(tmp_path):
    check_engines(CASES, tmp_path)


def test_the_c_agrees_back_to_back(tmp_path):
    check_c(CASES, tmp_path)


def test_the_fmu_agrees(tmp_path):
    check_fmu(CASES, tmp_path)


def moved(runtime, force, engine="native", T=3.0, normal=None, **given):
    """The results of a mass under a force and a normal force, sources of bdsim, and its
    parameters.
    """
    bd = runtime.blockdiagram(name="friction")
    mass = bd.FRICTION_MASS(name="mass", pressed=normal is not None, **given)
    sources = {"force": force, "normal": normal}
    for port, (name, source) in enumerate(sources.items()):
        if source is not None:
            kind, parameters = source
            bd.connect(getattr(bd, kind)(name=name, **parameters), mass[port])
    return sb.simulate(bd, T=T, engine=engine, every=0.01, rtol=1e-10, atol=1e-12,
                       log=["mass.x", "mass.v", "mass.mode"])  # fmt: skip


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("v0", [2.0, -2.0])
def test_a_sliding_mass_stops_after_its_braking_distance_and_stays(bdsim_runtime, engine, v0):
    mu, g, m = 0.25, 9.81, 3.0
    got = moved(bdsim_runtime, NO_FORCE, engine, mass=m, coulomb=mu * m * g, v0=v0)
    stop = abs(v0) / (mu * g)
    sliding = got.t < stop
    want = np.sign(v0) * (abs(v0) * got.t - mu * g * got.t**2 / 2)
    np.testing.assert_allclose(got["mass.x"][sliding], want[sliding], atol=1e-9)
    rest = got.t > stop + 1e-6
    np.testing.assert_allclose(got["mass.x"][rest], np.sign(v0) * v0**2 / (2 * mu * g), rtol=1e-9)
    np.testing.assert_array_equal(got["mass.v"][rest], 0.0)
    assert np.ptp(got["mass.x"][rest]) == 0.0
    assert [e.t for e in got.events] == pytest.approx([stop], abs=1e-9)


@pytest.mark.parametrize("engine", ENGINES)
def test_a_slow_force_breaks_away_at_the_static_level(bdsim_runtime, engine):
    """f = -t breaks away at 2; a narrow Stribeck fall leaves the friction 1, and viscous 0."""
    ramp = ("RAMP", {"slope": -1.0, "T": 0.0})
    got = moved(bdsim_runtime, ramp, engine, mass=1.0, coulomb=1.0, static=2.0, stribeck=1e-5)
    before, after = got.t < 2.0, got.t > 2.1
    np.testing.assert_array_equal(got["mass.v"][before], 0.0)
    np.testing.assert_array_equal(got["mass.x"][before], 0.0)
    s = got.t[after] - 2.0
    np.testing.assert_allclose(got["mass.v"][after], -(s + s**2 / 2), atol=0.02)
    assert got.events[0].t == pytest.approx(2.0, abs=1e-9)
    assert set(np.unique(got["mass.mode"])) == {-1.0, 0.0}


def test_under_a_sine_it_breaks_away_and_sticks_where_it_turns(bdsim_runtime):
    """f = 3 sin(w t) with w = pi/2 and friction of 1: it sticks until f = 1."""
    sine = ("WAVEFORM", {"wave": "sine", "freq": 0.25, "amplitude": 3.0})
    got = moved(bdsim_runtime, sine, T=8.0, mass=1.0, coulomb=1.0)
    first = np.arcsin(1 / 3) / (np.pi / 2)
    assert got.events[0].t == pytest.approx(first, abs=1e-9)
    v, mode = got["mass.v"].ravel(), got["mass.mode"].ravel()
    assert (v[mode == 0] == 0.0).all()
    assert (mode * v >= -1e-12).all()
    w = np.pi / 2
    sliding = (got.t > first) & (got.t < 2.0)
    t = got.t[sliding]
    want = 3 / w * (np.cos(w * first) - np.cos(w * t)) - (t - first)
    np.testing.assert_allclose(v[sliding], want, atol=1e-8)


@pytest.mark.parametrize("engine", ENGINES)
def test_an_initial_force_beyond_static_friction_moves_it_at_once(bdsim_runtime, engine):
    force = ("CONSTANT", {"value": [3.0, -0.5, -2.0]})
    got = moved(bdsim_runtime, force, engine, T=1.0, mass=1.0, coulomb=1.0, width=3)
    np.testing.assert_allclose(got["mass.x"][-1], [1.0, 0.0, -0.5], atol=1e-9)
    np.testing.assert_array_equal(got["mass.mode"][-1], [1.0, 0.0, -1.0])


def test_the_law_with_exponent_1_is_modelica_s():
    """By the equations of MassWithStopAndFriction and its defaults: m = 1, F_prop = 1, F_Coulomb
    = 5, F_Stribeck = 10, fexp = 2.
    """
    v = np.array([0.01, 0.3, 2.0, -0.3])
    block = made(KIND, None, mass=1.0, coulomb=5.0, static=15.0, stribeck=0.5, viscous=1.0,
                 exponent=1.0, v0=v)  # fmt: skip
    rate = block.deriv(0.0, [np.full(4, 20.0)], block._x0)[4:8]
    friction = v + np.sign(v) * (5 + 10 * np.exp(-2 * np.abs(v)))
    np.testing.assert_allclose(rate, 20.0 - friction, rtol=1e-14)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("side", [1.0, -1.0])
def test_a_sliding_mass_meets_a_stop_and_rests_there(bdsim_runtime, engine, side):
    """x = 2 t - t^2 / 4 meets the stop at 1 at t = 4 - sqrt(12)."""
    stop = {"upper": 1.0} if side > 0 else {"lower": -1.0}
    got = moved(bdsim_runtime, NO_FORCE, engine, mass=2.0, coulomb=1.0, v0=2 * side, **stop)
    (event,) = got.events
    assert event.t == pytest.approx(4 - np.sqrt(12), abs=1e-9)
    late = got.t > event.t
    np.testing.assert_array_equal(got["mass.x"][late], side)
    np.testing.assert_array_equal(got["mass.v"][late], 0.0)
    t = got.t[~late][:-1]
    np.testing.assert_allclose(got["mass.x"][: len(t)], side * (2 * t - t**2 / 4), atol=1e-9)


@pytest.mark.parametrize("engine", ENGINES)
def test_a_mass_rests_at_its_stop_until_static_friction_is_overcome(bdsim_runtime, engine):
    """Under f = 3 - 2 t it starts at the stop above, leaves at f = -1, and slides as x = 1 -
    s^3 / 3, to the stop below at s^3 = 6.
    """
    ramp = ("RAMP", {"slope": -2.0, "off": 3.0, "T": 0.0})
    given = {"mass": 1.0, "coulomb": 1.0, "x0": 1.0, "lower": -1.0, "upper": 1.0}
    got = moved(bdsim_runtime, ramp, engine, T=5.0, **given)
    leaves, meets = 2.0, 2.0 + 6 ** (1 / 3)
    assert [e.t for e in got.events] == pytest.approx([leaves, meets], abs=1e-9)
    s = np.clip(got.t - leaves, 0.0, meets - leaves)
    np.testing.assert_allclose(got["mass.x"], 1 - s**3 / 3, atol=1e-8)
    at_rest = (got.t < leaves) | (got.t > meets)
    np.testing.assert_array_equal(got["mass.v"][at_rest], 0.0)
    np.testing.assert_array_equal(np.abs(got["mass.x"][at_rest]), 1.0)


@pytest.mark.parametrize("engine", ENGINES)
def test_a_mass_that_starts_into_its_stop_rests_at_once(bdsim_runtime, engine):
    got = moved(bdsim_runtime, NO_FORCE, engine, T=1.0, mass=1.0, coulomb=0.1, x0=0.5, v0=3.0,
                upper=0.5)  # fmt: skip
    assert [e.t for e in got.events] == pytest.approx([0.0], abs=1e-9)
    late = got.t > 0
    np.testing.assert_array_equal(got["mass.x"][late], 0.5)
    np.testing.assert_array_equal(got["mass.mode"][late], 0.0)


def test_each_mass_has_its_own_stops(bdsim_runtime):
    """At constant speeds: the first meets its stop, the second has none to meet, the third meets
    the other one.
    """
    got = moved(bdsim_runtime, ("CONSTANT", {"value": np.zeros(3)}), mass=1.0, coulomb=0.0,
                v0=[1.0, 1.0, -2.0], lower=[-1.0, -1.0, -3.0], upper=[2.0, 4.0, 9.0])  # fmt: skip
    assert [e.t for e in got.events] == pytest.approx([1.5, 2.0], abs=1e-9)
    np.testing.assert_allclose(got["mass.x"][-1], [2.0, 3.0, -3.0], atol=1e-9)
    np.testing.assert_array_equal(got["mass.mode"][-1], [0.0, 1.0, 0.0])


@pytest.mark.parametrize("engine", ENGINES)
def test_it_rebounds_until_it_would_leave_too_slowly(bdsim_runtime, engine):
    """Under -10 from 1.25 it meets the stop at 5, 2.5 and 1.25 m/s, and 0.625 is below 1."""
    force = ("CONSTANT", {"value": -10.0})
    got = moved(bdsim_runtime, force, engine, mass=1.0, coulomb=0.0, x0=1.25, lower=0.0,
                restitution=0.5, rest_speed=1.0)  # fmt: skip
    switched = [e.t for e in got.events]
    assert switched[0] == 0.0  # it begins to fall
    tops = [0.5 + 0.25, 1.0 + 0.125]  # where it turns
    assert switched[1:] == pytest.approx([0.5, tops[0], 1.0, tops[1], 1.25], abs=1e-9)
    flight = (got.t > 0.5) & (got.t < 1.0)
    s = got.t[flight] - 0.5
    np.testing.assert_allclose(got["mass.x"][flight], 2.5 * s - 5 * s**2, atol=1e-8)
    np.testing.assert_array_equal(got["mass.x"][got.t > 1.25], 0.0)


@pytest.mark.parametrize(
    ("name", "value", "meets"), [("restitution", 0.2, [0.5, 0.7]), ("rest_speed", 3.0, [0.5])]
)
def test_rebounds_are_tuned_without_a_new_trace(bdsim_runtime, name, value, meets):
    """From 5 m/s it rebounds with 1 m/s and stays 0.2 s, or would with 2.5 m/s."""
    bd = bdsim_runtime.blockdiagram(name="friction")
    mass = bd.FRICTION_MASS(mass=1.0, coulomb=0.0, x0=1.25, lower=0.0, restitution=0.5,
                            rest_speed=0.5, name="mass")  # fmt: skip
    bd.connect(bd.CONSTANT(-10.0, name="force"), mass[0])
    program = sb.trace(bd).with_parameters({f"mass.{name}": value})
    got = sb.simulate(program, T=2.0, rtol=1e-10, atol=1e-12, log=["mass.x", "mass.v"])
    at = [e.t for e in got.events][1:]  # it begins to fall at 0
    at = at if len(at) == 1 else at[::2]  # it turns between
    assert at == pytest.approx(meets, abs=1e-8)
    np.testing.assert_array_equal(got["mass.x"][got.t > meets[-1] + 1e-6], 0.0)


@pytest.mark.parametrize("engine", ENGINES)
def test_a_brake_stops_a_mass(bdsim_runtime, engine):
    """It slides 2 m at 2 m/s, and is braked by 4 from t = 1 on: for 0.5 s and 0.5 m."""
    step = ("STEP", {"T": 1.0, "on": 4.0})
    got = moved(bdsim_runtime, NO_FORCE, engine, normal=step, mass=1.0, coulomb=1.0, v0=2.0)
    assert got.events[-1].t == pytest.approx(1.5, abs=1e-9)
    np.testing.assert_allclose(got["mass.x"][-1], 2.5, atol=1e-9)
    np.testing.assert_array_equal(got["mass.v"][got.t > 1.5 + 1e-6], 0.0)


@pytest.mark.parametrize("engine", ENGINES)
def test_a_brake_that_is_released_lets_a_mass_break_away(bdsim_runtime, engine):
    """Under 3 and normal = 4 - t it breaks away at t = 1 as v = (t - 1)^2 / 2; a normal force
    below 0, from t = 4 on, is none.
    """
    force, ramp = ("CONSTANT", {"value": 3.0}), ("RAMP", {"slope": -1.0, "off": 4.0, "T": 0.0})
    got = moved(bdsim_runtime, force, engine, T=5.0, normal=ramp, mass=1.0, coulomb=1.0)
    assert [e.t for e in got.events] == pytest.approx([1.0], abs=1e-9)
    s = np.clip(got.t - 1, 0, 3)
    want = s**2 / 2 + 3 * np.clip(got.t - 4, 0, None)
    np.testing.assert_allclose(got["mass.v"].ravel(), want, atol=1e-7)


def test_a_brake_holds_more_at_rest_by_as_much_as_static_says(bdsim_runtime):
    """Under 3 it sticks until 2 normal = 3, and slides under the friction normal after that."""
    force, ramp = ("CONSTANT", {"value": 3.0}), ("RAMP", {"slope": -1.0, "off": 4.0, "T": 0.0})
    got = moved(bdsim_runtime, force, normal=ramp, mass=1.0, coulomb=1.0, static=2.0,
                stribeck=1e-5)  # fmt: skip
    assert got.events[0].t == pytest.approx(2.5, abs=1e-9)
    np.testing.assert_allclose(got["mass.v"][-1], (3 - 1.5) * 0.5 + 0.5**2 / 2, atol=1e-3)


def test_without_a_compiler_it_is_the_same(bdsim_runtime, monkeypatch):
    monkeypatch.setenv("SPART_COMPILER", "none")
    assert compiler_name() is None
    got = moved(bdsim_runtime, NO_FORCE, mass=2.0, coulomb=1.0, v0=2.0, upper=1.0)
    assert got.info["engine"] == "native"
    assert [e.t for e in got.events] == pytest.approx([4 - np.sqrt(12)], abs=1e-9)


def test_an_event_beyond_a_stop_leaves_it_there():
    block = made(KIND, None, mass=1.0, coulomb=1.0, upper=0.5)
    np.testing.assert_array_equal(block.restart(np.array([1.0, -2.0, 0.0])), [0.5, -2.0, -1.0])


def test_a_velocity_set_by_an_event_slides():
    block = made(KIND, None, mass=1.0, coulomb=1.0)
    np.testing.assert_array_equal(block.restart(np.array([1.0, -2.0, 0.0])), [1.0, -2.0, -1.0])


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"mass": 0.0, "coulomb": 1.0}, "mass must be above zero"),
        ({"mass": 1.0, "coulomb": -1.0}, "coulomb must not be negative"),
        ({"mass": 1.0, "coulomb": 2.0, "static": 1.0}, "coulomb is 2.0, above static"),
        ({"mass": 1.0, "coulomb": 1.0, "stribeck": 0.0}, "stribeck must be above zero"),
        ({"mass": [1.0, 2.0], "coulomb": 1.0, "width": 3}, "mass has 2 entries and width has 3"),
        ({"mass": 1.0, "coulomb": 1.0, "v0": "fast"}, "v0 must be a number"),
        ({"mass": 1.0, "coulomb": 1.0, "exponent": 0.0}, "exponent must be above zero"),
        ({"mass": 1.0, "coulomb": 1.0, "lower": 1.0}, "lower is 1.0, above x0"),
        ({"mass": 1.0, "coulomb": 1.0, "lower": 1.0, "upper": 0.0}, "lower is 1.0, above upper"),
        ({"mass": 1.0, "coulomb": 1.0, "restitution": 1.1}, "restitution must be at most 1"),
        ({"mass": 1.0, "coulomb": 1.0, "rest_speed": -1.0}, "rest_speed must not be negative"),
        ({"mass": 1.0, "coulomb": 1.0, "pressed": 1.0}, "pressed must be true or false"),
    ],
)
def test_wrong_parameters_are_refused(given, told):
    with pytest.raises((InputError, ValueError), match=told):
        made(KIND, None, **given)
