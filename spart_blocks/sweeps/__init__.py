"""Sweeps: many runs of one diagram. Plans of the varied values, runners, results and statistics."""
