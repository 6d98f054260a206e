"""Runners of sweeps: in lanes, on a graphics card, one by one, in processes, on a cluster."""
