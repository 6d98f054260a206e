"""The text beside the sheet in Chromium: live both ways, completed, checked, with one history."""

from __future__ import annotations

import pytest
from asking import ARM
from browsers import needs_chromium
from diagram_pages import LOOP, DiagramPage
from studio_pages import in_browser

pytestmark = needs_chromium

LINES = "[...document.querySelectorAll('.code .cm-line')].map((line) => line.textContent)"
CARET = "document.querySelector('.code .cm-activeLine')?.textContent"
IN_TEXT = "document.activeElement.matches('.code .cm-content')"


class CodePage(DiagramPage):
    """The page with the text open."""

    def lines(self):
        return self.browser.run(f"return {LINES}")

    def has_line(self, text):
        self.wait(f"{LINES}.includes(arguments[0])", text)

    def caret_in(self, text):
        """Wait until the caret is in this line."""
        self.wait(f"({CARET})?.trim() === arguments[0]", text)

    def show_text(self):
        self.press("Ctrl+e")
        self.wait(f"{IN_TEXT} && {LINES}.length > 1")
        self.browser.drawn()  # the sheet has its new width

    def complete(self):
        """Take the first that is offered. It takes keys when it has been there for a moment."""
        self.wait("document.querySelector('.cm-tooltip-autocomplete [aria-selected]')")
        self.browser.run("window.offered = performance.now()")
        self.wait("performance.now() - window.offered > 100")
        self.press("ENTER")
        self.wait("!document.querySelector('.cm-tooltip-autocomplete')")

    def state(self):
        return self.browser.find(".code-state").text


@pytest.fixture(scope="module")
def page(browser, tmp_path_factory):
    root = tmp_path_factory.mktemp("project")
    (root / "spart.toml").write_text("")
    (root / "first.yaml").write_text(LOOP)
    with in_browser(browser, root, "first.yaml"):
        browser.wait("document.querySelector('.palette details')")  # the types are there
        page = CodePage(browser, root)
        yield page
        assert browser.complaints() == []  # the page's policy is kept


@pytest.fixture
def code(page, request):
    page.open(f"{request.node.name}.yaml", LOOP)
    yield page
    page.browser.run("document.querySelector('[aria-label=\"Close the text\"]')?.click()")


def test_what_is_typed_is_on_the_sheet_and_what_is_done_there_in_the_text(code):
    code.click("gain")
    code.show_text()
    code.caret_in("gain: {type: GAIN, K: $k}")
    code.press("END", "ENTER")
    code.type("lim: {type: SATU")
    code.complete()
    code.type(", low")
    code.complete()
    code.type("-1, upper: 1")
    code.has("goal", "error", "gain", "lim", "x", "scope")
    line = "  lim: {type: SATURATION, lower: -1, upper: 1}\n"
    after = LOOP.replace("$k}\n", "$k}\n" + line)
    assert code.text == after
    code.selects("lim")  # the caret is in it
    code.drag(code.node("lim"), (40, 90), (20, 40))
    code.click("x")  # by mouse: the text goes to it
    code.caret_in("x: {type: INTEGRATOR}")
    code.press("DELETE")
    code.has("goal", "error", "gain", "lim", "scope")
    code.wait(f"!{LINES}.some((line) => line.includes('INTEGRATOR'))")
    code.click("goal")
    code.browser.find(".code .cm-content").click()
    for _ in range(8):
        if code.text == LOOP:
            break
        before = code.text
        code.press("Ctrl+z")
        code.until(lambda before=before: code.text != before or code.text == after, "undone")
    code.until(lambda: code.text == LOOP, "all undone")
    code.press("Ctrl+y")
    code.until(lambda: code.text != LOOP, "done again")


def test_while_the_text_is_wrong_the_sheet_stays_and_typing_is_taken_back_first(code):
    code.show_text()
    code.click("gain")
    code.caret_in("gain: {type: GAIN, K: $k}")
    code.press("Ctrl+e")
    code.wait(IN_TEXT)
    code.press("END", "BACKSPACE")
    code.wait("document.querySelector('.code .cm-lintRange')")
    code.wait("document.querySelector('.code-state.wrong')")
    assert "Not written" in code.state()
    assert "YAML" in code.state()
    assert code.text == LOOP
    code.press("Ctrl+z")
    code.wait("!document.querySelector('.code .cm-lintRange, .code-state.wrong')")
    code.has_line("  gain: {type: GAIN, K: $k}")
    code.press("END", "ARROW_LEFT")
    code.type(", Q: 1")
    code.wait("document.querySelector('.wrong.block')")  # at its block as well
    assert code.text == LOOP
    code.press("Ctrl+s")
    code.written("K: $k, Q: 1}")
    code.wait("document.querySelector('.problems-head')")
    code.press("Ctrl+z")
    code.until(lambda: code.text == LOOP, "undone in the file")
    code.has_line("  gain: {type: GAIN, K: $k}")
    code.press("ESCAPE")
    code.wait("document.activeElement.matches('.react-flow__node')")


def test_the_caret_and_the_selection_go_through_subsystems_and_wires(code):
    code.open("arm.yaml", ARM)
    code.show_text()
    code.press("Ctrl+f")
    code.wait("document.activeElement.matches('.cm-search input')")
    code.type("law:")
    code.press("ENTER", "ESCAPE")
    code.wait("document.querySelector('.react-flow__node.selected')?.dataset.id === 'law'")
    assert code.crumbs()[1] == "one"
    code.press(*4 * ["ARROW_DOWN"])  # to a wire of it; the first leaves what was found
    code.caret_in("- in.goal -> error.0")
    code.wait("document.querySelector('.wire.chosen')")
    code.browser.find(".code-head select").send_keys("Selected")
    code.click("x")
    code.wait(f"{LINES}.length === 1 && {LINES}[0] === '      x: {{type: INTEGRATOR}}'")
    code.browser.find(".code .cm-line").click()
    code.press("Ctrl+a")
    code.type("      x: {type: INTEGRATOR, x0: 2}")
    code.written("      x: {type: INTEGRATOR, x0: 2}\n    wires:")
    assert code.text == ARM.replace("INTEGRATOR}", "INTEGRATOR, x0: 2}")


def test_a_change_elsewhere_leaves_the_caret_and_what_is_typed(code):
    code.show_text()
    code.click("scope")
    code.caret_in("scope: {type: SCOPE}")
    code.press("Ctrl+e")
    code.press("END", "ARROW_LEFT")
    code.type(", nonsense")
    code.wait("document.querySelector('.code-state.wrong')")
    code.file.write_bytes(code.text.replace("name: loop", "# above\nname: other").encode())
    code.has_line("name: other")
    code.has_line("  scope: {type: SCOPE, nonsense}")
    for _ in "nonsense, ":
        code.press("BACKSPACE")
    code.type(", nin: 1")
    code.written("# above\nname: other", "  scope: {type: SCOPE, nin: 1}")
