"""Pages that run: their sizes, the time to their first run in Chromium, and that of each further
one, beside the same run in one lane of native code.

python benchmarks/web_pages.py [--repeats 9] [--keep] [FILE ...]

It needs the packages ziglang and selenium, and Debian's chromium and chromium-driver. Chromium runs
without a graphics card. The states of both runs are compared first, bit by bit.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT / "tests")]

from browsers import SOFTWARE_GL, Browser, chromium  # noqa: E402
from side_by_side import keep  # noqa: E402

import spart_blocks as sb  # noqa: E402
from spart_blocks.web.page import page_of_runs  # noqa: E402
from spart_blocks.web.runnable import Runnable  # noqa: E402

FILES = ("arm_computed_torque", "spacecraft_pd", "control/dc_motor", "space/rendezvous")
RAN = "window.spartLive && spartLive.run"
FIRST = "return performance.getEntriesByName('spart first run')[0].startTime"
AGAIN = """
const { values } = spartLive, before = spartLive.run, knob = values.knobs[0];
spartLive.set(knob.name, values.of(knob));
const look = () => spartLive.run === before ? setTimeout(look, 1) : done(spartLive.run.took);
look();
"""


def measured(browser: Browser, made: Runnable, folder: str, repeats: int) -> dict[str, float]:
    page = page_of_runs([made])
    path = Path(folder, "page.html")
    path.write_text(page, encoding="utf-8")
    browser.visit(path.as_uri())
    browser.wait(RAN)
    first = browser.run(FIRST)
    rows = np.array(browser.run("return [...spartLive.run.rows]"))
    reference = made.reference()
    assert reference.rows is not None
    np.testing.assert_array_equal(rows, reference.rows[0].ravel())
    runs = [browser.run_async(AGAIN) for _ in range(repeats)]
    lane = []
    for _ in range(repeats):
        begun = time.perf_counter()
        made.reference()
        lane.append(1e3 * (time.perf_counter() - begun))
    return {
        "kB": len(page) / 1000,
        "module kB": len(made.module) / 1000,
        "first run ms": first,
        "run ms": statistics.median(runs),
        "lane ms": statistics.median(lane),
        "ratio": statistics.median(lane) / statistics.median(runs),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=9)
    parser.add_argument("--keep", action="store_true", help="write figures into results.json")
    parser.add_argument("files", nargs="*", type=Path)
    given = parser.parse_args()
    files = given.files or [ROOT / "diagrams" / f"{name}.yaml" for name in FILES]
    figures: dict[str, float] = {}
    for file in files:
        made = Runnable.of(sb.load(file))
        with tempfile.TemporaryDirectory() as folder, chromium(folder, *SOFTWARE_GL) as browser:
            found = measured(browser, made, folder, given.repeats)
        print(f"{file.stem:24}", *(f"{name} {value:8.1f}  " for name, value in found.items()))
        figures |= {f"{file.stem} {name}": value for name, value in found.items()}
    if given.keep:
        keep(__file__, figures, "ziglang", "selenium")


if __name__ == "__main__":
    main()
