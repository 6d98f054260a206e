"""A wheel of this repository has all that a user needs away from the clone.

SPART_WHEEL names one that is built already, such as a release's; then none of its parts may be
missing.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from spart_blocks.base.web_build import PAGES, is_fresh

ROOT = Path(__file__).parents[1]
BUILT = os.environ.get("SPART_WHEEL")


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    """A folder that holds what a wheel would install."""
    folder = tmp_path_factory.mktemp("wheel")
    if BUILT:
        zipfile.ZipFile(BUILT).extractall(folder / "site")
        return folder / "site"
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    (wheel,) = folder.glob("*.whl")
    zipfile.ZipFile(wheel).extractall(folder / "site")
    return folder / "site"


def spart(installed, folder, *arguments):
    """What a command prints that runs away from the clone."""
    environment = {**os.environ, "PYTHONPATH": str(installed), "MPLBACKEND": "Agg"}
    command = [sys.executable, "-m", "spart_blocks", *arguments]
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_a_wheel_finds_and_runs_its_own_examples(installed, tmp_path):
    path = spart(installed, tmp_path, "examples", "spacecraft_pd").strip()
    assert Path(path).is_relative_to(installed)
    assert "complete" in spart(installed, tmp_path, "run", path, "--t", "0.1", "--headless")
    assert (tmp_path / "out" / "spacecraft-pd" / "joints.png").exists()


def test_a_wheel_makes_projects_and_exports(installed, tmp_path):
    spart(installed, tmp_path, "new", "mine")
    diagram = "mine/diagrams/reach.yaml"
    spart(installed, tmp_path, "export", "c", diagram, "--part", "controller", "-o", "step")
    assert (tmp_path / "step" / "Makefile").exists()


def test_a_wheel_has_every_diagram_and_robot_of_the_repository(installed):
    for name in ("diagrams", "models"):
        here = {path.relative_to(ROOT / name) for path in (ROOT / name).rglob("*.yaml")}
        shipped = installed / "spart_blocks" / "shipped" / name
        assert here == {path.relative_to(shipped) for path in shipped.rglob("*.yaml")}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.what)
def test_a_wheel_has_the_built_pages_and_their_licences(installed, page):
    if not (BUILT or is_fresh(page)):
        pytest.skip(f"{page.what} is not built")
    folder = installed / page.target.relative_to(ROOT)
    assert {page.main, "licenses.txt", "stamp.txt"} <= {path.name for path in folder.iterdir()}
    text = (folder / "licenses.txt").read_text()
    (info,) = installed.glob("*.dist-info")
    assert (info / "licenses" / folder.relative_to(installed) / "licenses.txt").read_text() == text
    metadata = (info / "METADATA").read_text()
    expression = re.search(r"^License-Expression: (.*)$", metadata, re.MULTILINE)[1]
    parts = re.findall(r"^## .* \((.*)\)$", text, re.MULTILINE)
    assert parts
    assert set(parts) <= set(expression.split(" AND "))


def test_a_wheel_has_no_tests(installed):
    assert {path.name for path in installed.iterdir() if not path.name.endswith(".dist-info")} == {
        "spart_blocks"
    }
