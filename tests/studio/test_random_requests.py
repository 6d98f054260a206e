"""Random changes of a file, undone: its bytes are as they were."""

from __future__ import annotations

import random

import pytest
from asking import Asking
from chart_pages import MODES
from random_edits import COMPANY
from random_requests import check_sequence


@pytest.mark.parametrize("seed", range(6))
def test_random_requests_undone_give_the_file_byte_for_byte(seed, tmp_path, monkeypatch):
    monkeypatch.setenv("SPART_CACHE", str(tmp_path / "cache"))
    file = tmp_path / "arm.yaml"
    file.write_bytes(COMPANY.replace("\n", "\r\n" if seed % 3 == 2 else "\n").encode())
    asking, rng, done = Asking(tmp_path), random.Random(seed), 0
    asking.ok("open", path="arm.yaml")
    for _ in range(3):
        done += check_sequence(asking, "arm.yaml", file, rng, 6)
    assert done > 0


@pytest.mark.parametrize("seed", range(4))
def test_random_changes_of_a_chart_undone_give_the_file_byte_for_byte(seed, tmp_path, monkeypatch):
    monkeypatch.setenv("SPART_CACHE", str(tmp_path / "cache"))
    file = tmp_path / "arm.yaml"
    file.write_bytes(MODES.replace("\n", "\r\n" if seed % 3 == 2 else "\n").encode())
    asking, rng, done = Asking(tmp_path), random.Random(seed), 0
    asking.ok("open", path="arm.yaml")
    for _ in range(3):
        done += check_sequence(asking, "arm.yaml", file, rng, 12)
    assert done > 0
