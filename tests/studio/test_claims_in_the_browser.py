"""Claims in the page, in Chromium: written from a scope, tested, failed by a change, taken back."""

from __future__ import annotations

import pytest
from browsers import needs_chromium
from diagram_pages import LOOP, DiagramPage
from selenium.webdriver.common.keys import Keys
from studio_pages import in_browser

pytestmark = needs_chromium
ROWS = "[...document.querySelectorAll('.tests .claim')].map((row) => row.innerText)"
VALUES = (
    "Object.fromEntries([...document.querySelectorAll('.claim-form label')].map((one) => "
    "[one.innerText.split(/[ *\\n]/)[0], one.querySelector('input, select').value]))"
)
FINAL = "    - {signal: x, value: 0.8647, within: 0.009}\n"


@pytest.fixture(scope="module")
def page(browser, tmp_path_factory):
    root = tmp_path_factory.mktemp("project")
    (root / "spart.toml").write_text("")
    (root / "first.yaml").write_text(LOOP)
    with in_browser(browser, root, "first.yaml"):
        browser.wait("document.querySelector('.palette details')")  # the types are there
        yield DiagramPage(browser, root)


@pytest.fixture
def loop(page, request):
    page.open(f"{request.node.name}.yaml", LOOP)
    page.browser.find("#tab-tests").click()
    return page


def press(page, text):
    """Press the button with a text, or with this name."""
    buttons = (
        "[...document.querySelectorAll('button:enabled')].find((one) => "
        "one.textContent.trim() === arguments[0] || one.ariaLabel === arguments[0])"
    )
    page.wait(buttons, text).click()


def rows(page, *parts):
    """Wait until the only claim's row has these texts."""
    for part in parts:
        page.wait(f"{ROWS}.length === 1 && {ROWS}[0].includes(arguments[0])", part)


def set_field(page, name, text):
    """Type a value into a field of the form at the right."""
    page.fill(page.field(name), text, Keys.ENTER)


def fill(page, label, text):
    """Type a value into the form of a claim."""
    field = page.wait(
        "[...document.querySelectorAll('.claim-form label')].find((one) => "
        "one.innerText.startsWith(arguments[0]))?.querySelector('input')", label,
    )  # fmt: skip
    page.fill(field, text)


def choose_kind(page, kind):
    from selenium.webdriver.support.ui import Select

    page.wait("document.querySelector('.claim-form select')")
    Select(page.browser.find(".claim-form select")).select_by_value(kind)


def test_a_claim_from_a_scope_passes_fails_after_a_change_and_is_taken_back(loop):
    press(loop, "Run")
    loop.wait("document.querySelector('.run-state.ended')")
    loop.browser.find("#tab-scopes").click()
    press(loop, "Claim…")
    loop.wait(f"{VALUES}.value")
    assert loop.browser.run(f"return {VALUES}") == {
        "claim": "final", "signal": "x", "value": "0.8647", "within": "0.009"}  # fmt: skip
    press(loop, "Add the claim")
    loop.written("expect:\n  final:\n" + FINAL)
    assert loop.text == LOOP + "expect:\n  final:\n" + FINAL
    rows(loop, "not judged yet", "final x", "value 0.8647, within 0.009")

    press(loop, "Run the test")
    rows(loop, "✓ passed", "got 0.86466", "expected 0.8647 within 0.009")
    assert "✓ The diagram passed." in loop.browser.find(".test-state").text
    set_field(loop, "k", "3")
    loop.written("params: {k: 3} # 1/s")
    rows(loop, "passed", "before the last change")
    press(loop, "Run the test")
    rows(loop, "✗ failed", "got 0.95021", "off by 0.0855")
    assert "✗ The diagram failed." in loop.browser.find(".test-state").text

    loop.browser.find(".time-bar [type=range]").send_keys("\ue011")  # Home
    loop.browser.find("#tab-tests").click()
    press(loop, "Show x at 1 s")
    loop.wait("document.querySelector('.scope') && "
              "document.querySelector('.time-bar input').valueAsNumber === 1")  # fmt: skip
    for _ in range(2):
        before = loop.text
        loop.press("Ctrl+z")
        loop.until(lambda before=before: loop.text != before, "undone")
    assert loop.text == LOOP


def test_claims_are_changed_removed_and_refused_before_they_are_written(loop):
    press(loop, "Add a claim…")
    choose_kind(loop, "stays_within")
    fill(loop, "signal", "nothing")
    fill(loop, "high", "1.5")
    press(loop, "Add the claim")
    alert = "document.querySelector('.claim-form [role=alert]')?.innerText"
    assert "nothing" in loop.wait(alert)
    assert loop.text == LOOP
    fill(loop, "signal", "x")
    press(loop, "Add the claim")
    claim = "expect:\n  stays_within:\n    - {signal: x, high: 1.5}\n"
    loop.written(claim)
    rows(loop, "stays_within x", "high 1.5")

    press(loop, "Change stays_within x")
    fill(loop, "high", "0.5")
    fill(loop, "low", "-1")
    loop.press("ENTER")
    loop.written("{signal: x, high: 0.5, low: -1}")
    press(loop, "Run the test")
    rows(loop, "✗ failed", "expected between -1 and 0.5")
    press(loop, "Remove stays_within x")
    loop.until(lambda: loop.text == LOOP + "expect: {}\n", "removed")
    loop.press("Ctrl+z", "Ctrl+z", "Ctrl+z")
    loop.until(lambda: loop.text == LOOP, "undone")


def test_a_baseline_is_recorded_and_overwritten_when_it_is_said(loop):
    file = loop.root / "baselines" / f"{loop.file.stem}.csv"
    press(loop, "Add a claim…")
    choose_kind(loop, "baseline")
    press(loop, "Add the claim")
    loop.written("expect:\n  baseline: true\n")
    press(loop, "Record the baseline")
    rows(loop, "✓ recorded")
    before = file.read_text()
    set_field(loop, "k", "3")
    loop.written("k: 3")
    press(loop, "Record the baseline")
    rows(loop, "would change")
    shown = loop.browser.find(".baseline-change").text
    assert f"baselines/{file.name} would change" in shown
    assert "x: by 0.148 at most" in shown
    assert file.read_text() == before
    press(loop, "Overwrite the baseline")
    rows(loop, "✓ recorded")
    assert file.read_text() != before
    press(loop, "Run the test")
    rows(loop, "✓ passed", "got 0.", "off by ")


def test_a_test_is_stopped(page):
    text = LOOP.replace("{T: 1}", "{T: 1500, max_step: 1e-3}")
    claim = "expect: {final: [{signal: x, value: 1, within: 0.1}]}\n"
    loop = page.open("long.yaml", text + claim)
    loop.browser.find("#tab-tests").click()
    press(loop, "Run the test")
    loop.wait("document.querySelector('.test-progress progress')?.value > 0")
    assert " of 1500 s" in loop.browser.find(".test-progress").text
    press(loop, "Stop the test")
    loop.wait("document.querySelector('.test-state')?.innerText.includes('was stopped')")
    rows(loop, "not judged yet")
