"""HTML of reports of sweeps: one page that needs nothing else, neither files nor a network."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterable, Sequence
from html import escape
from typing import TYPE_CHECKING

from spart_blocks.results.plots import render

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_STYLE = """
:root { color-scheme: light; }
body { margin: 0 auto; max-width: 72rem; padding: 1.5rem 1.25rem 4rem; color: #222;
  background: #fff;
  font: 15px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "DejaVu Sans", sans-serif; }
h1 { font-size: 1.6rem; margin: 0 0 .25rem; }
h2 { font-size: 1.15rem; margin: 2.2rem 0 .6rem; padding-top: .6rem;
  border-top: 1px solid #e3e6ea; }
p { margin: .4rem 0; }
.sub, .note { color: #5b6370; }
.note { font-size: .88rem; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; font-size: .88rem; margin: .4rem 0; }
th, td { padding: .25rem .7rem .25rem 0; text-align: left; vertical-align: top; }
th { border-bottom: 1px solid #9aa1ab; font-weight: 600; white-space: nowrap; }
td { border-bottom: 1px solid #eef0f2; }
.number { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
code { font: .85rem ui-monospace, "DejaVu Sans Mono", monospace; white-space: pre-wrap;
  overflow-wrap: anywhere; }
figure { margin: 1rem 0; }
img { max-width: 100%; height: auto; }
nav a { margin-right: 1rem; }
a { color: #0059a0; }
.good, .bad { display: inline-block; padding: .1rem .55rem; border-radius: .3rem;
  font-weight: 600; }
.good { background: #e2f3ec; color: #00563d; }
.bad { background: #fdeae4; color: #9b2c00; }
@media print { nav { display: none; } h2 { break-after: avoid; }
  figure, tr { break-inside: avoid; } }
"""
MOST_BYTES = 150_000
"""Size of an SVG picture above which pixels take its place, if they are smaller."""
_POLICY = "default-src 'none'; img-src data:; style-src 'unsafe-inline'"


def page(title: str, head: str, sections: Sequence[tuple[str, str]]) -> str:
    """A page with a heading for each section (title, HTML). Sections without content are left out.
    The page's policy forbids scripts and requests."""
    shown = [(name, body) for name, body in sections if body]
    links = "".join(f'<a href="#s{k}">{escape(name)}</a>' for k, (name, _) in enumerate(shown))
    parts = [f'<h2 id="s{k}">{escape(name)}</h2>{body}' for k, (name, body) in enumerate(shown)]
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(title)}</title>\n<style>{_STYLE}</style>\n</head>\n<body>\n"
        f"<h1>{escape(title)}</h1>\n{head}\n<nav>{links}</nav>\n"
        + "\n".join(parts)
        + "\n</body>\n</html>\n"
    )


def paragraph(text: str, kind: str = "") -> str:
    """A paragraph. kind: 'sub' or 'note' for lesser text."""
    return f'<p class="{kind}">{escape(text)}</p>' if kind else f"<p>{escape(text)}</p>"


def verdict(good: bool, word: str, text: str) -> str:
    """A word on a coloured ground, with a text beside it."""
    kind = "good" if good else "bad"
    return f'<p><span class="{kind}">{escape(word)}</span> {escape(text)}</p>'


def table(
    columns: Sequence[str], rows: Iterable[Sequence[str]], words: int = 1, code: int | None = None
) -> str:
    """A table of texts. columns: the headings; all empty for none. words: the number of first
    columns that are not numbers. code: the column that shows commands."""
    head = "".join(_cell("th", text, k >= words and k != code) for k, text in enumerate(columns))
    lines = []
    for row in rows:
        cells = (
            f"<td><code>{escape(text)}</code></td>" if k == code else _cell("td", text, k >= words)
            for k, text in enumerate(row)
        )
        lines.append(f"<tr>{''.join(cells)}</tr>")
    if not lines:
        return ""
    top = f"<thead><tr>{head}</tr></thead>\n" if any(columns) else ""
    body = "\n".join(lines)
    return f'<div class="scroll"><table>{top}{body}</table></div>'


def _cell(kind: str, text: str, number: bool) -> str:
    if not number:
        return f"<{kind}>{escape(text)}</{kind}>"
    stacked = escape(text).replace(" (", "<br>(")  # an interval below its estimate
    return f'<{kind} class="number">{stacked}</{kind}>'


def picture(figure: Figure, caption: str) -> str:
    """A figure as an image within the page, in pixels if curves would take more space. In an image
    its text and styles cannot affect those of the page."""
    image, kind = render(figure, "svg"), "svg+xml"
    if len(image) > MOST_BYTES:
        pixels = render(figure, "png", dpi=144)
        image, kind = min((image, kind), (pixels, "png"), key=lambda one: len(one[0]))
    data, text = b64encode(image).decode("ascii"), escape(caption)
    return (
        f'<figure><img alt="{text}" src="data:image/{kind};base64,{data}" '
        f'style="width: {figure.get_figwidth():.3g}in">'
        f'<figcaption class="note">{text}</figcaption></figure>'
    )
