"""Shift registers of maximum length."""

from __future__ import annotations

from typing import Any

import numpy as np

from spart_blocks.base.errors import Fault, InputError, brief
from spart_blocks.base.spatial import Array

TAPS: dict[int, tuple[int, ...]] = {
    2: (1,), 3: (2,), 4: (3,), 5: (3,), 6: (5,), 7: (6,), 8: (7, 6, 1), 9: (5,), 10: (7,),
    11: (9,), 12: (11, 10, 4), 13: (12, 11, 8), 14: (13, 12, 2), 15: (14,), 16: (15, 13, 4),
    17: (14,), 18: (11,), 19: (18, 17, 14), 20: (17,), 21: (19,), 22: (21,), 23: (18,),
    24: (23, 22, 17), 25: (22,), 26: (25, 24, 20), 27: (26, 25, 22), 28: (25,), 29: (27,),
    30: (29, 28, 7), 31: (28,), 32: (31, 30, 10),
}  # fmt: skip
"""Bits besides the first whose exclusive or enters at the end, by the number of bits. Each is a
primitive polynomial; they are those of `scipy.signal.max_len_seq`."""


def start_of(order: Any, seed: Any, most: int) -> Array:
    """The bits (order,) of a register at the start, of which the first is given first: all ones for
    the seed 0. InputError for wrong numbers.
    """
    whole = isinstance(order, int | np.integer) and not isinstance(order, bool)
    if not whole or not min(TAPS) <= order <= most:
        hint = None if most == max(TAPS) else f"PRBS_S takes up to {max(TAPS)}"
        text = f"order must be a whole number from {min(TAPS)} to {most}, not {brief(order)}"
        raise InputError(Fault(text, hint=hint))
    if not isinstance(seed, int | np.integer) or isinstance(seed, bool) or seed < 0:
        raise InputError(f"seed must be a whole number from 0 on, not {brief(seed)}")
    period = 2 ** int(order) - 1
    number = period - int(seed) % period  # from 1 on: a register of zeros stays there
    return np.array([number >> bit & 1 for bit in range(order)], dtype=float)


def two_levels(start: Array) -> Array:
    """The period (2^order - 1,) of the register as 1 and -1."""
    taps, bits = TAPS[len(start)], [int(bit) for bit in start]
    period = 2 ** len(bits) - 1
    for k in range(period - len(bits)):
        fed = bits[k]
        for tap in taps:
            fed ^= bits[k + tap]
        bits.append(fed)
    return 2.0 * np.array(bits) - 1.0
