"""A sink that keeps signals."""

from __future__ import annotations

from typing import Any

from bdsim.components import SinkBlock

from spart_blocks.block_support.declared import Declared, PortSpec
from spart_blocks.block_support.parameters import fixed
from spart_blocks.block_support.ports import numbered


class Record(Declared, SinkBlock):
    """Keeps the signals at its inputs, whatever `run: log` lists.

    `results["name.u1"]` is what arrives at input u1 of the block called name, and so do plots and
    claims of `expect:` call it; with one input `results["name"]` is sufficient. What the signal
    comes from may be wired anew without a change of the name.

    :arg nin: number of inputs
    """

    nin = 1
    nout = 0
    takes = (PortSpec("u1", "any", "", "any signal; u2 and so on with `nin`"),)
    gives = ()
    nin_ = fixed("int", "", 1, least=1, most=1000)

    def build(self, nin: Any) -> dict[str, Any]:
        return self.set_ports(numbered(nin), ())

    def step(self, t: float, inputs: list[Any]) -> None:
        """Nothing: the run keeps the signals."""
