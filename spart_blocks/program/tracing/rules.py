"""Rules by which bdsim 1.4's blocks become expressions.

A block of ours, or of a user, is traced by running its own code. bdsim's blocks have a
rule each: their code branches on time or data, or means different things for numbers,
lists and arrays. A block that cannot be an expression of numbers has a reason instead.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, Literal

import numpy as np

from spart_blocks.base.curves.intervals import Intervals
from spart_blocks.base.curves.piecewise import highest_first
from spart_blocks.block_support.ports import attribute
from spart_blocks.diagram.network import gates
from spart_blocks.formulas.crossings import settled
from spart_blocks.program.tracing.array_functions import linear_pieces, piece
from spart_blocks.program.tracing.lookup_tables import LARGEST_TABLE
from spart_blocks.program.tracing.symbol import (
    Condition,
    Symbol,
    TraceError,
    box,
    floor,
    if_else,
    is_number,
    unbox,
)

Output = Callable[[Any, Any, list[Any], Any], list[Any]]
Change = Callable[[Any, Any, list[Any], Any], Any]


@dataclass(frozen=True)
class Rule:
    """How a block is traced.

    output, deriv, next, switch: methods (block, t, inputs, state) that replace the block's own;
    None keeps these. watch: zero-crossing values. edges: (first, period) of every series of times
    [s] at which a source switches; period 0 for a single time. project (block, state): the state
    projected onto its constraints. tunable: attributes that become parameters. corrects: for which
    blocks deriv and output replace the block's own also with numbers. reason: why a block cannot
    be traced.
    """

    output: Output | None = None
    deriv: Change | None = None
    next: Change | None = None
    watch: Callable[[Any, Any, list[Any], Any], list[Any]] | None = None
    edges: Callable[[Any], list[tuple[Any, Any]]] | None = None
    project: Callable[[Any, Any], Any] | None = None
    tunable: tuple[str, ...] = ()
    corrects: Callable[[Any], bool] | None = None
    reason: str | None = None
    switch: Change | None = None


def correction(block: Any, method: Literal["deriv", "output"] = "deriv") -> Change | None:
    """The replacement of a block's own method that also applies to numbers; None for nearly all
    blocks.
    """
    rule = rule_of(block)
    if rule.corrects is None or not rule.corrects(block):
        return None
    return rule.deriv if method == "deriv" else rule.output


def drifts(block: Any) -> bool:
    """Whether a block's state leaves its constraints and its outputs do not correct this."""
    return bool(attribute(block, "drifts", False))


def needs_fixed_steps(block: Any) -> bool:
    """Whether a block advances by a one-step map, so that no solver with error control can
    integrate it.
    """
    return bool(attribute(block, "needs_fixed_steps", False))


def passes_singular(block: Any) -> bool:
    """Whether a block continues through poses where its equations are singular, which few solvers
    pass correctly."""
    return bool(attribute(block, "passes_singular", False))


def random_entries(block: Any, size: int) -> int:
    """The number of leading entries of a block's state (size,) that are random sequences, in the
    form of `random_numbers`. For a random block without the attribute `random_entries` these are
    all entries.
    """
    return (
        int(attribute(block, "random_entries", size)) if attribute(block, "is_random", False) else 0
    )


def _vector(value: Any) -> Any:
    return np.ravel(np.asanyarray(value) if not isinstance(value, Symbol) else box(value))


def _bare(x: Any) -> Any:
    """A vector of length 1 as a scalar, as bdsim's blocks with states return it."""
    return x[0] if np.size(x) == 1 else x


# --- connections and functions -----------------------------------------------------------


def _mux(block: Any, t: Any, inputs: list[Any], x: Any) -> list[Any]:
    return [np.concatenate([_vector(value) for value in inputs])]


def _index(block: Any, t: Any, inputs: list[Any], x: Any) -> list[Any]:
    picked = [inputs[0][i] for i in block.index]
    return picked if len(picked) == 1 else [unbox(np.array(picked))]


_TURN = 2 * np.pi


def _colatitude(angle: Any) -> Any:
    angle = abs(angle)
    turns = floor(angle / np.pi)
    odd = turns - 2 * floor(turns / 2)
    return if_else(odd == 0, angle - turns * np.pi, (turns + 1) * np.pi - angle)


# spatialmath's wrap_mpi_pi, wrap_0_2pi and wrap_0_pi.
_WRAP: dict[str, Callable[[Any], Any]] = {
    "r": lambda angle: angle,
    "c": lambda angle: (angle + np.pi) % _TURN - np.pi,
    "C": lambda angle: angle - _TURN * floor(angle / 2.0 / np.pi),
    "L": _colatitude,
    "l": _colatitude,
}


def _sum(block: Any, t: Any, inputs: list[Any], x: Any) -> list[Any]:
    total = inputs[0] if block.signs[0] == "+" else -inputs[0]
    for sign, value in zip(block.signs[1:], inputs[1:], strict=True):
        total = total + value if sign == "+" else total - value
    if block.mode is None:
        return [total]
    if np.ndim(total) == 0:
        return [_WRAP[block.mode[0]](total)]
    if len(block.mode) != len(total):
        raise ValueError(f"mode {block.mode!r} for a sum of length {len(total)}")
    wrapped = [
        [_WRAP[m](entry) for entry in np.ravel(row)]
        for m, row in zip(block.mode, total, strict=True)
    ]
    return [_bare(unbox(np.array(wrapped).reshape(np.shape(total))))]


def _pow(block: Any, t: Any, inputs: list[Any], x: Any) -> list[Any]:
    if not (block.matrix and isinstance(inputs[0], np.ndarray)):
        return [inputs[0] ** block.p]
    if not isinstance(block.p, int):
        raise TraceError("a fractional power of a matrix is not traced")
    return [np.linalg.matrix_power(inputs[0], block.p)]


def _clip(block: Any, t: Any, inputs: list[Any], x: Any) -> list[Any]:
    return [np.clip(inputs[0], block.min, block.max)]


def _clip_watch(block: Any, t: Any, inputs: list[Any], x: Any) -> list[Any]:
    return [
        value
        for limit in (block.min, block.max)
        if limit is not None and not _infinite(limit)
        for value in np.ravel(box(inputs[0]) - np.asarray(limit))
    ]


def _infinite(limit: Any) -> bool:
    return is_number(limit) and bool(np.isinf(limit))


def _function(block: Any, t: Any, inputs: list[Any], x: Any) -> list[Any]:
    """A FUNCTION block. bdsim's own code turns every TypeError of the function into one about its
    arguments.
    """
    if block.userdata is not None:
        raise TraceError("its function keeps a memory of its own (persistent=True)")
    if not callable(block.func):
        return [f(*inputs, *block.args, **block.kwargs) for f in block.func]
    value = block.func(*inputs, *block.args, **block.kwargs)
    out = list(value) if isinstance(value, (list, tuple)) else [value]
    if len(out) != block.nout:
        raise TraceError(f"its function gives {len(out)} values for {block.nout} outputs")
    return out


def _interpolate(block: Any, t: Any, inputs: list[Any], x: Any) -> list[Any]:
    """SciPy's interp1d. Outside its table the result is NaN, where interp1d raises an error."""
    table = block.f
    columns = table.y.reshape(len(table.x), -1)
    where = box(t if block.time else inputs[0])
    first, last = float(table.x[0]), float(table.x[-1])
    out = np.empty((where.size, columns.shape[1]), dtype=object)
    large = len(table.x) > LARGEST_TABLE
    values = _splined if table._kind == "spline" else _called if large else _chosen
    for i, point in enumerate(where.flat):
        outside = np.logical_or(point < first, point > last)
        for k, value in enumerate(values(table, columns, point)):
            out[i, k] = if_else(outside, np.nan, value)
    return [unbox(out.reshape(where.shape + table.y.shape[1:]))]


def _chosen(table: Any, columns: Any, point: Any) -> Any:
    """The value of each column of a small table, as a tree of choices."""
    for starts, pieces in _pieces(table, columns, point):
        yield piece(point, starts, pieces)


def _called(table: Any, columns: Any, point: Any) -> Any:
    """The value of each column of a large table, by calls that search."""
    if table._kind == "linear":
        yield from (np.interp(point, table.x, y) for y in columns.T)
    else:
        for starts, held in _pieces(table, columns, point):
            rising = np.flatnonzero(np.diff(starts, prepend=-np.inf) > 0)
            yield Intervals(np.asarray(starts)[rising]).pick(point, np.asarray(held)[rising])[0]


def _pieces(table: Any, columns: Any, point: Any) -> Any:
    """For each column of values: the starts of the pieces of the interpolant, and the pieces as
    functions of the point.
    """
    x, kind = table.x, table._kind
    for y in columns.T:
        if kind == "linear":
            yield x, [*linear_pieces(point, x, y), y[-1]]
        elif kind == "previous":
            yield x, list(y)
        elif kind == "next":
            # Each value holds up to and with its own point.
            yield [x[0], *np.nextafter(x[:-1], np.inf)], list(y)
        else:
            edges = x[1:] / 2.0 + x[:-1] / 2.0
            edges = np.nextafter(edges, np.inf) if kind == "nearest" else edges
            yield [x[0], *edges], list(y)


def _splined(table: Any, columns: Any, point: Any) -> Any:
    """The value of each column of a table with spline interpolation."""
    from scipy.interpolate import BSpline, PPoly

    spline = table._spline
    for column, y in zip(spline.c.reshape(len(spline.c), -1).T, columns.T, strict=True):
        pieces = PPoly.from_spline(BSpline(spline.t, column, spline.k))
        kept = np.flatnonzero(np.diff(pieces.x) > 0)
        inside = highest_first(pieces.x[kept], pieces.c[:, kept]).at(point)[0]
        yield if_else(point >= float(table.x[-1]), y[-1], inside)


# --- sources -------------------------------------------------------------------------------


def _constant(block: Any, t: Any, inputs: list[Any], x: Any) -> list[Any]:
    value = block.value
    if not (isinstance(value, (Symbol, np.ndarray)) or is_number(value)):
        raise TraceError(f"its value is a {type(value).__name__}, not numbers")
    return [value]


def _step(block: Any, t: Any, inputs: list[Any], x: Any) -> list[Any]:
    return [np.where(t >= block.T, block.on, block.off)]


def _ramp(block: Any, t: Any, inputs: list[Any], x: Any) -> list[Any]:
    on = np.asarray(block.slope) * (t - block.T) + np.asarray(block.off)
    return [np.where(t >= block.T, on, block.off)]


def _waveform(block: Any, t: Any, inputs: list[Any], x: Any) -> list[Any]:
    if block.wave in ("square", "triangle"):
        t = settled(t)
    phase = (t * block.freq - block.phase) % 1.0
    if block.wave == "square":
        out = if_else(phase < block.duty, 1.0, -1.0)
    elif block.wave == "triangle":
        falling = if_else(phase < 0.75, 1 - 4 * (phase - 0.25), -1 + 4 * (phase - 0.75))
        out = if_else(phase < 0.25, phase * 4, falling)
    else:
        out = np.sin(phase * 2 * np.pi)
    return [out * block.amplitude + block.offset]


def _piecewise(block: Any, t: Any, inputs: list[Any], x: Any) -> list[Any]:
    # bdsim counts the times gone by, and takes the last value before the first of them.
    count = sum(if_else(t >= start, 1.0, 0.0) for start in block.t)
    starts = [-np.inf, *range(1, len(block.t) + 1)]
    values = box(np.array([block.y[-1], *block.y], dtype=object))
    columns = values.reshape(len(values), -1).T
    out = np.array([piece(count, starts, list(column)) for column in columns], dtype=object)
    return [unbox(out.reshape(values.shape[1:]))]


def _step_edges(block: Any) -> list[tuple[Any, Any]]:
    return [(block.T, 0.0)]


def _piecewise_edges(block: Any) -> list[tuple[Any, Any]]:
    return [(t, 0.0) for t in block.t]


def _table_edges(block: Any) -> list[tuple[Any, Any]]:
    """The times at which a table by time has a kink or jumps: its points, or for 'nearest' the
    times between them.
    """
    if not block.time:
        return []
    points = np.asarray(block.f.x, dtype=float)
    between = (points[1:] + points[:-1]) / 2 if block.f._kind.startswith("nearest") else []
    return [(float(t), 0.0) for t in (*points, *between) if np.isfinite(t)]


def _waveform_edges(block: Any) -> list[tuple[Any, Any]]:
    fractions = {"square": (0.0, block.duty), "triangle": (0.25, 0.75)}.get(block.wave, ())
    # The first of each series lies within the first period, whatever the phase; a wave of
    # negative frequency runs backwards.
    sign = if_else(block.freq > 0, 1.0, -1.0)
    period = sign / block.freq
    return [((block.phase + f) * sign % 1.0 * period, period) for f in fractions]


# --- states --------------------------------------------------------------------------------


def _state(block: Any, t: Any, inputs: list[Any], x: Any) -> list[Any]:
    return [_bare(x)]


def _integrator_deriv(block: Any, t: Any, inputs: list[Any], x: Any) -> Any:
    """The input, or zero if it would drive the state beyond a limit. bdsim 1.4 zeroes any input
    beyond a limit, so that the state never returns.
    """
    rate = block.gain * _vector(inputs[0])
    if block.min is not None:
        rate = np.where(np.logical_and(box(x) <= block.min, box(rate) < 0), 0.0, rate)
    if block.max is not None:
        rate = np.where(np.logical_and(box(x) >= block.max, box(rate) > 0), 0.0, rate)
    return rate


def _limited(block: Any) -> bool:
    return block.min is not None or block.max is not None


def _integrator_watch(block: Any, t: Any, inputs: list[Any], x: Any) -> list[Any]:
    above = [] if block.max is None else list(np.ravel(box(x) - np.asarray(block.max)))
    below = [] if block.min is None else list(np.ravel(np.asarray(block.min) - box(x)))
    return above + below


def _integrator_project(block: Any, x: Any) -> Any:
    if not _limited(block):
        return x
    return np.clip(x, block.min, block.max)


def _integrator_next(block: Any, t: Any, inputs: list[Any], x: Any) -> Any:
    after = x + block.gain * block.T * _vector(inputs[0])
    if _limited(block):
        after = np.clip(after, block.min, block.max)
    if block.enable is not None:
        after = np.where(block.enable(t, inputs, x), after, 0.0)
    return after


def _deriv_output(block: Any, t: Any, inputs: list[Any], x: Any) -> list[Any]:
    return [_bare(block.gain * (_vector(inputs[0]) - x) / block.T)]


def _hold(block: Any, t: Any, inputs: list[Any], x: Any) -> Any:
    return _vector(inputs[0])


def _lti_output(block: Any, t: Any, inputs: list[Any], x: Any) -> list[Any]:
    y = block.C @ x
    if block.D is not None:
        y = y + block.D @ np.concatenate([_vector(u) for u in inputs])
    return [_bare(y)]


def _lti_change(block: Any, t: Any, inputs: list[Any], x: Any) -> Any:
    return block.A @ x + block.B @ np.concatenate([_vector(u) for u in inputs])


# --- sinks ---------------------------------------------------------------------------------


def _stop_watch(block: Any, t: Any, inputs: list[Any], x: Any) -> list[Any]:
    """The crossing of STOP, which acts if its signal, or its function of the signal, is true or
    positive.
    """
    value = inputs[0] if block.stopfunc is None else block.stopfunc(inputs[0])
    value = _alone(value)
    if isinstance(value, (bool, np.bool_)):
        return [1.0 if value else -1.0]
    return [if_else(value, 1.0, -1.0) if isinstance(value, Condition) else value]


def _event_watch(block: Any, t: Any, inputs: list[Any], x: Any) -> list[Any]:
    return [_alone(inputs[0])]


def _alone(value: Any) -> Any:
    if np.size(value) != 1:
        raise ValueError(f"it watches one number, its signal has shape {np.shape(value)}")
    return np.ravel(value)[0] if isinstance(value, np.ndarray) else value


# --- the table -----------------------------------------------------------------------------

OWN = Rule()
"""The block's own code works with symbols; the check after tracing confirms it."""
SINK = Rule()
"""The block has no outputs; the engine gives it its inputs as numbers."""
OPENED = Rule()
"""A subsystem; its inner blocks are traced in its place."""


def _no(reason: str) -> Rule:
    return Rule(reason=reason)


_POSE = "it passes SE3 or SO3 objects, not arrays of numbers"
_INTEGRATOR_S = Rule(_state, next=_integrator_next, tunable=("gain", "min", "max"))

RULES: dict[str, Rule] = {
    "connections.Mux": Rule(_mux),
    "connections.DeMux": OWN,
    "connections.Index": Rule(_index),
    "connections.InPort": OPENED,
    "connections.OutPort": OPENED,
    "connections.SubSystem": OPENED,
    "connections.Item": _no("it picks from a dictionary"),
    "connections.Dict": _no("its output is a dictionary"),
    "continuous.Integrator": Rule(
        _state,
        _integrator_deriv,
        watch=_integrator_watch,
        project=_integrator_project,
        tunable=("gain", "min", "max"),
        corrects=_limited,
    ),
    "continuous.LTI_SS": Rule(_lti_output, _lti_change),
    "continuous.LTI_SISO": Rule(_lti_output, _lti_change),
    "continuous.Deriv2": Rule(_lti_output, _lti_change),
    "continuous.Deriv": OPENED,
    "continuous.PID": OPENED,
    "displays.Scope": SINK,
    "displays.ScopeXY": SINK,
    "displays.ScopeXY1": SINK,
    "displays.Animation": SINK,
    "functions.Sum": Rule(_sum),
    "functions.Prod": OWN,
    "functions.Gain": Rule(tunable=("K",)),
    "functions.Pow": Rule(_pow),
    "functions.Clip": Rule(_clip, watch=_clip_watch, tunable=("min", "max")),
    "functions.Function": Rule(_function),
    "functions.Interpolate": Rule(_interpolate, edges=_table_edges),
    "linalg.Inverse": OWN,
    "linalg.Transpose": OWN,
    "linalg.Norm": OWN,
    "linalg.Flatten": OWN,
    "linalg.Slice1": OWN,
    "linalg.Slice2": OWN,
    "linalg.Det": OWN,
    "linalg.Cond": OWN,
    "sampled.ZOH": Rule(_state, next=_hold),
    "sampled.Integrator_S": _INTEGRATOR_S,
    "sampled.DIntegrator": _INTEGRATOR_S,
    "sampled.Deriv_S": Rule(_deriv_output, next=_hold, tunable=("gain",)),
    "sampled.LTI_SS_S": Rule(_lti_output, next=_lti_change),
    "sampled.LTI_SISO_S": Rule(_lti_output, next=_lti_change),
    "sampled.PID_S": OPENED,
    "sinks.Print": SINK,
    "sinks.Stop": Rule(watch=_stop_watch),
    "sinks.Event": Rule(watch=_event_watch),
    "sinks.Null": SINK,
    "sinks.Watch": SINK,
    "sources.Constant": Rule(_constant, tunable=("value",)),
    "sources.Time": OWN,
    "sources.Step": Rule(_step, edges=_step_edges, tunable=("T", "on", "off")),
    "sources.Ramp": Rule(_ramp, edges=_step_edges, tunable=("T", "slope", "off")),
    "sources.WaveForm": Rule(
        _waveform,
        edges=_waveform_edges,
        corrects=lambda block: block.wave in ("square", "triangle"),
        tunable=("freq", "phase", "duty", "amplitude", "offset"),
    ),
    "sources.Piecewise": Rule(_piecewise, edges=_piecewise_edges, tunable=("t", "y")),
    "spatial.Pose_postmul": _no(_POSE),
    "spatial.Pose_premul": _no(_POSE),
    "spatial.Transform_vector": _no(_POSE),
    "spatial.Pose_inverse": _no(_POSE),
    "spatial.PoseIntegrator": _no(_POSE),
    "spatial.PoseIntegrator_S": _no(_POSE),
    "spatial.DPoseIntegrator": _no(_POSE),
}


def rule_of(block: Any) -> Rule:
    """How to trace a block. A block of bdsim that is not in RULES gets a rule that refuses it, with
    the reason.
    """
    kind: Any = type(block)
    rule = _bdsim_rule(kind)
    if rule is not None:
        gate = gates.gate_of(block)
        return rule if gate is None else _gated(rule, gate)
    return Rule(
        watch=_own_watch if attribute(block, "watch") is not None else None,
        edges=_own_edges if attribute(block, "edges") is not None else None,
        tunable=tuple(attribute(block, "tunable", ())),
        # A block that calls what cannot be traced says so in `untraced`.
        reason=attribute(block, "untraced"),
    )


@cache
def _bdsim_rule(kind: type[Any]) -> Rule | None:
    """The rule of a class of bdsim, or of one that is gated; None for other classes."""
    kind = getattr(kind, "ungated", kind)
    if not kind.__module__.startswith("bdsim.blocks."):
        return None
    key = f"{kind.__module__.removeprefix('bdsim.blocks.')}.{kind.__name__}"
    return RULES.get(key) or _no("it has no rule yet")


def _gated(rule: Rule, gate: gates.Gate) -> Rule:
    """The rule of a gated block."""
    if gate.stepping:
        step = rule.next or (lambda block, *arguments: block.next(*arguments))
        return replace(
            rule,
            output=rule.output and gates.stepped_output(rule.output, step),
            watch=gates.stepped_watch,
            switch=rule.next and gates.stepped_switch(rule.next),
            next=None,
        )
    return replace(
        rule,
        output=rule.output and gates.gated_output(rule.output),
        deriv=rule.deriv and gates.gated_deriv(rule.deriv),
        next=rule.next and gates.gated_next(rule.next),
        watch=gates.gated_watch(rule.watch) if rule.watch or gate.resets else None,
    )


def _own_watch(block: Any, t: Any, inputs: list[Any], x: Any) -> list[Any]:
    return list(block.watch(t, inputs, x))


def _own_edges(block: Any) -> list[tuple[Any, Any]]:
    return list(block.edges())
