"""Results as pandas DataFrames and xarray Datasets; both packages are optional."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from spart_blocks.base.errors import optional
from spart_blocks.results.signal_names import STATES, THINNED

if TYPE_CHECKING:
    import pandas
    import xarray

    from spart_blocks.results.run_data import RunData


def to_dataframe(results: RunData, names: Sequence[str]) -> pandas.DataFrame:
    """See Results.to_dataframe."""
    DataFrame = optional("pandas", "pandas", "pandas", "Results.to_dataframe").DataFrame
    columns = results.table(*names)
    frame = DataFrame(columns)
    frame.attrs["diagram"] = results.diagram_name
    if THINNED in results.info:
        frame.attrs[THINNED] = results.info[THINNED]
    frame.attrs["units"] = {"t": "s"} | {c: results.unit(c) for c in columns if c != "t"}
    return frame


def to_xarray(results: RunData, names: Sequence[str]) -> xarray.Dataset:
    """See Results.to_xarray."""
    Dataset = optional("xarray", "xarray", "xarray", "Results.to_xarray").Dataset
    chosen = names or (*results.signals, *(STATES + block for block in results.states))
    variables: dict[str, Any] = {}
    axes: dict[str, Any] = {"t": ("t", results.t, {"units": "s"})}
    for name in chosen:
        array, unit = results[name], results.unit(name)
        own = tuple(f"{name}.{k}" for k in range(array.ndim - 1))
        variables[name] = (("t", *own), array, {"units": unit} if unit else {})
        before = f"{name}."
        labels = results.column_names(name)
        if len(own) == 1 and all(label.startswith(before) for label in labels):
            axes[own[0]] = (own[0], [label.removeprefix(before) for label in labels])
        elif names := results.entry_names(name) if len(own) == 1 else ():
            axes[own[0]] = (own[0], names)
    about = {"diagram": results.diagram_name, "complete": int(results.complete), **results.info}
    return Dataset(variables, coords=axes, attrs=about)
