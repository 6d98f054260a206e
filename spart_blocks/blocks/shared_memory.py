"""Frames of numbers through shared memory."""

from __future__ import annotations

from bdsim.components import FunctionBlock

from spart_blocks.block_support.links import FRAME, Connected, Incoming, Outgoing
from spart_blocks.block_support.parameters import fixed
from spart_blocks.transports.shared_memory import read_memory


class _SHM(Connected):
    """In a simulation the outputs equal the inputs. In `spart realtime` the subdiagram that reads
    the outputs reads from the memory, and the subdiagram that feeds the inputs writes to it. See
    docs/links.md.

    Only the newest frame is kept. Both sides run on the same machine, as the same user.

    :arg memory: the NAME in /dev/shm/spart-NAME
    """

    memory = fixed("str")
    frame = FRAME
    connect = staticmethod(read_memory)


class SHM_In(Incoming, _SHM, FunctionBlock):
    """Numbers received through shared memory."""

    nin = 1
    nout = 1


class SHM_Out(Outgoing, _SHM, FunctionBlock):
    """Numbers sent through shared memory."""

    nin = 1
    nout = 1
