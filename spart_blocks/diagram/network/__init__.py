"""A built diagram as a network: nodes, loops, gates, clocks, and what is shown of them."""
