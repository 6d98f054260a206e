"""Makes a block; also a PID or PID_S whose only term is P, which bdsim 1.4 cannot make."""

from __future__ import annotations

from inspect import signature
from typing import Any


def made(cls: type[Any], *arguments: Any, **named: Any) -> Any:
    """A block of a class. bdsim 1.4 makes a PID without I and D in the structure series only, where
    the law of P alone is the same. A PID_S becomes sampled, as it is with other terms.
    """
    if not cls.__module__.startswith("bdsim.blocks.") or cls.__name__ not in ("PID", "PID_S"):
        return cls(*arguments, **named)
    bound = signature(cls).bind(*arguments, **named)
    given = bound.arguments
    alone = not any(_acts(given.get(term, 0)) for term in "ID")
    if not alone or given.get("structure", "parallel") not in _STRUCTURES:
        return cls(*arguments, **named)
    given["structure"] = "series"
    block = cls(*bound.args, **bound.kwargs)
    if cls.__name__ == "PID_S":
        _hold(block, given["clock"])
    return block


_STRUCTURES = ("parallel", "standard", "ideal", "series")


def _acts(gain: Any) -> bool:
    return not (isinstance(gain, int | float) and gain == 0)


def _hold(block: Any, clock: Any) -> None:
    """Put a ZOH before the output of a subsystem."""
    inside = block.subsystem
    [last] = [wire for wire in inside.wirelist if wire.end.block is block.outport]
    gain = last.start.block
    inside.wirelist.remove(last)
    hold = inside.ZOH(clock, name="hold")
    inside.connect(gain, hold)
    inside.connect(hold, block.outport)
