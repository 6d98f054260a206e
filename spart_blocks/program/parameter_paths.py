"""Finds the parameters of a program that have the value at a path of its file."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spart_blocks.base.document import Keys
from spart_blocks.base.paths import select
from spart_blocks.diagram.build.origins import Origin, Origins, Use
from spart_blocks.program.program import Program
from spart_blocks.program.slots import Places, Slot

Floats = NDArray[np.float64]

INITIAL = "initial"
"""The argument of a plant that determines its initial state."""


@dataclass(frozen=True)
class Target:
    """Entries of p that have a value.

    places: arrays of indices in p, of one or several shapes. slots: names of the parameters that
    they belong to. signs: +1 or -1, the factor of the value in each. apart: values that are
    structural instead.
    """

    places: tuple[Places, ...]
    slots: tuple[str, ...]
    signs: tuple[int, ...] = ()
    apart: frozenset[float] = frozenset()

    @property
    def signed(self) -> list[tuple[Places, int]]:
        """Each array of indices with its sign."""
        return list(zip(self.places, self.signs or (1,) * len(self.places), strict=True))

    def elements(self, name: str, index: str | None) -> Target:
        """Those that an index such as '0:2' selects. name: for the error. Raises InputError."""
        picked = (np.asarray(select(name, one[None], index)[0]) for one in self.places)
        return replace(self, places=tuple(picked))

    def takes(self, shape: tuple[int, ...]) -> bool:
        """Whether values of a shape can be set; a scalar sets all entries."""
        return shape == () or all(place.shape == shape for place in self.places)

    def put(self, p: Floats, values: Any, shift: Places | None = None) -> None:
        """Write values (n, ...) into the rows of p (n, np). shift: other indices of the entries,
        by index.
        """
        for place, sign in self.signed:
            rows = sign * np.asarray(values, dtype=float)
            where = (place if shift is None else shift[place]).ravel()
            if rows.ndim == 1 and place.ndim:
                p[:, where] = rows[:, None]
            else:
                p[:, where] = rows.reshape(len(p), -1)

    def of(self, p: Floats) -> Floats:
        """The value in a vector p, from its first array of indices."""
        place, sign = self.signed[0]
        return np.asarray(sign * p[place])


@dataclass(frozen=True)
class Standing:
    """Where a program has a value. target: its entries of p, if any. starts: plants whose initial
    state depends on it, each with the path within `initial`.
    """

    target: Target | None
    starts: tuple[tuple[str, Keys], ...] = ()


def standing_of(program: Program, keys: Keys, origin: Origin | None = None) -> Standing | None:
    """Where a program has the value at a path of the file. None if more than parameters depends on
    it. origin: the arguments with this value; by default as recorded in the program.
    """
    slots = {slot.name: slot for slot in program.parameters}
    origin = origin_of(program, keys) if origin is None else origin
    if not origin.alone:
        return None
    uses = [(_slot_name(use, keys, slots), use) for use in origin.uses]
    targets: dict[Any, tuple[Places, str, int]] = {}
    starts: list[tuple[str, Keys]] = []
    for name, use in uses:
        if name not in slots and use.argument == INITIAL:
            starts.append((use.block, use.within))
            continue
        place = entry_places(slots[name], use.within) if name in slots else None
        if place is None:
            return None
        targets.setdefault((name, place.tobytes()), (place, name, use.sign))
    if not targets:
        return Standing(None, tuple(starts))
    places, names, signs = zip(*targets.values(), strict=True)
    return Standing(Target(places, names, signs, origin.apart), tuple(starts))


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


def standing_at(
    program: Program, path: str, origin: Origin | None = None, own: bool = True
) -> Standing | None:
    """Where a program has the value at a path with dots, as `--set` takes it, with or without its
    section: 'kp', 'params.kp.1', 'ctrl.kp'; or a parameter by its own name, 'arm/ctrl.kp'. None if
    nothing has it, or more than parameters depends on it. origin: as for `standing_of`. own:
    whether a parameter may have the name of an entry of the file's `params:`.
    """
    name = path.removeprefix("params.").removeprefix("blocks.")
    keys = tuple(name.split("."))
    for place in (("params", *keys), ("blocks", *keys)):
        found = standing_of(program, place, origin)
        if found is not None and (found.target or found.starts):
            return found
    if not own and ("params", keys[0]) in program.origins:
        return None
    target = target_of_name(program, name)
    return None if target is None else Standing(target)


def target_at(program: Program, path: str, own: bool = True) -> Target | None:
    """The entries of p at a path; None if there are none, or if initial states depend on the value
    too. path, own: as for `standing_at`."""
    found = standing_at(program, path, own=own)
    return None if found is None or found.starts else found.target


def _slot_name(use: Use, path: Keys, names: Iterable[str]) -> str:
    """The parameter of an argument: its own, or the one of the file's `params:` that it shares."""
    return use.name if use.name in names or path[0] != "params" else str(path[1])


def entry_places(slot: Slot, within: Sequence[Any]) -> Places | None:
    """The indices in p of a parameter, or of an element or row of it; None if it does not exist."""
    places = slot.places()
    for key in within:
        text = str(key)
        if not places.ndim or not text.isdecimal() or int(text) >= len(places):
            return None
        places = np.asarray(places[int(text)])
    return places


def target_of_name(program: Program, path: str) -> Target | None:
    """The entries of p of a parameter by its own name, which may end with indices of an element."""
    slots = {slot.name: slot for slot in program.parameters}
    parts = path.split(".")
    for end in range(len(parts), 0, -1):
        name, within = ".".join(parts[:end]), parts[end:]
        names = program.given.get(name, (name,))
        if all(one in slots for one in names):
            places = [entry_places(slots[one], within) for one in names]
            if any(place is None for place in places):
                return None
            return Target(tuple(p for p in places if p is not None), tuple(names))
    return None


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
    try:
        given = use.sign * np.asarray(value, dtype=float)
        return bool(np.array_equal(np.broadcast_to(given, np.shape(part)), part))
    except (TypeError, ValueError):
        return False
