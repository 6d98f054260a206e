"""A plant with loops in exported C and in FMUs."""

import fmpy
import numpy as np
import pytest
from fmpy.fmi1 import FMICallException

import spart_blocks as sb
from spart_blocks.export import export_fmu, recorded_inputs, step_code, verify, verify_fmu
from spart_blocks.program.part import part_of

BAR = """
bodies:
  crank: {mass: 1, com: [0.1, 0, 0], inertia: [1.0e-3, 2.0e-2, 2.0e-2]}
  coupler: {mass: 1, com: [0.27, 0, 0], inertia: [1.0e-3, 2.0e-2, 2.0e-2]}
  rocker: {mass: 1, com: [0.2, 0, 0], inertia: [1.0e-3, 2.0e-2, 2.0e-2]}
joints:
  A: {type: Rz, parent: ground, child: crank, q: 0.6}
  B: {type: Rz, parent: crank, child: coupler, parent_frame: {xyz: [0.2, 0, 0]}, q: -0.2}
  C: {type: Rz, parent: ground, child: rocker, parent_frame: {xyz: [0.45, 0, 0]}, q: 1}
  D: {type: Rz, parent: coupler, child: rocker, parent_frame: {xyz: [0.55, 0, 0]},
      child_frame: {xyz: [0.4, 0, 0]}, q: 0.5, cut: true}
forces: {motor: {type: torque, joint: A, port: drive}}
"""
DIAGRAM = """
name: bar
robots: {bar: {bodies: bar.yaml}}
blocks:
  drive: {type: WAVEFORM, wave: sine, freq: 1, amplitude: 2}
  plant: {type: CLOSED_CHAIN, robot: bar, initial: {um: {A: 3}}}
  loops: {type: LOOP_ERROR, robot: bar}
wires: [drive -> plant.drive, plant.qm -> loops.qm, plant.um -> loops.um]
run: {T: 1, log: [plant.qm, plant.um, plant.lam, loops.error], rtol: 1.0e-10, atol: 1.0e-12}
export: {rate: 500, method: RK4}
"""


@pytest.fixture
def diagram(tmp_path):
    (tmp_path / "bar.yaml").write_text(BAR)
    (tmp_path / "diagram.yaml").write_text(DIAGRAM)
    return sb.load(tmp_path / "diagram.yaml")


def test_exported_c_does_what_the_program_does(diagram):
    code = step_code(part_of(diagram))
    assert verify(code, recorded_inputs(diagram, code, 0.4)).passed


def test_an_fmu_runs_as_the_diagram_does_and_keeps_the_loops_closed(diagram, tmp_path):
    part = part_of(diagram)
    path = export_fmu(part, tmp_path, 3)
    found = verify_fmu(path, part, horizon=0.5)
    assert found.passed, found
    results = sb.simulate(diagram, T=0.5)
    assert np.abs(results["loops.error"]).max() < 1e-12


def test_an_fmu_refuses_to_go_on_where_the_loops_lose_rank(tmp_path):
    flat = BAR.replace("0.55", "0.45").replace("[0.4, 0, 0]", "[0.2, 0, 0]")
    (tmp_path / "bar.yaml").write_text(flat)
    started = DIAGRAM.replace("{um: {A: 3}}", "{qm: {A: 0.9}, um: {A: 5}}")
    (tmp_path / "diagram.yaml").write_text(started)
    path = export_fmu(part_of(sb.load(tmp_path / "diagram.yaml")), tmp_path, 3)
    with pytest.raises(FMICallException):
        fmpy.simulate_fmu(path, stop_time=1.0, fmi_type="CoSimulation")
