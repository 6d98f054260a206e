"""Outcomes of runs that failed before they started."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import suppress

import numpy as np

from spart_blocks.base.errors import SpartError
from spart_blocks.run.engines.engine import Engine
from spart_blocks.run.engines.native import Native
from spart_blocks.run.measure.gauges import Gauge, Readings
from spart_blocks.run.measure.measuring import Measuring
from spart_blocks.sweeps.work import FAILED, STATUSES, Done, FileWork, Work


def failed(work: Work | FileWork, message: str) -> Done:
    """The outcomes of a work all runs of which failed before they started, such as runs that kill
    their process.
    """
    n = len(work.runs)
    nothing: Mapping[Gauge, Readings] = {}
    nx = nd = 0
    if isinstance(work, Work):
        engine = Native(work.program)
        nx, nd = map(len, engine.initial())
        with suppress(SpartError):
            nothing = measured_nothing(engine, work.gauges)
    return Done(
        runs=work.runs,
        status=np.full(n, STATUSES.index(FAILED), dtype=np.uint8),
        t=np.full(n, np.nan),
        steps=np.zeros(n, dtype=np.int64),
        x=np.full((n, nx), np.nan),
        xd=np.full((n, nd), np.nan),
        readings={
            gauge: {name: np.tile(value, (n, 1)) for name, value in read.items()}
            for gauge, read in nothing.items()
        },
        events={block: np.full(n, np.nan) for block in work.blocks},
        messages={int(number): message for number in work.runs},
        times=None if work.every is None else np.zeros(0),
        rows=None if work.every is None else np.zeros((n, 0, nx + nd)),
    )


def measured_nothing(engine: Engine, gauges: Iterable[Gauge]) -> Mapping[Gauge, Readings]:
    """Readings of the right shapes with all values NaN."""
    measuring = Measuring(engine, gauges)
    if not measuring.names:
        return {}
    with np.errstate(all="ignore"):
        measuring.begin(0.0, *engine.initial())
    return {
        gauge: {name: np.full(np.shape(value), np.nan) for name, value in read.items()}
        for gauge, read in measuring.read().items()
    }
