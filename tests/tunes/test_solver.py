"""The search for the least of the largest of some functions, on published problems."""

import numpy as np
import pytest

from spart_blocks.tunes.demands import Linear
from spart_blocks.tunes.solver import Solver


def asked(A, B=None, b=(), C=None, c=()):
    A = np.asarray(A, float)
    r = A.shape[1]
    rows = [np.zeros((0, r)) if one is None else np.asarray(one, float) for one in (B, C)]
    group, floors = np.zeros(len(A), dtype=int), np.array([-np.inf])
    return Linear(A, group, floors, rows[0], np.asarray(b, float), rows[1], np.asarray(c, float))


def least(linear, numbers, start, low, high):
    """The design with the least largest row among all that were tried and hold to 1e-6."""
    seen = []

    def noted(x):
        found = numbers(x)
        if found is not None:
            M = found[0]
            off = max([0, *(linear.B @ M - linear.b), *abs(linear.C @ M - linear.c)])
            if off < 1e-6:
                seen.append(((linear.A @ M).max(), len(seen), x.copy()))
        return found

    n = len(start)
    why = Solver(linear, noted, np.full(n, low), np.full(n, high), 200).run(np.array(start, float))
    assert why is None
    return min(seen)[0], min(seen)[2]


def test_71_of_hock_and_schittkowski():
    """W. Hock, K. Schittkowski, Test Examples for Nonlinear Programming Codes (1981)."""

    def numbers(x):
        a, b, c, d = x
        rows = [a * d * (a + b + c) + c, np.prod(x), x @ x]
        return np.array(rows), np.array(
            [[d * (2 * a + b + c), a * d, a * d + 1, a * (a + b + c)], np.prod(x) / x, 2 * x]
        )

    linear = asked([[1, 0, 0]], [[0, -1, 0]], [-25], [[0, 0, 1]], [40])
    value, x = least(linear, numbers, [1, 5, 5, 1], 1, 5)
    assert value == pytest.approx(17.0140173, abs=1e-5)
    np.testing.assert_allclose(x, [1, 4.742999, 3.821151, 1.379408], atol=1e-4)


def test_the_minimax_of_charalambous_and_bandler():
    """C. Charalambous, A. R. Conn, SIAM J. Numer. Anal. 15 (1978), problem 1: 1.9522245."""

    def numbers(x):
        a, b = x
        e = 2 * np.exp(b - a)
        rows = [a**2 + b**4, (2 - a) ** 2 + (2 - b) ** 2, e]
        slopes = [[2 * a, 4 * b**3], [-2 * (2 - a), -2 * (2 - b)], [-e, e]]
        return np.array(rows), np.array(slopes)

    value, _ = least(asked(np.eye(3)), numbers, [1, -0.1], -5, 5)
    assert value == pytest.approx(1.9522245, abs=1e-6)


def rosen_suzuki(x):
    a, b, c, d = x
    f = a**2 + b**2 + 2 * c**2 + d**2 - 5 * a - 5 * b - 21 * c + 7 * d
    g = [
        a**2 + b**2 + c**2 + d**2 + a - b + c - d - 8,
        a**2 + 2 * b**2 + c**2 + 2 * d**2 - a - d - 10,
        a**2 + b**2 + c**2 + 2 * a - b - d - 5,
    ]
    df = np.array([2 * a - 5, 2 * b - 5, 4 * c - 21, 2 * d + 7])
    dg = np.array(
        [
            [2 * a + 1, 2 * b - 1, 2 * c + 1, 2 * d - 1],
            [2 * a - 1, 4 * b, 2 * c, 4 * d - 1],
            [2 * a + 2, 2 * b - 1, 2 * c, -1],
        ]
    )
    return np.array([f, *g]), np.vstack([df, dg])


def test_the_problem_of_rosen_and_suzuki_with_constraints_and_as_minimax():
    """J. B. Rosen, S. Suzuki, Comm. ACM 8 (1965): -44 at (0, 1, 2, -1); as the largest of f and
    f + 10 g: Charalambous and Conn (1978), problem 2."""
    linear = asked([[1, 0, 0, 0]], np.eye(4)[1:], np.zeros(3))
    value, x = least(linear, rosen_suzuki, np.zeros(4), -5, 5)
    assert value == pytest.approx(-44, abs=1e-5)
    np.testing.assert_allclose(x, [0, 1, 2, -1], atol=1e-3)
    both = np.column_stack([np.ones(4), np.vstack([np.zeros(3), 10 * np.eye(3)])])
    value, _ = least(asked(both), rosen_suzuki, np.zeros(4), -5, 5)
    assert value == pytest.approx(-44, abs=1e-5)


def test_a_best_approximation_has_errors_of_equal_size_at_three_points():
    """The straight line nearest to exp on [-1, 1] has the slope b = sinh 1, and the errors
    (e - 2 b + b log b) / 2 at both ends and at log b. Source: P. L. Chebyshev's alternation; E. W.
    Cheney, Introduction to Approximation Theory (1966), section 3.4."""
    t = np.linspace(-1, 1, 2001)
    rows = np.column_stack([np.ones_like(t), t])

    def numbers(x):
        return np.append(rows @ x, 1.0), np.vstack([rows, [0, 0]])

    above = np.column_stack([np.eye(len(t)), -np.exp(t)])
    value, x = least(asked(np.concatenate([above, -above])), numbers, [1, 0], -5, 5)
    b = np.sinh(1)
    assert value == pytest.approx((np.e - 2 * b + b * np.log(b)) / 2, abs=1e-6)
    assert x[1] == pytest.approx(b, abs=1e-4)


def test_points_without_numbers_make_it_step_back():
    def numbers(x):
        a, b = x
        if a + b > 2.05:  # just beyond the best
            return None
        slopes = [[-400 * a * (b - a * a) - 2 * (1 - a), 200 * (b - a * a)]]
        return np.array([100 * (b - a * a) ** 2 + (1 - a) ** 2]), np.array(slopes)

    value, x = least(asked([[1]]), numbers, [-1.2, 1], -3, 3)
    assert value < 1e-6
    np.testing.assert_allclose(x, [1, 1], atol=1e-2)
