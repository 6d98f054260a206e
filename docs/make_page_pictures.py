"""Draws the pictures of pages that show what a diagram of the page gives, from the page's text.

python docs/make_page_pictures.py
"""

from __future__ import annotations

import re
import tempfile
import warnings
from pathlib import Path

import matplotlib.pyplot as plt

import spart_blocks as sb
from spart_blocks.base.errors import SpartWarning

DOCS = Path(__file__).parent
SIZE, DOTS = (6.4, 3.0), 90  # inches, and dots per inch
PICTURES = {  # picture: page, diagram, its signals, changes to its run
    "stopwatch": ("conditional", "stopwatch.yaml", ("watch.time", "watch.enabled"), {}),
    "checked": ("checks", "checked.yaml", ("cart", "range.ok"), {"T": 2.9}),
    "fold": ("algebraic_loops", "fold.yaml", ("z",), {}),
}


def written(page: str, name: str, folder: Path) -> Path:
    """The file of a page, marked by its name in YAML or in Python."""
    text = (DOCS / f"{page}.md").read_text(encoding="utf-8")
    marked = rf"# file: {re.escape(name)}\n(.*?)^```"
    quoted = rf'Path\("{re.escape(name)}"\)\.write_text\("""(.*?)"""\)'
    found = re.search(marked, text, re.DOTALL | re.MULTILINE) or re.search(quoted, text, re.DOTALL)
    if not found:
        raise SystemExit(f"docs/{page}.md has no {name}")
    (folder / name).write_text(found[1], encoding="utf-8")
    return folder / name


def main() -> None:
    plt.switch_backend("Agg")
    warnings.simplefilter("ignore", SpartWarning)
    for picture, (page, name, signals, changes) in PICTURES.items():
        with tempfile.TemporaryDirectory() as folder:
            results = sb.simulate(written(page, name, Path(folder)), **changes)
        figure, axes = plt.subplots(figsize=SIZE, layout="constrained")
        for signal in signals:
            axes.plot(results.t, results[signal], label=signal)
        axes.set_xlabel("t [s]")
        axes.grid(visible=True, alpha=0.4)
        axes.legend()
        figure.savefig(DOCS / "images" / f"{picture}.png", dpi=DOTS)
        plt.close(figure)


if __name__ == "__main__":
    main()
