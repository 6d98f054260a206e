"""A diagram in memory, or a program, as the source of a sweep; and `source_of` for any source."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from spart_blocks.base.errors import Fault, InputError, did_you_mean
from spart_blocks.diagram.sections.robot_section import QUANTITIES
from spart_blocks.program import Program, TraceError
from spart_blocks.program.parameter_paths import standing_at
from spart_blocks.program.storage import to_text
from spart_blocks.robot import Robot
from spart_blocks.run.engines.from_file import DiagramFile
from spart_blocks.run.engines.kept_traces import engine_of_object
from spart_blocks.run.engines.native import Native
from spart_blocks.run.simulate import engine_of
from spart_blocks.sweeps.plan.file_source import FileSource
from spart_blocks.sweeps.plan.source import (
    Chosen,
    Found,
    Source,
    dotted,
    found_of,
    matter_of,
    matter_target,
    slots_of,
)

if TYPE_CHECKING:
    from spart_blocks.diagram import Diagram
    from spart_blocks.program import Program


@dataclass(frozen=True, eq=False)
class MemorySource(Source):
    """A diagram in memory or a program as the source of a sweep. Only parameters can vary."""

    given: Diagram | Program

    @property
    def title(self) -> str:  # type: ignore[override]
        return self.given.name

    def engine(self, chosen: Chosen, overrides: Mapping[str, Any]) -> Native:
        if isinstance(self.given, Program):
            return Native(self.given)
        diagram = self.given
        if "tunable" in overrides:
            diagram = replace(diagram, tunable=tuple(overrides["tunable"]))
        try:
            made = engine_of_object(
                diagram, lambda ready, program: engine_of(ready, "native", program)
            )
        except TraceError as error:
            text = f"{self.title} cannot be traced: {str(error).partition(chr(10))[0]}"
            hint = "sweep its file, whose runs can be done block by block"
            raise InputError(Fault(text, hint=hint)) from None
        assert isinstance(made, Native)
        return made

    def robots_and_tunable(self, chosen: Chosen) -> tuple[list[str], Sequence[str]]:
        given = self.given
        return ([], ()) if isinstance(given, Program) else (list(given.robots), given.tunable)

    def robot(self, name: str, chosen: Chosen) -> Robot:
        if isinstance(self.given, Program):
            raise InputError(f"{self.title} is a program, which has no robots: give its diagram")
        return self.given.robots[name]

    def find(
        self, path: str, engine: Native, chosen: Chosen, overrides: Mapping[str, Any]
    ) -> Found | None:
        program = engine.program
        name = dotted(path).removeprefix("params.").removeprefix("blocks.")
        slots = slots_of(program)
        robots = [slot.rpartition(".")[0] for slot in slots if slot.endswith(QUANTITIES)]
        matter = matter_of(name, robots)
        if matter is not None and ".".join(matter[:2]) in slots:
            target = matter_target(program, *matter)
            if target is not None:
                return Found(matter=target)
        found = found_of(standing_at(program, name), engine)
        if found is None:
            return self._unknown(path, program)
        whole = found.target and replace(found.target, apart=frozenset())
        return replace(found, target=whole)  # there being no other structure

    def _unknown(self, path: str, program: Program) -> Found | None:
        if self.run_option(path) is not None:
            return None
        text = f"{path} is no parameter of the program {program.name}"
        near = did_you_mean(path, [*slots_of(program), *program.given])
        hint = "sweep the diagram's file to change what is structural"
        raise InputError(Fault(text, hint=f"{near}\n  {hint}" if near else hint))

    def digest(self) -> str:
        program = self.engine({}, {}).program
        program = replace(program, display=replace(program.display, scopes=()))
        return hashlib.blake2b(to_text(program).encode(), digest_size=16).hexdigest()


# --- the source of anything that can be swept -----------------------------------------------------


__all__ = ["FileSource", "MemorySource", "source_of"]


def source_of(given: Any) -> FileSource | MemorySource:
    """The source of a sweep from a path, a DiagramFile, a diagram, a bdsim BlockDiagram or a
    program.
    """
    if isinstance(given, FileSource | MemorySource):
        return given
    if isinstance(given, str | Path):
        return FileSource(DiagramFile(Path(given)))
    if isinstance(given, DiagramFile):
        return FileSource(given)
    if isinstance(given, Program):
        return MemorySource(given)
    from spart_blocks.diagram import as_diagram

    return MemorySource(as_diagram(given))
