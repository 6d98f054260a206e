"""Small bdsim diagrams to draw."""

from __future__ import annotations

from typing import Any

import bdsim
import pytest


@pytest.fixture(scope="session")
def sim() -> Any:
    return bdsim.BDSim(banner=False, sysargs=False, graphics=False, toolboxes=False, progress=False)


@pytest.fixture
def loop(sim: Any) -> Any:
    """A loop of a sum, a gain and a plant, with a scope and a filled-in constant."""
    bd = sim.blockdiagram("classic")
    ref, err, gain = bd.STEP(1, name="ref"), bd.SUM("+-", name="err"), bd.GAIN(2, name="K")
    plant, scope = bd.LTI_SISO(1, [1, 1], name="größe"), bd.SCOPE(nin=2, name="scope_<1>")
    bd.connect(ref, err[0])
    bd.connect(err, gain)
    bd.connect(gain, plant)
    bd.connect(plant, err[1], scope[0])
    bd.connect(bd.CONSTANT(0, name="scope.1=0"), scope[1])
    return bd
