"""Keeps the engine of a diagram in memory with it until the diagram changes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from spart_blocks.base.errors import overheard
from spart_blocks.diagram import Diagram
from spart_blocks.program import Program
from spart_blocks.program.kept import Contents, declared, forget, keep, kept
from spart_blocks.run.engines.native import Native

if TYPE_CHECKING:
    from spart_blocks.run.engines.engine import Engine

_ENGINE, _PROGRAM = "engine", "program"


def engine_of_object(diagram: Diagram, make: Callable[[Diagram, Program | None], Engine]) -> Engine:
    """The engine of a diagram in memory: that of an earlier run, or one of the program that `trace`
    has made, if the diagram has not changed. make: makes an engine, of a program if there is one.
    """
    earlier, traced = kept(diagram, _ENGINE), kept(diagram, _PROGRAM)
    now = Contents.of(diagram) if earlier or traced else None
    same = None if now is None else now.text
    if earlier and earlier.contents == same and declared(earlier.what.program, diagram):
        engine: Native = earlier.given()
        return engine.with_run(diagram.run)
    forget(diagram, _ENGINE)
    program = None
    with overheard() as told:
        if traced and traced.contents == same and _shared(traced.what, diagram):
            program = replace(traced.given(), run=diagram.run)
        made = make(diagram, program)
    if program is None:
        now = Contents.of(diagram)  # designed gains are present now
    if isinstance(made, Native):
        keep(diagram, _ENGINE, made, told, now)
    return made


def _shared(program: Program, diagram: Diagram) -> bool:
    """Whether runs may share a program that `trace` has made. The functions of EVENT blocks are
    called by the blocks in runs, since they may have side effects.
    """
    return declared(program, diagram) and all(c.kind != "event" for c in program.crossings)
