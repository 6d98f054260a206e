"""Coupled joints, as mimic joints of URDF, against systems in which one of them is eliminated."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import robots
from scipy.integrate import solve_ivp

import spart_blocks as sb
from spart_blocks.base import errors
from spart_blocks.dynamics import closed_rates, multibody_forces
from spart_blocks.robot import Coupling, Loop

G, RATIO, OFFSET = 9.81, -1.5, 0.2
M1, L1, I1 = 2.0, 0.5, 0.03  # kg, m, kg m^2 about the centre of mass
M2, L2, I2 = 1.5, 0.3, 0.02
J1, J2 = I1 + M1 * L1**2, I2 + M2 * L2**2


def pendulum(name, mass, length, inertia):
    return (
        f'<link name="{name}"><inertial><origin xyz="0 0 {-length}"/><mass value="{mass}"/>'
        f'<inertia ixx="{inertia}" iyy="{inertia}" izz="0.01" ixy="0" ixz="0" iyz="0"/>'
        "</inertial></link>"
    )


def hinge(name, child, x, more=""):
    return (
        f'<joint name="{name}" type="continuous"><parent link="world"/><child link="{child}"/>'
        f'<origin xyz="{x} 0 0"/><axis xyz="0 1 0"/>{more}</joint>'
    )


URDF = "\n".join(
    [
        '<robot name="geared">',
        '<link name="world"/>',
        pendulum("long", M1, L1, I1),
        pendulum("short", M2, L2, I2),
        hinge("a", "long", 0),
        hinge("b", "short", 1, f'<mimic joint="a" multiplier="{RATIO}" offset="{OFFSET}"/>'),
        "</robot>",
    ]
)
DIAGRAM = """
name: geared
robots: {geared: {urdf: geared.urdf}}
blocks:
  gravity: {type: GRAVITY, robot: geared}
  torque: {type: WAVEFORM, wave: sine, freq: 0.5, amplitude: 3}
  both: {type: MUX, nin: 2}
  still: {type: CONSTANT, value: 0.0}
  plant: {type: CLOSED_CHAIN, robot: geared, audit: true, initial: {qm: {a: 0.9}, um: {a: 1.5}}}
wires:
  - gravity.wFm -> plant.wFm
  - torque -> both.0
  - still -> both.1
  - both -> plant.taum
run: {T: 3, every: 0.05, rtol: 1.0e-11, atol: 1.0e-13,
      log: [plant.qm, plant.um, plant.lam]}
"""


@pytest.fixture
def geared(tmp_path):
    (tmp_path / "geared.urdf").write_text(URDF)
    return sb.Robot.from_urdf(tmp_path / "geared.urdf")


def turning(t, q, u):
    """The angle's acceleration with the short pendulum eliminated: q_b = RATIO q + OFFSET."""
    weight = M1 * G * L1 * np.sin(q) + RATIO * M2 * G * L2 * np.sin(RATIO * q + OFFSET)
    return (3 * np.sin(np.pi * t) - weight) / (J1 + RATIO**2 * J2)


@pytest.mark.parametrize(("engine", "T"), [("native", 3.0), ("interpreter", 0.5)])
def test_geared_pendulums_move_as_one_of_their_inertia(tmp_path, geared, engine, T, monkeypatch):
    monkeypatch.setenv("SPART_COMPILER", "none")
    (tmp_path / "diagram.yaml").write_text(DIAGRAM)
    results = sb.simulate(tmp_path / "diagram.yaml", engine=engine, T=T)
    q, u, lam = (results[f"plant.{name}"] for name in ("qm", "um", "lam"))
    found = solve_ivp(
        lambda t, x: [x[1], turning(t, *x)], (0, T), [0.9, 1.5], "DOP853", results.t,
        rtol=1e-12, atol=1e-13,
    )  # fmt: skip
    np.testing.assert_allclose(q[:, 0], found.y[0], atol=1e-8)
    np.testing.assert_allclose(u[:, 0], found.y[1], atol=1e-8)
    # The law holds in position and rate, and its force is what the short pendulum needs.
    np.testing.assert_allclose(q[:, 1], RATIO * q[:, 0] + OFFSET, atol=1e-12)
    np.testing.assert_allclose(u[:, 1], RATIO * u[:, 0], atol=1e-12)
    needed = J2 * RATIO * turning(results.t, q[:, 0], u[:, 0]) + M2 * G * L2 * np.sin(q[:, 1])
    np.testing.assert_allclose(lam[:, 0], needed, atol=1e-7)
    assert np.ptp(results["plant.audit.energy_balance"]) < 1e-8


def test_energy_is_kept_where_nothing_drives(tmp_path, geared, monkeypatch):
    monkeypatch.setenv("SPART_COMPILER", "none")
    (tmp_path / "diagram.yaml").write_text(DIAGRAM)
    diagram = sb.load(tmp_path / "diagram.yaml", overrides=["blocks.torque.amplitude=0"])
    results = sb.simulate(diagram, T=20, every=0.5)
    (qa, qb), (ua, ub) = (results[f"plant.{name}"].T for name in ("qm", "um"))
    energy = 0.5 * (J1 * ua**2 + J2 * ub**2) - G * (M1 * L1 * np.cos(qa) + M2 * L2 * np.cos(qb))
    assert np.ptp(energy) < 1e-8 * np.abs(energy).max()


@pytest.mark.parametrize("prescribed", ["a", "b"])
def test_a_prescribed_joint_moves_its_partner_and_feels_it(geared, prescribed, close):
    robot = geared.with_kinematic([prescribed])
    qa, ua, rise = 0.4, 0.7, 2.0
    ratio = 1 if prescribed == "a" else RATIO
    q, u = np.array([qa, RATIO * qa + OFFSET]), np.array([ua, RATIO * ua])
    zero, weights = np.zeros(6), sb.dynamics.gravity_wrenches([0, 0, -G], robot)
    got = closed_rates(
        np.eye(3), zero, q, u, zero, np.zeros(2), zero, weights.wFm, robot, umdot_k=[rise]
    )
    a = rise / ratio
    close(got.umdot, [a, RATIO * a])
    long = J1 * a + M1 * G * L1 * np.sin(q[0])
    short = J2 * RATIO * a + M2 * G * L2 * np.sin(q[1])
    close(got.tau_k, [(long + RATIO * short) / ratio])


def test_both_joints_cannot_be_prescribed(geared):
    with pytest.raises(errors.RobotError, match="too few freedoms for the prescribed joints"):
        sb.dynamics.kept_rows(geared.with_kinematic(["a", "b"]))


@pytest.mark.parametrize("base", ["fixed", "floating"])
@pytest.mark.parametrize("seed", range(3))
def test_a_tree_with_couplings_accelerates_as_with_its_joints_eliminated(seed, base, close):
    """With um = S v: S'H S vdot = S'(tau - h)."""
    robot = robots.random_robot(40 + seed, 6, kinds="rrp").with_base(base)
    names = robot.active_joints
    laws = [Coupling(names[4], names[1], 1.7, 0.1), Coupling(names[2], names[4], -0.4)]
    ids = robot.robot_keys.joint_id
    loops = [
        Loop(law.joint, "turning coupling", ids[law.other], ids[law.joint], np.eye(4), np.eye(4),
             coupling=law)
        for law in laws
    ]  # fmt: skip
    robot = replace(robot, loops=tuple(loops))
    S = np.delete(np.eye(6), [2, 4], axis=1)
    S[4], S[2] = 1.7 * S[1], -0.4 * 1.7 * S[1]
    s = robots.random_state(robot, seed)
    q = s.qm.copy()
    q[4] = 1.7 * q[1] + 0.1
    q[2] = -0.4 * q[4]
    s = replace(s, qm=q, um=S @ np.random.default_rng(seed).normal(size=4))
    s = s.held() if base == "fixed" else s
    got = closed_rates(s.R0, s.u0, s.qm, s.um, s.tau0, s.taum, s.wF0, s.wFm, robot)
    H, _ = robots.whole(robots.everything(robot, s))
    h = multibody_forces(s.R0, s.u0, s.qm, s.um, np.zeros(6), np.zeros(6), s.wF0, s.wFm, robot)
    free = np.block([[np.eye(6), np.zeros((6, 4))], [np.zeros((6, 6)), S]])
    force = np.concatenate([s.tau0 - h.tau0, s.taum - h.taum])
    if base == "fixed":
        free, H, force = S, H[6:, 6:], force[6:]
    want = free @ np.linalg.solve(free.T @ H @ free, free.T @ force)
    udot = got.umdot if base == "fixed" else np.concatenate([got.u0dot, got.umdot])
    close(udot, want, "udot", rel=1e-9)


def test_a_plant_without_loops_refuses_and_says_what_to_do(geared, tmp_path):
    text = DIAGRAM.replace("CLOSED_CHAIN", "MULTIBODY").replace(", um: {a: 1.5}", "")
    (tmp_path / "diagram.yaml").write_text(text)
    with pytest.raises(errors.InputError, match="use CLOSED_CHAIN, or read the URDF with mimic"):
        sb.load(tmp_path / "diagram.yaml")
    free = text.replace("geared.urdf}", "geared.urdf, mimic: false}").replace(", plant.lam", "")
    (tmp_path / "diagram.yaml").write_text(free)
    assert sb.load(tmp_path / "diagram.yaml")


def test_static_friction_of_both_joints_holds_them_together(tmp_path, geared, monkeypatch):
    """It breaks loose at its own and the partner's, which the ratio brings over."""
    monkeypatch.setenv("SPART_COMPILER", "none")
    (tmp_path / "drives.yaml").write_text(
        "joints:\n  a: {coulomb: 0.5, static: 1.0, stribeck: 0.1}\n"
        "  b: {coulomb: 0.2, static: 0.4, stribeck: 0.1}\n"
    )
    text = DIAGRAM.replace("urdf}", "urdf, drives: drives.yaml}")
    text = text.replace(
        "{type: WAVEFORM, wave: sine, freq: 0.5, amplitude: 3}", "{type: RAMP, T: 0}"
    )
    text = text.replace("  - gravity.wFm -> plant.wFm\n", "").replace(
        "  gravity: {type: GRAVITY, robot: geared}\n", ""
    )
    text = text.replace("initial: {qm: {a: 0.9}, um: {a: 1.5}}", "initial: {qm: {a: 0.9}}")
    (tmp_path / "diagram.yaml").write_text(text)
    results = sb.simulate(tmp_path / "diagram.yaml", T=1.7)
    loose = 1.0 + abs(RATIO) * 0.4
    moving = results.t[np.abs(results["plant.um"][:, 0]) > 1e-9]
    assert loose <= moving[0] <= loose + 0.051
    assert results.events[-1].t == pytest.approx(loose, abs=1e-7)
