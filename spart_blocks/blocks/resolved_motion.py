"""Joint rates that move an end-effector, on a floating or fixed base."""

from __future__ import annotations

from typing import Any

from bdsim.components import FunctionBlock

from spart_blocks.block_support.declared import PortSpec
from spart_blocks.block_support.motion import (
    OfPoint,
    OfTwist,
    momentum_in_base_axes,
    momentum_of,
    turned,
)
from spart_blocks.block_support.parameters import tunable
from spart_blocks.block_support.quantities import quantities
from spart_blocks.block_support.values import one_gain
from spart_blocks.dynamics import resolved_rate, resolved_rate_min_energy


class Generalized_Jacobian(OfPoint, FunctionBlock):
    """Jacobian of an end-effector by the joints while the base floats.

    The twist is Jstar um + drift: Jstar = Jm - J0 H0^-1 H0m, drift = J0 H0^-1 M. Hstar is
    Hm - H0m' H0^-1 H0m. For a fixed base these are Jm, zeros and Hm, and there are no
    inputs p and h.

    Source: Umetani and Yoshida (1989).
    """

    nin = 5
    nout = 3
    takes = quantities("R0 r0 qm p? h?")
    gives = (
        PortSpec("Jstar", "6, nu", "", "generalized Jacobian, inertial"),
        PortSpec("drift", "6", "rad/s, m/s", "twist with the joints at rest, inertial"),
        PortSpec("Hstar", "nu, nu", "kg m^2, kg m, kg", "inertia at the joints with a free base"),
    )

    def output(self, t: float, inputs: list[Any], x: Any) -> list[Any]:
        R0, r0, qm = inputs[:3]
        M = momentum_in_base_axes(*momentum_of(self.robot, inputs), R0, r0)
        motion = self.point.motion(qm, M)
        return [turned(R0, motion.J), turned(R0, motion.drift), motion.W]


class Resolved_Rate(OfTwist, FunctionBlock):
    """The smallest joint rates that give an end-effector a twist.

    um = J+ (td - drift) + (1 - J+ J) um_null, J and drift those of GENERALIZED_JACOBIAN and J+ = J'
    (J J' + damping^2)^-1: the pseudo-inverse for zero damping. For a twist that the joints cannot
    produce, the result is the least-squares solution. Rows that no configuration of the robot can
    fulfil, as for a planar robot, are left out automatically. For a fixed base J = Jm, and there
    are no inputs p and h.

    Source: Umetani and Yoshida (1989); Wampler (1986) for the damping; Liegeois (1977) for
    the secondary rates.

    :arg damping: of damped least squares, in the units of J, none by default
    """

    nin = 7
    nout = 1
    takes = (
        *quantities("R0 r0 qm td"),
        PortSpec("um_null", "nu", "rad/s, m/s", "secondary joint rates", optional=True),
        *quantities("p? h?"),
    )
    gives = quantities("um")
    damping = tunable("float", "", 0.0, check=one_gain)

    def output(self, t: float, inputs: list[Any], x: Any) -> list[Any]:
        R0, r0, qm, td, um_null = inputs[:5]
        task = self.task.equations(R0, r0, qm, td, *momentum_of(self.robot, inputs))
        return [resolved_rate(task.A, task.b, self.damping, um_null)]


class Resolved_Rate_Min_Energy(OfTwist, FunctionBlock):
    """The joint rates that give an end-effector a twist with minimum kinetic energy.

    um = W^-1 J' (J W^-1 J')^-1 (td - drift), J, W = Hstar and drift those of GENERALIZED_JACOBIAN:
    of all rates that produce the twist, those with the minimum energy of the whole robot, including
    its base. If no rates produce it, as RESOLVED_RATE. For a fixed base J = Jm and W = Hm, and
    there are no inputs p and h.

    Source: Whitney (1969), with the inertia of the floating robot as weight; SPART.

    """

    nin = 6
    nout = 1
    takes = quantities("R0 r0 qm td p? h?")
    gives = quantities("um")

    def output(self, t: float, inputs: list[Any], x: Any) -> list[Any]:
        R0, r0, qm, td = inputs[:4]
        task = self.task.equations(R0, r0, qm, td, *momentum_of(self.robot, inputs))
        return [resolved_rate_min_energy(task.A, task.b, task.W)]
