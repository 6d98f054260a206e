"""Results of sweeps in memory, made of columns."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from spart_blocks.sweeps.results import SweepResults
from spart_blocks.sweeps.storage.columns import Column, schema_of
from spart_blocks.sweeps.storage.store import Description, Store


def sweep_of(
    name, columns, varied=(), metrics=(), histories=None, planned=None, folder=None, **facts
):
    """columns: of all runs by name, as results show them; steps are 0, and claims are named where
    there is a column missed."""
    names = {f: sorted(set(columns[f].tolist())) for f in ("variant", "fault")}
    kinds = {one: "text" if columns[one].dtype == object else "float" for one in varied}
    schema = schema_of([Column(*kind) for kind in kinds.items()], metrics, *names.values())
    n = len(columns["run"])
    store = Store(Description(name, {}, {}, n if planned is None else planned, schema, facts))
    given = {"steps": np.zeros(n), **columns}
    given |= {f: [known.index(one) for one in columns[f]] for f, known in names.items()}
    statuses = next(column.names for column in schema if column.name == "status")
    given["status"] = [statuses.index(one) for one in columns["status"]]
    given["passed"] = [-1 if one is None else int(one) for one in columns["passed"]]
    store.add(given, histories)
    store.folder = folder and Path(folder)
    return SweepResults(store)
