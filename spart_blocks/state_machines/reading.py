"""A chart from plain values, as a diagram file has them. Nothing in them is trusted: names, texts,
sizes and nesting are checked, and each fault names its entry, such as transitions.1.when.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

import numpy as np

from spart_blocks.base.errors import Fault, InputError, brief, did_you_mean
from spart_blocks.base.spatial import Array
from spart_blocks.formulas.values import refuse_unfit
from spart_blocks.state_machines.actions import Actions
from spart_blocks.state_machines.chart import (
    ACTIVE,
    ELAPSED,
    Action,
    Chart,
    State,
    Transition,
    definition_faults,
)
from spart_blocks.state_machines.layout import STATE

MOST_STATES = 200
MOST_TRANSITIONS = 1000
DEEPEST = 20
MOST_NUMBERS = 10_000
"""Most numbers in all variables together."""
LONGEST_NAME = 60
_IN_STATE = ("initial", "states", "parallel", "history", "entry", "during", "exit")
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
    parallel: Any,
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
    known = tuple(islice(_names_in(states), MOST_STATES))
    reader = _Reader(Actions(names, known, variables, continuous))
    reader.parallel = reader.truth(parallel, "parallel")
    around = _Around("", None, 0, None if reader.parallel else reader.new_region())
    first = reader.states_of(states, initial, around)
    found = reader.transitions_of(transitions) if reader.states else []
    if reader.faults or not first:
        raise InputError(reader.faults)
    depths = [state.depth for state in reader.states]
    found.sort(key=lambda transition: depths[transition.source])
    chart = Chart(
        inputs=tuple(inputs),
        outputs=tuple(outputs),
        variables=variables,
        states=tuple(reader.states),
        transitions=tuple(found),
        initial=first,
        parallel=reader.parallel,
        asked=tuple(reader.index[name] for name in reader.actions.asked()),
    )
    if continuous and (faults := definition_faults(chart)):
        raise InputError(faults)
    return chart


def _names_in(states: Any, depth: int = 0) -> Iterator[str]:
    """The names of states, and of those in them."""
    if isinstance(states, Mapping) and depth < DEEPEST:
        for name, body in states.items():
            yield str(name)
            if isinstance(body, Mapping):
                yield from _names_in(body.get("states"), depth + 1)


@dataclass(frozen=True)
class _Around:
    """What is around states. path: of its entry, such as states.operate. index: of the state, None
    for the chart. depth: of the states in it. region: theirs, None if each is one of its own."""

    path: str
    index: int | None
    depth: int
    region: int | None

    def at(self, key: str) -> str:
        return f"{self.path}.{key}".lstrip(".")


@dataclass
class _Reader:
    """Reads states and transitions, and collects their faults."""

    actions: Actions
    states: list[Any] = field(default_factory=list)
    """State, or None while its substates are read."""
    index: dict[str, int] = field(default_factory=dict)
    leaves: list[int] = field(default_factory=list)
    """How many each region has."""
    parallel: bool = False
    """Whether the states of the chart are."""

    @property
    def faults(self) -> list[Fault]:
        return self.actions.faults

    def fault(self, message: str, hint: str | None = None) -> None:
        self.faults.append(Fault(message, hint=hint))

    # --- states ----------------------------------------------------------------------

    def new_region(self) -> int:
        self.leaves.append(0)
        return len(self.leaves) - 1

    def states_of(self, given: Any, initial: Any, around: _Around) -> tuple[int, ...]:
        """Read states beside each other; returns the indices of those that are entered first."""
        where = around.at("states")
        if not isinstance(given, Mapping) or not given:
            hint = "write states: {off: {}, on: {entry: {valve: 1}}}"
            self.fault(f"{where} takes states by name, not {brief(given)}", hint)
            return ()
        if around.depth >= DEEPEST:
            self.fault(f"{where} is nested deeper than {DEEPEST} levels", "write fewer levels")
            return ()
        here: dict[str, int] = {}
        for name, body in given.items():
            if len(self.states) >= MOST_STATES:
                self.fault(f"{where} makes more than {MOST_STATES} states")
                return ()
            if self._is_name(name, where):
                here[name] = self._state(name, body, f"{where}.{name}", around)
        if around.region is None:
            return self._all_of(initial, here, around.at("initial"))
        return self._initial(initial, here, around.at("initial"), where)

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

    def _state(self, name: str, body: Any, path: str, around: _Around) -> int:
        index = self.index[name] = len(self.states)
        self.states.append(None)
        region = around.region
        if region is None:
            region = self.new_region()
            self._refuse_signal(name, path)
        body = {} if body is None else body
        if not isinstance(body, Mapping):
            self.fault(f"{path} takes entries such as entry: {{valve: 1}}, not {brief(body)}")
            body = {}
        self._refuse_unknown(body, _IN_STATE, path)
        parallel, history = (
            self.truth(body.get(k), f"{path}.{k}") for k in ("parallel", "history")
        )
        composite = "states" in body
        first, children = self.leaves[region] + 1, range(0)
        initial: tuple[int, ...] = ()
        if not composite or parallel:
            self.leaves[region] += 1
        if composite:
            inner = _Around(path, index, around.depth + 1, None if parallel else region)
            initial = self.states_of(body["states"], body.get("initial"), inner)
            children = range(index + 1, len(self.states))
        for key in () if composite else ("initial", "parallel", "history"):
            if body.get(key):
                self.fault(f"{path}.{key} is of a state with substates, {name} has none")
        if composite and parallel and history:
            hint = "write history: true in its regions"
            self.fault(f"{path}.history: the substates of {name} are parallel, all entered", hint)
        acts = [
            self.actions.read(body.get(key), f"{path}.{key}", key == "during")
            for key in ("entry", "during", "exit")
        ]
        mine = tuple(i for i in children if self.states[i] and self.states[i].parent == index)
        self.states[index] = State(
            name, around.depth, around.index, mine, initial, parallel, history, region,
            first, self.leaves[region], *acts,
        )  # fmt: skip
        return index

    def truth(self, given: Any, path: str) -> bool:
        if given is not None and not isinstance(given, bool):
            self.fault(f"{path} takes true or false, not {brief(given)}")
        return given is True

    def _refuse_signal(self, name: str, path: str) -> None:
        """The number of the active state of a region is an output with the region's name."""
        what = "a variable" if name in self.actions.variables else "an input or a parameter"
        if name == STATE or name in {*self.actions.names} - {ELAPSED}:
            what = "an output" if name == STATE else what
            text = (
                f"{path} is a region, whose state is an output {name}, and there is {what} {name}"
            )
            self.fault(text, "take another name")

    def _all_of(self, given: Any, here: Mapping[str, int], path: str) -> tuple[int, ...]:
        if given is not None:
            hint = "leave out `initial`, or `parallel`"
            self.fault(f"{path}: parallel states are all entered, none is the first", hint)
        return tuple(here.values())

    def _initial(
        self, given: Any, here: Mapping[str, int], path: str, where: str
    ) -> tuple[int, ...]:
        if given is None and len(here) == 1:
            return tuple(here.values())
        if not here:
            return ()
        choices = f"one of {', '.join(here)}"
        if given is None:
            hint = f"{path}: {choices}"
            self.fault(f"{where} has several states and no `initial`", hint)
            return ()
        if not isinstance(given, str) or given not in here:
            deeper = isinstance(given, str) and given in self.index
            why = "is not directly in it" if deeper else "is not there"
            near = None if deeper else did_you_mean(str(given), here)
            self.fault(f"{path}: the state {brief(given)} {why}", near or f"it is {choices}")
            return ()
        return (here[given],)

    def _refuse_unknown(self, body: Mapping[Any, Any], known: Sequence[str], path: str) -> None:
        for key in body:
            if key not in known:
                near = did_you_mean(str(key), known)
                self.fault(f"{path} has no entry {brief(key)}", near)

    # --- transitions -----------------------------------------------------------------

    def transitions_of(self, given: Any) -> list[Transition]:
        if given is None or (isinstance(given, np.ndarray) and not given.size):
            return []  # an empty list of a file is an array
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
        ways = [self._way(source, target, path) for source in sources if source is not None]
        return [self._joined(way, guard, wait, do) for way in ways]

    def _joined(
        self, way: tuple[int, int, tuple[int, ...]], guard: Any, wait: Any, do: tuple[Action, ...]
    ) -> Transition:
        source, left, entered = way
        value: Callable[..., Any] | None = guard.value if guard else None
        after = wait.value if wait else None
        texts = (guard.text if guard else "", wait.text if wait else "")
        return Transition(source, entered[-1], left, entered, value, after, do, *texts)

    def _way(self, source: int, target: int, path: str) -> tuple[int, int, tuple[int, ...]]:
        """The source, the outermost state that a transition leaves, and those that it enters: all
        in the innermost state around both ends."""
        here, there = self._around(source), self._around(target)
        common = 0
        while common < min(len(here), len(there)) - 1 and here[common] == there[common]:
            common += 1
        scope = self.states[here[common - 1]] if common else self
        left, entered = here[common], tuple(there[common:])
        if scope.parallel and left != entered[0]:
            names = self.states[left].name, self.states[entered[0]].name
            self.fault(
                f"{path} leads from {names[0]} to {names[1]}, which are active together",
                f"let a transition within {names[1]} follow by `when: {ACTIVE}(...)`",
            )
        return source, left, entered

    def _around(self, index: int) -> list[int]:
        """A state and those around it, outer ones first."""
        found: list[int] = []
        at: int | None = index
        while at is not None:
            found.insert(0, at)
            at = self.states[at].parent
        return found

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


def _near(name: Any, known: Collection[str]) -> str | None:
    return did_you_mean(str(name), known)
