"""Whatever files of bodies and of loops hold, a robot or an error of ours comes of it."""

from __future__ import annotations

import warnings
from contextlib import suppress
from pathlib import Path

import pytest
from bodies_text import ROUND
from hypothesis import given, settings
from hypothesis import strategies as st

from spart_blocks.errors import RobotError, SpartWarning
from spart_blocks.robot import Robot
from spart_blocks.robot.joint_kinds import KINDS

ARM = Path(__file__).parents[2] / "models/arm3.urdf"
BODY = ("mass", "com", "inertia", "ixx", "nonsense")
JOINT = ("type", "parent", "child", "parent_frame", "child_frame", "axis", "q", "cut", "limits")
JOINT += ("gear", "coulomb", "xyz", "rpy", "quaternion", "rotation")
TIE = ("length", "q", "parent_point", "child_point", "stiffness", "joint", "port", "body", "local")
MANY = settings(max_examples=80, derandomize=True, deadline=None)
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
names = st.sampled_from(["a", "b", "J", "J.rx", "K", "", "ground", "f"])


def entry(fields, **sound):
    """Sound fields, of which some are replaced by anything."""
    return st.dictionaries(st.sampled_from(fields), values, max_size=2).map(lambda d: sound | d)


def section(fields, **sound):
    return st.one_of(values, st.dictionaries(names, entry(fields, **sound), max_size=3))


def ends(fields, **sound):
    return section(("parent", "child", *fields), parent="ground", child="b", **sound)


joints = st.sampled_from([*KINDS]).flatmap(lambda kind: ends(JOINT, type=kind))
forces = st.sampled_from(["spring", "joint", "torque", "force"]).flatmap(
    lambda kind: section(("parent", "child", "type", *TIE), type=kind)
)
sections = {
    "joints": joints,
    "distances": ends(TIE, length=1),
    "forces": forces,
    "prescribed": values,
    "home": values,
}
bodies = st.dictionaries(names, entry(BODY, **ROUND), max_size=3).map(lambda d: {"b": ROUND, **d})


def answered(make):
    """Run what makes a robot; only errors and warnings of ours may come of it."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", SpartWarning)
        with suppress(RobotError):
            assert isinstance(make(), Robot)


@MANY
@given(st.fixed_dictionaries({}, optional={"bodies": bodies, **sections}))
def test_any_file_of_bodies(data):
    answered(lambda: Robot.from_bodies(data))


@MANY
@given(st.fixed_dictionaries({}, optional=sections))
def test_any_file_of_loops(data):
    answered(lambda: Robot.from_urdf(ARM, loops=data))


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
