"""Motors, friction and limits from a file beside the robot, and from URDF itself."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from urdf_text import joint, link, robot, write

import spart_blocks as sb
from spart_blocks.base.errors import DiagramError, RobotError, SpartWarning
from spart_blocks.robot import Drive, Limits, Robot
from spart_blocks.robot.structure import robot_to_structure

ARM = robot(
    link("base"),
    link("upper"),
    link("lower"),
    link("hand"),
    joint("shoulder", "base", "upper", extra='<dynamics damping="0.5" friction="0.2"/>'),
    joint("elbow", "upper", "lower", extra='<limit lower="-2" upper="2" effort="9"/>'),
    joint("wrist", "lower", "hand", kind="fixed"),
)
DRIVES = """
joints:
  shoulder:
    gear: -100
    motor_inertia: 2e-4
    viscous: 1e-3
    coulomb: [0.4, -0.3]
    stiffness: 1e4
    dissipation: 0.5
    qlim: [-1, 3]
  elbow: {coulomb: 0.1, limits: {upper: 1.5, velocity: 2}}
"""


@pytest.fixture
def arm(tmp_path):
    return write(tmp_path, ARM)


def drives_of(folder, text):
    path = folder / "drives.yaml"
    path.write_text(text, encoding="utf-8")
    return path


# --- URDF's own figures -----------------------------------------------------------------------


def test_urdf_damping_and_friction_are_those_at_the_joint(arm):
    shoulder, elbow, wrist = Robot.from_urdf(arm).joints
    assert shoulder.drive == Drive(viscous=0.5, coulomb=(0.2, -0.2))
    assert (elbow.drive, wrist.drive) == (None, None)
    assert elbow.limits == Limits(lower=-2, upper=2, effort=9)


def test_nothing_of_it_acts_unless_it_is_asked_for(arm):
    assert Robot.from_urdf(arm).effects == ()


@pytest.mark.parametrize(
    ("element", "text"),
    [
        ('<dynamics damping="-1"/>', "<dynamics damping> is -1; it must not be negative"),
        ('<dynamics friction="-0.5"/>', "<dynamics friction> is -0.5; it must not be negative"),
        ('<dynamics damping="nan"/>', "<dynamics damping> is nan; it must be finite"),
        ('<dynamics friction="inf"/>', "<dynamics friction> is inf; it must be finite"),
        ('<dynamics friction="much"/>', "<dynamics friction> is not a number: 'much'"),
        ("<dynamics/><dynamics/>", "has 2 <dynamics> elements; it takes one"),
    ],
)
def test_wrong_damping_and_friction_are_told_with_their_line(tmp_path, element, text):
    path = write(tmp_path, robot(link("a"), link("b"), joint("j", "a", "b", extra=element)))
    with pytest.raises(RobotError) as error:
        Robot.from_urdf(path)
    (fault,) = error.value.faults
    assert text in fault.message
    assert (fault.place.file, fault.place.line) == (str(path), 4)


def test_a_fixed_joint_has_no_drive(tmp_path):
    element = joint("j", "a", "b", kind="fixed", extra='<dynamics damping="1"/>')
    path = write(tmp_path, robot(link("a"), link("b"), element))
    assert Robot.from_urdf(path).joints[0].drive is None


# --- the file of drives -----------------------------------------------------------------------


def test_drives_and_limits_of_a_file_are_the_joints(arm, tmp_path):
    path = drives_of(tmp_path, DRIVES)
    made = Robot.from_urdf(arm, drives=path)
    shoulder, elbow, _ = made.joints
    assert shoulder.drive == Drive(-100, 2e-4, 1e-3, (0.4, -0.3), 1e4, 0.5)
    assert shoulder.limits == Limits(lower=-1, upper=3)
    assert elbow.drive == Drive(coulomb=(0.1, -0.1))
    assert elbow.limits == Limits(lower=-2, upper=1.5, effort=9, velocity=2)
    assert made.effects == ("motors", "friction")
    assert made == Robot.from_urdf(arm).with_drives(path)


def test_stops_at_limits_that_are_reversed_are_refused(tmp_path):
    limit = '<limit lower="1" upper="-1" effort="1"/>'
    path = write(tmp_path, robot(link("a"), link("b"), joint("j", "a", "b", extra=limit)))
    with pytest.warns(SpartWarning, match="lower limit is above the upper one"):
        arm = Robot.from_urdf(path)
    assert arm.with_effects(["motors"]).effects == ("motors",)
    with pytest.raises(RobotError, match="joint 'j' cannot have stops: its lower limit, 1"):
        arm.with_effects(["stops"])


def test_drives_may_be_a_mapping(arm):
    made = Robot.from_urdf(arm, drives={"joints": {"elbow": {"gear": 50}}})
    assert made.joints[1].drive == Drive(gear=50)


def test_a_joint_that_is_not_named_keeps_what_urdf_gives_it(arm):
    made = Robot.from_urdf(arm, drives={"joints": {"elbow": {"gear": 50}}})
    assert made.joints[0].drive == Drive(viscous=0.5, coulomb=(0.2, -0.2))


def test_a_motor_that_is_given_replaces_urdfs_damping(arm):
    made = Robot.from_urdf(arm, drives={"joints": {"shoulder": {"gear": 50}}})
    assert made.joints[0].drive == Drive(gear=50)
    limited = Robot.from_urdf(arm, drives={"joints": {"shoulder": {"qlim": [0, 1]}}})
    assert limited.joints[0].drive == Drive(viscous=0.5, coulomb=(0.2, -0.2))


def test_a_motors_inertia_counts_where_inertias_are_doubted(tmp_path):
    path = write(tmp_path, robot(link("a"), link("b", ""), joint("j", "a", "b")))
    with pytest.warns(SpartWarning, match="H is singular"):
        Robot.from_urdf(path)
    Robot.from_urdf(path, drives={"joints": {"j": {"gear": 10, "motor_inertia": 1e-3}}})


@pytest.mark.parametrize(
    ("entry", "place", "text"),
    [
        ("shulder: {gear: 1}", (2, 3), "no joint 'shulder' on r\n  did you mean 'shoulder'?"),
        ("wrist: {gear: 1}", (2, 3), "joint 'wrist' of r is fixed"),
        ("elbow: {gear: 0}", (2, 17), "gear is 0; a motor that does not turn"),
        ("elbow: {gear: x}", (2, 17), "gear: must be a number, not 'x'"),
        ("elbow: {gear: .inf}", (2, 17), "has an entry that is not finite"),
        ("elbow: {motor_inertia: -1}", (2, 26), "motor_inertia is -1; it must not be negative"),
        ("elbow: {viscous: -1}", (2, 20), "viscous is -1; it must not be negative"),
        ("elbow: {dissipation: -1}", (2, 24), "dissipation is -1; it must not be negative"),
        ("elbow: {stiffness: 0}", (2, 22), "stiffness is 0; it must be positive"),
        ("elbow: {coulomb: [1, 1]}", (2, 20), "and the second not positive"),
        ("elbow: {coulomb: -1}", (2, 20), "must not be negative"),
        ("elbow: {coulomb: [1, 2, 3]}", (2, 20), "has shape (3,); it must be (2,)"),
        ("elbow: {static: 1}", (2, 19), "static is given without stribeck"),
        ("elbow: {stribeck: 1}", (2, 21), "stribeck is given without static"),
        ("elbow: {static: 1, stribeck: 0}", (2, 19), "stribeck is 0; it must be a positive"),
        ("elbow: {coulomb: 2, static: 1, stribeck: 1}", (2, 31), "is no less than in motion"),
        ("elbow: {static: [1, 1], stribeck: 1}", (2, 19), "is no less than in motion"),
        ("elbow: {static: x, stribeck: 1}", (2, 19), "static: must be a number, not 'x'"),
        ("elbow: {qlim: [2, 1]}", (2, 17), "the lower limit, 2, is above the upper one, 1"),
        ("elbow: {qlim: 2}", (2, 17), "has shape (); it must be (2,)"),
        ("elbow: {qlim: [0, 1], limits: {}}", (2, 17), "is given beside limits"),
        ("elbow: {limits: {lower: 5}}", (2, 19), "the lower limit, 5, is above"),
        ("elbow: {limits: {effort: -1}}", (2, 28), "is -1; it must not be negative"),
        ("elbow: {limits: {uper: 1}}", (2, 20), "unknown field\n  did you mean 'upper'?"),
        ("elbow: {geer: 1}", (2, 11), "unknown field\n  did you mean 'gear'?"),
        ("elbow: 3", (2, 10), "must be a mapping with gear"),
    ],
)
def test_a_mistake_is_told_with_line_and_column(arm, tmp_path, entry, place, text):
    path = drives_of(tmp_path, f"joints:\n  {entry}\n")
    with pytest.raises(RobotError) as error:
        Robot.from_urdf(arm, drives=path)
    (fault,) = error.value.faults
    assert text in str(fault)
    assert (fault.place.file, fault.place.line, fault.place.column) == (str(path), *place)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "the file is empty\n  a file of drives has joints:"),
        ("joint: {}", "joints: is missing"),
        ("joints: [1]", "joints: must be a mapping of joints, not [1]"),
        ("joints: {a", "not YAML"),
    ],
)
def test_a_file_that_holds_no_drives_says_why(arm, tmp_path, text, message):
    with pytest.raises(RobotError) as error:
        Robot.from_urdf(arm, drives=drives_of(tmp_path, text))
    assert message in str(error.value)


def test_a_file_that_is_not_there_is_told(arm):
    with pytest.raises(RobotError, match="there is no such file"):
        Robot.from_urdf(arm, drives="none.yaml")


# --- in a diagram -----------------------------------------------------------------------------

BLOCKS = "blocks: {t: {type: TIME}}\n"


def diagram_of(folder, robots):
    write(folder, ARM)
    drives_of(folder, DRIVES)
    path = folder / "diagram.yaml"
    path.write_text(f"{BLOCKS}robots:\n  arm: {robots}\n", encoding="utf-8")
    return path


def test_a_diagram_names_drives_effects_and_prescribed_joints(tmp_path):
    text = "{urdf: robot.urdf, drives: drives.yaml, effects: [stops, motors], kinematic: [elbow]}"
    diagram = sb.load(diagram_of(tmp_path, text))
    arm = diagram.robots["arm"]
    assert arm.effects == ("motors", "stops")
    assert arm.kinematic == (1,)
    assert arm.joints[0].drive.gear == -100
    assert tmp_path / "drives.yaml" in diagram.files


@pytest.mark.parametrize(
    ("robots", "effects"),
    [
        ("{urdf: robot.urdf}", ()),
        ("{urdf: robot.urdf, effects: all}", ("motors", "friction", "stops")),
        ("{urdf: robot.urdf, effects: [friction]}", ("friction",)),
        ("{urdf: robot.urdf, drives: drives.yaml}", ("motors", "friction")),
        ("{urdf: robot.urdf, drives: drives.yaml, effects: none}", ()),
    ],
)
def test_effects_by_default_are_those_that_were_given_figures(tmp_path, robots, effects):
    assert sb.load(diagram_of(tmp_path, robots)).robots["arm"].effects == effects


@pytest.mark.parametrize(
    ("robots", "at", "text"),
    [
        (
            "effects: motors",
            "motors",
            "robots.arm.effects: it is all, none, limits, or a list of mo",
        ),
        (
            "effects: [motor]",
            "motor",
            "must be 'motors', 'friction', 'stops' or 'limits', not 'motor'",
        ),
        ("kinematic: [elbo]", "elbo", "no joint 'elbo' on r\n  did you mean 'elbow'?"),
        ("kinematic: [wrist]", "wrist", "robots.arm.kinematic: joint 'wrist' of r is fixed"),
        ("kinematic: elbow", "elbow", "must be a list"),
        ("drives: none.yaml", "none.yaml", "none.yaml does not exist"),
        ("drives: ../none.yaml", "../none.yaml", "../none.yaml leaves the project"),
    ],
)
def test_a_mistake_in_the_robots_section_is_told_where_it_is(tmp_path, robots, at, text):
    path = diagram_of(tmp_path, f"{{urdf: robot.urdf, {robots}}}")
    line = path.read_text().splitlines()[2]
    with pytest.raises(DiagramError) as error:
        sb.load(path)
    (fault,) = error.value.faults
    assert text in str(fault)
    assert (fault.place.line, fault.place.column) == (3, line.rindex(at) + 1)


def test_a_mistake_in_the_file_of_drives_is_told_where_it_is(tmp_path):
    path = diagram_of(tmp_path, "{urdf: robot.urdf, drives: drives.yaml}")
    drives = drives_of(tmp_path, "joints:\n  elbow: {gear: 0}\n")
    with pytest.raises(DiagramError) as error:
        sb.load(path)
    assert str(error.value).startswith(f"{drives}:2:17: joints.elbow.gear: gear is 0")


def test_drives_effects_and_prescribed_joints_hold_for_every_kind_of_robot(tmp_path):
    write(tmp_path, ARM)
    bare = Robot.from_urdf(tmp_path / "robot.urdf")
    (tmp_path / "s.json").write_text(json.dumps(robot_to_structure(bare)))
    (tmp_path / "l.yaml").write_text("links: [[0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 1, 1, 0, 0, 0]]\n")
    models = Path(__file__).parents[2] / "models"
    (tmp_path / "d.yaml").write_text((models / "spacecraft_dh_5dof.yaml").read_text())
    kinds = {"spart": ("s.json", "elbow"), "links": ("l.yaml", "j1"), "dh": ("d.yaml", "joint2")}
    for kind, (file, name) in kinds.items():
        drives_of(tmp_path, f"joints: {{{name}: {{gear: 7}}}}")
        (tmp_path / "diagram.yaml").write_text(
            f"{BLOCKS}robots:\n"
            f"  r: {{{kind}: {file}, drives: drives.yaml, effects: all, kinematic: [{name}]}}\n"
        )
        made = sb.load(tmp_path / "diagram.yaml").robots["r"]
        place = made.kinematic[0]
        assert made.active_joints[place] == name, kind
        assert made.joints[made.layout[place].joint_id - 1].drive == Drive(gear=7), kind
        assert len(made.effects) == 3, kind


def test_a_links_robot_stands_on_the_ground_unless_the_diagram_lets_it_float(tmp_path):
    (tmp_path / "l.yaml").write_text(
        "base_mass: 9\nbase_inertia: [[1, 0, 0], [0, 1, 0], [0, 0, 1]]\n"
        "links: [[0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 1, 1, 0, 0, 0]]\n"
    )
    text = f"{BLOCKS}robots: {{a: {{links: l.yaml}}, b: {{links: l.yaml, base: floating}}}}\n"
    (tmp_path / "diagram.yaml").write_text(text)
    robots = sb.load(tmp_path / "diagram.yaml").robots
    assert (robots["a"].base, robots["b"].base) == ("fixed", "floating")
    assert np.isclose(robots["b"].mass, 10)
