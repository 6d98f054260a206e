"""The C of links under the sanitizers, and without a warning."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

import spart_blocks
from spart_blocks.export.loaded import STRICT

C = Path(spart_blocks.__file__).parent / "export/c"
COMPILERS = [name for name in ("gcc", "clang") if shutil.which(name)] or ["cc"]


@pytest.mark.parametrize("compiler", COMPILERS)
def test_no_bytes_lead_out_of_bounds_or_into_undefined_behaviour(compiler, tmp_path):
    sanitizers = ["-g", "-fsanitize=address,undefined,float-cast-overflow",
                  "-fno-sanitize-recover=all"]  # fmt: skip
    files = [Path(__file__).with_name("hostile.c"), C / "sb_link.c"]
    command = [compiler, *STRICT, *sanitizers, f"-I{C}", *files, "-o", tmp_path / "hostile", "-lm"]
    build = subprocess.run(command, capture_output=True, text=True)
    assert build.returncode == 0, build.stderr
    assert build.stderr == ""
    run = subprocess.run([tmp_path / "hostile"], capture_output=True, text=True, timeout=600)
    assert run.returncode == 0, run.stderr
    received = [int(line.split()[-1]) for line in run.stdout.splitlines()]
    assert len(received) == 12
    assert min(received) > 300, "the random bytes hid every frame"


def test_it_has_no_variables_of_its_own(tmp_path):
    compiler = COMPILERS[0]
    command = [compiler, *STRICT, "-fno-pie", "-c", C / "sb_link.c", "-o", tmp_path / "link.o"]
    subprocess.run(command, check=True)
    listed = subprocess.run(["nm", tmp_path / "link.o"], capture_output=True, text=True).stdout
    kinds = [line.split()[-2:] for line in listed.splitlines()]
    assert not [name for kind, name in kinds if kind in "bBdDcC"]
    assert not {name for kind, name in kinds if kind == "U"} & {"malloc", "calloc", "free"}
