"""Solvers that advance a run over a segment, from one stop to the next: explicit or implicit
steps, CVODES, or, without continuous states, time alone.
"""
