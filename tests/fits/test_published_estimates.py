"""Rates of reactions and of growth are those of published fits to measurements.

Source: E. D. Dolan, J. J. More, T. S. Munson, "Benchmarking optimization software with COPS 3.0",
Argonne National Laboratory, ANL/MCS-TM-273 (2004): the least sums of squares.
"""

from pathlib import Path

import pytest

import spart_blocks as sb

COPS = Path(__file__).parents[2] / "benchmarks" / "cops"


@pytest.mark.parametrize(
    ("name", "published"),
    [
        ("pinene", 19.8721),
        ("gas_oil", 5.2366e-3),
        ("methanol", 9.02229e-3),
        ("marine", 1.97462e7),  # with 100 intervals of one point each; 1.97465e7 with 400
    ],
)
def test_published_sums_of_squares_are_met(name, published):
    found = sb.fit(COPS / f"{name}.yaml")
    assert found.ended
    assert found.squares == pytest.approx(published, rel=1e-4)


def test_rates_at_their_only_bound_are_told():
    """One of the eight mortalities of the marine population is zero."""
    found = sb.fit(COPS / "marine.yaml")
    held = dict(zip(found.statistics.labels, found.statistics.held, strict=True))
    assert [name for name, at in held.items() if at] == ["m6"]
