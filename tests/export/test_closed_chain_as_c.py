"""A plant with loops in exported C and in FMUs."""

import fmpy
import numpy as np
import pytest
from fmpy.fmi1 import FMICallException

import spart_blocks as sb
from spart_blocks.base.errors import SpartWarning
from spart_blocks.export import export_fmu, recorded_inputs, step_code, verify, verify_fmu
from spart_blocks.export.header import FAULT
from spart_blocks.export.loaded import LoadedStep
from spart_blocks.program.subdiagram import subdiagram_of
from spart_blocks.realtime import Session, prepare
from spart_blocks.realtime.structs import Ended

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
    code = step_code(subdiagram_of(diagram))
    assert verify(code, recorded_inputs(diagram, code, 0.4)).passed


def test_an_fmu_runs_as_the_diagram_does_and_keeps_the_loops_closed(diagram, tmp_path):
    part = subdiagram_of(diagram)
    path = export_fmu(part, tmp_path, 3)
    found = verify_fmu(path, part, horizon=0.5)
    assert found.passed, found
    results = sb.simulate(diagram, T=0.5)
    assert np.abs(results["loops.error"]).max() < 1e-12


@pytest.fixture
def flat(tmp_path):
    """A parallelogram that comes to lie flat after 0.45 s."""
    shorter = BAR.replace("0.55", "0.45").replace("[0.4, 0, 0]", "[0.2, 0, 0]")
    (tmp_path / "bar.yaml").write_text(shorter)
    started = DIAGRAM.replace("{um: {A: 3}}", "{qm: {A: 0.9}, um: {A: 5}}")
    started = started.replace("amplitude: 2", "amplitude: 0")
    (tmp_path / "diagram.yaml").write_text(started)
    return sb.load(tmp_path / "diagram.yaml")


FLAT = (np.pi - 0.9) / 5


@pytest.mark.parametrize(
    ("rate", "method", "real"),
    [
        (500, "RK4", "double"),
        (3, "RK4", "double"),
        (50, "heun", "double"),
        (500, "euler", "double"),
        (200, "RK4", "float"),
    ],
)
def test_exported_c_ends_where_the_loops_lose_rank(flat, rate, method, real):
    code = step_code(subdiagram_of(flat), rate=rate, method=method, real=real)
    step = LoadedStep(code)
    statuses = []
    while not statuses or statuses[-1] == 0:
        statuses += [step.output()[0], step.update()]
    assert statuses[-1] == FAULT
    assert (len(statuses) // 2 - 1) / rate <= FLAT + 2e-3
    assert len(statuses) // 2 / rate >= FLAT - 2e-3
    if real == "double":  # in single precision states of loops tell little near there
        assert verify(code, np.zeros((len(statuses), 0))).passed


def test_steps_on_the_real_clock_end_where_the_loops_lose_rank(flat):
    with Session(prepare(flat.source, rate=200, T=2.0)) as session:
        for _ in session.moments():
            pass
    report = session.report()
    assert report.ended is Ended.FAULT
    assert not report.complete
    assert "lose rank" in report.why
    assert abs(report.steps / 200 - FLAT) < 0.01


def test_c_that_ends_early_says_why(flat):
    found = verify(step_code(subdiagram_of(flat), rate=500), np.zeros((500, 0)))
    assert (found.passed, found.steps) == (True, 224)
    assert found.ended == "block plant: its loops lose rank"


def test_an_fmu_of_a_damped_mechanism_takes_equal_steps_and_warns_of_model_exchange(flat, tmp_path):
    text = flat.source.read_text().replace(
        "robot: bar, initial", "robot: bar, singular: damp, initial"
    )
    flat.source.write_text(text)
    part = subdiagram_of(sb.load(flat.source))
    with pytest.warns(SpartWarning, match="plant has singular: damp: import the FMU for co-sim"):
        path = export_fmu(part, tmp_path, 3)
    found = verify_fmu(path, part, horizon=0.8)
    assert found.errors["co-simulation", "plant.um"] < 1e-9  # also behind the pose
    assert verify_fmu(path, part, horizon=0.4).passed
    assert {kind for kind, _ in found.errors} == {"co-simulation"}
    assert "model exchange is not compared" in found.note


def test_an_fmu_refuses_to_go_on_where_the_loops_lose_rank(flat, tmp_path):
    path = export_fmu(subdiagram_of(flat), tmp_path, 3)
    with pytest.raises(FMICallException):
        fmpy.simulate_fmu(path, stop_time=1.0, fmi_type="CoSimulation")
