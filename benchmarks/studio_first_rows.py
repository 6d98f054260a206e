"""How long it takes from Ctrl+Enter in the studio to the first rows of the run in the page.

    python benchmarks/studio_first_rows.py [FILE ...] [--repeats 5] [--busy 2] [--at-once]

Each file is run once before, so that its program is in the cache. A studio is started for it and
opened in Chromium; the first run begins when the page has been idle for some seconds, or, with
`--at-once`, as soon as the sheet is drawn. Each further run begins some seconds after the one
before was stopped. `--busy` starts processes that keep a processor busy meanwhile.

It needs the extra `studio`, selenium, and Debian's chromium and chromium-driver.
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT / "tests")]

from browsers import SOFTWARE_GL, chromium  # noqa: E402

import spart_blocks as sb  # noqa: E402
from spart_blocks.base.web_build import STUDIO, built  # noqa: E402

FILES = (
    "diagrams/control/dc_motor.yaml",
    "diagrams/control/attitude_pd.yaml",
    "diagrams/control/joint_pid.yaml",
    "diagrams/space/satellite.yaml",
)
IDLE = 6.0  # s
LISTENING = """
const Socket = window.WebSocket;
window.WebSocket = class extends Socket {
  constructor(...given) {
    super(...given);
    this.addEventListener('message', ({ data }) => {
      if (data instanceof ArrayBuffer && window.first_rows === null
          && new TextDecoder().decode(data.slice(4, 24)).includes('"rows"'))
        window.first_rows = performance.now();
    });
  }
};
"""
RUN = """
window.first_rows = null;
const pressed = performance.now();
const key = {key: 'Enter', ctrlKey: true, bubbles: true};
document.body.dispatchEvent(new KeyboardEvent('keydown', key));
const look = () => window.first_rows !== null && document.querySelector('.scope canvas')
  ? requestAnimationFrame(() => requestAnimationFrame(() =>
      done([window.first_rows - pressed, performance.now() - pressed])))
  : requestAnimationFrame(look);
look();
"""
STOP = """
document.body.dispatchEvent(new KeyboardEvent('keydown', {key: '.', ctrlKey: true, bubbles: true}));
"""
ENDED = "document.querySelector('.run-state.ended')"
DRAWN = "document.querySelector('.react-flow__node') && document.querySelector('.run-button')"


@contextmanager
def studio_of(path: str) -> Iterator[str]:
    """A studio in a process of its own; gives its link."""
    command = [sys.executable, "-u", "-m", "spart_blocks", "studio", path, "--no-browser"]
    process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    try:
        yield next(word for line in process.stdout for word in line.split() if "token=" in word)
    finally:
        process.terminate()
        process.wait()


@contextmanager
def burning(count: int) -> Iterator[None]:
    """Processes that keep a processor busy each."""
    processes = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(count)]
    try:
        yield
    finally:
        for process in processes:
            process.kill()
            process.wait()


def measured(path: str, later: int, at_once: bool) -> list[Any]:
    """The times from the key to the first rows, and to their picture [ms], of the first run of a
    studio and of later ones."""
    found = []
    with (
        tempfile.TemporaryDirectory() as folder,
        chromium(Path(folder, "profile"), *SOFTWARE_GL) as browser,
        studio_of(path) as link,
    ):
        browser.driver.set_script_timeout(120)
        listening = {"source": LISTENING}
        browser.driver.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", listening)
        browser.visit(link)
        browser.wait(DRAWN)
        for k in range(1 + later):
            time.sleep(0 if at_once and k == 0 else IDLE)
            found.append(browser.run_async(RUN))
            browser.run(STOP)
            browser.wait(ENDED)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("files", nargs="*", default=FILES)
    parser.add_argument("--repeats", type=int, default=3, help="studios for each file")
    parser.add_argument("--later", type=int, default=3, help="runs of each after the first")
    parser.add_argument("--busy", type=int, default=0, help="processes that keep a processor busy")
    parser.add_argument("--at-once", action="store_true", help="run when the sheet is drawn")
    given = parser.parse_args()
    built(STUDIO, print)
    for path in given.files:
        sb.simulate(ROOT / path)
        with burning(given.busy):
            studios = [measured(path, given.later, given.at_once) for _ in range(given.repeats)]
        first, later = [runs[0] for runs in studios], [run for runs in studios for run in runs[1:]]
        for name, runs in (("first", first), ("later", later)):
            rows, drawn = zip(*runs, strict=True)
            print(
                f"{path}, {name} run: rows after {statistics.median(rows):.0f} ms "
                f"(at most {max(rows):.0f}), drawn after {statistics.median(drawn):.0f} ms",
                flush=True,
            )


if __name__ == "__main__":
    main()
