"""What bdsim 1.4 demands of a package of blocks, one test for each demand."""

from __future__ import annotations

import ast
import inspect
import re
from functools import cache
from pathlib import Path

import bdsim
import exchange_fmus
import fmu_files
import numpy as np
import pytest
import robots
from closed_robots import four_bar

from spart_blocks.block_support.declared import Declared
from spart_blocks.diagram.build.registry import find_type

FOLDER = Path(__file__).parents[2] / "spart_blocks/blocks"
FILES = sorted(path for path in FOLDER.glob("*.py") if not path.name.startswith("_"))
BASES = {"FunctionBlock", "ContinuousBlock", "SampledBlock", "SourceBlock", "SinkBlock"}
ROBOT = robots.random_robot(41, 6)
FRAME = {"header": "0xA5", "fields": {"values": "3 f64"}}
LINKS = {
    "UDP": {"port": 5005},
    "TCP": {"port": 5005},
    "SERIAL": {"device": "/dev/ttyUSB0"},
    "SHM": {"memory": "demo"},
    "ZMQ": {"port": 5005},
    "MQTT": {"topic": "demo"},
}
ARGUMENTS = {  # what a block needs besides a robot
    "JACOB": {"link": 2},
    "JACOBDOT": {"link": "link2"},
    "GENERALIZED_JACOBIAN": {"frame": "link2"},
    "END_EFFECTOR": {"frame": "link2"},
    "RESOLVED_RATE": {"frame": "link2"},
    "RESOLVED_RATE_MIN_ENERGY": {"frame": "link2"},
    "DESIRED_REACTION": {"frame": "link2"},
    "BASE_CONTROL": {"kp": 1.0, "kd": 2.0},
    "JOINT_PD": {"kp": 1.0, "kd": 1.0},
    "COMPARE": {"operator": ">"},
    "SATURATION": {"upper": 1.0},
    "DEADZONE": {"lower": -1.0, "upper": 1.0},
    "QUANTIZER": {"interval": 0.1},
    "IF": {"conditions": "u > 0"},
    "CASE": {"cases": [[2, 3]]},
    "RELAY": {"on": 1.0, "off": -1.0},
    "RATE_LIMITER": {"rising": 1.0},
    "RATE_LIMITER_S": {"rising": 1.0, "clock": bdsim.Clock(1.0)},
    "FCN": {"expression": "u"},
    "STATE_MACHINE": {"states": {"on": {}}},
    "STATE_MACHINE_S": {"states": {"on": {}}, "clock": bdsim.Clock(1.0)},
    "BACKLASH": {"gap": 1.0},
    "CHIRP": {"f0": 1.0, "f1": 2.0, "duration": 1.0},
    "MULTISINE": {"frequencies": [1.0, 2.0]},
    "REPEATING": {"times": [0.0, 1.0], "values": [0.0, 1.0]},
    "LQR": {"K": {"lqr": {"plant": "plant", "Q": 1, "R": 1}}},
    "COMPUTED_TORQUE": {"kp": 1.0, "kd": 1.0},
    "CLOSED_ID": {"actuated": ROBOT.active_joints[:2]},
    "CLOSED_COMPUTED_TORQUE": {"actuated": ROBOT.active_joints[:2], "kp": 1.0, "kd": 1.0},
    "CLOSED_IK": {"link": "link2", "actuated": ROBOT.active_joints[:2], "pose": True},
    "JOINT_SELECT": {"joints": ROBOT.active_joints[:2]},
    "JOINT_PID": {"kp": 1.0},
    "JOINT_PID_S": {"clock": bdsim.Clock(1.0), "kp": 1.0},
    "ATTITUDE_PD": {"kp": 1.0, "kd": 1.0},
    "OPERATIONAL_SPACE": {"frame": "link2", "kp": 1.0, "kd": 1.0, "components": "wx vx"},
    "IMPEDANCE": {"frame": 2, "stiffness": 1.0, "damping": 1.0, "components": "wx vx"},
    "TRANSPOSE_JACOBIAN": {"frame": 2, "stiffness": 1.0, "damping": 1.0},
    "QUINTIC": {"q0": 0.0, "qf": 1.0, "duration": 1.0},
    "TRAPEZOID": {"q0": 0.0, "qf": 1.0, "duration": 1.0},
    "VIA_POINTS": {"points": [0.0, 1.0], "times": [0.0, 1.0]},
    "TRAJECTORY_FILE": {"path": robots.ROOT / "diagrams/motion/joints.csv"},
    "CIRCLE": {"centre": [0.0, 0.0, 0.0], "radius": 1.0, "period": 1.0},
    "CARTESIAN_QUINTIC": {"r0": [0.0, 0.0, 0.0], "rf": [1.0, 0.0, 0.0], "duration": 1.0},
    "IK": {"frame": 2, "q0": [0.0] * ROBOT.nq, "clock": bdsim.Clock(1.0)},
    **{
        f"{transport}_{way}": {**place, "frame": FRAME}
        for transport, place in LINKS.items()
        for way in ("IN", "OUT")
    },
}
LINEAR = {
    "STATE_SPACE": {"A": -1.0, "B": 1.0, "C": 1.0},
    "TRANSFER_FUNCTION": {"num": 1.0, "den": [1.0, 1.0]},
    "ZERO_POLE": {"zeros": [], "poles": [-1.0]},
    "PT1": {"gain": 1.0, "tau": 1.0},
    "PT2": {"gain": 1.0, "omega": 1.0},
    "LEAD_LAG": {"lead": 1.0, "lag": 0.1},
    "NOTCH": {"frequency": 0.1, "bandwidth": 0.01},
    "LOW_PASS": {"cutoff": 0.1},
}
ARGUMENTS |= LINEAR
ALONE = ("QUINTIC", "TRAPEZOID")  # their robot is optional, and says how long q0 is
SAMPLED = {
    "UNIT_DELAY": {},
    "TRANSPORT_DELAY": {"delay": 2.0},
    "VARIABLE_DELAY": {"max_delay": 2.0},
    "NOISE": {},
}
ARGUMENTS |= {
    "MATH": {"function": "pow"},
    "SELECTOR": {"indices": [0]},
    "RESHAPE": {"shape": [2, 3]},
    "TRIG": {"function": "atan2"},
    "POLYNOMIAL": {"coefficients": [1.0, 2.0]},
    "BUS_CREATOR": {"signals": ["signal"]},
    "BUS_SELECTOR": {"signals": ["signal"]},
    "BUS_ASSIGNMENT": {"signals": ["signal"], "bus": ["signal"]},
    "GOTO": {"tag": "speed"},
    "FROM": {"tag": "speed"},
    "UNIT_CONVERSION": {"from_unit": "rpm", "to_unit": "deg/s"},
}
ARGUMENTS |= {"CHECK_RANGE": {"upper": 1.0}, "CHECK_SETTLING": {"by": 1.0, "tolerance": 0.1}}
SAMPLED["CHECK_RATE"] = {"limit": 1.0}
SAMPLED |= {"BACKLASH_S": {"gap": 1.0}, "EDGE": {}, "PID_2DOF_S": {"tracking": True}}
ARGUMENTS["PID_2DOF"] = {"tracking": True}
SAMPLED |= {"RANDOM_WALK": {}, "PRBS_S": {}, "BAND_LIMITED_NOISE": {"power": 1.0}}
SAMPLED |= {"FIR": {"coefficients": [1.0, 2.0]}, "MOVING_AVERAGE": {"N": 2}, "COUNTER": {}}
SAMPLED |= {"CUMULATIVE_MIN": {}, "CUMULATIVE_MAX": {}, "SAMPLE_HOLD": {}}
SAMPLED["IIR"] = {"sections": [[1.0, 0.0, 0.0, 1.0, 0.5, 0.0]]}
SAMPLED |= {f"{kind}_S": given for kind, given in LINEAR.items()}
ARGUMENTS |= {
    "THRUSTERS": {"positions": [[0, 1, 0]], "directions": [[1, 0, 0]], "thrust": 1.0},
    "THRUSTER_ALLOCATION": {"positions": [[0, 1, 0]], "directions": [[1, 0, 0]]},
    "FLEXIBLE_APPENDAGE": {"frequency": 1.0, "damping": 0.0, "participation": [[0, 0, 1]]},
    "SLOSH": {"mass": 1.0, "frequency": 1.0},
    "LINK_WRENCH": {"frame": 2},
    "DOCKING_CONTACT": {"radius": 0.1, "half_angle": 0.7, "stiffness": 1.0},
    "REACTION_WHEELS": {"axes": [[0, 0, 1]], "inertia": 1.0},
    "WHEEL_ALLOCATION": {"axes": [[0, 0, 1]]},
    "CONTROL_MOMENT_GYROS": {"momentum": 1.0},
    "GYRO_STEERING": {"momentum": 1.0},
    "MAGNETIC_UNLOADING": {"gain": 1.0},
    "THRUSTER_UNLOADING": {"on": 1.0, "off": 0.5, "torque": 1.0},
    "PWPF": {"gain": 4.0, "tau": 0.3, "on": 0.6, "off": 0.2},
}
SAMPLED |= {"PULSE_WIDTH": {}, "GYRO": {}, "ACCELEROMETER": {}, "IMU": {}}
SAMPLED |= {"MAGNETOMETER": {}}
SAMPLED |= {"STAR_TRACKER": {}, "SUN_SENSOR": {}, "GNSS": {}, "ENCODER": {"resolution": 0.1}}
_PLANT = {"A": -1.0, "C": 1.0}
ESTIMATORS = {
    "LUENBERGER": {**_PLANT, "L": 1.0},
    "DISTURBANCE_OBSERVER": {**_PLANT, "B": 1.0, "poles": -2.0},
    "KALMAN": {**_PLANT, "Q": 1.0, "R": 1.0},
    "MAHONY_FILTER": {"references": [0.0, 0.0, 1.0]},
    "COMPLEMENTARY_FILTER": {"tau": 1.0},
}
ARGUMENTS |= ESTIMATORS
SAMPLED |= {f"{kind}_S": given for kind, given in ESTIMATORS.items()}
EPOCH = {"epoch": "2026-03-20T12:00:00"}
PLATE = {"plates": [{"area": 1.0, "normal": [1.0, 0.0, 0.0]}]}
ARGUMENTS |= dict.fromkeys(
    ("JULIAN_DATE", "EARTH_ROTATION", "ECI_ECEF", "ECEF_ECI", "SUN_VECTOR", "MOON_VECTOR",
     "MAGNETIC_FIELD"), EPOCH,
)  # fmt: skip
ARGUMENTS |= {
    "ORBIT": {"initial": {"a": 7e6, "e": 0.01}},
    "GRAVITY_GRADIENT": {"inertia": [1.0, 2.0, 3.0]},
    "ORBITAL_GRAVITY": {"orbiting": True},
    "DRAG": {"area": 1.0},
    "DRAG_PLATES": PLATE,
    "SOLAR_PRESSURE": {"area": 1.0},
    "SOLAR_PRESSURE_PLATES": PLATE,
}
ARGUMENTS["LQG"] = {**_PLANT, "B": 1.0, "Q": 1.0, "R": 1.0, "W": 1.0, "V": 1.0}
SAMPLED["LQG_S"] = ARGUMENTS["LQG"]
SAMPLED["MPC_S"] = {"A": -1.0, "B": 1.0, "Q": 1.0, "R": 1.0, "N": 3, "lower": -1.0}
_MODEL = {"f": "-x", "h": "x", "states": "x", "Q": 1.0, "R": 1.0, "P0": 1.0}
SAMPLED |= {"EKF_S": _MODEL, "UKF_S": _MODEL, "MEKF_S": {"gyro_noise": 1.0, "bias_noise": 1.0}}
ARGUMENTS["LOOKUP"] = {"x": [0, 1], "y": [0, 1]}
ARGUMENTS["LOOKUP_2D"] = {"x": [0, 1], "y": [0, 1], "z": [[0, 1], [1, 2]]}
ARGUMENTS["FRICTION_MASS"] = {"mass": 1.0, "coulomb": 1.0, "pressed": True}
ARGUMENTS["CLUTCH"] = {"inertia1": 1.0, "inertia2": 1.0, "coulomb": 1.0}
ARGUMENTS["CLUTCH_TORQUE"] = ARGUMENTS["CLUTCH"]
ARGUMENTS["LOOKUP_ND"] = {"axes": [[0, 1]] * 5, "values": np.zeros((2,) * 5)}
ARGUMENTS["GAIN_SCHEDULE"] = {"axes": [[0, 1]] * 3, "K": np.zeros((2, 2, 2))}
# Block names of roboticstoolbox-python's blocks (arm, mobile, spatial, uav): bdsim's wiki,
# "Block catalog", revision 2, and the icons in its roboticstoolbox/blocks folder. A later
# package wins silently, so ours stay clear of them.
# fmt: off
ROBOTICSTOOLBOX = (
    "FKINE", "IKINE", "JACOBIAN", "ARMPLOT", "JTRAJ", "CTRAJ", "CIRCLEPATH", "TRAPEZOIDAL",
    "LSPB", "TRAJ", "IDYN", "GRAVLOAD", "GRAVLOAD_X", "INERTIA", "INERTIA_X", "CORIOLIS",
    "FDYN", "FDYN_X", "BICYCLE", "UNICYCLE", "DIFFSTEER", "VEHICLEPLOT", "TR2DELTA",
    "DELTA2TR", "POINT2TR", "TR2T", "MULTIROTOR", "MULTIROTORMIXER", "MULTIROTORPLOT",
    "CAMERA",
)
# fmt: on


@pytest.fixture(autouse=True, scope="module")
def _an_fmu(tmp_path_factory):
    """Its block's ports are those of its file; this one's has none."""
    file = fmu_files.empty_fmu(tmp_path_factory.mktemp("fmu") / "empty.fmu")
    ARGUMENTS["FMU"] = {"file": file, "clock": bdsim.Clock(1.0)}
    ARGUMENTS["FMU_ME"] = {
        "file": exchange_fmus.write_fmu(file.with_name("all.fmu")),
        "input_ports": [],
        "output_ports": [],
    }
    recording = file.with_name("recording.csv")
    recording.write_text("t,u\n0,1\n1,2\n")
    ARGUMENTS["DATA"] = {"file": recording, "signals": ["u"]}
    for name, given in SAMPLED.items():
        ARGUMENTS[name] = {**given, "clock": bdsim.Clock(1.0)}


@cache
def classes():
    """(file, class) of every top-level class in the files that bdsim reads."""
    return [
        pytest.param(path, node, id=node.name)
        for path in FILES
        for node in ast.parse(path.read_text(encoding="utf-8")).body
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_")
    ]


def library(runtime, package="spart_blocks"):
    return {n: v for n, v in runtime._blocklibrary.items() if v["package"] == package}


def cls_of(node, runtime):
    return runtime._resolve_block_class(node.name.upper())


def make(name, robot=ROBOT, runtime=None):
    """A block of a type, alone in a diagram."""
    runtime = runtime or bdsim.BDSim
    cls = runtime._blocklibrary[name]["class"]
    given = dict(ARGUMENTS.get(name, {}))
    if "robot" in find_type(name).parameters and name not in ALONE:
        given["robot"] = four_bar() if name.startswith("LOOP_") else robot
    return cls(**given)


@pytest.mark.parametrize(("path", "node"), classes())
def test_every_class_is_found(path, node, bdsim_runtime):
    found = {info["classname"]: info for info in library(bdsim_runtime).values()}
    assert node.name in found
    assert found[node.name]["module"] == f"spart_blocks.blocks.{path.stem}"


@pytest.mark.parametrize(("path", "node"), classes())
def test_class_names_do_not_end_in_block(path, node):
    assert not node.name.endswith("Block")


@pytest.mark.parametrize(("path", "node"), classes())
def test_one_base_is_bdsim_s_and_mixins_do_not_end_in_block(path, node):
    names = [base.id for base in node.bases]
    assert len(set(names) & BASES) == 1
    assert not [name for name in names if name.endswith("Block") and name not in BASES]


@pytest.mark.parametrize(("path", "node"), classes())
def test_port_counts_are_literals_in_the_class(path, node):
    literals = {
        target.id: statement.value.value
        for statement in node.body
        if isinstance(statement, ast.Assign) and isinstance(statement.value, ast.Constant)
        for target in statement.targets
    }
    assert isinstance(literals["nin"], int)
    assert isinstance(literals["nout"], int)


@pytest.mark.parametrize(("path", "node"), classes())
def test_every_parameter_is_declared_once_and_told(path, node):
    text = ast.get_docstring(node)
    assert ":param " not in text, "bdsim needs a :type for each"
    kind = find_type(node.name.upper())
    assert kind.cls.parameters is not None
    assert {*re.findall(r"^:arg (\w+):", text, re.MULTILINE)} <= {*kind.parameters}
    assert list(inspect.signature(kind.cls).parameters) == [*kind.parameters, "blockargs"]
    for parameter in kind.parameters.values():
        assert parameter.doc, parameter.name
    told = re.findall(r"^:param (\w+):", kind.doc, re.MULTILINE)
    assert told == re.findall(r"^:type (\w+):", kind.doc, re.MULTILINE) == list(kind.parameters)


@pytest.mark.parametrize(("path", "node"), classes())
def test_ports_are_declared_once_and_completely(path, node, bdsim_runtime):
    cls = cls_of(node, bdsim_runtime)
    assert issubclass(cls, Declared)
    specs = [*cls.takes, *cls.gives]
    for spec in specs:
        assert spec.text, f"{spec.name} has no text"
        assert not spec.text.endswith("."), spec.name
        assert spec.unit == spec.unit.strip()
    if not hasattr(cls, "ports_of"):  # those of an FMU are in its file
        assert specs
    text = ast.get_docstring(node)
    for again in ("list-table", ":input", ":output", ":states:", ":blockname:"):
        assert again not in text


@pytest.mark.parametrize(("path", "node"), classes())
def test_the_help_on_a_class_has_its_ports(path, node, bdsim_runtime):
    cls = cls_of(node, bdsim_runtime)
    for way, specs in (("input", cls.takes), ("output", cls.gives)):
        told = re.findall(rf"^:{way} ([\w.]+): (.+)$", cls.__doc__, re.MULTILINE)
        assert [name for name, _ in told] == [spec.name for spec in specs]
        for (_, text), spec in zip(told, specs, strict=True):
            assert text.startswith(spec.type)
            assert text.endswith(spec.told)


@pytest.mark.parametrize(("path", "node"), classes())
def test_a_block_has_the_ports_that_its_class_declares(path, node, bdsim_runtime):
    block = make(node.name.upper(), runtime=bdsim_runtime)
    for ports, specs in (
        (block.in_ports, type(block).takes),
        (block.out_ports, type(block).gives),
    ):
        assert [port.name for port in ports] == [spec.name for spec in specs]
        for port, spec in zip(ports, specs, strict=True):
            assert port.optional == spec.optional, port.name
            given = vars(block).get(spec.unit)  # a parameter may give it
            assert port.unit in (spec.unit, *spec.unit.split(", "), given), port.name
            assert bool(port.unit) == bool(spec.unit), port.name


@pytest.mark.parametrize(("path", "node"), classes())
def test_the_constructed_ports_are_the_declared_ones(path, node, bdsim_runtime):
    block = make(node.name.upper(), runtime=bdsim_runtime)
    assert (block.nin, block.nout) == (type(block).nin, type(block).nout)
    assert len(block.in_ports) == block.nin
    assert len(block.out_ports) == block.nout
    info = library(bdsim_runtime)[node.name.upper()]
    assert (info["nin"], info["nout"]) == (block.nin, block.nout)


@pytest.mark.parametrize(("path", "node"), classes())
def test_no_attribute_has_the_name_of_an_input_port(path, node, bdsim_runtime):
    # bdsim takes `block.name = value` for a wire to the input port of that name.
    block = make(node.name.upper(), runtime=bdsim_runtime)
    ports = {port.name for port in block.in_ports}
    assert not ports & set(vars(block))
    assert not ports & {name for name in dir(type(block)) if not name.startswith("__")}


def test_no_block_takes_a_name_of_bdsim_s_own(bdsim_runtime):
    ours = {info["classname"].upper() for info in library(bdsim_runtime).values()}
    others = {
        name
        for name, info in bdsim_runtime._blocklibrary.items()
        if info["package"] != "spart_blocks"
    }
    assert "INTEGRATOR" in others
    assert len(ours) == len(library(bdsim_runtime)) == len(classes())
    assert not ours & others


def test_no_block_takes_a_name_of_roboticstoolbox_s(bdsim_runtime):
    assert not set(library(bdsim_runtime)) & set(ROBOTICSTOOLBOX)


def test_bdsim_s_own_library_loads_whole_beside_ours(bdsim_runtime, monkeypatch):
    beside = set(bdsim_runtime._blocklibrary) - set(library(bdsim_runtime))
    monkeypatch.setattr(bdsim.BDSim, "_blocklibrary", None)
    alone = bdsim.BDSim(
        packages="", sysargs=False, graphics=False, toolboxes=False, banner=False, progress=False
    )
    assert set(alone._blocklibrary) == beside


def test_blocks_are_made_through_a_diagram(bdsim_runtime):
    bd = bdsim_runtime.blockdiagram()
    plant = bd.MULTIBODY(ROBOT, name="plant")
    assert plant.name == "plant"
    assert plant.type == "multibody"
    assert plant.nstates == 7 + 6 + 2 * ROBOT.nu


@pytest.mark.parametrize("name", ["MULTIBODY", "AUDIT", "GRAVITY", "KINEMATICS", "GIM"])
def test_what_is_not_a_robot_is_refused_by_name(name, bdsim_runtime):
    cls = bdsim_runtime._blocklibrary[name]["class"]
    with pytest.raises(ValueError, match="needs a Robot for its parameter robot, not 'arm"):
        cls("arm.urdf")
