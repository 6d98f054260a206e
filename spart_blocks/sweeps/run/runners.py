"""The fastest runner within one process, for workers that receive chunks."""

from __future__ import annotations

from collections.abc import Generator

from spart_blocks.sweeps.run import lanes
from spart_blocks.sweeps.run.chunks import AnyWork, Stop
from spart_blocks.sweeps.run.one_by_one import each_run
from spart_blocks.sweeps.work import Done, Work


def fastest(work: AnyWork, stop: Stop | None = None) -> Generator[Done, None, None]:
    """Execute the runs of a work in this thread, in their order: in lanes if possible, otherwise
    one by one.
    """
    if isinstance(work, Work) and lanes.refusal(work) is None:
        yield from lanes.run(work, threads=1, stop=stop)
    else:
        yield from each_run(work, stop)
