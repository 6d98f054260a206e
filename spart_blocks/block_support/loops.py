"""Common parts of the blocks of closed chains: their ports, and one call into the dynamics."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from spart_blocks.base.errors import InputError, brief
from spart_blocks.block_support.plants.state import Parts
from spart_blocks.block_support.ports import Port
from spart_blocks.block_support.quantities import QUANTITIES
from spart_blocks.dynamics.applied_forces import Applied, applied_forces, port_widths
from spart_blocks.dynamics.closed_chain import ClosedRates, closed_rates
from spart_blocks.dynamics.joint_effects import driven_forces, joint_effects
from spart_blocks.robot import Robot


def force_ports(robot: Robot) -> tuple[Port, ...]:
    """An input for each port of the robot's forces. Raises InputError for a name that a
    plant's own port has."""
    widths = port_widths(robot)
    for name in widths:
        if name in QUANTITIES or name in ("umdot_k", "tau_k", "lam", "modes", "load", "state"):
            raise InputError(f"forces of {robot.name}: a plant has a port {name!r} of its own")
    return tuple(Port(name, (width,), "N m, N") for name, width in widths.items())


def checked_damping(singular: Any, damping: Any) -> float:
    """The damping of a plant from its parameters; 0 if a loss of rank stops the run."""
    number = isinstance(damping, (int, float)) and not isinstance(damping, bool)
    if not number or not math.isfinite(damping) or damping <= 0:
        raise InputError(f"damping must be a number above 0, not {brief(damping)}")
    return float(damping) if singular == "damp" else 0.0


def loads_of(robot: Robot, s: Parts, given: Mapping[str, Any]) -> Applied:
    """The loads from a plant's ports by name, plus the robot's own forces."""
    n = robot.n_links_joints
    none = {"taum": np.zeros(robot.nu), "wF0": np.zeros(6), "wFm": np.zeros((n, 6))}
    taum, wF0, wFm = (given.get(name, zeros) for name, zeros in none.items())
    taum = driven_forces(taum, robot)
    if not robot.forces:
        return Applied(taum, wF0, wFm)
    at_ports = {name: given[name] for name in port_widths(robot)}
    more = applied_forces(s.R0, s.r0, s.u0, s.qm, s.um, robot, at_ports)
    return Applied(taum + more.taum, wF0 + more.wF0, wFm + more.wFm)


def closed_rates_of(
    robot: Robot,
    s: Parts,
    given: Mapping[str, Any],
    damping: float,
    stabilisation: float = 0.0,
) -> ClosedRates:
    """The accelerations of a plant in a state, with the inputs of its ports by name."""
    taum, wF0, wFm = loads_of(robot, s, given)
    return closed_rates(
        s.R0, s.u0, s.qm, s.um, given.get("tau0", np.zeros(6)), taum, wF0, wFm, robot,
        given.get("umdot_k"), s.modes if joint_effects(robot).sticking else None, damping,
        stabilisation,
    )  # fmt: skip
