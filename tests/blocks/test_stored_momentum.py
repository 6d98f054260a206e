"""Wheels, gyroscopes and magnetic torquers: against wheels as joints, closed forms and Wie."""

from __future__ import annotations

import json

import dynamic_blocks
import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import spart_blocks as sb
from spart_blocks.base.errors import InputError

ENGINES = ("native", "interpreter")
AXES = np.array([[1.0, 0, 0], [0, 0.6, 0.8], [0.6, -0.8, 0]])
SPIN, ACROSS = 0.02, 0.013
INERTIA = np.array([1.0, 1.5, 2.0])


def written(folder, blocks, wires, T, robots=None, **more):
    run = {"T": T, "rtol": 1e-10, "atol": 1e-12, **more}
    text = {"robots": robots or {}, "blocks": blocks, "wires": wires, "run": run}
    (folder / "it.yaml").write_text(json.dumps(text))
    return folder / "it.yaml"


def base(folder, name, inertia, wheels=()):
    """A free body, with wheels as joints at its centre of mass."""
    bodies = {"base": {"mass": 10.0, "inertia": np.asarray(inertia).tolist()}}
    joints = {}
    for k, axis in enumerate(wheels):
        turn = Rotation.align_vectors([axis], [[0, 0, 1]])[0].as_matrix()
        bodies[f"w{k}"] = {"mass": 0.5, "inertia": [ACROSS, ACROSS, SPIN]}
        joints[f"j{k}"] = {"type": "Rz", "parent": "base", "child": f"w{k}",
                           "parent_frame": {"rotation": turn.tolist()}}  # fmt: skip
    (folder / f"{name}.json").write_text(json.dumps({"name": name, "bodies": bodies,
                                                     "joints": joints}))  # fmt: skip
    return {"bodies": f"{name}.json"}


TORQUES = {"type": "FCN", "arguments": ["t_"],
           "expression": ["0.1*sin(t) + 0*t_", "0.2*cos(2*t)", "0.05 - 0.1*sin(3*t)"]}  # fmt: skip


def test_wheels_move_the_base_as_wheels_that_are_joints(tmp_path):
    whole = np.diag(INERTIA)
    carried = whole + len(AXES) * ACROSS * np.eye(3)
    carried += (SPIN - ACROSS) * AXES.T @ AXES - SPIN * AXES.T @ AXES
    robots = {
        "with": base(tmp_path, "with", whole, AXES),
        "alone": base(tmp_path, "alone", carried),
    }
    start = {"u0": [0.1, -0.2, 0.3, 0, 0, 0]}
    blocks = {
        "clock": {"type": "TIME"}, "torque": TORQUES,
        "joints": {"type": "MULTIBODY", "robot": "with", "initial": {**start, "um": [5, -3, 2]}},
        "one": {"type": "MULTIBODY", "robot": "alone", "initial": start},
        "wheels": {"type": "REACTION_WHEELS", "axes": AXES.tolist(), "inertia": SPIN,
                   "speeds0": (np.array([5, -3, 2]) + AXES @ [0.1, -0.2, 0.3]).tolist()},
    }  # fmt: skip
    wires = ["clock -> torque", "torque -> joints.taum, wheels.torque", "one.u0 -> wheels.u0",
             "wheels.tau0 -> one.tau0"]  # fmt: skip
    log = ["joints.u0", "one.u0", "joints.um", "wheels.speeds", "one.R0", "wheels.h"]
    results = sb.simulate(written(tmp_path, blocks, wires, 3.0, robots, log=log, every=0.1))
    np.testing.assert_allclose(results["one.u0"], results["joints.u0"], atol=1e-8)
    np.testing.assert_allclose(results["wheels.speeds"], results["joints.um"], atol=1e-6)
    # The momentum of base and wheels is constant in inertial axes.
    total = results["one.u0"][:, :3] @ carried.T + results["wheels.h"]
    inertial = np.einsum("tij,tj->ti", results["one.R0"].reshape(-1, 3, 3), total)
    np.testing.assert_allclose(inertial, inertial[:1].repeat(len(inertial), 0), atol=1e-9)


def wheel(folder, command, T, engine="native", **given):
    """One wheel on a base at rest."""
    blocks = {
        "torque": {"type": "CONSTANT", "value": [command]},
        "u0": {"type": "CONSTANT", "value": [0.0] * 6},
        "wheels": {"type": "REACTION_WHEELS", "axes": [[0, 0, 2]], "inertia": 0.01, **given},
    }
    wires = ["torque -> wheels.torque", "u0 -> wheels.u0"]
    log = ["wheels.speeds", "wheels.tau0"]
    return sb.simulate(written(folder, blocks, wires, T, log=log), engine=engine)


@pytest.mark.parametrize("engine", ENGINES)
def test_a_wheel_reaches_the_limit_of_its_speed_and_no_more(tmp_path, engine):
    results = wheel(tmp_path, 1.0, 20.0, engine, limit=0.05, speed_limit=60.0)
    speeds, t = results["wheels.speeds"].ravel(), results.t
    early = t < 11.7  # within 98 % of the limit
    np.testing.assert_allclose(speeds[early], 5 * t[early], atol=1e-7)
    # Then W' = 5 (60 - W) / 1.2.
    late = t >= 11.76
    want = 60 - 1.2 * np.exp(-5 / 1.2 * (t[late] - 11.76))
    np.testing.assert_allclose(speeds[late], want, atol=1e-6)


def test_friction_slows_a_wheel_down_and_holds_it(tmp_path):
    results = wheel(tmp_path, 0.0, 12.0, viscous=0.001, coulomb=0.02, speeds0=10.0)
    speeds, t = results["wheels.speeds"].ravel(), results.t
    # J W' = -c W - Tc: W = (W0 + Tc / c) exp(-c t / J) - Tc / c.
    sliding = t < 4.0
    want = 30 * np.exp(-0.1 * t) - 20
    np.testing.assert_allclose(speeds[sliding], want[sliding], atol=1e-7)
    assert abs(speeds[-1]) < 1e-6
    held = wheel(tmp_path, 0.01, 12.0, coulomb=0.02, creep=0.01)
    assert held["wheels.speeds"][-1] == pytest.approx(0.005, rel=1e-6)
    assert abs(held["wheels.tau0"][-1]).max() < 1e-8
    moved = wheel(tmp_path, 0.03, 12.0, coulomb=0.02, creep=0.001)
    assert moved["wheels.speeds"][-1] == pytest.approx(12.0, abs=1e-2)


def test_an_allocation_gives_the_torque_and_moves_speeds_in_the_null_space():
    axes = np.array([[1, 1, 1], [1, -1, 1], [-1, 1, 1], [-1, -1, 1.0]])
    unit = axes / np.sqrt(3)
    block = dynamic_blocks.made(
        "WHEEL_ALLOCATION", None, axes=axes, speed_gain=0.3, preferred=[1.0, 2, 3, 4]
    )
    rng = np.random.default_rng(0)
    n, w, h, speeds = rng.normal(size=3), rng.normal(size=3), rng.normal(size=3), rng.normal(size=4)
    inputs = [np.append(n, [7, 8, 9]), np.append(w, [0, 0, 0]), h, speeds]
    (torque,) = block.output(0.0, inputs, None)
    np.testing.assert_allclose(-torque @ unit, n + np.cross(w, h), atol=1e-14)
    null = np.linalg.svd(unit.T)[2][3]
    assert torque @ null == pytest.approx(0.3 * (np.array([1.0, 2, 3, 4]) - speeds) @ null)


# --- gyroscopes --------------------------------------------------------------------------------


def wie(d, beta):
    """The momentum of a pyramid of unit gyroscopes: Wie (2008), eq. 7.71."""
    s, c, sb_, cb = np.sin(d), np.cos(d), np.sin(beta), np.cos(beta)
    return np.array([
        -cb * s[0] - c[1] + cb * s[2] + c[3],
        c[0] - cb * s[1] - c[2] + cb * s[3],
        sb_ * (s[0] + s[1] + s[2] + s[3]),
    ])  # fmt: skip


def test_a_pyramid_has_the_momentum_and_the_rate_of_wie():
    block = dynamic_blocks.made("CONTROL_MOMENT_GYROS", None, momentum=2.0, skew=0.9)
    rng = np.random.default_rng(1)
    d, rate = rng.normal(size=4), rng.normal(size=4)
    angles, h, hdot, measure = block.output(0.0, [np.zeros(4), np.zeros(6)], np.append(d, rate))
    np.testing.assert_allclose(h, 2 * wie(d, 0.9), atol=1e-14)
    A = np.array([(wie(d + 1e-6 * e, 0.9) - wie(d - 1e-6 * e, 0.9)) / 2e-6 for e in np.eye(4)]).T
    np.testing.assert_allclose(hdot, 2 * A @ rate, atol=1e-8)
    assert measure == pytest.approx(np.sqrt(np.linalg.det(A @ A.T)), rel=1e-8)
    np.testing.assert_array_equal(angles, d)
    # The singularity that Wie names: all momenta about x and -x.
    singular = block.output(
        0.0, [np.zeros(4), np.zeros(6)], np.append([-1, 0, 1, 0], rate) * np.pi / 2
    )
    assert singular[3] == pytest.approx(0.0, abs=1e-7)


def test_steering_gives_the_torque_away_from_singularities_and_escapes_from_one(tmp_path):
    steering = dynamic_blocks.made("GYRO_STEERING", None, momentum=2.0, sharpness=50.0)
    gyros = dynamic_blocks.made("CONTROL_MOMENT_GYROS", None, momentum=2.0)
    tau0, u0 = np.array([0.1, -0.2, 0.05, 0, 0, 0]), np.array([0.01, 0.02, 0.03, 0, 0, 0])
    d = np.array([0.1, 0.2, -0.1, 0.3])
    _, h, _, _ = gyros.output(0.0, [np.zeros(4), u0], np.append(d, np.zeros(4)))
    (rates,) = steering.output(0.0, [tau0, d, u0, h], None)
    _, h, hdot, _ = gyros.output(0.0, [rates, u0], np.append(d, rates))
    (got,) = gyros.make_companion().output(0.0, [h, hdot, u0], None)
    np.testing.assert_allclose(got, tau0, atol=1e-9)
    stuck = np.array([-np.pi / 2, 0, np.pi / 2, 0])
    (rates,) = steering.output(0.3, [np.array([-1.0, 0, 0, 0, 0, 0]), stuck, 0 * u0, 0 * h], None)
    assert np.abs(rates).max() > 1e-3  # the pseudo-inverse would give none
    assert np.isfinite(rates).all()


def test_gyroscopes_turn_a_satellite_and_keep_its_momentum(tmp_path):
    robots = {"sat": base(tmp_path, "sat", np.diag(INERTIA))}
    blocks = {
        "goal": {"type": "CONSTANT", "value": [0.0, 0.0, np.sin(0.2), np.cos(0.2)]},
        "plant": {"type": "MULTIBODY", "robot": "sat", "initial": {"u0": [0.02, 0, 0, 0, 0, 0]}},
        "control": {"type": "ATTITUDE_PD", "kp": 0.5, "kd": 1.5},
        "steer": {"type": "GYRO_STEERING", "momentum": 1.0},
        "gyros": {"type": "CONTROL_MOMENT_GYROS", "momentum": 1.0, "rate_limit": 1.0},
    }
    wires = ["goal -> control.quatd", "plant.R0 -> control.R0", "plant.u0 -> control.u0, gyros.u0",
             "control.tau0 -> steer.tau0", "gyros.angles -> steer.angles", "plant.u0 -> steer.u0",
             "gyros.h -> steer.h", "steer -> gyros.rates", "gyros.tau0 -> plant.tau0"]  # fmt: skip
    log = ["plant.R0", "plant.u0", "gyros.h", "control.error"]
    results = sb.simulate(written(tmp_path, blocks, wires, 40.0, robots, log=log, every=1.0))
    assert np.abs(results["control.error"][-1]).max() < 1e-3
    total = results["plant.u0"][:, :3] * INERTIA + results["gyros.h"]
    inertial = np.einsum("tij,tj->ti", results["plant.R0"].reshape(-1, 3, 3), total)
    np.testing.assert_allclose(inertial, [[0.02, 0, 0]] * len(inertial), atol=1e-8)


# --- magnetic torquers and unloading ------------------------------------------------------------


def test_a_dipole_gives_its_torque_within_its_limits():
    R0 = Rotation.from_rotvec([0.3, -0.2, 0.5]).as_matrix()
    block = dynamic_blocks.made(
        "MAGNETORQUERS", None, limit=[1.0, 2.0, 3.0], residual=[0.0, 0.1, 0.0]
    )
    field = np.array([1e-5, 2e-5, -3e-5])
    tau0, m = block.output(0.0, [np.array([5.0, -1.0, -7.0]), field, R0], None)
    np.testing.assert_allclose(m, [1.0, -0.9, -3.0])
    np.testing.assert_allclose(tau0, np.append(np.cross(m, R0.T @ field), np.zeros(3)), atol=1e-20)


def test_the_cross_product_law_unloads_what_is_across_the_field():
    block = dynamic_blocks.made("MAGNETIC_UNLOADING", None, gain=0.01, wanted=[0.1, 0.0, 0.0])
    h, field = np.array([0.5, -0.3, 0.2]), np.array([2e-5, 1e-5, -3e-5])
    (m,) = block.output(0.0, [h, field], None)
    off, along = h - [0.1, 0, 0], field / np.linalg.norm(field)
    np.testing.assert_allclose(
        np.cross(m, field), -0.01 * (off - along * (along @ off)), atol=1e-15
    )
    assert (block.output(0.0, [h, np.zeros(3)], None)[0] == 0).all()


@pytest.mark.parametrize("engine", ENGINES)
def test_thrusters_unload_from_one_level_to_the_other(tmp_path, engine):
    blocks = {
        "grows": {"type": "CONSTANT", "value": [0.03, 0.04, 0.0]},
        "unload": {"type": "THRUSTER_UNLOADING", "on": 1.0, "off": 0.2, "torque": 0.25},
        "both": {"type": "SUM", "signs": "++"},
        "h": {"type": "INTEGRATOR", "x0": [0, 0, 0]},
    }
    wires = ["grows -> both.0", "unload[0:3] -> both.1", "both -> h", "h -> unload"]
    results = sb.simulate(written(tmp_path, blocks, wires, 60.0), engine=engine)
    times = [event.t for event in results.events]
    np.testing.assert_allclose(times, [20, 24, 40, 44, 60][: len(times)], atol=1e-6)
    assert len(times) >= 4


# --- every engine, and what is wrong -----------------------------------------------------------

TETRA = [[1, 1, 1], [1, -1, 1], [-1, 1, 1], [-1, -1, 1]]
CASES = [
    ("REACTION_WHEELS", {"axes": AXES.tolist(), "inertia": SPIN, "limit": 1.5, "viscous": 0.01,
                         "speed_limit": 40, "coulomb": 0.1, "creep": 1.0}, [3, 6]),
    ("WHEEL_ALLOCATION", {"axes": TETRA, "speed_gain": 0.1}, [6, 6, 3, 4]),
    ("CONTROL_MOMENT_GYROS", {"momentum": 1.0, "rate_limit": 1.0}, [4, 6]),
    ("MOMENTUM_TORQUE", {}, [3, 3, 6]),
    ("GYRO_STEERING", {"momentum": 1.0, "null_gain": 0.1}, [6, 4, 6, 3]),
    ("MAGNETORQUERS", {"limit": 1.0, "residual": [0.1, 0.2, 0.3]}, [3, 3, "R0"]),
    ("MAGNETIC_UNLOADING", {"gain": 0.1}, [3, 3]),
    ("THRUSTER_UNLOADING", {"on": 1.0, "off": 0.5, "torque": 0.1}, [3]),
]  # fmt: skip


def test_both_engines_exported_c_and_an_fmu_give_the_same(tmp_path):
    path = tmp_path / "cases.yaml"
    text = json.loads(dynamic_blocks.diagram_of(CASES))
    text["run"]["T"] = 1
    path.write_text(json.dumps(text))
    diagram = sb.load(path)
    native, blocks = (sb.simulate(diagram, engine=engine) for engine in ENGINES)
    dynamic_blocks.assert_same_results(native, blocks, rel=1e-5)
    part = dynamic_blocks.subdiagram_of(path, [])
    dynamic_blocks.check_exports(part, tmp_path)


@pytest.mark.parametrize(
    ("kind", "given", "told"),
    [
        ("REACTION_WHEELS", {"axes": [1, 0, 0], "inertia": 1}, "rows of three numbers"),
        ("REACTION_WHEELS", {"axes": TETRA, "inertia": 0}, "inertia must be above zero"),
        ("REACTION_WHEELS", {"axes": TETRA, "inertia": 1, "speed_limit": 9}, "give limit"),
        ("REACTION_WHEELS", {"axes": TETRA, "inertia": [1, 2]}, "one for each of 4"),
        ("WHEEL_ALLOCATION", {"axes": TETRA, "speed_gain": -1}, "must not be negative"),
        ("CONTROL_MOMENT_GYROS", {"momentum": 1, "lag": 0}, "lag must be above zero"),
        ("CONTROL_MOMENT_GYROS", {"momentum": 1, "spins": TETRA}, "come together"),
        ("CONTROL_MOMENT_GYROS", {"momentum": 1, "spins": TETRA, "gimbals": TETRA},
         "right angles"),
        ("GYRO_STEERING", {"momentum": 1, "damping": 0}, "damping must be above zero"),
        ("MAGNETORQUERS", {"limit": [1, 2]}, "one for each of 3"),
        ("THRUSTER_UNLOADING", {"on": 1, "off": 1, "torque": 1}, "off must be below on"),
    ],
)  # fmt: skip
def test_wrong_parameters_are_told(kind, given, told):
    with pytest.raises((ValueError, InputError)) as caught:
        dynamic_blocks.made(kind, None, **given)
    assert told in str(caught.value)
