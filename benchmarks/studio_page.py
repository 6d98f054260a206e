"""How fast the studio's page is: first drawing, frames while panning, large diagrams, its size.

python benchmarks/studio_page.py [--repeats 3]

It needs the extra `studio`, selenium, and Debian's chromium and chromium-driver. Chromium runs
without a window and without a graphics card: all pixels are drawn by the processor, so that frames
take longer here than on a screen. Besides the frames, the time of the page's own work in each is
told: what is left of 16.7 ms is the browser's.
"""

from __future__ import annotations

import argparse
import gzip
import statistics
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT / "tests")]

from browsers import SOFTWARE_GL, chromium  # noqa: E402
from studio_pages import served  # noqa: E402

from spart_blocks.web_build import STUDIO, built  # noqa: E402

FIRST = """
const [count, done] = arguments;
const look = () => document.querySelectorAll('.react-flow__node').length >= count
  ? requestAnimationFrame(() => requestAnimationFrame(() => done(performance.now())))
  : requestAnimationFrame(look);
look();
"""
PAN = """
const done = arguments[0];
const pane = document.querySelector('.react-flow__pane');
const box = pane.getBoundingClientRect();
const at = { x: box.left + box.width / 2, y: box.top + box.height / 2 };
const send = (kind, x, y) => pane.dispatchEvent(new MouseEvent(kind, {
  bubbles: true, cancelable: true, view: window, clientX: x, clientY: y, button: 0, buttons: 1 }));
const frames = [], work = [];
let k = 0, last = performance.now();
send('mousedown', at.x, at.y);
const step = (now) => {
  frames.push(now - last); last = now;
  const begun = performance.now();
  window.dispatchEvent(new MouseEvent('mousemove', { bubbles: true, view: window,
    clientX: at.x + 150 * Math.sin(k / 15), clientY: at.y + 80 * Math.sin(k / 23), buttons: 1 }));
  work.push(performance.now() - begun);
  if (++k < 180) return requestAnimationFrame(step);
  window.dispatchEvent(new MouseEvent('mouseup', { bubbles: true, view: window }));
  done([frames.slice(20), work.slice(20), document.querySelector('.react-flow__viewport').style.transform]);
};
requestAnimationFrame(step);
"""  # noqa: E501


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


CASES = {"100 blocks": chain(100), "500 blocks": chain(500), "10,000 blocks": collapsed(10_000)}
SHOWN = {"100 blocks": 100, "500 blocks": 20, "10,000 blocks": 20}
"""Blocks that are on the screen when the first drawing is done, at the least."""


def measure(text: str, shown: int, page: Path, pan: bool) -> dict[str, float]:
    """One opening of a diagram, and a pan over it."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "spart.toml").write_text("")
        (folder / "one.yaml").write_text(text)
        with (
            chromium(folder / "profile", *SOFTWARE_GL) as browser,
            served(folder, page, "one.yaml") as studio,
        ):
            browser.driver.set_script_timeout(120)
            browser.visit(studio.gate.link)
            found = {"first drawing [s]": browser.run_async(FIRST, shown) / 1000}
            if pan:
                frames, work, _ = browser.run_async(PAN)
                found["frames a second"] = 1000 / statistics.median(frames)
                found["slowest of 20 frames [ms]"] = sorted(frames)[-len(frames) // 20]
                found["own work in a frame [ms]"] = statistics.median(work)
            browser.driver.get("about:blank")
            return found


def size_of(page: Path) -> dict[str, int]:
    """Compressed bytes of what the page loads at once, and of the rest."""
    html = page.read_text()
    files = [path for path in page.parent.rglob("*") if path.suffix in (".js", ".css")]
    sizes = {path: len(gzip.compress(path.read_bytes(), 9)) for path in files}
    first = sum(size for path, size in sizes.items() if path.name in html)
    return {"at once": first, "later": sum(sizes.values()) - first}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=3)
    repeats = parser.parse_args().repeats
    page = built(STUDIO, print)
    for when, size in size_of(page).items():
        print(f"{when}: {size / 1000:.1f} kB compressed")
    for name, text in CASES.items():
        pan = not name.startswith("10,000")
        runs = [measure(text, SHOWN[name], page.parent, pan) for _ in range(repeats)]
        told = (f"{key} {statistics.median(r[key] for r in runs):.3g}" for key in runs[0])
        print(f"{name}: {', '.join(told)}", flush=True)


if __name__ == "__main__":
    main()
