"""Tracing: runs the code of a diagram's blocks once with symbols, to get expressions."""
