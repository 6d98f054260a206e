"""Shapes of robots: visuals of URDF files, meshes, and what stands for them."""

from __future__ import annotations

import re

import numpy as np
import pytest
from packed_arrays import unpacked

import spart_blocks as sb
from spart_blocks.animation.meshes import MeshStore
from spart_blocks.animation.shapes import looks_of
from spart_blocks.base.errors import SpartWarning, pip_install

trimesh = pytest.importorskip("trimesh")

URDF = """<robot name="pictured">
  <material name="steel"><color rgba="0.5 0.6 0.7 1"/></material>
  <link name="base">
    <inertial>
      <mass value="5"/><inertia ixx="0.1" ixy="0" ixz="0" iyy="0.1" iyz="0" izz="0.1"/>
    </inertial>
    <visual>
      <origin xyz="0 0 0.1" rpy="0 0 1.5707963267948966"/>
      <geometry><box size="0.4 0.2 0.1"/></geometry>
      <material name="steel"/>
    </visual>
    <visual>
      <geometry><cylinder radius="0.05" length="0.3"/></geometry>
      <material name="red"><color rgba="1 0 0 0.5"/></material>
    </visual>
  </link>
  <link name="arm">
    <inertial>
      <mass value="1"/><inertia ixx="0.02" ixy="0" ixz="0" iyy="0.03" iyz="0" izz="0.04"/>
    </inertial>
    <visual><geometry>{arm}</geometry><material name="red"/></visual>
  </link>
  <link name="tool">
    <visual><origin xyz="0.1 0 0"/><geometry><sphere radius="0.02"/></geometry></visual>
  </link>
  <joint name="turn" type="revolute">
    <parent link="base"/><child link="arm"/><axis xyz="0 0 1"/><origin xyz="0 0 0.2"/>
    <limit lower="-1" upper="1" effort="1" velocity="1"/>
  </joint>
  <joint name="mount" type="fixed">
    <parent link="arm"/><child link="tool"/><origin xyz="0.5 0 0"/>
  </joint>
</robot>
"""
SPHERE = '<sphere radius="0.1"/>'


@pytest.fixture
def project(tmp_path):
    """A folder of a project: robot/pictured.urdf, whose arm has the given geometry."""
    (tmp_path / "spart.toml").touch()
    folder = tmp_path / "robot"
    (folder / "meshes").mkdir(parents=True)

    def written(arm=SPHERE):
        file = folder / "pictured.urdf"
        file.write_text(URDF.format(arm=arm), encoding="utf-8")
        return file

    written.folder = folder
    return written


def shapes(file, store=None, root=None):
    """The shapes of each body by its name."""
    seen = looks_of(sb.Robot.from_urdf(file), store or MeshStore(), root=root)
    return {body.name: body.shapes for body in seen.bodies}


def ball_of(project, name, subdivisions=2):
    mesh = trimesh.creation.icosphere(subdivisions=subdivisions, radius=0.1)
    path = project.folder / "meshes" / name
    mesh.export(path)
    return mesh, path


def test_primitives_have_their_sizes_places_and_colours(project):
    base = shapes(project())["base"]
    box, cylinder = base
    assert box["kind"] == "box"
    assert box["size"] == [0.4, 0.2, 0.1]
    np.testing.assert_allclose(box["pose"], [0, 0, 0.1, 0, 0, 0.5**0.5, 0.5**0.5], atol=1e-6)
    assert box["colour"] == [0.5, 0.6, 0.7, 1]  # of the robot's material
    assert (cylinder["radius"], cylinder["length"]) == (0.05, 0.3)
    assert cylinder["colour"] == [1, 0, 0, 0.5]


def test_a_material_of_a_visual_is_known_by_name_in_others(project):
    assert shapes(project())["arm"][0]["colour"] == [1, 0, 0, 0.5]


def test_links_that_are_fixed_to_each_other_are_one_body(project):
    seen = looks_of(sb.Robot.from_urdf(project()), MeshStore())
    assert [body.name for body in seen.bodies] == ["base", "arm"]
    sphere = seen.bodies[1].shapes[1]
    np.testing.assert_allclose(sphere["pose"][:3], [0.6, 0, 0])
    assert seen.reach == pytest.approx(np.hypot(0.2, 0) + 0.62, rel=0.05)


@pytest.mark.parametrize("name", ["ball.stl", "ball.obj", "ball.dae"])
@pytest.mark.parametrize("given", ["meshes/{}", "package://robot/meshes/{}"])
def test_a_mesh_is_read_by_any_name_and_kind(project, name, given):
    if name.endswith("dae"):
        pytest.importorskip("collada")
    mesh, _ = ball_of(project, name)
    store = MeshStore()
    arm = shapes(project(f'<mesh filename="{given.format(name)}" scale="2 2 2"/>'), store)["arm"]
    assert arm[0]["kind"] == "mesh"
    assert arm[0]["scale"] == [2, 2, 2]
    (packed,) = store.packed()
    vertices = unpacked(packed["positions"])
    assert len(vertices) == len(mesh.vertices)
    np.testing.assert_allclose(np.linalg.norm(vertices, axis=1), 0.1, atol=1e-5)
    faces = unpacked(packed["indices"]).astype(int)
    assert faces.shape == mesh.faces.shape
    volume = trimesh.Trimesh(vertices, faces).volume
    assert volume == pytest.approx(mesh.volume, rel=1e-3)  # the faces look outwards


def test_the_colours_and_the_unit_of_a_collada_file_are_used(project):
    pytest.importorskip("collada")
    _, path = ball_of(project, "ball.dae")
    text = path.read_text(encoding="utf-8")
    if "<unit" not in text:
        text = text.replace("<up_axis>", '<unit name="centimetre" meter="0.01"/><up_axis>')
    path.write_text(text, encoding="utf-8")
    assert 'meter="0.01"' in text
    store = MeshStore()
    shapes(project('<mesh filename="meshes/ball.dae"/>'), store)
    assert store.meshes[0].reach == pytest.approx(0.001)


def test_a_mesh_is_stored_once(project):
    ball_of(project, "ball.stl")
    store, file = MeshStore(), project('<mesh filename="meshes/ball.stl"/>')
    first, second = shapes(file, store), shapes(file, store)
    assert first["arm"][0]["mesh"] == second["arm"][0]["mesh"] == 0
    assert len(store.packed()) == 1


def test_a_large_mesh_is_simplified_to_the_detail_of_the_page(project):
    mesh, _ = ball_of(project, "ball.stl", subdivisions=5)
    assert len(mesh.faces) > 20_000
    store = MeshStore(detail=1000)
    shapes(project('<mesh filename="meshes/ball.stl"/>'), store)
    (packed,) = store.packed()
    assert 500 < packed["indices"]["shape"][0] <= 1000
    radii = np.linalg.norm(unpacked(packed["positions"]), axis=1)
    assert radii.min() > 0.095


def test_without_visuals_a_box_of_the_same_inertia_stands_at_the_centre_of_mass():
    robot = sb.Robot.from_urdf("models/dual_arm.urdf")
    looks = looks_of(robot, MeshStore())
    assert any(len(body.welded) == 1 for body in looks.bodies)
    for body in looks.bodies:
        boxes = [shape for shape in body.shapes if shape.get("stands_for") == "inertia"]
        assert len(boxes) == sum(robot.body(link).mass > 0 for link in body.welded)
        if len(boxes) > 1:
            continue
        np.testing.assert_allclose(boxes[0]["pose"][:3], body.com, atol=1e-6)


@pytest.mark.parametrize("model", ["delta_robot", "stewart_platform", "four_bar"])
def test_bodies_of_closed_loops_have_shapes(model):
    looks = looks_of(sb.Robot.from_bodies(f"models/{model}.yaml"), MeshStore())
    assert all(body.shapes for body in looks.bodies)
    assert all(body.parent < k for k, body in enumerate(looks.bodies))


# --- what cannot be read --------------------------------------------------------------------


def told(project, geometry, match, **more):
    """The arm's shapes, after a warning."""
    with pytest.warns(SpartWarning, match=match):
        arm = shapes(project(geometry), **more)["arm"]
    return arm


def stands_in(arm):
    return arm[0].get("stands_for") == "inertia"


def test_a_missing_mesh_is_told_and_a_box_stands_for_it(project):
    assert stands_in(told(project, '<mesh filename="meshes/none.stl"/>', "does not exist"))


def test_meshes_missing_for_one_reason_are_told_once(project):
    between = "</geometry></visual><visual><geometry>"
    meshes = between.join(f'<mesh filename="meshes/none{k}.stl"/>' for k in range(6))
    with pytest.warns(SpartWarning) as warned:
        shapes(project(meshes))
    (warning,) = warned
    note = "meshes/none0.stl does not exist; the same of meshes/none1.stl, meshes/none2.stl, "
    assert f"{note}meshes/none3.stl, 2 more\n" in str(warning.message)
    assert str(warning.message).count("looked from") == 1


@pytest.mark.parametrize("name", ["../../outside.stl", "file:///etc/passwd", "package://../x.stl"])
def test_a_mesh_outside_the_project_is_not_opened(project, name, tmp_path):
    trimesh.creation.box().export(tmp_path.parent / "outside.stl")
    arm = told(project, f'<mesh filename="{name}"/>', "leaves the project|does not exist")
    assert stands_in(arm)


def test_nothing_is_fetched(project):
    told(project, '<mesh filename="http://localhost:9/ball.stl"/>', "nothing is fetched")


def test_a_link_that_leads_out_of_the_project_is_not_followed(project, tmp_path):
    trimesh.creation.box().export(tmp_path.parent / "outside.stl")
    (project.folder / "meshes" / "in.stl").symlink_to(tmp_path.parent / "outside.stl")
    told(project, '<mesh filename="meshes/in.stl"/>', "leaves the project")


ENTITIES = """<?xml version="1.0"?>
<!DOCTYPE COLLADA [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;">]>
<COLLADA version="1.4.1"><asset><comment>&b;</comment></asset></COLLADA>"""
DEEP = """<?xml version="1.0"?>
<COLLADA xmlns="http://www.collada.org/2005/11/COLLADASchema" version="1.4.1">
<library_nodes>{}</library_nodes>
<library_visual_scenes><visual_scene id="s"><node><instance_node url="#n0"/></node></visual_scene>
</library_visual_scenes><scene><instance_visual_scene url="#s"/></scene></COLLADA>"""
DOUBLING = (
    "".join(
        f'<node id="n{k}"><instance_node url="#n{k + 1}"/><instance_node url="#n{k + 1}"/></node>'
        for k in range(40)
    )
    + '<node id="n40"><instance_geometry url="#g"/></node>'
)
ITSELF = '<node id="n0"><instance_node url="#n0"/></node>'
HOSTILE = {
    "entities.dae": (ENTITIES.encode(), "declares a document type"),
    "hidden.dae": (ENTITIES.encode("utf-16"), "UTF-8"),
    "seven.dae": (b'<?xml version="1.0" encoding="utf-7"?><COLLADA/>', "UTF-8"),
    "doubling.dae": (DEEP.format(DOUBLING).encode(), "more than"),
    "itself.dae": (DEEP.format(ITSELF).encode(), "contains itself"),
    "cut.dae": (b"<COLLADA><asset>", "not well-formed"),
    "empty.stl": (b"", "cannot be read|no triangles"),
    "many.stl": (b"\0" * 80 + b"\xff\xff\xff\x7f" + b"\0" * 50, "cannot be read|no triangles"),
    "wrong.obj": (b"v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 99\n", "cannot be read|does not have"),
    "nan.obj": (
        b"v nan 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n",
        "not finite|cannot be read|no triangles",
    ),
    "noise.stl": (bytes(range(256)) * 40, "cannot be read|no triangles|not finite"),
    "ball.ply": (b"ply\n", "a mesh is one of"),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_mesh_is_told_and_a_box_stands_for_it(project, name):
    if name.endswith(".dae"):
        pytest.importorskip("collada")
    data, reason = HOSTILE[name]
    (project.folder / "meshes" / name).write_bytes(data)
    assert stands_in(told(project, f'<mesh filename="meshes/{name}"/>', reason))


def test_a_huge_mesh_is_not_read(project, monkeypatch):
    with (project.folder / "meshes" / "huge.stl").open("wb") as file:
        file.truncate(60_000_000)
    assert stands_in(told(project, '<mesh filename="meshes/huge.stl"/>', "60 MB; the most is 50"))


def test_without_trimesh_the_extra_is_named(project, monkeypatch):
    import sys

    ball_of(project, "ball.stl")
    monkeypatch.setitem(sys.modules, "trimesh", None)
    geometry = '<mesh filename="meshes/ball.stl"/>'
    assert stands_in(told(project, geometry, re.escape(pip_install("animate"))))


@pytest.mark.parametrize(
    ("geometry", "match"),
    [
        ("<cone/>", "no shape"),
        ('<box size="1 2"/>', "takes 3"),
        ('<sphere radius="-1"/>', "negative"),
        ('<cylinder radius="x" length="1"/>', "not a number"),
        ("<mesh/>", "no filename"),
        ("", "0 shapes"),
    ],
)
def test_a_wrong_visual_is_told_with_its_line_and_left_out(project, geometry, match):
    with pytest.warns(SpartWarning, match=rf"pictured\.urdf:\d+: .*{match}"):
        arm = shapes(project(geometry))["arm"]
    assert stands_in(arm)
