"""How bdsim 1.4's blocks become expressions.

A block of ours, or of a user, is traced by running its own code. bdsim's blocks have a
rule each: their code branches on time or data, or means different things for numbers,
lists and arrays. A block that cannot be an expression of numbers has a reason instead.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from spart_blocks.program.symbol import Symbol, box, floor, if_else, unbox

Output = Callable[[Any, Any, list[Any], Any], list[Any]]


@dataclass(frozen=True)
class Rule:
    """The methods of a block for tracing, each (block, t, inputs, state); a missing one is
    the block's own. tunable: attributes that become parameters. reason: why a block
    cannot be traced, which ends the trace."""

    output: Output | None = None
    deriv: Callable[[Any, Any, list[Any], Any], Any] | None = None
    next: Callable[[Any, Any, list[Any], Any], Any] | None = None
    tunable: tuple[str, ...] = ()
    reason: str | None = None


OWN = Rule()
"""The block's own code is right on symbols; the check after tracing confirms it."""


def _vector(value: Any) -> Any:
    return np.ravel(np.asarray(value) if not isinstance(value, Symbol) else box(value))


def _bare(x: Any) -> Any:
    """A vector of one as a scalar, as bdsim's stateful blocks give it."""
    return x[0] if np.size(x) == 1 else x


def _mux(block: Any, t: Any, inputs: list[Any], x: Any) -> list[Any]:
    return [np.concatenate([_vector(value) for value in inputs])]


def _demux(block: Any, t: Any, inputs: list[Any], x: Any) -> list[Any]:
    return list(_vector(inputs[0])[: block.nout])


def _clip(block: Any, t: Any, inputs: list[Any], x: Any) -> list[Any]:
    return [np.clip(inputs[0], block.min, block.max)]


def _step(block: Any, t: Any, inputs: list[Any], x: Any) -> list[Any]:
    return [np.where(t >= block.T, block.on, block.off)]


def _ramp(block: Any, t: Any, inputs: list[Any], x: Any) -> list[Any]:
    on = np.asarray(block.slope) * (t - block.T) + np.asarray(block.off)
    return [np.where(t >= block.T, on, block.off)]


def _waveform(block: Any, t: Any, inputs: list[Any], x: Any) -> list[Any]:
    cycles = t * block.freq - block.phase
    phase = cycles - floor(cycles)
    if block.wave == "square":
        out = if_else(phase < block.duty, 1.0, -1.0)
    elif block.wave == "triangle":
        falling = if_else(phase < 0.75, 1 - 4 * (phase - 0.25), -1 + 4 * (phase - 0.75))
        out = if_else(phase < 0.25, phase * 4, falling)
    else:
        out = np.sin(phase * (2 * np.pi))
    return [out * np.asarray(block.amplitude) + np.asarray(block.offset)]


def _integrator_deriv(block: Any, t: Any, inputs: list[Any], x: Any) -> Any:
    rate = _vector(inputs[0])
    if block.min is not None:
        rate = np.where(box(x) < np.asarray(block.min), 0.0, rate)
    if block.max is not None:
        rate = np.where(box(x) > np.asarray(block.max), 0.0, rate)
    return block.gain * rate


def _lti_output(block: Any, t: Any, inputs: list[Any], x: Any) -> list[Any]:
    y = block.C @ x
    if block.D is not None:
        y = y + block.D @ np.concatenate([_vector(u) for u in inputs])
    return [_bare(y)]


def _lti_deriv(block: Any, t: Any, inputs: list[Any], x: Any) -> Any:
    return block.A @ x + block.B @ np.concatenate([_vector(u) for u in inputs])


def _state(block: Any, t: Any, inputs: list[Any], x: Any) -> list[Any]:
    return [_bare(x)]


def _hold(block: Any, t: Any, inputs: list[Any], x: Any) -> Any:
    return _vector(inputs[0])


def _norm(block: Any, t: Any, inputs: list[Any], x: Any) -> list[Any]:
    return [np.linalg.norm(unbox(np.asarray(inputs[0])), ord=block.ord)]


def _flatten(block: Any, t: Any, inputs: list[Any], x: Any) -> list[Any]:
    return [np.ravel(inputs[0], order=block.order)]


def _no(reason: str) -> Rule:
    return Rule(reason=reason)


_POSE = "it passes SE3 or SO3 objects, not arrays of numbers"

RULES: dict[str, Rule] = {
    "connections.Mux": Rule(_mux),
    "connections.DeMux": Rule(_demux),
    "connections.Index": OWN,
    "connections.InPort": OWN,
    "connections.OutPort": OWN,
    "connections.Item": _no("it picks from a dictionary"),
    "connections.Dict": _no("its output is a dictionary"),
    "continuous.Integrator": Rule(_state, _integrator_deriv, tunable=("gain",)),
    "continuous.LTI_SS": Rule(_lti_output, _lti_deriv),
    "continuous.LTI_SISO": Rule(_lti_output, _lti_deriv),
    "continuous.Deriv2": Rule(_lti_output, _lti_deriv),
    "functions.Sum": OWN,
    "functions.Prod": OWN,
    "functions.Gain": Rule(tunable=("K",)),
    "functions.Pow": OWN,
    "functions.Clip": Rule(_clip, tunable=("min", "max")),
    "functions.Function": OWN,
    "linalg.Inverse": OWN,
    "linalg.Transpose": OWN,
    "linalg.Norm": Rule(_norm),
    "linalg.Flatten": Rule(_flatten),
    "linalg.Slice1": OWN,
    "linalg.Slice2": OWN,
    "linalg.Det": OWN,
    "linalg.Cond": _no("a condition number is not an expression of its entries"),
    "sampled.ZOH": Rule(_state, next=_hold),
    "sampled.Integrator_S": OWN,
    "sampled.DIntegrator": OWN,
    "sampled.Deriv_S": OWN,
    "sampled.LTI_SS_S": OWN,
    "sampled.LTI_SISO_S": OWN,
    "sources.Constant": Rule(tunable=("value",)),
    "sources.Time": OWN,
    "sources.Step": Rule(_step, tunable=("on", "off")),
    "sources.Ramp": Rule(_ramp),
    "sources.WaveForm": Rule(_waveform, tunable=("amplitude", "offset")),
    "spatial.Pose_postmul": _no(_POSE),
    "spatial.Pose_premul": _no(_POSE),
    "spatial.Transform_vector": _no(_POSE),
    "spatial.Pose_inverse": _no(_POSE),
    "spatial.PoseIntegrator": _no(_POSE),
    "spatial.PoseIntegrator_S": _no(_POSE),
    "spatial.DPoseIntegrator": _no(_POSE),
}


def rule_of(block: Any) -> Rule:
    """The rule of a block. Those of bdsim without one yet say so."""
    module = type(block).__module__
    if module.startswith("bdsim.blocks."):
        key = f"{module.removeprefix('bdsim.blocks.')}.{type(block).__name__}"
        return RULES.get(key, _no("it has no rule yet"))
    return Rule(tunable=tuple(getattr(block, "tunable", ())))
