"""axe finds nothing against any part of the page, light or dark."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from browsers import chromium_only, needs_chromium
from diagram_pages import LOOP, DiagramPage
from studio_pages import in_browser

AXE = Path("studio/node_modules/axe-core/axe.min.js")
pytestmark = [needs_chromium, chromium_only]
FOUND = (
    "axe.run(document, {resultTypes: ['violations']}).then(({violations}) => done(violations"
    ".flatMap(({id, nodes}) => nodes.map((n) => `${id}: ${n.html.slice(0, 160)} ${n.any[0]?.message"
    " ?? n.all[0]?.message ?? ''}`))))"
)
PARTS = {
    "list": ("", "document.querySelector('.card')"),
    "new diagram": ("", "document.querySelector('dialog[open]')"),
    "sheet": ("file", "true"),
    "form": ("file", "document.querySelector('.field')", "gain"),
    "problems": ("file", "document.querySelector('.problem')", "bad"),
    "several": ("file", "document.querySelector('.align')", "Ctrl+a"),
    "adding": ("file", "document.querySelector('[role=option]')", "Ctrl+k"),
    "search": ("file", "document.querySelector('[role=option]')", "Ctrl+f"),
    "panels": ("file", "document.querySelector('[role=option]')", "Ctrl+j"),
    "keys": ("file", "document.querySelector('dialog.help')", "?"),
    "wiring": ("file", "document.querySelector('[role=option]')", "gain", "w"),
    "grouping": ("file", "document.querySelector('dialog[open] form')", "gain", "Ctrl+g"),
    "claims": ("file", "document.querySelector('.tests .claim')", "tests"),
    "claiming": ("file", "document.querySelector('.claim-form')", "tests", "claiming"),
    "menu": ("file", "document.querySelector('dialog.menu [role=menuitem]')", "gain", "Shift+F10"),
    "renaming": ("file", "document.querySelector('input.block-name')", "gain", "F2"),
}
PANELS = {
    "scopes": ("loop.yaml", "document.querySelector('.legend output')?.textContent"),
    "signals": ("loop.yaml", "document.querySelector('dialog [role=option]')", "Signals…"),
    "measuring": ("loop.yaml", "document.querySelector('.looking output')", "Measure from here"),
    "sliders": ("loop.yaml", "document.querySelector('dialog [role=option]')", "Sliders…"),
    "dashboard": ("loop.yaml", "document.querySelector('.dashboard')"),
    "widget": ("loop.yaml", "document.querySelector('.widget-dialog [role=option]')", "Add…"),
    "motion": ("robot.yaml", "document.querySelector('.push-form form')", "By numbers"),
    "tune": ("loop.yaml", "document.querySelector('.tune tr')"),
    "debug": ("loop.yaml", "document.querySelector('.debug h2')"),
    "runs": ("loop.yaml", "document.querySelector('.runs tbody tr')"),
    "continuing": ("loop.yaml", "document.querySelector('.state-block')", "Continue from the"),
    "loops": ("loop.yaml", "document.querySelector('.panel-page')"),
}
TABS = {
    "signals": "scopes",
    "measuring": "scopes",
    "sliders": "scopes",
    "widget": "dashboard",
    "continuing": "runs",
}


@pytest.fixture(scope="module", params=["light", "dark"])
def page(browser, tmp_path_factory, request):
    if not AXE.exists():
        pytest.skip("needs axe-core: npm ci in studio/")
    root = tmp_path_factory.mktemp("project")
    (root / "spart.toml").write_text("")
    (root / "loop.yaml").write_text(
        f"{LOOP}expect: {{final: [{{signal: x, value: 1, within: 1}}]}}\n"
    )
    (root / "bad.yaml").write_text(LOOP.replace("K: $k", "K: nonsense"))
    theme = [{"name": "prefers-color-scheme", "value": request.param}]
    browser.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": theme})
    shutil.copytree("models", root / "models")
    robot = Path("diagrams/spacecraft_pd.yaml").read_text(encoding="utf-8")
    (root / "robot.yaml").write_text(robot.replace("../models", "models"))
    with in_browser(browser, root):
        browser.wait("document.querySelector('.card')")
        browser.run(AXE.read_text(encoding="utf-8"))
        yield DiagramPage(browser, root)
    browser.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})


@pytest.mark.parametrize("part", PARTS)
def test_axe_finds_nothing(page, part):
    where, shown, *steps = PARTS[part]
    if where:
        page.open("bad.yaml" if "bad" in steps else "loop.yaml")
    elif page.driver.find_elements("css selector", ".header"):
        page.button("All diagrams")
        page.wait("document.querySelector('.card')")
    if part == "new diagram":
        page.browser.find(".project-tools button").click()
    for step in steps:
        if step == "gain":
            page.click(step)
            page.selects(step)
        elif step == "tests":
            page.browser.find("#tab-tests").click()
        elif step == "claiming":
            page.wait("document.querySelector('.tests .panel-tools')")
            page.browser.find(".tests .panel-tools button:nth-child(2)").click()
        elif step == "bad":
            page.wait("document.querySelector('.problems-head')")
            page.browser.find(".problems-head").click()
        else:
            page.press(step)
    page.wait(shown)
    page.browser.drawn()
    found = page.browser.run_async(FOUND)
    page.browser.press("\ue00c")
    page.browser.press("\ue00c")
    assert found == []


@pytest.mark.parametrize("part", PANELS)
def test_axe_finds_nothing_in_what_shows_runs(page, part):
    file, shown, *pressed = PANELS[part]
    page.open(file)
    if file == "loop.yaml" and not page.driver.find_elements("css selector", ".run-state"):
        page.press("Ctrl+ENTER")
        page.wait("document.querySelector('.run-state.ended')")
    page.browser.find(f"#tab-{TABS.get(part, part)}").click()
    for text in pressed:
        found = "[...document.querySelectorAll('.panel-body button:enabled, summary')]"
        page.wait(f"{found}.find((one) => one.textContent.startsWith(arguments[0]))", text).click()
    page.wait(shown)
    page.browser.drawn()
    found = page.browser.run_async(FOUND)
    page.press("ESCAPE")
    assert found == []
