"""`spart merge`, and git's merges of diagram files."""

from __future__ import annotations

import shutil
import subprocess

import pytest

import spart_blocks as sb
from spart_blocks.cli import git_drivers, main

BASE = """\
blocks:
  u: {type: TIME} # seconds
  k: {type: GAIN, K: 2}
wires:
  - u -> k
run: {T: 1, log: [k]}
"""
OURS = BASE.replace("K: 2", "K: 3")
THEIRS = (
    BASE.replace("T: 1", "T: 2")
    .replace("  - u -> k\n", "  - u -> k\n  - k -> n\n")
    .replace("wires", "  n: {type: NORM}\nwires")
)


def git(folder, *words):
    run = subprocess.run(["git", "-c", "user.name=a", "-c", "user.email=a@b", *words], cwd=folder,
                         capture_output=True, text=True, check=False)  # fmt: skip
    return run.returncode, run.stdout + run.stderr


@pytest.fixture
def versions(tmp_path):
    paths = [tmp_path / f"{name}.yaml" for name in ("base", "ours", "theirs")]
    for path, text in zip(paths, (BASE, OURS, THEIRS), strict=True):
        path.write_text(text)
    return paths


def test_the_command_prints_or_writes_the_merge(versions, tmp_path, capsys):
    assert main(["merge", *map(str, versions)]) == 0
    printed = capsys.readouterr().out
    assert "k: {type: GAIN, K: 3}" in printed
    assert "  u: {type: TIME} # seconds\n" in printed
    assert main(["merge", *map(str, versions), "-o", str(tmp_path / "all.yaml")]) == 0
    assert (tmp_path / "all.yaml").read_text() == printed
    assert sb.load(tmp_path / "all.yaml").run.T == 2


def test_conflicts_are_told_and_the_code_is_1(versions, tmp_path, capsys):
    versions[2].write_text(BASE.replace("K: 2", "K: 4"))
    out = tmp_path / "all.yaml"
    assert main(["merge", *map(str, versions), "-o", str(out)]) == 1
    assert "blocks.k.K: ours has 3, theirs has 4 (before: 2)" in capsys.readouterr().err
    assert not out.exists()


@pytest.mark.parametrize("raw", [b"\x00\xff", b"a: [", b"x" * 5_000_000, None])
def test_a_version_that_cannot_be_read_is_told(versions, raw, capsys):
    if raw is None:
        versions[2].unlink()
    else:
        versions[2].write_bytes(raw)
    assert main(["merge", *map(str, versions)]) == 2
    told = capsys.readouterr().err
    assert "theirs.yaml" in told
    assert "Traceback" not in told


@pytest.fixture
def clone(tmp_path, monkeypatch):
    if shutil.which("git") is None:
        pytest.skip("git is not installed")
    folder = tmp_path / "clone"
    folder.mkdir()
    git(folder, "init", "-q", "-b", "main")
    (folder / "servo.yaml").write_text(BASE)
    (folder / "other.yaml").write_text("a: 1\nb: 2\nc: 3\n")
    git(folder, "add", "-A")
    git(folder, "commit", "-qm", "base")
    monkeypatch.chdir(folder)
    assert main(["git-setup"]) == 0
    return folder


def branches(folder, ours, theirs, name="servo.yaml"):
    """Two branches with a version each; the code and output of merging them."""
    git(folder, "checkout", "-qb", "theirs")
    (folder / name).write_text(theirs)
    git(folder, "commit", "-qam", "theirs")
    git(folder, "checkout", "-q", "main")
    (folder / name).write_text(ours)
    git(folder, "commit", "-qam", "ours")
    return git(folder, "merge", "-q", "-m", "both", "theirs")


def test_git_merges_diagrams_by_their_blocks(clone):
    ours = OURS.replace("T: 1, log", "T: 1, rtol: 1e-8, log")  # the line that theirs changes too
    code, said = branches(clone, ours, THEIRS)
    assert code == 0, said
    diagram = sb.load(clone / "servo.yaml")
    assert (diagram.run.T, diagram.run.rtol) == (2, 1e-8)


def test_a_conflict_leaves_git_s_marks_and_is_told_in_words(clone):
    code, said = branches(clone, OURS, BASE.replace("K: 2", "K: 4"))
    assert code == 1
    assert "blocks.k.K: ours has 3, theirs has 4" in said
    assert "<<<<<<<" in (clone / "servo.yaml").read_text()


def test_only_lines_in_conflict_get_git_s_marks(clone):
    code, said = branches(clone, OURS, THEIRS.replace("K: 2", "K: 4"))
    assert code == 1
    assert "1 conflict; all else is merged" in said
    text = (clone / "servo.yaml").read_text()
    line = "  k: {{type: GAIN, K: {}}}\n"
    marked = f"<<<<<<< ours\n{line.format(3)}=======\n{line.format(4)}>>>>>>> theirs\n"
    assert text.count("<<<<<<<") == 1
    assert marked in text
    assert text.replace(marked, line.format(2)).strip() == THEIRS.strip()


def test_two_sources_of_an_input_are_merged_as_text(versions, capsys):
    for path, name in zip(versions[1:], ("v", "w"), strict=True):
        new = f"blocks:\n  {name}: {{type: TIME}}\n"
        path.write_text(BASE.replace("blocks:\n", new).replace("u -> k", f"{name} -> k"))
    assert git_drivers.merged(*versions, versions[1]) == 1
    assert "merged as text" in capsys.readouterr().err
    assert "<<<<<<< ours" in versions[1].read_text()


@pytest.mark.parametrize(("side", "gain"), [("ours", 3), ("theirs", 4)])
def test_a_preferred_side_settles_conflicts_of_values(versions, side, gain, capsys):
    versions[2].write_text(THEIRS.replace("K: 2", "K: 4"))
    assert main(["merge", *map(str, versions)]) == 1
    assert "--prefer ours, or theirs, settles them" in capsys.readouterr().err
    assert main(["merge", *map(str, versions), "--prefer", side]) == 0
    text = capsys.readouterr().out
    assert f"k: {{type: GAIN, K: {gain}}}" in text
    assert "  - k -> n\n" in text


def test_git_merges_a_renamed_block_with_changes_of_it(clone):
    renamed = BASE.replace("  k: {", "  gain: {").replace("u -> k", "u -> gain")
    renamed = renamed.replace("[k]", "[gain]")
    code, said = branches(clone, renamed, THEIRS.replace("K: 2}", "K: 4} # more"))
    assert code == 0, said
    text = (clone / "servo.yaml").read_text()
    assert "  gain: {type: GAIN, K: 4}\n" in text
    assert "  - u -> gain\n  - gain -> n\n" in text
    assert "log: [gain]" in text
    assert sb.load(clone / "servo.yaml").run.T == 2
    code, said = git(clone, "--no-pager", "diff", "HEAD~1", "--", "servo.yaml")
    assert code == 0
    assert "gain.K: 2, now 4" in said


def test_git_tells_two_new_names_of_a_block(clone):
    texts = (BASE.replace(" k", f" {name}").replace("[k]", f"[{name}]") for name in ("a", "b"))
    code, said = branches(clone, *texts)
    assert code == 1
    assert "block k: ours calls it a, theirs calls it b" in said


def test_other_yaml_is_merged_as_text(clone):
    code, _ = branches(clone, "a: 9\nb: 2\nc: 3\n", "a: 1\nb: 2\nc: 8\n", "other.yaml")
    text = (clone / "other.yaml").read_text()
    assert (code == 0 and text == "a: 9\nb: 2\nc: 8\n") or "<<<<<<<" in text


def test_git_shows_diagrams_by_their_blocks_and_other_yaml_as_text(clone):
    (clone / "servo.yaml").write_text(OURS)
    (clone / "other.yaml").write_text("a: 1\nb: 3\nc: 3\n")
    code, said = git(clone, "--no-pager", "diff")
    assert code == 0
    assert "HEAD:servo.yaml -> servo.yaml" in said
    assert "k.K: 2, now 3" in said
    assert "-b: 2\n+b: 3" in said
    assert "+  k: {type: GAIN, K: 3}" in git(clone, "--no-pager", "diff", "--no-ext-diff")[1]


def test_git_compares_an_older_commit_with_the_files_that_it_uses(clone):
    (clone / "spart.toml").write_text("")
    (clone / "part.yaml").write_text(
        "inputs: [u]\noutputs: [y]\nblocks: {g: {type: GAIN}}\nwires: [in.u -> g, g -> out.y]\n"
    )
    (clone / "servo.yaml").write_text(BASE.replace("type: GAIN, K: 2", "use: part.yaml"))
    git(clone, "add", "-A")
    git(clone, "commit", "-qm", "a part")
    hashed = git(clone, "rev-parse", "HEAD")[1].strip()
    (clone / "servo.yaml").write_text((clone / "servo.yaml").read_text().replace("T: 1", "T: 2"))
    git(clone, "commit", "-qam", "longer")
    code, said = git(clone, "--no-pager", "diff", "HEAD~1", "--", "servo.yaml")
    assert code == 0
    assert f"{hashed[:10]}:servo.yaml -> servo.yaml" in said
    assert "run.T: 1, now 2" in said
    assert "leaves the project" not in said


def test_a_pager_that_ends_early_is_no_error(clone):
    (clone / "servo.yaml").write_text(OURS)
    run = subprocess.run(
        "git --no-pager diff | true", shell=True, cwd=clone, capture_output=True, text=True
    )
    assert "Traceback" not in run.stderr


def test_the_setup_can_be_shared_and_taken_back(clone):
    assert main(["git-setup", "--shared"]) == 0
    assert (clone / ".gitattributes").read_text() == (
        "*.yaml merge=spart diff=spart\n*.yml merge=spart diff=spart\n"
    )
    assert main(["git-setup", "--shared", "--remove"]) == 0
    assert main(["git-setup", "--remove"]) == 0
    assert (clone / ".gitattributes").read_text() == ""
    assert "spart" not in (clone / ".git" / "config").read_text()
    assert main(["git-setup", "--remove"]) == 0


def test_outside_a_clone_it_is_told(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    assert main(["git-setup"]) == 2
    assert "run it in a clone" in capsys.readouterr().err
