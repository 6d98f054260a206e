"""Static friction above Coulomb's: a joint breaks loose at it, and stick-slip is right.

The reference is a mass that is pulled through a spring at constant speed, its phases
integrated apart, each to its own event (Armstrong-Helouvry et al. 1994, sec. 4.1).
"""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import spart_blocks as sb
from spart_blocks import dynamics
from spart_blocks.export import export_fmu, step_code, verify, verify_fmu
from spart_blocks.program.subdiagram import subdiagram_of
from spart_blocks.robot import Robot
from spart_blocks.robot.link import Link

MASS, STIFFNESS, SPEED = 1.0, 100.0, 0.1  # kg, N/m, m/s
COULOMB, STATIC, STRIBECK, VISCOUS = 3.0, 5.0, 0.05, 0.5  # N, N, m/s, N s/m
TIGHT = {"rtol": 1e-10, "atol": 1e-12}
LAW = {"coulomb": COULOMB, "static": STATIC, "stribeck": STRIBECK, "viscous": VISCOUS}


def slider(**law):
    """A mass on a rail."""
    link = Link([0, 0, 0, 0, 1])
    link.m = MASS
    return Robot.from_links([link]).with_drives({"joints": {"j1": law}})


def friction(v):
    """Of a mass that slides forwards [N]."""
    return COULOMB + (STATIC - COULOMB) * np.exp(-((v / STRIBECK) ** 2)) + VISCOUS * v


@pytest.fixture
def pulled(diagram, wire):
    """A mass that the end of a spring pulls."""

    def make(**more):
        bd = diagram()
        bd.RAMP(T=0, slope=SPEED, name="end")
        bd.SUM("+-", name="stretch")
        bd.GAIN(STIFFNESS, name="spring")
        bd.MULTIBODY(slider(**LAW), name="plant", **more)
        wire(bd, "end -> stretch.0", "plant.qm -> stretch.1", "stretch -> spring")
        wire(bd, "spring -> plant.taum")
        return bd

    return make


def reference(T):
    """Times (m,) [s] at which the mass breaks loose and sticks, in turn."""
    t, x, times = 0.0, 0.0, []

    def slide(t, s):
        return [s[1], (STIFFNESS * (SPEED * t - s[0]) - friction(s[1])) / MASS]

    def rests(t, s):
        return s[1]

    rests.terminal, rests.direction = True, -1
    while True:
        t = (STATIC / STIFFNESS + x) / SPEED  # where the spring overcomes static friction
        if t > T:
            return np.array(times)
        times.append(t)
        found = solve_ivp(
            slide, (t, t + 2), [x, 0.0], "DOP853", events=rests, rtol=1e-12, atol=1e-14
        )
        t, x = found.t_events[0][0], found.y_events[0][0][0]
        if t > T:
            return np.array(times)
        times.append(t)


def test_a_pulled_mass_sticks_and_slips_as_the_reference(pulled, simulate):
    T = 1.9
    options = {"rtol": 1e-9, "atol": 1e-11}
    results, times = simulate(pulled(audit=True), T=T, every=0.05, **options), reference(T)
    assert len(times) == 4
    got = np.array([event.t for event in results.events])
    np.testing.assert_allclose(got, times, rtol=0, atol=5e-7)
    # A limit cycle from the first slip on.
    period = np.diff(reference(4.0)[::2])
    assert len(period) == 3
    np.testing.assert_allclose(period, period[0], rtol=1e-9)
    np.testing.assert_allclose(np.diff(got[::2]), period[0], rtol=0, atol=5e-7)
    held = results["plant.modes"][:, 0] == 0
    assert held.any()
    assert np.all(results["plant.um"][held] == 0)
    assert np.ptp(results["plant.audit.energy_balance"]) < 1e-8


def test_as_fast_as_friction_needs_the_mass_slides_on(diagram, wire, simulate):
    """Where friction no longer falls with velocity, sliding is stable."""
    speed = 0.3  # m/s: exp(-36), nothing of static friction is left
    bd = diagram()
    bd.RAMP(T=0, slope=speed, name="end")
    bd.SUM("+-", name="stretch")
    bd.GAIN(STIFFNESS, name="spring")
    start = -friction(speed) / STIFFNESS
    bd.MULTIBODY(slider(**LAW), initial={"qm": [start], "um": [speed]}, name="plant")
    wire(bd, "end -> stretch.0", "plant.qm -> stretch.1", "stretch -> spring")
    wire(bd, "spring -> plant.taum")
    results = simulate(bd, T=2, every=0.1, **TIGHT)
    assert results.events == ()
    np.testing.assert_allclose(results["plant.um"], speed, rtol=0, atol=1e-9)


@pytest.mark.parametrize(("force", "mode"), [(4.9999, 0), (5.0001, 1), (-1.9999, 0), (-2.0001, -1)])
def test_a_joint_breaks_loose_at_static_friction(diagram, wire, simulate, force, mode):
    law = {"coulomb": [3, -1], "static": [5, -2], "stribeck": 0.05}
    bd = diagram()
    bd.CONSTANT(np.array([force]), name="push")
    bd.MULTIBODY(slider(**law), name="plant")
    wire(bd, "push -> plant.taum")
    results = simulate(bd, T=0.1, every=0.05)
    assert results["plant.modes"][-1] == mode


def test_the_gear_carries_over(close):
    """At the motor of a gear of -20: |G| Ts at the joint, and vs / |G|."""
    geared = slider(gear=-20, coulomb=0.15, static=[0.25, -0.2], stribeck=1.0, viscous=1.25e-3)
    for v in (0.0, 1e-3, 0.05, 0.2, -0.03, -1.0):
        top = 5.0 if v > 0 else 4.0
        fall = 3 + (top - 3) * np.exp(-((v / 0.05) ** 2))
        want = np.sign(v) * fall + 0.5 * v
        close(dynamics.friction_load(np.array([v]), geared), [want], f"at {v}")
    assert dynamics.joint_effects(geared).static.tolist() == [[5, -4]]


def test_static_friction_without_coulomb_s_sticks_too(close):
    robot = slider(static=2.0, stribeck=0.1)
    assert dynamics.joint_effects(robot).sticking == (0,)
    close(dynamics.friction_load(np.array([0.1]), robot), [2 * np.exp(-1)])
    none = robot.with_effects(["motors"])
    assert not dynamics.friction_load(np.array([0.1]), none).any()


DIAGRAM = """
name: pulled
robots: {block: {links: slider.yaml, drives: friction.yaml}}
blocks:
  end: {type: RAMP, T: 0, slope: 0.1}
  stretch: {type: SUM, signs: "+-"}
  spring: {type: GAIN, K: 100}
  plant: {type: MULTIBODY, robot: block}
wires: [end -> stretch.0, "plant.qm[0] -> stretch.1", stretch -> spring, spring -> plant.taum]
run: {T: 1.2, log: [plant.qm, plant.um, plant.modes]}
"""


@pytest.fixture
def exported(tmp_path):
    (tmp_path / "slider.yaml").write_text("links: [{dh: [0, 0, 0, 0, 1], m: 1}]")
    law = ", ".join(f"{key}: {value}" for key, value in LAW.items())
    (tmp_path / "friction.yaml").write_text(f"joints: {{j1: {{{law}}}}}")
    (tmp_path / "pulled.yaml").write_text(DIAGRAM)
    return subdiagram_of(sb.load(tmp_path / "pulled.yaml"))


def test_exported_c_has_the_same_friction(exported):
    code = step_code(exported, rate=1000, method="RK4")
    found = verify(code, np.zeros((1200, 0)))
    assert found.passed, found


def test_an_fmu_has_the_same_friction(exported, tmp_path):
    path = export_fmu(exported, tmp_path, 3)
    found = verify_fmu(path, exported, horizon=1.2)
    assert found.passed, found


@pytest.mark.parametrize("engine", ["native", "interpreter"])
def test_a_run_tells_which_joint_sticks_and_which_slips(engine):
    results = sb.simulate("diagrams/joints/friction.yaml", T=0.9, engine=engine)
    told = [event.what for event in results.events]
    assert told[:3] == ["joint 'j2' slips", "joint 'j3' slips", "joint 'j1' slips"]
    assert told[3] == "joint 'j3' sticks"
