"""Makes blocks, with what bdsim 1.4 lacks in those that it makes of others: PID, PID_S, DERIV."""

from __future__ import annotations

from inspect import signature
from typing import Any

_STRUCTURES = ("parallel", "standard", "ideal", "series")


def made(cls: type[Any], *arguments: Any, **named: Any) -> Any:
    """A block of a class.

    bdsim 1.4 cannot make a PID without I and D but in the structure series, where the law of P
    alone is the same; such a PID_S gets a hold, so that it is sampled as with other terms. A DERIV
    gets its last gain also if this is 1, so that it is a parameter.
    """
    if not cls.__module__.startswith("bdsim.blocks.") or cls.__name__ not in _MENDED:
        return cls(*arguments, **named)
    return _MENDED[cls.__name__](cls, arguments, named)


def _pid(cls: type[Any], arguments: Any, named: Any) -> Any:
    bound = signature(cls).bind(*arguments, **named)
    given = bound.arguments
    alone = not any(_acts(given.get(term, 0)) for term in "ID")
    if alone and given.get("structure", "parallel") in _STRUCTURES:
        given["structure"] = "series"
    block = cls(*bound.args, **bound.kwargs)
    inside = block.subsystem
    if alone and cls.__name__ == "PID_S":
        _insert(block, inside.ZOH(given["clock"], name="hold"))
    for part in inside.blocklist:
        if part.type == "deriv":
            _put_gain(part)
    return block


def _acts(gain: Any) -> bool:
    return not (isinstance(gain, int | float) and gain == 0)


def _deriv(cls: type[Any], arguments: Any, named: Any) -> Any:
    block = cls(*arguments, **named)
    _put_gain(block)
    return block


def _put_gain(block: Any) -> None:
    """Give a DERIV the gain that bdsim leaves out if it is 1."""
    inside = block.subsystem
    if not any(part.name == "K" for part in inside.blocklist):
        _insert(block, inside.GAIN(1.0, name="K"))


def _insert(block: Any, last: Any) -> None:
    """Put a block of a subsystem before its output."""
    inside = block.subsystem
    [wire] = [wire for wire in inside.wirelist if wire.end.block is block.outport]
    inside.wirelist.remove(wire)
    inside.connect(wire.start.block, last)
    inside.connect(last, block.outport)


_MENDED = {"PID": _pid, "PID_S": _pid, "Deriv": _deriv}
