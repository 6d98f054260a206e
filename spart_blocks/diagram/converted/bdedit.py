"""Converts diagrams of bdsim's editor, `.bd` files, to diagram files.

A `.bd` file is JSON: blocks with type, title, parameters and sockets, and wires between sockets;
the sockets of CONNECTORs are corners of wires. A parameter that starts with `=` is a Python
expression. Arithmetic with numbers is evaluated here, anything else is rejected: no code of a file
is executed. Source: bdsim 1.4, blockdiagram.py, bdload.
"""

from __future__ import annotations

import ast
import json
import math
import operator
import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from spart_blocks.base.errors import Fault, InputError, Place, brief, did_you_mean, told
from spart_blocks.diagram.build.registry import BlockType, find_type, type_names
from spart_blocks.diagram.check.other_names import type_hint
from spart_blocks.diagram.converted.draft import (
    MARK,
    Draft,
    DraftBlock,
    Row,
    State,
    plain_name,
)

MAX_BYTES = 16_000_000
MOST_BLOCKS = 20_000
MOST_POWER = 1000.0
_CORNER, _PAGE = "CONNECTOR", "MAIN"
_OURS = ("blockargs", "name", "watch", "movie")  # every signal can be had of results
"""Parameters in a `.bd` file that no block here has."""


def from_bdedit(path: str | Path) -> Draft:
    """A diagram file with the blocks and wires of a `.bd` file; contents without a counterpart are
    marked in it. Raises InputError if the file cannot be read.
    """
    file = Path(path)
    return _Conversion(file, _read(file)).draft()


def _read(file: Path) -> dict[str, Any]:
    place = Place(str(file))
    try:
        if file.stat().st_size > MAX_BYTES:
            raise InputError(Fault(f"it has more than {MAX_BYTES / 1e6:.0f} MB", place))
        model = json.loads(file.read_text("utf-8"))
    except OSError as error:
        raise InputError(Fault(f"it cannot be read: {error.strerror}", place)) from None
    except json.JSONDecodeError as error:
        at = Place(str(file), error.lineno, error.colno)
        raise InputError(Fault(f"it is not JSON, as .bd files are: {error.msg}", at)) from None
    except (ValueError, RecursionError) as error:
        raise InputError(Fault(f"it is not JSON, as .bd files are: {told(error)}", place)) from None
    if not isinstance(model, dict) or not all(
        isinstance(model.get(key), list) and all(isinstance(one, dict) for one in model[key])
        for key in ("blocks", "wires")
    ):
        hint = "it holds lists of blocks and wires, as bdsim's editor writes them"
        raise InputError(Fault("it is no diagram of bdsim's editor", place, hint))
    if len(model["blocks"]) > MOST_BLOCKS:
        raise InputError(Fault(f"it has more than {MOST_BLOCKS} blocks", place))
    return model


class _Conversion:
    """The conversion of one file."""

    def __init__(self, file: Path, model: Mapping[str, Any]) -> None:
        self.model = model
        self.made = Draft(_name(file.stem), [f"Made of {file.name}, of bdsim's editor."])
        self.outputs: dict[Any, str] = {}  # by socket: what a wire begins at
        self.inputs: dict[Any, str] = {}  # and ends at
        self.corners: dict[Any, Any] = {}  # the socket before a corner by the one behind it

    def draft(self) -> Draft:
        for block in self.model["blocks"]:
            self._block(block)
        for start, end in self._wires():
            self.made.top.wire(start, end)
        return self.made

    def _block(self, block: Mapping[str, Any]) -> None:
        kind = str(block.get("block_type", ""))
        ends = [_sockets(block.get(side)) for side in ("inputs", "outputs")]
        if kind == _CORNER:
            if ends[0] and ends[1]:
                self.corners[ends[1][0]] = ends[0][0]
            return
        if kind == _PAGE:
            return
        title = str(block.get("title") or kind)
        found = find_type(kind)
        if found is None or found.refusal:
            name = self._hole(title, kind, ends, found)
            several = True
        else:
            name = self._carried(block, found, title, len(ends[0]))
            several = False
        for places, sockets in zip((self.inputs, self.outputs), ends, strict=True):
            for k, socket in enumerate(sockets):
                places[socket] = f"{name}.{k}" if several or len(sockets) > 1 else name

    def _hole(self, title: str, kind: str, ends: list[list[Any]], found: BlockType | None) -> str:
        """A block without a counterpart."""
        hint = None if found else type_hint(kind, type_names())
        why = f"{found.refusal}" if found else "; ".join(filter(None, ["no such type", hint]))
        self.made.rows.append(Row(title, kind, "", "left", why))
        ports = (min(len(ends[0]), 1000), min(len(ends[1]), 1000))
        return self.made.hole(self.made.top, _name(_short(title)), kind, ports, why)

    def _carried(self, block: Mapping[str, Any], kind: BlockType, title: str, inputs: int) -> str:
        name = self.made.top.named(_name(_short(title)))
        remarks: list[str] = []
        arguments = {"type": kind.name, **self._parameters(block, kind, name, remarks)}
        if kind.name == "SCOPE" and inputs > 1:
            arguments["nin"] = inputs
        state: State = "left" if remarks else "carried"
        self.made.rows.append(Row(title, kind.name, kind.name, state, "; ".join(remarks)))
        marked = [f"{MARK}: {remark}" for remark in remarks]
        self.made.top.blocks.append(DraftBlock(name, arguments, marked))
        return name

    def _parameters(
        self, block: Mapping[str, Any], kind: BlockType, name: str, remarks: list[str]
    ) -> dict[str, Any]:
        """The parameters that differ from their defaults. remarks: gets those left out."""
        given = block.get("parameters") or []
        pairs = given.items() if isinstance(given, dict) else (p for p in given if _is_pair(p))
        kept = {}
        for key, raw in pairs:
            if raw is None or key in _OURS:
                continue
            if key not in kind.parameters:
                hint = did_you_mean(str(key), kind.parameters)
                remarks.append(f"{kind.name} has no parameter {key!r}; {hint}")
                continue
            try:
                value = _value(raw)
            except (ValueError, SyntaxError, RecursionError, ArithmeticError):
                remarks.append(f"{key} is Python: {brief(raw)}")
                kept[key] = f"${name}_{key}"
                self.made.missing[f"{name}_{key}"] = f"{key} of {_title_of(block)}: {brief(raw)}"
                continue
            if value != kind.parameters[key].default:
                kept[key] = value
        return kept

    def _wires(self) -> Iterator[tuple[str, str]]:
        """The wires: where each begins, and where it ends."""
        begins = {
            _key(w.get("end_socket")): _key(w.get("start_socket")) for w in self.model["wires"]
        }
        for wire in self.model["wires"]:
            end = self.inputs.get(_key(wire.get("end_socket")))
            if end is None:  # it ends at a corner, or at a block that is told already
                continue
            start, seen = _key(wire.get("start_socket")), set()
            while start in self.corners and start not in seen:
                seen.add(start)
                start = begins.get(self.corners[start])
            if start in self.outputs:
                yield self.outputs[start], end


def _name(text: str) -> str:
    return plain_name(text.lower())


def _short(title: str) -> str:
    """A title without its last word "block"."""
    return re.sub(r"(?i)\s+block\b", "", title)


def _title_of(block: Mapping[str, Any]) -> str:
    return str(block.get("title") or block.get("block_type", ""))


def _sockets(side: Any) -> list[Any]:
    sockets = [s for s in side if isinstance(s, dict)] if isinstance(side, list) else []
    return [_key(socket.get("id")) for socket in sorted(sockets, key=_index)]


def _index(socket: dict[str, Any]) -> int:
    index = socket.get("index")
    return index if isinstance(index, int) else 0


def _key(value: Any) -> Any:
    return value if isinstance(value, int | str) else None


def _is_pair(pair: Any) -> bool:
    return isinstance(pair, list) and len(pair) == 2 and isinstance(pair[0], str)


# --- parameters that are Python -------------------------------------------------------------

_BINARY: dict[type[ast.operator], Callable[[float, float], float]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
}


def _value(raw: Any) -> Any:
    """The value of a parameter. Raises ValueError for Python expressions other than numbers and
    lists of them.
    """
    if not isinstance(raw, str):
        return raw
    if raw.startswith("="):
        return _computed(ast.parse(raw[1:].strip(), mode="eval").body)
    try:
        return _computed(ast.parse(raw, mode="eval").body)  # as bdsim does
    except (ValueError, SyntaxError):
        return raw


def _computed(node: ast.expr) -> Any:
    if isinstance(node, ast.Constant) and isinstance(node.value, int | float | str | bool):
        return node.value
    if isinstance(node, ast.List | ast.Tuple):
        return [_computed(item) for item in node.elts]
    if isinstance(node, ast.Name) and node.id == "pi":
        return math.pi
    if isinstance(node, ast.Attribute) and node.attr in ("pi", "e", "inf"):  # of math, of NumPy
        return getattr(math, node.attr)
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub | ast.UAdd):
        value = _number(node.operand)
        return -value if isinstance(node.op, ast.USub) else value
    if isinstance(node, ast.BinOp):
        left, right = _number(node.left), _number(node.right)
        if isinstance(node.op, ast.Pow) and max(abs(left), abs(right)) <= MOST_POWER:
            return float(left) ** right
        if type(node.op) in _BINARY:
            return _BINARY[type(node.op)](left, right)
    if isinstance(node, ast.Call) and _makes_array(node):
        return _computed(node.args[0])
    raise ValueError("it is no number")


def _makes_array(node: ast.Call) -> bool:
    """Whether a call is np.array of something."""
    named = isinstance(node.func, ast.Attribute) and node.func.attr in ("array", "asarray")
    return named and len(node.args) == 1 and not node.keywords


def _number(node: ast.expr) -> float:
    value = _computed(node)
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ValueError("it is no number")
    return value
