"""Dry friction of one speed: its law, and the mode in which it slides or sticks."""

from __future__ import annotations

from typing import Any

import numpy as np

from spart_blocks.block_support.values import in_order, not_negative, positive, positive_number


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
    _exponent: float

    def _take_friction(
        self, coulomb: Any, static: Any, stribeck: Any, exponent: Any, viscous: Any
    ) -> dict[str, Any]:
        """Keep the parameters of the law; returns those that may be vectors, by name."""
        self.coulomb = not_negative(coulomb, "coulomb")
        self.static = self.coulomb if static is None else not_negative(static, "static")
        self.stribeck = positive(stribeck, "stribeck")
        self.viscous = not_negative(viscous, "viscous")
        self._exponent = positive_number(exponent, "exponent")
        names = ("coulomb", "static", "stribeck", "viscous")
        return {name: getattr(self, name) for name in names}

    def _check_friction(self) -> None:
        """InputError where the static friction is below that of sliding."""
        in_order(self.coulomb, self.static, ("coulomb", "static"))

    def _holds(self, normal: Any) -> Any:
        """The largest force that friction resists at rest; tuned parameters may be in the wrong
        order.
        """
        return _pressed(normal) * np.maximum(self.static, self.coulomb)

    def _resists(self, v: Any, mode: Any, normal: Any) -> Any:
        """The friction of a sliding pair, in the direction of v."""
        fall = np.exp(-(np.abs(v / self.stribeck) ** self._exponent))
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
