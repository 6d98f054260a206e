"""The page and the schema say what the loader does."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from spart_blocks.diagram import load
from spart_blocks.diagram.model import RunOptions
from spart_blocks.diagram.schema import DiagramSection, json_schema

DOCS = Path(__file__).parents[2] / "docs"
PAGE = (DOCS / "diagrams.md").read_text(encoding="utf-8")
EXAMPLES = dict(re.findall(r"^```yaml\n# file: (\S+)\n(.*?)^```", PAGE, re.DOTALL | re.MULTILINE))


def test_the_page_has_examples():
    assert len(EXAMPLES) >= 4


@pytest.mark.parametrize("name", EXAMPLES)
def test_an_example_of_the_page_loads(tmp_path, name):
    file = tmp_path / name
    file.write_text(EXAMPLES[name], encoding="utf-8")
    assert load(file).bd.blocklist


def test_the_page_names_every_section_and_run_option():
    for name in [*DiagramSection.model_fields, *RunOptions.model_fields]:
        assert f"`{name}`" in PAGE, name


def test_the_schema_in_docs_is_the_models_own():
    # To renew it, write json_schema() to that file.
    assert (DOCS / "diagram.schema.json").read_text(encoding="utf-8") == json_schema()


def test_the_schema_allows_a_reference_where_a_number_stands():
    schema = json.loads(json_schema())
    choices = schema["$defs"]["RunOptions"]["properties"]["T"]["anyOf"]
    assert {"$ref": "#/$defs/Reference"} in choices
    assert schema["additionalProperties"] is False
