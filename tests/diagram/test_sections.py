"""A section of a diagram is one model and one row: everything else follows from the row."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Annotated

import pytest
from pydantic import BaseModel, ConfigDict, Field, create_model

import spart_blocks as sb
from spart_blocks.base.document import parse_document
from spart_blocks.diagram.sections import table as module
from spart_blocks.diagram.sections.schema import DiagramSection, PartSection, json_schema, validate
from spart_blocks.diagram.sections.table import FILE_SECTIONS, MAPPING, SectionRow, Sections, rows
from spart_blocks.diagram.written.conditions import CONDITIONS
from spart_blocks.diagram.written.paths import SETTABLE

PACKAGE = Path(sb.__file__).parent
NAMES = list(Sections.model_fields)
BLOCKS = "blocks:\n  one: {type: CONSTANT, value: 1}\n"


@pytest.fixture
def written(tmp_path):
    def write(text):
        path = tmp_path / "some.yaml"
        path.write_text(BLOCKS + text, encoding="utf-8")
        return path

    return write


def test_every_section_of_a_file_has_a_row():
    models = DiagramSection.model_fields.keys() | PartSection.model_fields.keys()
    assert set(FILE_SECTIONS) == models - set(CONDITIONS)


@pytest.mark.parametrize("name", NAMES)
def test_a_loaded_diagram_carries_each_section(written, name):
    diagram = sb.load(written(f"{name}:\n"))
    section = getattr(diagram.sections, name)
    assert getattr(diagram, name, section) == section, "the shortcut of Diagram"
    assert type(section).model_validate({}) == section
    other = type(section).model_validate({})
    assert getattr(diagram.with_sections(**{name: other}).sections, name) is other
    assert sb.load(written("")).expect is None


@pytest.mark.parametrize("name", NAMES)
def test_an_unknown_key_is_told_with_the_nearest(written, name):
    first = next(iter(type(getattr(sb.load(written(f"{name}:\n")).sections, name)).model_fields))
    with pytest.raises(sb.DiagramError) as caught:
        sb.load(written(f"{name}:\n  {first}x: 1\n"))
    [fault] = caught.value.faults
    assert fault.message == f"unknown key '{first}x' in {name}"
    assert first in fault.hint


@pytest.mark.parametrize(("name", "row"), list(rows()))
def test_what_a_row_says_holds(written, name, row):
    assert (name in SETTABLE) is row.settable
    assert json.loads(json_schema())["properties"][name]


def test_an_unknown_section_is_refused():
    diagram = sb.Diagram("some", sb.new_diagram("some"))
    with pytest.raises(sb.InputError, match="a diagram has no section 'exports'\n  did you mean"):
        diagram.with_sections(exports=None)


def test_keys_deep_in_a_section_are_told_with_the_nearest(written):
    text = "expect:\n  settles:\n    - {signal: one, too: 1, to: 1, within: 1, by: 0}\n"
    with pytest.raises(sb.DiagramError, match=r"unknown key 'too' in expect\.settles\.0") as caught:
        sb.load(written(text))
    assert "to" in caught.value.faults[0].hint


def test_a_row_is_all_that_a_section_needs(monkeypatch):
    """A new one is read, its mistakes are told, and it is checked against the wires."""

    class BatchOptions(BaseModel):
        model_config = ConfigDict(frozen=True, extra="forbid")

        runs: int = Field(1, description="how many")

    seen = []
    row = SectionRow(lambda section, wiring: seen.append((section.runs, wiring)))
    entry = (Annotated[BatchOptions, MAPPING, row], Field(default_factory=BatchOptions))
    larger = create_model("Larger", __base__=Sections, batch=entry)
    whole = create_model("Whole", __base__=DiagramSection, batch=entry)
    monkeypatch.setattr(module, "Sections", larger)
    document = parse_document(f"{BLOCKS}batch: {{runs: 7}}\n", "some.yaml")
    found, faults, _ = validate(document, document.data, whole)
    assert not faults
    wiring = SimpleNamespace(document=document)
    found.check(wiring)
    assert found.alone().batch.runs == 7
    assert seen == [(7, wiring)]
    document = parse_document(f"{BLOCKS}batch: {{run: 7}}\n", "some.yaml")
    _, [fault], _ = validate(document, document.data, whole)
    assert fault.message == "unknown key 'run' in batch"
    assert "runs" in fault.hint


def test_no_other_file_lists_the_sections():
    """A new row would be missing there."""
    listing = [
        path.relative_to(PACKAGE).as_posix()
        for path in PACKAGE.rglob("*.py")
        if '"realtime"' in path.read_text(encoding="utf-8")
    ]
    assert listing == ["cli/app.py"], "the command of that name"
