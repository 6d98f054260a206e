"""Assembly: closing the loops of a robot from an approximate configuration.

Newton's iteration with the shortest step, damped where a whole step would open the loops
further. Sources: E. Haug, "Computer Aided Kinematics and Dynamics of Mechanical Systems"
(1989), sec. 4.5; for the damping, J. Nocedal and S. Wright, "Numerical Optimization"
(2006), sec. 10.3.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from spart_blocks.base.errors import Fault, RobotError, did_you_mean
from spart_blocks.base.spatial import Array, array
from spart_blocks.dynamics.axial import paths_of
from spart_blocks.dynamics.kinematics import frame_of_link, kinematics
from spart_blocks.dynamics.loop_rows import Chain, LoopRows, chords_of, dense, loop_rows
from spart_blocks.dynamics.screws import bodies_of
from spart_blocks.robot import Loop, Robot

CLOSED = 1e-12
"""Largest error of a row of closed loops, relative to the robot's size, or in radians."""
MOST_STEPS = 200
NEARBY_STARTS = 6
"""Number of further starts, 0.1 to 0.6 rad and m away, if no step closes the loops further, for
example with all links in a line.
"""
_SENSES = {
    "rigid": (0, 1, 2),
    "prismatic": (0, 1, 2),
    "revolute": (2,),
    "cylindrical": (2,),
    "planar": (2,),
}
"""The axes of both frames that shall point the same way. The rows have them parallel only:
they vanish as well where a frame is half a turn from where it belongs."""


@dataclass(frozen=True)
class Assembly:
    """A configuration qm (nq,) that closes the loops; error [m, rad]: the row that is most
    open; iterations: how many steps it took."""

    qm: Array
    error: float
    iterations: int


def all_rows(robot: Robot) -> tuple[int, ...]:
    """The places of all rows."""
    return tuple(range(sum(len(loop.rows) for loop in robot.loops)))


def rows_at(
    qm: Any, robot: Robot, um: Any = None, wanted: tuple[int, ...] | None = None
) -> LoopRows:
    """The rows at qm (nq,), and their bias at um (nu,) where it is given."""
    qm = array(qm, (robot.nq,), "qm")
    um = None if um is None else array(um, (robot.nu,), "um")
    chain = Chain(robot, paths_of(bodies_of(robot), qm), qm, um)
    return loop_rows(robot, chain, all_rows(robot) if wanted is None else wanted)


def size_of(robot: Robot) -> float:
    """A length [m] for the robot: how far its joints lie apart, on average."""
    robot = robot.nominal
    arms = [np.linalg.norm(joint.T[:3, 3]) for joint in robot.joints]
    arms += [np.linalg.norm(link.T[:3, 3]) for link in robot.links]
    arms += [np.linalg.norm(T[:3, 3]) for loop in robot.loops for T in (loop.Ta, loop.Tb)]
    long = [arm for arm in arms if arm > 0]
    return float(np.mean(long)) if long else 1.0


def row_scales(robot: Robot) -> Array:
    """The scale of each row: the robot's size, or one radian."""
    names = [name.rpartition(".")[2] for loop in robot.loops for name in loop.rows]
    return np.where([name.startswith("r") for name in names], 1.0, size_of(robot))


def assemble(
    robot: Robot,
    qm: Any = None,
    *,
    hold: Iterable[str] = (),
    place: Mapping[str, Any] | None = None,
) -> Assembly:
    """The configuration near qm that closes every loop to 1e-12.

    qm (nq,): the initial guess; by default the robot's home, or joint values by name. hold: the
    joints held at their values in qm, such as the motors of a delta robot in its forward
    kinematics. place: targets of links by name, as their frames' origin (3,) [m] or pose (4,4) [m]
    in the base-link's frame: inverse kinematics. Raises RobotError with the loop that stays open,
    and its error.
    """
    robot, start = with_places(robot, place or {}), configuration(robot, qm)
    hold, rng = tuple(hold), np.random.default_rng(0)
    held = places_in_um(robot, hold)
    free = np.setdiff1d(np.arange(robot.nu), held)
    start, scale = robot.with_unit_quaternions(start), row_scales(robot)
    first = found = _search(robot, start, free, scale)
    for k in range(NEARBY_STARTS):
        if _worst(found.open_by) <= CLOSED and not _reversed(found.q, robot):
            break
        away = np.zeros(robot.nu)
        away[free] = rng.normal(scale=0.1 * (k + 1), size=len(free))
        beside = robot.with_unit_quaternions(robot.integrate(start, away))
        found = _search(robot, beside, free, scale)
    if _worst(found.open_by) > CLOSED:
        raise RobotError(_told(robot, first.open_by * scale, hold))
    if over := _reversed(found.q, robot):
        raise RobotError(_not_closed(robot, over[0], "180 degrees askew", hold))
    return Assembly(found.q, _worst(found.open_by * scale), found.steps)


class _Found(NamedTuple):
    """Where a search ended: by how much each row is open, in its scale."""

    q: Array
    open_by: Array
    steps: int


def _search(robot: Robot, q: Array, free: Array, scale: Array) -> _Found:
    """Newton's iteration from q, in the free rates."""
    rows = rows_at(q, robot)
    open_by, damping, steps = np.array(rows.errors) / scale, 0.0, 0
    while steps < MOST_STEPS and _worst(open_by) > CLOSED / 8:
        J = dense(rows, robot)[:, free] / scale[:, None]
        step = np.zeros(robot.nu)
        step[free] = _damped(J, -open_by, damping)
        ahead = robot.with_unit_quaternions(robot.integrate(q, step))
        rows_ahead = rows_at(ahead, robot)
        next_open = np.array(rows_ahead.errors) / scale
        steps += 1
        if np.linalg.norm(next_open) < (1 - 1e-3) * np.linalg.norm(open_by):
            q, rows, open_by, damping = ahead, rows_ahead, next_open, damping / 10
            damping = 0.0 if damping < 1e-9 else damping
        elif _worst(open_by) <= CLOSED or damping > 1e6:
            break
        else:
            damping = max(10 * damping, 1e-6)
    return _Found(q, open_by, steps)


def _worst(x: Array) -> float:
    return float(np.abs(x).max(initial=0.0))


def _reversed(q: Array, robot: Robot) -> list[str]:
    """The loops that are closed but for half a turn of one frame."""
    chain = Chain(robot, paths_of(bodies_of(robot), q), q)
    return [
        chord.loop.name
        for chord in chords_of(robot)
        for k in _SENSES.get(chord.loop.type, ())
        if np.dot(chain.axis(chord.a, k), chain.axis(chord.b, k)) < 0
    ]


def _damped(J: Array, b: Array, damping: float) -> Array:
    """The shortest x nearest to J x = b, or a shorter one."""
    if not J.size:
        return np.zeros(J.shape[1])
    U, s, Vt = np.linalg.svd(J, full_matrices=False)
    keep = s > 1e-10 * s.max(initial=0.0)
    gain = s[keep] / (s[keep] ** 2 + damping)
    x: Array = Vt[keep].T @ (gain * (U.T[keep] @ b))
    size = np.abs(x).max(initial=0.0)
    return x if size < 1.0 else x / size


def configuration(robot: Robot, qm: Any) -> Array:
    """A user's configuration (nq,): a vector, values by joint name that replace those of the
    robot's home, or None for its home.
    """
    start = robot.neutral if robot.home is None else robot.home
    if qm is None:
        return np.array(start)
    if not isinstance(qm, Mapping):
        return array(qm, (robot.nq,), "qm")
    slices, out = {entry.name: entry.q for entry in robot.layout}, np.array(start)
    for name, value in qm.items():
        if name not in slices:
            raise RobotError(Fault(robot.not_moving(name), hint=did_you_mean(name, slices)))
        out[slices[name]] = value
    return out


def places_in_um(robot: Robot, names: Iterable[str]) -> list[int]:
    """The places in um of joints by name."""
    slices = {entry.name: entry.u for entry in robot.layout}
    found: list[int] = []
    for name in names:
        if name not in slices:
            raise RobotError(Fault(robot.not_moving(name), hint=did_you_mean(name, slices)))
        found += range(slices[name].start, slices[name].stop)
    return found


def with_places(robot: Robot, place: Mapping[str, Any]) -> Robot:
    """The robot with one more loop for each link that has a place, as for `assemble`."""
    loops, ids = list(robot.loops), robot.robot_keys.link_id
    K = kinematics(np.eye(3), np.zeros(3), robot.neutral, robot)
    for name, target in place.items():
        if name not in ids:
            raise RobotError(
                Fault(f"no link {name!r} on {robot.name}", hint=did_you_mean(name, ids))
            )
        target = np.asarray(target, dtype=float)
        if target.shape not in ((3,), (4, 4)):
            raise RobotError(f"the place of {name} is (3,) or (4,4), not {target.shape}")
        T = np.eye(4)
        T[: len(target), 3 if target.ndim == 1 else slice(4)] = target
        link, E = ids[name], np.eye(4)
        if link:
            E[:3, :3], E[:3, 3] = K.RL[link - 1], K.rL[link - 1]
        F = frame_of_link(link, np.eye(3), np.zeros(3), K.RL, K.rL, robot)
        kind: Any = "spherical" if target.ndim == 1 else "rigid"
        loops.append(
            Loop(f"the place of {name}", kind, 0, link, T, np.array(np.linalg.inv(E) @ F, float))
        )
    return replace(robot, loops=tuple(loops)) if place else robot


def _told(robot: Robot, open_by: Array, hold: Iterable[str]) -> Fault:
    """The loop with the largest error, and the error, as text."""
    told, first = [], 0
    for loop in robot.loops:
        errors = open_by[first : first + len(loop.rows)]
        first += len(loop.rows)
        turned = np.array([name.rpartition(".")[2].startswith("r") for name in loop.rows])
        apart, askew = (float(np.linalg.norm(errors[part])) for part in (~turned, turned))
        told.append((apart / size_of(robot) + askew, loop.name, apart, askew))
    _, name, apart, askew = max(told)
    away = [f"{apart:.3g} m apart"] if apart else []
    away += [f"{np.degrees(askew):.3g} degrees askew"] if askew > 1e-9 else []
    return _not_closed(robot, name, " and ".join(away), hold)


def _not_closed(robot: Robot, name: str, away: str, held: Iterable[str]) -> Fault:
    """The message on a loop whose ends stay this far apart."""
    names = ", ".join(held)
    while_held = f" while {names} stay where they are" if names else ""
    return Fault(
        f"{robot.name}: loop {name!r} cannot close{while_held}: its ends stay {away}",
        hint="give a configuration nearer to where it closes, or check the joints' frames",
    )
