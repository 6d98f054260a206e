"""What the page shows of runs and how it is asked for: one page, several small diagrams."""

from __future__ import annotations

import pytest
from browsers import needs_chromium
from diagram_pages import DiagramPage
from studio_pages import in_browser

pytestmark = needs_chromium
LAG = """\
name: lag
params: {k: 2, own: 1}
blocks:
  step: {type: STEP, T: 0.5}
  gain: {type: GAIN, K: $own}
  more: {type: GAIN, K: $k}
  lag: {type: LTI_SISO, N: [1], D: [1, 1]}
  scope: {type: SCOPE}
wires:
  - step -> gain
  - gain -> more
  - more -> lag
  - lag -> scope
run: {T: 3, max_step: 0.01}
"""
FAILS = """\
name: fails
blocks:
  t: {type: TIME}
  f: {type: FCN, expression: 1 / sqrt(1 - u)}
  i: {type: INTEGRATOR}
  scope: {type: SCOPE}
wires: [t -> f, f -> i, i -> scope]
run: {T: 3}
"""
TIME = "document.querySelector('.time-bar [type=range]').valueAsNumber"
SAID = "document.querySelector('.run-state [role=status]')?.textContent"


class RunPage(DiagramPage):
    """A page in which diagrams are run."""

    def run(self, speed="as fast as it goes", until=("ended", "failed")):
        """Run the open file, until the run is in one of these states."""
        self.choose_in(".run-bar > .run-speed select", speed)
        self.press("Ctrl+ENTER")
        names = ", ".join(f".run-state.{one}" for one in until)
        self.wait(f"document.querySelector('{names}')")
        return self

    def choose_in(self, selector, text):
        from selenium.webdriver.support.ui import Select

        Select(self.browser.find(selector)).select_by_visible_text(text)

    def press_text(self, text):
        """Press the button with a text."""
        found = "[...document.querySelectorAll('button:enabled')]"
        self.wait(f"{found}.find((one) => one.textContent.trim() === arguments[0])", text).click()

    def tab(self, name):
        self.browser.find(f"#tab-{name}").click()

    def said_of_run(self, *parts):
        for part in parts:
            self.wait(f"{SAID}?.includes(arguments[0])", part)


@pytest.fixture(scope="module")
def page(browser, tmp_path_factory):
    root = tmp_path_factory.mktemp("project")
    (root / "spart.toml").write_text("")
    (root / "lag.yaml").write_text(LAG)
    (root / "fails.yaml").write_text(FAILS)
    with in_browser(browser, root):
        browser.wait("document.querySelector('.card')")
        yield RunPage(browser, root)
        assert browser.complaints() == []


def test_a_time_is_gone_to_by_its_number_and_by_keys(page):
    page.open("lag.yaml").run()
    field = page.browser.find(".time-now input")
    field.click()
    page.type("1.23456")
    page.press("ENTER")
    page.wait(f"{TIME} === 1.23456")
    assert field.get_attribute("value") == "1.23456"
    page.type("7,5")  # what was typed is selected; this is beyond the end
    page.press("ENTER")
    page.wait(f"{TIME} === 3")
    assert field.get_attribute("value") == "3"
    page.browser.find(".time-bar [type=range]").send_keys("\ue011", ".", ".", ".", ",")  # Home
    page.wait(f"Math.abs({TIME} - 0.06) < 1e-9")
    page.browser.find("#tab-scopes").send_keys(".")
    page.wait(f"Math.abs({TIME} - 0.09) < 1e-9")


def test_what_a_file_gives_to_blocks_is_one_entry_to_tune(page):
    page.open("lag.yaml").run()
    page.tab("tune")
    rows = "[...document.querySelectorAll('.tune th')].map((one) => one.textContent)"
    page.wait(f"{rows}.length")
    shown = page.browser.run(f"return {rows}")
    assert shown[:2] == ["k, used by more.K", "own, used by gain.K"]
    assert not {"gain.K", "more.K"} & set(shown)
    page.browser.find(".tune [type=search]").send_keys("gain")
    page.wait(f"{rows}.join() === 'own, used by gain.K'")
    page.browser.find(".tune [type=search]").clear()


def test_a_stopped_run_says_where_and_a_failed_one_why(page):
    page.open("lag.yaml").run("0.1 × real time", until=["running"])
    page.wait(f"{TIME} > 0")
    page.press("Ctrl+.")
    page.said_of_run("stopped at 0.")
    page.open("fails.yaml").run()
    page.said_of_run("failed at 1 s")
    assert "block f" in page.browser.find(".run-more").text
    page.press_text("Show f")
    page.selects("f")
