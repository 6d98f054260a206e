"""What happens at a time or at a crossing happens in an FMU too, by both interfaces."""

import numpy as np
import pytest
from fmpy.fmi1 import FMICallException
from fmu_slaves import fmu_slave
from fmus import EVENTFUL, STOPPING, instance, references

import spart_blocks as sb
from spart_blocks.base.errors import DiagramError
from spart_blocks.export import export_fmu, verify_fmu
from spart_blocks.program.subdiagram import subdiagram_of


def ball(bounced):
    """A ball dropped from 1 m, and an EVENT that throws it back at the ground."""
    d = sb.new_diagram("ball")
    g, v = d.CONSTANT(-10.0, name="g"), d.INTEGRATOR(x0=0.0, name="v")
    y, ground = d.INTEGRATOR(x0=1.0, name="y"), d.EVENT("-", bounced, name="ground")
    d.connect(g, v)
    d.connect(v, y)
    d.connect(y, ground)
    return d


def halved(event, states):
    (speed,) = (x for block, x in states.items() if block.name == "v")
    speed[:] = -0.5 * speed


@pytest.mark.parametrize("version", [3, 2])
def test_clocks_limits_and_switching_sources_come_at_their_times(version, part_from, tmp_path):
    part = part_from(EVENTFUL)
    found = verify_fmu(export_fmu(part, tmp_path, version), part, horizon=3.0)
    assert found.passed, found
    assert max(found.errors.values()) < 1e-9  # all of it is piecewise linear


def test_samples_at_ticks_are_compared_after_them(part_from, tmp_path):
    """0.7 / 100 in doubles is below 0.007: sample 10 was a hair before the tick at 0.07."""
    part = part_from("""
clocks: {fast: {T: 0.07}}
blocks: {bits: {type: PRBS_S, clock: fast, order: 2}}
wires: []
run: {log: [bits]}
""")
    found = verify_fmu(export_fmu(part, tmp_path), part, horizon=0.7)
    assert found.passed, found.wrong


@pytest.mark.parametrize("version", [3, 2])
def test_an_event_resets_states_at_its_crossing(version, tmp_path):
    part = subdiagram_of(ball(halved))
    found = verify_fmu(export_fmu(part, tmp_path, version), part, horizon=1.25)
    assert found.passed, found


def test_an_event_that_cannot_be_traced_is_refused_by_name(tmp_path):
    def chosen(event, states):
        for x in states.values():
            if x[0] > 0:
                x[0] = 0

    with pytest.raises(DiagramError, match=r"block ground \(EVENT\) cannot be part of an FMU"):
        export_fmu(subdiagram_of(ball(chosen)), tmp_path)


def test_a_stop_ends_co_simulation_at_its_crossing(part_from, tmp_path):
    part = part_from(STOPPING)
    with instance(export_fmu(part, tmp_path)) as fmu:
        _, ended, _, t = fmu.doStep(0.0, 1.0)
        assert (ended, t) == (False, 1.0)
        _, ended, _, t = fmu.doStep(1.0, 1.0)
        assert ended
        assert t == pytest.approx(np.sqrt(2), abs=1e-9)
        assert fmu.said == [f"stopped by block stop at t = {t:.9g} s"]


def test_a_communication_step_may_have_any_length(part_from, tmp_path):
    part = part_from(EVENTFUL)
    path, ends = export_fmu(part, tmp_path), []
    at = references(part)["x"]
    for lengths in ([3.0], [0.3] * 10, [0.011, 0.5, 0.489, 1.0, 1.0]):
        with fmu_slave(path) as fmu:
            t = 0.0
            for h in lengths:
                fmu.slave.doStep(t, h)
                t += h
            ends.append(fmu.slave.getFloat64([at])[0])
    wanted = sb.simulate(part.program, T=3, log=["x"])["x"][-1]
    assert ends == pytest.approx([wanted] * 3, abs=1e-12)


def test_a_sample_is_of_the_inputs_that_are_set_for_its_time(part_from, tmp_path):
    part = part_from(EVENTFUL, "hold")
    (u,), (y,) = part.inputs, part.outputs
    refs = references(part)
    for version in (3, 2):
        with fmu_slave(export_fmu(part, tmp_path, version)) as fmu:
            get, put = (
                (fmu.slave.getFloat64, fmu.slave.setFloat64)
                if version == 3
                else (fmu.slave.getReal, fmu.slave.setReal)
            )
            put([refs[u.name]], [1.0])
            assert get([refs[y.name]]) == [1.0]  # the tick at t = 0
            fmu.slave.doStep(0.0, 0.25)
            put([refs[u.name]], [2.0])
            assert get([refs[y.name]]) == [2.0]  # that at 0.25
            fmu.slave.doStep(0.25, 0.1)
            put([refs[u.name]], [3.0])
            assert get([refs[y.name]]) == [2.0]  # held until 0.5


def test_an_input_acts_at_once_on_model_exchange(part_from, tmp_path):
    part = part_from(EVENTFUL.replace("hold -> x", "gain -> x"), "gain", "x")
    (u,) = part.inputs
    at = references(part)
    with instance(export_fmu(part, tmp_path), "ModelExchange") as fmu:
        fmu.updateDiscreteStates()
        fmu.enterContinuousTimeMode()
        for value in (0.25, 0.5):  # FMPy's own solver sets inputs at its outer steps alone
            fmu.setFloat64([at[u.name]], [value])
            assert fmu.getFloat64([at["the derivative of the state of x"]]) == [2 * value]
        with pytest.raises(FMICallException):
            fmu.setFloat64([at["gain.K"]], [3.0])  # tuned at events
        fmu.enterEventMode()
        fmu.setFloat64([at["gain.K"]], [3.0])
        assert fmu.getFloat64([at["the derivative of the state of x"]]) == [1.5]
