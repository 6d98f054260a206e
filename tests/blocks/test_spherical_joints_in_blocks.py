"""Every block of a robot takes one with spherical joints, on numbers and traced alike."""

from __future__ import annotations

import inspect
from dataclasses import replace

import numpy as np
import pytest
import robots
from ball_robots import random_state, robot_with_balls
from bdsim.connect import Plug

import spart_blocks as sb
from spart_blocks.diagram import complete
from spart_blocks.diagram.network.clocks import clocks_of
from spart_blocks.diagram.network.flatten import flatten
from spart_blocks.program import trace
from spart_blocks.run.engines.interpreter import Interpreter

FRAME = "of b2.z"
GAINS = {"kp": 4.0, "kd": 3.0}
SPRING = {"frame": FRAME, "components": "wx wy wz"}
# What else a block takes beside its robot; those that need a floating base are not built on
# a fixed one.
OPTIONS = {
    "LINK_WRENCH": {"frame": FRAME},
    "BASE_CONTROL": GAINS,
    "COMPUTED_TORQUE": GAINS,
    "DESIRED_REACTION": {"frame": FRAME, "damping": 0.1},
    "END_EFFECTOR": {"frame": FRAME},
    "GENERALIZED_JACOBIAN": {"frame": FRAME},
    "IMPEDANCE": SPRING | {"stiffness": 5.0, "damping": 1.0},
    "JACOB": {"link": FRAME},
    "JACOBDOT": {"link": FRAME},
    "JOINT_PD": GAINS,
    "OPERATIONAL_SPACE": SPRING | GAINS,
    "RESOLVED_RATE": {"frame": FRAME, "damping": 0.1},
    "RESOLVED_RATE_MIN_ENERGY": {"frame": FRAME, "components": "wx wy wz"},
    "TRANSPOSE_JACOBIAN": SPRING | {"stiffness": 5.0, "damping": 1.0},
}
# See test_closed_control.py and test_closed_chain.py.
OF_LOOPS = {"CLOSED_ID", "CLOSED_COMPUTED_TORQUE", "CLOSED_IK", "LOOP_ERROR", "LOOP_JACOBIAN"}
OF_FLOATING = {"BASE_CONTROL", "BASE_REACTION", "DESIRED_REACTION"}


def options_of(name, robot, s):
    if name == "IK":
        return {"frame": FRAME, "q0": s.qm, "iterations": 2}
    if name == "LQR":
        K = np.random.default_rng(1).normal(size=(robot.nu, 2 * robot.nu))
        return {"K": K, "setpoint": {"qm": random_state(robot, 7).qm}}
    if name == "MULTIBODY":
        rates = {"u0": s.u0} if robot.base == "floating" else {}
        return {"initial": {"qm": s.qm, "um": s.um, **rates}}
    if name in ("QUINTIC", "TRAPEZOID"):
        return {"q0": s.qm, "qf": random_state(robot, 8).qm, "duration": 2.0, "T": -1.0}
    if name == "JOINT_SELECT":
        return {"joints": [entry.name for entry in robot.layout if not entry.spherical]}
    return {"initial": {"qm": s.qm}} if name == "STATE_INTEGRATOR" else OPTIONS.get(name, {})


def of_robots(runtime):
    """The blocks of ours that take a robot."""
    return sorted(
        name
        for name, entry in runtime._blocklibrary.items()
        if entry["package"] == "spart_blocks"
        and name not in OF_LOOPS
        and "robot" in inspect.signature(entry["class"]).parameters
    )


def values_of(robot, s):
    """What the inputs of blocks are, by name; references are those of another state."""
    other, known = random_state(robot, 9), robots.everything(robot, s)
    pose = {"R0d": other.R0, "Rd": other.R0, "quatd": np.array([0.5, -0.5, 0.5, 0.5])}
    joints = {"qd": other.qm, "ud": other.um, "ad": other.umdot}
    return {**known, "rp": known["rL"][0], **s.arrays(), **pose, **joints}


def shaped(shape):
    return lambda value: np.reshape(value, shape)


class Board:
    """A diagram in which every input of a block is a state with a value of its own."""

    def __init__(self, runtime, values):
        self.bd, self.values, self.sources = runtime.blockdiagram(name="board"), values, {}
        self.rng = np.random.default_rng(3)

    def source(self, name, shape):
        if (name, shape) not in self.sources:
            value = self.values.get(name)
            if value is None or np.shape(value) != shape:
                value = self.rng.normal(size=shape)
            state = self.bd.INTEGRATOR(x0=np.ravel(value).astype(float).tolist())
            self.bd.connect(self.bd.CONSTANT(np.zeros(np.size(value))), state)
            reshape = self.bd.FUNCTION(shaped(shape))
            self.bd.connect(state, reshape)
            self.sources[name, shape] = reshape
        return self.sources[name, shape]

    def add(self, kind, **options):
        block = getattr(self.bd, kind)(name=kind.lower(), **options)
        for number, port in enumerate(block.in_ports):
            self.bd.connect(self.source(port.name, port.shape), Plug(block, number))

    @property
    def diagram(self):
        complete(self.bd)
        return sb.Diagram(name="board", bd=self.bd)


def board_of(runtime, robot, s):
    """All blocks of a robot side by side."""
    board = Board(runtime, values_of(robot, s))
    for name in of_robots(runtime):
        if robot.base == "floating" or name not in OF_FLOATING:
            clock = {"clock": board.bd.clock(0.1, name="clock")} if name == "IK" else {}
            board.add(name, robot=robot, **clock, **options_of(name, robot, s))
    return board


def small_robot(base, against):
    """A joint, a ball b2 on it, perhaps against the tree, and a joint on one of them."""
    robot = robot_with_balls(4, base, bodies=3)
    turned = (
        replace(joint, axis=-joint.axis) if against and joint.name.startswith("b2") else joint
        for joint in robot.joints
    )
    robot = replace(robot, joints=tuple(turned))
    assert [entry.against for entry in robot.layout if entry.spherical] == [against]
    return robot


@pytest.mark.parametrize(("base", "against"), [("floating", True), ("fixed", False)])
def test_every_block_of_a_robot_is_traced_as_it_computes(base, against, bdsim_runtime, close):
    robot = small_robot(base, against)
    diagram = board_of(bdsim_runtime, robot, random_state(robot, 5)).diagram
    wiring = flatten(diagram.bd)
    program, blocks = trace(diagram, wiring), Interpreter(diagram, wiring)
    x, xd = program.x0, program.xd0
    y = np.array(program.outputs(0.0, x, xd, program.p)).ravel()
    traced = {slot.name: y[slot.part].reshape(slot.shape) for slot in program.signals}
    values = blocks.outputs(0.0, x, xd)
    for node in wiring.nodes:
        for k, (port, value) in enumerate(zip(node.out_ports, values[node.index], strict=True)):
            name = node.output_name(k)
            assert port.shape is None or np.shape(value) == port.shape, name
            assert np.isfinite(value).all(), name
            close(traced[name], value, name, rel=1e-9)
    close(
        np.array(program.rates(0.0, x, xd, program.p)).ravel(),
        blocks.derivative(0.0, x, xd),
        rel=1e-9,
    )
    [clock] = clocks_of(list(wiring.of_kind("sampled")), diagram.run.first_tick)
    [update] = program.updates.values()
    close(
        np.array(update(0.0, x, xd, program.p)).ravel(), blocks.tick(0.0, x, xd, [clock]), rel=1e-9
    )
