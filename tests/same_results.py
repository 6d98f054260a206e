"""Whether two runs of a diagram give the same results."""

from __future__ import annotations

import numpy as np

FLOOR = 1e-3
"""A signal smaller than this throughout is compared with this: its error is absolute."""


def assert_same_results(got, want, names=None, *, rel=1e-7):
    """Of runs with the same `every`: equal times and events; each signal named (those kept, by
    default) and each state within rel of its largest magnitude."""
    assert got.t.shape == want.t.shape, "give both every: by default each has rows of its own"
    assert np.abs(got.t - want.t).max() <= rel
    assert [event.block for event in got.events] == [event.block for event in want.events]
    for one, other in zip(got.events, want.events, strict=True):
        assert abs(one.t - other.t) <= rel, f"{one} and {other}"
    pairs = {name: (got[name], want[name]) for name in names or want.signals}
    pairs |= {f"states.{name}": (got.states[name], want.states[name]) for name in want.states}
    for name, (one, other) in pairs.items():
        assert one.shape == other.shape, name
        error = np.abs(one - other).max(initial=0.0)
        allowed = rel * max(np.abs(other).max(initial=0.0), FLOOR)
        assert error <= allowed, f"{name}: differs by {error:.3g}, allowed {allowed:.3g}"
