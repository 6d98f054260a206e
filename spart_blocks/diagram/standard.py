"""The packages of blocks that every diagram knows."""

PACKAGE = "spart_blocks"
STANDARD = ("bdsim", PACKAGE)
"""Packages whose names of blocks no other block can have."""
