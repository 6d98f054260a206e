"""State machines are looked at and drawn in the studio, by mouse and by keyboard alone."""

from __future__ import annotations

import pytest
from browsers import needs_chromium
from chart_pages import MODES, ChartPage
from diagram_pages import BOX
from studio_pages import in_browser

pytestmark = needs_chromium
WHOLE = (
    "[...document.querySelectorAll('.state')].every((one) => one.getBoundingClientRect().bottom"
    " < document.querySelector('.chart-flow').getBoundingClientRect().bottom)"
)


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
    # a state that is clicked is selected alone
    page.transition(4).click()
    page.wait("document.querySelectorAll('.transition.chosen').length === 1")
    page.name_of("idle").click()
    page.wait("document.querySelectorAll('.transition.chosen').length === 0")
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


def test_a_chart_is_drawn_by_keyboard_alone(page):
    page.open("modes.yaml", MODES)
    page.press("TAB")
    page.browser.run("document.querySelector('.react-flow__node[data-id=modes]').focus()")
    page.press("ENTER")
    page.shows("detumble", "operate", "point", "dump", "safe")
    page.press("ARROW_DOWN", "ARROW_DOWN", "ARROW_RIGHT")
    page.selects("blocks.modes.states.operate.states.point")
    page.press("a")
    page.wait("document.activeElement.matches('input.state-name')")
    page.type("wait")
    page.press("TAB")  # on to its actions
    page.focused("entry")
    page.type("torque = 2*rat")
    page.wrong("there is no 'rat'")
    page.type("e")
    page.press("ENTER")
    page.written("wait: {entry: {torque: 2*rate}}")
    page.press("ESCAPE", "w")  # back to the chart; a transition from the new state
    page.choose("detum")
    page.written("- {from: wait, to: detumble}\n")
    page.focused("when")
    page.type("rate < 0.1")
    page.press("ENTER", "ESCAPE", "ARROW_LEFT")
    page.selects("blocks.modes.states.operate.states.wait")
    page.press("Ctrl+ARROW_UP")  # before `dump`, and then out of `operate`
    page.shows("detumble", "operate", "point", "wait", "dump", "safe")
    page.press("Ctrl+ARROW_LEFT")
    page.shows("detumble", "operate", "point", "dump", "wait", "safe")
    page.written("      wait: {entry: {torque: 2*rate}}\n      safe: {}\n")
    page.press("i")
    page.written("    initial: wait\n")
    page.press("s")
    page.wait("document.activeElement.matches('input.state-name')")
    page.press("ENTER")  # a substate, with the name that it has
    page.until(lambda: "state1" in page.states(), "a substate")
    page.selects("blocks.modes.states.wait.states.state1")
    page.press("F2")
    page.wait("document.activeElement.matches('input.state-name')")
    page.type("long")
    page.press("ENTER")
    page.written("states: {long: {}}")
    page.selects("blocks.modes.states.wait.states.long")
    page.press("h")
    page.written("history: true")
    page.wait("document.querySelector('.marker.history')")
    page.press("DELETE")
    page.until(lambda: "long:" not in page.text and "history" not in page.text, "without it")
    # its transitions: the next one, its place among others
    page.press("ARROW_UP")
    page.browser.run("document.activeElement.blur()")
    page.press("ARROW_DOWN", "ARROW_UP")
    page.press("BACKSPACE")
    page.has("modes", "rate", "scope")
    page.selects("modes")
    page.press("Ctrl+f")  # a state is found from anywhere
    page.choose("dump")
    page.selects("blocks.modes.states.operate.states.dump")
    page.press("ESCAPE")
    page.browser.find(".form-panel summary").click()
    page.browser.find("[aria-label='New name of rate']").click()
    page.press("Ctrl+a")
    page.type("speed")
    page.press("ENTER")
    page.written("arguments: [speed]", "torque: 2*speed", "rate -> modes.speed")
    page.press("BACKSPACE")
    page.has("modes", "rate", "scope")
    page.press("?")
    page.wait("document.querySelector('dialog.help')")
    page.press("ESCAPE")


def test_active_states_light_up_at_the_time_that_is_shown(page):
    page.open("modes.yaml", MODES)
    page.browser.run("location.hash = 'modes.yaml::modes'")
    page.shows("detumble", "operate", "point", "dump", "safe")
    page.press("Ctrl+ENTER")
    page.wait("document.querySelector('.run-bar')?.textContent.includes('6')")
    page.until(lambda: page.active() == ["detumble"], "the first state")
    page.until(lambda: page.active() == ["operate", "point"], "the second state")
    page.wait("document.querySelector('.transition.taken')")
    assert "from detumble to operate" in page.browser.find(".transition.taken").get_attribute(
        "aria-label"
    )
    page.wait(WHOLE)  # in the room that the scopes below have left
    page.press("Ctrl+.")
    page.browser.run(
        "arguments[0].focus()", page.browser.find("input[type=range][aria-label=Time]")
    )
    page.press("HOME")
    page.until(lambda: page.active() == ["detumble"], "the state at the start")


def test_a_chart_is_fitted_again_when_a_pane_opens_beside_it(page):
    page.open("beside.yaml", MODES, at="modes")
    page.press("f")
    page.browser.drawn()

    def right():
        return sum(page.browser.run(BOX % "document.querySelector('.chart-flow')")[::2])

    before = right()
    page.press("Ctrl+e")
    page.wait("document.querySelector('.code-pane .cm-content')")
    page.until(lambda: right() < before, "a narrower chart")
    page.until(lambda: sum(page.browser.run(BOX % "arguments[0]", page.state("operate"))[::2])
               <= right(), "all of it in view")  # fmt: skip


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
