"""What is measured and judged of each run: formulas, metrics, claims."""
