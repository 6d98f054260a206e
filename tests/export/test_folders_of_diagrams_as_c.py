"""Diagrams in the folders of diagrams/ as C, back to back with their programs: those with
modes, noise and tables. The others run at night."""

from pathlib import Path

import pytest

import spart_blocks as sb
from spart_blocks.export import recorded_inputs, step_code, verify
from spart_blocks.program.subdiagram import ALL, subdiagram_of

FOLDER = Path(__file__).parents[2] / "diagrams"
DIAGRAMS = [
    FOLDER / f"{name}.yaml"
    for name in ("joints/friction", "signals/delayed_loops", "signals/limited_servo")
]
HORIZON = 0.25  # s


@pytest.mark.parametrize("path", DIAGRAMS, ids=lambda path: path.stem)
def test_a_closed_loop_does_in_c_what_its_program_does(path):
    diagram = sb.load(path)
    code = step_code(subdiagram_of(diagram, [ALL]))
    found = verify(code, recorded_inputs(diagram, code, HORIZON))
    assert found.steps == 250
    assert found.passed, found.errors
