"""Operations on slots of variants: made of blocks and back, and their choices."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from spart_blocks.base.document import mapping_at
from spart_blocks.base.errors import Fault, InputError, did_you_mean
from spart_blocks.diagram.build.registry import name_problem
from spart_blocks.diagram.written.sheets import VARIANT, File, Slot, WrittenBlock
from spart_blocks.versions.edits.operations import Put
from spart_blocks.versions.edits.renaming import OF_VARIANTS, NewNames, Rename
from spart_blocks.versions.edits.steps import Operation, RemoveValue, SetValue, Step, ordered


@dataclass(frozen=True)
class Vary(Operation):
    """Make a slot of variants of a block. choice: the name of what the block has been; it is the
    only choice, and the default."""

    name: str
    choice: str

    def steps(self, file: File) -> list[Step]:
        block = file.top.blocks.get(self.name)
        if self.name in file.slots:
            raise InputError(f"{self.name} is a slot of variants already")
        if block is None or not isinstance(block.written, dict):
            hint = did_you_mean(self.name, file.top.blocks)
            raise InputError(Fault(f"there is no block {self.name!r} in the diagram", hint=hint))
        _check(self.choice)
        slot = {"default": self.choice, "choices": {self.choice: copy.deepcopy(block.written)}}
        made = Put((VARIANT, self.name), slot).steps(file)
        return ordered([RemoveValue(block.keys), *made])


@dataclass(frozen=True)
class Fix(Operation):
    """Make a block of a slot again, which is one of its choices; the others are removed."""

    slot: str
    choice: str

    def steps(self, file: File) -> list[Step]:
        slot = _slot(file, self.slot)
        written = copy.deepcopy(_choice(slot, self.choice).written)
        _refuse_named(file, self.slot)
        made = Put(("blocks", self.slot), written).steps(file)
        return ordered([RemoveValue(slot.keys), *made])


@dataclass(frozen=True)
class AddChoice(Operation):
    """Add a choice to a slot: a block of a type with parameters, or like another choice."""

    slot: str
    choice: str
    type: str = ""
    parameters: Mapping[str, Any] = field(default_factory=dict)
    like: str = ""

    def steps(self, file: File) -> list[Step]:
        slot = _slot(file, self.slot)
        _check_free(slot, self.choice)
        if self.like:
            made = copy.deepcopy(_choice(slot, self.like).written)
        else:
            made = {"type": self.type, **self.parameters}
        return Put((*slot.keys, "choices", self.choice), made).steps(file)


@dataclass(frozen=True)
class RenameChoice(Operation):
    """Rename a choice of a slot, also where a sweep names it."""

    slot: str
    choice: str
    new: str

    def steps(self, file: File) -> list[Step]:
        slot = _slot(file, self.slot)
        _choice(slot, self.choice)
        _check_free(slot, self.new)
        renamed = Rename(NewNames(blocks={(slot.keys, self.choice): self.new})).steps(file)
        named = [SetValue(path, self.new) for path in _named(file, self.slot, self.choice)]
        return ordered([*named, *renamed])


@dataclass(frozen=True)
class RemoveChoice(Operation):
    """Remove a choice of a slot. If it is the default, the first of the others becomes it."""

    slot: str
    choice: str

    def steps(self, file: File) -> list[Step]:
        slot = _slot(file, self.slot)
        gone = _choice(slot, self.choice)
        others = [name for name in slot.choices if name != self.choice]
        if not others:
            hint = f"fix {self.slot} {self.choice} makes a block of it again"
            text = f"{self.choice} is the only choice of {self.slot}"
            raise InputError(Fault(text, hint=hint))
        _refuse_named(file, self.slot, self.choice)
        steps: list[Step] = [RemoveValue(gone.keys)]
        if slot.default == self.choice:
            steps.append(SetValue((*slot.keys, "default"), others[0]))
        return ordered(steps)


@dataclass(frozen=True)
class OfSlot(Operation):
    """An operation on a slot, or another one if there is no slot of this name."""

    slot: str
    done: Operation
    otherwise: Operation

    def steps(self, file: File) -> list[Step]:
        return (self.done if self.slot in file.slots else self.otherwise).steps(file)


def _slot(file: File, name: str) -> Slot:
    if name not in file.slots:
        hint = did_you_mean(name, file.slots)
        raise InputError(Fault(f"there is no slot {name!r}", hint=hint))
    return file.slots[name]


def _choice(slot: Slot, name: str) -> WrittenBlock:
    found = slot.choices.get(name)
    if found is None or not isinstance(found.written, dict):
        hint = did_you_mean(name, slot.choices)
        raise InputError(Fault(f"{slot.name} has no choice {name!r}", hint=hint))
    return found


def _check(name: str) -> None:
    problem = name_problem(name)
    if problem:
        raise InputError(f"the choice name {name[:60]!r} {problem}")


def _check_free(slot: Slot, name: str) -> None:
    _check(name)
    if name in slot.choices:
        raise InputError(f"{slot.name} has a choice {name!r} already")


def _named(file: File, slot: str, choice: str) -> Iterator[tuple[str | int, ...]]:
    """The paths in the sections that name a choice."""
    for section in OF_VARIANTS:
        given = mapping_at(file.data, section, "variants").get(slot)
        if given == choice:
            yield section, "variants", slot
        if isinstance(given, list):
            for number, name in enumerate(given):
                if name == choice:
                    yield section, "variants", slot, number


def _refuse_named(file: File, slot: str, choice: str | None = None) -> None:
    """Raise InputError if a section names a slot, or a choice of it."""
    for section in OF_VARIANTS:
        there = mapping_at(file.data, section, "variants")
        choices = (path[0] for path in _named(file, slot, choice)) if choice else ()
        if section in choices if choice else slot in there:
            text = f"{choice or slot} is named in {section}.variants.{slot}"
            raise InputError(Fault(text, hint="remove this first"))
