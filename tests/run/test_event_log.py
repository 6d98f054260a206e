"""The events of a long run are counted, and the first and last of each block kept."""

from __future__ import annotations

import pandas
import pytest
import xarray

import spart_blocks as sb
from spart_blocks.run.record import event_log
from spart_blocks.run.record.event_log import EventLog

MOST = 80
SWITCHING = """
blocks:
  s: {type: WAVEFORM, wave: sine, freq: 5}
  slow: {type: WAVEFORM, wave: sine, freq: 0.05}
  often: {type: RELAY, on: 0.5, off: -0.5}
  seldom: {type: RELAY, on: 0.5, off: -0.5}
wires: [s -> often, slow -> seldom]
run: {T: 40, log: [often, seldom]}
"""


@pytest.fixture
def diagram(tmp_path, monkeypatch):
    monkeypatch.setattr(event_log, "MOST_EVENTS", MOST)
    path = tmp_path / "switching.yaml"
    path.write_text(SWITCHING)
    return path


def test_of_each_block_the_first_and_the_last_events_are_kept_in_order(monkeypatch):
    monkeypatch.setattr(event_log, "MOST_EVENTS", MOST)
    log = EventLog()
    for k in range(1000):
        log.add(float(k), "a" if k % 100 else "b", "switched")
    assert log.total == 1000
    assert log.counts == {"a": 990, "b": 10}
    assert len(log.kept) <= MOST
    times = [event.t for event in log.kept]
    assert times == sorted(times)
    assert [event.t for event in log.kept if event.block == "b"] == [100.0 * k for k in range(10)]
    of_a = [event.t for event in log.kept if event.block == "a"]
    assert of_a[:10] == [float(k) for k in range(1, 11)]
    assert of_a[-10:] == [float(k) for k in range(990, 1000)]


def test_a_log_that_is_not_full_has_all_events():
    log = EventLog()
    for k in range(event_log.MOST_EVENTS):
        log.add(float(k), "a", "switched")
    assert len(log.kept) == log.total == event_log.MOST_EVENTS


def test_a_run_tells_how_many_events_it_had(diagram):
    results = sb.simulate(diagram)
    total = results.info["events"]
    assert total > 300 > MOST >= len(results.events)
    assert [e.block for e in results.events].count("seldom") == 4
    assert f"of {total:,} events the {len(results.events):,} first and last" in results.summary()
    assert f"events: {total}\n" in results.summary()
    assert f"... and {total - 12} more" in results.summary()


@pytest.mark.parametrize("kind", ["zarr", "parquet"])
def test_a_stream_has_all_events(diagram, tmp_path, kind):
    path = tmp_path / f"rows.{kind}"
    results = sb.simulate(diagram, stream=path)
    assert f"all are in {path}" in results.info["notes"]
    if kind == "parquet":
        frame = pandas.read_parquet(path / "_events")
        found = list(zip(frame["t"], frame["block"], frame["what"], strict=True))
        assert "block" not in pandas.read_parquet(path)
    else:
        with xarray.open_zarr(path, group="events", consolidated=False) as store:
            kinds = store.attrs["kinds"]
            found = [
                (float(t), *kinds[k])
                for t, k in zip(store["t"].to_numpy(), store["kind"].to_numpy(), strict=True)
            ]
    assert len(found) == results.info["events"]
    kept = [(event.t, event.block, event.what) for event in results.events]
    assert set(kept) <= set(found)
    assert found[0] == kept[0]
    assert found[-1] == kept[-1]
