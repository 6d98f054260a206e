"""What stands in the place of numbers in files of robots is refused at its field."""

from __future__ import annotations

import pytest
from bodies_text import ROUND

from spart_blocks.base.errors import RobotError, SpartWarning
from spart_blocks.robot import Robot, bodies
from spart_blocks.robot._faults import MOST_FAULTS, Faults

JUNK = [[[1, 2], 1, 3], [1, None, 2], [1, {"a": 1}, 2], [[1], [1, 2], [3]], [[1, 2, 3], 4], None,
        {"ixx": [1]}, [[[1]]], "1", [True, "x", 1], [[1, 0, 0], [0, 1, 0], 1],
        [1, [[], 1]]]  # fmt: skip


@pytest.mark.parametrize("junk", JUNK, ids=repr)
@pytest.mark.parametrize("field", ["inertia", "com", "mass"])
def test_what_is_no_number_is_refused_at_its_field(field, junk):
    data = {"bodies": {"a": {**ROUND, field: junk}}, "joints": {}}
    with pytest.raises(RobotError, match=f"bodies.a.{field}"):
        Robot.from_bodies(data)


def test_what_nobody_foresaw_names_the_file(tmp_path, monkeypatch):
    file = tmp_path / "robot.yaml"
    file.write_text("bodies: {a: {mass: 1, inertia: [1, 1, 1]}}\njoints: {}\n")
    monkeypatch.setattr(bodies, "_bodies", lambda top: {}["nothing"])
    with pytest.raises(RobotError, match=r"robot\.yaml: cannot be read as a robot: KeyError") as e:
        Robot.from_bodies(file)
    assert e.value.faults[0].hint.startswith("raised in ")


@pytest.mark.parametrize("strict", [True, False])
def test_doubts_about_very_many_links_have_an_end(tmp_path, strict):
    bodies = {f"b{k}": {"mass": 1.0, "inertia": [1, 1, 9]} for k in range(900)}
    chain = zip(["ground", *bodies], bodies, strict=False)
    joints = {f"j{b}": {"type": "Rz", "parent": a, "child": b} for a, b in chain}
    with pytest.raises(RobotError) if strict else pytest.warns(SpartWarning) as caught:
        Robot.from_bodies({"bodies": bodies, "joints": joints}, strict=strict)
    text = str(caught.value) if strict else str(caught[0].message)
    assert ("and 700 more doubtful figures" if strict else "(900 in all)") in text


def test_faults_have_an_end():
    faults = Faults()
    for number in range(MOST_FAULTS - 1):
        faults.add(f"fault {number}")
    with pytest.raises(RobotError, match="there may be more") as caught:
        faults.add("the last")
    assert len(caught.value.faults) == MOST_FAULTS + 1
