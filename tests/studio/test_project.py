"""The list of a project's diagrams, and their pictures."""

from __future__ import annotations

import re

import pytest

from spart_blocks.studio.project import diagrams_of


def test_the_project_lists_its_diagrams_and_no_other_yaml(studio, project):
    (project / "part.yaml").write_text("inputs: [u]\noutputs: [y]\nblocks: {}\n")
    (project / "other.yaml").write_text("links: []\n")
    (project / "diagrams" / "broken.yaml").write_text("blocks: {a: [\n")
    (project / ".hidden").mkdir()
    (project / ".hidden" / "no.yaml").write_text("blocks: {}\n")
    with studio.page() as page:
        found = {one["path"]: one for one in page.ok("project")["diagrams"]}
    assert set(found) == {"diagrams/broken.yaml", "diagrams/loop.yaml"}
    loop = found["diagrams/loop.yaml"]
    assert (loop["name"], loop["blocks"], loop["problem"]) == ("one_loop", 3, None)
    assert re.search(r"broken\.yaml:\d+:\d+: not YAML", found["diagrams/broken.yaml"]["problem"])


def test_links_that_lead_out_of_the_project_are_not_listed(project, tmp_path):
    folder = project / "diagrams"
    (folder / "secret.yaml").symlink_to(tmp_path / "secret.yaml")
    (folder / "same.yaml").symlink_to(folder / "loop.yaml")
    (folder / "round.yaml").symlink_to(folder / "round.yaml")
    (project / "outside").symlink_to(tmp_path, target_is_directory=True)
    assert {one["path"] for one in diagrams_of(project)} == {
        "diagrams/loop.yaml",
        "diagrams/round.yaml",
        "diagrams/same.yaml",
    }


def test_new_diagrams_go_to_the_folder_of_diagrams_if_there_is_one(studio, project):
    with studio.page() as page:
        assert page.ok("project")["folder"] == "diagrams/"
        (project / "diagrams" / "loop.yaml").unlink()
        assert page.ok("project")["folder"] == "diagrams/"
        (project / "diagrams").rmdir()
        assert page.ok("project")["folder"] == ""


def test_a_diagram_has_a_picture_with_its_blocks_and_wires(studio):
    for _ in range(2):  # drawn, then kept
        status, headers, body = studio.get("/thumbnail?path=diagrams/loop.yaml")
        assert (status, headers["content-type"]) == (200, "image/svg+xml")
        assert body.count(b"<rect") == 3
        assert body.count(b"<polyline") == 2


def test_the_picture_of_a_diagram_with_mistakes_shows_what_it_has(studio, project):
    text = "blocks: {a: {type: STPE}, b: {type: SCOPE}}\nwires: [a -> b, c -> d]\n"
    (project / "wrong.yaml").write_text(text)
    status, _, body = studio.get("/thumbnail?path=wrong.yaml")
    assert status == 200
    assert body.count(b"<rect") >= 2


@pytest.mark.parametrize("path", ["../secret.yaml", "/etc/passwd", "spart.toml", "no.yaml", ""])
def test_other_files_have_no_pictures(studio, path):
    status, headers, body = studio.get(f"/thumbnail?path={path}")
    assert status == 404
    assert headers["content-type"].startswith("text/plain")
    assert b"secret" not in body.replace(b"secret.yaml", b"")


def test_the_models_of_the_project_are_listed_as_a_diagram_names_them(studio, project):
    (project / "models").mkdir()
    (project / "models" / "arm 2.urdf").write_text("<robot/>")
    (project / "models" / "delta.yaml").write_text("bodies: {}\n")
    (project / "models" / "servo.yaml").write_text("inputs: [u]\n")
    with studio.page() as page:
        found = page.ok("models", path="diagrams/loop.yaml")
    assert found == [
        {"path": "models/arm 2.urdf", "name": "arm_2", "text": "{urdf: ../models/arm 2.urdf}"},
        {"path": "models/delta.yaml", "name": "delta", "text": "{bodies: ../models/delta.yaml}"},
    ]


def test_a_robot_is_added_to_a_diagram_as_text(studio, project):
    (project / "models").mkdir()
    (project / "models" / "a.urdf").write_text("<robot name='a'><link name='l'/></robot>")
    with studio.page() as page:
        opened = page.ok("open", path="diagrams/loop.yaml")
        (model,) = page.ok("models", path="diagrams/loop.yaml")
        add = {"op": "set", "path": f"robots.{model['name']}", "text": model["text"]}
        given = {"path": "diagrams/loop.yaml", "at": "", "revision": opened["revision"]}
        after = page.ok("edit", operations=[add], **given)["opened"]
    assert [(one["name"], one["text"]) for one in after["robots"]] == [("a", model["text"])]
    assert "  a: {urdf: ../models/a.urdf}\n" in (project / "diagrams" / "loop.yaml").read_text()
