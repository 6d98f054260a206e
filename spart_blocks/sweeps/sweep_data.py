"""The data of a sweep: a row for each run, and histories of some runs."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from spart_blocks.base.argument_checks import as_path
from spart_blocks.base.errors import Fault, InputError, brief, did_you_mean, optional
from spart_blocks.measures.metrics import derivative_labels
from spart_blocks.measures.work import FAILED, STATUSES, Ints
from spart_blocks.sweeps.run.batches import ENOUGH
from spart_blocks.sweeps.storage.columns import (
    EXTRA,
    NO_GRADIENT,
    TRUE,
    UNKNOWN,
    Columns,
    derivative_names,
    metric_names,
    succeeded,
)
from spart_blocks.sweeps.storage.histories import Histories
from spart_blocks.sweeps.storage.store import Folder, Store

if TYPE_CHECKING:
    import pandas
    import xarray

    from spart_blocks.sweeps.plan.sweep_job import Planned

Which = Callable[[Columns], Any] | NDArray[np.bool_] | str
_COMPARED = re.compile(r"\s*(?P<name>.+?)\s*(?P<sign><=|>=|==|!=|<|>|=)\s*(?P<value>.+?)\s*")
_SIGNS: Mapping[str, Callable[[Any, Any], Any]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "==": operator.eq,
    "=": operator.eq,
    "!=": operator.ne,
}
_WORDS = {"True": True, "true": True, "False": False, "false": False, "None": None}


class SweepData:
    """The finished runs of a sweep, ordered by run number.

    columns: the values by name, as in `table`; `results["miss"]` is one column. metrics: names of
    the metrics. complete: whether all runs have ended. stopped: why the sweep ended early; None if
    it did not.
    """

    def __init__(
        self, store: Store, planned: Planned | None = None, stopped: str | None = None
    ) -> None:
        self.store, self._planned, self.stopped = store, planned, stopped
        self.columns = Columns(store.schema, store.read)

    # --- the table ---------------------------------------------------------------------

    @property
    def name(self) -> str:
        """The name of the diagram."""
        return self.store.description.name

    @property
    def folder(self) -> Path | None:
        """The folder of the results; None if they are in memory."""
        return self.store.folder

    @property
    def metrics(self) -> tuple[str, ...]:
        """The names of the metrics."""
        return metric_names(self.store.schema)

    @property
    def derivative_columns(self) -> tuple[str, ...]:
        """The names of the columns of derivatives, such as d(miss)/d(kp)."""
        return derivative_names(self.store.schema)

    @property
    def gradients(self) -> dict[str, dict[str, NDArray[np.float64]]]:
        """The derivatives of metrics by parameters, each (n, ...): for each of the n runs the shape
        of the metric, followed by that of the parameter; NaN where a run has none, for which the
        column no_gradient has the reason. Empty if none were asked for.
        """
        return {
            metric: {name: self._derivatives(metric, name, **how) for name, how in some.items()}
            for metric, some in self.facts.get("gradients", {}).items()
        }

    def _derivatives(
        self, metric: str, name: str, width: int, shape: Sequence[int]
    ) -> NDArray[np.float64]:
        columns = [self[label] for label in derivative_labels(metric, width, name, shape)]
        lead = () if width == 1 else (width,)
        found = np.array(columns).T.reshape(len(self), *lead, *shape)
        return found

    @property
    def varied_columns(self) -> tuple[str, ...]:
        """The names of the columns of varied values."""
        names = [column.name for column in self.store.schema]
        return tuple(names[names.index("fault") + 1 : names.index("status")])

    @property
    def facts(self) -> Mapping[str, Any]:
        """Further facts that the description of the sweep holds."""
        return self.store.description.facts

    @property
    def design(self) -> str:
        """The design of the draws: "random", "sobol", ..."""
        return str(self.facts.get("design", "random"))

    @property
    def together(self) -> int:
        """The number of consecutive draws that depend on each other: k + 2 for k factors in a
        saltelli design, otherwise 1.
        """
        return len(self.facts.get("factors", ())) + 2 if self.design == "saltelli" else 1

    @property
    def left_out(self) -> tuple[str, ...]:
        """The entries of `expect:` that cannot be decided from a single run."""
        return tuple(self.facts.get("left_out", ()))

    @property
    def planned_runs(self) -> int:
        """The number of runs of the whole sweep."""
        return self.store.description.runs

    @property
    def complete(self) -> bool:
        """Whether all runs of the sweep have ended, or were not needed."""
        return len(self) == self.planned_runs or self.stopped == ENOUGH

    @property
    def plan(self) -> Any:
        """The plan of the sweep. Raises InputError if the diagram's file cannot be read."""
        return self.planned.plan

    @property
    def planned(self) -> Planned:
        """The plan with its diagram; loaded again if the results come from a folder."""
        if self._planned is None:
            from spart_blocks.sweeps.plan.describing import planned_of

            self._planned = planned_of(self.store.description)
        return self._planned

    def __len__(self) -> int:
        return self.store.count

    def __getitem__(self, name: str) -> NDArray[Any]:
        return self.columns[name]

    def table(self) -> pandas.DataFrame:
        """A pandas DataFrame with a row for each run."""
        pandas = optional("pandas", "pandas", EXTRA, "SweepResults.table")
        data: dict[str, Any] = {}
        for column in self.store.schema:
            kept = self.columns.kept(column.name)
            if column.kind == "name":
                data[column.name] = pandas.Categorical.from_codes(kept, list(column.names))
            elif column.kind == "truth":
                data[column.name] = pandas.array(column.shown(kept), dtype="boolean")
            else:
                data[column.name] = kept
        frame = pandas.DataFrame(data)
        frame.attrs["diagram"] = self.name
        return frame

    # --- which runs ----------------------------------------------------------------------

    @property
    def failed(self) -> Ints:
        """The numbers of the runs that an error ended."""
        return self._where(self.columns.kept("status") == STATUSES.index(FAILED))

    @property
    def underived(self) -> Ints:
        """The numbers of the runs that lack some derivative, though no error ended them. The column
        no_gradient has the reasons."""
        if not self.derivative_columns:
            return self._where(np.zeros(len(self), dtype=bool))
        without_error = self.columns.kept("status") != STATUSES.index(FAILED)
        return self._where(without_error & (self[NO_GRADIENT] != ""))

    @property
    def unsuccessful(self) -> Ints:
        """The numbers of the runs that failed, or did not meet their claims."""
        return self._where(~self.success())

    def success(self) -> NDArray[np.bool_]:
        """Whether each run met its claims, or, without claims, ended without an error."""
        return succeeded(self.columns.kept("status"), self.columns.kept("passed"))

    def runs_where(self, *conditions: Which, **equal: Any) -> Ints:
        """The numbers of the runs that fulfil all conditions.

        A condition is a text such as "miss > 0.1" or "variant == lqr", a function of the columns
        that gives an array of truth values, or such an array. Columns whose names are words can be
        given by keyword: `runs_where(status="failed")`.
        """
        found = np.ones(len(self), dtype=bool)
        for condition in conditions:
            found &= self._mask(condition)
        for name, value in equal.items():
            found &= np.asarray(self.columns[name] == value, dtype=bool)
        return self._where(found)

    def _mask(self, condition: Which) -> NDArray[np.bool_]:
        if isinstance(condition, str):
            return self._compared(condition)
        given = condition(self.columns) if callable(condition) else condition
        mask = np.asarray(given)
        if mask.dtype != bool or mask.shape != (len(self),):
            what = f"a truth value for each of the {len(self)} runs"
            raise InputError(f"a condition gives {what}, not {mask.dtype} of shape {mask.shape}")
        return mask

    def _compared(self, text: str) -> NDArray[np.bool_]:
        match = _COMPARED.fullmatch(text)
        if match is None:
            hint = 'write "miss > 0.1" or "variant == lqr"'
            raise InputError(Fault(f"no comparison of a column: {brief(text)}", hint=hint))
        values, sign = self.columns[match["name"]], _SIGNS[match["sign"]]
        given: Any = match["value"].strip("'\"")
        if given in _WORDS:
            given = _WORDS[given]
        elif values.dtype.kind in "iuf":
            try:
                given = float(given)
            except ValueError:
                text = f"{match['name']} is compared with a number, not {brief(given)}"
                raise InputError(text) from None
        elif match["sign"] in ("<", "<=", ">", ">="):
            raise InputError(f"{match['name']} holds no numbers; compare it with == or !=")
        return np.array([sign(value, given) for value in values.tolist()], dtype=bool)

    def _where(self, mask: NDArray[np.bool_]) -> Ints:
        runs: Ints = self.store.runs()[mask]
        return runs

    # --- histories -----------------------------------------------------------------------

    def kept(self) -> Histories:
        """The stored histories as arrays. Raises InputError if none were stored."""
        found = self.store.histories()
        if found is None:
            hint = "keep='all', 'failed' or a number of runs keeps them; replay(run) makes one"
            raise InputError(Fault("this sweep has kept no histories", hint=hint))
        return found

    def histories(self, *names: str) -> xarray.Dataset:
        """An xarray Dataset (run, time, ...) of the runs whose histories were stored.

        names: signals; by default all. Large histories are read from disk when they are used.
        """
        xarray = optional("xarray", "xarray", EXTRA, "SweepResults.histories")
        whole = self.store.dataset()
        if whole is None:
            kept = self.kept()
            variables = {
                name: (_dimensions(name, array), array, _unit(kept.units.get(name)))
                for name, array in kept.values.items()
            }
            axes = {"run": kept.runs, "time": ("time", kept.times, {"units": "s"})}
            whole = xarray.Dataset(variables, coords=axes)
        whole = whole.assign_attrs(diagram=self.name)
        return whole[[self._signal(whole, name) for name in names]] if names else whole

    def _signal(self, whole: Any, name: str) -> str:
        aliases = {str(n).rpartition(".")[0]: str(n) for n in whole.data_vars}
        if name in whole.data_vars:
            return name
        if aliases.get(name):
            return aliases[name]
        hint = did_you_mean(name, [str(n) for n in whole.data_vars])
        raise InputError(Fault(f"no histories of {name!r} were kept", hint=hint))

    # --- more about them -----------------------------------------------------------------

    def save(self, folder: str | Path) -> Path:
        """Write results that are in memory to a new folder. Returns the folder."""
        target = as_path(folder, "the folder of a sweep")
        new = Folder.made(target, self.store.description)
        columns = {c.name: self.columns.kept(c.name) for c in self.store.schema}
        try:
            for start in range(0, len(self), _ROWS):
                new.add({name: array[start : start + _ROWS] for name, array in columns.items()})
            new.close()
        finally:
            new.release()
        return target

    def of_file(self, file: str | Path) -> Self:
        """The same results with the diagram at another path, if it was moved. Raises InputError if
        it is not the diagram of the sweep.
        """
        from spart_blocks.sweeps.plan.describing import planned_of

        planned = planned_of(self.store.description, as_path(file, "a diagram"))
        return type(self)(self.store, planned, self.stopped)

    @classmethod
    def load(cls, folder: str | Path) -> Self:
        """The results in a folder."""
        return cls(Folder.opened(as_path(folder, "the folder of a sweep")))

    # --- what notebooks show ---------------------------------------------------------------

    def counts(self) -> dict[str, int]:
        """The number of runs by how they ended, without zeros; and `passed`, the number that met
        their claims, if there are claims.
        """
        status, passed = self.columns.kept("status"), self.columns.kept("passed")
        found = {name: int(np.sum(status == k)) for k, name in enumerate(STATUSES)}
        if np.any(passed != UNKNOWN):
            found["passed"] = int(np.sum(passed == TRUE))
        return {name: count for name, count in found.items() if count or name == "passed"}

    def __repr__(self) -> str:
        of_all = "" if len(self) == self.planned_runs else f" of {self.planned_runs:,}"
        counted = ", ".join(f"{count:,} {name}" for name, count in self.counts().items())
        parts = [f"{len(self):,}{of_all} runs"]
        parts += [f"({counted})"] if counted else []
        parts += [f"metrics {', '.join(self.metrics)}"] if self.metrics else []
        parts += [f"in {self.folder}"] if self.folder else []
        return f"<sweep {self.name}: {' '.join(parts)}>"


_ROWS = 100_000


def _dimensions(name: str, array: NDArray[Any]) -> tuple[str, ...]:
    own = (f"{name}.{axis}" for axis in range(array.ndim - 2))
    return ("run", "time", *own)


def _unit(text: str | None) -> dict[str, str]:
    return {"units": text} if text else {}
