"""Checks of a built diagram: shapes, sizes, limits, and what wrong names may have meant."""
