"""A diagram in memory, or a program, that a sweep is of."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from spart_blocks.base.errors import Fault, InputError, did_you_mean
from spart_blocks.block_support.ports import attribute
from spart_blocks.diagram.build.composed import parts_of
from spart_blocks.diagram.sections.tunable import QUANTITIES
from spart_blocks.run.engines.native import Native
from spart_blocks.sweeps.plan.source import Chosen, Found, Source, found_start
from spart_blocks.sweeps.plan.targets import (
    INITIAL,
    Target,
    dotted,
    matter_of,
    matter_target,
    slots_of,
    target_of_name,
    target_of_uses,
)
from spart_blocks.sweeps.plan.uses import Use

if TYPE_CHECKING:
    from spart_blocks.diagram import Diagram
    from spart_blocks.program import Program


@dataclass(frozen=True, eq=False)
class MemorySource(Source):
    """A diagram in memory or a program: parameters alone vary."""

    given: Diagram | Program

    @property
    def title(self) -> str:  # type: ignore[override]
        return self.given.name

    def engine(self, chosen: Chosen, overrides: Mapping[str, Any]) -> Native:
        from spart_blocks.program import Program, TraceError
        from spart_blocks.run.engines.kept_traces import engine_of_object
        from spart_blocks.run.simulate import engine_of

        if isinstance(self.given, Program):
            return Native(self.given)
        diagram = self.given
        if "tunable" in overrides:
            diagram = replace(diagram, tunable=tuple(overrides["tunable"]))
        try:
            made = engine_of_object(diagram, lambda ready: engine_of(ready, "native"))
        except TraceError as error:
            text = f"{self.title} cannot be traced: {str(error).partition(chr(10))[0]}"
            hint = "sweep its file, whose runs can be done block by block"
            raise InputError(Fault(text, hint=hint)) from None
        assert isinstance(made, Native)
        return made

    def matter_overrides(self, paths: Sequence[str], chosen: Chosen) -> dict[str, Any]:
        from spart_blocks.program import Program

        if isinstance(self.given, Program):
            return {}
        robots, had = list(self.given.robots), self.given.tunable
        more = [".".join(found[:2]) for p in paths if (found := matter_of(dotted(p), robots))]
        more = [name for name in dict.fromkeys(more) if name not in had]
        return {"tunable": [*had, *more]} if more else {}

    def find(
        self, path: str, engine: Native, chosen: Chosen, overrides: Mapping[str, Any]
    ) -> Found | None:
        program, name = engine.program, dotted(path).removeprefix("params.")
        name = name.removeprefix("blocks.")
        parts = name.split(".")
        slots = slots_of(program)
        robots = [slot.rpartition(".")[0] for slot in slots if slot.endswith(QUANTITIES)]
        matter = matter_of(name, robots)
        if matter is not None and ".".join(matter[:2]) in slots:
            target = matter_target(program, *matter)
            if target is not None:
                return Found(matter=target)
        named = target_of_name(program, name)
        if named is not None:
            return Found(named)
        composed = self._composed(name, program)
        if composed is not None:
            return Found(composed)
        if len(parts) > 2 and parts[1] == INITIAL:
            start = found_start(engine, parts[0], tuple(parts[2:]))
            if start is not None:
                return Found(starts=(start,))
        return self._unknown(path, program)

    def _composed(self, name: str, program: Program) -> Target | None:
        """The entries of p that an argument of a block is which is made of others. There being no
        other structure, every value is a parameter's."""
        path, _, argument = name.rpartition(".")
        block = _block_of(getattr(self.given, "bd", None), path.split("/"))
        parts = () if block is None else parts_of(str(block.type).upper(), argument) or ()
        if any(part.unless for part in parts):
            return None
        uses = [Use(f"{path}/{part.block}", part.argument, sign=part.sign) for part in parts]
        return target_of_uses(program, uses)

    def _unknown(self, path: str, program: Program) -> Found | None:
        if self.run_option(path) is not None:
            return None
        text = f"{path} is no parameter of the program {program.name}"
        near = did_you_mean(path, [*slots_of(program), *program.given])
        hint = "sweep the diagram's file to change what is structural"
        raise InputError(Fault(text, hint=f"{near}\n  {hint}" if near else hint))

    def digest(self) -> str:
        from spart_blocks.program.storage import to_text

        program = self.engine({}, {}).program
        program = replace(program, display=replace(program.display, scopes=()))
        return hashlib.blake2b(to_text(program).encode(), digest_size=16).hexdigest()


def _block_of(bd: Any, names: Sequence[str]) -> Any:
    """A block of a bdsim diagram, by its name and those of the subsystems around it."""
    for block in () if bd is None else bd.blocklist:
        if block.name == names[0]:
            inner = attribute(block, "subsystem")
            return block if len(names) == 1 else _block_of(inner, names[1:])
    return None
