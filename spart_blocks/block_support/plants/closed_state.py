"""A plant with loops: its state, its force ports, and its rates."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from spart_blocks.base import spatial
from spart_blocks.base.errors import Fault, InputError, RobotError, brief, did_you_mean
from spart_blocks.base.spatial import Array
from spart_blocks.block_support.plants.joint_values import absent
from spart_blocks.block_support.plants.state import BaseFrame, Parts, PlantState
from spart_blocks.block_support.ports import Port
from spart_blocks.block_support.quantities import QUANTITIES
from spart_blocks.dynamics.applied_forces import Applied, applied_forces, port_widths
from spart_blocks.dynamics.assembly import assemble
from spart_blocks.dynamics.closed_chain import ClosedRates, closed_rates
from spart_blocks.dynamics.closed_system import closed_projection
from spart_blocks.dynamics.joint_effects import driven_forces, joint_effects
from spart_blocks.dynamics.loops import loop_jacobian
from spart_blocks.robot import Robot

RATES_CLOSED = 1e-9
"""Tolerance of joint rates [rad/s, m/s], relative to the largest, by which loops may open
initially.
"""


@dataclass(frozen=True)
class ClosedState(PlantState):
    """A plant's state whose joint positions and rates close the loops of its robot."""

    def project(self, x: Array) -> Array:
        """The state projected onto the loops, with unit quaternions."""
        s = self.split(x, (np.eye(3), np.zeros(3)))
        modes = s.modes if self.sticking else None
        found = closed_projection(s.R0, s.u0, s.qm, s.um, self.robot, modes)
        parts = [found.qm]
        if self.floating:
            # The shift turns the base about its own axes.
            turn = spatial.quaternion_of_turn(found.shift[:3])
            q = spatial.quaternion_product(spatial.normalised(x[:4]), turn)
            parts = [q, s.r0 + found.shift[3:], found.qm, found.u0]
        return np.concatenate([*parts, found.um, s.modes])

    def initial(
        self, given: Mapping[str, Any] | None, base_frame: BaseFrame = "com"
    ) -> tuple[tuple[Array, Array], Array]:
        """As for an open robot, with the loops closed: joints given by name, or those of the
        list `hold`, are held; the others are solved for. Also raises InputError if the loops
        cannot close.
        """
        given = {} if given is None else given
        hold = None
        if isinstance(given, Mapping) and "hold" in given:
            given = dict(given)
            hold = _held(given.pop("hold"), self.robot)
        pose, x = super().initial(given, base_frame)
        s = self.split(x, pose)
        try:
            qm = assemble(self.robot, s.qm, hold=_named(given, "qm", hold, self.robot)).qm
        except RobotError as error:
            raise InputError(error.faults) from None
        um = _rates(qm, s.um, _named(given, "um", hold, self.robot), self.robot)
        return pose, self._with(x, s, qm, um)

    def nearby(self, x: Array, spread: float, rng: np.random.Generator) -> Array:
        """A random state near x whose loops are open by a ten-thousandth of the spread, as
        within a solver's step.
        """
        s, robot = self.split(x, (np.eye(3), np.zeros(3))), self.robot
        moved = robot.integrate(s.qm, rng.normal(scale=spread, size=robot.nu))
        try:
            qm = assemble(robot, moved).qm
        except RobotError:
            qm = s.qm
        um = s.um + rng.normal(scale=spread, size=robot.nu)
        closed: Array = self.project(self._with(x, s, qm, um))
        return closed + 1e-4 * rng.normal(scale=spread, size=len(x))

    def _with(self, x: Array, s: Parts, qm: Array, um: Array) -> Array:
        """The state x with other joint positions and rates."""
        first = 7 if self.floating else 0
        base = [x[:first], qm] + ([s.u0] if self.floating else [])
        return np.concatenate([*base, um, np.sign(um[list(self.sticking)])])


def _held(names: Any, robot: Robot) -> list[str]:
    """The joints of a list `hold`."""
    known = _groups(robot)
    if isinstance(names, str) or not isinstance(names, Iterable):
        raise InputError(f"initial hold is a list of joints, not {names!r}")
    names = list(names)
    faults = [
        Fault(f"initial hold: {absent(str(name), robot)}", hint=did_you_mean(str(name), known))
        for name in names
        if name not in known
    ]
    if faults:
        raise InputError(faults)
    return [row for name in names for row in known[name]]


def _groups(robot: Robot) -> dict[str, list[str]]:
    """The joints by name, and by the names of those of several axes."""
    known = {entry.name: [entry.name] for entry in robot.layout}
    for entry in robot.layout:
        group = robot.joints[entry.joint_id - 1].group
        if group is not None and group != entry.name:
            known.setdefault(group, []).append(entry.name)
    return known


def _named(given: Mapping[str, Any], key: str, hold: list[str] | None, robot: Robot) -> list[str]:
    """The held joints: those of `hold`, or those named in `qm` or `um`."""
    if hold is not None:
        return hold
    values, known = given.get(key), _groups(robot)
    if not isinstance(values, Mapping):
        return []
    return [row for name in values for row in known[name]]


def _rates(qm: Array, um: Array, held: list[str], robot: Robot) -> Array:
    """The joint rates (nu,) nearest to um that keep the loops closed, those held as in um."""
    if not robot.loops:
        return um
    J = loop_jacobian(qm, robot, every=True)
    free = np.ones(robot.nu, dtype=bool)
    for entry in robot.layout:
        if entry.name in held:
            free[entry.u] = False
    out = um.copy()
    for _ in range(2):  # the second takes rounding away
        out[free] -= np.linalg.lstsq(J[:, free], J @ out, rcond=1e-10)[0]
    opening = np.abs(J @ out).max(initial=0.0)
    if opening > RATES_CLOSED * max(1.0, np.abs(um).max(initial=0.0)):
        names = ", ".join(held)
        raise InputError(
            Fault(
                f"initial um: the loops of {robot.name} cannot move with the rates of {names}",
                hint="name fewer joints, as many as the robot has freedoms",
            )
        )
    return out


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
