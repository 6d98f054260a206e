"""The blocks, one subject a file; bdsim finds them by reading these files."""
