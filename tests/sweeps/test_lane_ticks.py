"""The ticks of lanes are those of a single run, and are found in windows."""

from __future__ import annotations

import numpy as np

import spart_blocks as sb
from spart_blocks.run import run as run_module
from spart_blocks.run.engines.native import Native
from spart_blocks.run.start import prepare
from spart_blocks.sweeps.run.lane_setup import LaneSetup

CLOCKS = """
clocks: {fast: {T: 0.1, offset: 0.03}, slow: {T: 0.3}}
blocks:
  s: {type: WAVEFORM, wave: sine, freq: 0.5}
  a: {type: ZOH, clock: fast}
  b: {type: ZOH, clock: slow}
wires: [s -> a, a -> b]
run: {T: 20}
"""


def test_ticks_found_in_windows_are_those_of_the_whole_run(tmp_path, monkeypatch):
    path = tmp_path / "clocks.yaml"
    path.write_text(CLOCKS)
    program = sb.trace(sb.load(path))
    begun = prepare(Native(program), None, None)
    stops, due, _ = begun.stops_and_ticks()
    ticking = due.any(axis=1)
    monkeypatch.setattr(run_module, "WINDOW", 9)
    times, clocks = LaneSetup(program, begun, None, np.zeros(0), 1.0).ticks
    assert np.array_equal(times, stops[ticking])
    assert np.array_equal(clocks, due[ticking])
    assert begun.ticks == dict.fromkeys(begun.ticks, 0)
