"""Resolved motion: joint rates that move an end-effector while the base floats.

Without external forces a floating robot conserves its momentum, so the joint rates determine those
of the base. With M the momentum conjugate to u0 (see `base_momentum`):

    (1)  H0 u0 + H0m um = M                           the base's rates
    (2)  J0 u0 + Jm um = J* um + J0 H0^-1 M           the end-effector's twist
         J* = Jm - J0 H0^-1 H0m                       generalized Jacobian
    (3)  2 T = um' H* um + M' H0^-1 M                 the kinetic energy
         H* = Hm - H0m' H0^-1 H0m

All matrices are SPART's: H of the GIM, J of the Jacobian. Directions about which nothing
has inertia, as in a planar robot of point masses, stay at rest; where a robot has some, it
is exactly so if R0 is the identity, that is with everything in base axes.

Sources: Y. Umetani and K. Yoshida, "Resolved motion rate control of space manipulators
with generalized Jacobian matrix", IEEE Trans. Robotics and Automation 5 (1989); D.
Nenchev, Y. Umetani, K. Yoshida, "Analysis of a redundant free-flying spacecraft
manipulator system", ibid. 8 (1992); SPART's manual.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from spart_blocks.base.errors import InputError, SingularInertiaError
from spart_blocks.base.spatial import Array, array, cross, filled, kind
from spart_blocks.dynamics.semidefinite import (
    least_squares,
    solve_semidefinite,
    weighted_least_squares,
)

_ALL = (0, 1, 2, 3, 4, 5)


class MotionEquations(NamedTuple):
    """A (m,nu) and b (m,): the equations A um = b for the joint rates."""

    A: Array
    b: Array


def base_momentum(p: Any, h: Any, R0: Any, r0: Any) -> Array:
    """M (6,) [N m s, kg m/s]: the momentum conjugate to u0.

    Angular in base axes about the base's centre of mass, linear inertial. p (3,) [kg m/s],
    h (3,) [N m s]: about the inertial origin, which a free robot keeps; M's angular part
    changes with the base. Source: M = [R0' (h - r0 x p), p].
    """
    p, h, R0 = array(p, (3,), "p"), array(h, (3,), "h"), array(R0, (3, 3), "R0")
    return np.concatenate([R0.T @ (h - cross(array(r0, (3,), "r0"), p)), p])


def base_rates_from_momentum(H0: Any, H0m: Any, M: Any, um: Any) -> Array:
    """u0 (6,) [rad/s in base axes, m/s inertial] by (1).

    H0 (6,6), H0m (6,nu): of the GIM. M (6,): of `base_momentum`. um (nu,) [rad/s, m/s].
    Raises SingularInertiaError where the robot has no mass.
    """
    H0, H0m = _coupling(H0, H0m)
    um = array(um, H0m.shape[1:], "um")
    return _over_base_inertia(H0, array(M, (6,), "M") - H0m @ um)


def generalized_jacobian(J0: Any, Jm: Any, H0: Any, H0m: Any) -> Array:
    """J* (6,nu) of (2): the end-effector's twist for joint rates, when M is zero.

    J0 (6,6), Jm (6,nu): the end-effector's Jacobian. H0 (6,6), H0m (6,nu): of the GIM.
    """
    H0, H0m = _coupling(H0, H0m)
    J0, Jm = array(J0, (6, 6), "J0"), array(Jm, H0m.shape, "Jm")
    return Jm - J0 @ _over_base_inertia(H0, H0m)  # type: ignore[no-any-return]


def drift_twist(J0: Any, H0: Any, M: Any) -> Array:
    """J0 H0^-1 M (6,) of (2) [rad/s, m/s]: the end-effector's twist with the joints at rest."""
    H0 = array(H0, (6, 6), "H0")
    rest = _over_base_inertia(H0, array(M, (6,), "M"))
    return array(J0, (6, 6), "J0") @ rest


def floating_inertia(H0: Any, H0m: Any, Hm: Any) -> Array:
    """H* (nu,nu) of (3): the inertia at the joints of a floating robot."""
    H0, H0m = _coupling(H0, H0m)
    Hm = array(Hm, (H0m.shape[1],) * 2, "Hm")
    return Hm - H0m.T @ _over_base_inertia(H0, H0m)  # type: ignore[no-any-return]


def resolved_rate(J: Any, td: Any, damping: Any = 0.0, um_null: Any = None) -> Array:
    """Minimum-norm joint rates um (nu,) that give a point the twist td (m,).

    J (m,nu): J* of a floating robot, Jm of a fixed one, or some of their rows. damping: lambda of
    damped least squares, which bounds the rates near a singularity, with an error of the twist.
    um_null (nu,): secondary rates, whose null-space part is added: um = J+ td + (1 - J+ J) um_null.

    Sources: A. Liegeois, "Automatic supervisory control of the configuration and behavior
    of multibody mechanisms", IEEE Trans. SMC 7 (1977); B. Siciliano et al., "Robotics"
    (2009), sec. 3.5.
    """
    J = np.asarray(J)
    td = array(td, J.shape[:1], "td")
    if um_null is None:
        return least_squares(J, td, damping)
    um_null = array(um_null, J.shape[1:], "um_null")
    return um_null + least_squares(J, td - J @ um_null, damping)  # type: ignore[no-any-return]


def resolved_rate_min_energy(J: Any, td: Any, W: Any) -> Array:
    """Joint rates um (nu,) that give a point the twist td (m,) at least kinetic energy.

    J (m,nu) as for `resolved_rate`. W (nu,nu): H* of a floating robot, by (3), Hm of a
    fixed one. um = W^-1 J' (J W^-1 J')^-1 td.
    Source: D. Whitney, "Resolved motion rate control of manipulators and human
    prostheses", IEEE Trans. Man-Machine Systems 10 (1969), with (3) for the weight.
    """
    J = np.asarray(J)
    W = array(W, (J.shape[1],) * 2, "W")
    return weighted_least_squares(J, array(td, J.shape[:1], "td"), W)


def reaction_equations(
    J0: Any, Jm: Any, H0: Any, H0m: Any, M: Any, td: Any, u0d: Any
) -> MotionEquations:
    """What joint rates must meet for a twist and a base motion at once: A (12,nu), b (12,).

        J* um             = td - J0 H0^-1 M     the end-effector, six rows
        - H0^-1 H0m um    = u0d - H0^-1 M       the base's rates by (1), six rows

    td (6,): the end-effector's twist; u0d (6,): the base's rates; the rest as above.
    """
    H0, H0m = _coupling(H0, H0m)
    J0, M = array(J0, (6, 6), "J0"), array(M, (6,), "M")
    follows, rest = -_over_base_inertia(H0, H0m), _over_base_inertia(H0, M)
    A = np.concatenate([array(Jm, H0m.shape, "Jm") + J0 @ follows, follows])
    b = np.concatenate([array(td, (6,), "td") - J0 @ rest, array(u0d, (6,), "u0d") - rest])
    return MotionEquations(A, b)


def desired_reaction(
    J0: Any,
    Jm: Any,
    H0: Any,
    H0m: Any,
    M: Any,
    td: Any,
    u0d: Any,
    rows: Sequence[int] = _ALL,
    base_rows: Sequence[int] = (0, 1, 2),
    damping: Any = 0.0,
) -> Array:
    """Joint rates um (nu,) that meet a twist td (6,) and a base motion u0d (6,) at once.

    rows, base_rows: which entries of td and u0d count, all of td and the base's angular
    rate by default. Where the joints are too few for the equations, those rates are taken
    that miss them by the least sum of squares; where there are more, the shortest.
    """
    A, b = reaction_equations(J0, Jm, H0, H0m, M, td, u0d)
    chosen = [*rows, *(6 + k for k in base_rows)]
    if any(k not in _ALL for k in (*rows, *base_rows)) or len(set(chosen)) < len(chosen):
        raise InputError("rows and base_rows take each of 0 to 5 once at most")
    return least_squares(A[chosen], b[chosen], damping)


def _coupling(H0: Any, H0m: Any) -> tuple[Array, Array]:
    H0, H0m = array(H0, (6, 6), "H0"), np.asarray(H0m)
    return H0, array(H0m, (6, H0m.shape[-1] if H0m.ndim else 0), "H0m")


def _over_base_inertia(H0: Array, b: Array) -> Array:
    """H0^-1 b for b (6,) or (6,m): the linear part is m v = b - B' w, and the angular part
    meets the inertia about the centre of mass of the whole, I - B B' / m."""
    I, B, m = H0[:3, :3], H0[:3, 3:], H0[5:6, 5]
    if kind(m) is not object and not m[0] > 0:
        raise SingularInertiaError("the robot has no mass")
    about_center = I - B @ B.T / m
    size = filled([I[0, 0] + I[1, 1] + I[2, 2]], H0)
    omega = solve_semidefinite(about_center, b[:3] - B @ b[3:] / m, size)
    return np.concatenate([omega, (b[3:] - B.T @ omega) / m])
