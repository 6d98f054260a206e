"""Every shipped diagram, and its controller, as C: back to back with its program."""

import re
from pathlib import Path

import pytest

import spart_blocks as sb
from spart_blocks.export import recorded_inputs, step_code, verify
from spart_blocks.program.subdiagram import ALL, subdiagram_of

DIAGRAMS = sorted((Path(__file__).parents[2] / "diagrams").glob("*.yaml"))
CONTROLLERS = {
    "arm_computed_torque": ["ctrl"],
    "arm_over_udp": [],  # the file's own
    "dual_arm": ["left", "right", "torques"],
    "spacecraft_controllers": ["controller"],
    "spacecraft_functions": ["ctrl"],
    "spacecraft_pd": ["ctrl"],
    "spacecraft_sampled": ["ctrl", "hold"],
}
HORIZON = 0.25  # s


@pytest.fixture(scope="module", params=DIAGRAMS, ids=lambda path: path.stem)
def diagram(request):
    return sb.load(request.param)


@pytest.mark.parametrize("real", ["double", "float"])
def test_a_closed_loop_does_in_c_what_its_program_does(diagram, real):
    code = step_code(subdiagram_of(diagram, [ALL]), real=real)
    found = verify(code, recorded_inputs(diagram, code, HORIZON))
    assert found.steps == 250
    assert found.passed, found.errors


def test_a_controller_does_in_c_what_its_program_does_on_recorded_inputs(diagram):
    blocks = CONTROLLERS.get(diagram.source.stem)
    if blocks is None:  # it has none: torques are prescribed
        assert not re.search("ctrl|controller", diagram.source.read_text())
        return
    for real in ("double", "float"):
        code = step_code(subdiagram_of(diagram, blocks), rate=1000, real=real)
        inputs = recorded_inputs(diagram, code, HORIZON)
        assert inputs.shape == (250, sum(m.size for m in code.interface.inputs))
        found = verify(code, inputs)
        assert found.passed, found.errors
