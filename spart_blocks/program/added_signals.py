"""Adds signals to a program that are formulas of its signals."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import casadi as ca
import numpy as np

from spart_blocks.base.errors import Fault, InputError, told
from spart_blocks.program.program import Program
from spart_blocks.program.slots import Places, Slot, slot_of
from spart_blocks.program.tracing.symbol import TraceError, column_of, scalars


def entries(program: Program, name: str) -> Places:
    """The indices of a signal's elements in the vector of all signals, in the shape that its name
    selects: 'plant.qm', 'plant.qm[0]' or 'plant.R[:,0]'. Raises InputError for an unknown signal,
    and for an invalid index.
    """
    slot, index = slot_of(program.signals, name, program.display.aliases)
    return slot.places(index, name)


class Symbols:
    """The values that a formula of signals reads, as symbols: t, signals and parameters."""

    def __init__(self, program: Program, arguments: list[Any], outputs: Any) -> None:
        self._program, self._outputs, self._p = program, outputs, arguments[3]
        self.t = scalars(arguments[0])[0]

    def signal(self, name: str) -> Any:
        """A signal, or its elements."""
        return _picked(self._outputs, entries(self._program, name))

    def parameter(self, name: str) -> Any:
        """A parameter, 'ctrl.kp', or 'kp' of the file's `params:`, or its elements."""
        return _picked(self._p, self._program.parameter_places(name)[0])


def _picked(column: Any, places: Places) -> Any:
    values = scalars(column[places.ravel().tolist()])
    return values.reshape(places.shape)[()]


def with_signals(program: Program, added: Mapping[str, Callable[[Symbols], Any]]) -> Program:
    """The same program with further signals, at the end of the vector of all signals.

    added: for each name its formula, a function of `Symbols`. Raises InputError if a formula
    cannot be evaluated, for example because of shapes that do not match, or if a name is in use.
    """
    if not added:
        return program
    if program.outputs is None:
        text = "a formula of signals is measured only where the diagram can be traced"
        hint = "measure single signals: abs(final(x)), not final(abs(x)); spart check says why"
        raise InputError(Fault(text, hint=hint))
    arguments = program.outputs.sx_in()
    column = program.outputs(*arguments)
    known = Symbols(program, arguments, column)
    columns, slots, faults = [column], list(program.signals), list[Fault]()
    at = column.numel()
    for name, formula in added.items():
        try:
            value = formula(known)
        except (TraceError, ValueError, IndexError, TypeError) as error:
            faults.append(Fault(f"{name}: {told(error)}"))
            continue
        if name in program.display.aliases or any(slot.name == name for slot in program.signals):
            faults.append(Fault(f"there is a signal {name!r} already"))
        shape = np.shape(value)
        slots.append(Slot(name, at, shape))
        columns.append(column_of([value]))
        at += columns[-1].numel()
    if faults:
        raise InputError(faults)
    function = program.outputs
    outputs = ca.Function(
        function.name(),
        arguments,
        [ca.densify(ca.vertcat(*columns))],
        function.name_in(),
        function.name_out(),
    )
    return replace(program, signals=tuple(slots), outputs=outputs)
