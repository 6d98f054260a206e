"""Meshes differentiate and integrate polynomials exactly."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spart_blocks.optimal.mesh import Mesh, radau

degrees = st.integers(1, 9)


@pytest.mark.parametrize("degree", range(1, 10))
def test_the_points_are_radaus(degree):
    """In (0, 1], the last is 1; quadrature is exact to degree 2 d - 2 (Hairer, Wanner, IV.5)."""
    mesh = Mesh(np.array([0.0, 1.0]), degree)
    assert radau(degree)[-1] == 1
    for power in range(2 * degree - 1):
        found = mesh.weights @ mesh.times**power
        assert found == pytest.approx(1 / (power + 1), rel=1e-11)


def test_of_two_points_they_are_a_third_and_one():
    assert radau(2) == pytest.approx([1 / 3, 1], rel=1e-14)


@given(degrees, st.lists(st.floats(0.05, 1.0), min_size=1, max_size=6), st.integers(0, 2**31))
def test_a_polynomial_keeps_its_values_and_slopes(degree, lengths, seed):
    borders = np.concatenate([[0.0], np.cumsum(lengths)]) / np.sum(lengths)
    mesh = Mesh(borders, degree)
    c = np.random.default_rng(seed).normal(size=degree + 1)
    at = np.concatenate([[0.0], mesh.times])
    states = np.polyval(c, at)[:, None]
    parts = np.linspace(0.0, 1.0, 7)
    inside = mesh.inside(parts)
    size = abs(c).sum() * max(1, degree) / mesh.lengths.min()
    values = mesh.states_at(states, parts).ravel()
    np.testing.assert_allclose(values, np.polyval(c, inside), atol=1e-9 * size)
    rates = mesh.rates_at(states, parts).ravel()
    np.testing.assert_allclose(rates, np.polyval(np.polyder(c), inside), atol=1e-8 * size)
    finer = mesh.divided(np.full(mesh.n, 2))
    again, _ = mesh.resampled(states, np.zeros((mesh.points, 1)), finer)
    np.testing.assert_allclose(
        again.ravel(), np.polyval(c, np.concatenate([[0.0], finer.times])), atol=1e-9 * size
    )
