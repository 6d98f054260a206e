"""`spart diff --changed`: every diagram of a repository that differs from a revision."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from differences_git import git, repository_of

from spart_blocks.cli import main

MODELS = Path(__file__).parents[2] / "models"
TEXT = "blocks:\n  t: {type: TIME}\n  g: {type: GAIN, K: 1}\nwires: [t -> g]\n"
ROBOT = "robots: {sc: {urdf: sc.urdf}}\nblocks: {plant: {type: MULTIBODY, robot: sc}}\n"


@pytest.fixture
def repository(tmp_path, monkeypatch):
    """A repository whose working tree differs from its commit in several ways."""
    for name in ("changed", "removed", "same", "old_name", "broken", "commented"):
        (tmp_path / f"{name}.yaml").write_text(TEXT + f"name: {name}\n")
    (tmp_path / "robot.yaml").write_text(ROBOT)
    (tmp_path / "other.yaml").write_text("jobs: {}\n")
    shutil.copy(MODELS / "spacecraft_3dof.urdf", tmp_path / "sc.urdf")
    repository_of(tmp_path)
    monkeypatch.chdir(tmp_path)
    change("changed.yaml", "K: 1", "K: 2")
    change("commented.yaml", "blocks:", "# the same\nblocks:")
    change("other.yaml", "jobs", "tasks")
    change("broken.yaml", "[t -> g]", "[t -> g")
    change("sc.urdf", 'mass value="100"', 'mass value="120"')
    Path("removed.yaml").unlink()
    git(tmp_path, "mv", "old_name.yaml", "new_name.yaml")
    Path("new.yaml").write_text(TEXT)
    return tmp_path


def change(path, old, new):
    text = Path(path).read_text()
    assert old in text
    Path(path).write_text(text.replace(old, new))


def test_changed_new_removed_and_broken_diagrams_are_told(repository, capsys):
    assert main(["diff", "--changed", "HEAD", "--out", "out"]) == 2
    told = capsys.readouterr()
    assert "broken.yaml" in told.err
    assert "Traceback" not in told.err
    text = Path("out/changes.md").read_text()
    headings = [line for line in text.splitlines() if line.startswith("###")]
    assert headings == [
        "### `broken.yaml`",
        "### `HEAD:changed.yaml -> changed.yaml`",
        "### `/dev/null -> new.yaml`",
        "### `HEAD:removed.yaml -> /dev/null`",
        "### `HEAD:robot.yaml -> robot.yaml`",
    ]
    assert "`g.K: 1, now 2`" in text
    assert "Spacecraft.mass: 100, now 120 kg" in text
    assert sorted(path.name for path in Path("out").iterdir()) == [
        "changed.yaml.svg",
        "changes.md",
        "new.yaml.svg",
        "removed.yaml.svg",
        "robot.yaml.svg",
    ]
    for path in Path("out").glob("*.svg"):
        assert f"]({path.name})" in text


def test_without_a_folder_they_are_printed(repository, capsys):
    Path("broken.yaml").unlink()
    assert main(["diff", "--changed", "HEAD"]) == 1
    told = capsys.readouterr().out
    assert "~ g.K: 1, now 2" in told
    assert "- name: broken" in told


def test_where_no_diagram_differs_the_report_says_so(repository):
    git(repository, "add", ".")
    git(repository, "-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "2")
    assert main(["diff", "--changed", "HEAD", "--out", "out"]) == 0
    assert Path("out/changes.md").read_text() == "No diagram means anything else than before.\n"


def test_pictures_may_have_an_address(repository):
    address = "https://example.org/7/"
    main(["diff", "--changed", "HEAD", "--out", "out", "--pictures", address])
    text = Path("out/changes.md").read_text()
    assert f"({address}changed.yaml.svg)" in text


def test_a_wrong_revision_and_mixed_options_are_refused(repository, capsys):
    assert main(["diff", "--changed", "none"]) == 2
    assert main(["diff", "--changed", "HEAD", "new.yaml"]) == 2
    assert main(["diff"]) == 2
    assert "Traceback" not in capsys.readouterr().err
