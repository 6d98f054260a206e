"""Files hold what the run held, appear whole or not at all, and are read with distrust."""

from __future__ import annotations

import contextlib
import csv
import dataclasses
import io
import json
import os
import zipfile

import numpy as np
import pandas
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.io import loadmat

from spart_blocks.base.errors import InputError
from spart_blocks.results import FinalState, Results, files
from spart_blocks.results.recordings import read_recording


def assert_equal_results(a: Results, b: Results) -> None:
    np.testing.assert_array_equal(a.t, b.t)
    for part in ("signals", "states"):
        left, right = getattr(a, part), getattr(b, part)
        assert list(left) == list(right)
        for name in left:
            assert left[name].dtype == right[name].dtype
            np.testing.assert_array_equal(left[name], right[name])
    for part in ("continuous", "discrete"):
        left, right = getattr(a.final_state, part), getattr(b.final_state, part)
        assert list(left) == list(right)
        for name in left:
            np.testing.assert_array_equal(left[name], right[name])
    assert (a.final_state.t, a.final_state.ticks) == (b.final_state.t, b.final_state.ticks)
    rest = "scopes events complete stopped diagram_name info aliases units levels"
    for part in rest.split():
        assert getattr(a, part) == getattr(b, part), part


def test_npz_gives_back_everything(run, tmp_path):
    stopped = dataclasses.replace(run, complete=False, stopped="Ctrl-C")
    for results in (run, stopped):
        assert_equal_results(results, Results.load(results.save(tmp_path / "run.npz")))


def test_large_arrays_of_an_npz_file_are_stored_as_they_are_unless_they_shrink_well(tmp_path):
    t = np.arange(2**18) / 3
    signals = {"wave": np.sin(t), "level": np.floor(t / 1000)}
    results = Results(t, signals, {}, FinalState(float(t[-1])))
    path = results.save(tmp_path / "run.npz")
    with zipfile.ZipFile(path) as archive:
        packed = {info.filename: info.compress_type for info in archive.infolist()}
    assert packed == {
        "t.npy": zipfile.ZIP_STORED, "wave.npy": zipfile.ZIP_STORED,
        "level.npy": zipfile.ZIP_DEFLATED, "meta.npy": zipfile.ZIP_DEFLATED,
    }  # fmt: skip
    assert_equal_results(results, Results.load(path))


names = st.text(st.characters(exclude_categories=("Cs",)), min_size=1, max_size=12)


@settings(max_examples=60, deadline=None)
@given(st.lists(names, unique=True, max_size=6), names, st.floats(allow_nan=False))
def test_npz_takes_any_name_and_any_number(tmp_path_factory, signals, block, number):
    t = np.array([0.0, number])
    results = Results(
        t, {n: t + i for i, n in enumerate(signals)}, {block: t[:, None]},
        FinalState(number, {block: t}, {}, {block: 3}), info={block: number}, diagram_name=block,
    )  # fmt: skip
    path = tmp_path_factory.mktemp("any") / "a.npz"
    assert_equal_results(results, Results.load(results.save(path)))


def test_npz_is_plain_numpy_without_pickles(run, tmp_path):
    with np.load(run.save(tmp_path / "run.npz"), allow_pickle=False) as stored:
        np.testing.assert_array_equal(stored["plant.qm"], run["plant.qm"])
        assert all(stored[key].dtype.kind in "biufcU" for key in stored)
        assert json.loads(str(stored["meta"]))["diagram_name"] == "arm-pd"


def test_a_style_that_json_cannot_hold_costs_the_style_not_the_run(run, tmp_path):
    scope = dataclasses.replace(run.scopes[0], styles=({"marker": object()},))
    loaded = Results.load(dataclasses.replace(run, scopes=(scope,)).save(tmp_path / "run.npz"))
    assert loaded.scopes[0].styles is None
    np.testing.assert_array_equal(loaded["plant.qm"], run["plant.qm"])


def test_every_file_of_a_thinned_record_tells_its_stretches(run, tmp_path):
    thinned = dataclasses.replace(run, info={**run.info, "thinned": 0.25})
    csv_file = thinned.save(tmp_path / "run.csv")
    frame = pandas.read_csv(csv_file)
    assert (frame["thinned"] == 0.25).all()
    assert list(frame)[:-1] == list(run.to_dataframe())
    signals = read_recording(csv_file, ["plant.qm", "thinned"])
    np.testing.assert_array_equal(signals["plant.qm"].values, run["plant.qm"])
    assert (signals["thinned"].values == 0.25).all()
    assert len(signals["thinned"].times) == len(run.t)
    info = loadmat(thinned.save(tmp_path / "run.mat"))["info"]
    assert info["thinned"][0, 0].item() == 0.25
    assert Results.load(thinned.save(tmp_path / "run.npz")).info["thinned"] == 0.25
    assert thinned.to_dataframe().attrs["thinned"] == 0.25
    assert thinned.to_xarray().attrs["thinned"] == 0.25
    assert "thinned" not in pandas.read_csv(run.save(tmp_path / "whole.csv"))


def test_csv_keeps_every_digit(run, tmp_path):
    path = run.save(tmp_path / "run.csv")
    with open(path, encoding="utf-8", newline="") as file:
        rows = list(csv.reader(file))
    assert rows[0][:4] == ["t", "plant.qm[0]", "plant.qm[1]", "plant.qm[2]"]
    assert rows[0] == list(run.table())
    assert len(rows) == 22
    read = np.array(rows[1:], dtype=float)
    for column, values in enumerate(run.table().values()):
        np.testing.assert_array_equal(read[:, column], values)


def test_mat_has_valid_distinct_names_and_a_map_back(run, tmp_path):
    t = run.t
    odd = {"a.b": t, "a_b": 2 * t, "1st": 3 * t, "end": 4 * t, "é": 5 * t, "x" * 90: t, "t": 6 * t}
    results = dataclasses.replace(run, signals={**run.signals, **odd})
    stored = loadmat(results.save(tmp_path / "run.mat"))
    np.testing.assert_array_equal(stored["plant_qm"], run["plant.qm"])
    np.testing.assert_array_equal(stored["plant_Mm"], run["plant.Mm"])
    np.testing.assert_array_equal(stored["states_plant"], run.states["plant"])
    assert stored["t"].shape == (21, 1)
    np.testing.assert_array_equal(stored["t"][:, 0], t)
    back = {row[1].item(): row[0].item() for row in stored["names"]}
    assert set(back) == {*results.signals, "states.plant"}
    assert len(set(back.values())) == len(back)
    for name, identifier in back.items():
        assert identifier.isidentifier()
        assert identifier.isascii()
        assert len(identifier) <= 63
        if name in odd:
            np.testing.assert_array_equal(stored[identifier][:, 0], odd[name])
    assert stored["info"]["solver"].item().item() == "RK45"


@pytest.mark.parametrize("suffix", ["npz", "csv", "mat"])
def test_a_save_that_fails_leaves_the_old_file_and_nothing_else(run, tmp_path, suffix, monkeypatch):
    path = run.save(tmp_path / f"run.{suffix}")
    before = path.read_bytes()

    def fail(*args):
        raise KeyboardInterrupt

    monkeypatch.setattr(files.os, "replace", fail)
    with pytest.raises(KeyboardInterrupt):
        run.save(path)
    assert path.read_bytes() == before
    assert os.listdir(tmp_path) == [path.name]


def test_a_full_disk_is_told_in_one_line(run, tmp_path, monkeypatch):
    def full(fd):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(files.os, "fsync", full)
    with pytest.raises(InputError, match=r"cannot write .*run.npz: No space left on device"):
        run.save(tmp_path / "run.npz")
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("run.xlsx", "suffix '.xlsx'\n  name the file with one of .npz, .csv, .mat"),
        ("run", "no suffix"),
        ("nowhere/run.npz", "nowhere is missing"),
        ("folder.npz", "it is a folder; name a file"),
    ],
)
def test_a_path_that_cannot_be_written_is_explained(run, tmp_path, name, text):
    (tmp_path / "folder.npz").mkdir()
    with pytest.raises(InputError) as error:
        run.save(tmp_path / name)
    assert text in str(error.value)


def _rewrite(path, entry: str, data: bytes) -> None:
    """Replace one entry of an archive."""
    with zipfile.ZipFile(path) as old:
        kept = {info.filename: old.read(info) for info in old.infolist()}
    with zipfile.ZipFile(path, "w") as new:
        for name, content in {**kept, f"{entry}.npy": data}.items():
            new.writestr(name, content)


def _npy(array: np.ndarray, allow_pickle: bool = False) -> bytes:
    file = io.BytesIO()
    np.lib.format.write_array(file, array, allow_pickle=allow_pickle)
    return file.getvalue()


def _edited_meta(path, **change) -> bytes:
    with np.load(path) as stored:
        meta = json.loads(str(stored["meta"]))
    return _npy(np.array(json.dumps({**meta, **change})))


def test_a_pickle_in_the_file_is_never_opened(run, tmp_path):
    class Bomb:
        def __reduce__(self):
            return (os.mkdir, (str(tmp_path / "opened"),))

    path = run.save(tmp_path / "run.npz")
    _rewrite(path, "plant.qm", _npy(np.array([Bomb()], dtype=object), allow_pickle=True))
    with pytest.raises(InputError, match=r"run.npz: entry 'plant.qm' holds object"):
        Results.load(path)
    assert not (tmp_path / "opened").exists()


def test_a_header_that_claims_more_than_is_there_is_refused(run, tmp_path):
    path = run.save(tmp_path / "run.npz")
    liar = _npy(np.zeros(3)).replace(b"(3,)", b"(9000000000000,)")
    _rewrite(path, "t", liar)
    with pytest.raises(InputError, match="not as large as it says"):
        Results.load(path)


def test_a_file_that_unpacks_too_large_is_refused(run, tmp_path):
    path = run.save(tmp_path / "run.npz")
    with pytest.raises(InputError, match=r"unpacks to .* more than the 1,000 allowed"):
        files.load(Results, path, max_bytes=1000)


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"format": "spart_blocks results 99"}, "results 99', this version reads"),
        ({"signals": {"a.b": "missing"}}, "not a results file"),
        ({"signals": 3}, "not a results file"),
        ({"signals": {"a.b": "states.plant", "c.d": "final.discrete.hold"}}, "c.d has shape"),
        ({"final_state": None}, "not a results file"),
        ({"scopes": [{"name": "s", "colour": 1}]}, "not a results file"),
        ({"events": [{"t": "soon"}]}, "not a results file"),
    ],
)
def test_a_file_with_wrong_contents_is_explained(run, tmp_path, change, text):
    path = run.save(tmp_path / "run.npz")
    _rewrite(path, "meta", _edited_meta(path, **change))
    with pytest.raises(InputError) as error:
        Results.load(path)
    assert text in str(error.value)
    assert str(path) in str(error.value)


@pytest.mark.parametrize("meta", ["[" * 100_000, "{", "[]", "null", "3"])
def test_a_description_that_is_not_one_is_explained(run, tmp_path, meta):
    path = run.save(tmp_path / "run.npz")
    _rewrite(path, "meta", _npy(np.array(meta)))
    with pytest.raises(InputError, match="not a results file"):
        Results.load(path)


def test_a_missing_or_foreign_file_is_explained(tmp_path):
    with pytest.raises(InputError, match="no results file"):
        Results.load(tmp_path / "none.npz")
    (tmp_path / "a.csv").write_text("t\n0\n")
    with pytest.raises(InputError, match=r"only .npz and .mcap files hold everything"):
        Results.load(tmp_path / "a.csv")
    (tmp_path / "a.npz").write_text("not a zip")
    with pytest.raises(InputError, match=r"damaged, or not an .npz file"):
        Results.load(tmp_path / "a.npz")
    np.savez(tmp_path / "b.npz", t=np.zeros(3))
    with pytest.raises(InputError, match="not a results file"):
        Results.load(tmp_path / "b.npz")


@settings(max_examples=150, deadline=None)
@given(st.data())
def test_a_damaged_file_never_gives_anything_but_an_input_error(tmp_path_factory, data):
    t = np.linspace(0, 1, 5)
    whole = Results(t, {"a.b": t}, {"a": t[:, None]}, FinalState(1.0, {"a": t[-1:]}))
    path = whole.save(tmp_path_factory.mktemp("damaged") / "run.npz")
    content = bytearray(path.read_bytes())
    for _ in range(data.draw(st.integers(1, 4))):
        content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
    path.write_bytes(content[: data.draw(st.integers(1, len(content)))])
    with contextlib.suppress(InputError):
        Results.load(path)
