"""What the tests of the studio's page do in it, as a person would."""

from __future__ import annotations

from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.keys import Keys

LOOP = """\
name: loop
params: {k: 2} # 1/s
blocks:
  goal: {type: STEP, T: 0}
  error: {type: SUM, signs: "+-"}
  gain: {type: GAIN, K: $k}
  x: {type: INTEGRATOR}
  scope: {type: SCOPE}
wires:
  - goal -> error.0
  - error -> gain
  - gain -> x
  - x -> error.1, scope
run: {T: 1}
"""
NODE = "document.querySelector(`.react-flow__node[data-id='${arguments[0]}']`)"
BOX = "const r = %s.getBoundingClientRect(); return [r.x, r.y, r.width, r.height]"


class DiagramPage:
    """The studio's page in a browser. root: the project's folder."""

    SHIFT = Keys.SHIFT
    CTRL_A = Keys.CONTROL + "a" + Keys.NULL

    def __init__(self, browser, root):
        self.browser, self.root, self.file = browser, root, None
        self.driver = browser.driver

    # files

    def open(self, name, text=None, at=""):
        """Open a file of the project, with this text, and wait until it is drawn."""
        self.file = self.root / name
        if text is not None:
            self.file.write_text(text)
        self.browser.run("location.hash = arguments[0]", f"{name}::{at}" if at else name)
        self.browser.wait(f"document.querySelector('.breadcrumbs')?.innerText.includes('{name}')")
        self.browser.wait("document.querySelector('.react-flow__node')")
        self.browser.drawn()
        return self

    @property
    def text(self):
        return self.file.read_text()

    def written(self, *parts):
        """Wait until the file holds all of these texts."""
        for part in parts:
            self.until(lambda part=part: part in self.text, f"{part!r} in the file")

    def until(self, holds, what, seconds=30):
        from selenium.webdriver.support.ui import WebDriverWait

        message = f"not {what}; the file:\n{self.text}"
        WebDriverWait(self.driver, seconds, 0.05).until(lambda _: holds(), message)

    # what is shown

    def wait(self, condition, *arguments):
        return self.browser.wait(condition, *arguments)

    def blocks(self):
        nodes = "[...document.querySelectorAll('.react-flow__node')].map((n) => n.dataset.id)"
        return set(self.browser.run(f"return {nodes}"))

    def selected(self):
        nodes = "[...document.querySelectorAll('.react-flow__node.selected')]"
        return set(self.browser.run(f"return {nodes}.map((n) => n.dataset.id)"))

    def selects(self, *names):
        self.until(lambda: self.selected() == set(names), f"selected: {names}")

    def has(self, *names):
        """Wait until exactly these blocks are shown."""
        self.until(lambda: self.blocks() == set(names), f"shown: {names}")

    def box(self, name):
        """Where a block is on the page: x, y, width, height."""
        return self.browser.run(BOX % NODE, name)

    def wires(self):
        edges = "[...document.querySelectorAll('.react-flow__edge')]"
        return set(self.browser.run(f"return {edges}.map((e) => e.getAttribute('aria-label'))"))

    def line(self, wire):
        """The path of a wire, "a -> b"."""
        found = f".react-flow__edge[data-id='{wire}'] .line"
        return self.browser.find(found).get_attribute("d")

    def click_wire(self, wire):
        """Click the middle of a wire, "a -> b"."""
        self.browser.drawn()
        line = self.browser.find(f".react-flow__edge[data-id='{wire}'] .line")
        middle = self.browser.run(
            "const l = arguments[0], at = l.getPointAtLength(l.getTotalLength() / 2);"
            "const p = at.matrixTransform(l.getScreenCTM()); return [p.x, p.y]", line,
        )  # fmt: skip
        self.click_at(*middle)

    def said(self):
        return self.browser.find(".unseen[role=status]").get_attribute("textContent")

    # what a person does

    def node(self, name):
        return self.browser.find(f".react-flow__node[data-id='{name}']")

    def port(self, block, port, output):
        side = "source" if output else "target"
        return self.browser.find(f"[data-id='{block}'] .port.{side}[data-handleid='{port}']")

    def click(self, name, *held):
        actions = ActionChains(self.driver)
        for key in held:
            actions.key_down(key)
        actions.click(self.node(name))
        for key in held:
            actions.key_up(key)
        actions.perform()

    def button(self, name):
        self.browser.find(f"button[aria-label^='{name}']").click()

    def press_text(self, text):
        """Press the button with a text."""
        found = "[...document.querySelectorAll('button:enabled')]"
        self.wait(f"{found}.find((one) => one.textContent.trim() === arguments[0])", text).click()

    def press(self, *keys):
        """Press keys one after the other; "Ctrl+Z" together, and capitals with Shift."""
        for key in keys:
            *held, last = key.split("+") if len(key) > 1 and "+" in key else [key]
            if len(key) == 1 and key.isupper():
                held = ["Shift"]
            actions = ActionChains(self.driver)
            codes = [getattr(Keys, {"Ctrl": "CONTROL"}.get(name, name.upper())) for name in held]
            for code in codes:
                actions.key_down(code)
            actions.send_keys(getattr(Keys, last) if last.isupper() and len(last) > 1 else last)
            for code in codes:
                actions.key_up(code)
            actions.perform()

    def type(self, text):
        ActionChains(self.driver).send_keys(text).perform()

    def paste(self, text):
        """Paste a text that was copied elsewhere."""
        self.browser.allow_clipboard()
        self.browser.run_async("navigator.clipboard.writeText(arguments[0]).then(done)", text)
        self.press("Ctrl+v")

    def fill(self, field, *keys):
        """Type keys in place of what is in a field. Firefox's driver takes what follows a key that
        is held for being pressed with it, unless it comes by itself."""
        field.send_keys(self.CTRL_A)
        field.send_keys(*keys)

    def focus(self, element):
        """Put the focus to an element: Firefox's driver has no keys for a slider."""
        self.browser.run("arguments[0].focus()", element)

    def choose(self, text):
        """Type into the list that is open, and take the first that is found."""
        self.wait("document.querySelector('dialog[open] [role=combobox]')")
        self.wait("document.querySelector('dialog[open] [role=option]')")
        self.type(text)
        self.browser.drawn()
        self.press("ENTER")

    def drag(self, start, *steps, release=True):
        """Drag from an element by steps of pixels, or to elements."""
        actions = ActionChains(self.driver, duration=30).click_and_hold(start)
        for step in steps:
            if isinstance(step, tuple):
                actions.move_by_offset(*step)
            else:
                actions.move_to_element(step).move_by_offset(1, 1)
        (actions.release() if release else actions).perform()

    def drag_end(self):
        ActionChains(self.driver).release().perform()

    def click_at(self, x, y):
        """Click a place of the page."""
        chain = ActionChains(self.driver)
        chain.w3c_actions.pointer_action.move_to_location(round(x), round(y)).click()
        chain.perform()

    def double_click(self, element):
        ActionChains(self.driver).double_click(element).perform()

    def click_empty(self):
        self.at_empty().click().perform()

    def drag_at(self, start, *steps):
        """Drag from one place of the page over others."""
        chain = ActionChains(self.driver, duration=50)
        pointer = chain.w3c_actions.pointer_action
        pointer.move_to_location(*map(round, start)).pointer_down()
        for step in steps:
            pointer.move_to_location(*map(round, step))
        pointer.pointer_up()
        chain.perform()

    def middle(self, block, port):
        """Where an input is on the page."""
        x, y, width, height = self.browser.run(BOX % "arguments[0]", self.port(block, port, False))
        return x + width / 2, y + height / 2

    def pan(self, dx, dy):
        """Drag the sheet with the middle button."""
        chain = self.at_empty(0.1, 0.2)
        pointer = chain.w3c_actions.pointer_action
        pointer.pointer_down(button=1)
        pointer.move_by(dx / 2, dy / 2)
        pointer.move_by(dx - dx / 2, dy - dy / 2).pointer_up(button=1)
        chain.perform()

    def crumbs(self):
        """The names of the path above the sheet."""
        found = self.driver.find_elements("css selector", ".breadcrumbs button")
        return [one.text for one in found]

    def field(self, name):
        """The field of a parameter in the form."""
        label = f"//aside[@aria-label='Parameters']//label[normalize-space(text())='{name}']"
        return self.driver.find_element("xpath", f"{label}/..//textarea")

    def at_empty(self, x=0.5, y=0.88):
        """The pointer over an empty part of the sheet, at a share of its width and height."""
        pane = self.browser.find(".react-flow__pane")
        size = pane.size
        offset = (int(size["width"] * (x - 0.5)), int(size["height"] * (y - 0.5)))
        return ActionChains(self.driver, duration=30).move_to_element_with_offset(pane, *offset)
