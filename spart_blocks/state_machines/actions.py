"""Actions and conditions of charts, from plain values: numbers, texts of formulas and lists of
these.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

import numpy as np

from spart_blocks.base.errors import Fault, InputError, brief, did_you_mean
from spart_blocks.base.spatial import Array
from spart_blocks.formulas.guards import Guard, read_guard
from spart_blocks.formulas.reader import query, read_formula
from spart_blocks.state_machines.chart import ACTIVE, Action, Known

Read = TypeVar("Read")
MOST_ENTRIES = 1000
MOST_ACTIONS = 2000


@dataclass(frozen=True)
class Expression:
    """A value of an action. value, crossings: functions of the values by name."""

    text: str
    value: Callable[[Known], Any]
    crossings: Callable[[Known], list[Any]]
    reads: frozenset[str]


@dataclass
class Actions:
    """Reads actions and conditions, and collects their faults. names: those that formulas may
    read. states: those of which they may ask whether they are active. variables: those that actions
    set. continuous: whether `during` holds at all times.
    """

    names: Collection[str]
    states: Collection[str]
    variables: Mapping[str, float | Array]
    continuous: bool
    reads: set[str] = field(default_factory=set)
    """All that the formulas read."""
    faults: list[Fault] = field(default_factory=list)
    count: int = 0

    def fault(self, message: str, hint: str | None = None) -> None:
        self.faults.append(Fault(message, hint=hint))

    def read(self, given: Any, path: str, during: bool) -> tuple[Action, ...]:
        """The actions of an entry such as {valve: 1, gain: "2*k"}."""
        if given is None:
            return ()
        if not isinstance(given, Mapping):
            text = f"{path} takes values of variables by name, not {brief(given)}"
            self.fault(text, 'write {valve: 1, gain: "2*k"}')
            return ()
        found = []
        for name, value in given.items():
            self.count += 1
            if self.count > MOST_ACTIONS:
                self.fault(f"{path} makes more than {MOST_ACTIONS} actions")
                break
            if name not in self.variables:
                self._unknown(name, path)
                continue
            expression = self._expression(value, f"{path}.{name}", np.shape(self.variables[name]))
            if expression is None:
                continue
            if during and self.continuous and name in expression.reads:
                self.fault(
                    f"{path}.{name} reads {name} itself",
                    "a formula under `during` holds at all times; count in `entry`, `exit` or "
                    "`do`, or at the ticks of a STATE_MACHINE_S",
                )
            found.append(Action(name, *vars(expression).values()))
        return tuple(found)

    def _unknown(self, name: Any, path: str) -> None:
        if name in self.names:
            text = f"{path}.{name}: {name} is no variable, so that actions cannot set it"
            self.fault(text, "they set those of `outputs` and `variables`")
            return
        near = did_you_mean(str(name), self.variables) if self.variables else None
        hint = near or "name it under `outputs`, or under `variables`, with its initial value"
        self.fault(f"{path}.{name}: there is no variable {brief(name)}", hint)

    def guard(self, given: Any, path: str) -> Guard | None:
        """The condition of a transition."""
        if isinstance(given, bool) or not isinstance(given, str):
            self.fault(f"{path} takes a condition such as 'u > 1', not {brief(given)}")
            return None
        guard = self._tried(lambda: read_guard(given, self.names, {ACTIVE: self.states}), path)
        self.reads |= guard.reads if guard else set()
        return guard

    def asked(self) -> tuple[str, ...]:
        """The states of which formulas ask whether they are active."""
        return tuple(name for name in self.states if query(ACTIVE, name) in self.reads)

    def time(self, given: Any, path: str) -> Expression | None:
        """The time [s] of a transition."""
        if isinstance(given, (int, float)) and not (np.isfinite(given) and given >= 0):
            self.fault(f"{path} takes a time [s] from 0 on, not {brief(given)}")
            return None
        return self._expression(given, path, ())

    def _expression(self, given: Any, path: str, shape: tuple[int, ...]) -> Expression | None:
        """The value of an action for a variable of this shape; None after a fault."""
        if isinstance(given, str):
            return self._formula(given, path)
        if isinstance(given, list) and any(isinstance(entry, str) for entry in given):
            return self._list(given, path, shape)
        return self._numbers(given, path, shape)

    def _formula(self, text: str, path: str) -> Expression | None:
        queries = {ACTIVE: self.states}
        formula = self._tried(lambda: read_formula(text, self.names, queries), path)
        if formula is None:
            return None
        self.reads |= formula.reads
        return Expression(formula.text, formula.value, formula.crossings, formula.reads)

    def _tried(self, read: Callable[[], Read], path: str) -> Read | None:
        """What a reader of formulas gives, or None, its faults at this path."""
        try:
            return read()
        except InputError as error:
            for fault in error.faults:
                self.fault(f"{path}: {fault.message}", fault.hint)
            return None

    def _list(self, given: list[Any], path: str, shape: tuple[int, ...]) -> Expression | None:
        if len(given) > MOST_ENTRIES or shape not in ((), (len(given),)):
            self.fault(f"{path} has {len(given)} entries, the variable has the shape {shape}")
            return None
        found = [self._expression(entry, f"{path}.{k}", ()) for k, entry in enumerate(given)]
        parts = [part for part in found if part is not None]
        if len(parts) < len(found):
            return None

        def value(known: Known) -> Any:
            values = [part.value(known) for part in parts]
            for part, entry in zip(parts, values, strict=True):
                if np.ndim(entry):
                    raise ValueError(f"formula {part.text} in a list gives {np.shape(entry)}")
            return np.stack(values)

        return Expression(
            f"[{', '.join(part.text for part in parts)}]",
            value,
            lambda known: [entry for part in parts for entry in part.crossings(known)],
            frozenset().union(*(part.reads for part in parts)),
        )

    def _numbers(self, given: Any, path: str, shape: tuple[int, ...]) -> Expression | None:
        try:
            numbers = np.array(given, dtype=float)
        except (TypeError, ValueError):
            numbers = np.full(1, np.nan)
        if given is None or isinstance(given, bool) or not np.isfinite(numbers).all():
            text = f"{path} takes finite numbers or formulas, not {brief(given)}"
            self.fault(text, "1 and 0 are true and false" if isinstance(given, bool) else None)
            return None
        if numbers.ndim and numbers.shape != shape:
            text = f"{path} has the shape {numbers.shape}, the variable has {shape}"
            self.fault(text, "give one number for all of it, or as many as it has")
            return None
        text = f"{numbers:g}" if not numbers.ndim else f"[{_shown(numbers)}]"
        fixed = numbers if numbers.ndim else np.float64(numbers)
        return Expression(text, lambda known: fixed, lambda known: [], frozenset())


def _shown(numbers: Array) -> str:
    some = [f"{entry:g}" for entry in numbers.ravel()[:4]]
    return ", ".join(some) + (", ..." if numbers.size > 4 else "")
