"""`compare`: runs the cases of a diagram side by side, and computes metrics of them."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeVar

from spart_blocks.analysis.cases import Choices, ComparisonCase, cases_of
from spart_blocks.analysis.comparison import Comparison, rows_of
from spart_blocks.analysis.measures import Measures, measures_of
from spart_blocks.base.errors import (
    DiagramError,
    Fault,
    InputError,
    RunError,
    SpartError,
    SpartWarning,
    warn,
)
from spart_blocks.diagram import Diagram
from spart_blocks.diagram.written.overrides import Overrides
from spart_blocks.diagram.written.variants import choices_in
from spart_blocks.run.engines.from_file import DiagramFile
from spart_blocks.run.processes import Job, JobOutcome, Progress, run_all
from spart_blocks.run.simulate import file_of, options_with

T = TypeVar("T")


@dataclass(frozen=True)
class CaseSource:
    """What all cases share: the file, and run options that replace those of the file."""

    file: DiagramFile
    options: Mapping[str, Any]

    def of(self, case: ComparisonCase) -> DiagramFile:
        """The file with the changes of a case."""
        file = self.file
        return replace(
            file,
            path=case.file or file.path,
            overrides=(*file.overrides, *case.overrides),
            variants=(*file.variants, *case.variants),
        )

    def diagram(self, case: ComparisonCase) -> Diagram:
        """The diagram of a case. Warnings are ignored, since the process that runs it
        gives them.
        """
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SpartWarning)
            return self.of(case).load()


def compare(
    path: str | Path | Sequence[str | Path],
    variants: Choices | None = None,
    cases: Mapping[str, Overrides] | None = None,
    *,
    overrides: Overrides = (),
    root: str | Path | None = None,
    blocks: Sequence[str | Path] = (),
    jobs: int | None = None,
    progress: Progress | None = None,
    **run_options: Any,
) -> Comparison:
    """Run a diagram file once for each case, in processes side by side, and measure the runs.

    path: the file; or several, each of which is a case.
    variants: for each slot of the file's `variants:` the choices to compare,
    {"controller": ["pd", "lqr"]}; several slots give every combination. Without it, and
    without cases, every choice of every slot.
    cases: named sets of values to replace, {"soft": {"kp": 10}, "stiff": {"kp": 40}}; with
    variants, each set with each combination.
    overrides, root, blocks: for every case, as in `load`. run_options: as in `simulate`.
    jobs: how many processes at once, by default one for each processor.
    progress: called with the mean (t, T) of the cases, from another thread.

    Raises InputError (DiagramError) before anything runs where the file, a case or an option
    is wrong; RunError where a run failed, with the Comparison of the others in its
    attribute `results`.
    """
    paths: list[Any] = list(path) if isinstance(path, (list, tuple)) else [path]
    for one in paths:
        if not isinstance(one, (str, Path)):
            text = f"compare takes the paths of diagram files, not {type(one).__name__}"
            raise InputError(text)
    if not paths:
        raise InputError("compare needs the path of a diagram's file")
    file = file_of(paths[0], overrides, {}, blocks)
    files = [Path(one) for one in paths] if len(paths) > 1 else []
    source = CaseSource(replace(file, root=None if root is None else Path(root)), run_options)
    found = compare_cases(source, cases_for(source, variants, cases, files), jobs, progress)
    if found.failures:
        raise found.failure
    return found


def cases_for(
    source: CaseSource,
    variants: Choices | None,
    sets: Mapping[str, Overrides] | None,
    files: Sequence[Path] = (),
) -> tuple[ComparisonCase, ...]:
    """The requested cases; by default every choice of every slot of one file, or each of several
    files."""
    choices = variants or ({} if sets or files else choices_in(source.file.path))
    return cases_of(choices, sets or {}, files)


def compare_cases(
    source: CaseSource,
    cases: Sequence[ComparisonCase],
    jobs: int | None = None,
    progress: Progress | None = None,
) -> Comparison:
    """The comparison of these cases; failed cases are in its `failures`."""
    if jobs is not None and jobs < 1:
        raise InputError(f"jobs must be 1 or more, not {jobs}")
    diagrams = _loaded(source, cases)
    measures = {case.label: measures_of(diagrams[case.label]) for case in cases}
    work = {
        case.label: Job(
            source.of(case),
            _options(source, diagrams[case.label], measures[case.label]),
            measures[case.label].gauges,
        )
        for case in cases
    }
    outcomes = run_all(work, jobs, progress)
    for text in _labelled({label: outcome.warnings for label, outcome in outcomes.items()}, _text):
        warn(text)
    names = dict.fromkeys(str(diagram.bd.name) for diagram in diagrams.values())
    return _measured(" and ".join(names), cases, measures, outcomes)


def _loaded(source: CaseSource, cases: Sequence[ComparisonCase]) -> dict[str, Diagram]:
    """The diagram of each case. Raises one error with the faults of all cases."""
    diagrams: dict[str, Diagram] = {}
    faults: dict[str, Sequence[Fault]] = {}
    for case in cases:
        try:
            diagram = source.diagram(case)
            options_with(diagram.run, source.options)
            diagrams[case.label] = diagram
        except InputError as error:
            faults[case.label] = error.faults
    if faults:
        everyone = {case.label: faults.get(case.label, ()) for case in cases}
        raise DiagramError(_labelled(everyone, _fault))
    return diagrams


def _options(source: CaseSource, diagram: Diagram, measures: Measures) -> dict[str, Any]:
    """The run options of a case; the measured signals are added to its log."""
    options = dict(source.options)
    asked = options.get("log", diagram.run.log)
    log = [asked] if isinstance(asked, str) else asked
    return options | {"log": list(dict.fromkeys([*log, *measures.signals]))}


def _measured(
    name: str,
    cases: Sequence[ComparisonCase],
    measures: Mapping[str, Measures],
    outcomes: Mapping[str, JobOutcome],
) -> Comparison:
    results, rows = {}, []
    failures: dict[str, SpartError] = {}
    for label in (case.label for case in cases):
        outcome = outcomes.get(label, JobOutcome(error=RunError("interrupted")))
        if outcome.results is None:
            assert outcome.error is not None
            failures[label] = of_case(label, outcome.error)
            continue
        results[label] = outcome.results
        rows += rows_of(label, outcome.results, measures[label], outcome.readings)
    notes = dict.fromkeys(note for one in measures.values() for note in one.notes)
    return Comparison(name, results, tuple(rows), tuple(notes), failures)


# --- telling which case ---------------------------------------------------------------------


def of_case(label: str, error: SpartError) -> SpartError:
    """The same error with the name of its case."""
    if isinstance(error, InputError):
        return type(error)(_fault(label, fault) for fault in error.faults)
    assert isinstance(error, RunError)
    error.args = (_text(label, str(error)),)
    return error


def _labelled(told: Mapping[str, Iterable[T]], name: Any) -> list[T]:
    """The messages of all cases without duplicates, with the label of their case; those that all
    cases have, without a label.
    """
    of_each = {label: list(dict.fromkeys(items)) for label, items in told.items()}
    everything = dict.fromkeys(item for items in of_each.values() for item in items)
    common = [item for item in everything if all(item in items for items in of_each.values())]
    return common + [
        name(label, item)
        for label, items in of_each.items()
        for item in items
        if item not in common
    ]


def _text(label: str, text: str) -> str:
    return f"case {label}: {text}"


def _fault(label: str, fault: Fault) -> Fault:
    return replace(fault, message=_text(label, fault.message))
