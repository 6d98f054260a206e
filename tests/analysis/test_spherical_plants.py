"""Points of rest, linear systems, gains and results of a plant on a spherical joint."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.transform import Rotation
from tops import Top

import spart_blocks as sb
from spart_blocks.base.errors import InputError

TOP = Top()
HANGING = {"qm": {"ball": [1.0, 0.0, 0.0, 0.0]}}
UPRIGHT = {"qm": {"ball": [0.0, 0.0, 0.0, 1.0]}}


def test_a_hanging_top_swings_at_the_rate_of_a_pendulum():
    system = sb.linearize(TOP.diagram(HANGING), inputs="torque", outputs="plant.um")
    rate = np.sqrt(TOP.weight / TOP.A)
    # Two swings, a turn about the axis that nothing holds, and the quaternion's length.
    want = [0.0, 0.0, rate * 1j, -rate * 1j, rate * 1j, -rate * 1j, -2.0]
    found = np.sort_complex(np.round(system.poles(), 6))
    np.testing.assert_allclose(found, np.sort_complex(np.round(want, 6)), atol=2e-6)


def test_a_gain_has_three_columns_for_a_spherical_joint_and_balances_the_top():
    gain = sb.lqr(TOP.diagram(UPRIGHT), "plant", {"qm.ball": 1.0, "um.ball.x": 2.0}, {"taum": 1})
    assert gain.states == tuple(f"plant.{part}[{k}]" for part in ("qm", "um") for k in range(3))
    assert gain.K.shape == (3, 6)
    # About x the top is A q'' = m g l q + tau: the scalar problem on its own.
    rows = [0, 3]
    np.testing.assert_allclose(gain.A[np.ix_(rows, rows)], [[0, 1], [TOP.weight / TOP.A, 0]],
                               atol=1e-9)  # fmt: skip
    np.testing.assert_allclose(gain.B[rows, 0], [0, 1 / TOP.A], atol=1e-9)
    assert (gain.poles.real < 0).all()


def test_an_lqr_block_brings_a_top_to_the_orientation_it_is_told():
    qd = Rotation.from_rotvec([0.0, 0.0, 2.5])
    start = {"qm": {"ball": (Rotation.from_rotvec([0.4, -0.5, 0.0]) * qd).as_quat().tolist()}}
    bd = TOP.diagram(start)
    plant = next(block for block in bd.blocklist if block.name == "plant")
    bd.wirelist[:] = [w for w in bd.wirelist if w.start.block.name != "torque"]
    bd.blocklist[:] = [block for block in bd.blocklist if block.name != "torque"]
    design = {"lqr": {"plant": "plant", "Q": {"qm": 3.0, "um": 1.0}, "R": {"taum": 1.0}}}
    setpoint = {"qm": {"ball": qd.as_quat().tolist()}}
    ctrl = bd.LQR(design, robot=TOP.robot, setpoint=setpoint, name="ctrl")
    inputs = {port.name: k for k, port in enumerate(ctrl.in_ports)}
    outputs = {port.name: k for k, port in enumerate(plant.out_ports)}
    for name in ("qm", "um"):
        bd.connect(plant[outputs[name]], ctrl[inputs[name]])
    bd.connect(ctrl[0], plant[[p.name for p in plant.in_ports].index("taum")])
    run = sb.simulate(bd, T=8.0)
    left = Rotation.from_quat(run["plant.qm"][-1]) * qd.inv()
    assert left.magnitude() < 1e-3
    assert np.abs(run["plant.um"][-1]).max() < 1e-3


def test_a_leaning_top_is_held_by_the_torque_of_its_weight():
    lean = Rotation.from_rotvec([0.0, 0.7, 0.0])
    bd = TOP.diagram({"qm": {"ball": lean.as_quat().tolist()}})
    found = sb.trim(bd, unknowns="torque.value")
    want = [0.0, -TOP.weight * np.sin(0.7), 0.0]
    np.testing.assert_allclose(found.values["torque.value"], want, atol=1e-9)
    # The same torque holds it there only: from beside it the pose is found again.
    off = lean * Rotation.from_rotvec([0.01, -0.02, 0.0])
    bd = TOP.diagram({"qm": {"ball": off.as_quat().tolist()}}, torque=want)
    again = sb.trim(bd, unknowns="plant.qm.ball")
    q = again.values["plant.qm.ball"]
    assert np.linalg.norm(q) == pytest.approx(1.0, abs=1e-9)
    axis = Rotation.from_quat(q).inv().apply([0.0, 0.0, 1.0])
    np.testing.assert_allclose(axis, lean.inv().apply([0.0, 0.0, 1.0]), atol=1e-9)


def test_the_motion_of_a_spherical_joint_is_read_by_its_name(tmp_path):
    start, _ = TOP.precession(tilt=0.6, rate=4.0)
    run = sb.simulate(TOP.diagram(start), T=0.2)
    motion = run.config("plant", "ball")
    assert list(run.configs("plant")) == ["ball"]
    np.testing.assert_allclose(motion.q, run["plant.qm"], rtol=0, atol=1e-14)
    np.testing.assert_array_equal(motion.dq, run["plant.um"])
    assert motion.ddq.shape == motion.dq.shape
    np.testing.assert_array_equal(motion.final.q, motion.q[-1])
    run.save(tmp_path / "run.npz")
    loaded = sb.Results.load(tmp_path / "run.npz")
    np.testing.assert_array_equal(loaded.config("plant", "ball").dq, motion.dq)
    with pytest.raises(InputError, match="no joint 'bal' on plant"):
        run.config("plant", "bal")
