"""The variational step of a plant."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

import numpy as np

from spart_blocks.base.spatial import Array, normalised, rotation_quaternion
from spart_blocks.blocks._plant import Plant
from spart_blocks.dynamics.applied_forces import port_widths
from spart_blocks.dynamics.joint_effects import driven_forces
from spart_blocks.dynamics.variational import HeldInputs, PlantMotion, variational_step

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
