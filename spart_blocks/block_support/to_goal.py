"""Common parts of references from one joint position to another."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from spart_blocks.base.errors import InputError
from spart_blocks.base.spatial import Array
from spart_blocks.block_support.parameters import need_robot
from spart_blocks.block_support.ports import Shape
from spart_blocks.block_support.reference_values import of_one_width
from spart_blocks.block_support.values import numbers
from spart_blocks.robot import Robot
from spart_blocks.robot.coordinates import checked_configuration


class ToGoal:
    """A motion from q0 to qf: entry by entry, or for the joints of a robot, with spherical ones
    about one axis.
    """

    robot: Robot | None
    q0: Array
    qf: Array
    tunable: tuple[str, ...] = ()

    def _take(self, q0: Any, qf: Any, robot: Any, rates: Mapping[str, Any]) -> Shape:
        """Check and store the end positions and rates; returns the shape of a motion."""
        if robot is None:
            self.robot, values = None, of_one_width({"q0": q0, "qf": qf, **rates})
        else:
            self.robot = need_robot(robot, type(self).__name__.upper())
            values = _of_robot(self.robot, {"q0": q0, "qf": qf}, rates)
        for name, value in values.items():
            setattr(self, name, value)
        if robot is not None and robot.balls:  # tuned values are not checked
            self.tunable = tuple(name for name in self.tunable if name not in rates)
        return self.q0.shape if self.robot is None else (self.robot.nu,)

    def _way(self) -> Array:
        """The motion of the joints from q0 to qf."""
        if self.robot is not None:
            return self.robot.difference(self.q0, self.qf)  # type: ignore[no-any-return]
        return self.qf - self.q0

    def _origin(self) -> Any:
        """The origin of the motion: q0 for a robot, otherwise zero."""
        return self.q0 if self.robot is None else 0.0

    def _reached(self, moved: Array) -> Array:
        """The position after a motion from the origin."""
        if self.robot is None:
            return moved
        return self.robot.integrate(self.q0, moved)  # type: ignore[no-any-return]


def _of_robot(robot: Robot, ends: Mapping[str, Any], rates: Mapping[str, Any]) -> dict[str, Array]:
    values = {}
    for name, value in ends.items():
        q = numbers(value, name, (robot.nq,))
        values[name] = checked_configuration(q, robot.layout, name)
    for name, value in rates.items():
        given = numbers(value, name)
        values[name] = numbers(np.full(robot.nu, given) if given.ndim == 0 else given, name,
                               (robot.nu,))  # fmt: skip
        for entry in robot.layout:
            if entry.spherical and values[name][entry.u].any():
                raise InputError(f"{name} of {entry.name} must be zero: it turns about one axis")
    return values
