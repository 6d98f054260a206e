"""Sweeps, comparisons and exports in the page, by keyboard and mouse, in Chromium."""

from __future__ import annotations

import subprocess

import pytest
from browsers import needs_chromium
from diagram_pages import LOOP, DiagramPage
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import Select
from studio_pages import in_browser

pytestmark = needs_chromium
JOBS = "[...document.querySelectorAll('.jobs .job')]"
ROWS = "[...document.querySelectorAll('.sweep-rows tbody tr')].map((row) => row.innerText)"


@pytest.fixture(scope="module")
def page(browser, tmp_path_factory):
    root = tmp_path_factory.mktemp("project")
    (root / "spart.toml").write_text("")
    (root / "loop.yaml").write_text(LOOP)
    (root / "other.yaml").write_text(LOOP.replace("k: 2", "k: 4"))
    with in_browser(browser, root, "loop.yaml"):
        browser.wait("document.querySelector('.palette details')")
        yield DiagramPage(browser, root)


def ended(page, title):
    """Wait until a job has ended; returns its section."""
    found = f"{JOBS}.find((one) => one.ariaLabel === arguments[0])"
    page.wait(f"{found} && !{found}.querySelector('progress')", title)
    section = page.browser.run(f"return {found}", title)
    assert "ended" in section.get_attribute("class"), section.text
    return section


def test_a_sweep_by_keyboard_gives_a_table_a_report_and_a_run_of_a_point(page):
    page.open("loop.yaml", LOOP)
    page.click_empty()
    page.press("S")  # with Shift
    page.wait("document.querySelector('.job-dialog .job-pair input') === document.activeElement")
    page.type("k" + Keys.TAB + "[1, 2, 4]")
    metric = "document.querySelector(\".job-dialog [aria-label='metrics 1: name']\")"
    page.wait(metric).send_keys("miss" + Keys.TAB + "1 - final(x)" + Keys.ENTER)
    section = ended(page, "Sweep 1")
    page.wait(f"{ROWS}.length === 3")
    report = section.find_element("xpath", ".//a[text()='Open the report']")
    page.wait("document.querySelector('.sweep-rows th.metric button')").click()
    page.wait("document.querySelector('.sweep-rows th.metric').ariaSort === 'ascending'")
    page.wait(f"{ROWS}[0].includes('0.01831')")  # exp(-4)

    before = page.driver.current_window_handle
    report.click()
    page.until(lambda: len(page.driver.window_handles) == 2, "the report in a window")
    page.driver.switch_to.window(page.driver.window_handles[1])
    page.wait("document.body.innerText.includes('miss') && document.images.length > 0")
    assert page.browser.run("return window.origin") == "null"  # without access to the studio
    page.driver.close()
    page.driver.switch_to.window(before)

    page.wait("document.querySelector('.sweep-rows tbody tr button')").click()
    page.wait("document.querySelector('.run-state.ended')")
    page.browser.find("#tab-runs").click()
    page.wait("document.querySelector('.runs')?.innerText.includes('run 2: k = 4')")


def test_two_files_are_compared_and_exports_are_saved(page):
    page.open("loop.yaml", LOOP)
    page.click_empty()
    page.press("C")
    other = page.wait("document.querySelector('.job-dialog select:focus')")
    page.wait("[...arguments[0].options].some((one) => one.text === 'other.yaml')", other)
    Select(other).select_by_visible_text("other.yaml")
    page.press_text("Run and compare")
    section = ended(page, "Comparison 2")
    pictures = "document.querySelector(\".job[aria-label='Comparison 2'] img\")"
    page.wait(f"{pictures}?.complete && {pictures}.naturalWidth > 100")
    assert "comparison.csv" in section.text

    page.button("Export")
    page.wait("document.querySelector('.job-dialog select') === document.activeElement")
    page.press_text("Cancel")
    page.click_empty()
    page.press("E")
    page.wait("document.querySelector('.job-dialog select') === document.activeElement")
    page.press_text("Export")
    section = ended(page, "C code 3")
    assert section.find_element("css selector", "a[aria-label$='save all files']")
    page.press_text("Export…")
    page.wait("document.querySelector('.job-dialog select')").send_keys("Picture")
    page.press_text("Export")
    assert "loop.svg" in ended(page, "Picture of the diagram 4").text
    page.button("Remove C code 3")
    page.wait(f"{JOBS}.length === 3")


def test_a_job_that_is_refused_says_why(page):
    page.open("loop.yaml", LOOP)
    page.click_empty()
    page.press("E")
    page.wait("document.querySelector('.job-dialog select')")
    page.browser.find(".job-dialog [aria-label='part 1']").send_keys("nothing" + Keys.ENTER)
    failed = "document.querySelector('.jobs .job.failed')"
    page.wait(f"{failed}?.innerText.includes('nothing')")
    notice = "document.querySelector('.notice.fault')"
    assert "nothing" in page.wait(f"{notice}?.innerText")


def commit(folder, message):
    author = ("-c", "user.name=Ada", "-c", "user.email=ada@example.org")
    for words in (("init", "-q"), ("add", "."), ("commit", "-q", "-m", message)):
        subprocess.run(["git", *author, *words], cwd=folder, check=True, capture_output=True)


def test_what_has_changed_since_a_commit_is_marked_and_leads_to_its_block(page):
    (page.root / "drawn.yaml").write_text(LOOP)
    commit(page.root, "The loop as it was")
    page.open("drawn.yaml")
    page.click_empty()
    page.press("D")
    choice = page.wait("document.querySelector('.change-list select')")
    choice.send_keys("the last commit")
    page.wait("document.querySelector('.change-list')?.innerText.includes('both mean the same')")
    page.click("scope")
    page.press("DELETE")
    marked = "document.querySelector(`.changes [data-block='${arguments[0]}']`)"
    page.wait(f"{marked}?.matches('.mark-gone')", "scope")
    page.wait("document.querySelector('.mark-wire.removed')")
    page.click("goal")
    page.wait("document.querySelector('.field [name=T]')")
    page.fill(page.field("T"), "0.5", Keys.ENTER)
    page.wait(f"{marked}?.matches('.mark-block.changed')", "goal")
    lines = "[...document.querySelectorAll('button.change')]"
    button = page.wait(f"{lines}.find((one) => one.innerText.includes('goal.T'))")
    assert "0 → 0.5" in " ".join(button.text.split())
    page.click("x")
    page.selects("x")
    page.focus(button)
    page.browser.drawn()
    page.press("ENTER")
    page.selects("goal")
    page.click_empty()
    page.press("Ctrl+z", "Ctrl+z")
    page.wait("document.querySelector('.change-list')?.innerText.includes('both mean the same')")
    page.press_text("End comparing")
    page.wait("!document.querySelector('.changes')")


def test_a_design_is_tuned_from_its_form(page):
    """x = 1 - exp(-k t) is a half at the end, t = 1, with k = log 2."""
    page.open("loop.yaml", LOOP + "tune: {parameters: {k: [0.1, 9]}, samples: 4}\n")
    page.click_empty()
    page.press("T")  # with Shift
    label = "[...document.querySelectorAll('.job-dialog label')].find((one) => one.innerText === "
    field = f"document.getElementById({label}'minimize')?.htmlFor)"
    page.wait(field).send_keys("(0.5 - final(x))**2" + Keys.ENTER)
    design = f"{JOBS}.find((one) => one.ariaLabel.startsWith('Design'))"
    page.wait(f"{design}?.className.includes('ended')")
    text = page.browser.run(f"return {design}.innerText")
    assert "Open the report" in text
    assert "0.69314" in page.browser.run(f"return {design}.textContent")


def test_controls_are_found_from_their_form(page):
    """x' = 2 (goal - x) from 0 with goal <= 2 is 1 after log(2) / 2 s at the earliest."""
    asked = (
        "optimize: {controls: {goal.on: [0, 2]}, T: [0.1, 5], end: {x: 1}, mesh: {intervals: 4}}\n"
    )
    page.open("loop.yaml", LOOP + asked)
    page.click_empty()
    page.press("O")  # with Shift
    label = "[...document.querySelectorAll('.job-dialog label')].find((one) => one.innerText === "
    field = f"document.getElementById({label}'minimize')?.htmlFor)"
    page.wait(field).send_keys("duration" + Keys.ENTER)
    found = f"{JOBS}.find((one) => one.ariaLabel.startsWith('Optimum'))"
    page.wait(f"{found}?.className.includes('ended')")
    assert "Open the report" in page.browser.run(f"return {found}.innerText")
    assert "0.34657" in page.browser.run(f"return {found}.textContent")
