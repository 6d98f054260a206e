"""The moving robots of a diagram: its plants, with pose and wrenches."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.spatial.transform import Rotation

from spart_blocks.animation.packed import Floats
from spart_blocks.base.errors import Fault, InputError
from spart_blocks.block_support.plants.state import Parts, PlantState
from spart_blocks.block_support.ports import attribute
from spart_blocks.diagram.network.nodes import Node
from spart_blocks.results.run_data import RunData
from spart_blocks.robot import Robot

Pose = tuple[Any, Any, Any]
"""Pose of a robot: R0 (3, 3) and r0 (3,) [m] of its base, and qm (n_q,)."""
_WRENCHES = ("tau0", "wF0", "wFm")
_SMALL = 1e-9  # of the largest: rounding


@dataclass(frozen=True)
class Moving:
    """A plant. name: its full name. base: the pose (R0, r0) of a fixed base. x0: its initial state.
    wrenches: the signals at its wired inputs tau0, wF0 and wFm."""

    name: str
    robot: Robot
    state: PlantState
    base: tuple[Any, Any]
    x0: Floats
    wrenches: dict[str, str]

    def parts(self, x: Floats) -> Parts:
        """The parts of a state (n,): pose and velocities."""
        return self.state.split(x, self.base)

    def start(self) -> Pose:
        """The pose in the initial state."""
        s = self.parts(self.x0)
        return s.R0, s.r0, s.qm

    def attitudes(self, x: Floats) -> Rotation:
        """The rotations of the base in states x (N, n)."""
        if self.state.floating:
            return Rotation.from_quat(x[:, :4])
        return Rotation.from_matrix(np.tile(self.base[0], (len(x), 1, 1)))


@dataclass(frozen=True)
class DrawnForce:
    """A force [N] or torque [N m] on a link over time: v (N, 3) in world axes."""

    name: str
    kind: str
    link: int
    v: Floats


def moving_of(nodes: Iterable[Node]) -> list[Moving]:
    """The plants of a wired diagram, including those in subsystems: MULTIBODY, CLOSED_CHAIN,
    STATE_INTEGRATOR and others with the state of a plant."""
    nodes = list(nodes)
    return [
        Moving(
            node.name,
            node.block.robot,
            node.block.plant_state,
            node.block.base_pose,
            np.asarray(node.block.getstate0(), dtype=float),
            dict(_wrenches(node, nodes)),
        )
        for node in nodes
        if attribute(node.block, "plant_state") is not None
        and attribute(node.block, "base_pose") is not None
    ]


def plants_of(nodes: Iterable[Node], name: str) -> list[Moving]:
    """The plants of a wired diagram. name: of the diagram, for the message. Raises InputError if
    there are none."""
    plants = moving_of(nodes)
    if not plants:
        hint = "robots move in plants: MULTIBODY, CLOSED_CHAIN or STATE_INTEGRATOR"
        raise InputError(Fault(f"{name} has no robot to show", hint=hint))
    return plants


def _wrenches(node: Node, nodes: list[Node]) -> Iterator[tuple[str, str]]:
    for port, (source, output) in zip(node.in_ports, node.sources, strict=True):
        name = nodes[source].output_name(output)
        if port.name in _WRENCHES and "=0" not in name:
            yield port.name, name


def states_of(moving: Moving, results: RunData) -> Floats:
    """The states (N, n) of a plant in a run. Raises InputError if the run does not have them, as
    with another diagram."""
    x = results.states.get(moving.name)
    if x is None or x.shape[1:] != (len(moving.state.names),):
        has = "has no states of" if x is None else "has other states of"
        hint = "give the diagram that was run, with its --set and --variant"
        raise InputError(Fault(f"the run {has} {moving.name}", hint=hint))
    if not np.isfinite(x).all():
        raise InputError(f"the states of {moving.name} are not finite")
    return np.asarray(x, dtype=float)


def pushes(moving: Moving, x: Floats, results: RunData) -> Iterator[DrawnForce]:
    """The forces and torques on the links of a plant, except those that are always zero or that the
    run neither has nor can compute."""
    for port, signal in moving.wrenches.items():
        try:
            values = np.array(results[signal], dtype=float)  # SciPy takes no read-only arrays
        except InputError:  # a file has only what was kept
            continue
        if not np.isfinite(values).all():
            continue
        values = values.reshape(len(x), -1, 6)
        for k in range(values.shape[1]):
            torque, force = values[:, k, :3], values[:, k, 3:]
            if port == "tau0":
                torque = moving.attitudes(x).apply(torque)
            link = k + 1 if port == "wFm" else 0
            name = f"{moving.name}.{port}" + (f"[{k}]" if port == "wFm" else "")
            for kind, v in (("force", force), ("torque", torque)):
                if np.abs(v).max(initial=0.0) > _SMALL * np.abs(values).max(initial=0.0):
                    yield DrawnForce(name, kind, link, v)
