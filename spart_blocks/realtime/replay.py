"""Computes the steps of a recorded loop again, from its recorded inputs and parameters."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from math import prod
from pathlib import Path
from typing import Any

import numpy as np

from spart_blocks.base.errors import Fault, InputError
from spart_blocks.export.interface import numbers_of
from spart_blocks.export.step import StepCode
from spart_blocks.realtime.exchange import Floats
from spart_blocks.realtime.library import model_library
from spart_blocks.realtime.recorder import PARAMETERS, STEPS
from spart_blocks.realtime.session import Prepared
from spart_blocks.results.files import MAX_BYTES
from spart_blocks.results.logs.files import opened_mcap
from spart_blocks.results.logs.log import Channel
from spart_blocks.results.logs.mcap_log import McapLog
from spart_blocks.results.logs.rows import read_rows
from spart_blocks.results.logs.signals import RecordedSignals


@dataclass(frozen=True)
class Difference:
    """Where outputs differ: the time t [s] of the step, the signal, and its values."""

    t: float
    signal: str
    recorded: Floats
    computed: Floats


@dataclass(frozen=True)
class Replayed:
    """The steps of a recording, computed again. steps: their number; differing: the number of those
    with other outputs. first: the first difference, None if all outputs are equal bit for bit."""

    steps: int
    differing: int
    first: Difference | None

    @property
    def message(self) -> str:
        """What was found, as text."""
        if self.first is None:
            return f"all {self.steps} steps have the recorded outputs, bit for bit"
        first = self.first
        return (
            f"{self.differing} of {self.steps} steps have other outputs; the first at t = "
            f"{first.t:.9g} s, where {first.signal} was {_text(first.recorded)}, and is now "
            f"{_text(first.computed)}"
        )


def _text(values: Floats) -> str:
    return np.array2string(np.asarray(values), precision=9, separator=", ", threshold=8)


@dataclass(frozen=True)
class RecordedSteps:
    """The steps of a loop: their times t (k,) [s], inputs u (k, n), outputs y (k, m), the number of
    each step's parameters (k,), and the parameters by number, inputs behind them."""

    t: Floats
    u: Floats
    y: Floats
    tuning: Floats
    parameters: Mapping[int, Floats]


def replay(prepared: Prepared, path: str | Path) -> Replayed:
    """Compute the steps of a recorded loop again, as `prepare` has compiled it, and compare the
    outputs with the recorded ones.

    Raises InputError for a recording of other signals or parameters, or one with missing steps.
    """
    code = prepared.code
    recorded = read_steps(Path(path), code)
    u, y = recorded.u, recorded.y
    library = model_library(code)
    state = np.zeros(-(-library.sb_state_size() // 8), np.int64)
    out = np.zeros(max(1, y.shape[1]))
    p = recorded.parameters[0]
    library.sb_init(state.ctypes.data, p.ctypes.data)
    differing, first = 0, None
    for k in range(len(recorded.t)):
        p = recorded.parameters[int(recorded.tuning[k])]
        inputs = np.ascontiguousarray(u[k]) if u.shape[1] else np.zeros(1)
        library.sb_output(state.ctypes.data, inputs.ctypes.data, p.ctypes.data, out.ctypes.data)
        if out[: y.shape[1]].tobytes() != y[k].tobytes():
            differing += 1
            first = first or _difference(code, float(recorded.t[k]), y[k], out)
        library.sb_update(state.ctypes.data, inputs.ctypes.data, p.ctypes.data)
    return Replayed(len(recorded.t), differing, first)


def _difference(code: StepCode, t: float, recorded: Floats, computed: Floats) -> Difference:
    for member in code.interface.outputs:
        part = slice(member.place, member.place + member.size)
        if recorded[part].tobytes() != computed[part].tobytes():
            was, now = (y[part].copy().reshape(member.shape) for y in (recorded, computed))
            return Difference(t, member.name, was, now)
    raise AssertionError("the outputs are equal")


# --- the recording ------------------------------------------------------------------------


def read_steps(path: Path, code: StepCode) -> RecordedSteps:
    """The steps that a loop with this code has recorded. Raises InputError."""
    interface = code.interface
    with opened_mcap(path) as log:
        channels = RecordedSignals(log.channels).channels
        steps, tunings = (_channel(log, key) for key in (STEPS, PARAMETERS))
        members = [*interface.parameters, *interface.inputs]
        told = tunings.metadata[PARAMETERS]
        if json.loads(told) != [[m.name, list(m.shape)] for m in members]:
            hint = "replay it with the diagram, and the --part, that were recorded"
            raise InputError(Fault("its loop has other parameters or inputs", hint=hint))
        missing = [
            member.name
            for member in (*interface.inputs, *interface.outputs)
            if member.name not in channels
        ]
        if missing:
            raise InputError(f"it has no signal {missing[0]}, which the loop has")
        wanted = {channels[m.name]: m.shape for m in (*interface.inputs, *interface.outputs)}
        shapes = {**wanted, steps: (2,), tunings: (1 + numbers_of(members),)}
        rows = {
            channel: (t, numbers.reshape(len(t), prod(shapes[channel])))
            for channel, (t, numbers) in read_rows(log, shapes, MAX_BYTES).items()
        }
    t, told_steps = rows[steps]
    period = float(code.schedule.step)
    if not np.array_equal(t, np.arange(len(t)) * period):
        gap = int(np.flatnonzero(t != np.arange(len(t)) * period)[0])
        text = f"{path}: the steps from t = {gap * period:.9g} s on are not all there, or have "
        raise InputError(text + f"another rate than {float(code.schedule.rate):g} Hz")
    numbers = rows[tunings][1]
    parameters = {int(row[0]): np.ascontiguousarray(row[1:]) for row in numbers}
    lost = set(map(int, told_steps[:, 1])) - parameters.keys()
    if lost:
        raise InputError(f"{path}: the parameters number {min(lost)} are not there")

    def together(members: Any) -> Floats:
        parts = [np.zeros((len(t), 0)), *(rows[channels[m.name]][1][: len(t)] for m in members)]
        return np.concatenate(parts, axis=1)

    u, y = together(interface.inputs), together(interface.outputs)
    return RecordedSteps(t, u, y, told_steps[:, 1], parameters)


def _channel(log: McapLog, key: str) -> Channel:
    for channel in log.channels:
        if key in channel.metadata:
            return channel
    hint = "record it by spart realtime --record"
    raise InputError(Fault("it is no recording of a real-time loop", hint=hint))
