"""Changes of all entries of a file except wires: blocks and their parameters, subsystems, variants,
and the other sections.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from spart_blocks.base.document import Keys, mapping_at
from spart_blocks.diagram.written.references import reference_of
from spart_blocks.diagram.written.sheets import SUBSYSTEM, TOP, VARIANT, Name, WrittenBlock, is_slot
from spart_blocks.versions.differences.changes import (
    ABSENT,
    BLOCK,
    INITIAL,
    PARAMETER,
    Change,
    kind_of,
    value_text,
)
from spart_blocks.versions.differences.matched_versions import (
    SLOT,
    DiagramVersion,
    MatchedVersions,
    called,
    shown,
)
from spart_blocks.versions.differences.references import References, clock_of, users_of, users_text
from spart_blocks.versions.differences.units import (
    is_initial,
    parameter_default,
    parameter_unit,
    section_default,
    section_unit,
)
from spart_blocks.versions.differences.values import (
    Renaming,
    dotted,
    equal,
    same_name,
    value_changes,
)

SUBJECTS = {SUBSYSTEM: "subsystem", VARIANT: "variant"}
"""What a sheet is called in changes, by the first key of its path."""


def block_changes(
    pair: MatchedVersions,
    references: References,
    params: tuple[Mapping[str, Any], Mapping[str, Any]],
) -> Iterator[Change]:
    """Changes of sheets; then blocks added, removed, renamed, moved and retyped; then their
    parameters. params: the `params:` of both files."""
    yield from _of_sheets(pair, references)
    back = {b: a for a, b in pair.blocks.items()}
    for a, piece in pair.old.pieces.items():
        if a not in pair.blocks and a[0] in pair.sheets and piece.kind != SLOT:
            yield Change(BLOCK, "removed", shown(a), written(piece))
    for b, piece in pair.new.pieces.items():
        if b not in back:
            if b[0] in pair.sheets.values() and piece.kind != SLOT:
                yield Change(BLOCK, "added", shown(b), ABSENT, written(piece))
        else:
            yield from _of_block(pair, back[b], b)
    for b, a in back.items():
        yield from _of_parameters(pair, references, a, b, params)


def written(piece: WrittenBlock) -> dict[str, Any]:
    """The entries of a block as its file has them."""
    return {"use" if piece.uses else "type": piece.kind, **piece.parameters}


def _of_block(pair: MatchedVersions, a: Name, b: Name) -> Iterator[Change]:
    """Changes of the name, sheet and type of a matched block."""
    if pair.sheets.get(a[0]) != b[0]:
        note = f"from {called(a[0])} to {called(b[0])}"
        yield Change(BLOCK, "moved", shown(b), shown(a), shown(b), note=note)
    elif a[1] != b[1]:
        yield Change(BLOCK, "renamed", shown(b), a[1], b[1], note=pair.new.pieces[b].kind)
    before, after = pair.old.pieces[a], pair.new.pieces[b]
    if pair.kind(before) != after.kind or before.uses != after.uses:
        yield Change(BLOCK, "retyped", shown(b), before.kind, after.kind)


def _of_parameters(
    pair: MatchedVersions,
    references: References,
    a: Name,
    b: Name,
    params: tuple[Mapping[str, Any], Mapping[str, Any]],
) -> Iterator[Change]:
    """The parameters of a matched block that differ. A default that is written out is no
    difference."""
    before, after = pair.old.pieces[a], pair.new.pieces[b]
    if before.parameters == after.parameters and repr(before) == repr(after):
        return
    for name in dict.fromkeys((*before.parameters, *after.parameters)):
        old, new = (piece.parameters.get(name, ABSENT) for piece in (before, after))
        renamed = references.argument(name)
        if old is not ABSENT and new is not ABSENT and equal(old, new, renamed):
            continue
        if ABSENT in (old, new) and before.kind == after.kind:
            default = parameter_default(after.kind, name)
            if default is not ABSENT and equal(_plain(default), new if old is ABSENT else old):
                continue
        subject = INITIAL if is_initial(after.kind, name) else PARAMETER
        for one in value_changes(old, new, renamed, apart=False):
            path = dotted((shown(b), name, *one.path))
            unit = parameter_unit(after.kind, name, one.path)
            notes = [_resolved(value, params[k]) for k, value in enumerate((one.old, one.new))]
            note = ", ".join(dict.fromkeys(note for note in notes if note))
            yield Change(subject, kind_of(one.old, one.new), path, one.old, one.new, unit, note)


def _plain(default: Any) -> Any:
    """A default as a file would have it: lists in place of arrays."""
    return default.tolist() if hasattr(default, "tolist") else default


def _resolved(value: Any, params: Mapping[str, Any]) -> str:
    """`$kp is 40` for a value that refers to a parameter; else empty."""
    name = reference_of(value)
    return f"{value} is {value_text(params[name])}" if name is not None and name in params else ""


# --- subsystems and variants ----------------------------------------------------------------


def _of_sheets(pair: MatchedVersions, references: References) -> Iterator[Change]:
    """Subsystems and slots added, removed, renamed and changed."""
    for name in pair.old.sheets:
        if name not in pair.sheets:
            yield Change(_subject(name), "removed", called(name), note=_size(name, pair.old))
    come = pair.new.sheets.keys() - pair.sheets.values()
    for name in pair.new.sheets:
        if name in come:
            yield Change(_subject(name), "added", called(name), note=_size(name, pair.new))
    for name, other in pair.sheets.items():
        if name == TOP:
            continue
        if name != other:
            yield Change(_subject(other), "renamed", called(other), called(name), called(other))
        before, after = pair.old.sheets[name].rest, pair.new.sheets[other].rest
        for one in value_changes(before, after, references.parameter):
            path = dotted((called(other), *one.path))
            yield Change(_subject(other), kind_of(one.old, one.new), path, one.old, one.new)


def _subject(sheet: Keys) -> str:
    """What a sheet is called in changes: subsystem or variant."""
    return SUBJECTS[str(sheet[0])]


def _size(sheet: Keys, half: DiagramVersion) -> str:
    """The number of blocks and wires of a sheet, or the choices of a slot."""
    if is_slot(sheet):
        return f"choices {', '.join(half.blocks[sheet])}"
    return f"{len(half.blocks[sheet])} blocks, {len(half.found[sheet])} wires"


# --- sections -------------------------------------------------------------------------------------


_TEXTS = ("name", "description")
"""Sections of texts for people, in which names are words."""
_ELSEWHERE = ("blocks", "wires", "subsystems", "variants", "drawing")
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
    if name in _SUBJECTS:
        yield from _of_named(name, mapping_at(old), mapping_at(new), pair, references)
    else:
        # A missing section is one of defaults.
        before, after = _absent(old, new), _absent(new, old)
        renamed = same_name if name in _TEXTS else references.signal
        yield from _of_values((name,), before, after, renamed)


def _absent(value: Any, other: Any) -> Any:
    """A section, or the value that a missing one stands for: an empty one of the type that the
    other file has."""
    return value if value is not None else type(other)() if _is_many(other) else ABSENT


def _is_many(value: Any) -> bool:
    """Whether a value is a mapping or a list."""
    return isinstance(value, dict | list)


def _of_named(
    section: str,
    old: dict[str, Any],
    new: dict[str, Any],
    pair: MatchedVersions,
    references: References,
) -> Iterator[Change]:
    """Changes of parameters, clocks or robots; a parameter's with the blocks that use it."""
    names: Mapping[str, str] = getattr(references, section)
    subject, params = _SUBJECTS[section], section == "params"
    prefix = "params." if params else ""
    users: Mapping[str, Any] = users_of(pair.new) if params else {}
    for name, other in names.items():
        yield Change(subject, "renamed", f"{prefix}{other}", name, other)
    for name, value in old.items():
        other = names.get(name, name)
        note = users_text(users[other]) if params else ""
        if other not in new:
            yield Change(subject, "removed", f"{prefix}{name}", value)
        elif params:
            for one in value_changes(value, new[other], references.parameter):
                path = dotted((section, other, *one.path))
                yield Change(subject, kind_of(one.old, one.new), path, one.old, one.new, note=note)
        elif section != "clocks" or clock_of(value) != clock_of(new[other]):
            renamed = references.parameter
            yield from _of_values((section, other), value, new[other], renamed, subject)
    for name, value in new.items():
        if name not in old and name not in names.values():
            note = users_text(users[name]) if params else ""
            yield Change(subject, "added", f"{prefix}{name}", ABSENT, value, note=note)


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
