"""HTML for notebooks, and whether a notebook runs this code.

All texts are escaped; pictures are separate images, so nothing in them can run or interfere with
the page.
"""

from __future__ import annotations

import sys
from base64 import b64encode
from collections.abc import Callable, Iterable, Sequence
from html import escape
from importlib import import_module
from typing import Any

MOST_ROWS = 40
"""Largest number of table rows shown; a line gives the number of the others."""

MOTION = ""
"""The module whose functions show robots and their motion. The package names it: robots and results
know nothing of it."""


def of_motion(name: str) -> Callable[..., Any]:
    """A function of the module MOTION."""
    found: Callable[..., Any] = getattr(import_module(MOTION), name)
    return found


def notebook() -> Callable[..., object] | None:
    """The display function of the notebook that runs this code; None outside a notebook."""
    python: Any = sys.modules.get("IPython")
    if python is None or not hasattr(python.get_ipython(), "kernel"):
        return None
    from IPython.display import display

    shown: Callable[..., object] = display
    return shown


def heading(text: str, about: str = "") -> str:
    """A name in bold, and its description."""
    return f"<div><b>{escape(text)}</b>{': ' + escape(about) if about else ''}</div>"


def lines(texts: Iterable[str]) -> str:
    """A paragraph for each text."""
    return "".join(f"<div>{escape(text)}</div>" for text in texts)


def table(columns: Sequence[str], rows: Sequence[Sequence[str]], most: int = MOST_ROWS) -> str:
    """A table of texts, with at most the first `most` rows."""
    head = "".join(f'<th style="text-align:left">{escape(column)}</th>' for column in columns)
    body = "".join(
        "<tr>"
        + "".join(f'<td style="text-align:left">{escape(cell)}</td>' for cell in row)
        + "</tr>"
        for row in rows[:most]
    )
    more = lines([f"and {len(rows) - most} more"] if len(rows) > most else [])
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{more}"


def preformatted(text: str) -> str:
    """Text whose columns stay in line."""
    return f"<pre>{escape(text)}</pre>"


def picture(svg: bytes, what: str) -> str:
    """An SVG picture as an image. what: its alternative text."""
    data = b64encode(svg).decode("ascii")
    return f'<img alt="{escape(what)}" src="data:image/svg+xml;base64,{data}"/>'
