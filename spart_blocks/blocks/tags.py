"""Signals that go by a tag instead of a wire. They are no part of the program."""

from __future__ import annotations

from typing import Any

from bdsim.components import SinkBlock, SourceBlock

from spart_blocks.base.errors import InputError, brief
from spart_blocks.block_support.declared import Declared, PortSpec
from spart_blocks.block_support.parameters import fixed

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

    :arg tag: name of the signal
    :arg scope: local or global
    """

    nin = 1
    nout = 0
    is_route = True
    takes = (PortSpec("u", "any", "", "the signal"),)
    tag = fixed("str")
    scope = fixed("str", "", "local", choices=SCOPES)

    def build(self, tag: Any) -> dict[str, Any]:
        self.tag = _tag(tag)
        return self.resolve_ports()

    def step(self, t: float, inputs: list[Any]) -> None:
        """Does nothing: the signal goes to where its tag is."""


class From(Declared, SourceBlock):
    """The signal of the GOTO with the same tag.

    :arg tag: that of the GOTO
    """

    nin = 0
    nout = 1
    is_route = True
    gives = (PortSpec("y", "any", "", "the signal, in its unit"),)
    tag = fixed("str")

    def build(self, tag: Any) -> dict[str, Any]:
        self.tag = _tag(tag)
        return self.resolve_ports()

    def output(self, t: float, inputs: list[Any], x: Any) -> list[Any]:
        raise RuntimeError(f"FROM with the tag {self.tag!r} takes its signal from a GOTO")
