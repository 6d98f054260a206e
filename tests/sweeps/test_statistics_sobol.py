"""Sobol indices of Ishigami's function against their closed form and SciPy's estimates."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from spart_blocks.base.errors import InputError
from spart_blocks.sweeps.statistics import sobol_indices

a, b = 7.0, 0.1
NAMES = ("x1", "x2", "x3")


def ishigami(x):
    return np.sin(x[..., 0]) + a * np.sin(x[..., 1]) ** 2 + b * x[..., 2] ** 4 * np.sin(x[..., 0])


def closed_form():
    """First-order and total indices (Ishigami and Homma, 1990)."""
    first = 0.5 * (1 + b * math.pi**4 / 5) ** 2
    second = a**2 / 8
    both = 8 * b**2 * math.pi**8 / 225
    variance = first + second + both
    return (
        np.array([first, second, 0.0]) / variance,
        np.array([first + both, second, both]) / variance,
    )


def design(n, seed=0):
    """Values of the function in blocks A, B, AB^1 .. AB^3, as a list and by block."""
    A, B = np.split(
        (2 * stats.qmc.Sobol(6, rng=np.random.default_rng(seed)).random(n) - 1) * math.pi, 2, axis=1
    )
    blocks = [A, B]
    for i in range(3):
        mixed = A.copy()
        mixed[:, i] = B[:, i]
        blocks.append(mixed)
    values = ishigami(np.stack(blocks, axis=1))
    return values.ravel(), values


def test_ishigamis_indices_lie_in_their_intervals():
    got = sobol_indices(design(2048)[0], NAMES)
    for ends, value in zip((got.first_interval, got.total_interval), closed_form(), strict=True):
        low, high = ends.T
        assert np.all((low <= value) & (value <= high))
        assert np.all(high - low < 0.15)
    assert got.points == 2048
    assert got.left_out == 0


def test_estimates_and_intervals_are_scipys():
    values, parts = design(256)
    got = sobol_indices(values, NAMES, resamples=2000)
    wanted = stats.sobol_indices(
        func={
            "f_A": parts[None, :, 0],
            "f_B": parts[None, :, 1],
            "f_AB": np.moveaxis(parts[:, 2:], 1, 0)[:, None],
        },
        n=256,
    )
    np.testing.assert_allclose(got.first, wanted.first_order, rtol=1e-12)
    np.testing.assert_allclose(got.total, wanted.total_order, rtol=1e-12)
    drawn = wanted.bootstrap(n_resamples=500)
    for ends, want in (
        (got.first_interval, drawn.first_order),
        (got.total_interval, drawn.total_order),
    ):
        wanted_ends = np.column_stack(want.confidence_interval)
        assert np.all(np.abs(ends - wanted_ends) < 0.25 * np.diff(ends))


def test_any_number_of_blocks_will_do_and_failed_runs_leave_theirs_out():
    values = design(512)[0]
    stopped = values[: 5 * 300 + 3].copy()
    stopped[5 * 7 + 1] = math.nan
    got = sobol_indices(stopped, NAMES)
    assert (got.points, got.left_out) == (299, 1)
    whole = np.delete(stopped[:1500].reshape(-1, 5), 7, axis=0)
    np.testing.assert_array_equal(got.first, sobol_indices(whole.ravel(), NAMES).first)
    assert "299 base points" in str(got)
    assert "1 left out" in str(got)


def test_the_order_of_the_blocks_rows_matters():
    """A negative control: A and B exchanged with a mixed point."""
    wrong = design(2048)[1][:, [2, 1, 0, 3, 4]].ravel()
    got = sobol_indices(wrong, NAMES)
    first = closed_form()[0]
    low, high = got.first_interval.T
    assert not np.all((low <= first) & (first <= high))


def test_intervals_are_the_same_each_time():
    values = design(64)[0]
    one, other = sobol_indices(values, NAMES), sobol_indices(values, NAMES)
    np.testing.assert_array_equal(one.first_interval, other.first_interval)
    assert one.to_dict() == other.to_dict()
    assert set(one.to_dict()) == set(NAMES)


def test_a_constant_metric_has_no_indices_but_zero():
    got = sobol_indices(np.full(50, 3.0), NAMES)
    assert not got.first.any()
    assert not got.total.any()


def test_one_quantity_explains_everything():
    rng = np.random.default_rng(0)
    A, B = rng.random((2, 500))
    got = sobol_indices(np.stack([A, B, B], axis=1).ravel(), ("k",))
    assert got.total[0] == pytest.approx(1.0, abs=0.1)
    assert got.first[0] == pytest.approx(1.0, abs=0.1)


@pytest.mark.parametrize(
    ("values", "names", "text"),
    [
        ([1.0] * 9, NAMES, "two complete blocks of 5 draws at least; 9 draws have 1"),
        ([1.0] * 9, (), "need the names of the quantities"),
    ],
)
def test_wrong_arguments_are_named(values, names, text):
    with pytest.raises(InputError, match=text):
        sobol_indices(values, names)
