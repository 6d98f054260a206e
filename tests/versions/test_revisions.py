"""Sides of git revisions."""

from __future__ import annotations

import pytest
from differences_git import git

import spart_blocks as sb
from spart_blocks.cli import main

PART = (
    "inputs: [u]\noutputs: [y]\nblocks: {g: {type: GAIN, K: %s}}\nwires: [in.u -> g, g -> out.y]\n"
)
TEXT = "blocks:\n  t: {type: TIME}\n  x: {use: ../parts/part.yaml}\nwires: [t -> x]\nrun: {T: %s}\n"


@pytest.fixture
def repository(tmp_path, monkeypatch):
    """A repository with two commits; the working tree has a third state."""
    for folder in ("top/parts", "top/diagrams"):
        (tmp_path / folder).mkdir(parents=True)
    top = tmp_path / "top"
    git(top, "init", "-q", "-b", "main")
    for k in (1, 2, 3):
        (top / "parts/part.yaml").write_text(PART % k)
        (top / "diagrams/d.yaml").write_text(TEXT % k)
        if k < 3:
            git(top, "add", ".")
            git(top, "-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", f"{k}")
    monkeypatch.chdir(top)
    return top


def told(found):
    return [(one.path, one.old, one.new) for one in found.changes]


def test_revisions_and_their_used_files(repository):
    found = sb.diff("HEAD~1:diagrams/d.yaml", "HEAD:diagrams/d.yaml")
    assert told(found) == [("run.T", 1, 2)]
    (part,) = found.files
    assert told(part) == [("g.K", 1, 2)]
    assert (part.old, part.new) == ("HEAD~1:parts/part.yaml", "HEAD:parts/part.yaml")


def test_a_commit_is_shown_by_ten_digits_of_its_hash(repository):
    commit = git(repository, "rev-parse", "HEAD~1").strip()
    found = sb.diff(f"{commit}:diagrams/d.yaml", "HEAD:diagrams/d.yaml")
    assert (found.old, found.new) == (f"{commit[:10]}:diagrams/d.yaml", "HEAD:diagrams/d.yaml")
    assert found.files[0].old == f"{commit[:10]}:parts/part.yaml"


def test_a_file_alone_is_compared_with_head(repository, monkeypatch):
    monkeypatch.chdir(repository / "diagrams")
    found = sb.diff("d.yaml")
    assert told(found) == [("run.T", 2, 3)]
    assert told(found.files[0]) == [("g.K", 2, 3)]
    assert told(sb.diff("HEAD:./d.yaml", "d.yaml")) == [("run.T", 2, 3)]


def test_a_file_that_head_does_not_have_is_all_new(repository):
    new = repository / "new.yaml"
    new.write_text("blocks: {t: {type: TIME}}")
    assert [one.kind for one in sb.diff(new).blocks] == ["added"]


def test_the_copies_are_gone_afterwards(repository, tmp_path, monkeypatch):
    place = tmp_path / "temporary"
    place.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(place))
    assert sb.diff("HEAD~1:diagrams/d.yaml", "HEAD:diagrams/d.yaml")
    assert list(place.iterdir()) == []


WRONG = {
    "NONE:diagrams/d.yaml": "there is no revision 'NONE'",
    "--help:diagrams/d.yaml": "there is no revision '--help'",
    "HEAD:none.yaml": "the revision has no such file",
    "HEAD:../../../etc/passwd": "the revision has no such file",
    "HEAD:diagrams": "the revision has no such file",
}


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_revision_is_one_line(repository, name):
    with pytest.raises(sb.InputError, match=WRONG[name]):
        sb.diff(name, "diagrams/d.yaml")


def test_links_of_a_repository_are_not_followed(repository):
    (repository / "diagrams/link.yaml").symlink_to("/etc/passwd")
    git(repository, "add", ".")
    git(repository, "-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "link")
    with pytest.raises(sb.InputError, match="no such file"):
        sb.diff("HEAD:diagrams/link.yaml", "diagrams/d.yaml")


def test_without_git_there_is_one_line(repository, monkeypatch, capsys):
    monkeypatch.setenv("PATH", "")
    assert main(["diff", "HEAD:diagrams/d.yaml", "diagrams/d.yaml"]) == 2
    assert "needs git, which is not installed" in capsys.readouterr().err


def test_outside_of_a_repository_there_is_one_line(tmp_path, monkeypatch, capsys):
    (tmp_path / "d.yaml").write_text("blocks: {}")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    assert main(["diff", "d.yaml"]) == 2
    assert "not a git repository" in capsys.readouterr().err
