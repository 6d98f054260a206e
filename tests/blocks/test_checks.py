"""Blocks that check signals: they act in runs on both engines, in tests, C, FMUs and real time."""

from __future__ import annotations

from contextlib import nullcontext

import numpy as np
import pytest

import spart_blocks as sb
from spart_blocks.base.errors import InputError, RunError, SpartWarning
from spart_blocks.export import export_fmu, step_code, verify, verify_fmu
from spart_blocks.export.header import FAULT, STOPPED
from spart_blocks.export.loaded import LoadedStep
from spart_blocks.program.subdiagram import subdiagram_of
from spart_blocks.realtime import Session, prepare
from spart_blocks.realtime.structs import Ended

ENGINES = ("native", "interpreter")
RISE = np.arcsin(0.4) / np.pi  # of the sine of 0.5 Hz to 0.4
CHECKS = {  # the block, when it fails, what it says
    "assert": ("type: ASSERT, after: 0.1", 1.0, "an assertion fails: u = "),
    "range": ("type: CHECK_RANGE, lower: -2, upper: 0.4", RISE, "u is below -2 or above 0.4: u = "),
    "settling": ("type: CHECK_SETTLING, by: 0.75, tolerance: 0.1", 0.75, "after 0.75 s: u = "),
    "rate": ("type: CHECK_RATE, clock: c, limit: 3", 0.1, "u changes faster than 3 per second"),
}


@pytest.fixture
def written(tmp_path):
    def write(given, action="error", T=2.0, more=""):
        path = tmp_path / "diagram.yaml"
        path.write_text(f"""
clocks: {{c: {{T: 0.1}}}}
blocks:
  wave: {{type: WAVEFORM, wave: sine, freq: 0.5}}
  check: {{{given}, action: {action}{more}}}
wires: [wave -> check.0]
run: {{T: {T}, log: [wave, check.ok]}}
""")
        return path

    return write


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("name", CHECKS)
def test_a_failing_check_ends_the_run_where_it_fails(written, name, engine):
    given, at, text = CHECKS[name]
    with pytest.raises(RunError, match="block check") as told:
        sb.simulate(written(given), engine=engine)
    assert text in str(told.value)
    assert told.value.time == pytest.approx(at, abs=1e-9)
    assert told.value.results.t[-1] == pytest.approx(at, abs=1e-9)


SWITCHED = """
blocks:
  wave: {type: WAVEFORM, wave: sine, freq: 0.5}
  relay: {type: RELAY, on: 0.4, off: -0.4, on_value: 3, off_value: 0}
  check: {type: CHECK_RANGE, lower: -2, upper: 2}
wires: [wave -> relay, relay -> check.0]
run: {T: 2, log: [relay]}
"""


@pytest.mark.parametrize("engine", ENGINES)
def test_a_check_that_a_switch_makes_fail_ends_the_run_at_once(engine, tmp_path):
    path = tmp_path / "diagram.yaml"
    path.write_text(SWITCHED)
    with pytest.raises(RunError, match="block check: u is below -2 or above 2: u = 3") as told:
        sb.simulate(path, engine=engine)
    assert told.value.time == pytest.approx(RISE, abs=1e-9)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("name", CHECKS)
def test_a_check_can_stop_the_run(written, name, engine):
    given, at, _ = CHECKS[name]
    results = sb.simulate(written(given, "stop"), engine=engine)
    assert results.stopped.startswith("stopped by block check")
    assert results.t[-1] == pytest.approx(at, abs=1e-9)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("name", CHECKS)
def test_a_check_can_warn_once_and_the_run_goes_on(written, name, engine):
    given, at, _ = CHECKS[name]
    with pytest.warns(SpartWarning, match="block check: too much, at t = ") as told:
        results = sb.simulate(written(given, "warn", more=", message: too much"), engine=engine)
    assert len(told) == 1
    assert results.t[-1] == 2.0
    ok, since = results["check.ok"].ravel(), at + 1e-6
    assert (ok[results.t < at - 1e-6] == 1).all()
    assert (ok[results.t > since] == 0).all()


@pytest.mark.parametrize("name", CHECKS)
def test_checks_that_hold_say_nothing(written, name):
    given = {
        "assert": "type: ASSERT, after: 3",
        "range": "type: CHECK_RANGE, upper: 1.001",
        "settling": "type: CHECK_SETTLING, by: 0.75, tolerance: 1.001",
        "rate": "type: CHECK_RATE, clock: c, limit: 3.15",
    }[name]
    results = sb.simulate(written(given))
    assert results.t[-1] == 2.0
    assert (results["check.ok"] == 1).all()


def test_a_logical_signal_that_is_zero_fails(bdsim_runtime):
    bd = bdsim_runtime.blockdiagram(name="logic")
    bd.connect(bd.STEP(T=0.5, off=1.0, on=0.0, name="u"), bd.ASSERT(name="check"))
    with pytest.raises(RunError, match="u = 0") as told:
        sb.simulate(bd, T=1.0)
    assert told.value.time == 0.5


@pytest.mark.parametrize("engine", ENGINES)
def test_each_entry_has_its_limits_and_target(bdsim_runtime, engine):
    bd = bdsim_runtime.blockdiagram(name="vectors")
    u = bd.STEP(T=0.5, off=np.zeros(2), on=np.array([1.0, 3.0]), name="u")
    bd.connect(u, bd.CHECK_RANGE([-1, -1], [2, 3], name="range"))
    settling = bd.CHECK_SETTLING(0.6, 0.1, name="settling")
    bd.connect(u, settling[0])
    bd.connect(bd.CONSTANT(np.array([1.0, 2.85]), name="target"), settling[1])
    with pytest.raises(RunError, match=r"target = \[1, 2.85\]") as told:
        sb.simulate(bd, T=1.0, engine=engine)
    assert told.value.time == 0.6


@pytest.mark.parametrize(
    ("name", "action"), [*((name, "error") for name in CHECKS), ("range", "stop"), ("rate", "warn")]
)
def test_exported_c_acts_at_the_step_of_the_failure(written, name, action):
    given, at, _ = CHECKS[name]
    code = step_code(subdiagram_of(written(given, action)), rate=1000)
    found = verify(code, np.zeros((1500, 0)))
    assert found.passed
    steps = 1500 if action == "warn" else round(np.ceil(at * 1000 - 1e-6)) + 1
    assert found.steps == pytest.approx(steps, abs=1)


def first_status(step):
    for _ in range(200):
        if status := step.output()[0] or step.update():
            return status
    return 0


def test_exported_c_says_which_check_has_failed(written):
    path = written(CHECKS["range"][0])
    text = path.read_text().replace("wires: [", "wires: [wave -> other, ")
    more = "  other: {type: CHECK_RANGE, upper: 0.9, message: much too far}\nwires:"
    path.write_text(text.replace("wires:", more))
    code = step_code(subdiagram_of(path), rate=100)
    step = LoadedStep(code)
    assert first_status(step) == FAULT
    assert step.state[-1] == 0
    first, second = "block check: u is below -2 or above 0.4", "block other: much too far"
    assert f'"{first}",\n  "{second}",' in code.source
    assert "_FAULTS 2" in code.header


def test_exported_c_stops(written):
    step = LoadedStep(step_code(subdiagram_of(written(CHECKS["range"][0], "stop")), rate=100))
    assert first_status(step) == STOPPED


@pytest.mark.parametrize("action", ["stop", "warn"])
def test_an_fmu_does_the_same(written, tmp_path, action):
    part = subdiagram_of(written(CHECKS["range"][0], action))
    warns = pytest.warns(SpartWarning) if action == "warn" else nullcontext()
    with warns:
        found = verify_fmu(export_fmu(part, tmp_path), part, horizon=1.0)
    assert found.passed, (found.problems, found.errors)


def test_a_real_time_loop_ends_and_names_the_check(written):
    with Session(prepare(written(CHECKS["range"][0]), rate=200, T=1.0)) as session:
        for _ in session.moments():
            pass
    report = session.report()
    assert report.ended is Ended.FAULT
    assert report.why == "block check: u is below -2 or above 0.4"
    assert not report.complete


def test_a_failing_check_fails_the_test_of_a_diagram(written):
    from spart_blocks.claims.check import check_file

    path = written(CHECKS["range"][0])
    path.write_text(path.read_text() + "expect: {never_exceeds: [{signal: wave, limit: 2}]}\n")
    (failure,) = check_file(path).failures
    assert "block check: u is below -2 or above 0.4: u = 0.4 at t = 0.13" in str(failure)


def test_a_record_keeps_signals_under_its_names(tmp_path):
    path = tmp_path / "record.yaml"
    path.write_text("""
blocks:
  wave: {type: WAVEFORM, wave: sine, freq: 0.5}
  x: {type: INTEGRATOR}
  one: {type: RECORD}
  both: {type: RECORD, nin: 2}
wires: [wave -> x, wave -> one, wave -> both.u1, x -> both.u2]
run: {T: 2, log: []}
""")
    results = sb.simulate(path)
    assert len(results.signals) == 2
    np.testing.assert_array_equal(results["one"], results["wave"])
    np.testing.assert_array_equal(results["both.u2"], results["x"])


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ("type: CHECK_RANGE", "it has no limit"),
        ("type: CHECK_RANGE, lower: 2, upper: 1", "lower is 2.0, above upper, 1.0"),
        ("type: CHECK_SETTLING, by: 1, tolerance: 0", "tolerance must be above zero"),
        ("type: CHECK_RATE, clock: c, limit: -1", "limit must be above zero"),
        ("type: ASSERT, message: 3", "takes text, not 3"),
        ("type: ASSERT, after: soon", "takes numbers, not 'soon'"),
    ],
)
def test_wrong_parameters_are_refused(written, given, told):
    with pytest.raises((InputError, sb.SpartError), match=told):
        sb.load(written(given))


def test_a_wrong_action_is_refused_with_a_suggestion(written):
    with pytest.raises(sb.SpartError, match="action must be one of error, stop, warn") as told:
        sb.load(written("type: ASSERT", "warning"))
    assert "warn" in str(told.value)
