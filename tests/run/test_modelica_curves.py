"""Examples of Modelica's library as diagrams, against the curves that its tools computed.

Where the numbers come from: Blocks.Examples.Filter and StateGraph.Examples.ControlledTanks from
MAP-LIB_ReferenceResults; Rotational.Examples.CoupledClutches and Blocks.Examples.PID_Controller
from FMI's cross-check (JModelica.org 1.15). They are as exact as tolerances of 1e-4 to 1e-6.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from compositions.executing import executed

import spart_blocks as sb
from spart_blocks.program.c.compiler import compiler_name

FOLDER = Path(__file__).parent / "modelica"
ENGINES = ("native", "interpreter")


def at(results, t, *names):
    """The values of signals in the row at t."""
    row = int(np.argmin(np.abs(results.t - t)))
    assert results.t[row] == pytest.approx(t, abs=1e-9)
    return [results[name][row].item() for name in names]


# t, then clutch1.w_rel, clutch2.w_rel, clutch3.w_rel, J1.w. Later the first breaks loose at 1.1
# times its torque, which no jump of a formula has.
CLUTCHES = (
    (0.300, -4.77687408555, -2.9298857241, 0.0, 7.70675980965),
    (0.399, -2.34881215569, -3.82568553587, 0.0, 6.17449769156),
    (0.600, -1.10165820593, -1.44916711699, -2.0, 4.55082532292),
    (0.708, -1.33744903644, -0.0245758670833, -3.08, 4.44202490352),
    (0.750, -0.657451023109, 0.0, -3.22028020385, 3.87773122696),
    (0.801, 0.0, 0.0, -3.33339544521, 3.33339544521),
)


@pytest.mark.parametrize("engine", ENGINES)
def test_coupled_clutches_lock_one_after_the_other(engine):
    results = sb.simulate(FOLDER / "clutches.yaml", engine=engine, every=0.001)
    for t, *wanted in CLUTCHES:
        w1, w2, w3, w4 = at(results, t, "w1", "w2", "w3", "w4")
        assert [w2 - w1, w3 - w2, w4 - w3, w1] == pytest.approx(wanted, abs=4e-5)


# t, then spring.w_rel, PI.I.y, spring.phi_rel, inertia1.w.
SPEEDS = (
    (0.512, -0.00278445048717, -0.0994548645064, 0.000985649351462, 0.00375022663588),
    (0.600, -0.000337085352711, -0.0828132443477, 0.000765988724495, 0.0818346225565),
    (0.752, 0.000138038003927, -0.0707041466978, 0.000791938552775, 0.250274906166),
    (1.000, 3.52589493914e-07, -0.0699913962408, 0.000800017831746, 0.500011609869),
    (1.512, 0.00278000551745, -0.0705436504862, 0.000814300570372, 1.00825801589),
    (1.568, 0.00167862966548, -0.0806662924657, 0.00100486362208, 1.02197980377),
)


@pytest.mark.parametrize("engine", ENGINES)
def test_a_drive_follows_its_speed(engine):
    results = sb.simulate(FOLDER / "pid.yaml", engine=engine, every=0.001)
    for t, *wanted in SPEEDS:
        got = at(results, t, "w_rel", "integral", "phi_rel", "w1")
        assert got == pytest.approx(
            wanted, abs=2e-5 if t > 1.5 else 1e-6
        )  # it saw 1.5 s 18 us late


# t, then tank1.level, tank2.level.
LEVELS = (
    (2.00, 0.98000000000161358, 0.0),
    (11.26, 0.001, 0.2451839254149282),
    (12.30, 0.001, 0.0011955473086222106),
    (12.50, 0.19433005835111711, 0.001),
    (14.00, 0.69433005835111716, 0.001),
    (20.00, 0.45372997568986517, 0.52727002431013525),
    (21.50, 0.20444892614147339, 0.46295308053310924),
    (22.00, 0.053234376575770105, 0.33347962004149395),
    (23.00, -8.1010813718280449e-07, 0.03446268603142013),
)
TANKS = (
    "ready -> fill, fill -> wait1, wait1 -> pour, pour -> wait2, wait2 -> drain, drain -> ready, "
    "ready -> fill, fill -> stopped, stopped -> fill, fill -> wait1, wait1 -> pour, "
    "pour -> stopped, stopped -> empty"
)


@pytest.mark.parametrize("engine", ENGINES)
def test_tanks_are_filled_emptied_and_stopped(engine):
    results = sb.simulate(FOLDER / "tanks.yaml", engine=engine, every=0.02)
    assert ", ".join(event.what for event in results.events) == TANKS
    for t, *wanted in LEVELS:
        within = 1e-8 if t < 21 else 1e-5  # an empty tank's outflow is a root of its level
        assert at(results, t, "level1", "level2") == pytest.approx(wanted, abs=within)


@pytest.mark.skipif(compiler_name() is None, reason="no C compiler")
@pytest.mark.parametrize("way", ["fmu2", "fmu3"])
@pytest.mark.parametrize("name", ["pid", "tanks"])
def test_their_fmus_do_the_same(name, way):
    assert not executed(way, FOLDER / f"{name}.yaml").error


# At 0.4077 s. "-3 dB" is there 10^(-3/20) exactly, and 1/sqrt(2) here: hence the cut-offs.
FILTERED = {
    "bessel": 1.09436097975758,
    "butterworth": 1.11341070604326,
    "chebyshev": 1.02708820845774,
    "critical": 1.08122728447028,
}


@pytest.mark.parametrize("engine", ENGINES)
def test_filters_answer_a_step(engine):
    results = sb.simulate(FOLDER / "filters.yaml", engine=engine)
    got = {name: results[name][-1].item() for name in FILTERED}
    assert got == pytest.approx(FILTERED, abs=4e-6)
