"""Zero-crossings: the times at which a STOP or an EVENT block sees its signal cross zero.

A crossing is bracketed by an accepted step and located on the step's dense output.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.optimize import brentq

from spart_blocks.diagram.flatten import Node
from spart_blocks.simulation.interpreter import (
    Floats,
    Interpreter,
    Values,
    raise_run_error,
)

LOCATED_WITHIN = 1e-10
"""Width [s] within which a crossing's time is known."""


@dataclass(frozen=True)
class Crossing:
    """A signal whose sign is watched. direction is +1 or -1; stop says that the run ends."""

    node: Node
    direction: float
    stop: bool

    @property
    def has_function(self) -> bool:
        """Whether a STOP looks at a function of its signal."""
        return self.stop and self.node.block.stopfunc is not None

    def value(self, engine: Interpreter, values: Values) -> float:
        """The watched value; it crosses from negative to positive, or back."""
        signal = engine.inputs(self.node, values)[0]
        if self.stop:
            # STOP acts where its signal, or its function of it, is true or above zero.
            return float(self.node.block._stop_metric(signal))
        return float(np.reshape(signal, ()))

    def crossed(self, before: float, after: float) -> bool:
        return before * self.direction <= 0 < after * self.direction


def crossings_of(nodes: tuple[Node, ...]) -> tuple[Crossing, ...]:
    """The STOP and EVENT blocks of bdsim 1.4 among the nodes."""
    found = []
    for node in nodes:
        if node.block.type == "stop":
            found.append(Crossing(node, 1.0, True))
        elif node.block.type == "event":
            found.append(Crossing(node, float(node.block.direction), False))
    return tuple(found)


def locate(
    crossing: Crossing,
    engine: Interpreter,
    dense: Callable[[float], Floats],
    xd: Floats,
    t0: float,
    t1: float,
) -> float:
    """The time [s] just at or after the crossing within [t0, t1]."""

    def watched(t: float) -> float:
        value = crossing.value(engine, engine.outputs(t, dense(t), xd))
        return value * crossing.direction or -np.finfo(float).tiny

    if watched(t0) >= 0:
        return t0
    t = brentq(watched, t0, t1, xtol=LOCATED_WITHIN / 4, rtol=4 * np.finfo(float).eps)
    # The far side, so that the signal has its new sign and does not cross again.
    step = LOCATED_WITHIN / 4
    while watched(min(t, t1)) < 0 and t < t1:
        t, step = t + step, 2 * step
    return float(min(t, t1))


def handle(
    crossing: Crossing, engine: Interpreter, t: float, x: Floats, xd: Floats
) -> tuple[Floats, Floats]:
    """The states after an EVENT block's function, which may reset them."""
    x, xd = x.copy(), xd.copy()
    states: dict[Any, Floats] = {}
    for i, part in engine.continuous.items():
        states[engine.nodes[i].block] = x[part]
    for i, part in engine.sampled.items():
        states[engine.nodes[i].block] = xd[part]
    try:
        crossing.node.block.event_handler(t, x, states, None)
    except Exception as error:
        raise_run_error(crossing.node, "its function", t, error)
    return x, xd
