"""The blocks of a spacecraft's surroundings: all of them along an orbit, on both engines, in C and
as an FMU; their gravity on robots, eclipses, and wrong parameters.
"""

from __future__ import annotations

import json

import numpy as np
import pytest
from same_results import assert_same_results

import spart_blocks as sb
from spart_blocks.base.errors import InputError
from spart_blocks.diagram.build.registry import block_types, find_type
from spart_blocks.environment.constants import EARTH_RADIUS, MU_EARTH, ZONALS
from spart_blocks.export import export_fmu, step_code, verify, verify_fmu
from spart_blocks.program.subdiagram import subdiagram_of

EPOCH = {"epoch": "2026-03-20T12:00:00"}
PLATES = {
    "plates": [
        {"area": 2, "normal": [1, -1, 0], "centre": [0.1, 0.2, 0], "specular": 0.3, "diffuse": 0.2},
        {"area": 1, "normal": [0, -1, 1], "centre": [0.1, 0.2, 0.4]},
    ]
}
# The Sun sets 5 s after the start.
ORBIT = {"a": 6.9e6, "e": 0.01, "i": 1.0, "raan": 0.3, "argp": 0.4, "nu": 1.3885}
BODIES = {
    "bodies": {
        "bus": {"mass": 20, "inertia": [1.0, 2.0, 3.0]},
        "boom": {"mass": 3, "com": [2, 0, 0], "inertia": [0.1, 0.5, 0.5]},
    },
    "joints": {"hinge": {"type": "Rz", "parent": "bus", "child": "boom"}},
}
BLOCKS = {
    "orbit": ("ORBIT", {"initial": ORBIT, "mass": 20}, ["third", "force"]),
    "elements": ("ORBITAL_ELEMENTS", {}, ["orbit.r", "orbit.v"]),
    "back": ("ELEMENTS_ORBIT", {}, [f"elements.{k}" for k in ORBIT]),
    "julian": ("JULIAN_DATE", EPOCH, []),
    "earth": ("EARTH_ROTATION", {**EPOCH, "dut1": 0.1}, []),
    "ecef": ("ECI_ECEF", EPOCH, ["orbit.r", "orbit.v"]),
    "eci": ("ECEF_ECI", EPOCH, ["ecef.r_ecef", "ecef.v_ecef"]),
    "geodetic": ("ECEF_GEODETIC", {}, ["ecef.r_ecef"]),
    "position": (
        "GEODETIC_ECEF",
        {},
        [f"geodetic.{k}" for k in ("latitude", "longitude", "height")],
    ),
    "frame": ("ORBIT_FRAME", {}, ["orbit.r", "orbit.v"]),
    "central": ("TWO_BODY", {}, ["orbit.r"]),
    "zonal": ("ZONAL_GRAVITY", {**EPOCH, "degree": 6}, ["orbit.r"]),
    "sun": ("SUN_VECTOR", EPOCH, []),
    "moon": ("MOON_VECTOR", EPOCH, []),
    "by_sun": ("THIRD_BODY", {"body": "sun"}, ["orbit.r", "sun.r"]),
    "by_moon": ("THIRD_BODY", {"body": "moon"}, ["orbit.r", "moon.r"]),
    "gradient": ("GRAVITY_GRADIENT", {"inertia": [1, 2, 3]}, ["plant.R0", "orbit.r"]),
    "weight": (
        "ORBITAL_GRAVITY",
        {"robot": "sc", "degree": 6, "orbiting": True, **EPOCH},
        ["plant.R0", "plant.r0", "plant.qm", "by_moon", "orbit.r"],
    ),
    "air": ("ATMOSPHERE", {"scale": 2}, ["orbit.r"]),
    "table": (
        "ATMOSPHERE",
        {"heights": [4e5, 5e5, 6e5], "densities": [3e-12, 6e-13, 1e-13]},
        ["orbit.r"],
    ),
    "drag": ("DRAG", {"area": 2}, ["air.rho", "orbit.r", "orbit.v"]),
    "blown": ("DRAG_PLATES", PLATES, ["air.rho", "orbit.r", "orbit.v", "plant.R0"]),
    "nadir": ("EARTH_VECTOR", {}, ["orbit.r"]),
    "lit": ("ECLIPSE", {}, ["orbit.r", "sun.r"]),
    "shade": ("ECLIPSE", {"model": "cylindrical"}, ["orbit.r", "sun.r"]),
    "light": ("SOLAR_PRESSURE", {"area": 3}, ["orbit.r", "sun.r", "lit"]),
    "pushed": ("SOLAR_PRESSURE_PLATES", PLATES, ["orbit.r", "sun.r", "lit", "plant.R0"]),
    "field": ("MAGNETIC_FIELD", EPOCH, ["orbit.r"]),
    "dipole": ("MAGNETIC_FIELD", {**EPOCH, "degree": 1, "frame": "ecef"}, ["ecef.r_ecef"]),
}
REST = {
    "force": ("SUM", {"signs": "++"}, ["drag", "light"]),
    "third": ("SUM", {"signs": "++"}, ["zonal.a_zonal", "by_sun"]),
    "wrench": ("SUM", {"signs": "+++"}, ["weight.wF0", "blown", "pushed"]),
    "none": ("CONSTANT", {"value": [0.0]}, []),
}
PLANT = {"robot": "sc", "initial": {"u0": [0.01, 0.02, 0.03, 0, 0, 0]}}


def outputs(name, kind):
    names = [spec.name for spec in find_type(kind).cls.gives]
    return [f"{name}.{each}" for each in names] if len(names) > 1 else [name]


def write(folder, **run):
    blocks = {name: {"type": kind, **given} for name, (kind, given, _) in (BLOCKS | REST).items()}
    blocks["plant"] = {"type": "MULTIBODY", **PLANT}
    wires = [
        f"{source} -> {name}.{k}"
        for name, (_, _, sources) in (BLOCKS | REST).items()
        for k, source in enumerate(sources)
    ]
    wires += ["none -> plant.taum", "wrench -> plant.wF0", "weight.wFm -> plant.wFm"]
    log = [each for name, (kind, *_) in BLOCKS.items() for each in outputs(name, kind)]
    (folder / "bodies.yaml").write_text(json.dumps(BODIES))
    file = folder / "surroundings.yaml"
    file.write_text(json.dumps({
        "robots": {"sc": {"bodies": "bodies.yaml"}}, "blocks": blocks, "wires": wires,
        "run": {"T": 30, "every": 2.5, "rtol": 1e-9, "atol": 1e-9, "log": log, **run},
    }))  # fmt: skip
    return file


def test_all_blocks_of_the_family_are_here():
    ours = {kind for kind, *_ in BLOCKS.values()}
    files = ("earth_frames", "orbital_gravity", "orbits", "space_environment")
    family = {t.name for t in block_types() if t.cls.__module__.rpartition(".")[2] in files}
    assert ours == family


def test_both_engines_run_alike(tmp_path):
    diagram = sb.load(write(tmp_path, rtol=1e-10, atol=1e-10))
    native, blocks = (sb.simulate(diagram, engine=e) for e in ("native", "interpreter"))
    assert_same_results(native, blocks, rel=1e-9)
    for name in native.signals:
        if name.split(".")[0] != "none":
            largest = np.abs(blocks[name]).max()
            assert largest > 0, name
            assert np.abs(native[name] - blocks[name]).max() <= 1e-9 * largest, name
    assert native["lit"][0] == 1.0
    assert native["lit"][-1] == 0.0
    np.testing.assert_allclose(native["back.r"], native["orbit.r"], rtol=1e-9)
    np.testing.assert_allclose(native["eci.v"], native["orbit.v"], rtol=1e-9)
    np.testing.assert_allclose(native["position"], native["ecef.r_ecef"], rtol=1e-9)
    # Its inertia is that of the base alone.
    torques = np.einsum("kij,kj->ki", native["plant.R0"], native["gradient"])
    np.testing.assert_allclose(native["weight.wF0"][:, :3], torques, rtol=1e-6, atol=1e-12)


def test_the_c_agrees_back_to_back(tmp_path):
    part = subdiagram_of(write(tmp_path), [])
    found = verify(step_code(part, rate=10), np.zeros((100, 0)))
    assert found.passed, found


def test_the_fmu_agrees(tmp_path):
    part = subdiagram_of(write(tmp_path), [])
    found = verify_fmu(export_fmu(part, tmp_path), part, horizon=10.0)
    assert found.passed, (found.problems, found.errors)


# --- eclipses and leap seconds located ----------------------------------------------------------


@pytest.mark.parametrize("model", ["cylindrical", "conical"])
def test_a_step_ends_where_the_shadow_begins(model, tmp_path):
    """A circular orbit in the plane of a far Sun: it leaves the light arcsin(R / r) before it is
    opposite, and comes back as long after.
    """
    a, far = 7e6, 1e6 * 149597870700.0
    file = tmp_path / "shadow.yaml"
    file.write_text(json.dumps({
        "blocks": {
            "orbit": {"type": "ORBIT", "initial": {"a": a, "e": 0.0}},
            "sun": {"type": "CONSTANT", "value": [far, 0.0, 0.0]},
            "lit": {"type": "ECLIPSE", "model": model},
        },
        "wires": ["orbit.r -> lit.r", "sun -> lit.sun"],
        "run": {"T": 6000, "rtol": 1e-11, "atol": 1e-9, "log": ["lit"]},
    }))  # fmt: skip
    results = sb.simulate(file)
    jumps = np.flatnonzero(np.diff(results["lit"]))
    rate = np.sqrt(MU_EARTH / a**3)
    half = np.arcsin(EARTH_RADIUS / a)
    want = np.array([np.pi - half, np.pi + half]) / rate
    ends = results.t[[jumps[0] + 1, jumps[-1] + 1]]
    np.testing.assert_allclose(ends, want, atol=1e-6)


def test_leap_seconds_are_switching_times(tmp_path):
    file = tmp_path / "leap.yaml"
    julian = {"type": "JULIAN_DATE", "epoch": "2016-12-31T23:59:50"}
    run = {"T": 20, "log": ["date.leaps", "date.utc"]}
    file.write_text(json.dumps({"blocks": {"date": julian}, "run": run}))
    results = sb.simulate(file)
    assert results["date.leaps"][[0, -1]].tolist() == [36.0, 37.0]
    assert 10.0 in results.t
    assert results["date.utc"][-1, 1] == pytest.approx(1 + 9 / 86400, abs=1e-12)


# --- gravity on robots --------------------------------------------------------------------------


def test_gravity_acts_on_each_link():
    robot = sb.Robot.from_bodies(BODIES)
    block = find_type("ORBITAL_GRAVITY").cls(robot, degree=2)
    r0 = np.array([5e6, 3e6, 4e6])
    w0, wm = block.output(0.0, [np.eye(3), r0, np.zeros(1), np.zeros(3)], None)
    point = find_type("ZONAL_GRAVITY").cls()
    boom = r0 + np.array([2.0, 0.0, 0.0])
    np.testing.assert_allclose(w0[3:], 20 * point.output(0.0, [r0], None)[0], rtol=1e-12)
    np.testing.assert_allclose(wm[0, 3:], 3 * point.output(0.0, [boom], None)[0], rtol=1e-12)
    torque = find_type("GRAVITY_GRADIENT").cls([1.0, 2.0, 3.0])
    np.testing.assert_allclose(w0[:3], torque.output(0.0, [np.eye(3), r0], None)[0], rtol=1e-12)


def test_coordinates_that_orbit_see_the_differences():
    """The same wrenches less mass times the acceleration of the origin."""
    robot = sb.Robot.from_bodies(BODIES)
    kind = find_type("ORBITAL_GRAVITY").cls
    origin, near = np.array([5e6, 3e6, 4e6]), np.array([30.0, -20.0, 10.0])
    pose = [np.eye(3), near, np.array([0.4]), np.array([1e-6, 0.0, 0.0])]
    w0, wm = kind(robot, degree=3, orbiting=True).output(0.0, [*pose, origin], None)
    pose[1] = origin + near
    one0, onem = kind(robot, degree=3).output(0.0, pose, None)
    fall = find_type("ZONAL_GRAVITY").cls(degree=3).output(0.0, [origin], None)[0]
    # Rounding of the whole attraction, 8 m/s^2, is left in the difference.
    np.testing.assert_allclose(w0[3:], one0[3:] - 20 * fall, atol=20 * 1e-14)
    np.testing.assert_allclose(wm[:, 3:], onem[:, 3:] - 3 * fall, atol=3 * 1e-14)
    np.testing.assert_allclose(w0[:3], one0[:3], rtol=1e-9)
    np.testing.assert_allclose(wm[:, :3], onem[:, :3], rtol=1e-9)


# --- parameters ---------------------------------------------------------------------------------


def made(kind, **given):
    return find_type(kind).cls(**given)


def test_defaults_are_egm96_up_to_the_degree():
    np.testing.assert_array_equal(made("ZONAL_GRAVITY", degree=4).J, ZONALS[:3])
    assert made("ZONAL_GRAVITY", degree=0).J.size == 0
    np.testing.assert_array_equal(made("ZONAL_GRAVITY", J=[1e-3]).J, [1e-3])


def test_an_orbit_starts_from_elements_or_from_a_state():
    by_nu = made("ORBIT", initial=ORBIT)
    half = np.tan(ORBIT["nu"] / 2) * np.sqrt(0.99 / 1.01)
    E = 2 * np.arctan(half)
    mean = {k: v for k, v in ORBIT.items() if k != "nu"} | {"M": E - 0.01 * np.sin(E)}
    np.testing.assert_allclose(made("ORBIT", initial=mean)._x0, by_nu._x0, rtol=1e-12)
    state = {"r": by_nu._x0[:3].tolist(), "v": by_nu._x0[3:].tolist()}
    np.testing.assert_array_equal(made("ORBIT", initial=state)._x0, by_nu._x0)


PLATE = {"area": 1.0, "normal": [1, 0, 0]}
WRONG = [
    ("ORBIT", {"initial": {"a": 7e6}}, "initial needs e"),
    ("ORBIT", {"initial": {"r": [7e6, 0, 0]}}, "initial needs v"),
    ("ORBIT", {"initial": {"r": [0, 0, 0], "v": [1, 0, 0]}}, "Earth's centre"),
    ("ORBIT", {"initial": {"a": 7e6, "e": 0.1, "w": 1}}, "no entry 'w'"),
    ("ORBIT", {"initial": {"a": 7e6, "e": 1.1}}, "are no orbit"),
    ("ORBIT", {"initial": {"a": -7e6, "e": 0.1}}, "are no orbit"),
    ("ORBIT", {"initial": {"a": 7e6, "e": -0.1}}, "are no orbit"),
    ("ORBIT", {"initial": {"a": 7e6, "e": 1.0}}, "are no orbit"),
    ("ORBIT", {"initial": {"a": -7e6, "e": 2.0, "nu": 2.5}}, "asymptote"),
    ("ORBIT", {"initial": {"a": -7e6, "e": 2.0, "M": 0.5}}, "mean anomaly of an ellipse"),
    ("ORBIT", {"initial": {"a": 7e6, "e": 0.1, "M": 0.5, "nu": 1}}, "in the place of nu"),
    ("ORBIT", {"initial": [7e6, 0.1]}, "initial must have r and v"),
    ("ORBIT", {"initial": ORBIT, "mass": 0}, "mass must be above zero"),
    ("ORBITAL_ELEMENTS", {"mu": -1}, "mu must be above zero"),
    ("ZONAL_GRAVITY", {"degree": 7}, "degree must be a whole number from 1 to 6"),
    ("ZONAL_GRAVITY", {"J": [1, 2, 3, 4, 5, 6]}, "J must be a list of J2 to J6"),
    ("ZONAL_GRAVITY", {"epoch": "yesterday"}, "epoch must be a time in UTC"),
    ("THIRD_BODY", {"body": "mars"}, "body must be sun or moon"),
    ("GRAVITY_GRADIENT", {"inertia": [1, 2]}, "inertia must be a matrix"),
    ("GRAVITY_GRADIENT", {"inertia": [1, 2, -3]}, "symmetric and positive definite"),
    ("GRAVITY_GRADIENT", {"inertia": [[1, 1, 0], [0, 1, 0], [0, 0, 1]]}, "symmetric"),
    ("ATMOSPHERE", {"heights": [0, 1]}, "belong together"),
    ("ATMOSPHERE", {"heights": [0, 1], "densities": [1, 2]}, "above zero and fall"),
    ("ATMOSPHERE", {"heights": [1, 0], "densities": [2, 1]}, "heights must rise"),
    ("ATMOSPHERE", {"heights": [0, 1, 2], "densities": [2, 1]}, "densities has shape"),
    ("ATMOSPHERE", {"scale": -1}, "scale must not be negative"),
    ("DRAG", {"area": 0}, "area must be above zero"),
    ("DRAG_PLATES", {"plates": []}, "a list of one plate or more"),
    ("DRAG_PLATES", {"plates": [{"area": 1}]}, r"plates\[0\] must have an area and a normal"),
    ("DRAG_PLATES", {"plates": [PLATE, {**PLATE, "center": [0, 0, 0]}]}, r"plates\[1\] has no"),
    ("DRAG_PLATES", {"plates": [{**PLATE, "normal": [0, 0, 0]}]}, "must not be zero"),
    ("DRAG_PLATES", {"plates": [{**PLATE, "area": -1}]}, "area must be above zero"),
    ("SOLAR_PRESSURE_PLATES", {"plates": [{**PLATE, "specular": 0.7, "diffuse": 0.4}]}, "sum"),
    ("SOLAR_PRESSURE", {"area": 1, "Cr": 0}, "Cr must be above zero"),
    ("ECLIPSE", {"model": "spherical"}, "model must be one of conical, cylindrical"),
    ("MAGNETIC_FIELD", {**EPOCH, "degree": 14}, "degree must be a whole number from 1 to 13"),
    ("MAGNETIC_FIELD", {**EPOCH, "frame": "ned"}, "frame must be one of eci, ecef"),
    ("MAGNETIC_FIELD", {"epoch": "2031-01-01"}, "IGRF-14 holds"),
    ("EARTH_ROTATION", {**EPOCH, "dut1": 1.0}, "within 0.9 s"),
    ("ORBITAL_GRAVITY", {"robot": None}, "needs a Robot"),
]  # fmt: skip


@pytest.mark.parametrize(("kind", "given", "told"), WRONG)
def test_wrong_parameters_are_refused(kind, given, told):
    with pytest.raises((InputError, ValueError), match=told):
        made(kind, **given)
