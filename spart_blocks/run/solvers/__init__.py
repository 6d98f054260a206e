"""Advance of a run over a segment, from one stop to the next: by steps of an explicit or implicit
solver, by CVODES, or, without states, by time alone."""
