"""FRICTION_MASS: where it stops, sticks and breaks away, in closed form, and in C."""

from __future__ import annotations

import numpy as np
import pytest
from dynamic_blocks import check_c, check_engines, check_fmu, made

import spart_blocks as sb
from spart_blocks.errors import InputError

KIND = "FRICTION_MASS"
CASES = [
    (KIND, {"mass": 1.0, "coulomb": 0.7, "v0": 0.3}, [None]),
    (KIND, {"mass": 1.0, "coulomb": [0.5, 0.3], "static": [0.9, 0.6], "viscous": 0.2}, [2]),
]
ENGINES = ["native", "interpreter"]


def test_both_engines_run_alike(tmp_path):
    check_engines(CASES, tmp_path)


def test_the_c_agrees_back_to_back(tmp_path):
    check_c(CASES, tmp_path)


def test_the_fmu_agrees(tmp_path):
    check_fmu(CASES, tmp_path)


def moved(runtime, force, engine="native", T=3.0, **given):
    """The results of a mass under a force, a source of bdsim and its parameters."""
    bd = runtime.blockdiagram(name="friction")
    mass = bd.FRICTION_MASS(name="mass", **given)
    kind, parameters = force
    bd.connect(getattr(bd, kind)(name="force", **parameters), mass)
    return sb.simulate(bd, T=T, engine=engine, every=0.01, rtol=1e-10, atol=1e-12,
                       log=["mass.x", "mass.v", "mass.mode"])  # fmt: skip


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("v0", [2.0, -2.0])
def test_a_sliding_mass_stops_after_its_braking_distance_and_stays(bdsim_runtime, engine, v0):
    mu, g, m = 0.25, 9.81, 3.0
    none = ("CONSTANT", {"value": 0.0})
    got = moved(bdsim_runtime, none, engine, mass=m, coulomb=mu * m * g, v0=v0)
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
    ],
)
def test_wrong_parameters_are_refused(given, told):
    with pytest.raises((InputError, ValueError), match=told):
        made(KIND, None, **given)
