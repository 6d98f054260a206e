"""Takes the pictures of the studio, in Chromium.

python docs/make_studio_pictures.py

It needs the extra `studio`, selenium, and Debian's chromium and chromium-driver.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
import time
from io import BytesIO
from pathlib import Path
from typing import Any

from PIL import Image

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT / "tests")]

from browsers import SOFTWARE_GL, chromium  # noqa: E402
from studio_pages import served  # noqa: E402

from spart_blocks.base.web_build import STUDIO, built  # noqa: E402

IMAGES = ROOT / "docs" / "images"
SIZE = (1400, 960)


def main() -> None:
    page = built(STUDIO, print).parent
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / "project"
        for part in ("diagrams", "models"):
            shutil.copytree(ROOT / part, folder / part)
        (folder / "spart.toml").write_text("")
        with chromium(Path(name) / "profile", *SOFTWARE_GL) as browser:
            browser.driver.set_window_size(*SIZE)
            with served(folder, page, "diagrams/spacecraft_pd.yaml") as studio:
                browser.visit(studio.gate.link)
                take(browser)
                browser.driver.get("about:blank")
            with served(folder, page) as studio:
                browser.visit(studio.gate.link)
                browser.wait("document.querySelectorAll('img').length > 8")
                browser.wait("[...document.images].slice(0, 12).every((i) => i.naturalWidth > 0)")
                save(browser, "studio_project")
                browser.driver.get("about:blank")


def take(browser: Any) -> None:
    """The studio with a diagram that has run, and with a chart beside its text."""
    browser.wait("document.querySelectorAll('.react-flow__node').length === 7")
    press(browser, "button", "Run")
    browser.wait("document.body.textContent.includes('ended')", seconds=120)
    browser.drawn()
    save(browser, "studio")
    press(browser, "[role=tab]", "3-D")
    browser.wait("!document.body.textContent.includes('Loading')", seconds=120)
    browser.wait("document.querySelector('[role=tabpanel] canvas')", seconds=120)
    time.sleep(3)  # the camera settles
    save(browser, "studio_3d")
    browser.run("location.hash = 'diagrams/space/satellite.yaml::computer/modes'")
    browser.wait("document.querySelectorAll('.transition').length === 5", seconds=120)
    browser.run("document.querySelector('[aria-label=Text]').click()")
    browser.wait("document.querySelectorAll('.code .cm-line').length > 5")
    browser.drawn()
    click = "dispatchEvent(new MouseEvent('click', {bubbles: true}))"
    browser.run(f"document.querySelector('.transition').{click}")
    browser.wait("document.querySelector('.transition.chosen')")
    browser.drawn()
    save(browser, "studio_chart")


def press(browser: Any, selector: str, text: str) -> None:
    """Click what has a text."""
    found = "[...document.querySelectorAll(arguments[0])].find(({textContent: t}) => t.trim() === "
    browser.run(f"{found} arguments[1]).click()", selector, text)


def save(browser: Any, name: str) -> None:
    """What the browser shows, as a small picture."""
    shot = Image.open(BytesIO(browser.driver.get_screenshot_as_png())).convert("RGB")
    palette = shot.quantize(256, dither=Image.Dither.NONE)  # a quarter of the size
    palette.save(IMAGES / f"{name}.png", optimize=True)


if __name__ == "__main__":
    main()
