"""What a run records: rows, samples, and signals computed again from them."""
