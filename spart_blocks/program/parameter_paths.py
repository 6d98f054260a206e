"""Where the value at a path of a file stands among the parameters of its program."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from spart_blocks.base.document import Keys
from spart_blocks.diagram.build.origins import Origin, Origins, Use
from spart_blocks.program.slots import Places, Slot

if TYPE_CHECKING:
    from spart_blocks.program.program import Program

Floats = NDArray[np.float64]

INITIAL = "initial"
"""The argument of a plant that its initial state is made of."""


@dataclass(frozen=True)
class Target:
    """Entries of p that take a value: each of `places`, arrays of one or several shapes. slots: the
    names of the parameters that they belong to. signs: with which they take it. apart: values that
    are no parameter's, but structural."""

    places: tuple[Places, ...]
    slots: tuple[str, ...]
    signs: tuple[int, ...] = ()
    apart: frozenset[float] = frozenset()

    @property
    def signed(self) -> list[tuple[Places, int]]:
        """The places, each with its sign."""
        return list(zip(self.places, self.signs or (1,) * len(self.places), strict=True))

    def takes(self, shape: tuple[int, ...]) -> bool:
        """Whether values of a shape fit: a number fills all."""
        return shape == () or all(place.shape == shape for place in self.places)

    def put(self, p: Floats, values: Any, shift: Places | None = None) -> None:
        """Write values (n, ...) into the rows of p (n, np). shift: where else entries stand."""
        for place, sign in self.signed:
            rows = sign * np.asarray(values, dtype=float)
            where = (place if shift is None else shift[place]).ravel()
            if rows.ndim == 1 and place.ndim:
                p[:, where] = rows[:, None]
            else:
                p[:, where] = rows.reshape(len(p), -1)

    def of(self, p: Floats) -> Floats:
        """The value in a vector p, of the first parameter."""
        place, sign = self.signed[0]
        return np.asarray(sign * p[place])


@dataclass(frozen=True)
class Standing:
    """Where a value stands in a program: among its parameters, and in the initial states of plants.
    target: its entries of p, if there are any. starts: the blocks, and the entry of `initial` of
    each."""

    target: Target | None
    starts: tuple[tuple[str, Keys], ...] = ()


def standing_of(program: Program, keys: Keys, origin: Origin | None = None) -> Standing | None:
    """Where the value at a path of the file stands. None if more depends on it than parameters.
    origin: what has the value, by default as the program knows it."""
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
    """What has the value at a path of the file: as recorded for it or for a value around it, else
    the argument of its name."""
    for end in range(len(keys), 1, -1):
        origin = program.origins.get(keys[:end])
        if origin is not None:
            inner = (replace(use, within=(*use.within, *keys[end:])) for use in origin.uses)
            return replace(origin, uses=tuple(inner))
    if keys[0] != "blocks" or len(keys) < 3:
        return Origin(alone=False)
    return Origin(uses=(Use(str(keys[1]), str(keys[2]), keys[3:]),))


def _slot_name(use: Use, path: Keys, names: Iterable[str]) -> str:
    """The parameter of an argument: its own, or that of the file's parameter at a path."""
    return use.name if use.name in names or path[0] != "params" else str(path[1])


def entry_places(slot: Slot, within: Sequence[Any]) -> Places | None:
    """The entries of p of an element or a row of a parameter, or of all of it; None where there is
    none."""
    places = slot.places()
    for key in within:
        text = str(key)
        if not places.ndim or not text.isdecimal() or int(text) >= len(places):
            return None
        places = np.asarray(places[int(text)])
    return places


def target_of_name(program: Program, path: str) -> Target | None:
    """The entries of p of a parameter's own name, with the index of an element perhaps."""
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
    """The origins of a diagram as those of its parameters; what follows from the name of a block
    and an argument alone is left out. names: the parameter of each argument. nominal: the values of
    the parameters."""
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
    """Whether the entries of a parameter are a value, or are filled by it."""
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


def given_names(origins: Origins, parameters: Iterable[Slot]) -> dict[str, tuple[str, ...]]:
    """By the names of the file's `params:` that are no parameters, those that took their values."""
    slots = {slot.name for slot in parameters}
    given = {}
    for path, origin in origins.items():
        if path[0] == "params" and len(path) == 2 and path[1] not in slots:
            taken = tuple(dict.fromkeys(use.name for use in origin.uses if use.shares))
            if taken:
                given[str(path[1])] = taken
    return given
