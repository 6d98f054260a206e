"""Numbers that pages report of runs are those of runs now."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from spart_blocks.cli import main

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"


@pytest.fixture
def spart(capsys, monkeypatch, tmp_path):
    """spart(...): what a command prints, in a folder of its own."""
    monkeypatch.chdir(tmp_path)

    def call(*words):
        main([str(word) for word in words])
        captured = capsys.readouterr()
        return captured.out

    return call


def shown(page, start, fence="```text\n"):
    """The lines of a page's block that has this start."""
    blocks = (DOCS / page).read_text(encoding="utf-8").split(fence)[1:]
    (block,) = [part.split("```")[0] for part in blocks if part.startswith(start)]
    return [line for line in block.splitlines() if line and line != "..."]


def test_the_table_of_comparing_controllers(spart):
    printed = spart("compare", ROOT / "diagrams" / "spacecraft_controllers.yaml")
    lines = [re.sub(" +", " ", line) for line in printed.splitlines()]
    for line in shown("comparing.md", "tracking"):
        assert re.sub(" +", " ", line) in lines


def test_the_failures_of_a_servo_with_another_gain(spart, tmp_path):
    page = (DOCS / "testing.md").read_text(encoding="utf-8")
    (text,) = re.findall(r"```yaml\n(# file: servo_test.yaml\n.*?)```", page, re.DOTALL)
    (tmp_path / "servo_test.yaml").write_text(text)
    spart("test", "servo_test.yaml", "--update")
    (tmp_path / "servo_test.yaml").write_text(text.replace("K: 40", "K: 42"))
    printed = spart("test", "servo_test.yaml")
    claims = re.findall(r"^ +(servo_test.yaml:.*)$", page, re.MULTILINE)
    assert len(claims) == 2
    for claim in claims:
        assert claim in printed
