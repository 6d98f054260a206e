"""Takes the README's picture of a robot in motion: the page of a run in Chromium, at a time.

python docs/make_motion_picture.py

It needs selenium, and Debian's chromium and chromium-driver.
"""

from __future__ import annotations

import tempfile
import time
from io import BytesIO
from pathlib import Path
from shutil import which

from PIL import Image
from selenium import webdriver
from selenium.webdriver.chrome.options import Options
from selenium.webdriver.chrome.service import Service

from spart_blocks.cli import main as spart

DOCS = Path(__file__).parent
DIAGRAM, AT, SETTLING = "spacecraft_pd", 2.0, 3.0  # s of the run, and of the page
WIDTH = 1000  # pixels
FLAGS = ("--headless=new", "--no-sandbox", "--use-angle=swiftshader", "--window-size=1400,900",
         "--enable-unsafe-swiftshader", "--disable-background-networking")  # fmt: skip


def main() -> None:
    options = Options()
    with tempfile.TemporaryDirectory() as folder:
        page = Path(folder, "motion.html")
        if spart(["animate", f"{DOCS.parent}/diagrams/{DIAGRAM}.yaml", "-o", str(page)]):
            raise SystemExit("no page")
        for flag in (*FLAGS, f"--user-data-dir={folder}/profile"):
            options.add_argument(flag)
        browser = webdriver.Chrome(options=options, service=Service(which("chromedriver")))
        browser.get(page.as_uri())
        time.sleep(SETTLING)
        browser.execute_script("spart.seek(arguments[0])", AT)
        time.sleep(SETTLING)
        shot = Image.open(BytesIO(browser.get_screenshot_as_png())).convert("RGB")
        browser.quit()
    height = round(shot.height * WIDTH / shot.width)
    small = shot.resize((WIDTH, height), Image.Resampling.LANCZOS)
    small.save(DOCS / "images" / "spacecraft_pd_motion.jpg", quality=90, optimize=True)


if __name__ == "__main__":
    main()
