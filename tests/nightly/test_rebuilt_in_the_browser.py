"""Shipped diagrams are built from nothing in the page alone, equal by `spart diff`."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "studio"))
pytest.importorskip("starlette")

from asking import Asking
from browsers import needs_chromium
from diagram_pages import DiagramPage
from rebuilding import Builder
from studio_pages import in_browser
from test_building_in_the_browser import Person

from spart_blocks.cli import main

pytestmark = needs_chromium

FILES = [*Path("diagrams/space").glob("*.yaml"), *Path("diagrams/control").glob("*.yaml")]


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_shipped_diagram_is_rebuilt(browser, tmp_path, path, record_property, capsys):
    shutil.copytree("models", tmp_path / "models")
    (tmp_path / "diagrams").mkdir()
    (tmp_path / "spart.toml").write_text("")
    given = tmp_path / "given" / path.name
    given.parent.mkdir()
    given.write_text(path.read_text().replace("../../models", "../models"))
    with in_browser(browser, tmp_path):
        page = DiagramPage(browser, tmp_path)
        person = Person(page)
        Builder(page, person, Asking(tmp_path), f"given/{path.name}").build()
    record_property("actions", person.actions)
    print(f"{path.stem}: {person.actions} actions")
    assert main(["diff", str(given), str(page.file)]) == 0, capsys.readouterr().out
