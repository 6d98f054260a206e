"""What tests of charts do in the studio's page."""

from __future__ import annotations

from diagram_pages import DiagramPage

MODES = """\
params: {slow: 0.02} # rad/s
blocks:
  modes:
    type: STATE_MACHINE
    arguments: [rate]
    outputs: {torque: 0}
    initial: detumble
    states:
      detumble: {during: {torque: "-2*rate"}}
      operate:
        initial: point
        states:
          point: {} # as long as it holds
          dump: {entry: {torque: 0.5}}
      safe: {}
    transitions:
      - {from: detumble, to: operate, when: "abs(rate) < 0.02"}
      - {from: point, to: dump, after: 2}
      - {from: dump, to: point, after: 0.25}
      - {from: operate, to: safe, when: "t > 8 and active(dump)"}
  rate: {type: INTEGRATOR, x0: 0.3}
  scope: {type: SCOPE}
wires:
  - modes.torque -> rate
  - rate -> modes.rate
  - modes.state -> scope
run: {T: 6}
"""
FIELD = "[...document.querySelectorAll('.form-panel .field [name]')].find((f) => f.name === '%s')"


class ChartPage(DiagramPage):
    """A page on which the chart of the block `modes` is shown."""

    def state(self, path):
        """The box of a state, by the names on the way to it: operate.point."""
        return self.node("blocks.modes" + "".join(f".states.{name}" for name in path.split(".")))

    def states(self):
        """The names that are shown, in the order written."""
        names = "[...document.querySelectorAll('.react-flow__node .state-name')]"
        return self.browser.run(f"return {names}.map((n) => n.textContent)")

    def shows(self, *names):
        self.until(lambda: self.states() == list(names), f"the states {names}")

    def name_of(self, path):
        return self.state(path).find_element("css selector", ".state-name")

    def transitions(self):
        found = "[...document.querySelectorAll('.transition')]"
        return self.browser.run(f"return {found}.map((t) => t.getAttribute('aria-label'))")

    def transition(self, index):
        return self.browser.find(f".transition[data-path='blocks.modes.transitions[{index}]'] text")

    def grip(self, index, number):
        """A mark at an end of the selected transition: 0 where it leaves, 1 where it enters."""
        found = f".transition[data-path='blocks.modes.transitions[{index}]'] .grip"
        self.wait(f"document.querySelectorAll(`{found}`).length === 2")
        return self.driver.find_elements("css selector", found)[number]

    def outlet(self, path):
        """The dot from which a transition of a selected state is drawn."""
        self.name_of(path).click()
        return self.state(path).find_element("css selector", ".outlet")

    def focused(self, name):
        """Wait until a field of the form has the focus."""
        self.wait(f"document.activeElement.name === '{name}'")

    def fill(self, name, text, end="ENTER"):
        self.wait(FIELD % name).click()
        self.press("Ctrl+a")
        self.type(text)
        if end:
            self.press(end)

    def wrong(self, text):
        """Wait until this is said to be wrong at a field."""
        fields = "[...document.querySelectorAll('.form-panel .wrong-text')]"
        self.wait(f"{fields}.some((p) => p.textContent.includes(arguments[0]))", text)

    def active(self):
        """The names of the states that light up."""
        names = "[...document.querySelectorAll('.state.active > .state-name')]"
        return self.browser.run(f"return {names}.map((n) => n.textContent)")
