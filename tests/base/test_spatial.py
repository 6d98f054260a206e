"""Rotations, quaternions and small solves: what must hold for any of them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.spatial.transform import Rotation

from spart_blocks.base import spatial
from spart_blocks.base.errors import InputError, SingularInertiaError

numbers = st.floats(-10, 10, allow_subnormal=False)
vectors = arrays(float, 3, elements=numbers)
quaternions = (
    arrays(float, 4, elements=st.floats(-1, 1, allow_subnormal=False))
    .filter(lambda q: np.linalg.norm(q) > 0.1)
    .map(lambda q: q / np.linalg.norm(q))
)


def is_rotation(R):
    return np.abs(R @ R.T - np.eye(3)).max() < 1e-14 and abs(np.linalg.det(R) - 1) < 1e-14


@given(angles=vectors)
def test_euler_angles_give_rotations(angles):
    assert is_rotation(spatial.angles321_dcm(angles))
    assert is_rotation(spatial.angles123_dcm(angles))


@given(angles=vectors)
def test_euler_angles_are_scipy_s_intrinsic_turns(angles):
    want = Rotation.from_euler("ZYX", angles[::-1]).as_matrix()
    np.testing.assert_allclose(spatial.angles321_dcm(angles).T, want, atol=1e-14)
    want = Rotation.from_euler("XYZ", angles).as_matrix()
    np.testing.assert_allclose(spatial.angles123_dcm(angles).T, want, atol=1e-14)


@given(x=st.floats(-3, 3), y=st.floats(-1.5, 1.5), z=st.floats(-3, 3))
def test_euler_angles_come_back_from_their_rotation(x, y, z):
    angles = np.array([x, y, z])
    back = spatial.dcm_angles321(spatial.angles321_dcm(angles))
    np.testing.assert_allclose(back, angles, atol=1e-12)


@given(q=quaternions)
def test_a_quaternion_comes_back_from_its_rotation_up_to_sign(q):
    R = spatial.quaternion_rotation(q)
    assert is_rotation(R)
    np.testing.assert_allclose(R, Rotation.from_quat(q).as_matrix(), atol=1e-14)
    back = spatial.dcm_quat(R.T)
    assert back[np.abs(back).argmax()] > 0
    np.testing.assert_allclose(back * np.sign(back @ q), q, atol=1e-14)


@given(q1=quaternions, q2=quaternions)
def test_quaternion_products_turn_as_products_of_rotations(q1, q2):
    product = spatial.quat_product(q1, q2)
    want = (Rotation.from_quat(q1) * Rotation.from_quat(q2)).as_quat()
    np.testing.assert_allclose(product * np.sign(product @ want), want, atol=1e-14)
    dcm = spatial.quat_dcm(q2) @ spatial.quat_dcm(q1)
    np.testing.assert_allclose(spatial.quat_dcm(product), dcm, atol=1e-14)


@given(p=arrays(float, 4, elements=numbers), q=arrays(float, 4, elements=numbers))
def test_quaternion_matrices_multiply_from_either_side(p, q):
    want = spatial.quat_product(p, q)
    np.testing.assert_allclose(spatial.quat_left_matrix(p) @ q, want, atol=1e-13)
    np.testing.assert_allclose(spatial.quat_right_matrix(q) @ p, want, atol=1e-13)
    left, right = spatial.quat_left_matrix(p), spatial.quat_right_matrix(q)
    np.testing.assert_allclose(left @ right, right @ left, atol=1e-12)  # (p x) q = p (x q)
    np.testing.assert_allclose(left @ left.T, (p @ p) * np.eye(4), atol=1e-12)


@given(axis=vectors, angle=st.floats(0, np.pi))
@example(axis=np.array([0.0, 0.0, 1.0]), angle=0.0)
@example(axis=np.array([0.6, 0.0, -0.8]), angle=np.pi)
@example(axis=np.array([0.6, 0.0, -0.8]), angle=1e-12)
@example(axis=np.array([0.6, 0.0, -0.8]), angle=np.pi - 1e-12)
def test_axis_and_angle_come_back_from_their_rotation(axis, angle):
    assume(np.linalg.norm(axis) > 0.1)
    e = axis / np.linalg.norm(axis)
    R = Rotation.from_rotvec(angle * e).as_matrix()
    back = spatial.dcm_euler(R.T)
    assert 0 <= back[3] <= np.pi
    assert np.linalg.norm(back[:3]) == pytest.approx(1, abs=1e-14)
    turned = Rotation.from_rotvec(back[:3] * back[3]).as_matrix()
    np.testing.assert_allclose(turned, R, atol=1e-14)
    assert back[3] == pytest.approx(angle, abs=1e-14)
    if 1e-9 < angle < np.pi - 1e-9:
        np.testing.assert_allclose(back[:3], e, atol=1e-15 / np.sin(angle / 2) + 1e-14)


def test_no_turn_has_the_axis_x():
    np.testing.assert_allclose(spatial.dcm_euler(np.eye(3)), [1, 0, 0, 0], atol=1e-99)


@given(q=quaternions, omega=vectors)
def test_the_quaternion_rate_is_the_derivative_of_the_turn(q, omega):
    def after(h):
        turned = Rotation.from_quat(q) * Rotation.from_rotvec(h * omega)
        made = turned.as_quat()
        return made * np.sign(made @ q)

    h = 1e-3 / (1 + np.linalg.norm(omega))
    slope = (8 * (after(h) - after(-h)) - (after(2 * h) - after(-2 * h))) / (12 * h)
    scale = 1 + np.linalg.norm(omega)
    np.testing.assert_allclose(spatial.quaternion_rate(q, omega), slope, atol=1e-9 * scale)


@given(q=quaternions, omega=vectors, pull=st.floats(0.1, 5))
def test_the_pull_to_unit_length_vanishes_at_unit_length_and_points_there_elsewhere(q, omega, pull):
    free = spatial.quaternion_rate(q, omega)
    np.testing.assert_allclose(spatial.quaternion_rate(q, omega, pull), free, atol=1e-14)
    for length, sign in ((0.9, 1), (1.1, -1)):
        outward = q @ spatial.quaternion_rate(length * q, omega, pull)
        assert np.sign(outward) == sign


@given(axis=vectors, angle=numbers)
def test_a_turn_keeps_its_axis_and_turns_by_its_angle(axis, angle):
    assume(np.linalg.norm(axis) > 0.1)
    e = axis / np.linalg.norm(axis)
    R = spatial.axis_angle_rotation(e, np.array([angle]))
    assert is_rotation(R)
    np.testing.assert_allclose(R @ e, e, atol=1e-14)
    np.testing.assert_allclose(R, Rotation.from_rotvec(angle * e).as_matrix(), atol=1e-14)
    np.testing.assert_allclose(spatial.euler_dcm(e, angle), R.T, atol=1e-15)


@given(a=arrays(float, (2, 5, 3), elements=numbers), b=arrays(float, (2, 5, 3), elements=numbers))
def test_skew_and_cross_are_numpy_s_cross(a, b):
    want = np.cross(a, b)
    np.testing.assert_allclose(spatial.cross(a, b), want, atol=1e-13)
    np.testing.assert_allclose((spatial.skew(a) @ b[..., None])[..., 0], want, atol=1e-13)


@given(seed=st.integers(0, 1000), n=st.integers(1, 8))
def test_solve_spd_solves_with_numbers_and_with_objects_alike(seed, n):
    rng = np.random.default_rng(seed)
    root = rng.normal(size=(n, n + 2))
    a, b = root @ root.T + 0.1 * np.eye(n), rng.normal(size=(n, 3))
    want = np.linalg.solve(a, b)
    scale = np.abs(want).max() * np.linalg.cond(a)
    for kind in (float, object):
        got = spatial.solve_spd(a.astype(kind), b.astype(kind), "a")
        assert np.abs(got - want).max() < 1e-13 * scale
        one = spatial.solve_spd(a.astype(kind), b[:, 0].astype(kind), "a")
        assert one.shape == (n,)
        assert np.abs(one - want[:, 0]).max() < 1e-13 * scale


@pytest.mark.parametrize(
    ("a", "why"),
    [
        (np.zeros((2, 2)), "not positive definite"),
        (np.diag([1.0, -1.0]), "not positive definite"),
        (np.ones((2, 2)), "(not positive definite|singular to working precision)"),
        (np.array([[1.0, 1.0], [1.0, 1.0 + 1e-15]]), "(not positive|singular to working)"),
        (np.diag([1.0, np.nan]), "not finite"),
        (np.diag([1.0, np.inf]), "not finite"),
    ],
)
def test_solve_spd_refuses_what_it_cannot_solve_and_names_it(a, why):
    with pytest.raises(SingularInertiaError, match=f"the inertia of the base .*{why}"):
        spatial.solve_spd(a, np.ones(2), "the inertia of the base")


def test_solve_spd_does_not_mind_units_that_are_far_apart():
    a = np.diag([1e-12, 1e12])
    np.testing.assert_allclose(spatial.solve_spd(a, np.ones(2), "a"), [1e12, 1e-12], rtol=1e-15)


def test_array_checks_shapes_and_never_mends_them():
    with pytest.raises(InputError, match=r"x has shape \(3, 1\), it must be \(3,\)"):
        spatial.array(np.zeros((3, 1)), (3,), "x")
    with pytest.raises(InputError, match="x must hold numbers"):
        spatial.array("abc", (), "x")
    assert spatial.array([1, 2, 3], (3,), "x").dtype == float


@pytest.mark.parametrize("name", ["sin", "cos", "sqrt", "arcsin"])
def test_functions_of_one_scalar_follow_their_input(name):
    sympy = pytest.importorskip("sympy")
    casadi = pytest.importorskip("casadi")
    function = getattr(spatial, name)
    want = getattr(np, name)(0.3)
    assert function(np.array([0.3])).dtype == float
    assert function(np.array([0.3], dtype=object))[0] == pytest.approx(want, rel=1e-15)
    x = sympy.Symbol("x")
    assert float(function(np.array([x]))[0].subs(x, 0.3)) == pytest.approx(want, rel=1e-15)
    x = casadi.SX.sym("x")
    boxed = np.empty(1, dtype=object)
    boxed[0] = x
    f = casadi.Function("f", [x], [function(boxed)[0]])
    assert float(f(0.3)) == pytest.approx(want, rel=1e-15)


@pytest.mark.parametrize("angle", [-3.0, -0.5, 0.0, 0.7, 3.1])
def test_arctan2_of_mixed_numbers_and_symbols(angle):
    casadi = pytest.importorskip("casadi")
    x = casadi.SX.sym("x")
    for arguments in ((x, np.cos(angle)), (np.sin(angle), x)):
        boxed = []
        for value in arguments:
            box = np.empty(1, dtype=object)
            box[0] = value
            boxed.append(box)
        f = casadi.Function("f", [x], [spatial.arctan2(*boxed)[0]])
        given_ = np.sin(angle) if arguments[0] is x else np.cos(angle)
        assert float(f(given_)) == pytest.approx(angle, abs=1e-15)


def test_what_is_neither_number_nor_symbol_is_refused_rather_than_turned_into_nan():
    with pytest.raises(TypeError, match="sin takes numbers or symbols, not complex"):
        spatial.sin(np.array([1j], dtype=object))


@given(q=quaternions)
def test_a_rotation_has_a_quaternion_whose_scalar_part_is_not_negative(q):
    got = spatial.rotation_quaternion(spatial.quaternion_rotation(q))
    assert got[3] >= 0
    np.testing.assert_allclose(got * np.sign(got @ q), q, atol=1e-14)


@pytest.mark.parametrize(
    "axis", [[1, 0, 0], [0, 1, 0], [0, 0, 1], [0.6, 0, -0.8], [-0.48, 0.6, 0.64]]
)
@pytest.mark.parametrize("angle", [0.0, 1e-9, 1e-3, 1.0, 3.0, np.pi - 1e-9, np.pi])
def test_the_rotation_error_is_the_shortest_turn_up_to_half_a_turn(axis, angle):
    axis = np.array(axis, float)
    R = Rotation.from_rotvec([0.3, -1.2, 0.7]).as_matrix()
    Rd = spatial.axis_angle_rotation(axis, np.array([angle])) @ R
    error = spatial.rotation_error(R, Rd)
    if angle == np.pi:  # either way round is as long
        error = error * np.sign(error @ axis)
    np.testing.assert_allclose(error, 2 * np.sin(angle / 2) * axis, rtol=1e-7, atol=1e-15)
    # The same turn in body axes is that from R'.
    np.testing.assert_allclose(spatial.rotation_error(np.eye(3), R.T @ Rd), R.T @ error, atol=2e-9)


def test_past_half_a_turn_the_rotation_error_goes_the_other_way():
    Rd = spatial.axis_angle_rotation(np.array([0.0, 0.0, 1.0]), np.radians([190.0]))
    want = [0, 0, -2 * np.sin(np.radians(85))]
    np.testing.assert_allclose(spatial.rotation_error(np.eye(3), Rd), want, atol=1e-15)
