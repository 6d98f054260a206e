"""Windows of values in Chromium: cells, tables with curves, lines of formulas."""

from __future__ import annotations

import pytest
from browsers import needs_chromium
from diagram_pages import DiagramPage
from studio_pages import in_browser

from spart_blocks.base.document import parse_document

pytestmark = needs_chromium

TEXT = """\
blocks:
  step: {type: STEP}
  table: {type: LOOKUP, x: [0, 1, 2], y: [0, 2, 1]} # measured
  gain: {type: GAIN, K: 2}
  law: {type: FCN, expression: "2*u"}
  scope: {type: SCOPE, nin: 3}
wires:
  - step -> table, gain, law
  - table -> scope.0
  - gain -> scope.1
  - law -> scope.2
"""
IN_FIELD = "document.activeElement.matches('.field textarea[name=\"{}\"]')"


class ValuePage(DiagramPage):
    """The page with the window of a value."""

    def show(self, block, field, key):
        """Open the window of a field by a key in it."""
        self.click(block)
        self.wait("document.querySelector(`.field textarea[name='${arguments[0]}']`)", field)
        self.browser.find(f".field textarea[name='{field}']").click()
        self.press(key)
        self.wait("document.querySelector('dialog.value-dialog[open]')")

    def keep(self, field):
        """Keep what the window has; the focus is in the field again."""
        self.press("Ctrl+ENTER")
        self.wait("!document.querySelector('dialog[open]')")
        self.wait(IN_FIELD.format(field))


@pytest.fixture(scope="module")
def page(browser, tmp_path_factory):
    root = tmp_path_factory.mktemp("project")
    (root / "spart.toml").write_text("")
    (root / "first.yaml").write_text(TEXT)
    with in_browser(browser, root, "first.yaml"):
        browser.wait("document.querySelector('.palette details')")  # the types are there
        yield ValuePage(browser, root)


@pytest.fixture
def values(page, request):
    return page.open(f"{request.node.name}.yaml", TEXT)


def test_a_table_is_typed_and_its_points_are_moved(values):
    values.show("table", "y", "F4")
    values.wait("document.activeElement.dataset.cell === '0,0'")
    values.press("ARROW_DOWN", "ARROW_RIGHT")
    values.type("3")
    values.wait("document.querySelectorAll('.curve circle').length === 3")
    values.browser.run("document.querySelectorAll('.curve circle')[2].focus()")
    values.press("ARROW_UP", "ARROW_UP")  # by a hundredth of the range of 3
    point = values.browser.find(".curve circle:nth-of-type(1)")
    values.drag(point, (0, -40))
    values.keep("y")
    line = next(line for line in values.text.splitlines() if "LOOKUP" in line)
    assert line.startswith("  table: {type: LOOKUP, x: [0, 1, 2], y: [0.")
    assert line.endswith(", 3, 1.06]} # measured")
    values.press("ESCAPE", "Ctrl+z")
    values.until(lambda: values.text == TEXT, "one step of the history")


def test_a_matrix_is_pasted_from_a_spreadsheet_and_escape_keeps_nothing(values):
    values.show("gain", "K", "F4")
    values.paste("1\t2\n3\t4\n")
    values.press("ESCAPE")
    values.wait("!document.querySelector('dialog[open]')")
    values.wait(IN_FIELD.format("K"))
    assert values.text == TEXT
    values.press("F4")
    values.wait("document.activeElement.dataset.cell === '0,0'")
    values.paste("1\t2\n3\t4\n")
    values.press_text("Add a row")
    values.wait("document.activeElement.dataset.cell === '2,0'")
    values.type("5")
    values.press("TAB")
    values.type("6")
    values.press_text("Transpose")
    values.wait("document.querySelectorAll('.value-dialog td input').length === 6")
    values.press_text("Text")
    field = values.wait("document.querySelector('.value-dialog textarea')")
    assert field.get_attribute("value") == "[[1, 3, 5], [2, 4, 6]]"
    values.press_text("Keep")
    values.written("K: [[1, 3, 5], [2, 4, 6]]}")


def test_formulas_are_lines_with_their_arguments(values):
    values.click("law")
    values.wait("document.querySelector('[aria-label=\"Open expression in a window\"]')").click()
    values.wait("document.activeElement.matches('.value-dialog textarea')")
    values.press("END", "ENTER")
    values.type("a +\n  1")
    values.wait("document.querySelector('.value-dialog .wrong-text')")  # there is no a
    values.browser.find(".value-dialog .arguments").click()
    values.type("u, a")
    values.keep("expression")
    values.written("arguments: [u, a]")
    law = parse_document(values.text, "it").data["blocks"]["law"]
    assert law["expression"] == ["2*u", "a + 1"]
    values.press("Alt+ENTER")
    values.wait("document.activeElement.matches('.value-dialog textarea')")
    values.press("ESCAPE")
    values.wait(IN_FIELD.format("expression"))
