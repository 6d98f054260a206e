"""What a report says: its durations, its text, its files."""

from __future__ import annotations

import json
import math
import re
from dataclasses import replace

import numpy as np
import pytest

from spart_blocks.base.errors import InputError
from spart_blocks.realtime import Report
from spart_blocks.realtime.report import duration
from spart_blocks.realtime.structs import BINS, Durations, Ended, edges

MICRO = 1e-6
MISSED = {"step": 0, "links": 3, "wake-up": 2, "interrupt": 1}


def durations(*seconds):
    counts = np.zeros(BINS, np.int64)
    places = np.searchsorted(edges(), np.array(seconds) * (1 + 1e-12), side="right") - 1
    np.add.at(counts, places, 1)
    return Durations(counts, max(seconds, default=0.0))


@pytest.fixture
def report():
    several = durations(*np.linspace(1, 100, 100) * MICRO)
    return Report(
        name="arm-ctrl", rate=1000.0, method="RK4", policy="skip", T=1.0, ended=Ended.DONE,
        seconds=1.0, steps=998, skipped=2, stale=3, missed=MISSED, latency=several,
        shorter=durations(2 * MICRO), longer=durations(3 * MICRO, 0.002), step=several,
        response=several, cpu_share=0.0123, system=("memory locked",),
        links={"sensors": {"way": "receive", "at": "UDP 127.0.0.1:5005", "received": 9, "lost": 0}},
    )  # fmt: skip


@pytest.mark.parametrize("value", [0, 1, 63, 64, 127, 128, 1000, 54_321, 10**6, 10**9, 10**12])
def test_a_duration_is_known_within_a_64th(rig, value):
    """Counted by the loop in C, read from the edges of the bins here."""
    run = rig(ticks=1)
    run.rig.work[0] = value
    run.run()
    bin_ = int(np.flatnonzero(run.durations("step").counts)[0])
    low, high = np.round(edges()[bin_ : bin_ + 2] * 1e9)
    assert low <= value < high
    assert high - low <= max(1, value / 64)


def test_the_longest_duration_is_exact(rig):
    run = rig(ticks=1)
    run.rig.work[0] = 123_456_789
    assert run.run().durations("step").longest == pytest.approx(0.123456789, rel=1e-12)


def test_a_duration_beyond_all_bins_is_in_the_last(rig):
    run = rig(ticks=1)
    run.rig.work[0] = 2**45
    assert run.run().durations("step").counts[-1] == 1


def test_percentiles_are_those_of_the_sorted_durations():
    rng = np.random.default_rng(5)
    values = rng.lognormal(-11, 2, 5000)
    counted = durations(*values)
    for percent in (1, 25, 50, 75, 100):
        true = np.percentile(values, percent, method="inverted_cdf")
        assert true <= counted.percentile(percent) * (1 + 1e-9)
        assert counted.percentile(percent) <= true * (1 + 1 / 60) + 1e-9


def test_without_durations_there_is_no_percentile():
    assert math.isnan(durations().percentile(99))


def test_durations_are_put_together():
    both = durations(1 * MICRO, 2 * MICRO).together(durations(5 * MICRO))
    assert (both.count, both.longest) == (3, 5 * MICRO)


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(2.5, "2.5 s"), (0.0123, "12.3 ms"), (4.56e-6, "4.56 us"), (7e-9, "7 ns"), (math.nan, "-")],
)
def test_a_time_is_written_in_its_unit(seconds, text):
    assert duration(seconds) == text


def test_the_summary_says_what_happened(report):
    text = report.summary()
    assert text.startswith("arm-ctrl: it ran to its end after 1 s\n")
    assert "998 at 1000 Hz, 2 skipped, 3 with stale inputs" in text
    assert "1.23 % of one" in text
    assert "memory locked" in text
    assert "deadlines missed 6\n" in text
    assert "    3      by receiving and sending" in text
    assert "    1      because the machine preempted the loop" in text
    assert "    2      because the machine woke the loop too late" in text
    assert "sensors (UDP 127.0.0.1:5005): 9 received\n" in text
    assert re.search(r"^  shorter by 1 us to 3 us +1  #+$", text, re.MULTILINE)
    assert re.search(r"^  longer by 1 ms to 3 ms +1  #+$", text, re.MULTILINE)
    assert all(len(line) <= 100 for line in text.splitlines())


def test_without_a_miss_no_causes_are_listed(report):
    text = replace(report, missed=dict.fromkeys(MISSED, 0)).summary()
    assert "deadlines missed 0\n" in text
    assert "because" not in text


def test_the_json_holds_all_of_it(report, tmp_path):
    path = report.save(tmp_path / "report.json")
    read = json.loads(path.read_text(encoding="utf-8"))
    assert read["missed"] == MISSED
    assert read["ended"] == "done"
    latency = read["durations"]["latency"]
    assert latency["count"] == 100 == sum(count for _, _, count in latency["bins"])
    assert latency["p50"] == pytest.approx(50e-6, rel=1 / 60)
    assert latency["max"] == pytest.approx(100e-6)
    assert set(read["durations"]) == {
        "latency", "jitter", "shorter", "longer", "step", "response"
    }  # fmt: skip


def test_a_run_without_steps_can_be_reported_too(report, tmp_path):
    none = durations()
    empty = replace(report, latency=none, shorter=none, longer=none, step=none, response=none)
    assert "period jitter: " not in empty.summary()
    assert (
        json.loads(empty.save(tmp_path / "a.json").read_text())["durations"]["step"]["p50"] is None
    )
    assert empty.save(tmp_path / "a.png").stat().st_size > 0


def test_the_picture_shows_jitter_and_delays(report, tmp_path):
    path = report.save(tmp_path / "report.png")
    assert path.read_bytes().startswith(b"\x89PNG")
    above, below = report.plot().axes
    assert "6 deadlines missed, 0 by the step itself" in above.get_title(loc="left")
    bars = sum(patch.get_data().values.sum() for patch in above.patches)
    assert bars == report.jitter.count
    labels = {line.get_label() for line in below.lines}
    assert {"step", "wake-up", "outputs sent"} <= labels


def test_another_kind_of_file_is_refused(report, tmp_path):
    with pytest.raises(InputError, match=r"end it in \.json or \.png"):
        report.save(tmp_path / "report.pdf")


@pytest.mark.parametrize(
    ("ended", "T", "complete"),
    [
        (Ended.DONE, 1.0, True),
        (Ended.ASKED, None, True),
        (Ended.ASKED, 1.0, False),
        (Ended.MODEL_STOPPED, 1.0, True),
        (Ended.OVERRUN, None, False),
        (Ended.NOT_FINITE, None, False),
        (Ended.TRIPPED, None, False),
    ],
)
def test_a_run_is_complete_when_it_did_what_was_asked(report, ended, T, complete):
    assert replace(report, ended=ended, T=T).complete is complete
