"""A loop of `spart realtime` in the page, in Chromium: found, watched, tuned, and gone."""

from __future__ import annotations

import signal
import subprocess
import sys

import pytest
from browsers import needs_chromium
from diagram_pages import DiagramPage
from studio_pages import in_browser

pytestmark = needs_chromium
RAMP = """\
name: ramp
blocks:
  one: {type: CONSTANT, value: 1.0}
  slope: {type: GAIN, K: 3.0}
  int: {type: INTEGRATOR, x0: 0.25}
  scope: {type: SCOPE}
wires: [one -> slope, slope -> int, int -> scope]
realtime: {policy: catch-up} # every step is done, however slow the machine
"""
VALUE = (
    "Number(document.querySelector(\"output[data-line='int']\")"
    "?.textContent.replace('−', '-') || NaN)"
)
SAID = "document.querySelector('.run-state [role=status]')?.textContent"


@pytest.fixture
def loop(tmp_path, loop_folder):
    """The process of a loop that goes on until it is interrupted."""
    (tmp_path / "spart.toml").write_text("")
    (tmp_path / "ramp.yaml").write_text(RAMP)
    words = ["realtime", str(tmp_path / "ramp.yaml"), "--rate", "200"]
    process = subprocess.Popen(
        [sys.executable, "-m", "spart_blocks", *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )
    try:
        yield process, loop_folder
    finally:
        process.kill()
        process.communicate()


def test_a_loop_is_watched_tuned_and_told_when_it_ends(browser, loop, tmp_path):
    process, places = loop
    with in_browser(browser, tmp_path):
        page = DiagramPage(browser, tmp_path).open("ramp.yaml")
        browser.find("#tab-loops").click()
        page.until(lambda: places.exists() and list(places.iterdir()), "a loop is there", 100)

        def listed():
            page.press_text("Look again")
            browser.drawn()
            return "ramp" in browser.find(".panel-page table").text

        page.until(listed, "the loop is listed")
        page.press_text("Watch")
        page.wait(f"{SAID} === 'Watching the loop ramp'")
        browser.find("#tab-scopes").click()
        page.wait(f"{VALUE} > 0.25")
        before = browser.run(f"return {VALUE}")
        page.wait(f"{VALUE} > arguments[0]", before)  # rows come

        browser.find("#tab-tune").click()
        page.wait("document.querySelector('[aria-label=\"slope.K\"]')")
        field = browser.find('[aria-label="slope.K"]')
        field.send_keys(page.CTRL_A)
        field.send_keys("-3e4")
        page.press("ENTER")
        page.wait("document.querySelector('tr.changed')?.textContent.includes('slope.K')")
        browser.find("#tab-scopes").click()
        page.wait(f"{VALUE} < -100")

        process.send_signal(signal.SIGINT)
        page.wait(f"{SAID} === 'The loop ramp has ended: it was interrupted'")
        page.press_text("Back to the diagram")
        page.wait("document.querySelector('.run-button')")
        browser.find("#tab-loops").click()
        page.wait("document.body.innerText.includes('None runs')")
        assert browser.complaints() == []
