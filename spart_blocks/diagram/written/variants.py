"""Variants: alternatives for a block, one of which is used.

The chosen alternative is put into the document before anything is built, so that later steps see
an ordinary block. The interfaces of alternatives are compared in interface_check.py.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from spart_blocks.base.document import Document, Keys, read_document
from spart_blocks.base.errors import DiagramError, Fault, InputError, Place, did_you_mean
from spart_blocks.diagram.sections.schema import DiagramSection, VariantSection, validate

Asked = Mapping[str, str] | Sequence[str]
Chosen = Mapping[str, str]


def read_variants(document: Document) -> dict[str, VariantSection]:
    """The variants of a file by slot. Raises DiagramError with all faults of their section."""
    raw = document.data.get("variants")
    if raw is None:
        return {}
    sections, faults, _ = validate(document, {"blocks": {}, "variants": raw}, DiagramSection)
    if not faults:
        faults = list(_faults(document, sections.variants))
    if faults:
        raise DiagramError(faults)
    return sections.variants


def choices_in(path: str | Path) -> dict[str, tuple[str, ...]]:
    """The choices for each slot of a file, the default first."""
    slots = read_variants(read_document(Path(path)))
    return {
        slot: tuple(dict.fromkeys((variants.default, *variants.choices)))
        for slot, variants in slots.items()
    }


def _faults(document: Document, slots: Mapping[str, VariantSection]) -> Iterator[Fault]:
    blocks = document.data.get("blocks")
    for slot, variants in slots.items():
        place = document.key_place("variants", slot)
        if isinstance(blocks, dict) and slot in blocks:
            first = document.key_place("blocks", slot)
            message = f"variants.{slot} has a block of its name, in line {first.line}"
            yield Fault(message, place, f"a slot is a block: leave {slot} out of blocks:")
        if not variants.choices:
            hint = "write name: {type: ...} or name: {use: FILE} under choices:"
            yield Fault(f"variants.{slot} has no choices", place, hint)
        elif variants.default not in variants.choices:
            yield Fault(
                f"variants.{slot} has no choice {variants.default[:60]!r}, its default",
                document.place("variants", slot, "default"),
                did_you_mean(variants.default, variants.choices),
            )


def chosen_of(slots: Mapping[str, VariantSection], asked: Asked) -> Chosen:
    """The choice for each slot: the requested one, `{slot: choice}` or `["slot=choice"]`, or the
    default. InputError for unknown slots or choices.
    """
    faults: list[Fault] = []
    chosen = {slot: variants.default for slot, variants in slots.items()}
    for slot, choice in asked.items() if isinstance(asked, Mapping) else _parsed(asked, faults):
        place = Place(f"variant {slot}={choice}")
        if slot not in slots:
            known = did_you_mean(slot, slots) or "the file has no section variants:"
            faults.append(Fault(f"there is no slot {slot[:60]!r}", place, known))
        elif choice not in slots[slot].choices:
            near = did_you_mean(choice, slots[slot].choices)
            faults.append(Fault(f"{slot} has no choice {choice[:60]!r}", place, near))
        else:
            chosen[slot] = choice
    if faults:
        raise InputError(faults)
    return chosen


def _parsed(asked: Sequence[str], faults: list[Fault]) -> Iterator[tuple[str, str]]:
    for text in [asked] if isinstance(asked, str) else asked:
        slot, _, choice = (part.strip() for part in text.partition("="))
        if slot and choice:
            yield slot, choice
        else:
            hint = "write slot=choice, for instance controller=pd"
            faults.append(Fault("names no slot or no choice", Place(f"variant {text}"), hint))


def with_choices(
    document: Document, slots: Mapping[str, VariantSection], chosen: Chosen
) -> Document:
    """The document with the chosen alternatives among its blocks."""
    if not slots:
        return document
    data = {key: value for key, value in document.data.items() if key != "variants"}
    raw = document.data["variants"]
    moved: dict[Keys, Keys] = {}
    blocks = data.get("blocks")
    blocks = dict(blocks) if isinstance(blocks, dict) else {}
    for slot in slots:
        blocks[slot] = raw[slot]["choices"][chosen[slot]]
        moved["blocks", slot] = ("variants", slot, "choices", chosen[slot])
    return replace(document, data=data | {"blocks": blocks}, moved=moved)
