"""The kernel of a spacecraft's runs keeps its budget of registers and of memory for them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from kernel_usage import usages

import spart_blocks as sb
from spart_blocks.measures.work import Work
from spart_blocks.run.measure.gauges import Gauge
from spart_blocks.sweeps.run.card import cubin
from spart_blocks.sweeps.run.lane_setup import LaneSetup
from spart_blocks.sweeps.run.lane_source import kernel_source

pytest.importorskip("cuda.bindings.nvrtc")

DIAGRAMS = Path(__file__).parents[2] / "diagrams"


@pytest.mark.parametrize(("single", "most"), [(False, 8192), (True, 1024)])
def test_a_kernel_keeps_its_budget(single, most):
    program = sb.trace(DIAGRAMS / "spacecraft_sampled.yaml")
    gauges = (Gauge("extremes", "ctrl"), Gauge("square", "ctrl"))
    work = Work(program, np.arange(1), program.p[None], gauges)
    usage = usages(cubin(kernel_source(LaneSetup.of(work).made, single=single)).log)["sb_runs"]
    print(usage)
    assert usage.registers <= 255
    assert usage.stored <= most
