"""The design of a regulator's gain in a file: `K: {lqr: {plant: plant, Q: 1, R: 1}}`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

from spart_blocks.base.errors import Fault, InputError, brief, did_you_mean
from spart_blocks.block_support.values import names_of


@dataclass(frozen=True)
class LqrDesign:
    """A gain to be designed for the linearised plant.

    plant: names of the blocks whose states are fed back. Q, R: the weights of states and inputs; N:
    those of their products. T [s]: the period of a sampled controller. at: the equilibrium state.
    inputs: the block inputs driven by K.
    """

    plant: tuple[str, ...]
    Q: Any
    R: Any
    N: Any = None
    T: float | None = None
    at: Any = None
    inputs: tuple[str, ...] = ()


def read_design(given: Mapping[str, Any]) -> LqrDesign:
    """The design that `K: {lqr: {...}}` means. Raises InputError with all that is wrong."""
    body = given.get("lqr")
    if set(given) != {"lqr"} or not isinstance(body, Mapping):
        raise InputError("K takes numbers, or {lqr: {plant: plant, Q: 1, R: 1}}")
    known = [field.name for field in fields(LqrDesign)]
    faults = [
        Fault(f"K.lqr.{key} is no entry of a design", hint=did_you_mean(str(key), known))
        for key in body
        if key not in known
    ]
    missing = [key for key in ("plant", "Q", "R") if body.get(key) is None]
    if missing:
        faults.append(Fault(f"K.lqr needs {' and '.join(missing)}"))
    if faults:
        raise InputError(faults)
    return LqrDesign(
        plant=names_of(body["plant"], "K.lqr.plant"),
        Q=body["Q"],
        R=body["R"],
        N=body.get("N"),
        T=period(body.get("T"), "K.lqr.T"),
        at=body.get("at"),
        inputs=names_of(body.get("inputs", ()), "K.lqr.inputs"),
    )


def period(value: Any, what: str) -> float | None:
    """A period [s], None without one; InputError where it is not positive and finite."""
    if value is None:
        return None
    number = isinstance(value, int | float) and not isinstance(value, bool)
    if not number or not 0 < value < float("inf"):
        raise InputError(f"{what} is {brief(value)}; it must be a positive number of seconds")
    return float(value)
