"""Block types for people: their docstrings read, ports and parameters in words."""

from spart_blocks.descriptions.types import describe

__all__ = ["describe"]
