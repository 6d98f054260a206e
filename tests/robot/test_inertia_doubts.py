"""Doubtful figures are warned of once for each kind, and refused with strict."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from urdf_text import body, joint, link, robot, write

from spart_blocks.base.errors import RobotError, SpartWarning
from spart_blocks.robot import Robot
from spart_blocks.robot.checks import doubts, inertia_faults, singular_joints, unit_axis

Z = '<axis xyz="0 0 1"/>'
HEAVY = body("hub", 10, 1, 1, 1)
POINT = '<inertial><origin xyz="{}"/><mass value="1"/></inertial>'

# what: (elements, fragment of the text, names)
CASES = {
    "triangle": (
        [HEAVY, body("plate", 1, 1, 1, 3), joint("j", "hub", "plate")],
        "inertia breaks the triangle inequality",
        ["plate"],
    ),
    "mass without inertia": (
        [HEAVY, body("ball", 1, 0, 0, 0), joint("j", "hub", "ball", "fixed")],
        "mass without inertia",
        ["ball"],
    ),
    "mass without an inertia element": (
        [HEAVY, link("ball", POINT.format("0 0 0")), joint("j", "hub", "ball", "fixed")],
        "mass without inertia",
        ["ball"],
    ),
    "inertia without mass": (
        [HEAVY, body("flywheel", 0, 1, 1, 1), joint("j", "hub", "flywheel")],
        "inertia without mass",
        ["flywheel"],
    ),
    "massless leaves": (
        [
            *(HEAVY, link("l", ""), link("r", ""), link("pin", "")),
            *(joint("left", "hub", "l"), joint("right", "hub", "r", "prismatic")),
            joint("glue", "r", "pin", "fixed"),
        ],
        "H is singular",
        ["left", "right"],
    ),
}


def load_quietly(path, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SpartWarning)
        return Robot.from_urdf(path, **options)


@pytest.mark.parametrize("what", CASES)
def test_a_doubt_is_one_warning_that_names_all(what, tmp_path):
    elements, fragment, names = CASES[what]
    path = write(tmp_path, robot(*elements))
    with pytest.warns(SpartWarning) as caught:
        Robot.from_urdf(path)
    (warning,) = caught
    assert fragment in str(warning.message)
    assert ", ".join(map(repr, names)) in str(warning.message)
    assert str(path) in str(warning.message)
    assert warning.filename == __file__  # it points at the caller


@pytest.mark.parametrize("what", CASES)
def test_strict_refuses_each_at_its_line(what, tmp_path):
    elements, fragment, names = CASES[what]
    text = robot(*elements)
    with pytest.raises(RobotError) as caught:
        Robot.from_urdf(write(tmp_path, text), strict=True)
    assert len(caught.value.faults) == len(names)
    for fault, name in zip(caught.value.faults, names, strict=True):
        assert fragment in fault.message
        assert f'name="{name}"' in text.splitlines()[fault.place.line - 1]


def test_a_point_mass_on_the_axis_leaves_h_singular_and_one_beside_it_does_not(tmp_path):
    for place, wanted in (("0 0 0.3", ("j",)), ("0.1 0 0.3", ())):
        elements = [HEAVY, link("ball", POINT.format(place)), joint("j", "hub", "ball", extra=Z)]
        loaded = load_quietly(write(tmp_path, robot(*elements)))
        assert singular_joints(loaded) == (wanted, False)


def test_two_joints_on_one_axis_with_nothing_between_leave_h_singular(tmp_path):
    elements = [HEAVY, link("pin", ""), body("rod", 1, 1, 1, 1)]
    turned = '<origin rpy="0 0 0.4"/>' + Z
    elements += [joint("first", "hub", "pin", extra=Z), joint("second", "pin", "rod", extra=turned)]
    with pytest.warns(SpartWarning, match="H is singular: joint 'first'"):
        Robot.from_urdf(write(tmp_path, robot(*elements)))


def test_a_gimbal_of_massless_links_is_without_doubt(tmp_path):
    elements = [HEAVY, link("p", ""), link("q", ""), body("camera", 1, 1, 1, 1)]
    axes = [f'<axis xyz="{xyz}"/>' for xyz in ("0 0 1", "0 1 0", "1 0 0")]
    ends = [("hub", "p"), ("p", "q"), ("q", "camera")]
    elements += [
        joint(f"j{i}", *pair, extra=axis)
        for i, (pair, axis) in enumerate(zip(ends, axes, strict=True))
    ]
    assert doubts(Robot.from_urdf(write(tmp_path, robot(*elements)), strict=True)) == []


def test_a_floating_base_without_inertia_is_doubted_and_a_fixed_one_is_not(tmp_path):
    path = write(tmp_path, robot(link("root", ""), HEAVY, joint("j", "root", "hub", extra=Z)))
    assert Robot.from_urdf(path).base == "fixed"
    with pytest.warns(SpartWarning, match=r"the floating base moves without inertia.*'root'"):
        Robot.from_urdf(path, base="floating")


def test_figures_of_a_fixed_root_are_not_looked_at(tmp_path):
    path = write(tmp_path, robot(body("root", 0, 1, 1, 5)))
    assert Robot.from_urdf(path).base == "fixed"
    with pytest.warns(SpartWarning) as caught:
        Robot.from_urdf(path, base="floating")
    assert len(caught) == 3  # triangle, inertia without mass, H singular


def test_rounding_in_a_file_is_no_doubt(tmp_path):
    thin = body("rod", 1, 0.33333, 0.333331, 0.000001)
    assert Robot.from_urdf(write(tmp_path, robot(thin)), strict=True).mass == 1
    assert inertia_faults(1.3, np.diag([0.0, 0.0, -2e-20])) == []
    assert inertia_faults(1.0, np.diag([1.0, 1.0, -1e-8])) == []
    assert inertia_faults(1.0, np.diag([1.0, 1.0, -1e-5]))


def test_an_axis_of_another_length_is_normalised_with_one_warning(tmp_path):
    ends = [link("a"), link("b"), link("c"), link("d")]
    axes = ['<axis xyz="0 0 2"/>', '<axis xyz="1e-200 0 0"/>', '<axis xyz="0.707 0.707 0"/>']
    joints = [joint(f"j{i}", "a", "bcd"[i], extra=axis) for i, axis in enumerate(axes)]
    with pytest.warns(SpartWarning) as caught:
        loaded = Robot.from_urdf(write(tmp_path, robot(*ends, *joints)))
    (warning,) = caught
    assert "normalised: joints 'j0', 'j1'" in str(warning.message)
    wanted = [[0, 0, 1], [1, 0, 0], [0.5**0.5, 0.5**0.5, 0]]
    np.testing.assert_allclose([j.axis for j in loaded.joints], wanted, atol=1e-15)
    assert unit_axis(np.zeros(3)) is None


def test_limits_the_wrong_way_round_are_warned_of(tmp_path):
    extra = '<limit lower="1" upper="-1"/>'
    path = write(tmp_path, robot(link("a"), link("b"), joint("j", "a", "b", extra=extra)))
    with pytest.warns(SpartWarning, match="lower limit is above the upper one: joint 'j'"):
        Robot.from_urdf(path)
