"""An FMU's own steps in co-simulation: as long as its error allows, or all alike."""

import shutil
from pathlib import Path

import fmpy
import numpy as np
import pytest
from fmus import instance, references
from kinked import dip

from spart_blocks.base.errors import InputError
from spart_blocks.base.tableaus import PAIRS
from spart_blocks.base.tableaus import STIFF as RODAS
from spart_blocks.diagram import Diagram
from spart_blocks.export import export_fmu, step_code, verify, verify_fmu
from spart_blocks.export.fmu.stepping import stepping_of
from spart_blocks.program.subdiagram import subdiagram_of

MODELS = Path(__file__).parents[2] / "models"

# x' = -2000 (x - cos t) from 0: it is where cos t is within a millisecond.
STIFF = """
name: stiff
blocks:
  s: {type: TIME}
  wanted: {type: FCN, expression: "cos(s)", arguments: [s]}
  e: {type: SUM, signs: "+-"}
  k: {type: GAIN, K: 2000.0}
  x: {type: INTEGRATOR}
wires: [s -> wanted, wanted -> e.0, x -> e.1, e -> k, k -> x]
run: {T: 1, rtol: 1.0e-9, atol: 1.0e-11, log: [x]}
"""

# x' = y, y = 1 or -0.5: a triangle wave between -0.2 and 0.3, in steps that are far too long.
SWITCHED = """
name: switched
blocks:
  heater: {type: RELAY, on: 0.2, off: -0.3, on_value: 1, off_value: -0.5}
  x: {type: INTEGRATOR}
  cold: {type: GAIN, K: -1}
  all: {type: INTEGRATOR}
wires: [heater -> x, x -> cold, cold -> heater, x -> all]
run: {T: 4, log: [x, all]}
"""

# A pendulum that steps by itself, a ball whose weight it changes, and an integrator with a limit.
BOUNCING = """
robots: {arm: {urdf: double_pendulum.urdf}}
blocks:
  weight: {type: GRAVITY, robot: arm}
  loose: {type: CONSTANT, value: [0, 0]}
  plant: {type: MULTIBODY, robot: arm, initial: {qm: [0.7, 0.4]}, integrator: variational}
  g: {type: FCN, expression: "10 + q[0]", arguments: [q]}
  ball: {type: HYBRID_SYSTEM, states: [y, v], x0: [1, 0], f: [v, -g], arguments: [g],
    jumps: [{when: y < 0, set: {v: -0.9*v}}]}
  i: {type: INTEGRATOR, min: -0.5}
wires: [weight.wFm -> plant.wFm, loose -> plant.taum, plant.qm -> g, g -> ball.g, ball.v -> i]
run: {T: 1, log: [plant.um, ball.y, i]}
"""

# The kink of y = u + 0.2589 where u < -0.2589, otherwise 0, at 1.7411 s.
KINKED = """
name: kinked
blocks:
  s: {type: RAMP, T: 0, off: -2}
  k: {type: DEADZONE, lower: -0.2589, upper: 0.2589}
  x: {type: INTEGRATOR}
wires: [s -> k, k -> x]
run: {T: 2, log: [x]}
"""


def stiff(t, k=2000.0):
    steady = (k * k * np.cos(t) + k * np.sin(t)) / (k * k + 1)
    return steady - k * k / (k * k + 1) * np.exp(-k * t)


def stepped(path, part, signal, ends, tolerance=None):
    """The values of a signal at the ends of communication steps."""
    at, found = references(part)[signal], []
    three = fmpy.read_model_description(str(path)).fmiVersion.startswith("3")
    with instance(path, start=False) as fmu:
        if three:
            fmu.enterInitializationMode(tolerance=tolerance)
        else:
            fmu.setupExperiment(tolerance=tolerance, startTime=0.0)
            fmu.enterInitializationMode()
        fmu.exitInitializationMode()
        for a, b in zip([0.0, *ends], ends, strict=False):
            fmu.doStep(a, b - a)
            found += fmu.getFloat64([at]) if three else fmu.getReal([at])
    return np.array(found)


@pytest.mark.parametrize("version", [3, 2])
def test_steps_are_as_long_as_the_importer_s_tolerance_allows(version, part_from, tmp_path):
    part = part_from(STIFF)
    path = export_fmu(part, tmp_path, version)
    ends = np.array([0.0005, 0.001, 0.002, 0.1, 1.0])
    errors = [
        np.abs(stepped(path, part, "x", ends, tolerance) - stiff(ends)).max()
        for tolerance in (1e-4, 1e-7, 1e-10)
    ]
    assert errors[0] < 1e-3
    assert errors[1] < 1e-6
    assert errors[2] < 1e-9
    assert errors[2] < errors[1] < errors[0]


@pytest.mark.parametrize("solver", [*PAIRS, RODAS])
def test_steps_are_those_of_the_pair_that_the_run_names(solver, part_from, tmp_path):
    part = part_from(KINKED.replace("T: 2,", f"T: 2, solver: {solver},"))
    assert stepping_of(part).method == solver
    assert stepping_of(part, method="heun").method == "heun"
    path = export_fmu(part, tmp_path)
    found = stepped(path, part, "x", [1.0, 2.0])
    at_1 = -((2 - 0.2589) ** 2 - (1 - 0.2589) ** 2) / 2
    assert found == pytest.approx([at_1, -(1.7411**2) / 2], abs=1e-9)


@pytest.mark.parametrize("version", [3, 2])
def test_a_stiff_run_goes_by_implicit_steps_where_its_solver_is_one(version, part_from, tmp_path):
    """x' = -1e8 (x - cos t): an explicit pair would take thirty million steps."""
    part = part_from(STIFF.replace("2000.0", "1.0e+8").replace("T: 1,", f"T: 1, solver: {RODAS},"))
    path = export_fmu(part, tmp_path, version)
    ends = np.linspace(0.05, 1.0, 20)
    assert stepped(path, part, "x", ends) == pytest.approx(np.cos(ends), abs=2e-8)
    assert stepping_of(part_from(part_text_that_slides())).method == "RK45"


def part_text_that_slides():
    return STIFF.replace("T: 1,", f"T: 1, solver: {RODAS}, sliding: filippov,")


@pytest.mark.parametrize("version", [3, 2])
def test_a_kink_costs_no_accuracy(version, part_from, tmp_path):
    part = part_from(KINKED)
    path = export_fmu(part, tmp_path, version)
    assert stepped(path, part, "x", [2.0])[-1] == pytest.approx(-(1.7411**2) / 2, abs=1e-9)


@pytest.mark.parametrize("version", [3, 2])
def test_two_kinks_within_one_step_are_found(version, part_from, tmp_path):
    content, wanted = dip()
    part = part_from(content)
    path = export_fmu(part, tmp_path, version)
    assert stepped(path, part, "x", [2.0])[-1] == pytest.approx(wanted, abs=2e-6)


def test_without_a_tolerance_the_diagram_s_holds(part_from, tmp_path):
    part = part_from(STIFF)
    ends = np.array([0.0005, 0.001, 0.002])
    path = export_fmu(part, tmp_path)
    default = stepped(path, part, "x", ends)
    assert (default == stepped(path, part, "x", ends, 1e-9)).all()
    assert np.abs(default - stiff(ends)).max() < 1e-8
    for none in (0.0, -1.0, float("nan")):
        assert (default == stepped(path, part, "x", ends, none)).all()


def test_equal_steps_are_taken_where_asked_for(part_from, tmp_path):
    part = part_from(STIFF)
    described = fmpy.read_model_description(str(export_fmu(part, tmp_path / "a.fmu")))
    assert described.coSimulation.fixedInternalStepSize is None
    for options in ({"rate": 1000.0}, {"method": "RK4"}):
        path = export_fmu(part, tmp_path / "b.fmu", **options)
        described = fmpy.read_model_description(str(path))
        assert float(described.coSimulation.fixedInternalStepSize) == 0.001
        (x,) = stepped(path, part, "x", [0.001], 1e-10)
        # RK4 makes 1/3 of exp(-2), with cos t as good as 1.
        assert x == pytest.approx(1 - 1 / 3, abs=1e-5)
        assert verify_fmu(path, part, horizon=0.1, **options).passed


@pytest.fixture
def bouncing(part_from, tmp_path):
    shutil.copy(MODELS / "double_pendulum.urdf", tmp_path)
    return part_from(BOUNCING)


def test_equal_steps_are_compared_with_a_run_that_stops_at_communication_points(bouncing, tmp_path):
    """After a bounce, and at a rate that does not divide them, a step is as long as leads there."""
    options = {"method": "heun", "rate": 130.0}
    found = verify_fmu(export_fmu(bouncing, tmp_path, **options), bouncing, **options)
    assert found.passed, found.wrong


def test_a_block_that_steps_by_itself_does_so_up_to_the_resets_of_others(bouncing):
    found = verify(step_code(bouncing, rate=100, method="heun"), np.zeros((100, 0)))
    assert found.worst < 1e-12, found.errors


def test_crossings_are_met_in_long_steps(part_from, tmp_path):
    part = part_from(SWITCHED)
    path = export_fmu(part, tmp_path)
    ends = np.array([0.9, 4.0])
    assert stepped(path, part, "x", ends, 1e-3) == pytest.approx([0.3, 0.25], abs=1e-9)
    # Of a triangle between -0.2 and 0.3 the mean is 0.05; of its first 0.4 s the integral -0.04.
    assert stepped(path, part, "all", [3.9], 1e-3) == pytest.approx(-0.04 + 3.5 * 0.05, abs=1e-9)


def test_a_stored_state_keeps_the_length_of_the_next_step(part_from, tmp_path):
    part = part_from(STIFF)
    at = references(part)["x"]
    with instance(export_fmu(part, tmp_path)) as fmu:
        fmu.doStep(0.0, 0.0123)
        kept = fmu.getFMUState()
        fmu.doStep(0.0123, 0.5)
        there = fmu.getFloat64([at])
        for _ in range(2):
            fmu.setFMUState(kept)
            fmu.doStep(0.0123, 0.5)
            assert fmu.getFloat64([at]) == there
            fmu.doStep(0.5123, 0.1)
        # Two steps in place of one, which the tolerance alone parts.
        fmu.setFMUState(kept)
        fmu.doStep(0.0123, 0.2)
        fmu.doStep(0.2123, 0.3)
        assert fmu.getFloat64([at]) == pytest.approx(there, abs=1e-8)
        fmu.freeFMUState(kept)


def test_blocks_that_need_equal_steps_get_them():
    folder = Path(__file__).parents[2] / "diagrams/joints"
    assert stepping_of(subdiagram_of(folder / "variational_pendulum.yaml")).method == "RK4"


@pytest.mark.parametrize("options", [{"rate": 1e-4}, {"rate": 1e7}, {"method": "RK45"}])
def test_what_cannot_be_is_refused(options, part_from):
    with pytest.raises(InputError):
        stepping_of(part_from(STIFF), **options)


@pytest.fixture
def ball(bdsim_runtime):
    """A ball that keeps half of its speed at each bounce, dropped from 1 m."""

    def bounce(event, states):
        for block, x in states.items():
            if block.name == "v":
                x[:] = -0.5 * x

    bd = bdsim_runtime.blockdiagram(name="ball")
    g, v, h = bd.CONSTANT(-9.81), bd.INTEGRATOR(x0=0.0, name="v"), bd.INTEGRATOR(x0=1.0, name="h")
    bd.connect(g, v)
    bd.connect(v, h)
    bd.connect(h, bd.EVENT("-", bounce, name="floor"))
    return subdiagram_of(Diagram(name="ball", bd=bd))


@pytest.mark.parametrize("version", [3, 2])
def test_a_ball_bounces_by_its_closed_form_and_does_not_fall_through_the_floor(
    version, ball, tmp_path
):
    path, fall = export_fmu(ball, tmp_path, version), np.sqrt(2 / 9.81)
    # After the n-th bounce it flies for 2 fall / 2**n: at the middle it is 4**-n m high.
    heights = [4.0**-n for n in range(1, 9)]
    middles = [fall * (3 - 2 ** (1 - n)) - fall / 2**n for n in range(1, 9)]
    np.testing.assert_allclose(stepped(path, ball, "h", middles), heights, atol=1e-9)
    with pytest.raises(Exception, match=r"doStep|DoStep"):  # at 3 fall its bounces accumulate
        stepped(path, ball, "h", np.arange(1, 40) * 0.05)
