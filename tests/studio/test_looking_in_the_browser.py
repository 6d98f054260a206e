"""Diagrams looked at in Chromium: the whole, its parts, places, and ways to go there."""

from __future__ import annotations

import shutil

import pytest
from browsers import chromium_only, needs_chromium
from diagram_pages import LOOP, DiagramPage
from studio_pages import in_browser

from spart_blocks.descriptions.subjects import SUBJECTS
from spart_blocks.diagram.build.registry import find_type, type_names

pytestmark = needs_chromium
ALL = ("goal", "error", "gain", "x", "scope")
TWO = """\
name: two
subsystems:
  law:
    inputs: [e]
    outputs: [u]
    blocks:
      gain: {type: GAIN, K: 2}
      limit: {type: CLIP, max: 1}
    wires: [in.e -> gain, gain -> limit, limit -> out.u]
variants:
  plant:
    default: slow
    choices:
      slow: {type: PT1, gain: 1, tau: 5}
      fast: {type: PT1, gain: 1, tau: 0.1}
blocks:
  goal: {type: STEP, T: 0}
  error: {type: SUM, signs: "+-"}
  left: {type: law}
  right: {type: law}
  scope: {type: SCOPE}
wires:
  - goal -> error.0
  - error -> left
  - left -> right
  - right -> plant
  - plant -> error.1, scope
run: {T: 1}
"""
OUTER = ("goal", "error", "left", "right", "plant", "scope")


@pytest.fixture(scope="module")
def page(browser, tmp_path_factory):
    root = tmp_path_factory.mktemp("project")
    (root / "diagrams").mkdir()
    shutil.copy("diagrams/control/dc_motor.yaml", root / "diagrams")
    (root / "spart.toml").write_text("")
    (root / "first.yaml").write_text(LOOP)
    with in_browser(browser, root):
        browser.wait("document.querySelector('.card')")
        yield DiagramPage(browser, root)


@pytest.fixture
def loop(page, request):
    return page.open(f"{request.node.name}.yaml", LOOP)


@pytest.fixture
def two(page, request):
    return page.open(f"{request.node.name}.yaml", TWO)


def zoom(page):
    style = page.browser.find(".react-flow__viewport").get_attribute("style")
    return float(style.split("scale(")[1].split(")")[0])


def inside(page, name):
    """Whether a block is seen wholly."""
    x, y, width, height = page.box(name)
    sheet = page.browser.run("const r = document.querySelector('.flow').getBoundingClientRect();"
                             "return [r.left, r.top, r.right, r.bottom]")  # fmt: skip
    return sheet[0] <= x and sheet[1] <= y and x + width <= sheet[2] and y + height <= sheet[3]


def test_the_diagrams_of_the_project_are_listed_filtered_and_made(page):
    page.button("All diagrams") if page.driver.find_elements("css selector", ".header") else None
    page.wait("document.querySelectorAll('.card').length === 2")
    page.browser.find("input[type=search]").send_keys("motor")
    page.wait("document.querySelectorAll('.card').length === 1")
    page.press("TAB", "TAB", "ENTER")
    page.wait("document.querySelector('.breadcrumbs')?.innerText.includes('dc_motor')")
    page.button("All diagrams")
    page.wait("document.querySelector('.project button')")
    page.browser.find(".project-tools button").click()
    page.type("A second loop")
    page.press("ENTER")
    page.wait("document.querySelector('.breadcrumbs')")
    made = page.root / "diagrams" / "a_second_loop.yaml"
    assert "A second loop" in made.read_text()
    page.press("Ctrl+k")
    page.choose("gain")
    page.wait("document.querySelector(\"[data-id='gain']\")")
    assert "type: GAIN" in made.read_text()


def test_the_whole_is_seen_at_first_and_again_after_panning_and_zooming(loop):
    assert loop.blocks() == set(ALL)
    assert all(inside(loop, name) for name in ALL)
    before = zoom(loop)
    turn = "{deltaY: -400, clientX: 400, clientY: 200, bubbles: true, cancelable: true}"
    pane = "document.querySelector('.react-flow__pane')"
    wheel = f"{pane}.dispatchEvent(new WheelEvent('wheel', {turn}))"
    loop.browser.run(wheel)
    loop.until(lambda: zoom(loop) > 1.3 * before, "zoomed in")
    loop.press("f")
    loop.until(lambda: zoom(loop) == pytest.approx(before), "fitted")
    x = loop.box("goal")[0]
    loop.pan(60, 20)
    loop.until(lambda: loop.box("goal")[0] == pytest.approx(x + 60, abs=2), "panned")
    loop.press("SPACE")
    loop.until(lambda: loop.box("goal")[0] == pytest.approx(x, abs=1), "fitted")
    loop.click("x")
    loop.press("Shift+F")
    loop.until(lambda: not inside(loop, "goal"), "at the selection")
    assert inside(loop, "x")


def test_blocks_are_selected_by_click_with_shift_and_in_a_box(loop):
    loop.click("gain")
    loop.selects("gain")
    loop.click("x", loop.SHIFT)
    loop.selects("gain", "x")
    loop.click_empty()
    loop.selects()
    x, y, width, height = loop.box("gain")
    loop.drag_at((x - 12, y - 12), (x + width + 12, y + height + 12))
    loop.selects("gain")
    loop.press("Ctrl+a")
    loop.selects(*ALL)
    loop.click("x")
    loop.selects("x")
    loop.press("ESCAPE")
    loop.selects()


def test_moved_blocks_stay_where_they_were_put_and_take_their_wires_along(loop):
    before, line = loop.box("gain"), loop.line("gain -> x")
    loop.drag(loop.node("gain"), (10, 5), (40, 60))
    loop.until(lambda: loop.box("gain")[1] > before[1] + 40, "moved")
    loop.until(lambda: loop.line("gain -> x") != line, "routed again")
    assert loop.text == LOOP  # places are not of the file
    put = loop.box("gain")
    loop.press("Ctrl+z")
    loop.until(lambda: loop.box("gain") == pytest.approx(before, abs=1), "moved back")
    loop.press("Ctrl+y")
    loop.until(lambda: loop.box("gain") == pytest.approx(put, abs=1), "moved again")
    loop.button("Tidy")
    loop.until(lambda: loop.box("gain") == pytest.approx(before, abs=1), "tidied")


def test_blocks_are_moved_and_lined_up_by_keys_and_buttons(loop):
    loop.click("gain")
    before, scale = loop.box("gain"), zoom(loop)
    loop.press("ARROW_DOWN", "ARROW_DOWN", "ARROW_RIGHT")
    loop.until(lambda: loop.box("gain")[:2] == pytest.approx(
        [before[0] + 10 * scale, before[1] + 20 * scale], abs=1), "moved")  # fmt: skip
    loop.wait("document.querySelector('[aria-label^=\"Undo:\"]')")
    loop.press("Ctrl+a")
    loop.button("Align tops")
    loop.until(lambda: len({round(loop.box(name)[1]) for name in ALL}) == 1, "aligned")
    assert loop.text == LOOP


def test_subsystems_are_entered_and_left_with_their_path_above(two):
    node = two.node("left")
    two.double_click(node)
    two.until(lambda: {"gain", "limit"} <= two.blocks(), "entered")
    assert two.crumbs()[1:] == ["left"]
    two.press("Alt+ARROW_UP")
    two.has(*OUTER)
    two.selects("left")
    two.click("right")
    two.press("ENTER")
    two.until(lambda: two.crumbs()[1:] == ["right"], "entered")
    two.driver.back()
    two.has(*OUTER)
    two.driver.forward()
    two.until(lambda: two.crumbs()[1:] == ["right"], "entered again")
    two.browser.find(".breadcrumbs button").click()
    two.has(*OUTER)


def test_a_variant_is_chosen_from_a_list(two):
    from selenium.webdriver.support.ui import Select

    chosen = two.browser.find(".variant select")
    assert [option.text for option in Select(chosen).options] == ["slow", "fast"]
    Select(chosen).select_by_visible_text("fast")
    two.click("plant")
    two.until(lambda: two.field("tau").get_attribute("value") == "0.1", "the other one")


def test_search_goes_to_blocks_of_all_sheets(two):
    two.press("Ctrl+f")
    two.wait("document.querySelectorAll('dialog [role=option]').length > 6")
    two.choose("right/limit")
    two.until(lambda: two.crumbs()[1:] == ["right"], "there")
    two.selects("limit")


@pytest.mark.parametrize(
    ("typed", "at", "block", "field"),
    [
        ("left.u", [], "left", None),
        ("limit.max", ["left"], "limit", "max"),
        ("0.1", [], None, None),
    ],
)
def test_search_finds_ports_and_parameters(two, typed, at, block, field):
    two.press("Ctrl+f")
    if block is None:  # no value of what is looked at
        two.wait("document.querySelector('dialog [role=option]')")
        two.type(typed)
        two.wait("document.querySelector('dialog .choice-none')")
        two.press("ESCAPE")
        return
    two.choose(typed)
    two.selects(block)
    assert two.crumbs()[1:] == at
    if field is not None:
        two.wait(f"document.activeElement.name === '{field}'")


def test_blocks_stand_under_a_few_subjects(loop):
    loop.wait("document.querySelector('.palette summary')")
    heads = [one.text for one in loop.driver.find_elements("css selector", ".palette summary")]
    assert heads == ["Subsystems", *SUBJECTS]


def test_panels_are_as_wide_as_they_are_made_and_stay_so(loop):
    for name, panel, wider, first in (("list", ".palette", "ARROW_RIGHT", 205),
                                      ("param", ".form-panel", "ARROW_LEFT", 290)):  # fmt: skip
        width = f"document.querySelector('{panel}').offsetWidth"
        loop.browser.run(f"document.querySelector('[role=separator][aria-label*={name}]').focus()")
        loop.press(wider, wider)
        loop.wait(f"{width} === {first + 40}")
        loop.driver.refresh()
        loop.wait(f"document.querySelector('{panel}') && {width} === {first + 40}")
        edge = loop.browser.find(f"[role=separator][aria-label*={name}]")
        loop.drag(edge, (-30, 0))
        loop.wait(f"Math.abs({width} - {first + 40}) > 25")
        loop.double_click(edge)
        loop.wait(f"{width} === {first}")


def test_problems_lead_to_their_blocks(page):
    broken = TWO.replace("K: 2", "K: nonsense")
    two = page.open("broken.yaml", broken)
    two.wait("document.querySelector('.problems-head')")
    two.browser.find(".problems-head").click()
    two.browser.find("button.problem").click()
    two.until(lambda: two.selected() == {"gain"}, "there")
    assert two.crumbs()[1:] in (["left"], ["right"])
    two.wait("document.querySelector('.field.wrong')")


def test_blocks_are_walked_by_tab_and_keys_are_listed(loop):
    loop.browser.run("document.querySelector('.react-flow__node').focus()")
    loop.press("TAB")
    loop.until(lambda: len(loop.selected()) == 1, "one selected")
    loop.press("?")
    loop.wait("document.querySelector('dialog.help')")
    listed = loop.browser.find("dialog.help").text
    assert "make a subsystem" in listed
    assert "Ctrl+K" in listed
    loop.press("ESCAPE")
    loop.wait("!document.querySelector('dialog')")


def test_a_picture_is_saved(loop, tmp_path):
    loop.browser.download_to(tmp_path)
    loop.button("Save a picture")
    picture = tmp_path / "loop.svg"
    loop.until(lambda: picture.exists() and picture.stat().st_size, "saved")
    assert picture.read_text().count("<g><rect") == 5
    assert ">gain</text>" in picture.read_text()


@chromium_only
def test_the_page_is_small(loop):
    """Of scripts and styles, all that a diagram needs until it runs, as it comes."""
    loop.driver.execute_cdp_cmd("Network.clearBrowserCache", {})
    loop.driver.refresh()
    loop.wait("document.querySelector('.react-flow__node')")
    sizes = loop.browser.run(
        "return Object.fromEntries(performance.getEntriesByType('resource')"
        ".map((one) => [new URL(one.name).pathname, one.encodedBodySize]))"
    )
    parts = {name: size for name, size in sizes.items() if name.endswith((".js", ".css"))}
    assert any("index" in name for name in parts)
    assert all(parts.values())
    assert sum(parts.values()) < 160_000


def test_nothing_complains_and_nothing_is_asked_of_a_network(loop):
    assert loop.browser.complaints() == []
    own = f"//{loop.driver.execute_script('return location.host')}/"
    assert all(own in url for url in loop.browser.requests())


ELEMENTS = 150
"""Sheets of at most so many blocks are in the page as a whole."""
OVERLAPS = """
return [...document.querySelectorAll('.block')].flatMap((block) => {
  const parts = [...block.querySelectorAll('.block-name, .block-type, .face, .port-name, .mark')];
  const boxes = parts.map((one) => [one, one.getBoundingClientRect()]);
  const pixel = block.getBoundingClientRect().width / block.offsetWidth;
  const meet = (a, b) => Math.min(a.right, b.right) - Math.max(a.left, b.left) > 2 * pixel
    && Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 2 * pixel;
  const name = block.closest('.react-flow__node').dataset.id;
  return boxes.flatMap(([one, a], k) => boxes.slice(k + 1).filter(([, b]) => meet(a, b))
    .map(([other]) => `${name}: ${one.className.baseVal ?? one.className} ${one.textContent}`
      + ` on ${other.className.baseVal ?? other.className} ${other.textContent}`));
});
"""


def test_no_text_of_a_block_lies_on_another_of_its_texts_or_icons(page):
    types = [name for name in type_names() if find_type(name).refusal is None]
    for k in range(0, len(types), ELEMENTS):
        some = types[k : k + ELEMENTS]
        blocks = "".join(f"  {name.lower()}: {{type: {name}}}\n" for name in some)
        page.open(f"types_{k}.yaml", f"blocks:\n{blocks}")
        page.wait("document.querySelectorAll('.block').length === arguments[0]", len(some))
        assert page.browser.run(OVERLAPS) == []
