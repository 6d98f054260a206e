"""The variables of an FMU: the inputs, outputs, parameters and states of a subdiagram.

All values of an instance are in one row: time, p (inputs and parameters), x, dx/dt, xd, the
outputs, the crossings. A value reference is an index into this row.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Literal

import numpy as np

from spart_blocks.base.errors import readable
from spart_blocks.program import Slot
from spart_blocks.program.subdiagram import Subdiagram

Causality = Literal["independent", "input", "output", "parameter", "local"]
Variability = Literal["continuous", "discrete", "tunable", "fixed"]


@dataclass(frozen=True)
class Variable:
    """One variable, an array or a scalar with shape ().

    name: in the FMU. title: name in the diagram. reference: index of its first entry. start: start
    values of its entries, if given. derivative: reference of the state of which it is the
    derivative. bounds: the least and the largest value that may be set. doc: its meaning.
    """

    name: str
    title: str
    reference: int
    shape: tuple[int, ...]
    causality: Causality
    variability: Variability
    start: tuple[float, ...] | None = None
    unit: str | None = None
    derivative: int | None = None
    bounds: tuple[float, float] | None = None
    doc: str = ""

    @property
    def size(self) -> int:
        return math.prod(self.shape)

    @property
    def initial(self) -> Literal["exact", "calculated"] | None:
        if self.causality in ("input", "parameter"):
            return "exact"
        return None if self.causality == "independent" else "calculated"

    def scalars(self) -> Iterator[Variable]:
        """Its entries as scalar variables, with indices from 1: qm[1], wFm[7,6]."""
        if self.shape == ():
            yield self
            return
        for k, index in enumerate(np.ndindex(*self.shape)):
            place = f"[{','.join(str(i + 1) for i in index)}]"
            inner = re.fullmatch(r"der\((.*)\)", self.name)
            yield replace(
                self,
                name=f"der({inner[1]}{place})" if inner else f"{self.name}{place}",
                title=f"{self.title}{place}",
                reference=self.reference + k,
                shape=(),
                start=None if self.start is None else (self.start[k],),
                derivative=None if self.derivative is None else self.derivative + k,
            )


@dataclass(frozen=True)
class Row:
    """The index in the row of all values at which each vector starts, and the length of the row."""

    p: int
    x: int
    rates: int
    xd: int
    outputs: int
    crossings: int
    end: int


def row_of(part: Subdiagram) -> Row:
    program = part.program
    x = 1 + len(program.p)
    rates = x + len(program.x0)
    xd = rates + len(program.x0)
    outputs = xd + len(program.xd0)
    crossings = outputs + sum(math.prod(slot.shape) for slot in part.outputs)
    return Row(1, x, rates, xd, outputs, crossings, crossings + len(program.crossings))


def variables_of(part: Subdiagram) -> tuple[Variable, ...]:
    """The variables of a subdiagram, in the order of their references."""
    namer = _Namer()
    time = Variable(namer("time"), "time", 0, (), "independent", "continuous", unit="s")
    outputs = _outputs(part, namer)
    parameters = _parameters(part, namer)
    states = _states(part, namer)
    return (time, *parameters, *states, *outputs, *_crossings(part, namer))


class _Namer:
    """Gives each variable a unique name."""

    def __init__(self) -> None:
        self.taken: set[str] = set()

    def __call__(self, title: str) -> str:
        first = name = structured(title)
        number = 2
        while name in self.taken:
            name, number = f"{first}_{number}", number + 1
        self.taken.add(name)
        return name


def structured(title: str) -> str:
    """A name of a diagram in FMI's structured naming convention.

    Subsystems, blocks and ports are separated by points, and slices become part of the name:
    'left/pd.tau' is left.pd.tau, 'plant.qm[0:3]' is plant.qm_0_3. A name that is not an identifier
    is quoted.
    """
    return ".".join(_piece(piece) for piece in re.split(r"[./]", title) if piece) or "'_'"


def _piece(piece: str) -> str:
    sliced = re.fullmatch(r"([A-Za-z_]\w*)\[([\d:, -]*)\]", piece, re.ASCII)
    if sliced:
        piece = "_".join([sliced[1], *re.findall(r"-?\d+", sliced[2])]).replace("-", "m")
    if re.fullmatch(r"[A-Za-z_]\w*", piece, re.ASCII):
        return piece
    quoted = re.sub(r"[^\w!#$%&()*+,\-./:;<>=?@\[\]^{}|~ ]", "_", piece, flags=re.ASCII)
    return f"'{quoted}'"


def _unit(part: Subdiagram, name: str) -> str | None:
    """The unit of a signal, if all its entries have the same unit."""
    unit = part.program.display.units.get(name)
    return unit if unit and "," not in unit else None


def _parameters(part: Subdiagram, namer: _Namer) -> list[Variable]:
    """Inputs and parameters, in their order in p."""
    inputs = {slot.start for slot in part.inputs}
    fixed = set(part.program.start.values())
    found = []
    for slot in sorted((*part.inputs, *part.parameters), key=lambda slot: slot.start):
        start = tuple(part.program.p[slot.part].tolist())
        if not start:
            continue
        is_input = slot.start in inputs
        found.append(
            Variable(
                namer(slot.name),
                slot.name,
                1 + slot.start,
                slot.shape,
                "input" if is_input else "parameter",
                "continuous" if is_input else "fixed" if slot.name in fixed else "tunable",
                start,
                _unit(part, slot.name),
                bounds=part.bounds.get(slot.name),
                doc=part.docs.get(slot.name, ""),
            )
        )
    return found


def _states(part: Subdiagram, namer: _Namer) -> list[Variable]:
    """Continuous states, their derivatives, and discrete states."""
    program, row = part.program, row_of(part)

    def stored(slots: Sequence[Slot], first: int, variability: Variability) -> list[Variable]:
        return [
            Variable(
                namer(f"{slot.name}.x"),
                f"the state of {slot.name}",
                first + slot.start,
                slot.shape,
                "local",
                variability,
            )
            for slot in slots
            if math.prod(slot.shape)
        ]

    states = stored(program.states, row.x, "continuous")
    derivatives = [
        replace(
            state,
            name=f"der({state.name})",
            title=f"the derivative of {state.title}",
            reference=state.reference - row.x + row.rates,
            derivative=state.reference,
        )
        for state in states
    ]
    return [*states, *derivatives, *stored(program.discrete, row.xd, "discrete")]


def _outputs(part: Subdiagram, namer: _Namer) -> list[Variable]:
    found, place = [], row_of(part).outputs
    for slot in part.outputs:
        name, unit = namer(slot.name), _unit(part, slot.name)
        variable = Variable(name, slot.name, place, slot.shape, "output", "continuous", unit=unit)
        if variable.size:
            found.append(variable)
        place += variable.size
    return found


def _crossings(part: Subdiagram, namer: _Namer) -> list[Variable]:
    """The zero-crossing functions, one array for each block."""
    found: list[Variable] = []
    reference = row_of(part).crossings
    for block, crossings in groupby(part.program.crossings, key=lambda one: one.block):
        kinds = [crossing.kind for crossing in crossings]
        title, shape = f"{block}.crossing", (len(kinds),)
        text = readable(f"{title}: {kinds[-1]} where it crosses zero")
        found.append(Variable(namer(title), text, reference, shape, "local", "continuous"))
        reference += len(kinds)
    return found
