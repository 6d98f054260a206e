"""Contact between two bodies that dock."""

from __future__ import annotations

from typing import Any

import numpy as np
from bdsim.components import FunctionBlock

from spart_blocks.base.spatial import cross
from spart_blocks.block_support.declared import Declared, PortSpec
from spart_blocks.block_support.parameters import fixed, tunable
from spart_blocks.block_support.quantities import quantities
from spart_blocks.formulas.crossings import flat

_WRENCH = "N m, N"
_POINT = 1e-24
"""[m^2] Keeps directions finite on the axis of the cone."""


class Docking_Contact(Declared, FunctionBlock):
    """Compliant contact of a probe's round tip with the drogue of another body, a cone or a plane.

    The tip is a sphere about the point rp. The drogue opens along z of its frame, whose origin is
    the apex; with the half angle pi / 2 it is the plane z = 0. The tip is in contact where it is
    deeper than 0 in the wall, and no farther from the axis than `mouth`. The normal force is
    stiffness depth^exponent (1 + dissipation depth'), never negative; friction is the coefficient
    times the normal force against the sliding velocity v, as v / sqrt(v^2 + slow^2). Equal and
    opposite forces act where they touch: wrench_a at rp, wrench_b at the apex. The step ends where
    contact begins or ends.

    For each body END_EFFECTOR gives the frame and its twist, and LINK_WRENCH takes the wrench to
    the plant. A frictionless collision at the speed v ends with the speed v (1 - 2 / 3 dissipation
    v), to first order.

    Source: K. Hunt and F. Crossley, "Coefficient of restitution interpreted as damping in
    vibroimpact", J. Applied Mechanics 42 (1975) 440; W. Fehse, "Automated Rendezvous and Docking of
    Spacecraft" (2003), ch. 8.

    :arg radius: of the tip
    :arg half_angle: of the cone, from its axis to its wall
    :arg stiffness: of the contact
    :arg mouth: distance from the axis beyond which there is no wall, none by default
    :arg exponent: 1.5 for a sphere as Hertz has it, 1 for a spring
    :arg dissipation: Hunt's and Crossley's
    :arg friction: its coefficient
    :arg slow: sliding velocity at which friction has 0.7 of its size
    """

    nin = 5
    nout = 4
    takes = (
        *quantities("rp tp", rp="centre of the tip, inertial", tp="twist of the probe there"),
        PortSpec("r_apex", "3", "m", "apex of the drogue, inertial"),
        PortSpec("R", "3, 3", "", "rotation of the drogue's frame, to inertial"),
        PortSpec("t_apex", "6", "rad/s, m/s", "twist of the drogue at its apex, inertial"),
    )
    gives = (
        PortSpec("wrench_a", "6", _WRENCH, "torque and force on the probe at rp, inertial"),
        PortSpec("wrench_b", "6", _WRENCH, "torque and force on the drogue at its apex, inertial"),
        PortSpec("force", "", "N", "normal force"),
        PortSpec("depth", "", "m", "of the tip in the wall; below 0 without contact"),
    )
    radius = fixed("float", "m", above=0)
    half_angle = fixed("float", "rad", above=0, most=np.pi / 2)
    stiffness = tunable("float", "N/m^exponent", above=0)
    mouth = fixed("float", "m", None, above=0)
    exponent = fixed("float", "", 1.5, least=1)
    dissipation = tunable("float", "s/m", 0.0, least=0)
    friction = tunable("float", "", 0.0, least=0)
    slow = tunable("float", "m/s", 1e-3, above=0)

    def build(self, half_angle: Any) -> dict[str, Any]:
        self._sine, self._cosine = float(np.sin(half_angle)), float(np.cos(half_angle))
        return self.resolve_ports()

    def output(self, t: float, inputs: list[Any], x: Any) -> list[Any]:
        rp, tp, apex, _, t_apex = inputs
        depth, normal, off = self._place(inputs)
        touch = rp - self.radius * normal
        slip = tp[3:] + cross(tp[:3], touch - rp) - t_apex[3:] - cross(t_apex[:3], touch - apex)
        leaving = np.sum(slip * normal)
        sliding = slip - leaving * normal
        deep = np.where(np.logical_and(depth > 0.0, off <= 0.0), depth, 0.0)
        size = self.stiffness * deep**self.exponent
        force = np.maximum(size * (1.0 - self.dissipation * leaving), 0.0)
        speed = np.sqrt(np.sum(sliding * sliding) + self.slow**2)
        f = force * (normal - self.friction / speed * sliding)
        on_probe = np.concatenate([cross(touch - rp, f), f])
        return [on_probe, np.concatenate([-cross(touch - apex, f), -f]), force, depth]

    def watch(self, t: float, inputs: list[Any], x: Any) -> list[Any]:
        depth, _, off = self._place(inputs)
        return flat(depth) if self.mouth is None else flat(depth, off)

    def _place(self, inputs: list[Any]) -> tuple[Any, Any, Any]:
        """The depth of the tip, the wall's normal (3,), inertial, and the way off the mouth."""
        rp, _, apex, R, _ = inputs
        c = R.T @ (rp - apex)
        wide = np.sqrt(c[0] * c[0] + c[1] * c[1] + _POINT)
        depth = self.radius - (self._sine * c[2] - self._cosine * wide)
        inward = -self._cosine / wide
        normal = R @ np.stack([inward * c[0], inward * c[1], self._sine + 0.0 * c[2]])
        return depth, normal, wide - self.mouth if self.mouth is not None else -1.0
