"""`sb.record` and `spart run --record`: what a recording of a run has."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import trimesh
from mcap_reading import read_mcap
from scipy.spatial.transform import Rotation

import spart_blocks as sb
from spart_blocks.base import errors
from spart_blocks.base.errors import InputError, MissingExtraError, SpartWarning
from spart_blocks.base.spatial import quaternion_rotation
from spart_blocks.dynamics import frame_of_link, kinematics
from spart_blocks.recordings.forces import directions

DIAGRAMS = Path(__file__).parents[2] / "diagrams"
MODELS = Path(__file__).parents[2] / "models"
SPACECRAFT = DIAGRAMS / "spacecraft_pd.yaml"


@pytest.fixture(scope="module")
def results():
    return sb.simulate(SPACECRAFT, T=2)


@pytest.fixture(scope="module")
def read(results, tmp_path_factory):
    return read_mcap(sb.record(results, tmp_path_factory.mktemp("run") / "run.mcap"))


def test_every_signal_and_state_comes_back_bit_for_bit(results, read):
    named = {f"/{n.replace('.', '/')}": a for n, a in results.signals.items()}
    named |= {f"/states/{n.replace('.', '/')}": x for n, x in results.states.items()}
    for topic, array in named.items():
        messages = read.values(topic)
        assert np.array_equal([message.t for message in messages], results.t)
        assert np.array_equal([message.value for message in messages], array)
        assert [time for time, _ in read.topics[topic]] == [round(t * 1e9) for t in results.t]


def test_channels_tell_the_name_the_unit_and_the_entries_of_signals(read):
    told = read.channels["/plant/qm"].metadata
    assert told == {
        "signal": "plant.qm",
        "unit": "rad",
        "labels": json.dumps(["Joint_1", "Joint_2", "Joint_3"]),
        "shape": "[3]",
        "dtype": "float64",
    }
    assert read.channels["/states/plant"].metadata["state"] == "plant"
    assert b"[rad] Joint_1, Joint_2, Joint_3" in read.schemas["/plant/qm"].data


def test_frames_are_those_of_the_robot_at_every_row(results, read):
    robot = sb.Robot.from_urdf(MODELS / "spacecraft_3dof.urdf")
    for message, x in zip(read.values("/tf"), results.states["plant"], strict=True):
        R0, r0, qm = quaternion_rotation(x[:4]), x[4:7], x[7:10]
        K = kinematics(R0, r0, qm, robot)
        assert len(message.transforms) == len(robot.links) + 1
        for link, one in enumerate(message.transforms):
            T = frame_of_link(link, R0, r0, K.RL, K.rL, robot)
            p, q = one.translation, one.rotation
            assert (one.parent_frame_id, one.child_frame_id) == ("world", robot.body(link).name)
            assert np.allclose([p.x, p.y, p.z], T[:3, 3], atol=1e-14)
            turned = Rotation.from_quat([q.x, q.y, q.z, q.w]).as_matrix()
            assert np.allclose(turned, T[:3, :3], atol=1e-14)


def test_joints_go_by_the_names_of_the_urdf_file(results, read):
    last = read.values("/joint_states")[-1]
    assert [joint.name for joint in last.joints] == ["Joint_1", "Joint_2", "Joint_3"]
    assert np.array_equal([j.position for j in last.joints], results.states["plant"][-1, 7:10])
    assert np.array_equal([j.velocity for j in last.joints], results.states["plant"][-1, 16:])


def test_the_urdf_file_is_a_topic_and_with_the_diagram_an_attachment(read):
    urdf = (MODELS / "spacecraft_3dof.urdf").read_bytes()
    (text,) = read.values("/robot_description")
    assert read.schemas["/robot_description"].name == "std_msgs/msg/String"
    assert text == b"\0\1\0\0" + (len(urdf) + 1).to_bytes(4, "little") + urdf + b"\0"
    assert read.attachments["spacecraft_3dof.urdf"] == urdf
    assert read.attachments["spacecraft_pd.yaml"] == SPACECRAFT.read_bytes()


def test_bodies_have_the_shapes_of_the_urdf_file(read):
    (scene,) = read.values("/scene")
    base = next(one for one in scene.entities if one.frame_id == "Spacecraft")
    size = base.cubes[0].size
    assert base.frame_locked
    assert (size.x, size.y, size.z) == (0.75, 0.75, 0.75)
    assert len(base.cylinders) == 1


def test_forces_are_arrows_at_the_bodies_and_along_the_forces(tmp_path):
    bd = sb.new_diagram("pushed")
    robot = sb.Robot.from_urdf(MODELS / "spacecraft_3dof.urdf")
    push = np.array([0.0, 0.0, 0.0, 3.0, -2.0, 1.0])
    plant = bd.MULTIBODY(robot, name="plant")
    bd.connect(bd.CONSTANT(push, name="push"), plant.wF0)
    bd.connect(bd.CONSTANT(np.zeros(3), name="rest"), plant.taum)
    results = sb.simulate(bd, T=0.5)
    read = read_mcap(sb.record(results, tmp_path / "run.mcap"))
    for message, x in zip(read.values("/forces"), results.states["plant"], strict=True):
        (entity,) = message.entities
        pose = entity.arrows[0].pose
        p, q = pose.position, pose.orientation
        along = Rotation.from_quat([q.x, q.y, q.z, q.w]).apply([1, 0, 0])
        assert np.allclose(along, push[3:] / np.linalg.norm(push[3:]), atol=1e-12)
        at = x[4:7]  # the state of a base is that of its centre of mass
        assert np.allclose([p.x, p.y, p.z], at, atol=1e-12)


@pytest.mark.parametrize("v", [[1, 0, 0], [-1, 0, 0], [0, 0, 2], [0, 0, 0], [1e-9, -3, 0.1]])
def test_the_axis_x_is_turned_into_any_direction(v):
    (q,) = directions(np.array([v], dtype=float))
    size = np.linalg.norm(v)
    expected = np.array(v) / size if size else [1.0, 0.0, 0.0]
    assert np.allclose(Rotation.from_quat(q).apply([1, 0, 0]), expected, atol=1e-12)


def test_two_robots_have_frames_and_joints_of_their_own(tmp_path):
    bd = sb.new_diagram("two")
    robot = sb.Robot.from_urdf(MODELS / "spacecraft_3dof.urdf")
    for name, start in (("left", 0.1), ("right", 0.2)):
        plant = bd.MULTIBODY(robot, name=name, initial={"qm": [start, 0, 0]})
        bd.connect(bd.CONSTANT(np.zeros(3), name=f"rest_{name}"), plant.taum)
    read = read_mcap(sb.record(sb.simulate(bd, T=0.1), tmp_path / "run.mcap"))
    frames = [one.child_frame_id for one in read.values("/tf")[0].transforms]
    own = [robot.body(link).name for link in range(len(robot.links) + 1)]
    assert frames == [f"{plant}/{name}" for plant in ("left", "right") for name in own]
    joints = {joint.name: joint.position for joint in read.values("/joint_states")[0].joints}
    assert joints["left/Joint_1"] == 0.1
    assert joints["right/Joint_1"] == 0.2
    assert {"/left/robot_description", "/right/robot_description"} <= read.channels.keys()


def test_events_are_a_log(tmp_path):
    results = sb.simulate(DIAGRAMS / "signals" / "bouncing_ball.yaml", T=2)
    assert results.events
    read = read_mcap(sb.record(results, tmp_path / "run.mcap"))
    told = [(m.name, m.message) for m in read.values("/log")]
    assert told == [(event.block, event.what) for event in results.events]


def test_loaded_results_are_recorded_with_robots_if_the_diagram_is_given(results, tmp_path):
    loaded = sb.Results.load(results.save(tmp_path / "run.npz"))
    without = read_mcap(sb.record(loaded, tmp_path / "run.mcap"))
    assert "/plant/qm" in without.channels
    assert "/tf" not in without.channels
    assert "/tf" in read_mcap(sb.record(loaded, tmp_path / "run.mcap", SPACECRAFT)).channels


def test_another_suffix_is_refused(results, tmp_path):
    with pytest.raises(InputError, match=r"cannot write a recording to .*run\.bag"):
        sb.record(results, tmp_path / "run.bag")


def test_states_that_are_not_numbers_leave_the_robots_out(results, tmp_path):
    broken = results.states["plant"].copy()
    broken[-1] = np.nan
    wrong = replace(results, states={**results.states, "plant": broken})
    with pytest.warns(SpartWarning, match="the recording has no robots"):
        read = read_mcap(sb.record(wrong, tmp_path / "run.mcap"))
    assert "/plant/qm" in read.channels
    assert "/tf" not in read.channels


def test_a_missing_package_is_told_with_the_extra(results, tmp_path, monkeypatch):
    def missing(name):
        raise ImportError(name)

    monkeypatch.setattr(errors, "import_module", missing)
    with pytest.raises(MissingExtraError, match=r"\[mcap\]"):
        sb.record(results, tmp_path / "run.mcap")
    assert not list(tmp_path.iterdir())


def test_meshes_and_urdf_files_of_equal_names_are_attached(tmp_path):
    (tmp_path / "spart.toml").touch()
    for side in ("left", "right"):
        folder = tmp_path / side
        folder.mkdir()
        (folder / "tip.stl").write_bytes(
            trimesh.creation.box([0.1, 0.1, SIZES[side]]).export(file_type="stl")
        )
        (folder / "robot.urdf").write_text(MESHED.replace("SIDE", side), encoding="utf-8")
    bd = sb.new_diagram("two")
    for side in ("left", "right"):
        bd.MULTIBODY(sb.Robot.from_urdf(tmp_path / side / "robot.urdf"), name=side)
    read = read_mcap(sb.record(sb.simulate(bd, T=0.1), tmp_path / "run.mcap"))
    assert b"right" in read.attachments["right/robot.urdf"]
    assert b"left" in read.attachments["robot.urdf"]
    for name, side in (("tip.stl", "left"), ("right/tip.stl", "right")):
        assert read.attachments[name] == (tmp_path / side / "tip.stl").read_bytes()
    (scene,) = read.values("/scene")
    assert [len(entity.triangles[0].points) for entity in scene.entities] == [8, 8]


SIZES = {"left": 0.1, "right": 0.3}
MESHED = """<robot name="SIDE"><link name="body"><inertial><mass value="1"/>
<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>
<visual><geometry><mesh filename="tip.stl"/></geometry></visual></link></robot>
"""
