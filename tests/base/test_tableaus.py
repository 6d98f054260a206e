"""Methods are told from others by their numbers, and their names stand in one table."""

from dataclasses import replace
from typing import get_args

import numpy as np
import pytest

from spart_blocks.base.tableaus import _MAKERS, CONTROLLED, FIXED_STEP, tableau
from spart_blocks.diagram import Solver


def test_the_names_are_those_of_the_table():
    fixed = {name for name in _MAKERS if tableau(name).e is None}
    assert set(FIXED_STEP) == fixed
    assert {CONTROLLED} == _MAKERS.keys() - fixed
    assert _MAKERS.keys() <= set(get_args(Solver))


@pytest.mark.parametrize("name", _MAKERS)
def test_a_method_has_its_order(name):
    # x' = x from 1: the step is the exponential up to its order.
    method, errors = tableau(name), []
    for h in (0.1, 0.05):
        K = []
        for row in method.A:
            K.append(1 + h * sum(a * k for a, k in zip(row, K, strict=False)))
        errors.append(abs(1 + h * method.b @ K - np.exp(h)))
    assert np.log2(errors[0] / errors[1]) == pytest.approx(method.order + 1, abs=0.15)


@pytest.mark.parametrize(
    ("field", "of"),
    [("A", "RK4"), ("b", "heun"), ("c", "RK4"), ("e", "RK45"), ("P", "RK45"), ("A", "RK45")],
)
def test_wrong_numbers_are_refused_when_a_table_is_made(field, of):
    method = tableau(of)
    wrong = getattr(method, field).copy()
    wrong.flat[-1] += 1e-6
    with pytest.raises(ValueError, match="no explicit Runge-Kutta method: "):
        replace(method, **{field: wrong})
