"""A hundred thousand random messages of all bundled types have the bytes of rosbags."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.append(str(Path(__file__).parents[1] / "ros"))
from random_messages import bytes_of_rosbags, random_values, same, store

from spart_blocks.ros.cdr import decode, encode
from spart_blocks.ros.library import bundled

NAMES = [name for name in bundled().names() if name in store().fielddefs]
EACH = -(-100_000 // len(NAMES))


@pytest.mark.parametrize("name", NAMES)
def test_many_random_messages_have_the_bytes_of_rosbags(name):
    rng, of = np.random.default_rng(NAMES.index(name)), bundled().message(name)
    for _ in range(EACH):
        values = random_values(rng, of)
        data = encode(values, of)
        assert data == bytes_of_rosbags(values, of)
        assert same(decode(data, of), values)
        damaged = bytearray(data)
        damaged[rng.integers(len(data))] ^= 1 << int(rng.integers(8))
        try:
            decode(bytes(damaged), of)
        except ValueError:
            continue
