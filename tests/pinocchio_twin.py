"""The Pinocchio model of a Robot, and what goes across: an independent second opinion.

Pinocchio's free flyer has v = [linear, angular] velocity of the base frame in base axes
and accelerations that are spatial; ours is u0 = [omega base axes, rdot inertial]. Its spherical
joint has our quaternion and rates; one against the tree goes across backwards.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pinocchio as pin
from robots import State
from scipy.spatial.transform import Rotation

from spart_blocks.robot import JointType, Robot


def se3(T: Any) -> pin.SE3:
    return pin.SE3(np.ascontiguousarray(T[:3, :3]), np.ascontiguousarray(T[:3, 3]))


def depth_first(robot: Robot) -> list[int]:
    """Link ids, each subtree in one piece: Pinocchio's crba relies on it."""
    order: list[int] = []
    pending = [0]
    while pending:
        i = pending.pop()
        order.append(i)
        pending += [k for k, parent in enumerate(robot.parents, start=1) if parent == i]
    return order[1:]


@dataclass
class Twin:
    """A Pinocchio model whose frames are SPART's, and the places of our coordinates in it."""

    robot: Robot
    floating: bool

    def __post_init__(self) -> None:
        robot, model = self.robot, pin.Model()
        root = 0
        if self.floating:
            root = model.addJoint(0, pin.JointModelFreeFlyer(), pin.SE3.Identity(), "base")
            base = robot.base_link
            model.appendBodyToJoint(
                root, pin.Inertia(base.mass, np.zeros(3), base.inertia), pin.SE3.Identity()
            )
        # (Pinocchio's joint, pose of the link's centre-of-mass frame in it) of each link
        self.home = {0: (root, pin.SE3.Identity())}
        order, sense, places, turned = [], [], [], []
        for i in depth_first(robot):
            joint, link = robot.joints[i - 1], robot.links[i - 1]
            parent, placement = self.home[joint.parent_link]
            placement = placement * se3(joint.T)
            q = robot.q_slices[i - 1]
            if joint.type is not JointType.FIXED:
                order.append(joint.q_id - 1)
                against = joint.type is JointType.SPHERICAL and joint.axis.sum() < 0
                sense.append(-1.0 if against else 1.0)
            if q is not None:
                places += range(q.start, q.stop)
                turned += [sense[-1]] * 3 + [1.0] if joint.type is JointType.SPHERICAL else [1.0]
            if q is not None and joint.type is JointType.SPHERICAL:
                parent = model.addJoint(parent, pin.JointModelSpherical(), placement, joint.name)
                placement = pin.SE3.Identity()
            elif q is not None:
                kind = (
                    pin.JointModelRevoluteUnaligned
                    if joint.type is JointType.REVOLUTE
                    else pin.JointModelPrismaticUnaligned
                )
                parent = model.addJoint(parent, kind(joint.axis), placement, joint.name)
                placement = pin.SE3.Identity()
            placement = placement * se3(link.T)
            self.home[link.id] = (parent, placement)
            if link.mass or link.inertia.any():
                model.appendBodyToJoint(
                    parent, pin.Inertia(link.mass, np.zeros(3), link.inertia), placement
                )
        model.gravity = pin.Motion.Zero()
        self.model, self.data, self.order, self.sense = model, model.createData(), order, sense
        self.places, self.turned = places, turned
        self.back = np.argsort(order).astype(int)

    def q(self, s: State) -> Any:
        base = []
        if self.floating:
            base = [s.r0, Rotation.from_matrix(s.R0).as_quat()]
        return np.concatenate([*base, s.qm[self.places] * self.turned])

    def v(self, s: State) -> Any:
        base = [s.R0.T @ s.u0[3:], s.u0[:3]] if self.floating else []
        return np.concatenate([*base, s.um[self.order] * self.sense])

    def a(self, s: State) -> Any:
        base = []
        if self.floating:
            v = s.R0.T @ s.u0[3:]
            base = [s.R0.T @ s.u0dot[3:] - np.cross(s.u0[:3], v), s.u0dot[:3]]
        return np.concatenate([*base, s.umdot[self.order] * self.sense])

    def tau(self, s: State) -> Any:
        base = [s.R0.T @ s.tau0[3:], s.tau0[:3]] if self.floating else []
        return np.concatenate([*base, s.taum[self.order] * self.sense])

    def external(self, s: State) -> Any:
        """Wrenches at the centres of mass, gathered at Pinocchio's joints. A fixed base
        stands at the origin, upright."""
        pin.forwardKinematics(self.model, self.data, self.q(s))
        forces = pin.StdVec_Force()
        total = [pin.Force.Zero() for _ in self.model.joints]
        for link_id, (joint, placement) in self.home.items():
            w = s.wFm[link_id - 1] if link_id else s.wF0
            R = (self.data.oMi[joint] * placement).rotation
            total[joint] += placement.act(pin.Force(R.T @ w[3:], R.T @ w[:3]))
        forces.extend(total)
        return forces

    def aba(self, s: State) -> tuple[Any, Any]:
        """u0dot (zeros for a fixed base) and umdot."""
        external = self.external(s)
        a = pin.aba(self.model, self.data, self.q(s), self.v(s), self.tau(s), external)
        if not self.floating:
            return np.zeros(6), self._ours(a)
        v = s.R0.T @ s.u0[3:]
        rddot = s.R0 @ (a[:3] + np.cross(s.u0[:3], v))
        return np.concatenate([a[3:6], rddot]), self._ours(a[6:])

    def rnea(self, s: State) -> tuple[Any, Any]:
        """tau0 (empty for a fixed base) and taum."""
        external = self.external(s)
        tau = pin.rnea(self.model, self.data, self.q(s), self.v(s), self.a(s), external)
        if not self.floating:
            return np.zeros(0), self._ours(tau)
        return np.concatenate([tau[3:6], s.R0 @ tau[:3]]), self._ours(tau[6:])

    def _ours(self, v: Any) -> Any:
        """Rates or forces of joints in our order and sense."""
        return (v * self.sense)[self.back]

    def crba(self, s: State) -> Any:
        """H (6+nu,6+nu), or Hm (nu,nu) for a fixed base, in our coordinates."""
        M = pin.crba(self.model, self.data, self.q(s))
        M = np.triu(M) + np.triu(M, 1).T
        nu = self.robot.nu
        lead = 6 if self.floating else 0
        T = np.zeros((lead + nu, lead + nu))  # v = T u
        if self.floating:
            T[:3, 3:6], T[3:6, :3] = s.R0.T, np.eye(3)
        for row, k in enumerate(self.order):
            T[lead + row, lead + k] = self.sense[row]
        return T.T @ M @ T
