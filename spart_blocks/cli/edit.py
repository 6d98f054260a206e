"""`spart edit`: change a diagram file, and leave the rest of its text as it is."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import typer

from spart_blocks.base.errors import Fault, InputError, counted
from spart_blocks.cli.commands import (
    BLOCKS,
    QUIET,
    ROOT,
    Texts,
    argument,
    command,
    option,
    switch,
)
from spart_blocks.cli.terminal import say

if TYPE_CHECKING:
    from spart_blocks.versions.edits import EditedFile, Operation

Verb = Literal[
    "set", "unset", "append", "add", "remove", "rename", "move", "retype", "wire", "unwire",
    "group", "wrap", "vary", "fix", "subsystem", "condition", "uncondition", "for-each", "undo",
]  # fmt: skip


@command(
    "spart edit arm.yaml set params.kp='[40, 40, 10]' run.T=5",
    "spart edit arm.yaml add filter PT1 gain=1 tau=0.1 --wire 'plant.qm -> filter'",
    "spart edit arm.yaml append expect.final='{signal: plant.qm, value: 0, within: 1e-3}'",
    "spart edit arm.yaml wire 'filter -> scope' --dry-run",
    "spart edit arm.yaml group controller error gains limit",
    "spart edit arm.yaml undo",
)
def edit(
    *,
    file: Path = argument("FILE", "The diagram's YAML file."),
    verb: Verb = argument("VERB", "What to do; see above."),
    words: Texts = argument("[WORD]...", "What the verb is about.", None),
    wires: Texts = option("--wire WIRE", "With add: a wire of the new block; may be repeated."),
    within: str = option("--in SUBSYSTEM", "The blocks and wires of this subsystem.", ""),
    dry_run: bool = switch("--dry-run", "Print the lines that change, and write nothing."),
    unchecked: bool = switch("--unchecked", "Write a diagram with mistakes too."),
    blocks: Texts = BLOCKS,
    root: Path | None = ROOT,
    quiet: bool = QUIET,
) -> None:
    """Change a diagram file. Comments, order and layout of all other lines stay as they are.

    The verbs: set PATH=VALUE..., unset PATH..., append PATH=VALUE... (to lists), add NAME TYPE
    [PARAMETER=VALUE]..., remove NAME..., rename OLD NEW (a block, or params.OLD NEW, clocks.OLD
    NEW, robots.OLD NEW, subsystems.OLD NEW, or BUS.OLD NEW, a signal of a bus), retype NAME TYPE
    [PARAMETER=VALUE]..., wire 'a -> b, c'..., unwire 'a -> b'..., group NAME BLOCK... (they become
    a subsystem), wrap SLOT.CHOICE 'in.a -> block.b'... (a choice of variants gets other ports),
    vary NAME CHOICE (a block becomes a slot of variants, with this choice), fix SLOT CHOICE (a slot
    becomes a block again), subsystem NAME (a new one, and a block of it), condition SUBSYSTEM KIND
    [INPUT] (it runs on that condition: enabled, triggered or reset), uncondition SUBSYSTEM KIND,
    for-each BLOCK [INPUT]... (a copy for each entry), and undo, which takes the last edit of the
    file back. Ports of a subsystem: append subsystems.SUBSYSTEM.inputs=NAME, rename inputs.OLD NEW
    --in SUBSYSTEM, remove inputs.NAME --in SUBSYSTEM; outputs too. Choices of a slot: add
    SLOT.CHOICE TYPE, rename SLOT.OLD NEW, remove SLOT.CHOICE. States of machines: rename
    BLOCK.states.OLD NEW, or BLOCK.arguments.OLD NEW (outputs, variables and params too), remove
    BLOCK.states.NAME, move BLOCK.states.NAME BLOCK.states.OTHER [BEFORE] (into another state, or
    into BLOCK), move BLOCK.transitions[K] INDEX. Nothing is written if the diagram would then have
    mistakes that it has not now.
    """
    from spart_blocks.diagram.build.own_blocks import add_blocks
    from spart_blocks.versions import edits

    if verb == "undo":
        if words or dry_run:
            raise InputError("undo takes the file alone")
        if not edits.undo(file):
            raise InputError(f"there is no edit of {file} to take back")
        say(f"{file}: the last edit is taken back", unless=quiet)
        return
    operations = _operations(verb, words or [], within)
    if wires and verb != "add":
        raise InputError("--wire goes with add")
    operations += [edits.AddWire(text, within) for text in wires or []]
    add_blocks(*blocks or ())
    found = edits.changed(file, operations, check=not unchecked, root=root)
    if dry_run:
        typer.echo("".join(_changes(found)), nl=False)
        return
    edits.write(found)
    lines = [line[0] for line in _changes(found)[2:]]
    count = max(lines.count("+"), lines.count("-"))
    told = f"{counted(count, 'line')} changed" if count else "nothing to change"
    say(f"{file}: {told}", unless=quiet)


def _changes(found: EditedFile) -> list[str]:
    """The changed lines in the format of `diff -u`."""
    before, after = (
        text.splitlines(keepends=True) for text in (found.edited.before, found.edited.after)
    )
    name = str(found.path)
    return [line if line.endswith("\n") else line + "\n"
            for line in difflib.unified_diff(before, after, name, name, n=1)]  # fmt: skip


def _operations(verb: Verb, words: Sequence[str], within: str) -> list[Operation]:
    from spart_blocks.versions import edits

    if within and verb in ("wrap", "vary", "fix"):
        raise InputError(f"--in does not go with {verb}: slots are of the whole diagram")
    if within and verb in ("set", "unset", "append", "move"):
        hint = f"write the whole path: subsystems.{within}.blocks.NAME.PARAMETER"
        raise InputError(Fault(f"--in does not go with {verb}", hint=hint))
    least, usage = _USAGE[verb]
    most = {"rename": 2, "move": 3}.get(verb, len(words))
    if not least <= len(words) <= most:
        raise InputError(Fault(f"{verb} needs other words", hint=f"write {verb} {usage}"))
    if verb == "set":
        return [edits.Set(path, value) for path, value in _settings(words)]
    if verb == "unset":
        return [edits.Unset(path) for path in words]
    if verb == "append":
        return [edits.Append(path, value) for path, value in _settings(words)]
    if verb == "add":
        slot, dot, choice = words[0].partition(".")
        if dot:
            return [edits.AddChoice(slot, choice, words[1], dict(_settings(words[2:])))]
        return [edits.AddBlock(words[0], words[1], dict(_settings(words[2:])), within)]
    if verb == "remove":
        return [_removed(name, within) for name in words]
    if verb == "move":
        if words[1].isdecimal():
            return [edits.MoveItem(words[0], int(words[1]))]
        return [edits.MoveState(*words[:3])]
    if verb == "rename":
        if edits.is_state_path(words[0]):
            return [edits.RenameState(words[0], words[1])]
        if edits.is_value_path(words[0]):
            return [edits.RenameValue(words[0], words[1])]
        section, _, name = words[0].partition(".")
        if section == "params" and name:
            return [edits.RenameParameter(name, words[1].removeprefix("params."))]
        new = words[1].removeprefix(f"{section}.")
        if section in ("clocks", "robots") and name:
            return [edits.RenameEntry(section, name, new)]
        if section in ("inputs", "outputs") and name:
            return [edits.RenamePort(name, new, section, within)]
        if section == "subsystems" and name:
            return [edits.RenameSubsystem(name, new)]
        if name:  # a choice of a slot, or a signal of a bus
            signal = edits.RenameSignal(section, name, new, within)
            return [edits.OfSlot(section, edits.RenameChoice(section, name, new), signal)]
        return [edits.RenameBlock(words[0], words[1], within)]
    if verb == "retype":
        return [edits.Retype(words[0], words[1], dict(_settings(words[2:])), within=within)]
    if verb == "group":
        return [edits.Group(words[0], tuple(words[1:]), within)]
    if verb in _KINDS:
        return _kinds(verb, words, within)
    if verb == "vary":
        return [edits.Vary(words[0], words[1])]
    if verb == "fix":
        return [edits.Fix(words[0], words[1])]
    if verb == "wrap":
        slot, _, choice = words[0].partition(".")
        return [edits.Wrap(slot, choice, tuple(words[1:]))]
    kind = edits.AddWire if verb == "wire" else edits.RemoveWire
    return [kind(text, within) for text in words]


_KINDS = ("subsystem", "condition", "uncondition", "for-each")


def _kinds(verb: Verb, words: Sequence[str], within: str) -> list[Operation]:
    """Operations that make kinds of subsystems."""
    from spart_blocks.versions import edits

    if verb == "subsystem":
        return [edits.AddSubsystem(name, within) for name in words]
    if verb == "for-each":
        return [edits.ForEach(words[0], tuple(words[1:]), within)]
    if within or len(words) > (3 if verb == "condition" else 2):
        raise InputError(Fault(f"{verb} takes other words", hint=f"write {verb} {_USAGE[verb][1]}"))
    if verb == "condition":
        return [edits.AddCondition(words[1], words[0], *words[2:])]
    return [edits.RemoveCondition(words[1], words[0])]


def _removed(word: str, within: str) -> Operation:
    """The removal of a block, of a port, such as inputs.goal, or of a state of a machine."""
    from spart_blocks.versions import edits

    if edits.is_state_path(word):
        return edits.RemoveState(word)
    side, _, name = word.partition(".")
    if side in ("inputs", "outputs") and name:
        return edits.RemovePort(name, side, within)
    if name:
        return edits.RemoveChoice(side, name)
    return edits.RemoveBlock(word, within)


_USAGE = {
    "set": (1, "PATH=VALUE..."),
    "unset": (1, "PATH..."),
    "append": (1, "PATH=VALUE..."),
    "add": (2, "NAME TYPE [PARAMETER=VALUE]..."),
    "remove": (1, "NAME..."),
    "rename": (2, "OLD NEW"),
    "move": (2, "BLOCK.states.NAME INTO [BEFORE], or BLOCK.transitions[K] INDEX"),
    "retype": (2, "NAME TYPE [PARAMETER=VALUE]..."),
    "wire": (1, "'SOURCE -> INPUT'..."),
    "unwire": (1, "'SOURCE -> INPUT'..."),
    "group": (2, "NAME BLOCK..."),
    "subsystem": (1, "NAME..."),
    "condition": (2, "SUBSYSTEM KIND [INPUT]"),
    "uncondition": (2, "SUBSYSTEM KIND"),
    "for-each": (1, "BLOCK [INPUT]..."),
    "vary": (2, "NAME CHOICE"),
    "fix": (2, "SLOT CHOICE"),
    "wrap": (2, "SLOT.CHOICE 'in.PORT -> block.PORT'... 'block.PORT -> out.PORT'..."),
}


def _settings(words: Sequence[str]) -> list[tuple[str, Any]]:
    from spart_blocks.base.document import parse_value

    found = []
    for word in words:
        path, equals, value = word.partition("=")
        if not equals or not path:
            hint = "without blanks or in quotes: 'ctrl.kp=[60, 60, 20]'"
            raise InputError(Fault(f"{word!r} is not NAME=VALUE", hint=hint))
        found.append((path, parse_value(value, word)))
    return found
