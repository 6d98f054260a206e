"""Optimal control: controls and parameters of a diagram that make a metric least."""
