"""Small robots with loops for tests, of Robot.from_bodies: made up, and told in a few lines."""

from __future__ import annotations

from typing import Any

import numpy as np

from spart_blocks.robot import Robot

LIGHT = [1e-3, 2e-2, 2e-2]


def four_bar(
    crank: float = 0.2,
    coupler: float = 0.55,
    rocker: float = 0.4,
    ground: float = 0.45,
    base: dict[str, Any] | None = None,
    **more: Any,
) -> Robot:
    """A planar four-bar of spatial pins, with redundant rows; base: a body in the place of
    the ground, which then floats."""
    root = "ground" if base is None else "base"
    sizes = {"crank": crank, "coupler": coupler, "rocker": rocker}
    bodies: dict[str, Any] = {
        name: {"mass": 1.0, "com": [length / 2, 0, 0], "inertia": LIGHT}
        for name, length in sizes.items()
    }
    joints = {
        "A": pin(root, "crank", (0, 0, 0), (0, 0, 0), 0.6),
        "B": pin("crank", "coupler", (crank, 0, 0), (0, 0, 0), -0.2),
        "C": pin(root, "rocker", (ground, 0, 0), (0, 0, 0), 1.0),
        "D": pin("coupler", "rocker", (coupler, 0, 0), (rocker, 0, 0), 0.5) | {"cut": True},
    }
    whole = bodies if base is None else {"base": base, **bodies}
    return Robot.from_bodies({"name": "four-bar", "bodies": whole, "joints": joints, **more})


def pin(parent: str, child: str, here: Any, there: Any, q: float) -> dict[str, Any]:
    """A revolute joint about z."""
    frames = {"parent_frame": {"xyz": list(here)}, "child_frame": {"xyz": list(there)}}
    return {"type": "Rz", "parent": parent, "child": child, "q": q, **frames}


def spatial_bar(**more: Any) -> Robot:
    """A crank and a rocker about axes that are square to each other, and a rod with a ball
    joint at either end, which can spin about itself."""
    bodies = {
        "crank": {"mass": 1.0, "com": [0.05, 0, 0.01], "inertia": [1e-3, 2e-3, 3e-3]},
        "rod": {"mass": 0.5, "com": [0.2, 0.01, 0], "inertia": [1e-3, 8e-3, 9e-3]},
        "rocker": {"mass": 1.5, "com": [0.1, 0, 0.02], "inertia": [2e-3, 7e-3, 6e-3]},
    }
    joints = {
        "A": pin("ground", "crank", (0, 0, 0), (0, 0, 0), 0.6),
        "B": {"type": "spherical", "parent": "crank", "child": "rod",
              "parent_frame": {"xyz": [0.1, 0, 0]}},
        "C": {"type": "Ry", "parent": "ground", "child": "rocker", "q": -1.0,
              "parent_frame": {"xyz": [0.4, 0.1, 0]}},
        "D": {"type": "spherical", "parent": "rod", "child": "rocker", "cut": True,
              "parent_frame": {"xyz": [0.5, 0, 0]}, "child_frame": {"xyz": [0.25, 0, 0]}},
    }  # fmt: skip
    return Robot.from_bodies({"name": "spatial bar", "bodies": bodies, "joints": joints, **more})


def opening(robot: Robot, qm: Any, um: Any) -> tuple[float, float]:
    """How far the loops are open, and how fast they open, at most over samples."""
    from spart_blocks.dynamics import loop_errors, loop_jacobian

    errors = [np.abs(loop_errors(q, robot, True)).max() for q in qm]
    rates = [np.abs(loop_jacobian(q, robot, True) @ u).max() for q, u in zip(qm, um, strict=True)]
    return max(errors), max(rates)
