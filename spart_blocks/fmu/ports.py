"""The mapping of an FMU's variables to the ports of its block."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from math import prod
from typing import Any
from unicodedata import normalize

import numpy as np

from spart_blocks.base.errors import Fault, InputError, brief, did_you_mean
from spart_blocks.block_support.ports import Port
from spart_blocks.fmu.archive import NUMBERS, FmuVariable, Model

_ENTRY = re.compile(r"(?P<base>.+)\[(?P<index>[0-9]{1,6}(?:, ?[0-9]{1,6})*)\]")

MOST_PORTS = 1000

Asked = Mapping[str, str | list[str]] | list[str]


@dataclass(frozen=True)
class PortGroup:
    """A port and the variables that it carries, concatenated."""

    port: Port
    variables: tuple[FmuVariable, ...]


@dataclass(frozen=True)
class _Numbers:
    """The variables of a port that has no name yet."""

    shape: tuple[int, ...]
    variables: tuple[FmuVariable, ...]

    def group(self, name: str) -> PortGroup:
        units = {v.unit for v in self.variables}
        return PortGroup(
            Port(name, self.shape, units.pop() if len(units) == 1 else ""), self.variables
        )


def groups_of(
    model: Model, causality: str, asked: Asked | None, taken: Collection[str]
) -> tuple[PortGroup, ...]:
    """The inputs or the outputs: those requested, otherwise one port per variable of this
    causality. Elements of an array, u[1], u[2], ..., are one port u if all of them exist. taken:
    names that a port cannot have. Raises ValueError.
    """
    arrays = _arrays(model, causality)
    if asked is None:
        found = {v.name: _alone(v) for v in _sided(model, causality)}
        for array in arrays.values():
            found[array.variables[0].name] = array  # where its first element stands
            for variable in array.variables[1:]:
                del found[variable.name]
        bases = {array.variables[0].name: base for base, array in arrays.items()}
        pairs = [(_plain(bases.get(name, name), taken), item) for name, item in found.items()]
    else:
        pairs = list(_asked(model, causality, asked, arrays, taken))
    if len(pairs) > MOST_PORTS:
        raise ValueError(
            f"{model.name} has {len(pairs)} {causality}s, a block up to {MOST_PORTS} ports; "
            f"say which with {causality}_ports"
        )
    counts = Counter(name for name, _ in pairs)
    name, count = counts.most_common(1)[0] if counts else ("", 0)
    if count > 1:
        raise ValueError(
            f"{causality}_ports: two ports would be called {name!r}; "
            "give each a name: {port: variable}"
        )
    return tuple(numbers.group(name) for name, numbers in pairs)


def _alone(variable: FmuVariable) -> _Numbers:
    return _Numbers(variable.shape, (variable,))


def _sided(model: Model, causality: str) -> list[FmuVariable]:
    """The variables that become ports by default."""
    return [v for v in model.variables.values() if v.causality == causality and v.of in NUMBERS]


def _arrays(model: Model, causality: str) -> dict[str, _Numbers]:
    """Variables with names of array elements, by the array's name, in C order; only complete arrays
    with indices from 0 or 1.
    """
    parts: dict[str, dict[tuple[int, ...], FmuVariable]] = {}
    for variable in _sided(model, causality):
        entry = _ENTRY.fullmatch(variable.name)
        if entry and not variable.shape:
            index = tuple(map(int, entry["index"].split(",")))
            parts.setdefault(entry["base"], {})[index] = variable
    arrays = {}
    for base, found in parts.items():
        shape = _shape(found)
        if shape is not None:
            arrays[base] = _Numbers(shape, tuple(found[index] for index in sorted(found)))
    return arrays


def _shape(found: Collection[tuple[int, ...]]) -> tuple[int, ...] | None:
    """The shape of an array whose elements have these indices, or None."""
    ranks = {len(index) for index in found}
    if len(ranks) != 1:
        return None
    columns = list(zip(*found, strict=True))
    lows = {min(column) for column in columns}
    if len(lows) != 1 or not lows <= {0, 1}:
        return None
    shape = tuple(max(column) - min(column) + 1 for column in columns)
    return shape if prod(shape) == len(found) else None


def _asked(
    model: Model,
    causality: str,
    asked: Asked,
    arrays: Mapping[str, _Numbers],
    taken: Collection[str],
) -> Iterable[tuple[str, _Numbers]]:
    what = f"{causality}_ports"
    if isinstance(asked, Mapping):
        listed = [(str(name), value) for name, value in asked.items()]
    elif isinstance(asked, list) and all(isinstance(name, str) for name in asked):
        listed = [(_plain(name, taken), name) for name in asked]
    else:
        raise ValueError(f"{what} takes names of variables, not {brief(asked)}")
    for name, value in listed:
        if name != _plain(name, taken):
            raise ValueError(f"{what}: a port cannot be called {brief(name)}")
        if isinstance(value, str):
            yield name, arrays.get(value) or _alone(_found(model, causality, value))
        elif isinstance(value, list) and value and all(isinstance(v, str) for v in value):
            found = tuple(_found(model, causality, v) for v in value)
            yield name, _Numbers((sum(v.size for v in found),), found)
        else:
            raise ValueError(
                f"{what}: {name} takes a variable or a list of them, not {brief(value)}"
            )


def _found(model: Model, causality: str, name: str) -> FmuVariable:
    """A variable for an input or output port: any numeric one can be read; inputs and tunable
    parameters can be set while the FMU runs.
    """
    usable = [v for v in model.variables.values() if v.of in NUMBERS and _fits(v, causality)]
    for variable in usable:
        if variable.name == name:
            return variable
    near = did_you_mean(name, (v.name for v in usable)) or "it has none"
    if name in model.variables:
        near = f"it is {model.variables[name].told}"
    raise ValueError(f"{causality}_ports: no {causality} {brief(name)} of {model.name}; {near}")


def _fits(variable: FmuVariable, causality: str) -> bool:
    if causality == "output":
        return True
    tunable = variable.causality == "parameter" and variable.variability == "tunable"
    return variable.causality == "input" or tunable


def _plain(name: str, taken: Collection[str]) -> str:
    """The port name of a variable: letters, digits and _, as wires require."""
    # bdsim 1.4.0 normalises names with a warning, after which a wire no longer finds them.
    plain = re.sub(r"\W+", "_", normalize("NFKC", name)).strip("_") or "port"
    return f"{plain}_" if plain in taken else plain


# --- Start values ---------------------------------------------------------------------------------


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
