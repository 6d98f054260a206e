"""A program: a diagram as functions of time, states and parameters."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields, replace
from types import MappingProxyType
from typing import Any

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from spart_blocks.errors import Fault, InputError, did_you_mean

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
    states on that clock and keeps the others. Results are dense columns.
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

    def __post_init__(self) -> None:
        for name in ("x0", "xd0", "p"):
            vector = np.array(getattr(self, name), dtype=float)
            vector.flags.writeable = False
            object.__setattr__(self, name, vector)
        object.__setattr__(self, "updates", MappingProxyType(dict(self.updates)))

    def __reduce__(self) -> tuple[Any, tuple[Any, ...]]:
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        return Program, tuple({**values, "updates": dict(self.updates)}.values())

    def parameter(self, name: str) -> Floats:
        """The nominal value of a parameter such as 'ctrl.kp'."""
        slot = _find(self.parameters, name, "parameter")
        return self.p[slot.part].reshape(slot.shape)

    def with_parameters(self, values: Mapping[str, Any]) -> Program:
        """The same program with other values of the named parameters.

        A scalar fills a vector. Raises InputError for an unknown name or another shape.
        """
        p = self.p.copy()
        for name, value in values.items():
            slot = _find(self.parameters, name, "parameter")
            new = np.asarray(value, dtype=float)
            if new.shape not in ((), slot.shape):
                raise InputError(f"parameter {name} has shape {slot.shape}, not {new.shape}")
            p[slot.part] = np.broadcast_to(new, slot.shape).ravel()
        return replace(self, p=p)

    def jacobian(
        self, output: str, wrt: str, *, t: float = 0.0, x: Any = None, xd: Any = None, p: Any = None
    ) -> Floats:
        """The derivative of an output at a point, exact: no differences are taken.

        output: 'xdot' or a signal such as 'plant.qm'. wrt: 'x' or 'xd' (all states), 't',
        the name of a block with a state, or a parameter such as 'ctrl.kp'.
        t [s], x, xd, p: the point, by default the start.
        Returns an array of the shape of the output followed by that of wrt. Raises
        InputError for an unknown name. Where the output jumps or bends (a comparison, a
        limit), it is the derivative of the side the point lies on.
        """
        if output == "xdot":
            function, rows, shape = self.rates, slice(None), self.x0.shape
        else:
            slot = _find(self.signals, output, "signal", ("xdot",))
            function, rows, shape = self.outputs, slot.part, slot.shape
        argument, columns, width = self._argument(wrt)
        arguments = function.sx_in()
        column = function(*arguments)[rows]
        derivative = ca.Function(
            "jacobian", arguments, [ca.densify(ca.jacobian(column, arguments[argument][columns]))]
        )
        point = (self.x0 if x is None else x, self.xd0 if xd is None else xd)
        value = derivative(t, *point, self.p if p is None else p)
        return np.array(value, dtype=float).reshape(shape + width)

    def _argument(self, wrt: str) -> tuple[int, slice, tuple[int, ...]]:
        """Which argument of the functions a name is, which of its entries, and its shape."""
        whole: dict[str, tuple[int, slice, tuple[int, ...]]] = {
            "t": (0, slice(None), ()),
            "x": (1, slice(None), self.x0.shape),
            "xd": (2, slice(None), self.xd0.shape),
        }
        for number, slots in ((1, self.states), (2, self.discrete), (3, self.parameters)):
            for slot in slots:
                whole.setdefault(slot.name, (number, slot.part, slot.shape))
        if wrt not in whole:
            raise InputError(Fault(f"no state or parameter {wrt!r}", hint=did_you_mean(wrt, whole)))
        return whole[wrt]


def _find(slots: Iterable[Slot], name: str, kind: str, others: tuple[str, ...] = ()) -> Slot:
    found = {slot.name: slot for slot in slots}
    if name not in found:
        raise InputError(Fault(f"no {kind} {name!r}", hint=did_you_mean(name, (*found, *others))))
    return found[name]
