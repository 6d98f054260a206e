"""The plant: a robot with a fixed or floating base, and quantities of its motion.

bdsim has one feedthrough flag per block, so MULTIBODY outputs only functions of its state.
Accelerations and the ground's reaction also depend on its inputs and come from MULTIBODY_RATES,
which the loader adds if a wire uses them.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from bdsim.components import ContinuousBlock, FunctionBlock

from spart_blocks.base.spatial import Array
from spart_blocks.block_support.declared import Declared, resolved
from spart_blocks.block_support.parameters import ROBOT, fixed
from spart_blocks.block_support.plants.state import STATE_UNITS, Parts, PlantState
from spart_blocks.block_support.quantities import (
    mode_ports,
    need_open,
    prescribed_ports,
    quantities,
)
from spart_blocks.blocks._plant import RATES, Steps, rate_ports
from spart_blocks.dynamics import HybridRates, hybrid_rates
from spart_blocks.dynamics.joint_effects import driven_forces


class Multibody(Declared, Steps, ContinuousBlock):
    """A multibody robot with a fixed or floating base, according to ``robot.base``.

    A fixed-base robot has the inputs ``taum`` and ``wFm`` only; ``R0``, ``r0`` and
    ``u0`` are constant. The state is [quaternion of the base, r0, qm, u0, um, modes], or
    [qm, um, modes] for a fixed base. Quaternions are scalar-last and output at unit length;
    a spherical joint has one in qm and its angular velocity, in its child's axes, in um.

    With kinematic joints there is one more input, ``umdot_k`` ndarray(n_k,) [rad/s^2, m/s^2], their
    accelerations (optional, zeros), and the companion gives ``tau_k`` ndarray(n_k,) [N m, N], the
    forces that they need in addition to taum. With Coulomb friction there is one more output,
    ``modes`` ndarray(n_s,): +1 or -1 if a joint slides, 0 if it sticks. With motors, friction or
    stops the companion gives ``load`` ndarray(nu,) [N m, N], the load of friction and stops at the
    joints.

    A joint with Coulomb friction sticks or slides. A sticking joint is a prescribed joint at rest;
    it breaks away when friction would have to exceed |G| Tc. The modes of all joints are the
    solution of a box-constrained linear complementarity problem, found by pivoting on one joint at
    a time.

    Source: Featherstone (2008), sec. 7.3, 9.4 and 9.6; SPART's quantities, SPART's manual;
    K. Murty, Opsearch 11 (1974) 79, for the order of the pivots.

    :arg robot: the robot model
    :arg initial: initial r0 [m], quaternion or angles321 [rad], u0 (or omega0 and v0), qm and um,
        the joints as vectors or by name; a spherical joint takes a quaternion or {angles321: [x, y,
        z]}
    :arg base_frame: the frame that the base pose and rates in initial belong to: that of the centre
        of mass, "com", or the URDF link frame, "urdf"
    :arg audit: whether to add a block AUDIT named after the plant, as ``plant.audit``: its
        momentum, energy, work and balances are kept in every run
    :arg integrator: "solver" for the run's solver, or "variational" for the plant's own step, which
        needs a fixed-step solver
    """

    nin = 4
    nout = 6
    takes = quantities("tau0? taum wF0? wFm?")
    gives = quantities("R0 r0 qm u0 um state")
    companion: ClassVar[str] = "MULTIBODY_RATES"
    companion_outputs: tuple[str, ...] = ("u0dot", "umdot", "reaction")
    robot = fixed("Robot", check=need_open)
    initial = fixed("mapping", "", None, entries=STATE_UNITS)
    base_frame = fixed("str", "", "com", choices=("com", "urdf"))
    audit = fixed("bool", "", False)
    integrator = fixed("str", "", "solver", choices=("solver", "variational"))

    def build(self, initial: Any, base_frame: Any) -> dict[str, Any]:
        self.plant_state = PlantState(self.robot)
        self.base_pose, x0 = self.plant_state.initial(initial, base_frame)
        self.companion_outputs = tuple(port.name for port in rate_ports(self.robot))
        given = self.resolve_ports(
            self.robot,
            without="" if self.robot.base == "floating" else "tau0 wF0",
            optional="" if self.robot.nu else "taum",
            more=(prescribed_ports(self.robot), mode_ports(self.robot)),
            N=len(x0),
        )
        return {"x0": x0, "snames": list(self.plant_state.names), **given}

    def rates_at(self, inputs: list[Any], s: Parts) -> HybridRates:
        given = dict(zip((port.name for port in self.in_ports), inputs, strict=True))
        none = np.zeros(6)
        return hybrid_rates(
            s.R0, s.u0, s.qm, s.um, given.get("tau0", none),
            driven_forces(given["taum"], self.robot), given.get("wF0", none), given["wFm"],
            self.robot, given.get("umdot_k"),
            s.modes if self.plant_state.sticking else None,
        )  # fmt: skip

    def make_companion(self, **blockargs: Any) -> Multibody_Rates:
        """The companion block with this plant's accelerations and reaction."""
        return Multibody_Rates(self.robot, **blockargs)


class Multibody_Rates(Declared, FunctionBlock):
    """Accelerations of a multibody robot, and the wrench of the ground on a fixed base.

    Wire it to the inputs and outputs of MULTIBODY; further ports as there. With a fixed base, tau0
    and wF0 act on the ground and change the reaction only.

    :arg robot: the robot model
    """

    nin = 9
    nout = 3
    takes = quantities("tau0? taum wF0? wFm? R0 r0 qm u0 um")
    gives = RATES
    robot = fixed("Robot", check=need_open)

    def build(self) -> dict[str, Any]:
        return self.set_ports(
            (
                *resolved(self.takes, self.robot),
                *prescribed_ports(self.robot),
                *mode_ports(self.robot),
            ),
            rate_ports(self.robot),
        )

    def output(self, t: float, inputs: list[Any], x: Any) -> list[Any]:
        given = dict(zip((port.name for port in self.in_ports), inputs, strict=True))
        del given["r0"]
        given["taum"] = driven_forces(given["taum"], self.robot)
        rates = hybrid_rates(robot=self.robot, **given)._asdict()
        return [rates[port.name] for port in self.out_ports]


class State_Integrator(Declared, ContinuousBlock):
    """Integrates the rates u0 and um to the base pose and the joint positions.

    The state is [quaternion of the base, r0, qm], or [qm] for a fixed base. The quaternions of the
    base and of spherical joints are kept at unit length.

    Source: Markley and Crassidis (2014), eq. 3.20, for the quaternion.

    :arg initial: initial r0 [m], quaternion or angles321 [rad], and qm
    :arg base_frame: the frame that the base pose in initial belongs to, "com" or "urdf"
    """

    nin = 2
    nout = 3
    takes = quantities("u0 um")
    gives = quantities("R0 r0 qm")
    robot = ROBOT
    initial = fixed("mapping", "", None, entries=STATE_UNITS)
    base_frame = fixed("str", "", "com", choices=("com", "urdf"))

    def build(self, initial: Any, base_frame: Any) -> dict[str, Any]:
        self.plant_state = PlantState(self.robot, rates=False)
        self.base_pose, x0 = self.plant_state.initial(initial, base_frame)
        optional = "u0" if self.robot.base == "fixed" else ""
        return {
            "x0": x0,
            "snames": list(self.plant_state.names),
            **self.resolve_ports(self.robot, optional=optional),
        }

    def output(self, t: float, inputs: list[Any], x: Array) -> list[Any]:
        s = self.plant_state.split(x, self.base_pose)
        return [s.R0, s.r0, s.qm]

    def deriv(self, t: float, inputs: list[Any], x: Array) -> Array:
        return np.concatenate(self.plant_state.pose_rates(x, *inputs))

    def project(self, x: Array) -> Array:
        """The state with its quaternions at unit length."""
        return self.plant_state.project(x)
