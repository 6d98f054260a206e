"""The loop in C under the address and undefined-behaviour sanitizers, and without a warning."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
from loop_rig import STRICT, rig_source

HERE = Path(__file__).parent
FOLDER = HERE.parents[1] / "spart_blocks" / "export" / "c"
COMPILERS = [name for name in ("gcc", "clang") if shutil.which(name)]


def test_there_is_a_compiler_to_test_with():
    assert COMPILERS


@pytest.mark.parametrize("compiler", COMPILERS)
def test_the_loop_compiles_without_a_warning(compiler, tmp_path):
    command = [compiler, *STRICT, "-Wconversion", "-c", FOLDER / "sb_loop.c"]
    run = subprocess.run([*command, "-o", tmp_path / "loop.o"], capture_output=True, text=True)
    assert (run.returncode, run.stderr) == (0, "")


@pytest.mark.parametrize("compiler", COMPILERS)
def test_the_loop_is_clean_under_sanitizers(compiler, tmp_path):
    source, program = tmp_path / "all.c", tmp_path / "all"
    source.write_text(rig_source() + (HERE / "all_of_it.c").read_text("utf-8"), encoding="utf-8")
    flags = ("-g", "-fsanitize=address,undefined", "-fno-sanitize-recover=all")
    subprocess.run([compiler, *STRICT, *flags, source, "-o", program], check=True)
    run = subprocess.run([program], capture_output=True, text=True)
    assert (run.returncode, run.stderr) == (0, "")
