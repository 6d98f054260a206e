"""From a diagram to expressions: its blocks run once on symbols."""
