"""Runs whose disk, home, cache or neighbours are not as they should be."""

from __future__ import annotations

import errno
import os
import resource
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from faulty_runs import (
    SHORT,
    ended,
    processes_that_compile_one_file,
    runs_into_one_file,
    signal_at_random_moments,
)
from faulty_runs import spart as started

from spart_blocks.results import Results
from spart_blocks.results import files as results_files

pytestmark = pytest.mark.skipif(os.name == "nt", reason="Windows has no such signals")
ENDS = [signal.SIGINT, signal.SIGTERM, signal.SIGKILL]


@pytest.fixture
def short(tmp_path):
    path = tmp_path / "short.yaml"
    path.write_text(SHORT, encoding="utf-8")
    return path


# --- the end comes early, or twice -----------------------------------------------------------


@pytest.mark.parametrize("number", ENDS)
def test_whenever_it_is_ended_the_file_is_whole_and_the_account_true(tmp_path, number):
    assert sum(signal_at_random_moments(tmp_path, number, 2).values()) == 2


def test_of_two_runs_into_one_file_the_last_counts_and_none_is_mixed(tmp_path):
    assert runs_into_one_file(tmp_path, 2) == [0, 0]


def test_what_a_killed_run_has_left_is_cleared_by_the_next(spart, short, tmp_path):
    left = tmp_path / ".run.npz.0123abcd.part"
    others = [tmp_path / name for name in (".run.npz.part", ".other.npz.0123abcd.part")]
    for path in (left, *others):
        path.write_bytes(b"half")
        os.utime(path, (0, 0))
    being_written = tmp_path / ".run.npz.00000000.part"
    with open(being_written, "wb") as file:
        results_files._is_ours(file)
        os.utime(being_written, (0, 0))
        assert spart("run", short, "--out", "run.npz", "-q").code == 0
    assert not left.exists()
    assert being_written.exists()
    assert all(path.exists() for path in others)


def test_who_may_read_a_file_stays_as_it_was(spart, short, tmp_path):
    (tmp_path / "run.npz").touch(0o600)
    spart("run", short, "--out", "run.npz", "-q")
    assert (tmp_path / "run.npz").stat().st_mode & 0o777 == 0o600


# --- disks -----------------------------------------------------------------------------------


def test_a_disk_without_room_costs_neither_the_earlier_file_nor_the_run(
    spart, short, tmp_path, monkeypatch
):
    """What is written into this folder ends in the middle, as on a full disk."""
    (tmp_path / "run.npz").write_bytes(b"earlier")
    write, full = results_files._write_npz, []

    def written(results, file):
        if Path(file.name).parent == tmp_path:
            file.write(b"half")
            full.append(True)
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        write(results, file)

    monkeypatch.setattr(results_files, "_write_npz", written)
    monkeypatch.setenv("TMPDIR", str(elsewhere := tmp_path / "tmp"))
    elsewhere.mkdir()
    monkeypatch.setattr("tempfile.tempdir", None)
    answer = spart("run", short, "--out", "run.npz")
    assert full
    assert answer.code == 1
    assert "run.npz: No space left on device" in answer.err
    [saved] = elsewhere.rglob("*.npz")
    assert f"the results are in {saved}" in answer.err
    assert Results.load(saved).complete
    assert (tmp_path / "run.npz").read_bytes() == b"earlier"
    assert not list(tmp_path.glob(".*.part"))


@pytest.mark.parametrize("suffix", [".npz", ".csv", ".mat"])
def test_where_nothing_can_be_written_it_says_so_and_keeps_the_earlier_file(
    short, tmp_path, suffix
):
    """No file may grow beyond 5 kB: Python hears it as an error, as of a full disk."""
    (tmp_path / f"run{suffix}").write_bytes(b"earlier")
    limit = (5000, 5000)
    child = subprocess.Popen(
        [sys.executable, "-m", "spart_blocks", "run", short, "--engine", "interpreter",
         "--out", f"run{suffix}"],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, limit),
    )  # fmt: skip
    code, _, err = ended(child)
    assert code == 1
    assert f"run{suffix}: File too large" in err
    assert "Traceback" not in err
    assert (tmp_path / f"run{suffix}").read_bytes() == b"earlier"
    assert not list(tmp_path.glob(".*.part"))


def test_one_report_that_cannot_be_written_keeps_no_other_from_it(spart, tmp_path, monkeypatch):
    path = tmp_path / "ramp.yaml"
    path.write_text("blocks: {one: {type: CONSTANT, value: 1.0}, int: {type: INTEGRATOR}}\n"
                    "wires: [one -> int]\n")  # fmt: skip
    from spart_blocks.realtime import Report

    save = Report.save

    def saved(report, target):
        if Path(target).name == "a.json":
            raise OSError(errno.ENOSPC, "No space left on device")
        return save(report, target)

    monkeypatch.setattr(Report, "save", saved)
    answer = spart("realtime", path, "--t", "0.01", "--report", "a.json", "--report", "b.json")
    assert answer.code == 1
    assert "No space left on device" in answer.err
    assert Path("b.json").exists()


# --- homes and caches ------------------------------------------------------------------------


@pytest.mark.parametrize("home", ["/nonexistent", "/proc", "/dev/null", "", "relative"])
def test_a_home_that_is_missing_or_cannot_be_written_is_done_without(short, tmp_path, home):
    names = ("SPART_CACHE", "XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_RUNTIME_DIR", "MPLCONFIGDIR")
    environment = dict.fromkeys(names, "")
    child = started("run", short, "--out", "run.npz", cwd=tmp_path, HOME=home, **environment)
    code, _, err = ended(child)
    assert code == 0, err
    assert "Traceback" not in err
    assert "warning" not in err
    assert Results.load("run.npz").complete


def garbage(cache):
    """Each file that is kept becomes something else of the same name."""
    for path in list(cache.iterdir()):
        path.write_bytes(b"\x7fELF" + os.urandom(200))


def folders(cache):
    for path in list(cache.iterdir()):
        path.unlink()
        path.mkdir()
        (path / "file").touch()


def pipes(cache):
    for path in list(cache.iterdir()):
        path.unlink()
        os.mkfifo(path)


def links(cache):
    for path in list(cache.iterdir()):
        path.unlink()
        path.symlink_to("/dev/zero")


def cut(cache):
    for path in list(cache.iterdir()):
        os.truncate(path, path.stat().st_size // 2)


def plausible(cache):
    """Programs of the right hash that are none."""
    from spart_blocks.base.cache import digest

    for path in list(cache.glob("*.program")):
        for text in ("[]", '{"files": []}', '{"files": [], "warnings": 3, "program": "{}"}'):
            path.write_text(text)
            path.rename(path.with_name(f"{path.stem.partition('-')[0]}-{digest(path)}.program"))
            break


def marks(cache):
    """Signs of compilers that took too long, some of them in the future."""
    for path in list(cache.iterdir()):
        mark = cache / f"{path.name.partition('-')[0]}.timeout"
        path.unlink()
        mark.touch()
        os.utime(mark, (time.time() + 1e6, time.time() + 1e6))


def everyone_s(cache):
    cache.chmod(0o777)


def a_file(cache):
    shutil.rmtree(cache)
    cache.write_text("not a folder")


HOSTILE = (garbage, folders, pipes, links, cut, plausible, marks, everyone_s, a_file)


@pytest.fixture(scope="module")
def first(tmp_path_factory):
    """A folder with a diagram, its results, and the cache that they have left."""
    folder = tmp_path_factory.mktemp("first")
    (folder / "short.yaml").write_text(SHORT, encoding="utf-8")
    words = ("run", "short.yaml", "--out", "first.npz", "-q")
    assert ended(started(*words, cwd=folder, SPART_CACHE="cache")) == (0, "", "")
    assert {path.suffix for path in (folder / "cache").iterdir()} >= {".so", ".program"}
    return folder


@pytest.mark.parametrize("made_hostile", HOSTILE, ids=lambda one: one.__name__)
def test_a_hostile_cache_changes_no_result_and_hangs_nothing(first, tmp_path, made_hostile):
    cache = tmp_path / "cache"
    shutil.copytree(first / "cache", cache)
    made_hostile(cache)
    words = ("run", first / "short.yaml", "--out", tmp_path / "second.npz")
    code, _, err = ended(started(*words, cwd=first, SPART_CACHE=str(cache)))
    assert code == 0, err
    assert "made no library" not in err
    assert ("writable by everyone" in err) == (made_hostile is everyone_s)
    before, after = Results.load(first / "first.npz"), Results.load(tmp_path / "second.npz")
    assert after["int"].tobytes() == before["int"].tobytes()


def test_processes_that_compile_one_file_at_once_agree(tmp_path):
    kept = processes_that_compile_one_file(tmp_path, 3)
    assert len(kept) == len(set(kept))


# --- compilers -------------------------------------------------------------------------------


SPACES = ("{folder}/my cc", "'{folder}/my cc' -g0", "'{folder}'/my\\ cc -g0", "{folder}/my cc -g0")


@pytest.mark.parametrize("written", SPACES)
def test_a_compiler_may_have_spaces_in_its_path(spart, short, tmp_path, monkeypatch, written):
    folder = tmp_path / "a folder"
    folder.mkdir()
    compiler = folder / "my cc"
    compiler.write_text(
        f'#!/bin/sh\necho used >> "{folder}/used"\nexec {shutil.which("cc")} "$@"\n'
    )
    compiler.chmod(0o755)
    monkeypatch.setenv("CC", written.format(folder=folder))
    monkeypatch.setenv("SPART_CACHE", str(tmp_path / "my cache"))
    monkeypatch.setenv("TMPDIR", str(folder))
    answer = spart("run", short, "--out", "run.npz", "-q")
    assert (answer.code, answer.err) == (0, "")
    assert (folder / "used").exists()
