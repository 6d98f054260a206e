"""Long texts in every kind of field in Chromium: focus, caret, blocks and file stay."""

from __future__ import annotations

import shutil

from browsers import needs_chromium
from diagram_pages import DiagramPage
from studio_pages import in_browser
from typed_fields import FILE, KINDS, type_into

pytestmark = needs_chromium


def test_5000_characters_pasted_into_every_kind_of_field_are_there_and_do_nothing_else(
    browser, tmp_path
):
    (tmp_path / "spart.toml").write_text("")
    shutil.copy("models/arm7.urdf", tmp_path / "arm.urdf")
    for one in KINDS:
        (tmp_path / one.file).write_text(FILE)
    failed = {}
    with in_browser(browser, tmp_path, "ran.yaml"):
        browser.wait("document.querySelector('.palette details')")
        page = DiagramPage(browser, tmp_path)
        page.press("Ctrl+ENTER")
        page.wait("document.querySelector('.run-state.ended')")
        for one in KINDS:
            try:
                type_into(page, one, DiagramPage.paste)
            except Exception as problem:
                failed[one.name] = str(problem).split(chr(10))[0]
                browser.driver.refresh()
                browser.wait("document.querySelector('.palette details, .card')")
        assert not failed, "\n".join(f"{name}: {why}" for name, why in failed.items())
