"""`sweep`: runs a diagram many times, with varied parameters and initial states."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import EllipsisType
from typing import TYPE_CHECKING, Any, Literal, TypedDict, Unpack

from spart_blocks.base.argument_checks import as_path
from spart_blocks.base.errors import Fault, InputError, RunError, brief, warn
from spart_blocks.run.simulate import file_of
from spart_blocks.sweeps.plan.describing import description_of
from spart_blocks.sweeps.plan.sweep_job import Planned
from spart_blocks.sweeps.results import SweepResults
from spart_blocks.sweeps.run.batches import Progress, SweepRun
from spart_blocks.sweeps.run.executors import Runner
from spart_blocks.sweeps.storage.store import Description, Folder, Store, holds_sweep

if TYPE_CHECKING:
    from spart_blocks.diagram import Diagram
    from spart_blocks.diagram.sections.run_options import Solver
    from spart_blocks.diagram.written.overrides import Overrides
    from spart_blocks.program import Program


class SweepChanges(TypedDict, total=False):
    """Entries in place of those of the file's `sweep:` section, and run options; see `sweep`."""

    runs: int | None
    seed: int | None
    metrics: Mapping[str, str | Callable[[Any], Any]] | None
    gradients: str | Sequence[str] | Mapping[str, str | Sequence[str]] | None
    keep: Literal["none", "failed", "all"] | int | None
    every: float | None
    design: str | None
    zip: Sequence[Sequence[str]] | None
    cases: str | Path | None
    variants: Mapping[str, Any] | Literal["all"] | None
    faults: Mapping[str, Any] | None
    faultless: bool | None
    T: float | None
    solver: Solver | None
    rtol: float | None
    atol: float | None
    max_step: float | EllipsisType | None
    log: str | Sequence[str] | None
    sliding: Literal["error", "filippov"] | None


_RUN_OPTIONS = ("T", "solver", "rtol", "atol", "max_step", "log", "sliding")


def sweep(
    diagram: Diagram | Program | str | Path | Any,
    over: Mapping[str, Any] | None = None,
    *,
    workers: int | None = None,
    executor: Any = None,
    device: str | None = None,
    precision: str = "double",
    out: str | Path | None = None,
    resume: bool = False,
    until: float | None = None,
    confidence: float = 0.95,
    progress: Progress | None = None,
    overrides: Overrides = (),
    blocks: str | Path | Sequence[str | Path] = (),
    **changes: Unpack[SweepChanges],
) -> SweepResults:
    """Run a diagram many times and return a table with a row for each run.

    diagram: as `simulate` takes it. What is not given is that of the file's `sweep:` section.
    over: by path, as `--set` takes them, what varies: a list (a grid axis), or a distribution such
    as `{"normal": {"mean": 20, "sd": 2}}`. runs: draws of what is random, for each point of the
    grid, variant and fault. seed: of all random numbers; any run is known alone.
    metrics: by name, a formula of whole-run measurements such as "abs(final(plant.qm[0]))", or a
    function of a run. gradients: parameters by which the metrics of each run are differentiated,
    or those of each metric; named as for `gradient`. keep: the runs whose histories are kept, with
    rows each `every` [s].
    design: "random", "sobol", "halton", "latin_hypercube" or "saltelli". zip: lists that walk
    together. cases: a .csv file with a case in each row. variants: choices for the file's slots;
    faults: named overrides with a time at which they begin; all of these multiply. faultless:
    whether each case runs without a fault too.
    workers: threads or processes, by default one for each processor. executor: where to run
    instead: an Executor of concurrent.futures, a Client of Dask, or its scheduler's address.
    device: "cuda" for a graphics card; precision: "double", or there "float".
    out: a new folder that keeps the results as they come; with resume, runs that it has are not
    done again. until: stop as soon as the interval of the success probability is as narrow as
    this, for each variant and fault, by a confidence sequence at this confidence.
    progress: called with (runs that have ended, all runs).
    overrides, blocks, T [s], solver, rtol, atol, max_step [s], log, sliding: as for `simulate`.
    An interrupt (Ctrl-C) ends the sweep and keeps every run that has ended. Runs that fail are
    counted, and their messages are in the table. Raises InputError for wrong input, and RunError
    if results cannot be written; its attribute `results` has what is kept.
    """
    if overrides or blocks:
        diagram = file_of(diagram, overrides, {}, blocks)
    planned = Planned.of(diagram, *_section_and_options(over, changes))
    with Runner(workers, executor, device, precision) as runner:
        return run_planned(
            planned, runner, out=out, resume=resume, until=until, confidence=confidence,
            progress=progress,
        )  # fmt: skip


def _section_and_options(
    over: Any, changes: Mapping[str, Any]
) -> tuple[dict[str, Any], dict[str, Any]]:
    """The entries of the section, and the run options, that a call gives. None is a value of
    max_step alone.
    """
    given = {n: v for n, v in changes.items() if v is not (... if n == "max_step" else None)}
    options = {name: given.pop(name) for name in _RUN_OPTIONS if name in given}
    if isinstance(options.get("log"), str):
        options["log"] = [options["log"]]
    return given | ({} if over is None else {"over": over}), options


def run_planned(
    planned: Planned,
    runner: Runner,
    *,
    out: str | Path | None = None,
    resume: bool = False,
    until: float | None = None,
    confidence: float = 0.95,
    progress: Progress | None = None,
) -> SweepResults:
    """Execute the runs of a planned sweep. The arguments are as for `sweep`."""
    _check_until(planned, until)
    if progress is not None and not callable(progress):
        raise InputError(f"progress is a function of two numbers, not {brief(progress)}")
    store = _store(description_of(planned, runner.device, runner.precision), out, resume)
    run = SweepRun(planned, store, runner, until, confidence, progress)
    with _kept(store, planned):
        stopped = run.execute()
        store.close()
    return SweepResults(store, planned, stopped)


@contextmanager
def _kept(store: Store, planned: Planned) -> Iterator[None]:
    """A context in which an error ends the sweep, and finished runs are stored."""
    try:
        yield
    except RunError as error:
        error.results = SweepResults(store, planned, "ended by an error")
        raise
    except Exception:
        store.close()
        raise
    finally:
        store.release()


def _store(description: Description, out: str | Path | None, resume: bool) -> Store:
    """The store of the runs: in memory, or in the folder `out`."""
    if out is None:
        if resume:
            raise InputError(Fault("resume needs the folder of the sweep", hint="give out"))
        return Store(description)
    folder = as_path(out, "the folder of a sweep")
    if not (resume and holds_sweep(folder)):
        return Folder.made(folder, description)
    found = Folder.resumed(folder, description)
    before = found.description.facts.get("versions")
    now = description.facts.get("versions")
    if before != now:
        warn(f"{folder} was begun with other versions of the packages: results may differ in bits")
    return found


def _check_until(planned: Planned, until: float | None) -> None:
    if until is None:
        return
    if isinstance(until, bool) or not isinstance(until, int | float) or not 0 < until < 1:
        raise InputError(f"until is the width of an interval, between 0 and 1, not {brief(until)}")
    if planned.plan.design != "random":
        text = f"until needs independent draws, and those of design {planned.plan.design} are not"
        raise InputError(Fault(text, hint="give design: random, or leave out until"))
    if planned.plan.draws == 1:
        hint = "give the most draws that may be done: runs, --runs"
        raise InputError(Fault("until needs random draws, and there is one", hint=hint))
