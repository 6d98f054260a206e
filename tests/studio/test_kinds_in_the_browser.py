"""Conditional subsystems and subsystems for each entry, made in the page by mouse and keyboard."""

from __future__ import annotations

import pytest
from browsers import needs_chromium
from diagram_pages import DiagramPage
from studio_pages import in_browser

import spart_blocks as sb

pytestmark = needs_chromium

WATCH = """\
blocks:
  rate: {type: CONSTANT, value: 1} # 1/s
  which: {type: IF, conditions: ["u > 0"]}
  wave: {type: WAVEFORM, wave: square, freq: 0.5}
  time: {type: INTEGRATOR}
  scope: {type: SCOPE}
wires:
  - rate -> time
  - wave -> which.u
  - time -> scope
run: {T: 5, log: [time]}
"""
NAMING = "document.activeElement.matches('input.block-name')"
RUNS = "[...document.querySelectorAll('.runs span')].map((one) => one.textContent).join('; ')"
FACE = "document.querySelector(`.react-flow__node[data-id='${arguments[0]}'] .face`)"


@pytest.fixture(scope="module")
def page(browser, tmp_path_factory):
    root = tmp_path_factory.mktemp("project")
    (root / "spart.toml").write_text("")
    (root / "first.yaml").write_text(WATCH)
    with in_browser(browser, root, "first.yaml"):
        browser.wait("document.querySelector('.palette details')")
        yield DiagramPage(browser, root)


def checkbox(page, name):
    label = f"//section[@aria-label='Kind of subsystem']//label[normalize-space(.)='{name}']/input"
    page.until(lambda: page.driver.find_elements("xpath", label), f"a choice {name}")
    return page.driver.find_element("xpath", label)


def labels(page, block):
    ports = f"document.querySelectorAll(`[data-id='{block}'] .port-name.at-left`)"
    return page.browser.run(f"return [...{ports}].map((one) => one.textContent)")


def test_an_enabled_subsystem_is_added_by_keyboard_under_its_name_in_simulink(page):
    page.open("added.yaml", WATCH)
    page.press("Ctrl+k")
    page.choose("enabled subsystem")
    page.wait(NAMING)
    page.type("guard")
    page.press("ENTER")
    page.written("  guard: {type: guard}\n", "    enabled: {by: enable}\n", "inputs: [u, enable]")
    page.selects("guard")
    assert labels(page, "guard") == ["u", "⊓ enable"]
    page.press("Ctrl+z", "Ctrl+z")
    page.until(lambda: page.text == WATCH, "undone")


def test_an_action_subsystem_is_dropped_on_an_if_and_reads_its_action(page):
    page.open("action.yaml", WATCH)
    page.press("f")
    page.browser.drawn()
    page.drag(page.port("which", "else", True), (120, 60))
    page.choose("if action")
    page.wait(NAMING)
    page.press("ENTER")
    page.written("- which.else -> if_action_subsystem.action", "enabled: {by: action}")
    page.press("Ctrl+z")
    page.until(lambda: page.text == WATCH, "undone")


def test_a_group_becomes_enabled_then_triggered_and_plain_again(page):
    page.open("group.yaml", WATCH)
    page.click("time")
    page.press("Ctrl+Shift+g")
    page.wait("document.querySelector('dialog[open] select')")
    page.type("watch")
    page.press("TAB")
    page.type("Enabled")
    page.press_text("Make")
    page.written("    enabled: {by: enable}\n", "- rate -> watch.rate")
    page.wait(FACE, "watch")
    page.selects("watch")
    page.browser.drawn()
    page.press("w")
    page.choose("input enable")
    page.choose("wave.0")
    page.written("watch.enable")
    assert abs(sb.simulate(page.file)["watch/time"][-1] - 3) < 1e-9  # on for 3 of 5 s
    page.press("ENTER")
    page.wait(f"{RUNS} === '⊓ runs while enable is above 0'")
    page.press("Ctrl+Shift+g")
    checkbox(page, "Enabled").click()
    page.until(lambda: "enabled" not in page.text, "plain")
    page.until(lambda: "watch.enable" not in page.text, "without its input")
    checkbox(page, "Resettable").click()
    page.written("reset: {by: reset}")
    edge = page.wait("document.querySelector('dialog[open] select[name=edge]')")
    page.browser.run("arguments[0].focus()", edge)
    page.type("level")
    page.written("reset: {by: reset, edge: level}")
    page.press("ESCAPE")
    page.wait(f"{RUNS} === '↺ states stay at their start while reset is above 0'")
    for _ in range(20):
        if page.text == WATCH:
            break
        before = page.text
        page.press("Ctrl+z")
        page.until(lambda before=before: page.text != before, "undone")
    assert page.text == WATCH


EACH = """\
subsystems:
  servo:
    params: {k: 1}
    inputs: [goal, limit]
    outputs: [y]
    blocks: {g: {type: GAIN, K: $k}, least: {type: MINMAX, function: min}}
    wires: [in.goal -> g, g -> least.u1, in.limit -> least.u2, least -> out.y]
blocks:
  goals: {type: CONSTANT, value: [1, 2, 3]}
  limit: {type: CONSTANT, value: 9}
  joints: {type: servo, k: [2, 4, 8]}
  scope: {type: SCOPE}
wires:
  - goals -> joints.goal
  - limit -> joints.limit
  - joints -> scope
run: {T: 1, log: [joints.y]}
"""


def test_a_block_has_a_copy_for_each_entry_of_what_is_chosen_in_its_form(page):
    page.open("each.yaml", EACH)
    page.click("joints")
    checkbox(page, "For each").click()
    page.written("for_each: {over: [goal, limit]}")
    checkbox(page, "limit").click()
    page.written("for_each: {over: [goal]}")
    checkbox(page, "k").click()
    page.written("for_each: {over: [goal, k]}")
    page.wait(f"{FACE}.textContent === 'for each, 3'", "joints")
    assert sb.simulate(page.file)["joints.y"][-1].tolist() == [2, 8, 9]
    page.click("joints")
    page.press("ENTER")
    page.wait(f"{RUNS} === 'for each entry of goal, k: 3 copies'")


def test_a_condition_is_removed_with_its_port_and_the_page_says_so(page):
    text = EACH.replace("    blocks: {g", "    enabled: {by: limit}\n    blocks: {g")
    page.open("ports.yaml", text, at="joints")
    page.wait(f"{RUNS} === '⊓ runs while limit is above 0'")
    page.click("in")
    page.button("Remove limit with its wires and the condition")
    page.until(lambda: "enabled" not in page.text, "no condition")
    page.wait("document.body.textContent.includes('no longer runs on the condition limit')")
    page.wait(f"{RUNS} === ''")
