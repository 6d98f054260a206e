"""What statistics, pictures and reports use of a sweep."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from spart_blocks.base.errors import Fault, InputError, did_you_mean
from spart_blocks.base.paths import element_names, named, select
from spart_blocks.sweeps.report.picture_data import Quantity, Traces
from spart_blocks.sweeps.report.study import Study
from spart_blocks.sweeps.statistics import SobolIndices, sobol_indices
from spart_blocks.sweeps.sweep_data import SweepData

if TYPE_CHECKING:
    from spart_blocks.sweeps.statistics import SobolIndices


def study_of(found: SweepData, traces: bool = True) -> Study:
    """The data of a sweep that pictures, tables and reports use. traces: whether to read the
    histories and compute the Sobol indices too."""
    facts = found.facts
    return Study(
        name=found.name,
        columns=found.columns,
        varied=found.varied_columns,
        metrics=found.metrics,
        units=dict(facts.get("units", {})),
        grid=tuple(facts.get("grid", ())),
        seed=int(facts.get("seed", 0)),
        design=found.design,
        together=found.together,
        left_out=found.left_out,
        plan=tuple((str(what), str(text)) for what, text in facts.get("told", ())),
        planned=None if found.complete else found.planned_runs,
        traces=all_traces(found) if traces else {},
        indices=all_indices(found) if traces else {},
        versions=dict(facts.get("versions", {})),
        folder=None if found.folder is None else str(found.folder),
    )


def all_traces(found: SweepData) -> dict[str, Traces]:
    """The histories of signals that were kept, by name."""
    kept = found.store.histories()
    if kept is None:
        return {}
    return {
        name: Traces(name, kept.times, values, kept.runs, kept.units.get(name, ""))
        for name, values in kept.values.items()
        if not name.startswith("states.")
    }


def traces_of(found: SweepData, signal: str) -> Traces:
    """The histories of a signal, or of some of its elements."""
    kept = found.kept()
    short = {name.rpartition(".")[0]: name for name in kept.values}
    name, index = named(signal, kept.values, short)
    if name not in kept.values:
        hint = did_you_mean(name, kept.values)
        raise InputError(Fault(f"no histories of {name!r} were kept", hint=hint))
    values, unit = kept.values[name], kept.units.get(name, "")
    if index is None:
        return Traces(name, kept.times, values, kept.runs, unit)
    n, k = values.shape[:2]
    chosen = select(signal, values.reshape(n * k, *values.shape[2:]), index)
    elements = tuple(element_names(name, values.shape[2:], index))
    shaped = chosen.reshape(n, k, *chosen.shape[1:])
    return Traces(name, kept.times, shaped, kept.runs, unit, elements=elements)


def all_indices(found: SweepData) -> dict[str, SobolIndices]:
    """The Sobol indices of each metric, if the design allows them."""
    if found.design != "saltelli" or not len(found):
        return {}
    indices = {}
    for metric in found.metrics:
        try:
            indices[metric] = indices_of(found, metric)
        except InputError:
            continue  # too few runs have a value
    return indices


def indices_of(found: SweepData, metric: str, **options: Any) -> SobolIndices:
    """The Sobol indices of a metric, of the mean over the runs of a draw."""
    if found.design != "saltelli":
        hint = "give design: saltelli (design='saltelli')"
        raise InputError(Fault("Sobol indices need a design made for them", hint=hint))
    values = Quantity(metric, found.columns[metric]).numbers()
    draws = found["draw"]
    count = np.bincount(draws)
    with np.errstate(invalid="ignore"):
        means = np.bincount(draws, weights=values) / count
    return sobol_indices(means, tuple(found.facts.get("factors", ())), **options)
