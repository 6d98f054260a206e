"""How fast the studio's page is: first drawing, frames of a pan and a drag, wheel zooms, large
diagrams, bytes of a move, elements, its size.

python benchmarks/studio_page.py [--repeats 3]

It needs the extra `studio`, selenium, and Debian's chromium and chromium-driver. Chromium runs
without a window and without a graphics card: all pixels are drawn by the processor, so that frames
may take longer here than on a screen.
"""

from __future__ import annotations

import argparse
import json
import math
import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT / "tests")]

from browsers import SOFTWARE_GL, chromium  # noqa: E402
from selenium.webdriver.common.keys import Keys  # noqa: E402
from studio_pages import served  # noqa: E402

from spart_blocks.base.web_build import STUDIO, built  # noqa: E402
from spart_blocks.studio.serve import warm_up  # noqa: E402

FIRST = """
const count = arguments[0];
const look = () => document.querySelectorAll('.react-flow__node').length >= count
  ? requestAnimationFrame(() => requestAnimationFrame(() => done(performance.now())))
  : requestAnimationFrame(look);
look();
"""
FRAMES = """
window.frames_seen = [];
let last = performance.now();
const step = (now) => {
  window.frames_seen.push(now - last); last = now;
  if (window.frames_seen.length < 2000) requestAnimationFrame(step);
};
requestAnimationFrame(step);
"""
PANE = """
const box = document.querySelector('.react-flow__pane').getBoundingClientRect();
return [box.left + box.width / 2, box.top + box.height / 2];
"""
VIEW = "return document.querySelector('.react-flow__viewport').style.transform"
LOADED = """
return performance.getEntriesByType('resource').concat(performance.getEntriesByType('navigation'))
  .filter((one) => one.name.includes('/page/') || one.entryType === 'navigation')
  .reduce((sum, one) => sum + one.encodedBodySize, 0);
"""
RUN = """
const key = {key: 'Enter', ctrlKey: true, bubbles: true};
document.body.dispatchEvent(new KeyboardEvent('keydown', key));
const look = () => document.querySelector('.scope canvas')
  ? setTimeout(() => done(0), 2000) : requestAnimationFrame(look);
look();
"""
RUNNING = """\
name: one
blocks: {ramp: {type: RAMP}, scope: {type: SCOPE}}
wires: [ramp -> scope]
run: {T: 1}
"""
MOVES = 150
LONGEST = """
window.longest = 0;
new PerformanceObserver((list) => {
  for (const { duration } of list.getEntries()) window.longest = Math.max(window.longest, duration);
}).observe({ type: 'longtask' });
"""
TRACED = "toplevel,blink.user_timing"
MARK = "performance.mark('traced ' + arguments[0])"
ELEMENTS = "return document.querySelectorAll('*').length"
OF_BLOCK = """
const node = document.querySelector(`.react-flow__node[data-id="${arguments[0]}"]`);
const block = node.getBoundingClientRect();
return [block.left + block.width / 2, block.top + block.height / 2];
"""


def chain(count: int, width: int = 20) -> str:
    """A diagram of gains in rows, each from one source to one scope."""
    lines = ["name: large", "blocks:"]
    wires = ["wires:"]
    for k in range(count):
        kind = "{type: CONSTANT, value: 1}" if k % width == 0 else "{type: GAIN, K: 0.5}"
        last = k % width == width - 1 or k == count - 1
        lines.append(f"  b{k}: {'{type: SCOPE}' if last and k % width else kind}")
        if k % width:
            wires.append(f"  - b{k - 1} -> b{k}")
    return "\n".join([*lines, *wires, "run: {T: 1}", ""])


def collapsed(count: int, within: int = 100) -> str:
    """A diagram of so many blocks in subsystems."""
    inner = ["subsystems:", "  part:", "    inputs: [u]", "    outputs: [y]", "    blocks:"]
    inner += [f"      g{k}: {{type: GAIN, K: 0.5}}" for k in range(within)]
    inner += ["    wires:", "      - in.u -> g0", f"      - g{within - 1} -> out.y"]
    inner += [f"      - g{k} -> g{k + 1}" for k in range(within - 1)]
    parts = count // within
    blocks = ["name: collapsed", *inner, "blocks:", "  u: {type: CONSTANT, value: 1}"]
    blocks += [f"  p{k}: {{type: part}}" for k in range(parts)] + ["  y: {type: SCOPE}"]
    wires = ["wires:", "  - u -> p0.u", f"  - p{parts - 1}.y -> y"]
    wires += [f"  - p{k}.y -> p{k + 1}.u" for k in range(parts - 1)]
    return "\n".join([*blocks, *wires, "run: {T: 1}", ""])


CASES = {
    "100 blocks": chain(100),
    "2,000 blocks": chain(2000),
    "10,000 blocks": chain(10_000),
    "10,000 blocks in subsystems": collapsed(10_000),
}
SHOWN = {"100 blocks": 100, "10,000 blocks in subsystems": 20}
"""Blocks that are on the screen when the first drawing is done, at the least."""


def measure(text: str, shown: int, page: Path, pan: bool) -> dict[str, float]:
    """One opening of a diagram, and a pan over it."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "spart.toml").write_text("")
        (folder / "one.yaml").write_text(text)
        with (
            chromium(folder / "profile", *SOFTWARE_GL, trace=TRACED) as browser,
            served(folder, page, "one.yaml") as studio,
        ):
            browser.driver.set_script_timeout(120)
            browser.visit(studio.gate.link)
            found = {"first drawing [s]": browser.run_async(FIRST, shown) / 1000}
            browser.run(MARK, "opening")
            found["elements"] = browser.run(ELEMENTS)
            for name, work in (("pan", panned), ("zoom", zoomed), ("drag", dragged)) * pan:
                time.sleep(1)
                browser.run(MARK, f"before {name}")
                found |= work(browser)
                browser.run(MARK, name)
            browser.driver.get("about:blank")
            return found | tasks(logged(browser))


def logged(browser: Any) -> list[dict[str, Any]]:
    """What the browser has logged since it was asked last."""
    return [json.loads(one["message"])["message"] for one in browser.driver.get_log("performance")]


def tasks(log: list[dict[str, Any]]) -> dict[str, float]:
    """The largest processor time of a task of the page between marks, also on a busy machine."""
    events = [one["params"] for one in log if one["method"] == "Tracing.dataCollected"]
    named = [one for one in events if one["name"] == "thread_name"]
    main = {(e["pid"], e["tid"]) for e in named if e["args"].get("name") == "CrRendererMain"}
    run = [e for e in events if e["name"].endswith("RunTask") and (e["pid"], e["tid"]) in main]
    found, begun = {}, 0
    for mark in sorted(
        (e for e in events if e["name"].startswith("traced ")), key=lambda e: e["ts"]
    ):
        name, end = mark["name"].removeprefix("traced "), mark["ts"]
        if not name.startswith("before"):
            longest = max((e.get("tdur", 0) for e in run if begun < e["ts"] < end), default=0)
            found[f"{name}: longest task [ms of processor time]"] = longest / 1000
        begun = end
    return found


def panned(browser: Any) -> dict[str, float]:
    """Frames while the canvas is dragged about with the middle button."""
    before = browser.run(VIEW)
    found = moved(browser, browser.run(PANE), "middle", "pan")
    assert browser.run(VIEW) != before, "nothing was moved"
    return found


def dragged(browser: Any) -> dict[str, float]:
    """Frames while a block is dragged, seen from near, and what the server sends after it."""
    name = browser.run("return document.querySelector('.react-flow__node').dataset.id")
    browser.press("/")
    browser.wait("document.querySelector('dialog[open] [role=option]')")
    browser.press(name, Keys.ENTER)
    browser.wait(f"document.querySelector('.selected[data-id=\"{name}\"]')")
    time.sleep(1)
    browser.driver.get_log("performance")  # without events, which come when the page is left
    found = moved(browser, browser.run(OF_BLOCK, name), "left", "drag")
    time.sleep(2)
    log = logged(browser)
    found["bytes of a move"] = sum(
        len(one["params"]["response"]["payloadData"])
        for one in log
        if one["method"] == "Network.webSocketFrameReceived"
    )
    return found


def zoomed(browser: Any) -> dict[str, float]:
    """The longest task while the wheel zooms in, until texts can be read, and out again."""
    x, y = browser.run(PANE)
    browser.run(LONGEST)
    for way in (-100, 100):
        for _ in range(25):
            given = {"type": "mouseWheel", "x": x, "y": y, "deltaX": 0, "deltaY": way}
            browser.driver.execute_cdp_cmd("Input.dispatchMouseEvent", given)
    time.sleep(1)
    return {"longest task of a zoom [ms], 0 below 50": browser.run("return window.longest")}


def moved(browser: Any, start: Any, button: str, what: str) -> dict[str, float]:
    """Frames while the mouse moves with a button held. The page's work is its tasks in the
    browser's main thread: scripts, styles, layout, paint."""
    driver = browser.driver
    x, y = start
    held = {"left": 1, "middle": 4}[button]

    def mouse(kind: str, x: float, y: float) -> None:
        given = {"type": kind, "x": x, "y": y, "button": button, "buttons": held, "clickCount": 1}
        driver.execute_cdp_cmd("Input.dispatchMouseEvent", given)

    def work() -> float:
        metrics = driver.execute_cdp_cmd("Performance.getMetrics", {})["metrics"]
        return next(one["value"] for one in metrics if one["name"] == "TaskDuration")

    driver.execute_cdp_cmd("Performance.enable", {})
    mouse("mousePressed", x, y)
    driver.execute_script(FRAMES)
    begun, worked = time.perf_counter(), work()
    for k in range(MOVES):
        mouse("mouseMoved", x + 150 * math.sin(k / 9), y + 60 * math.sin(k / 7))
    lasted, worked = time.perf_counter() - begun, work() - worked
    frames = driver.execute_script("return window.frames_seen")[2:]
    mouse("mouseReleased", x, y)
    return {
        f"{what}: frames a second": 1000 / statistics.median(frames),
        f"{what}: slowest of 20 frames [ms]": sorted(frames)[-max(len(frames) // 20, 1)],
        f"{what}: work for a move [ms]": 1000 * worked / MOVES,
        f"{what}: moves a second": MOVES / lasted,
    }


def loaded(page: Path) -> dict[str, float]:
    """What Chromium loads for a diagram that runs, with its scopes, and for its robots in 3-D
    besides: bytes as they come, compressed."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "spart.toml").write_text("")
        (folder / "one.yaml").write_text(RUNNING)
        with (
            chromium(folder / "profile", *SOFTWARE_GL) as browser,
            served(folder, page, "one.yaml") as studio,
        ):
            browser.driver.set_script_timeout(120)
            browser.visit(studio.gate.link)
            browser.run_async(FIRST, 2)
            found = {"drawn": browser.run(LOADED)}
            browser.run_async(RUN)
            found["with scopes"] = browser.run(LOADED)
            return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--case", choices=CASES, action="append", help="only this one; repeatable")
    given = parser.parse_args()
    repeats = given.repeats
    page = built(STUDIO, print)
    warm_up()
    for when, size in loaded(page.parent).items():
        print(f"{when}: {size / 1000:.1f} kB compressed")
    for name, text in CASES.items():
        if given.case and name not in given.case:
            continue
        pan = "in subsystems" not in name
        runs = [measure(text, SHOWN.get(name, 2), page.parent, pan) for _ in range(repeats)]
        told = (f"{key} {statistics.median(r[key] for r in runs):.3g}" for key in runs[0])
        print(f"{name}: {', '.join(told)}", flush=True)


if __name__ == "__main__":
    main()
