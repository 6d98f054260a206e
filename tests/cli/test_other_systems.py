"""Commands where Python lacks what it has on Linux alone, in folders with names of any script."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import spart_blocks as sb
from spart_blocks.results.signal_names import file_name

WITHOUT = Path(__file__).parents[1] / "without_posix.py"
ON_POSIX = pytest.mark.skipif(sys.platform == "win32", reason="the tests themselves run there")
ARM = Path(__file__).parents[2] / "spart_blocks" / "starter"


@pytest.fixture
def elsewhere(tmp_path):
    """elsewhere(*words): a command of spart without POSIX, in a folder with a space and an umlaut;
    without words, all modules are imported."""
    folder = tmp_path / "Übung 1" / "ä b"
    folder.mkdir(parents=True)
    environment = {**os.environ, "LOCALAPPDATA": str(tmp_path / "Käse"), "MPLBACKEND": "Agg"}
    environment["CC"] = "cc -fPIC"  # what a DLL does not need
    environment.pop("SPART_CACHE", None)

    def run(*words):
        command = [sys.executable, str(WITHOUT), *words]
        return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)

    run.folder = folder
    return run


@ON_POSIX
def test_every_module_can_be_imported(elsewhere):
    done = elsewhere()
    assert done.returncode == 0, done.stderr


@ON_POSIX
def test_a_diagram_with_line_ends_of_windows_runs_and_gives_the_same_numbers(elsewhere):
    for name in ("diagrams/reach.yaml", "models/arm.urdf", "controllers/pd.yaml"):
        target = elsewhere.folder / name
        target.parent.mkdir(exist_ok=True)
        text = (ARM / f"{name}.in").read_text(encoding="utf-8")
        target.write_bytes(text.replace("\n", "\r\n").encode())
    (elsewhere.folder / "spart.toml").write_text("")
    file = str(Path("diagrams", "reach.yaml"))
    done = elsewhere("run", file, "--headless", "--t", "1", "--out", "Lauf 1.npz")
    assert done.returncode == 0, done.stdout + done.stderr
    kept = list((elsewhere.folder.parents[1] / "Käse" / "spart_blocks").iterdir())
    assert any(path.suffix in (".dll", ".program") for path in kept)
    there = sb.Results.load(elsewhere.folder / "Lauf 1.npz")
    here = sb.simulate(elsewhere.folder / file, T=1)
    np.testing.assert_allclose(there["plant.qm"][-1], here["plant.qm"][-1], rtol=1e-6)


@ON_POSIX
@pytest.mark.parametrize("words", [("realtime", "one.yaml"), ("live",), ("scope",)])
def test_what_runs_on_linux_alone_says_so(elsewhere, words):
    (elsewhere.folder / "one.yaml").write_text("blocks: {one: {type: CONSTANT}}\n")
    done = elsewhere(*words)
    assert done.returncode == 2, done.stdout + done.stderr
    assert "the real-time loop needs Linux's clock_nanosleep, which win32 lacks" in done.stderr
    assert "spart export c" in done.stderr


def test_files_do_not_have_the_names_of_devices():
    assert [file_name(name, "x") for name in ("con", "NUL.png", "com1", "lpt9.a", "aux 1")] == [
        "con_", "NUL.png_", "com1_", "lpt9.a_", "aux_1"
    ]  # fmt: skip
    assert file_name("console", "x") == "console"
