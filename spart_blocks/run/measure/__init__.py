"""Measurements of a run while it proceeds."""
