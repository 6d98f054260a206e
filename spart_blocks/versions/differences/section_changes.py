"""Changes of everything except blocks and wires: parameters, clocks, robots, runs and so on."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from spart_blocks.base.document import mapping_at
from spart_blocks.versions.differences.changes import ABSENT, Change, kind_of
from spart_blocks.versions.differences.matched_versions import MatchedVersions
from spart_blocks.versions.differences.references import References, clock_of, users_of, users_text
from spart_blocks.versions.differences.units import section_default, section_unit
from spart_blocks.versions.differences.values import Renaming, dotted, equal, value_changes

_ELSEWHERE = ("blocks", "wires", "subsystems", "variants")
_SUBJECTS = {"params": "parameter of the diagram", "clocks": "clock", "robots": "robot"}


def section_changes(
    pair: MatchedVersions, references: References, old: Mapping[str, Any], new: Mapping[str, Any]
) -> Iterator[Change]:
    """The changes of all sections except those of blocks and wires."""
    for name in dict.fromkeys((*old, *new)):
        if name not in _ELSEWHERE:
            before, after = old.get(name), new.get(name)
            yield from _of_section(name, before, after, pair, references)
    for one in value_changes(_unread(old), _unread(new)):
        yield Change(one.path[0].partition(".")[0], kind_of(one.old, one.new), dotted(one.path),
                     one.old, one.new)  # fmt: skip


def _unread(data: Mapping[str, Any]) -> dict[str, Any]:
    """Sections of blocks and wires, and entries of them, that have the wrong form. They are
    compared as values."""
    found = {}
    for name in ("blocks", "variants", "subsystems"):
        value = data.get(name)
        if value is not None and not isinstance(value, dict):
            found[name] = value
        elif value:
            wrong = {key: one for key, one in value.items() if not isinstance(one, dict)}
            found |= {f"{name}.{key}": one for key, one in wrong.items()}
    wires = data.get("wires")
    if wires is not None and not isinstance(wires, list):
        found["wires"] = wires
    return found


def _of_section(
    name: str, old: Any, new: Any, pair: MatchedVersions, references: References
) -> Iterator[Change]:
    """The changes of one section."""
    if equal(old, new):
        return
    if name == "params":
        yield from _of_params(mapping_at(old), mapping_at(new), pair, references)
    elif name in ("clocks", "robots"):
        names = references.clocks if name == "clocks" else references.robots
        yield from _of_named(name, mapping_at(old), mapping_at(new), names, references)
    else:
        # A missing section is one of defaults.
        before, after = _absent(old, new), _absent(new, old)
        yield from _of_values((name,), before, after, references.signal)


def _absent(value: Any, other: Any) -> Any:
    """A section, or the value that a missing one stands for: an empty one of the type that the
    other file has."""
    return value if value is not None else type(other)() if _is_many(other) else ABSENT


def _is_many(value: Any) -> bool:
    """Whether a value is a mapping or a list."""
    return isinstance(value, dict | list)


def _of_params(
    old: dict[str, Any], new: dict[str, Any], pair: MatchedVersions, references: References
) -> Iterator[Change]:
    """Changes of `params:`, with the blocks that use each parameter."""
    users = users_of(pair.old), users_of(pair.new)
    subject = _SUBJECTS["params"]
    for name, other in references.params.items():
        yield Change(subject, "renamed", f"params.{other}", name, other)
    for name, value in old.items():
        other = references.params.get(name, name)
        if other not in new:
            yield Change(subject, "removed", f"params.{name}", value)
            continue
        for one in value_changes(value, new[other], references.parameter):
            path = dotted(("params", other, *one.path))
            note = users_text(users[1][other])
            yield Change(subject, kind_of(one.old, one.new), path, one.old, one.new, note=note)
    for name, value in new.items():
        if name not in old and name not in references.params.values():
            note = users_text(users[1][name])
            yield Change(subject, "added", f"params.{name}", ABSENT, value, note=note)


def _of_named(
    section: str,
    old: dict[str, Any],
    new: dict[str, Any],
    names: Mapping[str, str],
    references: References,
) -> Iterator[Change]:
    """Changes of clocks or robots. names: new names of renamed ones by the old."""
    subject = _SUBJECTS[section]
    for name, other in names.items():
        yield Change(subject, "renamed", other, name, other)
    for name, value in old.items():
        other = names.get(name, name)
        if other not in new:
            yield Change(subject, "removed", name, value)
        elif section != "clocks" or clock_of(value) != clock_of(new[other]):
            renamed = references.parameter
            yield from _of_values((section, other), value, new[other], renamed, subject)
    for name, value in new.items():
        if name not in old and name not in names.values():
            yield Change(subject, "added", name, ABSENT, value)


def _of_values(
    path: tuple[str, ...], old: Any, new: Any, renamed: Renaming, subject: str = ""
) -> Iterator[Change]:
    """The values of a section that differ. A default that is written out is no difference."""
    for one in value_changes(old, new, renamed):
        full = (*path, *one.path)
        default = section_default(full)
        if ABSENT in (one.old, one.new) and default is not ABSENT:
            given = one.new if one.old is ABSENT else one.old
            if equal(default, given):
                continue
        unit = section_unit(full)
        told = full[1:] if subject else full
        yield Change(subject or path[0], kind_of(one.old, one.new), dotted(told), one.old, one.new,
                     unit)  # fmt: skip
