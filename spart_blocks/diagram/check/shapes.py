"""The shapes that inputs of blocks accept, and errors for wires with other shapes.

Our blocks declare the shapes of their ports. For each block of bdsim there is a rule here that
decides, without calling its code, which shapes it accepts.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from math import prod
from typing import Any

import numpy as np

from spart_blocks.base.errors import Fault
from spart_blocks.block_support.ports import attribute
from spart_blocks.diagram.network.flatten import Node
from spart_blocks.diagram.network.gates import gate_of, own_class

Shape = tuple[int, ...]
ONE = "one number"
VECTOR = "a vector"
MATRIX = "a matrix"
SQUARE = "a square matrix"
_LONGEST_WRITTEN = 12


@dataclass(frozen=True)
class Misfit:
    """An input with a wrong shape. port: its number. takes: the accepted shape, as text. hint: how
    to correct it.
    """

    port: int
    takes: str
    hint: str = ""


Takes = Callable[[Node, Sequence[Shape]], Misfit | None]


def shapes_of(values: Sequence[Any]) -> list[Shape] | None:
    """The shapes of signals of numbers or symbols; None if one of them is something else, such as
    a pose or a dictionary.
    """
    kinds: list[Any] = [type(value) for value in values]
    if not all(map(_is_of_numbers, kinds)):
        return None
    return [
        () if kind is float else tuple(v.shape) if hasattr(v, "shape") else np.shape(v)
        for kind, v in zip(kinds, values, strict=True)
    ]


@cache
def _is_of_numbers(kind: type[Any]) -> bool:
    """Whether a type is of numbers or symbols; poses have an inverse."""
    return not issubclass(kind, (dict, str, type(None))) and not hasattr(kind, "inv")


def shape_text(shape: Shape) -> str:
    """A shape as messages show it."""
    return str(shape) if shape else ONE


def wrong_wires(nodes: Sequence[Node], node: Node, inputs: Sequence[Any]) -> list[Fault]:
    """The faults of wires into a node with shapes that it does not accept.

    All ports that declare a shape are checked. For bdsim's blocks only the first wrong input is
    reported.
    """
    shapes = shapes_of(inputs)
    if not shapes:
        return []
    misfits = [
        Misfit(k, shape_text(port.shape), _width_hint(node, port.shape, shape))
        for k, (port, shape) in enumerate(zip(node.in_ports, shapes, strict=True))
        if port.shape is not None and shape != port.shape
    ]
    rule = _TAKES.get(_key(node.block))
    if not misfits and rule is not None:
        gate = gate_of(node.block)
        found = rule(node, shapes[: len(shapes) - gate.count] if gate else shapes)
        misfits = [found] if found is not None else []
    return [misfit_fault(nodes, node, misfit, shapes) for misfit in misfits]


def _width_hint(node: Node, takes: Shape, shape: Shape) -> str:
    """How a block that takes a number takes a vector, if a parameter `width` says it."""
    specs = getattr(type(node.block), "parameters", None) or ()
    if takes or len(shape) != 1 or all(spec.name != "width" for spec in specs):
        return ""
    return f"for a signal of {shape[0]} write width: {shape[0]} in {node.name}"


def misfit_fault(
    nodes: Sequence[Node], node: Node, misfit: Misfit, shapes: Sequence[Shape]
) -> Fault:
    """The message about a wire: its ends, its shape and the expected shape."""
    source, number = node.sources[misfit.port]
    start, end = nodes[source].output_name(number), input_label(node, misfit.port)
    message = (
        f"wire '{start} -> {end}': {start} is {shape_text(shapes[misfit.port])}, "
        f"{end} takes {misfit.takes}"
    )
    lines = [f"{_described(nodes[source])}, {_described(node)}", misfit.hint]
    hint = "\n  ".join(line for line in lines if line)
    return Fault(message, node.wire_place(misfit.port), hint)


def input_label(node: Node, port: int) -> str:
    """The name of an input as users write it: only the block's if its only input has no name."""
    alone = len(node.in_ports) == 1 and node.in_ports[0].name == "0"
    return node.name if alone else node.input_name(port)


def _described(node: Node) -> str:
    gain: Any = attribute(node.block, "K") if node.block.type == "gain" else None
    with_gain = f" (K of {node.name} is {np.shape(gain)})" if np.ndim(gain) else ""
    return f"{node.owner} is {node.type}{with_gain}"


def _key(block: Any) -> str:
    kind = own_class(block)
    return kind.__name__ if kind.__module__.startswith("bdsim.blocks.") else ""


# --- arithmetic --------------------------------------------------------------------------


def _sum(node: Node, shapes: Sequence[Shape]) -> Misfit | None:
    together = shapes[0]
    for k, shape in enumerate(shapes[1:], 1):
        try:
            together = np.broadcast_shapes(together, shape)
        except ValueError:
            first = node.input_name(next(i for i in range(k) if shapes[i]))
            hint = f"{first} is {together}, and a SUM adds signals of one shape, and numbers"
            return Misfit(k, f"{shape_text(together)} or {ONE}", hint)
    mode = node.block.mode
    if mode is not None and together and len(mode) != together[0]:
        wide = next(k for k, shape in enumerate(shapes) if shape)
        hint = f"mode {mode!r} of {node.name} has a letter for each entry of its sum"
        return Misfit(wide, shape_text((len(mode), *together[1:])), hint)
    return None


def _prod(node: Node, shapes: Sequence[Shape]) -> Misfit | None:
    """The rule of PROD. bdsim multiplies by an array with @, and divides by its inverse."""
    ops, together = node.block.ops, shapes[0]
    for k, shape in enumerate(shapes):
        if ops[k] == "/" and shape and not _is_square(shape):
            hint = f"a PROD divides by a matrix with its inverse: {node.name} has ops {ops!r}"
            return Misfit(k, f"{SQUARE} or {ONE}", hint)
        if k == 0 or not shape:
            continue
        product = _matrix_product(together, shape)
        if product is None and not together:
            hint = "a PROD multiplies by an array with @"
            return Misfit(k, ONE, f"{hint}: wire the number to a later port than the array")
        if product is None:
            hint = "a PROD multiplies arrays as matrices, in the order of its ports"
            rows = together[-1]
            return Misfit(k, f"({rows},), ({rows}, n) or {ONE}", hint)
        together = product
    return None


def _gain(node: Node, shapes: Sequence[Shape]) -> Misfit | None:
    K, premul, shape = node.block.K, node.block.premul, shapes[0]
    if isinstance(K, (list, tuple)) and not shape:
        hint = f"K of {node.name} is a {type(K).__name__}; for a number as signal write np.array(K)"
        return Misfit(0, VECTOR, hint)
    if not (isinstance(K, np.ndarray) and K.ndim and shape):
        return None
    one, other = (K.shape, shape) if premul else (shape, K.shape)
    if _matrix_product(one, other) is not None:
        return None
    entries = K.shape[-1] if premul else K.shape[0]
    what = "K @ u" if premul else "u @ K"
    hint = f"K of {node.name} is {K.shape}, and the output {what}"
    if _matrix_product(other, one) is not None:
        turned = "u @ K" if premul else "K @ u"
        hint += f"; premul: {'false' if premul else 'true'} makes it {turned}"
    return Misfit(0, f"({entries},) or {ONE}", hint)


def _matrix_product(one: Shape, other: Shape) -> Shape | None:
    """The shape of one @ other; None if they cannot be multiplied."""
    if not one or not other or one[-1] != (other[0] if len(other) == 1 else other[-2]):
        return None
    rest = other[-1:] if len(other) > 1 else ()
    return (*one[:-1], *rest)


def _is_square(shape: Shape) -> bool:
    return len(shape) == 2 and shape[0] == shape[1]


def _clip(node: Node, shapes: Sequence[Shape]) -> Misfit | None:
    limits = [np.shape(limit) for limit in (node.block.min, node.block.max) if limit is not None]
    wide = [limit for limit in limits if limit]
    if not wide:
        return None
    hint = f"min and max of {node.name} have an entry for each of the signal, or are numbers"
    try:
        fits = bool(shapes[0]) and np.broadcast_shapes(shapes[0], *wide) == shapes[0]
    except ValueError:
        fits = False
    return None if fits else Misfit(0, shape_text(wide[0]), hint)


# --- states ------------------------------------------------------------------------------


def _state(node: Node, shapes: Sequence[Shape]) -> Misfit | None:
    """The rule of blocks with a state: the input is a vector of its length, or one number."""
    length = int(node.block.nstates or node.block.ndstates)
    size, name = prod(shapes[0]), node.name
    if size == 1 or (size == length and (len(shapes[0]) < 2 or 1 in shapes[0])):
        return None
    entries = f"{length} entry" if length == 1 else f"{length} entries"
    zeros = f"[{', '.join(['0'] * size)}]" if 0 < size <= _LONGEST_WRITTEN else f"{size} numbers"
    hint = f"x0 of {name} has {entries}; for a signal of {size} write x0: {zeros}"
    return Misfit(0, ONE if length == 1 else f"({length},) or {ONE}", hint if size else "")


def _numbers(node: Node, shapes: Sequence[Shape]) -> Misfit | None:
    wrong = next((k for k, shape in enumerate(shapes) if prod(shape) != 1), None)
    kind = node.block.type.upper()
    a = "an" if kind.startswith("LTI") else "a"
    several = f"pick an entry, as signal[0], or use {a} {kind} for each entry"
    return None if wrong is None else Misfit(wrong, ONE, several)


# --- parts of arrays ---------------------------------------------------------------------


def _demux(node: Node, shapes: Sequence[Shape]) -> Misfit | None:
    count, shape = node.block.nout, shapes[0]
    if shape and shape[0] == count:
        return None
    return Misfit(0, f"({count},)", f"nout of {node.name} is {count}: an output for each entry")


def _index(node: Node, shapes: Sequence[Shape]) -> Misfit | None:
    index = node.block.index
    return _picked(node, shapes[0], index if isinstance(index, list) else [])


def _slice1(node: Node, shapes: Sequence[Shape]) -> Misfit | None:
    if len(shapes[0]) != 1:
        return Misfit(0, VECTOR)
    return _index(node, shapes)


def _picked(node: Node, shape: Shape, index: Sequence[Any]) -> Misfit | None:
    """A misfit if the input is shorter than a list of indices needs; otherwise None."""
    places = [i for i in index if isinstance(i, int)]
    needed = max((i + 1 if i >= 0 else -i for i in places), default=0)
    if shape and shape[0] >= needed:
        return None
    takes = f"{VECTOR} of {needed} or more" if needed else VECTOR
    return Misfit(0, takes, f"index of {node.name} is {index}; entries count from 0")


def _ranked(rank: int, takes: str) -> Takes:
    def check(node: Node, shapes: Sequence[Shape]) -> Misfit | None:
        return None if len(shapes[0]) == rank else Misfit(0, takes)

    return check


def _square(node: Node, shapes: Sequence[Shape]) -> Misfit | None:
    return None if _is_square(shapes[0]) else Misfit(0, SQUARE)


def _pow(node: Node, shapes: Sequence[Shape]) -> Misfit | None:
    return _square(node, shapes) if node.block.matrix and shapes[0] else None


# --- sinks -------------------------------------------------------------------------------


def _stop(node: Node, shapes: Sequence[Shape]) -> Misfit | None:
    if attribute(node.block, "stopfunc") is not None or prod(shapes[0]) == 1:
        return None
    return Misfit(0, ONE, "pick an entry, as signal[0]")


def _scope(node: Node, shapes: Sequence[Shape]) -> Misfit | None:
    vector, shape = node.block.vector, shapes[0]
    if isinstance(vector, list):
        return _picked(node, shape, vector)
    if vector is None or shape == (vector,) or (vector == 1 and not shape):
        return None
    return Misfit(0, shape_text((vector,)), f"vector of {node.name} is {vector}: so many lines")


# --- the table ---------------------------------------------------------------------------

_TAKES: dict[str, Takes] = {
    "Sum": _sum,
    "Prod": _prod,
    "Gain": _gain,
    "Pow": _pow,
    "Clip": _clip,
    "Integrator": _state,
    "Integrator_S": _state,
    "DIntegrator": _state,
    "ZOH": _state,
    "Deriv_S": _state,
    "LTI_SS": _numbers,
    "LTI_SISO": _numbers,
    "Deriv2": _numbers,
    "LTI_SS_S": _numbers,
    "LTI_SISO_S": _numbers,
    "DeMux": _demux,
    "Index": _index,
    "Slice1": _slice1,
    "Slice2": _ranked(2, MATRIX),
    "Inverse": _ranked(2, MATRIX),
    "Cond": _ranked(2, MATRIX),
    "Det": _square,
    "Stop": _stop,
    "Event": _stop,
    "Scope": _scope,
}
"""The rules by class of bdsim. Blocks that accept any shape have none."""
