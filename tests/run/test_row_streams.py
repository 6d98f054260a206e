"""A stream has every row of a run, also where the record is thinned, interrupted or has failed."""

from __future__ import annotations

import numpy as np
import pandas
import pytest
import xarray

import spart_blocks as sb
from spart_blocks.base.errors import InputError, RunError
from spart_blocks.run import begin, finish
from spart_blocks.run.record import streams, thinning

LOOP = """
clocks: {c: {T: 0.1}}
blocks:
  s: {type: WAVEFORM, wave: sine, freq: 0.5, amplitude: [1, 2]}
  hold: {type: ZOH, clock: c, x0: [0, 0]}
  lag: {type: INTEGRATOR, x0: [0, 0]}
  scope: {type: SCOPE, nin: 2}
wires: [s -> hold, hold -> lag, hold -> scope.0, lag -> scope.1]
run: {T: 20}
"""


@pytest.fixture
def loop(tmp_path):
    path = tmp_path / "loop.yaml"
    path.write_text(LOOP)
    return path


def rows(path):
    """The rows of a stream by column, as `Results.table` has them."""
    if path.suffix == ".parquet":
        frame = pandas.read_parquet(path)
        return {name: frame[name].to_numpy() for name in frame}
    found = {}
    with xarray.open_zarr(path, consolidated=False) as store:
        for name, array in store.variables.items():
            flat = array.to_numpy().reshape(len(array), -1).T
            labels = [f"{name}[{k}]" for k in range(len(flat))] if array.ndim > 1 else [name]
            found |= dict(zip(labels, flat, strict=True))
    return found


def same(found, results):
    table = results.table()
    assert found.keys() == table.keys()
    for name, column in table.items():
        assert np.array_equal(found[name], column), name


@pytest.mark.parametrize("engine", ["native", "interpreter"])
@pytest.mark.parametrize("kind", ["zarr", "parquet"])
def test_a_stream_has_all_rows_of_a_thinned_run(loop, tmp_path, monkeypatch, kind, engine):
    T = 20.0 if engine == "native" else 4.0
    whole = sb.simulate(loop, engine=engine, T=T)
    monkeypatch.setattr(thinning, "MOST_NUMBERS", 400)
    monkeypatch.setattr(thinning, "LEAST_STRETCHES", 5)
    monkeypatch.setattr(streams, "LARGEST_PART", 64)
    path = tmp_path / f"rows.{kind}"
    results = sb.simulate(loop, engine=engine, T=T, stream=path)
    assert len(results.t) < len(whole.t) // 2
    assert f"every row is in {path}" in results.info["notes"]
    same(rows(path), whole)
    if kind == "parquet":
        assert len(list(path.iterdir())) == -(-len(whole.t) // 64)


@pytest.mark.parametrize("kind", ["zarr", "parquet"])
def test_a_stream_of_a_run_that_is_interrupted_has_its_rows(loop, tmp_path, kind):
    def interrupt(t, T):
        if t > 7:
            raise KeyboardInterrupt

    path = tmp_path / f"rows.{kind}"
    run = begin(loop, progress=interrupt, stream=path)
    run.steps_a_report = 5
    results = finish(run)
    assert not results.complete
    assert 7 < results.t[-1] < 20
    same(rows(path), results)
    if kind == "zarr":
        assert xarray.open_zarr(path, consolidated=False).attrs["complete"] == 0


@pytest.mark.parametrize("kind", ["zarr", "parquet"])
def test_a_stream_that_cannot_be_written_ends_the_run(loop, tmp_path, monkeypatch, kind):
    folder = tmp_path / "out"
    folder.mkdir()
    path = folder / f"rows.{kind}"
    run = begin(loop, stream=path)

    def full(part):
        raise OSError(28, "No space left on device")

    run.recorder.stream._write_part = full
    monkeypatch.setattr(streams, "LARGEST_PART", 64)
    with pytest.raises(RunError, match=f"cannot write {path}: No space left on device"):
        finish(run)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("rows.csv", r"stream .*rows.csv: the kind of files is not known\n  end it in .zarr or"),
        ("rows", "the kind of files is not known"),
        ("there.zarr", r"there is one already\n  name another one, or remove it"),
        ("none/rows.zarr", r"there is no folder .*none\n  make it: mkdir -p"),
    ],
)
def test_a_path_at_which_no_stream_can_be_is_refused_before_the_run(loop, tmp_path, name, words):
    (tmp_path / "there.zarr").mkdir()
    with pytest.raises(InputError, match=words):
        begin(loop, stream=tmp_path / name)


def test_a_stream_of_samples_is_refused(loop, tmp_path):
    with pytest.raises(InputError, match=r"keeps samples only\n  set run.every=null"):
        begin(loop, every=0.1, stream=tmp_path / "rows.zarr")
    assert not (tmp_path / "rows.zarr").exists()
    with pytest.raises(InputError, match="stream is a path, not 3"):
        begin(loop, stream=3)
