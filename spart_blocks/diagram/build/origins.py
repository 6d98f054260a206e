"""Records, while blocks are built, which of their arguments have the value of an entry of the
file.

With `params: {kp: 2}` and `K: $kp` in two blocks, the entry params.kp is the argument K of both. A
subsystem passes on the values that its user gives it, such as blocks.arm.kp, and so on inwards.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias

from spart_blocks.diagram.network.composed import COMPOSED

if TYPE_CHECKING:
    from spart_blocks.base.document import Keys
    from spart_blocks.diagram.written.references import Resolved


@dataclass(frozen=True)
class Use:
    """An argument of a block that has a value of the file unchanged.

    block: its full name, 'arm/ctrl'. within: path of the entry of the argument that has the value,
    () for the whole argument. shares: whether it has the shape of the value and no other entry had
    it before; such arguments of one value become one parameter of the program.
    """

    block: str
    argument: str
    within: Keys = ()
    shares: bool = False

    @property
    def name(self) -> str:
        """The name of the argument as a parameter: 'arm/ctrl.kp'."""
        return f"{self.block}.{self.argument}"


@dataclass(frozen=True)
class Origin:
    """An entry of a file, and the arguments that have its value.

    value: with references replaced. alone: whether nothing else depends on it. apart: values for
    which other blocks are made, so that they cannot be values of a parameter.
    """

    value: Any = None
    uses: tuple[Use, ...] = ()
    alone: bool = True
    apart: frozenset[float] = frozenset()


Origins: TypeAlias = "Mapping[Keys, Origin]"
"""Origins by path of the entry: ('params', 'kp') or ('blocks', 'arm', 'kp')."""


def shared_arguments(origins: Origins) -> dict[str, tuple[tuple[str, str], ...]]:
    """For each parameter of the file the arguments (block, name) that share its value, and with it
    form one parameter of the program.
    """
    found = {
        str(path[1]): tuple((use.block, use.argument) for use in origin.uses if use.shares)
        for path, origin in origins.items()
        if path[0] == "params" and len(path) == 2
    }
    return {name: pairs for name, pairs in found.items() if pairs}


@dataclass
class OriginRecorder:
    """Collects origins. elsewhere: entries that affect more than arguments of blocks."""

    values: dict[Keys, Any] = field(default_factory=dict)
    uses: dict[Keys, list[Use]] = field(default_factory=dict)
    elsewhere: set[Keys] = field(default_factory=set)
    apart: dict[Keys, frozenset[float]] = field(default_factory=dict)

    def origins(self) -> dict[Keys, Origin]:
        """The origins recorded so far, in the order of their first uses."""
        return {
            path: Origin(
                self.values[path],
                tuple(self.uses.get(path, ())),
                path not in self.elsewhere,
                self.apart.get(path, frozenset()),
            )
            for path in {**self.uses, **self.values}
        }

    def note(self, path: Keys, use: Use, kind: str, given: Mapping[str, Resolved]) -> None:
        """Record that an argument of a block has the value at a path. kind: type of the block.
        given: all its arguments.
        """
        parts = COMPOSED.get(kind, {}).get(use.argument, ())
        if any(_is_given(given, part.unless) for part in parts):
            self.elsewhere.add(path)
            return
        self.uses.setdefault(path, []).append(use)
        for part in parts:
            self.apart[path] = self.apart.get(path, frozenset()) | part.apart

    def note_mapping(
        self, path: Keys, block: str, value: Mapping[str, Any], tunable: Collection[str]
    ) -> None:
        """Record that an argument of a block is the mapping at a path; the tunable entries of it
        are parameters.
        """
        for key in value:
            if key in tunable:
                self.values.setdefault((*path, key), value[key])
                self.uses.setdefault((*path, key), []).append(Use(block, key))


def _is_given(arguments: Mapping[str, Resolved], name: str) -> bool:
    return name in arguments and arguments[name].value is not None
