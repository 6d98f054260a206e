"""Random trees with spherical joints among others, and configurations of them."""

from __future__ import annotations

from typing import Any

import numpy as np
from robots import State
from scipy.spatial.transform import Rotation

from spart_blocks.robot import BaseLink, Joint, JointType, Link, Robot

KINDS = (JointType.SPHERICAL, JointType.REVOLUTE, JointType.SPHERICAL, JointType.PRISMATIC)


def transform(rng: Any) -> Any:
    T = np.eye(4)
    T[:3, :3] = Rotation.from_rotvec(rng.normal(size=3)).as_matrix()
    T[:3, 3] = rng.normal(scale=0.3, size=3)
    return T


def inertia(rng: Any, mass: float) -> Any:
    """Of six points of one mass."""
    points = rng.normal(scale=0.2, size=(6, 3))
    points -= points.mean(axis=0)
    return mass / 6 * sum(p @ p * np.eye(3) - np.outer(p, p) for p in points)


def robot_with_balls(seed: int, base: Any = "floating", bodies: int = 5) -> Robot:
    """A branched tree; joint b1 is spherical with rows b1.x, b1.y, b1.z, and so on."""
    rng = np.random.default_rng(seed)
    links: list[Link] = []
    joints: list[Joint] = []
    ends, u = [0], 1

    def add(name: str, kind: JointType, parent: int, T: Any, axis: Any, mass: float) -> int:
        nonlocal u
        i, q_id = len(links) + 1, -1 if kind is JointType.FIXED else u
        u += kind is not JointType.FIXED
        joints.append(Joint(i, name, kind, q_id, parent, i, axis, T))
        T_link, I = (transform(rng), inertia(rng, mass)) if mass else (np.eye(4), np.zeros((3, 3)))
        links.append(Link(i, f"of {name}", i, T_link, mass, I))
        return i

    for k in range(1, bodies + 1):
        kind, parent = KINDS[(seed + k) % len(KINDS)], int(rng.choice(ends))
        T, mass = transform(rng), float(rng.uniform(0.5, 2.0))
        if kind is JointType.SPHERICAL:
            axes = np.eye(3) if k % 4 else -np.eye(3)  # every fourth is against the tree
            parent = add(f"b{k}.x", kind, parent, T, axes[0], 0.0)
            parent = add(f"b{k}.y", kind, parent, np.eye(4), axes[1], 0.0)
            ends.append(add(f"b{k}.z", kind, parent, np.eye(4), axes[2], mass))
        else:
            axis = rng.normal(size=3)
            ends.append(add(f"j{k}", kind, parent, T, axis / np.linalg.norm(axis), mass))
    base_link = BaseLink("base", transform(rng), 3.0, inertia(rng, 3.0))
    return Robot(f"balls{seed}", tuple(links), tuple(joints), base_link, base=base)


def random_state(robot: Robot, seed: int) -> State:
    """A configuration with unit quaternions, rates, their rates and forces."""
    rng = np.random.default_rng(seed)
    n, nu = robot.n_links_joints, robot.nu
    qm = robot.integrate(robot.neutral, rng.normal(size=nu))
    rows = rng.normal(size=(5, 6))
    um, umdot, taum = rng.normal(size=(3, nu))
    R0 = Rotation.from_rotvec(rng.normal(size=3)).as_matrix()
    state = State(R0, rng.normal(size=3), qm, rows[0], um, rows[1], umdot, rows[2], taum,
                  rows[3], rng.normal(size=(n, 6)))  # fmt: skip
    return state if robot.base == "floating" else state.held()
