"""Diagrams from text, and a small package of blocks beside bdsim's and ours."""

from __future__ import annotations

import sys
from pathlib import Path
from textwrap import dedent

import pytest

from spart_blocks.diagram import load

PACKAGES = Path(__file__).parent / "packages"


@pytest.fixture
def read(tmp_path):
    """read(text, **options): the diagram that a file with this text describes."""

    def read(text, name="test.yaml", **options):
        file = tmp_path / name
        file.write_text(dedent(text), encoding="utf-8")
        return load(file, **options)

    return read


@pytest.fixture
def faults(read, tmp_path):
    """faults(text): what is wrong with the text, each as (line, column, message, hint)."""
    from spart_blocks.base.errors import DiagramError

    def faults(text, **options):
        with pytest.raises(DiagramError) as caught:
            read(text, **options)
        return [
            (
                fault.place.line if fault.place else None,
                fault.place.column if fault.place else None,
                fault.message,
                fault.hint or "",
            )
            for fault in caught.value.faults
        ]

    return faults


@pytest.fixture(scope="module")
def fake_plants():
    """Load the package fakeplants as a user would, so that files can name its blocks."""
    import bdsim

    from spart_blocks.diagram.build.library import runtime

    runtime()
    sys.path.insert(0, str(PACKAGES))
    before, bdsim.BDSim._blocklibrary = bdsim.BDSim._blocklibrary, None
    options = {"banner": False, "sysargs": False, "graphics": False, "toolboxes": False}
    bdsim.BDSim(packages="spart_blocks:fakeplants", **options)
    yield
    bdsim.BDSim._blocklibrary = before
    sys.path.remove(str(PACKAGES))
