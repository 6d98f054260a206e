"""What has changed in a file since a commit, or from another file: listed and marked."""

from __future__ import annotations

import subprocess

import pytest
from asking import ARM, Asking

pytestmark = pytest.mark.usefixtures("plain_git")


@pytest.fixture
def plain_git(monkeypatch, tmp_path):
    """Git without the settings of this machine."""
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(tmp_path / "gitconfig"))
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path))


def git(folder, *words):
    author = ("-c", "user.name=Ada", "-c", "user.email=ada@example.org")
    subprocess.run(["git", *author, *words], cwd=folder, check=True, capture_output=True)


@pytest.fixture
def folder(tmp_path):
    root = tmp_path / "project"
    (root / "sub").mkdir(parents=True)
    (root / "spart.toml").touch()
    (root / "sub" / "arm.yaml").write_text(ARM)
    git(root, "init", "-q")
    git(root, "add", ".")
    git(root, "commit", "-q", "-m", "The arm\n\nwith two servos")
    (root / "sub" / "arm.yaml").write_text(ARM.replace("k: 2 ", "k: 3 "))
    git(root, "commit", "-q", "-a", "-m", "Stiffer")
    (root / "other.yaml").write_text(ARM.replace("hold", "held"))
    return root


@pytest.fixture
def asking(folder):
    found = Asking(folder)
    found.ok("open", path="sub/arm.yaml")
    return found


def lines(changes):
    return {
        (group["heading"], one["sign"], one["what"], one["before"], one["after"])
        for group in changes["groups"]
        for one in group["changes"]
    }


def test_the_commits_of_a_file_are_listed_and_each_can_be_compared_with(asking):
    found = asking.ok("revisions", path="sub/arm.yaml")
    assert [one["subject"] for one in found["commits"]] == ["Stiffer", "The arm"]
    assert found["why"] is None
    last, first = (one["id"] for one in found["commits"])
    assert lines(asking.ok("changes", path="sub/arm.yaml", commit=last)) == set()
    changes = asking.ok("changes", path="sub/arm.yaml", commit=first)
    assert lines(changes) == {
        ("parameters of the diagram", "~", "params.k (used by one.gain)", "2", "3")
    }
    assert changes["sheets"][""]["blocks"] == {"one": "changed"}  # it has $k
    assert changes["old"].startswith(first[:10])


def test_blocks_and_wires_that_came_changed_and_went_are_marked_on_their_sheets(asking):
    asking.edit(
        "sub/arm.yaml",
        {"op": "set", "path": "subsystems.servo.blocks.law.K", "text": "7"},
        {"op": "remove", "names": ["hold"], "within": ""},
        {"op": "add", "name": "more", "type": "SCOPE", "within": ""},
        {"op": "wire", "source": "step", "target": "more", "within": ""},
    )
    [last, _] = asking.ok("revisions", path="sub/arm.yaml")["commits"]
    changes = asking.ok("changes", path="sub/arm.yaml", commit=last["id"])
    assert {
        ("blocks", "+", "more (SCOPE)", "", ""),
        ("blocks", "-", "hold (ZOH)", "", ""),
        ("parameters of blocks", "~", "servo/law.K", "$gain", "7"),
    } <= lines(changes)
    top, servo = changes["sheets"][""], changes["sheets"]["servo"]
    assert top["gone"] == [{"name": "hold", "type": "ZOH"}]
    assert top["blocks"]["more"] == "added"
    assert top["wires"] == [{"source": "step", "target": "more"}]
    assert [(one["start"], one["end"]) for one in top["lost"]] == [("two", "hold")]
    assert servo["blocks"] == {"law": "changed"}
    places = {
        one["what"]: (one["at"], one["block"])
        for group in changes["groups"]
        for one in group["changes"]
    }
    assert places["servo/law.K"] == ("one", "law")
    assert places["more (SCOPE)"] == ("", "more")
    assert changes["revision"] == asking.ok("open", path="sub/arm.yaml")["revision"]


def test_a_file_is_compared_with_another_one(asking):
    changes = asking.ok("changes", path="sub/arm.yaml", other="other.yaml")
    assert ("blocks", "~", "hold (ZOH)", "held", "hold") in lines(changes)
    assert changes["old"] == "other.yaml"


@pytest.mark.parametrize("commit", ["HEAD", "HEAD~1", "--output=x", "master", "a" * 40, ""])
def test_only_commits_of_the_list_are_taken(asking, commit):
    text = asking.problem("changes", path="sub/arm.yaml", commit=commit)
    assert "is no commit that has changed sub/arm.yaml" in text


def test_what_is_no_file_of_the_project_is_refused(asking):
    assert "leaves the project" in asking.problem("changes", path="sub/arm.yaml", other="../x.yaml")
    assert "a text 'commit'" in asking.problem("changes", path="sub/arm.yaml", commit=["a"])


def test_without_git_it_is_said_why(tmp_path):
    root = tmp_path / "bare"
    root.mkdir()
    (root / "arm.yaml").write_text(ARM)
    asking = Asking(root)
    asking.ok("open", path="arm.yaml")
    found = asking.ok("revisions", path="arm.yaml")
    assert found == {"commits": [], "why": "the file is in no git repository"}
    git(root, "init", "-q")
    assert "no commit of arm.yaml yet" in asking.ok("revisions", path="arm.yaml")["why"]
