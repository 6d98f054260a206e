"""The recording of every shipped diagram gives its results again, bit for bit, with its robots."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import spart_blocks as sb
from spart_blocks.results.logs.files import opened_mcap

DIAGRAMS = Path(__file__).parents[2] / "diagrams"
SHIPPED = [path for path in sorted(DIAGRAMS.rglob("*.yaml")) if "controllers" not in path.parts]
LONGEST = 3.0  # s


@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: path.stem)
def test_recording_of_every_diagram(path, tmp_path):
    diagram = sb.load(path)
    results = sb.simulate(path, T=min(float(diagram.run.T), LONGEST))
    file = sb.record(results, tmp_path / "run.mcap")
    again = sb.Results.load(file)
    assert np.array_equal(again.t, results.t)
    for kept, read in ((results.signals, again.signals), (results.states, again.states)):
        assert kept.keys() == read.keys()
        for name, array in kept.items():
            assert read[name].dtype == array.dtype
            assert np.array_equal(read[name], array, equal_nan=True), name
    assert (again.events, again.units) == (results.events, results.units)
    with opened_mcap(file) as log:
        topics = {channel.topic for channel in log.channels}
    named = [name for names in results.state_names.values() for name in names]
    moves = any(name.startswith(("qm.", "q0.")) for name in named)
    assert ("/tf" in topics) == moves
