"""Checks of a built diagram: shapes, sizes, limits, and suggestions for wrong names."""
