"""Writes docs/gallery.md, the pictures of all shipped diagrams: how they are wired, and what
the first of their scopes shows.

python docs/make_gallery.py [NAME ...]
"""

from __future__ import annotations

import argparse
import warnings
from pathlib import Path

import matplotlib
import matplotlib.pyplot

import spart_blocks as sb
from spart_blocks.base.errors import SpartWarning
from spart_blocks.cli.examples import Example, found

DOCS = Path(__file__).parent
PAGE, PICTURES = DOCS / "gallery.md", DOCS / "images" / "gallery"
SIZE, DOTS = (6.4, 3.2), 75  # inches, and dots per inch

HEAD = """\
# Gallery

<!-- Written by docs/make_gallery.py from the shipped diagrams. Do not edit. -->

The diagrams that come with the package. `spart examples` lists them, and
`spart run "$(spart examples NAME)"` runs one.
"""


def page() -> str:
    """The text of the page."""
    return "\n".join([HEAD, *(_entry(one) for one in found(DOCS.parent))])


def _entry(one: Example) -> str:
    stem = file_stem(one)
    lines = [f"## {one.name}\n", f"{one.about}. [The file](../diagrams/{one.name}.yaml)\n"]
    lines.append(f"![How {one.name} is wired](images/gallery/{stem}.svg)\n")
    if (PICTURES / f"{stem}.png").exists():
        lines.append(f"![What {one.name} shows](images/gallery/{stem}.png)\n")
    return "\n".join(lines)


def file_stem(one: Example) -> str:
    """What the pictures of a diagram are called."""
    return one.name.replace("/", "-")


def draw(one: Example) -> None:
    """Draw a diagram, run it, and keep its first scope."""
    from spart_blocks.diagram.diagram_drawing import draw as drawn
    from spart_blocks.drawing.files import write

    PICTURES.mkdir(parents=True, exist_ok=True)
    diagram = sb.load(one.path)
    write(drawn(diagram), PICTURES / f"{file_stem(one)}.svg")
    results = sb.simulate(one.path)
    for figure in results.plot()[:1]:
        figure.set_size_inches(SIZE)
        figure.savefig(PICTURES / f"{file_stem(one)}.png", dpi=DOTS)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", help="by default all")
    names = parser.parse_args().names
    matplotlib.use("Agg")
    warnings.simplefilter("ignore", SpartWarning)
    for one in found(DOCS.parent):
        if not names or one.name in names:
            print(one.name, flush=True)
            draw(one)
            matplotlib.pyplot.close("all")
    PAGE.write_text(page(), encoding="utf-8")


if __name__ == "__main__":
    main()
