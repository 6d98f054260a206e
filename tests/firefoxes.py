"""Firefox, in which the same is done as in Chromium."""

from __future__ import annotations

import os
import shutil
import subprocess
from contextlib import contextmanager, nullcontext

import pytest
from browsers import FIREFOX, Browser, geckodriver

SCREEN = shutil.which("Xvfb")
"""A screen for Firefox, which has no WebGL without one."""
PREFERENCES = {
    "browser.shell.checkDefaultBrowser": False,
    "browser.download.folderList": 2,
    "browser.download.useDownloadDir": True,
    "browser.download.always_ask_before_handling_new_types": False,
    "app.update.enabled": False,
    "datareporting.policy.dataSubmissionEnabled": False,
    "dom.events.testing.asyncClipboard": True,  # for scripts, as a person allows it
    "network.captive-portal-service.enabled": False,
    "network.connectivity-service.enabled": False,
    "network.proxy.type": 1,  # a proxy that is not there; this machine needs none
    "network.proxy.http": "127.0.0.1",
    "network.proxy.http_port": 9,
    "network.proxy.ssl": "127.0.0.1",
    "network.proxy.ssl_port": 9,
    "ui.prefersReducedMotion": 0,
    "webgl.force-enabled": True,
}
TOUCHED = (("dom.w3c_touch_events.enabled", 1, 2), ("dom.maxtouchpoints.testing.value", 5, -1))
"""What a screen that is touched changes, and what is so without."""
SIZE = 1280, 717
"""What a page has of Chromium's window."""


@contextmanager
def screen():
    """The name of a screen that nobody sees."""
    reads, writes = os.pipe()
    command = [
        SCREEN,
        "-displayfd",
        str(writes),
        "-screen",
        "0",
        "1600x1200x24",
        "-nolisten",
        "tcp",
    ]
    with subprocess.Popen(command, pass_fds=[writes], stderr=subprocess.DEVNULL) as server:
        os.close(writes)
        with os.fdopen(reads) as told:
            name = f":{told.readline().strip()}"
        try:
            yield name
        finally:
            server.terminate()


@contextmanager
def firefox(folder):
    """Firefox with a new profile in the folder."""
    with screen() if SCREEN else nullcontext() as shown, _firefox_on(shown, folder) as browser:
        yield browser


@contextmanager
def _firefox_on(shown, folder):
    webdriver = pytest.importorskip("selenium.webdriver")
    options = webdriver.FirefoxOptions()
    options.binary_location = FIREFOX
    if shown is None:
        options.add_argument("-headless")
    options.add_argument("-remote-allow-system-access")
    for name, value in PREFERENCES.items():
        options.set_preference(name, value)
    driver_file = folder / "geckodriver"
    shutil.copy(geckodriver(), driver_file)
    driver_file.chmod(0o755)
    env = os.environ | ({"DISPLAY": shown} if shown else {})
    service = webdriver.FirefoxService(str(driver_file), log_output=os.devnull, env=env)
    driver = _dropping(webdriver.Firefox)(options=options, service=service)
    driver.set_script_timeout(60)
    try:
        found = Firefox(driver)
        found.fit()
        yield found
    finally:
        driver.quit()


DROPPING = """
let data = null;
addEventListener('dragstart', ({ dataTransfer }) => {
  data = dataTransfer.types.map((type) => [type, dataTransfer.getData(type)]);
});
window.isDragged = () => data !== null;
window.dropAt = (clientX, clientY) => {
  const dataTransfer = new DataTransfer(), target = document.elementFromPoint(clientX, clientY);
  for (const one of data) dataTransfer.setData(...one);
  data = null;
  for (const type of ['dragover', 'drop', 'dragend']) {
    const given = { bubbles: true, cancelable: true, clientX, clientY, dataTransfer };
    if (target.dispatchEvent(new DragEvent(type, given)) && type === 'dragover') return;
  }
};
"""
HARMLESS = "ResizeObserver loop"
"""A notification that Chromium keeps to itself: what is left over is observed at the next frame."""
CENTRE = "const r = arguments[0].getBoundingClientRect();"
CENTRE += "return [r.x + r.width / 2, r.y + r.height / 2]"


def _dropping(Driver):
    """A driver of Firefox that drops what is dragged: Firefox's own ends a drag without that."""

    class Dropping(Driver):
        def execute(self, command, given=None):
            answer = super().execute(command, given)
            if command == "actions" and self.execute_script("return window.isDragged?.()"):
                for device in given["actions"]:
                    self._drop(device["actions"])
            return answer

        def _drop(self, actions):
            """Drop what is dragged where the pointer was let go."""
            place = [0, 0]
            for action in actions:
                if action["type"] == "pointerMove":
                    place = self._moved(place, action["x"], action["y"], action.get("origin"))
                if action["type"] == "pointerUp":
                    self.execute_script("window.dropAt(...arguments)", *place)

        def _moved(self, place, x, y, origin):
            if isinstance(origin, dict):
                element = self.create_web_element(*origin.values())
                place = self.execute_script(CENTRE, element)
            elif origin != "pointer":
                place = [0, 0]
            return [place[0] + x, place[1] + y]

    return Dropping


class Firefox(Browser):
    """The same of Firefox, whose driver keeps no log: errors are those that the page sees."""

    down = 0  # fingers
    SCHEMES = {"dark": 0, "light": 1, None: 2}

    def prefer(self, name, value):
        kind = "Int" if isinstance(value, int) else "String"
        with self.driver.context(self.driver.CONTEXT_CHROME):
            self.run(f"Services.prefs.set{kind}Pref(arguments[0], arguments[1])", name, value)

    def show_in(self, scheme=None):
        self.prefer("layout.css.prefers-color-scheme.content-override", self.SCHEMES[scheme])

    def allow_clipboard(self):
        """PREFERENCES have it."""

    @contextmanager
    def touched(self):
        for name, value, _ in TOUCHED:
            self.prefer(name, value)
        try:
            yield
        finally:
            for name, _, usual in TOUCHED:
                self.prefer(name, usual)

    def touch(self, kind, *places):
        from selenium.webdriver.common.actions.action_builder import ActionBuilder

        actions = ActionBuilder(self.driver)
        if places:
            self.down = len(places)
        for k in range(self.down):
            finger = actions.add_pointer_input("touch", f"finger{k}")
            if places:
                finger.create_pointer_move(0, *map(round, places[k]))
            if kind == "start":
                finger.create_pointer_down(button=0)
            if kind == "end":
                finger.create_pointer_up(0)
        actions.perform()

    def fit(self):
        """Make the page as large as Chromium's."""
        width, height = (self.run(f"return outer{one} - inner{one}") for one in ("Width", "Height"))
        self.driver.set_window_size(SIZE[0] + width, SIZE[1] + height)

    def download_to(self, folder):
        self.prefer("browser.download.dir", str(folder))

    def visit(self, url):
        self.driver.get(url)
        self.run(
            DROPPING + "window.complaints = []; for (const what of ['error', 'unhandledrejection'])"
            " addEventListener(what, ({ message, reason }) =>"
            " complaints.push(String(message ?? reason)));"
            "for (const what of ['error', 'warn']) { const tell = console[what];"
            " console[what] = (...said) => (complaints.push(said.join(' ')), tell(...said)); }"
        )

    def complaints(self):
        found = self.run("return window.complaints ?? []")
        return [one for one in found if not one.startswith(HARMLESS)]

    def requests(self):
        return self.run("return performance.getEntriesByType('resource').map(({ name }) => name)")
