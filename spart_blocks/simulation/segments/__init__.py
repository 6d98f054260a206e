"""How a run advances over a segment, from one stop to the next: by steps of an explicit or
implicit solver, by CVODES, or, without states, by letting time pass."""
