"""Gated blocks: copies of the blocks in conditional subsystems, whose states change only while
their subsystem runs.

The idea: no engine needs to know of conditional subsystems. A gated block has further inputs after
its own, on which the phases of the conditions arrive as numbers (`formulas/phases.py`). Its
methods call those of the original block, and select by the phases: `deriv` is zero while the
subsystem does not run, `next` keeps the state, `watch` reports a reset as a zero-crossing, and
`switch` sets the state to its initial value. So the interpreter, traced programs, lanes and
exported code run a gated block like any other.

A sampled block in a triggered subsystem has no clock. It becomes a block with modes, and its state
is stored twice: the current one and the next one. At a trigger (phase STOPS) the next state is
computed, while all blocks still read the current states of each other; then (phase STEPS) it
becomes the current one.

The class of a gated block is derived from that of the original block, so that it has all its
attributes; `ungated` is the original class. The functions that gate a method are used for classes
and for lowering rules: each takes a method (block, ..., inputs, x) and returns the method of the
gated block.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, partial
from inspect import getattr_static
from typing import Any

import numpy as np

from spart_blocks.formulas.crossings import bare
from spart_blocks.formulas.phases import OFF, ON, STARTS, STEPS, STOPS, is_on, is_phase

Method = Callable[..., Any]
LARGEST = np.finfo(float).max
RESTART = "_start"
"""The attribute of a gated block with the state that a reset returns to."""


@dataclass(frozen=True)
class Gate:
    """The inputs that a gated block has after its own.

    enabled: one input says whether the block runs. resets: number of inputs with phases that reset
    the state. kept: the first so many of these also keep it at its initial value. stepping: the
    block is sampled and steps at a trigger, whose phase is the first of these inputs. alive: for a
    sampled block, one input says whether its state is kept; otherwise it is at its initial value.
    anew: for a sampled block, the number of phases (the last inputs) that say whether its state is
    reset at this tick (STARTS), or kept at its initial value (ON). after: for a sampled block,
    whether its output at a tick is that of the state after it.
    """

    enabled: bool = False
    resets: int = 0
    kept: int = 0
    stepping: bool = False
    alive: bool = False
    anew: int = 0
    after: bool = False

    @property
    def count(self) -> int:
        return self.stepping + self.enabled + self.alive + self.resets + self.anew


def gate_of(block: Any) -> Gate | None:
    """The gate of a block, None if it has none."""
    found: Gate | None = block.__dict__.get("_gate")
    return found


def resets_at_ticks(block: Any) -> bool:
    """Whether a block is sampled and can be reset at ticks."""
    gate = gate_of(block)
    return gate is not None and gate.anew > 0


def read_by_output(block: Any) -> int:
    """The number of last inputs that affect the outputs of a block even without direct
    feedthrough: those that reset the state of a sampled block, since its output changes at once.
    """
    gate = gate_of(block)
    if gate is None:
        return 0
    if gate.stepping:
        return gate.resets
    return 0 if gate.after else gate.anew


def ungated(block: Any) -> Any:
    """The original of a gated block; other blocks are returned unchanged."""
    return getattr(block, "__dict__", {}).get("_ungated", block)


def own_class(block: Any) -> type[Any]:
    """The class of a block; for a gated block that of its original."""
    kind: Any = type(block)
    return _own_class(kind)


@cache
def _own_class(kind: type[Any]) -> type[Any]:
    own: type[Any] = getattr(kind, "ungated", kind)
    return own


def _plain(block: Any) -> Any:
    """An object with the original class and the attributes of a gated block, so that the methods
    of the class call each other without gates.
    """
    plain = object.__new__(own_class(block))
    object.__setattr__(plain, "__dict__", block.__dict__)
    return plain


# --- the inputs of a gate ------------------------------------------------------------------


def _own(block: Any, inputs: list[Any]) -> list[Any]:
    return inputs[: len(inputs) - block._gate.count]


def _gates(block: Any, inputs: list[Any]) -> tuple[Any, Any, list[Any]]:
    """The gate inputs: the phase of the trigger and the enabling signal, each None if missing, and
    a list of the others.
    """
    gate = block._gate
    found = list(inputs[len(inputs) - gate.count :])
    step = found.pop(0) if gate.stepping else None
    enabled = found.pop(0) if gate.enabled else None
    return step, enabled, found


def _runs(block: Any, inputs: list[Any]) -> Any:
    """Whether a block with a continuous state runs now."""
    _, phase, resets = _gates(block, inputs)
    runs = True if phase is None else is_on(phase)
    for reset in resets[: block._gate.kept]:
        runs = np.logical_and(runs, np.logical_not(is_phase(reset, ON)))
    return runs


def _resets(block: Any, inputs: list[Any]) -> Any:
    """Whether the state is reset now."""
    due = False
    for phase in _gates(block, inputs)[2]:
        due = np.logical_or(due, is_phase(phase, STARTS))
    return due


def at_tick(block: Any, inputs: list[Any], x: Any) -> Any:
    """The state of a sampled block before its tick: its initial state if it is reset at this tick,
    otherwise x.
    """
    return np.where(_is_anew(block, inputs), block._start, x) if resets_at_ticks(block) else x


def _is_anew(block: Any, inputs: list[Any]) -> Any:
    """Whether the state of a sampled block is set to its initial value at this tick."""
    found = False
    for phase in inputs[len(inputs) - block._gate.anew :]:
        found = np.logical_or(found, phase > OFF + 0.5)
    return found


def _is_kept(block: Any, inputs: list[Any]) -> Any:
    """Whether the state of a sampled block stays at its initial value after this tick."""
    found = False
    for phase in inputs[len(inputs) - block._gate.anew :]:
        found = np.logical_or(found, is_phase(phase, ON))
    return found


# --- methods -------------------------------------------------------------------------------


def gated_output(method: Method) -> Method:
    """The gated method `output`. While the block does not run, infinite and NaN outputs are
    replaced by 0: nothing uses them, and a switch may disable the block just to avoid such values.
    """

    def output(block: Any, t: Any, inputs: list[Any], x: Any) -> Any:
        shown = x if block._gate.after else at_tick(block, inputs, x)
        out = method(_plain(block), t, _own(block, inputs), shown)
        enabled = _gates(block, inputs)[1]  # unread where the output depends on the state alone
        if enabled is None or not isinstance(out, (list, tuple)):
            return out
        runs = _runs(block, inputs)
        return [_finite(value, runs) for value in out]

    return output


def _finite(value: Any, runs: Any) -> Any:
    if isinstance(value, (dict, str)) or hasattr(value, "inv"):  # no numbers
        return value
    number = np.asarray(value) if isinstance(value, (list, tuple)) else value
    fine = np.abs(number) <= LARGEST
    return bare(np.where(np.logical_or(runs, fine), number, 0.0))


def gated_deriv(method: Method) -> Method:
    def deriv(block: Any, t: Any, inputs: list[Any], x: Any) -> Any:
        rate = method(_plain(block), t, _own(block, inputs), x)
        return np.where(_runs(block, inputs), rate, 0.0)

    return deriv


def gated_advance(method: Method) -> Method:
    def advance(block: Any, t: Any, h: Any, inputs: list[Any], x: Any) -> Any:
        after = method(_plain(block), t, h, _own(block, inputs), x)
        return np.where(_runs(block, inputs), after, x)

    return advance


def gated_watch(method: Method | None) -> Method:
    """The gated method `watch`. The block's own crossings count only while it runs; one more value
    detects a reset.
    """

    def watch(block: Any, t: Any, inputs: list[Any], x: Any) -> list[Any]:
        runs = _runs(block, inputs)
        values = method(_plain(block), t, _own(block, inputs), x) if method else []
        found = [np.where(runs, value, -1.0) for value in values]
        resets = [np.where(_resets(block, inputs), 1.0, -1.0)] if block._gate.resets else []
        return [*found, *resets]

    return watch


def gated_switch(method: Method | None) -> Method:
    def switch(block: Any, t: Any, inputs: list[Any], x: Any) -> Any:
        after = method(_plain(block), t, _own(block, inputs), x) if method else x
        return np.where(_resets(block, inputs), block._start, after)

    return switch


def gated_next(method: Method) -> Method:
    """The gated method `next` of a sampled block, which steps at a tick if its subsystem is
    enabled. With `alive`, the state is set to its initial value while the subsystem is disabled.
    """

    def next_state(block: Any, t: Any, inputs: list[Any], x: Any) -> Any:
        _, now, more = _gates(block, inputs)
        kept = at_tick(block, inputs, x)
        after = np.ravel(method(_plain(block), t, _own(block, inputs), kept))
        if block._gate.alive:
            kept = np.where(more[0] > 0.5, kept, block._start)
        after = after if now is None else np.where(now > 0.5, after, kept)
        return np.where(_is_kept(block, inputs), block._start, after)

    return next_state


def stepped_output(method: Method, next_state: Method) -> Method:
    """The output of a sampled block that steps at a trigger. It is that of the current state (the
    first half), or of the initial state at the instant of a reset, so that all blocks that step at
    this instant read it unchanged. A block whose output is that of the state after its tick gives
    that while the others step.
    """

    def output(block: Any, t: Any, inputs: list[Any], x: Any) -> Any:
        shown = _shown(block, inputs, x)
        if block._gate.after:
            steps = is_phase(_gates(block, inputs)[0], STOPS)
            shown = np.where(steps, _stepped(block, next_state, t, inputs, shown), shown)
        return method(_plain(block), t, _own(block, inputs), shown)

    return output


def _stepped(block: Any, next_state: Method, t: Any, inputs: list[Any], shown: Any) -> Any:
    """The state after one step from the state `shown`."""
    now = _gates(block, inputs)[1]
    after = np.ravel(next_state(_plain(block), t, _own(block, inputs), shown))
    return after if now is None else np.where(now > 0.5, after, shown)


def _shown(block: Any, inputs: list[Any], x: Any) -> Any:
    """The current state of a block that steps at a trigger, or its initial state at a reset."""
    half = len(x) // 2
    if not block._gate.resets:
        return x[:half]
    return np.where(_resets(block, inputs), block._start[:half], x[:half])


def stepped_switch(method: Method) -> Method:
    """The gated method `switch` of a block that steps at a trigger. First the next state is
    computed and stored in the second half of the state, while all blocks still read each other's
    current states. Then it becomes the current state. A reset at the same instant is applied
    first.
    """

    def switch(block: Any, t: Any, inputs: list[Any], x: Any) -> Any:
        step, _, resets = _gates(block, inputs)
        half, start = len(x) // 2, block._start
        shown = _shown(block, inputs, x)
        computed = np.concatenate([shown, _stepped(block, method, t, inputs, shown)])
        taken = np.concatenate([x[half:], x[half:]])
        moved = np.where(is_phase(step, STEPS), taken, x)
        moved = np.where(_resets(block, inputs), start, moved)
        moved = np.where(is_phase(step, STOPS), computed, moved)
        for reset in resets[: block._gate.kept]:
            moved = np.where(is_phase(reset, ON), start, moved)
        return moved

    return switch


def stepped_watch(block: Any, t: Any, inputs: list[Any], x: Any) -> list[Any]:
    step, _, _ = _gates(block, inputs)
    steps = np.logical_or(is_phase(step, STOPS), is_phase(step, STEPS))
    return [np.where(np.logical_or(steps, _resets(block, inputs)), 1.0, -1.0)]


def stepped_nearby(block: Any, x: Any, spread: float, rng: Any) -> Any:
    """A random state for a sampled block that steps at a trigger: two random states of the
    original block.
    """
    plain, half = _plain(block), len(x) // 2
    return np.concatenate([plain.nearby(part, spread, rng) for part in (x[:half], x[half:])])


def _rests(block: Any, t: Any, inputs: list[Any], x: Any) -> Any:
    return np.zeros(len(x))


def _start(block: Any) -> Any:
    return block._start


# --- classes -------------------------------------------------------------------------------


def gated(block: Any, gate: Gate, kind: str) -> Any:
    """The gated copy of a block. kind: bdsim's class of the block."""
    steps = gate.stepping
    cls: Any = type(block)
    twin = object.__new__(_gated_class(cls, kind, bool(gate.resets), steps))
    twin.__dict__.update(block.__dict__, _gate=gate, _ungated=block)
    if kind in ("continuous", "sampled"):
        start = np.ravel(np.asarray(block.getstate0(), dtype=float))
        start = np.tile(start, 2) if steps else start
        twin.__dict__[RESTART] = start
        if steps:
            twin.__dict__.update(_nstates=len(start), _ndstates=0)
            twin.__dict__["_feedthrough"] = block._feedthrough or gate.after
    return twin


def _member(cls: type[Any], name: str, wrap: Callable[[Method], Method]) -> Any:
    """A gated method; or a property that returns it, if the class has the method only for some
    blocks.
    """
    found = getattr_static(cls, name)
    if not isinstance(found, property):
        return wrap(getattr(cls, name))

    def of_block(block: Any) -> Method:
        own = getattr(_plain(block), name)
        return partial(wrap(lambda _, *arguments: own(*arguments)), block)

    return property(of_block)


_WRAPS = {
    "output": gated_output,
    "deriv": gated_deriv,
    "next": gated_next,
    "advance": gated_advance,
    "jump": gated_advance,
}


@cache
def _gated_class(cls: type[Any], kind: str, resets: bool, steps: bool) -> type[Any]:
    """The gated class for a class of blocks. Except for resets, no methods are added that the
    class does not have.
    """
    members: dict[str, Any] = {"ungated": cls, "__doc__": cls.__doc__}
    if kind == "sampled" and steps:
        members |= {
            "output": stepped_output(cls.output, cls.next),
            "deriv": _rests,
            "watch": stepped_watch,
            "switch": stepped_switch(cls.next),
            "getstate0": _start,
            "told": (),
        }
        if hasattr(cls, "nearby"):
            members["nearby"] = stepped_nearby
        return type(cls.__name__, (cls,), members)
    for name, wrap in _WRAPS.items():
        if hasattr(cls, name):
            members[name] = _member(cls, name, wrap)
    if hasattr(cls, "watch") or resets:
        members["watch"] = gated_watch(getattr(cls, "watch", None))
    if hasattr(cls, "switch") or resets:
        members["switch"] = gated_switch(getattr(cls, "switch", None))
        if not hasattr(cls, "switch"):
            members["told"] = ()
    return type(cls.__name__, (cls,), members)
