"""Common base of the plants: a robot with the state, outputs and modes of MULTIBODY, and the
variational step.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

import numpy as np

from spart_blocks.base.spatial import Array, normalised, rotation_quaternion
from spart_blocks.block_support.declared import joint_unit, resolved
from spart_blocks.block_support.plants.state import Parts, PlantState
from spart_blocks.block_support.ports import Port
from spart_blocks.block_support.quantities import held_ports, quantities
from spart_blocks.blocks.audit import Audit
from spart_blocks.dynamics import modes_of_rates, next_modes, unfit_modes
from spart_blocks.dynamics.applied_forces import port_widths
from spart_blocks.dynamics.joint_effects import driven_forces
from spart_blocks.dynamics.variational import HeldInputs, PlantMotion, variational_step
from spart_blocks.robot import Robot


class Plant:
    """A block that moves a robot. A subclass defines in `rates_at` the accelerations for its inputs
    and state.
    """

    robot: Robot
    plant_state: PlantState
    base_pose: tuple[Array, Array]
    in_ports: tuple[Port, ...]

    def rates_at(self, inputs: list[Any], s: Parts) -> Any:
        """The accelerations, as HybridRates or with its fields."""
        raise NotImplementedError

    def output(self, t: float, inputs: list[Any], x: Array) -> list[Any]:
        s = self.plant_state.split(x, self.base_pose)
        out = [s.R0, s.r0, s.qm, s.u0, s.um, self.plant_state.normalised(x)]
        return [*out, s.modes] if self.plant_state.sticking else out

    def deriv(self, t: float, inputs: list[Any], x: Array) -> Array:
        s = self.plant_state.split(x, self.base_pose)
        rates = self.rates_at(inputs, s)
        still = np.zeros(len(self.plant_state.sticking))
        pose = self.plant_state.pose_rates(x, s.u0, s.um)
        base = [] if self.robot.base == "fixed" else [rates.u0dot]
        return np.concatenate([*pose, *base, rates.umdot, still])

    @property
    def watched_kinds(self) -> tuple[str, ...]:
        """The kind of each zero-crossing function of `watch`, as in Crossing."""
        return ("mode",) * len(self.plant_state.sticking)

    def watch(self, t: float, inputs: list[Any], x: Array) -> list[Any]:
        """For each joint that can stick, a value that is positive if its mode is inconsistent."""
        if not self.plant_state.sticking:
            return []
        s = self.plant_state.split(x, self.base_pose)
        return unfit_modes(s.qm, s.um, s.modes, self.rates_at(inputs, s), self.robot)

    def switch(self, t: float, inputs: list[Any], x: Array) -> Array:
        """The state after the first joint with an inconsistent mode has changed its mode."""
        s = self.plant_state.split(x, self.base_pose)
        um, modes = next_modes(s.qm, s.um, s.modes, self.rates_at(inputs, s), self.robot)
        return self.plant_state.switched(x, um, modes)

    def restart(self, x: Array) -> Array:
        """The state after an EVENT has set it: the modes of joints follow their rates."""
        if not self.plant_state.sticking:
            return x
        s = self.plant_state.split(x, self.base_pose)
        modes = modes_of_rates(s.um, s.modes, self.robot)
        return self.plant_state.switched(x, s.um, modes)

    def project(self, x: Array) -> Array:
        """The state projected onto its constraints: unit quaternions, closed loops."""
        return self.plant_state.project(x)

    def make_audit(self, **blockargs: Any) -> Audit:
        """The AUDIT block of this plant."""
        return Audit(self.robot, **blockargs)


RATES = quantities("u0dot umdot reaction")


def rate_ports(robot: Robot) -> tuple[Port, ...]:
    """The outputs of a plant's companion."""
    load = (Port("load", (robot.nu,), joint_unit(robot, "N m, N")),) if robot.effects else ()
    return (*resolved(RATES, robot), *held_ports(robot), *load)


Integrator = Literal["solver", "variational"]


class Steps(Plant):
    """A plant that may have its own step: it has a method `advance` only if its integrator is
    variational, since the engines check for that method. integrator: "solver" or "variational".
    damping: of its loops, as for `closed_rates`.
    """

    integrator: Integrator
    damping: float = 0.0

    @property
    def needs_fixed_steps(self) -> bool:
        """Whether a solver with error control cannot run it."""
        return self.integrator == "variational"

    @property
    def advance(self) -> Callable[[float, Any, list[Any], Array], Array]:
        """(t, h, inputs, x) -> the state after a step of h."""
        if self.integrator != "variational":
            raise AttributeError("advance")
        return self._variational

    def _variational(self, t: float, h: Any, inputs: list[Any], x: Array) -> Array:
        robot, s = self.robot, self.plant_state.split(x, self.base_pose)
        floating = robot.base == "floating"
        quaternion = normalised(x[:4]) if floating else rotation_quaternion(self.base_pose[0])
        start = PlantMotion(quaternion, s.r0, s.qm, s.u0, s.um)
        held = self._held(inputs, s.modes)
        end = variational_step(h, start, held, robot, damping=self.damping)
        base = (end.quaternion, end.r0) if floating else ()
        rates = (end.u0, end.um) if floating else (end.um,)
        return np.concatenate([*base, end.qm, *rates, s.modes])

    def _held(self, inputs: list[Any], modes: Array) -> HeldInputs:
        given = dict(zip((port.name for port in self.in_ports), inputs, strict=True))
        none, n = np.zeros(6), self.robot.n_links_joints
        return HeldInputs(
            tau0=given.get("tau0", none),
            taum=driven_forces(given.get("taum", np.zeros(self.robot.nu)), self.robot),
            wF0=given.get("wF0", none),
            wFm=given.get("wFm", np.zeros((n, 6))),
            umdot_k=given.get("umdot_k", np.zeros(0)),
            modes=modes if self.plant_state.sticking else None,
            ports={name: given[name] for name in port_widths(self.robot)},
        )
