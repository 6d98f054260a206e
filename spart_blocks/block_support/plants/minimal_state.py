"""A robot's state in minimal coordinates, for linear controllers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from spart_blocks.base import spatial
from spart_blocks.base.spatial import Array
from spart_blocks.robot import Robot

_LEAST = 4e-12  # of 1 + trace: at half a turn both directions are equal


@dataclass(frozen=True)
class MinimalState:
    """The deviation of a robot's state from a pose at rest.

    base: whether it includes the base, [attitude, r0, qm, u0, um], or the joints only, [qm, um].
    attitude (3,) is the rotation from the pose, in base axes: for small angles a rotation vector,
    whose rate is the base's angular velocity.
    """

    robot: Robot
    base: bool

    @property
    def takes(self) -> str:
        """The quantities from which it is computed."""
        return "R0 r0 qm u0 um" if self.base else "qm um"

    @property
    def parts(self) -> dict[str, int]:
        """The names and sizes of its parts."""
        nu = self.robot.nu
        if not self.base:
            return {"qm": nu, "um": nu}
        return {"attitude": 3, "r0": 3, "qm": nu, "u0": 6, "um": nu}

    @property
    def size(self) -> int:
        """The total size."""
        return sum(self.parts.values())

    def deviation(self, inputs: list[Any], pose: tuple[Array, Array], qm: Any, um: Any) -> Array:
        """The deviation of the inputs (those of `takes`) from the base pose (R0, r0), qm and um."""
        joints = self.robot.difference(qm, inputs[-3 if self.base else 0])
        if not self.base:
            return np.concatenate([joints, inputs[1] - um])
        R0, r0, _, u0, now = inputs
        turned = attitude_error(pose[0], R0)
        return np.concatenate([turned, r0 - pose[1], joints, u0, now - um])


def attitude_error(Rd: Array, R: Array) -> Array:
    """The rotation from attitude Rd (3,3) to R (3,3), in body axes: 2 sin(angle/2) axis (3,). It
    grows up to half a turn, where the direction is undefined, and is zero there. Source: Markley
    and Crassidis, "Fundamentals of Spacecraft Attitude Determination
    and Control" (2014), sec. 7.2: twice the vector part of the error quaternion.
    """
    E = spatial.transpose(Rd) @ R
    pairs = ((2, 1), (0, 2), (1, 0))
    sine = np.concatenate([E[i, j : j + 1] - E[j, i : i + 1] for i, j in pairs]) / 2
    trace = E[0, 0:1] + E[1, 1:2] + E[2, 2:3]
    cosine = spatial.sqrt(np.maximum(1 + trace, _LEAST)) / 2
    return sine / cosine
