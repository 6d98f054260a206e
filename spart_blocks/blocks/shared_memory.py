"""Frames of numbers through shared memory."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from bdsim.components import FunctionBlock

from spart_blocks.block_support.links import Connected, Incoming, Outgoing
from spart_blocks.transports.shared_memory import read_memory


class _SHM(Connected):
    """In a simulation the outputs equal the inputs. In `spart realtime` the subdiagram that reads
    the outputs reads from the memory, and the subdiagram that feeds the inputs writes to it. See
    docs/links.md.

    Only the newest frame is kept. Both sides run on the same machine, as the same user.

    :param memory: the NAME in /dev/shm/spart-NAME
    :type memory: str
    """

    def __init__(self, memory: str, frame: Mapping[str, Any], **linkargs: Any) -> None:
        self._endpoint = read_memory(memory)
        super().__init__(frame=frame, **linkargs)


class SHM_In(_SHM, Incoming, FunctionBlock):
    """Numbers received through shared memory."""

    nin = 1
    nout = 1


class SHM_Out(_SHM, Outgoing, FunctionBlock):
    """Numbers sent through shared memory."""

    nin = 1
    nout = 1
