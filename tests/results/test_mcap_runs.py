"""Runs out of MCAP files: loaded as results, and replayed by DATA."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from mcap.writer import CompressionType
from mcap_writing import write_run

import spart_blocks as sb
from spart_blocks.base.errors import InputError, SpartWarning
from spart_blocks.results import Results
from spart_blocks.results.logs import rows
from spart_blocks.results.recordings import read_recording


@pytest.fixture
def named(run):
    return dataclasses.replace(
        run,
        signals={**run.signals, "hit": np.arange(21) % 2 == 0},
        state_names={"plant": [f"{q}.{j}" for q in ("qm", "um") for j in ("base", "elbow", "tip")]},
        entries={"plant.qm": ["base", "elbow", "tip"]},
    )


def same(found, run):
    np.testing.assert_array_equal(found.t, run.t)
    for group in ("signals", "states"):
        assert set(getattr(found, group)) == set(getattr(run, group))
        for name, array in getattr(run, group).items():
            got = getattr(found, group)[name]
            np.testing.assert_array_equal(got, array)
            assert got.dtype == array.dtype


@pytest.mark.parametrize(
    "options",
    [{}, {"compression": CompressionType.LZ4}, {"compression": CompressionType.NONE},
     {"use_chunking": False}, {"chunk_size": 500}, {"epoch": 1_700_000_000_123_456_789}],
    ids=str,
)  # fmt: skip
def test_results_come_back_from_a_recording_in_full(named, tmp_path, options):
    found = Results.load(write_run(named, tmp_path / "run.mcap", **options))
    same(found, named)
    assert found.events == named.events
    assert found.info == named.info
    assert found.units == named.units
    assert found.aliases == named.aliases
    assert found.levels == named.levels
    assert found.scopes == named.scopes
    assert found.complete
    assert found.final_state.ticks == named.final_state.ticks
    np.testing.assert_array_equal(found.final_state.continuous["plant"], [1.0, 2.0 / 3.0])
    np.testing.assert_array_equal(found["states.plant.qm.elbow"], named.states["plant"][:, 1])


def test_a_file_whose_program_died_has_what_is_whole(named, tmp_path):
    path = write_run(named, tmp_path / "run.mcap", finish=False, chunk_size=800)
    raw = path.read_bytes()
    path.write_bytes(raw[: len(raw) * 2 // 3])
    with pytest.warns(SpartWarning, match="what is whole is read") as told:
        found = Results.load(path)
    assert len(told) == 1
    count = len(found.t)
    assert 5 < count < 20
    np.testing.assert_array_equal(found["plant.Mm"], named["plant.Mm"][:count])
    assert not found.complete
    assert found.unit("plant.qm") == "rad"
    with pytest.warns(SpartWarning, match="what is whole"):
        samples = read_recording(path, ["plant.qm"])["plant.qm"]
    np.testing.assert_array_equal(samples.values, named["plant.qm"][: len(samples.times)])


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("plant.qm", lambda run: run["plant.qm"]),
        ("plant.qm[1]", lambda run: run["plant.qm"][:, 1]),
        ("plant.qm[elbow]", lambda run: run["plant.qm"][:, 1]),
        ("plant.qm[0:2]", lambda run: run["plant.qm"][:, :2]),
        ("plant.Mm[1,0]", lambda run: run["plant.Mm"][:, 1, 0]),
        ("clock.k", lambda run: run["clock.k"]),
        ("hit", lambda run: run["hit"]),
        ("states.plant", lambda run: run["states.plant"]),
        ("states.plant.um.tip", lambda run: run["states.plant"][:, 5]),
        ("/plant/qm.value[2]", lambda run: run["plant.qm"][:, 2]),
    ],
)
def test_signals_are_named_as_in_results(named, tmp_path, name, expected):
    path = write_run(named, tmp_path / "run.mcap", epoch=10**18)
    samples = read_recording(path, [name])[name]
    np.testing.assert_array_equal(samples.values, expected(named))
    np.testing.assert_allclose(samples.times, named.t, atol=1e-9 if name[0] == "/" else 0)


@pytest.mark.parametrize(
    ("name", "text"),
    [("plant.q", "did you mean 'plant.qm'"), ("plant.qm[7]", "out of range"),
     ("plant.qm[knee]", "not an index"), ("/plant/qm.vale", "did you mean 'value'"),
     ("/plant/qm", r"as /plant/qm\.t"), ("clock.k[0]", "scalar")],
)  # fmt: skip
def test_a_wrong_name_of_a_signal_is_told(named, tmp_path, name, text):
    path = write_run(named, tmp_path / "run.mcap")
    with pytest.raises(InputError, match=text) as caught:
        read_recording(path, [name])
    assert str(path) in str(caught.value)


LOOP = """
blocks:
  u: {type: WAVEFORM, wave: square, freq: 0.7}
  lag: {type: INTEGRATOR, x0: 0.25}
  sum: {type: SUM, signs: "+-"}
  both: {type: MUX, nin: 2}
wires: [u -> sum.0, lag -> sum.1, sum -> lag, u -> both.0, lag -> both.1]
run: {T: 2, log: [both, u, lag]}
"""
REPLAY = """
blocks:
  data: {type: DATA, file: run.mcap, signals: {both: both, u: u}, interpolation: previous}
  seen: {type: GAIN, K: 1}
  end: {type: "NULL", nin: 2}
wires: [data.both -> seen, seen -> end.0, data.u -> end.1]
run: {T: 2, log: [seen, data.u]}
"""


@pytest.mark.parametrize("engine", ["native", "interpreter"])
def test_a_diagram_replays_a_recording_to_the_bit(tmp_path, engine):
    (tmp_path / "loop.yaml").write_text(LOOP)
    (tmp_path / "replay.yaml").write_text(REPLAY)
    run = sb.simulate(tmp_path / "loop.yaml")
    write_run(run, tmp_path / "run.mcap")
    replay = sb.simulate(tmp_path / "replay.yaml", engine=engine)
    rows = np.searchsorted(run.t, replay.t, side="right") - 1
    np.testing.assert_array_equal(replay["seen"], run["both"][rows])
    np.testing.assert_array_equal(replay["data.u"], run["u"][rows])
    assert np.isin(run.t, replay.t).all()


def test_a_run_goes_on_from_a_recording(tmp_path):
    (tmp_path / "loop.yaml").write_text(LOOP)
    run = sb.simulate(tmp_path / "loop.yaml", T=1)
    write_run(run, tmp_path / "run.mcap")
    onward = sb.simulate(tmp_path / "loop.yaml", initial=tmp_path / "run.mcap", T=2)
    again = sb.simulate(tmp_path / "loop.yaml", initial=run, T=2)
    np.testing.assert_array_equal(onward["lag"], again["lag"])


def test_messages_that_are_alike_are_decoded_as_the_others_are(named, tmp_path, monkeypatch):
    path = write_run(named, tmp_path / "run.mcap")
    wide = dataclasses.replace(named, signals={"wide": np.random.default_rng(1).random((21, 40))})
    many = write_run(wide, tmp_path / "wide.mcap", chunk_size=2000)
    assert Results.load(many)["wide"].tolist() == wide["wide"].tolist()
    fast = Results.load(path)
    monkeypatch.setattr(rows, "alike", lambda *_: None)
    same(Results.load(path), fast)
    same(Results.load(many), wide)
