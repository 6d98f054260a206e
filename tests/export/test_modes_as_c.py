"""Blocks that switch modes in exported C, in FMUs, and on the real clock."""

import shutil
from ctypes import c_double
from pathlib import Path

import numpy as np
import pytest
from fmpy.fmi1 import FMICallException
from fmus import instance, references

import spart_blocks as sb
from spart_blocks.export import export_fmu, recorded_inputs, step_code, verify, verify_fmu
from spart_blocks.export.reference import Stepper
from spart_blocks.export.schedule import MOST_SWITCHES, acting_of, schedule_of
from spart_blocks.program.subdiagram import subdiagram_of
from spart_blocks.realtime import Session, prepare

# x' = y of two relays with thresholds of 0.31 and -0.27: two triangle waves.
OSCILLATORS = """
name: oscillators
blocks:
  relay: {type: RELAY, on: 0.31, off: -0.27, on_value: [1, 0.7], off_value: [-0.9, -0.5],
          initial: on}
  x: {type: INTEGRATOR, x0: [0.1013, -0.2017]}
  back: {type: GAIN, K: -1}
wires: [relay -> x, x -> back, back -> relay]
run: {T: 3, log: [x, relay], rtol: 1.0e-10, atol: 1.0e-12}
realtime: {policy: catch-up}
"""
# A relay in a chain: the first one's output turns the second on in the same step. A unit
# quaternion has to be put right after a switch, and a clock ticks before it.
CHAIN = """
name: chain
clocks: {c: {rate: 10}}
robots: {sc: {urdf: sc.urdf, base: floating}}
blocks:
  wave: {type: WAVEFORM, wave: sine, freq: 0.7, amplitude: 1.3}
  hold: {type: ZOH, clock: c}
  first: {type: RELAY, on: 0.513, off: -0.411, on_value: 2, off_value: 0}
  second: {type: RELAY, on: 1, off: 0.5, on_value: 3, off_value: -3, initial: auto}
  torque: {type: FCN, expression: ["0.1*u", "0", "0"]}
  plant: {type: MULTIBODY, robot: sc}
wires: [wave -> hold, hold -> first, first -> second, second -> torque, torque -> plant.taum]
run: {T: 2, log: [first, second, plant.qm]}
"""
CHATTER = """
name: chatter
blocks:
  relay: {type: RELAY, on: 0, off: 0, on_value: -1, off_value: 1}
  back: {type: GAIN, K: 1}
wires: [relay -> back, back -> relay]
"""


@pytest.fixture
def chain(part_from, tmp_path):
    shutil.copy(Path(__file__).parents[2] / "models/spacecraft_3dof.urdf", tmp_path / "sc.urdf")
    return part_from(CHAIN)


@pytest.mark.parametrize("real", ["double", "float"])
def test_the_c_of_modes_is_the_program_s(part_from, real):
    code = step_code(part_from(OSCILLATORS), rate=500, real=real)
    found = verify(code, np.zeros((1500, 0)))
    assert found.passed, found
    assert "state of relay" in found.errors


@pytest.mark.parametrize("method", ["euler", "RK4"])
def test_a_relay_that_turns_another_does_so_in_the_same_step(chain, method):
    code = step_code(chain, rate=200, method=method)
    found = verify(code, np.zeros((400, 0)))
    assert found.passed, found
    stepper = Stepper(chain, code.schedule)
    rows = {slot.name: i for i, slot in enumerate(chain.outputs)}
    seen = set()
    for _ in range(400):
        y, _ = stepper.output()
        seen.add((y[rows["first.y"]], y[rows["second.y"]]))
        stepper.update()
    assert seen == {(0.0, -3.0), (2.0, 3.0)}


def test_a_part_that_is_a_relay_has_its_input_from_outside(tmp_path):
    path = tmp_path / "diagram.yaml"
    path.write_text(OSCILLATORS)
    code = step_code(subdiagram_of(path, ["relay"]), rate=100)
    found = verify(code, recorded_inputs(sb.load(path), code, 3.0))
    assert found.passed, found


def test_steps_follow_the_run_to_within_a_step(part_from):
    part = part_from(OSCILLATORS)
    stepper = Stepper(part, schedule_of(part, 2000))
    for _ in range(2000):
        stepper.output()
        stepper.update()
    wanted = sb.simulate(part.program, T=1.0)["x"][-1]
    # Three switches at most, each up to 0.5 ms late; they change the slope by 1.9.
    assert 0 < np.abs(stepper.x[-2:] - wanted).max() < 3 * 1.9 * 5e-4


def test_what_never_fits_is_left_after_a_fixed_number_of_switches(part_from):
    part = part_from(CHATTER)
    assert acting_of(part.program, "RK4").switches
    code = step_code(part)
    assert f"#define SB_MOST_SWITCHES {MOST_SWITCHES}\n" in code.source
    found = verify(code, np.zeros((3, 0)))
    assert found.passed, found


@pytest.mark.parametrize("version", [3, 2])
def test_an_fmu_switches_at_the_crossing_by_both_interfaces(version, part_from, tmp_path):
    part = part_from(OSCILLATORS)
    found = verify_fmu(export_fmu(part, tmp_path, version), part, horizon=3.0)
    assert found.passed, found


def test_an_fmu_of_relays_in_a_chain_is_the_program(chain, tmp_path):
    found = verify_fmu(export_fmu(chain, tmp_path), chain, horizon=2.0)
    assert found.passed, found


def test_an_indicator_of_exactly_zero_is_still_before_the_crossing(tmp_path):
    path = tmp_path / "diagram.yaml"
    path.write_text(OSCILLATORS)
    part = subdiagram_of(path, ["relay"])
    (u,) = part.inputs
    at = references(part)
    with instance(export_fmu(part, tmp_path), "ModelExchange") as fmu:
        fmu.setFloat64([at[u.name]], [0.31, 0.0])
        fmu.updateDiscreteStates()
        fmu.enterContinuousTimeMode()
        fmu.setFloat64([at[u.name]], [-0.27, 0.0])  # at the point where the first turns off
        values = (c_double * 2)()
        fmu.getEventIndicators(values, 2)
        first, second = values
        assert first < 0
        assert first > -1e-200
        assert second == -0.27


def test_an_fmu_tells_of_a_block_that_switches_without_end(part_from, tmp_path):
    part = part_from(CHATTER)
    with instance(export_fmu(part, tmp_path)) as fmu:
        with pytest.raises(FMICallException):
            fmu.doStep(0.0, 0.1)
        assert any("switches without end" in text for text in fmu.said)


def test_a_relay_runs_on_the_real_clock(tmp_path):
    path = tmp_path / "diagram.yaml"
    path.write_text(OSCILLATORS)
    with Session(prepare(path, rate=1000, T=0.3), record=True) as session:
        for _ in session.moments():
            pass
    signals = session.signals()
    part = subdiagram_of(path)
    stepper = Stepper(part, schedule_of(part, 1000))
    wanted = []
    for _ in range(300):
        wanted.append(stepper.output()[0])
        stepper.update()
    names = [slot.name for slot in part.outputs]
    got = np.concatenate([signals[name] for name in names], axis=1)
    assert np.abs(got - np.array(wanted)).max() < 1e-12
    assert len(np.unique(got[:, names.index("relay.y") * 2])) == 2  # it has switched
