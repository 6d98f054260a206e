"""Runs of a program one after another, with everything measured: what any runner gives."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from spart_blocks.base.errors import RunError
from spart_blocks.measures.work import STATUSES, Done
from spart_blocks.run import begin
from spart_blocks.run.loop import execute


def done_of(program, p, gauges, blocks=()):
    """Done of runs with parameters p (n, np)."""
    runs = [begin(replace(program, p=row)) for row in p]
    status, messages = [], {}
    for k, run in enumerate(runs):
        run.measure(gauges)
        try:
            execute(run)
            status.append("stopped" if run.stopped else "complete")
        except RunError as error:
            status.append("failed")
            messages[k] = str(error)
    found = [run.readings for run in runs]
    readings = {
        gauge: {name: np.array([one[gauge][name] for one in found]) for name in found[0][gauge]}
        for gauge in found[0]
    }
    first = {
        block: np.array(
            [next((e.t for e in run.events.kept if e.block == block), np.nan) for run in runs]
        )
        for block in blocks
    }
    return Done(
        runs=np.arange(len(runs)),
        status=np.array([STATUSES.index(one) for one in status], np.uint8),
        t=np.array([float(run.t) for run in runs]),
        steps=np.array([run.stats.steps for run in runs]),
        x=np.array([run.x for run in runs]),
        xd=np.array([run.xd for run in runs]),
        readings=readings,
        events=first,
        messages=messages,
    )


def with_values(program, **values):
    """p (n, np) of a program where parameters have these values (n,); __ stands for a dot."""
    values = {name.replace("__", "."): column for name, column in values.items()}
    count = len(next(iter(values.values())))
    rows = ({name: column[k] for name, column in values.items()} for k in range(count))
    return np.array([program.with_parameters(row).p for row in rows])
