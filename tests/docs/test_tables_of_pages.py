"""Tables of pages name all that there is, under its own name."""

from __future__ import annotations

import re
from pathlib import Path
from typing import get_args, get_type_hints

import pytest

import spart_blocks as sb
from spart_blocks.analysis.comparison import GROUPS
from spart_blocks.diagram.sections.expectations import CLAIMS
from spart_blocks.robot import EFFECTS
from spart_blocks.run import begin, finish
from spart_blocks.run.measure.gauges import Gauge

ROOT = Path(__file__).parents[2]


def rows(page, heading):
    """The rows of the first table below a heading, each a list of its cells."""
    text = (ROOT / "docs" / page).read_text(encoding="utf-8").split(f"\n{heading}\n")[1]
    table = re.search(r"^\|.*?(?=\n\n|\Z)", text, re.MULTILINE | re.DOTALL)[0]
    lines = [re.sub(r"\\\|", "/", line).strip("|") for line in table.splitlines()[2:]]
    return [[cell.strip() for cell in line.split("|")] for line in lines]


def names(cell):
    return re.findall(r"`([^`]+)`", cell)


@pytest.fixture(scope="module")
def readings():
    run = begin(sb.load(ROOT / "diagrams" / "spacecraft_pd.yaml"), T=0.05)
    kinds = get_args(get_type_hints(Gauge)["kind"])
    of = {"rotation": "plant.R0", "displacement": "plant.r0"}
    gauges = [Gauge(k, of.get(k, "plant.qm"), "qd" if k == "step" else None) for k in kinds]
    run.measure(gauges)
    finish(run)
    return {gauge.kind: run.readings[gauge] for gauge in gauges}


def test_every_gauge_is_in_the_table_with_all_its_keys(readings):
    told = {
        kind: names(keys)
        for kinds, keys, *_ in rows("records.md", "## Metrics and claims")
        for kind in names(kinds)
    }
    assert told == {kind: list(found) for kind, found in readings.items()}


def test_every_column_of_a_comparison_is_in_the_table():
    told = [name for row in rows("comparing.md", "## What is measured") for name in names(row[1])]
    assert told == [name for group in GROUPS.values() for name in group]


def test_every_claim_is_in_the_table():
    told = [names(row[0])[0] for row in rows("testing.md", "## What can be claimed")]
    assert set(told) >= set(CLAIMS)


def test_every_effect_is_in_the_table_and_with_robots():
    assert [names(row[0])[0] for row in rows("joints.md", "## Effects")] == list(EFFECTS)
    page = (ROOT / "docs" / "diagrams.md").read_text(encoding="utf-8")
    [told] = re.findall(r"`effects` says.*?\.\n", page, re.DOTALL)
    assert set(names(told)) >= {"all", "none", *EFFECTS}
