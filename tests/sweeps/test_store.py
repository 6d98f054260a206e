"""Runs of a sweep in a folder: written in parts, read back, resumed, refused."""

from __future__ import annotations

import json

import numpy as np
import pytest

from spart_blocks.base.errors import InputError, RunError
from spart_blocks.sweeps.storage import columns as parts
from spart_blocks.sweeps.storage import store
from spart_blocks.sweeps.storage.columns import FALSE, TRUE, UNKNOWN, Column, Columns, schema_of
from spart_blocks.sweeps.storage.histories import Histories
from spart_blocks.sweeps.storage.store import Description, Folder, Store

SCHEMA = schema_of(
    (Column("kp", "float"), Column("file", "text")), ("miss",), ("a", "b"), ("none",)
)


def described(**changes):
    given = {
        "name": "arm",
        "identity": {"seed": 7, "over": {"kp": [10, 20]}},
        "files": {"arm.yaml": "1234"},
        "runs": 6,
        "schema": SCHEMA,
    }
    return Description(**given | changes)


def rows(*runs):
    n = len(runs)
    return {
        "run": runs,
        "draw": runs,
        "grid": np.zeros(n),
        "variant": [run % 2 for run in runs],
        "fault": np.zeros(n),
        "kp": [10.0 * run for run in runs],
        "file": [f"{run}.urdf" for run in runs],
        "status": [2 if run == 3 else 0 for run in runs],
        "message": ["it diverged" if run == 3 else "" for run in runs],
        "passed": [UNKNOWN if run == 3 else TRUE if run % 2 else FALSE for run in runs],
        "t_end": np.full(n, 1.5),
        "steps": np.full(n, 9),
        "miss": [np.nan if run == 3 else 1 / (run + 1) for run in runs],
    }


def histories(*runs, width=2):
    q = np.array(runs, dtype=float)[:, None, None] + np.zeros((len(runs), 3, width))
    values = {"plant.q": q, "u": q[:, :, 0]}
    return Histories(np.array(runs), np.array([0.0, 0.5, 1.0]), values, {"plant.q": "rad"})


@pytest.fixture(params=["parquet", "npz"])
def kind(request, monkeypatch):
    monkeypatch.setattr(store, "best_format", lambda: request.param)
    return request.param


@pytest.fixture(autouse=True)
def _parts_at_once(monkeypatch):
    monkeypatch.setattr(store, "LEAST_WAIT", -1.0)
    monkeypatch.setattr(store, "SHARE", 0.0)


def check_rows(kept):
    found = Columns(SCHEMA, kept.read)
    assert found["run"].tolist() == [0, 1, 2, 3]
    assert found["variant"].tolist() == ["a", "b", "a", "b"]
    assert found["status"].tolist() == ["complete", "complete", "complete", "failed"]
    assert found["message"].tolist() == ["", "", "", "it diverged"]
    assert found["passed"].tolist() == [False, True, False, None]
    assert found["file"].tolist() == ["0.urdf", "1.urdf", "2.urdf", "3.urdf"]
    assert found["miss"].tobytes() == np.array([1.0, 1 / 2, 1 / 3, np.nan]).tobytes()
    assert found.kept("passed").dtype == np.int8


def test_runs_in_memory_are_in_the_order_of_their_numbers():
    kept = Store(described())
    kept.add(rows(2, 0))
    kept.add(rows(3, 1))
    check_rows(kept)


def test_runs_in_a_folder_come_back_bit_for_bit(tmp_path, kind):
    with_parts = Folder.made(tmp_path / "out", described())
    with_parts.add(rows(2, 0))
    with_parts.add(rows(3, 1))
    check_rows(with_parts)
    with_parts.close()
    assert sorted(p.name for p in (tmp_path / "out" / "table").iterdir()) == [
        f"000000.{kind}",
        f"000001.{kind}",
    ]
    check_rows(Folder.opened(tmp_path / "out"))


def test_other_programs_read_the_parquet_files(tmp_path):
    kept = Folder.made(tmp_path / "out", described())
    kept.add(rows(0, 1))
    kept.add(rows(2, 3))
    kept.close()
    pandas = pytest.importorskip("pandas")
    frame = pandas.read_parquet(tmp_path / "out" / "table")
    assert frame["variant"].astype(str).tolist() == ["a", "b", "a", "b"]
    assert frame["passed"].tolist() == [False, True, False, None]
    assert frame["message"][3] == "it diverged"


def test_a_part_waits_for_the_next_while_little_time_has_passed(tmp_path, monkeypatch):
    monkeypatch.setattr(store, "LEAST_WAIT", 1e9)
    kept = Folder.made(tmp_path / "out", described())
    kept.add(rows(0, 1))
    assert not (tmp_path / "out" / "table").exists()
    assert kept.runs().tolist() == [0, 1]
    kept.close()
    assert Folder.opened(tmp_path / "out").runs().tolist() == [0, 1]


def test_a_sweep_is_resumed_and_may_be_made_longer(tmp_path):
    first = Folder.made(tmp_path, described())
    first.add(rows(0, 1))
    first.close()
    second = Folder.resumed(tmp_path, described(runs=100))
    second.add(rows(3, 2))
    second.close()
    again = Folder.opened(tmp_path)
    check_rows(again)
    assert again.description.runs == 100


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"identity": {"seed": 8, "over": {"kp": [10, 20]}}}, "seed: 7 there, 8 here"),
        ({"identity": {"seed": 7, "over": {"kp": [10]}}}, "over.kp: [10, 20] there, [10] here"),
        ({"identity": {"seed": 7, "over": {}}}, "over.kp: [10, 20] there, nothing here"),
        ({"files": {"arm.yaml": "99"}}, "arm.yaml has changed since"),
        ({"files": {"arm.yaml": "1234", "b.urdf": "1"}}, "b.urdf belongs to one of them alone"),
        ({"schema": SCHEMA[:-1]}, "columns of one of them alone: miss"),
    ],
)
def test_the_folder_of_another_sweep_is_refused(tmp_path, changes, said):
    Folder.made(tmp_path, described()).close()
    with pytest.raises(InputError, match="holds the results of another sweep") as refused:
        Folder.resumed(tmp_path, described(**changes))
    assert said in str(refused.value)
    with pytest.raises(InputError, match="holds the results of another sweep") as refused:
        Folder.made(tmp_path, described(**changes))
    assert said in str(refused.value)


def test_a_folder_that_is_not_empty_is_refused(tmp_path):
    (tmp_path / "thesis.txt").write_text("mine")
    with pytest.raises(InputError, match="is not empty"):
        Folder.made(tmp_path, described())
    with pytest.raises(InputError, match="holds no sweep"):
        Folder.resumed(tmp_path, described())
    with pytest.raises(InputError, match="there is no such folder"):
        Folder.opened(tmp_path / "none")


def test_a_folder_of_this_sweep_names_resume(tmp_path):
    Folder.made(tmp_path, described()).close()
    with pytest.raises(InputError, match="holds this sweep already") as refused:
        Folder.made(tmp_path, described())
    assert "--resume" in str(refused.value)


def test_two_processes_do_not_write_into_one_folder(tmp_path):
    pytest.importorskip("fcntl")
    first = Folder.made(tmp_path, described())
    with pytest.raises(InputError, match="another process writes there now"):
        Folder.resumed(tmp_path, described())
    first.close()
    Folder.resumed(tmp_path, described()).close()


@pytest.mark.parametrize("text", ["", "{}", "[1]", '{"format": "x"}', '{"format": 1, "name": {}}'])
def test_a_damaged_description_is_refused(tmp_path, text):
    (tmp_path / "sweep.json").write_text(text)
    with pytest.raises(InputError, match="not the description of a sweep"):
        Folder.opened(tmp_path)


@pytest.mark.parametrize("key", ["name", "runs", "columns", "table", "identity", "files"])
def test_a_description_that_lacks_something_is_refused(tmp_path, key):
    Folder.made(tmp_path, described()).close()
    plain = json.loads((tmp_path / "sweep.json").read_text())
    for wrong in (None, 3.5, "x", [1]):
        damaged = plain | {key: wrong}
        if key == "name" or (key == "runs" and wrong == 3.5):
            del damaged[key]
        (tmp_path / "sweep.json").write_text(json.dumps(damaged))
        with pytest.raises(InputError, match="not the description of a sweep"):
            Folder.opened(tmp_path)


def test_a_damaged_part_is_named(tmp_path, kind):
    kept = Folder.made(tmp_path, described())
    kept.add(rows(0, 1))
    kept.close()
    (tmp_path / "table" / f"000000.{kind}").write_bytes(b"PK nonsense")
    with pytest.raises(InputError, match=r"000000.*cannot be read as a part of a sweep"):
        Folder.opened(tmp_path)


def test_a_damaged_part_may_be_removed_and_its_runs_are_done_again(tmp_path, kind):
    first = Folder.made(tmp_path, described())
    first.add(rows(0, 1), histories(0, 1))
    first.add(rows(2), histories(2))
    first.close()
    damaged = tmp_path / "table" / f"000000.{kind}"
    damaged.write_bytes(b"PAR1")
    with pytest.raises(InputError, match=r"remove it[\s\S]*--resume"):
        Folder.opened(tmp_path).runs()
    damaged.unlink()
    again = Folder.resumed(tmp_path, described())
    assert again.runs().tolist() == [2]
    again.add(rows(3, 1))
    again.add(rows(0), histories(0))
    again.close()
    found = Folder.opened(tmp_path)
    check_rows(found)
    assert found.histories().runs.tolist() == [0, 2]


def test_a_folder_that_cannot_be_written_is_not_resumed(tmp_path):
    Folder.made(tmp_path, described()).close()
    (tmp_path / ".lock").unlink()
    (tmp_path / ".lock").mkdir()
    with pytest.raises(InputError, match=f"cannot write into {tmp_path}: Is a directory"):
        Folder.resumed(tmp_path, described())


@pytest.mark.parametrize("form", ["npz", "zarr"])
def test_damaged_histories_are_named(tmp_path, form):
    pytest.importorskip("zarr")
    kept = Folder.made(tmp_path, described(histories=form))
    kept.add(rows(0, 1), histories(0, 1))
    kept.close()
    files = [p for p in tmp_path.glob("histories*/**/*") if p.is_file()]
    for path in files:
        path.write_bytes(path.read_bytes()[:20])
    with pytest.raises(InputError, match=r"histories[\s\S]*cannot be read"):
        Folder.opened(tmp_path).histories()
    assert Folder.opened(tmp_path).runs().tolist() == [0, 1]


def test_a_full_disk_is_one_error_and_keeps_what_was_written(tmp_path, monkeypatch):
    kept = Folder.made(tmp_path, described())
    kept.add(rows(0, 1))

    def full(path, data):
        raise InputError(f"cannot write {path}: No space left on device")

    monkeypatch.setattr(store, "write_whole", full)
    with pytest.raises(RunError, match="No space left on device") as failure:
        kept.add(rows(2, 3))
    assert "2 runs are kept" in str(failure.value)
    assert "--resume" in str(failure.value)
    monkeypatch.undo()
    kept.release()
    assert Folder.opened(tmp_path).runs().tolist() == [0, 1]


# --- histories ---------------------------------------------------------------------------


@pytest.mark.parametrize("form", ["npz", "zarr"])
def test_histories_come_back_with_their_runs(tmp_path, form):
    kept = Folder.made(tmp_path, described(histories=form))
    kept.add(rows(2, 0), histories(2, 0))
    kept.add(rows(3, 1), histories(1))
    kept.close()
    found = Folder.opened(tmp_path).histories()
    assert found.runs.tolist() == [0, 1, 2]
    assert found.values["plant.q"].shape == (3, 3, 2)
    assert found.values["plant.q"][:, 0, 1].tolist() == [0, 1, 2]
    assert found.units == {"plant.q": "rad"}


def test_large_histories_are_read_when_asked_for(tmp_path):
    kept = Folder.made(tmp_path, described(histories="zarr"))
    kept.add(rows(2, 0), histories(2, 0))
    kept.add(rows(1))
    kept.add(rows(3), histories(3))
    kept.close()
    data = Folder.opened(tmp_path).dataset()
    assert data["run"].values.tolist() == [0, 2, 3]
    assert data["plant.q"].dims == ("run", "time", "plant.q.0")
    assert data["plant.q"].sel(run=3).values.tolist() == [[3, 3]] * 3
    assert data["plant.q"].attrs["units"] == "rad"
    shards = [p for p in (tmp_path / "histories.zarr" / "u" / "c").rglob("*") if p.is_file()]
    assert len(shards) == 2


@pytest.mark.parametrize("form", ["npz", "zarr"])
def test_histories_without_their_table_do_not_count(tmp_path, form):
    """A process killed between the two."""
    kept = Folder.made(tmp_path, described(histories=form))
    kept.add(rows(0), histories(0))
    kept.close()
    kept.files.write(1, histories(1, 2, 3))
    assert Folder.opened(tmp_path).histories().runs.tolist() == [0]
    again = Folder.resumed(tmp_path, described())
    again.add(rows(1), histories(1))
    again.close()
    found = Folder.opened(tmp_path)
    assert found.histories().runs.tolist() == [0, 1]
    if form == "zarr":
        assert found.dataset()["run"].values.tolist() == [0, 1]


@pytest.mark.parametrize("form", ["npz", "zarr"])
def test_runs_of_other_structures_and_ends(tmp_path, form):
    kept = Folder.made(tmp_path, described(histories=form))
    kept.add(rows(0), histories(0))
    longer = Histories(np.array([1]), np.arange(4.0), {"u": np.ones((1, 4)), "v": np.ones((1, 4))})
    kept.add(rows(1), longer)
    kept.close()
    found = Folder.opened(tmp_path).histories()
    assert found.times.tolist() in ([0, 1, 2, 3], [0, 0.5, 1, 3])
    assert np.isnan(found.values["plant.q"][1]).all()
    assert found.values["v"][1].tolist() == [1, 1, 1, 1]
    assert np.isnan(found.values["v"][0]).all()


def test_a_signal_with_two_shapes_is_left_out(tmp_path):
    kept = Folder.made(tmp_path, described())
    kept.add(rows(0), histories(0))
    kept.add(rows(1), histories(1, width=3))
    kept.close()
    assert set(Folder.opened(tmp_path).histories().values) == {"u"}


def test_parts_without_pyarrow_are_npz(monkeypatch):
    monkeypatch.setattr(parts, "find_spec", lambda name: None)
    parts.best_format.cache_clear()
    assert parts.best_format() == "npz"
    parts.best_format.cache_clear()
