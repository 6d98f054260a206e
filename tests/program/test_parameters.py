"""Parameters of a program: changing one is building the block with the other value."""

from __future__ import annotations

import pickle
from pathlib import Path

import numpy as np
import pytest
from closed_robots import four_bar

import spart_blocks as sb
from spart_blocks.base.errors import InputError
from spart_blocks.diagram.build.registry import block_types
from spart_blocks.program import trace
from spart_blocks.program.tracing.rules import RULES
from spart_blocks.robot import Robot

K = np.array([[2.0, 1.0], [0.5, -1.0]])
ROBOT = Path(__file__).parents[2] / "models" / "spacecraft_3dof.urdf"
ARM = ROBOT.with_name("arm3.urdf")


def built(kind, /, *shapes, clocked=False, **fixed):
    """How to build one block with its tunables, wired to signals of these shapes."""

    def build(bench, values):
        wires = [bench.signal(*shape) for shape in shapes]
        args = [bench.clock()] if clocked else []
        return bench.block(kind, *args, wires=wires, name="block", **fixed, **values)

    return build


def away_from_zero(kind, /, *middles, **fixed):
    """The same, wired to signals that move a little about these values."""

    def near(middle):
        return lambda u: middle + 0.1 * np.sin(u)

    def build(bench, values):
        wires = [bench.function(near(np.array(m)[()]), np.shape(m)) for m in middles]
        return bench.block(kind, wires=wires, name="block", **fixed, **values)

    return build


def task(kind, /, count, extra=()):
    """A controller of the tip of an arm, wired to that many six-vectors."""
    state = [(3, 3), (3,), (3,), (6,), (3,)]
    shapes = [(3,), (4,), *[(6,)] * count, *extra, *state, *([(3,)] if extra else [])]
    return built(kind, *shapes, robot=Robot.from_urdf(ARM), frame="tool", components="wz vx")


def piecewise(bench, values):
    return bench.block(
        "PIECEWISE", seq=list(zip(values["t"], values["y"], strict=True)), name="block"
    )


def with_robot(kind, /, *shapes, **fixed):
    def build(bench, values):
        return built(kind, *shapes, robot=Robot.from_urdf(ROBOT), **fixed)(bench, values)

    return build


def regulator(bench, values):
    """A regulator of a whole spacecraft, whose set-point is two of its tunables."""
    robot = Robot.from_urdf(ROBOT)
    wires = [bench.signal(*shape) for shape in [(3,), (3,), (9,), (3, 3), (3,), (3,), (6,), (3,)]]
    given = {key: values[key] for key in ("K", "hold")}
    setpoint = {"qm": values["qm_ref"], "r0": values["r0_ref"]}
    controls = ["tau0", "taum"]
    return bench.block(
        "LQR", robot=robot, controls=controls, setpoint=setpoint, wires=wires, name="block", **given
    )


def inverse_kinematics(bench, values):
    wires = [bench.signal(*shape) for shape in ((3,), (3, 3), (3, 3), (3,))]
    robot = Robot.from_urdf(ROBOT)
    return bench.block("IK", wires=wires, clock=bench.clock(), robot=robot, frame="Link_EE",
                       q0=np.zeros(3), iterations=1, components="vx vy vz", name="block",
                       **values)  # fmt: skip


def constraint(bench, values):
    """z z = 2, with the sign of its start."""
    block = bench.bd.ALGEBRAIC_CONSTRAINT(name="block", **values)
    square = bench.bd.FCN("z*z - 2", arguments=["z"], name="square")
    bench.bd.connect(block, square)
    bench.bd.connect(square, block)


def merged(bench, values):
    """Of two subsystems that do not run."""
    block = bench.bd.MERGE(name="block", **values)
    off = bench.bd.CONSTANT(-1.0)
    for k in range(2):
        inner = sb.new_diagram(f"inner{k}")
        signals, outer = inner.INPORT(2), inner.OUTPORT(1)
        twice = inner.GAIN(2.0)
        inner.connect(signals[0], twice)
        inner.connect(twice, outer)
        inner.connect(signals[1], inner.NULL())
        part = sb.conditional(bench.bd.SUBSYSTEM(inner, name=f"part{k}"), enabled={"by": "1"})
        bench.bd.connect(bench.signal(2), part[0])
        bench.bd.connect(off, part[1])
        bench.bd.connect(part, block[k])


PID_2DOF = {
    "P": (1.0, 3.0), "I": (2.0, 4.0), "D": (0.3, 0.5), "N": (5.0, 7.0), "b": (0.5, 0.9),
    "c": (0.2, 0.7), "lower": (-1.0, -0.3), "upper": (1.0, 0.4), "Kb": (2.0, 5.0), "Kt": (3.0, 6.0),
}  # fmt: skip
DRIFTS = {
    "bias": (0.1, 0.2),
    "scale": (0.1, 0.3),
    "noise": (0.1, 0.3),
    "random_walk": (0.1, 0.3),
    "instability": (0.1, 0.3),
    "resolution": (0.01, 0.3),
    "limit": (30.0, 1.0),
}
PAIR = {"positions": [[0, 1, 0], [0, -1, 0]], "directions": [[1, 0, 0], [1, 0, 0]]}
MATRICES = {"A": (-np.eye(2), K), "B": (np.eye(2), K), "C": (np.eye(2), K), "D": (K, K.T)}
PLATES = [
    {"area": 2.0, "normal": normal, "centre": [0.1, 0.2, 0.3]}
    for normal in ([1, 0, 0], [-1, 0, 0], [0, 1, 1])
]
PENDULUM = {"f": ["w", "u - 9.81*sin(a)"], "h": "sin(a)", "states": ["a", "w"], "controls": "u",
            "P0": 1.0}  # fmt: skip
NOISE = {"Q": (np.eye(2), np.diag([2.0, 3.0])), "R": ([[1.0]], [[2.0]])}
MAHONY = {"kp": (1.0, 2.0), "ki": (0.3, 0.7), "weights": ([1.0, 1.0], [2.0, 0.5])}
DOUBLE = {"A": [[0.0, 1.0], [0.0, 0.0]], "B": [0.0, 1.0]}
GAINS = {"K": ([[1.0, 2.0]], [[3.0, 0.5]]), "L": ([[1.0], [2.0]], [[2.0], [0.5]])}
SLIPPING = {
    "inertia1": (1.0, 2.0),
    "inertia2": (3.0, 4.0),
    "coulomb": (0.5, 0.7),
    "static": (0.8, 0.9),
    "stribeck": (0.4, 0.6),
    "viscous": (0.1, 0.3),
}
# type: how to build it, and for each tunable a value and another one.
CASES = {
    "ALGEBRAIC_CONSTRAINT": (constraint, {"initial": (1.0, -1.0)}),
    "MERGE": (merged, {"initial": ([0.5, 1.0], [2.0, -1.0])}),
    "GAIN": (built("GAIN", (2,)), {"K": (2.0, -3.0)}),
    "GAIN by a matrix": (built("GAIN", (2,), premul=True), {"K": (K, K.T)}),
    "CLUTCH": (built("CLUTCH", (2,), (2,), (2,), width=2), SLIPPING),
    "CLUTCH_TORQUE": (built("CLUTCH_TORQUE", *[()] * 6), SLIPPING),
    "FRICTION_MASS": (
        built("FRICTION_MASS", (), (), v0=0.5, pressed=True),
        {
            "mass": (1.0, 2.0),
            "coulomb": (0.5, 0.7),
            "static": (0.8, 0.9),
            "stribeck": (0.4, 0.6),
            "viscous": (0.1, 0.3),
            "lower": (-0.3, -0.1),
            "upper": (0.3, 0.1),
        },
    ),
    "GAIN_SCHEDULE": (
        built("GAIN_SCHEDULE", (2,), (), axes=[[-0.5, 0.1, 0.6]]),
        {"K": (np.stack([K, 2 * K, K.T]), np.stack([K.T, K, 3 * K]))},
    ),
    "CLIP": (built("CLIP", (3,)), {"min": (-0.5, -0.1), "max": (0.5, [0.1, 0.2, 0.3])}),
    "CONSTANT": (built("CONSTANT"), {"value": ([1.0, 2.0], [3.0, 4.0])}),
    "STEP": (built("STEP"), {"T": (1.0, 2.95), "on": (1.0, 3.0), "off": (0.0, -2.0)}),
    "RAMP": (built("RAMP"), {"T": (1.0, 2.0), "slope": (1.0, 3.0), "off": (0.5, -2.0)}),
    "WAVEFORM": (
        built("WAVEFORM", wave="square"),
        {
            "freq": (1.0, 0.3),
            "phase": (0.1, 0.4),
            "duty": (0.5, 0.1),
            "amplitude": (1.0, 3.0),
            "offset": (0.5, -2.0),
        },
    ),
    "INTEGRATOR": (
        built("INTEGRATOR", (2,), x0=[0, 0]),
        {"gain": (1.0, 3.0), "min": ([-1.5, -1.5], [0.4, 0.4]), "max": ([0.5, 0.5], [-1, -1])},
    ),
    "INTEGRATOR_S": (
        built("INTEGRATOR_S", (2,), clocked=True, x0=[0, 0]),
        {"gain": (1.0, 3.0), "min": ([-0.5, -0.5], [-0.1, -0.2]), "max": ([0.5, 0.5], [0.1, 0.2])},
    ),
    "DERIV_S": (built("DERIV_S", (), clocked=True), {"gain": (1.0, 3.0)}),
    "JOINT_PD": (
        built("JOINT_PD", (3,), (3,), (3,), (3,)),
        {"kp": (10.0, 20.0), "kd": ([1.0, 2.0, 3.0], [4.0, 5.0, 6.0])},
    ),
    "JOINT_PID": (
        built("JOINT_PID", (3,), (3,), n=3),
        {
            "kp": (10.0, 20.0),
            "ki": ([1.0, 2.0, 3.0], [4.0, 5.0, 6.0]),
            "kd": (1.0, 0.5),
            "N": (20.0, 30.0),
            "limit": (8.0, 4.0),
            "integral_limit": (0.6, 0.4),
            "Tt": (1.0, 2.0),
        },
    ),
    "JOINT_PID_S": (
        built("JOINT_PID_S", (3,), (3,), clocked=True, n=3),
        {
            "kp": (10.0, 20.0),
            "ki": ([1.0, 2.0, 3.0], [4.0, 5.0, 6.0]),
            "kd": (1.0, 0.5),
            "N": (20.0, 30.0),
            "limit": (8.0, 4.0),
            "integral_limit": (0.6, 0.4),
            "Tt": (1.0, 2.0),
        },
    ),
    "ATTITUDE_PD": (
        built("ATTITUDE_PD", (4,), (3,), (3,), (3, 3), (6,)),
        {
            "kp": (10.0, 20.0),
            "kd": ([1.0, 2.0, 3.0], [4.0, 5.0, 6.0]),
            "inertia": (np.diag([3.0, 4.0, 5.0]), np.diag([2.0, 1.5, 1.0])),
        },
    ),
    "OPERATIONAL_SPACE": (
        task("OPERATIONAL_SPACE", 4, [(4, 6)]),
        {"kp": (10.0, 20.0), "kd": ([1.0, 2.0], [4.0, 5.0]), "damping": (0.1, 0.2)},
    ),
    "IMPEDANCE": (
        task("IMPEDANCE", 4, [(4, 6)]),
        {"stiffness": (10.0, 20.0), "damping": ([1.0, 2.0], [4.0, 5.0])},
    ),
    "TRANSPOSE_JACOBIAN": (
        task("TRANSPOSE_JACOBIAN", 1),
        {"stiffness": (10.0, 20.0), "damping": ([1.0, 2.0], [4.0, 5.0])},
    ),
    "PIECEWISE": (
        piecewise,
        {"t": ([0.0, 1.0], [0.5, 2.95]), "y": ([1.0, 2.0], [3.0, -4.0])},
    ),
    "RESOLVED_RATE": (
        with_robot("RESOLVED_RATE", (3, 3), *[(3,)] * 2, (6,), *[(3,)] * 3, frame="Link_EE"),
        {"damping": (0.1, 0.3)},
    ),
    "DESIRED_REACTION": (
        with_robot("DESIRED_REACTION", (3, 3), *[(3,)] * 2, *[(6,)] * 2, *[(3,)] * 2, frame=5),
        {"damping": (0.1, 0.3)},
    ),
    "BASE_CONTROL": (
        with_robot(
            "BASE_CONTROL",
            *((3, 3), (3,), (6,), (6,), (6,), (5, 6), (3, 3), (3,), (3,), (6,), (3,), (3,)),
        ),
        {"kp": (1.0, 2.0), "kd": (2.0, 3.0)},
    ),
    "QUINTIC": (
        built("QUINTIC"),
        {
            "q0": ([0.0, 1.0], [0.5, 0.2]),
            "qf": ([1.0, 2.0], [-1.0, 0.3]),
            "duration": (2.0, 1.1),
            "T": (0.2, 0.9),
            "rate0": (0.0, [0.3, -0.2]),
            "ratef": (0.0, [0.2, 0.1]),
        },
    ),
    "TRAPEZOID": (
        built("TRAPEZOID"),
        {
            "q0": ([0.0, 1.0], [0.5, 0.2]),
            "qf": ([1.0, 2.0], [-1.0, 0.3]),
            "velocity": (1.0, [0.3, 0.2]),
            "acceleration": (2.0, [0.5, 0.1]),
            "T": (0.2, 0.9),
        },
    ),
    "TRAPEZOID in a time": (
        built("TRAPEZOID", q0=0.0, qf=1.0),
        {"duration": (2.0, 1.1), "blend": (0.2, 0.5)},
    ),
    "CIRCLE": (
        built("CIRCLE"),
        {
            "centre": ([1.0, 2.0, 3.0], [0.0, 1.0, 0.0]),
            "radius": (0.5, 2.0),
            "period": (2.0, 0.7),
            "phase": (0.0, 1.0),
            "T": (0.0, 0.6),
        },
    ),
    "CIRCLE by rate": (
        built("CIRCLE", centre=[0.0, 0.0, 0.0], radius=1.0, rise=0.5),
        {"rate": (1.0, -2.0)},
    ),
    "CARTESIAN_QUINTIC": (
        built("CARTESIAN_QUINTIC", attitudef=[0.0, 0.0, 0.6, 0.8]),
        {
            "r0": ([1.0, 2.0, 3.0], [0.0, 1.0, 0.0]),
            "rf": ([2.0, 0.0, 3.0], [1.0, 0.0, 1.0]),
            "duration": (2.0, 1.1),
            "T": (0.2, 0.9),
        },
    ),
    "SWITCH": (built("SWITCH", (2,), (), (2,)), {"threshold": (0.1, 0.4)}),
    "COMPARE": (built("COMPARE", (2,), operator=">"), {"constant": (0.1, 0.4)}),
    "BACKLASH": (built("BACKLASH", (2,), y0=[0, 0]), {"gap": (0.3, 0.6), "bandwidth": (9.0, 20.0)}),
    "BACKLASH_S": (built("BACKLASH_S", (), clocked=True), {"gap": (0.3, 0.6)}),
    "HIT_CROSSING": (built("HIT_CROSSING", ()), {"level": (0.3, 0.6), "pulse": (0.1, 0.2)}),
    "ASSERT": (built("ASSERT", ()), {"after": (0.0, 0.6)}),
    "CHECK_RANGE": (
        built("CHECK_RANGE", (2,)),
        {"lower": ([-1.0, -2.0], [0.1, -3.0]), "upper": (0.3, 0.6), "after": (0.0, 0.6)},
    ),
    "CHECK_SETTLING": (
        built("CHECK_SETTLING", (2,), (2,)),
        {"by": (0.1, 0.6), "tolerance": ([0.3, 0.2], [0.1, 0.6])},
    ),
    "CHECK_RATE": (
        built("CHECK_RATE", (2,), clocked=True),
        {"limit": ([9.0, 8.0], [3.0, 6.0]), "after": (0.0, 0.6)},
    ),
    "EDGE": (built("EDGE", (2,), clocked=True, width=2), {"level": (0.3, 0.6)}),
    "PULSE": (
        built("PULSE"),
        {
            "amplitude": ([1.0, 2.0], [3.0, -1.0]),
            "period": (1.0, 0.7),
            "width": (0.5, 0.3),
            "delay": (0.1, 0.6),
            "offset": (0.0, 2.0),
        },
    ),
    "CHIRP": (
        built("CHIRP", method="logarithmic"),
        {
            "f0": (1.0, 1.5),
            "f1": (3.0, 4.0),
            "duration": (2.0, 2.7),
            "amplitude": (1.0, 3.0),
            "phase": (0.0, 0.4),
            "offset": (0.0, 2.0),
        },
    ),
    "MULTISINE": (
        built("MULTISINE"),
        {
            "frequencies": ([1.0, 2.0], [1.0, 2.5]),
            "amplitudes": ([1.0, 1.0], [2.0, 3.0]),
            "phases": ([0.0, 0.1], [0.3, -1.0]),
        },
    ),
    "MULTISINE with Schroeder's phases": (
        built("MULTISINE", frequencies=[1.0, 2.0]),
        {"amplitudes": ([1.0, 1.0], [2.0, 3.0])},
    ),
    "PRBS": (
        built("PRBS", order=3),
        {"interval": (0.3, 0.4), "amplitude": (1.0, 3.0), "offset": (0.0, 2.0)},
    ),
    "PRBS_S": (
        built("PRBS_S", clocked=True),
        {"amplitude": (1.0, 3.0), "offset": (0.0, 2.0)},
    ),
    "BAND_LIMITED_NOISE": (
        built("BAND_LIMITED_NOISE", clocked=True),
        {"power": ([0.1, 0.2], [0.3, 0.5])},
    ),
    "RANDOM_WALK": (built("RANDOM_WALK", clocked=True, size=2), {"std": (0.1, 0.3)}),
    "PULSE_WIDTH": (
        built("PULSE_WIDTH", (2,), clocked=True, width=2),
        {"full": (1.0, 2.0), "min_on": (0.01, 0.05)},
    ),
    "PWPF": (
        built("PWPF", (2,), width=2),
        {
            "gain": (4.0, 5.0),
            "tau": (0.3, 0.2),
            "on": (0.5, 0.6),
            "off": (0.1, 0.2),
            "amplitude": (1.0, 2.0),
        },
    ),
    "THRUSTERS": (
        built("THRUSTERS", (4,), (3, 3), **{key: 2 * rows for key, rows in PAIR.items()}),
        {
            "thrust": (1.0, 2.0),
            "on_delay": (0.0, 2.0),
            "off_delay": (0.0, 3.0),
            "min_on": (0.0, 3.0),
        },
    ),
    "THRUSTER_ALLOCATION": (
        built("THRUSTER_ALLOCATION", (6,), (3, 3), components="wz", **PAIR),
        {"limit": ([0.1, 0.2], [0.2, 0.3])},
    ),
    "REACTION_WHEELS": (
        built("REACTION_WHEELS", (3,), (6,), axes=np.eye(3)),
        {
            "inertia": (1.0, 2.0),
            "limit": (0.5, 0.7),
            "speed_limit": (1.0, 2.0),
            "viscous": (0.1, 0.2),
            "coulomb": (0.1, 0.3),
        },
    ),
    "WHEEL_ALLOCATION": (
        built("WHEEL_ALLOCATION", (6,), (6,), (3,), (4,), axes=[*np.eye(3), [1, 1, 1]]),
        {"speed_gain": (0.1, 0.3), "preferred": (1.0, 2.0)},
    ),
    "CONTROL_MOMENT_GYROS": (
        built("CONTROL_MOMENT_GYROS", (4,), (6,)),
        {"momentum": (1.0, 2.0), "rate_limit": (0.4, 0.7)},
    ),
    "GYRO_STEERING": (
        built("GYRO_STEERING", (6,), (4,), (6,), (3,)),
        {
            "momentum": (1.0, 2.0),
            "damping": (0.1, 0.3),
            "sharpness": (1.0, 2.0),
            "null_gain": (0.1, 0.2),
            "preferred": (0.1, 0.4),
        },
    ),
    "MAGNETORQUERS": (
        built("MAGNETORQUERS", (3,), (3,), (3, 3)),
        {"limit": (0.4, 0.7), "residual": ([0.1, 0.2, 0.3], [0.2, 0.1, 0.0])},
    ),
    "MAGNETIC_UNLOADING": (
        built("MAGNETIC_UNLOADING", (3,), (3,)),
        {"gain": (1.0, 2.0), "wanted": ([0.1, 0.2, 0.3], [0.2, 0.1, 0.0])},
    ),
    "THRUSTER_UNLOADING": (
        built("THRUSTER_UNLOADING", (3,)),
        {"on": (1.0, 2.0), "off": (0.1, 0.5), "torque": (0.1, 0.2)},
    ),
    "GYRO": (built("GYRO", (6,), (), clocked=True, correlation_time=1.0), DRIFTS),
    "ACCELEROMETER": (
        built("ACCELEROMETER", (3, 3), (6,), (6,), (3,), (), clocked=True, correlation_time=1.0),
        DRIFTS,
    ),
    "IMU": (
        built("IMU", (3, 3), (6,), (6,), (3,), (), clocked=True, correlation_time=1.0),
        DRIFTS,
    ),
    "MAGNETOMETER": (
        built("MAGNETOMETER", (3,), (3, 3), (), clocked=True, correlation_time=1.0),
        DRIFTS,
    ),
    "STAR_TRACKER": (
        built("STAR_TRACKER", (3, 3), (6,), (3,), (), clocked=True),
        {"across": (0.1, 0.2), "about": (0.3, 0.2)},
    ),
    "SUN_SENSOR": (
        built("SUN_SENSOR", (3,), (3, 3), (), clocked=True),
        {"noise": (0.1, 0.2)},
    ),
    "GNSS": (
        built("GNSS", (3,), (6,), (), clocked=True, correlation_time=1.0),
        {"noise_r": (1.0, 2.0), "noise_v": (0.1, 0.2), "drift": (0.3, 1.0)},
    ),
    "ENCODER": (
        built("ENCODER", (2,), (), clocked=True, width=2),
        {"resolution": (0.1, 0.3), "offset": (0.0, 0.05)},
    ),
    "FLEXIBLE_APPENDAGE": (
        built("FLEXIBLE_APPENDAGE", (6,), participation=K @ [[1, 0, 0], [0, 1, 0]]),
        {"frequency": (1.0, 2.0), "damping": (0.1, 0.2)},
    ),
    "SLOSH": (
        built("SLOSH", (3, 3), (6,), (3,)),
        {"mass": (1.0, 2.0), "frequency": (1.0, 2.0), "damping": (0.1, 0.2)},
    ),
    "DOCKING_CONTACT": (
        built("DOCKING_CONTACT", (3,), (6,), (3,), (3, 3), (6,), radius=2.0, half_angle=0.7),
        {
            "stiffness": (1.0, 2.0),
            "dissipation": (0.1, 0.2),
            "friction": (0.2, 0.4),
            "slow": (0.1, 0.2),
        },
    ),
    "SATURATION": (
        built("SATURATION", (2,)),
        {"lower": (-0.5, -0.1), "upper": (0.5, 0.1)},
    ),
    "DEADZONE": (built("DEADZONE", (2,)), {"lower": (-0.1, -0.3), "upper": (0.1, 0.3)}),
    "QUANTIZER": (built("QUANTIZER", (2,)), {"interval": (0.1, 0.3), "offset": (0.0, 0.05)}),
    "MANUAL_SWITCH": (built("MANUAL_SWITCH", (2,), (2,)), {"choice": (1, 2)}),
    "POLYNOMIAL": (
        built("POLYNOMIAL", (2,)),
        {"coefficients": ([1.0, -2.0, 0.5], [0.3, 0.2, 0.1])},
    ),
    "RELAY": (
        built("RELAY", ()),
        {"on": (0.3, 0.5), "off": (-0.3, -0.1), "on_value": (1.0, 2.0), "off_value": (0.0, -1.0)},
    ),
    "RATE_LIMITER": (
        built("RATE_LIMITER", (2,), x0=[0.0, 0.0]),
        {"rising": (0.5, 0.8), "falling": (-0.5, -0.8), "bandwidth": (0.3, 0.9)},
    ),
    "RATE_LIMITER_S": (
        built("RATE_LIMITER_S", (2,), clocked=True, x0=[0.0, 0.0]),
        {"rising": (0.1, 0.2), "falling": (-0.1, -0.2)},
    ),
    "STATE_SPACE": (
        built("STATE_SPACE", (2,)),
        MATRICES,
    ),
    "STATE_SPACE_S": (
        built("STATE_SPACE_S", (2,), clocked=True, method="none"),
        MATRICES,
    ),
    "LUENBERGER": (
        built("LUENBERGER", (2,), (2,)),
        {**MATRICES, "L": (np.eye(2), K)},
    ),
    "LUENBERGER_S": (
        built("LUENBERGER_S", (2,), (2,), clocked=True, method="none"),
        {**MATRICES, "L": (np.eye(2), K)},
    ),
    "DISTURBANCE_OBSERVER": (
        built("DISTURBANCE_OBSERVER", (), (), A=-1.0, B=2.0, C=1.0),
        {"L": ([[1.0], [2.0]], [[3.0], [0.5]])},
    ),
    "DISTURBANCE_OBSERVER_S": (
        built("DISTURBANCE_OBSERVER_S", (), (), clocked=True, A=-1.0, B=2.0, C=1.0),
        {"L": ([[1.0], [2.0]], [[3.0], [0.5]])},
    ),
    "KALMAN": (
        built("KALMAN", (2,), (2,), P0=1.0),
        {**MATRICES, "Q": (np.eye(2), 2 * np.eye(2)), "R": (np.eye(2), 3 * np.eye(2))},
    ),
    "KALMAN_S": (
        built("KALMAN_S", (2,), (2,), (), clocked=True, P0=1.0, method="none"),
        {**MATRICES, "Q": (np.eye(2), 2 * np.eye(2)), "R": (np.eye(2), 3 * np.eye(2))},
    ),
    "LQG": (built("LQG", (), (2,), (), **DOUBLE, C=[1.0, 0.0]), GAINS),
    "LQG_S": (built("LQG_S", (), (2,), (), clocked=True, **DOUBLE, C=[1.0, 0.0]), GAINS),
    "MPC_S": (
        built(
            "MPC_S",
            (2,),
            (2,),
            (),
            clocked=True,
            **DOUBLE,
            C=[0.0, 1.0],
            Q=1.0,
            R=1.0,
            N=3,
            iterations=3,
        ),
        {
            "lower": (-0.5, -0.2),
            "upper": (0.5, 0.3),
            "rate": (0.4, 0.2),
            "y_lower": (-0.4, -0.1),
            "y_upper": (0.4, 0.1),
        },
    ),
    "EKF_S": (built("EKF_S", (), (), (), clocked=True, **PENDULUM), NOISE),
    "UKF_S": (built("UKF_S", (), (), (), clocked=True, **PENDULUM), NOISE),
    "MEKF_S": (
        built("MEKF_S", (3,), (4,), (), (3,), (3,), clocked=True),
        {
            "gyro_noise": (1.0, 2.0),
            "bias_noise": (1.0, 3.0),
            "q_noise": ([1.0, 2.0, 3.0], [0.5, 0.3, 0.1]),
            "vector_noise": (1.0, 0.3),
        },
    ),
    "MAHONY_FILTER": (built("MAHONY_FILTER", (3,), (3,), (3,), references=np.eye(2, 3)), MAHONY),
    "MAHONY_FILTER_S": (
        built("MAHONY_FILTER_S", (3,), (3,), (3,), clocked=True, references=np.eye(2, 3)),
        MAHONY,
    ),
    "COMPLEMENTARY_FILTER": (built("COMPLEMENTARY_FILTER", (), ()), {"tau": (1.0, 0.3)}),
    "COMPLEMENTARY_FILTER_S": (
        built("COMPLEMENTARY_FILTER_S", (), (), clocked=True),
        {"tau": (1.0, 0.3)},
    ),
    "TRANSFER_FUNCTION": (
        built("TRANSFER_FUNCTION", (2,), width=2),
        {"num": ([1.0, 2.0], [3.0, -1.0]), "den": ([1.0, 2.0, 3.0], [2.0, 1.0, 4.0])},
    ),
    "TRANSFER_FUNCTION_S": (
        built("TRANSFER_FUNCTION_S", (2,), clocked=True, method="none", width=2),
        {"num": ([1.0, 2.0], [3.0, -1.0]), "den": ([1.0, 0.5], [2.0, 0.4])},
    ),
    "ZERO_POLE": (
        built("ZERO_POLE", (2,), zeros=[-1.0], poles=[-2.0, -3.0], width=2),
        {"gain": (1.0, 3.0)},
    ),
    "ZERO_POLE_S": (
        built("ZERO_POLE_S", (2,), clocked=True, zeros=[-1.0], poles=[-2.0, -3.0], width=2),
        {"gain": (1.0, 3.0)},
    ),
    "FIR": (
        built("FIR", (2,), clocked=True, width=2),
        {"coefficients": ([1.0, 2.0, 3.0], [0.5, -1.0, 4.0])},
    ),
    "PT1": (built("PT1", (2,), width=2), {"gain": (1.0, 3.0), "tau": (0.5, 0.2)}),
    "PT1_S": (built("PT1_S", (2,), clocked=True, tau=0.5, width=2), {"gain": (1.0, 3.0)}),
    "PT2": (
        built("PT2", (2,), width=2),
        {"gain": (1.0, 3.0), "omega": (2.0, 3.0), "damping": (0.5, 0.2)},
    ),
    "PT2_S": (built("PT2_S", (2,), clocked=True, omega=2.0, width=2), {"gain": (1.0, 3.0)}),
    "LEAD_LAG": (
        built("LEAD_LAG", (2,), width=2),
        {"lead": (0.5, 0.7), "lag": (0.1, 0.2), "gain": (1.0, 3.0)},
    ),
    "LEAD_LAG_S": (
        built("LEAD_LAG_S", (2,), clocked=True, lead=0.5, lag=0.1, width=2),
        {"gain": (1.0, 3.0)},
    ),
    "NOTCH": (
        built("NOTCH", (2,), width=2),
        {"frequency": (1.0, 2.0), "bandwidth": (0.2, 0.3), "depth": (0.1, 0.3)},
    ),
    "LOW_PASS": (built("LOW_PASS", (2,), order=3, width=2), {"cutoff": (1.0, 2.0)}),
    "SECOND_ORDER_INTEGRATOR": (
        built("SECOND_ORDER_INTEGRATOR", (2,), width=2),
        {
            "lower": (-1.0, -0.2),
            "upper": (1.0, 0.1),
            "v_lower": (-2.0, -0.3),
            "v_upper": (2.0, 0.4),
        },
    ),
    "PID_2DOF": (built("PID_2DOF", *[(2,)] * 3, width=2, tracking=True), PID_2DOF),
    "PID_2DOF_S": (
        built("PID_2DOF_S", *[(2,)] * 3, clocked=True, width=2, tracking=True),
        {**PID_2DOF, "Kb": (0.5, 0.9), "Kt": (0.6, 0.3)},
    ),
    "IK": (inverse_kinematics, {"damping": (1e-3, 0.3)}),
    "GRAVITY": (with_robot("GRAVITY"), {"gravity": ([0, 0, -9.81], [0.3, -0.2, -1.6])}),
    "ORBIT": (
        built("ORBIT", (3,), (3,), initial={"a": 2.0, "e": 0.1}),
        {"mu": (1.0, 2.0), "mass": (1.0, 3.0)},
    ),
    "ORBITAL_ELEMENTS": (
        away_from_zero("ORBITAL_ELEMENTS", [1.0, 0.2, 0.3], [-0.2, 1.0, 0.5]),
        {"mu": (1.0, 2.0)},
    ),
    "ELEMENTS_ORBIT": (
        away_from_zero("ELEMENTS_ORBIT", 2.0, 0.3, 1.0, 2.0, 3.0, 4.0),
        {"mu": (1.0, 2.0)},
    ),
    "TWO_BODY": (built("TWO_BODY", (3,)), {"mu": (1.0, 2.0)}),
    "ZONAL_GRAVITY": (
        built("ZONAL_GRAVITY", (3,)),
        {"J": ([0.1, 0.2], [0.3, -0.1]), "mu": (1.0, 2.0), "radius": (0.3, 0.4)},
    ),
    "THIRD_BODY": (built("THIRD_BODY", (3,), (3,)), {"mu": (1.0, 2.0)}),
    "GRAVITY_GRADIENT": (
        built("GRAVITY_GRADIENT", (3, 3), (3,)),
        {"inertia": (np.diag([3.0, 4.0, 5.0]), np.diag([2.0, 1.5, 1.0])), "mu": (1.0, 2.0)},
    ),
    "ORBITAL_GRAVITY": (
        with_robot("ORBITAL_GRAVITY", (3, 3), (3,), (3,), (3,)),
        {"J": ([0.1, 0.2], [0.3, -0.1]), "mu": (1.0, 2.0), "radius": (0.3, 0.4)},
    ),
    "ATMOSPHERE": (away_from_zero("ATMOSPHERE", [1.0, 2.0, 3.0]), {"scale": (1.0, 2.0)}),
    "DRAG": (
        built("DRAG", (), (3,), (3,)),
        {"area": (1.0, 2.0), "Cd": (2.0, 2.5), "omega": (0.1, 0.2)},
    ),
    "DRAG_PLATES": (
        built("DRAG_PLATES", (), (3,), (3,), (3, 3), plates=PLATES),
        {"Cd": (2.0, 2.5), "omega": (0.1, 0.2)},
    ),
    "SOLAR_PRESSURE": (
        away_from_zero("SOLAR_PRESSURE", [0, 0, 1], [3, 2, 3], 0.5),
        {"area": (1.0, 2.0), "Cr": (1.0, 1.5), "irradiance": (1.0, 2.0)},
    ),
    "SOLAR_PRESSURE_PLATES": (
        away_from_zero(
            "SOLAR_PRESSURE_PLATES", [0, 0, 1], [3, 2, 3], 0.5, np.eye(3), plates=PLATES
        ),
        {"irradiance": (1.0, 2.0)},
    ),
    "COMPUTED_TORQUE": (
        with_robot("COMPUTED_TORQUE", *[(3,)] * 3, (6,), (5, 6), (3, 3), (3,), (3,), (6,), (3,)),
        {"kp": (10.0, 20.0), "kd": ([1.0, 2.0, 3.0], [4.0, 5.0, 6.0])},
    ),
    "CLOSED_COMPUTED_TORQUE": (
        built(
            "CLOSED_COMPUTED_TORQUE",
            *[(1,)] * 3,
            (6,),
            (3, 6),
            (3, 3),
            (3,),
            (6,),
            (3,),
            robot=four_bar(),
            actuated=[four_bar().active_joints[0]],
        ),
        {"kp": (10.0, 20.0), "kd": (1.0, 4.0)},
    ),
    "LQR": (
        regulator,
        {
            "K": (np.eye(9, 18), np.arange(162.0).reshape(9, 18)),
            "hold": (np.ones(9), np.arange(9.0)),
            "qm_ref": ([0.0, 0.0, 0.0], [0.1, 0.2, 0.3]),
            "r0_ref": ([0.0, 0.0, 0.0], [0.3, 0.2, 0.1]),
        },
    ),
}


def test_every_tunable_has_a_case():
    ours = {kind.name: getattr(kind.cls, "tunable", ()) for kind in block_types()}
    wanted = {(name, attribute) for name, found in ours.items() for attribute in found}
    wanted |= {
        (key.split(".")[1].upper(), attribute)
        for key, rule in RULES.items()
        for attribute in rule.tunable
    }
    told = {(name.split(" ")[0], attribute) for name, (_, v) in CASES.items() for attribute in v}
    elsewhere = {("DINTEGRATOR", "gain"), ("DINTEGRATOR", "min"), ("DINTEGRATOR", "max")}
    # They act where a mass meets a stop: tests/blocks/test_friction.py.
    elsewhere |= {("FRICTION_MASS", "restitution"), ("FRICTION_MASS", "rest_speed")}
    assert wanted - told - elsewhere == set()


@pytest.mark.parametrize(
    ("name", "tunable"), [(name, key) for name, (_, values) in CASES.items() for key in values]
)
def test_a_changed_parameter_is_a_block_built_anew(new_bench, assert_parity, name, tunable):
    build, values = CASES[name]
    one = {key: pair[0] for key, pair in values.items()}
    if name == "CLIP":
        one = {key: [value] * 3 for key, value in one.items()}
    other = {**one, tunable: values[tunable][1]}
    benches = new_bench(), new_bench()
    for bench, chosen in zip(benches, (one, other), strict=True):
        build(bench, chosen)
    program = trace(benches[0].diagram)
    moved = program.with_parameters({f"block.{tunable}": other[tunable]})
    anew = benches[1].diagram
    # Beside the new block the old program must fail, or the comparison could not.
    assert_parity(anew, program=moved, rel=1e-9)
    with pytest.raises(AssertionError):
        assert_parity(anew, program=program, rel=1e-9)


def test_limits_at_infinity_are_no_parameters(bench):
    bench.block("CLIP", max=1.0, wires=[bench.signal()], name="clip")
    names = [slot.name for slot in trace(bench.diagram).parameters]
    assert "clip.max" in names
    assert "clip.min" not in names


def test_a_parameter_has_a_value_and_a_shape(bench):
    bench.block("GAIN", K, wires=[bench.signal(2)], name="gain")
    program = trace(bench.diagram)
    np.testing.assert_array_equal(program.parameter("gain.K"), K)
    moved = program.with_parameters({"gain.K": 3.0})
    np.testing.assert_array_equal(moved.parameter("gain.K"), np.full((2, 2), 3.0))
    np.testing.assert_array_equal(program.parameter("gain.K"), K)
    with pytest.raises(InputError, match=r"no parameter 'gain.k'\n  did you mean 'gain.K'"):
        program.with_parameters({"gain.k": 3.0})
    with pytest.raises(InputError, match=r"gain.K has shape \(2, 2\), not \(2,\)"):
        program.with_parameters({"gain.K": [1.0, 2.0]})


SHARED = """
params: {kp: 4.0, start: [0.5]}
blocks:
  one: {type: GAIN, K: $kp}
  two: {type: GAIN, K: $kp}
  x: {type: INTEGRATOR, x0: $start}
  y: {type: INTEGRATOR, x0: $start}
wires: [x -> one, one -> y, y -> two, two -> x]
"""


def test_a_value_given_to_two_blocks_is_one_parameter(tmp_path):
    (tmp_path / "a.yaml").write_text(SHARED)
    (tmp_path / "b.yaml").write_text(SHARED.replace("4.0", "-3.0").replace("0.5", "0.7"))
    program = trace(sb.load(tmp_path / "a.yaml"))
    names = [slot.name for slot in program.parameters]
    assert {"kp", "start"} <= set(names)
    assert not {"one.K", "two.K", "x.x0", "y.x0"} & set(names)
    moved = program.with_parameters({"kp": -3.0, "start": [0.7]})
    anew = trace(sb.load(tmp_path / "b.yaml"))
    np.testing.assert_array_equal(moved.p, anew.p)
    np.testing.assert_array_equal(moved.x0, [0.7, 0.7])
    at = (0.0, moved.x0, moved.xd0, moved.p)
    np.testing.assert_array_equal(moved.rates(*at), anew.rates(*at))


def test_a_value_given_to_one_block_keeps_the_name_of_its_argument(tmp_path):
    text = SHARED.replace("K: $kp}\n  x", "K: $kp, premul: true}\n  x")
    text = text.replace("kp: 4.0", "kp: [[4.0]]").replace("one: {type: GAIN, K: $kp}",
                                                           "one: {type: GAIN, K: 2.0}")  # fmt: skip
    (tmp_path / "a.yaml").write_text(text)
    assert "two.K" in {slot.name for slot in trace(sb.load(tmp_path / "a.yaml")).parameters}


FILE = """
params: {gain: 2, both: 3, force: 0.5}
blocks:
  one: {type: STEP, T: 0, on: 1}
  a: {type: GAIN, K: $gain}
  b: {type: GAIN, K: $both}
  c: {type: GAIN, K: $both}
  f: {type: FCN, expression: "F * u", arguments: [u], params: {F: $force}}
  sum: {type: SUM, signs: "++++"}
  scope: {type: SCOPE}
wires: ["one -> a, b, c, f", a -> sum.0, b -> sum.1, c -> sum.2, f -> sum.3, sum -> scope]
run: {T: 1}
"""


@pytest.fixture
def filed(tmp_path):
    (tmp_path / "file.yaml").write_text(FILE)
    return trace(sb.load(tmp_path / "file.yaml"))


@pytest.mark.parametrize(
    ("name", "total"), [("gain", 16.5), ("a.K", 16.5), ("both", 22.5), ("force", 18.0)]
)
def test_parameters_answer_to_the_names_that_the_file_uses(filed, name, total):
    changed = filed.with_parameters({name: 10})
    assert changed.parameter(name) == 10
    assert sb.simulate(changed)["sum"][-1] == total
    assert sb.simulate(filed)["sum"][-1] == 8.5


def test_a_name_that_the_file_does_not_use_is_told_with_the_nearest(filed):
    with pytest.raises(InputError, match="did you mean 'gain'"):
        filed.with_parameters({"gian": 1})


def test_a_program_takes_the_start_of_a_plant_by_entries():
    program = trace(sb.load(ROBOT.parents[1] / "diagrams" / "spacecraft_pd.yaml"))
    start = {"plant": {"qm": [0.3, 0, 0], "um": [0, 0.1, 0]}}
    again = pickle.loads(pickle.dumps(program))
    for one in (program, again):
        results = sb.simulate(one, T=0.01, initial=start)
        np.testing.assert_allclose(results["plant.qm"][0], [0.3, 0, 0])
        np.testing.assert_allclose(results["plant.um"][0], [0, 0.1, 0])
    with pytest.raises(InputError, match="has no entry 'qn'"):
        sb.simulate(program, T=0.01, initial={"plant": {"qn": [0, 0, 0]}})
