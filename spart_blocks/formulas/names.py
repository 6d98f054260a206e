"""Names of signals and values in formulas: plant.qm[0], or 'sub/plant.qm' in quotes."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from spart_blocks.base.errors import InputError
from spart_blocks.formulas.reader import parsed


def written(node: ast.expr) -> str | None:
    """The name that a node writes, with its index; None if it writes none."""
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
