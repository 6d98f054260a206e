"""Play between two parts: in continuous time, and exact on a clock."""

from __future__ import annotations

from typing import Any

import numpy as np
from bdsim.components import ContinuousBlock, SampledBlock

from spart_blocks.base.spatial import Array
from spart_blocks.block_support.channels import Channels
from spart_blocks.block_support.declared import PortSpec
from spart_blocks.block_support.parameters import fixed, tunable
from spart_blocks.formulas.crossings import flat


class _Play(Channels):
    """What BACKLASH and BACKLASH_S share.

    :arg gap: width of the gap, in the unit of u
    :arg bandwidth: bandwidth of the contact
    :arg y0: initial y, in the unit of u
    """

    takes = (PortSpec("u", "float or n", "", "position of the driving part"),)
    gives = (PortSpec("y", "float or n", "", "position of the driven part, in the unit of u"),)
    gap = tunable("float or n", least=0)
    bandwidth = tunable("float or n", "1/s", 1000.0, above=0)
    y0 = fixed("float or n", "", 0.0)

    def build(self, y0: Any) -> dict[str, Any]:
        return self.begin(None, y0=y0)


class Backlash(_Play, ContinuousBlock):
    """Play in a gear or a linkage: the output rests while the input moves within a gap.

    y' = bandwidth d, where d is what u - y exceeds -gap/2 to gap/2 by: in the gap y rests, at its
    ends it follows u at the distance gap/2, with a first-order lag. For u of the rate r the lag is
    r / bandwidth. A step ends where the parts meet and part. BACKLASH_S is exact, at the ticks of a
    clock.

    Source: A. Gelb and W. E. Vander Velde, "Multiple-Input Describing Functions and Nonlinear
    System Design" (1968), app. B, for its describing function.

    """

    nin = 1
    nout = 1

    def deriv(self, t: float, inputs: list[Any], x: Array) -> Any:
        apart, half = self._apart(inputs, x), 0.5 * self.gap
        return self.bandwidth * (apart - np.clip(apart, -half, half))

    def watch(self, t: float, inputs: list[Any], x: Array) -> list[Any]:
        apart, half = self._apart(inputs, x), 0.5 * self.gap
        return flat(apart - half, apart + half)

    def _apart(self, inputs: list[Any], x: Array) -> Any:
        return self._each(inputs[0]) - x


class Backlash_S(_Play, SampledBlock):
    """Play in a gear or a linkage, at the ticks of a clock.

    At a tick y becomes y moved as little as needed for |u - y| <= gap/2: y rests while u moves
    within the gap, and follows it at its ends. It is held until the next tick.

    Source: A. Gelb and W. E. Vander Velde, "Multiple-Input Describing Functions and Nonlinear
    System Design" (1968), app. B, for its describing function.

    :arg y0: y before the first tick, in the unit of u
    """

    nin = 1
    nout = 1
    omits = ("bandwidth",)

    def next(self, t: float, inputs: list[Any], x: Array) -> Any:
        u, half = self._each(inputs[0]), 0.5 * self.gap
        return np.minimum(np.maximum(x, u - half), u + half)
