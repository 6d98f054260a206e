"""A program: a diagram as functions of time, states and parameters."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Slot:
    """Where one named quantity lies in a flat vector, and its shape."""

    name: str
    start: int
    shape: tuple[int, ...]

    @property
    def part(self) -> slice:
        return slice(self.start, self.start + int(np.prod(self.shape)))


@dataclass(frozen=True)
class Program:
    """What a trace of a diagram gives. Immutable and picklable.

    states, discrete, parameters, signals: layouts of x, xd, p and of the vector of all
    signals. x0, xd0, p: initial and nominal values.
    rates: CasADi Function (t, x, xd, p) -> xdot. outputs: (t, x, xd, p) -> all signals.
    updates: one function (t, x, xd, p) -> xd for each clock, by name, which moves the
    states on that clock and keeps the others.
    """

    name: str
    states: tuple[Slot, ...]
    discrete: tuple[Slot, ...]
    parameters: tuple[Slot, ...]
    signals: tuple[Slot, ...]
    x0: Floats
    xd0: Floats
    p: Floats
    rates: Any
    outputs: Any
    updates: Mapping[str, Any]

    def parameter(self, name: str) -> Floats:
        """The nominal value of a parameter such as 'ctrl.kp'."""
        slot = next(slot for slot in self.parameters if slot.name == name)
        return self.p[slot.part].reshape(slot.shape)

    def with_parameters(self, values: Mapping[str, Any]) -> Program:
        """The same program with other values of the named parameters."""
        from dataclasses import replace

        from spart_blocks.errors import Fault, InputError, did_you_mean

        p = self.p.copy()
        slots = {slot.name: slot for slot in self.parameters}
        for name, value in values.items():
            if name not in slots:
                raise InputError(
                    Fault(f"no parameter {name!r}", hint=did_you_mean(name, slots))
                )
            new = np.asarray(value, dtype=float)
            if new.shape not in ((), slots[name].shape):
                raise InputError(f"{name} has shape {new.shape}, it is {slots[name].shape}")
            p[slots[name].part] = np.broadcast_to(new, slots[name].shape).ravel()
        return replace(self, p=p)
