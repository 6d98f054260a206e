"""Random valid states of a diagram's blocks, for the check of a program."""

from __future__ import annotations

from typing import Any

import numpy as np

from spart_blocks.base.errors import RunError
from spart_blocks.base.random_numbers import NUMBERS, states_of
from spart_blocks.block_support.ports import attribute
from spart_blocks.program.tracing.rules import random_entries
from spart_blocks.run.engines.engine import Floats
from spart_blocks.run.engines.interpreter import Failing, Interpreter

SPREAD = 0.3
"""Standard deviation of random states around the given ones, for blocks without a
method `nearby`.
"""


def random_states(
    blocks: Interpreter, x: Floats, xd: Floats, rng: np.random.Generator
) -> tuple[Floats, Floats]:
    """Random states near x and xd.

    A block whose state has constraints makes it by its method `nearby(x, spread, rng)`; a held
    state is made by its block. Raises RunError if this has the wrong shape.
    """
    near = tuple(s + rng.normal(scale=SPREAD, size=len(s)) for s in (x, xd))
    held = {one.name: one.block for one in blocks.holds}
    outputs = {one.name for one in blocks.holds if one.shows == "output"}
    parts = [(0, name, part) for name, part in blocks.continuous.items()]
    parts += [
        (1, held.get(name, name), part)
        for name, part in blocks.sampled.items()
        if name not in outputs
    ]
    for which, name, part in parts:
        near[which][part] = _nearby(blocks, name, (x, xd)[which][part], near[which][part], rng)
    return near[0], near[1]


def _nearby(
    blocks: Interpreter, name: str, x: Floats, near: Floats, rng: np.random.Generator
) -> Floats:
    """A random valid state of a block near x. near: an unconstrained random state."""
    node = blocks.node[name]
    count = random_entries(node.block, len(x))
    if count:  # generators of random numbers have whole numbers
        words = rng.integers(2**32, size=(count // NUMBERS, NUMBERS)).astype(float)
        return np.concatenate([states_of(words).ravel(), near[count:]])
    own: Any = attribute(node.block, "nearby")
    if own is None:
        return near
    with Failing(node, "nearby", 0.0):
        found: Floats = np.asarray(own(x.copy(), SPREAD, rng), dtype=float)
    if found.shape != x.shape:
        text = f"nearby gives {found.shape}, its state is {x.shape}"
        raise RunError(text, block=name, place=node.place)
    return found
