"""Chromium without a network, in which pages are opened from files and from this machine."""

from __future__ import annotations

import json
import shutil
from contextlib import contextmanager

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

needs_chromium = pytest.mark.skipif(
    not (CHROMIUM and DRIVER), reason="needs chromium and chromium-driver"
)
OWN = ("file:", "data:", "blob:", "chrome:", "chrome-untrusted:")
"""Addresses of the page itself, and of the browser's start page, which may still be loading."""


@contextmanager
def chromium(folder, *flags):
    """A browser with a new profile in the folder."""
    webdriver = pytest.importorskip("selenium.webdriver")
    options = webdriver.ChromeOptions()
    options.binary_location = CHROMIUM
    for flag in (*ALONE, *flags, f"--user-data-dir={folder}"):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
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

    def open(self, path):
        """Open a file, and wait until its viewer or its complaint is there."""
        self.driver.get_log("browser")
        self.driver.get_log("performance")
        self.driver.get(path.as_uri())
        self.run_async(
            "const look = () => window.spart || document.querySelector('#app [role=alert]')"
            " ? done() : requestAnimationFrame(look); look();"
        )

    def visit(self, url):
        """Open an address of this machine."""
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
