"""Mechanisms as free bodies with multipliers: an oracle that shares nothing with the package.

A bodies file is read as plain YAML. Each body has six accelerations, each joint holds some of
the motion between its frames, and one linear system has the accelerations and the forces of
the joints. Nothing is cut, sorted or reduced.

Source: E. J. Haug, "Computer Aided Kinematics and Dynamics of Mechanical Systems" (1989),
ch. 6 and 11.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import yaml
from scipy.spatial.transform import Rotation

AXES = "xyz"


class Placed(NamedTuple):
    """A body's R (3,3), centre of mass r (3,), angular velocity w and velocity v, inertial."""

    R: Any
    r: Any
    w: Any
    v: Any


STILL = Placed(np.eye(3), np.zeros(3), np.zeros(3), np.zeros(3))


@dataclass(frozen=True)
class Body:
    mass: float
    com: Any
    inertia: Any


@dataclass(frozen=True)
class Pin:
    """A joint: Ta, Tb are (R, p), its frames on parent and child. line: its axis as 0, 1 or 2.
    along: the directions of the parent's frame in which its origins cannot part. square: the
    pairs of axes of parent's and child's frame that stay square."""

    name: str
    kind: str
    parent: str
    child: str
    Ta: tuple[Any, Any]
    Tb: tuple[Any, Any]
    line: int
    along: tuple[int, ...]
    square: tuple[tuple[int, int], ...]


@dataclass(frozen=True)
class Mechanism:
    bodies: dict[str, Body]
    pins: dict[str, Pin]
    forces: dict[str, dict[str, Any]]


@dataclass(frozen=True)
class Solved:
    """accelerations: (alpha, a) of each body. force: by which each joint holds its child,
    inertial [N]. load: of the driven joints [N m, N]."""

    accelerations: dict[str, tuple[Any, Any]]
    force: dict[str, Any]
    load: dict[str, float] = field(default_factory=dict)


def read(path: Path) -> Mechanism:
    document = yaml.safe_load(path.read_text())
    bodies = {
        name: Body(float(b["mass"]), np.array(b["com"], float), _inertia(b["inertia"]))
        for name, b in document["bodies"].items()
    }
    pins = {name: _pin(name, joint) for name, joint in document["joints"].items()}
    return Mechanism(bodies, pins, document.get("forces", {}))


def _inertia(data: Any) -> Any:
    if not isinstance(data, dict):
        return np.diag(data)
    rows = [[data.get("i" + "".join(sorted(a + b)), 0.0) for b in AXES] for a in AXES]
    return np.array(rows)


def _frame(data: dict[str, Any] | None) -> tuple[Any, Any]:
    data = data or {}
    R = Rotation.from_euler("xyz", data.get("rpy", [0, 0, 0])).as_matrix()
    return R, np.array(data.get("xyz", [0, 0, 0]), float)


def _pin(name: str, joint: dict[str, Any]) -> Pin:
    kind = joint["type"]
    line = AXES.index(kind[1]) if len(kind) == 2 else 2
    i, j = [axis for axis in range(3) if axis != line]
    every, parallel, turned = (0, 1, 2), ((i, line), (j, line)), ((0, 1), (1, 2), (2, 0))
    along, square = {
        "R": (every, parallel),
        "P": ((i, j), turned),
        "rigid": (every, turned),
        "spherical": (every, ()),
        "universal": (every, ((0, 1),)),
    }[kind if len(kind) > 2 else kind[0]]
    frames = _frame(joint.get("parent_frame")), _frame(joint.get("child_frame"))
    return Pin(name, kind, joint["parent"], joint["child"], *frames, line, along, square)


# --- what a joint holds ----------------------------------------------------------------------


@dataclass(frozen=True)
class Row:
    """One condition: its error, its rate, the rest of its second derivative, and the wrenches
    [n, f] that a unit multiplier puts on parent and child."""

    error: float
    rate: float
    bias: float
    on_parent: Any
    on_child: Any


def _rows(pin: Pin, mechanism: Mechanism, placed: dict[str, Placed]) -> list[Row]:
    a, b = placed.get(pin.parent, STILL), placed.get(pin.child, STILL)
    Ea, Eb = a.R @ pin.Ta[0], b.R @ pin.Tb[0]
    sa, sb = a.R @ _arm(pin.parent, pin.Ta, mechanism), b.R @ _arm(pin.child, pin.Tb, mechanism)
    d = b.r + sb - a.r - sa
    ddot = b.v + np.cross(b.w, sb) - a.v - np.cross(a.w, sa)
    swing = np.cross(b.w, np.cross(b.w, sb)) - np.cross(a.w, np.cross(a.w, sa))
    rows = []
    for k in pin.along:
        e = Ea[:, k]
        edot = np.cross(a.w, e)
        bias = e @ swing + 2 * edot @ ddot + np.cross(a.w, edot) @ d
        on_parent = np.hstack([-np.cross(sa + d, e), -e])
        on_child = np.hstack([np.cross(sb, e), e])
        rows.append(Row(e @ d, edot @ d + e @ ddot, bias, on_parent, on_child))
    for i, j in pin.square:
        x, y = Ea[:, i], Eb[:, j]
        xdot, ydot, turn = np.cross(a.w, x), np.cross(b.w, y), np.cross(x, y)
        bias = np.cross(a.w, xdot) @ y + 2 * xdot @ ydot + x @ np.cross(b.w, ydot)
        none = np.zeros(3)
        on_parent, on_child = np.hstack([turn, none]), np.hstack([-turn, none])
        rows.append(Row(x @ y, xdot @ y + x @ ydot, bias, on_parent, on_child))
    return rows


def _arm(name: str, T: tuple[Any, Any], mechanism: Mechanism) -> Any:
    return T[1] if name == "ground" else T[1] - mechanism.bodies[name].com


def errors(mechanism: Mechanism, placed: dict[str, Placed]) -> tuple[float, float]:
    """The largest error of the joints, and of its rate: what shows that a state is one of
    this mechanism."""
    rows = [row for pin in mechanism.pins.values() for row in _rows(pin, mechanism, placed)]
    return max(abs(row.error) for row in rows), max(abs(row.rate) for row in rows)


# --- forces ------------------------------------------------------------------------------------


def _joint_load(pin: Pin, mechanism: Mechanism, placed: dict[str, Placed]) -> dict[str, Any]:
    """The wrenches of a unit load on the joint's coordinate."""
    a, b = placed.get(pin.parent, STILL), placed.get(pin.child, STILL)
    e = a.R @ pin.Ta[0][:, pin.line]
    if pin.kind[0] == "R":
        return {pin.parent: np.hstack([-e, 0 * e]), pin.child: np.hstack([e, 0 * e])}
    point = b.r + b.R @ _arm(pin.child, pin.Tb, mechanism)
    return {
        pin.parent: np.hstack([-np.cross(point - a.r, e), -e]),
        pin.child: np.hstack([np.cross(point - b.r, e), e]),
    }


def _spring(force: dict[str, Any], mechanism: Mechanism, placed: dict[str, Placed]) -> Any:
    names, arms, points = (force["parent"], force["child"]), [], []
    for name, point in zip(names, ("parent_point", "child_point"), strict=True):
        at = placed.get(name, STILL)
        arms.append(at.R @ _arm(name, (None, np.array(force[point], float)), mechanism))
        points.append(at.r + arms[-1])
    d = points[1] - points[0]
    length = np.linalg.norm(d)
    pull = force["stiffness"] * (length - force["free_length"]) * d / length
    return {
        names[0]: np.hstack([np.cross(arms[0], pull), pull]),
        names[1]: np.hstack([np.cross(arms[1], -pull), -pull]),
    }


def _given(
    mechanism: Mechanism, placed: dict[str, Placed], loads: dict[str, float], gravity: Any
) -> dict[str, Any]:
    """Mass times acceleration that each body would have without joints, as wrenches."""
    wrench = {}
    for name, body in mechanism.bodies.items():
        at = placed[name]
        spin = at.R @ body.inertia @ at.R.T @ at.w
        wrench[name] = np.hstack([-np.cross(at.w, spin), body.mass * np.asarray(gravity)])
    parts = [
        {name: load * w for name, w in _joint_load(mechanism.pins[j], mechanism, placed).items()}
        for j, load in loads.items()
    ]
    for force in mechanism.forces.values():
        if force["type"] == "spring":
            parts.append(_spring(force, mechanism, placed))
        elif force["type"] == "joint":  # a damper of a turning joint
            pin = mechanism.pins[force["joint"]]
            unit = _joint_load(pin, mechanism, placed)
            still = {"ground": STILL} | placed
            rate = sum(w[:3] @ still[name].w for name, w in unit.items())
            parts.append({name: -force["damping"] * rate * w for name, w in unit.items()})
    for part in parts:
        for name, w in part.items():
            if name in wrench:
                wrench[name] = wrench[name] + w
    return wrench


def ground_wrench(
    mechanism: Mechanism,
    placed: dict[str, Placed],
    motion: dict[str, tuple[Any, Any]],
    gravity: Any = (0, 0, -9.81),
) -> Any:
    """What the ground gives [n, f] (6,) about the origin, from the rate of the momentum."""
    total = np.zeros(6)
    for name, body in mechanism.bodies.items():
        at, (alpha, a) = placed[name], motion[name]
        I = at.R @ body.inertia @ at.R.T
        f = body.mass * (a - np.asarray(gravity))
        n = np.cross(at.r, f) + I @ alpha + np.cross(at.w, I @ at.w)
        total += np.hstack([n, f])
    return total


# --- equations of motion -------------------------------------------------------------------------


def _columns(mechanism: Mechanism, placed: dict[str, Placed]) -> tuple[Any, Any, list[str]]:
    """The wrenches (6 bodies, rows) of unit multipliers, the biases, and each row's joint."""
    place = {name: 6 * k for k, name in enumerate(mechanism.bodies)}
    found = [(pin, row) for pin in mechanism.pins.values() for row in _rows(pin, mechanism, placed)]
    J = np.zeros((6 * len(place), len(found)))
    for k, (pin, row) in enumerate(found):
        for name, w in ((pin.parent, row.on_parent), (pin.child, row.on_child)):
            if name in place:
                J[place[name] : place[name] + 6, k] += w
    return J, np.array([row.bias for _, row in found]), [pin.name for pin, _ in found]


def _inertias(mechanism: Mechanism, placed: dict[str, Placed]) -> Any:
    M = np.zeros((6 * len(mechanism.bodies),) * 2)
    for k, (name, body) in enumerate(mechanism.bodies.items()):
        R, at = placed[name].R, 6 * k
        M[at : at + 3, at : at + 3] = R @ body.inertia @ R.T
        M[at + 3 : at + 6, at + 3 : at + 6] = body.mass * np.eye(3)
    return M


def _forces(mechanism: Mechanism, J: Any, rows: list[str], lam: Any) -> dict[str, Any]:
    place = {name: 6 * k for k, name in enumerate(mechanism.bodies)}
    force = {}
    for name, pin in mechanism.pins.items():
        mine = np.array([row == name for row in rows])
        at = place[pin.child]
        force[name] = J[at + 3 : at + 6, mine] @ lam[mine]
    return force


def accelerations(
    mechanism: Mechanism,
    placed: dict[str, Placed],
    loads: dict[str, float],
    gravity: Any = (0, 0, -9.81),
    prescribed: dict[str, float] | None = None,
) -> Solved:
    """Accelerations and joint forces under loads on joints [N m, N]; the accelerations of
    prescribed turning joints on the ground are given, and their loads are found."""
    J, bias, rows = _columns(mechanism, placed)
    M, c = (
        _inertias(mechanism, placed),
        np.hstack(list(_given(mechanism, placed, loads, gravity).values())),
    )
    drives = prescribed or {}
    D = _drive_columns(mechanism, placed, tuple(drives))
    held = np.hstack([J, D])
    target = np.hstack([-bias, list(drives.values())])
    none = np.zeros((held.shape[1],) * 2)
    system = np.block([[M, -held], [held.T, none]])
    # Planar loops in space have more conditions than they need: the least multipliers.
    solution = np.linalg.lstsq(system, np.hstack([c, target]), rcond=1e-13)[0]
    x, lam = solution[: len(M)], solution[len(M) :]
    found = {
        name: (x[6 * k : 6 * k + 3], x[6 * k + 3 : 6 * k + 6])
        for k, name in enumerate(mechanism.bodies)
    }
    load = dict(zip(drives, lam[len(rows) :].tolist(), strict=True))
    return Solved(found, _forces(mechanism, J, rows, lam[: len(rows)]), load)


def _drive_columns(mechanism: Mechanism, placed: dict[str, Placed], joints: tuple[str, ...]) -> Any:
    D = np.zeros((6 * len(mechanism.bodies), len(joints)))
    place = {name: 6 * k for k, name in enumerate(mechanism.bodies)}
    for k, joint in enumerate(joints):
        for name, w in _joint_load(mechanism.pins[joint], mechanism, placed).items():
            if name in place:
                D[place[name] : place[name] + 6, k] = w
    return D


def loads_for(
    mechanism: Mechanism,
    placed: dict[str, Placed],
    motion: dict[str, tuple[Any, Any]],
    joints: tuple[str, ...],
    gravity: Any = (0, 0, -9.81),
) -> Solved:
    """The loads on these joints under which the bodies have these accelerations."""
    J, _, rows = _columns(mechanism, placed)
    D = _drive_columns(mechanism, placed, joints)
    x = np.hstack([np.hstack(motion[name]) for name in mechanism.bodies])
    c = np.hstack(list(_given(mechanism, placed, {}, gravity).values()))
    rest = _inertias(mechanism, placed) @ x - c
    lam, *_ = np.linalg.lstsq(np.hstack([J, D]), rest, rcond=1e-13)
    assert np.abs(np.hstack([J, D]) @ lam - rest).max() < 1e-9 * np.abs(rest).max()
    load = dict(zip(joints, lam[len(rows) :].tolist(), strict=True))
    return Solved(motion, _forces(mechanism, J, rows, lam[: len(rows)]), load)
