"""What the page shows of runs and how it is asked for: one page, several small diagrams."""

from __future__ import annotations

import shutil
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import numpy as np
import pytest
from browsers import needs_chromium
from diagram_pages import DiagramPage
from selenium.webdriver.common.keys import Keys
from studio_pages import in_browser

import spart_blocks as sb

pytestmark = needs_chromium
ROOT = Path(__file__).parents[2]
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
MANY = """\
name: many
blocks:
  rates: {type: CONSTANT, value: [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16]}
  x: {type: INTEGRATOR, x0: [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]}
  scope: {type: SCOPE}
wires: [rates -> x, x -> scope]
run: {T: 2}
"""
LEGEND = "document.querySelector('.scope output[data-line]')?.textContent"
TIME = "document.querySelector('.time-bar [type=range]').valueAsNumber"
SAID = "document.querySelector('.run-state [role=status]')?.textContent"


class RunPage(DiagramPage):
    """A page in which diagrams are run."""

    def run(self, speed="as fast as it goes", until=("ended", "failed")):
        """Run the open file for the first time, until the run is in one of these states."""
        self.choose_in(".run-bar > .run-speed select", speed)
        self.press("Ctrl+ENTER")
        names = ", ".join(f".run-state.{one}" for one in until)
        self.wait(f"document.querySelector('{names}')")
        return self

    def choose_in(self, selector, text):
        from selenium.webdriver.support.ui import Select

        Select(self.browser.find(selector)).select_by_visible_text(text)

    def press_link(self, text):
        links = "[...document.querySelectorAll('a.download')]"
        self.wait(f"{links}.find((one) => one.textContent === arguments[0])", text).click()

    def saved(self, name):
        """A file that the page has saved, once it is whole."""
        folder = self.root / "saved"
        self.until(lambda: list(folder.glob(name)), f"{name} is saved")
        return next(folder.glob(name))

    def tab(self, name):
        self.browser.find(f"#tab-{name}").click()

    def said_of_run(self, *parts):
        for part in parts:
            self.wait(f"{SAID}?.includes(arguments[0])", part)


@pytest.fixture(scope="module")
def page(browser, tmp_path_factory):
    root = tmp_path_factory.mktemp("project")
    (root / "spart.toml").write_text("")
    shutil.copy(ROOT / "diagrams/spacecraft_pd.yaml", root / "sc.yaml")
    text = (root / "sc.yaml").read_text()
    (root / "sc.yaml").write_text(text.replace("../models", "models"))
    shutil.copytree(ROOT / "models", root / "models")
    browser.download_to(root / "saved")
    with in_browser(browser, root):
        browser.wait("document.querySelector('.card')")
        yield RunPage(browser, root)
        assert browser.complaints() == []


def test_a_time_is_gone_to_by_its_number_and_by_keys(page):
    page.open("lag1.yaml", LAG).run()
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
    page.open("lag2.yaml", LAG).run()
    page.tab("tune")
    rows = "[...document.querySelectorAll('.tune th')].map((one) => one.textContent)"
    page.wait(f"{rows}.length")
    shown = page.browser.run(f"return {rows}")
    assert shown[:2] == ["k, used by more.K", "own, used by gain.K"]
    assert not {"gain.K", "more.K"} & set(shown)
    page.browser.find(".tune [type=search]").send_keys("gain")
    page.wait(f"{rows}.join() === 'own, used by gain.K'")
    page.browser.find(".tune [type=search]").clear()


def test_tuned_values_go_on_to_the_next_run_and_are_told_until_they_are_reset_or_kept(page):
    page.open("lag3.yaml", LAG).run()
    page.tab("tune")
    page.wait("document.querySelector('[aria-label=own]')")

    def tune(text):
        field = page.browser.find(".tune [aria-label=own]")
        page.fill(field, text, Keys.ENTER)

    tune("7")
    badge = "document.querySelector('.run-tuned')"
    page.wait(f"{badge}?.textContent === '1 tuned'")
    assert "own = 7 (1 in the file)" in page.browser.run(f"return {badge}.title")
    page.wait("document.querySelector('.tune').textContent.includes('holds from the next one on')")
    page.press("Ctrl+ENTER")
    page.tab("runs")
    page.wait("document.querySelectorAll('.runs tbody tr').length === 2")
    page.wait("document.querySelector('.run-state.ended')")
    page.tab("tune")
    value = "document.querySelector('.tune [aria-label=own]')?.value"
    page.wait(f"{value} === '7' && {badge}?.textContent === '1 tuned'")
    page.press_text("Reset all")
    page.wait(f"!{badge} && {value} === '1'")
    tune("3")
    page.wait(badge)
    page.tab("scopes")
    page.browser.find(".run-tuned").click()  # leads back to where it is kept
    page.press_text("Keep in the file")
    page.written("own: 3")
    page.wait(f"!{badge}")


def test_a_stopped_run_says_where_and_a_failed_one_why(page):
    page.open("lag3.yaml", LAG).run("0.1 × real time", until=["running"])
    page.wait(f"{TIME} > 0")
    page.press("Ctrl+.")
    page.said_of_run("stopped at 0.")
    page.open("fails4.yaml", FAILS).run()
    page.said_of_run("failed at 1 s")
    assert "block f" in page.browser.find(".run-more").text
    page.press_text("Show f")
    page.selects("f")


PID = """\
name: pid
variants:
  law:
    default: pid
    choices:
      pid: {type: PID, P: 2, I: 1}
      gain: {type: GAIN, K: 3}
blocks:
  step: {type: STEP, T: 0.5}
  lag: {type: LTI_SISO, N: [1], D: [1, 1]}
  scope: {type: SCOPE}
wires: [step -> law.1, lag -> law.0, law -> lag, lag -> scope]
run: {T: 3}
"""


def test_a_wrapper_is_written_and_gains_of_a_pid_are_tuned_and_kept(page):
    page.open("pid.yaml", PID)
    page.browser.find(".problems-head").click()
    page.press_text("Write the wrapper")
    page.written("gain: {type: gain_law}", "in.u0 -> block.0")
    page.wait("!document.querySelector('.problems-head')")
    page.run("0.1 × real time", until=["running"])
    page.tab("tune")
    rows = "[...document.querySelectorAll('.tune th')].map((one) => one.textContent)"
    page.wait(f"{rows}.includes('law.P')")
    field = page.browser.find("[aria-label='law.P']")
    page.fill(field, "5", Keys.ENTER)
    page.press_text("Keep in the file")
    page.written("pid: {type: PID, P: 5, I: 1}")


def test_a_legend_names_the_joints(page):
    text = (page.root / "sc.yaml").read_text()
    page.open("joints.yaml", text.replace("labels: [q1, q2, q3], ", "")).run()
    page.tab("scopes")
    page.wait("document.querySelector('.legend')?.textContent.includes('Joint_1')")


def test_every_line_of_a_legend_can_be_reached_in_a_low_panel(page):
    size = page.driver.get_window_size()
    page.open("many5.yaml", MANY).run()
    page.tab("scopes")
    page.wait("document.querySelectorAll('.legend button').length === 16")
    page.driver.set_window_size(900, 560)
    last = page.driver.find_elements("css selector", ".legend button")[-1]
    page.driver.execute_script("arguments[0].scrollIntoView({block: 'nearest'})", last)
    last.click()  # refused where anything is over it
    page.wait("document.querySelectorAll('.legend [aria-pressed=false]').length === 1")
    page.driver.set_window_size(size["width"], size["height"])


def test_differences_are_measured_from_one_time_to_another(page):
    page.open("many6.yaml", MANY).run()
    page.tab("scopes")
    page.browser.find(".time-bar [type=range]").send_keys("\ue011", ".")
    page.press_text("Measure from here")
    page.browser.find(".time-bar [type=range]").send_keys(*"." * 10)
    page.wait("document.querySelector('.looking output').textContent === 'Δt 0.200 s'")
    page.wait(f"{LEGEND} === '0.220 Δ 0.200'")
    page.browser.find(".scope-plot").send_keys("m")
    page.wait(f"{LEGEND} === '0.220'")


def test_the_picture_of_a_scope_is_saved(page):
    page.open("lag7.yaml", LAG).run()
    page.tab("scopes")
    page.wait(f"{LEGEND} > ''")
    page.press_text("SVG")
    svg = ElementTree.parse(page.saved("scope.svg")).getroot()
    texts = "".join(svg.itertext())
    assert "lag" in texts
    assert "t [s]" in texts
    (line,) = [p for p in svg.iter() if p.get("stroke-width") == "1.5" and p.get("d", "")[0] == "M"
               and len(p.get("d")) > 200]  # fmt: skip
    ends = [float(number) for number in line.get("d").split("L")[-1].split()]
    assert ends[0] == pytest.approx(720 - 14, abs=1)  # it ends where the run does
    page.press_text("PNG")
    head = page.saved("scope.png").read_bytes()[:24]
    assert head[:8] == b"\x89PNG\r\n\x1a\n"
    width, height = (int.from_bytes(head[k : k + 4], "big") for k in (16, 20))
    assert width > 300
    assert height > 150


def test_results_and_the_recording_are_downloaded(page):
    page.open("sc.yaml").run()
    page.tab("runs")
    want = sb.simulate(page.root / "sc.yaml")
    for kind in ("npz", "csv", "HTML"):
        page.press_link(kind)
    whole = sb.Results.load(page.saved("sc-run*.npz"))
    assert np.array_equal(whole["plant.qm"], want["plant.qm"])
    table = page.saved("sc-run*.csv").read_text().splitlines()
    assert len(table) > 20
    assert table[0].startswith("t,")
    own = page.driver.current_window_handle
    page.driver.switch_to.new_window("tab")
    page.browser.open(page.saved("sc-run*.html"))
    assert "Link_3" in page.browser.run("return spart.poses()")
    page.driver.close()
    page.driver.switch_to.window(own)


def test_a_push_by_numbers_moves_the_robot_and_a_run_is_continued_with_changes(page):
    text = (page.root / "sc.yaml").read_text().replace("T: 20", "T: 4")
    page.open("pushed.yaml", text).run()
    page.tab("motion")
    page.wait("window.spart && 'Link_3' in spart.poses()")
    side = "spart.poses().Spacecraft[1]"
    page.wait(f"{TIME} === 4 && Math.abs({side}) < 0.1")  # the arm alone moves it
    alone = page.browser.run(f"return {side}")

    page.choose_in(".run-bar > .run-speed select", "0.1 × real time")
    page.press("Ctrl+ENTER")
    page.said_of_run("running")
    page.press("Ctrl+ENTER")
    page.said_of_run("paused")
    page.browser.find(".push-form summary").click()
    page.choose_in(".push-form select", "Spacecraft")
    force = page.browser.find("[aria-label='Force along y in newtons']")
    force.send_keys(page.CTRL_A)
    force.send_keys("50")
    page.press_text("Push")
    page.wait("document.querySelector('.push-form [type=submit]').textContent === 'Let go'")
    page.choose_in(".run-bar > .run-speed select", "as fast as it goes")
    page.press_text("Resume")
    page.said_of_run("ended")
    page.wait(f"{TIME} === 4 && {side} > arguments[0] + 0.1", alone)

    page.tab("runs")
    page.wait("document.querySelectorAll('.runs tbody tr').length === 2")
    page.browser.find(".runs input[type=checkbox]:enabled").click()
    page.tab("scopes")
    page.wait("document.querySelector('.legend-run')?.textContent.includes('run ')")

    field = page.browser.find(".time-now input")
    field.click()
    page.type("3.5")
    page.press("ENTER")
    page.wait(f"{TIME} === 3.5")
    page.tab("runs")
    page.press_text("Continue from the time that is shown…")
    page.wait("document.querySelector('dialog[open]').textContent.includes('A push acts on plant')")
    for name, value in (("plant qm.Joint_1", "0.9"), ("kp", "[60, 40, 10]")):
        page.wait("document.querySelector(`dialog [aria-label='${arguments[0]}']`)", name)
        field = page.browser.find(f"dialog [aria-label='{name}']")
        field.send_keys(page.CTRL_A)
        field.send_keys(value)
    page.press_text("Continue")
    page.wait("document.querySelectorAll('.runs tbody tr').length === 3")
    page.said_of_run("ended")
    row = page.browser.find(".runs tbody tr").text
    assert "at 3.5 s" in row
    assert "kp = [60, 40, 10]" in row
    page.tab("scopes")
    page.browser.find(".time-bar [type=range]").send_keys("\ue011")
    page.wait(f"{LEGEND} === '0.900'")
