"""The page for those who come from Simulink is what its script writes, with no block left out."""

import runpy
from pathlib import Path

import pytest

from spart_blocks.diagram.build.registry import type_names
from spart_blocks.diagram.check.other_names import OTHER_NAMES

DOCS = Path(__file__).parents[2] / "docs"


@pytest.fixture(scope="module")
def script():
    return runpy.run_path(str(DOCS / "make_simulink_page.py"))


def test_the_page_is_as_its_script_writes_it(script):
    text = (DOCS / "from_simulink.md").read_text(encoding="utf-8")
    assert script["page"]() == text, "renew it: python docs/make_simulink_page.py"


def test_every_block_of_simulink_has_an_answer(script):
    assert script["blank"]() == []


def test_every_type_that_is_named_exists():
    known = set(type_names())
    assert {kind for other in OTHER_NAMES for kind in other.types} <= known
