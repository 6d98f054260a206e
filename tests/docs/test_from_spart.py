"""docs/from_spart.md names every SPART function, and names it rightly."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from spart_blocks import dynamics, spart
from spart_blocks.base import spatial
from spart_blocks.diagram.build.registry import find_type

PAGE = (Path(__file__).parents[2] / "docs" / "from_spart.md").read_text(encoding="utf-8")
ROWS = [
    [cell.strip() for cell in line.strip("|").split("|")]
    for line in PAGE.splitlines()
    if line.startswith("|") and "---" not in line
]
FUNCTIONS = [row for row in ROWS if row[0] in spart.__all__ and len(row) == 5]
ATTITUDE = [row for row in ROWS if row[0] in spart.__all__ and len(row) == 3]


def test_every_function_of_spart_is_on_the_page():
    assert {row[0] for row in ROWS if row[0] in spart.__all__} == set(spart.__all__)


@pytest.mark.parametrize("row", FUNCTIONS, ids=lambda row: row[0])
def test_a_row_names_the_function_its_block_and_its_arguments(row):
    name, function, block, takes, gives = row
    assert getattr(spart, name) is getattr(dynamics, function)
    kind = find_type(block)
    assert kind is not None
    assert kind.cls.function is getattr(dynamics, function)
    inputs = re.sub(r"\(.*\)", "", takes).replace(" ", "").split(",")
    assert inputs == [port.name for port in kind.cls.takes]
    assert gives.replace(" ", "").split(",") == [port.name for port in kind.cls.gives]


@pytest.mark.parametrize("row", ATTITUDE, ids=lambda row: row[0])
def test_a_row_of_the_attitude_table_is_right(row):
    name, function, block = row
    assert getattr(spart, name) is getattr(spatial, function)
    assert find_type(block) is not None


def test_what_spart_leaves_to_its_user_is_there():
    start = PAGE.index("What SPART leaves to its user")
    for line in PAGE[start:].split("\n\n")[1].splitlines()[2:]:
        functions, _, blocks = (cell.strip() for cell in line.strip("|").split("|"))
        for name in filter(None, functions.split(", ")):
            assert hasattr(dynamics, name), name
        for name in filter(None, blocks.split(", ")):
            assert find_type(name) is not None, name
