"""Derivatives of runs by differences, for comparison with exact ones."""

import numpy as np

from spart_blocks.base.paths import element_names


def extrapolated(function, at, step):
    """The derivative (w,) by central differences of halved steps, and its error."""
    rows, best, least = [], None, np.inf
    for k in range(6):
        row = [(function(at + step) - function(at - step)) / (2 * step)]
        for j in range(k):
            row.append(row[j] + (row[j] - rows[-1][j]) / (4 ** (j + 1) - 1))
        if rows:
            error = np.abs(row[-1] - rows[-1][-1]).max()
            if error < least:
                best, least = row[-1], error
        rows.append(row)
        step /= 2
    return best, least


def parameters_of(program):
    """The first element of each parameter."""
    found = []
    for slot in program.parameters:
        value = program.p[slot.part]
        if value.size and np.isfinite(value).all():
            found.append(element_names(slot.name, slot.shape)[0])
    return found
