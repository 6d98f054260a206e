"""Names and numbers of formulas in blocks: inputs, and parameters with their values."""

from __future__ import annotations

import ast
import keyword
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from spart_blocks.base.errors import Fault, InputError, brief
from spart_blocks.formulas.reader import CHOICE, CONSTANTS, FUNCTIONS, MEANINGS, parsed

MOST_NAMES = 1000
_TAKEN = {"t", CHOICE, *CONSTANTS, *FUNCTIONS}
"""Names with a meaning in every formula."""


def as_number(value: Any) -> Any:
    """A float as NumPy's, since Python's raise errors at 1/0."""
    return np.float64(value) if isinstance(value, (int, float)) else value


def input_names(given: Any, what: str) -> tuple[str, ...]:
    """The names of inputs; InputError if they are not distinct names. what: their parameter."""
    names = [given] if isinstance(given, str) else given
    if not isinstance(names, (list, tuple)) or not 0 < len(names) <= MOST_NAMES:
        raise InputError(f"{what} is a list of names such as [a, b], not {brief(given)}")
    refuse_unfit(names, what)
    twice = sorted({name for name in names if list(names).count(name) > 1})
    if twice:
        raise InputError(f"{what} has {twice[0]} twice")
    return tuple(names)


def parameter_values(params: Any, inputs: Sequence[str]) -> dict[str, Any]:
    """The parameters as floats and arrays; InputError for other values."""
    if params is None:
        return {}
    if not isinstance(params, Mapping) or len(params) > MOST_NAMES:
        raise InputError(f"params takes values by name such as {{k: 2}}, not {brief(params)}")
    refuse_unfit(params, "params")
    values = {}
    for name, given in params.items():
        if name in inputs:
            raise InputError(f"{name} is an input and a parameter")
        try:
            value = np.asarray(given, dtype=float)
        except (TypeError, ValueError):
            value = np.full(1, np.nan)
        if isinstance(given, (bool, str)) or not np.isfinite(value).all():
            raise InputError(f"{name} in params must be finite numbers, not {brief(given)}")
        values[name] = value if value.ndim else float(value)
    return values


def refuse_unfit(names: Iterable[Any], what: str) -> None:
    """InputError for what is no name, or one with a meaning in every formula."""
    for name in names:
        unfit = not isinstance(name, str) or not name.isidentifier() or keyword.iskeyword(name)
        if unfit or name.startswith("_"):
            hint = "a name is letters, digits and _, and begins with a letter"
            raise InputError(Fault(f"{what} has {brief(name)}, which is not a name", hint=hint))
    refuse_taken((name for name in names if name in _TAKEN), what)


def refuse_taken(names: Iterable[str], what: str) -> None:
    """InputError for the first of some names that are taken."""
    for name in names:
        meaning = ""
        if name in _TAKEN:
            meaning = f": {name} is {MEANINGS.get(name, 'a function')} in formulas"
        text = f"{what}.{name} has a meaning of its own{meaning}"
        raise InputError(Fault(text, hint="take another name"))


# --- names in formulas ----------------------------------------------------------------------------


def written(node: ast.expr) -> str | None:
    """The name of a signal or parameter as a formula spells it, with attributes and index
    (`plant.qm[0]`); None for any other expression.
    """
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if isinstance(node, ast.Attribute):
        base = written(node.value)
        return None if base is None or base.endswith("]") else f"{base}.{node.attr}"
    if isinstance(node, ast.Subscript):
        base = written(node.value)
        parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        index = ",".join(ast.unparse(part) for part in parts)
        return None if base is None or base.endswith("]") else f"{base}[{index}]"
    return None


def names_in(text: str) -> Iterator[str]:
    """The names in a formula, those of functions left out; none in a text that is no formula."""
    try:
        pending: list[ast.AST] = [parsed(text)[1]]
    except InputError:
        return
    while pending:
        node = pending.pop(0)
        name = written(node) if isinstance(node, ast.expr) else None
        if name is not None:
            yield name
        elif isinstance(node, ast.Call):
            pending += [*node.args, *(key.value for key in node.keywords)]
        else:
            pending += ast.iter_child_nodes(node)
