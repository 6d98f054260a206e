"""Adjoints of a run: the derivatives of a few numbers by all that varies, from end to start.

Plain steps are taken backwards by compiled_adjoint.py: their exact transposes. Any other part of
the run, a step that ends at an instant or within which something is read, is an element: forward.py
takes a change of each state before it, of each parameter and integral over it, which gives the
matrix of the element, and what is read along the same changes. A reading may need looks at several
times. So the changes of all elements at which something is read stand side by side, and those of
parameters once for all of them: these are the directions along which readings are collected.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from spart_blocks.gradients.compiled_adjoint import Adjoints, CompiledAdjoint
from spart_blocks.gradients.forward import Forward, Look, Seen
from spart_blocks.gradients.instants import Edges
from spart_blocks.gradients.lanes import Blocks
from spart_blocks.gradients.loops import MOST_ROWS
from spart_blocks.gradients.place import Place
from spart_blocks.gradients.stops import Stops
from spart_blocks.gradients.tangents import Directions, Floats
from spart_blocks.run.run import Run
from spart_blocks.run.tape import HEAD

BEGIN = -1
"""The element of what happens at the start of the run; the others have the numbers of rows."""
MOST_NUMBERS = 100_000_000
"""Largest count of numbers in the matrices of elements."""
SLOWER = 20
"""How many plain steps take the time of an element, about."""


@dataclass(frozen=True)
class Parts:
    """How changes (size,) along everything that varies are parted: nx states, nd discrete states,
    m directions of parameters, k integrals.
    """

    nx: int
    nd: int
    m: int
    k: int

    @property
    def size(self) -> int:
        """The number of all changes."""
        return self.nx + self.nd + self.m + self.k

    @property
    def p(self) -> slice:
        """Those along directions of parameters."""
        return slice(self.nx + self.nd, self.nx + self.nd + self.m)

    def split(self, changes: Floats) -> list[Floats]:
        """Columns of changes as those of x, xd, parameters and integrals."""
        return np.split(changes, np.cumsum([self.nx, self.nd, self.m]), axis=1)

    def others(self, changes: Floats) -> Floats:
        """The columns without those of parameters."""
        return np.delete(changes, self.p, axis=1)


@dataclass
class _Element:
    """The matrix of an element (size, size), how events move that are the first of their blocks,
    and what is seen in it.
    """

    matrix: Floats
    moved: dict[str, Floats]
    seen: list[Seen] = field(default_factory=list)


class Backward:
    """The adjoints of a run. wide: the directions along which readings are collected."""

    def __init__(
        self,
        run: Run,
        directions: Directions,
        integrands: Any,
        times: Iterable[float],
        blocks: Collection[str] = (),
    ) -> None:
        """integrands: as for `Forward`. times: at which something is read. blocks: whose first
        events are timed. Raises NoGradientError
        where the run has no derivative along every change of states, and LookupError where no
        adjoints can be had.
        """
        self.run, self.directions = run, directions
        self._made: CompiledAdjoint | None = None
        engine = directions.engine
        x, xd = engine.initial()
        k = 0 if integrands is None else integrands.numel_out(0)
        self.parts = parts = Parts(len(x), len(xd), directions.m, k)
        units = np.zeros((len(directions.changes), parts.size))
        units[:, parts.p] = directions.changes
        self.forward = Forward(run, Directions(engine, units), integrands)
        asked = self._asked(sorted(set(times)))
        self.numbers = sorted({*asked, *self.forward.special.tolist()})
        if self.forward.field.compiled is None or engine.program.stepped:
            raise LookupError("not compiled")
        if len(self.numbers) * parts.size**2 > MOST_NUMBERS:
            raise LookupError("too many elements")
        self.elements = {number: self._element(number, asked, blocks) for number in self.numbers}
        self._looked = [n for n, one in self.elements.items() if one.seen or one.moved]
        wide = np.zeros((len(units), parts.m + len(self._looked) * (parts.size - parts.m)))
        wide[:, : parts.m] = directions.changes
        self.wide = Directions(engine, wide)

    # --- forwards --------------------------------------------------------------------------

    def _asked(self, times: Sequence[float]) -> dict[int, list[tuple[float, bool]]]:
        """For each element at which something is read the times, and whether they are within it."""
        asked: dict[int, list[tuple[float, bool]]] = {BEGIN: []}
        for time in times:
            number, within = self.forward.place_of(time)
            asked.setdefault(number, []).append((time, within))
        return asked

    def _element(
        self, number: int, asked: dict[int, list[tuple[float, bool]]], blocks: Collection[str]
    ) -> _Element:
        forward, parts = self.forward, self.parts
        wanted = asked.get(number, [])
        known = set(forward.moved)
        seen: list[Seen] = []
        if number == BEGIN:
            forward.integral = np.zeros((parts.k, parts.size))
            at, sides = forward.begin(forward.begun())
        else:
            forward.integral = np.eye(parts.size)[parts.p.stop :]
            within = [time for time, inside in wanted if inside]
            at, sides, seen = forward.row(number, self._units(number), within)
        forward.check(number + 1, at)
        seen += [(time, sides) for time, inside in wanted if not inside]
        rows = [at.dx, at.dxd, np.eye(parts.size)[parts.p], forward.integral]
        moved = {block: move for block, move in forward.moved.items() if block in {*blocks} - known}
        return _Element(np.concatenate(rows), moved, seen)

    def _units(self, number: int) -> Place:
        """The states at the start of a row, with a change of each, of each parameter, and of each
        integral.
        """
        t, x, xd = self.forward.start_of(number)
        units, n = np.eye(self.parts.size), self.parts.nx
        dx, dxd = units[:n], units[n : n + self.parts.nd]
        dxd[list(self.forward.field.equations.random)] = 0.0
        return Place(t, x, xd, dx, dxd, np.zeros(self.parts.size))

    # --- readings --------------------------------------------------------------------------

    def looks(self) -> list[Seen]:
        """What is seen at each time, along the wide directions."""
        return [
            (time, [self._widened(look, number) for look in looks])
            for number in self._looked
            for time, looks in self.elements[number].seen
        ]

    @property
    def moved(self) -> dict[str, Floats]:
        """How the first event of each block moves along the wide directions."""
        return {
            block: self._wide(move[None], number)[0]
            for number in self._looked
            for block, move in self.elements[number].moved.items()
        }

    def _wide(self, changes: Floats, number: int) -> Floats:
        """Changes (n, size) at an element along the wide directions."""
        parts = self.parts
        own = parts.size - parts.m
        found = np.zeros((len(changes), self.wide.m))
        begin = parts.m + self._looked.index(number) * own
        found[:, : parts.m] = changes[:, parts.p]
        found[:, begin : begin + own] = parts.others(changes)
        return found

    def _widened(self, look: Look, number: int) -> Look:
        def wide(changes: Floats) -> Floats:
            return self._wide(np.atleast_2d(changes), number)

        at = look.at
        place = replace(at, dx=wide(at.dx), dxd=wide(at.dxd), dt=wide(at.dt)[0])
        return replace(look, at=place, dt=wide(look.dt)[0], integral=wide(look.integral))

    # --- backwards -------------------------------------------------------------------------

    def back(self, changes: Floats) -> Floats:
        """Derivatives (n, m) along the run's directions of n numbers whose changes along the wide
        directions (n, wide) are given. Raises LookupError where adjoints need too short steps.
        """
        parts, m = self.parts, self.parts.m
        own = np.split(changes[:, m:], max(1, len(self._looked)), axis=1)
        seeds = dict(zip(self._looked, own, strict=False))
        found = np.zeros((len(changes), parts.size))
        found[:, parts.p] = changes[:, :m]
        others = np.delete(np.arange(parts.size), parts.p)
        for k, number in reversed(list(enumerate(self.numbers))):
            found = found @ self.elements[number].matrix
            if number in seeds:
                found[:, others] += seeds[number]
            if k:
                found = self._plain(found, self.numbers[k - 1] + 1, number)
        return found[:, parts.p]

    def _plain(self, after: Floats, first: int, number: int) -> Floats:
        """The same before the rows from the first to the one before this, none of them special."""
        x, xd, p, sums = self.parts.split(after)
        none = np.zeros((len(after), len(self.directions.entries)))
        found = Adjoints(x, xd, none, sums)
        while number > first:
            begin = max(first, number - MOST_ROWS)
            tape, codes = (
                self.forward.tape.rows[begin : number + 1],
                self.forward.codes[begin:number],
            )
            compiled = self._compiled(len(after))
            before = compiled.rows(tape, codes, found, starts=self.forward.begins(begin))
            if before is None:
                raise LookupError("adjoints need too short steps")
            found, number = before, begin
        return np.hstack([found.x, found.xd, p + found.p @ self.directions.dp, found.sums])

    def _compiled(self, n: int) -> CompiledAdjoint:
        if self._made is None:
            field = self.forward.field
            engine = self.directions.engine
            self._made = CompiledAdjoint(engine, field.equations, n, field.tolerances)
        return self._made


def pays(run: Run, directions: Directions, n: int, times: Sequence[float], k: int) -> bool:
    """Whether adjoints of n numbers take less time than changes along all directions. times: at
    which something is read. k: number of integrals.
    """
    assert run.tape is not None
    rows, program = run.tape.rows, directions.engine.program
    codes = Stops.of(run, Edges(program, directions)).codes
    elements = 1 + int((codes < 0).sum()) + len(set(times))
    forward, back = Blocks.of(directions.m).count, Blocks.of(2 * n).count
    units = Blocks.of(rows.shape[1] - HEAD + directions.m + k).count
    plain = len(rows) - elements
    return (plain + SLOWER * elements) * forward > plain * (back + 1) + SLOWER * elements * units
