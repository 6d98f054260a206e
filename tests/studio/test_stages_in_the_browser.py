"""What a run waits for is said in the page, and can be stopped, in Chromium."""

from __future__ import annotations

import time

import pytest
from browsers import needs_chromium
from diagram_pages import LOOP
from selenium.webdriver.common.keys import Keys
from studio_pages import in_browser
from test_running_in_the_browser import pressed, state

from spart_blocks.studio.runs import registry

pytestmark = needs_chromium
SAID = "document.querySelector('.run-state [role=status]')?.textContent"


def prepare(order, say):
    """An order of the ready process that lasts until it is ended."""
    say({"tell": "doing", "doing": "tracing the diagram"})
    time.sleep(1000)


@pytest.fixture
def loops(tmp_path):
    root = tmp_path / "project"
    root.mkdir()
    (root / "spart.toml").write_text("")
    (root / "loop.yaml").write_text(LOOP)
    return root


def test_a_run_says_what_it_waits_for_and_is_stopped_meanwhile(browser, loops, monkeypatch):
    order = {"module": __name__, "file": {}}
    monkeypatch.setattr(registry, "order_of", lambda *_: order)
    with in_browser(browser, loops, "loop.yaml", quiet=0.1) as studio:
        browser.wait("document.querySelector('.react-flow__node')")
        spare = registry.runs_of(studio.session).spare
        end = time.monotonic() + 60
        while spare.standby.doing is None:  # nothing in the page tells of it
            assert time.monotonic() < end
            time.sleep(0.05)
        pressed(browser, Keys.CONTROL, Keys.ENTER)
        browser.wait(f"{SAID} === 'tracing the diagram'")
        browser.wait("document.querySelector('.run-state .run-time')?.innerText.includes('so far')")
        pressed(browser, Keys.CONTROL, ".")
        browser.wait(f"{SAID} === 'stopped before it began'")
        monkeypatch.setattr(registry, "order_of", lambda *_: None)
        pressed(browser, Keys.CONTROL, Keys.ENTER)
        state(browser, "running", "ended")
