"""What a sweep computes of each run: metrics (from formulas) and whether its claims hold."""
