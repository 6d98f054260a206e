"""Steps and breakpoints in the page, in Chromium."""

from __future__ import annotations

import pytest
from browsers import needs_chromium
from studio_pages import in_browser
from test_running_in_the_browser import click, pressed, state

pytestmark = needs_chromium
HEATER = """\
name: heater
clocks: {c: {T: 0.5}}
blocks:
  wave: {type: WAVEFORM, wave: sine, freq: 0.5}
  modes:
    type: STATE_MACHINE
    states: {resting: {}, heating: {}}
    initial: resting
    transitions:
      - {from: resting, to: heating, when: u > 0.5}
      - {from: heating, to: resting, when: u < -0.5}
  hold: {type: ZOH, clock: c}
  scope: {type: SCOPE}
wires: [wave -> modes, wave -> hold, modes -> scope.0, hold -> scope.1]
run: {T: 4}
"""
STATUS = "document.querySelector('.run-state [role=status]')?.textContent ?? ''"
TIME = "document.querySelector('.time-bar input').valueAsNumber"
CHANGED = "document.querySelector('[aria-label=\"What changed\"]')?.innerText ?? ''"


@pytest.fixture
def heater(tmp_path):
    root = tmp_path / "project"
    root.mkdir()
    (root / "spart.toml").write_text("")
    (root / "heater.yaml").write_text(HEATER)
    return root


def says(browser, *texts):
    for text in texts:
        browser.wait(f"({STATUS}).includes(arguments[0])", text)


def test_a_run_is_stepped_and_broken_by_keyboard_alone(browser, heater, monkeypatch, tmp_path):
    from selenium.webdriver.common.keys import Keys

    monkeypatch.setenv("SPART_CACHE", str(tmp_path / "cache"))
    with in_browser(browser, heater, "heater.yaml"):
        browser.wait("document.querySelector('.react-flow__node')")
        pressed(browser, Keys.F10)  # a run begins, paused
        says(browser, "paused at 0 s, the start")
        pressed(browser, Keys.F10)
        says(browser, "paused at 0.166667 s, an event: modes resting -> heating")
        assert browser.find(".run-bar").size["height"] < 50, "one row"
        pressed(browser, Keys.F8)
        says(browser, "paused at 0.5 s, a tick")
        pressed(browser, Keys.F7)
        says(browser, "paused at 1.5 s")
        pressed(browser, Keys.CONTROL, Keys.F10)  # back in the record
        browser.wait(f"Math.abs({TIME} - 7 / 6) < 1e-6")
        pressed(browser, Keys.F8)  # and forth
        browser.wait(f"{TIME} === 1.5")

        pressed(browser, Keys.F9)
        browser.wait("document.activeElement.ariaLabel === 'Condition'")
        browser.press("modes == 'heating'", Keys.ENTER)
        browser.wait("document.querySelector('.debug code')?.textContent === arguments[0]",
                     "modes == 'heating'")  # fmt: skip
        pressed(browser, Keys.CONTROL, Keys.ENTER)
        says(browser, "paused at 2.16667 s: modes == 'heating' (modes = 2)")
        browser.wait(f"({CHANGED}).includes('resting → heating')")
        browser.press(Keys.TAB, Keys.TAB, Keys.SPACE)  # past Add, to the switch of the breakpoint
        browser.wait("document.querySelector('.debug td input:not(:checked)')")
        pressed(browser, Keys.CONTROL, Keys.ENTER)
        state(browser, "ended")


def test_a_breakpoint_is_set_on_a_wire_and_what_changed_leads_to_blocks(
    browser, heater, monkeypatch, tmp_path
):
    from selenium.webdriver.common.keys import Keys

    monkeypatch.setenv("SPART_CACHE", str(tmp_path / "cache"))
    with in_browser(browser, heater, "heater.yaml"):
        browser.wait("document.querySelector('.react-flow__node')")
        click(browser, "Step to the next event")
        says(browser, "the start")
        click(browser, "Step to the next event")
        says(browser, "an event")
        browser.find("#tab-debug").click()
        browser.wait(f"({CHANGED}).includes('resting → heating')")
        click(browser, "modes")
        browser.wait("document.querySelector('.react-flow__node.selected')?.dataset.id === 'modes'")
        browser.find(".react-flow__node[data-id=modes]").click()
        click(browser, "Breakpoint…")
        browser.wait("document.activeElement.value === 'event(modes)'")
        click(browser, "Add")
        click(browser, "Resume")
        says(browser, "paused at 1.16667 s: event(modes) (modes heating -> resting)")
        browser.wait("document.querySelector('.debug td.values')?.textContent === '1'")
        click(browser, "Remove event(modes)")
        browser.wait("!document.querySelector('.debug code')?.closest('table')")
        click(browser, "Resume")
        state(browser, "ended")

        browser.find(".react-flow__node[data-id=modes]").click()
        pressed(browser, Keys.ENTER)  # its chart
        heating = "document.querySelector(\".react-flow__node[data-id$='.heating']\")"
        browser.wait(heating).click()
        pressed(browser, Keys.F9)
        browser.wait("document.querySelector('.form [aria-pressed=true]')?.innerText"
                     " === 'Pause when entered'")  # fmt: skip
        assert "modes.state == 'heating'" in browser.find(".debug code").text
        pressed(browser, Keys.CONTROL, Keys.ENTER)
        says(browser, "paused at 0.166667 s", "modes.state == 'heating'")
        browser.wait(
            f"({heating}).classList.contains('active') || ({heating}).querySelector('.active')"
        )
        pressed(browser, Keys.F8)
        says(browser, "paused at 0.5 s, a tick")
        pressed(browser, Keys.CONTROL, Keys.ENTER)
        says(browser, "paused at 2.16667 s")  # entered again
        pressed(browser, Keys.CONTROL, Keys.ENTER)
        state(browser, "ended")
