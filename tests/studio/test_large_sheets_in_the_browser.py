"""A sheet of 2,000 blocks: little of it is in the page, and all of it can be worked on."""

from __future__ import annotations

import re

import pytest
from browsers import needs_chromium
from diagram_pages import DiagramPage
from studio_pages import in_browser
from studio_sheets import blocks

pytestmark = needs_chromium
NODES = "document.querySelectorAll('.react-flow__node').length"
ALL = "document.querySelectorAll('*').length"
SELECTED = "[...document.querySelectorAll('.react-flow__node.selected')].map((n) => n.dataset.id)"
PAINTED = (
    "(() => { const {width, height} = arguments[0]; return arguments[0].getContext('2d')"
    ".getImageData(0, 0, width, height).data.some((one) => one > 0); })()"
)
VIEW = "return document.querySelector('.react-flow__viewport').style.transform"


@pytest.fixture(scope="module")
def large(browser, tmp_path_factory):
    root = tmp_path_factory.mktemp("project")
    (root / "spart.toml").write_text("")
    rows = [f"  b{k}: {{type: {'GAIN' if k % 20 else 'RAMP'}}}" for k in range(2000)]
    wires = [f"  - b{k - 1} -> b{k}" for k in range(2000) if k % 20]
    (root / "large.yaml").write_text("\n".join(["blocks:", *rows, "wires:", *wires, ""]))
    with in_browser(browser, root, "large.yaml") as studio:
        browser.wait(NODES)
        browser.drawn()
        with studio.page() as other:
            other.ok("open", path="large.yaml")
            sheet = other.ok("sheet", path="large.yaml", at="")
        page = DiagramPage(browser, root)
        page.file = root / "large.yaml"
        yield page, blocks(sheet)


def point(page, block):
    """Where the middle of a block is on the screen."""
    x, y, zoom = map(float, re.findall(r"-?[\d.]+", page.browser.run(VIEW)))
    pane = page.browser.find(".react-flow").rect
    middle = block["x"] + block["width"] / 2, block["y"] + block["height"] / 2
    return pane["x"] + x + zoom * middle[0], pane["y"] + y + zoom * middle[1]


def test_a_large_sheet_is_painted_with_few_elements_and_worked_on_by_mouse_and_keys(large):
    page, served = large
    browser = page.browser
    page.press("f")
    browser.drawn()
    assert browser.run(f"return {NODES}") <= 4
    assert browser.run(f"return {ALL}") < 600
    assert browser.wait(PAINTED, browser.find(".backdrop canvas"))
    x, y = point(page, served["b1010"])
    page.click_at(x, y)
    browser.wait(f"{SELECTED}.join() === 'b1010'")
    page.press("Ctrl+a")
    browser.wait("document.querySelector('.react-flow__node.selected')")
    assert browser.run(f"return {NODES}") <= 6
    page.press("ESCAPE")
    page.press("Ctrl+f")
    page.choose("b1010")
    browser.wait(f"{SELECTED}.join() === 'b1010'")
    browser.wait(f"{NODES} > 20")
    assert browser.run(f"return {ALL}") < 4000
    before = page.box("b1010")
    page.click("b1010")
    page.press("TAB")
    browser.wait(f"{SELECTED}.join() === 'b1011'")
    page.drag(page.node("b1010"), (10, 5), (0, 20))
    page.until(lambda: page.box("b1010")[1] > before[1] + 10, "moved")
    page.press("Ctrl+z")
    page.until(lambda: page.box("b1010")[1] == pytest.approx(before[1], abs=1), "moved back")
    assert browser.complaints() == []
