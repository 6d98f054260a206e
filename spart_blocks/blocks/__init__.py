"""The blocks, one subject per file; bdsim finds them by reading these files. A user's block
declares its ports with `Declared` and `PortSpec`, or creates each `Port` in its constructor, with
`port_arguments`, and its parameters with `fixed` and `tunable`.
"""

from typing import TYPE_CHECKING

from spart_blocks.base.lazy import lazily

if TYPE_CHECKING:
    from spart_blocks.block_support.declared import Declared, PortSpec
    from spart_blocks.block_support.parameters import ParamSpec, fixed, tunable
    from spart_blocks.block_support.ports import Port, port_arguments

__all__ = ["Declared", "ParamSpec", "Port", "PortSpec", "fixed", "port_arguments", "tunable"]

_HOMES = {
    "Declared": "spart_blocks.block_support.declared",
    "ParamSpec": "spart_blocks.block_support.parameters",
    "fixed": "spart_blocks.block_support.parameters",
    "tunable": "spart_blocks.block_support.parameters",
    "Port": "spart_blocks.block_support.ports",
    "PortSpec": "spart_blocks.block_support.declared",
    "port_arguments": "spart_blocks.block_support.ports",
}

__getattr__, __dir__ = lazily(__name__, _HOMES)
