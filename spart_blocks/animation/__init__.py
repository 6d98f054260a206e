"""Animations: a run's robots, poses and signals in one HTML page."""
