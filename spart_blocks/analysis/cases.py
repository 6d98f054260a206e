"""The cases of a comparison: combinations of choices for variant slots and of overrides."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path

from spart_blocks.base.errors import Fault, InputError
from spart_blocks.diagram.written.overrides import Overrides, as_texts

MAX_CASES = 64

Choices = Mapping[str, str | Sequence[str]]
"""The choices to compare, for each slot: {"controller": ["pd", "lqr"]}."""


@dataclass(frozen=True)
class ComparisonCase:
    """One run of a comparison: its name, `slot=choice` and `path=value` texts. file: its diagram,
    if several are compared."""

    label: str
    variants: tuple[str, ...] = ()
    overrides: tuple[str, ...] = ()
    file: Path | None = None


def cases_of(
    choices: Choices, sets: Mapping[str, Overrides], files: Sequence[Path] = ()
) -> tuple[ComparisonCase, ...]:
    """Every combination of choices with every named set of overrides, for each of several files.

    The name of a case contains what distinguishes it: the name of its file, `pd`, or
    `controller=pd, filter=none` if several slots differ, and the name of its set. Raises InputError
    if there are no cases or more than MAX_CASES.
    """
    slots = {slot: [c] if isinstance(c, str) else list(c) for slot, c in choices.items()}
    faults = [Fault(f"slot {slot} is given no choices") for slot, c in slots.items() if not c]
    for slot, chosen in slots.items():
        twice = {choice for choice in chosen if chosen.count(choice) > 1}
        faults += [Fault(f"slot {slot}: {choice!r} is given twice") for choice in sorted(twice)]
    if faults:
        raise InputError(faults)
    count = math.prod(map(len, slots.values())) * max(len(sets), 1) * max(len(files), 1)
    if count > MAX_CASES:
        hint = "compare fewer choices at a time: --variant slot=a,b"
        raise InputError(Fault(f"these are {count} cases, more than {MAX_CASES}", hint=hint))
    if not slots and not sets and not files:
        hint = "give it a section variants:, or name sets of values, --case soft:kp=10"
        message = "there is nothing to compare: the file has no variants"
        raise InputError(Fault(message, hint=hint))
    differing = [slot for slot, chosen in slots.items() if len(chosen) > 1]
    called_files: Mapping[str, Path | None] = _called(files) or {"": None}
    return tuple(
        ComparisonCase(
            ", ".join(filter(None, (called, _label(picked, differing, name)))),
            tuple(f"{slot}={choice}" for slot, choice in picked.items()),
            as_texts(overrides),
            file,
        )
        for called, file in called_files.items()
        for picked in (dict(zip(slots, one, strict=True)) for one in product(*slots.values()))
        for name, overrides in (sets or {"": ()}).items()
    )


def _called(files: Sequence[Path]) -> dict[str, Path]:
    """The files by their names; by their paths, where names are equal. Raises InputError for a file
    that is given twice."""
    stems = [file.stem for file in files]
    alone = len(set(stems)) == len(stems)
    found = dict(zip(stems if alone else map(str, files), files, strict=True))
    if len(found) < len(files):
        raise InputError("a diagram is compared with another one, or with cases of its own")
    return found


def _label(picked: Mapping[str, str], differing: Sequence[str], name: str) -> str:
    shown = differing or ([] if name else list(picked))
    parts = [picked[slot] if len(shown) == 1 else f"{slot}={picked[slot]}" for slot in shown]
    return ", ".join([*parts, *([name] if name else [])])
