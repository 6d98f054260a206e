"""Ctrl-C, SIGTERM and the end of a terminal end a run, and cost nothing that was computed."""

from __future__ import annotations

import importlib
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from at_work import let_work

from spart_blocks.cli import ending
from spart_blocks.results import Results
from spart_blocks.results import files as results_files

pytestmark = pytest.mark.skipif(os.name == "nt", reason="Windows has no such signals")
REQUESTS = [signal.SIGINT, signal.SIGTERM, signal.SIGHUP]
EARLIER = b"the run of yesterday"


@pytest.mark.parametrize("engine", ["interpreter", "native"])
@pytest.mark.parametrize("number", REQUESTS)
def test_each_request_saves_what_was_computed(process, long, tmp_path, number, engine):
    (tmp_path / "part.npz").write_bytes(EARLIER)
    child = process("run", long, "--engine", engine, "--out", "part.npz")
    while b"running" not in child.stderr.readline():
        continue
    let_work(child, 0.5)
    assert (tmp_path / "part.npz").read_bytes() == EARLIER
    child.send_signal(number)
    _, err = child.communicate(timeout=300)
    assert child.returncode == 1
    assert re.search(rb"error: the run was interrupted at t = [\d.]+ s", err)
    assert b"is saved in part.npz" in err
    assert b"Traceback" not in err
    results = Results.load("part.npz")
    assert not results.complete
    assert len(results.t) > 1
    assert sorted(os.listdir()) == ["long.yaml", "part.npz"]


def test_a_run_under_nohup_outlives_its_terminal(process, ramp):
    code = (
        "import signal, sys; signal.signal(signal.SIGHUP, signal.SIG_IGN);"
        "from spart_blocks.cli import ending, main;"
        "handler = ending.Once(lambda which: sys.exit('ended'));\n"
        "with ending.requests_go_to(handler): signal.raise_signal(signal.SIGHUP)\n"
        f"sys.exit(main(['run', {str(ramp)!r}, '-q']))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, timeout=300)
    assert (done.returncode, done.stderr) == (0, b"")


@pytest.fixture
def while_writing(monkeypatch):
    """while_writing(requests): so many come in the middle of writing a file."""

    def asked(requests):
        monkeypatch.setattr(ending, "SAME", -1.0)
        write = results_files._write_npz

        def interrupted(results, file):
            file.write(b"half")
            for _ in range(requests):
                signal.raise_signal(signal.SIGTERM)
            file.seek(0)
            write(results, file)

        monkeypatch.setattr(results_files, "_write_npz", interrupted)

    return asked


def test_a_request_while_results_are_written_waits_until_they_are(spart, ramp, while_writing):
    while_writing(1)
    answer = spart("run", ramp, "--out", "run.npz")
    assert answer.code == 0
    assert "the results are being written; once more breaks off" in answer.err
    assert Results.load("run.npz").complete


def test_the_second_request_breaks_off_and_leaves_the_earlier_file(
    spart, ramp, while_writing, tmp_path
):
    (tmp_path / "run.npz").write_bytes(EARLIER)
    while_writing(2)
    answer = spart("run", ramp, "--out", "run.npz")
    assert answer.code == 1
    assert answer.err.endswith("error: interrupted\n")
    assert (tmp_path / "run.npz").read_bytes() == EARLIER
    assert sorted(os.listdir()) == ["ramp.yaml", "run.npz"]


def test_requests_in_quick_succession_are_one(spart, ramp, while_writing, monkeypatch):
    while_writing(5)
    monkeypatch.setattr(ending, "SAME", 3600.0)
    assert spart("run", ramp, "--out", "run.npz").code == 0
    assert Results.load("run.npz").complete


def test_a_request_after_the_last_step_keeps_the_run(spart, ramp, monkeypatch):
    module = importlib.import_module("spart_blocks.run.simulate")
    made, asked = module.results_of, []

    def interrupted(run):
        if not asked:
            asked.append(True)
            signal.raise_signal(signal.SIGTERM)
        return made(run)

    monkeypatch.setattr(module, "results_of", interrupted)
    assert spart("run", ramp, "--out", "run.npz").code == 0
    assert asked
    assert Results.load("run.npz").complete


def test_the_handlers_of_a_program_that_calls_the_command_are_put_back(spart, ramp):
    before = [signal.getsignal(number) for number in REQUESTS]
    spart("run", ramp, "-q")
    assert [signal.getsignal(number) for number in REQUESTS] == before


def test_a_comparison_ends_at_sigterm_with_all_its_processes(process, long):
    child = process(
        "compare", long, "--case", "a:run.max_step=1e-4", "--case", "b:run.max_step=2e-4"
    )
    while b"running" not in child.stderr.readline():
        continue
    while len(workers := started_by(child)) < 2:
        continue
    child.send_signal(signal.SIGTERM)
    child.communicate(timeout=300)
    assert child.returncode == 1
    assert not [pid for pid in workers if os.path.exists(f"/proc/{pid}")]


def started_by(process):
    """The processes that any thread of a process has started."""
    files = Path(f"/proc/{process.pid}/task").glob("*/children")
    return [pid for file in files for pid in file.read_text().split()]


def test_ctrl_c_while_the_command_is_imported_is_one_line():
    code = (
        "import builtins, sys; plain = builtins.__import__\n"
        "def interrupted(name, *others):\n"
        "    if name == 'typer': raise KeyboardInterrupt\n"
        "    return plain(name, *others)\n"
        "builtins.__import__ = interrupted\n"
        "from spart_blocks.cli import main\n"
        "sys.exit(main(['blocks']))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, timeout=300)
    assert (done.returncode, done.stderr) == (1, b"error: interrupted\n")
