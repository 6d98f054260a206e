"""Runs in the page, in Chromium: begun, seen, scrubbed, tuned, pushed, continued, saved."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest
from browsers import needs_chromium
from studio_pages import in_browser

import spart_blocks as sb

pytestmark = needs_chromium
ROOT = Path(__file__).parents[2]
FILE = "diagrams/spacecraft_pd.yaml"
LEGEND = "[...document.querySelectorAll('.scope output[data-line]')]"
VALUES = f"Object.fromEntries({LEGEND}.map((one) => [one.dataset.line, one.textContent]))"
TIME = "document.querySelector('.time-bar input').valueAsNumber"


@pytest.fixture
def robots(tmp_path):
    """A project with a spacecraft and its arm."""
    root = tmp_path / "project"
    (root / "diagrams").mkdir(parents=True)
    (root / "spart.toml").write_text("")
    shutil.copy(ROOT / FILE, root / FILE)
    shutil.copytree(ROOT / "models", root / "models")
    return root


def pressed(browser, *keys):
    """Press keys together, wherever the focus is."""
    from selenium.webdriver.common.action_chains import ActionChains

    chain = ActionChains(browser.driver)
    for key in keys:
        chain = chain.key_down(key)
    for key in reversed(keys):
        chain = chain.key_up(key)
    chain.perform()


def state(browser, *states):
    """Wait until the run is in one of these states."""
    names = ", ".join(f".run-state.{one}" for one in states)
    browser.wait(f"document.querySelector('{names}')")


def tab(browser, name):
    browser.find(f"#tab-{name}").click()


def choose(browser, selector, text):
    from selenium.webdriver.support.ui import Select

    Select(browser.find(selector)).select_by_visible_text(text)


def mouse_at(browser, x, y):
    """Actions of a mouse that is at a place of the page."""
    from selenium.webdriver.common.action_chains import ActionChains

    chain = ActionChains(browser.driver)
    chain.w3c_actions.pointer_action.move_to_location(int(x), int(y))
    return chain


def number(text):
    return float(text.replace("−", "-"))


def at(results, name, time):
    """A signal between rows."""
    return np.array([np.interp(time, results.t, one) for one in results[name].T])


def click(browser, text):
    """Press the button with a text, or with this name."""
    buttons = (
        "[...document.querySelectorAll('button:enabled')].filter((one) => "
        "one.textContent.trim() === arguments[0] || one.ariaLabel === arguments[0])[0]"
    )
    browser.wait(buttons, text).click()


def test_a_run_is_seen_while_it_goes_on_and_at_any_time_afterwards(browser, robots):
    from selenium.webdriver.common.action_chains import ActionChains
    from selenium.webdriver.common.keys import Keys

    with in_browser(browser, robots, FILE):
        browser.wait("document.querySelector('.react-flow__node')")
        pressed(browser, Keys.CONTROL, Keys.ENTER)
        state(browser, "running")
        browser.wait(f"{LEGEND}.length === 9 && {TIME} > 0.2")  # scopes live
        before = browser.run(f"return {TIME}")
        browser.wait(f"{TIME} > arguments[0]", before)

        pressed(browser, Keys.CONTROL, Keys.ENTER)
        state(browser, "paused")
        assert "Resume" in browser.find(".run-button").text
        pressed(browser, Keys.CONTROL, Keys.ENTER)
        choose(browser, ".run-speed select", "as fast as it goes")
        state(browser, "ended")
        browser.wait(f"{TIME} === 20")

        fine = sb.simulate(robots / FILE)
        browser.find(".time-bar [type=range]").send_keys(Keys.HOME, *[Keys.PAGE_UP] * 2)
        browser.wait(f"{TIME} === 4")
        want, base = at(fine, "plant.qm", 4.0), at(fine, "plant.r0", 4.0)
        browser.wait(f"({VALUES})['plant.qm[0]'] === '{want[0]:.3f}'".replace("'-", "'−"))
        shown = browser.run(f"return {VALUES}")
        for axis in range(3):
            assert number(shown[f"plant.qm[{axis}]"]) == pytest.approx(want[axis], abs=2e-3)

        wire = (
            "const [edge] = [...document.querySelectorAll('.react-flow__edge')].filter((one) =>"
            " one.ariaLabel?.includes('joints') || one.dataset.id?.includes('joints'));"
            "const path = edge.querySelector('path'); const m = path.getScreenCTM();"
            "const at = path.getPointAtLength(0.9 * path.getTotalLength());"
            "return [m.a * at.x + m.e, m.d * at.y + m.f]"
        )
        x, y = browser.run(wire)
        mouse_at(browser, x, y).perform()
        browser.wait("document.querySelector('.wire-number')?.textContent.includes('0.')")
        card = browser.find(".wire-value").text
        for part in ("plant.qm", f"[{want[0]:.3g}", "rad"):
            assert part in card

        tab(browser, "motion")
        browser.wait("window.spart && Object.keys(spart.poses()).length")
        shown = "Object.values(spart.poses())[0].slice(0, 3)"
        near = f"Math.hypot(...{shown}.map((p, k) => p - arguments[0][k])) < 1e-3"
        browser.wait(near, base.tolist())

        tab(browser, "scopes")
        browser.wait("document.querySelector('.u-over')?.clientWidth > 100")
        over = browser.find(".u-over")
        mouse = ActionChains(browser.driver).move_to_element_with_offset(over, -60, 0)
        mouse.click_and_hold().move_by_offset(90, 2).release().perform()
        whole = "document.querySelector('.looking button').ariaPressed"
        browser.wait(f"{whole} === 'false'")
        ActionChains(browser.driver).double_click(over).perform()
        browser.wait(f"{whole} === 'true'")

        browser.find(".scope-tools button").click()
        browser.wait("document.querySelector('dialog[open] input')")
        browser.press("plant um", Keys.ENTER, Keys.ESCAPE)
        browser.wait(f"({VALUES})['plant.um[2]'] > ''")  # computed from the run

        before = browser.run(f"return {TIME}")
        browser.find(".time-bar [type=range]").send_keys(Keys.HOME, Keys.SPACE)
        browser.wait(f"{TIME} > 0.05 && {TIME} < 10")
        assert browser.complaints() == []


def test_a_run_is_tuned_pushed_continued_compared_and_saved(browser, robots):
    from selenium.webdriver.common.action_chains import ActionChains
    from selenium.webdriver.common.keys import Keys

    before = (robots / FILE).read_text().splitlines()
    with in_browser(browser, robots, FILE):
        browser.wait("document.querySelector('.react-flow__node')")
        choose(browser, ".run-speed select", "0.1 × real time")
        pressed(browser, Keys.CONTROL, Keys.ENTER)
        state(browser, "running")

        tab(browser, "tune")
        browser.wait("document.querySelector('[aria-label=\"kp[0]\"]')")
        field = browser.find('[aria-label="kp[0]"]')
        field.send_keys(Keys.CONTROL, "a")
        field.send_keys("55", Keys.ENTER)
        browser.wait("document.querySelector('tr.changed')?.textContent.includes('kp')")
        browser.wait("document.querySelector('.tune .note').textContent === '1 changed'")
        click(browser, "Keep in the file")
        browser.wait("document.body.textContent.includes('tuned values are in the file')")
        after = (robots / FILE).read_text().splitlines()
        changed = [line for old, line in zip(before, after, strict=True) if old != line]
        assert changed == ["  kp: [55, 40, 10] # N m/rad"]

        tab(browser, "motion")
        browser.wait("window.spart && document.querySelector('.stage canvas')")
        click(browser, "Push by dragging")
        x, y = browser.run("return Object.values(spart.places())[0]")
        mouse_at(browser, x, y).click_and_hold().move_by_offset(60, 10).perform()
        browser.wait("/^[1-9].* N on /.test(document.querySelector('.push-label').textContent)")
        ActionChains(browser.driver).release().perform()
        browser.wait("document.querySelector('.push-label').hidden")

        pressed(browser, Keys.CONTROL, ".")
        state(browser, "ended")
        tab(browser, "runs")
        browser.find(".time-bar [type=range]").send_keys(Keys.HOME, *[Keys.PAGE_UP] * 5)
        click(browser, "Continue from the time that is shown…")
        browser.wait("document.querySelectorAll('dialog .state-block input').length > 6")
        click(browser, "Continue")
        browser.wait("document.querySelectorAll('.runs tbody tr').length === 2")
        choose(browser, ".run-speed select", "as fast as it goes")
        state(browser, "ended")
        browser.find(".runs input[type=checkbox]:not(:disabled)").click()
        tab(browser, "scopes")
        browser.wait("document.querySelector('.legend-run')?.textContent.includes('run 1')")

        tab(browser, "runs")
        browser.wait("document.querySelectorAll('a.download').length === 6")
        save = (
            "const link = [...document.querySelectorAll('a.download')].find((one) => "
            "one.textContent === arguments[0]);"
            "fetch(link.href).then(async (found) => "
            "done([found.status, (await found.blob()).size]))"
        )
        for kind in ("npz", "csv", "HTML"):
            status, size = browser.run_async(save, kind)
            assert (status, size > 1000) == (200, True)
        assert browser.complaints() == []
