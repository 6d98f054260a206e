"""Bookkeeping of a robot: momentum, energy, and the work and impulse of its forces."""

from __future__ import annotations

from typing import Any

import numpy as np
from bdsim.components import ContinuousBlock

from spart_blocks.base.spatial import Array, cross, zeros
from spart_blocks.block_support.declared import Declared
from spart_blocks.block_support.parameters import ROBOT, fixed
from spart_blocks.block_support.plants.closed_state import closed_rates_of, force_ports, loads_of
from spart_blocks.block_support.plants.state import Parts
from spart_blocks.block_support.quantities import mode_ports, prescribed_ports, quantities
from spart_blocks.dynamics import (
    diff_kinematics,
    hybrid_rates,
    inertias,
    kinematics,
    kinetic_energy,
    momentum,
    motor_energy,
    velocities,
)
from spart_blocks.dynamics.joint_effects import driven_forces


class Audit(Declared, ContinuousBlock):
    """Momentum, energy and work of a robot, and balances that an exact run keeps constant.

    Wire it to the inputs and outputs of the plant. A wrong sign or frame in the plant shows as a
    drifting balance. The state is [work, impulse, angular impulse]. The forces include the reaction
    of the ground on a fixed base, and those of friction, stops, prescribed joints and the robot's
    own springs and ports. The ports for these are those of MULTIBODY and CLOSED_CHAIN.

    Source: Newton and Euler for the system, d/dt p = sum f, d/dt h = sum n + r x f.

    :arg damping: the damping of a CLOSED_CHAIN with singular: damp, 0 for none
    """

    nin = 9
    nout = 7
    takes = quantities("tau0? taum wF0? wFm? R0 r0 qm u0 um")
    gives = quantities("p h energy work p_balance h_balance energy_balance")
    robot = ROBOT
    damping = fixed("float", "", 0.0)

    def build(self, damping: Any) -> dict[str, Any]:
        self.damping, self.closed = damping, bool(self.robot.loops or self.robot.forces)
        optional = "" if self.robot.nu and not self.closed else "taum"
        more = (*prescribed_ports(self.robot), *mode_ports(self.robot), *force_ports(self.robot))
        return {
            "x0": np.zeros(7),
            "feedthrough": True,
            **self.resolve_ports(self.robot, optional=optional, more=(more, ())),
        }

    def output(self, t: float, inputs: list[Any], x: Array) -> list[Any]:
        R0, r0, qm, u0, um = inputs[4:9]
        K = kinematics(R0, r0, qm, self.robot)
        D = diff_kinematics(R0, r0, K.rL, K.e, K.g, self.robot)
        V = velocities(*D, u0, um, self.robot)
        I = inertias(R0, K.RL, self.robot)
        p, h = momentum(*V, *I, r0, K.rL, self.robot)
        energy = kinetic_energy(*V, *I, self.robot) + motor_energy(um, self.robot)
        energy = energy.reshape(())
        work = x[:1].reshape(())
        return [p, h, energy, work, p - x[1:4], h - x[4:7], energy - work]

    def deriv(self, t: float, inputs: list[Any], x: Array) -> Array:
        tau0, taum, wF0, wFm, R0, r0, qm, u0, um = inputs[:9]
        given = dict(zip((port.name for port in self.in_ports), inputs, strict=True))
        rates: Any = None
        if self.closed:
            s = Parts(R0, r0, qm, u0, um, given.get("modes", np.zeros(0)))
            taum, wF0, wFm = loads_of(self.robot, s, given)
            rates = closed_rates_of(self.robot, s, given, self.damping)
        elif self.robot.base == "fixed" or self.robot.effects or self.robot.kinematic:
            del given["r0"]
            taum = given["taum"] = driven_forces(taum, self.robot)
            rates = hybrid_rates(robot=self.robot, **given)
        K = kinematics(R0, r0, qm, self.robot)
        D = diff_kinematics(R0, r0, K.rL, K.e, K.g, self.robot)
        t0, tL = velocities(*D, u0, um, self.robot)
        base = zeros(6, tau0, wF0, R0)
        base[:3], base[3:] = R0 @ tau0[:3] + wF0[:3], tau0[3:] + wF0[3:]
        if rates is not None:
            base = base + rates.reaction
            taum = zeros(self.robot.nu, taum, rates.load, rates.tau_k) + taum - rates.load
            for k, tau in zip(self.robot.kinematic, rates.tau_k, strict=True):
                taum[k] = taum[k] + tau
        force, moment = base[3:], base[:3] + cross(r0, base[3:])
        power = base.reshape(1, 6) @ t0 + np.reshape(taum, (1, -1)) @ um
        for r, w, twist in zip(K.rL, wFm, tL, strict=True):
            force, moment = force + w[3:], moment + w[:3] + cross(r, w[3:])
            power = power + w.reshape(1, 6) @ twist
        return np.concatenate([power, force, moment])
