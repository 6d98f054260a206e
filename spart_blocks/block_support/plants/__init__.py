"""States of plants: their layout, initial values, and the minimal state for linear controllers."""
