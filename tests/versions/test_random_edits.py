"""Random edits of every shipped file: what was asked is there, the rest stays, and undo."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from random_edits import COMPANY, random_sequence

from spart_blocks.base.document import parse_document
from spart_blocks.versions.edits import undone
from spart_blocks.versions.edits.values import same

ROOT = Path(__file__).parents[2]
FILES = sorted((ROOT / "diagrams").rglob("*.yaml"))


def read(text):
    return parse_document(text, "it").data


def check(path, seeds):
    text = path.read_text(encoding="utf-8")
    for seed in seeds:
        operations, edited, data = random_sequence(text, read, random.Random(seed))
        assert same(read(edited.after), data), (seed, operations)
        back = [[(p.start, p.end, p.text) for p in patches] for patches in edited.back]
        assert undone(edited.after, back) == text, (seed, operations)
        changed = sum(len(p.text) + p.end - p.start for r in edited.rounds for p in r)
        assert changed < 2 * max(4000, len(text)), (seed, operations)  # nothing grows out of hand


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_random_edits_keep_the_rest_and_can_be_undone(path):
    check(path, range(3))


def test_random_edits_of_buses_and_machines_keep_the_rest_and_can_be_undone(tmp_path):
    (tmp_path / "company.yaml").write_text(COMPANY)
    check(tmp_path / "company.yaml", range(100))
