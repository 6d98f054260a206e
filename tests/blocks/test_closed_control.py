"""The blocks that control closed robots: traced as they compute, and right in a loop."""

from __future__ import annotations

from pathlib import Path

import bdsim
import numpy as np
import pytest

import spart_blocks as sb
from spart_blocks.blocks.closed_control import (
    Closed_Computed_Torque,
    Closed_ID,
    Closed_IK,
    Joint_Select,
)
from spart_blocks.dynamics import (
    actuated_rates,
    applied_forces,
    assemble,
    closed_rates,
    gravity_wrenches,
)

MODELS = Path(__file__).parents[2] / "models"
MOTORS = ("B", "C", "D")


@pytest.fixture(scope="module")
def delta():
    return sb.Robot.from_bodies(MODELS / "delta_robot.yaml")


def values(robot, block, seed=0):
    """A state on the loops and small targets, by port."""
    rng, q = np.random.default_rng(seed), assemble(robot).qm
    um = actuated_rates(q, rng.normal(size=3), robot, block.actuated)
    known = {"R0": np.eye(3), "qm": q, "um": um, "r": np.array([0.03, -0.02, 0.45])}
    known["wFm"] = gravity_wrenches([0, 0, -9.81], robot)[1]
    return [known.get(p.name, 0.1 * rng.normal(size=p.shape)) for p in block.in_ports]


def blocks(robot):
    bd = bdsim.BlockDiagram()
    return [
        Closed_ID(robot, MOTORS, bd=bd, name="id"),
        Closed_Computed_Torque(robot, MOTORS, 100.0, 20.0, bd=bd, name="torque"),
        Closed_IK(robot, "end_effector", MOTORS, bd=bd, name="ik"),
    ]


def test_the_blocks_compute_the_same_on_numbers_and_compiled(delta):
    for block in blocks(delta):
        given = values(delta, block)
        want = block.output(0.0, given, None)
        compiled = sb.compiled(
            lambda *inputs, block=block: tuple(block.output(0.0, list(inputs), None)),
            *[value.shape for value in given],
        )
        got = compiled(*given)
        for a, b in zip(np.atleast_1d(got) if len(want) == 1 else got, want, strict=True):
            assert np.allclose(a, b, rtol=1e-9, atol=1e-11)


def test_computed_torque_gives_the_actuators_the_acceleration_it_means_to(delta):
    block = blocks(delta)[1]
    inputs = values(delta, block)
    (tau,) = block.output(0.0, inputs, None)
    qd, ud, ad, _, wFm, R0, qm, _, um = inputs
    none = np.zeros(6)
    own = applied_forces(R0, np.zeros(3), none, qm, um, delta, {"tau": tau})
    umdot = closed_rates(R0, none, qm, um, none, own.taum, none, wFm + own.wFm, delta).umdot
    picked = [qm[p] for p in block.positions]
    want = ad + 20.0 * (ud - um[block.actuated]) + 100.0 * (qd - np.array(picked))
    assert np.allclose(umdot[block.actuated], want, atol=1e-9)


def test_chosen_joints_come_in_the_order_asked_for(delta):
    block = Joint_Select(delta, ["D", "B"], bd=bdsim.BlockDiagram())
    q, u = block.output(0.0, [np.arange(delta.nq), np.arange(delta.nu)], None)
    places = {entry.name: entry for entry in delta.layout}
    assert q.tolist() == [places["D"].q.start, places["B"].q.start]
    assert u.tolist() == [places["D"].u.start, places["B"].u.start]


def test_steps_beyond_reason_are_refused(delta):
    with pytest.raises(sb.InputError, match="must be a whole number from 1 to 50, not 0"):
        Closed_IK(delta, "end_effector", MOTORS, iterations=0, bd=bdsim.BlockDiagram())
