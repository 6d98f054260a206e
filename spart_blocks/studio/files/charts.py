"""Makes the sheet of a state machine: its chart, laid out as `spart show --block` draws it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from spart_blocks.base.document import Keys
from spart_blocks.base.errors import InputError
from spart_blocks.base.paths import written_path
from spart_blocks.drawing.charts import (
    ChartLayout,
    StateBox,
    TransitionLine,
    lay_out_chart,
    line_at,
    short,
)
from spart_blocks.drawing.placed import GRID
from spart_blocks.state_machines.layout import STATE
from spart_blocks.state_machines.written import (
    MACHINES,
    WHEN,
    WrittenMachine,
    WrittenState,
    WrittenTransition,
    actions_text,
    condition_text,
)
from spart_blocks.studio.files.forms import Texts, block_fields, field_of
from spart_blocks.studio.files.mistakes import Mistakes
from spart_blocks.studio.files.reading import Reading
from spart_blocks.studio.files.scopes import Scope, scope_at
from spart_blocks.studio.files.sheets import NAME, SMALL, text_width, type_of
from spart_blocks.versions.edits.machines import value_names

_OF_STATES = ("states", "transitions", "initial", "parallel")
"""The parameters of a machine that its chart shows."""
_DOCS = {
    "entry": "actions when the state is entered: y = 2*u, one on each line",
    "during": "formulas that hold while the state is active: y = 2*u",
    "exit": "actions when the state is left",
    "from": "the state that is left, or several",
    "to": "the state that is entered",
    "when": "a condition: u > 1 and mode != 2",
    "after": "the time since the state was entered",
    "do": "actions between those of exit and entry",
    "initial": "the state that is entered first",
    "history": "after the first time, the substate is entered that was active last",
    "parallel": "all substates are active together",
}


@dataclass(frozen=True)
class MachineScope:
    """A state machine of a diagram. scope: that of its block. keys: path of its section."""

    scope: Scope
    name: str
    keys: Keys
    machine: WrittenMachine

    def path(self, *inner: Any) -> str:
        return written_path((*self.keys, *inner))


def is_machine(scope: Scope, name: str) -> bool:
    """Whether a block is a state machine, whose chart is shown as a sheet."""
    return name in scope.blocks and type_of(scope, name) in MACHINES


def machine_at(reading: Reading, at: str) -> MachineScope | None:
    """The machine at a path of instances, such as arm/modes; None if there is another sheet."""
    around, _, name = at.rpartition("/")
    try:
        scope = scope_at(reading, around) if name else None
    except InputError:
        return None
    return machine_of(scope, name) if scope is not None else None


def machine_of(scope: Scope, name: str) -> MachineScope | None:
    """The machine that a block of a sheet is; None of another block."""
    if not is_machine(scope, name):
        return None
    return MachineScope(scope, name, scope.written[name].keys, WrittenMachine(scope.blocks[name]))


def chart_sheet(found: MachineScope, at: str, mistakes: Mistakes) -> dict[str, Any]:
    """The sheet of a machine as data for the page."""
    scope = found.scope
    problems = _Problems(found, mistakes if scope.within is not None else Mistakes())
    chart = _Chart(found, Texts(scope.reading, scope.within is not None), problems)
    empty: dict[str, Any] = {"runs": [], "blocks": [], "wires": [], "notes": [], "areas": []}
    return {"at": at, "within": scope.within, **empty, "chart": chart.data()}


class _Problems:
    """The mistakes of a machine by the path of the state or transition."""

    def __init__(self, found: MachineScope, mistakes: Mistakes) -> None:
        own = mistakes.blocks.get((found.scope.keys, found.name), [])
        self.of: dict[str, list[dict[str, Any]]] = {}
        states = sorted((found.path(*keys) for keys in found.machine.states), key=len)
        items = [found.path("transitions", one.index) for one in found.machine.transitions]
        for problem in own:
            path = problem.get("path", "")
            homes = [one for one in (*states, *items) if path == one or path.startswith(f"{one}.")]
            self.of.setdefault(homes[-1] if homes else "", []).append(problem)


@dataclass(frozen=True)
class _Chart:
    found: MachineScope
    texts: Texts
    problems: _Problems

    @property
    def machine(self) -> WrittenMachine:
        return self.found.machine

    def data(self) -> dict[str, Any]:
        found, machine = self.found, self.machine
        states = list(machine.states.values())
        index = {name: states.index(state) for name, state in machine.named.items()}
        lines = list(_lines(machine, index))
        boxes = [
            StateBox(one.name, None if not one.parent else states.index(machine.states[one.parent]),
                     tuple(text for _, text in _texts_of(one)))
            for one in states
        ]  # fmt: skip
        layout = lay_out_chart(boxes, [line for _, line in lines], _measured)
        scope, name = found.scope, found.name
        fields = [field for field in block_fields(scope, name) if field["name"] not in _OF_STATES]
        numbers = machine.numbers()
        return {
            "path": found.path(),
            "name": name,
            "type": type_of(scope, name),
            "width": GRID * layout.width,
            "height": GRID * layout.height,
            "states": [
                self._state(state, layout, k, numbers.get(state.keys))
                for k, state in enumerate(states)
            ],
            "transitions": [self._transition(one, lines, layout) for one in machine.transitions],
            "block": f"{scope.named}/{name}" if scope.named else name,
            "regions": [
                {"path": found.path(*keys), "port": machine.states[keys].name if keys else STATE}
                for keys in machine.regions()
            ],
            "parallel": machine.is_parallel(()),
            "values": [
                found.path(kind, value)
                for kind, names in value_names(machine).items()
                for value in names
            ],
            "fields": [*fields, *self._fields((), _of_holder(machine, ()))],
            "problems": self.problems.of.get("", []),
        }

    def _state(
        self, state: WrittenState, layout: ChartLayout, index: int, number: int | None
    ) -> dict[str, Any]:
        place, machine, keys = layout.places[index], self.machine, state.keys
        path = self.found.path(*keys)
        return {
            "path": path,
            "parent": self.found.path(*state.parent),
            "name": state.name,
            "x": GRID * place.x,
            "y": GRID * place.y,
            "width": GRID * place.width,
            "height": GRID * place.height,
            "head": GRID * place.head,
            "number": number,
            "region": self.found.path(*machine.region(keys)),
            "entered": self._entered(state),
            "open": bool(machine.children(keys)),
            "parallel": machine.is_parallel(keys),
            "history": state.section.get("history") is True,
            "lines": [
                {"text": text, "y": GRID * line_at(place, k), "field": field}
                for k, (field, text) in enumerate(_texts_of(state))
            ],
            "fields": [*self._fields(keys, [(when, "actions", []) for when in WHEN]),
                       *self._fields(keys, _of_holder(machine, keys))],
            "problems": self.problems.of.get(path, []),
        }  # fmt: skip

    def _entered(self, state: WrittenState) -> str:
        machine = self.machine
        if machine.is_parallel(state.parent):
            return "together"
        if machine.initial(state.parent) != state.name:
            return ""
        return "history" if machine.holder(state.parent).get("history") is True else "first"

    def _transition(
        self,
        one: WrittenTransition,
        lines: Sequence[tuple[int, TransitionLine]],
        layout: ChartLayout,
    ) -> dict[str, Any]:
        path = self.found.path("transitions", one.index)
        keys = ("transitions", one.index)
        names = list(self.machine.named)
        fields = [("from", "any", names), ("to", "any", names), ("when", "text", []),
                  ("after", "any", []), ("do", "actions", [])]  # fmt: skip
        return {
            "path": path,
            "index": one.index,
            "sources": list(one.sources),
            "target": one.target,
            "when": short(condition_text(one.section)),
            "do": _do_text(one),
            "lines": [
                self._line(line, row, layout)
                for (index, line), row in zip(lines, layout.rows, strict=True)
                if index == one.index
            ],
            "fields": list(self._fields(keys, fields, one.section)),
            "problems": self.problems.of.get(path, []),
        }

    def _line(self, line: TransitionLine, row: float, layout: ChartLayout) -> dict[str, Any]:
        source, target = layout.places[line.source], layout.places[line.target]
        states = list(self.machine.states)
        return {
            "source": self.found.path(*states[line.source]),
            "when": line.when,
            "row": GRID * row,
            "start": GRID * source.right,
            "text": GRID * (layout.edge + 0.9),
            "lane": GRID * layout.lanes[line.target],
            "end": GRID * target.right,
            "head": GRID * target.head,
            "colour": list(layout.lanes).index(line.target),
        }

    def _fields(
        self,
        keys: Keys,
        entries: Sequence[tuple[str, str, list[str]]],
        section: Mapping[str, Any] | None = None,
    ) -> Iterator[dict[str, Any]]:
        """A field for each entry of a state or a transition: its name, kind and choices."""
        section = self.machine.holder(keys) if section is None else section
        own = self.found.scope.within is not None
        for name, kind, choices in entries:
            at, value = (*self.found.keys, *keys, name), section.get(name)
            given = field_of(
                name,
                path=written_path(at) if own else "",
                doc=_DOCS[name],
                unit="s" if name == "after" else "",
                kind=kind,
                choices=choices,
                required=name in ("from", "to"),
                default="false" if kind == "flag" else "",
            )
            if name in section:
                is_actions = kind == "actions" and isinstance(value, Mapping)
                text = "\n".join(actions_text(value)) if is_actions else self.texts.text(at, value)
                given["text"] = text
            yield given


def _of_holder(machine: WrittenMachine, keys: Keys) -> list[tuple[str, str, list[str]]]:
    """The entries that a state with substates has, and the machine."""
    children = [state.name for state in machine.children(keys)]
    if keys and not children:
        return []
    parallel = machine.is_parallel(keys)
    given = machine.holder(keys)
    found: list[tuple[str, str, list[str]]] = []
    if not parallel or "initial" in given:
        found.append(("initial", "any", children))
    if keys and (not parallel or "history" in given):
        found.append(("history", "flag", []))
    return [*found, ("parallel", "flag", [])]


def _lines(machine: WrittenMachine, index: dict[str, int]) -> Iterator[tuple[int, TransitionLine]]:
    """For each transition the lines from states that are there to one that is, with its index."""
    counts: dict[str, int] = {}
    for one in machine.transitions:
        for source in one.sources:
            counts[source] = counts.get(source, 0) + 1
    seen: dict[str, int] = {}
    for one in machine.transitions:
        for source in one.sources:
            if source not in index or one.target not in index:
                continue
            seen[source] = seen.get(source, 0) + 1
            number = f"{seen[source]}: " if counts[source] > 1 else ""
            when = short(number + condition_text(one.section))
            line = TransitionLine(index[source], index[one.target], when, _do_text(one))
            yield one.index, line


def _do_text(one: WrittenTransition) -> str:
    actions = actions_text(one.section.get("do"))
    return short(f"/ {'; '.join(actions)}") if actions else ""


def _texts_of(state: WrittenState) -> list[tuple[str, str]]:
    """The actions of a state, a line for each, with the entry that each is of."""
    return [
        (when, short(f"{when}: {text}"))
        for when in WHEN
        for text in actions_text(state.section.get(when))
    ]


def _measured(text: str, is_name: bool) -> float:
    return text_width(text, NAME if is_name else SMALL) / GRID
