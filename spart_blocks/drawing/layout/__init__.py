"""Computes the positions of the boxes and wires of a block diagram; it knows neither blocks nor
plotting.

Sugiyama's method, from left to right: cut the loops, assign boxes to layers, order each layer so
that few wires cross, align the boxes so that most wires are straight, and give each remaining wire
its own lane between the layers. Feedback wires run underneath.

Source: K. Sugiyama, S. Tagawa, M. Toda, "Methods for visual understanding of hierarchical system
structures" (1981); E. Gansner et al., "A technique for drawing directed graphs" (1993), for the
alignment.

Lengths are in grid units; y points down.
"""

from __future__ import annotations

from spart_blocks.drawing.layout.graph import Box, Edge, Layout
from spart_blocks.drawing.layout.place import arrange
from spart_blocks.drawing.layout.routes import junctions, simplified

__all__ = ["Box", "Edge", "Layout", "arrange", "junctions", "simplified"]
