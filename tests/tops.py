"""A symmetric top on a spherical joint, and its steady precession in closed form."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.spatial.transform import Rotation

from spart_blocks.diagram import new_diagram
from spart_blocks.robot import BaseLink, Joint, JointType, Link, Robot

GRAVITY = 9.81


@dataclass(frozen=True)
class Top:
    """Mass [kg] at the distance arm [m] from the point that it stands on, along its axis z;
    A, C [kg m^2]: inertias about that point, across the axis and about it."""

    mass: float = 0.7
    arm: float = 0.3
    A: float = 0.1
    C: float = 0.03

    @property
    def robot(self) -> Robot:
        links, joints = [], []
        across = self.A - self.mass * self.arm**2
        for i, axis in enumerate(np.eye(3), start=1):
            last = i == 3
            T, inertia = np.eye(4), np.diag([across, across, self.C]) if last else np.zeros((3, 3))
            T[2, 3] = self.arm if last else 0.0
            name, mass = f"ball.{'xyz'[i - 1]}", self.mass if last else 0.0
            joints.append(Joint(i, name, JointType.SPHERICAL, i, i - 1, i, axis, np.eye(4)))
            links.append(Link(i, "top" if last else f"of {name}", i, T, mass, inertia))
        ground = BaseLink("ground", np.eye(4), 0.0, np.zeros((3, 3)))
        return Robot("top", tuple(links), tuple(joints), ground, base="fixed")

    @property
    def weight(self) -> float:
        """m g l [N m]."""
        return self.mass * GRAVITY * self.arm

    def diagram(self, initial, torque=(0.0, 0.0, 0.0)):
        """The top under its weight, as block `plant`, with a constant torque, `torque`."""
        bd, robot = new_diagram("top"), self.robot
        plant = bd.MULTIBODY(robot, initial=initial, name="plant")
        weight = bd.GRAVITY(robot, gravity=[0, 0, -GRAVITY], name="weight")
        inputs = {port.name: plant[k] for k, port in enumerate(plant.in_ports)}
        bd.connect(weight[1], inputs["wFm"])
        bd.connect(bd.CONSTANT(np.array(torque), name="torque"), inputs["taum"])
        return bd

    def energy(self, q, w):
        """Kinetic and potential energy [J] at quaternions q (N,4) and body rates w (N,3)."""
        height = Rotation.from_quat(q).as_matrix()[:, 2, 2]
        return w**2 @ [self.A / 2, self.A / 2, self.C / 2] + self.weight * height

    def vertical_momentum(self, q, w):
        """Angular momentum about the vertical [N m s]."""
        momentum = w * [self.A, self.A, self.C]
        return np.einsum("ni,ni->n", Rotation.from_quat(q).as_matrix()[:, 2], momentum)

    def precession(self, tilt, rate):
        """The start of a steady precession at this tilt [rad] and rate [rad/s], and its
        rotations at times t. Source: H. Goldstein, "Classical Mechanics", 2nd ed., eq. 5-76:
        A rate^2 cos(tilt) - C w3 rate + m g l = 0 for the rate w3 about the top's axis."""
        w3 = (self.A * rate**2 * np.cos(tilt) + self.weight) / (self.C * rate)
        spin = w3 - rate * np.cos(tilt)
        um = [-rate * np.sin(tilt), 0.0, w3]

        def turned(t):
            angles = np.stack([rate * t, np.full_like(t, tilt), spin * t], axis=1)
            return Rotation.from_euler("ZYZ", angles)

        start = {"ball": turned(np.zeros(1)).as_quat()[0].tolist()}
        return {"qm": start, "um": {"ball": um}}, turned
