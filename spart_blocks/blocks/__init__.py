"""The blocks, one subject a file; bdsim finds them by reading these files.

A block of one's own declares its ports with `Port` and `port_arguments`.
"""

from spart_blocks.blocks._ports import Port, port_arguments

__all__ = ["Port", "port_arguments"]
