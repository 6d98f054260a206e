"""Versions of diagram files: edits, differences, merges."""
