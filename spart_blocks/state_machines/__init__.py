"""State machines: charts of hierarchical states, read from plain values, and their steps.

The semantics are those of Stateflow charts and of statecharts (Harel, Sci. Comput. Program. 8,
1987) without parallel states.
"""
