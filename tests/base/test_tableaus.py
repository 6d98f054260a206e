"""Methods are told from others by their numbers, and their names stand in one table."""

import math
from dataclasses import replace
from typing import get_args

import numpy as np
import pytest

from spart_blocks.base.tableaus import (
    _MAKERS,
    EXPLICIT_STEP,
    FIXED_STEP,
    PAIRS,
    STIFF,
    tableau,
)
from spart_blocks.diagram import Solver
from spart_blocks.run.solvers.stability import growth_of, stable_step


def test_the_names_are_those_of_the_table():
    fixed = {name for name in _MAKERS if tableau(name).e is None}
    assert set(FIXED_STEP) == fixed
    assert {*PAIRS, STIFF} == _MAKERS.keys() - fixed
    assert _MAKERS.keys() <= set(get_args(Solver))
    explicit = {name for name in _MAKERS if tableau(name).implicit is None}
    assert explicit == {*EXPLICIT_STEP, *PAIRS}


@pytest.mark.parametrize("name", sorted(_MAKERS.keys() - {STIFF}))
def test_a_step_of_a_method_is_the_exponential_up_to_its_order(name):
    # Of x' = x the step is 1 + sum b B^k 1 h^(k+1).
    method = tableau(name)
    _, B, _, b = method.slopes()
    k = np.ones(len(b))
    for power in range(1, method.order + 1):
        assert b @ k == pytest.approx(1 / math.factorial(power), rel=1e-10)
        k = B @ k
    assert abs(b @ k * math.factorial(method.order + 1) - 1) > 1e-3


@pytest.mark.parametrize("name", PAIRS)
def test_the_border_of_a_pair_is_just_within_its_stability_interval(name):
    method = tableau(name)
    assert 0.95 < method.border / stable_step(method, -1 + 0j) < 0.99


@pytest.mark.parametrize(
    ("field", "of"),
    [
        ("A", "RK4"),
        ("b", "heun"),
        ("c", "RK4"),
        ("e", "RK45"),
        ("P", "RK45"),
        ("A", "RK45"),
        ("A", STIFF),
        ("e", STIFF),
    ],
)
def test_wrong_numbers_are_refused_when_a_table_is_made(field, of):
    method = tableau(of)
    wrong = getattr(method, field).copy()
    wrong.flat[-1] += 1e-6
    with pytest.raises(ValueError, match="no Runge-Kutta method: "):
        replace(method, **{field: wrong})


@pytest.mark.parametrize(("name", "order"), [(STIFF, 5), ("Rodas3", 3)])
def test_a_linearly_implicit_method_meets_all_conditions_of_its_order(name, order):
    A, B, _, b = tableau(name).slopes()
    one, two = A.sum(axis=1), B.sum(axis=1)  # of arguments, and of slopes
    conditions = {
        1: b.sum(), 2: b @ two, 3: b @ one**2, 6: b @ B @ two,
        4: b @ one**3, 8: b @ (one * (A @ two)), 12: b @ B @ one**2, 24: b @ B @ B @ two,
        5: b @ one**4, 10: b @ (one**2 * (A @ two)), 15: b @ (one * (A @ one**2)),
        30: b @ (one * (A @ B @ two)), 20: b @ (A @ two) ** 2, 20.0001: b @ B @ one**3,
        40: b @ B @ (one * (A @ two)), 60: b @ B @ B @ one**2, 120: b @ B @ B @ B @ two,
    }  # fmt: skip
    counts = {3: 4, 4: 8, 5: 17}
    for number, found in list(conditions.items())[: counts[order]]:
        assert found == pytest.approx(1 / round(number), abs=3e-14)


@pytest.mark.parametrize("name", sorted({*FIXED_STEP, STIFF} - {*EXPLICIT_STEP}))
def test_a_linearly_implicit_method_damps_all_that_decays_and_at_once_what_decays_fast(name):
    method = tableau(name)
    assert growth_of(method, -1e12) < 1e-10
    for angle in np.linspace(np.pi / 2, np.pi, 13):
        for size in np.geomspace(1e-3, 1e6, 40):
            assert growth_of(method, size * np.exp(1j * angle)) <= 1 + 1e-11
