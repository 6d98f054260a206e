"""States of plants: their layout, their start, and what a linear controller sees of them."""
