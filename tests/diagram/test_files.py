"""Robots come from files inside the project, and from nowhere else."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from spart_blocks.base.errors import DiagramError
from spart_blocks.diagram.written.files import project_root

MODELS = Path(__file__).parents[2] / "models"
URDF = (MODELS / "spacecraft_3dof.urdf").read_text()
DH = (MODELS / "spacecraft_dh_5dof.yaml").read_text()
DIAGRAM = "robots: {{r: {{{}}}}}\nblocks: {{t: {{type: TIME}}}}\n"


@pytest.fixture
def project(tmp_path):
    """A project beside a file that is not in it."""
    (tmp_path / "outside.urdf").write_text(URDF)
    for folder in ("project/models", "project/diagrams"):
        (tmp_path / folder).mkdir(parents=True)
    project = tmp_path / "project"
    (project / "spart.toml").touch()
    (project / "models" / "sc.urdf").write_text(URDF)
    (project / "models" / "dh.yaml").write_text(DH)
    return project


def read(project, robot, **options):
    from spart_blocks.diagram import load

    file = project / "diagrams" / "d.yaml"
    file.write_text(DIAGRAM.format(robot))
    return load(file, **options)


def test_paths_are_relative_to_the_file_that_names_them(project):
    robot = read(project, "urdf: ../models/sc.urdf").robots["r"]
    assert (robot.n_q, robot.base) == (3, "floating")


def test_the_base_can_be_held(project):
    assert read(project, "urdf: ../models/sc.urdf, base: fixed").robots["r"].base == "fixed"


def test_a_robot_can_come_from_denavit_hartenberg_data(project):
    robot = read(project, "dh: ../models/dh.yaml, base: fixed").robots["r"]
    assert (robot.n_q, robot.base) == (5, "fixed")


@pytest.mark.parametrize("text", ["[1]", "{", '{"robot": {}}', "[" * 100_000, "\xff", "{}"])
def test_a_broken_structure_file_is_a_fault_at_its_name(project, text):
    (project / "models" / "s.json").write_text(text, encoding="latin-1")
    with pytest.raises(DiagramError) as caught:
        read(project, "spart: ../models/s.json")
    assert caught.value.faults


def test_a_robot_reaches_the_blocks_that_name_it(project):
    from spart_blocks.diagram import load

    file = project / "diagrams" / "d.yaml"
    file.write_text(
        "robots: {sc: {urdf: ../models/sc.urdf}}\n"
        "blocks:\n"
        "  R0: {type: CONSTANT, value: [[1, 0, 0], [0, 1, 0], [0, 0, 1]]}\n"
        "  r0: {type: CONSTANT, value: [0, 0, 0]}\n"
        "  qm: {type: CONSTANT, value: [0, 0, 0]}\n"
        "  kin: {type: KINEMATICS, robot: sc}\n"
        "wires: [R0 -> kin.R0, r0 -> kin.r0, qm -> kin.qm]\n"
    )
    diagram = load(file)
    assert diagram.bd.blocknames["kin"].robot == diagram.robots["sc"]


@pytest.mark.parametrize(
    "path",
    ["../../outside.urdf", "../models/link.urdf", "/etc/passwd", "../models/up/outside.urdf"],
)
def test_a_path_that_leaves_the_project_is_refused(project, path):
    (project / "models" / "link.urdf").symlink_to(project.parent / "outside.urdf")
    (project / "models" / "up").symlink_to(project.parent)
    with pytest.raises(DiagramError, match="leaves the project") as caught:
        read(project, f"urdf: {path}")
    assert str(caught.value.faults[0].place).endswith("d.yaml:1:20")
    assert "root=" in (caught.value.faults[0].hint or "")


def test_root_widens_what_may_be_read(project):
    robot = "urdf: ../../outside.urdf"
    assert read(project, robot, root=project.parent).robots["r"].n_q == 3


@pytest.mark.parametrize(
    ("robot", "message"),
    [
        ("urdf: ../models/none.urdf", "does not exist"),
        ("urdf: ../models", "is not a file"),
        ('urdf: "a\\0b"', "cannot open"),
        ("urdf: " + "x" * 5000, "x"),
        ("urdf: a, dh: b", "exactly one of urdf, dh, spart, links and bodies; it has urdf and dh"),
        ("base: fixed", "it has none"),
        ("dh: a, strict: true", "strict applies to a urdf or bodies only"),
        ("urdf: a, base: loose", "'fixed' or 'floating'"),
        ("urdf: ../models/dh.yaml", "dh.yaml"),
        ("dh: ../models/sc.urdf", "sc.urdf"),
    ],
)
def test_a_robot_that_cannot_be_read_is_a_fault(project, robot, message):
    with pytest.raises(DiagramError, match=message):
        read(project, robot)


def test_a_block_with_a_broken_robot_is_not_blamed(project):
    from spart_blocks.diagram import load

    file = project / "diagrams" / "d.yaml"
    file.write_text("robots: {r: {urdf: no}}\nblocks: {k: {type: KINEMATICS, robot: r}}\n")
    with pytest.raises(DiagramError) as caught:
        load(file)
    assert len(caught.value.faults) == 1


@pytest.mark.parametrize("mark", ["pyproject.toml", ".git", "spart.toml"])
def test_the_root_is_the_nearest_folder_with_a_mark_else_the_files_own(tmp_path, mark):
    file = tmp_path / "a" / "b" / "d.yaml"
    file.parent.mkdir(parents=True)
    assert project_root(file) == file.parent or project_root(file) in tmp_path.parents
    (tmp_path / "a" / mark).touch()
    assert project_root(file) == tmp_path / "a"


def test_a_structure_is_spart_s_own_or_a_golden_file_s_entry(project):
    golden = Path(__file__).parents[1] / "golden" / "spart_sc_3dof.json"
    (project / "models" / "s.json").write_text(golden.read_text())
    structure = json.loads(golden.read_text())["robot"]
    (project / "models" / "t.json").write_text(json.dumps(structure))
    first = read(project, "spart: ../models/s.json").robots["r"]
    assert first == read(project, "spart: ../models/t.json").robots["r"]
    assert first.n_q == 3


def test_the_root_of_a_link_is_that_of_its_file(tmp_path):
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "spart.toml").touch()
    file, link = tmp_path / "b" / "d.yaml", tmp_path / "a" / "link.yaml"
    file.touch()
    link.symlink_to(file)
    assert project_root(link) == tmp_path / "b"
    assert project_root(tmp_path / "a" / ".." / "b" / "d.yaml") == tmp_path / "b"


def test_the_paths_of_a_link_are_relative_to_its_file(project):
    from spart_blocks.diagram import load

    file = project / "diagrams" / "d.yaml"
    file.write_text(DIAGRAM.format("urdf: ../models/sc.urdf"))
    (project / "link.yaml").symlink_to(file)
    assert load(project / "link.yaml").robots["r"].nu == 3
