"""The blocks, one subject a file; bdsim finds them by reading these files.

A block of one's own declares its ports with `Declared` and `PortSpec`, or gives itself each
`Port` when it is made, with `port_arguments`.
"""

from typing import TYPE_CHECKING

from spart_blocks.lazy import lazily

if TYPE_CHECKING:
    from spart_blocks.blocks._declared import Declared, PortSpec
    from spart_blocks.ports import Port, port_arguments

__all__ = ["Declared", "Port", "PortSpec", "port_arguments"]

_HOMES = {
    "Declared": "_declared",
    "Port": "_ports",
    "PortSpec": "_declared",
    "port_arguments": "_ports",
}

__getattr__, __dir__ = lazily(__name__, _HOMES)
