"""Recordings of runs as MCAP files, which robotics viewers open."""
