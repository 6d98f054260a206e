"""Closed forms of planar linkages, of a pendulum on a string that is pulled, and of a Stewart
platform's legs: oracles that share nothing with the package."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from free_bodies import Mechanism, Placed
from scipy.integrate import solve_ivp
from scipy.spatial.transform import Rotation

G = 9.81


# --- a linkage in the x-y plane, placed as bodies ---------------------------------------------


def in_plane(mechanism: Mechanism, pinned: dict[str, tuple[Any, Any, float, float]]) -> Any:
    """Bodies in the x-y plane from each one's frame: origin, its velocity, angle, rate."""
    placed = {}
    for name, (origin, velocity, angle, rate) in pinned.items():
        R = Rotation.from_euler("z", angle).as_matrix()
        arm, w = R @ mechanism.bodies[name].com, np.array([0, 0, rate])
        r, v = np.append(origin, 0.0) + arm, np.append(velocity, 0.0) + np.cross(w, arm)
        placed[name] = Placed(R, r, w, v)
    return placed


# --- slider-crank -----------------------------------------------------------------------------


class Stroke(NamedTuple):
    """Position of the piston x [m], its rates, and the torque on the crank [N m]."""

    x: float
    xdot: float
    xddot: float
    torque: float


def slider_crank(mechanism: Mechanism, angle: Any, rate: Any, acceleration: Any, gas: Any) -> Any:
    """Piston and crank torque of models/slider_crank.yaml, by the principle of virtual work.

    Every centre of mass is a function of the crank's angle t: its acceleration is
    c' t'' + c'' t'^2, and the torque sum m a c' + I phi'' phi' - F c' with primes by t.
    """
    r, l = mechanism.pins["big_end"].Ta[1][0], mechanism.pins["wrist"].Ta[1][0]
    sin, cos = np.sin(angle), np.cos(angle)
    # The rod's angle: sin(phi) = -(r/l) sin(t), differentiated twice.
    sphi = -r / l * sin
    cphi = np.sqrt(1 - sphi**2)
    phi1 = -r / l * cos / cphi
    phi2 = (r / l * sin + sphi * phi1**2) / cphi
    crank, crank1, crank2 = (np.exp(1j * angle) * f for f in (1, 1j, -1))
    rod = cphi + 1j * sphi
    rod1, rod2 = 1j * phi1 * rod, (1j * phi2 - phi1**2) * rod
    x1, x2 = (r * crank1 + l * rod1).real, (r * crank2 + l * rod2).real
    c = {name: complex(*body.com[:2]) for name, body in mechanism.bodies.items()}
    moves = {  # c' and c'' of the centres of mass, phi' and phi''
        "crank": (c["crank"] * crank1, c["crank"] * crank2, 1.0, 0.0),
        "rod": (r * crank1 + c["rod"] * rod1, r * crank2 + c["rod"] * rod2, phi1, phi2),
        "piston": (x1, x2, 0.0, 0.0),
    }
    torque = -gas * x1
    for name, (c1, c2, turn1, turn2) in moves.items():
        body = mechanism.bodies[name]
        inertial = c1 * acceleration + c2 * rate**2 + 1j * G
        torque = torque + body.mass * (inertial * np.conj(c1)).real
        turn = turn1 * acceleration + turn2 * rate**2
        torque = torque + body.inertia[2, 2] * turn * turn1
    x = (r * crank + l * rod).real
    return Stroke(x, x1 * rate, x1 * acceleration + x2 * rate**2, torque)


# --- five-bar ---------------------------------------------------------------------------------


@dataclass(frozen=True)
class FiveBar:
    """The five-bar of models/five_bar.yaml in the angles of its two motors.

    The x-z plane is x + i z, and a turn by a positive angle about y is exp(-i angle). The
    four angles from the horizontal are left and right arm, left and right forearm.
    """

    mechanism: Mechanism

    ORDER = ("left_arm", "right_arm", "left_forearm", "right_forearm")

    def _lengths(self) -> tuple[complex, complex, float, float]:
        pins = self.mechanism.pins
        A, B = (complex(*pins[name].Ta[1][[0, 2]]) for name in ("left", "right"))
        return A, B, pins["left_elbow"].Ta[1][0], pins["tool"].Ta[1][0]

    def angles(self, motors: Any) -> Any:
        """All four angles, the tool hanging below the elbows."""
        A, B, arm, forearm = self._lengths()
        P, Q = (at + arm * np.exp(-1j * q) for at, q in zip((A, B), motors, strict=True))
        half = (Q - P) / 2
        tool = (P + Q) / 2 - 1j * half / abs(half) * np.sqrt(forearm**2 - abs(half) ** 2)
        return np.array([*motors, -np.angle(tool - P), -np.angle(tool - Q)])

    def tool(self, motors: Any) -> Any:
        """Where the forearms meet: x and z [m]."""
        A, _, arm, forearm = self._lengths()
        phi = self.angles(motors)
        at = A + arm * np.exp(-1j * phi[0]) + forearm * np.exp(-1j * phi[2])
        return np.array([at.real, at.imag])

    def _ratios(self, phi: Any) -> Any:
        """K (4, 2): the rates of the four angles for unit rates of the motors."""
        _, _, arm, forearm = self._lengths()
        G = np.array([arm, -arm, forearm, -forearm]) * -1j * np.exp(-1j * phi)
        G = np.array([G.real, G.imag])
        return np.vstack([np.eye(2), np.linalg.solve(G[:, 2:], -G[:, :2])])

    def _ratio_rates(self, phi: Any, K: Any, rates: Any) -> Any:
        """K's rate: G K = 0 gives G dK = -dG K."""
        _, _, arm, forearm = self._lengths()
        lengths = np.array([arm, -arm, forearm, -forearm])
        G, dG = lengths * -1j * np.exp(-1j * phi), lengths * -np.exp(-1j * phi) * rates
        G, dG = np.array([G.real, G.imag]), np.array([dG.real, dG.imag])
        return np.vstack([np.zeros((2, 2)), np.linalg.solve(G[:, 2:], -dG @ K)])

    def accelerations(self, motors: Any, rates: Any, torque: Any) -> Any:
        """Of the motors [rad/s^2]: K' (M (K q'' + K. q') + h) = torque."""
        _, _, arm, _ = self._lengths()
        phi = self.angles(motors)
        K = self._ratios(phi)
        rate = K @ rates
        M, h = np.zeros((4, 4)), np.zeros(4)
        for k, name in enumerate(self.ORDER):
            body = self.mechanism.bodies[name]
            reach = np.zeros(4, complex)  # the centre of mass is their sum, turned
            reach[k] = complex(*body.com[[0, 2]])
            if k >= 2:
                reach[k - 2] = arm
            c1 = -1j * reach * np.exp(-1j * phi)
            c2 = -reach * np.exp(-1j * phi)
            M += body.mass * np.outer(c1, np.conj(c1)).real
            M[k, k] += body.inertia[1, 1]
            h += body.mass * ((c2 @ rate**2 + 1j * G) * np.conj(c1)).real
        bias = K.T @ (M @ self._ratio_rates(phi, K, rate) @ rates + h)
        return np.linalg.solve(K.T @ M @ K, torque - bias)

    def run(self, motors: Any, torque: Any, t: Any) -> Any:
        """Motor angles and rates (t, 4) from rest under torque(t)."""

        def f(time: float, x: Any) -> Any:
            return np.hstack([x[2:], self.accelerations(x[:2], x[2:], torque(time))])

        start = np.hstack([motors, 0, 0])
        done = solve_ivp(f, (0, t[-1]), start, "DOP853", t, rtol=1e-12, atol=1e-13)
        return done.y.T


# --- a pendulum on a string that is pulled ------------------------------------------------------


def string_pendulum(t: Any, angle: float, length: Any) -> tuple[Any, Any]:
    """Angle from the vertical and its rate (t, 2) from rest, where length(t) gives l, l', l'':
    theta'' + 2 l'/l theta' + G/l sin(theta) = 0."""

    def f(time: float, x: Any) -> Any:
        l, ldot, _ = length(time)
        return [x[1], -2 * ldot / l * x[1] - G / l * np.sin(x[0])]

    done = solve_ivp(f, (0, t[-1]), [angle, 0], "DOP853", t, rtol=1e-12, atol=1e-13)
    return done.y[0], done.y[1]


def string_tension(mass: float, angle: Any, rate: Any, length: Any) -> Any:
    """m (l theta'^2 + G cos(theta) - l'') [N] at (l, l', l'')."""
    l, _, lddot = length
    return mass * (l * rate**2 + G * np.cos(angle) - lddot)


# --- Stewart platform ---------------------------------------------------------------------------


class Leg(NamedTuple):
    """Angles of the foot, length, and their first and second rates, three each."""

    q: Any
    qdot: Any
    qddot: Any


def _leg(d: Any, v: Any, a: Any) -> Leg:
    """The leg from foot to platform d [m], with its rates: e = (sin b, -sin a cos b,
    cos a cos b) for the foot's turns a about x, then b about y."""
    L = np.linalg.norm(d)
    e = d / L
    Ldot = e @ v
    edot = (v - e * Ldot) / L
    Lddot = e @ a + v @ edot
    eddot = (a - e * Lddot - 2 * edot * Ldot) / L
    flat = e[1] ** 2 + e[2] ** 2
    alpha, beta = np.arctan2(-e[1], e[2]), np.arcsin(e[0])
    beta1 = edot[0] / np.cos(beta)
    beta2 = (eddot[0] + e[0] * beta1**2) / np.cos(beta)
    alpha1 = (e[1] * edot[2] - e[2] * edot[1]) / flat
    turning = e[1] * edot[1] + e[2] * edot[2]
    alpha2 = (e[1] * eddot[2] - e[2] * eddot[1] - 2 * alpha1 * turning) / flat
    return Leg(*map(np.array, ([alpha, beta, L], [alpha1, beta1, Ldot], [alpha2, beta2, Lddot])))


def stewart(mechanism: Mechanism, pose: tuple[Any, Any], twist: Any, rate: Any) -> Any:
    """Bodies, their accelerations and the legs of models/stewart_platform.yaml.

    pose: r (3,) [m] and R of the platform's frame; twist, rate: its (w, v) and their rates.
    """
    (r, R), (w, v), (dw, dv) = pose, twist, rate
    placed, motion, legs = {}, {}, []
    for k in range(1, 7):
        foot, ball = mechanism.pins[f"foot_{k}"].Ta[1], R @ mechanism.pins[f"ball_{k}"].Tb[1]
        swing = np.cross(w, np.cross(w, ball))
        leg = _leg(r + ball - foot, v + np.cross(w, ball), dv + np.cross(dw, ball) + swing)
        legs.append(leg)
        turn = Rotation.from_euler("XY", leg.q[:2]).as_matrix()
        x, y, e = np.eye(3)[0], turn[:, 1], turn[:, 2]
        wl = leg.qdot[0] * x + leg.qdot[1] * y
        dwl = leg.qddot[0] * x + leg.qddot[1] * y + leg.qdot[0] * leg.qdot[1] * np.cross(x, y)
        for name, slide in ((f"cylinder_{k}", np.zeros(3)), (f"piston_{k}", np.eye(3)[2])):
            out, outdot, outddot = (slide[2] * s for s in (leg.q[2], leg.qdot[2], leg.qddot[2]))
            arm = turn @ mechanism.bodies[name].com + out * e
            velocity = np.cross(wl, arm) + outdot * e
            swing = np.cross(wl, np.cross(wl, arm)) + 2 * outdot * np.cross(wl, e)
            placed[name] = Placed(turn, foot + arm, wl, velocity)
            motion[name] = (dwl, np.cross(dwl, arm) + swing + outddot * e)
    arm = R @ mechanism.bodies["platform"].com
    placed["platform"] = Placed(R, r + arm, w, v + np.cross(w, arm))
    motion["platform"] = (dw, dv + np.cross(dw, arm) + np.cross(w, np.cross(w, arm)))
    return placed, motion, legs
