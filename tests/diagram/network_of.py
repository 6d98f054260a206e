"""The wires of a diagram by name, and what its blocks give at the start."""

from __future__ import annotations

import contextlib
import io

from spart_blocks.diagram.build.connect import wire_name


def wires_of(diagram):
    """The names of all wires."""
    return {wire_name(wire) for wire in diagram.bd.wirelist}


def outputs_of(diagram):
    """The outputs of each block at time 0 and the initial state, computed by bdsim."""
    with contextlib.redirect_stdout(io.StringIO()):
        diagram.bd.compile()
    return {block.name: block._output_values for block in diagram.bd.blocklist}
