"""Computes signals that a run did not keep from its states, in the process of the run or after its
results were unpickled.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from numpy.typing import NDArray

from spart_blocks.base.errors import Fault, InputError
from spart_blocks.results.signal_names import RATES
from spart_blocks.run.engines.engine import Engine, Floats
from spart_blocks.run.engines.native import Native
from spart_blocks.run.record.recorder import Recorder
from spart_blocks.run.states import vectors_of

if TYPE_CHECKING:
    from spart_blocks.diagram import Diagram
    from spart_blocks.diagram.network.nodes import Node
    from spart_blocks.program import Program

Array = NDArray[Any]


@dataclass(frozen=True, eq=False)
class Recomputing:
    """Computes signals by the engine of the run."""

    recorder: Recorder

    def __call__(self, name: str) -> Array:
        return self.recorder.recompute(name)

    @property
    def names(self) -> tuple[str, ...]:
        """The signals that can be computed."""
        return _names(self.recorder.engine)

    def made_of(self) -> tuple[Diagram, Sequence[Node]]:
        """The diagram of the run and the nodes of its wiring. Raises InputError if there is only a
        program.
        """
        return self.recorder.engine.made_of()

    def portable(self, t: Floats, states: Mapping[str, Floats]) -> FromStates | NotKept:
        """The object that is pickled in its place. t (N,) [s], states (N, n) by block:
        of the run.
        """
        engine = self.recorder.engine
        if isinstance(engine, Native):
            return FromStates(engine.program, t, states)
        return NotKept(self.names)


@dataclass(frozen=True)
class FromStates:
    """Computes signals by a program, without blocks. t (N,) [s], states (N, n) by block."""

    program: Program
    t: Floats
    states: Mapping[str, Floats]

    def __call__(self, name: str) -> Array:
        engine = self._engine
        recorder = Recorder(engine, ())
        recorder.adopt(self.t, (), *vectors_of(engine, self.states, len(self.t)))
        return recorder.recompute(name)

    @property
    def names(self) -> tuple[str, ...]:
        """The signals that can be computed."""
        return _names(self._engine)

    def portable(self, t: Floats, states: Mapping[str, Floats]) -> FromStates:
        """The object that is pickled in its place."""
        return FromStates(self.program, t, states)

    @cached_property
    def _engine(self) -> Native:
        return Native(self.program)


@dataclass(frozen=True)
class NotKept:
    """Raises InputError for every signal, because the blocks of an interpreter cannot
    be pickled.
    """

    names: tuple[str, ...]

    def __call__(self, name: str) -> Array:
        if name not in self.names:
            raise KeyError(name)
        base = name.removeprefix(RATES)
        text = (
            f"{base} was not kept and cannot be computed here: these results were unpickled, and "
            "their run used the interpreter, whose blocks are not pickled"
        )
        raise InputError(Fault(text, hint=f"keep it in the run: run: {{log: [{base}]}}"))

    def portable(self, t: Floats, states: Mapping[str, Floats]) -> NotKept:
        """The object that is pickled in its place: itself."""
        return self


def _names(engine: Engine) -> tuple[str, ...]:
    return (*engine.signals(), *(RATES + block for block in engine.continuous))
