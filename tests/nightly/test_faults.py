"""What the daily tests try a few times, tried often: ends at random moments, floods, crowds."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest
from faulty_runs import (
    SHORT,
    ended,
    processes_that_compile_one_file,
    runs_into_one_file,
    signal_at_random_moments,
    spart,
)
from live_loop import WAIT, DirectedLoop, connections_to, runtime_folder, until

from spart_blocks.realtime.live import LiveServer
from spart_blocks.realtime.live_client import LiveClient
from spart_blocks.results import Results

sys.path.insert(0, str(Path(__file__).parents[1] / "transports"))
MOMENTS = 50
RAMP = """
blocks: {one: {type: CONSTANT, value: 1.0}, int: {type: INTEGRATOR}}
wires: [one -> int]
"""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_ended_at_random_moments_it_leaves_a_whole_file(tmp_path, number):
    found = signal_at_random_moments(tmp_path, number, MOMENTS)
    assert sum(found.values()) == MOMENTS
    assert found["earlier"] > 0
    assert (found["part"] > 0) == (number != signal.SIGKILL)
    print(number.name, found)


def test_of_ten_runs_into_one_file_none_is_mixed(tmp_path):
    assert runs_into_one_file(tmp_path, 10) == [0] * 10


def test_twenty_processes_that_compile_one_file_agree(tmp_path):
    kept = processes_that_compile_one_file(tmp_path, 20)
    assert len(kept) == len(set(kept))


@pytest.mark.parametrize("linked", [False, True])
def test_a_full_disk_keeps_the_earlier_file_and_saves_the_run_elsewhere(tmp_path, linked):
    """A disk of 64 kB; the results need more."""
    disk = tmp_path / "disk"
    disk.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", disk]
    if os.geteuid() or subprocess.run(mount, capture_output=True).returncode:
        pytest.skip("only root can make a small disk")
    try:
        (tmp_path / "short.yaml").write_text(SHORT, encoding="utf-8")
        (disk / "run.npz").write_bytes(b"earlier")
        if linked:
            (tmp_path / "run.npz").symlink_to(disk / "run.npz")
        out = "run.npz" if linked else "disk/run.npz"
        words = ("run", "short.yaml", "--set", "run.every=0.0002", "--out", out)
        code, _, err = ended(spart(*words, cwd=tmp_path, TMPDIR=str(tmp_path)))
        assert code == 1
        assert "No space left on device" in err
        assert "Traceback" not in err
        [saved] = tmp_path.glob("spart-results-*/*.npz")
        assert f"the results are in {saved}" in err
        assert Results.load(saved).complete
        assert [path.name for path in disk.iterdir()] == ["run.npz"]
        assert (disk / "run.npz").read_bytes() == b"earlier"
    finally:
        subprocess.run(["umount", disk], check=True)


def test_a_thousand_connections_to_a_loop_keep_nobody_out(monkeypatch):
    loop = DirectedLoop()
    with runtime_folder(monkeypatch), LiveServer(loop, "servo", patience=WAIT) as server:
        with LiveClient(server.place, patience=WAIT) as watching:
            watching.watch(["ctrl.tau"])
            with connections_to(server.place, 1000):
                for k in range(20):
                    with LiveClient(server.place, patience=WAIT) as client:
                        assert client.set({"ctrl.kd": k}) == {"ctrl.kd": [float(k)] * 3}
                    loop.signals.write(10 * k, 10)
                    until(lambda: len(watching.rows(0.1)))
            assert watching.lost == 0
        until(lambda: not server._clients)


def test_a_thousand_connections_to_a_link_keep_no_sender_out(tmp_path):
    from link_transports import load, ports
    from test_links_under_attack import attack_with_connections

    with ports("", "") as places:
        attack_with_connections(load(tmp_path, "TCP", *places), 900)  # with room for other files


def test_on_a_busy_machine_the_report_still_adds_up(tmp_path):
    """Four processes that do nothing but count, for as long as a loop runs."""
    path = tmp_path / "ramp.yaml"
    path.write_text(RAMP)
    busy = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(4)]
    try:
        for policy in ("skip", "catch-up"):
            words = ("realtime", "ramp.yaml", "--rate", "1000", "--t", "5", "--policy", policy)
            code, _, err = ended(spart(*words, "--report", "a.json", cwd=tmp_path))
            assert code == 0, err
            report = json.loads((tmp_path / "a.json").read_text())
            assert report["steps"] + report["skipped"] == 5000
            assert (report["skipped"] == 0) or policy == "skip"
            assert report["seconds"] >= 5.0
            assert report["durations"]["step"]["count"] == report["steps"]
            late = np.array([row[2] for row in report["durations"]["response"]["bins"]
                             if row[0] > 1e-3]).sum()  # fmt: skip
            assert late <= sum(report["missed"].values())
    finally:
        for one in busy:
            one.kill()
            one.wait()


def test_a_hundred_stops_lose_no_step(tmp_path):
    """SIGSTOP and SIGCONT in quick succession, on a loop that catches up."""
    path = tmp_path / "ramp.yaml"
    path.write_text(RAMP)
    words = ("realtime", "ramp.yaml", "--rate", "500", "--t", "8", "--policy", "catch-up")
    child = spart(*words, "--report", "a.json", cwd=tmp_path)
    while b"running" not in child.stderr.readline():
        continue
    with suppress(ProcessLookupError):
        for k in range(100):
            child.send_signal(signal.SIGSTOP)
            time.sleep(0.02 + 0.001 * (k % 7))
            child.send_signal(signal.SIGCONT)
            time.sleep(0.02)
    code, _, err = ended(child)
    assert code == 0, err
    report = json.loads((tmp_path / "a.json").read_text())
    assert (report["steps"], report["skipped"]) == (4000, 0)
    assert sum(report["missed"].values()) > 0
