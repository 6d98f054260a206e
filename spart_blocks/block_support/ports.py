"""Ports of our blocks: name, shape, unit, and whether they are optional. bdsim knows port names
only. Our blocks also declare shapes, so that a wrong wire is reported with both ends before the
run, and units, for readers.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

Shape = tuple[int, ...]


@dataclass(frozen=True)
class Port:
    """One port. shape None means any shape. An optional input without a wire is zeros of its
    shape. levels: names of the values 1, 2, ... of an output that is a number of something.
    entries: names of the entries of a vector, such as the joints.
    """

    name: str
    shape: Shape | None = None
    unit: str = ""
    optional: bool = False
    levels: tuple[str, ...] = ()
    entries: tuple[str, ...] = ()


def numbered(count: int) -> tuple[Port, ...]:
    """Ports u1, u2, ... of any shape."""
    return tuple(Port(f"u{k + 1}") for k in range(count))


def port_arguments(inputs: Sequence[Port], outputs: Sequence[Port]) -> dict[str, Any]:
    """The arguments of bdsim's Block.__init__ that give a block these ports."""
    return {
        "nin": len(inputs),
        "nout": len(outputs),
        "inames": [port.name for port in inputs] or None,
        "onames": [port.name for port in outputs] or None,
    }


_NONE = object()


def attribute(block: Any, name: str, default: Any = None) -> Any:
    """An attribute of a block, without the search among its ports that bdsim's `getattr` makes; the
    default too where there is no block, as in the sheet of a file with mistakes.
    """
    if name not in getattr(block, "__dict__", ()) and getattr(type(block), name, _NONE) is _NONE:
        return default  # in a third of the time of an AttributeError
    try:
        return object.__getattribute__(block, name)
    except AttributeError:
        return default


def input_ports(block: Any) -> tuple[Port, ...]:
    """The input ports of any bdsim block: ours as declared, others by name or number."""
    return _ports(block, "in_ports", block.nin, block._inport_names)


def output_ports(block: Any) -> tuple[Port, ...]:
    """The output ports of any bdsim block: ours as declared, others by name or number."""
    return _ports(block, "out_ports", block.nout, block._outport_names)


def _ports(block: Any, attribute: str, count: int, names: list[str] | None) -> tuple[Port, ...]:
    declared: tuple[Port, ...] | None = block.__dict__.get(attribute)
    if declared is not None:
        return declared
    return _named(tuple(names[:count])) if names else _numbered(count)


@lru_cache(maxsize=1024)
def _numbered(count: int) -> tuple[Port, ...]:
    return _named(tuple(map(str, range(count))))


@lru_cache(maxsize=1024)
def _named(names: tuple[str, ...]) -> tuple[Port, ...]:
    """Ports of any shape, cached, since thousands of blocks have the same."""
    return tuple(map(Port, names))


def one_shape(signals: Iterable[Any], more: str = "") -> Shape:
    """The shape of signals, () of none; a ValueError where it is not one. more: what else fits."""
    shapes = {np.shape(signal) for signal in signals}
    if len(shapes) > 1:
        told = " and ".join(map(str, sorted(shapes)))
        raise ValueError(f"its signals are {told}; they must be of one shape{more}")
    return next(iter(shapes), ())


def taken_names(kind: type[Any], names: Iterable[str]) -> list[str]:
    """The port names that are attributes of a block class or of every block: bdsim turns
    assignments to port names into wires.
    """
    return [name for name in names if name in _attributes() or hasattr(kind, name)]


@lru_cache(maxsize=1)
def _attributes() -> frozenset[str]:
    """The names of the attributes of every block, except ports."""
    from bdsim.components import FunctionBlock

    class Plain(FunctionBlock):
        nin = 1
        nout = 1

        def output(self, t: float, inputs: list[Any], x: Any) -> list[Any]:
            return inputs

    return frozenset((*dir(Plain), *vars(Plain(name="plain"))))


def as_signal(value: Any) -> Any:
    """Form in which a wire carries a value. A list becomes a vector: bdsim's GAIN would repeat it,
    SUM join it. An array without axes becomes a number: bdsim's PROD would multiply it by @. An
    array may be a state or a parameter, so it is read-only."""
    if isinstance(value, list):
        value = np.asarray(value, float)
    if isinstance(value, np.ndarray):
        value = value.view()
        value.setflags(write=False)
        return value if value.ndim else value[()]
    return value


def wrong_outputs(out: Any, ports: int) -> str:
    """The message for an output method that returned no list, or not one value for each port."""
    if isinstance(out, (list, tuple)):
        return f"output gives {len(out)} values, the block has {ports} output ports"
    kind = "nothing" if out is None else f"a {type(out).__name__}"
    return f"output gives {kind}; it must give a list, one value for each port"
