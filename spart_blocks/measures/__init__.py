"""Works of many runs, and their metrics: formulas of what is measured in each run."""
