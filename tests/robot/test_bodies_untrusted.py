"""Whatever files of bodies and of loops hold, a robot or an error of ours comes of it."""

from __future__ import annotations

import pytest
from bodies_text import ROUND
from hypothesis import given, settings
from hypothesis import strategies as st
from untrusted_files import answered

from spart_blocks.base.errors import RobotError
from spart_blocks.robot import Robot
from spart_blocks.robot.joint_kinds import FREE_AXIS, KINDS
from spart_blocks.robot.loops_file import robot_with_loops

HINGE = {"type": "Rz", "parent": "a", "child": "b"}
ARM = Robot.from_bodies({"bodies": {"a": ROUND, "b": ROUND}, "joints": {"K": HINGE}})
BODY = ("mass", "com", "inertia", "ixx", "nonsense")
JOINT = ("type", "parent", "child", "parent_frame", "child_frame", "axis", "q", "cut", "limits")
JOINT += ("gear", "coulomb", "xyz", "rpy", "quaternion", "rotation")
TIE = ("length", "q", "parent_point", "child_point", "stiffness", "joint", "port", "body", "local")
MANY = settings(max_examples=60, derandomize=True, deadline=None)
scalars = st.one_of(
    st.none(),
    st.booleans(),
    st.sampled_from([0, 1, -1, 0.5, 1e30, -1e29, 1e31, 1e308, 10**400, 1e-300, float("nan")]),
    st.sampled_from(["", "a", "b", "ground", "J", "J.rx", "prescribed", "\u202e", "j1" * 200]),
)
values = st.recursive(
    scalars,
    lambda inner: st.one_of(
        st.lists(inner, max_size=6),
        st.lists(st.sampled_from([0, 1, 0.3, -2]), min_size=3, max_size=7),
        st.dictionaries(st.sampled_from(BODY + JOINT), inner, max_size=3),
    ),
    max_leaves=8,
)
names = st.sampled_from(["a", "b", "c", "J", "K", "L", "f", "J", "L", "J.rx", "", "ground"])


def entry(fields, **sound):
    """Sound fields, of which some are replaced by anything."""
    wrong = st.dictionaries(st.sampled_from(fields), values, max_size=1)
    return st.one_of(st.just({}), st.just({}), wrong).map(lambda d: sound | d)


def section(fields, **sound):
    many = st.dictionaries(names, entry(fields, **sound), max_size=2)
    return st.one_of(many, many, many, values)


def _axis(kind):
    return {"axis": [1, 2, 2]} if kind in FREE_AXIS else {}


def joints(parent):
    return st.sampled_from([*KINDS]).flatmap(
        lambda kind: section(
            ("parent", "child", *JOINT), parent=parent, child="b", type=kind, **_axis(kind)
        )
    )


FORCES = {
    "spring": {"parent": "a", "child": "b"},
    "joint": {"joint": "J"},
    "torque": {"joint": "K", "port": "p"},
    "force": {"body": "b", "port": "p"},
}
forces = st.sampled_from([*FORCES]).flatmap(
    lambda kind: section((*FORCES[kind], "type", *TIE), type=kind, **FORCES[kind])
)


def sections(parent):
    return {
        "joints": joints(parent),
        "distances": section(
            ("parent", "child", *TIE), parent=parent, child="b", length=1, child_point=[1, 0, 0]
        ),
        "forces": st.one_of(st.just({}), forces),
        "prescribed": st.one_of(st.just([]), values),
    }


bodies = st.one_of(
    st.just({}), st.dictionaries(st.sampled_from(["a", "c"]), entry(BODY, **ROUND), max_size=1)
)
CHAIN = {"J": {"type": "Rz", "parent": "ground", "child": "a"}, "K": HINGE}


def with_chain(data):
    """With two bodies on hinges, so that most of what else is told can be."""
    told = data.get("joints", {})
    joints = {**told, **CHAIN} if isinstance(told, dict) else told
    return data | {"bodies": {"a": ROUND, "b": ROUND, **data["bodies"]}, "joints": joints}


@MANY
@given(st.fixed_dictionaries({"bodies": bodies}, optional=sections("ground")))
def test_any_file_of_bodies(data):
    answered(lambda: Robot.from_bodies(with_chain(data)))


@MANY
@given(st.fixed_dictionaries({}, optional={**sections("a"), "home": values}))
def test_any_file_of_loops(data):
    answered(lambda: robot_with_loops(ARM, data))


@pytest.mark.parametrize("data", [None, 3, [], "text", {"bodies": {3: ROUND}}, {3: 4}])
def test_what_is_no_file_of_bodies_is_refused(data):
    with pytest.raises(RobotError):
        Robot.from_bodies(data)


@pytest.mark.parametrize("key", ["bodies", "joints", "distances", "forces"])
def test_a_section_with_too_many_entries_is_refused(key):
    data = {"bodies": {"b": ROUND}, key: {f"x{i}": {} for i in range(1001)}}
    with pytest.raises(RobotError, match=f"{key}: has 1001 entries; the most is 1000"):
        Robot.from_bodies(data)


def test_a_mechanism_as_large_as_may_be_is_read():
    bodies = {f"b{i}": ROUND for i in range(600)}
    chain = [*bodies]
    joints = {
        f"j{i}": {"type": "spherical", "parent": chain[i - 1] if i else "ground", "child": name}
        for i, name in enumerate(chain)
    }
    cross = {
        f"c{i}": {"type": "spherical", "parent": name, "child": chain[-1 - i]}
        for i, name in enumerate(chain[:200])
    }
    robot = Robot.from_bodies({"bodies": bodies, "joints": {**cross, **joints}})
    assert (len(robot.links), len(robot.loops)) == (1800, 200)
