"""`spart show` and `spart robot` of a file of bodies, and of loops beside a URDF."""

from __future__ import annotations

from pathlib import Path

import pytest

from spart_blocks.cli.body_graph_drawing import draw_graph
from spart_blocks.drawing.figures import figure_of
from spart_blocks.robot.bodies import bodies_graph

MODELS = Path(__file__).parents[2] / "models"
FOURBAR = """
name: fourbar
bodies:
  crank: {mass: 1, inertia: [0.01, 0.02, 0.02]}
  rod: {mass: 1, inertia: [0.01, 0.02, 0.02]}
  rocker: {mass: 1, inertia: [0.01, 0.02, 0.02]}
joints:
  J1: {type: Rz, parent: ground, child: crank}
  J2: {type: Rz, parent: rod, child: crank, child_frame: {xyz: [0.2, 0, 0]}}
  J3: {type: spherical, parent: rod, child: rocker, parent_frame: {xyz: [0.5, 0, 0]},
       child_frame: {xyz: [0, 0.3, 0]}}
  J4: {type: universal, parent: rocker, child: ground,
       child_frame: {xyz: [0.4, 0, 0], rpy: [0, -1.5707963, 0]}}
distances:
  string: {parent: ground, child: rod, child_point: [0.25, 0, 0],
           length: prescribed, q: 0.3}
forces:
  motor: {type: torque, joint: J1, port: tau}
  push: {type: force, body: rod}
  piston: {type: force, parent: ground, child: rod, port: p}
  spring: {type: spring, parent: ground, child: rod, stiffness: 1}
  bushing: {type: joint, joint: J4.rx, stiffness: 1}
"""


@pytest.fixture
def fourbar(tmp_path):
    path = tmp_path / "fourbar.yaml"
    path.write_text(FOURBAR, encoding="utf-8")
    return path


def rows(answer):
    assert answer.code == 0, answer.err
    return [" ".join(line.split()) for line in answer.out.splitlines()]


def test_robot_prints_the_tree_and_the_chords_of_a_file_of_bodies(spart, fourbar):
    found = rows(spart("robot", fourbar))
    assert "2 J2 Rz rod crank against the tree" in found
    assert "2 J3 spherical virtual 1 rocker against the tree, cut" in found
    assert "[0] virtual 1 rod J3 spherical" in found
    assert "prescribed: string" in found


def test_robot_prints_loops_and_forces(spart, fourbar):
    found = rows(spart("robot", fourbar))
    assert "J3 spherical rod rocker x, y, z" in found
    assert "string distance ground rod d prescribed" in found
    assert "motor torque or force at a joint J1 tau" in found
    assert "push force in inertial axes rod push (3)" in found
    assert "piston force between points ground, rod p" in found
    assert "spring spring between points ground, rod" in found
    assert "bushing spring at a joint J4.rx" in found


def test_robot_names_the_quaternion_of_a_spherical_joint(spart, tmp_path):
    path = tmp_path / "ball.yaml"
    path.write_text(
        "bodies: {b: {mass: 1, inertia: [1, 1, 1]}}\n"
        "joints: {B: {type: spherical, parent: ground, child: b}}\n"
    )
    answer = spart("robot", path)
    assert "1 B.x spherical qm[0:4]" in " ".join(answer.out.split())


def test_robot_reads_the_loops_of_a_urdf(spart, tmp_path):
    loops = tmp_path / "loops.yaml"
    loops.write_text("distances: {s: {parent: left_link3, child: right_link3, length: 0.7}}\n")
    found = rows(spart("robot", MODELS / "dual_arm.urdf", "--loops", loops))
    assert "s distance left_link3 right_link3 d 0.7" in found


def test_loops_are_for_a_urdf_only(spart, fourbar):
    answer = spart("robot", fourbar, "--loops", fourbar)
    assert answer.code == 2
    assert "--loops is for a URDF file" in answer.err


@pytest.mark.parametrize("command", ["show", "robot"])
def test_a_wrong_file_of_bodies_is_told_by_line_and_column(spart, tmp_path, command):
    path = tmp_path / "bad.yaml"
    path.write_text("bodies: {a: {mass: -1}}\njoints: {j: {type: Rz, parent: a, child: b}}\n")
    answer = spart(command, path)
    assert answer.code == 2
    assert f"{path}:1:13: bodies.a: mass is -1 kg" in answer.err
    assert f"{path}:2:42: joints.j.child: no body 'b'" in answer.err
    assert "Traceback" not in answer.err


def test_show_draws_the_graph_of_a_file_of_bodies(spart, fourbar, tmp_path):
    answer = spart("show", fourbar)
    assert answer.code == 0
    assert Path(answer.out.strip()) == Path("out/fourbar.svg")
    picture = (tmp_path / "out/fourbar.svg").read_text(encoding="utf-8")
    for text in ("crank", "J1  Rz", "virtual 1 = rod", "against the tree"):
        assert text in picture


def test_show_writes_a_graph_where_told(spart, fourbar, tmp_path):
    assert spart("show", fourbar, "--out", "a.png").code == 0
    assert (tmp_path / "a.png").read_bytes().startswith(b"\x89PNG")


def test_the_picture_of_a_graph_has_bodies_tree_edges_chords_and_flips(fourbar):
    axis = figure_of(draw_graph(bodies_graph(fourbar), "fourbar")).axes[0]
    marks = [artist.get_gid() for artist in (*axis.lines, *axis.patches)]
    assert sorted(mark for mark in marks if mark) == [
        "body crank", "body rocker", "body rod", "chord J3", "ground ground", "joint J1",
        "joint J2 flipped", "joint J3 flipped", "joint J4 flipped", "virtual virtual 1",
    ]  # fmt: skip


def test_bodies_of_a_graph_do_not_overlap(fourbar):
    axis = figure_of(draw_graph(bodies_graph(fourbar), "fourbar")).axes[0]
    boxes = [p.get_window_extent() for p in axis.patches if "joint" not in (p.get_gid() or "joint")]
    assert len(boxes) == 5
    for i, box in enumerate(boxes):
        assert not any(box.overlaps(other) for other in boxes[:i])


def test_robot_tells_the_mobility_and_the_rows_that_others_imply(spart):
    found = rows(spart("robot", MODELS / "four_bar.yaml"))
    assert (
        "loops closed: 1 freedom; the loops have rank 2; redundant everywhere: J4.z, J4.rx, J4.ry"
        in found
    )


def test_robot_refuses_a_loop_that_cannot_close(spart, tmp_path):
    text = (MODELS / "four_bar.yaml").read_text(encoding="utf-8")
    path = tmp_path / "torn.yaml"
    path.write_text(text.replace("[0.45, 0, 0]", "[4.5, 0, 0]"), encoding="utf-8")
    answer = spart("robot", path)
    assert answer.code == 2
    assert "loop 'J4' cannot close: its ends stay 3.3" in answer.err
