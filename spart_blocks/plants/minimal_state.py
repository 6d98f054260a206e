"""A robot's state in as many numbers as it can move in: what a linear controller sees."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from spart_blocks import spatial
from spart_blocks.robot import Robot
from spart_blocks.spatial import Array

_LEAST = 4e-12  # of 1 + trace: at half a turn there is no way round to prefer


@dataclass(frozen=True)
class MinimalState:
    """The deviation of a robot's state from a pose at rest.

    base: whether the base is among it, [attitude, r0, qm, u0, um], or the joints alone,
    [qm, um]. attitude (3,) is the turn from the pose, in base axes: for small ones a
    rotation vector, whose rate is the base's angular velocity.
    """

    robot: Robot
    base: bool

    @property
    def takes(self) -> str:
        """The quantities of which it is made."""
        return "R0 r0 qm u0 um" if self.base else "qm um"

    @property
    def parts(self) -> dict[str, int]:
        """The names of its parts, and how many numbers each has."""
        nu = self.robot.nu
        if not self.base:
            return {"qm": nu, "um": nu}
        return {"attitude": 3, "r0": 3, "qm": nu, "u0": 6, "um": nu}

    @property
    def size(self) -> int:
        """How many numbers it has."""
        return sum(self.parts.values())

    def deviation(self, inputs: list[Any], pose: tuple[Array, Array], qm: Any, um: Any) -> Array:
        """How far the inputs (those of `takes`) are from the base pose (R0, r0), qm and um."""
        joints = self.robot.difference(qm, inputs[-3 if self.base else 0])
        if not self.base:
            return np.concatenate([joints, inputs[1] - um])
        R0, r0, _, u0, now = inputs
        turned = attitude_error(pose[0], R0)
        return np.concatenate([turned, r0 - pose[1], joints, u0, now - um])


def attitude_error(Rd: Array, R: Array) -> Array:
    """The turn from attitude Rd (3,3) to R (3,3), in body axes: 2 sin(angle/2) axis (3,).

    It grows up to half a turn, where any way round is as short as another, and is zero
    there. Source: Markley and Crassidis, "Fundamentals of Spacecraft Attitude Determination
    and Control" (2014), sec. 7.2: twice the vector part of the error quaternion.
    """
    E = spatial.transpose(Rd) @ R
    pairs = ((2, 1), (0, 2), (1, 0))
    sine = np.concatenate([E[i, j : j + 1] - E[j, i : i + 1] for i, j in pairs]) / 2
    trace = E[0, 0:1] + E[1, 1:2] + E[2, 2:3]
    cosine = spatial.sqrt(np.maximum(1 + trace, _LEAST)) / 2
    return sine / cosine
