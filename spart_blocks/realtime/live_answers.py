"""The answers of a running loop to its clients, and the changes that they can request."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spart_blocks.base.errors import Fault, InputError, brief, did_you_mean
from spart_blocks.base.paths import element_names, look_up, named, places, select
from spart_blocks.export.interface import Member
from spart_blocks.realtime.live_protocol import VERSION, Floats
from spart_blocks.realtime.loop import Loop
from spart_blocks.realtime.structs import Ended, end_text

MOST_PER_SECOND = 1_000_000
"""Most numbers sent to one client per second."""
_DEEPEST = 8


@dataclass(frozen=True)
class Watch:
    """The signals that a client watches.

    names, shapes: of the signals. labels: a name for each element. columns: indices into a row of
    the loop, that of time first. every: the client gets every n-th step.
    """

    names: tuple[str, ...]
    shapes: tuple[tuple[int, ...], ...]
    labels: tuple[str, ...]
    columns: NDArray[np.intp]
    every: int

    def picked(self, rows: Floats, rate: float) -> Floats:
        """The rows and columns that the client gets. rate [Hz]: of the loop. Steps are identified
        by their time, so that missing rows do not shift the selection.
        """
        steps = np.rint(rows[:, 0] * rate).astype(np.int64)
        picked: Floats = rows[steps % self.every == 0][:, self.columns]
        return picked


def hello(loop: Loop, name: str) -> dict[str, Any]:
    """Identity and status of the loop, sent first to a client."""
    return {"protocol": VERSION, "name": name, "pid": os.getpid()} | status(loop)


def status(loop: Loop) -> dict[str, Any]:
    """Status of the loop: its time [s], its rate [Hz], missed deadlines."""
    return {
        "time": loop.time,
        "phase": loop.phase.name.lower(),
        "rate": float(loop.code.schedule.rate),
        "overruns": loop.overruns,
    }


def why(loop: Loop) -> str:
    """The reason why the loop has ended, as text."""
    unknown = loop.ended is Ended.NOT
    return "it can no longer be reached" if unknown else end_text(loop.ended, loop.fault)


# --- parameters --------------------------------------------------------------------------


def described(loop: Loop) -> dict[str, Any]:
    """Its status, parameters and signals, as JSON values."""
    units = loop.code.part.program.display.units
    inputs = {member.name for member in loop.code.interface.inputs}
    signals = [
        {
            "name": column.name,
            "shape": column.shape,
            "unit": units.get(column.name, ""),
            "kind": "input" if column.name in inputs else "output",
        }
        for column in loop.signals.columns
    ]
    return status(loop) | {"parameters": _parameters(loop, units), "signals": signals}


def _parameters(loop: Loop, units: Mapping[str, str]) -> list[dict[str, Any]]:
    parameters = loop.parameters
    rows: list[dict[str, Any]] = []
    for name, value in parameters.values.items():
        low, high = parameters.bounds(name)
        is_input = name in parameters.inputs
        start = _nominal(loop, name)
        rows.append(
            {
                "name": name,
                "kind": "input" if is_input else "parameter",
                "shape": value.shape,
                "value": value.tolist(),
                "unit": units.get(name, "") if is_input else "",
                "bounds": [bound if np.isfinite(bound) else None for bound in (low, high)],
                "changed": not np.array_equal(value, start),
            }
        )
    for name, reason in _fixed(loop).items():
        value = _nominal(loop, name)
        rows.append({"name": name, "shape": value.shape, "fixed": reason})
    return rows


def _nominal(loop: Loop, name: str) -> Floats:
    """The value that a parameter or input has in the diagram."""
    interface, p = loop.code.interface, loop.code.part.program.p
    for member in (*interface.parameters, *interface.inputs):
        if member.name == name:
            return p[member.start : member.start + member.size].reshape(member.shape)
    raise KeyError(name)


def _fixed(loop: Loop) -> dict[str, str]:
    """The parameters that cannot be set while it runs, with the reason."""
    interface, free = loop.code.interface, set(loop.parameters.names)
    starts = {m.name: "is used at the start only" for m in interface.parameters}
    links = {m.name: "is received over a link" for m in interface.inputs}
    return {name: reason for name, reason in (starts | links).items() if name not in free}


def set_values(loop: Loop, asked: object) -> dict[str, Any]:
    """Set parameters and inputs, all or none; returns their values.

    asked: numbers or nested lists by name. One element of a vector can be named: 'ctrl.kp[0]'.
    Raises InputError for invalid names or values; then nothing changes.
    """
    if not isinstance(asked, dict) or not asked:
        raise InputError("no values are given to set")
    present = loop.parameters.values
    faults: list[Fault] = []
    values: dict[str, Any] = {}
    whole: set[str] = set()
    for written, value in asked.items():
        try:
            name, index = _named(written, loop)
            new = _numbers(written, value)
            if name in whole or (index is None and name in values):
                raise InputError(f"{name} is given twice")
            if index is None:
                whole.add(name)
                values[name] = new
            else:
                before = values.get(name, present[name])
                values[name] = _with_elements(written, before, index, new)
        except InputError as error:
            faults += error.faults
    if faults:
        raise InputError(faults)
    loop.parameters.set(values)
    present = loop.parameters.values
    return {name: present[name].tolist() for name in values}


def _named(written: str, loop: Loop) -> tuple[str, str | None]:
    """The named parameter, and the index of its elements, or None for all."""
    fixed = _fixed(loop)
    name, _ = named(written, fixed)
    if name in fixed:
        raise InputError(f"{name} cannot be set while the loop runs: it {fixed[name]}")
    return look_up(written, "there is no parameter or free input {}", loop.parameters.names)


def _with_elements(written: str, value: Floats, index: str, new: Any) -> Floats:
    """A value with some elements replaced."""
    changed = value.copy()
    try:
        select(written, changed[None], index)[...] = new
    except ValueError:
        raise InputError(f"{written} does not accept a value of this shape") from None
    return changed


def _numbers(name: str, value: Any, depth: int = 0) -> Any:
    """A number, or lists of numbers, as floats."""
    if isinstance(value, list) and depth < _DEEPEST:
        return [_numbers(name, item, depth + 1) for item in value]
    if isinstance(value, int | float) and not isinstance(value, bool):
        try:
            return float(value)
        except OverflowError:
            return float("inf")  # refused later because it is not finite
    raise InputError(f"{name} takes numbers, not {brief(value)}")


# --- signals -----------------------------------------------------------------------------


def watch(loop: Loop, names: object, rate: object) -> Watch:
    """The signals for a client to watch. names: signals or elements, by default the outputs. rate:
    rows per second, by default that of the loop. Raises InputError.
    """
    columns = {column.name: column for column in loop.signals.columns}
    if not names:
        names = [member.name for member in loop.code.interface.outputs]
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise InputError("signals are given by a list of their names")
    wanted = {name: _picked(name, columns) for name in names}
    places = [picked for picked, _ in wanted.values()]
    flat = np.concatenate([np.zeros(1, np.intp), *(picked.ravel() for picked in places)])
    of_loop = float(loop.code.schedule.rate)
    every = max(_every(of_loop, rate), math.ceil(of_loop * len(flat) / MOST_PER_SECOND))
    labels = tuple(label for _, some in wanted.values() for label in some)
    return Watch(tuple(wanted), tuple(picked.shape for picked in places), labels, flat, every)


def _every(of_loop: float, rate: object) -> int:
    if rate is None:
        return 1
    if isinstance(rate, bool) or not isinstance(rate, int | float) or not 0 < rate < np.inf:
        raise InputError(f"a rate is a positive number, not {brief(rate)}")
    return int(min(max(1.0, np.floor(of_loop / rate + 0.5)), 2.0**53))


def _picked(written: str, columns: Mapping[str, Member]) -> tuple[NDArray[np.intp], Sequence[str]]:
    """The columns of a signal, or of some of its elements, in a row, and their names."""
    name, index = named(written, columns)
    if name not in columns:
        within = "signals within the loop are streamed if export: outputs: of the file names them"
        hint = f"{did_you_mean(name, columns)}\n  {within}"
        raise InputError(Fault(f"the loop has no signal {written!r}", hint=hint))
    column = columns[name]
    picked = places(written, column.place, column.shape, index)
    return picked, element_names(name, column.shape, index)
