"""The runs of a sweep that the page has made: their table, and one of them to be run."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from spart_blocks.base.errors import Fault, InputError
from spart_blocks.run.engines.from_file import DiagramFile
from spart_blocks.sweeps.results import SweepResults
from spart_blocks.versions.differences.changes import value_text

MOST_ROWS = 200
"""Largest number of rows in an answer."""
LONGEST_TEXT = 200
_OFTEN_CONSTANT = (
    "variant",
    "fault",
    "passed",
    "missed",
    "message",
    "draw",
    "t_end",
    "no_gradient",
)
"""Columns that are left out where all runs have the same."""


def table_of(folder: Path, start: int, sort: str, down: bool) -> dict[str, Any]:
    """A part of the table of a sweep, as `SweepTable` of the protocol. start: its first row. sort:
    the column by which the rows are sorted, "" for run numbers; down: from the largest on."""
    found = SweepResults.load(folder)
    names = [column.name for column in found.columns.schema]
    constant = {
        name
        for name in _OFTEN_CONSTANT
        if name in names and len(found) and np.all(found[name] == found[name][0])
    }
    shown = [name for name in names if name not in constant and name != "grid"]
    order = _order(found, sort, down)[start : start + MOST_ROWS]
    rows = [[_plain(value) for value in row] for row in zip(*(found[n][order] for n in shown))]  # noqa: B905
    return {
        "columns": shown,
        "metrics": list(found.metrics),
        "rows": rows,
        "start": start,
        "count": len(found),
        "planned": found.planned_runs,
        "failed": len(found.failed),
    }


def _order(found: SweepResults, sort: str, down: bool) -> Any:
    if not sort:
        return np.arange(len(found))[:: -1 if down else 1]
    keys = found.columns.kept(sort)
    if keys.dtype == object:
        keys = keys.astype(str)
    order = np.argsort(keys, kind="stable")
    if keys.dtype.kind != "f":
        return order[::-1] if down else order
    known = order[~np.isnan(keys[order])]
    return np.concatenate([known[::-1] if down else known, order[np.isnan(keys[order])]])


def _plain(value: Any) -> Any:
    """A value for JSON: a number, a truth value, a text, or null for NaN."""
    if value is None or isinstance(value, str):
        return value if value is None else value[:LONGEST_TEXT]
    plain = value.item() if hasattr(value, "item") else value
    if isinstance(plain, float) and not np.isfinite(plain):
        return None if np.isnan(plain) else str(plain)
    return plain


def point_of(folder: Path, run: int) -> tuple[DiagramFile, str]:
    """The diagram file with the values of a run of a sweep, and these values as a text. Raises
    InputError for a run that it does not have, or one with a fault."""
    planned = SweepResults.load(folder).planned
    plan = planned.plan
    numbers = plan.numbers(run)
    fault = plan.faults[int(numbers.fault[0])]
    if fault.set:
        text = f"run {run} has the fault {fault.name} from t = {fault.at:g} s on"
        hint = "runs of the page begin without faults; spart run --from-sweep DIR repeats it"
        raise InputError(Fault(text, hint=hint))
    chosen, values = plan.variants[int(numbers.variant[0])], plan.case(run)
    shown = {
        **values,
        **{slot: choice for slot, choice in chosen.items() if len(plan.variants) > 1},
    }
    told = ", ".join(f"{path} = {value_text(value)}" for path, value in list(shown.items())[:3])
    found = planned.source.file(chosen, values)
    assert found is not None
    return found, told + (", ..." if len(shown) > 3 else "")
