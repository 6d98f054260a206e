"""docs/blocks.md is what its script makes of the blocks as they are now."""

from __future__ import annotations

import runpy
from pathlib import Path

from spart_blocks.descriptions.subjects import SUBJECTS
from spart_blocks.diagram.build.registry import block_types

DOCS = Path(__file__).parents[2] / "docs"
PAGE = (DOCS / "blocks.md").read_text(encoding="utf-8")


def test_the_page_of_blocks_is_up_to_date():
    page = runpy.run_path(str(DOCS / "make_blocks_page.py"))["page"]
    assert page() == PAGE, "renew it: python docs/make_blocks_page.py"


def test_every_port_and_parameter_is_on_the_page_with_a_word_about_it():
    sections = dict(part.split("\n", 1) for part in PAGE.split("\n### ")[1:])
    ours = [kind for kind in block_types() if kind.package == "spart_blocks"]
    assert set(sections) == {kind.name for kind in ours}
    for kind in ours:
        section = sections[kind.name]
        for name in kind.parameters:
            assert f"| `{name}` |" in section, f"{kind.name}: {name}"
        rows = [line for line in section.splitlines() if line.startswith(("| in |", "| out |"))]
        assert len(rows) == kind.cls.nin + kind.cls.nout, kind.name
        for row in rows:
            cells = [cell.strip() for cell in row.strip("|").split("|")]
            assert cells[3], f"{kind.name}: no shape in {row}"
            assert cells[5], f"{kind.name}: no text in {row}"


def test_every_block_stands_under_one_of_a_few_subjects():
    heads = [part.split("\n", 1)[0] for part in PAGE.split("\n## ")[1:-1]]
    assert heads == [subject for subject in SUBJECTS if subject in heads]
    assert len(SUBJECTS) <= 25
    listed = [module for modules in SUBJECTS.values() for module in modules]
    assert len(listed) == len(set(listed))
    modules = {kind.cls.__module__ for kind in block_types()}  # also of what other tests load
    used = {m.rpartition(".")[2] for m in modules if m.startswith(("bdsim.", "spart_blocks."))}
    assert used == set(listed)
    assert not {head.upper() for head in heads} & {kind.name for kind in block_types()}  # links
