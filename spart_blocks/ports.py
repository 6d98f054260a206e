"""Ports of our blocks: name, shape, unit, and whether a wire may be missing.

bdsim knows port names only. Our blocks also state shapes, so that a wrong wire is
reported with both its ends before the run, and units, so that people can read them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

Shape = tuple[int, ...]


@dataclass(frozen=True)
class Port:
    """One port. shape None means any shape. An optional input that no wire reaches is
    zeros of its shape."""

    name: str
    shape: Shape | None = None
    unit: str = ""
    optional: bool = False


def port_arguments(inputs: Sequence[Port], outputs: Sequence[Port]) -> dict[str, Any]:
    """The arguments of bdsim's Block.__init__ that give a block these ports."""
    return {
        "nin": len(inputs),
        "nout": len(outputs),
        "inames": [port.name for port in inputs] or None,
        "onames": [port.name for port in outputs] or None,
    }


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
    """Ports of any shape. Thousands of blocks have the same: each is made once."""
    return tuple(map(Port, names))


def taken_names(kind: type[Any], names: Iterable[str]) -> list[str]:
    """Those of some names of ports that are attributes of a class of blocks, or of every
    block: bdsim makes wires of assignments to the names of ports."""
    return [name for name in names if name in _attributes() or hasattr(kind, name)]


@lru_cache(maxsize=1)
def _attributes() -> frozenset[str]:
    """The names of what every block has besides its ports."""
    from bdsim.components import FunctionBlock

    class Plain(FunctionBlock):
        nin = 1
        nout = 1

        def output(self, t: float, inputs: list[Any], x: Any) -> list[Any]:
            return inputs

    return frozenset((*dir(Plain), *vars(Plain(name="plain"))))


def wrong_outputs(out: Any, ports: int) -> str:
    """What to say of an output method that gave no list, or not one value for each port."""
    if isinstance(out, (list, tuple)):
        return f"output gives {len(out)} values, the block has {ports} output ports"
    kind = "nothing" if out is None else f"a {type(out).__name__}"
    return f"output gives {kind}; it must give a list, one value for each port"
