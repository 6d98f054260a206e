"""Buses in the page: wired, looked at, chosen from and renamed, by mouse and by keyboard."""

from __future__ import annotations

import pytest
from browsers import needs_chromium
from diagram_pages import DiagramPage
from selenium.webdriver.common.action_chains import ActionChains
from studio_pages import in_browser

import spart_blocks as sb

pytestmark = needs_chromium

START = """\
subsystems:
  law:
    inputs: [state.level, state.arm.angle]
    outputs: [y]
    blocks: {sum: {type: SUM, signs: "++"}}
    wires: [in.state.level -> sum.0, in.state.arm.angle -> sum.1, sum -> out.y]
blocks:
  level: {type: CONSTANT, value: 2} # m
  angle: {type: CONSTANT, value: 3}
  arm: {type: BUS_CREATOR}
  all: {type: BUS_CREATOR}
  law: {type: law}
  pick: {type: BUS_SELECTOR}
  scope: {type: SCOPE}
wires:
  - angle -> arm.angle
  - arm -> all.arm
  - law -> scope
run: {T: 1, log: [law]}
"""
WIRED = START.replace(
    "run:", "  - level -> all.level\n  - all -> law.state\n  - all -> pick\nrun:"
).replace("BUS_SELECTOR}", "BUS_SELECTOR, signals: [level]}")
CARD = "document.querySelector('.wire-card')"
SIGNAL = "//section[@aria-label='Signals of the bus']//input[@aria-label='Name of {}']"
THICK = (
    "getComputedStyle(document.querySelector(`.react-flow__edge[data-id='${arguments[0]}'] .line`))"
    ".strokeWidth"
)


@pytest.fixture(scope="module")
def page(browser, tmp_path_factory):
    root = tmp_path_factory.mktemp("project")
    (root / "spart.toml").write_text("")
    (root / "first.yaml").write_text(START)
    with in_browser(browser, root, "first.yaml"):
        browser.wait("document.querySelector('.palette details')")
        yield DiagramPage(browser, root)


def name_field(page, signal):
    path = SIGNAL.format(signal)
    page.until(lambda: page.driver.find_elements("xpath", path), f"a field for {signal}")
    return page.driver.find_element("xpath", path)


def width(page, wire):
    return float(page.browser.run(f"return {THICK}", wire).removesuffix("px"))


def test_a_bus_is_drawn_by_the_mouse_and_shows_its_tree(page):
    page.open("mouse.yaml", START)
    page.drag(page.port("level", "0", True), page.port("all", "*", False))
    page.written("- level -> all.level\n")
    page.wait("document.querySelector(`[data-id='all'] .port[data-handleid=level]`)")
    page.drag(page.port("all", "*", True), page.port("law", "state", False))
    page.written("- all -> law.state\n")
    page.drag(page.port("all", "*", True), page.port("pick", "*", False))
    page.written("- all -> pick\n")
    page.wait("document.querySelector(`.react-flow__edge[data-id='all -> pick'] .line`)")
    assert width(page, "all -> law.state") > 2 * width(page, "level -> all.level")
    page.browser.drawn()
    wire = page.browser.find(".react-flow__edge[data-id='arm -> all.arm'] .line")
    ActionChains(page.driver).move_to_element(wire).perform()
    page.wait(f"{CARD}?.innerText.includes('a bus of 1 signal')")
    page.click("pick")
    choices = "[...document.querySelectorAll('.names label')].map((one) => one.textContent.trim())"
    page.wait(f"{choices}.join() === 'arm bus,arm.angle,level'")
    page.browser.find(".names li:last-child input").click()
    page.written("pick: {type: BUS_SELECTOR, signals: [level]}")
    page.wait("document.querySelector(`[data-id='pick'] .port[data-handleid=level]`)")


def test_a_signal_is_renamed_by_keyboard_and_its_uses_follow(page):
    page.open("keys.yaml", WIRED)
    page.press("Ctrl+f")
    page.choose("all")
    page.selects("all")
    field = name_field(page, "level")
    field.click()
    page.fill(field, "arm")
    page.press("ENTER")
    wrong = "document.querySelector('.port-list .wrong-text')?.innerText"
    page.wait(f"{wrong}?.includes('all has a signal \\'arm\\' already')")
    assert page.text == WIRED
    page.fill(field, "2 high")
    page.press("ENTER")
    page.wait(f"{wrong}?.includes('2 high')")
    page.fill(field, "height")
    page.press("ENTER")
    page.written(
        "inputs: [state.height, state.arm.angle]",
        "[in.state.height -> sum.0",
        "- level -> all.height",
        "signals: [height]",
    )
    name_field(page, "height")
    assert sb.simulate(page.file)["law"][-1] == 5
    page.fill(name_field(page, "arm"), "limb")
    page.press("ENTER")
    page.written("in.state.limb.angle", "- arm -> all.limb", "state.limb.angle]", "# m\n")
    page.press("ESCAPE", "Ctrl+z", "Ctrl+z")
    page.until(lambda: page.text == WIRED, "undone")


def test_a_bus_is_made_and_chosen_from_by_keyboard(page):
    page.open("built.yaml", START)
    page.press("Ctrl+f")
    page.choose("level")
    page.selects("level")
    page.press("w")
    page.choose("output 0")
    page.choose("all")
    page.written("- level -> all.level\n")
    page.press("Ctrl+f")
    page.choose("pick")
    page.selects("pick")
    page.press("w")
    page.choose("input bus")
    page.choose("all")
    page.written("- all -> pick\n")
    box = page.wait("document.querySelector('.names input')")
    page.browser.run("arguments[0].focus()", box)
    page.press("SPACE")
    page.written("signals: [arm]")
    page.wait("document.querySelector(`[data-id='pick'] .port[data-handleid=arm]`)")
