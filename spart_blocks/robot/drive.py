"""Limits, motor, transmission, friction and stops of a joint.

Sources: P. I. Corke, "A Robotics Toolbox for MATLAB", IEEE Robotics and Automation Magazine
3 (1996), and the toolbox's link object, for motor and friction; B. Armstrong-Helouvry, P.
Dupont, C. Canudas de Wit, "A survey of models, analysis tools and compensation methods for
the control of machines with friction", Automatica 30 (1994), sec. 2.1, for static friction and
its fall; K. H. Hunt and F. R. E. Crossley, "Coefficient of restitution interpreted as damping in
vibroimpact", ASME J. Applied Mechanics 42 (1975), for the stops.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np

from spart_blocks.base.errors import RobotError
from spart_blocks.robot._record import FrozenArrays

Effect = Literal["motors", "friction", "stops", "limits"]
EFFECTS: tuple[Effect, ...] = ("motors", "friction", "stops", "limits")
ALL_EFFECTS: tuple[Effect, ...] = ("motors", "friction", "stops")
"""The effects of `all`. Effort limits restrict controllers, so they must be named explicitly."""
DEFAULT_EFFECTS: tuple[Effect, ...] = ("motors", "friction")
"""The effects of a robot with motors."""


@dataclass(frozen=True, eq=False)
class Limits(FrozenArrays):
    """Limits of a joint: position [rad or m], effort [N m or N], velocity [rad/s or m/s].

    For controllers and displays. With the effect "stops", position limits act as stiff stops; with
    "limits", joint forces are also limited to the effort. An effort or a velocity of 0 counts as
    not given.
    """

    lower: float = -np.inf
    upper: float = np.inf
    effort: float = np.inf
    velocity: float = np.inf


@dataclass(frozen=True, eq=False)
class Drive(FrozenArrays):
    """Motor, transmission, friction and stops of a joint.

    gear: turns of the motor for one of the joint, G; negative where they turn against each
    other. motor_inertia: Jm [kg m^2], and viscous: B [N m s/rad], coulomb: (Tc+, Tc-)
    [N m], at the motor; Tc- is not above zero. At the joint they count G^2 Jm, G^2 B and
    |G| Tc, by the sign of the joint's velocity. static: (Ts+, Ts-) [N m], at the motor, the
    friction at rest, no less than Tc, and stribeck: vs [rad/s], of the motor, the velocity of its
    fall: Tc + (Ts - Tc) exp(-(v/vs)^2). Both are given or neither. Where a motor slides, N and
    m/s take the place of N m and rad/s. stiffness [N m/rad or N/m] and dissipation
    [s/rad or s/m] of its stops: k and c in the force k d (1 + c d') at the depth d; where
    the stiffness is not given it follows from the inertia that the joint moves.
    Raises RobotError for a gear of zero, figures that are not finite, or of the wrong sign,
    and for static friction below Coulomb's.
    """

    gear: float = 1.0
    motor_inertia: float = 0.0
    viscous: float = 0.0
    coulomb: tuple[float, float] = (0.0, 0.0)
    stiffness: float | None = None
    dissipation: float | None = None
    static: tuple[float, float] | None = None
    stribeck: float | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        for name, value in self._numbers():
            if not math.isfinite(value):
                raise RobotError(f"{name} is {value!r}; it must be a finite number")
        if self.gear == 0:
            raise RobotError("gear is 0; a motor that does not turn with the joint has no gear")
        for name in ("motor_inertia", "viscous", "dissipation"):
            value = getattr(self, name)
            if value is not None and value < 0:
                raise RobotError(f"{name} is {value:g}; it must not be negative")
        if self.stiffness is not None and self.stiffness <= 0:
            raise RobotError(f"stiffness is {self.stiffness:g}; it must be positive")
        forward, backward = self.coulomb
        if forward < 0 or backward > 0:
            raise RobotError(
                f"coulomb is [{forward:g}, {backward:g}]; the first, which brakes a joint that "
                "moves forwards, must not be negative, and the second not positive"
            )
        self._check_static(forward, backward)

    def _check_static(self, forward: float, backward: float) -> None:
        if (self.static is None) != (self.stribeck is None):
            given, missing = ("static", "stribeck") if self.static else ("stribeck", "static")
            raise RobotError(
                f"{given} is given without {missing}; friction falls from static, at rest, to "
                "coulomb at velocities beyond stribeck: give both"
            )
        if self.stribeck is not None and self.stribeck <= 0:
            raise RobotError(f"stribeck is {self.stribeck:g}; it must be a positive velocity")
        if self.static is not None and (self.static[0] < forward or self.static[1] > backward):
            raise RobotError(
                f"static is [{self.static[0]:g}, {self.static[1]:g}], less than coulomb, "
                f"[{forward:g}, {backward:g}]; friction at rest is no less than in motion"
            )

    def _numbers(self) -> list[tuple[str, float]]:
        single = ("gear", "motor_inertia", "viscous", "stiffness", "dissipation", "stribeck")
        given = [(name, getattr(self, name)) for name in single]
        pairs = [*given, *(("coulomb", value) for value in self.coulomb)]
        pairs += [("static", value) for value in self.static or ()]
        return [(name, value) for name, value in pairs if value is not None]
