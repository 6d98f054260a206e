"""Instances of FMUs: derivatives, parameters, saved states, and calls that are refused."""

import re

import fmpy
import numpy as np
import pytest
from fmpy.fmi1 import FMICallException
from fmu_slaves import fmu_slave
from fmus import SMOOTH, instance, references

from spart_blocks.export import export_fmu

DISCARD, ERROR = 2, 3


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """The smooth diagram as a part, and its FMU of each version."""
    from spart_blocks.program.subdiagram import subdiagram_of

    folder = tmp_path_factory.mktemp("smooth")
    (folder / "diagram.yaml").write_text(SMOOTH)
    part = subdiagram_of(folder / "diagram.yaml")
    paths = {v: export_fmu(part, folder / f"smooth{v}.fmu", v) for v in (3, 2)}
    return part, paths


def refused(status, call, *arguments):
    with pytest.raises(FMICallException) as caught:
        call(*arguments)
    assert caught.value.status == status


def test_directional_derivatives_are_the_jacobian_of_the_program(made):
    part, paths = made
    at, program = references(part), part.program
    x = np.array([0.7, -0.2])
    unknowns = ["the derivative of the state of v", "the derivative of the state of y", "square"]
    knowns = ["the state of v", "the state of y"]
    want = np.vstack([program.jacobian("xdot", "x", x=x), program.jacobian("square", "x", x=x)])
    for version, path in paths.items():
        with instance(path, "ModelExchange") as fmu:
            (fmu.updateDiscreteStates if version == 3 else fmu.newDiscreteStates)()
            fmu.enterContinuousTimeMode()
            values = (fmpy.fmi2.c_double * 2)(*x)
            fmu.setContinuousStates(values, 2)
            for column, known in enumerate(knowns):
                got = fmu.getDirectionalDerivative([at[n] for n in unknowns], [at[known]], [1.0])
                assert got == pytest.approx(want[:, column], abs=1e-14)
            if version == 3:
                for row, unknown in enumerate(unknowns):
                    got = fmu.getAdjointDerivative([at[unknown]], [at[n] for n in knowns], [1.0], 2)
                    assert got == pytest.approx(want[row], abs=1e-14)


def test_at_the_start_states_follow_their_parameters(made):
    part, paths = made
    at = references(part)
    with instance(paths[3], start=False) as fmu:
        fmu.enterInitializationMode()
        fmu.setFloat64([at["v.x0"]], [0.5])
        assert fmu.getFloat64([at["the state of v"], at["square"]]) == [0.5, 0.25]
        # d (v^2) / d v0 = 2 v0
        assert fmu.getDirectionalDerivative([at["square"]], [at["v.x0"]], [1.0]) == [1.0]
        assert fmu.getAdjointDerivative([at["square"]], [at["v.x0"]], [2.0]) == [2.0]
        fmu.exitInitializationMode()
        refused(ERROR, fmu.setFloat64, [at["v.x0"]], [0.6])
        assert fmu.said[-1] == "v.x0 cannot be set now"


def test_a_parameter_is_tuned_while_it_runs(made):
    part, paths = made
    at = references(part)
    for version, path in paths.items():
        with fmu_slave(path) as fmu:
            get, put = (
                (fmu.slave.getFloat64, fmu.slave.setFloat64)
                if version == 3
                else (fmu.slave.getReal, fmu.slave.setReal)
            )
            fmu.slave.doStep(0.0, 0.5)
            put([at["k.K"]], [6.0])
            y, k = get([at["the state of y"], at["k"]])
            assert k == pytest.approx(6 * (0.5 - y))


def test_a_saved_state_returns_bit_for_bit(made):
    part, paths = made
    at = references(part)
    with instance(paths[3]) as fmu:
        fmu.doStep(0.0, 0.3)
        state = fmu.getFMUState()
        fmu.doStep(0.3, 0.7)
        there = fmu.getFloat64([at["y"]])
        fmu.setFMUState(state)
        text = fmu.serializeFMUState(state)
        fmu.freeFMUState(state)
        fmu.doStep(0.3, 0.7)
        assert fmu.getFloat64([at["y"]]) == there
        fmu.reset()
        fmu.enterInitializationMode()
        fmu.exitInitializationMode()
        state = fmu.deserializeFMUState(text)
        fmu.setFMUState(state)
        fmu.freeFMUState(state)
        fmu.doStep(0.3, 0.7)
        assert fmu.getFloat64([at["y"]]) == there
        refused(ERROR, fmu.deserializeFMUState, text[:-1])
        refused(ERROR, fmu.deserializeFMUState, b"x" * len(text))
        assert fmu.said[-1] == "these bytes are no state of this FMU"


def test_a_reset_instance_starts_anew(made):
    part, paths = made
    at = references(part)
    for version, path in paths.items():
        with instance(path) as fmu:
            get = fmu.getFloat64 if version == 3 else fmu.getReal
            start = get([at["y"], at["k"]])
            fmu.doStep(0.0, 1.0)
            assert get([at["y"], at["k"]]) != start
            fmu.reset()
            if version == 2:
                fmu.setupExperiment(startTime=0.0)
            fmu.enterInitializationMode()
            fmu.exitInitializationMode()
            assert get([at["y"], at["k"]]) == start


def test_a_run_may_start_at_another_time(made):
    part, paths = made
    at = references(part)
    with instance(paths[3], start=False) as fmu:
        fmu.enterInitializationMode(startTime=10.25)
        fmu.exitInitializationMode()
        fmu.setFloat64([at["r.value"]], [0.0])
        before = fmu.getFloat64([at["the state of hold"]])
        assert before == [0.25]  # ticks are at multiples of 0.5
        fmu.doStep(10.25, 0.25)
        assert fmu.getFloat64([at["the state of hold"]]) != before


def test_calls_out_of_order_and_wrong_references_are_errors(made):
    part, paths = made
    at = references(part)
    with instance(paths[3], start=False) as fmu:
        refused(ERROR, fmu.doStep, 0.0, 0.1)
        assert "fmi3DoStep is not allowed" in fmu.said[-1]
        refused(ERROR, fmu.exitInitializationMode)
        fmu.enterInitializationMode()
        fmu.exitInitializationMode()
        refused(ERROR, fmu.getFloat64, [123456])
        assert fmu.said[-1] == "there is no variable with value reference 123456"
        refused(ERROR, fmu.setFloat64, [at["y"]], [1.0])
        refused(ERROR, fmu.setFloat64, [at["k.K"]], [float("nan")])
        assert "k.K must lie between" in fmu.said[-1]
        refused(ERROR, fmu.setFloat64, [at["k.K"]], [1.0, 2.0])
        refused(ERROR, fmu.getInt32, [at["y"]])
        assert fmu.said[-1] == "there is no variable of type Int32"
        refused(ERROR, fmu.doStep, 0.5, 0.1)
        refused(ERROR, fmu.doStep, 0.0, -0.1)
        refused(ERROR, fmu.doStep, 0.0, float("nan"))
        refused(ERROR, fmu.enterEventMode)
        refused(ERROR, fmu.enterConfigurationMode)
        fmu.doStep(0.0, 0.1)  # none of it did any harm


def test_a_step_to_no_finite_state_is_discarded_and_leaves_all_as_it_was(made):
    part, paths = made
    at = references(part)
    for version, path in paths.items():
        with instance(path) as fmu:
            get, put = (
                (fmu.getFloat64, fmu.setFloat64) if version == 3 else (fmu.getReal, fmu.setReal)
            )
            fmu.doStep(0.0, 0.1)
            before = get([0, at["the state of v"], at["the state of y"]])
            put([at["k.K"]], [1e308])
            refused(DISCARD, fmu.doStep, 0.1, 0.1)
            assert get([0, at["the state of v"], at["the state of y"]]) == before
            put([at["k.K"]], [3.0])
            fmu.doStep(0.1, 0.1)


@pytest.mark.parametrize("version", [3, 2])
def test_equal_steps_to_no_finite_state_are_discarded_too(version, made, tmp_path):
    part, _ = made
    at = references(part)
    with instance(export_fmu(part, tmp_path, version, method="RK4")) as fmu:
        fmu.doStep(0.0, 0.1)
        put = fmu.setFloat64 if version == 3 else fmu.setReal
        put([at["k.K"]], [1e308])
        refused(DISCARD, fmu.doStep, 0.1, 0.1)
        assert "the states are not finite" in fmu.said[-1]


def test_another_token_is_not_accepted(made, tmp_path):
    _, paths = made
    for path in paths.values():
        token = fmpy.read_model_description(str(path)).instantiationToken
        assert re.fullmatch(r"\{[0-9a-f-]{36}\}", token)
        with pytest.raises(Exception, match="Failed to instantiate"), instance(path, token="{0}"):
            pass
