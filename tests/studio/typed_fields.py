"""Every kind of field of the studio's page, how one comes into it, and long texts typed there."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from diagram_pages import DiagramPage

COUNT = 5000
TEXT = ("2.5, wdpTS?" * COUNT)[:COUNT]
"""Letters, digits and signs that are shortcuts of the page, of charts and of runs."""
DIGITS = ("2357" * COUNT)[:COUNT]
LINES = "}" + ("\n# " + TEXT[:60]) * (COUNT // 63)
"""Lines of code that are not written, as the first is a mistake."""
FILE = """\
name: fields
params: {k: 2} # 1/s
clocks: {tick: {T: 0.1}}
blocks:
  goal: {type: STEP, T: 0}
  error: {type: SUM, signs: "+-"}
  gain: {type: GAIN, K: $k}
  x: {type: INTEGRATOR}
  pair: {type: CONSTANT, value: [1, 2]}
  matrix: {type: GAIN, K: [[1, 2], [3, 4]]}
  table: {type: LOOKUP, x: [0, 1, 2], y: [0, 2, 1]}
  law: {type: FCN, expression: "2*u"}
  part: {type: half}
  modes:
    type: STATE_MACHINE
    arguments: [u]
    outputs: {y: 0}
    initial: rest
    states:
      rest: {}
      work: {entry: {y: 1}}
    transitions:
      - {from: rest, to: work, when: u > 0.5}
  scope: {type: SCOPE, nin: 4}
  others: {type: SCOPE, nin: 2}
wires:
  - goal -> error.0, table, law, part, slot, modes.u
  - error -> gain
  - gain -> x
  - x -> error.1, scope.0
  - table -> scope.1
  - law -> scope.2
  - part -> scope.3
  - slot -> others.0
  - matrix -> others.1
  - pair -> matrix
subsystems:
  half:
    inputs: [u]
    outputs: [y]
    params: {h: 0.5}
    blocks:
      scale: {type: GAIN, K: $h}
    wires:
      - in.u -> scale
      - scale -> out.y
variants:
  slot:
    default: plain
    choices:
      plain: {type: GAIN, K: 1}
      other: {type: GAIN, K: 2}
run: {T: 1}
"""
FOCUSED = "document.activeElement.matches(arguments[0])"
VALUE = "const one = window.typedIn; return one.value === undefined ? one.innerText : one.value"
COUNT_REQUESTS = """
window.typedIn = document.activeElement;
window.sent = 0;
window.plainSend ??= WebSocket.prototype.send;
WebSocket.prototype.send = function (data) { window.sent++; window.plainSend.call(this, data); };
"""

Step = Callable[[DiagramPage], object]


def key(*keys: str) -> Step:
    """Press keys of the sheet."""
    return lambda page: page.press(*keys)


def block(name: str) -> Step:
    """Select a block."""
    return lambda page: (page.click(name), page.selects(name))


def wire(name: str) -> Step:
    """Select a wire."""
    found = f".react-flow__edge[data-id='{name}'] .react-flow__edge-interaction"
    click = "dispatchEvent(new MouseEvent('click', {bubbles: true}))"
    return lambda page: page.browser.run(f"document.querySelector(`{found}`).{click}")


def press(text: str) -> Step:
    """Press the button, or the summary of details, whose text begins so."""
    found = "[...document.querySelectorAll('button:enabled, summary')]"
    one = f"{found}.find((one) => one.textContent.trim().startsWith(arguments[0]))"
    return lambda page: page.wait(one, text).click()


def button(name: str) -> Step:
    return lambda page: page.wait(f"document.querySelector(`button[aria-label^='{name}']`)").click()


def tab(name: str) -> Step:
    return lambda page: page.browser.find(f"#tab-{name}").click()


def into(css: str) -> Step:
    """Click a field."""
    return lambda page: page.wait("document.querySelector(arguments[0])", css).click()


def has(css: str) -> Step:
    """Wait until a field has the focus."""
    return lambda page: page.wait(FOCUSED, css)


def labelled(name: str) -> Step:
    return into(f"[aria-label='{name}']")


def choose(css: str, value: str) -> Step:
    """Choose of a list."""

    def steps(page):
        from selenium.webdriver.support.ui import Select

        field = page.wait("document.querySelector(arguments[0])", css)
        field.click()
        page.wait(f"[...arguments[0].options].some((one) => one.text === '{value}')", field)
        Select(field).select_by_visible_text(value)

    return steps


def of_file(name: str) -> Step:
    return into(f".field textarea[name='{name}']")


COMBOBOX = has("dialog[open] [role=combobox]")


@dataclass(frozen=True)
class Kind:
    """A kind of field. at: the sheet. most: characters that it takes. text: what is typed, of
    fewer characters where some mean more there. ran: it is there after a run. leave: keys that end
    what was opened for it."""

    name: str
    steps: tuple[Step, ...]
    at: str = ""
    most: int | None = None
    text: str = TEXT
    ran: bool = False
    leave: tuple[str, ...] = ("ESCAPE", "ESCAPE")

    @property
    def file(self) -> str:
        return "ran.yaml" if self.ran else f"{self.name.replace(' ', '_')}.yaml"


def kind(name: str, *steps: Step, **more) -> Kind:
    return Kind(name, steps, **more)


STATE = "blocks.modes.states.work"
KINDS = (
    # the list of diagrams
    kind("filter of diagrams", button("All diagrams"), labelled("Filter diagrams")),
    kind("name of a new diagram", button("All diagrams"), into(".project-tools button"),
         has("dialog[open] input")),
    kind("file of a new diagram", button("All diagrams"), into(".project-tools button"),
         into("dialog[open] label:nth-of-type(2) input")),
    # forms of blocks and wires
    kind("number", block("x"), of_file("x0")),
    kind("value with a parameter", block("gain"), of_file("K")),
    kind("matrix", block("matrix"), of_file("K")),
    kind("list", block("table"), of_file("y")),
    kind("formula", block("law"), of_file("expression")),
    kind("text", block("scope"), of_file("title")),
    kind("name of a block", block("gain"), into(".form-name")),
    kind("name on the sheet", block("gain"), key("F2"), has("input.block-name")),
    kind("end of a wire", wire("error -> gain"), into(".field input[name='to']")),
    kind("first variant", block("gain"), press("Variants"),
         labelled("Name of what this block is now")),
    kind("new variant", block("slot"), labelled("Name of a new choice")),
    kind("name of a variant", block("slot"), button("Rename other"),
         has("[aria-label^='New name']")),
    # values in a window
    kind("cell", block("matrix"), of_file("K"), key("F4"), has(".value-dialog td input"),
         text=DIGITS),
    kind("cell of a table", block("table"), of_file("y"), key("F4"), has(".value-dialog td input"),
         text=DIGITS),
    kind("lines", block("law"), of_file("expression"), key("F4"), has(".value-dialog textarea")),
    kind("arguments", block("law"), of_file("expression"), key("F4"),
         into(".value-dialog .arguments")),
    kind("text of a value", block("matrix"), of_file("K"), key("F4"), press("Text"),
         has(".value-dialog textarea")),
    # the form of the file
    kind("parameter of the file", of_file("k")),
    kind("name of a new parameter", labelled("Name of a new parameter")),
    kind("value of a new parameter", labelled("Value of a new parameter")),
    kind("new name of a parameter", button("Rename k"), has("[aria-label^='New name']")),
    kind("unit of a parameter", button("Unit, bounds and meaning of k"), has(".declaration input")),
    kind("meaning of a parameter", button("Unit, bounds and meaning of k"),
         into(".declaration label:nth-of-type(4) input")),
    kind("clock", of_file("tick")),
    kind("name of a new clock", labelled("Name of a new clock")),
    kind("name of a new robot", choose("[aria-label='Model of a new robot']", "arm.urdf"),
         labelled("Name of the new robot")),
    kind("section of a new robot", choose("[aria-label='Model of a new robot']", "arm.urdf"),
         labelled("Section of the new robot")),
    kind("run option", of_file("T")),
    # subsystems
    kind("name of a port", block("in"), labelled("Name of u"), at="part"),
    kind("name of a new port", block("out"), labelled("Name of a new output"), at="part"),
    kind("parameter of a subsystem", of_file("h"), at="part"),
    kind("name of a definition", block("part"), key("Ctrl+G"),
         into("dialog[open] .definition input")),
    kind("name of a group", block("gain"), key("Ctrl+g"), has("dialog[open] input")),
    # the sheet
    kind("note", key("n"), has("textarea.writer")),
    kind("title of an area", block("gain"), key("b"), has("textarea.writer")),
    # lists that narrow
    kind("list of blocks", labelled("Filter blocks")),
    kind("block to add", key("Ctrl+k"), COMBOBOX),
    kind("search", key("Ctrl+f"), COMBOBOX),
    kind("panels", key("Ctrl+j"), COMBOBOX),
    kind("wiring", block("gain"), key("w"), COMBOBOX),
    kind("colour", block("gain"), key("c"), COMBOBOX),
    # charts
    kind("arguments of a machine", of_file("arguments"), at="modes"),
    kind("actions", into(f"[data-id='{STATE}'] .state-name"), of_file("entry"), at="modes"),
    kind("name of a state", into(f"[data-id='{STATE}'] .state-name"), into(".form-name"),
         at="modes"),
    kind("name on the chart", into(f"[data-id='{STATE}'] .state-name"), key("F2"),
         has("input.state-name"), at="modes"),
    kind("condition", into(".transition text"), of_file("when"), at="modes"),
    kind("state to lead to", into(f"[data-id='{STATE}'] .state-name"), key("w"), COMBOBOX,
         at="modes"),
    # the text beside the sheet
    kind("code", key("Ctrl+e"), has(".code .cm-content"), text=LINES),
    # panels
    kind("signal of a claim", tab("tests"), press("Add a claim…"), into(".claim-form input")),
    kind("value of a claim", tab("tests"), press("Add a claim…"),
         into(".claim-form label:nth-of-type(3) input")),
    kind("breakpoint", tab("debug"), labelled("Condition")),
    kind("interval of a step", tab("debug"), labelled("Interval of a step"), text=DIGITS),
    kind("title of a widget", tab("dashboard"), press("Add…"),
         into(".widget-dialog label:nth-of-type(2) input"), most=200),
    kind("parameter of a sweep", key("S"), has(".job-pair input")),
    kind("range of a sweep", key("S"), into(".job-pair input:nth-of-type(2)")),
    kind("metric of a sweep", key("S"), labelled("metrics 1: name")),
    kind("end of the next run", into(".run-until input"), text=DIGITS),
    # what shows a run
    kind("time", labelled("Time in seconds"), ran=True),
    kind("search of signals", tab("scopes"), press("Signals…"), has("dialog[open] [role=combobox]"),
         ran=True),
    kind("seconds that are shown", tab("scopes"), press("Follow"), into(".looking input"),
         text=DIGITS, ran=True),
    kind("search of parameters", tab("tune"), labelled("Search parameters"), ran=True),
    kind("tuned value", tab("tune"), into(".tune .tune-value input.number"), ran=True),
    kind("state of a continuation", tab("runs"), press("Continue from the time"),
         into(".state-block input"), text=DIGITS, ran=True),
    kind("parameter of a continuation", tab("runs"), press("Continue from the time"),
         into("dialog[open] table input.number"), ran=True),
    kind("signal of a widget", tab("dashboard"), press("Add…"),
         into(".widget-dialog [role=combobox]"),
         ran=True),
)  # fmt: skip


def type_into(page: DiagramPage, one: Kind, typing: Callable[[DiagramPage, str], object]) -> None:
    """Type or paste a long text into a field: it is all there, the focus and the caret stay, and
    nothing else happens to the page, its blocks and its file."""
    page.open(one.file, None, one.at)
    blocks, before = page.blocks(), page.text
    page.browser.run("document.activeElement.blur()")
    for step in one.steps:
        step(page)
    page.press("Ctrl+END")
    page.browser.run(COUNT_REQUESTS)
    first = page.browser.run(VALUE)
    typing(page, one.text)
    _check_text(page, one, first)
    requests = page.browser.run("return window.sent")
    assert requests <= COUNT // 50, f"{requests} requests"
    page.press("DELETE", "BACKSPACE", "BACKSPACE", "Ctrl+z", "Ctrl+z")
    page.browser.drawn()
    _has_focus(page)
    assert page.text == before, "the file while one types"
    while one.name == "code" and page.browser.run(VALUE) != first:
        page.press("Ctrl+z")
    page.press(*one.leave)
    page.wait("!document.querySelector('dialog[open]')")
    page.browser.run("document.activeElement.blur()")
    if page.driver.find_elements("css selector", ".react-flow__node"):  # not the list of diagrams
        page.until(lambda: page.blocks() == blocks, "the same blocks")
    assert page.text == before, "the file"


def _check_text(page: DiagramPage, one: Kind, first: str) -> None:
    whole = (first + one.text)[: one.most]
    if one.name == "code":  # of a long line the editor draws what is seen
        page.wait("document.querySelector('.code-state.wrong')")
    elif page.browser.run("return window.typedIn.type !== 'number'"):  # which takes no such number
        page.wait(f"(() => {{ {VALUE} }})().length >= {len(whole)}")
        assert page.browser.run(VALUE) == whole, "the text"
        assert page.browser.run("return window.typedIn.selectionStart") == len(whole), "the caret"
    _has_focus(page)


def _has_focus(page: DiagramPage) -> None:
    found = page.browser.run("return document.activeElement.outerHTML.slice(0, 200)")
    assert page.browser.run("return document.activeElement === window.typedIn"), f"focus: {found}"
