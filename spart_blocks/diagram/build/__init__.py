"""From a diagram as it is written to bdsim's blocks and wires."""
