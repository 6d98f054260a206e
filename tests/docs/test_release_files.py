"""What publishes the package agrees with pyproject.toml: versions, dependencies, authors."""

from __future__ import annotations

import os
import re
import tomllib
from pathlib import Path

import pytest
import yaml

import spart_blocks as sb

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
VERSION = PROJECT["version"]
PYTHONS = [
    found[1]
    for line in PROJECT["classifiers"]
    if (found := re.fullmatch(r"Programming Language :: Python :: (3\.\d+)", line))
]
ON_CONDA = {"matplotlib": "matplotlib-base"}
"""Names of distributions that differ on conda-forge."""


def read(name):
    return (ROOT / name).read_text(encoding="utf-8")


def of_yaml(name):
    """A YAML file whose templates stay as they are; `on:` is a word, not true."""
    return yaml.load(read(name), Loader=yaml.BaseLoader)


RECIPE = of_yaml("recipe/recipe.yaml")
CITATION = of_yaml("CITATION.cff")
WORKFLOWS = {path.stem: of_yaml(path) for path in (ROOT / ".github/workflows").glob("*.yml")}


def test_the_version_is_one():
    assert sb.__version__ == VERSION
    assert RECIPE["context"]["version"] == VERSION
    assert CITATION["version"] == VERSION
    assert re.findall(r"^## \[(.*)\]", read("CHANGELOG.md"), re.MULTILINE)[0] in (
        "Unreleased",
        VERSION,
    )


@pytest.mark.skipif(os.environ.get("GITHUB_REF_TYPE") != "tag", reason="no release")
def test_the_tag_is_the_version_and_its_changes_are_told():
    assert os.environ["GITHUB_REF_NAME"] == f"v{VERSION}"
    assert f"\n## [{VERSION}]" in read("CHANGELOG.md")


def test_the_oldest_python_is_one():
    oldest = PYTHONS[0]
    config = tomllib.loads(read("pyproject.toml"))["tool"]
    assert PROJECT["requires-python"] == f">={oldest}"
    assert RECIPE["context"]["python_min"] == oldest
    assert config["mypy"]["python_version"] == oldest
    assert config["ruff"]["target-version"] == f"py{oldest.replace('.', '')}"
    assert f"With Python {oldest} or newer" in read("README.md")
    assert f"Python {oldest} to {PYTHONS[-1]}, on Linux, macOS and Windows" in read(
        "docs/versions.md"
    )


def test_workflows_try_every_python_on_every_system():
    systems = {"ubuntu-latest", "ubuntu-24.04-arm", "macos-latest", "windows-latest"}
    quick = WORKFLOWS["tests"]["jobs"]["quick"]["strategy"]["matrix"]
    tried = WORKFLOWS["release"]["jobs"]["try"]["strategy"]["matrix"]
    assert quick["python"] == tried["python"] == PYTHONS
    assert {*quick["os"], *(row["os"] for row in quick["include"])} == systems
    assert {row["python"] for row in quick["include"]} <= set(PYTHONS)
    assert set(tried["os"]) == systems


def test_only_what_publishes_may_write():
    """And only after the tests and the trial of the wheel."""
    for workflow in WORKFLOWS.values():
        assert workflow["permissions"] == {"contents": "read"}
    jobs = WORKFLOWS["release"]["jobs"]
    assert {name for name, job in jobs.items() if "permissions" in job} == {"publish", "docs"}
    assert jobs["publish"]["permissions"] == {"id-token": "write"}
    assert set(jobs["publish"]["needs"]) == {"tests", "build", "try"}


def test_the_recipe_has_our_dependencies():
    runs = {line.replace(" ", "") for line in RECIPE["requirements"]["run"]}
    ours = {"python>=${{python_min}}"}
    for line in PROJECT["dependencies"]:
        name, bound = re.fullmatch(r"([\w-]+)(>=.*)", line).groups()
        ours.add(f"{ON_CONDA.get(name, name)}{bound}")
    assert runs == ours
    (script,) = RECIPE["build"]["python"]["entry_points"]
    assert script.split(" = ") == ["spart", PROJECT["scripts"]["spart"]]


def test_licences_are_those_of_the_project():
    assert RECIPE["about"]["license"] == PROJECT["license"]
    assert RECIPE["about"]["license_file"] == PROJECT["license-files"]
    assert CITATION["license"] == PROJECT["license"].split(" AND ")[0]


def test_authors_and_words_are_those_of_the_project():
    authors = [author["name"] for author in PROJECT["authors"]]
    assert [author["name"] for author in CITATION["authors"]] == authors
    assert [author["name"] for author in header_of_paper()["authors"]] == authors
    assert f"Copyright (c) 2026 {authors[0]}" in read("LICENSE")
    assert CITATION["keywords"] == PROJECT["keywords"]
    assert RECIPE["about"]["summary"] == PROJECT["description"]


def header_of_paper():
    return yaml.safe_load(read("paper/paper.md").split("---\n")[1])


def test_the_paper_cites_what_it_lists_and_is_of_two_pages():
    """A journal's page holds about 500 words."""
    text = read("paper/paper.md").split("---\n", 2)[2]
    cited = set(re.findall(r"@(\w+)", text))
    listed = re.findall(r"^@\w+\{(\w+),", read(f"paper/{header_of_paper()['bibliography']}"), re.M)
    assert cited == set(listed)
    assert len(listed) == len(set(listed))
    assert 750 <= len(text.split()) <= 1000


def test_an_sdist_has_what_readers_of_its_readme_look_for():
    build = tomllib.loads(read("pyproject.toml"))["tool"]["hatch"]["build"]["targets"]["sdist"]
    linked = re.findall(r"\]\((?!https?:)([^)#]+)", read("README.md"))
    assert {f"/{path.split('/')[0]}" for path in linked} <= set(build["include"])
