"""What is wrong in a file of bodies is refused, all at once and where it is written."""

from __future__ import annotations

import pytest
from bodies_text import FOURBAR, ROUND, written

from spart_blocks.base.errors import RobotError
from spart_blocks.robot import Robot

BAD = """
bodies:
  a: {mass: -1, inertia: [1, 1, 1]}
  b: {mass: 1, inertia: [1, 1], com: [0, 0, .nan]}
  c: {mass: 1, inertia: {ixx: 1, iyy: 1, izz: 1, iyx: 0}}
  ground: {mass: 1}
  d: {mass: 1, inertia: [[1, 0, 0], [0.5, 1, 0], [0, 0, 1]]}
  e: {}
joints:
  j1: {type: Rq, parent: ground, child: a}
  j2: {type: Rz, parent: grund, child: b}
  j3: {type: Rz, parent: b, child: b}
  j4: {type: R, parent: a, child: b}
  j5: {type: Rx, axis: [1, 0, 0], parent: a, child: c, q: [1, 2]}
  j6: {type: spherical, parent: a, child: c, q: [0, 0, 0, 2], gear: 3}
  j7: {type: universal, parent: a, child: c, child_frame: {rotation: [[1,0,0],[0,2,0],[0,0,1]]}}
  j8: {type: rigid, parent: a, child: c, cut: maybe, parent_frame: {quaternion: [1, 0, 0, 1]}}
  j9: {type: P, axis: [0, 0, 0], parent: a, child: c, coulomb: -3, rate: 2}
  j7.rx: {type: Rz, parent: a}
  j10: {type: Rz, parent: a, child: c, parent_frame: {rpy: [0, 0, 0], quaternion: [0, 0, 0, 1]}}
  c: {type: spherical, parent: a, child: c}
  c.x: {type: Rz, parent: a, child: c}
distances:
  d1: {parent: a, child: a, length: 1}
  d2: {parent: a, child: c, length: -1}
  d3: {parent: a, child: c, length: prescribed}
  d4: {parent: a, child: c, length: fixed}
  b: {parent: a, child: c, length: prescribed, q: 1}
  j5: {parent: a, child: c, length: 1}
forces:
  f1: {type: torque, joint: j11}
  f2: {type: torque, joint: j7}
  f3: {type: joint, joint: j8}
  f4: {type: torque, joint: j6, port: "a b"}
  f5: {type: push, body: a}
  f6: {type: force, body: ground}
  f7: {type: force, parent: a, child: a, body: c}
  f8: {type: spring, parent: a, child: c, stiffness: -1, joint: j1}
  f9: {type: joint, joint: j6, rest: 1}
  f10: {type: torque, joint: j1}
prescribed: [j5, j5, j8, nope]
"""
REFUSED = [
    "3:6: bodies.a: mass is -1 kg; it cannot be negative",
    "4:25: bodies.b.inertia: has shape (2,); it must be (3,)",
    "4:38: bodies.b.com: has an entry that is not finite",
    "5:50: bodies.c.inertia.iyx: unknown field",
    "6:3: bodies.ground: the ground is the fixed frame, and no body",
    "7:6: bodies.d: inertia is not symmetric",
    "8:6: bodies.e.mass: is missing",
    "10:14: joints.j1.type: no joint type 'Rq'; there are rigid, Rx",
    "11:26: joints.j2.parent: no body 'grund'",
    "12:36: joints.j3.child: joint 'j3' goes from body 'b' to itself",
    "13:7: joints.j4.axis: is missing",
    "14:24: joints.j5.axis: a joint of type Rx takes no axis; R takes one",
    "14:59: joints.j5.q: has shape (2,); it must be ()",
    "15:49: joints.j6.q: has length 2; a unit quaternion [x, y, z, w] has 1",
    "15:69: joints.j6.gear: a spherical joint has none",
    "16:70: joints.j7.child_frame.rotation: is not a rotation matrix",
    "17:47: joints.j8.cut: must be true or false, not 'maybe'",
    "17:81: joints.j8.parent_frame.quaternion: has length 1.41421",
    "18:23: joints.j9.axis: is zero",
    "18:64: joints.j9.coulomb: coulomb is [-3, 3]; the first",
    "18:68: joints.j9.rate: unknown field",
    "19:10: joints.j7.rx.child: is missing",
    "20:83: joints.j10.parent_frame.quaternion: is given beside rpy",
    "22:3: joints.c.x: its name 'c.x' is also that of joint 'c'",
    "24:26: distances.d1.child: distance 'd1' goes from body 'a' to itself",
    "25:37: distances.d2.length: is -1; a distance must be positive",
    "26:7: distances.d3.q: is missing",
    "27:37: distances.d4.length: must be a number, or prescribed, not 'fixed'",
    "28:3: distances.b: its name 'b' is also that of a body",
    "29:3: distances.j5: its name 'j5' is also that of joint 'j5'",
    "31:29: forces.f1.joint: no joint 'j11'",
    "32:29: forces.f2.joint: joint 'j7' has several coordinates; name one: 'j7.rx', 'j7.ry'",
    "33:28: forces.f3.joint: joint 'j8' is rigid",
    "34:29: forces.f4.joint: a torque port is for a joint of one axis, not a spherical one",
    "34:39: forces.f4.port: 'a b' is not a valid port name",
    "35:14: forces.f5.type: no type of force 'push'; there are spring, joint, torque, force",
    "36:27: forces.f6.body: a force on the ground moves nothing",
    "37:39: forces.f7.child: force 'f7' goes from body 'a' to itself",
    "37:48: forces.f7.body: is given beside parent; a force has one or the other",
    "38:54: forces.f8.stiffness: is -1; it must not be negative",
    "38:65: forces.f8.joint: a force of type spring has no such field",
    "39:38: forces.f9.rest: a spherical joint's rest is its neutral position",
    "41:18: prescribed[1]: 'j5' is prescribed twice",
    "41:22: prescribed[2]: joint 'j8' is rigid",
    "41:26: prescribed[3]: no joint 'nope'",
]


def faults_of(source):
    with pytest.raises(RobotError) as error:
        Robot.from_bodies(source)
    return error.value.faults


def test_every_fault_of_a_file_is_told_at_once_where_it_is_written(tmp_path):
    path = written(tmp_path, BAD)
    found = sorted(faults_of(path), key=lambda fault: (fault.place.line, fault.place.column))
    texts = [f"{f.place.line}:{f.place.column}: {f.message}" for f in found]
    assert len(texts) == len(REFUSED), texts
    for text, start in zip(texts, REFUSED, strict=True):
        assert text.startswith(start)
    assert {f.place.file for f in found} == {str(path)}


def test_what_names_a_joint_that_could_not_be_read_is_not_also_told():
    data = {
        "bodies": {"a": ROUND},
        "joints": {"j": {"type": "Rq", "parent": "ground", "child": "a"}},
        "forces": {"f": {"type": "torque", "joint": "j.rx"}},
        "prescribed": ["j"],
    }
    (fault,) = faults_of(data)
    assert fault.message.startswith("joints.j.type: no joint type 'Rq'")
    assert fault.hint.startswith("did you mean 'R")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("bodies: {a: {mass: 1}, a: {mass: 2}}", "key 'a' is given twice"),
        ("bodies: {}", "bodies: there are no bodies"),
        ("joints: {}", "bodies: is missing"),
        ("bodies: [1]", "bodies: must be a mapping of names, not [1]"),
        ("bodies: {a: 3}", "bodies.a: must be a mapping with mass, com, inertia, not 3"),
        ("bodies: {'': {mass: 1}}", "bodies.: a name must be a text, not ''"),
        ("bodies: {a: {mass: 1e31}}", "bodies.a.mass: has an entry beyond 1e+30"),
        ("bodis: {}\nbodies: {a: {mass: 1}}", "bodis: unknown field"),
        ("", "the file is empty"),
    ],
)
def test_files_that_are_none_of_bodies_are_refused(tmp_path, text, message):
    path = written(tmp_path, text)
    assert message in [fault.message for fault in faults_of(path)]


def test_bodies_that_no_joint_reaches_are_refused_by_name(tmp_path):
    text = FOURBAR.replace("bodies:\n", "bodies:\n  lone: {mass: 0}\n")
    (fault,) = faults_of(written(tmp_path, text))
    assert fault.message == "bodies.lone: no joint leads to it from the ground"
    assert (fault.place.line, fault.place.column) == (4, 3)
    data = {"bodies": {"a": ROUND, "b": ROUND}}
    (fault,) = faults_of(data)
    assert fault.message == "bodies.b: no joint leads to it from body 'a', the base"


def test_a_loop_of_joints_that_are_all_needed_is_refused(tmp_path):
    text = FOURBAR + "prescribed: [J2, J3]\n"
    (fault,) = faults_of(written(tmp_path, text))
    assert fault.message == (
        "prescribed[1]: joint 'J3' closes a loop and has no coordinate, but it is prescribed"
    )
    assert fault.place.line == text.count("\n")


def test_a_motor_at_a_joint_that_must_be_cut_is_refused():
    motor = {"type": "Rz", "parent": "ground", "child": "b", "gear": 2}
    faults = faults_of({"bodies": {"b": ROUND}, "joints": {"j": motor, "k": motor}})
    assert [f.message for f in faults] == [
        "joints.k: joint 'k' closes a loop and has no coordinate, but it has a motor or friction"
    ]
