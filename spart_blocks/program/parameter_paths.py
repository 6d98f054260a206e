"""Finds the parameters of a program that have the value at a path of its file."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spart_blocks.base.document import Keys
from spart_blocks.diagram.build.origins import Origin, Origins, Use
from spart_blocks.program.program import Program
from spart_blocks.program.slots import Places, Target, entry_places

Floats = NDArray[np.float64]

INITIAL = "initial"
"""The argument of a plant that determines its initial state."""


@dataclass(frozen=True)
class Standing:
    """Where a program has a value. target: its entries of p, if any. starts: plants whose initial
    state depends on it, each with the path within `initial`.
    """

    target: Target | None
    starts: tuple[tuple[str, Keys], ...] = ()


def standing_of(program: Program, keys: Keys) -> Standing | None:
    """Where a program has the value at a path of the file. None if more than parameters depends on
    it.
    """
    slots = {slot.name: slot for slot in program.parameters}
    origin = origin_of(program, keys)
    if not origin.alone:
        return None
    uses = [(_slot_name(use, keys, slots), use) for use in origin.uses]
    targets: dict[Any, tuple[Places, str]] = {}
    starts: list[tuple[str, Keys]] = []
    for name, use in uses:
        if name not in slots and use.argument == INITIAL:
            starts.append((use.block, use.within))
            continue
        place = entry_places(slots[name], use.within) if name in slots else None
        if place is None:
            return None
        targets.setdefault((name, place.tobytes()), (place, name))
    if not targets:
        return Standing(None, tuple(starts))
    places, names = zip(*targets.values(), strict=True)
    return Standing(Target(places, names, origin.apart), tuple(starts))


def origin_of(program: Program, keys: Keys) -> Origin:
    """The arguments that have the value at a path of the file: as recorded for this path or one
    that contains it, otherwise the argument that the path names.
    """
    for end in range(len(keys), 1, -1):
        origin = program.origins.get(keys[:end])
        if origin is not None:
            inner = (replace(use, within=(*use.within, *keys[end:])) for use in origin.uses)
            return replace(origin, uses=tuple(inner))
    if keys[0] != "blocks" or len(keys) < 3:
        return Origin(alone=False)
    return Origin(uses=(Use(str(keys[1]), str(keys[2]), keys[3:]),))


def standing_at(program: Program, path: str, own: bool = True) -> Standing | None:
    """Where a program has the value at a path with dots, as `--set` takes it, with or without its
    section: 'kp', 'params.kp.1', 'ctrl.kp'; or a parameter by its own name, 'arm/ctrl.kp'. None if
    nothing has it, or more than parameters depends on it. own: whether a parameter may have the
    name of an entry of the file's `params:`.
    """
    name = path.removeprefix("params.").removeprefix("blocks.")
    keys = tuple(name.split("."))
    for place in (("params", *keys), ("blocks", *keys)):
        found = standing_of(program, place)
        if found is not None and (found.target or found.starts):
            return found
    if not own and ("params", keys[0]) in program.origins:
        return None
    written = program.origins.get(("blocks", *keys))
    if written is not None and not (written.alone or written.uses):  # it affects more
        return None
    target = program.target(name)
    return None if target is None else Standing(target)


def target_at(program: Program, path: str, own: bool = True) -> Target | None:
    """The entries of p at a path; None if there are none, or if initial states depend on the value
    too. path, own: as for `standing_at`."""
    found = standing_at(program, path, own=own)
    return None if found is None or found.starts else found.target


def _slot_name(use: Use, path: Keys, names: Iterable[str]) -> str:
    """The parameter of an argument: its own, or the one of the file's `params:` that it shares."""
    return use.name if use.name in names or path[0] != "params" else str(path[1])


# --- from the origins of a diagram to those of its program ---------------------------------------


def program_origins(
    origins: Origins, names: Mapping[str, str], nominal: Mapping[str, Floats]
) -> dict[Keys, Origin]:
    """The origins of a diagram reduced to parameters of the program; those that follow from the
    names of block and argument are left out. names: the parameter of each argument. nominal:
    values of the parameters.
    """
    found = {}
    for path, origin in origins.items():
        uses: list[Use] = []
        alone = origin.alone
        for use in origin.uses:
            slot = names.get(use.name)
            known = slot is not None and slot == _slot_name(use, path, nominal)
            if (known and _has_value(nominal[str(slot)], use, origin.value)) or (
                slot is None and use.argument == INITIAL
            ):
                uses.append(use)
            else:
                alone = False
        if path[0] == "blocks" and len(path) == 3 and not origin.apart:
            own = Use(str(path[1]), str(path[2]))
            if (alone and uses == [own]) or not (alone or uses or own.name in nominal):
                continue
        found[path] = Origin(None, tuple(uses), alone, origin.apart)
    return found


def _has_value(nominal: Floats, use: Use, value: Any) -> bool:
    """Whether the entries of a parameter equal a value, broadcast to their shape."""
    part = nominal
    for key in use.within:
        if not part.ndim or not isinstance(key, int) or key >= len(part):
            return False
        part = part[key]
    if type(value) is float and np.ndim(part) == 0:
        return bool(part == value)
    try:
        given = np.asarray(value, dtype=float)
        if given.shape != np.shape(part):
            given = np.broadcast_to(given, np.shape(part))
        return bool((given == part).all())
    except (TypeError, ValueError):
        return False
