"""The page by touch alone: the sheet, its menu, wires, the list of blocks, borders and sliders."""

from __future__ import annotations

import pytest
from browsers import needs_chromium
from diagram_pages import LOOP, DiagramPage
from studio_pages import in_browser

pytestmark = needs_chromium

TEXT = LOOP.replace("wires:", "  spare: {type: GAIN, K: 3}\nwires:")
VIEW = "return getComputedStyle(document.querySelector('.react-flow__viewport')).transform"


class Fingers:
    """Fingers on a page."""

    def __init__(self, page):
        self.page, self.touch = page, page.browser.touch

    def tap(self, at):
        self.touch("start", at)
        self.touch("end")

    def hold(self, at, until):
        """Touch a place until something holds, and let go."""
        self.touch("start", at)
        self.page.wait(until)
        self.touch("end")

    def drag(self, *paths, steps=3):
        """Move fingers along lines at once, each from its start to its end."""
        for step in range(steps + 1):
            part = step / steps
            places = [
                (x + part * (to_x - x), y + part * (to_y - y)) for (x, y), (to_x, to_y) in paths
            ]
            self.touch("start" if step == 0 else "move", *places)
            if step > 1:  # what rests at its start is a long press
                self.page.browser.drawn()
        self.touch("end")

    def of(self, element, x=0.5, y=0.5):
        """A place in an element."""
        box = self.page.browser.run(
            "const r = arguments[0].getBoundingClientRect(); return [r.x, r.y, r.width, r.height]",
            element,
        )
        return box[0] + x * box[2], box[1] + y * box[3]


@pytest.fixture
def page(browser, tmp_path):
    (tmp_path / "spart.toml").write_text("")
    (tmp_path / "loop.yaml").write_text(TEXT)
    with browser.touched(), in_browser(browser, tmp_path, "loop.yaml"):
        browser.wait("document.querySelector('.palette details')")
        yield DiagramPage(browser, tmp_path).open("loop.yaml")


def view_of(page):
    """The zoom of the sheet, and where its origin is."""
    a, *_, x, y = page.browser.run(VIEW).removeprefix("matrix(").rstrip(")").split(", ")
    return float(a), float(x), float(y)


def test_the_page_is_used_by_touch(page):
    fingers = Fingers(page)
    pane = page.browser.find(".react-flow__pane")
    corner = fingers.of(pane, 0.85, 0.9)

    zoom, x, y = view_of(page)
    fingers.drag((corner, (corner[0] - 60, corner[1] - 40)))
    panned = pytest.approx((zoom, x - 60, y - 40), abs=6)
    page.until(lambda: view_of(page) == panned, "panned by one finger")
    assert page.selected() == set()
    fingers.drag((corner, (corner[0] + 60, corner[1] + 40)))

    middle = fingers.of(pane, 0.5, 0.8)
    left, right = (middle[0] - 100, middle[1]), (middle[0] + 100, middle[1])
    fingers.drag((left, (left[0] + 50, left[1])), (right, (right[0] - 50, right[1])))
    page.until(lambda: 0.3 * zoom < view_of(page)[0] < 0.8 * zoom, "zoomed by two fingers")
    assert page.selected() == set()
    page.press("f")
    whole = pytest.approx((zoom, x, y), abs=2)
    page.until(lambda: view_of(page) == whole, "the whole seen again")

    fingers.tap(fingers.of(page.node("gain")))
    page.selects("gain")
    fingers.tap(corner)
    page.selects()

    before = page.box("spare")
    at = fingers.of(page.node("spare"))
    fingers.drag((at, (at[0] + 30, at[1] + 50)))
    page.until(lambda: page.box("spare")[1] > before[1] + 15, "moved")
    assert page.text == TEXT

    start = fingers.of(page.port("goal", "0", True))
    fingers.drag((start, fingers.of(page.port("spare", "0", False))))
    page.written("goal -> spare")

    fingers.hold(fingers.of(page.node("x")), "document.querySelector('dialog.menu')")
    flip = "[...document.querySelectorAll('dialog.menu [role=menuitem]')].find("
    flip += "(one) => one.textContent.startsWith('flip'))"
    fingers.tap(fingers.of(page.wait(flip)))
    page.written("x: {facing: left}")
    page.wait("!document.querySelector('dialog.menu')")


def test_blocks_are_added_and_panels_are_used_by_touch(page):
    page.open("run.yaml", LOOP.replace("T: 1}", "T: 30}"))
    text, fingers = page.text, Fingers(page)
    subject = "[...document.querySelectorAll('.palette summary')].find("
    subject += "(one) => one.textContent === 'Sinks')"
    fingers.tap(fingers.of(page.wait(subject)))
    scope = "[...document.querySelectorAll('.palette li button')].find("
    scope += "(one) => one.textContent === 'SCOPE')"
    fingers.tap(fingers.of(page.wait(scope)))
    page.until(lambda: page.text.count("type: SCOPE") == 2, "added")

    fingers.tap(fingers.of(page.browser.find(".react-flow__pane"), 0.9, 0.9))
    fingers.tap(fingers.of(page.browser.find("button[aria-label^='Undo']")))
    page.until(lambda: page.text == text, "undone")

    for name, to in (("list of blocks", (60, 0)), ("parameters", (-50, 0))):
        edge = page.browser.find(f"[role=separator][aria-label='Width of the {name}']")
        width = int(edge.get_attribute("aria-valuenow"))
        at = fingers.of(edge)
        fingers.drag((at, (at[0] + to[0], at[1])))
        now = f"arguments[0].ariaValueNow - {width}"
        page.wait(f"Math.abs({now} - {abs(to[0])}) < 8", edge)

    fingers.tap(fingers.of(page.browser.find("[aria-label=Run] .run-button")))
    page.wait("document.querySelector('.run-bar progress')")
    tab = fingers.of(page.browser.find("#tab-tune"))
    fingers.drag((tab, fingers.of(page.browser.find(".sheet"), 0.95, 0.5)))
    page.wait("document.querySelector('.right-panel #tab-tune')")
    slider = page.wait("document.querySelector(`[aria-label='k, slider']`)")
    middle = fingers.of(slider)
    fingers.drag((middle, (middle[0] + 40, middle[1])))
    page.wait("document.querySelector('.tune tr.changed')")
    edge = page.wait("document.querySelector('[aria-label=\"Width of the panels at the right\"]')")
    width, at = int(edge.get_attribute("aria-valuenow")), fingers.of(edge)
    fingers.drag((at, (at[0] - 50, at[1])))
    page.wait(f"arguments[0].ariaValueNow > {width + 40}", edge)
