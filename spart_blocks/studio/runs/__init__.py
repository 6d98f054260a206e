"""Runs of opened files, which the page starts, controls and shows. Requests: see `handlers.py`."""
