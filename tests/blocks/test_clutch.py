"""CLUTCH: where it locks and breaks loose in closed form, and the torque of its companion."""

from __future__ import annotations

import json

import numpy as np
import pytest
from dynamic_blocks import check_c, check_engines, check_fmu, made

import spart_blocks as sb
from spart_blocks.base.errors import InputError
from spart_blocks.program.c.compiler import compiler_name

KIND = "CLUTCH"
GIVEN = {"inertia1": 1.0, "inertia2": 5.0, "coulomb": 8.0}
CASES = [
    (KIND, {"inertia1": 0.5, "inertia2": 0.8, "coulomb": 0.6, "w10": 0.2}, [None] * 3),
    (KIND, {"inertia1": 0.5, "inertia2": [0.8, 2.0], "coulomb": [0.6, 0.4], "static": 0.7,
            "stribeck": 0.3, "viscous": 0.1, "exponent": 1.0}, [2] * 3),
]  # fmt: skip
ENGINES = ["native", "interpreter"]
# Slipping from 20 and 0, w1' = 4 - 8 and w2' = 8/5; locked, both rise by 4/6.
LOCKS = 25 / 7
REFERENCE = ("4", "0", "1")


def test_both_engines_run_alike(tmp_path):
    check_engines(CASES, tmp_path)


@pytest.mark.parametrize("real", ["double", "float"])
def test_the_c_agrees_back_to_back(real, tmp_path):
    check_c(CASES, tmp_path, real)


def test_the_fmu_agrees(tmp_path):
    check_fmu(CASES, tmp_path)


DIAGRAM = """
name: clutch
blocks:
  time: {{type: TIME}}
  tau1: {{type: FCN, expression: {}}}
  tau2: {{type: FCN, expression: {}}}
  normal: {{type: FCN, expression: {}}}
  clutch: {{type: CLUTCH, {given}}}
wires:
  - time -> tau1, tau2, normal
  - tau1 -> clutch.tau1
  - tau2 -> clutch.tau2
  - normal -> clutch.normal
run: {{T: 5, every: 0.01, rtol: 1e-10, atol: 1e-12,
      log: [clutch.w1, clutch.w2, clutch.mode, clutch.torque]}}
"""


@pytest.fixture
def written(tmp_path):
    """A file with a clutch, of formulas of t for its torques and its normal force."""

    def write(inputs, **given):
        told = ", ".join(f"{name}: {value}" for name, value in given.items())
        path = tmp_path / "clutch.yaml"
        path.write_text(DIAGRAM.format(*map(json.dumps, inputs), given=told))
        return path

    return write


def slipped(t):
    """The speeds of the reference."""
    slips, late = np.minimum(t, LOCKS), np.maximum(t - LOCKS, 0)
    return 20 - 4 * slips + late * 2 / 3, 1.6 * slips + late * 2 / 3


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("solver", ["RK45", "DOP853", "BDF", "RK4", "euler", "CVODES"])
def test_it_locks_where_its_speeds_meet(solver, engine, written):
    if (solver, engine) == ("CVODES", "interpreter"):
        pytest.skip("needs a program")
    got = sb.simulate(written(REFERENCE, **GIVEN, w10=20), engine=engine, solver=solver)
    (event,) = got.events
    assert event.t == pytest.approx(LOCKS, abs=1e-9)
    w1, w2 = slipped(got.t)
    np.testing.assert_allclose(got["clutch.w1"].ravel(), w1, atol=1e-8)
    np.testing.assert_allclose(got["clutch.w2"].ravel(), w2, atol=1e-8)
    late = got.t > event.t
    np.testing.assert_array_equal(got["clutch.w1"][late], got["clutch.w2"][late])
    np.testing.assert_array_equal(got["clutch.mode"][late], 0.0)
    early = got.t < event.t
    np.testing.assert_allclose(got["clutch.torque"][early], 8.0)
    np.testing.assert_allclose(got["clutch.torque"][late], 5 * 4 / 6)


def test_it_locks_without_a_compiler(written, monkeypatch):
    monkeypatch.setenv("SPART_COMPILER", "none")
    assert compiler_name() is None
    got = sb.simulate(written(REFERENCE, **GIVEN, w10=20), engine="native")
    assert [e.t for e in got.events] == pytest.approx([LOCKS], abs=1e-9)


@pytest.mark.parametrize("engine", ENGINES)
def test_it_breaks_loose_where_it_would_transmit_more_than_static(engine, written):
    """Locked it transmits 5 tau1 / 6, 9 at t = 2.16 under 5 t; then w1' = 5 t - 8."""
    given = {**GIVEN, "static": 9.0, "stribeck": 1e-5}
    got = sb.simulate(written(("5*t", "0", "1"), **given), engine=engine)
    assert got.events[0].t == pytest.approx(2.16, abs=1e-9)
    locked, slips = got.t < 2.16, got.t > 2.2
    np.testing.assert_allclose(got["clutch.w1"][locked].ravel(), 5 / 12 * got.t[locked] ** 2,
                               atol=1e-9)  # fmt: skip
    s = got.t[slips] - 2.16
    at = 5 / 12 * 2.16**2
    np.testing.assert_allclose(got["clutch.w1"][slips].ravel(), at + 2.8 * s + 2.5 * s**2,
                               atol=1e-3)  # fmt: skip
    np.testing.assert_allclose(got["clutch.w2"][slips].ravel(), at + 1.6 * s, atol=1e-3)
    np.testing.assert_array_equal(got["clutch.mode"][slips], 1.0)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("side", [1, -1])
def test_it_slips_where_it_is_opened_and_locks_where_it_is_closed(engine, side, written):
    """It transmits 5 of 6 N m until 8 normal = 5, at t = 1.5; then s' = 6 (t - 1.5) * 2/5 until t =
    4, where normal is 4 at once: s = 7.5 falls by 32 * 6/5 - 6 each second.
    """
    path = written((f"{6 * side}", "0", "1 - t/4 if t < 4 else 4"), **GIVEN)
    got = sb.simulate(path, engine=engine)
    closes = 4 + 7.5 / (32 * 6 / 5 - 6)
    told = [e.t for e in got.events if e.block == "clutch"]
    assert told == pytest.approx([1.5, closes], abs=1e-8)
    s = side * (got["clutch.w1"] - got["clutch.w2"]).ravel()
    opens = (got.t > 1.5) & (got.t < 4)
    np.testing.assert_allclose(s[opens], 1.2 * (got.t[opens] - 1.5) ** 2, atol=1e-8)
    np.testing.assert_array_equal(s[(got.t < 1.5) | (got.t > closes)], 0.0)


def test_without_torques_it_keeps_the_momentum(written):
    got = sb.simulate(written(("0", "0", "1"), **GIVEN, w10=3, w20=-1))
    assert [e.t for e in got.events] == pytest.approx([4 / (8 + 8 / 5)], abs=1e-9)
    np.testing.assert_allclose([got["clutch.w1"][-1], got["clutch.w2"][-1]], (3 - 5) / 6)


def test_an_open_clutch_drags_by_viscous_friction_alone(written):
    """s' = -2 (1 + 1/5) s, whatever the sign of a normal force below 0."""
    got = sb.simulate(written(("0", "0", "-1"), **GIVEN, viscous=2, w10=1))
    s = (got["clutch.w1"] - got["clutch.w2"]).ravel()
    np.testing.assert_allclose(s, np.exp(-2.4 * got.t), atol=1e-8)
    np.testing.assert_allclose(got["clutch.torque"].ravel(), 2 * s, atol=1e-12)


def test_each_clutch_locks_at_its_own_time(written):
    got = sb.simulate(written([[text, text] for text in REFERENCE], **GIVEN, w10=[20, 14]))
    assert [e.t for e in got.events] == pytest.approx([2.5, LOCKS], abs=1e-9)


def test_the_companion_has_the_parameters_of_its_clutch(written):
    """Half the friction transmits half the torque, where tunables of the clutch alone change."""
    program = sb.trace(written(REFERENCE, **GIVEN, w10=20))
    assert not [slot.name for slot in program.parameters if "companion" in slot.name]
    got = sb.simulate(program.with_parameters({"clutch.coulomb": 4.0, "clutch.static": 4.0}), T=1)
    np.testing.assert_allclose(got["clutch.torque"], 4.0)
    np.testing.assert_allclose(got["clutch.w2"][-1], 4 / 5)


def test_speeds_that_an_event_sets_slip_or_lock():
    block = made(KIND, None, **GIVEN, width=2)
    x = np.array([1.0, 3.0, 1.0, 2.0, 0.0, 0.0])
    np.testing.assert_array_equal(block.restart(x)[4:], [0.0, 1.0])


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({**GIVEN, "inertia1": 0.0}, "inertia1 must be above zero"),
        ({**GIVEN, "inertia2": -1.0}, "inertia2 must be above zero"),
        ({**GIVEN, "static": 1.0}, "coulomb is 8.0, above static"),
        ({**GIVEN, "viscous": -1.0}, "viscous must not be negative"),
        ({**GIVEN, "stribeck": 0.0}, "stribeck must be above zero"),
        ({**GIVEN, "exponent": [1.0, 2.0]}, "exponent has shape"),
        ({**GIVEN, "w10": "fast"}, "w10 must be a number"),
        ({**GIVEN, "w10": [1.0, 2.0], "w20": [1.0, 2.0, 3.0]}, "w10 has 2 entries and w20 has 3"),
    ],
)
def test_wrong_parameters_are_refused(given, told):
    with pytest.raises((InputError, ValueError), match=told):
        made(KIND, None, **given)
