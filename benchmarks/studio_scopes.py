"""Scopes of the studio while a run goes on: frames in a second, with 20 signals at 1 kHz.

    python benchmarks/studio_scopes.py

Needs chromium, chromium-driver and selenium. It prints the frames in a second and the longest of
them, how long the page works for each, and how fast the run goes beside real time.
"""

from __future__ import annotations

import asyncio
import sys
import tempfile
import threading
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from browsers import chromium

from spart_blocks.base.web_build import STUDIO, built
from spart_blocks.studio.client import Session
from spart_blocks.studio.gate import AccessGate
from spart_blocks.studio.serve import serving_at

SIGNALS, SCOPES, SECONDS = 20, 4, 5
FRAMES = f"""
const begun = performance.now(), t0 = document.querySelector('.time-bar input').max;
let before = begun, frames = 0, longest = 0;
const next = () => {{
  const now = performance.now();
  frames++; longest = Math.max(longest, now - before); before = now;
  if (now - begun < {1000 * SECONDS}) return requestAnimationFrame(next);
  const wall = (now - begun) / 1000;
  const t1 = document.querySelector('.time-bar input').max;
  done([frames / wall, longest, (t1 - t0) / wall]);
}};
requestAnimationFrame(next);
"""


def diagram() -> str:
    """Sines of different frequencies, sampled at 1 kHz, in a few scopes."""
    blocks, wires = [], []
    for k in range(SIGNALS):
        blocks.append(f"  s{k}: {{type: WAVEFORM, wave: sine, freq: {0.5 + 0.37 * k:.2f}}}")
        blocks.append(f"  z{k}: {{type: ZOH, clock: fast}}")
        wires.append(f"  - s{k} -> z{k}")
    for one in range(SCOPES):
        blocks.append(f"  scope{one}: {{type: SCOPE}}")
    for k in range(SIGNALS):
        wires.append(f"  - z{k} -> scope{k % SCOPES}")
    body = "\n".join(["blocks:", *blocks, "wires:", *wires])
    return f"name: fast\nclocks: {{fast: {{T: 0.001}}}}\n{body}\nrun: {{T: 60}}\n"


def work(browser) -> float:
    """Seconds for which the page's own thread has worked."""
    found = browser.driver.execute_cdp_cmd("Performance.getMetrics", {})["metrics"]
    return next(one["value"] for one in found if one["name"] == "TaskDuration")


def main() -> None:
    with tempfile.TemporaryDirectory() as name:
        root = Path(name)
        (root / "fast.yaml").write_text(diagram())
        gate = AccessGate()
        serving = serving_at(Session(root, "fast.yaml"), gate, built(STUDIO), print)
        thread = threading.Thread(target=lambda: asyncio.run(serving.run()), daemon=True)
        thread.start()
        with chromium(root / "profile") as browser:
            browser.visit(gate.link)
            browser.wait("document.querySelector('.run-button')").click()
            browser.wait("document.querySelector('.time-bar input')?.max > 1")
            browser.driver.execute_cdp_cmd("Performance.enable", {})
            before = work(browser)
            rate, longest, speed = browser.run_async(FRAMES)
            share = (work(browser) - before) / (rate * SECONDS)
            lines = browser.run("return document.querySelectorAll('.legend [data-line]').length")
            told = f"the longest {longest:.0f} ms, {1000 * share:.1f} ms of work each"
            print(f"{lines} lines: {rate:.1f} frames/s, {told}; the run at {speed:.3f} x real time")
            browser.driver.get("about:blank")
        serving.server.should_exit = True
        thread.join(10)


if __name__ == "__main__":
    main()
