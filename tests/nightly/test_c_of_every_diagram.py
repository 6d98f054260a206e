"""Every diagram in the folders of diagrams/ as C, back to back with its program.

Those at the top are examined by tests/export on every run. One command:
.venv/bin/python -m pytest tests/nightly/test_c_of_every_diagram.py
"""

from pathlib import Path

import pytest

import spart_blocks as sb
from spart_blocks.export import recorded_inputs, step_code, verify
from spart_blocks.program.subdiagram import ALL, subdiagram_of

FOLDER = Path(__file__).parents[2] / "diagrams"
DIAGRAMS = sorted(path for path in FOLDER.glob("*/*.yaml") if path.parent.name != "controllers")


@pytest.mark.parametrize("path", DIAGRAMS, ids=lambda path: path.stem)
def test_a_closed_loop_does_in_c_what_its_program_does(path):
    diagram = sb.load(path)
    code = step_code(subdiagram_of(diagram, [ALL]))
    found = verify(code, recorded_inputs(diagram, code, 1.0))
    assert found.steps == 1000
    assert found.passed, found.errors
