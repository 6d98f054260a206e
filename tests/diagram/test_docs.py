"""The page and the schema say what the loader does."""

from __future__ import annotations

import json
import re
import runpy
import shutil
from pathlib import Path

import pytest

from spart_blocks.diagram import RunOptions, load
from spart_blocks.diagram.sections.schema import DiagramSection, PartSection, json_schema

DOCS = Path(__file__).parents[2] / "docs"
PAGE = (DOCS / "diagrams.md").read_text(encoding="utf-8")
EXAMPLES = dict(re.findall(r"^```yaml\n# file: (\S+)\n(.*?)^```", PAGE, re.DOTALL | re.MULTILINE))


def test_the_page_has_examples():
    assert len(EXAMPLES) >= 4


@pytest.mark.parametrize("name", [name for name in EXAMPLES if "/" not in name])
def test_an_example_of_the_page_loads(tmp_path, name):
    shutil.copytree(DOCS.parent / "models", tmp_path / "models")
    for part, text in EXAMPLES.items():  # some use others
        (tmp_path / part).parent.mkdir(exist_ok=True)
        (tmp_path / part).write_text(text, encoding="utf-8")
    assert load(tmp_path / name).bd.blocklist


def test_the_page_names_every_section_and_run_option():
    for name in [*DiagramSection.model_fields, *RunOptions.model_fields]:
        assert f"`{name}`" in PAGE, name


def test_the_schema_in_docs_is_the_models_own():
    written = (DOCS / "diagram.schema.json").read_text(encoding="utf-8")
    assert written == json_schema(), "renew it: python docs/make_schema.py"


def test_the_script_writes_the_schema(tmp_path, monkeypatch):
    monkeypatch.setattr("pathlib.Path.with_name", lambda _, name: tmp_path / name)
    runpy.run_path(str(DOCS / "make_schema.py"), run_name="__main__")
    assert (tmp_path / "diagram.schema.json").read_text(encoding="utf-8") == json_schema()


def test_the_schema_allows_a_reference_where_a_number_stands():
    schema = json.loads(json_schema())
    choices = schema["$defs"]["RunOptions"]["properties"]["T"]["anyOf"]
    assert {"$ref": "#/$defs/Reference"} in choices
    assert schema["additionalProperties"] is False


def test_a_file_with_ports_has_a_schema_of_its_own():
    whole, part = json.loads(json_schema()), json.loads(json_schema(PartSection))
    own = {"inputs", "outputs", "enabled", "triggered", "reset"}
    assert own == part["properties"].keys() - whole["properties"].keys()
    assert {"run", "variants", "tunable"} <= whole["properties"].keys() - part["properties"].keys()
