"""Pictures, reports and comparisons of sweeps."""
