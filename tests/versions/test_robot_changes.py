"""Changes of robots: masses, centres of mass, inertias, joints."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

import spart_blocks as sb

MODELS = Path(__file__).parents[2] / "models"
TEXT = """
robots: {sc: {urdf: robot.urdf, base: floating}}
blocks: {plant: {type: MULTIBODY, robot: sc}}
"""


@pytest.fixture
def differ(tmp_path):
    """differ(edit): the difference that an edit of the robot's file makes."""

    def differ(edit, model="spacecraft_3dof.urdf"):
        for side in ("old", "new"):
            (tmp_path / side).mkdir()
            shutil.copy(MODELS / model, tmp_path / side / "robot.urdf")
            (tmp_path / side / "d.yaml").write_text(TEXT)
        file = tmp_path / "new" / "robot.urdf"
        text = file.read_text()
        assert edit(text) != text
        file.write_text(edit(text))
        return sb.diff(tmp_path / "old" / "d.yaml", tmp_path / "new" / "d.yaml")

    return differ


def by_path(found):
    return {one.path: one for one in found.changes}


def test_a_mass_is_told_with_that_of_the_robot(differ):
    first = sb.Robot.from_urdf(MODELS / "spacecraft_3dof.urdf").links[0]
    found = differ(lambda text: text.replace(f'value="{first.mass:g}"', 'value="77"', 1))
    changes = by_path(found)
    masses = [one for path, one in changes.items() if path.endswith(".mass")]
    assert {one.unit for one in masses} == {"kg"}
    assert any(one.new == 77 for one in masses)
    assert changes["sc.mass"].new > changes["sc.mass"].old


def test_inertias_and_centres_of_mass_have_units(differ):
    def edit(text):
        text = text.replace('ixx="9.3"', 'ixx="9.5"')
        return text.replace('<origin xyz="0 0 0.125"/>', '<origin xyz="0 0 0.2"/>', 1)

    changes = by_path(differ(edit))
    inertia, centre = changes["sc.Spacecraft.inertia"], changes["sc.Link_0.centre_of_mass"]
    assert inertia.unit == "kg m^2"
    assert (inertia.old[0][0], inertia.new[0][0]) == (9.3, 9.5)
    assert (centre.old, centre.new, centre.unit) == ([0, 0, 0.125], [0, 0, 0.2], "m")


def test_a_joint_with_another_name_is_removed_and_added(differ):
    robot = sb.Robot.from_urdf(MODELS / "spacecraft_3dof.urdf")
    name = robot.joints[0].name
    changes = by_path(differ(lambda text: text.replace(f'"{name}"', '"shoulder"')))
    assert changes[f"sc.{name}"].kind == "removed"
    assert changes["sc.shoulder"].kind == "added"


def test_a_robot_that_cannot_be_read_is_a_note(differ):
    found = differ(lambda text: text[:200])
    assert any(note.startswith("robot sc of") for note in found.notes)
