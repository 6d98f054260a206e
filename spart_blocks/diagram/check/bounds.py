"""Limits on a diagram's signals: those of a robot's joints, and the errors of IK blocks."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

if TYPE_CHECKING:
    from spart_blocks.diagram.network.nodes import FlatDiagram, Node
    from spart_blocks.robot import Effect, Robot

Kind = Literal["position", "velocity", "effort", "pose"]
REACHED = 1e-3
"""[m, rad] Largest error at which an IK block has reached its pose."""
_PLANTS = ("multibody", "closed_chain")


@dataclass(frozen=True)
class Bound:
    """Limits of one entry of a signal.

    block: its owner. signal: its full name. entry: index in the flattened signal. label: name of
    the joint or the error. effects: effects of the robot, with which its joints stay within their
    limits.
    """

    block: str
    kind: Kind
    signal: str
    entry: int
    label: str
    unit: str
    lower: float
    upper: float
    effects: str = ""


def bounds_of(wiring: FlatDiagram) -> tuple[Bound, ...]:
    """The bounds of the plants and the IK blocks of a wired diagram."""
    found: list[Bound] = []
    for node in wiring.nodes:
        if node.block.type in _PLANTS:
            found += _limits(node, wiring)
        elif node.block.type == "ik":
            for name, unit in (("position_error", "m"), ("rotation_error", "rad")):
                signal = f"{node.name}.{name}"
                found.append(Bound(node.name, "pose", signal, 0, name, unit, -np.inf, REACHED))
    return tuple(found)


def _limits(node: Node, wiring: FlatDiagram) -> Iterator[Bound]:
    """The limits of a plant's joints. With the effect "limits", stops enforce positions, and
    efforts are limited too.
    """
    from spart_blocks.robot import JointType

    robot: Robot = node.block.robot
    effects = ", ".join((*robot.effects, "limits"))
    torques = _torques(node, wiring)
    for entry in robot.layout:
        joint = robot.joints[entry.joint_id - 1]
        if entry.spherical or joint.limits is None:
            continue
        limits, turns = joint.limits, joint.type is not JointType.PRISMATIC
        own = (node.name, entry.name, effects)
        q, u = entry.q.start, entry.u.start
        if not _act(robot, "stops") and limits.lower <= limits.upper:
            unit = "rad" if turns else "m"
            yield _bound(own, "position", f"{node.name}.qm", q, unit, limits.lower, limits.upper)
        if limits.velocity > 0:
            unit, most = "rad/s" if turns else "m/s", limits.velocity
            yield _bound(own, "velocity", f"{node.name}.um", u, unit, -most, most)
        if torques is not None and limits.effort > 0 and not _act(robot, "limits"):
            unit, most = "N m" if turns else "N", limits.effort
            yield _bound(own, "effort", torques, u, unit, -most, most)


def _act(robot: Robot, effect: Effect) -> bool:
    return effect in robot.effects


def _bound(
    own: tuple[str, str, str],
    kind: Kind,
    signal: str,
    entry: int,
    unit: str,
    lower: float,
    upper: float,
) -> Bound:
    block, joint, effects = own
    return Bound(block, kind, signal, entry, joint, unit, float(lower), float(upper), effects)


def _torques(node: Node, wiring: FlatDiagram) -> str | None:
    """The signal at the plant's input taum; None if it has no wire."""
    for port, (source, number) in zip(node.in_ports, node.sources, strict=True):
        if port.name == "taum":
            name = wiring.nodes[source].output_name(number)
            return None if "=0" in wiring.nodes[source].name else name
    return None
