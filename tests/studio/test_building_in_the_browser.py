"""The spacecraft's diagram is built from nothing in the page alone, and is that of the project."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
from browsers import needs_chromium
from diagram_pages import DiagramPage
from selenium.webdriver.support.ui import Select
from studio_pages import in_browser

from spart_blocks.run import DiagramFile, begin, finish

pytestmark = needs_chromium

NAMING = "document.activeElement.matches('input.block-name')"
BLOCKS = [("step", "qd"), ("joint pd", "ctrl"), ("multibody", "plant"), ("r_angles321", "attitude"),
          ("scope", "joints"), ("scope", "torques"), ("scope", "base")]  # fmt: skip
WIRES = [("qd.0", "ctrl.qd"), ("plant.qm", "ctrl.qm"), ("plant.um", "ctrl.um"),
         ("ctrl.tau", "plant.taum"), ("plant.R0", "attitude.R"), ("plant.qm", "joints.0"),
         ("ctrl.tau", "torques.0"), ("attitude.angles", "base.0")]  # fmt: skip
SCOPES = {"joints": ("[q1, q2, q3]", "Joint positions"),
          "torques": ("[tau1, tau2, tau3]", "Joint torques"),
          "base": ("[roll, pitch, yaw]", "Attitude of the base")}  # fmt: skip


class Person:
    """Who builds it. actions: clicks, drags, and words that were typed."""

    def __init__(self, page):
        self.page, self.actions = page, 0

    def does(self, what, *given):
        self.actions += 1
        return what(*given)

    def types(self, *words):
        """Words, and keys by their names, one after the other."""
        for word in words:
            key = word.isupper() or word.startswith("Ctrl+")
            self.does(self.page.press if key else self.page.type, word)

    def chooses(self, selector, text):
        self.page.wait(f"document.querySelector(`{selector}`)")
        chosen = self.page.browser.find(selector)
        self.page.browser.run("arguments[0].focus()", chosen)
        self.page.wait(
            "[...arguments[0].options].some((o) => o.text === arguments[1])", chosen, text
        )
        self.does(Select(chosen).select_by_visible_text, text)

    def fills(self, name, text, end="ENTER"):
        """A field of the form."""
        field = self.page.field(name)
        self.page.browser.run("arguments[0].scrollIntoView({block: 'center'})", field)
        self.does(field.click)
        self.types(*(["Ctrl+a"] if field.get_attribute("value") else []), text, end)
        self.page.written(text)


def test_the_diagram_of_the_spacecraft_is_built_from_nothing(browser, tmp_path):
    (tmp_path / "models").mkdir()
    (tmp_path / "diagrams").mkdir()
    (tmp_path / "spart.toml").write_text("")
    shutil.copy("models/spacecraft_3dof.urdf", tmp_path / "models")
    with in_browser(browser, tmp_path):
        page = DiagramPage(browser, tmp_path)
        person = Person(page)
        begins(page, person)
        for kind, name in BLOCKS:
            adds(page, person, kind, name)
        person.does(page.button, "See the whole")
        for count, (start, end) in enumerate(WIRES, 1):
            page.browser.drawn()
            ports = page.port(*start.split("."), True), page.port(*end.split("."), False)
            person.does(page.drag, *ports)
            page.until(lambda count=count: len(page.wires()) == count, f"{start} to {end}")
        finishes(page, person)
        runs(page, person)
    built, shipped = (finish(begin(DiagramFile(path))) for path in (
        page.file, Path("diagrams/spacecraft_pd.yaml")))  # fmt: skip
    for signal in ("plant.qm", "ctrl.tau", "attitude.angles"):
        assert np.allclose(built[signal][-1], shipped[signal][-1], atol=1e-6)  # it has no audit
    assert person.actions < 130


def begins(page, person):
    """The file, its robot and its parameters."""
    page.wait("document.querySelector('.project-tools')")
    person.does(page.press_text, "New diagram")
    page.wait("document.querySelector('dialog[open] input')")
    person.types("spacecraft pd", "ENTER")
    page.wait("document.querySelector('.new-robot')")
    page.file = page.root / "diagrams" / "spacecraft_pd.yaml"
    person.chooses("[aria-label='Model of a new robot']", "models/spacecraft_3dof.urdf")
    own = {"Name": ("Ctrl+a", "sc"), "Section": ("END", "BACKSPACE", ", base: floating}", "ENTER")}
    for label, words in own.items():
        person.does(page.browser.find(f"[aria-label='{label} of the new robot']").click)
        person.types(*words)
    page.written("sc: {urdf: ../models/spacecraft_3dof.urdf, base: floating}")
    person.does(page.browser.find("[aria-label='Name of a new parameter']").click)
    for name, value in (("kp", "[40, 40, 10]"), ("kd", "[20, 20, 5]")):
        person.types(name, "TAB", value, "ENTER")
        page.written(f"{name}: {value}")
        page.wait("document.activeElement.ariaLabel === 'Name of a new parameter'")


def adds(page, person, kind, name):
    """A block, by its name and a word of its type, and what it needs."""
    person.does(page.press, "Ctrl+k")
    person.does(page.choose, kind)
    page.wait(NAMING)
    person.types(name, "TAB")
    page.until(lambda: name in page.blocks(), f"{name} added")
    if name == "ctrl":
        page.wait("document.activeElement.name === 'kp'")
        person.types("$kp", "TAB")
        page.written("kp: $kp")
        page.wait("document.activeElement.name === 'kd'")
        person.types("$kd", "ENTER")
        page.written("kd: $kd")
    if name == "plant":
        person.chooses("select[name='robot']", "sc")
        page.written("robot: sc")


def finishes(page, person):
    """The other parameters, and how it runs."""
    person.does(page.click, "qd")
    page.wait("document.querySelector('aside [name=on]')")
    person.fills("on", "[0.5, -0.3, 0.2]")
    person.does(page.click, "plant")
    page.wait("document.querySelector('aside [name=initial]')")
    person.fills("initial", "{qm: [0.1, 0, 0]}")
    for name, (labels, title) in SCOPES.items():
        person.does(page.click, name)
        page.wait(f"document.querySelector(`.form[aria-label='{name}'] [name=labels]`)")
        person.fills("labels", labels)
        person.fills("title", title)
    page.click_empty()
    page.wait("document.querySelector('aside [name=rtol]')")
    for name, text in (("T", "20"), ("rtol", "1e-08"), ("atol", "1e-10")):
        person.fills(name, text)


def runs(page, person):
    """It runs to its end, and shows what the file says."""
    person.chooses("section[aria-label=Run] select", "as fast as it goes")
    person.does(page.press_text, "Run")
    page.wait("document.querySelector('section[aria-label=Run]').innerText.includes('ended')")
    page.wait("document.querySelectorAll('.scope').length === 3")
    assert "Joint positions" in page.browser.find(".scope").text
