"""Builds bdsim's blocks and wires from the text of a diagram."""
