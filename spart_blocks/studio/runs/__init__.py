"""Runs of opened files, which pages start, steer and look at: `handlers.py` has the requests."""
