"""Working on the sheet in Chromium: looks, notes, areas, wires that take blocks, and the menu."""

from __future__ import annotations

import shutil

import pytest
from browsers import needs_chromium
from diagram_pages import LOOP, DiagramPage
from selenium.webdriver.common.action_chains import ActionChains
from studio_pages import in_browser

pytestmark = needs_chromium

SPARE = LOOP.replace("wires:", "  spare: {type: GAIN, K: 3}\nwires:")
INNER = """\
name: nested
subsystems:
  law:
    inputs: [e]
    outputs: [u]
    blocks: {k: {type: GAIN, K: 2}}
    wires: [in.e -> k, k -> out.u]
blocks:
  goal: {type: STEP, T: 0}
  law: {type: law}
  send: {type: GOTO, tag: speed}
  take: {type: FROM, tag: speed}
  scope: {type: SCOPE}
wires: [goal -> law.e, law.u -> send, take -> scope]
run: {T: 1}
"""
MENU = "[...document.querySelectorAll('dialog.menu [role=menuitem]')]"


@pytest.fixture(scope="module")
def page(browser, tmp_path_factory):
    root = tmp_path_factory.mktemp("project")
    shutil.copytree("models", root / "models")
    (root / "spart.toml").write_text("")
    (root / "first.yaml").write_text(LOOP)
    with in_browser(browser, root, "first.yaml") as studio:
        browser.wait("document.querySelector('.palette details')")  # the types are there
        page = DiagramPage(browser, root)
        page.studio = studio
        yield page


@pytest.fixture
def loop(page, request):
    return page.open(f"{request.node.name}.yaml", LOOP)


def undone(page, text=LOOP):
    """Undo until the file is what it was."""
    while page.text != text:
        before = page.text
        page.press("Ctrl+z")
        page.until(lambda before=before: page.text != before, "undone")


def menu_at(page, element):
    ActionChains(page.driver).context_click(element).perform()
    return shown_menu(page)


def shown_menu(page):
    page.wait(f"{MENU}.length > 0")
    return page.browser.run(f"return {MENU}.map((one) => one.firstChild.textContent)")


def take(page, label):
    """Take the command of the open menu that begins with a text."""
    find = f"{MENU}.find((one) => one.textContent.startsWith(arguments[0]))"
    page.wait(find, label).click()


def test_blocks_are_flipped_turned_and_coloured_and_their_wires_follow(loop):
    loop.click("gain")
    loop.press("Ctrl+i")
    loop.written("drawing:\n  looks:\n    gain: {facing: left}")
    port, block = loop.port("gain", "0", True), loop.node("gain")
    loop.until(lambda: port.rect["x"] < block.rect["x"] + 5, "the output at the left")
    line = loop.line("gain -> x")
    assert line.startswith("M")
    loop.press("Ctrl+r")
    loop.written("gain: {facing: up}")
    loop.press("Ctrl+r")  # right again, as nothing says
    loop.until(lambda: loop.text == LOOP, "as it was")
    loop.press("c")
    loop.choose("violet")
    loop.written("gain: {colour: violet}")
    loop.wait("document.querySelector('.tint-violet.block')")
    loop.press("h")
    loop.written("gain: {colour: violet, name: false}")
    loop.wait("!document.querySelector(`[data-id='gain'] .block-name`)")
    loop.press("F2")  # on the sheet, also where the name is hidden
    loop.wait("document.activeElement.matches('input.block-name')")
    loop.type("k")
    loop.press("ENTER")
    loop.written("k: {colour: violet, name: false}", "error -> k")
    undone(loop)


def test_notes_are_written_moved_and_removed_with_the_keyboard(loop):
    loop.click("x")
    loop.press("n")
    loop.wait("document.activeElement.matches('textarea.writer')")
    loop.type("the state")
    loop.press("ENTER")
    loop.type("of the plant")
    loop.press("Ctrl+ENTER")
    loop.written(r"notes:", r'text: "the state\nof the plant"', "by: x}")
    loop.wait("document.querySelector('.note .handle')?.innerText.includes('of the plant')")
    note = loop.browser.find(".note .handle")
    before = note.rect
    note.click()
    loop.press("F2")
    loop.wait("document.activeElement.matches('textarea.writer')")
    loop.type("changed")
    loop.press("Ctrl+ENTER")
    loop.written('text: "changed"')
    loop.browser.find(".note .handle").click()
    loop.press("ARROW_UP", "ARROW_UP")
    loop.until(lambda: "-64" in loop.text, "moved up")
    assert loop.browser.find(".note .handle").rect["y"] < before["y"]
    loop.press("DELETE")
    loop.until(lambda: loop.text == LOOP, "removed")
    undone(loop)
    loop.press("ESCAPE")


def test_an_area_moves_with_what_lies_in_it_and_blocks_are_put_into_it_and_out(loop):
    loop.click("error")
    loop.click("gain", loop.SHIFT)
    loop.press("b")
    loop.wait("document.activeElement.matches('textarea.writer')")
    loop.type("Controller")
    loop.press("ENTER")
    loop.written("areas:\n    - {title: Controller, blocks: [error, gain]}")
    text = loop.text
    before, x = loop.box("gain"), loop.box("x")
    loop.wait("document.querySelector('.area .handle')")
    title = loop.browser.find(".area .handle")
    ActionChains(loop.driver).drag_and_drop_by_offset(title, 30, -60).perform()
    loop.wait("document.querySelector('.said, .unseen[role=status]').textContent.includes('move')")
    after = loop.box("gain")
    assert (after[0] > before[0] + 20, after[1] < before[1] - 40) == (True, True)
    assert loop.box("x") == x
    assert loop.text == text, "places are no part of the file"
    loop.browser.drawn()
    area = loop.browser.find(".area").rect
    node = loop.node("goal")
    at = node.rect
    dx = area["x"] + area["width"] / 2 - at["x"] - at["width"] / 2
    dy = area["y"] + area["height"] / 2 - at["y"] - at["height"] / 2
    loop.drag(node, (4, 4), (int(dx), int(dy)))
    loop.written("blocks: [error, gain, goal]")
    loop.drag(loop.node("goal"), (4, 4), (0, 260))
    loop.written("blocks: [error, gain]}")
    loop.browser.find(".area .handle").click()
    loop.press("c")
    loop.choose("green")
    loop.written("colour: green")
    loop.browser.find(".area .handle").click()
    loop.press("DELETE")
    loop.until(lambda: loop.text == LOOP, "removed; its blocks stay")
    loop.has("goal", "error", "gain", "x", "scope")
    undone(loop)


def test_a_block_is_inserted_into_a_wire_by_key_drop_and_drag(page):
    loop = page.open("inserted.yaml", SPARE)
    edge = ".react-flow__edge[data-id='gain -> x']"
    loop.browser.run(f"document.querySelector(`{edge} .react-flow__edge-interaction`).dispatchEvent"
                     "(new MouseEvent('click', {bubbles: true}))")  # fmt: skip
    loop.wait(f"document.querySelector(`{edge} .chosen`)")
    loop.press("Ctrl+k")
    loop.choose("saturat")
    loop.until(lambda: "gain -> saturat" in loop.text, "inserted")
    assert "gain -> x" not in loop.text
    loop.press("ESCAPE", "Ctrl+z")
    loop.until(lambda: loop.text == SPARE, "undone")
    loop.wait(f"document.querySelector(`{edge} .line`)")
    line = loop.browser.find(f"{edge} .line").rect
    spare = loop.node("spare")
    at = spare.rect
    middle = line["x"] + line["width"] / 2, line["y"] + line["height"] / 2
    dx = middle[0] - at["x"] - at["width"] / 2
    dy = middle[1] - at["y"] - at["height"] / 2
    loop.drag(spare, (4, 4), (int(dx), int(dy)), release=False)
    onto = loop.browser.run("return document.querySelectorAll('.wire.onto').length")
    loop.drag_end()
    assert onto == 1
    loop.written("gain -> spare", "spare -> x")
    undone(loop, SPARE)


def test_a_block_on_which_a_type_is_dropped_is_replaced(loop):
    loop.browser.find(".palette input").send_keys("saturation")
    loop.wait("document.querySelector('.palette li button')")
    item = loop.browser.find(".palette li button")
    loop.browser.drawn()
    ActionChains(loop.driver).drag_and_drop(item, loop.node("gain")).perform()
    loop.until(lambda: "gain: {type: SATURATION" in loop.text, "replaced")
    assert "error -> gain" in loop.text
    loop.wait("document.querySelector('.notice')?.innerText.includes('without K')")
    loop.click_empty()
    undone(loop)


def test_the_menu_has_the_commands_for_what_is_there_by_mouse_and_key(loop):
    labels = menu_at(loop, loop.node("gain"))
    assert {"flip", "rotate", "remove", "copy", "write a note"} <= set(labels)
    assert "undo" not in labels
    loop.selects("gain")
    take(loop, "flip")
    loop.written("gain: {facing: left}")
    loop.wait("!document.querySelector('dialog.menu')")
    loop.press("Shift+F10")
    loop.wait(f"{MENU}.includes(document.activeElement)")
    loop.press("ARROW_DOWN", "r")
    loop.wait("document.activeElement.textContent.startsWith('r')")
    loop.press("ESCAPE")
    loop.wait("!document.querySelector('dialog.menu')")
    loop.at_empty().context_click().perform()
    labels = shown_menu(loop)
    assert "paste" in labels
    assert "flip" not in labels
    loop.press("ESCAPE")
    undone(loop)


def test_a_signal_is_followed_to_its_source_and_where_it_goes(page):
    nested = page.open("nested.yaml", INNER)
    nested.click("scope")
    nested.press("[")  # FROM, its GOTO, and into the subsystem
    nested.selects("k")
    nested.wait("document.querySelector('.breadcrumbs').innerText.includes('law')")
    nested.press("[")  # out of it
    nested.selects("goal")
    nested.press("]")
    nested.selects("k")
    nested.press("]")
    nested.selects("scope")


def test_names_of_signals_and_the_whole_sheet_are_shown_when_asked(loop):
    loop.browser.find(".react-flow__pane").click()
    loop.press("l", "m")
    names = "[...document.querySelectorAll('.wire text')].map((one) => one.textContent)"
    loop.wait(f"{names}.some((one) => one.startsWith('goal'))")
    loop.wait("document.querySelector('.minimap .seen')")
    loop.press("l", "m")
    loop.wait("!document.querySelector('.minimap, .wire text')")
