"""A sheet of 2,000 blocks: little of it is in the page, and all of it can be worked on."""

from __future__ import annotations

import re

import pytest
from browsers import chromium_only, needs_chromium
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


SHOWN = (
    "[...document.querySelectorAll('.backdrop canvas')].find((one) => one.style.display !== 'none')"
)
WHOLE = "document.querySelector('.backdrop[data-whole]')"
ON_CANVAS = """
const [x, y] = arguments, box = document.querySelector('.backdrop').getBoundingClientRect();
return [...document.querySelectorAll('.backdrop canvas')].slice(0, 2).some((canvas) => {
  if (canvas.style.display === 'none') return false;
  const { left, top, width } = canvas.getBoundingClientRect(), scale = canvas.width / width;
  const at = [scale * (x - left), scale * (y - top)];
  return canvas.getContext('2d').getImageData(...at, 1, 1).data[3] > 0;
});
"""


@chromium_only
def test_the_picture_of_a_large_sheet_goes_along_with_the_view(large):
    """While the view moves, the picture is scaled and shifted; elements come when it rests."""
    page, served = large
    browser = page.browser
    page.press("ESCAPE", "f")
    browser.drawn()
    browser.wait(WHOLE)
    browser.run(f"window.canvas = {SHOWN}")

    def mouse(kind, x, y, **more):
        browser.driver.execute_cdp_cmd(
            "Input.dispatchMouseEvent", {"type": kind, "x": x, "y": y, **more}
        )

    x, y = point(page, served["b1010"])
    held = {"button": "middle", "buttons": 4, "clickCount": 1}
    mouse("mousePressed", x, y, **held)
    for k in range(1, 6):
        mouse("mouseMoved", x + 20 * k, y + 10 * k, **held)
        browser.drawn()
        assert browser.run(f"return window.canvas === {SHOWN}")  # nothing was painted anew
        assert browser.run(ON_CANVAS, *point(page, served["b1012"]))
    mouse("mouseReleased", x + 100, y + 50, **held)
    assert point(page, served["b1010"]) == pytest.approx((x + 100, y + 50), abs=1)
    x, y = point(page, served["b1010"])
    for k in range(8):
        mouse("mouseWheel", x, y, deltaX=0, deltaY=-240)
        browser.drawn()
        assert k > 4 or browser.run(ON_CANVAS, *point(page, served["b1012"]))
    browser.wait(f"{NODES} > 20")
    browser.wait(WHOLE)
    assert point(page, served["b1010"]) == pytest.approx((x, y), abs=20)
    page.click_at(*point(page, served["b1010"]))
    browser.wait(f"{SELECTED}.join() === 'b1010'")
    page.press("ESCAPE")
    assert browser.complaints() == []
