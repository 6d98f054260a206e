"""The equality of values in diagram files, and the places where two values differ."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from spart_blocks.versions.differences.changes import ABSENT

Renaming = Callable[[str], str]
"""A function that gives the new form of a text of the old file that may name something renamed."""
Path = tuple[str, ...]
"""The keys that lead to a value; `[name]` or `[number]` for an entry of a list."""


@dataclass(frozen=True)
class ValueChange:
    """A value that differs. path: where it is in the compared values. old, new: ABSENT for none."""

    path: Path
    old: Any
    new: Any


def same_name(text: str) -> str:
    """The renaming that changes nothing."""
    return text


def equal(old: Any, new: Any, renamed: Renaming = same_name) -> bool:
    """Whether two values mean the same: 1 and 1.0 do, 1 and true do not. The order of keys does not
    count. renamed: applied to the texts of the old value."""
    if isinstance(old, str):
        return isinstance(new, str) and (old == new or renamed(old) == new)
    if isinstance(old, Mapping):
        if not isinstance(new, Mapping) or len(old) != len(new):
            return False
        return all(
            (key := _key_in(name, new, renamed)) is not None and equal(value, new[key], renamed)
            for name, value in old.items()
        )
    if isinstance(old, list | tuple):
        if not isinstance(new, list | tuple) or len(old) != len(new):
            return False
        return all(equal(a, b, renamed) for a, b in zip(old, new, strict=True))
    if isinstance(old, bool) or isinstance(new, bool):
        return old is new
    return bool(old == new) or (old != old and new != new)  # NaN is NaN


def _key_in(name: Any, other: Mapping[Any, Any], renamed: Renaming) -> Any:
    """The key of the new mapping for a key of the old one; None if there is none."""
    if name in other:
        return name
    key = renamed(name) if isinstance(name, str) else name
    return key if key in other else None


def frozen(value: Any) -> Any:
    """A hashable form of a value. Values that are equal have equal forms."""
    if isinstance(value, Mapping):
        return frozenset((key, frozen(one)) for key, one in value.items())
    if isinstance(value, list | tuple):
        return ("list", *(frozen(one) for one in value))
    if isinstance(value, bool):
        return ("truth", value)
    return "nan" if value != value else value


def value_changes(
    old: Any,
    new: Any,
    renamed: Renaming = same_name,
    path: Path = (),
    *,
    apart: bool = True,
) -> Iterator[ValueChange]:
    """The innermost values that differ. A list of numbers is one value. Entries of a list of
    mappings are compared one by one; entries of a list of texts, such as names of signals, too if
    `apart` is set."""
    if equal(old, new, renamed):
        return
    if isinstance(old, Mapping) and isinstance(new, Mapping):
        yield from _of_mappings(old, new, renamed, path, apart)
    elif _is_list_of(dict, old, new):
        yield from _of_lists(old, new, renamed, path)
    elif apart and _is_list_of(str, old, new):
        yield from _of_texts(old, new, renamed, path)
    else:
        yield ValueChange(path, old, new)


def _of_mappings(
    old: Mapping[Any, Any], new: Mapping[Any, Any], renamed: Renaming, path: Path, apart: bool
) -> Iterator[ValueChange]:
    """The differences of two mappings, key by key."""
    taken = set()
    for name, value in old.items():
        key = _key_in(name, new, renamed)
        if key is None:
            yield ValueChange((*path, str(name)), value, ABSENT)
        else:
            taken.add(key)
            inner = (*path, str(key))
            yield from value_changes(value, new[key], renamed, inner, apart=apart)
    for key, value in new.items():
        if key not in taken:
            yield ValueChange((*path, str(key)), ABSENT, value)


def _is_list_of(kind: type, *values: Any) -> bool:
    """Whether all values are lists whose entries have a type."""
    lists = all(isinstance(value, list) for value in values)
    return lists and all(isinstance(one, kind) for value in values for one in value)


def _of_texts(
    old: Sequence[str], new: Sequence[str], renamed: Renaming, path: Path
) -> Iterator[ValueChange]:
    """The texts removed and added; the whole lists if only their order differs."""
    known = set(new)
    _, gone, come = paired(old, new, lambda text: text if text in known else renamed(text), str)
    if not gone and not come:
        yield ValueChange(path, old, new)
        return
    yield from (ValueChange(path, old[k], ABSENT) for k in gone)
    yield from (ValueChange(path, ABSENT, new[k]) for k in come)


def _of_lists(
    old: Sequence[Mapping[str, Any]],
    new: Sequence[Mapping[str, Any]],
    renamed: Renaming,
    path: Path,
) -> Iterator[ValueChange]:
    """The differences of two lists of mappings: equal entries are matched wherever they stand, the
    rest by name."""
    same, gone, come = paired(old, new, lambda one: frozen(_translated(one, renamed)), frozen)
    if not gone and not come and same != sorted(same):
        yield ValueChange(path, old, new)
        return
    near, removed, added = paired(
        [old[k] for k in gone],
        [new[k] for k in come],
        lambda one: _identity(one, renamed),
        lambda one: _identity(one, same_name),
    )
    for a, b in near:
        label = _label(new[come[b]], come[b])
        yield from value_changes(old[gone[a]], new[come[b]], renamed, (*path, label))
    for a in removed:
        yield ValueChange((*path, _label(old[gone[a]], gone[a])), old[gone[a]], ABSENT)
    for b in added:
        yield ValueChange((*path, _label(new[come[b]], come[b])), ABSENT, new[come[b]])


def paired(
    old: Sequence[Any],
    new: Sequence[Any],
    key_of_old: Callable[[Any], Any],
    key_of_new: Callable[[Any], Any],
) -> tuple[list[tuple[int, int]], list[int], list[int]]:
    """The pairs of indices of entries with equal keys, in order, then the indices left in old and
    in new."""
    places: dict[Any, deque[int]] = {}
    for k, one in enumerate(new):
        places.setdefault(key_of_new(one), deque()).append(k)
    pairs, gone = [], []
    for k, one in enumerate(old):
        waiting = places.get(key_of_old(one))
        if waiting:
            pairs.append((k, waiting.popleft()))
        else:
            gone.append(k)
    return pairs, gone, sorted(k for waiting in places.values() for k in waiting)


def _translated(value: Any, renamed: Renaming) -> Any:
    """A value with renamed texts."""
    if isinstance(value, str):
        return renamed(value)
    if isinstance(value, Mapping):
        return {key: _translated(one, renamed) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [_translated(one, renamed) for one in value]
    return value


_NAMES = ("signal", "name", "of", "by", "from", "metric", "first")
"""The keys that may identify an entry of a list."""


def _identity(one: Mapping[str, Any], renamed: Renaming) -> Any:
    """The first of _NAMES that an entry has as a text, with this text; None if it has none."""
    for key in _NAMES:
        text = one.get(key)
        if isinstance(text, str):
            return key, renamed(text)
    return None


def _label(one: Mapping[str, Any], number: int) -> str:
    """The name of an entry of a list in a path: `[plant.qm]`, or its number."""
    named = _identity(one, same_name)
    return f"[{named[1]}]" if named else f"[{number}]"


def dotted(path: Path) -> str:
    """A path as text: `expect.settles[plant.qm].within`."""
    text = ""
    for part in path:
        text += part if part.startswith("[") or not text else f".{part}"
    return text
