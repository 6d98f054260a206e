"""Writes studio/src/protocol.ts, the types of the studio's page, from those of its server.

python docs/make_protocol.py
"""

from __future__ import annotations

import ast
import json
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
SOURCES = ROOT / "spart_blocks" / "studio" / "protocol"
MODULES = ("messages", "problems", "files", "charts", "types", "runs", "claims", "jobs", "changes")
WRITTEN = ROOT / "studio" / "src" / "protocol.ts"

_NAMES = {"str": "string", "int": "number", "float": "number", "bool": "boolean", "Any": "unknown"}


def written() -> str:
    """The types of all modules as TypeScript."""
    texts = [(SOURCES / f"{name}.py").read_text(encoding="utf-8") for name in MODULES]
    return "\n".join(["// Written by docs/make_protocol.py.\n", *map(typescript, texts)])


def typescript(source: str) -> str:
    """The types of a module of TypedDicts as TypeScript, with their comments."""
    lines, module = source.splitlines(), ast.parse(source)
    parts = [_line_comment(ast.get_docstring(module) or "")]
    end = 0
    for node in module.body:
        found = _statement(node, lines)
        if found is not None:
            above = [line for line in lines[end : node.lineno - 1] if line.startswith("#")]
            parts.append("\n".join([*(f"//{line[1:]}" for line in above), found]))
        end = node.end_lineno or end
    return "\n\n".join(parts) + "\n"


def _statement(node: ast.stmt, lines: list[str]) -> str | None:
    """A definition as TypeScript; None for a statement that is none."""
    match node:
        case ast.ClassDef():
            bases = [ast.unparse(base) for base in node.bases]
            more = [base for base in bases if base != "TypedDict"]
            extends = f" extends {', '.join(more)}" if more else ""
            head = f"export interface {node.name}{extends}"
            return _block_comment(ast.get_docstring(node)) + _interface(head, _fields(node, lines))
        case ast.Assign(targets=[ast.Name(id=name)], value=ast.Call(args=[_, ast.Dict() as table])):
            return _interface(f"interface {name}", _entries(table))
        case ast.Assign(targets=[ast.Name(id=name)]):
            return f"export type {name} = {_type(node.value)};"
        case ast.AnnAssign(target=ast.Name(id=name), value=ast.Dict() as table):
            return _interface(f"export interface {name.title()}", _entries(table))
    return None


def _interface(head: str, fields: Iterator[str]) -> str:
    return "\n".join([f"{head} {{", *fields, "}"])


def _fields(node: ast.ClassDef, lines: list[str]) -> Iterator[str]:
    for field in node.body:
        if not isinstance(field, ast.AnnAssign):
            continue
        start = at = field.lineno - 1
        while lines[at - 1].lstrip().startswith("#"):
            at -= 1
        text = "\n".join(line.strip()[1:].strip() for line in lines[at:start])
        yield from (f"  {line}" for line in _block_comment(text).splitlines())
        kind, optional = field.annotation, ""
        if isinstance(kind, ast.Subscript) and ast.unparse(kind.value) == "NotRequired":
            kind, optional = kind.slice, "?"
        yield f"  {ast.unparse(field.target)}{optional}: {_type(kind)};"


def _entries(table: ast.Dict) -> Iterator[str]:
    for key, value in zip(table.keys, table.values, strict=True):
        assert isinstance(key, ast.Constant)
        yield f"  {json.dumps(key.value)}: {_type(value)};"


def _type(node: ast.expr) -> str:
    """An annotation as TypeScript."""
    match node:
        case ast.Constant(value=None):
            return "null"
        case ast.Constant(value=value):
            return json.dumps(value)
        case ast.Name(id=name):
            return _NAMES.get(name, name)
        case ast.BinOp(left=left, op=ast.BitOr(), right=right):
            return f"{_type(left)} | {_type(right)}"
        case ast.Subscript(value=ast.Name(id=kind), slice=inner):
            given = [
                _type(one) for one in (inner.elts if isinstance(inner, ast.Tuple) else [inner])
            ]
            if kind == "Literal":
                return " | ".join(given)
            if kind == "tuple":
                return f"[{', '.join(given)}]"
            if kind == "dict":
                return f"Record<{', '.join(given)}>"
            if kind == "list":
                return f"({given[0]})[]" if " | " in given[0] else f"{given[0]}[]"
    raise TypeError(f"{ast.unparse(node)} has no translation")


def _block_comment(text: str | None) -> str:
    if not text:
        return ""
    return "/** " + "\n * ".join(text.splitlines()) + " */\n"


def _line_comment(text: str) -> str:
    return "\n".join(f"// {line}".rstrip() for line in text.splitlines())


if __name__ == "__main__":
    WRITTEN.write_text(written(), encoding="utf-8")
    print(f"written: {WRITTEN}")
