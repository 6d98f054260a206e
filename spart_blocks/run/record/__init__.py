"""The record of a run: rows, samples, and signals that are recomputed from them."""
