"""The crossings of a run between two sets of watched values, against those of each alone."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from spart_blocks.program.tracing.switching import Crossing
from spart_blocks.run.run import Run


@pytest.mark.filterwarnings("error")
def test_many_crossings_are_those_of_each_alone():
    values = np.array([-np.inf, -1.0, -0.0, 0.0, 1e-300, 2.0, np.inf, np.nan])
    cases = [(d, a, b) for d in (-1.0, 0.0, 1.0) for a in values for b in values]
    crossings = [Crossing("b", "mode", direction) for direction, _, _ in cases]
    _, before, after = np.array(cases).T
    run = Run.__new__(Run)
    run.engine = SimpleNamespace(crossings=crossings)
    each = [k for k, c in enumerate(crossings) if c.crossed(before[k], after[k])]
    assert run.crossed(before, after) == each
    assert 40 < len(each) < len(cases) / 2
