"""Shipped diagrams, and their controllers, as FMUs: FMPy gets what we get."""

from pathlib import Path

import fmpy
import pytest
from fmpy.validation import validate_fmu
from fmu_slaves import stepped_error

import spart_blocks as sb
from spart_blocks.export import export_fmu, recorded_inputs, step_code, verify_fmu
from spart_blocks.program.subdiagram import subdiagram_of

DIAGRAMS = sorted((Path(__file__).parents[2] / "diagrams").glob("*.yaml"))
FOLDER = DIAGRAMS[0].parent
# Those of which the compiler makes a binary within 2 s; the others, and both versions of
# each, run at night.
QUICK = ("momentum_exchange", "spacecraft_controllers", "spacecraft_sampled")
CONTROLLERS = (("dual_arm", "left", "right", "torques"), ("spacecraft_sampled", "ctrl", "hold"))


@pytest.mark.filterwarnings("ignore:the FMU contains only sources")
@pytest.mark.parametrize("path", DIAGRAMS, ids=lambda path: path.stem)
def test_fmpy_finds_nothing_wrong_with_a_shipped_diagram(path, tmp_path, monkeypatch):
    monkeypatch.setenv("SPART_COMPILER", "none")
    part = subdiagram_of(path)
    for version in (3, 2):
        assert validate_fmu(str(export_fmu(part, tmp_path, version))) == []


@pytest.mark.parametrize(("name", "version"), zip(QUICK, (3, 2, 3), strict=True))
def test_a_closed_loop_runs_elsewhere_as_it_does_here(name, version, tmp_path):
    part = subdiagram_of(FOLDER / f"{name}.yaml")
    found = verify_fmu(export_fmu(part, tmp_path, version), part, horizon=2.0)
    assert found.passed, found
    assert {kind for kind, _ in found.errors} == {"co-simulation", "model exchange"}


@pytest.mark.parametrize("version", [3, 2])
@pytest.mark.parametrize("blocks", CONTROLLERS, ids=lambda blocks: blocks[0])
def test_a_controller_does_on_recorded_inputs_what_its_program_does(blocks, version, tmp_path):
    diagram = sb.load(FOLDER / f"{blocks[0]}.yaml")
    part = subdiagram_of(diagram, blocks[1:])
    path = export_fmu(part, tmp_path, version, rate=1000)
    assert verify_fmu(path, part, rate=1000).passed
    code = step_code(part, rate=1000)
    inputs = recorded_inputs(diagram, code, 0.25)
    assert inputs.shape[0] == 250
    assert stepped_error(path, part, code.schedule, inputs) < 1e-12


def test_the_first_values_of_a_run_are_found_in_the_description(tmp_path):
    part = subdiagram_of(FOLDER / "spacecraft_sampled.yaml", ["ctrl", "hold"])
    described = fmpy.read_model_description(str(export_fmu(part, tmp_path)))
    found = {v.name: v for v in described.modelVariables}
    assert found["ctrl.kp"].start.split() == ["40.0", "40.0", "10.0"]
    assert (found["ctrl.kp"].variability, found["hold.x0"].variability) == ("tunable", "fixed")
    assert found["plant.qm"].causality == "input"
    assert [d.start for d in found["plant.qm"].dimensions] == [3]
    assert found["hold"].causality == "output"
