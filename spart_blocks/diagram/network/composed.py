"""The blocks that bdsim makes of others, such as PID, under the names that their user knows.

bdsim expands `pid`, a PID, into a gain 'pid/P' with the argument K, an integrator 'pid/I', a sum
'pid/SUM' and more. The user has given P, and wires from and to `pid`: so the parameter is 'pid.P',
the sum's output is 'pid', and only what has no name of the user's keeps one with a slash.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class InnerArgument:
    """An argument of an inner block that gets the value of an argument of the composed block.

    block: path of the inner block. sign: +1 or -1, the factor of the value there, if it is one
    number. entry: index of the value there, if it is a pair. apart: values for which bdsim makes
    different inner blocks, so that they cannot be values of a parameter. unless: if this argument
    is given too, the value has a further effect and is not a parameter.
    """

    block: str
    argument: str
    sign: int = 1
    entry: int = 0
    apart: frozenset[float] = frozenset()
    unless: str = ""


_ZERO = frozenset({0.0})
_LIMITS = (InnerArgument("I", "max", entry=1), InnerArgument("I", "min", -1))

COMPOSED: Mapping[str, Mapping[str, tuple[InnerArgument, ...]]] = {
    "DERIV": {
        "alpha": (InnerArgument("alpha", "K", unless="y0"),),
        "gain": (InnerArgument("K", "K"),),
        "x0": (InnerArgument("integrator.0", "x0", unless="y0"),),
    },
    "PID": {
        "P": (InnerArgument("P", "K"),),
        "I": (InnerArgument("I", "gain", apart=_ZERO),),
        "D": (InnerArgument("D/K", "K", apart=_ZERO),),
        "D_pole": (InnerArgument("D/alpha", "K"),),
        "I_limit": _LIMITS,
    },
    "PID_S": {
        "P": (InnerArgument("gain.0", "K"),),
        "I": (InnerArgument("I", "gain", apart=_ZERO),),
        "D": (InnerArgument("deriv_s.0", "gain", apart=_ZERO),),
        "I_limit": _LIMITS,
    },
}
"""By type and argument. Arguments that are not listed are structural."""

_TERMS = {
    "DERIV": {"integrator.0": "filter"},
    "PID": {"ERR": "error", "SUM_I": "PI"},
    "PID_S": {"gain.0": "P", "deriv_s.0": "D", "errsum": "error", "SUM_I": "PI"},
}
"""By type, other names of inner blocks, where bdsim's name tells their kind and not their part."""


@dataclass(frozen=True)
class Given:
    """An argument of a composed block, as an inner block has it. name: 'pid.P'. part: where."""

    name: str
    part: InnerArgument


@dataclass(frozen=True)
class Part:
    """An inner block. owner, kind: full name and type of the block that the user has made. former:
    its own full name in bdsim. given: its arguments that the user has given, by their names there.
    """

    owner: str
    kind: str
    former: str
    given: Mapping[str, Given]


@dataclass(frozen=True)
class Composed:
    """A composed block, or one within it. type: of it. user, kind: full name and type of the
    outermost, which the user has made. within: path of this one in that, '' or 'D/'.
    """

    type: str
    user: str
    kind: str
    within: str = ""

    def term(self, name: str) -> str:
        """The name of an inner block, by bdsim's."""
        return _TERMS[self.type].get(name, name)

    def part(self, name: str, former: str) -> Part:
        """An inner block, by its name within its diagram, and in bdsim."""
        given = {
            part.argument: Given(f"{self.user}.{argument}", part)
            for argument, parts in COMPOSED[self.kind].items()
            for part in parts
            if part.block == self.within + name
        }
        return Part(self.user, self.kind, former, given)


def composed_of(shell: Any, name: str, around: Composed | None) -> Composed | None:
    """A subsystem as a composed block; None for a subsystem of the user. name: its full name.
    around: the composed block that it is part of.
    """
    kind = str(shell.type).upper()
    if kind not in COMPOSED or not type(shell).__module__.startswith("bdsim.blocks."):
        return None
    if around is None:
        return Composed(kind, name, kind)
    return Composed(kind, around.user, around.kind, f"{around.within}{shell.name}/")


def former_names(name: str) -> list[str]:
    """The parameters that a name may mean that is one of bdsim's inner block, as programs once had
    it: 'pid.P' of 'pid/P.K'.
    """
    return [
        f"{name.removesuffix(inner)}.{argument}"
        for arguments in COMPOSED.values()
        for argument, parts in arguments.items()
        for part in parts
        if name.endswith(inner := f"/{part.block}.{part.argument}")
    ]
