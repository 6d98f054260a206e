"""Takes the pictures of pages of motion, in Chromium.

python docs/make_motion_pictures.py

It needs selenium, and Debian's chromium and chromium-driver.
"""

from __future__ import annotations

import shutil
import tempfile
from io import BytesIO
from pathlib import Path

from PIL import Image
from selenium import webdriver

import spart_blocks as sb

ROOT = Path(__file__).parents[1]
IMAGES = ROOT / "docs" / "images"
FLAGS = (
    "--headless=new", "--no-sandbox", "--hide-scrollbars", "--window-size=1400,960",
    "--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader",
)  # fmt: skip
PICTURES = {  # picture: diagram, time [s], keys
    "spacecraft_pd_motion": ("spacecraft_pd.yaml", 3.0, ""),
    "delta_motion": ("loops/delta_pick_and_place.yaml", 0.7, "v"),
}
PRESS = """
const [t, keys, done] = arguments;
const next = () => requestAnimationFrame(() => requestAnimationFrame(done));
const look = () => {
  if (!window.spart) return requestAnimationFrame(look);
  spart.seek(t);
  for (const key of keys) document.dispatchEvent(new KeyboardEvent("keydown", { key }));
  next();
};
look();
"""


def main() -> None:
    options = webdriver.ChromeOptions()
    for flag in FLAGS:
        options.add_argument(flag)
    driver = webdriver.Chrome(options, webdriver.ChromeService(shutil.which("chromedriver")))
    try:
        for picture, (name, t, keys) in PICTURES.items():
            with tempfile.TemporaryDirectory() as folder:
                page = Path(folder) / "run.html"
                sb.simulate(ROOT / "diagrams" / name).animate(page)
                driver.get(page.as_uri())
                driver.execute_async_script(PRESS, t, keys)
            shot = Image.open(BytesIO(driver.get_screenshot_as_png())).convert("RGB")
            palette = shot.quantize(256, dither=Image.Dither.NONE)  # a quarter of the size
            palette.save(IMAGES / f"{picture}.png", optimize=True)
    finally:
        driver.quit()


if __name__ == "__main__":
    main()
