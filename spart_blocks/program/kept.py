"""Keeps the program of a diagram in memory with it until the diagram changes.

Blocks and wires can be changed between two uses, so their contents are compared: numbers, texts,
arrays and wires. If a diagram contains something whose changes cannot be detected, such as a
Python function of the user, nothing is kept.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from fractions import Fraction
from functools import cache
from hashlib import blake2b
from pathlib import PurePath
from types import BuiltinFunctionType, FunctionType, MethodType, ModuleType
from typing import Any, Generic, TypeVar

import numpy as np
from pydantic import BaseModel

from spart_blocks.base.errors import warn
from spart_blocks.diagram import Diagram
from spart_blocks.program.program import Program
from spart_blocks.robot import Robot

_OURS = ("spart_blocks", "bdsim")
_UNCHANGING = (*_OURS, "numpy", "scipy", "math", "builtins")
"""Packages whose own functions do not change."""
_RUNTIME = frozenset(
    ("_bd", "_id", "_parameters", "_x_view", "_output_values", "_pos", "_callsite")
)
"""Attributes of a bdsim block that do not affect what it computes."""
_PREFIX = "_spart_kept_"
"""Prefix of the attributes of a diagram that keep something."""
What = TypeVar("What")


@dataclass(eq=False)
class Kept(Generic[What]):
    """Something made of a diagram, and the contents of the diagram when it was made.

    told: the warnings of its making. held: objects that the contents identify by id, kept alive.
    """

    contents: str
    what: What
    told: tuple[str, ...]
    held: tuple[Any, ...]

    def __deepcopy__(self, memo: dict[int, Any]) -> None:
        """A deep copy of the diagram keeps nothing, since it has its own blocks."""

    def __reduce__(self) -> tuple[Any, tuple[Any, ...]]:
        return type(None), ()

    def given(self) -> What:
        """What is kept; its warnings are given again."""
        for text in self.told:
            warn(text)
        return self.what


def keep(diagram: Diagram, key: str, what: Any, told: list[str], now: Contents | None) -> None:
    """Keep something that was made of a diagram with these contents."""
    if now is not None:
        vars(diagram.bd)[_PREFIX + key] = Kept(now.text, what, tuple(told), tuple(now.held))


def kept(diagram: Diagram, key: str) -> Kept[Any] | None:
    """What is kept, whether the diagram has changed or not."""
    found: Kept[Any] | None = vars(diagram.bd).get(_PREFIX + key)
    return found


def forget(diagram: Diagram, key: str) -> None:
    vars(diagram.bd).pop(_PREFIX + key, None)


def declared(program: Program, diagram: Diagram) -> bool:
    """Whether blocks have declared when they switch up to the end of the diagram's run."""
    until = program.declared_until
    return until is None or until >= diagram.run.T


class _UnseenError(Exception):
    """The diagram contains something whose changes cannot be detected."""


@dataclass
class Contents:
    """Collects the contents of a diagram to a text, which differs if the diagram differs. held:
    objects that are identified by id; they must stay alive while the text is compared.
    """

    held: list[Any] = field(default_factory=list)
    seen: dict[int, int] = field(default_factory=dict)
    parts: list[str] = field(default_factory=list)

    @staticmethod
    def of(diagram: Diagram) -> Contents | None:
        """The contents of a diagram; None if they cannot be determined."""
        found = Contents()
        facts = (diagram.name, diagram.run.of_program, diagram.tunable, diagram.shared)
        try:
            for fact in (*facts, dict(diagram.robots), diagram.bd):
                found.add(fact)
        except (_UnseenError, RecursionError):
            return None
        return found

    @property
    def text(self) -> str:
        """A hash of the contents, for comparison."""
        return blake2b("\0".join(self.parts).encode(errors="surrogatepass")).hexdigest()

    def add(self, value: Any) -> None:
        """Add a value. Raises _UnseenError if its changes cannot be detected."""
        kind = type(value)
        if kind in _PLAIN or isinstance(value, np.generic | Enum | PurePath):
            self.parts.append(f"{kind.__name__} {value!r}")
        elif isinstance(value, np.ndarray) and not value.dtype.hasobject:
            digest = blake2b(np.ascontiguousarray(value).tobytes()).hexdigest()
            self.parts.append(f"array {value.dtype.str} {value.shape} {digest}")
        elif isinstance(value, Robot | type | ModuleType | np.ufunc):  # robots do not change
            self._name(value)
        elif self._met(value):
            return
        elif isinstance(value, Mapping):
            self._all("mapping", [*value.keys(), *value.values()])
        elif isinstance(value, np.ndarray | list | tuple):
            self._all(kind.__name__, list(value))
        elif isinstance(value, set | frozenset):
            self._all(kind.__name__, sorted(value, key=repr))
        elif isinstance(value, FunctionType | BuiltinFunctionType | MethodType):
            self._function(value)
        elif isinstance(value, np.random.Generator):
            self.add(value.bit_generator.state)
        elif "wirelist" in getattr(value, "__dict__", ()):
            self._diagram(value)
        else:
            self._object(value)

    def _name(self, value: Any) -> None:
        self.held.append(value)
        self.parts.append(f"id {id(value)}")

    def _met(self, value: Any) -> bool:
        """Record an object by number. Returns whether it occurred before, so that its contents
        need not be added again.
        """
        known = id(value) in self.seen
        self.held.append(value)
        number = self.seen.setdefault(id(value), len(self.seen))
        self.parts.append(f"{'again' if known else 'first'} {number}")
        return known

    def _all(self, what: str, values: list[Any]) -> None:
        self.parts.append(f"{what} {len(values)}")
        for value in values:
            self.add(value)

    def _diagram(self, bd: Any) -> None:
        for block in bd.blocklist:
            if not self._met(block):
                self._object(block)
        self._all("clocks", bd.clocklist)
        wires = [(wire.start, wire.end) for wire in bd.wirelist]
        ends = [(self._number(end.block), end.port) for wire in wires for end in wire]
        self.parts.append(f"wires {ends!r}")

    def _number(self, block: Any) -> int:
        """The number of a block, which is added if it is at an end of a wire alone."""
        if id(block) not in self.seen:
            self.add(block)
        return self.seen[id(block)]

    def _object(self, value: Any) -> None:
        """Add an object of this package or of bdsim: its class and its contents."""
        kind: Any = type(value)
        if _package(kind) not in _OURS and not isinstance(value, BaseModel):
            raise _UnseenError
        self._name(kind)
        parts = {name: getattr(value, name, None) for name in _slots(kind)}
        parts.update(getattr(value, "__dict__", {}))
        lasting = [item for item in parts.items() if item[0] not in _RUNTIME]
        self.parts.append(repr([item for item in lasting if type(item[1]) in _PLAIN]))
        for name, part in lasting:
            if type(part) not in _PLAIN:
                self.parts.append(name)
                self.add(part)

    def _function(self, value: Any) -> None:
        """Add a function of a package that does not change, with its closure."""
        if (getattr(value, "__module__", None) or "builtins").split(".")[0] not in _UNCHANGING:
            raise _UnseenError
        inner = getattr(value, "__func__", value)
        self._name(inner)
        bound = getattr(value, "__self__", None)
        cells = [cell.cell_contents for cell in getattr(inner, "__closure__", None) or ()]
        self._all("function", [bound, *cells])


_PLAIN = frozenset((type(None), bool, int, float, complex, str, bytes, slice, Fraction))
"""Types whose texts tell their values, and the types."""


@cache
def _slots(kind: type) -> tuple[str, ...]:
    """The slots of a class and of those that it inherits from."""
    names = [name for c in kind.__mro__ for name in getattr(c, "__slots__", ())]
    return tuple(name for name in names if name != "__weakref__")


def _package(kind: type) -> str:
    return kind.__module__.split(".")[0]
