"""Builds a diagram from nothing in the page, as one that there is."""

from __future__ import annotations

import re

from selenium.webdriver.support.ui import Select

from spart_blocks.base.document import parse_document
from spart_blocks.versions.edits.values import flow_text

NAMING = "document.activeElement.matches('input.block-name')"
OPTIONS = (
    "[...document.querySelectorAll('dialog[open] [role=option] .choice-name')]"
    ".map((one) => one.textContent.trim())"
)
KEYS = ("ENTER", "TAB", "END", "BACKSPACE", "F2", "Ctrl+a")
CHART = ("states", "transitions", "initial", "outputs", "variables")
GATES = {"in": "Inputs", "out": "Outputs"}
"""The forms of the blocks that are a subsystem's ports."""
CONDITIONS = {"enabled": "Enabled", "triggered": "Triggered", "reset": "Resettable"}


def read(path):
    return parse_document(path.read_text(), path.name).data


def written(value):
    """A value as YAML in one line."""
    return " ".join(flow_text(value).split("\n"))


class Builder:
    """Builds a file like a given one. page: a DiagramPage; person: counts what is done; asking: a
    session with the given file, for its sheets."""

    def __init__(self, page, person, asking, path):
        self.page, self.person, self.asking, self.path = page, person, asking, path
        self.data = read(asking.session.root / path)
        self.defined, self.kinds, self.shown = set(), {}, ""
        asking.ok("open", path=path)

    def build(self):
        self.begin()
        self.sheet("", self.data)
        self.run()
        self.claims()

    # --- the file's own ---------------------------------------------------------------------

    def begin(self):
        page, person = self.page, self.person
        page.wait("document.querySelector('.project-tools')")
        person.does(page.press_text, "New diagram")
        page.wait("document.querySelector('dialog[open] input')")
        self.types(self.data["name"], "ENTER")
        page.wait("document.querySelector('.new-robot')")
        page.file = page.root / page.browser.run("return decodeURI(location.hash.slice(1))")
        for name, section in self.data.get("robots", {}).items():
            self.robot(name, section)
        for section, what in (("params", "parameter"), ("clocks", "clock")):
            if not self.data.get(section):
                continue
            self.press_on(page.browser.find(f"[aria-label='Name of a new {what}']"))
            for name, value in self.data[section].items():
                self.types(name, "TAB", written(value), "ENTER")
                page.until(lambda s=section, n=name: n in (self.now().get(s) or {}), name)
                page.wait(f"document.activeElement.ariaLabel === 'Name of a new {what}'")

    def robot(self, name, section):
        page, person = self.page, self.person
        model = section["urdf"].lstrip("./")
        person.chooses("[aria-label='Model of a new robot']", model)
        own = {"Name": name, "Section": written(section | {"urdf": f"../{model}"})}
        for label, text in own.items():
            self.press_on(page.browser.find(f"[aria-label='{label} of the new robot']"))
            self.types("Ctrl+a", text)
        self.types("ENTER")
        page.until(lambda: name in (self.now().get("robots") or {}), name)

    def types(self, *words):
        """Texts, and the names of keys."""
        for word in words:
            key = word in KEYS
            self.person.does(self.page.press if key else self.page.type, word)

    def leave_field(self):
        """Give the keys back to the sheet, with nothing selected."""
        inside = "return document.activeElement.matches('input, textarea')"
        while self.page.browser.run(inside):
            self.person.does(self.page.press, "ESCAPE")
        self.person.does(self.page.press, "ESCAPE")

    def press_on(self, element):
        """Click an element of a form, in the middle of what is seen of the form."""
        self.page.browser.run("arguments[0].scrollIntoView({block: 'center'})", element)
        self.person.does(element.click)

    def now(self):
        """What the file holds."""
        return read(self.page.file)

    # --- sheets -----------------------------------------------------------------------------

    def sheet(self, at, section):
        """The blocks and wires of the sheet that is open."""
        self.shown = at
        for name, block in section["blocks"].items():
            self.block(at, name, block)
        shown = self.asking.ok("sheet", path=self.path, at=at)
        for wire in shown["wires"]:
            self.wire(wire)

    def block(self, at, name, block):
        kind = block["type"]
        given = {key: value for key, value in block.items() if key != "type"}
        inside = self.data.get("subsystems", {}).get(kind)
        if inside is not None and kind not in self.defined:
            self.subsystem(f"{at}/{name}" if at else name, kind, inside)
        else:
            self.add(kind, name)
        self.until_there(name)
        machine = kind in ("STATE_MACHINE", "STATE_MACHINE_S")
        chart = {key: given.pop(key) for key in CHART if machine and key in given}
        if given or chart:
            self.select(name)
        kinds = self.kinds_of(at, name) if given else {}
        for key, value in given.items():
            self.parameter(key, value, kinds.get(key))
        if chart:
            self.chart(at, name, chart)

    def add(self, kind, name):
        self.person.does(self.page.press, "Ctrl+k")
        self.choose(kind)
        self.page.wait(NAMING)
        self.types(name, "ENTER")

    def until_there(self, name):
        self.page.until(lambda: name in self.page.blocks(), f"{name} added")

    def choose(self, text, more=""):
        """The choice of exactly this name, in the list that is open."""
        page = self.page
        page.wait("document.querySelector('dialog[open] [role=combobox]')")
        self.types(text)
        page.wait(f"{OPTIONS}.includes(arguments[0])", text)
        below = page.browser.run(f"return {OPTIONS}.indexOf(arguments[0])", text)
        for _ in range(below):
            self.person.does(page.press, "ARROW_DOWN")
        self.person.does(page.press, "ENTER")

    def select(self, name):
        """Go to a block of the sheet by the search."""
        self.leave_field()
        self.person.does(self.page.press, "Ctrl+f")
        self.choose(f"{self.shown}/{name}" if self.shown else name)
        form = GATES.get(name, name) if self.shown else name
        self.page.wait(
            "document.querySelector('.form-panel .form')?.ariaLabel === arguments[0]", form
        )

    def kinds_of(self, at, block):
        """The kinds of values that the fields of a form take."""
        fields = self.asking.ok("form", path=self.path, at=at, block=block)["fields"]
        return {one["name"]: one["kind"] for one in fields if not one["path"].startswith("params.")}

    def parameter(self, key, value, kind=None, where=".form-panel"):
        page = self.page
        isText = kind in ("text", "choice", None) and isinstance(value, str)
        page.wait(f"document.querySelector('{where} .field [name={key}]')")
        field = page.browser.find(f"{where} .field [name={key}]")
        if field.tag_name == "select":
            self.person.does(
                Select(field).select_by_visible_text,
                written(value) if not isinstance(value, str) else value,
            )
        else:
            self.press_on(field)
            held = ["Ctrl+a"] if field.get_attribute("value") else []
            self.types(*held, value if isText else written(value), "ENTER")
        page.until(lambda: self.written_at(key, value), f"{key}: {value!r}")

    def written_at(self, key, value):
        return key in self.page.text

    def wire(self, wire):
        """By keyboard, from the output to the input; then the entries that it takes."""
        (start, output), (end, port) = (
            (wire[side]["block"], wire[side]["port"]) for side in ("from", "to"))  # fmt: skip
        self.select(start)
        self.person.does(self.page.press, "w")
        self.choose(f"output {output}")
        self.changes(lambda: self.choose(f"{end}.{port}"), f"a wire {wire['source']}")
        is_one = not re.search(r"[*{]", wire["source"])
        drawn = self.at(self.place_of(self.shown))["wires"][-1]
        if is_one and end == wire["target"] and drawn.endswith(f" {end}.{port}"):
            self.rewire(output, end, port, "to", "Ctrl+a", end)
        entries = re.search(r"\[.*\]$", wire["source"])
        if entries and is_one:
            self.select(start)
            self.rewire(output, end, port, "from", "END", entries[0])

    def rewire(self, output, end, port, side, *words):
        """Give the last wire to a port another end."""
        self.person.does(self.page.press, "w")
        self.choose(f"output {output}")
        self.choose_change(end, port)
        self.page.wait("document.activeElement.name === 'from'")
        if side == "to":
            self.types("TAB")
        self.changes(lambda: self.types(*words, "ENTER"), words)

    def choose_change(self, end, port):
        """The choice that changes the last wire of a port."""
        found = f"{OPTIONS}.findLast((one) => one.startsWith('change ') && one.match(arguments[0]))"
        target = rf"→ {re.escape(end)}(\.{re.escape(port)})?$"
        self.choose(self.page.wait(found, target))

    def changes(self, act, what):
        """Wait until what is done has changed the file."""
        before = self.page.text
        act()
        self.page.until(lambda: self.page.text != before, what)

    # --- subsystems -------------------------------------------------------------------------

    def subsystem(self, at, name, section):
        """A subsystem of the file, with the block by which it is made."""
        self.defined.add(name)
        self.kinds[at] = name
        page, person = self.page, self.person
        outside, _, block = at.rpartition("/")
        self.add("Subsystem", block)
        self.until_there(block)
        self.select(block)
        if name != block:
            field = page.wait("document.querySelector('.definition input')")
            self.press_on(field)
            self.types("Ctrl+a", name, "ENTER")
            self.select(block)
        page.until(lambda: name in (self.now().get("subsystems") or {}), name)
        person.does(page.press, "ENTER")
        page.until(lambda: page.crumbs()[-1:] == [block], f"{block} open")
        self.shown = at
        conditions = {key: dict(section[key]) for key in CONDITIONS if key in section}
        by = {one["by"]: key for key, one in conditions.items()}
        for gate, side in (("in", "inputs"), ("out", "outputs")):
            made = self.now()["subsystems"][name].get(side, [])
            wanted = section.get(side, [])
            if not wanted and not made:
                continue
            self.select(gate)
            for port in wanted:
                if port not in by and port not in made:
                    self.new_port(side, port)
            for port in made:
                if port not in wanted:
                    self.changes(
                        lambda port=port: person.does(page.button, f"Remove {port} with"),
                        f"{port} removed",
                    )
        for key, value in section.get("params", {}).items():
            self.own_parameter(name, key, value)
        for kind, one in conditions.items():
            self.condition(name, kind, one)
        self.order(name, "in", "inputs", section.get("inputs", []))
        self.sheet(at, section)
        self.leave_field()
        person.does(page.press, "BACKSPACE")
        page.until(
            lambda: page.browser.run("return location.hash").partition("::")[2] == outside,
            "outside",
        )
        self.shown = outside

    def own_parameter(self, name, key, value):
        self.leave_field()
        found = f"[aria-label='Name of a new parameter of {name}']"
        self.page.wait(f"document.querySelector(`{found}`)")
        self.press_on(self.page.browser.find(found))
        self.changes(lambda: self.types(key, "TAB", written(value), "ENTER"), key)

    def new_port(self, side, name):
        field = self.page.browser.find(f"[aria-label='Name of a new {side[:-1]}']")
        self.press_on(field)
        self.changes(lambda: self.types(name, "ENTER"), name)

    def order(self, name, gate, side, wanted):
        """Move ports up until they are in the order wanted."""
        for place, port in enumerate(wanted):
            while (now := self.now()["subsystems"][name][side]).index(port) > place:
                self.select(gate)
                self.changes(
                    lambda port=port: self.person.does(self.page.button, f"Move {port} up"),
                    f"{now}",
                )

    def condition(self, name, kind, section):
        """It runs on a condition."""
        page, person = self.page, self.person
        self.select("in")
        person.does(page.press, "Ctrl+Shift+g")
        label = "//section[@aria-label='Kind of subsystem']//label"
        label += f"[normalize-space(.)='{CONDITIONS[kind]}']/input"
        page.until(lambda: page.driver.find_elements("xpath", label), f"a choice {kind}")
        self.changes(lambda: person.does(page.driver.find_element("xpath", label).click), kind)
        made = self.now()["subsystems"][name][kind]["by"]
        for key, value in section.items():
            if key != "by":
                self.parameter(key, value, where="dialog[open]")
        self.leave_field()
        if made != section["by"]:
            self.select("in")
            field = page.browser.find(f"[aria-label='Name of {made}']")
            self.press_on(field)
            self.changes(lambda: self.types("Ctrl+a", section["by"], "ENTER"), section["by"])

    # --- state machines ---------------------------------------------------------------------

    def chart(self, at, name, chart):
        """The states and transitions of a machine, on its chart."""
        page, person = self.page, self.person
        self.select(name)
        person.does(page.press, "ENTER")
        page.wait("document.querySelector('.react-flow__node .state-name')")
        machine = (*self.place_of(at), "blocks", name)
        self.select_state("on")  # of those that a new machine has
        self.changes(lambda: person.does(page.press, "DELETE"), "without on")
        self.select_state("off")
        self.fill("entry", "")
        self.leave_field()
        self.select_state("off")
        person.does(page.press, "F2")
        first = next(iter(chart["states"]))
        self.changes(lambda: self.types("Ctrl+a", first, "ENTER"), first)
        self.leave_field()
        page.wait("document.querySelector('.form-panel .field [name=outputs]')")
        for key in ("outputs", "variables"):
            if key in chart:
                self.parameter(key, chart[key])
            elif key in self.at(machine):
                self.changes(
                    lambda key=key: person.does(page.button, f"Back to the default of {key}"), key
                )
        self.states(machine, chart)
        for one in chart.get("transitions", ()):
            self.transition(one)
        self.leave_field()
        person.does(page.press, "BACKSPACE")
        page.wait("!document.querySelector('.react-flow__node .state-name')")

    def place_of(self, at):
        """The path of the sheet that is shown, in the file."""
        return ("subsystems", self.kinds[at]) if at else ()

    def at(self, path):
        found = self.now()
        for key in path:
            found = found[key]
        return found

    def states(self, holder, section):
        """The states within the machine, or within a state."""
        page, person = self.page, self.person
        around = holder[-1] if holder[-2] == "states" else None
        for name, state in section["states"].items():
            if name in self.at(holder).get("states", {}):
                self.select_state(name)
            else:
                if around:
                    self.select_state(around)
                else:
                    self.leave_field()
                person.does(page.press, "s" if around else "a")
                page.wait("document.activeElement.matches('input.state-name')")
                self.changes(lambda name=name: self.types("Ctrl+a", name, "ENTER"), name)
                page.wait("document.querySelector('.form-name')?.value === arguments[0]", name)
            for when in ("entry", "during", "exit"):
                if when in state:
                    self.actions(when, state[when])
            if "states" in state:
                self.states((*holder, "states", name), state)
        initial = section.get("initial")
        if initial and self.at(holder).get("initial") != initial:
            self.select_state(initial)
            self.changes(lambda: person.does(page.press, "i"), f"{initial} first")

    def select_state(self, name):
        """By the arrow keys, through the states in the order written."""
        page = self.page
        self.leave_field()
        for _ in range(99):
            self.person.does(page.press, "ARROW_DOWN")
            if page.browser.run("return document.querySelector('.form-name')?.value") == name:
                return
        raise AssertionError(f"there is no state {name}")

    def actions(self, name, given):
        text = "; ".join(f"{key} = {value if isinstance(value, str) else written(value)}"
                         for key, value in given.items())  # fmt: skip
        self.fill(name, text)

    def transition(self, given):
        self.select_state(given["from"])
        self.person.does(self.page.press, "w")
        self.changes(lambda: self.choose(given["to"]), f"to {given['to']}")
        self.page.wait("document.activeElement.name === 'when'")
        for key, value in given.items():
            if key == "do":
                self.actions(key, value)
            elif key not in ("from", "to"):
                self.fill(key, value if isinstance(value, str) else written(value))

    def fill(self, name, text):
        """A field of the form, with a text."""
        found = f".form-panel .field [name={name}]"
        self.page.wait(f"document.querySelector('{found}')")
        field = self.page.browser.find(found)
        self.press_on(field)
        self.changes(lambda: self.types("Ctrl+a", text or "BACKSPACE", "ENTER"), f"{name}: {text}")

    # --- how it runs, and what it must show -------------------------------------------------

    def run(self):
        self.leave_field()
        self.page.wait("document.querySelector('.form[aria-label=File]')")
        kinds = self.kinds_of("", "")
        for key, value in self.data.get("run", {}).items():
            self.parameter(key, value, kinds[key])

    def claims(self):
        page, person = self.page, self.person
        self.press_on(page.browser.find("#tab-tests"))
        for kind, given in self.data.get("expect", {}).items():
            for one in given if isinstance(given, list) else [given]:
                person.does(page.press_text, "Add a claim…")
                page.wait("document.querySelector('.claim-form select')")
                chosen = page.browser.find(".claim-form select")
                person.does(Select(chosen).select_by_value, kind)
                for name, value in one.items() if isinstance(one, dict) else ():
                    self.claim_value(name, value)
                self.changes(lambda: person.does(page.press_text, "Add the claim"), kind)
                page.wait("!document.querySelector('.claim-form')")

    def claim_value(self, name, value):
        field = self.page.wait(
            "[...document.querySelectorAll('.claim-form label')].find((one) => "
            "one.innerText.split(/[ *\\n]/)[0] === arguments[0])?.querySelector('input, select')",
            name,
        )
        if field.tag_name == "select":
            return self.person.does(Select(field).select_by_visible_text, written(value))
        self.press_on(field)
        text = value if isinstance(value, str) else written(value)
        return self.types("Ctrl+a", "BACKSPACE", text)
