"""Forces of the springs, dampers and ports of a robot: `robot.forces`.

    (k (1 - l / d) + c d' / d) r    a point spring's pull on point a: r leads from a to b,
                                    d is its length, l the free length
    -k (q - rest) - c u             a joint spring; at a spherical joint q - rest is the
                                    rotation vector of its quaternion, in the axes of u

All but the forces of ports at one point act between links: with the axes of the base-link
they depend on qm and um alone, however the base moves, and so they are found there. Between
two points that coincide there is no direction: a force along their line is zero there, as
is the part of a spring that comes of its free length and its damping.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from spart_blocks.base.errors import Fault, InputError, did_you_mean
from spart_blocks.base.spatial import Array, array, cross, sqrt, turn_of_quaternion, zeros
from spart_blocks.dynamics.kinematics import kinematics
from spart_blocks.robot import (
    JointPort,
    JointSlice,
    JointSpring,
    JointType,
    PointPort,
    PointSpring,
    Robot,
)
from spart_blocks.robot.force_checks import check_forces

_POINT = 1e-200
"""[m^2] Keeps a distance of zero from being divided by, and shows in no digit."""


class Applied(NamedTuple):
    """taum (nu,) [N m, N], and wF0 (6,), wFm (n,6) [N m, N] at the centres of mass,
    inertial: what the forces of a robot add to those of the same name."""

    taum: Array
    wF0: Array
    wFm: Array


def port_widths(robot: Robot) -> dict[str, int]:
    """The ports of the robot's forces, in the order of first use, and how many numbers each
    takes: those of the forces that name it, one after the other. Raises RobotError for a
    force that cannot act."""
    return dict(_plan(robot).widths)


def applied_forces(
    R0: Any, r0: Any, u0: Any, qm: Any, um: Any, robot: Robot, ports: Mapping[str, Any]
) -> Applied:
    """The forces of springs, dampers and ports on the robot. R0 (3,3), r0 (3,) [m], u0 (6,): pose
    and rates of the base-link, of which only R0 is used. qm (nq,) [rad, m], um (nu,) [rad/s, m/s].
    ports: the numbers [N m, N] of each of
    `port_widths`. Raises InputError for a port that is missing, unknown or of another
    width, RobotError for a force that cannot act.
    """
    plan, n = _plan(robot), robot.n_links_joints
    given = _given(ports, plan, robot)
    if not robot.forces:
        return Applied(np.zeros(robot.nu), np.zeros(6), np.zeros((n, 6)))
    R0 = array(R0, (3, 3), "R0")
    qm, um = array(qm, (robot.nq,), "qm"), array(um, (robot.nu,), "um")
    wrenches = zeros((n + 1, 6), R0, qm, um, *given.values())
    if plan.place:
        frames = _frames(plan, qm)
        for link, (moment, force) in _between_points(plan, frames, um, given).items():
            wrenches[link, :3], wrenches[link, 3:] = R0 @ moment, R0 @ force
        for thrust, part in plan.thrusts:
            at, force = frames[plan.place[thrust.a]], given[thrust.port][part]
            force = R0 @ (at.R @ force) if thrust.local else force
            moment = cross(R0 @ (at.R @ thrust.pa), force)
            w = wrenches[thrust.a]
            w[:3], w[3:] = w[:3] + moment, w[3:] + force
    return Applied(_joint_forces(plan, qm, um, given), wrenches[0], wrenches[1:])


def spring_energy(qm: Any, robot: Robot) -> Array:
    """Elastic energy (1,) [J] of all springs, between points and at joints, at qm (nq,)."""
    qm, plan = array(qm, (robot.nq,), "qm"), _plan(robot)
    energy = zeros(1, qm)
    for spring, entry in plan.bushings:
        x = _deflection(spring, entry, qm)
        energy = energy + 0.5 * spring.stiffness * (x.reshape(1, -1) @ x)
    frames = _frames(plan, qm) if plan.springs else []
    for stretched in plan.springs:
        length = sqrt(_line(stretched, plan, frames).square)
        energy = energy + 0.5 * stretched.stiffness * (length - stretched.free_length) ** 2
    return energy


def dissipation(qm: Any, um: Any, robot: Robot) -> Array:
    """Power (1,) [W] dissipated by the dampers, between points and at joints, at qm (nq,) and
    um (nu,); never negative."""
    qm, um = array(qm, (robot.nq,), "qm"), array(um, (robot.nu,), "um")
    plan, power = _plan(robot), zeros(1, qm, um)
    for spring, entry in plan.bushings:
        rates = um[entry.u]
        power = power + spring.damping * (rates.reshape(1, -1) @ rates)
    frames = _frames(plan, qm) if plan.damped else []
    twists = _twists(plan, frames, um)
    for damper in plan.springs if plan.damped else ():
        line = _line(damper, plan, frames)
        power = power + damper.damping * _stretching(damper, plan, line, twists) ** 2 / line.square
    return power


# --- what is prepared once ----------------------------------------------------------------


class _Plan(NamedTuple):
    """The forces by kind, and the part of the tree that leads to their points.

    tree: the links that carry forces at points and those between them and the base. q, u:
    places of its variables in qm and um. place: the ids in it of the links that have points.
    damped: whether a damper acts between points. widths: of the ports. A force with a joint
    has the joint's entry of the layout, one with a port its own part of the port's numbers.
    """

    tree: Robot
    q: list[int]
    u: list[int]
    place: dict[int, int]
    damped: bool
    widths: dict[str, int]
    springs: tuple[PointSpring, ...]
    bushings: tuple[tuple[JointSpring, JointSlice], ...]
    motors: tuple[tuple[JointPort, slice, JointSlice], ...]
    thrusts: tuple[tuple[PointPort, slice], ...]
    pistons: tuple[tuple[PointPort, slice], ...]


@lru_cache(maxsize=32)
def _plan(robot: Robot) -> _Plan:
    check_forces(robot)
    entries = {entry.name: entry for entry in robot.layout}
    springs = tuple(force for force in robot.forces if isinstance(force, PointSpring))
    bushings = [(f, entries[f.joint]) for f in robot.forces if isinstance(f, JointSpring)]
    motors: list[tuple[JointPort, slice, JointSlice]] = []
    at_one: list[tuple[PointPort, slice]] = []
    at_two: list[tuple[PointPort, slice]] = []
    widths: dict[str, int] = {}
    for force in robot.forces:
        if not isinstance(force, (JointPort, PointPort)):
            continue
        start = widths.get(force.port, 0)
        widths[force.port] = start + _width(force)
        part = slice(start, widths[force.port])
        if isinstance(force, JointPort):
            motors.append((force, part, entries[force.joint]))
        else:
            (at_one if force.b is None else at_two).append((force, part))
    held = [force for force in robot.forces if isinstance(force, (PointSpring, PointPort))]
    links = {link for force in held for link in (force.a, force.b) if link is not None}
    return _Plan(
        *_part_of_tree(robot, links),
        any(spring.damping for spring in springs),
        widths,
        springs,
        tuple(bushings),
        tuple(motors),
        tuple(at_one),
        tuple(at_two),
    )


def _width(force: JointPort | PointPort) -> int:
    return 3 if isinstance(force, PointPort) and force.b is None else 1


def _part_of_tree(
    robot: Robot, links: set[int]
) -> tuple[Robot, list[int], list[int], dict[int, int]]:
    """The tree of these links and all between them and the base, the places in qm and um of
    its variables, and the ids of the links in it."""
    kept = set(links)
    for i in range(robot.n_links_joints, 0, -1):  # children have the higher ids
        if i in kept:
            kept.add(robot.parents[i - 1])
    ids = {0: 0} | {link: new for new, link in enumerate(sorted(kept - {0}), start=1)}
    entries = [entry for entry in robot.layout if entry.joint_id in kept]
    q = [k for entry in entries for k in range(entry.q.start, entry.q.stop)]
    u = [k for entry in entries for k in range(entry.u.start, entry.u.stop)]
    q_ids = {k + 1: new for new, k in enumerate(u, start=1)}
    tree = Robot(
        robot.name,
        tuple(
            replace(link, id=ids[link.id], parent_joint=ids[link.id])
            for link in robot.links
            if link.id in kept
        ),
        tuple(
            replace(
                joint,
                id=ids[joint.id],
                q_id=q_ids.get(joint.q_id, -1),
                parent_link=ids[joint.parent_link],
                child_link=ids[joint.id],
            )
            for joint in robot.joints
            if joint.id in kept
        ),
        robot.base_link,
    )
    return tree, q, u, {link: ids[link] for link in links}


def _given(ports: Mapping[str, Any], plan: _Plan, robot: Robot) -> dict[str, Array]:
    """The ports' numbers as arrays; InputError where they are not those of the robot."""
    widths = plan.widths
    for name in sorted(ports.keys() ^ widths.keys()):
        if name in widths:
            raise InputError(f"port {name!r} of {robot.name} is not given")
        raise InputError(
            Fault(f"{robot.name} has no port {name!r}", hint=did_you_mean(name, widths))
        )
    return {name: array(ports[name], (width,), name) for name, width in widths.items()}


# --- at joints ----------------------------------------------------------------------------


def _deflection(spring: JointSpring, entry: JointSlice, qm: Array) -> Array:
    """q - rest (1,), or the turn (3,) of a spherical joint, in its parent's and in its
    child's axes alike: a rotation does not move its own axis."""
    q = qm[entry.q]
    return turn_of_quaternion(q) if entry.spherical else q - spring.rest


def _joint_forces(plan: _Plan, qm: Array, um: Array, given: dict[str, Array]) -> Array:
    """The forces (nu,) [N m, N] of joint springs and of ports at joints."""
    taum = zeros(len(um), qm, um, *given.values())
    for spring, entry in plan.bushings:
        force = spring.stiffness * _deflection(spring, entry, qm) + spring.damping * um[entry.u]
        taum[entry.u] = taum[entry.u] - force
    for motor, part, entry in plan.motors:
        taum[entry.u] = taum[entry.u] + given[motor.port][part]
    return taum


# --- at points, in the axes of the base-link and from its centre of mass ------------------


class _Frame(NamedTuple):
    """R (3,3), r (3,) [m]: of a link's centre of mass; joint axis e (3,), and g (3,) [m]
    from the joint to the centre of mass."""

    R: Array
    r: Array
    e: Array
    g: Array


class _Line(NamedTuple):
    """From a to b (3,) [m], its squared length (1,), and the points (3,) [m] from their
    links' centres of mass."""

    r: Array
    square: Array
    lever_a: Array
    lever_b: Array


_Twist = tuple[Array, Array]
"""Angular velocity (3,) [rad/s], and velocity (3,) [m/s] of the centre of mass."""
_BASE = _Frame(np.eye(3), np.zeros(3), np.zeros(3), np.zeros(3))


def _frames(plan: _Plan, qm: Array) -> list[_Frame]:
    """Of the base-link and the links of the plan's tree."""
    K = kinematics(_BASE.R, _BASE.r, qm[plan.q], plan.tree)
    return [_BASE, *(_Frame(*of_link) for of_link in zip(K.RL, K.rL, K.e, K.g, strict=True))]


def _twists(plan: _Plan, frames: list[_Frame], um: Array) -> list[_Twist]:
    """Of the links of the plan's tree against the base-link; none where nothing is damped."""
    if not plan.damped:
        return []
    rates = um[plan.u]
    twists = [(np.zeros(3), np.zeros(3))]
    for joint, k in zip(plan.tree.joints, plan.tree.u_index, strict=True):
        frame, parent = frames[joint.id], frames[joint.parent_link]
        w, v = twists[joint.parent_link]
        v = v + cross(w, frame.r - parent.r)
        if k is not None and joint.type is JointType.PRISMATIC:
            v = v + frame.e * rates[k : k + 1]
        elif k is not None:
            turn = frame.e * rates[k : k + 1]
            w, v = w + turn, v + cross(turn, frame.g)
        twists.append((w, v))
    return twists


def _line(force: PointSpring | PointPort, plan: _Plan, frames: list[_Frame]) -> _Line:
    """The line between the points of a force."""
    assert force.b is not None
    a, b = frames[plan.place[force.a]], frames[plan.place[force.b]]
    lever_a, lever_b = a.R @ force.pa, b.R @ force.pb
    r = b.r + lever_b - a.r - lever_a
    return _Line(r, r.reshape(1, 3) @ r + _POINT, lever_a, lever_b)


def _stretching(spring: PointSpring, plan: _Plan, line: _Line, twists: list[_Twist]) -> Array:
    """The length d of a spring times its rate of change, d d' (1,) [m^2/s]."""
    (wa, va), (wb, vb) = twists[plan.place[spring.a]], twists[plan.place[spring.b]]
    rate = vb + cross(wb, line.lever_b) - va - cross(wa, line.lever_a)
    stretching: Array = line.r.reshape(1, 3) @ rate
    return stretching


def _pull(spring: PointSpring, plan: _Plan, line: _Line, twists: list[_Twist]) -> Array:
    """The force (3,) [N] of a spring on its point a."""
    factor = np.array([spring.stiffness])
    if spring.stiffness and spring.free_length:
        factor = factor * (1.0 - spring.free_length / sqrt(line.square))
    if spring.damping:
        damped = _stretching(spring, plan, line, twists) / line.square
        factor = factor + spring.damping * damped
    pull: Array = factor * line.r
    return pull


def _between_points(
    plan: _Plan, frames: list[_Frame], um: Array, given: dict[str, Array]
) -> dict[int, tuple[Array, Array]]:
    """Moments (3,) [N m] and forces (3,) [N] at the centres of mass of the links that springs
    and ports between two points act on, by link id, in the axes of the base-link."""
    sums: dict[int, tuple[Array, Array]] = {}

    def add(link: int, lever: Array, force: Array) -> None:
        moment, total = sums.get(link, (_BASE.r, _BASE.r))
        sums[link] = moment + cross(lever, force), total + force

    for force, line, on_a in _pulls(plan, frames, um, given):
        assert force.b is not None
        add(force.a, line.lever_a, on_a)
        add(force.b, line.lever_b, -on_a)
    return sums


def _pulls(
    plan: _Plan, frames: list[_Frame], um: Array, given: dict[str, Array]
) -> Iterator[tuple[PointSpring | PointPort, _Line, Array]]:
    """Each force between two points, its line, and what it does to point a."""
    twists = _twists(plan, frames, um)
    for spring in plan.springs:
        line = _line(spring, plan, frames)
        yield spring, line, _pull(spring, plan, line, twists)
    for piston, part in plan.pistons:
        line = _line(piston, plan, frames)
        yield piston, line, -given[piston.port][part] / sqrt(line.square) * line.r
