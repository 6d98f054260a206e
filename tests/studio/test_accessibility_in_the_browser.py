"""axe finds nothing against any part of the page, light or dark."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from browsers import chromium_only, needs_chromium
from chart_pages import MODES
from diagram_pages import LOOP
from selenium.webdriver.common.keys import Keys
from studio_pages import in_browser
from test_jobs_in_the_browser import commit, ended
from test_panels_in_the_browser import PanelPage, Widgets, slowly

AXE = Path("studio/node_modules/axe-core/axe.min.js")
pytestmark = [needs_chromium, chromium_only]
FOUND = (
    "axe.run(document, {resultTypes: ['violations'], ...arguments[0]})"
    ".then(({violations}) => done(violations"
    ".flatMap(({id, nodes}) => nodes.map((n) => `${id}: ${n.html.slice(0, 160)} ${n.any[0]?.message"
    " ?? n.all[0]?.message ?? ''}`))))"
)
CONTRAST = {"runOnly": ["color-contrast"]}
CLAIMED = f"{LOOP}expect: {{final: [{{signal: x, value: 1, within: 1}}]}}\n"
VALUES = """\
name: values
params: {k: 2} # 1/s
subsystems:
  servo:
    params: {k: 1}
    inputs: [goal, on]
    outputs: [y]
    enabled: {by: on}
    blocks: {g: {type: GAIN, K: $k}}
    wires: [in.goal -> g, g -> out.y]
variants:
  law: {default: fast, choices: {fast: {type: GAIN, K: 2}, slow: {type: GAIN, K: 1}}}
blocks:
  step: {type: STEP}
  table: {type: LOOKUP, x: [0, 1, 2], y: [0, 2, 1]} # measured
  gain: {type: GAIN, K: [[1, 2], [3, 4]]}
  one: {type: GAIN, K: $k}
  formula: {type: FCN, expression: "2*u"}
  servo: {type: servo}
  all: {type: BUS_CREATOR}
  pick: {type: BUS_SELECTOR, signals: [level]}
  scope: {type: SCOPE, nin: 5}
wires:
  - step -> table, one, formula, law, gain, servo.goal, servo.on
  - table -> scope.0, all.level
  - one -> scope.1
  - formula -> scope.2, all.flow
  - all -> pick
  - pick -> scope.3
  - servo -> scope.4
run: {T: 1}
"""


class AuditedPage(PanelPage):
    """A page that axe looks at."""

    def audit(self):
        """What axe finds in the light, and of contrast in the dark."""
        self.browser.drawn()
        light = self.browser.run_async(FOUND, {})
        self.theme("dark")
        try:
            return light + self.browser.run_async(FOUND, CONTRAST)
        finally:
            self.theme("light")

    def theme(self, name):
        given = {"features": [{"name": "prefers-color-scheme", "value": name}]}
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", given)
        self.browser.drawn()

    def sees(self, selector):
        return self.wait(f"document.querySelector(`{selector}`)")

    def begins(self, text):
        """Press what begins with a text."""
        found = "[...document.querySelectorAll('button:enabled, summary')]"
        found = f"{found}.find((one) => one.textContent.startsWith(arguments[0]))"
        self.wait(f"{found}?.checkVisibility() && {found}", text).click()

    def form_of(self, block):
        self.click(block)
        self.selects(block)
        self.sees(".form-panel .form")


@pytest.fixture(scope="module")
def page(browser, tmp_path_factory):
    if not AXE.exists():
        pytest.skip("needs axe-core: npm ci in studio/")
    root = tmp_path_factory.mktemp("project")
    (root / "spart.toml").write_text("")
    (root / "loop.yaml").write_text(CLAIMED)
    shutil.copytree("models", root / "models")
    robot = Path("diagrams/spacecraft_pd.yaml").read_text(encoding="utf-8")
    (root / "robot.yaml").write_text(robot.replace("../models", "models"))
    with in_browser(browser, root):
        browser.wait("document.querySelector('.card')")
        browser.run(AXE.read_text(encoding="utf-8"))
        yield AuditedPage(browser, root)
    browser.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})


def list_and_sheet(page):
    yield "list of diagrams"
    page.browser.find(".project-tools button").click()
    page.sees("dialog[open]")
    yield "new diagram"
    page.press("ESCAPE")
    page.open("bad.yaml", LOOP.replace("K: $k", "K: nonsense"))
    page.sees(".problems-head").click()
    page.sees(".problem")
    yield "problems"
    page.open("sheet.yaml", LOOP)
    yield "sheet and form of the file"
    page.press("Ctrl+a")
    page.sees(".align")
    yield "several selected"
    for key, shown in (
        ("Ctrl+k", "[role=option]"),
        ("Ctrl+f", "[role=option]"),
        ("Ctrl+j", "[role=option]"),
        ("?", "dialog.help"),
    ):
        page.press(key)
        page.sees(f"dialog[open] {shown}, {shown}")
        yield key
        page.press("ESCAPE")
    page.form_of("gain")
    yield "form of a block"
    for key, shown in (
        ("w", "[role=option]"),
        ("c", "[role=option]"),
        ("Ctrl+g", "form"),
        ("Ctrl+Shift+g", "[name], input"),
        ("Shift+F10", "[role=menuitem]"),
    ):
        page.form_of("gain")
        page.press(key)
        page.sees(f"dialog[open] {shown}")
        yield key
        page.press("ESCAPE")
    page.form_of("gain")
    page.press("F2")
    page.sees("input.block-name")
    yield "renaming in place"
    page.press("ESCAPE")


def areas_notes_and_map(page):
    page.open("drawn.yaml", LOOP)
    page.click("error")
    page.click("gain", page.SHIFT)
    page.press("b")
    page.sees("textarea.writer:focus")
    yield "title of an area"
    page.type("Controller")
    page.press("ENTER")
    page.sees(".area .handle").click()
    page.press("c")
    page.choose("green")
    page.written("colour: green")
    page.click("x")
    page.press("n")
    page.sees("textarea.writer:focus")
    yield "text of a note"
    page.type("the state")
    page.press("Ctrl+ENTER")
    page.sees(".note .handle").click()
    page.press("ESCAPE")
    page.press("l", "m")
    page.sees(".minimap")
    yield "an area, a note, names and the map"
    page.press("l", "m")
    page.browser.find(".palette summary").click()
    page.browser.find(".palette input").send_keys("enabled")
    page.sees(".palette li button")
    yield "list of blocks"
    page.fill(page.browser.find(".palette input"), Keys.BACKSPACE)
    page.wait("!document.querySelector('.palette li button')?.textContent.includes('nabled')")
    page.browser.find(".palette summary").click()


def forms_and_windows_of_values(page):
    page.open("values.yaml", VALUES)
    page.button("Unit, bounds and meaning of k")
    page.sees(".declaration")
    yield "declaration of a parameter"
    page.press("ESCAPE")
    for block, field in (("gain", "K"), ("table", "y"), ("formula", "expression")):
        page.form_of(block)
        page.sees(f".field [name={field}]").click()
        page.press("F4")
        page.sees("dialog.value-dialog[open]")
        yield f"window of {block}.{field}"
        page.press("ESCAPE")
    for block in ("all", "pick", "law", "one", "servo"):
        page.form_of(block)
        if block == "one":
            page.begins("Variants")
        yield f"form of {block}"
    page.press("Ctrl+Shift+g")
    page.sees("dialog[open] .kinds")
    yield "kind of a subsystem"
    page.press("ESCAPE")
    page.form_of("servo")
    page.press("ENTER")
    page.sees("p.runs span")
    page.form_of("in")
    yield "sheet of an enabled subsystem, and its ports"
    page.press("BACKSPACE")
    page.sees(".react-flow__node[data-id=step]")
    page.form_of("one")
    page.press("w")
    page.choose("output")
    page.wait("document.querySelector('dialog[open]')?.ariaLabel.startsWith('Where')")
    page.choose("change")
    page.sees(".wire.chosen")
    yield "form of a wire"


def chart(page):
    page.open("modes.yaml", MODES, "modes")
    page.sees(".transition")
    yield "chart and form of the machine"
    page.press("ARROW_DOWN")
    page.sees(".form-panel .field [name]")
    yield "state"
    page.press("t")
    page.sees(".field [name=when]")
    yield "transition"
    page.press("F10")
    page.sees(".run-state.paused")
    page.press("F10")
    page.sees(".state.active")
    page.sees(".transition.taken")
    yield "active states, and a pause at an event"
    page.press("Ctrl+.")


def text(page):
    page.open("text.yaml", LOOP)
    page.form_of("gain")
    page.press("Ctrl+e")
    page.wait("document.querySelectorAll('.code .cm-line').length > 1")
    yield "text, with the lines of a block"
    page.press("Ctrl+a")
    page.sees(".code .cm-selectionBackground")
    yield "selected text"
    page.press("Ctrl+f")
    page.sees(".cm-search input:focus")
    page.type("gain")
    page.press("ENTER")
    page.sees(".cm-searchMatch")
    yield "search in the text"
    page.press("ESCAPE", "END", "BACKSPACE")
    page.sees(".code .cm-lintRange")
    page.sees(".code-state.wrong")
    yield "a mistake in the text"
    page.press("Ctrl+z", "ARROW_LEFT")
    page.type(", ")
    page.press("Ctrl+SPACE")
    page.sees(".cm-tooltip-autocomplete [aria-selected]")
    yield "what can stand there"
    page.press("ESCAPE")
    page.button("Close the text")


def panels(page):
    page.open("loop.yaml").run()
    page.press("Alt+1")
    page.wait("document.querySelector('.legend output')?.textContent")
    yield "scopes"
    for text, shown in (
        ("Signals…", "dialog [role=option]"),
        ("Measure from here", ".looking output"),
        ("Sliders…", "dialog [role=option]"),
    ):
        page.begins(text)
        page.sees(shown)
        yield text
        if text == "Sliders…":
            page.choose("k")
        page.press("ESCAPE")
    page.sees(".scope-slider")
    yield "a slider beside a scope"
    for tab, shown in (
        ("tune", ".tune tr"),
        ("runs", ".runs tbody tr"),
        ("tests", ".tests .claim"),
    ):
        page.tab(tab).click()
        page.sees(shown)
        yield tab
        if tab == "runs":
            page.begins("Continue from the")
            page.sees(".state-block")
            yield "continuing"
            page.press("ESCAPE")
    page.begins("Run the test")
    page.sees(".tests .claim.passed, .tests .passed")
    page.begins("Add a claim")
    page.sees(".claim-form")
    yield "verdicts, and a new claim"
    page.tab("loops").click()
    page.sees(".panel-page")
    yield "loops"
    page.open("robot.yaml")
    page.tab("motion").click()
    page.begins("By numbers")
    page.sees(".push-form form")
    yield "3-D and pushes"


def dashboard(page):
    page.open("dash.yaml", LOOP).run()
    page.press("Alt+3")
    page.sees(".dashboard")
    page.press_text("Add…")
    page.sees(".widget-dialog [role=option]")
    yield "a new widget"
    page.press("ESCAPE")
    widgets = Widgets(page)
    for kind, *names in (
        ("Display", "x"), ("Gauge", "gain"), ("Lamp", "x"), ("Table of values", "x", "gain"),
        ("XY plot", "x", "gain"), ("Spectrum", "x"), ("Slider", "k"), ("Knob", "k"),
        ("Switch", "k"), ("Button, as long as it is held", "k"),
    ):  # fmt: skip
        widgets.add(kind, *names)
    slowly(page)
    page.browser.find(".widget-switch").click()
    page.wait("document.querySelector('.widget-switch').ariaChecked === 'true'")
    page.press("Alt+ENTER")
    page.sees(".maximised")
    yield "a dashboard as large as the page"
    page.press("Alt+ENTER", "Ctrl+.")


def steps_and_breakpoints(page):
    page.open("steps.yaml", MODES)
    page.tab("debug").click()
    page.sees(".debug h2")
    page.browser.find(".debug form input").send_keys("modes.state == 'operate'", Keys.ENTER)
    page.sees(".debug code")
    page.browser.find(".run-bar > .run-speed select").send_keys("as fast")
    page.press("Ctrl+ENTER")
    page.sees(".debug tr.met")
    page.sees("[aria-label='What changed'] .values")
    yield "a pause at a breakpoint, and what changed"
    page.press("Ctrl+.")


def split_panels(page):
    page.open("split.yaml", LOOP).run()
    page.press("Alt+1")
    page.command("scopes split")
    page.press("Alt+4")
    page.command("tune right")
    page.sees(".right-panel .panel-group")
    yield "panels side by side"
    own = page.driver.current_window_handle
    page.press("Alt+1")
    page.command("own window scopes")
    page.until(lambda: len(page.driver.window_handles) == 2, "a window")
    (other,) = [one for one in page.driver.window_handles if one != own]
    page.driver.switch_to.window(other)
    page.wait("document.querySelector('.legend output').textContent")
    page.browser.run(AXE.read_text(encoding="utf-8"))
    yield "a window of a panel"
    page.driver.find_element("css selector", ".panel-back").click()
    page.driver.switch_to.window(own)
    page.until(lambda: len(page.driver.window_handles) == 1, "no window")


def jobs(page):
    page.open("jobs.yaml", LOOP)
    for key, shown in (("E", "select"), ("C", "select"), ("S", ".job-pair input:focus")):
        page.click_empty()
        page.press(key)
        page.sees(f".job-dialog {shown}")
        yield {"E": "export", "C": "compare", "S": "sweep"}[key]
        if key != "S":
            page.press("ESCAPE")
    page.type("k" + Keys.TAB + "[1, 2, 4]")
    metric = page.sees(".job-dialog [aria-label='metrics 1: name']")
    metric.send_keys("miss" + Keys.TAB + "1 - final(x)" + Keys.ENTER)
    section = ended(page, "Sweep 1")
    page.wait("document.querySelectorAll('.sweep-rows tbody tr').length === 3")
    yield "table of a sweep"
    own = page.driver.current_window_handle
    section.find_element("xpath", ".//a[text()='Open the report']").click()
    page.until(lambda: len(page.driver.window_handles) == 2, "the report in a window")
    page.driver.switch_to.window(page.driver.window_handles[1])
    page.wait("document.body.innerText.includes('miss') && document.images.length > 0")
    page.browser.run(AXE.read_text(encoding="utf-8"))
    yield "report of a sweep"
    page.driver.close()
    page.driver.switch_to.window(own)


def changes(page):
    (page.root / "changed.yaml").write_text(LOOP)
    commit(page.root, "The loop as it was")
    page.open("changed.yaml")
    page.click_empty()
    page.press("D")
    page.sees(".change-list select").send_keys("the last commit")
    page.wait("document.querySelector('.change-list')?.innerText.includes('both mean the same')")
    page.click("scope")
    page.press("DELETE")
    page.sees(".changes .mark-gone")
    page.click("goal")
    page.sees(".field [name=T]")
    page.field("T").send_keys(page.CTRL_A, "0.5", "\n")
    page.sees(".changes .mark-block.changed")
    yield "changes"


WALKS = [
    list_and_sheet,
    areas_notes_and_map,
    forms_and_windows_of_values,
    chart,
    text,
    panels,
    dashboard,
    steps_and_breakpoints,
    split_panels,
    jobs,
    changes,
]


@pytest.mark.parametrize("walk", WALKS, ids=lambda walk: walk.__name__)
def test_axe_finds_nothing(page, walk):
    found = {part: page.audit() for part in walk(page)}
    assert {part: faults for part, faults in found.items() if faults} == {}
