"""Runs of the command under faults, for tests by day with few of them and by night with many."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

from spart_blocks.results import Results

PATIENCE = 600.0  # s, until something is given up
SHORT = """
name: short
blocks:
  step: {type: STEP, T: 0.5, on: 2.0}
  lag: {type: LTI_SISO, N: [1], D: [1, 1]}
  int: {type: INTEGRATOR}
wires:
  - step -> lag
  - lag -> int
run: {T: 2, max_step: 0.0005, every: 0.001, log: [int, lag]}
"""


def spart(*words, cwd, **environment):
    """The command as a process, with pipes."""
    return subprocess.Popen(
        [sys.executable, "-m", "spart_blocks", *map(str, words)],
        cwd=cwd,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**os.environ, **environment},
    )


def ended(child):
    """(exit code, stdout, stderr) of a process."""
    out, err = child.communicate(timeout=PATIENCE)
    return child.returncode, out.decode(), err.decode()


def signal_at_random_moments(folder, number, count, seed=1):
    """Runs that are signalled somewhere between their start and their end, over an earlier
    file. Returns how many of them left the earlier file, a part of a run, a whole one."""
    folder = Path(folder)
    (folder / "short.yaml").write_text(SHORT, encoding="utf-8")
    words = ["run", "short.yaml", "--out", "run.npz", "--engine", "interpreter"]
    begun = time.monotonic()
    assert ended(spart(*words, cwd=folder))[0] == 0
    lasts = time.monotonic() - begun
    earlier = (folder / "run.npz").read_bytes()
    moments, found = random.Random(seed), {"earlier": 0, "part": 0, "whole": 0}
    for _ in range(count):
        (folder / "run.npz").write_bytes(earlier)
        child = spart(*words, cwd=folder)
        with suppress(subprocess.TimeoutExpired):  # it may end before
            child.wait(moments.uniform(0.0, 1.1 * lasts))
        child.send_signal(number)
        code, _, err = ended(child)
        left = _left(folder / "run.npz", earlier)
        found[left] += 1
        _check_account(number, code, err, left)
        parts = [path.name for path in folder.iterdir() if path.name.endswith(".part")]
        assert not parts or number == signal.SIGKILL
    return found


def _left(path, earlier):
    """What the file is: never half of anything."""
    if path.read_bytes() == earlier:
        return "earlier"
    results = Results.load(path)
    return "whole" if results.complete else "part"


def _check_account(number, code, err, left):
    """The exit code and the words are those of what was left."""
    if number == signal.SIGKILL or code in (-number, 130):  # before the command, or after
        return
    assert (code == 0) == (left == "whole" and "interrupted" not in err), (code, err, left)
    if left == "part":
        assert "is saved in run.npz" in err, err


def runs_into_one_file(folder, count):
    """So many runs at once into one file; it is one of theirs, whole. Returns their codes."""
    folder = Path(folder)
    (folder / "short.yaml").write_text(SHORT, encoding="utf-8")
    words = ("run", "short.yaml", "--out", "run.npz", "-q")
    children = [spart(*words, "--set", f"step.on={k + 1}", cwd=folder) for k in range(count)]
    codes = []
    while len(codes) < count:
        if (folder / "run.npz").exists():
            assert Results.load(folder / "run.npz").complete
        codes = [child.returncode for child in children if child.poll() is not None]
        time.sleep(0.01)
    for child in children:
        _, err = child.communicate()
        assert err == b""
    final = float(Results.load(folder / "run.npz")["lag"][-1])
    unit = final / (1 - 2.718281828459045**-1.5)
    assert min(abs(unit - k - 1) for k in range(count)) < 1e-3
    assert sorted(path.name for path in folder.iterdir()) == ["run.npz", "short.yaml"]
    return codes


def processes_that_compile_one_file(folder, count):
    """So many runs of one file at once with nothing in the cache; all of them are the same."""
    folder = Path(folder)
    (folder / "short.yaml").write_text(SHORT, encoding="utf-8")
    cache = folder / "cache"
    children = [
        spart("run", "short.yaml", "-q", "--out", f"{k}.npz", cwd=folder, SPART_CACHE=str(cache))
        for k in range(count)
    ]
    for child in children:
        assert ended(child) == (0, "", "")
    runs = [Results.load(folder / f"{k}.npz") for k in range(count)]
    assert {run["int"].tobytes() for run in runs} == {runs[0]["int"].tobytes()}
    kept = [path.name.partition("-")[0] for path in cache.iterdir()]
    assert not [name for name in kept if name.startswith(".")]
    return kept
