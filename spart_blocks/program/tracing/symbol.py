"""Symbols and arrays of them, and their conversion from and to CasADi's columns.

The scalar is in symbol_scalar.py, its arrays in symbol_array.py, NumPy's functions for them in
array_functions.py; this module exports their names.
"""

from __future__ import annotations

from typing import Any

import casadi as ca
import numpy as np

import spart_blocks.program.tracing.array_functions
import spart_blocks.program.tracing.horizons  # noqa: F401  (both fill the tables of symbols)
from spart_blocks.program.tracing.symbol_array import SymbolArray, box, plain, unbox
from spart_blocks.program.tracing.symbol_scalar import (
    Condition,
    Symbol,
    TraceError,
    floor,
    if_else,
    is_number,
    sx_of,
)

__all__ = [
    "Condition",
    "Symbol",
    "SymbolArray",
    "TraceError",
    "box",
    "column_of",
    "floor",
    "folded",
    "if_else",
    "is_number",
    "plain",
    "scalars",
    "sx_of",
    "symbols",
    "unbox",
]


def folded(value: Any) -> Any:
    """A constant signal as a number or float array; other signals unchanged."""
    if isinstance(value, Symbol):
        return float(value.sx) if value.sx.is_constant() else value
    if isinstance(value, SymbolArray) and all(
        is_number(x) or (isinstance(x, Symbol) and x.sx.is_constant()) for x in value.flat
    ):
        return np.array([float(x) for x in value.flat]).reshape(value.shape)
    return value


def scalars(column: Any) -> SymbolArray:
    """The entries of an SX column (n,1) as an array (n,)."""
    out = np.empty(column.numel(), dtype=object)
    out[:] = [Symbol(entry) for entry in column.elements()]
    return out.view(SymbolArray)


def symbols(name: str, shape: tuple[int, ...]) -> tuple[Any, Any]:
    """New variables: their SX column (n, 1), and an array of them with the given shape."""
    column = ca.SX.sym(name, int(np.prod(shape)))
    return column, scalars(column).reshape(shape)


def column_of(values: list[Any]) -> Any:
    """The SX column of all scalars of the given arrays, one after the other."""
    entries: list[Any] = []
    for value in values:
        if isinstance(value, Symbol | float):
            entries.append(sx_of(value))
        else:
            entries += [sx_of(x) for x in np.ravel(plain(value)).tolist()]
    return ca.vertcat(*entries) if entries else ca.SX(0, 1)
