"""The sections of a diagram's file: those that it is made of, and those on its use.

A section on the use of a diagram (runs, comparison, export and so on) is a model in a file of its
own and a row here; reading, checking, the JSON Schema and `Diagram.sections` follow from the row.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

from pydantic import BaseModel, BeforeValidator, Field

from spart_blocks.base.errors import Fault, InputError, did_you_mean
from spart_blocks.diagram.sections.comparison import CompareOptions, check_compare
from spart_blocks.diagram.sections.expectations import ExpectSection, check_expect
from spart_blocks.diagram.sections.exporting import ExportOptions, check_export
from spart_blocks.diagram.sections.fit_section import FitSection, check_fit
from spart_blocks.diagram.sections.optimize_section import OptimizeSection
from spart_blocks.diagram.sections.realtime_options import RealtimeOptions
from spart_blocks.diagram.sections.run_options import RunOptions, check_run
from spart_blocks.diagram.sections.section import Section
from spart_blocks.diagram.sections.sweep_section import SweepSection, check_sweep
from spart_blocks.diagram.sections.tune_section import TuneSection, check_tune

if TYPE_CHECKING:
    from spart_blocks.diagram.build.wiring import Wiring

Model = TypeVar("Model", bound=BaseModel)


def _empty_mapping(value: Any) -> Any:
    return {} if value is None else value


MAPPING = BeforeValidator(_empty_mapping)
"""Of a section with nothing after its colon."""


@dataclass(frozen=True)
class SectionRow:
    """Further properties of a section.

    check: collects the faults of names in it, once the blocks are wired. refers: `$name` in it
    stands for a parameter. settable: `--set` may give its entries by the section's name, which no
    block can be addressed by then. named: it holds things by name. may_be_empty: nothing need stand
    after its colon. divided: of its entries, those that are wrong are left out one by one.
    in_lines: each of its entries has a line of its own. of_runs: what a run gives depends on it.
    """

    check: Callable[[Any, Wiring], None] | None = None
    refers: bool = False
    settable: bool = False
    named: bool = False
    may_be_empty: bool = True
    divided: bool = True
    in_lines: bool = False
    of_runs: bool = False


STRUCTURE: Mapping[str, SectionRow] = {
    "name": SectionRow(settable=True, may_be_empty=False, divided=False, of_runs=True),
    "description": SectionRow(settable=True, may_be_empty=False, divided=False),
    "inputs": SectionRow(divided=False, of_runs=True),
    "outputs": SectionRow(divided=False, of_runs=True),
    "params": SectionRow(settable=True, named=True, divided=False, of_runs=True),
    "declare": SectionRow(named=True, in_lines=True, of_runs=True),
    "tunable": SectionRow(settable=True, of_runs=True),
    "robots": SectionRow(refers=True, settable=True, named=True, in_lines=True, of_runs=True),
    "clocks": SectionRow(refers=True, settable=True, named=True, in_lines=True, of_runs=True),
    "subsystems": SectionRow(settable=True, named=True, in_lines=True, of_runs=True),
    "variants": SectionRow(named=True, divided=False, in_lines=True, of_runs=True),
    "blocks": SectionRow(
        settable=True, named=True, may_be_empty=False, in_lines=True, of_runs=True
    ),
    "wires": SectionRow(in_lines=True, of_runs=True),
    "drawing": SectionRow(named=True, in_lines=True),
}
"""The sections that say what a diagram is made of, and its texts, in the order of a file. Their
models are in schema.py. References in blocks are those of each block."""


def _standard(model: type[Model]) -> Callable[[], Model]:
    return lambda: model.model_validate({})


class Sections(Section):
    """The sections, checked."""

    run: Annotated[
        RunOptions, MAPPING, SectionRow(check_run, refers=True, settable=True, of_runs=True)
    ] = Field(default_factory=_standard(RunOptions))
    compare: Annotated[CompareOptions, MAPPING, SectionRow(check_compare)] = Field(
        default_factory=_standard(CompareOptions), description="what `spart compare` measures"
    )
    sweep: Annotated[SweepSection | None, MAPPING, SectionRow(check_sweep)] = Field(
        None, description="many runs of it: what they differ in, for `spart sweep`"
    )
    fit: Annotated[FitSection | None, MAPPING, SectionRow(check_fit)] = Field(
        None, description="parameters to estimate from measured signals, for `spart fit`"
    )
    tune: Annotated[TuneSection | None, MAPPING, SectionRow(check_tune)] = Field(
        None, description="parameters of a design and what is asked of it, for `spart tune`"
    )
    optimize: Annotated[OptimizeSection | None, MAPPING, SectionRow()] = Field(
        None, description="an optimal control problem of it, for `spart optimize`"
    )
    export: Annotated[ExportOptions, MAPPING, SectionRow(check_export, settable=True)] = Field(
        default_factory=_standard(ExportOptions),
        description="what becomes code: for `spart export` and `spart realtime`",
    )
    realtime: Annotated[RealtimeOptions, MAPPING, SectionRow(settable=True)] = Field(
        default_factory=_standard(RealtimeOptions),
        description="how that keeps its deadlines: for `spart realtime`",
    )
    expect: Annotated[
        ExpectSection | None, MAPPING, SectionRow(check_expect, refers=True, in_lines=True)
    ] = Field(None, description="what its runs must show, for `spart test` and pytest")

    def alone(self) -> Sections:
        """These sections of a whole file."""
        return Sections.model_construct(**{n: getattr(self, n) for n in Sections.model_fields})

    def changed(self, **given: BaseModel | None) -> Sections:
        """The same with others in place of some, by name. Raises InputError for a name that
        no section has."""
        unknown = given.keys() - Sections.model_fields.keys()
        if unknown:
            hint = did_you_mean(min(unknown), Sections.model_fields)
            raise InputError(Fault(f"a diagram has no section {min(unknown)!r}", hint=hint))
        return self.model_copy(update=given)

    def check(self, wiring: Wiring) -> None:
        """Collect the faults of what the sections name, in the diagram's wiring."""
        for name, row in rows():
            given = getattr(self, name)
            if row.check is not None and given is not None:
                row.check(given, wiring)


def rows() -> Iterator[tuple[str, SectionRow]]:
    """The sections by name."""
    for name, field in Sections.model_fields.items():
        yield name, next(item for item in field.metadata if isinstance(item, SectionRow))


FILE_SECTIONS: Mapping[str, SectionRow] = {**STRUCTURE, **dict(rows())}
"""Every section that a file can have, in the order in which they are written."""
