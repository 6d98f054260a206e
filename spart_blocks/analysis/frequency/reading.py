"""A quantity of a linear system, with its changes along directions of parameters."""

from __future__ import annotations

from dataclasses import dataclass

from spart_blocks.run.engines.engine import Floats


@dataclass(frozen=True)
class Reading:
    """value, and its changes (m,) along m directions. w [rad/s]: the frequency at which it is
    found; nan where it is of none.
    """

    value: float
    changes: Floats
    w: float
