"""Random operations that a diagram's data allows."""

from __future__ import annotations

import copy

from spart_blocks.base.errors import InputError
from spart_blocks.diagram.build.late_blocks import BUSES
from spart_blocks.diagram.written.sheets import File
from spart_blocks.state_machines.written import MACHINES
from spart_blocks.versions.edits import (
    AddBlock,
    AddChoice,
    AddCondition,
    AddSubsystem,
    AddWire,
    Draw,
    Fix,
    ForEach,
    Group,
    MoveItem,
    MoveState,
    Put,
    RemoveBlock,
    RemoveChoice,
    RemoveCondition,
    RemovePort,
    RemoveState,
    RemoveWire,
    RenameBlock,
    RenameChoice,
    RenameEntry,
    RenameParameter,
    RenamePort,
    RenameSignal,
    RenameState,
    RenameSubsystem,
    Retype,
    Vary,
    Wrap,
    edited,
)
from spart_blocks.versions.edits.operations import data_after

NUMBERS = (0, -3, 2.5, 1e-9, 1e300, True, None)
TEXTS = ("a", "a: b", "- x", "it's", 'a "b"', "# no", "$kp", "", "ü €", "a,b", "[x]", "0x10")
VALUES = (
    *NUMBERS,
    *TEXTS,
    "null",
    " a",
    "x\ny",
    "{",
    "a #b",
    [1, 2.5],
    [],
    {},
    {"a": [1, {"b": 2}]},
)


COMPANY = """\
name: arm
description: two servos   # and a comment
params:
  k: 2   # 1/s
clocks: {tick: {T: 0.1}}
subsystems:
  servo:
    params: {gain: 3}
    inputs: [goal]
    outputs: [x]
    blocks:
      error: {type: SUM, signs: "+-"}
      law: {type: GAIN, K: $gain}
      x: {type: INTEGRATOR}
    wires:
      - in.goal -> error.0
      - error -> law
      - law -> x
      - x -> error.1, out.x
  law:
    inputs: [state.x, state.low.y, go]
    outputs: [u, seen.x]
    enabled: {by: go}
    blocks: {pick: {type: BUS_SELECTOR, signals: [x, low]}, sum: {type: SUM, signs: "++"}}
    wires: [in.state -> pick, pick.x -> sum.0, pick.low.y -> sum.1, sum -> out.u,
            in.state.x -> out.seen.x]
variants:
  law:
    default: p
    choices:
      p: {type: GAIN, K: 2}
      i: {type: INTEGRATOR}
blocks:
  low: {type: BUS_CREATOR}
  all: {type: BUS_CREATOR, signals: [x, low]}
  parts: {type: law}
  some: {type: BUS_SELECTOR, signals: [low], outputs: [y]}
  new: {type: BUS_ASSIGNMENT, signals: [x]}
  modes:
    type: STATE_MACHINE_S
    arguments: [u]
    outputs: {y: 0}
    clock: tick
    initial: off
    states:
      off: {entry: {y: 0}}
      on: {states: {up: {}, down: {}}, initial: up}
    transitions:
      - {from: off, to: on, when: u > 1}
      - {from: up, to: down, when: u > 2}
  step: {type: STEP, T: 1}
  one: {type: servo, gain: $k}
  two: {type: servo}
  hold: {type: ZOH, clock: tick}
  scope: {type: SCOPE}
wires:
  - step -> one, modes.u, low.y, law # all of it
  - two.x -> all.x, parts.go, new.x
  - low -> all.low
  - all -> parts.state, some, new.bus, scope
  - one.x -> two.goal, scope
  - two.x -> scope, hold
run: {T: 2}
"""
"""A diagram with a bit of everything: buses, a machine, variants, a condition, clocks."""


def scalars(value, path=()):
    """Paths of all values that hold no others."""
    if isinstance(value, dict | list) and value:
        items = value.items() if isinstance(value, dict) else enumerate(value)
        for key, item in items:
            yield from scalars(item, (*path, key))
    elif path:
        yield path


def holders(value, path=()):
    if isinstance(value, dict):
        yield path
        for key, item in value.items():
            yield from holders(item, (*path, key))
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from holders(item, (*path, index))


def random_operation(data, rng):
    """An operation; it may be one that the data does not allow."""
    kind = rng.randrange(20)
    slots = File.of(data).slots
    blocks = list(data.get("blocks") or {}) or ["none"]
    block = rng.choice(blocks)
    wires = [text for text in data.get("wires") or [] if isinstance(text, str)] or ["a -> b"]
    if kind <= 2:
        return Put(rng.choice(list(scalars(data))), copy.deepcopy(rng.choice(VALUES)))
    if kind == 3:
        return Put((*rng.choice(list(holders(data))), f"new{rng.randrange(99)}"),
                   copy.deepcopy(rng.choice(VALUES)))  # fmt: skip
    if kind == 4:
        return AddBlock(f"block{rng.randrange(99)}", "GAIN", {"K": [1.5, 2]})
    if kind == 5:
        return RemoveBlock(block)
    if kind == 6:
        return RenameBlock(block, f"other{rng.randrange(99)}")
    if kind == 7:
        return AddWire(f"{block} -> {rng.choice(blocks)}.{rng.randrange(9)}, x")
    if kind == 8:
        source, _, ends = rng.choice(wires).partition("->")
        return RemoveWire(f"{source}-> {rng.choice(ends.split(','))}")
    if kind == 9 and data.get("clocks") and rng.random() < 0.3:
        return RenameEntry("clocks", rng.choice(list(data["clocks"])), f"c{rng.randrange(99)}")
    if kind == 9 and data.get("params"):
        return RenameParameter(rng.choice(list(data["params"])), f"p{rng.randrange(99)}")
    if kind == 10:
        return Retype(block, "SUM", {"signs": "+-"})
    if kind == 11 and slots:
        slot = rng.choice(list(slots))
        choice = rng.choice(["none", *slots[slot].choices])
        return Wrap(slot, choice, ("in.u -> block.0", "in.v", "block.0 -> out.y"))
    if kind == 12 and data.get("subsystems"):
        within = rng.choice(list(data["subsystems"]))
        side = rng.choice(["inputs", "outputs"])
        name = rng.choice(data["subsystems"][within].get(side) or ["none"])
        if rng.random() < 0.3:
            return RemovePort(name, side, within)
        return RenamePort(name, f"port{rng.randrange(9)}", side, within)
    if kind == 13:
        return random_kind(data, block, rng)
    if kind == 14:
        return rng.choice([
            Draw(f"looks.{block}.facing", rng.choice(["left", "down", None])),
            Draw("notes", {"text": rng.choice(TEXTS), "at": [1, 2], "by": block}),
            Draw("areas", {"title": "a", "blocks": [block, rng.choice(blocks)]}),
            Draw(rng.choice(["notes[0]", "areas[0]", f"looks.{block}"]), None),
        ])  # fmt: skip
    if kind == 15:
        return Vary(block, f"choice{rng.randrange(9)}")
    if kind == 16 and slots:
        slot = rng.choice(list(slots))
        choice, new = rng.choice(["none", *slots[slot].choices]), f"choice{rng.randrange(9)}"
        return rng.choice([
            Fix(slot, choice), AddChoice(slot, new, like=choice), AddChoice(slot, new, "GAIN"),
            RenameChoice(slot, choice, new), RemoveChoice(slot, choice),
        ])  # fmt: skip
    if kind == 17:
        return random_signal(data, rng)
    if kind == 18:
        return random_state(data, rng)
    return Group(f"part{rng.randrange(99)}", (block, rng.choice(blocks)))


def random_signal(data, rng):
    """A new name of a signal of a bus."""
    found = [
        (sheet.name, block.name, end.port)
        for sheet in File.of(data).sheets
        for block in sheet.blocks.values()
        if block.type in BUSES
        for wire in sheet.wires.values()
        for end in (wire.source, *wire.ends)
        if end.block == block.name and end.port
    ]
    within, block, signal = rng.choice(found or [("", "none", "x")])
    return RenameSignal(block, signal, f"signal{rng.randrange(9)}", within)


def random_state(data, rng):
    """An operation on a state or transition of a machine."""
    machines = [
        (path, value)
        for path, value in ((path, at(data, path)) for path in holders(data))
        if isinstance(value, dict) and value.get("type") in MACHINES
    ]
    home, section = rng.choice(machines or [(("blocks", "none"), {})])
    states = [
        (*home, *path)
        for path in holders(section.get("states") or {}, ("states",))
        if path[-2:-1] == ("states",)
    ]
    state = ".".join(rng.choice(states or [(*home, "states", "none")]))
    into = rng.choice([state, *(".".join(path) for path in (home, *states))])
    item, name = f"{'.'.join(home)}.transitions[{rng.randrange(4)}]", f"state{rng.randrange(9)}"
    return rng.choice([
        RenameState(state, name), RemoveState(state), MoveState(state, into),
        MoveState(state, into, rng.choice(["up", "off"])), MoveItem(item, rng.randrange(4)),
    ])  # fmt: skip


def at(data, path):
    for key in path:
        data = data[key]
    return data


def random_kind(data, block, rng):
    """An operation on the kind of a subsystem."""
    within = rng.choice([*(data.get("subsystems") or {}), "none"])
    kind = rng.choice(["enabled", "triggered", "reset"])
    return rng.choice([
        AddSubsystem(f"new{rng.randrange(9)}"),
        AddCondition(kind, within, rng.choice(["", "go"])),
        RemoveCondition(kind, within),
        ForEach(block),
        RenameSubsystem(within, f"kind{rng.randrange(9)}"),
    ])  # fmt: skip


def random_sequence(text, read, rng, most=4):
    """Some random operations that the text allows, and the Edited of them; None if none is."""
    operations, data = [], read(text)
    for _ in range(rng.randint(1, most)):
        operation = random_operation(data, rng)
        try:
            data = data_after(data, operation)
        except InputError:
            continue
        operations.append(operation)
    return operations, edited(text, operations), data
