"""The node that solves an algebraic loop: its outputs are the values of the outputs at which the
loop is cut.

The blocks of the loop are evaluated after it, with its outputs in place of the cut ones.
"""

from __future__ import annotations

import math
from collections.abc import Callable, MutableMapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from spart_blocks.diagram.network.nodes import Node, Source
from spart_blocks.formulas import newton

Shape = tuple[int, ...]
Values = MutableMapping[int, Sequence[Any]] | list[Sequence[Any]]
Evaluate = Callable[[Node, Values], Sequence[Any]]

_STEP = 1e-7
"""Step of finite differences relative to the unknown's size, if blocks are evaluated
with numbers.
"""
_SHORT = 1e-6
"""Largest last correction that is applied after the tolerance is met."""


@dataclass(frozen=True)
class Unknown:
    """An output that is solved for.

    source: the output that must equal it or, for a constraint, be zero. constraint: node of its
    ALGEBRAIC_CONSTRAINT. start: initial guess, if the file gives one. follows: the output whose
    value is the initial guess. shape: if declared.
    """

    name: str
    output: Source
    source: Source
    constraint: Node | None = None
    start: Any = None
    follows: Source | None = None
    shape: Shape | None = None


class ShapeError(ValueError):
    """The shapes of the signals in a loop cannot be determined."""


class AlgebraicLoop:
    """Solves an algebraic loop: one output for each unknown, and the error of the solution.

    members: the blocks of the loop in an order of evaluation. chain: the loop as text for
    messages. jumping: its blocks whose outputs can jump.
    """

    type = "algebraic_loop"

    def __init__(
        self,
        name: str,
        index: int,
        members: Sequence[Node],
        unknowns: Sequence[Unknown],
        chain: str,
        jumping: Sequence[str],
    ) -> None:
        self.name, self.index, self.chain = name, index, chain
        self.members, self.unknowns = tuple(members), tuple(unknowns)
        self.jumping = tuple(jumping)
        self.shapes: list[Shape] | None = None

    @property
    def varies_between_ticks(self) -> bool:
        """Whether an output of the loop's blocks can change between ticks."""
        return any(member.varies_between_ticks for member in self.members)

    @property
    def absolute(self) -> bool:
        """Whether the residual has the units of the unknowns."""
        return all(unknown.constraint is None for unknown in self.unknowns)

    @property
    def is_started(self) -> bool:
        """Whether an initial guess is given for some unknown."""
        return any(u.start is not None or u.follows is not None for u in self.unknowns) or any(
            np.any(u.constraint.block.initial) for u in self.unknowns if u.constraint is not None
        )

    # --- the equations, on numbers and symbols -----------------------------------------------

    def residual(self, z: Sequence[Any], values: Values, evaluate: Evaluate) -> list[Any]:
        """The residual for each unknown, which must be zero. z: the unknowns. The outputs of the
        loop's blocks are stored in `values`.
        """
        values[self.index] = [*z, 0.0]
        for member in self.members:
            values[member.index] = evaluate(member, values)
        found = []
        for unknown, value in zip(self.unknowns, z, strict=True):
            node, port = unknown.source
            brought = values[node][port]
            found.append(brought if unknown.constraint is not None else brought - value)
        return found

    def residual_of(self, values: Values) -> float:
        """The largest residual, from the outputs of all nodes."""
        z = values[self.index]
        found = [
            np.max(np.abs(values[u.source[0]][u.source[1]] - (z[k] if u.constraint is None else 0)))
            for k, u in enumerate(self.unknowns)
        ]
        return float(max(found))

    def settle(self, inputs: Sequence[Any], values: Values, evaluate: Evaluate) -> list[Shape]:
        """The shapes of the unknowns: as declared, or such that each unknown equals the shape of
        its source. Raises the errors of blocks for wrong shapes.
        """
        if self.shapes is not None:
            return self.shapes
        starts = self.starts(values)
        given = [
            np.shape(start) or unknown.shape
            for unknown, start in zip(self.unknowns, starts, strict=True)
        ]
        others = dict.fromkeys(np.shape(value) for value in inputs if np.shape(value))
        failure: Exception | None = None
        for guess in ((), *others):
            shapes = [guess if shape is None else shape for shape in given]
            for _ in range(4):
                try:
                    at = [whole(_number(s), shape) for s, shape in zip(starts, shapes, strict=True)]
                    self.residual(at, values, evaluate)
                    brought = [values[i][k] for i, k in (u.source for u in self.unknowns)]
                except Exception as error:
                    failure = failure or error
                    break
                found = [tuple(np.shape(value)) for value in brought]
                if found == shapes:
                    self.shapes = shapes
                    return shapes
                shapes = found
        raise failure or ShapeError(
            f"the shapes of the signals in the {self.kind} do not settle: {self.chain}; "
            "give the start of one in run.loop_start as a vector of the right length"
        )

    @property
    def kind(self) -> str:
        return "algebraic loop" if self.absolute else "algebraic constraint"

    def parts(self, z: Any, shapes: Sequence[Shape]) -> list[Any]:
        """Split the vector of all unknowns into arrays of these shapes."""
        ends = np.cumsum([0, *map(math.prod, shapes)]).tolist()
        return [
            z[a] if not shape else z[a:b].reshape(shape)
            for a, b, shape in zip(ends[:-1], ends[1:], shapes, strict=True)
        ]

    def fault(self, residual: float | None = None) -> str:
        """The error message if no solution was found."""
        off = "" if residual is None else f"; what should be zero is {residual:.3g}"
        return f"no solution was found for the {self.kind} {self.chain}{off}"

    @property
    def hint(self) -> str:
        if self.jumping:
            listed = ", ".join(self.jumping)
            return (
                f"{listed} switches within the loop, which may leave it without a solution; a "
                "block with a state in the loop, or a smooth function, gives it one"
            )
        return (
            "there may be none from here on, or none near the start of the iteration: "
            "run: {loop_start: {BLOCK.PORT: VALUE}} gives another"
        )

    # --- on numbers --------------------------------------------------------------------------

    def starts(self, values: Values, block: Callable[[Node], Any] = lambda node: node.block) -> Any:
        """The initial guess for each unknown. block: returns the block of a constraint's node."""
        found: list[Any] = []
        for unknown in self.unknowns:
            if unknown.follows is not None:
                node, port = unknown.follows
                found.append(values[node][port])
            elif unknown.start is not None:
                found.append(np.asarray(unknown.start, float))
            else:
                found.append(
                    0.0 if unknown.constraint is None else block(unknown.constraint).initial
                )
        return found

    def solve(
        self, inputs: Sequence[Any], values: Values, evaluate: Evaluate, start: Any = None
    ) -> list[Any]:
        """The outputs of this node: the unknowns, and the error. values: outputs of the nodes
        before it. start: initial guess.
        """
        shapes = self.settle(inputs, values, evaluate)
        if start is None:
            start = _column(
                whole(s, shape) for s, shape in zip(self.starts(values), shapes, strict=True)
            )

        def residual(z: Any) -> Any:
            return _column(self.residual(self.parts(z, shapes), values, evaluate))

        with np.errstate(all="ignore"):
            z, error = solution(residual, start, self.absolute)
        return [*self.parts(z, shapes), error]

    def output(self, t: float, inputs: Sequence[Any], states: Any) -> list[Any]:
        """Evaluate this node alone. states: of its members, by default their initial ones."""
        values: dict[int, Any] = {}
        for (i, k), value in zip(self.outside, inputs, strict=True):
            values.setdefault(i, {})[k] = value

        def evaluate(node: Node, known: Values) -> Sequence[Any]:
            return node.signals(node.block.output(t, node.inputs(known), node.start_state()))

        return self.solve(inputs, values, evaluate)

    @property
    def outside(self) -> tuple[Source, ...]:
        """The outputs of nodes outside the loop that its blocks read."""
        inside = {member.index for member in self.members} | {self.index}
        used = (one for m in self.members for one in m.waits_for)
        own = (unknown.source for unknown in self.unknowns)
        followed = (u.follows for u in self.unknowns if u.follows is not None)
        every = (*used, *own, *followed)
        return tuple(dict.fromkeys(one for one in every if one[0] not in inside))


class LoopCheck:
    """A block that stops a run with an error when a loop has no solution."""

    type = "algebraic_loop_check"
    watched_kinds = ("fault",)
    unsolved = True

    def __init__(self, loop: AlgebraicLoop) -> None:
        self.loop, self.name = loop, f"{loop.name}.check"
        self.fault_text = loop.fault()

    def watch(self, t: float, inputs: list[Any], x: Any) -> list[Any]:
        """Positive if the error of the solution is larger than the tolerance."""
        return [np.minimum(inputs[0], 1.0) - newton.TOLERANCE]


def solution(residual: Callable[[Any], Any], start: Any, absolute: bool) -> tuple[Any, float]:
    """z (n,) with residual(z) = 0, by Newton steps of `newton.NewtonLayout`, and its error. If no
    solution is found, z is the point with the smallest residual.
    """
    places = newton.NewtonLayout(len(start))
    state = places.begin()
    for _ in range(newton.ATTEMPTS * newton.STEPS):
        trial = places.trial(state, start)
        g, jacobian = differences(residual, trial)
        state = places.step(state, trial, g, jacobian, absolute)
        if state[places.status]:
            break
    z = state[places.z]
    if state[places.status] == newton.DONE:
        error = newton.level(z, *_at(residual, z, state, places), absolute)
        return corrected(z, state[places.d]), float(error)
    g, jacobian = differences(residual, z)
    return z, float(max(newton.level(z, g, newton.inverted(jacobian), absolute), 2e-12))


def corrected(z: Any, step: Any) -> Any:
    """z after one more Newton correction, if that is small."""
    short = np.sum(np.abs(step)) <= _SHORT * np.maximum(1.0, np.max(np.abs(z)))
    return z + np.where(short, step, 0.0)


def _at(
    residual: Callable[[Any], Any], z: Any, state: Any, places: newton.NewtonLayout
) -> tuple[Any, Any]:
    return residual(z), state[places.inverse].reshape(places.n, places.n)


def differences(residual: Callable[[Any], Any], z: Any) -> tuple[Any, Any]:
    """The residual and its Jacobian, by finite differences."""
    g = residual(z)
    jacobian = np.empty((len(z), len(z)))
    for k in range(len(z)):
        moved = z.copy()
        moved[k] += _STEP * max(1.0, abs(z[k]))
        jacobian[:, k] = (residual(moved) - g) / (moved[k] - z[k])
    return g, jacobian


def _number(start: Any) -> Any:
    """An initial guess; 0 if it is a symbol."""
    return 0.0 if np.asarray(start).dtype.hasobject else start


def whole(value: Any, shape: Shape) -> Any:
    """A value broadcast to a shape; a float for shape ()."""
    array = np.broadcast_to(value, shape)
    return float(array) if not shape else np.array(array, float)


def _column(values: Any) -> Any:
    return np.concatenate([np.zeros(0), *(np.ravel(np.asarray(v, float)) for v in values)])
