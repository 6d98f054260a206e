"""Frames of numbers over a serial line."""

from __future__ import annotations

from bdsim.components import FunctionBlock

from spart_blocks.block_support.links import FRAME, Connected, Incoming, Outgoing
from spart_blocks.block_support.parameters import fixed
from spart_blocks.transports.serial import read_serial


class _SERIAL(Connected):
    """In a simulation the outputs equal the inputs. In `spart realtime` the subdiagram that reads
    the outputs reads from the device, and the subdiagram that feeds the inputs writes to its peer.
    See docs/links.md.

    The frame needs a header, by which frames are found in the stream, and should have a checksum.
    Blocks with the same device share it: 8 data bits, no parity, one stop bit. Needs pyserial: pip
    install 'spart_blocks[serial]'.

    :arg device: the device on this side, such as /dev/ttyUSB0
    :arg peer: the device at the other end, for the other subdiagram
    :arg baud: bits per second
    """

    device = fixed("str")
    frame = FRAME
    peer = fixed("str", "", None)
    baud = fixed("int", "", 115200)
    connect = staticmethod(read_serial)


class SERIAL_In(Incoming, _SERIAL, FunctionBlock):
    """Numbers received over a serial line."""

    nin = 1
    nout = 1


class SERIAL_Out(Outgoing, _SERIAL, FunctionBlock):
    """Numbers sent over a serial line."""

    nin = 1
    nout = 1
