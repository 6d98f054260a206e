"""Formulas as text, read once: for blocks, and for the metrics of sweeps."""
