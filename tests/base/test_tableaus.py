"""Methods are told from others by their numbers, and their names stand in one table."""

import math
from dataclasses import replace
from typing import get_args

import numpy as np
import pytest

from spart_blocks.base.tableaus import _MAKERS, FIXED_STEP, PAIRS, tableau
from spart_blocks.diagram import Solver
from spart_blocks.run.solvers.stability import stable_step


def test_the_names_are_those_of_the_table():
    fixed = {name for name in _MAKERS if tableau(name).e is None}
    assert set(FIXED_STEP) == fixed
    assert set(PAIRS) == _MAKERS.keys() - fixed
    assert _MAKERS.keys() <= set(get_args(Solver))


@pytest.mark.parametrize("name", _MAKERS)
def test_a_step_of_a_method_is_the_exponential_up_to_its_order(name):
    # Of x' = x the step is 1 + sum b A^k 1 h^(k+1).
    method = tableau(name)
    s, k = len(method.b), np.ones(len(method.b))
    for power in range(1, method.order + 1):
        assert method.b @ k == pytest.approx(1 / math.factorial(power), rel=1e-10)
        k = method.A[:s, :s] @ k
    assert abs(method.b @ k * math.factorial(method.order + 1) - 1) > 1e-3


@pytest.mark.parametrize("name", PAIRS)
def test_the_border_of_a_pair_is_just_within_its_stability_interval(name):
    method = tableau(name)
    assert 0.95 < method.border / stable_step(method, -1 + 0j) < 0.99


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
