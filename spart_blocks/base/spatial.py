"""Rotations, quaternions, skew matrices and small solves, for every number type.

Arrays of floats give floats. Object arrays of SymPy or CasADi scalars give object
arrays: operations stay between arrays, because a bare CasADi scalar times an array
leaves NumPy (CasADi 3.8: SX.__mul__ takes the whole array).

Rotations R map body to inertial axes; quaternions are scalar-last (x, y, z, w).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache, partial
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spart_blocks.base.errors import InputError, SingularInertiaError, brief

Array = NDArray[Any]  # float64, or object holding symbolic scalars


_NO_SCALARS = (str, bytes, list, tuple, dict, type(None))
"""Types that an object array may contain, but that are not scalars."""


def array(value: Any, shape: tuple[int, ...], name: str) -> Array:
    """value as an array of the shape, floats or objects; never reshaped, only checked."""
    try:
        result = np.asarray(value)
        if result.dtype != object:
            result = result.astype(float, copy=False)
        elif any(isinstance(x, _NO_SCALARS) for x in result.flat):
            raise TypeError(name)
    except (TypeError, ValueError):  # also for rows of different lengths
        raise InputError(f"{name} must hold numbers, not {brief(value)}") from None
    if result.shape != shape:
        raise InputError(f"{name} has shape {result.shape}, it must be {shape}")
    return result


def kind(*arrays: Array) -> type:
    """The dtype that holds values computed from these arrays: float or object."""
    for a in arrays:
        if a.dtype.hasobject:
            return object
    return float


def zeros(shape: int | tuple[int, ...], *like: Array) -> Array:
    """Zeros of the number type of the arrays they will be mixed with."""
    return np.zeros(shape, dtype=kind(*like))


def eye(n: int, *like: Array) -> Array:
    """The identity (n,n) in the number type of the given arrays."""
    return np.eye(n, dtype=int).astype(kind(*like))


# --- functions of one scalar, over arrays -------------------------------------------

_SYMPY_NAMES = {"arcsin": "asin", "arctan2": "atan2"}
_MATH_NAMES = _SYMPY_NAMES


def _apply_scalar(name: str, *args: Any) -> Any:
    for x in args:
        if hasattr(x, "free_symbols"):  # SymPy; imported only where it is in use
            import sympy

            return getattr(sympy, _SYMPY_NAMES.get(name, name))(*args)
    for x in args:
        # CasADi's scalars, and those of a trace: x.sin(), but x.__arctan2__(y).
        method = next((m for m in (name, f"__{name}__") if hasattr(x, m)), None)
        if method is not None:
            first, *rest = args if x is args[0] else (type(x)(args[0]), *args[1:])
            return getattr(first, method)(*rest)
    for x in args:
        if not isinstance(x, Real):  # float() of a CasADi symbol is NaN, silently
            raise TypeError(f"{name} takes numbers or symbols, not {type(x).__name__}")
    return getattr(math, _MATH_NAMES.get(name, name))(*args)


def _elementwise(name: str, count: int = 1) -> Callable[..., Array]:
    on_objects = np.frompyfunc(partial(_apply_scalar, name), count, 1)
    on_floats = getattr(np, name)

    def function(*args: Array) -> Array:
        return (on_objects if kind(*args) is object else on_floats)(*args)  # type: ignore[no-any-return]

    function.__name__ = name
    return function


sin = _elementwise("sin")
cos = _elementwise("cos")
sqrt = _elementwise("sqrt")
exp = _elementwise("exp")
arcsin = _elementwise("arcsin")
arctan2 = _elementwise("arctan2", 2)


# --- vectors --------------------------------------------------------------------------


def filled(entries: list[Any], *like: Array) -> Array:
    """A vector of the given scalars in the number type of the arrays they came from."""
    if kind(*like) is float:
        return np.array(entries)
    out = np.empty(len(entries), dtype=object)
    for k, entry in enumerate(entries):
        out[k] = entry
    return out


def skew(v: Array) -> Array:
    """The matrix (...,3,3) with skew(v) @ x = v x x, for v (...,3)."""
    if v.ndim == 1:
        x, y, z = v.tolist()
        return filled([0, -z, y, z, 0, -x, -y, x, 0], v).reshape(3, 3)
    flat = v.reshape(-1, 3)
    out = zeros((len(flat), 3, 3), flat)
    out[:, 0, 1], out[:, 0, 2] = -flat[:, 2], flat[:, 1]
    out[:, 1, 0], out[:, 1, 2] = flat[:, 2], -flat[:, 0]
    out[:, 2, 0], out[:, 2, 1] = -flat[:, 1], flat[:, 0]
    return out.reshape((*v.shape[:-1], 3, 3))


def cross(a: Array, b: Array) -> Array:
    """The cross product along the last axis, a and b of one shape (...,3)."""
    if a.ndim == 1 and b.ndim == 1:  # scalars cost a tenth of arrays this small
        (a0, a1, a2), (b0, b1, b2) = a.tolist(), b.tolist()
        return filled([a1 * b2 - a2 * b1, a2 * b0 - a0 * b2, a0 * b1 - a1 * b0], a, b)
    shape = a.shape
    a, b = a.reshape(-1, 3), b.reshape(-1, 3)
    out = zeros(a.shape, a, b)
    out[:, 0] = a[:, 1] * b[:, 2] - a[:, 2] * b[:, 1]
    out[:, 1] = a[:, 2] * b[:, 0] - a[:, 0] * b[:, 2]
    out[:, 2] = a[:, 0] * b[:, 1] - a[:, 1] * b[:, 0]
    return out.reshape(shape)


def transpose(m: Array) -> Array:
    """The transpose of the last two axes."""
    return np.swapaxes(m, -1, -2)


def solve_spd(a: Array, b: Array, what: str) -> Array:
    """x with a x = b for a symmetric positive definite a (n,n), b (n,) or (n,m).

    Floats go to LAPACK's Cholesky routines; symbols through L D L' without pivoting.
    Raises SingularInertiaError naming `what` where a is not positive definite.
    """
    if kind(a, b) is not object:
        return _solve_floats(a, b, what)
    n, one_column = len(a), b.ndim == 1
    a, x = a.astype(object), (b.reshape(n, 1) if one_column else b).astype(object)
    for k in range(n):
        factors = a[k + 1 :, k : k + 1] / a[k : k + 1, k : k + 1]
        a[k + 1 :, k:] = a[k + 1 :, k:] - factors * a[k : k + 1, k:]
        x[k + 1 :] = x[k + 1 :] - factors * x[k : k + 1]
    for k in reversed(range(n)):
        rest = a[k : k + 1, k + 1 :] @ x[k + 1 :] if k < n - 1 else zeros((1, x.shape[1]), x)
        x[k : k + 1] = (x[k : k + 1] - rest) / a[k : k + 1, k : k + 1]
    return x[:, 0] if one_column else x


def _solve_floats(a: Array, b: Array, what: str) -> Array:
    from scipy.linalg import LinAlgError, cho_factor, cho_solve

    # Scaled to a unit diagonal, so that the test below sees units of no one joint.
    diagonal = np.diagonal(a)
    if not np.isfinite(a).all():
        raise SingularInertiaError(f"{what} has an entry that is not finite")
    scale = 1 / np.sqrt(np.where(diagonal > 0, diagonal, 1.0))
    try:
        factor = cho_factor(a * scale * scale[:, None], check_finite=False)
    except LinAlgError:
        raise SingularInertiaError(f"{what} is not positive definite") from None
    if np.diagonal(factor[0]).min() < 1e-7:  # its square is a pivot relative to 1
        raise SingularInertiaError(f"{what} is singular to working precision")
    scaled = (b.T * scale).T
    return (cho_solve(factor, scaled, check_finite=False).T * scale).T  # type: ignore[no-any-return]


# --- rotations, body to inertial --------------------------------------------------------


def axis_angle_rotation(axis: Array, angle: Array) -> Array:
    """R (3,3) of the rotation by angle (1,) [rad] about the unit axis (3,) (Rodrigues)."""
    K, K2 = _basis(axis.tobytes()) if kind(axis) is float else _skew_powers(axis)
    R: Array = _EYE3 + sin(angle) * K + (1 - cos(angle)) * K2
    return R


_EYE3 = np.eye(3)


def _skew_powers(axis: Array) -> tuple[Array, Array]:
    K = skew(axis)
    return K, K @ K


@lru_cache(maxsize=1024)
def _basis(axis: bytes) -> tuple[Array, Array]:
    """skew(axis) and its square, for the axes of joints, which do not change."""
    return _skew_powers(np.frombuffer(axis))


def quaternion_rotation(q: Array) -> Array:
    """R (3,3), body to inertial, of the unit quaternion q (4,), scalar last."""
    return rotation_dcm_of_quaternion(q).T


def rotation_dcm_of_quaternion(q: Array) -> Array:
    """The direction cosine matrix (3,3), inertial to body, of q (4,), scalar last.

    Source: Markley and Crassidis, Fundamentals of Spacecraft Attitude Determination
    and Control (2014), eq. 2.125.
    """
    v, w = q[:3].reshape(3, 1), q[3:].reshape(1, 1)
    dcm: Array = (w * w - v.T @ v) * eye(3) - 2 * w * skew(q[:3]) + 2 * v @ v.T
    return dcm


def quaternion_rate(q: Array, omega: Array, stabilisation: float = 0.0) -> Array:
    """dq/dt (4,) for the body rate omega (3,) [rad/s, body axes].

    stabilisation [1/s] pulls |q| to 1 and vanishes on the unit sphere. Source: Markley
    and Crassidis (2014), eq. 3.20; the pull is Baumgarte's.
    """
    v, w = q[:3], q[3:]
    out = zeros(4, q, omega)
    out[:3] = 0.5 * (w * omega + cross(v, omega))
    out[3:] = -0.5 * (v.reshape(1, 3) @ omega)
    if stabilisation:
        out = out + stabilisation * (1 - q.reshape(1, 4) @ q) * q
    return out


def normalised(q: Array) -> Array:
    """q / |q|."""
    unit: Array = q / sqrt(q.reshape(1, -1) @ q)
    return unit


def unit_quaternion(value: Any, what: str) -> Array:
    """A user's quaternion (4,), scalar last, normalised. Raises InputError if its length differs
    from 1 by more than 1e-3.
    """
    q = array(value, (4,), what)
    norm = np.linalg.norm(q)
    if not abs(norm - 1) < 1e-3:
        raise InputError(f"{what} has length {norm:.6g}, it must be 1 (scalar last: x, y, z, w)")
    return normalised(q)


def quaternion_product(a: Array, b: Array) -> Array:
    """The quaternion (4,), scalar last, of the rotation R(a) R(b)."""
    va, wa, vb, wb = a[:3], a[3:], b[:3], b[3:]
    vector = wa * vb + wb * va + cross(va, vb)
    return np.concatenate([vector, wa * wb - va.reshape(1, 3) @ vb])


def conjugate(q: Array) -> Array:
    """The quaternion (4,), scalar last, of the inverse rotation."""
    return np.concatenate([-q[:3], q[3:]])


_POINT = 1e-200  # [rad^2] avoids a division by zero for a zero rotation, without changing a digit


def quaternion_of_turn(v: Array) -> Array:
    """The unit quaternion (4,), scalar last, of the rotation vector v (3,) [rad]."""
    angle = sqrt(v.reshape(1, 3) @ v + _POINT)
    return np.concatenate([sin(angle / 2) / angle * v, cos(angle / 2)])


def turn_of_quaternion(q: Array) -> Array:
    """The rotation vector (3,) [rad], of at most half a turn, of the unit quaternion q (4,)."""
    q = np.where(q[3:] < 0.0, -q, q)
    sine = sqrt(q[:3].reshape(1, 3) @ q[:3] + _POINT)
    turn: Array = 2.0 * arctan2(sine, q[3:]) / sine * q[:3]
    return turn


def rotation_quaternion(R: Array) -> Array:
    """The unit quaternion (4,), scalar last, of R (3,3), with its scalar part not negative.

    For floats and for a program's symbols, at every R; at half a turn either sign would do.
    Source: as `dcm_quat`, whose largest component is positive instead.
    """
    columns = _quaternion_columns(R.T)
    column, largest = columns[3], columns[3][3:]
    for k in range(3):
        more = columns[k][k : k + 1] > largest
        column = np.where(more, columns[k], column)
        largest = np.where(more, columns[k][k : k + 1], largest)
    q = normalised(column)
    return np.where(q[3:] < 0.0, -q, q)


def rotation_error(R: Array, Rd: Array) -> Array:
    """The shortest rotation (3,) [rad] from R to Rd (3,3), inertial axes. It is 2 sin(angle / 2)
    times the axis: the angle for small rotations, smooth except at half a turn, where it is largest
    and its sign is arbitrary. R.T @ it is the same rotation in body axes. Source: B. Wie, H. Weiss,
    A. Arapostathis, "Quaternion feedback
    regulator for spacecraft eigenaxis rotations", J. Guidance 12 (1989); B. Siciliano et
    al., "Robotics: Modelling, Planning and Control" (2009), eq. 3.91.
    """
    error: Array = 2.0 * rotation_quaternion(Rd @ R.T)[:3]
    return error


# --- SPART's attitude functions: direction cosine matrices map inertial to body ----------


def _turn(axis: int, angle: Array) -> Array:
    """The elementary direction cosine matrix about a body axis."""
    return axis_angle_rotation(np.eye(3)[axis], angle).T


def angles321_dcm(angles: Any) -> Array:
    """DCM (3,3), inertial to body, of the 321 Euler angles [x, y, z] (3,) [rad].

    Source: SPART's manual, Angles321_DCM.
    """
    a = array(angles, (3,), "Angles")
    return _turn(0, a[0:1]) @ _turn(1, a[1:2]) @ _turn(2, a[2:3])


def angles123_dcm(angles: Any) -> Array:
    """DCM (3,3), inertial to body, of the 123 Euler angles [x, y, z] (3,) [rad].

    Source: SPART's manual, Angles123_DCM.
    """
    a = array(angles, (3,), "Angles")
    return _turn(2, a[2:3]) @ _turn(1, a[1:2]) @ _turn(0, a[0:1])


def dcm_angles321(dcm: Any) -> Array:
    """The 321 Euler angles [x, y, z] (3,) [rad] of a DCM (3,3), inertial to body.

    The middle angle lies within [-pi/2, pi/2]; at its ends x and z are not unique.
    """
    C = array(dcm, (3, 3), "DCM")
    out = zeros(3, C)
    out[0:1] = arctan2(C[1, 2:3], C[2, 2:3])
    sine = -C[0, 2:3]
    out[1:2] = arcsin(sine if sine.dtype == object else np.clip(sine, -1.0, 1.0))
    out[2:3] = arctan2(C[0, 1:2], C[0, 0:1])
    return out


def dcm_quat(dcm: Any) -> Array:
    """The quaternion (4,), scalar last, of a DCM (3,3), inertial to body.

    Its largest component is positive, as in SPART. SymPy's symbols, which cannot be
    compared, take the formula for a positive scalar part, singular at half a turn.
    Source: S. Shepperd, "Quaternion from rotation matrix", J. Guidance and Control 1 (1978).
    """
    C = array(dcm, (3, 3), "DCM")
    if C.dtype != object:
        from scipy.spatial.transform import Rotation

        return Rotation.from_matrix(C.T).as_quat()  # type: ignore[no-any-return]
    # Only a subclass, as programs have for symbols, chooses between them.
    C = dcm if isinstance(dcm, np.ndarray) else C
    columns = _quaternion_columns(C)
    if type(C) is np.ndarray:
        column = columns[3]
        return column / (2 * sqrt(column[3:]))  # type: ignore[no-any-return]
    largest, column = columns[0][0], columns[0]
    for k in range(1, 4):
        column = np.where(columns[k][k] > largest, columns[k], column)
        largest = np.maximum(columns[k][k], largest)
    return column / (2 * sqrt(largest.reshape(1)))  # type: ignore[no-any-return]


def _quaternion_columns(C: Array) -> list[Array]:
    """The columns of 4 q q' for the quaternion q of a DCM; each is q up to its length."""
    trace = C[0, 0] + C[1, 1] + C[2, 2]
    x, y, z = C[1, 2] - C[2, 1], C[2, 0] - C[0, 2], C[0, 1] - C[1, 0]
    xy, xz, yz = C[0, 1] + C[1, 0], C[0, 2] + C[2, 0], C[1, 2] + C[2, 1]
    xx, yy, zz = (1 + 2 * C[k, k] - trace for k in range(3))
    rows = [[xx, xy, xz, x], [xy, yy, yz, y], [xz, yz, zz, z], [x, y, z, 1 + trace]]
    return [filled(row, C) for row in rows]


def quat_dcm(q: Any) -> Array:
    """DCM (3,3), inertial to body, of a unit quaternion (4,), scalar last."""
    return rotation_dcm_of_quaternion(array(q, (4,), "q"))


def quat_angles321(q: Any) -> Array:
    """The 321 Euler angles [x, y, z] (3,) [rad] of a unit quaternion (4,), scalar last."""
    return dcm_angles321(quat_dcm(q))


def euler_dcm(e: Any, alpha: Any) -> Array:
    """DCM (3,3), inertial to body, of the rotation by alpha [rad] about the unit axis e (3,)."""
    return axis_angle_rotation(array(e, (3,), "e"), one_scalar(alpha, "alpha")).T


_TO_X = 1e-100  # gives the identity, which turns about no axis, that of x; shows in no digit


def dcm_euler(dcm: Any) -> Array:
    """The rotation of a DCM (3,3), inertial to body: its unit axis, and its angle [rad], as (4,).

    The angle lies within [0, pi]. The identity has the axis x, and at half a turn either sign of
    the axis would do. SymPy's symbols, which cannot be compared, take formulas that are singular
    there. It is computed from the quaternion, which is accurate near both ends, unlike the cosine
    of the angle. Source: SPART's DCM_Euler.
    """
    q = dcm_quat(dcm)
    if type(q) is np.ndarray and q.dtype == object:
        v = q[:3]
    else:
        q = np.where(q[3:] < 0.0, -q, q)
        v = q[:3] + np.array([_TO_X, 0.0, 0.0])
    sine = sqrt(v.reshape(1, 3) @ v)
    return np.concatenate([v / sine, 2 * arctan2(sine, q[3:])])


def quat_product(q1: Any, q2: Any) -> Array:
    """The product (4,) of two quaternions (4,), scalar last: the rotation q2, then q1, both in
    inertial axes, like R(q1) R(q2). Source: SPART's QuaternionProduct.
    """
    return quaternion_product(array(q1, (4,), "q1"), array(q2, (4,), "q2"))


def quat_left_matrix(q: Any) -> Array:
    """The matrix (4,4) that maps p (4,) to the product q p. Source: SPART's
    Matrix_QuatProd_Left."""
    x, y, z, w = array(q, (4,), "q").tolist()
    rows = [w, -z, y, x, z, w, -x, y, -y, x, w, z, -x, -y, -z, w]
    return filled(rows, np.asarray(q)).reshape(4, 4)


def quat_right_matrix(q: Any) -> Array:
    """The matrix (4,4) that maps p (4,) to the product p q. Source: SPART's
    Matrix_QuatProd_Right."""
    x, y, z, w = array(q, (4,), "q").tolist()
    rows = [w, z, -y, x, -z, w, x, y, y, -x, w, z, -x, -y, -z, w]
    return filled(rows, np.asarray(q)).reshape(4, 4)


def skew_matrix(x: Any) -> Array:
    """The matrix (3,3) of the cross product with x (3,). Source: SPART's SkewSym."""
    return skew(array(x, (3,), "x"))


def one_scalar(value: Any, name: str) -> Array:
    """A number, a symbol, or an array of one, as an array (1,)."""
    given = np.asarray(value) if kind_of_scalar(value) is float else _boxed(value)
    return array(np.atleast_1d(given), (1,), name)


def kind_of_scalar(value: Any) -> type:
    """float for numbers and arrays of them, object for a symbolic scalar."""
    return float if isinstance(value, (int, float, np.number, np.ndarray, list)) else object


def _boxed(value: Any) -> Array:
    out = np.empty(1, dtype=object)
    out[0] = value
    return out
