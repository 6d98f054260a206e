"""Runners of sweeps: in lanes, on a CUDA graphics card, one by one, in processes, on a cluster."""
