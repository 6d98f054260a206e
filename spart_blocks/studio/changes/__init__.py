"""Differences of a file from its versions in git and from other files, marked on its sheets."""
