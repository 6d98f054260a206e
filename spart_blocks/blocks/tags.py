"""Signals that go by a tag instead of a wire. They are no part of the program."""

from __future__ import annotations

from typing import Any

from bdsim.components import SinkBlock, SourceBlock

from spart_blocks.base.errors import InputError, brief
from spart_blocks.block_support.declared import Declared, PortSpec
from spart_blocks.block_support.values import chosen

SCOPES = ("local", "global")
"""Where a tag is known: in its own diagram or subsystem, or everywhere."""


def _tag(value: Any) -> str:
    if not isinstance(value, str) or not value.strip():
        raise InputError(f"tag must be a text, not {brief(value)}")
    return value


class Goto(Declared, SinkBlock):
    """Gives a signal to all FROM blocks with its tag.

    A tag is known in the diagram or the subsystem that its GOTO is in, with `scope: global` also in
    all others. There a GOTO of their own with the same tag comes first.

    :param tag: name of the signal
    :type tag: str
    :param scope: local or global
    :type scope: str
    """

    nin = 1
    nout = 0
    is_route = True
    takes = (PortSpec("u", "any", "", "the signal"),)

    def __init__(self, tag: str, scope: str = "local", **blockargs: Any) -> None:
        self.tag, self.scope = _tag(tag), chosen(scope, "scope", SCOPES)
        super().__init__(**self.resolve_ports(), **blockargs)

    def step(self, t: float, inputs: list[Any]) -> None:
        """Does nothing: the signal goes to where its tag is."""


class From(Declared, SourceBlock):
    """The signal of the GOTO with the same tag.

    :param tag: that of the GOTO
    :type tag: str
    """

    nin = 0
    nout = 1
    is_route = True
    gives = (PortSpec("y", "any", "", "the signal, in its unit"),)

    def __init__(self, tag: str, **blockargs: Any) -> None:
        self.tag = _tag(tag)
        super().__init__(**self.resolve_ports(), **blockargs)

    def output(self, t: float, inputs: list[Any], x: Any) -> list[Any]:
        raise RuntimeError(f"FROM with the tag {self.tag!r} takes its signal from a GOTO")
