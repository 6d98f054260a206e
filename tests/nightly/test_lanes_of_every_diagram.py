"""Runs of every shipped diagram in lanes and threads: the same bits, and those of `simulate`."""

from __future__ import annotations

from pathlib import Path

import pytest
from lane_runs import assert_lanes_as_alone

import spart_blocks as sb
from spart_blocks.program.c.compiler import compiler_name

pytestmark = pytest.mark.skipif(compiler_name() is None, reason="no C compiler")

DIAGRAMS = Path(__file__).parents[2] / "diagrams"
SHIPPED = [path for path in sorted(DIAGRAMS.rglob("*.yaml")) if "controllers" not in path.parts]


@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: path.stem)
def test_lanes_of_every_diagram(path):
    assert_lanes_as_alone(sb.trace(path))
