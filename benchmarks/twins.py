"""A robot in this package and in Pinocchio: the same functions of the same arrays.

q, v, a, tau are Pinocchio's, in its order of joints. A free flyer has q = [r, quaternion],
v = [linear, angular] of the base's URDF frame in its own axes, and forces that fit them.
"""

from __future__ import annotations

import statistics
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from importlib import metadata
from pathlib import Path

import numpy as np
import pinocchio as pin

import spart_blocks as sb
from spart_blocks.base.errors import SpartWarning
from spart_blocks.base.spatial import cross, quaternion_rotation, skew
from spart_blocks.dynamics import (
    gravity_wrenches,
    multibody_forces,
    multibody_inertia,
    multibody_rates,
)

ARM = Path(__file__).parents[1] / "models" / "arm7.urdf"
HUMANOID = "talos_data/robots/talos_full_v2.urdf"


def humanoid() -> Path | None:
    """Talos of the PyPI package example-robot-data, where that is installed."""
    for package in metadata.distributions(name="example-robot-data"):
        for file in package.files or []:
            if str(file).endswith(HUMANOID):
                return Path(str(file.locate()))
    return None


@dataclass(frozen=True)
class Twins:
    """One URDF file read by both."""

    path: Path
    floating: bool

    @cached_property
    def robot(self) -> sb.Robot:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SpartWarning)
            base = "floating" if self.floating else "fixed"
            return sb.Robot.from_urdf(self.path, base=base)

    @cached_property
    def model(self) -> pin.Model:
        root = [pin.JointModelFreeFlyer()] if self.floating else []
        return pin.buildModelFromUrdf(str(self.path), *root)

    @property
    def name(self) -> str:
        base = "free-flying" if self.floating else "fixed base"
        return f"{self.path.stem}, {self.robot.nu} joints, {base}"

    @cached_property
    def order(self) -> np.ndarray:
        """The place in Pinocchio's joints of each of ours."""
        names = list(self.model.names)[2 if self.floating else 1 :]
        moving = sorted((j.q_id, j.name) for j in self.robot.joints if j.q_id > 0)
        return np.array([names.index(name) for _, name in moving])

    def random(self, seed: int = 0) -> dict[str, np.ndarray]:
        rng = np.random.default_rng(seed)
        q = rng.uniform(-1, 1, self.model.nq)
        if self.floating:
            q[3:7] /= np.linalg.norm(q[3:7])
        return {"q": q} | {name: rng.normal(size=self.model.nv) for name in ("v", "a", "tau")}

    # --- ours, in Pinocchio's coordinates -------------------------------------------------

    @cached_property
    def weights(self):
        return gravity_wrenches(np.array(self.model.gravity.linear), self.robot)

    @property
    def lead(self) -> int:
        return 6 if self.floating else 0

    def joints(self, x):
        return x[len(x) - self.robot.nu :][self.order]

    def pose(self, q):
        """Of the base's URDF frame R, of the frame at its centre of mass R0, and from the
        one to the other, in the axes of the first: rotation Q and arm p."""
        T = self.robot.base_link.T
        Q, p = T[:3, :3], T[:3, 3]
        R = quaternion_rotation(q[3:7]) if self.floating else np.eye(3)
        return R, R @ Q, Q, p

    def base_rates(self, q, v):
        if not self.floating:
            return np.zeros(6)
        R, _, Q, p = self.pose(q)
        return np.concatenate([Q.T @ v[3:6], R @ (v[:3] + cross(v[3:6], p))])

    def base_bias(self, v):
        """What Pinocchio's spatial acceleration of the base lacks to that of the point."""
        w, p = v[3:6], self.robot.base_link.T[:3, 3]
        return cross(w, v[:3]) + cross(w, cross(w, p))

    def forward(self, q, v, tau):
        """aba: the accelerations a."""
        R, R0, Q, p = self.pose(q)
        tau0 = np.zeros(6)
        if self.floating:
            tau0 = np.concatenate([Q.T @ (tau[3:6] - cross(p, tau[:3])), R @ tau[:3]])
        u0, qm, um = self.base_rates(q, v), self.joints(q), self.joints(v)
        rates = multibody_rates(R0, u0, qm, um, tau0, self.joints(tau), *self.weights, self.robot)
        joints = rates.umdot[np.argsort(self.order)]
        if not self.floating:
            return joints
        wdot = Q @ rates.u0dot[:3]
        linear = R.T @ rates.u0dot[3:] - cross(wdot, p) - self.base_bias(v)
        return np.concatenate([linear, wdot, joints])

    def inverse(self, q, v, a):
        """rnea: the forces tau."""
        R, R0, Q, p = self.pose(q)
        u0, u0dot, um = self.base_rates(q, v), np.zeros(6), self.joints(v)
        if self.floating:
            linear = a[:3] + cross(a[3:6], p) + self.base_bias(v)
            u0dot = np.concatenate([Q.T @ a[3:6], R @ linear])
        needed = multibody_forces(
            R0, u0, self.joints(q), um, u0dot, self.joints(a), *self.weights, self.robot
        )
        joints = needed.taum[np.argsort(self.order)]
        if not self.floating:
            return joints
        force = R.T @ needed.tau0[3:]
        return np.concatenate([force, Q @ needed.tau0[:3] + cross(p, force), joints])

    def inertia(self, q):
        """crba: the inertia matrix, which does not depend on the pose of the base."""
        T, back = self.robot.base_link.T, np.argsort(self.order)
        H = multibody_inertia(T[:3, :3], self.joints(q), self.robot)
        joints = H.Hm[back][:, back]
        if not self.floating:
            return joints
        X = np.zeros((6, 6))  # from Pinocchio's rates of the base to ours, upright
        X[:3, 3:], X[3:, :3], X[3:, 3:] = T[:3, :3].T, np.eye(3), -skew(T[:3, 3])
        mixed = X.T @ H.H0m[:, back]
        return np.block([[X.T @ H.H0 @ X, mixed], [mixed.T, joints]])


def repeated(call: Callable[[], object]) -> Callable[[int], None]:
    """The call so many times."""

    def repeat(calls: int) -> None:
        for _ in range(calls):
            call()

    return repeat


def interleaved(
    peers: dict[str, Callable[[int], None]], rounds: int, moment: float
) -> dict[str, list[float]]:
    """Seconds a call of each peer(calls), in rounds of about `moment` seconds each."""
    calls = {}
    for name, peer in peers.items():
        peer(10)
        start = time.perf_counter()
        peer(100)
        calls[name] = max(10, int(100 * moment / (time.perf_counter() - start)))
    times: dict[str, list[float]] = {name: [] for name in peers}
    for _ in range(rounds):
        for name, peer in peers.items():
            start = time.perf_counter()
            peer(calls[name])
            times[name].append((time.perf_counter() - start) / calls[name])
    return times


def ratio(times: dict[str, list[float]], name: str, to: str) -> float:
    """How many times slower `to` is: the median over rounds, in which both felt the same."""
    return statistics.median(b / a for a, b in zip(times[name], times[to], strict=True))
