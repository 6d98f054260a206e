"""Diagrams worked on in Chromium: each edit is in the file, and is taken back to the byte."""

from __future__ import annotations

import shutil

import pytest
from browsers import chromium_only, needs_chromium
from diagram_pages import BOX, LOOP, DiagramPage
from selenium.webdriver.common.keys import Keys
from studio_pages import in_browser

pytestmark = needs_chromium


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


NAMING = "document.activeElement.matches('input.block-name')"


def undone(page):
    """Undo until the file is what it was."""
    page.wait("!document.querySelector('.form-panel [data-draft]')")  # what is typed has arrived
    while page.text != LOOP:
        before = page.text
        page.press("Ctrl+z")
        page.until(lambda before=before: page.text != before, "undone")


def test_a_block_is_added_by_what_another_tool_calls_it(loop):
    loop.at_empty().double_click().perform()
    loop.choose("unit delay")
    loop.until(lambda: len(loop.blocks()) == 6, "added")
    (added,) = loop.blocks() - {"goal", "error", "gain", "x", "scope"}
    loop.selects(added)
    undone(loop)


def test_a_block_is_added_by_its_name_with_the_keyboard(loop):
    loop.press("Ctrl+k")
    loop.choose("saturat")
    loop.until(lambda: len(loop.blocks()) == 6, "added")
    loop.press("Ctrl+z")
    loop.has("goal", "error", "gain", "x", "scope")
    assert loop.text == LOOP
    loop.press("Ctrl+Shift+z")
    loop.until(lambda: len(loop.blocks()) == 6, "added again")
    undone(loop)


def test_a_wire_dropped_on_the_empty_sheet_brings_its_block(loop):
    loop.drag(loop.port("gain", "0", True), (20, 60), (20, 60))
    loop.choose("scope")
    loop.until(lambda: "wire from gain to scope2" in loop.wires(), "wired")
    loop.written("scope2: {type: SCOPE}")
    loop.press("Ctrl+z")  # block and wire are one edit
    loop.has("goal", "error", "gain", "x", "scope")
    assert loop.text == LOOP


def test_a_dropped_wire_offers_what_fits_best_first(loop):
    loop.drag(loop.port("gain", "0", True), (20, 60), (20, 60))
    names = "[...document.querySelectorAll('dialog[open] [role=option] .choice-name')]"
    first = f"{names}.slice(0, 3).map((one) => one.textContent).join()"
    loop.wait(f"{first} === 'GAIN,SUM,SCOPE'")
    loop.press("ESCAPE")


def test_keys_of_the_sheet_work_while_a_button_has_the_focus(loop):
    view = "getComputedStyle(document.querySelector('.react-flow__viewport')).transform"
    loop.press("f")
    loop.browser.drawn()
    whole = loop.browser.run(f"return {view}")
    loop.browser.find(".canvas-tools button[aria-label^='See the whole']").click()
    loop.press("+")
    loop.wait(f"{view} !== arguments[0]", whole)
    loop.press("f")
    loop.wait(f"{view} === arguments[0]", whole)
    loop.click("gain")
    loop.browser.find("#tab-scopes").click()
    loop.press("DELETE")  # of the panel, not of the block
    loop.press("ESCAPE")
    loop.selects()
    assert loop.text == LOOP


def test_a_new_group_is_wired_by_keys_typed_at_once(loop):
    loop.click("gain")
    loop.press("Ctrl+g")
    loop.wait("document.activeElement.matches('.ask input')")
    loop.type("part" + Keys.ENTER + "w" + "output")
    names = "[...document.querySelectorAll('dialog[open] [role=option] .choice-name')]"
    loop.wait(f"{names}[0]?.textContent.startsWith('output ')")
    assert loop.browser.run("return document.activeElement.value") == "output"
    loop.press("ESCAPE")
    loop.selects("part")


def test_a_block_that_grows_stays_in_view_with_its_ports(page):
    text = LOOP.replace("{type: GAIN, K: $k}", "{type: LTI_SISO, N: [1], D: [1, 1]}")
    loop = page.open("grows.yaml", text)
    loop.click("scope")
    right = "(() => document.querySelector('.sheet').getBoundingClientRect().right)()"
    x, _, width, _ = loop.box("gain")
    loop.pan(loop.browser.run(f"return {right}") - x - width - 10, 0)
    loop.click("gain")
    loop.browser.drawn()
    loop.fill(loop.browser.find(".form-panel .field [name=D]"), "[1, 2.25, 3.75]", Keys.ENTER)
    loop.written("D: [1, 2.25, 3.75]")
    loop.until(lambda: loop.box("gain")[2] > width, "grown")
    x, _, width, _ = loop.box("gain")
    loop.until(
        lambda: sum(loop.box("gain")[::2]) <= loop.browser.run(f"return {right}"),
        "its port in view",
    )


def test_names_of_signals_and_the_small_map_are_kept_for_the_file(loop):
    loop.press("l", "m")
    loop.wait("document.querySelector('.minimap')")
    loop.browser.driver.refresh()
    loop.wait("document.querySelector('.minimap')")
    loop.press("m", "l")
    loop.wait("!document.querySelector('.minimap')")
    loop.browser.driver.refresh()
    loop.wait("document.querySelector('.react-flow__node')")
    assert not loop.browser.run("return document.querySelector('.minimap')")


def test_a_bus_creator_that_is_inserted_into_a_wire_names_its_signal(loop):
    loop.click_wire("gain -> x")
    loop.press("Ctrl+k")
    loop.choose("BUS_CREATOR")
    loop.written("gain -> bus_creator.gain")
    undone(loop)


def test_a_new_block_is_wired_to_the_port_of_the_same_name(page):
    text = "robots:\n  arm: {urdf: models/spacecraft_3dof.urdf}\n"
    text += "blocks:\n  plant: {type: MULTIBODY, robot: arm}\n"
    page.open("arm.yaml", text)
    page.drag(page.port("plant", "wFm", False), (-20, 60), (-20, 60))
    page.choose("GRAVITY")
    page.written("gravity.wFm -> plant.wFm")


def test_a_new_block_is_named_in_place_and_tab_leads_to_its_parameters(loop):
    loop.press("Ctrl+k")
    loop.choose("joint pd")
    loop.wait(NAMING)
    loop.type("ctrl")
    loop.press("TAB")
    loop.written("ctrl: {type: JOINT_PD}")
    loop.wait("document.activeElement.name === 'kp'")  # the first that it needs
    loop.press("Ctrl+k")  # from the field
    loop.choose("constant")
    loop.wait(NAMING)
    loop.type("other")
    loop.press("ESCAPE", "TAB")  # it keeps its first name
    loop.wait("document.activeElement.name === 'value'")
    assert "constant: {type: CONSTANT}" in loop.text
    loop.press("Ctrl+k")
    loop.choose("ramp")
    loop.wait(NAMING)
    loop.press("Ctrl+z")  # nothing was typed: the adding is undone
    loop.has("goal", "error", "gain", "x", "scope", "ctrl", "constant")
    loop.press("ESCAPE")
    undone(loop)


def test_types_that_do_not_fit_a_wire_stand_below_with_the_reason(loop):
    loop.open("orbit.yaml", "blocks: {orbit: {type: TWO_BODY}}\n")
    loop.drag(loop.port("orbit", "a", True), (10, 60), (10, 60))
    loop.wait("document.querySelector('dialog[open] [role=option]')")
    loop.type("angles")
    loop.wait("document.querySelector('dialog [aria-disabled=true]')")
    options = loop.driver.find_elements("css selector", "dialog [role=option]")
    barred = [one.get_attribute("aria-disabled") == "true" for one in options]
    assert barred == sorted(barred)
    texts = "\n".join(one.text for one in options)
    assert "R takes a matrix of 3 × 3, orbit.a is a vector of 3" in texts
    loop.press("ESCAPE")


@chromium_only
def test_a_block_comes_from_the_palette(loop):
    loop.browser.find(".palette input").send_keys("constant")
    loop.wait("document.querySelector('.palette li button')")
    loop.browser.find(".palette li button").click()
    loop.has("goal", "error", "gain", "x", "scope", "constant")
    item = loop.browser.find(".palette li button")
    start, pane = item.rect, loop.browser.find(".react-flow__pane").rect
    dx = pane["x"] + pane["width"] / 2 - start["x"] - start["width"] / 2
    dy = pane["y"] + 0.88 * pane["height"] - start["y"] - start["height"] / 2
    loop.drag(item, (300, 60), (int(dx) - 300, int(dy) - 60))
    loop.until(lambda: "constant2" in loop.blocks(), "dragged")
    loop.browser.find(".palette input").clear()
    loop.node("constant2").click()
    undone(loop)


def test_wires_end_only_where_they_fit_and_the_reason_is_told(loop):
    taken = loop.port("error", "0", False)
    loop.drag(loop.port("gain", "0", True), taken, release=False)
    loop.wait("document.querySelector(\"[data-id='error'] .port.unfit\")")
    reason = taken.get_attribute("title")
    assert "already" in reason
    loop.drag_end()
    loop.wait("document.querySelector('.notice.fault')")
    assert reason in loop.said()
    assert loop.text == LOOP
    loop.browser.find(".notice button").click()


def test_a_wire_is_drawn_from_port_to_port_and_removed(loop):
    text = LOOP.replace("  - gain -> x\n", "")
    loop.open("unwired.yaml", text)
    loop.drag(loop.port("gain", "0", True), loop.port("x", "0", False))
    loop.written("gain -> x")
    loop.until(lambda: len(loop.wires()) == 5, "wired")
    loop.click_wire("gain -> x")
    loop.wait("document.querySelector('.wire.chosen')")
    loop.press("DELETE")
    loop.until(lambda: loop.text == text, "unwired")


def test_the_end_of_a_wire_is_drawn_to_another_port(loop):
    text = LOOP.replace("  scope:", "  other: {type: GAIN, K: 3}\n  scope:")
    loop.open("two_gains.yaml", text)
    (x, y), target = loop.middle("x", "0"), loop.middle("other", "0")
    loop.drag_at((x - 13, y), (x - 40, y + 30), target)
    loop.written("  - gain -> other\n")
    assert "gain -> x" not in loop.text
    loop.wait("!document.querySelector('.port.unfit, .port.fit')")
    loop.press("Ctrl+z")  # both are one edit
    loop.until(lambda: loop.text == text, "undone")


def test_wires_by_keyboard_alone(loop):
    loop.open("unwired.yaml", LOOP.replace("  - gain -> x\n", ""))
    loop.node("gain").click()
    loop.press("w")
    loop.choose("output")
    loop.choose("x.0")
    loop.written("gain -> x")
    loop.press("w")
    loop.choose("output")
    loop.choose("remove")
    loop.until(lambda: "gain -> x" not in loop.text, "unwired")


def test_a_wire_gets_other_ends_in_its_form(loop):
    box = BOX % "document.querySelector(`.react-flow__edge[data-id='${arguments[0]}'] .line`)"
    x, y, width, height = loop.browser.run(box, "gain -> x")
    loop.click_at(x + width / 2, y + height / 2)
    loop.wait("document.querySelector('.form[aria-label=Wire] [name=from]')?.value === 'gain'")
    loop.browser.find(".form[aria-label=Wire] [name=from]").click()
    loop.type("[0]")
    loop.press("ENTER")
    loop.written("- gain[0] -> x\n")
    loop.wait("document.querySelector('.form[aria-label=Wire] [name=from]')?.value === 'gain[0]'")
    loop.press("Ctrl+z")
    loop.written("- gain -> x\n")
    loop.click("x")
    loop.press("w")
    loop.choose("input")
    loop.choose("change gain")
    loop.wait("document.activeElement.name === 'from'")
    loop.type("[0")
    loop.press("ENTER")
    loop.wait("document.querySelector('.notice.fault')")
    assert "gain[0" not in loop.text


def test_blocks_are_removed_with_their_wires(loop):
    loop.click("gain")
    loop.press("DELETE")
    loop.has("goal", "error", "x", "scope")
    assert "gain" not in loop.text
    undone(loop)
    loop.has("goal", "error", "gain", "x", "scope")


def test_a_block_is_renamed_in_place(loop):
    loop.click("x")
    loop.press("F2")
    loop.wait("document.activeElement.matches('input.block-name')")
    loop.type("level")
    loop.press("ENTER")
    loop.has("goal", "error", "gain", "level", "scope")
    loop.written("level -> error.1, scope")
    loop.selects("level")
    undone(loop)


def test_blocks_are_copied_pasted_and_duplicated(loop):
    loop.click("error")
    loop.click("gain", loop.SHIFT)
    loop.selects("error", "gain")
    loop.press("Ctrl+c", "Ctrl+v")
    loop.until(lambda: {"error2", "gain2"} <= loop.blocks(), "pasted")
    loop.written("error2: {type: SUM, signs: +-}", "gain2: {type: GAIN, K: $k}")
    loop.written("error2 -> gain2")
    loop.selects("error2", "gain2")
    loop.press("Ctrl+d")
    loop.until(lambda: {"error3", "gain3"} <= loop.blocks(), "duplicated")
    undone(loop)


def test_blocks_become_a_subsystem_that_opens(loop):
    loop.click("error")
    loop.click("gain", loop.SHIFT)
    loop.press("Ctrl+g")
    loop.wait("document.querySelector('dialog[open] input')")
    loop.type("law")
    loop.press("ENTER")
    loop.has("goal", "law", "x", "scope")
    loop.written("subsystems:", "law:")
    loop.press("ENTER")
    loop.until(lambda: {"error", "gain"} <= loop.blocks(), "inside")
    crumbs = [b.text for b in loop.driver.find_elements("css selector", ".breadcrumbs button")]
    assert crumbs[-1] == "law"
    loop.press("BACKSPACE")
    loop.has("goal", "law", "x", "scope")
    loop.selects("law")
    undone(loop)


def test_parameters_are_tried_while_typed_and_set_by_enter(loop):
    loop.click("gain")
    loop.wait("document.querySelector('.form-panel [aria-label=gain] .field textarea')")
    field = loop.field("K")
    loop.fill(field, "[1, 2")
    loop.wait("document.querySelector('.field.wrong')")
    assert loop.text == LOOP
    loop.fill(field, "nonsense")
    loop.wait("document.querySelector(\"[data-id='gain'] .block-fault\")")
    loop.fill(field, "3.5")
    loop.wait("!document.querySelector('.field.wrong')")
    loop.press("ENTER")
    loop.written("gain: {type: GAIN, K: 3.5}")
    loop.wait("!document.querySelector('.field [data-draft]')")
    undone(loop)  # from the field
    loop.wait("document.activeElement.name === 'K' && document.activeElement.value === '$k'")
    loop.fill(loop.field("K"), "[1 2; 3 4]")  # as MATLAB has it
    loop.press("Ctrl+s")
    loop.written("gain: {type: GAIN, K: [[1, 2], [3, 4]]}")
    loop.wait("document.querySelector('.said').innerText.startsWith('Done: set')")
    loop.press("Ctrl+s")
    loop.wait("document.querySelector('.said').innerText.endsWith('every edit is written already')")
    undone(loop)


CARET = "[document.activeElement.name, document.activeElement.selectionStart]"


def test_focus_and_caret_stay_in_a_field_however_long_its_value_becomes(loop):
    loop.click("gain")
    loop.wait("document.querySelector('.form-panel [aria-label=gain] .field textarea')")
    loop.fill(loop.field("K"), "[" + "1, " * 50)
    loop.type("2]")
    assert loop.browser.run(f"return {CARET}") == ["K", 153]
    for _ in range(100):
        loop.press("BACKSPACE")
    loop.press("ARROW_LEFT")
    loop.press("DELETE")  # a shortcut of the page, that removes the block
    assert loop.browser.run(f"return {CARET}") == ["K", 52]
    assert loop.browser.run("return document.activeElement.value.length") == 52
    assert "gain" in loop.blocks()
    loop.press("ESCAPE")
    assert loop.browser.run("return document.activeElement.name") == "K"  # with its value again
    loop.press("ESCAPE", "w")  # back to the sheet
    loop.wait("document.querySelector('dialog[open] [role=combobox]')")
    loop.press("ESCAPE")
    assert loop.text == LOOP


def test_the_focus_stays_at_a_field_whose_button_goes(loop):
    loop.click("gain")
    loop.wait("document.querySelector('.form-panel [aria-label=gain] .field .unset')")
    loop.button("Back to the default of K")
    loop.written("gain: {type: GAIN}")
    loop.wait("document.activeElement.name === 'K'")
    undone(loop)


def test_a_required_value_is_not_taken_out_by_emptying_it(loop):
    field = loop.field("k")
    loop.fill(field, Keys.DELETE, Keys.ENTER)
    loop.wait("document.querySelector('.field.wrong')?.innerText.includes('a value is needed')")
    assert loop.text == LOOP
    field.send_keys(Keys.ESCAPE)
    loop.wait("!document.querySelector('.field.wrong')")
    assert field.get_attribute("value") == "2"


def test_parameters_of_the_file_are_renamed_with_their_uses_and_removed(loop):
    loop.button("Rename k")
    loop.wait("document.activeElement.ariaLabel === 'New name of k'")
    loop.type("stiffness")
    loop.press("ENTER")
    loop.written("params: {stiffness: 2} # 1/s", "gain: {type: GAIN, K: $stiffness}")
    loop.wait("document.activeElement.name === 'stiffness'")
    loop.button("Remove stiffness")
    loop.until(lambda: "stiffness: 2" not in loop.text, "removed")
    loop.wait("document.querySelector('.problems-head')")
    loop.browser.find(".react-flow__pane").click()
    undone(loop)


def test_another_type_goes_without_the_parameters_of_the_old_one(loop):
    loop.click("gain")
    loop.wait("document.querySelector('.form-type button')")
    loop.browser.find(".form-type button").click()
    loop.choose("sign")
    loop.written("gain: {type: SIGN}")
    loop.wait("document.querySelector('.notice')")
    assert "gain is SIGN now, without K" in loop.said()
    undone(loop)


def test_the_file_s_parameters_and_run_settings_are_set(loop):
    field = loop.field("k")
    loop.fill(field, "7")
    loop.press("ENTER")
    loop.written("params: {k: 7} # 1/s")
    field = loop.field("T")
    loop.fill(field, "2.5")
    loop.press("TAB")
    loop.written("run: {T: 2.5}")
    for name, value in (("Name", "limit"), ("Value", "4")):
        loop.browser.find(f"input[aria-label='{name} of a new parameter']").send_keys(value)
    loop.press("ENTER")
    loop.written("limit: 4")
    loop.browser.find(".react-flow__pane").click()
    undone(loop)


def test_a_diagram_with_mistakes_says_so_when_it_is_run(loop):
    loop.open("unwired.yaml", LOOP.replace("  - gain -> x\n", ""))
    run = loop.browser.find(".run-button")
    assert run.get_attribute("aria-disabled") == "true"
    assert "1 problem is mended" in run.get_attribute("title")
    loop.press("Ctrl+ENTER")
    loop.wait("document.querySelector('.problems li')")  # they are listed
    loop.wait("document.querySelector('.sheet .notice.fault')")
    loop.browser.drawn()  # the list has taken room from the sheet
    loop.drag(loop.port("gain", "0", True), loop.port("x", "0", False))
    loop.wait("!document.querySelector('.notice.fault')")  # what is mended is no fault any more
    loop.wait("!document.querySelector('.said').innerText.includes('mended')")
    loop.wait("!document.querySelector('.run-button').ariaDisabled")


def test_what_was_done_and_undone_is_told(loop):
    loop.click("gain")
    loop.press("ARROW_DOWN")
    loop.until(lambda: loop.said() == "Done: move gain", "told")
    loop.button("Tidy")
    loop.wait("document.querySelector('.said').innerText === 'Done: tidy'")
    undo = loop.browser.find("[aria-label^='Undo']")
    assert undo.get_attribute("title") == "Undo: tidy (Ctrl+Z)"
    loop.press("Ctrl+z")
    loop.wait("document.querySelector('.said').innerText === 'Undone: tidy'")
    loop.file.write_text(LOOP.replace("T: 1}", "T: 3}"))
    loop.wait("document.querySelector('.notice')?.innerText.includes('cannot be undone')")
    loop.open("another_told.yaml", LOOP)  # which has nothing to do with it
    assert loop.said() == ""


def test_a_file_changed_outside_is_read_again_and_a_broken_one_is_a_conflict(loop):
    loop.file.write_text(LOOP.replace("scope", "display"))
    loop.has("goal", "error", "gain", "x", "display")
    loop.wait("document.querySelector('.notice')")
    loop.file.write_text(LOOP.replace("blocks:", "blocks: ["))
    loop.wait("document.querySelector('.notice.fault strong')")
    loop.file.write_text(LOOP)
    loop.has("goal", "error", "gain", "x", "scope")
    loop.wait("!document.querySelector('.notice.fault strong')")


def test_a_page_whose_connection_ended_connects_again_by_itself(loop):
    loop.click("gain")
    loop.studio.cut()
    loop.wait("document.querySelector('.gone')")
    loop.wait("!document.querySelector('.gone')")
    loop.click("gain")
    loop.wait("document.querySelector('.form-panel [aria-label=gain] .field textarea')")
    loop.fill(loop.field("K"), "9", Keys.ENTER)
    loop.written("gain: {type: GAIN, K: 9}")
    undone(loop)


LAW = """\
subsystems:
  law:
    inputs: [goal, angle]
    outputs: [u]
    blocks:
      e: {type: SUM, signs: "+-"}
      gain: {type: GAIN, K: 2}
    wires:
      - in.goal -> e.0
      - in.angle -> e.1
      - e -> gain
      - gain -> out.u
blocks:
  goal: {type: STEP, T: 0}
  law: {type: law}
  x: {type: INTEGRATOR}
wires:
  - goal -> law.goal
  - x -> law.angle
  - law.u -> x
run: {T: 1, log: [law.u]}
"""


@pytest.fixture
def law(page, request):
    """The sheet of a subsystem."""
    law = page.open(f"{request.node.name}.yaml", LAW, "law")
    law.has("in", "out", "e", "gain")
    return law


def test_ports_of_a_subsystem_are_added_as_blocks_and_removed(law):
    law.press("Ctrl+k")
    law.choose("inport")
    law.written("inputs: [goal, angle, input]")
    law.selects("in")
    law.button("Remove input with its wires")
    law.written("inputs: [goal, angle]\n")
    law.wait("!document.querySelector(`[aria-label^='Remove input with']`)")
    law.browser.drawn()  # ports are where they are shown now
    law.drag(law.port("e", "0", True), (20, 60), (20, 60))
    law.choose("output port")
    law.written("outputs: [u, output]", "- e -> out.output")
    while law.text != LAW:
        before = law.text
        law.press("Ctrl+z")
        law.until(lambda before=before: law.text != before, "undone")


def test_ports_of_a_subsystem_are_renamed_where_they_are_wired_and_change_places(law):
    law.click("in")
    law.wait("document.querySelector('[aria-label=\"Name of goal\"]')")
    law.fill(law.browser.find("[aria-label='Name of goal']"), "desired", Keys.ENTER)
    law.written("inputs: [desired, angle]", "in.desired -> e.0", "goal -> law.desired")
    law.button("Move angle up")
    law.written("inputs: [angle, desired]")
    law.click("out")
    law.wait("document.querySelector('[aria-label=\"Name of u\"]')")
    law.fill(law.browser.find("[aria-label='Name of u']"), "force", Keys.ENTER)
    law.written("outputs: [force]", "gain -> out.force", "law.force -> x", "log: [law.force]")
    law.browser.find("[aria-label='Name of a new output']").send_keys("error", Keys.ENTER)
    law.written("outputs: [force, error]")
