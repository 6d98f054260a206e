"""The blocks, one subject per file; bdsim finds them by reading these files. A user's block
declares its ports with `Declared` and `PortSpec`, or creates each `Port` in its constructor, with
`port_arguments`.
"""

from typing import TYPE_CHECKING

from spart_blocks.base.lazy import lazily

if TYPE_CHECKING:
    from spart_blocks.block_support.declared import Declared, PortSpec
    from spart_blocks.block_support.ports import Port, port_arguments

__all__ = ["Declared", "Port", "PortSpec", "port_arguments"]

_HOMES = {
    "Declared": "spart_blocks.block_support.declared",
    "Port": "spart_blocks.block_support.ports",
    "PortSpec": "spart_blocks.block_support.declared",
    "port_arguments": "spart_blocks.block_support.ports",
}

__getattr__, __dir__ = lazily(__name__, _HOMES)
