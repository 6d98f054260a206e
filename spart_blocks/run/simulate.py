"""`simulate`: run a diagram and return its results."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence, Sized
from contextlib import contextmanager
from dataclasses import replace
from functools import cache
from pathlib import Path
from types import EllipsisType
from typing import TYPE_CHECKING, Any, Literal, Never, TypedDict, Unpack

from pydantic import ValidationError

from spart_blocks.base.argument_checks import as_path
from spart_blocks.base.errors import (
    Fault,
    InputError,
    RunError,
    SpartError,
    brief,
    did_you_mean,
    raised_in,
    told,
    warn,
)
from spart_blocks.base.package_state import version_of
from spart_blocks.diagram.build.paused_collector import collector_paused
from spart_blocks.diagram.sections.run_options import RunOptions, Solver, solver_hint
from spart_blocks.program import Program, TraceError
from spart_blocks.program.tracing.holds import notes_of
from spart_blocks.results import FinalState, Results
from spart_blocks.results.signal_names import EVENTS, THINNED
from spart_blocks.run.bounds import warn_of_bounds, warn_of_checks
from spart_blocks.run.engines.engine import Engine
from spart_blocks.run.engines.from_file import DiagramFile, engine_of_file
from spart_blocks.run.engines.loop_solutions import warn_of_solutions
from spart_blocks.run.engines.native import Native
from spart_blocks.run.growth import growth_notes
from spart_blocks.run.loop import execute, prepare_library
from spart_blocks.run.notes import record_notes
from spart_blocks.run.record.recomputing import Recomputing
from spart_blocks.run.record.streams import checked_stream, stream_of
from spart_blocks.run.run import Progress, Run
from spart_blocks.run.solvers.stability import explain_instability, warn_of_instability
from spart_blocks.run.start import prepare
from spart_blocks.run.states import hold_as_now, set_states, telling_origin

if TYPE_CHECKING:
    from spart_blocks.diagram import Diagram
    from spart_blocks.diagram.written.overrides import Overrides

EngineName = Literal["auto", "native", "interpreter"]


class RunChanges(TypedDict, total=False):
    """Run options of a call, which replace those of the diagram; see `RunOptions`."""

    T: float
    solver: Solver
    rtol: float
    atol: float
    max_step: float | None
    every: float | None
    log: str | Sequence[str]
    first_tick: Literal["standard", "bdsim"]
    sliding: Literal["error", "filippov"]
    algebraic_loops: Literal["error", "solve"]
    loop_start: Mapping[str, Any]


Initial = FinalState | Results | str | Path | Mapping[str, Any]


def simulate(
    diagram: Diagram | Program | str | Path | Any,
    *,
    engine: EngineName = "auto",
    initial: Initial | None = None,
    progress: Progress | None = None,
    stream: str | Path | None = None,
    overrides: Overrides = (),
    variants: Mapping[str, str] | None = None,
    blocks: str | Path | Sequence[str | Path] = (),
    T: float | None = None,
    solver: Solver | None = None,
    rtol: float | None = None,
    atol: float | None = None,
    max_step: float | EllipsisType | None = ...,
    every: float | EllipsisType | None = ...,
    log: str | Sequence[str] | None = None,
    first_tick: Literal["standard", "bdsim"] | None = None,
    sliding: Literal["error", "filippov"] | None = None,
    algebraic_loops: Literal["error", "solve"] | None = None,
    loop_start: Mapping[str, Any] | None = None,
    **unknown: Never,
) -> Results:
    """Run a diagram from its start to T and return its results.

    diagram: a path of a YAML file, a loaded diagram, a bdsim BlockDiagram, or a Program.
    A file's program is kept in the user's cache, and used until a file of it changes; that of a
    diagram in memory is kept with it, until a block, a wire or a value of it changes.
    overrides: values in place of those of a file, `{"params.kp": 3}` or `["params.kp=3"]`, as
    `spart run --set` takes them; variants: the choice for each slot of a file, where not its
    default; blocks: packages or files of user-defined blocks that a file may use. These three
    are as for `load`, and need the path of a file.
    T [s], solver, rtol, atol, max_step [s], every [s], log, first_tick, sliding, algebraic_loops,
    loop_start: run options in place of those of the diagram (docs/diagrams.md); `every=None`
    keeps rows as straight lines need, also where the diagram asks for a grid.
    initial: where to start: the final state of another run (or its Results, or its .npz or
    .mcap file), which continues from that run's last time, or a mapping from blocks to state
    vectors or, for a plant, to its `initial` entries.
    progress: called with (t, T) after each accepted step.
    stream: a path `run.zarr` or `run.parquet`, into which every row of the record is written while
    the run goes, also those that the results of a long run lack (docs/records.md).
    An interrupt (Ctrl-C) ends the run and keeps what was computed. Raises DiagramError
    for wrong input; RunError for a run that failed, with what was computed in its
    attribute `results`.
    """
    given: dict[str, Any] = {"T": T, "solver": solver, "rtol": rtol, "atol": atol, "log": log}
    given |= {"first_tick": first_tick, "sliding": sliding}
    given |= {"algebraic_loops": algebraic_loops, "loop_start": loop_start}
    options: dict[str, Any] = {key: value for key, value in given.items() if value is not None}
    steps = {"max_step": max_step, "every": every}  # None is a value of these
    options |= {key: value for key, value in steps.items() if value is not ...}
    if _given(overrides) or _given(variants) or _given(blocks):
        diagram = file_of(diagram, overrides, {} if variants is None else variants, blocks)
    asked: dict[str, Any] = {"engine": engine, "initial": initial, "progress": progress}
    run = begin(diagram, **asked, stream=stream, **options, **unknown)
    return finish(run)


def file_of(
    diagram: Any,
    overrides: Overrides,
    variants: Mapping[str, str],
    blocks: str | Path | Sequence[str | Path],
) -> DiagramFile:
    """A file with its load options."""
    from spart_blocks.diagram.written.overrides import as_texts

    if not isinstance(diagram, (str, Path)):
        text = "overrides, variants and user-defined blocks apply to a file when it is loaded"
        hint = "give its path, or pass them to sb.load"
        raise InputError(Fault(text, hint=hint))
    if not isinstance(variants, Mapping):
        raise InputError(f"variants is a mapping from slots to choices, not {brief(variants)}")
    asked = tuple(f"{slot}={choice}" for slot, choice in variants.items())
    if isinstance(blocks, (str, Path)) or not isinstance(blocks, Sequence):
        blocks = [blocks]
    own = tuple(str(as_path(block, "a package of blocks")) for block in blocks)
    return DiagramFile(Path(diagram), as_texts(overrides), variants=asked, blocks=own)


def _given(value: Any) -> bool:
    """Whether an argument was given and is not empty."""
    return not (value is None or (isinstance(value, Sized) and len(value) == 0))


def begin(
    diagram: Diagram | Program | DiagramFile | str | Path | Any,
    *,
    engine: EngineName = "auto",
    initial: Initial | None = None,
    progress: Progress | None = None,
    stream: str | Path | None = None,
    **run_options: Unpack[RunChanges],
) -> Run:
    """A run that is ready to start; `finish` executes it. The arguments are those of `simulate`."""
    if not isinstance(engine, str) or engine not in ("auto", "native", "interpreter"):
        hint = "engine is 'auto', 'native' or 'interpreter'"
        raise InputError(Fault(f"there is no engine {brief(engine)}", hint=hint))
    if progress is not None and not callable(progress):
        raise InputError(f"progress is a function of t and T, not {brief(progress)}")
    path = None if stream is None else checked_stream(stream)
    if isinstance(initial, (str, Path)):
        initial = Results.load(initial)
    _continued(initial)
    with failing("the run cannot begin"):
        with collector_paused():
            ready = _engine(diagram, engine, run_options)
        run = begin_engine(ready, initial, progress)
        if path is not None:
            into = run.recorder.stream = stream_of(path, ready)
            run.events.stream = into.add_event
        return run


def begin_engine(
    engine: Engine,
    initial: FinalState | Results | Mapping[str, Any] | None = None,
    progress: Progress | None = None,
) -> Run:
    """A run of an engine that is ready to start. initial, progress: as `simulate` takes them."""
    state = _continued(initial)
    with failing("the run cannot begin"):
        with collector_paused(), telling_origin(initial, engine.title):
            run = prepare(engine, state, progress)
        if state is not None:
            with telling_origin(initial, engine.title):
                set_states(engine, {**state.continuous, **state.discrete}, run.x, run.xd)
            hold_as_now(engine, state.discrete, float(run.t), run.x, run.xd)
        elif isinstance(initial, Mapping):
            set_states(engine, initial, run.x, run.xd)
        if state is None:  # the final state of a run lies within its limits
            run.x = engine.project(float(run.t), run.x)
    return run


def finish(run: Run) -> Results:
    """Execute a run and return its results. Raises as `simulate` does."""
    foreign: list[Exception] = []
    if run.progress is not None:
        run.progress = _noting(run.progress, foreign)
    try:
        with failing("the run failed", run, foreign):
            execute(run)
            warn_of_instability(run)
        results = results_of(run)
        warn_of_bounds(results, run.engine)
        warn_of_checks(results, run.engine)
        return results
    except RunError as error:
        explain_instability(run, error)
        for note in growth_notes(run):
            error.add_hint(note)
        run.stopped = str(error)
        error.results = results_of(run)
        raise
    except KeyboardInterrupt:  # after the last step: what was computed is kept all the same
        return results_of(run)


def _noting(progress: Progress, foreign: list[Exception]) -> Progress:
    """A progress function that records its own exceptions in `foreign`, so that they are not
    reported as failures of the run.
    """

    def told(t: float, T: float) -> None:
        try:
            progress(t, T)
        except Exception as error:
            foreign.append(error)
            raise

    return told


@contextmanager
def failing(
    problem: str, run: Run | None = None, foreign: Sequence[Exception] = ()
) -> Iterator[None]:
    """A context in which an unexpected exception, such as one of SciPy, becomes a RunError."""
    try:
        yield
    except SpartError:
        raise
    except Exception as error:
        if any(error is own for own in foreign):
            raise
        time = None if run is None else float(run.t)
        raise RunError(f"{problem}: {told(error)}", time=time, hint=raised_in(error)) from error


def _engine(diagram: Any, name: EngineName, changes: Mapping[str, Any]) -> Engine:
    """The requested engine of a file, a diagram or a program."""

    def changed(options: RunOptions) -> RunOptions:
        return options_with(options, changes) if changes else options

    if isinstance(diagram, Program):
        if name == "interpreter":
            raise InputError("a program has no blocks to interpret; simulate its diagram instead")
        run = changed(diagram.run)
        if run.of_program != diagram.run.of_program:
            options = "first_tick, algebraic_loops and loop_start are"
            raise InputError(f"{options} part of a program; trace the diagram with them instead")
        return Native(replace(diagram, run=run))
    if isinstance(diagram, (str, Path)):
        diagram = DiagramFile(Path(diagram))
    if isinstance(diagram, DiagramFile):
        engine = _of_file(diagram, name, changed)
        log = engine.run.log
        if "log" in changes and engine.display.unknown(log, engine.signals()):
            # A file that asks for it gets the blocks that such signals are of.
            return _of_file(diagram.logging(log), name, changed)
        return engine
    from spart_blocks.diagram import as_diagram
    from spart_blocks.run.engines.kept_traces import engine_of_object

    ready = as_diagram(diagram)
    ready = ready.with_sections(run=changed(ready.run))
    if name == "interpreter":
        return engine_of(ready, name)
    return engine_of_object(ready, lambda same, program: engine_of(same, name, program))


def _of_file(
    file: DiagramFile, name: EngineName, changed: Callable[[RunOptions], RunOptions]
) -> Engine:
    if name != "interpreter":
        return engine_of_file(file, lambda ready: engine_of(ready, name), changed)
    diagram = file.load()
    return engine_of(diagram.with_sections(run=changed(diagram.run)), name)


def engine_of(diagram: Diagram, name: EngineName, program: Program | None = None) -> Engine:
    """The requested engine; 'auto' falls back to the interpreter with one warning. program: that of
    the diagram, if it is known.
    """
    from spart_blocks.program.tracing.gains import wired
    from spart_blocks.run.engines.interpreter import Interpreter
    from spart_blocks.run.engines.parity import native_engine

    wiring = wired(diagram)
    if name == "interpreter":
        blocks = Interpreter(diagram, wiring)
        warn_of_solutions(blocks)
        return blocks
    prepare_library(diagram.run)
    try:
        return native_engine(diagram, wiring, program)
    except TraceError as error:
        if name == "native":
            raise
        warn(f"running on the interpreter: {error}")
        return Interpreter(diagram, wiring)


def options_with(options: RunOptions, changes: Mapping[str, Any]) -> RunOptions:
    """Run options with some of them changed; InputError for unknown names and bad values."""
    unknown = [name for name in changes if name not in RunOptions.model_fields]
    if unknown:
        raise InputError(
            Fault(
                f"there is no run option {name!r}", hint=did_you_mean(name, RunOptions.model_fields)
            )
            for name in unknown
        )
    if isinstance(changes.get("log"), str):
        changes = {**changes, "log": (changes["log"],)}
    try:
        return RunOptions(**{**options.model_dump(), **changes})
    except ValidationError as error:
        raise InputError(
            Fault(
                f"run option {'.'.join(map(str, e['loc']))}: {_said(e)}",
                hint=solver_hint(e["input"]) if e["loc"] == ("solver",) else None,
            )
            for e in error.errors()
        ) from None


def _said(entry: Any) -> str:
    """The message of an option's check: our own text if there is one, otherwise pydantic's."""
    return str(entry.get("ctx", {}).get("error") or entry["msg"])


def _continued(initial: Any) -> FinalState | None:
    if isinstance(initial, Results):
        initial = initial.final_state
    if initial is None or isinstance(initial, FinalState):
        return initial
    if isinstance(initial, Mapping):
        return None
    raise InputError(f"initial must be a final state, a file or a mapping, not {brief(initial)}")


def results_of(run: Run) -> Results:
    """The results of a run so far."""
    recorder, engine = run.recorder, run.engine
    recorder.settle()
    notes = [*notes_of(engine.holds), *record_notes(run)]
    notes += [note for note in growth_notes(run) if note not in (run.stopped or "")]
    return Results(
        t=recorder.times(),
        signals=engine.display.by_shown_name(run.options.log, recorder.signals()),
        states=recorder.states(),
        final_state=run.final_state(),
        scopes=engine.display.scopes,
        events=tuple(run.events.kept),
        complete=run.t == run.end or any("stopped" in event.what for event in run.events.kept),
        stopped=run.stopped,
        diagram_name=engine.title,
        info={
            "engine": engine.name,
            "solver": run.options.solver,
            **_changes(run),
            "T": run.options.T,
            "record": "lines" if run.options.every is None else "samples",
            **({} if recorder.stretch is None else {THINNED: recorder.stretch}),
            **({} if run.events.total == len(run.events.kept) else {EVENTS: run.events.total}),
            "steps": run.stats.steps,
            "evaluations": run.stats.evaluations,
            "wall_time": run.stats.wall_time,
            **_versions(),
            **({"notes": "\n".join(notes)} if notes else {}),
        },
        aliases=engine.display.aliases,
        units=engine.display.units,
        state_names=engine.display.states,
        levels=engine.display.levels,
        entries=engine.display.entries,
        recompute=Recomputing(recorder),
    )


def _changes(run: Run) -> dict[str, str]:
    """The solvers of a run with their start times, if there was more than one; otherwise empty."""
    if len(run.solvers) < 2:
        return {}
    (_, first), *others = run.solvers
    return {"solvers": ", ".join([first, *(f"{s} from t = {t:.6g} s" for t, s in others)])}


@cache
def _versions() -> dict[str, str]:
    """The versions of the packages that determine results."""
    names = ("spart_blocks", "bdsim", "casadi", "numpy", "scipy")
    return {name: version_of(name) for name in names}
