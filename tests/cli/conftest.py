"""Diagrams small enough to read, and the command as a function and as a process."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import dataclass

import pytest

from spart_blocks.cli import main

RAMP = """
name: ramp
params: {height: 2.0}
blocks:
  step: {type: STEP, T: 1.0, on: $height}
  int: {type: INTEGRATOR}
  scope: {type: SCOPE}
wires:
  - step -> int
  - int -> scope
run: {T: 2}
"""

# 1/(1 - t) has no integral beyond t = 1.
FAILING = """
name: failing
blocks:
  one: {type: CONSTANT, value: 1.0}
  time: {type: TIME}
  gap: {type: SUM, signs: "+-"}
  inverse: {type: POW, p: -1}
  int: {type: INTEGRATOR}
wires:
  - one -> gap.0
  - time -> gap.1
  - gap -> inverse
  - inverse -> int
run: {T: 5}
"""

# Minutes of small steps, also compiled.
LONG = """
name: long
blocks:
  step: {type: STEP, T: 1.0}
  int: {type: INTEGRATOR}
wires:
  - step -> int
run: {T: 1e5, max_step: 1e-4, every: 0.1}
"""

_SETTINGS = ("DISPLAY", "WAYLAND_DISPLAY", "SPART_DEBUG", "FORCE_COLOR", "NO_COLOR")


@dataclass(frozen=True)
class Outcome:
    """What the command answered."""

    code: int
    out: str
    err: str


@pytest.fixture(autouse=True)
def in_an_empty_folder(tmp_path, monkeypatch):
    """Each test runs where nothing is, on a machine without a display."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "platform", "linux")
    for name in _SETTINGS:
        monkeypatch.delenv(name, raising=False)
    return tmp_path


@pytest.fixture
def spart(capsys):
    """spart("run", "ramp.yaml"): the command within this process."""

    def call(*arguments):
        capsys.readouterr()
        code = main([str(argument) for argument in arguments])
        printed = capsys.readouterr()
        debugging = "--debug" in arguments or "SPART_DEBUG" in os.environ
        assert "Traceback" not in printed.err or debugging
        return Outcome(code, printed.out, printed.err)

    return call


@pytest.fixture
def process():
    """process("run", "ramp.yaml"): the command as a process with pipes, not yet awaited."""
    started = []

    def start(*arguments, **environment):
        started.append(
            subprocess.Popen(
                [sys.executable, "-m", "spart_blocks", *map(str, arguments)],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                env={**os.environ, **environment},
            )
        )
        return started[-1]

    yield start
    for child in started:
        if child.poll() is None:
            child.kill()
        child.communicate()


@pytest.fixture
def ramp(tmp_path):
    return _written(tmp_path / "ramp.yaml", RAMP)


@pytest.fixture
def failing(tmp_path):
    return _written(tmp_path / "failing.yaml", FAILING)


@pytest.fixture
def long(tmp_path):
    return _written(tmp_path / "long.yaml", LONG)


def _written(path, text):
    path.write_text(text, encoding="utf-8")
    return path
