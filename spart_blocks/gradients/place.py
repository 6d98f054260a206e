"""States at a time, with their changes along directions."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from spart_blocks.gradients.tangents import Floats


@dataclass(frozen=True)
class Place:
    """States at a time, with their changes along directions.

    t [s], x (nx,), xd (nd,). dx (nx, m), dxd (nd, m): at a time that moves by dt (m,).
    """

    t: float
    x: Floats
    xd: Floats
    dx: Floats
    dxd: Floats
    dt: Floats

    def moving(self, slope: Floats, dt: Floats) -> Place:
        """The same at a time that moves by dt. slope (nx,): the rates."""
        return replace(self, dx=self.dx + np.outer(slope, dt - self.dt), dt=dt)

    def still(self, slope: Floats) -> Place:
        """The same at a fixed time."""
        return self.moving(slope, np.zeros_like(self.dt))
