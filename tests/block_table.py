"""Every block, one row each: the arguments of its constructor, where its closed form or golden
numbers are tested, and how each of its tunables is tested. The tests of discovery, of golden
numbers and of parameters take their cases from this table.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import robots
from closed_robots import four_bar

import spart_blocks as sb
from spart_blocks.robot import Robot

Case = tuple[Callable[..., Any], Mapping[str, tuple[Any, Any]]]


@dataclass(frozen=True)
class Row:
    """A block in the tests.

    tested: the file in tests/ that tests what it does. golden: in its place, names of inputs and
    outputs of a golden file whose numbers it gives. arguments: those of its constructor besides
    robot and clock. tunables: a function of a bench and of values that builds the block, and for
    each tunable a value and another one; more: the same by name, for tunables that exclude others.
    """

    tested: str = ""
    golden: tuple[str, str] | None = None
    arguments: Mapping[str, Any] = field(default_factory=dict)
    tunables: Case | None = None
    more: Mapping[str, Case] = field(default_factory=dict)


TREE = robots.random_robot(41, 6)
FRAME = {"header": "0xA5", "fields": {"values": "3 f64"}}
TWIST = {"topic": "cmd_vel", "message": "geometry_msgs/Twist", "fields": {"values": "linear"}}
_PLANT = {"A": -1.0, "C": 1.0}
EPOCH = {"epoch": "2026-03-20T12:00:00"}
PLATE = {"plates": [{"area": 1.0, "normal": [1.0, 0.0, 0.0]}]}
_MODEL = {"f": "-x", "h": "x", "states": "x", "Q": 1.0, "R": 1.0, "P0": 1.0}
K = np.array([[2.0, 1.0], [0.5, -1.0]])
ROBOT = robots.ROOT / "models" / "spacecraft_3dof.urdf"
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
BLOCKS = {
    "ABS": Row("blocks/test_mathematics.py"),
    "ACCELERATIONS": Row(golden=("t0 tL P0 pm Bi0 Bij u0 um u0dot umdot", "t0dot tLdot")),
    "ACCELEROMETER": Row(
        "blocks/test_sensors.py",
        tunables=(
            built(
                "ACCELEROMETER", (3, 3), (6,), (6,), (3,), (), clocked=True, correlation_time=1.0
            ),
            DRIFTS,
        ),
    ),
    "ADC": Row(
        "blocks/test_converters.py",
        tunables=(
            built("ADC", (2,), clocked=True, width=2, bits=3),
            {"lower": (-1.0, -0.2), "upper": (1.0, 0.6)},
        ),
    ),
    "ALGEBRAIC_CONSTRAINT": Row(
        "run/test_algebraic_loops.py", tunables=(constraint, {"initial": (1.0, -1.0)})
    ),
    "ANGLES123_R": Row("blocks/test_functions_as_blocks.py"),
    "ANGLES321_R": Row("blocks/test_functions_as_blocks.py"),
    "ASSERT": Row("blocks/test_checks.py", tunables=(built("ASSERT", ()), {"after": (0.0, 0.6)})),
    "ATMOSPHERE": Row(
        "blocks/test_spacecraft_surroundings.py",
        tunables=(away_from_zero("ATMOSPHERE", [1.0, 2.0, 3.0]), {"scale": (1.0, 2.0)}),
    ),
    "ATTITUDE_PD": Row(
        "blocks/test_controllers.py",
        arguments={"kp": 1.0, "kd": 1.0},
        tunables=(
            built("ATTITUDE_PD", (4,), (3,), (3,), (3, 3), (6,)),
            {
                "kp": (10.0, 20.0),
                "kd": ([1.0, 2.0, 3.0], [4.0, 5.0, 6.0]),
                "inertia": (np.diag([3.0, 4.0, 5.0]), np.diag([2.0, 1.5, 1.0])),
            },
        ),
    ),
    "AUDIT": Row("blocks/test_plant.py"),
    "AXIS_ANGLE_R": Row("blocks/test_functions_as_blocks.py"),
    "BACKLASH": Row(
        "blocks/test_play_and_crossings.py",
        arguments={"gap": 1.0},
        tunables=(
            built("BACKLASH", (2,), y0=[0, 0]),
            {"gap": (0.3, 0.6), "bandwidth": (9.0, 20.0)},
        ),
    ),
    "BACKLASH_S": Row(
        "blocks/test_play_and_crossings.py",
        arguments={"gap": 1.0},
        tunables=(built("BACKLASH_S", (), clocked=True), {"gap": (0.3, 0.6)}),
    ),
    "BAND_LIMITED_NOISE": Row(
        "blocks/test_sources.py",
        arguments={"power": 1.0},
        tunables=(
            built("BAND_LIMITED_NOISE", clocked=True),
            {"power": ([0.1, 0.2], [0.3, 0.5])},
        ),
    ),
    "BASE_CONTROL": Row(
        "blocks/test_resolved_motion_blocks.py",
        arguments={"kp": 1.0, "kd": 2.0},
        tunables=(
            with_robot(
                "BASE_CONTROL",
                *((3, 3), (3,), (6,), (6,), (6,), (5, 6), (3, 3), (3,), (3,), (6,), (3,), (3,)),
            ),
            {"kp": (1.0, 2.0), "kd": (2.0, 3.0)},
        ),
    ),
    "BASE_REACTION": Row("blocks/test_resolved_motion_blocks.py"),
    "BODY_POSES": Row("blocks/test_body_poses.py"),
    "BUS_ASSIGNMENT": Row(
        "diagram/test_buses.py", arguments={"signals": ["signal"], "bus": ["signal"]}
    ),
    "BUS_CREATOR": Row("diagram/test_buses.py", arguments={"signals": ["signal"]}),
    "BUS_SELECTOR": Row("diagram/test_buses.py", arguments={"signals": ["signal"]}),
    "CARTESIAN_QUINTIC": Row(
        "blocks/test_references.py",
        arguments={"r0": [0.0, 0.0, 0.0], "rf": [1.0, 0.0, 0.0], "duration": 1.0},
        tunables=(
            built("CARTESIAN_QUINTIC", attitudef=[0.0, 0.0, 0.6, 0.8]),
            {
                "r0": ([1.0, 2.0, 3.0], [0.0, 1.0, 0.0]),
                "rf": ([2.0, 0.0, 3.0], [1.0, 0.0, 1.0]),
                "duration": (2.0, 1.1),
                "T": (0.2, 0.9),
            },
        ),
    ),
    "CASE": Row("blocks/test_conditional_blocks.py", arguments={"cases": [[2, 3]]}),
    "CENTER_OF_MASS": Row(golden=("r0 rL", "r_com")),
    "CHECK_RANGE": Row(
        "blocks/test_checks.py",
        arguments={"upper": 1.0},
        tunables=(
            built("CHECK_RANGE", (2,)),
            {"lower": ([-1.0, -2.0], [0.1, -3.0]), "upper": (0.3, 0.6), "after": (0.0, 0.6)},
        ),
    ),
    "CHECK_RATE": Row(
        "blocks/test_checks.py",
        arguments={"limit": 1.0},
        tunables=(
            built("CHECK_RATE", (2,), clocked=True),
            {"limit": ([9.0, 8.0], [3.0, 6.0]), "after": (0.0, 0.6)},
        ),
    ),
    "CHECK_SETTLING": Row(
        "blocks/test_checks.py",
        arguments={"by": 1.0, "tolerance": 0.1},
        tunables=(
            built("CHECK_SETTLING", (2,), (2,)),
            {"by": (0.1, 0.6), "tolerance": ([0.3, 0.2], [0.1, 0.6])},
        ),
    ),
    "CHIRP": Row(
        "blocks/test_sources.py",
        arguments={"f0": 1.0, "f1": 2.0, "duration": 1.0},
        tunables=(
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
    ),
    "CIM": Row(golden=("t0 tL I0 Im M0_tilde Mm_tilde Bij Bi0 P0 pm", "C0 C0m Cm0 Cm")),
    "CIM_NOC": Row("blocks/test_functions_as_blocks.py"),
    "CIRCLE": Row(
        "blocks/test_references.py",
        arguments={"centre": [0.0, 0.0, 0.0], "radius": 1.0, "period": 1.0},
        tunables=(
            built("CIRCLE"),
            {
                "centre": ([1.0, 2.0, 3.0], [0.0, 1.0, 0.0]),
                "radius": (0.5, 2.0),
                "period": (2.0, 0.7),
                "phase": (0.0, 1.0),
                "T": (0.0, 0.6),
            },
        ),
        more={
            "by rate": (
                built("CIRCLE", centre=[0.0, 0.0, 0.0], radius=1.0, rise=0.5),
                {"rate": (1.0, -2.0)},
            )
        },
    ),
    "CLOSED_CHAIN": Row("blocks/test_closed_chain.py"),
    "CLOSED_CHAIN_RATES": Row("blocks/test_closed_chain.py"),
    "CLOSED_COMPUTED_TORQUE": Row(
        "blocks/test_spherical_joints_in_blocks.py",
        arguments={"actuated": TREE.active_joints[:2], "kp": 1.0, "kd": 1.0},
        tunables=(
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
    ),
    "CLOSED_ID": Row(
        "blocks/test_spherical_joints_in_blocks.py", arguments={"actuated": TREE.active_joints[:2]}
    ),
    "CLOSED_IK": Row(
        "blocks/test_spherical_joints_in_blocks.py",
        arguments={"link": "link2", "actuated": TREE.active_joints[:2], "pose": True},
    ),
    "CLUTCH": Row(
        "blocks/test_clutch.py",
        arguments={"inertia1": 1.0, "inertia2": 1.0, "coulomb": 1.0},
        tunables=(built("CLUTCH", (2,), (2,), (2,), width=2), SLIPPING),
    ),
    "CLUTCH_TORQUE": Row(
        "blocks/test_clutch.py",
        arguments={"inertia1": 1.0, "inertia2": 1.0, "coulomb": 1.0},
        tunables=(built("CLUTCH_TORQUE", *[()] * 6), SLIPPING),
    ),
    "COMPARE": Row(
        "blocks/test_switching_blocks.py",
        arguments={"operator": ">"},
        tunables=(built("COMPARE", (2,), operator=">"), {"constant": (0.1, 0.4)}),
    ),
    "COMPLEMENTARY_FILTER": Row(
        "blocks/test_attitude_estimation.py",
        arguments={"tau": 1.0},
        tunables=(built("COMPLEMENTARY_FILTER", (), ()), {"tau": (1.0, 0.3)}),
    ),
    "COMPLEMENTARY_FILTER_S": Row(
        "blocks/test_attitude_estimation.py",
        arguments={"tau": 1.0},
        tunables=(
            built("COMPLEMENTARY_FILTER_S", (), (), clocked=True),
            {"tau": (1.0, 0.3)},
        ),
    ),
    "COMPUTED_TORQUE": Row(
        "blocks/test_functions_as_blocks.py",
        arguments={"kp": 1.0, "kd": 1.0},
        tunables=(
            with_robot(
                "COMPUTED_TORQUE", *[(3,)] * 3, (6,), (5, 6), (3, 3), (3,), (3,), (6,), (3,)
            ),
            {"kp": (10.0, 20.0), "kd": ([1.0, 2.0, 3.0], [4.0, 5.0, 6.0])},
        ),
    ),
    "CONCATENATE": Row("blocks/test_routing.py"),
    "CONTROL_MOMENT_GYROS": Row(
        "blocks/test_stored_momentum.py",
        arguments={"momentum": 1.0},
        tunables=(
            built("CONTROL_MOMENT_GYROS", (4,), (6,)),
            {"momentum": (1.0, 2.0), "rate_limit": (0.4, 0.7)},
        ),
    ),
    "COUNTER": Row("blocks/test_sampled_signals.py"),
    "CROSS": Row("blocks/test_mathematics.py"),
    "CUMULATIVE_MAX": Row("blocks/test_sampled_signals.py"),
    "CUMULATIVE_MIN": Row("blocks/test_sampled_signals.py"),
    "DAC": Row(
        "blocks/test_converters.py",
        tunables=(
            built("DAC", (2,), clocked=True, width=2, bits=3),
            {"lower": (-1.0, -0.2), "upper": (1.0, 0.6)},
        ),
    ),
    "DATA": Row("blocks/test_data_block.py"),
    "DEADZONE": Row(
        "blocks/test_nonlinear_blocks.py",
        arguments={"lower": -1.0, "upper": 1.0},
        tunables=(built("DEADZONE", (2,)), {"lower": (-0.1, -0.3), "upper": (0.1, 0.3)}),
    ),
    "DESIRED_REACTION": Row(
        "blocks/test_resolved_motion_blocks.py",
        arguments={"frame": "link2"},
        tunables=(
            with_robot("DESIRED_REACTION", (3, 3), *[(3,)] * 2, *[(6,)] * 2, *[(3,)] * 2, frame=5),
            {"damping": (0.1, 0.3)},
        ),
    ),
    "DIFFKINEMATICS": Row(golden=("R0 r0 rL e g", "Bij Bi0 P0 pm")),
    "DISTURBANCE_OBSERVER": Row(
        "blocks/test_estimators.py",
        arguments={**_PLANT, "B": 1.0, "poles": -2.0},
        tunables=(
            built("DISTURBANCE_OBSERVER", (), (), A=-1.0, B=2.0, C=1.0),
            {"L": ([[1.0], [2.0]], [[3.0], [0.5]])},
        ),
    ),
    "DISTURBANCE_OBSERVER_S": Row(
        "blocks/test_estimators.py",
        arguments={**_PLANT, "B": 1.0, "poles": -2.0},
        tunables=(
            built("DISTURBANCE_OBSERVER_S", (), (), clocked=True, A=-1.0, B=2.0, C=1.0),
            {"L": ([[1.0], [2.0]], [[3.0], [0.5]])},
        ),
    ),
    "DOCKING_CONTACT": Row(
        "blocks/test_flexible.py",
        arguments={"radius": 0.1, "half_angle": 0.7, "stiffness": 1.0},
        tunables=(
            built("DOCKING_CONTACT", (3,), (6,), (3,), (3, 3), (6,), radius=2.0, half_angle=0.7),
            {
                "stiffness": (1.0, 2.0),
                "dissipation": (0.1, 0.2),
                "friction": (0.2, 0.4),
                "slow": (0.1, 0.2),
            },
        ),
    ),
    "DOT": Row("blocks/test_mathematics.py"),
    "DRAG": Row(
        "blocks/test_spacecraft_surroundings.py",
        arguments={"area": 1.0},
        tunables=(
            built("DRAG", (), (3,), (3,)),
            {"area": (1.0, 2.0), "Cd": (2.0, 2.5), "omega": (0.1, 0.2)},
        ),
    ),
    "DRAG_PLATES": Row(
        "blocks/test_spacecraft_surroundings.py",
        arguments=PLATE,
        tunables=(
            built("DRAG_PLATES", (), (3,), (3,), (3, 3), plates=PLATES),
            {"Cd": (2.0, 2.5), "omega": (0.1, 0.2)},
        ),
    ),
    "EARTH_ROTATION": Row("blocks/test_spacecraft_surroundings.py", arguments=EPOCH),
    "EARTH_VECTOR": Row("blocks/test_spacecraft_surroundings.py"),
    "ECEF_ECI": Row("blocks/test_spacecraft_surroundings.py", arguments=EPOCH),
    "ECEF_GEODETIC": Row("blocks/test_spacecraft_surroundings.py"),
    "ECI_ECEF": Row("blocks/test_spacecraft_surroundings.py", arguments=EPOCH),
    "ECLIPSE": Row("blocks/test_spacecraft_surroundings.py"),
    "EDGE": Row(
        "blocks/test_play_and_crossings.py",
        tunables=(built("EDGE", (2,), clocked=True, width=2), {"level": (0.3, 0.6)}),
    ),
    "EFFORT_LIMIT": Row("blocks/test_effort_limit.py"),
    "EKF_S": Row(
        "blocks/test_nonlinear_filters.py",
        arguments=_MODEL,
        tunables=(built("EKF_S", (), (), (), clocked=True, **PENDULUM), NOISE),
    ),
    "ELEMENTS_ORBIT": Row(
        "blocks/test_spacecraft_surroundings.py",
        tunables=(
            away_from_zero("ELEMENTS_ORBIT", 2.0, 0.3, 1.0, 2.0, 3.0, 4.0),
            {"mu": (1.0, 2.0)},
        ),
    ),
    "ELEMENT_PRODUCT": Row("blocks/test_mathematics.py"),
    "ELEMENT_SUM": Row("blocks/test_mathematics.py"),
    "ENCODER": Row(
        "blocks/test_sensors.py",
        arguments={"resolution": 0.1},
        tunables=(
            built("ENCODER", (2,), (), clocked=True, width=2),
            {"resolution": (0.1, 0.3), "offset": (0.0, 0.05)},
        ),
    ),
    "END_EFFECTOR": Row("blocks/test_resolved_motion_blocks.py", arguments={"frame": "link2"}),
    "FCN": Row("blocks/test_fcn_block.py", arguments={"expression": "u"}),
    "FD": Row(golden=("tau0 taum wF0 wFm t0 tL P0 pm I0 Im Bij Bi0 u0 um", "u0dot_FD umdot_FD")),
    "FD_FIXED": Row("blocks/test_joint_ports.py"),
    "FIR": Row(
        "blocks/test_sampled_signals.py",
        arguments={"coefficients": [1.0, 2.0]},
        tunables=(
            built("FIR", (2,), clocked=True, width=2),
            {"coefficients": ([1.0, 2.0, 3.0], [0.5, -1.0, 4.0])},
        ),
    ),
    "FIRST_ORDER_HOLD": Row("blocks/test_converters.py"),
    "FLEXIBLE_APPENDAGE": Row(
        "blocks/test_flexible.py",
        arguments={"frequency": 1.0, "damping": 0.0, "participation": [[0, 0, 1]]},
        tunables=(
            built("FLEXIBLE_APPENDAGE", (6,), participation=K @ [[1, 0, 0], [0, 1, 0]]),
            {"frequency": (1.0, 2.0), "damping": (0.1, 0.2)},
        ),
    ),
    "FLOATING_ID": Row(
        golden=(
            "wF0 wFm Mm_tilde H0 t0 tL P0 pm I0 Im Bij Bi0 u0 um umdot",
            "taum_floating u0dot_floating",
        )
    ),
    "FMU": Row("fmu/test_fmu_block.py"),
    "FMU_ME": Row("fmu/test_fmu_me_block.py"),
    "FRICTION_MASS": Row(
        "blocks/test_friction.py",
        arguments={"mass": 1.0, "coulomb": 1.0, "pressed": True},
        tunables=(
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
    ),
    "FROM": Row("diagram/test_tags.py", arguments={"tag": "speed"}),
    "GAIN_SCHEDULE": Row(
        "blocks/test_grids.py",
        arguments={"axes": [[0, 1]] * 3, "K": np.zeros((2, 2, 2))},
        tunables=(
            built("GAIN_SCHEDULE", (2,), (), axes=[[-0.5, 0.1, 0.6]]),
            {"K": (np.stack([K, 2 * K, K.T]), np.stack([K.T, K, 3 * K]))},
        ),
    ),
    "GENERALIZED_JACOBIAN": Row(
        "blocks/test_resolved_motion_blocks.py", arguments={"frame": "link2"}
    ),
    "GEODETIC_ECEF": Row("blocks/test_spacecraft_surroundings.py"),
    "GIM": Row(golden=("M0_tilde Mm_tilde Bij Bi0 P0 pm", "H0 H0m Hm")),
    "GIM_NOC": Row("blocks/test_functions_as_blocks.py"),
    "GNSS": Row(
        "blocks/test_sensors.py",
        tunables=(
            built("GNSS", (3,), (6,), (), clocked=True, correlation_time=1.0),
            {"noise_r": (1.0, 2.0), "noise_v": (0.1, 0.2), "drift": (0.3, 1.0)},
        ),
    ),
    "GOTO": Row("diagram/test_tags.py", arguments={"tag": "speed"}),
    "GRAVITY": Row(
        "blocks/test_variational_plant.py",
        tunables=(with_robot("GRAVITY"), {"gravity": ([0, 0, -9.81], [0.3, -0.2, -1.6])}),
    ),
    "GRAVITY_COMPENSATION": Row("blocks/test_controllers.py"),
    "GRAVITY_GRADIENT": Row(
        "blocks/test_spacecraft_surroundings.py",
        arguments={"inertia": [1.0, 2.0, 3.0]},
        tunables=(
            built("GRAVITY_GRADIENT", (3, 3), (3,)),
            {"inertia": (np.diag([3.0, 4.0, 5.0]), np.diag([2.0, 1.5, 1.0])), "mu": (1.0, 2.0)},
        ),
    ),
    "GYRO": Row(
        "blocks/test_sensors.py",
        tunables=(built("GYRO", (6,), (), clocked=True, correlation_time=1.0), DRIFTS),
    ),
    "GYRO_STEERING": Row(
        "blocks/test_stored_momentum.py",
        arguments={"momentum": 1.0},
        tunables=(
            built("GYRO_STEERING", (6,), (4,), (6,), (3,)),
            {
                "momentum": (1.0, 2.0),
                "damping": (0.1, 0.3),
                "sharpness": (1.0, 2.0),
                "null_gain": (0.1, 0.2),
                "preferred": (0.1, 0.4),
            },
        ),
    ),
    "HIT_CROSSING": Row(
        "blocks/test_play_and_crossings.py",
        tunables=(built("HIT_CROSSING", ()), {"level": (0.3, 0.6), "pulse": (0.1, 0.2)}),
    ),
    "HYBRID_SYSTEM": Row(
        "blocks/test_hybrid_system.py",
        arguments={"states": ["x"], "f": "-x", "jumps": [{"when": "x < 0", "set": {"x": "1"}}]},
    ),
    "ID": Row(golden=("wF0 wFm t0 tL t0dot tLdot P0 pm I0 Im Bij Bi0", "tau0_ID taum_ID")),
    "IF": Row("blocks/test_conditional_blocks.py", arguments={"conditions": "u > 0"}),
    "IIR": Row(
        "blocks/test_sampled_signals.py", arguments={"sections": [[1.0, 0.0, 0.0, 1.0, 0.5, 0.0]]}
    ),
    "IK": Row(
        "blocks/test_ik_block.py",
        arguments={"frame": 2, "q0": [0.0] * TREE.nq},
        tunables=(inverse_kinematics, {"damping": (1e-3, 0.3)}),
    ),
    "IMPEDANCE": Row(
        "blocks/test_controllers.py",
        arguments={"frame": 2, "stiffness": 1.0, "damping": 1.0, "components": "wx vx"},
        tunables=(
            task("IMPEDANCE", 4, [(4, 6)]),
            {"stiffness": (10.0, 20.0), "damping": ([1.0, 2.0], [4.0, 5.0])},
        ),
    ),
    "IMU": Row(
        "blocks/test_sensors.py",
        tunables=(
            built("IMU", (3, 3), (6,), (6,), (3,), (), clocked=True, correlation_time=1.0),
            DRIFTS,
        ),
    ),
    "INERTIAS": Row(golden=("R0 RL", "I0 Im")),
    "INVERSE_DYNAMICS": Row("blocks/test_controllers.py"),
    "JACOB": Row(golden=("rp r0 rL P0 pm", "J0p Jmp"), arguments={"link": 2}),
    "JACOBDOT": Row(
        golden=("rp tp r0 t0 rL tL P0 pm", "J0pdot Jmpdot"), arguments={"link": "link2"}
    ),
    "JOINT_PD": Row(
        "blocks/test_functions_as_blocks.py",
        arguments={"kp": 1.0, "kd": 1.0},
        tunables=(
            built("JOINT_PD", (3,), (3,), (3,), (3,)),
            {"kp": (10.0, 20.0), "kd": ([1.0, 2.0, 3.0], [4.0, 5.0, 6.0])},
        ),
    ),
    "JOINT_PID": Row(
        "blocks/test_controllers.py",
        arguments={"kp": 1.0},
        tunables=(
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
    ),
    "JOINT_PID_S": Row(
        "blocks/test_controllers.py",
        arguments={"kp": 1.0},
        tunables=(
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
    ),
    "JOINT_SELECT": Row(
        "blocks/test_spherical_joints_in_blocks.py", arguments={"joints": TREE.active_joints[:2]}
    ),
    "JULIAN_DATE": Row("blocks/test_spacecraft_surroundings.py", arguments=EPOCH),
    "KALMAN": Row(
        "blocks/test_estimators.py",
        arguments={**_PLANT, "Q": 1.0, "R": 1.0},
        tunables=(
            built("KALMAN", (2,), (2,), P0=1.0),
            {**MATRICES, "Q": (np.eye(2), 2 * np.eye(2)), "R": (np.eye(2), 3 * np.eye(2))},
        ),
    ),
    "KALMAN_S": Row(
        "blocks/test_estimators.py",
        arguments={**_PLANT, "Q": 1.0, "R": 1.0},
        tunables=(
            built("KALMAN_S", (2,), (2,), (), clocked=True, P0=1.0, method="none"),
            {**MATRICES, "Q": (np.eye(2), 2 * np.eye(2)), "R": (np.eye(2), 3 * np.eye(2))},
        ),
    ),
    "KINEMATICS": Row(golden=("R0 r0 qm", "RJ RL rJ rL e g")),
    "KINEMATICS_DYNAMICS": Row("blocks/test_resolved_motion_blocks.py"),
    "LEAD_LAG": Row(
        "blocks/test_linear_systems.py",
        arguments={"lead": 1.0, "lag": 0.1},
        tunables=(
            built("LEAD_LAG", (2,), width=2),
            {"lead": (0.5, 0.7), "lag": (0.1, 0.2), "gain": (1.0, 3.0)},
        ),
    ),
    "LEAD_LAG_S": Row(
        "blocks/test_linear_systems.py",
        arguments={"lead": 1.0, "lag": 0.1},
        tunables=(
            built("LEAD_LAG_S", (2,), clocked=True, lead=0.5, lag=0.1, width=2),
            {"gain": (1.0, 3.0)},
        ),
    ),
    "LINK_WRENCH": Row("blocks/test_flexible.py", arguments={"frame": 2}),
    "LOGIC": Row("blocks/test_switching_blocks.py"),
    "LOOKUP": Row("blocks/test_tables.py", arguments={"x": [0, 1], "y": [0, 1]}),
    "LOOKUP_2D": Row(
        "blocks/test_tables.py", arguments={"x": [0, 1], "y": [0, 1], "z": [[0, 1], [1, 2]]}
    ),
    "LOOKUP_ND": Row(
        "blocks/test_grids.py", arguments={"axes": [[0, 1]] * 5, "values": np.zeros((2,) * 5)}
    ),
    "LOOP_ERROR": Row("blocks/test_closed_chain.py"),
    "LOOP_JACOBIAN": Row("blocks/test_closed_chain.py"),
    "LOW_PASS": Row(
        "blocks/test_linear_systems.py",
        arguments={"cutoff": 0.1},
        tunables=(built("LOW_PASS", (2,), order=3, width=2), {"cutoff": (1.0, 2.0)}),
    ),
    "LOW_PASS_S": Row("blocks/test_linear_systems.py", arguments={"cutoff": 0.1}),
    "LQG": Row(
        "blocks/test_predictive_control.py",
        arguments={**_PLANT, "B": 1.0, "Q": 1.0, "R": 1.0, "W": 1.0, "V": 1.0},
        tunables=(built("LQG", (), (2,), (), **DOUBLE, C=[1.0, 0.0]), GAINS),
    ),
    "LQG_S": Row(
        "blocks/test_predictive_control.py",
        arguments={**_PLANT, "B": 1.0, "Q": 1.0, "R": 1.0, "W": 1.0, "V": 1.0},
        tunables=(built("LQG_S", (), (2,), (), clocked=True, **DOUBLE, C=[1.0, 0.0]), GAINS),
    ),
    "LQR": Row(
        "blocks/test_lqr_block.py",
        arguments={"K": {"lqr": {"plant": "plant", "Q": 1, "R": 1}}},
        tunables=(
            regulator,
            {
                "K": (np.eye(9, 18), np.arange(162.0).reshape(9, 18)),
                "hold": (np.ones(9), np.arange(9.0)),
                "qm_ref": ([0.0, 0.0, 0.0], [0.1, 0.2, 0.3]),
                "r0_ref": ([0.0, 0.0, 0.0], [0.3, 0.2, 0.1]),
            },
        ),
    ),
    "LUENBERGER": Row(
        "blocks/test_estimators.py",
        arguments={**_PLANT, "L": 1.0},
        tunables=(
            built("LUENBERGER", (2,), (2,)),
            {**MATRICES, "L": (np.eye(2), K)},
        ),
    ),
    "LUENBERGER_S": Row(
        "blocks/test_estimators.py",
        arguments={**_PLANT, "L": 1.0},
        tunables=(
            built("LUENBERGER_S", (2,), (2,), clocked=True, method="none"),
            {**MATRICES, "L": (np.eye(2), K)},
        ),
    ),
    "MAGNETIC_FIELD": Row("blocks/test_spacecraft_surroundings.py", arguments=EPOCH),
    "MAGNETIC_UNLOADING": Row(
        "blocks/test_stored_momentum.py",
        arguments={"gain": 1.0},
        tunables=(
            built("MAGNETIC_UNLOADING", (3,), (3,)),
            {"gain": (1.0, 2.0), "wanted": ([0.1, 0.2, 0.3], [0.2, 0.1, 0.0])},
        ),
    ),
    "MAGNETOMETER": Row(
        "blocks/test_sensors.py",
        tunables=(
            built("MAGNETOMETER", (3,), (3, 3), (), clocked=True, correlation_time=1.0),
            DRIFTS,
        ),
    ),
    "MAGNETORQUERS": Row(
        "blocks/test_stored_momentum.py",
        tunables=(
            built("MAGNETORQUERS", (3,), (3,), (3, 3)),
            {"limit": (0.4, 0.7), "residual": ([0.1, 0.2, 0.3], [0.2, 0.1, 0.0])},
        ),
    ),
    "MAHONY_FILTER": Row(
        "blocks/test_attitude_estimation.py",
        arguments={"references": [0.0, 0.0, 1.0]},
        tunables=(built("MAHONY_FILTER", (3,), (3,), (3,), references=np.eye(2, 3)), MAHONY),
    ),
    "MAHONY_FILTER_S": Row(
        "blocks/test_attitude_estimation.py",
        arguments={"references": [0.0, 0.0, 1.0]},
        tunables=(
            built("MAHONY_FILTER_S", (3,), (3,), (3,), clocked=True, references=np.eye(2, 3)),
            MAHONY,
        ),
    ),
    "MANUAL_SWITCH": Row(
        "blocks/test_routing.py", tunables=(built("MANUAL_SWITCH", (2,), (2,)), {"choice": (1, 2)})
    ),
    "MATH": Row("blocks/test_mathematics.py", arguments={"function": "pow"}),
    "MCB": Row(golden=("I0 Im Bij Bi0", "M0_tilde Mm_tilde")),
    "MEKF_S": Row(
        "blocks/test_attitude_estimation.py",
        arguments={"gyro_noise": 1.0, "bias_noise": 1.0},
        tunables=(
            built("MEKF_S", (3,), (4,), (), (3,), (3,), clocked=True),
            {
                "gyro_noise": (1.0, 2.0),
                "bias_noise": (1.0, 3.0),
                "q_noise": ([1.0, 2.0, 3.0], [0.5, 0.3, 0.1]),
                "vector_noise": (1.0, 0.3),
            },
        ),
    ),
    "MERGE": Row(
        "blocks/test_conditional_blocks.py",
        tunables=(merged, {"initial": ([0.5, 1.0], [2.0, -1.0])}),
    ),
    "MINMAX": Row("blocks/test_mathematics.py"),
    "MOMENTUM_TORQUE": Row("blocks/test_stored_momentum.py"),
    "MOON_VECTOR": Row("blocks/test_spacecraft_surroundings.py", arguments=EPOCH),
    "MOVING_AVERAGE": Row("blocks/test_sampled_signals.py", arguments={"N": 2}),
    "MPC_S": Row(
        "blocks/test_predictive_control.py",
        arguments={"A": -1.0, "B": 1.0, "Q": 1.0, "R": 1.0, "N": 3, "lower": -1.0},
        tunables=(
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
    ),
    "MQTT_IN": Row("blocks/test_link_blocks.py", arguments={"topic": "demo", "frame": FRAME}),
    "MQTT_OUT": Row("blocks/test_link_blocks.py", arguments={"topic": "demo", "frame": FRAME}),
    "MULTIBODY": Row("blocks/test_plant.py"),
    "MULTIBODY_RATES": Row(golden=("tau0 taum wF0 wFm R0 r0 qm u0 um", "u0dot_FD umdot_FD")),
    "MULTIPORT_SWITCH": Row("blocks/test_routing.py"),
    "MULTISINE": Row(
        "blocks/test_sources.py",
        arguments={"frequencies": [1.0, 2.0]},
        tunables=(
            built("MULTISINE"),
            {
                "frequencies": ([1.0, 2.0], [1.0, 2.5]),
                "amplitudes": ([1.0, 1.0], [2.0, 3.0]),
                "phases": ([0.0, 0.1], [0.3, -1.0]),
            },
        ),
        more={
            "with Schroeder's phases": (
                built("MULTISINE", frequencies=[1.0, 2.0]),
                {"amplitudes": ([1.0, 1.0], [2.0, 3.0])},
            )
        },
    ),
    "NOC": Row(golden=("r0 rL P0 pm", "N")),
    "NOCDOT": Row(golden=("r0 t0 rL tL P0 pm", "Ndot")),
    "NOISE": Row("blocks/test_estimators.py"),
    "NOTCH": Row(
        "blocks/test_linear_systems.py",
        arguments={"frequency": 0.1, "bandwidth": 0.01},
        tunables=(
            built("NOTCH", (2,), width=2),
            {"frequency": (1.0, 2.0), "bandwidth": (0.2, 0.3), "depth": (0.1, 0.3)},
        ),
    ),
    "NOTCH_S": Row(
        "blocks/test_linear_systems.py", arguments={"frequency": 0.1, "bandwidth": 0.01}
    ),
    "OPERATIONAL_SPACE": Row(
        "blocks/test_controllers.py",
        arguments={"frame": "link2", "kp": 1.0, "kd": 1.0, "components": "wx vx"},
        tunables=(
            task("OPERATIONAL_SPACE", 4, [(4, 6)]),
            {"kp": (10.0, 20.0), "kd": ([1.0, 2.0], [4.0, 5.0]), "damping": (0.1, 0.2)},
        ),
    ),
    "ORBIT": Row(
        "blocks/test_spacecraft_surroundings.py",
        arguments={"initial": {"a": 7e6, "e": 0.01}},
        tunables=(
            built("ORBIT", (3,), (3,), initial={"a": 2.0, "e": 0.1}),
            {"mu": (1.0, 2.0), "mass": (1.0, 3.0)},
        ),
    ),
    "ORBITAL_ELEMENTS": Row(
        "blocks/test_orbits.py",
        tunables=(
            away_from_zero("ORBITAL_ELEMENTS", [1.0, 0.2, 0.3], [-0.2, 1.0, 0.5]),
            {"mu": (1.0, 2.0)},
        ),
    ),
    "ORBITAL_GRAVITY": Row(
        "blocks/test_spacecraft_surroundings.py",
        arguments={"orbiting": True},
        tunables=(
            with_robot("ORBITAL_GRAVITY", (3, 3), (3,), (3,), (3,)),
            {"J": ([0.1, 0.2], [0.3, -0.1]), "mu": (1.0, 2.0), "radius": (0.3, 0.4)},
        ),
    ),
    "ORBIT_FRAME": Row("blocks/test_orbits.py"),
    "PID_2DOF": Row(
        "blocks/test_pid_2dof.py",
        arguments={"tracking": True},
        tunables=(built("PID_2DOF", *[(2,)] * 3, width=2, tracking=True), PID_2DOF),
    ),
    "PID_2DOF_S": Row(
        "blocks/test_pid_2dof.py",
        arguments={"tracking": True},
        tunables=(
            built("PID_2DOF_S", *[(2,)] * 3, clocked=True, width=2, tracking=True),
            {**PID_2DOF, "Kb": (0.5, 0.9), "Kt": (0.6, 0.3)},
        ),
    ),
    "POLYNOMIAL": Row(
        "blocks/test_mathematics.py",
        arguments={"coefficients": [1.0, 2.0]},
        tunables=(
            built("POLYNOMIAL", (2,)),
            {"coefficients": ([1.0, -2.0, 0.5], [0.3, 0.2, 0.1])},
        ),
    ),
    "PRBS": Row(
        "blocks/test_sources.py",
        tunables=(
            built("PRBS", order=3),
            {"interval": (0.3, 0.4), "amplitude": (1.0, 3.0), "offset": (0.0, 2.0)},
        ),
    ),
    "PRBS_S": Row(
        "blocks/test_sources.py",
        tunables=(
            built("PRBS_S", clocked=True),
            {"amplitude": (1.0, 3.0), "offset": (0.0, 2.0)},
        ),
    ),
    "PT1": Row(
        "blocks/test_linear_systems.py",
        arguments={"gain": 1.0, "tau": 1.0},
        tunables=(built("PT1", (2,), width=2), {"gain": (1.0, 3.0), "tau": (0.5, 0.2)}),
    ),
    "PT1_S": Row(
        "blocks/test_linear_systems.py",
        arguments={"gain": 1.0, "tau": 1.0},
        tunables=(built("PT1_S", (2,), clocked=True, tau=0.5, width=2), {"gain": (1.0, 3.0)}),
    ),
    "PT2": Row(
        "blocks/test_linear_systems.py",
        arguments={"gain": 1.0, "omega": 1.0},
        tunables=(
            built("PT2", (2,), width=2),
            {"gain": (1.0, 3.0), "omega": (2.0, 3.0), "damping": (0.5, 0.2)},
        ),
    ),
    "PT2_S": Row(
        "blocks/test_linear_systems.py",
        arguments={"gain": 1.0, "omega": 1.0},
        tunables=(built("PT2_S", (2,), clocked=True, omega=2.0, width=2), {"gain": (1.0, 3.0)}),
    ),
    "PULSE": Row(
        "blocks/test_sources.py",
        tunables=(
            built("PULSE"),
            {
                "amplitude": ([1.0, 2.0], [3.0, -1.0]),
                "period": (1.0, 0.7),
                "width": (0.5, 0.3),
                "delay": (0.1, 0.6),
                "offset": (0.0, 2.0),
            },
        ),
    ),
    "PULSE_WIDTH": Row(
        "blocks/test_thrusters.py",
        tunables=(
            built("PULSE_WIDTH", (2,), clocked=True, width=2),
            {"full": (1.0, 2.0), "min_on": (0.01, 0.05)},
        ),
    ),
    "PWPF": Row(
        "blocks/test_thrusters.py",
        arguments={"gain": 4.0, "tau": 0.3, "on": 0.6, "off": 0.2},
        tunables=(
            built("PWPF", (2,), width=2),
            {
                "gain": (4.0, 5.0),
                "tau": (0.3, 0.2),
                "on": (0.5, 0.6),
                "off": (0.1, 0.2),
                "amplitude": (1.0, 2.0),
            },
        ),
    ),
    "QUANTIZER": Row(
        "blocks/test_nonlinear_blocks.py",
        arguments={"interval": 0.1},
        tunables=(built("QUANTIZER", (2,)), {"interval": (0.1, 0.3), "offset": (0.0, 0.05)}),
    ),
    "QUAT_ANGLES321": Row("blocks/test_functions_as_blocks.py"),
    "QUAT_CONJUGATE": Row("blocks/test_quaternion_blocks.py"),
    "QUAT_EXP": Row("blocks/test_quaternion_blocks.py"),
    "QUAT_LEFT_MATRIX": Row("blocks/test_functions_as_blocks.py"),
    "QUAT_LOG": Row("blocks/test_quaternion_blocks.py"),
    "QUAT_PRODUCT": Row("blocks/test_functions_as_blocks.py"),
    "QUAT_R": Row("blocks/test_functions_as_blocks.py"),
    "QUAT_RIGHT_MATRIX": Row("blocks/test_functions_as_blocks.py"),
    "QUAT_ROTATE": Row("blocks/test_quaternion_blocks.py"),
    "QUINTIC": Row(
        "blocks/test_references.py",
        arguments={"q0": 0.0, "qf": 1.0, "duration": 1.0},
        tunables=(
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
    ),
    "RANDOM_WALK": Row(
        "blocks/test_sources.py",
        tunables=(built("RANDOM_WALK", clocked=True, size=2), {"std": (0.1, 0.3)}),
    ),
    "RATE_LIMITER": Row(
        "blocks/test_nonlinear_blocks.py",
        arguments={"rising": 1.0},
        tunables=(
            built("RATE_LIMITER", (2,), x0=[0.0, 0.0]),
            {"rising": (0.5, 0.8), "falling": (-0.5, -0.8), "bandwidth": (0.3, 0.9)},
        ),
    ),
    "RATE_LIMITER_S": Row(
        "blocks/test_nonlinear_blocks.py",
        arguments={"rising": 1.0},
        tunables=(
            built("RATE_LIMITER_S", (2,), clocked=True, x0=[0.0, 0.0]),
            {"rising": (0.1, 0.2), "falling": (-0.1, -0.2)},
        ),
    ),
    "REACTION_WHEELS": Row(
        "blocks/test_stored_momentum.py",
        arguments={"axes": [[0, 0, 1]], "inertia": 1.0},
        tunables=(
            built("REACTION_WHEELS", (3,), (6,), axes=np.eye(3)),
            {
                "inertia": (1.0, 2.0),
                "limit": (0.5, 0.7),
                "speed_limit": (1.0, 2.0),
                "viscous": (0.1, 0.2),
                "coulomb": (0.1, 0.3),
            },
        ),
    ),
    "RECORD": Row("blocks/test_checks.py"),
    "RELAY": Row(
        "blocks/test_switching_blocks.py",
        arguments={"on": 1.0, "off": -1.0},
        tunables=(
            built("RELAY", ()),
            {
                "on": (0.3, 0.5),
                "off": (-0.3, -0.1),
                "on_value": (1.0, 2.0),
                "off_value": (0.0, -1.0),
            },
        ),
    ),
    "REPEATING": Row(
        "blocks/test_sources.py", arguments={"times": [0.0, 1.0], "values": [0.0, 1.0]}
    ),
    "RESET_INTEGRATOR": Row(
        "blocks/test_reset_integrator.py",
        tunables=(
            built("RESET_INTEGRATOR", (2,), (), (2,), width=2),
            {"lower": (-1.0, -0.2), "upper": (1.0, 0.1)},
        ),
    ),
    "RESHAPE": Row("blocks/test_routing.py", arguments={"shape": [2, 3]}),
    "RESOLVED_RATE": Row(
        "blocks/test_resolved_motion_blocks.py",
        arguments={"frame": "link2"},
        tunables=(
            with_robot("RESOLVED_RATE", (3, 3), *[(3,)] * 2, (6,), *[(3,)] * 3, frame="Link_EE"),
            {"damping": (0.1, 0.3)},
        ),
    ),
    "RESOLVED_RATE_MIN_ENERGY": Row(
        "blocks/test_resolved_motion_blocks.py", arguments={"frame": "link2"}
    ),
    "ROS_IN": Row("blocks/test_link_blocks.py", arguments=TWIST),
    "ROS_OUT": Row("blocks/test_link_blocks.py", arguments=TWIST),
    "ROUND": Row("blocks/test_mathematics.py"),
    "R_ANGLES321": Row("blocks/test_functions_as_blocks.py"),
    "R_AXIS_ANGLE": Row("blocks/test_functions_as_blocks.py"),
    "R_QUAT": Row("blocks/test_functions_as_blocks.py"),
    "SAMPLE_HOLD": Row("blocks/test_sampled_signals.py"),
    "SATURATION": Row(
        "blocks/test_nonlinear_blocks.py",
        arguments={"upper": 1.0},
        tunables=(
            built("SATURATION", (2,)),
            {"lower": (-0.5, -0.1), "upper": (0.5, 0.1)},
        ),
    ),
    "SECOND_ORDER_INTEGRATOR": Row(
        "blocks/test_second_order_integrator.py",
        tunables=(
            built("SECOND_ORDER_INTEGRATOR", (2,), width=2),
            {
                "lower": (-1.0, -0.2),
                "upper": (1.0, 0.1),
                "v_lower": (-2.0, -0.3),
                "v_upper": (2.0, 0.4),
            },
        ),
    ),
    "SELECTOR": Row("blocks/test_routing.py", arguments={"indices": [0]}),
    "SERIAL_IN": Row(
        "blocks/test_link_blocks.py", arguments={"device": "/dev/ttyUSB0", "frame": FRAME}
    ),
    "SERIAL_OUT": Row(
        "blocks/test_link_blocks.py", arguments={"device": "/dev/ttyUSB0", "frame": FRAME}
    ),
    "SHM_IN": Row(
        "realtime/test_loop_under_attack.py", arguments={"memory": "demo", "frame": FRAME}
    ),
    "SHM_OUT": Row(
        "realtime/test_loop_under_attack.py", arguments={"memory": "demo", "frame": FRAME}
    ),
    "SIGN": Row("blocks/test_mathematics.py"),
    "SKEW_MATRIX": Row("blocks/test_functions_as_blocks.py"),
    "SLERP": Row("blocks/test_quaternion_blocks.py"),
    "SLOSH": Row(
        "blocks/test_flexible.py",
        arguments={"mass": 1.0, "frequency": 1.0},
        tunables=(
            built("SLOSH", (3, 3), (6,), (3,)),
            {"mass": (1.0, 2.0), "frequency": (1.0, 2.0), "damping": (0.1, 0.2)},
        ),
    ),
    "SOLAR_PRESSURE": Row(
        "blocks/test_spacecraft_surroundings.py",
        arguments={"area": 1.0},
        tunables=(
            away_from_zero("SOLAR_PRESSURE", [0, 0, 1], [3, 2, 3], 0.5),
            {"area": (1.0, 2.0), "Cr": (1.0, 1.5), "irradiance": (1.0, 2.0)},
        ),
    ),
    "SOLAR_PRESSURE_PLATES": Row(
        "blocks/test_spacecraft_surroundings.py",
        arguments=PLATE,
        tunables=(
            away_from_zero(
                "SOLAR_PRESSURE_PLATES", [0, 0, 1], [3, 2, 3], 0.5, np.eye(3), plates=PLATES
            ),
            {"irradiance": (1.0, 2.0)},
        ),
    ),
    "SPECTRUM": Row(
        "blocks/test_spectrum.py",
        arguments={"frequencies": [0.5, 1.0]},
        tunables=(built("SPECTRUM", (), frequencies=[0.0, 0.5]), {"tau": (1.0, 0.4)}),
    ),
    "STACK": Row("blocks/test_routing.py"),
    "STAR_TRACKER": Row(
        "blocks/test_sensors.py",
        tunables=(
            built("STAR_TRACKER", (3, 3), (6,), (3,), (), clocked=True),
            {"across": (0.1, 0.2), "about": (0.3, 0.2)},
        ),
    ),
    "STATE_INTEGRATOR": Row("blocks/test_plant.py"),
    "STATE_MACHINE": Row("state_machines/test_state_machine.py", arguments={"states": {"on": {}}}),
    "STATE_MACHINE_S": Row(
        "state_machines/test_parallel_states.py", arguments={"states": {"on": {}}}
    ),
    "STATE_SPACE": Row(
        "blocks/test_linear_systems.py",
        arguments={"A": -1.0, "B": 1.0, "C": 1.0},
        tunables=(
            built("STATE_SPACE", (2,)),
            MATRICES,
        ),
    ),
    "STATE_SPACE_S": Row(
        "blocks/test_linear_systems.py",
        arguments={"A": -1.0, "B": 1.0, "C": 1.0},
        tunables=(
            built("STATE_SPACE_S", (2,), clocked=True, method="none"),
            MATRICES,
        ),
    ),
    "SUN_SENSOR": Row(
        "blocks/test_sensors.py",
        tunables=(
            built("SUN_SENSOR", (3,), (3, 3), (), clocked=True),
            {"noise": (0.1, 0.2)},
        ),
    ),
    "SUN_VECTOR": Row("blocks/test_spacecraft_surroundings.py", arguments=EPOCH),
    "SWITCH": Row(
        "blocks/test_switching_blocks.py",
        tunables=(built("SWITCH", (2,), (), (2,)), {"threshold": (0.1, 0.4)}),
    ),
    "TCP_IN": Row("blocks/test_link_blocks.py", arguments={"port": 5005, "frame": FRAME}),
    "TCP_OUT": Row("realtime/test_watchdog.py", arguments={"port": 5005, "frame": FRAME}),
    "THIRD_BODY": Row(
        "blocks/test_spacecraft_surroundings.py",
        tunables=(built("THIRD_BODY", (3,), (3,)), {"mu": (1.0, 2.0)}),
    ),
    "THRUSTERS": Row(
        "blocks/test_thrusters.py",
        arguments={"positions": [[0, 1, 0]], "directions": [[1, 0, 0]], "thrust": 1.0},
        tunables=(
            built("THRUSTERS", (4,), (3, 3), **{key: 2 * rows for key, rows in PAIR.items()}),
            {
                "thrust": (1.0, 2.0),
                "on_delay": (0.0, 2.0),
                "off_delay": (0.0, 3.0),
                "min_on": (0.0, 3.0),
            },
        ),
    ),
    "THRUSTER_ALLOCATION": Row(
        "blocks/test_thrusters.py",
        arguments={"positions": [[0, 1, 0]], "directions": [[1, 0, 0]]},
        tunables=(
            built("THRUSTER_ALLOCATION", (6,), (3, 3), components="wz", **PAIR),
            {"limit": ([0.1, 0.2], [0.2, 0.3])},
        ),
    ),
    "THRUSTER_UNLOADING": Row(
        "blocks/test_stored_momentum.py",
        arguments={"on": 1.0, "off": 0.5, "torque": 1.0},
        tunables=(
            built("THRUSTER_UNLOADING", (3,)),
            {"on": (1.0, 2.0), "off": (0.1, 0.5), "torque": (0.1, 0.2)},
        ),
    ),
    "TRAJECTORY_FILE": Row(
        "blocks/test_trajectory_file.py",
        arguments={"path": robots.ROOT / "diagrams/motion/joints.csv"},
    ),
    "TRANSFER_FUNCTION": Row(
        "blocks/test_linear_systems.py",
        arguments={"num": 1.0, "den": [1.0, 1.0]},
        tunables=(
            built("TRANSFER_FUNCTION", (2,), width=2),
            {"num": ([1.0, 2.0], [3.0, -1.0]), "den": ([1.0, 2.0, 3.0], [2.0, 1.0, 4.0])},
        ),
    ),
    "TRANSFER_FUNCTION_S": Row(
        "blocks/test_linear_systems.py",
        arguments={"num": 1.0, "den": [1.0, 1.0]},
        tunables=(
            built("TRANSFER_FUNCTION_S", (2,), clocked=True, method="none", width=2),
            {"num": ([1.0, 2.0], [3.0, -1.0]), "den": ([1.0, 0.5], [2.0, 0.4])},
        ),
    ),
    "TRANSPORT_DELAY": Row("blocks/test_delays.py", arguments={"delay": 2.0}),
    "TRANSPOSE_JACOBIAN": Row(
        "blocks/test_controllers.py",
        arguments={"frame": 2, "stiffness": 1.0, "damping": 1.0},
        tunables=(
            task("TRANSPOSE_JACOBIAN", 1),
            {"stiffness": (10.0, 20.0), "damping": ([1.0, 2.0], [4.0, 5.0])},
        ),
    ),
    "TRAPEZOID": Row(
        "blocks/test_references.py",
        arguments={"q0": 0.0, "qf": 1.0, "duration": 1.0},
        tunables=(
            built("TRAPEZOID"),
            {
                "q0": ([0.0, 1.0], [0.5, 0.2]),
                "qf": ([1.0, 2.0], [-1.0, 0.3]),
                "velocity": (1.0, [0.3, 0.2]),
                "acceleration": (2.0, [0.5, 0.1]),
                "T": (0.2, 0.9),
            },
        ),
        more={
            "in a time": (
                built("TRAPEZOID", q0=0.0, qf=1.0),
                {"duration": (2.0, 1.1), "blend": (0.2, 0.5)},
            )
        },
    ),
    "TRIG": Row("blocks/test_mathematics.py", arguments={"function": "atan2"}),
    "TWO_BODY": Row(
        "blocks/test_spacecraft_surroundings.py",
        tunables=(built("TWO_BODY", (3,)), {"mu": (1.0, 2.0)}),
    ),
    "UDP_IN": Row("blocks/test_link_blocks.py", arguments={"port": 5005, "frame": FRAME}),
    "UDP_OUT": Row("blocks/test_link_blocks.py", arguments={"port": 5005, "frame": FRAME}),
    "UKF_S": Row(
        "blocks/test_nonlinear_filters.py",
        arguments=_MODEL,
        tunables=(built("UKF_S", (), (), (), clocked=True, **PENDULUM), NOISE),
    ),
    "UNIT_CONVERSION": Row(
        "blocks/test_mathematics.py", arguments={"from_unit": "rpm", "to_unit": "deg/s"}
    ),
    "UNIT_DELAY": Row("blocks/test_delays.py"),
    "VARIABLE_DELAY": Row("blocks/test_variable_delay.py", arguments={"max_delay": 2.0}),
    "VELOCITIES": Row(golden=("Bij Bi0 P0 pm u0 um", "t0 tL")),
    "VIA_POINTS": Row(
        "blocks/test_references.py", arguments={"points": [0.0, 1.0], "times": [0.0, 1.0]}
    ),
    "WHEEL_ALLOCATION": Row(
        "blocks/test_stored_momentum.py",
        arguments={"axes": [[0, 0, 1]]},
        tunables=(
            built("WHEEL_ALLOCATION", (6,), (6,), (3,), (4,), axes=[*np.eye(3), [1, 1, 1]]),
            {"speed_gain": (0.1, 0.3), "preferred": (1.0, 2.0)},
        ),
    ),
    "ZERO_POLE": Row(
        "blocks/test_linear_systems.py",
        arguments={"zeros": [], "poles": [-1.0]},
        tunables=(
            built("ZERO_POLE", (2,), zeros=[-1.0], poles=[-2.0, -3.0], width=2),
            {"gain": (1.0, 3.0)},
        ),
    ),
    "ZERO_POLE_S": Row(
        "blocks/test_linear_systems.py",
        arguments={"zeros": [], "poles": [-1.0]},
        tunables=(
            built("ZERO_POLE_S", (2,), clocked=True, zeros=[-1.0], poles=[-2.0, -3.0], width=2),
            {"gain": (1.0, 3.0)},
        ),
    ),
    "ZMQ_IN": Row("blocks/test_link_blocks.py", arguments={"port": 5005, "frame": FRAME}),
    "ZMQ_OUT": Row("blocks/test_link_blocks.py", arguments={"port": 5005, "frame": FRAME}),
    "ZONAL_GRAVITY": Row(
        "blocks/test_spacecraft_surroundings.py",
        tunables=(
            built("ZONAL_GRAVITY", (3,)),
            {"J": ([0.1, 0.2], [0.3, -0.1]), "mu": (1.0, 2.0), "radius": (0.3, 0.4)},
        ),
    ),
}
