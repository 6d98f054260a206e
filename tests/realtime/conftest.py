"""The loop with a clock, links and a model that a test directs, and small diagrams."""

from __future__ import annotations

import socket

import pytest
from loop_rig import STRICT, Rig, rig_source

from spart_blocks.realtime.library import runtime_library


@pytest.fixture(scope="session")
def rig_library():
    return runtime_library(rig_source(), STRICT)


@pytest.fixture
def rig(rig_library):
    """rig(ticks=10, policy="skip", links=0, rows=0): a loop to be run."""
    return lambda **options: Rig(rig_library, **options)


@pytest.fixture
def actuator():
    """A socket in the place of an actuator."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as made:
        made.bind(("127.0.0.1", 0))
        made.settimeout(120.0)  # s: something hangs that should happen at once
        yield made
