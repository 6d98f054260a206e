"""A plant on a spherical joint: a top's closed form, and what a pendulum keeps."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.transform import Rotation
from tops import Top

import spart_blocks as sb
from spart_blocks.diagram import new_diagram

TOP = Top()
PRECISE = {"rtol": 1e-10, "atol": 1e-12}


@pytest.mark.parametrize(("engine", "T"), [("native", 2.0), ("interpreter", 0.2)])
def test_a_top_precesses_steadily_as_in_closed_form(engine, T):
    start, turned = TOP.precession(tilt=0.6, rate=4.0)
    run = sb.simulate(TOP.diagram(start), T=T, engine=engine, **PRECISE)
    off = turned(run.t).inv() * Rotation.from_quat(run["plant.qm"])
    assert off.magnitude().max() < 1e-8
    assert len(run.t) > 3


# Swings that pass close to upright and to hanging, where three angles would be singular;
# about every axis, so that each of the quaternion's entries passes zero.
SWINGS = [[11.0, 0.3, 2.0], [0.2, 11.0, -1.0], [-8.0, 8.0, 0.5]]


@pytest.mark.parametrize(
    ("engine", "um"), [*(("native", um) for um in SWINGS), ("interpreter", SWINGS[0])]
)
def test_a_pendulum_keeps_energy_and_vertical_momentum_over_the_top(engine, um):
    start = {"qm": {"ball": [1.0, 0.0, 0.0, 0.0]}, "um": {"ball": um}}
    run = sb.simulate(TOP.diagram(start), T=1.0, engine=engine, **PRECISE)
    q, w = run["plant.qm"], run["plant.um"]
    height = Rotation.from_quat(q).as_matrix()[:, 2, 2]
    assert height.min() < -0.99
    assert height.max() > 0.9
    np.testing.assert_allclose(np.linalg.norm(q, axis=1), 1.0, rtol=0, atol=1e-12)
    energy, momentum = TOP.energy(q, w), TOP.vertical_momentum(q, w)
    assert np.ptp(energy) < 1e-8 * np.abs(energy).max()
    assert np.ptp(momentum) < 1e-8 * TOP.A * np.abs(w).max()


def test_a_split_run_equals_one_run():
    start, _ = TOP.precession(tilt=1.1, rate=3.0)
    whole = sb.simulate(TOP.diagram(start), T=0.4, **PRECISE)
    half = sb.simulate(TOP.diagram(start), T=0.2, **PRECISE)
    rest = sb.simulate(TOP.diagram(start), T=0.4, initial=half.final_state, **PRECISE)
    np.testing.assert_allclose(rest["plant.qm"][-1], whole["plant.qm"][-1], rtol=0, atol=1e-8)


@pytest.mark.parametrize("engine", ["native", "interpreter"])
def test_a_prescribed_spherical_joint_moves_as_it_is_told(engine):
    robot, um, rate = TOP.robot.with_kinematic(["ball"]), [1.0, -2.0, 0.5], [3.0, 1.0, -2.0]
    bd = new_diagram("told")
    plant = bd.MULTIBODY(robot, initial={"um": {"ball": um}}, audit=True, name="plant")
    inputs = {port.name: plant[k] for k, port in enumerate(plant.in_ports)}
    weight = bd.GRAVITY(robot, gravity=[0, 0, -9.81], name="weight")
    bd.connect(weight[1], inputs["wFm"])
    bd.connect(bd.CONSTANT(np.zeros(3), name="none"), inputs["taum"])
    bd.connect(bd.CONSTANT(np.array(rate), name="rate"), inputs["umdot_k"])
    kept = "plant.audit.energy_balance"
    run = sb.simulate(bd, T=0.1, engine=engine, log=[kept], **PRECISE)
    want = np.array(um) + run.t[:, None] * rate
    np.testing.assert_allclose(run["plant.um"], want, rtol=0, atol=1e-12)
    # What holds it, tau_k, does the work that its energy needs.
    assert np.ptp(run["plant.audit.energy"]) > 1e-3
    assert np.ptp(run[kept]) < 1e-9
