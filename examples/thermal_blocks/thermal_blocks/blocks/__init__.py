"""The blocks, one subject per file."""
