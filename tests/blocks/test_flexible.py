"""Flexible appendages, slosh and docking contact: against links, closed forms and conservation."""

from __future__ import annotations

import json

import dynamic_blocks
import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import spart_blocks as sb
from spart_blocks.base.errors import InputError

ENGINES = ("native", "interpreter")
I3 = np.eye(3).tolist()


def body(folder, name, mass, inertia, wheel=None):
    """A free body, with a flywheel on a hinge about an axis at its centre of mass."""
    bodies = {"base": {"mass": mass, "inertia": np.asarray(inertia).tolist()}}
    joints = {}
    if wheel is not None:
        turn = Rotation.align_vectors([wheel[0]], [[0, 0, 1]])[0].as_matrix()
        bodies["w"] = {"mass": 1.0, "inertia": [wheel[1], wheel[1], wheel[1]]}
        joints["j"] = {"type": "Rz", "parent": "base", "child": "w",
                       "parent_frame": {"rotation": turn.tolist()}}  # fmt: skip
    text = {"name": name, "bodies": bodies, "joints": joints}
    (folder / f"{name}.json").write_text(json.dumps(text))
    return {"bodies": f"{name}.json"}


def simulated(folder, robots, blocks, wires, T, log, engine="native", **run):
    run = {"T": T, "rtol": 1e-10, "atol": 1e-12, "log": log, **run}
    text = {"robots": robots, "blocks": blocks, "wires": wires, "run": run}
    (folder / "it.yaml").write_text(json.dumps(text))
    return sb.simulate(folder / "it.yaml", engine=engine)


def test_an_appendage_moves_the_base_as_a_flywheel_on_a_spring(tmp_path):
    """A flywheel of inertia J about the unit axis a on a spring and a damper is a mode with the
    participation sqrt(J) a; a ball, so that it has the same inertia about every axis."""
    axis, J, w, z = np.array([0.6, 0.0, 0.8]), 0.3, 3.0, 0.02
    inertia = np.diag([1.0, 1.5, 2.0])
    d = np.sqrt(J) * axis
    robots = {
        "with": body(tmp_path, "with", 10.0, inertia, (axis, J)),
        "alone": body(tmp_path, "alone", 11.0, inertia + J * np.eye(3) - np.outer(d, d)),
    }
    start = {"u0": [0.5, -0.3, 0.4, 0, 0, 0]}
    # The flywheel turns by -0.1 rad/s: as one at rest on a base that turns so much less about a.
    rate = (np.array([0.5, -0.3, 0.4]) - 0.1 * axis).tolist()
    blocks = {
        "links": {"type": "MULTIBODY", "robot": "with",
                  "initial": {**start, "qm": [0.2], "um": [-0.1]}},
        "spring": {"type": "FCN", "arguments": ["q", "u"],
                   "expression": [f"-{J * w * w}*q[0] - {J * 2 * z * w}*u[0]"]},
        "one": {"type": "MULTIBODY", "robot": "alone", "initial": start},
        "modes": {"type": "FLEXIBLE_APPENDAGE", "frequency": w, "damping": z,
                  "participation": [d.tolist()], "q0": [0.2 * np.sqrt(J)], "omega0": rate},
    }  # fmt: skip
    wires = ["links.qm -> spring.q", "links.um -> spring.u", "spring -> links.taum",
             "one.u0 -> modes.u0", "modes.tau0 -> one.tau0"]  # fmt: skip
    log = ["links.u0", "one.u0", "links.qm", "modes.q"]
    results = simulated(tmp_path, robots, blocks, wires, 4.0, log, every=0.1)
    np.testing.assert_allclose(results["one.u0"], results["links.u0"], atol=1e-8)
    np.testing.assert_allclose(results["modes.q"], np.sqrt(J) * results["links.qm"], atol=1e-8)


@pytest.mark.parametrize("engine", ENGINES)
def test_a_free_base_raises_the_frequency_of_a_mode(tmp_path, engine):
    """w / sqrt(1 - d^2 / I); momentum and, without damping, energy are kept."""
    I, d, w = 4.0, 1.2, 2.0
    robots = {"sat": body(tmp_path, "sat", 10.0, np.diag([3.0, 3.5, I - d * d]))}
    blocks = {
        "sat": {"type": "MULTIBODY", "robot": "sat"},
        "modes": {"type": "FLEXIBLE_APPENDAGE", "frequency": w, "damping": 0.0,
                  "participation": [[0, 0, d]], "q0": [0.1]},
    }  # fmt: skip
    wires = ["sat.u0 -> modes.u0", "modes.tau0 -> sat.tau0"]
    log = ["sat.u0", "modes.q", "modes.h"]
    results = simulated(tmp_path, robots, blocks, wires, 5.0, log, engine)
    free = w / np.sqrt(1 - d * d / I)
    np.testing.assert_allclose(
        results["modes.q"].ravel(), 0.1 * np.cos(free * results.t), atol=1e-8
    )
    total = (I - d * d) * results["sat.u0"][:, 2] + results["modes.h"][:, 2]
    np.testing.assert_allclose(total, 0, atol=1e-10)


TANK = {"robot": "sat", "frame": "base", "offset": [0.3, 0.1, 0.2]}


def sloshing(**fuel):
    """Blocks and wires of a satellite that turns, with fuel in a tank beside its centre of mass."""
    start = {"u0": [0.2, -0.1, 0.3, 0.01, 0.02, -0.03]}
    blocks = {
        "sat": {"type": "MULTIBODY", "robot": "sat", "initial": start},
        "tank": {"type": "END_EFFECTOR", **TANK},
        "fuel": {"type": "SLOSH", "mass": 2.0, "frequency": [2.0, 2.5, 3.0], **fuel},
        "push": {"type": "LINK_WRENCH", **TANK},
    }
    wires = ["sat.R0 -> tank.R0, push.R0", "sat.r0 -> tank.r0, push.r0",
             "sat.qm -> tank.qm, push.qm", "sat.u0 -> tank.u0", "sat.um -> tank.um",
             "tank.R -> fuel.R", "tank.tp -> fuel.tp", "fuel.wrench -> push.wrench",
             "push.wF0 -> sat.wF0"]  # fmt: skip
    return blocks, wires


def test_slosh_keeps_momentum_and_angular_momentum(tmp_path):
    inertia = np.array([3.0, 4.0, 5.0])
    robots = {"sat": body(tmp_path, "sat", 10.0, inertia)}
    blocks, wires = sloshing(damping=0.05, s0=[0.05, -0.02, 0.1], v0=[0.1, 0, 0])
    log = ["sat.R0", "sat.r0", "sat.u0", "tank.rp", "tank.R", "fuel.s"]
    results = simulated(tmp_path, robots, blocks, wires, 5.0, log, every=0.25)
    v_fuel = results.states["fuel"][:, 3:]
    R = results["sat.R0"].reshape(-1, 3, 3)
    at = results["tank.rp"] + np.einsum("tij,tj->ti", R, results["fuel.s"])
    u0 = results["sat.u0"]
    p = 10 * u0[:, 3:] + 2 * v_fuel
    spin = np.einsum("tij,tj->ti", R, inertia * u0[:, :3])
    h = spin + 10 * np.cross(results["sat.r0"], u0[:, 3:]) + 2 * np.cross(at, v_fuel)
    for kept in (p, h):
        np.testing.assert_allclose(kept, np.tile(kept[0], (len(kept), 1)), atol=1e-8)
    assert np.ptp(results["fuel.s"], axis=0).min() > 0.05


def test_a_tank_held_by_hand_has_the_frequency_of_its_fuel():
    block = dynamic_blocks.made("SLOSH", None, mass=2.0, frequency=[2.0, 2.5, 3.0], damping=0.1)
    x = np.array([0.1, 0.2, 0.3, 1.0, 0.0, 0.0])
    wrench, s = block.output(0.0, [np.eye(3), np.zeros(6), np.zeros(3)], x)
    f = 2.0 * (np.array([4, 6.25, 9]) * x[:3] + 0.2 * np.array([2, 2.5, 3]) * x[3:])
    np.testing.assert_allclose(wrench, np.append(np.cross(s, f), f))
    rate = block.deriv(0.0, [np.eye(3), np.zeros(6), np.array([0, 0, -9.81])], x)
    np.testing.assert_allclose(rate, np.append(x[3:], [0, 0, -9.81] - f / 2))


def test_a_wrench_at_a_link_is_one_at_its_centre_of_mass():
    robot = sb.Robot.from_urdf("models/spacecraft_3dof.urdf")
    block = dynamic_blocks.made("LINK_WRENCH", None, robot=robot, frame=3, offset=[0.1, 0.2, 0.3])
    point = dynamic_blocks.made("END_EFFECTOR", None, robot=robot, frame=3, offset=[0.1, 0.2, 0.3])
    rng = np.random.default_rng(0)
    R0 = Rotation.from_rotvec(rng.normal(size=3)).as_matrix()
    r0, qm, u = rng.normal(size=3), rng.normal(size=robot.nq), rng.normal(size=6 + robot.nu)
    wrench = rng.normal(size=6)
    wF0, wFm = block.output(0.0, [wrench, R0, r0, qm], None)
    assert (wF0 == 0).all()
    assert (np.delete(wFm, 2, axis=0) == 0).all()
    # The power is the same, for any motion.
    tp = point.output(0.0, [R0, r0, qm, u[:6], u[6:]], None)[3]
    middle = sb.dynamics.kinematics(R0, r0, qm, robot).rL[2]
    rp = point.output(0.0, [R0, r0, qm, u[:6], u[6:]], None)[0]
    there = np.append(tp[:3], tp[3:] + np.cross(tp[:3], middle - rp))
    assert wFm[2] @ there == pytest.approx(wrench @ tp, rel=1e-12)


# --- contact -----------------------------------------------------------------------------------

CONE = {"radius": 0.05, "half_angle": 0.7, "stiffness": 1e4}


def contact(tip, tp=(0,) * 6, R=None, apex=(0, 0, 0), t_apex=(0,) * 6, **given):
    block = dynamic_blocks.made("DOCKING_CONTACT", None, **{**CONE, **given})
    inputs = [tip, tp, apex, np.eye(3) if R is None else R, t_apex]
    return block.output(0.0, [np.array(value, float) for value in inputs], None)


def test_a_tip_touches_the_wall_of_a_cone_and_no_air():
    # On the wall at distance 0.4 from the apex, the centre is a radius off it.
    wall = 0.4 * np.array([np.sin(0.7), 0, np.cos(0.7)])
    inward = np.array([-np.cos(0.7), 0, np.sin(0.7)])
    wrench_a, _, force, depth = contact(wall + 0.049 * inward)
    assert depth == pytest.approx(1e-3)
    assert force == pytest.approx(1e4 * 1e-3**1.5)
    np.testing.assert_allclose(wrench_a, np.append(np.zeros(3), force * inward), atol=1e-12)
    for where in (wall + 0.051 * inward, wall * 3):
        _, wrench_b, force, _ = contact(where + 0.0, mouth=0.5)
        assert force == 0
        assert (wrench_b == 0).all()


def test_what_acts_on_one_acts_back_on_the_other_and_friction_brakes():
    R = Rotation.from_rotvec([0.3, 0.2, -0.4]).as_matrix()
    apex, rng = np.array([1.0, 2.0, 3.0]), np.random.default_rng(1)
    tip = apex + R @ [0.2, 0.1, 0.28]
    tp, t_apex = 0.1 * rng.normal(size=6), 0.1 * rng.normal(size=6)
    given = {"friction": 0.3, "dissipation": 1.0}
    a, b, force, depth = contact(tip, tp, R, apex, t_apex, **given)
    assert depth > 0
    assert force > 0
    np.testing.assert_allclose(a[3:], -b[3:])
    about_origin = a[:3] + np.cross(tip, a[3:]) + b[:3] + np.cross(apex, b[3:])
    np.testing.assert_allclose(about_origin, 0, atol=1e-10)
    assert a @ tp + b @ t_apex < force * 0.3  # friction takes power, the normal force moves it
    assert np.linalg.norm(a[3:]) == pytest.approx(force * np.sqrt(1.09), rel=1e-3)


@pytest.mark.parametrize("engine", ENGINES)
def test_a_probe_bounces_off_a_plane_with_its_restitution(tmp_path, engine):
    """Hunt and Crossley with exponent n and dissipation d: the speed v out of v0 fulfils
    d (v0 + v) = log((1 + d v0) / (1 - d v)), from v' = - F / m and F = K x^n (1 - d v)."""
    v0, d = 0.3, 0.8
    blocks = {
        "contact": {"type": "DOCKING_CONTACT", "radius": 0.05, "half_angle": np.pi / 2,
                    "stiffness": 1e5, "dissipation": d},
        "tip": {"type": "FCN", "arguments": ["z"], "expression": ["0", "0", "z"]},
        "twist": {"type": "FCN", "arguments": ["v"], "expression": ["0", "0", "0", "0", "0", "v"]},
        "apex": {"type": "CONSTANT", "value": [0.0, 0.0, 0.0]},
        "R": {"type": "CONSTANT", "value": I3},
        "still": {"type": "CONSTANT", "value": [0.0] * 6},
        "a": {"type": "GAIN", "K": 0.5}, "v": {"type": "INTEGRATOR", "x0": -v0},
        "z": {"type": "INTEGRATOR", "x0": 0.1},
    }  # fmt: skip
    wires = ["z -> tip", "v -> twist, z", "tip -> contact.rp", "twist -> contact.tp",
             "apex -> contact.r_apex", "R -> contact.R", "still -> contact.t_apex",
             "contact.wrench_a[5] -> a", "a -> v"]  # fmt: skip
    results = simulated(tmp_path, {}, blocks, wires, 0.4, ["v", "contact.force"], engine)
    v = results["v"][-1].item()
    assert results["contact.force"][-1] == 0
    assert d * (v0 + v) == pytest.approx(np.log((1 + d * v0) / (1 - d * v)), rel=1e-6)
    assert v / v0 == pytest.approx(1 - 2 / 3 * d * v0, abs=0.03)


# --- every engine, and what is wrong -----------------------------------------------------------


def test_both_engines_exported_c_and_an_fmu_give_the_same(tmp_path):
    robots = {"sat": body(tmp_path, "sat", 10.0, [3.0, 4.0, 5.0])}
    blocks, wires = sloshing(damping=0.05, s0=[0.05, -0.02, 0.1])
    blocks |= {
        "modes": {"type": "FLEXIBLE_APPENDAGE", "frequency": [2.0, 3.0], "damping": 0.01,
                  "participation": [[0.2, 0, 0.1], [0, 0.3, 0]], "q0": [0.1, 0.2]},
        "contact": {"type": "DOCKING_CONTACT", **CONE, "friction": 0.2, "mouth": 0.6},
        "apex": {"type": "CONSTANT", "value": [0.2, 0.0, 0.0]},
        "R": {"type": "CONSTANT", "value": I3}, "still": {"type": "CONSTANT", "value": [0.0] * 6},
        "both": {"type": "SUM", "signs": "++"},
    }  # fmt: skip
    wires = [wire for wire in wires if not wire.startswith("fuel.wrench")]
    wires += ["sat.u0 -> modes.u0", "modes.tau0 -> sat.tau0", "tank.rp -> contact.rp",
              "tank.tp -> contact.tp", "apex -> contact.r_apex", "R -> contact.R",
              "still -> contact.t_apex", "fuel.wrench -> both.0", "contact.wrench_a -> both.1",
              "both -> push.wrench"]  # fmt: skip
    log = ["sat.u0", "fuel.s", "modes.q", "contact.force"]
    run = {"every": 0.05}
    native, blocks_ = (
        simulated(tmp_path, robots, blocks, wires, 1.0, log, engine, **run) for engine in ENGINES
    )
    assert native["contact.force"].max() > 0.1
    dynamic_blocks.assert_same_results(native, blocks_, rel=1e-6)
    part = dynamic_blocks.subdiagram_of(tmp_path / "it.yaml", [])
    dynamic_blocks.check_exports(part, tmp_path, rate=1000, horizon=0.5)


@pytest.mark.parametrize(
    ("kind", "given", "told"),
    [
        ("FLEXIBLE_APPENDAGE", {"participation": [1, 2]}, "rows of three"),
        ("FLEXIBLE_APPENDAGE", {"frequency": [1.0, 2.0]}, "frequency has 2 entries"),
        ("FLEXIBLE_APPENDAGE", {"damping": -1}, "must not be negative"),
        ("SLOSH", {"mass": 0, "frequency": 1}, "mass must be above zero"),
        ("SLOSH", {"mass": 1, "frequency": [1, 2]}, "one for each of 3"),
        ("DOCKING_CONTACT", {"half_angle": 2.0}, "at most 1.5708"),
        ("DOCKING_CONTACT", {"exponent": 0.5}, "at least 1"),
    ],
)
def test_wrong_parameters_are_told(kind, given, told):
    if kind == "FLEXIBLE_APPENDAGE":
        given = {"frequency": 1.0, "damping": 0.0, "participation": [[0, 0, 1.0]], **given}
    if kind == "DOCKING_CONTACT":
        given = {**CONE, **given}
    with pytest.raises((ValueError, InputError)) as caught:
        dynamic_blocks.made(kind, None, **given)
    assert told in str(caught.value)
