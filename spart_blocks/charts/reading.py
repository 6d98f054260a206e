"""A chart from plain values, as a diagram file has them. Nothing in them is trusted: names, texts,
sizes and nesting are checked, and each fault names its entry, such as transitions.1.when.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from spart_blocks.charts.actions import Actions
from spart_blocks.charts.chart import ELAPSED, Action, Chart, State, Transition
from spart_blocks.errors import Fault, InputError, brief, did_you_mean
from spart_blocks.formulas.values import refuse_unfit
from spart_blocks.spatial import Array

MOST_STATES = 200
MOST_TRANSITIONS = 1000
DEEPEST = 20
MOST_NUMBERS = 10_000
"""Most numbers in all variables together."""
LONGEST_NAME = 60
_IN_STATE = ("initial", "states", "history", "entry", "during", "exit")
_IN_TRANSITION = ("from", "to", "when", "after", "do")


def variable_values(given: Any, what: str) -> dict[str, float | Array]:
    """Variables by name with their initial values; InputError unless these are finite numbers."""
    if given is None:
        return {}
    if not isinstance(given, Mapping):
        hint = f"write {what}: {{valve: 0, gain: [1, 1, 1]}}"
        raise InputError(
            Fault(f"{what} takes initial values by name, not {brief(given)}", hint=hint)
        )
    refuse_unfit(given, what)
    values: dict[str, float | Array] = {}
    for name, value in given.items():
        try:
            numbers = np.array(value, dtype=float)
        except (TypeError, ValueError):
            numbers = np.full(1, np.nan)
        if isinstance(value, (bool, str)) or not np.isfinite(numbers).all() or not numbers.size:
            text = f"{what}.{name} takes its initial value, finite numbers, not {brief(value)}"
            raise InputError(text)
        values[name] = numbers if numbers.ndim else float(numbers)
    size = sum(np.size(value) for value in values.values())
    if size > MOST_NUMBERS:
        raise InputError(f"{what} has {size:,} numbers, the most is {MOST_NUMBERS:,}")
    return values


def read_chart(
    states: Any,
    transitions: Any,
    initial: Any,
    *,
    inputs: Sequence[str],
    outputs: Sequence[str],
    variables: Mapping[str, float | Array],
    params: Collection[str],
    continuous: bool,
) -> Chart:
    """The chart of these states and transitions. continuous: whether `during` defines a variable at
    all times, so that its formula cannot read the variable itself. Raises InputError with all
    faults.
    """
    names = {*inputs, *variables, *params, ELAPSED}
    reader = _Reader(Actions(names, variables, continuous))
    first = reader.states_of(states, initial, "", None, 0)
    found = reader.transitions_of(transitions) if reader.states else []
    if reader.faults or first is None:
        raise InputError(reader.faults)
    depths = [state.depth for state in reader.states]
    found.sort(key=lambda transition: depths[transition.source])
    return Chart(
        tuple(inputs), tuple(outputs), variables, tuple(reader.states), tuple(found), first
    )


@dataclass
class _Reader:
    """Reads states and transitions, and collects their faults."""

    actions: Actions
    states: list[Any] = field(default_factory=list)
    """State, or None while its substates are read."""
    index: dict[str, int] = field(default_factory=dict)
    leaves: int = 0

    @property
    def faults(self) -> list[Fault]:
        return self.actions.faults

    def fault(self, message: str, hint: str | None = None) -> None:
        self.faults.append(Fault(message, hint=hint))

    # --- states ----------------------------------------------------------------------

    def states_of(
        self, given: Any, initial: Any, path: str, parent: int | None, depth: int
    ) -> int | None:
        """Read states beside each other; returns the index of the initial one. path: of what is
        around them, such as states.operate."""
        where = f"{path}.states".lstrip(".")
        if not isinstance(given, Mapping) or not given:
            hint = "write states: {off: {}, on: {entry: {valve: 1}}}"
            self.fault(f"{where} takes states by name, not {brief(given)}", hint)
            return None
        if depth >= DEEPEST:
            self.fault(f"{where} is nested deeper than {DEEPEST} levels", "write fewer levels")
            return None
        here: dict[str, int] = {}
        for name, body in given.items():
            if len(self.states) >= MOST_STATES:
                self.fault(f"{where} makes more than {MOST_STATES} states")
                return None
            if self._is_name(name, where):
                here[name] = self._state(name, body, f"{where}.{name}", parent, depth)
        return self._initial(initial, here, f"{path}.initial".lstrip("."), where)

    def _is_name(self, name: Any, where: str) -> bool:
        if not isinstance(name, str) or not name.isidentifier() or len(name) > LONGEST_NAME:
            hint = "a name is letters, digits and _, and begins with a letter"
            self.fault(f"{where} has {brief(name)}, which is no name of a state", hint)
            return False
        if name in self.index:
            hint = "transitions name states, so each has a name of its own"
            self.fault(f"{where}.{name} is a second state {name}", hint)
            return False
        return True

    def _state(self, name: str, body: Any, path: str, parent: int | None, depth: int) -> int:
        index = self.index[name] = len(self.states)
        self.states.append(None)
        body = {} if body is None else body
        if not isinstance(body, Mapping):
            self.fault(f"{path} takes entries such as entry: {{valve: 1}}, not {brief(body)}")
            body = {}
        self._refuse_unknown(body, _IN_STATE, path)
        first, initial, children = self.leaves + 1, None, range(0)
        if "states" in body:
            initial = self.states_of(body["states"], body.get("initial"), path, index, depth + 1)
            children = range(index + 1, len(self.states))
        else:
            self.leaves += 1
            for key in ("initial", "history"):
                if body.get(key):
                    self.fault(f"{path}.{key} is of a state with substates, {name} has none")
        history = body.get("history", False)
        if not isinstance(history, bool):
            self.fault(f"{path}.history takes true or false, not {brief(history)}")
        acts = [
            self.actions.read(body.get(key), f"{path}.{key}", key == "during")
            for key in ("entry", "during", "exit")
        ]
        mine = tuple(i for i in children if self.states[i] and self.states[i].parent == index)
        self.states[index] = State(
            name, depth, parent, mine, initial, bool(history), first, self.leaves, *acts
        )
        return index

    def _initial(self, given: Any, here: Mapping[str, int], path: str, where: str) -> int | None:
        if given is None and len(here) == 1:
            return next(iter(here.values()))
        if not here:
            return None
        choices = f"one of {', '.join(here)}"
        if given is None:
            self.fault(f"{where} has several states and no `initial`", f"{path}: {choices}")
            return None
        if not isinstance(given, str) or given not in here:
            deeper = isinstance(given, str) and given in self.index
            why = "is not directly in it" if deeper else "is not there"
            near = None if deeper else did_you_mean(str(given), here)
            self.fault(f"{path}: the state {brief(given)} {why}", near or f"it is {choices}")
            return None
        return here[given]

    def _refuse_unknown(self, body: Mapping[Any, Any], known: Sequence[str], path: str) -> None:
        for key in body:
            if key not in known:
                near = did_you_mean(str(key), known)
                self.fault(f"{path} has no entry {brief(key)}", near)

    # --- transitions -----------------------------------------------------------------

    def transitions_of(self, given: Any) -> list[Transition]:
        if given is None:
            return []
        if isinstance(given, (str, Mapping)) or not isinstance(given, Sequence):
            hint = 'write transitions: [{from: off, to: on, when: "u > 1"}]'
            self.fault(f"transitions takes a list, not {brief(given)}", hint)
            return []
        if len(given) > MOST_TRANSITIONS:
            self.fault(f"transitions has {len(given):,} entries, the most is {MOST_TRANSITIONS:,}")
            return []
        found = []
        for k, body in enumerate(given):
            found += self._transition(body, f"transitions.{k}")
        if len(found) > MOST_TRANSITIONS:
            self.fault(f"transitions are {len(found):,}, the most is {MOST_TRANSITIONS:,}")
        return found

    def _transition(self, body: Any, path: str) -> list[Transition]:
        if not isinstance(body, Mapping):
            hint = 'write {from: off, to: on, when: "u > 1"}'
            self.fault(f"{path} takes entries, not {brief(body)}", hint)
            return []
        self._refuse_unknown(body, _IN_TRANSITION, path)
        given = body.get("from")
        starts = given if isinstance(given, list) else [given]
        if not starts or len(starts) > MOST_STATES:
            self.fault(f"{path}.from takes a state, or a list of states, not {brief(given)}")
            return []
        sources = [self._named(start, f"{path}.from") for start in starts]
        target = self._named(body.get("to"), f"{path}.to")
        when = body.get("when")
        guard = self.actions.guard(when, f"{path}.when") if when is not None else None
        after = body.get("after")
        wait = self.actions.time(after, f"{path}.after") if after is not None else None
        do = self.actions.read(body.get("do"), f"{path}.do", False)
        if target is None:
            return []
        return [
            self._joined(source, target, guard, wait, do)
            for source in sources
            if source is not None
        ]

    def _joined(
        self, source: int, target: int, guard: Any, wait: Any, do: tuple[Action, ...]
    ) -> Transition:
        value: Callable[..., Any] | None = guard.value if guard else None
        after = wait.value if wait else None
        texts = (guard.text if guard else "", wait.text if wait else "")
        return Transition(source, target, self._scope(source, target), value, after, do, *texts)

    def _named(self, name: Any, path: str) -> int | None:
        if name is None:
            way = path.rpartition(".")[2]
            what = "the state that it leaves" if way == "from" else "the state that it leads to"
            self.fault(f"{path.rpartition('.')[0]} has no `{way}`", f"{way}: {what}")
            return None
        index = self.index.get(name) if isinstance(name, str) else None
        if index is None:
            self.fault(f"{path}: there is no state {brief(name)}", _near(name, self.index))
        return index

    def _scope(self, source: int, target: int) -> int | None:
        """The innermost state around both."""
        scope, around = None, [self._around(source), self._around(target)]
        for a, b in zip(*around, strict=False):
            if a != b:
                break
            scope = a
        return scope

    def _around(self, index: int) -> list[int]:
        """The states around one, outer ones first."""
        found: list[int] = []
        parent = self.states[index].parent
        while parent is not None:
            found.insert(0, parent)
            parent = self.states[parent].parent
        return found


def _near(name: Any, known: Collection[str]) -> str | None:
    return did_you_mean(str(name), known)
