"""The switching times of sources are computed while a run goes, and equal those of a list."""

from __future__ import annotations

import tracemalloc
from fractions import Fraction

import numpy as np
import pytest

import spart_blocks as sb
from spart_blocks.program.tracing.switching import SwitchTimes, UpcomingSwitches, rounded_times
from spart_blocks.run import run as run_module

F = Fraction
SWITCHES = [
    SwitchTimes("a", F(0), F(1, 3)),
    SwitchTimes("b", F(1, 7), F(1, 2)),
    SwitchTimes("c", F(5, 4), F(0)),
    SwitchTimes("d", F(9), F(1, 3)),
    SwitchTimes("e", F(40), F(0)),
]


def listed(start, end):
    """All times, by counting."""
    times = {s.first + k * s.period for s in SWITCHES for k in range(200 if s.period else 1)}
    return sorted(t for t in times if start < t <= end)


def test_upcoming_times_come_one_after_the_other():
    left = UpcomingSwitches.of(SWITCHES, F(1), F(11))
    found = []
    while left:
        found.append(left.first)
        left.drop_until(left.first)
    assert found == listed(F(1), F(11))


def test_upcoming_times_can_be_passed_over_at_once():
    left = UpcomingSwitches.of(SWITCHES, F(0), F(11))
    left.drop_until(F(21, 2))
    assert left.first == listed(F(21, 2), F(11))[0]


@pytest.mark.parametrize("bounds", [(-np.inf, np.inf), (0.5, 1.25), (1 / 3, 10.0), (5.0, 5.01)])
def test_upcoming_times_of_a_window_are_those_of_the_whole(bounds):
    left = UpcomingSwitches.of(SWITCHES, F(0), F(11))
    whole = rounded_times(SWITCHES, F(0), F(11))
    assert whole.tolist() == [float(t) for t in listed(F(0), F(11))]
    want = whole[(bounds[0] < whole) & (whole <= bounds[1])]
    assert left.within(*bounds).tolist() == want.tolist()


def test_an_earlier_end_leaves_the_times_before_it():
    left = UpcomingSwitches.of(SWITCHES, F(0), F(50)).up_to(F(10))
    assert left.within(-np.inf, np.inf).tolist() == [float(t) for t in listed(F(0), F(10))]


def test_a_run_without_clocks_takes_its_switches_in_windows(tmp_path, monkeypatch):
    path = tmp_path / "square.yaml"
    path.write_text(
        "blocks:\n"
        "  s: {type: WAVEFORM, wave: square, freq: 10}\n"
        "  late: {type: STEP, T: 17}\n"
        "  lag: {type: PT1, gain: 1, tau: 0.3}\n"
        "wires: [s -> lag]\n"
        "run: {T: 20, log: [lag, late]}\n"
    )
    whole = sb.simulate(path)
    monkeypatch.setattr(run_module, "WINDOW", 7)
    parts = sb.simulate(path)
    assert np.array_equal(parts.t, whole.t)
    assert np.array_equal(parts["lag"], whole["lag"])


def test_known_times_take_no_memory_of_their_own():
    tracemalloc.start()
    left = UpcomingSwitches.of([SwitchTimes("a", F(0), F(1, 1000))], F(0), F(10_000))
    left.drop_until(F(5000))
    assert len(left.within(5000.0, 5010.0)) == 10_000
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 2e6
