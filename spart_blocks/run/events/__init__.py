"""Events of a run: zero-crossings, bounces, mode switches, and sliding along surfaces."""
