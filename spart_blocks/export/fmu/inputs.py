"""The start values of an FMU's inputs, which apply until an importer sets them."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

import numpy as np

from spart_blocks.base.errors import Fault, InputError
from spart_blocks.program import Slot
from spart_blocks.program.subdiagram import Subdiagram
from spart_blocks.run.engines.engine import Floats

Inputs = Literal["zero", "diagram"]
CHOICES = ("zero", "diagram")


def started(part: Subdiagram, inputs: str = "zero") -> Subdiagram:
    """The subdiagram with the start values of its inputs in its program's p.

    inputs: 'diagram' for the values of the signals at the start of the diagram; 'zero' for zeros,
    and the identity for rotation matrices. If the subdiagram is not finite with zeros (as with a
    quaternion of zeros), the inputs concerned keep the diagram's values. Raises InputError for
    another choice.
    """
    if inputs not in CHOICES:
        hint = f"there are {', '.join(CHOICES)}"
        raise InputError(Fault(f"no start values {inputs!r} of inputs", hint=hint))
    if inputs == "diagram" or not part.inputs:
        return part
    p = part.program.p.copy()
    for slot in part.inputs:
        p[slot.part] = _resting(slot, p)
    if not _finite(part, p):
        p = part.program.p.copy()
        for slot in part.inputs:
            trial = p.copy()
            trial[slot.part] = _resting(slot, part.program.p)
            p = trial if _finite(part, trial) else p
    return replace(part, program=replace(part.program, p=p))


def _resting(slot: Slot, p: Floats) -> Floats:
    """The neutral value of a signal: zeros, or the identity for a rotation matrix."""
    value = p[slot.part].reshape(slot.shape)
    if slot.shape == (3, 3) and np.allclose(value @ value.T, np.eye(3), atol=1e-9):
        return np.eye(3).ravel()
    return np.zeros(value.size)


def _finite(part: Subdiagram, p: Floats) -> bool:
    """Whether all results of the subdiagram at its start are finite."""
    program = part.program
    functions = [program.rates, program.outputs, program.watched, *program.updates.values()]
    values = (function(0.0, program.x0, program.xd0, p) for function in functions)
    return all(bool(np.isfinite(np.array(value, dtype=float)).all()) for value in values)
