"""Errors for wrong names in Python: for `plant.tam` and `bd.MULTIBDY` they suggest the right name.

The blocks are classes of bdsim, so the attribute methods of its base classes are replaced. They
raise an AttributeError as before, so that hasattr and getattr work the same. The message is built
only when it is read, since attributes are tested often.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from functools import cached_property
from typing import Any

from spart_blocks.base.errors import Fault, InputError, near_names, warn
from spart_blocks.block_support.ports import attribute, input_ports, output_ports
from spart_blocks.formulas.reader import CONSTANTS, MEANINGS

Kinds = Callable[[], Iterable[str]]


_PLAIN = frozenset((type(None), bool, int, float, str, list, tuple, dict))
"""Types of attributes that make no wire of a block without named inputs."""


class UnknownNameError(InputError, AttributeError):
    """A name that a block or a diagram does not have."""

    def __init__(self, name: str, owner: Any, kinds: Kinds = tuple) -> None:
        """kinds: gives the types of blocks, where the owner is a diagram."""
        Exception.__init__(self, name)
        self.unknown, self.owner, self.kinds = name, owner, kinds

    @cached_property
    def faults(self) -> tuple[Fault, ...]:  # type: ignore[override]
        """The fault, with the nearest known names."""
        return (_fault(self.unknown, self.owner, self.kinds),)

    def __str__(self) -> str:
        return "\n".join(map(str, self.faults))

    def __reduce__(self) -> Any:
        return InputError, (self.faults,)


def _fault(name: str, owner: Any, kinds: Kinds) -> Fault:
    if hasattr(owner, "blocklist"):
        return _of_diagram(name, owner, kinds())
    label = f"{getattr(owner, 'name', None)} ({str(getattr(owner, 'type', None)).upper()})"
    inputs, outputs = (_names(ports(owner)) for ports in (input_ports, output_ports))
    own = [key for key in (*vars(owner), *dir(type(owner))) if not key.startswith("_")]
    hint = near_names(name, (*inputs, *outputs)) or near_names(name, own)
    sides = [
        f"{verb} {', '.join(names)}"
        for verb, names in (("takes", inputs), ("gives", outputs))
        if names
    ]
    known = f"it {', and '.join(sides)}" if sides else "its ports go by number, as block[0]"
    return Fault(f"no port {name!r} on {label}: {known}", hint=hint)


def _names(ports: Iterable[Any]) -> Sequence[str]:
    """The names of ports that have one."""
    return [port.name for port in ports if not port.name.isdecimal()]


def _of_diagram(name: str, bd: Any, kinds: Iterable[str]) -> Fault:
    kinds = list(kinds)
    own = near_names(name, (key for key in dir(bd) if not (key.startswith("_") or key.isupper())))
    kind = None if own else near_names(name.upper(), kinds)
    if name.isupper() or kind:
        hint = near_names(name.upper(), kinds) or "`spart blocks` lists them"
        return Fault(f"there is no block type {name!r}", hint=hint)
    return Fault(f"a block diagram has no {name!r}", hint=own)


def tell_names(kinds: Kinds) -> None:
    """Make bdsim's blocks and diagrams raise UnknownNameError for unknown attributes.

    kinds: returns the types of blocks.
    """
    from bdsim.block import Block
    from bdsim.blockdiagram import BlockDiagram
    from bdsim.connect import Plug

    look_up, assign = Block.__getattr__, Block.__setattr__

    def port(self: Any, name: str) -> Any:
        try:
            return look_up(self, name)
        except AttributeError:
            if name.startswith("_"):
                raise
        raise UnknownNameError(name, self)

    def wire(self: Any, name: str, value: Any) -> None:
        if type(value) in _PLAIN and self.__dict__.get("_inport_names") is None:
            object.__setattr__(self, name, value)  # nothing to wire, in half of bdsim's time
            return
        kinds = type(value).__mro__  # isinstance asks Python's code: Block is an abstract class
        if (Block in kinds or Plug in kinds) and not hasattr(self, name):
            names = [port.name for port in input_ports(self)] if "nin" in vars(self) else []
            if near_names(name, names):
                raise UnknownNameError(name, self)
        assign(self, name, value)

    def kind(self: Any, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        raise UnknownNameError(name, self, kinds)

    Block.__getattr__, Block.__setattr__ = port, wire
    BlockDiagram.__getattr__ = kind


# --- Names in formulas ----------------------------------------------------------------------------


_RENAMED = "where the parameter is meant, give it another name"
_SIGNAL = "where a signal e is meant, give arguments: [e]; where the number is meant, write exp(1)"


def warn_of_constants(block: Any, label: str, params: Collection[str]) -> None:
    """Warn if a formula uses e or pi as constants although the file has a parameter of that name,
    and where e may be meant as a signal.

    label: of the block, with its place. params: names of the file's parameters.
    """
    formulas = attribute(block, "formulas", ())
    for name in sorted({name for formula in formulas for name in formula.constants}):
        text = f"{label} takes {name} for {MEANINGS[name]}"
        if name in params:
            warn(f"{text}, not for the parameter {name}\n  {_RENAMED}")
        elif name == "e" and any(formula.scaled_by_e for formula in formulas):
            warn(f"{text}, {CONSTANTS[name]:.6g}\n  {_SIGNAL}")
