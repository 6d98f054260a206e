"""The box in place of a link has its inertia."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from spart_blocks.animation.shapes import THINNEST, inertia_box


def inertia_of(box, mass):
    a, b, c = box.sides
    moments = mass / 12 * np.array([b**2 + c**2, a**2 + c**2, a**2 + b**2])
    return box.R @ np.diag(moments) @ box.R.T


@pytest.mark.parametrize("seed", range(20))
def test_the_box_has_the_inertia_of_the_body(seed):
    rng = np.random.default_rng(seed)
    points, weights = rng.normal(size=(30, 3)), rng.uniform(0.1, 1, 30)
    points -= weights @ points / weights.sum()
    inertia = sum(
        w * (p @ p * np.eye(3) - np.outer(p, p)) for p, w in zip(points, weights, strict=True)
    )
    mass = weights.sum()
    box = inertia_box(mass, inertia)
    np.testing.assert_allclose(inertia_of(box, mass), inertia, rtol=1e-12, atol=1e-12)
    assert np.linalg.det(box.R) == pytest.approx(1)


def test_the_sides_of_a_known_box():
    turn = Rotation.from_euler("xyz", [0.3, 0.2, 0.1]).as_matrix()
    moments = 3 / 12 * np.array([0.2**2 + 0.3**2, 0.1**2 + 0.3**2, 0.1**2 + 0.2**2])
    box = inertia_box(3.0, turn @ np.diag(moments) @ turn.T)
    np.testing.assert_allclose(np.sort(box.sides), [0.1, 0.2, 0.3])


def test_a_thin_rod_keeps_a_thickness():
    box = inertia_box(1.0, np.diag([0.0, 1 / 12, 1 / 12]))
    np.testing.assert_allclose(np.sort(box.sides), [THINNEST, THINNEST, 1.0])


def test_what_no_body_can_have_is_as_near_as_a_box_can_be():
    box = inertia_box(1.0, np.diag([1.0, 1.0, 5.0]))  # more than 1 + 1
    assert (box.sides > 0).all()
    assert np.isfinite(box.sides).all()


@pytest.mark.parametrize(("mass", "inertia"), [(0.0, np.eye(3)), (1.0, np.zeros((3, 3)))])
def test_a_point_has_no_box(mass, inertia):
    assert inertia_box(mass, inertia) is None
