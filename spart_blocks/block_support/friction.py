"""Dry friction of one speed: its law, and the mode in which it slides or sticks."""

from __future__ import annotations

from typing import Any

import numpy as np

from spart_blocks.block_support.values import in_order


class DryFriction:
    """Friction of surfaces that slide at the speed v under the normal force N:

    F(v) = N (coulomb + (static - coulomb) exp(-|v / stribeck|^exponent)) against the motion, and
    viscous v. The mode is 1 or -1 where they slide forwards or backwards, and 0 where they stick:
    there v is 0, and friction resists any force up to N static.
    """

    coulomb: Any
    static: Any
    stribeck: Any
    viscous: Any
    exponent: float

    def _check_friction(self) -> None:
        """Without static friction it is that of sliding; an InputError where it is below that."""
        if self.static is None:
            self.static = self.coulomb
        in_order(self.coulomb, self.static, ("coulomb", "static"))

    def _holds(self, normal: Any) -> Any:
        """The largest force that friction resists at rest; tuned parameters may be in the wrong
        order.
        """
        return _pressed(normal) * np.maximum(self.static, self.coulomb)

    def _resists(self, v: Any, mode: Any, normal: Any) -> Any:
        """The friction of a sliding pair, in the direction of v."""
        fall = np.exp(-(np.abs(v / self.stribeck) ** self.exponent))
        dry = self.coulomb + (np.maximum(self.static, self.coulomb) - self.coulomb) * fall
        return mode * _pressed(normal) * dry + self.viscous * v

    def _unfit(self, force: Any, v: Any, mode: Any, normal: Any) -> Any:
        """Above zero where a sliding pair has come to rest, and a sticking one breaks away."""
        breaks = np.abs(force) - self._holds(normal)
        return np.where(np.abs(mode) > 0.5, -mode * v, breaks)

    def _mode_at_rest(self, force: Any, normal: Any) -> Any:
        """The mode under a force at v = 0."""
        return np.where(np.abs(force) > self._holds(normal), np.sign(force), 0.0)


def _pressed(normal: Any) -> Any:
    return np.maximum(normal, 0.0)
