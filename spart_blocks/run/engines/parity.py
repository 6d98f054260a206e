"""Compares a program with the blocks that it was traced from, at random states and times."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

import numpy as np

from spart_blocks.base.errors import RunError, SpartError
from spart_blocks.base.random_numbers import NUMBERS, states_of
from spart_blocks.block_support.ports import attribute
from spart_blocks.diagram.diagram import Diagram
from spart_blocks.diagram.network.flatten import FlatDiagram, Node
from spart_blocks.program import Program, TraceError, trace
from spart_blocks.program.tracing.rules import random_entries
from spart_blocks.run.engines.alike import Alike
from spart_blocks.run.engines.engine import Floats
from spart_blocks.run.engines.held_outputs import Values
from spart_blocks.run.engines.interpreter import Failing, Interpreter
from spart_blocks.run.engines.loop_solutions import warn_of_solutions
from spart_blocks.run.engines.native import Native

# --- Random states --------------------------------------------------------------------------------


SPREAD = 0.3
"""Standard deviation of random states around the given ones, for blocks without a
method `nearby`.
"""


def random_states(
    blocks: Interpreter, x: Floats, xd: Floats, rng: np.random.Generator
) -> tuple[Floats, Floats]:
    """Random states near x and xd.

    A block whose state has constraints makes it by its method `nearby(x, spread, rng)`. Raises
    RunError if this has the wrong shape.
    """
    near = tuple(s + rng.normal(scale=SPREAD, size=len(s)) for s in (x, xd))
    for which, name, part in blocks.constrained:
        near[which][part] = _nearby(blocks, name, (x, xd)[which][part], near[which][part], rng)
    return near[0], near[1]


def _nearby(
    blocks: Interpreter, name: str, x: Floats, near: Floats, rng: np.random.Generator
) -> Floats:
    """A random valid state of a block near x. near: an unconstrained random state."""
    node = blocks.node[name]
    count = random_entries(node.block, len(x))
    if count:  # generators of random numbers have whole numbers
        words = rng.integers(2**32, size=(count // NUMBERS, NUMBERS)).astype(float)
        return np.concatenate([states_of(words).ravel(), near[count:]])
    own: Any = attribute(node.block, "nearby")
    if own is None:
        return near
    with Failing(node, "nearby", 0.0):
        found: Floats = np.asarray(own(x.copy(), SPREAD, rng), dtype=float)
    if found.shape != x.shape:
        text = f"nearby gives {found.shape}, its state is {x.shape}"
        raise RunError(text, block=name, place=node.place)
    return found


CHECKED_POINTS = 20
EVERYWHERE = 3
"""Number of points, the start among them, at which all blocks are compared. At the others a few of
those that are alike are, others each time, for the signals that the program gives.
"""
AGREEMENT = 1e-10
ROUNDED = 100.0
"""Largest difference by rounding in units of the last place, times the largest gain of a block."""
OWN_STEP = 1e-3  # s


def native_engine(diagram: Diagram, wiring: FlatDiagram, program: Program | None = None) -> Native:
    """Trace a diagram, and check the program against the interpreter. program: that of the diagram,
    if it is known.

    Raises DiagramError for wires of a wrong shape. Raises TraceError if a block cannot be traced,
    or if the program differs from the blocks; it names the first such block.
    """
    blocks = Interpreter(diagram, wiring)
    # A block traced with a wrong shape fails without naming its wire.
    # Blocks that fail at the start for another reason are reported when the run begins.
    with suppress(RunError):
        blocks.check_shapes(0.0, *blocks.initial())
    # The functions of EVENT blocks are called by the blocks, since they may have side effects.
    engine = Native(program or trace(diagram, wiring, resets=False), lambda: blocks)
    check(engine, blocks)
    warn_of_solutions(blocks)
    return engine


def check(native: Native, blocks: Interpreter) -> None:
    """Compare all signals, derivatives, ticks, modes, restarts and zero-crossing values with those
    of the blocks.

    At the first EVERYWHERE points all blocks are compared, at the others a few of those that are
    alike. The states are valid ones (`random_states`). Points at which the blocks fail or give a
    number that is not finite are skipped.
    """
    gains = [float(attribute(node.block, "rounding_gain", 1.0)) for node in blocks.nodes]
    within = max(AGREEMENT, ROUNDED * np.finfo(float).eps * max(gains, default=1.0))
    rng = np.random.default_rng(0)
    modes = {k: c.block for k, c in enumerate(blocks.crossings) if c.kind == "mode"}
    x0, xd0 = blocks.initial()
    nodes = [blocks.nodes[i] for i in blocks.wiring.schedule]
    alike: Alike | None = None
    with np.errstate(all="ignore"):
        for k in range(CHECKED_POINTS):
            t = 0.0 if k == 0 else float(rng.uniform(0, native.run.T))
            moved = random_states(blocks, x0, xd0, rng)
            x, xd = moved if k else (x0, xd0)
            y = native.outputs(t, x, xd)
            few = None if alike is None or k < EVERYWHERE else alike.few(k, y)
            try:
                if alike is None or few is None:
                    values = blocks.outputs(t, x, xd) if k else blocks.start_outputs
                    slopes = blocks.derivative_of(values, t, x)
                else:
                    values = blocks.some_outputs(few, alike.known(y), t, x, xd)
                    slopes = blocks.some_derivatives(few, native.rates(t, x, xd), values, t, x)
                changes = {"derivatives": slopes}
                changes["watched values"] = blocks.watch_of(values, t, x, xd)
                changes["projections"] = blocks.project(t, x)
                changes["own steps"] = _joined(blocks.advance(t, OWN_STEP, x, xd))
            except SpartError:
                continue
            if _ends(blocks, changes["watched values"]):
                continue
            _check_signals(native, few or nodes, values, t, y, within)
            alike = alike or Alike(native, blocks, values)
            got = {
                "derivatives": native.rates(t, x, xd),
                "watched values": native.watch(t, x, xd),
                "projections": native.project(t, x),
                "own steps": _joined(native.advance(t, OWN_STEP, x, xd)),
            }
            for clock in native.clocks:
                with suppress(SpartError):
                    at = blocks.outputs(t, x, xd, [clock]) if blocks.holds else values
                    changes[f"ticks of clock {clock.name}"] = blocks.tick_of(at, t, xd, [clock])
                got[f"ticks of clock {clock.name}"] = native.moved(clock, t, x, xd)
            for k, block in modes.items():
                with suppress(SpartError):
                    changes[f"modes of {block}"] = blocks.reset(k, t, x, xd)[0]
                    got[f"modes of {block}"] = native.reset(k, t, x, xd)[0]
            if (restarted := native.program.restarted) is not None:
                with suppress(SpartError):
                    changes["restarts"] = np.concatenate(blocks.restarted(t, x, xd))
                got["restarts"] = np.array(
                    restarted(t, x, xd, native.program.p), dtype=float
                ).ravel()
            for what, want in changes.items():
                if not _agree(got[what], want, within):
                    whose = _whose(blocks, what, got[what], want, within)
                    raise TraceError(f"the {what}{whose} differ between {_BOTH} at t = {t:.6g} s")


def _ends(blocks: Interpreter, watched: Floats) -> bool:
    """Whether an algebraic loop has no solution at a point, so that its signals are meaningless."""
    faults = [k for k, c in enumerate(blocks.crossings) if c.unsolved]
    return bool((watched[faults] > 0).any())


_BOTH = "the program and the blocks"


def _whose(blocks: Interpreter, what: str, got: Floats, want: Floats, within: float) -> str:
    """The name of the block of the first entry that differs."""
    if np.shape(got) != np.shape(want):
        return ""
    parts: Mapping[str, slice] = blocks.sampled if "ticks" in what else blocks.continuous
    held = {one.name: one.block for one in blocks.holds}
    nx = max((part.stop for part in parts.values()), default=0)
    if what == "watched values":
        parts = {c.block: slice(k, k + 1) for k, c in reversed(list(enumerate(blocks.crossings)))}
    elif what == "own steps" or what.startswith("modes of"):
        return ""
    elif what == "restarts":
        later = {n: slice(p.start + nx, p.stop + nx) for n, p in blocks.sampled.items()}
        parts = {**parts, **later}
    for name, part in sorted(parts.items(), key=lambda item: item[1].start):
        if not _agree(got[part], want[part], within):
            name = held.get(name, name)
            kind = blocks.node[name].type
            return f" of {name} ({kind})"
    return ""


def _joined(parts: Mapping[str, Floats]) -> Floats:
    return np.concatenate([np.zeros(0), *parts.values()])


def _check_signals(
    native: Native, nodes: Sequence[Node], values: Values, t: float, y: Any, within: float
) -> None:
    flat: list[Any] = []
    shaped = False
    for node in nodes:
        for value in values[node.index]:
            if isinstance(value, float):
                flat.append(value)
            else:
                flat += np.ravel(value).tolist()
                shaped = True
    want = np.array(flat)
    # One comparison for all; signal by signal only if that fails, for the shapes at the start, and
    # for a few.
    if (t or not shaped) and want.shape == y.shape:
        near = np.abs(y - want) <= within * np.maximum(1.0, np.abs(want))
        if (near | ~np.isfinite(want)).all():
            return
    for node in nodes:
        for port, value in enumerate(values[node.index]):
            slot = native.slot[node.output_name(port)]
            got = y[slot.part].reshape(slot.shape)
            if not _agree(got, value, within):
                raise TraceError(
                    f"signal {slot.name} ({node.type}) differs between its "
                    f"expression and its block at t = {t:.6g} s: {_worst(got, value)}"
                )


def _agree(a: Any, b: Any, within: float) -> bool:
    a, b = np.asarray(a, float), np.asarray(b, float)
    if a.shape != b.shape:
        return bool(a.size == b.size == 1 and _agree(a.ravel(), b.ravel(), within))
    known = np.isfinite(b)
    if not known.any():
        return True
    a, b = a[known], b[known]
    return bool(np.abs(a - b).max() <= within * max(1.0, np.abs(b).max()))


def _worst(a: Any, b: Any) -> str:
    a, b = np.asarray(a, float), np.asarray(b, float)
    if a.shape != b.shape:
        return f"shape {a.shape} and {b.shape}"
    return f"they are {np.abs(a - b).max():.3g} apart"
