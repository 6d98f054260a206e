"""Panels beside a diagram: split, moved, in windows of their own, kept for each file."""

from __future__ import annotations

from pathlib import Path

import pytest
from browsers import needs_chromium
from diagram_pages import LOOP, DiagramPage
from selenium.webdriver.common.keys import Keys
from studio_pages import in_browser

pytestmark = needs_chromium
AXE = Path("studio/node_modules/axe-core/axe.min.js")
GROUPS = (
    "[...document.querySelectorAll('.panel-group')].map((group) => "
    "`${group.dataset.group}: ${group.querySelector('[aria-selected=true]').textContent}`).join()"
)
CURSOR = "document.querySelector('.time-cursor:not(.time-mark)').style.transform"


class PanelPage(DiagramPage):
    def command(self, text):
        """Do what the list of panels has under a text."""
        self.press("Ctrl+j")
        self.choose(text)

    def groups(self, *names):
        self.wait(f"{GROUPS} === arguments[0]", ",".join(names))

    def run(self):
        from selenium.webdriver.support.ui import Select

        speed = Select(self.browser.find(".run-bar > .run-speed select"))
        speed.select_by_visible_text("as fast as it goes")
        self.press("Ctrl+ENTER")
        self.wait("document.querySelector('.run-state.ended')")
        return self

    def tab(self, name):
        return self.browser.find(f"#tab-{name}")


@pytest.fixture(scope="module")
def page(browser, tmp_path_factory):
    root = tmp_path_factory.mktemp("project")
    (root / "spart.toml").write_text("")
    with in_browser(browser, root):
        browser.wait("document.querySelector('.card, .project')")
        yield PanelPage(browser, root)
        assert browser.complaints() == []


def test_panels_are_split_moved_and_closed_by_keyboard_and_kept_for_the_file(page):
    page.open("split.yaml", LOOP)
    page.press("Alt+1")
    page.groups("bottom 0: Scopes")
    page.command("scopes split")
    page.wait("document.activeElement.id === 'tab-scopes'")
    assert page.driver.find_elements("css selector", ".panel-group")[1].text.startswith("Scopes")
    page.press("Alt+4")
    page.command("tune right")
    page.groups("right 0: Tune", "bottom 0: 3-D", "bottom 1: Scopes")
    page.wait("document.activeElement.id === 'tab-tune'")
    page.press("F6")
    page.wait("document.activeElement.id === 'tab-motion'")
    page.press("F6", "F6")
    page.wait("document.activeElement === document.body")
    page.press("Alt+6")
    page.command("tests close")
    page.wait("!document.querySelector('#tab-tests')")
    edge = page.browser.find("[aria-label='Width of the panels at the right']")
    width = "document.querySelector('.right-panel').offsetWidth"
    before = page.browser.run(f"return {width}")
    edge.send_keys("\ue012")  # left
    page.wait(f"{width} > {before}")
    page.driver.refresh()
    page.wait("document.querySelector('.react-flow__node')")
    page.groups("right 0: Tune", "bottom 0: 3-D", "bottom 1: Scopes")
    page.wait(f"{width} > {before} && !document.querySelector('#tab-tests')")
    page.open("other.yaml", LOOP)
    page.groups("bottom 0: Scopes")
    page.open("split.yaml")
    page.press("Alt+6")  # brings back what was closed
    page.groups("right 0: Tune", "bottom 0: Tests", "bottom 1: Scopes")
    page.command("layout: as at first")
    page.groups("bottom 0: Scopes")
    assert "layout" not in page.text


def test_a_tab_is_dragged_beside_others_and_to_the_right_of_the_sheet(page):
    page.open("drag.yaml", LOOP)
    page.press("Alt+1")
    group = page.browser.find(".panel-group")
    width = group.size["width"]
    tab = page.tab("tune")
    middle = tab.location["x"] + tab.size["width"] / 2
    page.drag(tab, (20, -4), (round(group.location["x"] + width - 30 - middle - 20), 40))
    page.groups("bottom 0: Scopes", "bottom 1: Tune")
    sheet = page.browser.find(".sheet")
    tab = page.tab("tune")
    x = sheet.location["x"] + 0.9 * sheet.size["width"] - tab.location["x"] - tab.size["width"] / 2
    y = sheet.location["y"] + 60 - tab.location["y"] - tab.size["height"] / 2
    page.drag(tab, (-20, -4), (round(x) + 20, round(y) + 4))
    page.groups("right 0: Tune", "bottom 0: Scopes")


def test_a_panel_as_large_as_the_page_keeps_the_bar_of_runs(page):
    page.open("large.yaml", LOOP)
    page.press("Alt+4", "Alt+ENTER")
    page.wait("document.querySelector('.panel-group').offsetHeight > 0.75 * innerHeight")
    assert page.browser.find(".run-button").is_displayed()
    assert not page.node("gain").is_displayed() or page.browser.run(
        "return !document.elementFromPoint(200, 200).closest('.sheet')"
    )
    for _ in range(12):
        page.press("TAB")
        assert page.browser.run("return !document.activeElement.closest('.react-flow')")
    page.press("Alt+ENTER")
    page.wait("document.querySelector('.panel-group').offsetHeight < 0.6 * innerHeight")
    page.browser.drawn()
    page.click("gain")
    page.selects("gain")


def test_a_window_of_a_panel_shows_the_same_record_at_the_same_time(page):
    page.open("window.yaml", LOOP).run()
    own = page.driver.current_window_handle
    page.wait("document.querySelector('.legend output')?.textContent")
    page.command("own window scopes")
    page.until(lambda: len(page.driver.window_handles) == 2, "a window")
    page.groups("bottom 0: 3-D")
    (other,) = [one for one in page.driver.window_handles if one != own]
    page.driver.switch_to.window(other)
    assert page.driver.title == "Scopes · loop"
    page.wait("document.querySelector('.legend output').textContent.startsWith('0.86')")
    end = page.browser.run(f"return {CURSOR}")
    page.press(",")  # the key of the page: back by a hundredth
    page.wait(f"{CURSOR} !== arguments[0]", end)
    plot = page.browser.find(".scope-plot .u-over")
    page.drag(plot, (100, 0))
    page.wait("document.querySelector('.looking [aria-pressed=true]') === null")  # zoomed in
    page.press_text("Signals…")
    page.wait("document.querySelector('dialog[open] [role=option]')")
    page.press("ESCAPE")
    page.driver.switch_to.window(own)
    page.wait("Number(document.querySelector('.time-now input').value) === 0.99")
    page.driver.switch_to.window(other)
    page.driver.find_element("css selector", ".panel-back").click()
    page.driver.switch_to.window(own)
    page.groups("bottom 0: Scopes")
    page.wait("document.querySelector('.legend output').textContent.startsWith('0.8')")


def test_a_parameter_is_tuned_by_a_slider_beside_a_scope(page):
    page.open("slider.yaml", LOOP).run()
    page.press_text("Sliders…")
    page.choose("k")
    page.press("ESCAPE")
    page.wait("document.querySelector('.scope-slider')")
    slowly(page)
    slider = page.wait("document.querySelector('.scope-slider [type=range]')")
    page.focus(slider)
    page.press("ARROW_RIGHT", "ARROW_RIGHT")
    page.wait("document.querySelector('.scope-slider.changed .number')?.value === '2.08'")
    page.driver.refresh()
    page.wait("document.querySelector('.scope-slider')")
    page.browser.find("[aria-label='Remove the slider of k']").click()
    page.wait("!document.querySelector('.scope-slider')")


def slowly(page):
    """Run the file again, and pause it."""
    from selenium.webdriver.support.ui import Select

    speed = Select(page.browser.find(".run-bar > .run-speed select"))
    speed.select_by_visible_text("0.1 × real time")
    page.browser.find(".run-button").click()
    page.wait("document.querySelector('.run-state.running')")
    page.browser.find(".run-button").click()
    page.wait("document.querySelector('.run-state.paused')")


def findings(page):
    """What axe finds."""
    if not AXE.exists():
        return []
    page.browser.run(AXE.read_text(encoding="utf-8"))
    found = "violations.flatMap(({id, nodes}) => nodes.map((n) => `${id}: ${n.html}`))"
    return page.browser.run_async(f"axe.run(document).then(({{violations}}) => done({found}))")


class Widgets:
    """What the tests ask of the dashboard."""

    def __init__(self, page):
        self.page = page

    def add(self, kind, *names):
        from selenium.webdriver.support.ui import Select

        self.page.press_text("Add…")
        self.page.wait("document.querySelector('.widget-dialog')")
        Select(self.page.browser.find(".widget-dialog select")).select_by_visible_text(kind)
        for name in names:
            self.page.wait("document.querySelector('dialog[open] [role=option]')")
            field = self.page.browser.find(".widget-dialog [role=combobox]")
            self.page.fill(field, name, Keys.ENTER)
        self.page.browser.find(".widget-dialog .primary").click()
        self.page.wait("!document.querySelector('.widget-dialog')")

    def titles(self):
        found = "[...document.querySelectorAll('.widget-handle')].map((one) => one.textContent)"
        return self.page.browser.run(f"return {found}")


def test_a_dashboard_shows_signals_and_sets_parameters(page):
    page.open("dash.yaml", LOOP).run()
    page.press("Alt+3")
    widgets = Widgets(page)
    widgets.add("Display", "x")
    widgets.add("Gauge", "gain")
    widgets.add("Lamp", "x")
    widgets.add("Table of values", "x", "gain")
    widgets.add("XY plot", "x", "gain")
    widgets.add("Spectrum", "x")
    widgets.add("Knob", "k")
    widgets.add("Switch", "k")
    page.wait("document.querySelector('.widget-display output').textContent === '0.865'")
    page.wait("document.querySelector('.widget-gauge .now').textContent.startsWith('0.27')")
    page.wait("document.querySelector('.widget-lamp').ariaLabel === 'x: on'")
    page.wait("document.querySelector('.widget-about').textContent.includes('Hann')")
    page.wait("document.querySelector('.widget-of-xy .curve-dot').style.transform !== 'scale(0)'")
    rows = "[...document.querySelectorAll('.widget-rows tr')].map((row) => row.innerText.trim())"
    page.wait(f"{rows}.join() === 'x\\t0.865,gain\\t0.271'")
    field = page.browser.find(".time-now input")
    field.click()
    page.type("0.1")
    page.press("ENTER")
    page.wait("document.querySelector('.widget-display output').textContent === '0.181'")
    page.wait("document.querySelector('.widget-lamp').ariaLabel === 'x: off'")
    slowly(page)
    page.focus(page.wait("document.querySelector('.widget-knob [role=slider]')"))
    page.press("ARROW_UP", "ARROW_UP")
    page.wait("document.querySelector('.widget-knob [role=slider]').ariaValueNow === '2.08'")
    page.browser.find(".widget-switch").click()
    page.wait("document.querySelector('.widget-switch').ariaChecked === 'true'")
    page.wait("document.querySelector('.widget-knob [role=slider]').ariaValueNow === '1'")
    assert findings(page) == []


def test_widgets_are_arranged_by_keyboard_and_by_drag_and_kept(page):
    page.open("grid.yaml", LOOP).run()
    page.press("Alt+3")
    widgets = Widgets(page)
    for name in ("x", "gain", "error"):
        widgets.add("Display", name)
    assert widgets.titles() == ["x", "gain", "error"]
    page.browser.find(".widget-handle").send_keys("\ue014")  # right
    page.until(lambda: widgets.titles() == ["gain", "x", "error"], "moved")
    wide = "document.querySelector('[data-widget=\"1\"]').offsetWidth"
    before = page.browser.run(f"return {wide}")
    page.browser.find("[data-widget='1'] .widget-handle").send_keys(page.SHIFT + "\ue014")
    page.wait(f"{wide} > 1.3 * {before}")
    target = page.browser.find("[data-widget='2'] .widget-handle")
    page.drag(page.browser.find("[data-widget='3'] .widget-handle"), (-20, 0), target)
    page.until(lambda: widgets.titles()[0] == "error", "dragged to the front")
    page.browser.find("[data-widget='2'] .widget-handle").send_keys("\ue017")  # delete
    page.until(lambda: widgets.titles() == ["error", "x"], "removed")
    page.driver.refresh()
    page.until(lambda: widgets.titles() == ["error", "x"], "kept")
    assert page.browser.run(f"return {wide}") > 1.3 * before
