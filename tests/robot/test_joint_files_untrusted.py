"""Whatever files of links and of drives hold, a robot or an error of ours comes of it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from untrusted_files import answered

from spart_blocks.base.errors import RobotError
from spart_blocks.robot import Robot

ROOT = Path(__file__).parents[2]
ARM = Robot.from_links(ROOT / "models/puma560.yaml")
LINK = ("dh", "dyn", "alpha", "A", "sigma", "m", "r", "I", "Jm", "G", "B", "Tc", "qlim", "flip")
LINK += ("offset", "name", "convention", "nonsense")
DRIVE = ("gear", "motor_inertia", "viscous", "coulomb", "stiffness", "dissipation", "limits")
DRIVE += ("qlim", "lower", "upper", "nonsense")
TOP = ("name", "convention", "base_mass", "base_inertia", "base_transform", "tool", "links")
MANY = settings(
    max_examples=100,
    derandomize=True,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
scalars = st.one_of(
    st.none(),
    st.booleans(),
    st.sampled_from([0, 1, -1, 0.5, 1e30, -1e29, 1e31, 1e308, 10**200, 10**400, 1e-300]),
    st.sampled_from(["", "x", "mod", "std", "1", "nan", "\u202e", "j1" * 200]),
)
values = st.recursive(
    scalars,
    lambda inner: st.one_of(
        st.lists(inner, max_size=6),
        st.lists(st.sampled_from([0, 1, 0.3, -2]), min_size=3, max_size=20),
        st.dictionaries(st.sampled_from(DRIVE), inner, max_size=3),
    ),
    max_leaves=8,
)
links = st.one_of(values, st.dictionaries(st.sampled_from(LINK), values, max_size=5))
joints = st.sampled_from(["j1", "j2", "j6", "j7", "", "J1"])


@MANY
@given(st.dictionaries(joints, st.dictionaries(st.sampled_from(DRIVE), values, max_size=4)))
def test_any_drives(entries):
    answered(lambda: ARM.with_drives({"joints": entries}))


@MANY
@given(st.fixed_dictionaries({"links": st.lists(links, max_size=4)}), st.data())
def test_any_file_of_links(tmp_path, data, more):
    data |= more.draw(st.dictionaries(st.sampled_from(TOP[:-1]), values, max_size=2))
    path = tmp_path / "arm.yaml"
    path.write_text(json.dumps(data), encoding="utf-8")
    answered(lambda: Robot.from_links(path))


@pytest.mark.parametrize(
    "text",
    [
        "links: [" + "1, " * 150_000 + "1]",
        "joints: {" + ", ".join(f"j{k}: 1" for k in range(40_000)) + "}",
        "joints: {j1: {" + ", ".join(f"x{k}: 1" for k in range(40_000)) + "}}",
        "links: &a [*a]",
        "links: !!python/object:os.system [1]",
    ],
)
def test_a_file_that_is_made_to_cost_is_refused(tmp_path, text):
    path = tmp_path / "large.yaml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(RobotError):
        Robot.from_links(path) if text.startswith("links") else ARM.with_drives(path)
