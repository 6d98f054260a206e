"""State machines are looked at and drawn in the studio, by mouse and by keyboard alone."""

from __future__ import annotations

import pytest
from browsers import needs_chromium
from chart_pages import MODES, ChartPage
from studio_pages import in_browser

pytestmark = needs_chromium


@pytest.fixture
def page(browser, tmp_path):
    (tmp_path / "spart.toml").write_text("")
    with in_browser(browser, tmp_path):
        yield ChartPage(browser, tmp_path)


def test_a_chart_is_drawn_by_mouse(page):
    page.open("modes.yaml", MODES)
    page.double_click(page.node("modes"))
    page.shows("detumble", "operate", "point", "dump", "safe")
    assert page.crumbs() == ["modes.yaml", "modes"]
    assert len(page.transitions()) == 4
    # a state on the sheet, named in place
    page.at_empty(0.93, 0.5).double_click().perform()
    page.wait("document.activeElement.matches('input.state-name')")
    page.type("idle")
    page.press("ENTER")
    page.written("      idle: {}\n")
    # a substate, in the state that is double clicked
    page.double_click(page.state("safe"))
    page.wait("document.activeElement.matches('input.state-name')")
    page.press("ENTER")
    page.written("safe: {states: {state1: {}}}")
    page.button("See the whole")
    # a transition from state to state, its condition with a mistake at first
    page.drag(page.outlet("idle"), page.name_of("detumble"))
    page.written("- {from: idle, to: detumble}\n")
    page.focused("when")
    page.type("rat > 0.5")
    page.wrong("there is no 'rat'")
    page.press("Ctrl+a")
    page.type("rate > 0.5")
    page.press("ENTER")
    page.written("- {from: idle, to: detumble, when: rate > 0.5}")
    # another target, by the mark at its arrow
    page.drag(page.grip(4, 1), page.name_of("operate"))
    page.written("- {from: idle, to: operate, when: rate > 0.5}")
    # into another state, and out of it
    page.drag(page.name_of("idle"), page.name_of("operate.point"))
    page.written("          point: {states: {idle: {}}} # as long as it holds\n")
    # where the others begin
    dot = page.state("detumble").find_element("css selector", ".marker")
    page.drag(dot, page.name_of("safe"))
    page.written("    initial: safe\n")
    # another name, with its uses
    page.double_click(page.name_of("operate.dump"))
    page.type("unload")
    page.press("ENTER")
    page.written("active(unload)", "{from: unload, to: point", "          unload: {entry")
    # a transition is removed, and it all comes back
    page.transition(0).click()
    page.button("Remove the transition")
    page.until(lambda: "from: detumble" not in page.text, "without the transition")
    for _ in range(10):
        page.button("Undo")
    page.until(lambda: page.text == MODES, "as it was")
    page.shows("detumble", "operate", "point", "dump", "safe")


def test_mistakes_are_shown_at_states_and_transitions(page):
    text = MODES.replace("to: dump, after", "to: dmp, after").replace("torque: 0.5", "torq: 0.5")
    page.open("modes.yaml", text, "modes")
    page.wait("document.querySelector('.state.wrong')")
    page.press_text("point → dmp after 2 s")  # without its state: below the others
    page.wrong("there is no state 'dmp'")
    page.browser.find(".problems-head").click()
    rows = "[...document.querySelectorAll('button.problem')]"
    page.wait(f"{rows}.find((row) => row.textContent.includes('torq'))").click()
    page.selects("blocks.modes.states.operate.states.dump")
    page.wrong("there is no variable 'torq'")
    page.fill("entry", "torque = 0.5")
    page.written("dump: {entry: {torque: 0.5}}")
