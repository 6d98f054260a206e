"""A built diagram as a network of nodes: order of evaluation, algebraic loops, conditional
subsystems, clocks, and the signals to display.
"""
