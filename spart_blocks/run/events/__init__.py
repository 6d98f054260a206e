"""Events of a run: crossings, bounces, mode switches, and motion along surfaces."""
