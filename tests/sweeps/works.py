"""The works of plans, whose structures are kept with the plan."""

from __future__ import annotations

from types import SimpleNamespace
from weakref import WeakKeyDictionary

from spart_blocks.sweeps.plan.assignments import Assigner
from spart_blocks.sweeps.plan.memory_source import source_of

ASSIGNERS = WeakKeyDictionary()


def works_of(plan, runs, diagram=None):
    """The works for some runs of a plan. diagram: that of the plan, if it is not of a file."""
    if plan not in ASSIGNERS:
        ASSIGNERS[plan] = Assigner(plan, source_of(diagram or plan.file))
    works, failed = ASSIGNERS[plan].place(runs)
    return SimpleNamespace(works=works, failed=failed)
