"""LaTeX as text that one can read in a terminal."""

from __future__ import annotations

import pytest

from spart_blocks.descriptions.docstrings import read_docstring
from spart_blocks.descriptions.formulas import formula, formula_lines


@pytest.mark.parametrize(
    ("latex", "text"),
    [
        (r"\frac{Y(s)}{U(s)} = \frac{s}{s^2 + 2\omega_n \zeta s + \omega_n^2}",
         "Y(s)/U(s) = s/(s^2 + 2ω_n ζ s + ω_n^2)"),
        (r"\frac{s}{\frac{s}{\alpha} + 1}", "s/(s/α + 1)"),
        (r"P + I\frac{T}{z-1} + D\frac{z-1}{Tz}", "P + I T/(z-1) + D (z-1)/(Tz)"),
        (r"P \left(1 + \frac{I}{s}\right)", "P (1 + I/s)"),
        (r"x(t) = k \int_0^T u(t) \, dt", "x(t) = k ∫_0^T u(t) dt"),
        (r"\dot{x}=-2x+u, y=-x", "x'=-2x+u, y=-x"),
        (r"H(z^{-1}) = \\frac{b_0 + b_1 z^{-1}}{1 + a_1}", "H(z^-1) = (b_0 + b_1 z^-1)/(1 + a_1)"),
        (r"\prod_i \{x_i | \frac{1}{x_i}\}", "∏_i {x_i | 1/x_i}"),
        (r"\|\mathbf{A}\|", "‖A‖"),
        (r"\mathbf{A}_{i\ldots j, m\ldots n}", "A_{i… j, m… n}"),
        (r"1/\sqrt{2}", "1/sqrt(2)"),
        (r"\unknown{x} + {", "unknownx +"),
        ("", ""),
    ],
)  # fmt: skip
def test_formulas_are_readable(latex, text):
    assert formula(latex) == text


def test_rows_become_lines():
    rows = r"\begin{aligned} x_{k+1} &= A x_k \\ y_k &= C x_k \end{aligned}"
    assert formula_lines(rows) == ["x_{k+1} = A x_k", "y_k = C x_k"]


def test_a_docstring_keeps_its_formulas_and_its_code():
    doc = r"""A filter.

    It is given by

    .. math::
        \frac{1}{s + a}

    where :math:`a` is the pole. For example::

        blk = bd.FILTER()

    is a filter too.

    The end.
    """
    assert read_docstring(doc).prose == [
        "A filter.",
        "It is given by",
        "  1/(s + a)",
        "where a is the pole. For example:",
        "  blk = bd.FILTER()",
        "is a filter too.",
        "The end.",
    ]
