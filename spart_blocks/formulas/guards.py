"""Conditions as one zero-crossing function each: the guards of transitions.

A comparison's function is the difference of its sides, that of `and` the smallest and that of `or`
the largest of its parts (the robustness of a formula, Fainekos and Pappas, Theor. Comput. Sci. 410,
2009). Its sign alone says whether the condition holds: where it does at equality, as u >= 1 at
u = 1, the value is put just above zero.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Collection
from dataclasses import dataclass
from functools import reduce
from typing import Any

import numpy as np

from spart_blocks.formulas.crossings import bare
from spart_blocks.formulas.reader import NO_QUERIES, Known, Queries, Reader, Value, parsed

BARELY = 1e-30
"""The value where a condition holds and its margin is not positive."""


@dataclass(frozen=True)
class Guard:
    """A parsed condition. value: above zero where it holds, at most zero elsewhere; a function of
    the values by name. reads: the names in it.
    """

    text: str
    value: Value
    reads: frozenset[str]


def read_guard(text: Any, names: Collection[str], queries: Queries = NO_QUERIES) -> Guard:
    """Parse a condition of these names, `t`, `pi` and `e`. Raises InputError as `read_formula`."""
    text, tree = parsed(text)
    reader = Reader(text, {*names, "t"}, queries=queries)
    holds, margin = reader.truth(tree), _margin(reader, tree)

    def value(known: Known) -> Any:
        true, size = holds(known), margin(known)
        if np.ndim(true):
            raise ValueError(
                f"condition {text} has {np.size(true)} values; write any(...) or all(...)"
            )
        above = np.where(size > BARELY, size, BARELY)
        return bare(np.where(true, above, np.where(size < 0.0, size, 0.0)))

    return Guard(text, value, frozenset(reader.reads))


def _least(a: Any, b: Any) -> Any:
    """The smaller value; unlike np.minimum, what is not a number does the same on symbols."""
    return np.where(a < b, a, b)


def _most(a: Any, b: Any) -> Any:
    return np.where(a > b, a, b)


_DIFFERENCES: dict[type, Callable[[Any, Any], Any]] = {
    ast.Gt: lambda a, b: a - b,
    ast.GtE: lambda a, b: a - b,
    ast.Lt: lambda a, b: b - a,
    ast.LtE: lambda a, b: b - a,
    ast.Eq: lambda a, b: -np.abs(a - b),
    ast.NotEq: lambda a, b: np.abs(a - b),
}


def _margin(reader: Reader, node: ast.expr) -> Value:
    """The closure of a condition's margin, of which the sign may be wrong at zero only."""
    if isinstance(node, ast.Compare):
        return _of_comparison(reader, node)
    if isinstance(node, ast.BoolOp):
        parts = [_margin(reader, part) for part in node.values]
        join = _least if isinstance(node.op, ast.And) else _most
        return lambda known: reduce(join, [part(known) for part in parts])
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        inner = _margin(reader, node.operand)
        return lambda known: -inner(known)
    if isinstance(node, ast.IfExp):
        test, yes, no = (
            reader.truth(node.test),
            _margin(reader, node.body),
            _margin(reader, node.orelse),
        )
        return lambda known: np.where(test(known), yes(known), no(known))
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
        among = {"any": _most, "all": _least}.get(node.func.id)
        if among is not None:
            inner = _margin(reader, node.args[0])
            return lambda known: reduce(among, np.ravel(inner(known)))
    value = reader.value(node)
    if reader.asks(node):
        return lambda known: 2.0 * value(known) - 1.0
    return lambda known: np.abs(value(known))


def _of_comparison(reader: Reader, node: ast.Compare) -> Value:
    sides = [reader.value(side) for side in (node.left, *node.comparators)]
    differences = [_DIFFERENCES[type(kind)] for kind in node.ops]

    def margin(known: Known) -> Any:
        values = [side(known) for side in sides]
        pairs = zip(differences, values, values[1:], strict=False)
        return reduce(_least, [of(a, b) for of, a, b in pairs])

    return margin
