"""The page of every block: nothing of how its docstring is marked up, and nothing left out."""

from __future__ import annotations

import re

import pytest
from typer.testing import CliRunner

from spart_blocks.cli.app import app
from spart_blocks.descriptions.docstrings import read_docstring
from spart_blocks.diagram.build.registry import type_names

MARKS = {
    "a directive": r"(^|\s)\.\.\s*[\w-]+::?",
    "a role": r":\w+:`",
    "a literal's marks": "``",
    "a table's lines": r"={4,}|\+[-=]{3,}",
    "a substitution": r"\|(br|rarr|[A-Za-z]{3,})\|",
    "a link": r"<https?:|`_",
    "LaTeX": r"\\[A-Za-z]+|\$",
    "a field": r"(^|\s):\w+( \w+)?: ",
    "what announces code": r"::(\s|$)",
}


def page(name):
    return CliRunner().invoke(app(), ["blocks", name]).stdout


@pytest.mark.parametrize("name", type_names())
def test_a_page_has_no_marks(name):
    text = page(name)
    assert text.startswith(f"{name}  (")
    lines = [line for line in text.splitlines() if "bd." not in line]  # examples are in Python
    for what, mark in MARKS.items():
        found = [line for line in lines if re.search(mark, line)]
        assert not found, f"{what}: {found}"


@pytest.mark.parametrize(
    ("name", "lines"),
    [
        ("SUM", [
            "  sum = bd.SUM('+-+')",
            "is a 3-input summing junction which computes in[0] - in[1] + in[2].",
            "  mode character  purpose",
            "  r               real number, don't wrap (default)",
            "  L               colatitude angle, wrap to [0, π]",
        ]),
        ("PID", [
            "  e ────┼───> Ds ──> SUM ───> y",
            "    e ────┼───> Ds ──> SUM ───> y",
            "  structure  P                  I        D",
            "  series     P_s (1 + D_s I_s)  P_s I_s  P_s D_s",
        ]),
        ("STOP", ["* bool type and True", "* numeric type and > 0"]),
        ("SCOPEXY1", ["* a 2-tuple [min, max] which is used for the x- and y-axes"]),
        ("WAVEFORM", ["Note: For discontinuous signals (square, triangle) the block declares"]),
        ("INDEX", ['notation, eg.', '"::-1".']),
        ("DICT", ["  0    dict  {key: x[i] for i, key in enumerate(keys)}"]),
        ("LTI_SISO", ["  lti = bd.LTI_SISO(N=[1, 2], D=[2, 3, -4])"]),
        ("ZOH", ["Output is the input at the previous clock time y_{k} = x_{k-1}."]),
        ("INDEX", ["The specified element(s) of the input iterable (list, string, etc.) are"]),
    ],
)  # fmt: skip
def test_a_page_has_all_that_is_told(name, lines):
    text = page(name)
    for line in lines:
        assert line.strip() in text, line


def test_what_is_in_a_docstring_keeps_its_form():
    doc = """A block.

    .. note:: Mind the gap
        between the two.

    Choose one of:

    - the first
      of them
    - the second:

      * by name
      * by number

    1. and then this

    ==  ======
    a   b c
    ==  ======
    1   one
    2   two
        lines
    ==  ======

    +---+-----+
    | x | y   |
    +===+=====+
    | 1 | two |
    +---+-----+

    .. code-block:: python

        x = 1

        if x:
            y = 2

    .. figure:: ../one.png
        :width: 50

        A figure.

    .. tip::
        * One.
        * Two.

    ..warning:: `Here <https://a.b/c>`_ |rarr| there.

    .. a comment

    .. versionchanged:: 1.2
        Something.

    See :meth:`this <that>` and `code`.
    """
    assert read_docstring(doc).prose == [
        "A block.",
        "Note: Mind the gap between the two.",
        "Choose one of:",
        "* the first of them",
        "* the second:",
        "  * by name",
        "  * by number",
        "1. and then this",
        "  a  b c",
        "  1  one",
        "  2  two lines",
        "  x  y",
        "  1  two",
        "  x = 1",
        "  ",
        "  if x:",
        "      y = 2",
        "Tip:",
        "* One.",
        "* Two.",
        "Warning: Here → there.",
        "See this and `code`.",
    ]


def test_sampled_blocks_of_bdsim_say_when_they_show_what_they_hold():
    assert "bdsim's own rule is run: {first_tick: bdsim}" in " ".join(page("ZOH").split())
    assert "first_tick" not in page("UNIT_DELAY") + page("GAIN")
