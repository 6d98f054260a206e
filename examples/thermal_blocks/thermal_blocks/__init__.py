"""Heat in lumped bodies, as blocks for spart_blocks."""
