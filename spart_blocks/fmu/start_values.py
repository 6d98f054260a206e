"""Start values of an FMU's variables in a diagram, checked before any run."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from spart_blocks.base.errors import Fault, InputError, brief, did_you_mean
from spart_blocks.fmu.archive import FmuVariable, Model


def start_values(model: Model, given: Mapping[str, Any]) -> dict[str, Any]:
    """Start values, checked against the variables that they are for. Raises InputError."""
    if not isinstance(given, Mapping):
        raise InputError(f"start takes values by variable, not {brief(given)}")
    settable = {name: v for name, v in model.variables.items() if _settable(v)}
    faults = []
    for name, value in given.items():
        variable = settable.get(str(name))
        if variable is None:
            hint = did_you_mean(str(name), settable)
            if name in model.variables:
                hint = f"it is {model.variables[name].told}"
            faults.append(Fault(f"start: {model.name} takes no {brief(name)}", hint=hint))
        elif (problem := _wrong(variable, value)) is not None:
            faults.append(Fault(f"start: {name} takes {problem}, not {brief(value)}"))
    if faults:
        raise InputError(faults)
    return {str(name): value for name, value in given.items()}


def _settable(variable: FmuVariable) -> bool:
    """Whether FMI allows a start value: not for calculated variables, nor for structural
    parameters, which set the sizes of arrays.
    """
    if variable.of in ("Binary", "Clock") or variable.variability == "constant":
        return False
    if variable.causality in ("parameter", "input"):
        return True
    return variable.initial in ("exact", "approx") and variable.causality in ("output", "local")


def _wrong(variable: FmuVariable, value: Any) -> str | None:
    """The expected value of a variable, if the given one does not fit; otherwise None."""
    if variable.of == "String":
        return None if isinstance(value, str) else "a text"
    try:
        numbers = np.asarray(value, dtype=float)
    except (TypeError, ValueError):
        return "numbers" if variable.shape else "a number"
    if not np.isfinite(numbers).all():
        return "finite numbers"
    if numbers.shape not in ((), variable.shape):
        return f"numbers of shape {variable.shape}" if variable.shape else "one number"
    return None
