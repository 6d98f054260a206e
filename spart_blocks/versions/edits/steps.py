"""Steps: changes of a single value in a file's data (nested dicts and lists)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from spart_blocks.base.document import Key, Keys
from spart_blocks.base.errors import Fault, InputError
from spart_blocks.diagram.written.sheets import File, Sheet
from spart_blocks.diagram.written.wires import WireSyntaxError, WrittenWire, parse_wire


@dataclass(frozen=True)
class SetValue:
    """Set the value at a path. The mapping or list that contains it exists; a key of a mapping may
    be new. before: the key before which a new one comes; None for the last place.
    """

    path: Keys
    value: Any
    before: str | None = None


@dataclass(frozen=True)
class RemoveValue:
    """Remove the entry at a path."""

    path: Keys


@dataclass(frozen=True)
class RenameKey:
    """Rename the last key of a path."""

    path: Keys
    name: str


@dataclass(frozen=True)
class InsertItem:
    """Insert a value into the list at a path, before the item at `index`, or at the end."""

    path: Keys
    value: Any
    index: int | None = None


@dataclass(frozen=True)
class MoveEntry:
    """Move an entry of a mapping or list. path: of the entry; index: its new place among all of
    them."""

    path: Keys
    index: int


Step = SetValue | RemoveValue | RenameKey | InsertItem | MoveEntry


class Operation:
    """A change of a diagram. `steps` raises InputError if the diagram does not allow it."""

    def steps(self, file: File) -> list[Step]:
        """The steps that change the file's values."""
        raise NotImplementedError


def stepped(data: Any, step: Step) -> Any:
    """A copy of the data with a step applied; unchanged parts are shared. Raises InputError."""
    if isinstance(step, SetValue):
        return _changed(data, step.path, lambda holder, key: _set(holder, key, step))
    if isinstance(step, RemoveValue):
        return _changed(data, step.path, _without)
    if isinstance(step, RenameKey):
        return _changed(data, step.path, lambda holder, key: _renamed(holder, key, step.name))
    if isinstance(step, MoveEntry):
        return _changed(data, step.path, lambda holder, key: _moved(holder, key, step.index))
    return _changed(data, (*step.path, 0), lambda items, _: _inserted(items, step))


def _changed(data: Any, path: Keys, change: Callable[[Any, Key], Any]) -> Any:
    if len(path) == 1:
        return change(data, path[0])
    try:
        inner = data[path[0]]
    except (KeyError, IndexError, TypeError):
        raise _missing(path) from None
    copy = data.copy()
    copy[path[0]] = _changed(inner, path[1:], change)
    return copy


def _missing(path: Keys) -> InputError:
    return InputError(f"there is no {'.'.join(map(str, path))} in the file")


def _with(holder: Any, key: Key, value: Any) -> Any:
    if isinstance(holder, list):
        if not isinstance(key, int) or not 0 <= key < len(holder):
            raise InputError(f"{key!r} is not an index of a list of {len(holder)}")
        return [value if k == key else item for k, item in enumerate(holder)]
    if holder is None or isinstance(holder, dict):
        return {**(holder or {}), key: value}
    raise InputError(f"there is no entry {key!r} in a value that is not a mapping or list")


def _set(holder: Any, key: Key, step: SetValue) -> Any:
    found = _with(holder, key, step.value)
    if step.before is None or not isinstance(holder, dict) or key in holder:
        return found
    names = list(holder)
    return _moved(found, key, names.index(step.before) if step.before in names else len(names))


def _moved(holder: Any, key: Key, index: int) -> Any:
    rest = _without(holder, key)
    if isinstance(holder, list):
        return [*rest[:index], holder[int(key)], *rest[index:]]
    items = list(rest.items())
    return dict([*items[:index], (key, holder[key]), *items[index:]])


def _without(holder: Any, key: Key) -> Any:
    if isinstance(holder, dict) and key in holder:
        return {name: item for name, item in holder.items() if name != key}
    if isinstance(holder, list) and isinstance(key, int) and 0 <= key < len(holder):
        return [item for k, item in enumerate(holder) if k != key]
    raise _missing((key,))


def _renamed(holder: Any, key: Key, name: str) -> Any:
    if not isinstance(holder, dict) or key not in holder:
        raise _missing((key,))
    if name in holder:
        raise InputError(f"there is already {name!r}")
    return {name if old == key else old: item for old, item in holder.items()}


def _inserted(items: Any, step: InsertItem) -> Any:
    if not isinstance(items, list):
        raise InputError(f"{'.'.join(map(str, step.path))} is not a list")
    at = len(items) if step.index is None else step.index
    return [*items[:at], step.value, *items[at:]]


def ordered(steps: list[Step]) -> list[Step]:
    """The steps without duplicates, in an order in which all their paths stay valid."""
    removed = [step for step in steps if isinstance(step, RemoveValue)]
    dead = {step.path for step in removed}
    kept = [step for step in steps if not any(step.path[:n] in dead for n in range(len(step.path)))]
    values = [step for step in kept if isinstance(step, SetValue) and step.path not in dead]
    added = [step for step in kept if isinstance(step, InsertItem)]
    keys = [step for step in kept if isinstance(step, RenameKey)]
    moved = [step for step in kept if isinstance(step, MoveEntry)]
    removed.sort(key=lambda step: tuple(map(_sortable, step.path)), reverse=True)
    keys.sort(key=lambda step: len(step.path), reverse=True)
    return [*values, *dict.fromkeys(removed), *added, *moved, *keys]


def _sortable(key: Any) -> tuple[int, str]:
    return (key, "") if isinstance(key, int) else (-1, key)


# --- steps that change the wires of a sheet -------------------------------------------------------


def read_wire(text: str) -> WrittenWire:
    """Parse a wire. Raises InputError for an invalid text."""
    try:
        return parse_wire(text)
    except WireSyntaxError as error:
        raise _no_wire(text, error) from None


def wires_of(sheet: Sheet) -> dict[int, WrittenWire]:
    """The wires of a sheet by their numbers. Raises InputError if one cannot be parsed."""
    for number, error in sheet.wrong_wires.items():
        text = sheet.wire_texts[number]
        if text.strip():
            raise _no_wire(text, error)
    return sheet.wires


def _no_wire(text: str, error: WireSyntaxError) -> InputError:
    return InputError(Fault(f"wire {text.strip()!r}: {error.message}", hint=error.hint))


def wire_steps(sheet: Sheet, change: Callable[[WrittenWire], str | None]) -> Iterator[Step]:
    """The steps that change wires. change: returns the new text of a wire, or None to remove it."""
    for number, wire in wires_of(sheet).items():
        path = (*sheet.keys, "wires", number)
        left = change(wire)
        if left is None:
            yield RemoveValue(path)
        elif left != wire.text:
            yield SetValue(path, left)


def connections_of(sheet: Sheet) -> set[tuple[str, str]]:
    """The connections that the wires of a sheet make, as pairs (source, destination) in normalized
    spelling.
    """
    return {pair for wire in wires_of(sheet).values() for pair in wire.connections()}
