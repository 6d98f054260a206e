"""A thousand instances of FMUs called at random, under sanitizers.

One command: .venv/bin/python -m pytest tests/nightly/test_fmu_random_calls.py
"""

import re
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from spart_blocks.export import export_fmu
from spart_blocks.program.subdiagram import subdiagram_of

sys.path.append(str(Path(__file__).parents[1] / "export"))
from fmus import EVENTFUL

RUNS = 500
SANITIZERS = ("-fsanitize=address,undefined", "-fno-sanitize-recover=all")


@pytest.mark.parametrize("blocks", [(), ("gain", "hold", "x")], ids=["whole", "with an input"])
def test_no_sequence_of_calls_does_harm(blocks, tmp_path):
    (tmp_path / "diagram.yaml").write_text(EVENTFUL)
    path = export_fmu(subdiagram_of(tmp_path / "diagram.yaml", blocks), tmp_path)
    with zipfile.ZipFile(path) as archive:
        archive.extractall(tmp_path)
    sources = tmp_path / "sources"
    token = re.search(r"SB_TOKEN (\S+)", (sources / "sb_fmu_model.h").read_text())[1]
    program = tmp_path / "calls"
    main = [str(Path(__file__).with_name("fmu_calls.c")), f"-I{sources}", f"-DTOKEN={token}"]
    flags = ["-std=c99", "-O1", "-g", *SANITIZERS]
    subprocess.run(["gcc", *flags, *main, "-lm", "-o", program], check=True)
    run = subprocess.run([program, str(RUNS)], capture_output=True, text=True, timeout=900)
    assert run.returncode == 0, run.stderr[:3000]
