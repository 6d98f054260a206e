"""Conditions of breakpoints as text: formulas of signals, and events of blocks.

`norm(plant.qm) > 1` holds or does not. `plant.qm[0] - 1`, a number, is taken for its crossings of
zero. `modes.state == 'heating'` names a state of a state machine, also one that has substates.
`event(ball)` means the events of a block, or of all blocks in a subsystem.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from spart_blocks.base.errors import Fault, InputError, brief, did_you_mean, told
from spart_blocks.base.paths import named, select, several_signals
from spart_blocks.formulas.crossings import zero_or_one
from spart_blocks.formulas.reader import CONSTANTS, Reader, Value, parsed
from spart_blocks.formulas.values import written
from spart_blocks.measures.signal_formulas import OF_SIGNALS, is_parameter
from spart_blocks.run.engines.engine import Engine
from spart_blocks.run.engines.native import Native

EVENT = "event"
LONGEST = 500
"""Largest number of characters of a condition."""
_EVENTFUL = ("stop", "event", "mode")

Known = Mapping[str, Any]
"""The values of signals by full name, and t."""


@dataclass(frozen=True)
class Condition:
    """A parsed condition. reads: the full names of its signals. sides: where it is on which side:
    1.0 where it holds; of a number the signs of its values. shown: the values that tell why.
    block: of which events are meant; then there is no formula.
    """

    text: str
    reads: tuple[str, ...]
    sides: Callable[[Known], Any]
    shown: tuple[tuple[str, Callable[[Known], Any]], ...]
    is_number: bool = False
    block: str | None = None


def read_condition(text: Any, engine: Engine) -> Condition:
    """The condition of a text. Raises InputError with the column where it is none."""
    if not isinstance(text, str) or len(text) > LONGEST:
        raise InputError(f"a condition is a text of at most {LONGEST} characters")
    text, tree = parsed(text, several="breakpoints", params=False)
    if _is_event(tree):
        return _of_events(text, tree, engine)
    reader = _Reader(text, frozenset(engine.signals()), dict(OF_SIGNALS), engine=engine)
    is_number = not isinstance(tree, ast.Compare | ast.BoolOp) and not _is_not(tree)
    if is_number:
        value = reader.value(tree)
        sides: Value = lambda known: zero_or_one(np.ravel(value(known)) > 0.0)  # noqa: E731
        shown: list[tuple[str, Value]] = [(text, value)]
    else:
        sides = _one(text, reader.truth(tree))
        shown = [(ast.unparse(node), reader.value(node)) for node in _told(tree)]
    return Condition(text, tuple(sorted(reader.reads)), sides, tuple(shown), is_number)


def _one(text: str, truth: Value) -> Value:
    """A condition that holds for one value. Raises ValueError for several."""

    def sides(known: Known) -> Any:
        found = np.asarray(truth(known))
        if found.size != 1:
            raise ValueError(f"it has {found.size} values; write any(...) or all(...)")
        return zero_or_one(found.ravel())

    return sides


def _told(tree: ast.expr) -> list[ast.expr]:
    """The parts of a condition whose values tell why it holds: the left sides of comparisons."""
    found = [node.left for node in ast.walk(tree) if isinstance(node, ast.Compare)]
    return [node for node in found if not isinstance(node, ast.Constant)][:3]


def _is_not(tree: ast.expr) -> bool:
    return isinstance(tree, ast.UnaryOp) and isinstance(tree.op, ast.Not)


# --- events of blocks -----------------------------------------------------------------------


def _is_event(tree: ast.expr) -> bool:
    return (
        isinstance(tree, ast.Call)
        and isinstance(tree.func, ast.Name)
        and tree.func.id == EVENT
        and len(tree.args) == 1
        and not tree.keywords
    )


def _of_events(text: str, tree: Any, engine: Engine) -> Condition:
    block = written(tree.args[0])
    known = {one.block for one in engine.crossings if one.kind in _EVENTFUL}
    if block is None or not any(is_within(one, block) for one in known):
        hint = did_you_mean(block or "", known)
        if hint is None:
            some = ", ".join(sorted(known)[:5])
            hint = f"there are those of {some}" if known else "no block of this diagram has any"
        raise InputError(Fault(f"there are no events of {brief(block)}", hint=hint))
    return Condition(text, (), lambda _: np.zeros(1), (), block=block)


def is_within(block: str, of: str) -> bool:
    """Whether a block is this one, or in this subsystem."""
    return block == of or block.startswith(f"{of}/")


# --- formulas of signals --------------------------------------------------------------------


@dataclass
class _Reader(Reader):
    """Reads names of signals, of parameters and of states of state machines."""

    engine: Engine = field(kw_only=True)

    def value(self, node: ast.expr) -> Value:
        name = written(node)
        return super().value(node) if name is None else self._named(node, name)

    def _named(self, node: ast.expr, name: str) -> Value:
        if name == "t":
            return lambda known: known["t"]
        full, index = named(name, self.names, self.engine.display.aliases)
        if full in self.names:
            self.reads.add(full)
            return lambda known: select(name, np.asarray(known[full])[None], index)[0]
        if isinstance(node, ast.Name) and name in {*CONSTANTS, *self.functions}:
            return super()._name(node)
        if isinstance(self.engine, Native) and is_parameter(self.engine.program, name):
            places = self.engine.program.parameter_places(name)[0]
            number = self.engine.program.p[places]
            return lambda known: number
        fault = several_signals(name, self.names)
        hint = fault.hint if fault else self._hint(name)
        raise self.fault(node, f"there is no signal {name!r}", hint)

    def _hint(self, name: str) -> str | None:
        known: Collection[str] = {*self.names, *self.engine.display.aliases}
        inner = sorted(one for one in known if one.startswith(f"{name}/"))
        if inner:
            return f"a name with a slash stands in quotes: {inner[0]!r}"
        return did_you_mean(name, known)

    def _comparison(self, node: ast.Compare) -> Value:
        """Also that of a state machine with the name of a state."""
        found = self._state(node)
        if found is None:
            return super()._comparison(node)
        number, (first, last) = found
        is_equal = isinstance(node.ops[0], ast.Eq)

        def holds(known: Known) -> Any:
            inside = np.logical_and(number(known) > first - 0.5, number(known) < last + 0.5)
            return inside if is_equal else np.logical_not(inside)

        return holds

    def _state(self, node: ast.Compare) -> tuple[Value, tuple[int, int]] | None:
        """The number of a machine's active state, and those that a name means."""
        if len(node.ops) != 1 or not isinstance(node.ops[0], ast.Eq | ast.NotEq):
            return None
        asked, other = node.comparators[0], node.left
        if not isinstance(asked, ast.Constant):
            asked, other = other, asked
        if not isinstance(asked, ast.Constant) or not isinstance(asked.value, str):
            return None
        signal = written(other) or ""
        full = named(signal, self.names, self.engine.display.aliases)[0]
        levels = self.engine.display.levels.get(full)
        if levels is None:
            return None
        return self.value(other), self._numbers(node, full, levels, asked.value)

    def _numbers(
        self, node: ast.Compare, signal: str, levels: tuple[str, ...], name: str
    ) -> tuple[int, int]:
        if name in levels:
            return levels.index(name) + 1, levels.index(name) + 1
        block = signal.rpartition(".")[0] or signal
        charts = [
            getattr(one.block, "chart", None)
            for one in self.engine.made_of()[1]
            if one.name in (signal, block)
        ]
        states = [
            state
            for chart in charts
            if chart is not None
            for state in chart.states
            if chart.regions[state.region].leaves == levels
        ]
        found = [state for state in states if state.name == name]
        if not found:
            hint = did_you_mean(name, {*levels, *(state.name for state in states)})
            raise self.fault(
                node, f"{signal} has no state {name!r}", hint or f"it has {', '.join(levels)}"
            )
        return found[0].first, found[0].last


def checked(condition: Condition, known: Known) -> Condition:
    """The condition, once its formula has been tried. Raises InputError if it fails, as for shapes
    that do not match."""
    try:
        condition.sides(known)
        for _, value in condition.shown:
            value(known)
    except (ValueError, IndexError, TypeError) as error:
        raise InputError(f"condition {brief(condition.text)}: {told(error)}") from None
    return condition
