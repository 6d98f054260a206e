"""Ten thousand random sequences of changes in the studio, each undone: the file is as it was."""

from __future__ import annotations

import random
import sys
from dataclasses import replace
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "studio"))
pytest.importorskip("starlette")

from asking import Asking
from random_edits import COMPANY
from random_requests import check_sequence

from spart_blocks.studio.files import opened, reading

SEQUENCES = 10_000
EACH = 250


def unbuilt(*arguments):
    """A reading without its blocks, which other tests build."""
    return replace(reading.unbuilt(*arguments), pending=False)


@pytest.mark.parametrize("seed", range(SEQUENCES // EACH))
def test_random_requests_undone_give_the_file_byte_for_byte(seed, tmp_path, monkeypatch):
    monkeypatch.setenv("SPART_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(opened, "read", unbuilt)
    file = tmp_path / "arm.yaml"
    file.write_bytes(COMPANY.replace("\n", ("\n", "\r\n")[seed % 2]).encode())
    asking, rng, done = Asking(tmp_path), random.Random(1000 + seed), 0
    asking.ok("open", path="arm.yaml")
    for _ in range(EACH):
        done += check_sequence(asking, "arm.yaml", file, rng, 3)
    assert done > EACH / 2
