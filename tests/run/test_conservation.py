"""Sixty seconds afloat: momentum stays, and energy is the work of the joints."""

from __future__ import annotations

import numpy as np
import pytest
import robots

import spart_blocks as sb
from spart_blocks import dynamics

FREQUENCIES = np.array([0.9, 1.3, 1.7])
START = {"qm": [0.3, -0.5, 0.8], "u0": [0.02, -0.03, 0.01, 0.05, -0.02, 0.03]}


def afloat(bd, robot, wire, push):
    """A free-flyer whose joints are driven by sinusoids through the given gain `push`."""
    for i, f in enumerate(FREQUENCIES):
        bd.WAVEFORM(wave="sine", freq=f, unit="rad/s", amplitude=0.3 / (1 + i), name=f"wave{i}")
    bd.MUX(3, name="tau")
    bd.GAIN(push, name="push")
    bd.FUNCTION(lambda a, b: a @ b, nin=2, name="dot")
    bd.INTEGRATOR(name="work")
    bd.MULTIBODY(robot, initial=START, name="plant")
    wire(
        bd,
        *(f"wave{i} -> tau.{i}" for i in range(3)),
        "tau -> push, dot.0",
        "push -> plant.taum",
        "plant.um -> dot.1",
        "dot -> work",
    )
    return bd


def momenta(robot, res):
    """Linear and angular momentum and kinetic energy of every sample, by the functions."""
    rows = []
    names = ("R0", "r0", "qm", "u0", "um")
    for R0, r0, qm, u0, um in zip(*(res[f"plant.{name}"] for name in names), strict=True):
        K = dynamics.kinematics(R0, r0, qm, robot)
        D = dynamics.diff_kinematics(R0, r0, K.rL, K.e, K.g, robot)
        V = dynamics.velocities(*D, u0, um, robot)
        I = dynamics.inertias(R0, K.RL, robot)
        p, h = dynamics.momentum(*V, *I, r0, K.rL, robot)
        rows.append(np.concatenate([p, h, dynamics.kinetic_energy(*V, *I, robot)]))
    rows = np.array(rows)
    return rows[:, :3], rows[:, 3:6], rows[:, 6]


def assert_conserved(robot, res):
    p, h, energy = momenta(robot, res)
    assert np.ptp(p, axis=0).max() < 1e-9 * np.abs(p).max(), "linear momentum drifts"
    assert np.ptp(h, axis=0).max() < 1e-9 * np.abs(h).max(), "angular momentum drifts"
    balance = energy - res["work"].ravel()
    assert np.ptp(balance) < 1e-8 * np.abs(energy).max(), "energy is not the joints' work"


@pytest.mark.parametrize(("engine", "T"), [("native", 60), ("interpreter", 6)])
def test_momentum_stays_and_energy_is_the_joints_work_all_along(
    spacecraft, diagram, wire, engine, T
):
    bd = afloat(diagram(), spacecraft, wire, push=1.0)
    res = sb.simulate(bd, engine=engine, T=T, every=T / 60, rtol=1e-11, atol=1e-13, solver="DOP853")
    assert np.ptp(res["plant.qm"], axis=0).min() > 0.05  # the arm does move
    assert_conserved(spacecraft, res)


def test_a_wrong_sign_in_the_wiring_breaks_the_energy_balance(spacecraft, diagram, wire, simulate):
    bd = afloat(diagram(), spacecraft, wire, push=-1.0)
    res = simulate(bd, T=5, every=1, rtol=1e-11, atol=1e-13, solver="DOP853")
    with pytest.raises(AssertionError, match="energy is not the joints' work"):
        assert_conserved(spacecraft, res)


def test_an_external_push_breaks_the_momentum_balance(spacecraft, diagram, wire, simulate):
    bd = afloat(diagram(), spacecraft, wire, push=1.0)
    bd.CONSTANT(np.array([0, 0, 0, 1e-6, 0, 0]), name="wF0")
    wire(bd, "wF0 -> plant.wF0")
    res = simulate(bd, T=5, every=1, rtol=1e-11, atol=1e-13, solver="DOP853")
    with pytest.raises(AssertionError, match="momentum drifts"):
        assert_conserved(spacecraft, res)


def test_audit_keeps_the_same_books(spacecraft, diagram, wire, simulate):
    bd = afloat(diagram(), spacecraft, wire, push=1.0)
    bd.AUDIT(spacecraft, name="audit")
    bd.CONSTANT(np.array([0.1, -0.2, 0.3, 1, 2, 3]), name="tau0")
    wire(
        bd,
        "push -> audit.taum",
        "tau0 -> plant.tau0, audit.tau0",
        *(f"plant.{name} -> audit.{name}" for name in ("R0", "r0", "qm", "u0", "um")),
    )
    res = simulate(bd, T=3, every=0.25, rtol=1e-11, atol=1e-13, solver="DOP853")
    p, h, energy = momenta(spacecraft, res)
    np.testing.assert_allclose(res["audit.p"], p, rtol=0, atol=1e-11 * np.abs(p).max())
    np.testing.assert_allclose(res["audit.h"], h, rtol=0, atol=1e-11 * np.abs(h).max())
    for name, scale in (("p", p), ("h", h), ("energy", energy)):
        assert np.ptp(res[f"audit.{name}_balance"], axis=0).max() < 1e-9 * np.abs(scale).max()
    assert np.ptp(p[:, 0]) > 1  # the base force does push


@pytest.mark.parametrize("case", ["A_moving", "B_rest"])
def test_the_dual_arm_spacecraft_moves_as_its_reference(
    case, golden, diagram, wire, simulate, close
):
    reference = golden("floating_momentum")
    given, want = reference["cases"][case]["initial"], reference["cases"][case]["reference"]
    robot = robots.Robot.from_urdf(robots.ROOT / "models/dual_arm.urdf")
    R = robots.Rotation.from_quat(given["base_quat_xyzw"]).as_matrix()
    torque = {key: np.array(reference["torque"][key]) for key in ("amp", "w", "p")}
    bd = diagram()
    start = {
        "r0": given["base_pos"],
        "quaternion": given["base_quat_xyzw"],
        "omega0": given["base_angular_velocity_body"],
        "v0": R @ given["base_linear_velocity_body"],
        "qm": dict(zip(reference["torque"]["joints"], given["joint_pos"], strict=True)),
        "um": dict(zip(reference["torque"]["joints"], given["joint_vel"], strict=True)),
    }
    bd.MULTIBODY(robot, initial=start, base_frame="urdf", name="plant")
    # amp cos(w t + p) as bdsim has it: a sine three quarters of a cycle later.
    bd.MUX(6, name="tau")
    for i, (amp, w, p) in enumerate(zip(*torque.values(), strict=True)):
        assert p == 0
        bd.WAVEFORM(wave="sine", freq=w, unit="rad/s", amplitude=amp, phase=0.75, name=f"w{i}")
        wire(bd, f"w{i} -> tau.{i}")
    wire(bd, "tau -> plant.taum")
    every = want["t"][1]
    res = simulate(bd, T=want["t"][-1], every=every, rtol=1e-12, atol=1e-13, solver="DOP853")
    close(res.t, want["t"], "t")
    close(res["plant.qm"], want["joint_pos"], "joint positions", rel=1e-9)
    close(res["plant.um"], want["joint_vel"], "joint rates", rel=1e-9)
    T = robot.base_link.T
    R0, r0 = res["plant.R0"], res["plant.r0"]
    R = R0 @ T[:3, :3].T
    r = r0 - R @ T[:3, 3]
    close(r, want["base_pos"], "base position", rel=1e-9, floor=1e-10)
    wanted = robots.Rotation.from_quat(want["base_quat_xyzw"]).as_matrix()
    close(R, wanted, "base rotation", rel=1e-9)
    com = [
        dynamics.center_of_mass(a, dynamics.kinematics(A, a, q, robot).rL, robot)
        for A, a, q in zip(R0, r0, res["plant.qm"], strict=True)
    ]
    close(com, want["com_world"], "centre of mass", rel=1e-9)
    p, h, energy = momenta(robot, res)
    told = reference["cases"][case]
    scale = 2.0
    assert np.abs(p - told["linear_momentum_world"]).max() < 1e-9 * scale
    assert np.abs(h - told["angular_momentum_about_world_origin"]).max() < 1e-9 * scale
    close(energy, want["kinetic_energy"], "kinetic energy", rel=1e-8)
