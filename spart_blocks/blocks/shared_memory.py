"""Frames of numbers through shared memory."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from bdsim.components import FunctionBlock

from spart_blocks.blocks._links import Connected, Incoming, Outgoing
from spart_blocks.links.endpoints import read_memory


class _SHM(Connected):
    """In a simulation the inputs pass to the outputs. In `spart realtime` the part that reads the
    outputs reads from the memory, and the part that feeds the inputs writes to it. See
    docs/links.md.

    The newest frame alone is kept. Both sides are on one machine, and of one user.

    :param memory: its name: /dev/shm/spart-NAME is the memory
    :type memory: str
    """

    def __init__(self, memory: str, frame: Mapping[str, Any], **linkargs: Any) -> None:
        self._endpoint = read_memory(memory)
        super().__init__(frame=frame, **linkargs)


class SHM_In(_SHM, Incoming, FunctionBlock):
    """Numbers that come in through shared memory."""

    nin = 1
    nout = 1


class SHM_Out(_SHM, Outgoing, FunctionBlock):
    """Numbers that go out through shared memory."""

    nin = 1
    nout = 1
