"""`spart new`, `examples` and `doctor`: from an installation to a project that runs."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from spart_blocks.base.errors import pip_install
from spart_blocks.cli import doctor

DIAGRAMS = Path(__file__).parents[2] / "diagrams"


@pytest.fixture
def project(spart, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    answer = spart("new", "my robot")
    assert answer.code == 0, answer.err
    return tmp_path / "my robot"


def test_a_new_project_has_what_it_lists(project, spart):
    files = {path.relative_to(project) for path in project.rglob("*") if path.is_file()}
    assert {str(path) for path in files} >= {
        "spart.toml",
        "requirements.txt",
        "README.md",
        "diagrams/reach.yaml",
        "models/arm.urdf",
        "controllers/pd.yaml",
        "tests/test_reach.py",
        ".github/workflows/diagrams.yml",
    }
    assert (project / "README.md").read_text().startswith("# my robot\n")
    assert not list(project.parent.glob(".spart-new-*"))


def test_a_new_project_runs_and_passes_its_tests(project, spart, monkeypatch):
    monkeypatch.chdir(project)
    assert spart("run", "diagrams/reach.yaml", "--headless").code == 0
    assert {path.name for path in (project / "out" / "reach").iterdir()} == {
        "joints.png",
        "torques.png",
    }
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-q"]
    done = subprocess.run(command, capture_output=True, text=True, env=os.environ, cwd=project)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "4 passed" in done.stdout  # the diagram with each controller, and two in Python


def test_a_new_project_says_what_it_needs(project):
    needed = (project / "requirements.txt").read_text().splitlines()
    named = {line for line in needed if not line.startswith("#")}
    tests = "".join(path.read_text() for path in (project / "tests").glob("*.py"))
    imported = set(re.findall(r"^(?:import|from) (\w+)", tests, re.MULTILINE))
    comes_along = {"numpy"} | set(sys.stdlib_module_names)
    assert imported - comes_along == named
    install = "pip install -r requirements.txt"
    assert install in (project / "README.md").read_text()
    assert install in (project / ".github" / "workflows" / "diagrams.yml").read_text()


def put_in_site(package, site):
    """Install a package of blocks in a folder: its metadata of its own project file, its modules
    where they are.
    """
    project = tomllib.loads((package / "pyproject.toml").read_text())["project"]
    info = site / f"{project['name']}-{project['version']}.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(
        f"Metadata-Version: 2.1\nName: {project['name']}\nVersion: {project['version']}\n"
    )
    lines = (
        f"[{group}]\n" + "".join(f"{name} = {value}\n" for name, value in entries.items())
        for group, entries in project["entry-points"].items()
    )
    (info / "entry_points.txt").write_text("".join(lines))
    path = [str(site), str(package), *filter(None, [os.environ.get("PYTHONPATH")])]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(path)}


def passed(folder, environment):
    """How many tests of a folder pass, all of which must."""
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-q"]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, cwd=folder)
    assert done.returncode == 0, done.stdout + done.stderr
    return int(re.search(r"(\d+) passed", done.stdout)[1])


def test_a_new_package_of_blocks_passes_its_tests_once_it_is_installed(
    spart, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    answer = spart("new", "--package", "my-blocks")
    assert answer.code == 0, answer.err
    assert "spart blocks my_blocks" in answer.err
    environment = put_in_site(tmp_path / "my-blocks", tmp_path / "site")
    assert passed(tmp_path / "my-blocks", environment) == 2  # the diagram, and one in Python
    command = [sys.executable, "-m", "spart_blocks", "blocks", "my_blocks", "--markdown"]
    done = subprocess.run(command, capture_output=True, text=True, env=environment)
    assert "### MY_BLOCKS_LIMIT\n" in done.stdout
    assert "| `limit` | float | 1.0 | largest value of y |" in done.stdout


def test_the_example_of_a_package_passes_its_tests(tmp_path):
    example = tmp_path / "thermal_blocks"
    shutil.copytree(DIAGRAMS.parent / "examples" / "thermal_blocks", example)
    assert passed(example, put_in_site(example, tmp_path / "site")) == 3


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("1blocks", "'1blocks' cannot be the name of a package"),
        ("my blocks", "cannot be the name"),
        ("lambda", "cannot be the name"),
        ("numpy", "there is a module numpy already"),
        ("json", "there is a module json already"),
    ],
)
def test_a_package_of_blocks_needs_a_name_of_its_own(spart, tmp_path, monkeypatch, name, text):
    monkeypatch.chdir(tmp_path)
    answer = spart("new", "--package", name)
    assert (answer.code, text in answer.err) == (2, True), answer.err
    assert not list(tmp_path.iterdir())


def test_new_fills_an_empty_folder(spart, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert spart("new", ".").code == 0
    assert (tmp_path / "spart.toml").exists()
    assert (tmp_path / "README.md").read_text().startswith(f"# {tmp_path.name}\n")


def test_new_replaces_nothing(spart, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "work.txt").write_text("mine")
    (tmp_path / "file").write_text("mine")
    for name, text in (("mine", "is not empty"), ("file", "no folder"), ("a/b", "mkdir -p")):
        answer = spart("new", name)
        assert (answer.code, text in answer.err) == (2, True), answer.err
    assert [path.name for path in sorted(tmp_path.rglob("*"))] == ["file", "mine", "work.txt"]


def test_examples_lists_every_shipped_diagram_with_what_it_shows(spart):
    answer = spart("examples")
    assert answer.code == 0
    rows = {line.split()[0]: line.split()[1:] for line in answer.out.splitlines()}
    shipped = [path for path in DIAGRAMS.rglob("*.yaml") if path.parent.name != "controllers"]
    assert sorted(rows) == sorted(
        path.relative_to(DIAGRAMS).with_suffix("").as_posix() for path in shipped
    )
    assert all(len(words) > 2 for words in rows.values())


@pytest.mark.parametrize("name", ["four_bar", "loops/four_bar", "diagrams/loops/four_bar.yaml"])
def test_examples_tells_where_one_lies(spart, name):
    answer = spart("examples", name)
    assert Path(answer.out.strip()).samefile(DIAGRAMS / "loops" / "four_bar.yaml")


def test_examples_names_the_nearest(spart):
    answer = spart("examples", "for_bar")
    assert answer.code == 2
    assert "'loops/four_bar'" in answer.err


def test_examples_copies_what_runs_there(spart, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert spart("examples", "--copy", "mine").code == 0
    assert spart("check", "mine/diagrams/spacecraft_pd.yaml", "--t", "0.1").code == 0
    again = spart("examples", "--copy", "mine")
    assert again.code == 2
    assert "is there already" in again.err


def test_doctor_finds_an_installation_whole(spart):
    answer = spart("doctor")
    assert answer.code == 0, answer.out
    topics = {line.split()[0] for line in answer.out.splitlines()}
    assert {"spart_blocks", "python", "bdsim", "compiler", "cache", "display", "viewer"} <= topics


def test_doctor_tells_what_is_missing_and_how_to_get_it(spart, monkeypatch, tmp_path):
    monkeypatch.setenv("SPART_COMPILER", "none")
    monkeypatch.setenv("SPART_CACHE", str(tmp_path / "cache"))
    version = doctor.metadata.version

    def without(name):
        if name == "fmpy":
            raise doctor.metadata.PackageNotFoundError(name)
        return version(name)

    monkeypatch.setattr(doctor.metadata, "version", without)
    found = {one["topic"]: one for one in json.loads(spart("doctor", "--json").out)}
    assert found["compiler"]["state"] == "missing"
    assert found["extra fmu"] == {
        "topic": "extra fmu",
        "state": "missing",
        "text": "fmpy",
        "hint": pip_install("fmu"),
    }
    assert str(tmp_path / "cache") in found["cache"]["text"]


def test_doctor_fails_where_something_needed_is_not_there(spart, monkeypatch):
    def none(name):
        raise doctor.metadata.PackageNotFoundError(name)

    monkeypatch.setattr(doctor.metadata, "version", none)
    answer = spart("doctor")
    assert answer.code == 1
    assert "pip install casadi" in answer.out


def test_doctor_says_what_a_cache_that_others_may_write_means(spart, monkeypatch, tmp_path):
    folder = tmp_path / "open"
    folder.mkdir()
    folder.chmod(0o777)
    monkeypatch.setenv("SPART_CACHE", str(folder))
    answer = spart("doctor", "--json")
    found = {one["topic"]: one for one in json.loads(answer.out)}
    assert found["cache"]["state"] == "missing"


@pytest.mark.parametrize("command", [("new",), ("examples", "--copy")])
def test_a_name_that_no_folder_can_have_is_refused(spart, command):
    answer = spart(*command, "a" * 5000)
    assert answer.code == 2
    assert "File name too long" in answer.err
    assert len(answer.err) < 300


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such files")
@pytest.mark.parametrize("command", ["run", "show"])
def test_a_pipe_that_out_names_is_not_replaced(spart, tmp_path, command):
    pipe = tmp_path / ("pipe.npz" if command == "run" else "pipe.svg")
    os.mkfifo(pipe)
    answer = spart(command, DIAGRAMS / "spacecraft_pd.yaml", "--out", pipe)
    assert answer.code == 2
    assert "is a device or a pipe" in answer.err
    assert pipe.is_fifo()
