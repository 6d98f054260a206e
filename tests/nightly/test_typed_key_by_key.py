"""Long texts typed key by key into every kind of field of the studio: as pasted, and without a
request for each key."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "studio"))
pytest.importorskip("starlette")

from browsers import needs_chromium
from diagram_pages import DiagramPage
from studio_pages import in_browser
from typed_fields import FILE, KINDS, type_into

pytestmark = needs_chromium


@pytest.fixture(scope="module")
def page(browser, tmp_path_factory):
    root = tmp_path_factory.mktemp("project")
    (root / "spart.toml").write_text("")
    shutil.copy("models/arm7.urdf", root / "arm.urdf")
    for one in KINDS:
        (root / one.file).write_text(FILE)
    with in_browser(browser, root, "ran.yaml"):
        browser.wait("document.querySelector('.palette details')")
        page = DiagramPage(browser, root)
        page.press("Ctrl+ENTER")
        page.wait("document.querySelector('.run-state.ended')")
        yield page


@pytest.mark.parametrize("one", KINDS, ids=lambda one: one.name)
def test_5000_keys_in_a_field_are_there_and_do_nothing_else(page, one):
    type_into(page, one, DiagramPage.type)
