"""SWITCH, COMPARE, LOGIC and RELAY: their values, and the times at which they change."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from same_results import assert_same_results

import spart_blocks as sb
from spart_blocks.base.errors import DiagramError, InputError, RunError
from spart_blocks.program.tracing.symbol import symbols

TIGHT = {"rtol": 1e-10, "atol": 1e-12}
SOLVERS = ("RK45", "DOP853", "Radau", "LSODA", "euler", "RK4", "CVODES", "Adams")


def output(block, *inputs):
    return block.output(0.0, list(inputs), None)[0]


# --- values -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("criterion", "passes"),
    [(">=", [False, True, True]), (">", [False, False, True]), ("!=", [True, False, True])],
)
def test_a_switch_passes_its_first_signal_where_the_criterion_holds(make, criterion, passes):
    block = make("SWITCH", criterion=criterion, threshold=0.5)
    got = [output(block, 7.0, control, -7.0) for control in (0.25, 0.5, 0.75)]
    assert got == [7.0 if passed else -7.0 for passed in passes]


def test_a_switch_takes_vectors_whole_or_entry_by_entry(make):
    block = make("SWITCH", threshold=0.0)
    a, b = np.array([1.0, 2.0]), np.array([-1.0, -2.0])
    np.testing.assert_array_equal(output(block, a, 1.0, b), a)
    np.testing.assert_array_equal(output(block, a, -1.0, b), b)
    np.testing.assert_array_equal(output(block, a, np.array([1.0, -1.0]), b), [1.0, -2.0])
    np.testing.assert_array_equal(output(block, 0.0, np.array([1.0, -1.0]), b), [0.0, -2.0])


@pytest.mark.parametrize("operator", ["==", "!=", "<", "<=", ">", ">="])
def test_compare_is_python_s_comparison_as_a_number(make, operator):
    python = {
        "==": lambda a, b: a == b, "!=": lambda a, b: a != b, "<": lambda a, b: a < b,
        "<=": lambda a, b: a <= b, ">": lambda a, b: a > b, ">=": lambda a, b: a >= b,
    }[operator]  # fmt: skip
    two, one = make("COMPARE", operator=operator), make("COMPARE", operator=operator, constant=0.5)
    assert (two.nin, one.nin) == (2, 1)
    for value in (0.25, 0.5, 0.75):
        for got in (output(two, value, 0.5), output(one, value)):
            assert isinstance(got, float)
            assert got == float(python(value, 0.5))


LOGIC = {
    "and": all,
    "or": any,
    "nand": lambda values: not all(values),
    "nor": lambda values: not any(values),
    "xor": lambda values: sum(values) % 2 == 1,
}


@pytest.mark.parametrize("operator", LOGIC)
@pytest.mark.parametrize("count", [1, 2, 3])
def test_logic_has_the_truth_table_of_its_operator_on_numbers_and_symbols(make, operator, count):
    block = make("LOGIC", operator=operator, nin=count)
    column, entries = symbols("u", (count,))
    traced = output(block, *entries).sx
    import casadi as ca

    function = ca.Function("f", [column], [traced])
    for truths in itertools.product([False, True], repeat=count):
        values = [-2.5 if truth else 0.0 for truth in truths]
        assert output(block, *values) == float(LOGIC[operator](truths))
        assert float(function(values)) == float(LOGIC[operator](truths))


def test_not_takes_one_input_and_works_entry_by_entry(make):
    np.testing.assert_array_equal(output(make("LOGIC", "not"), np.array([0.0, 3.0])), [1.0, 0.0])
    with pytest.raises(InputError, match="not takes one input"):
        make("LOGIC", "not", nin=2)


# --- times --------------------------------------------------------------------------------

JUMPS = """
name: jumps
blocks:
  t: {type: TIME}
  up: {type: CONSTANT, value: 2.0}
  down: {type: CONSTANT, value: -1.0}
  switch: {type: SWITCH, criterion: ">", threshold: 0.3712345}
  early: {type: COMPARE, operator: "<", constant: 0.1234567}
  late: {type: COMPARE, operator: ">=", constant: 0.8765432}
  either: {type: LOGIC, operator: or}
  of_switch: {type: INTEGRATOR}
  of_logic: {type: INTEGRATOR}
wires:
  - t -> switch.control, early, late
  - up -> switch.a
  - down -> switch.b
  - switch -> of_switch
  - early -> either.u1
  - late -> either.u2
  - either -> of_logic
run: {T: 1, log: [of_switch, of_logic], rtol: 1.0e-10, atol: 1.0e-12}
"""


@pytest.mark.parametrize("solver", SOLVERS)
def test_a_step_ends_where_a_switch_and_a_comparison_change(load, solver):
    got = sb.simulate(load(JUMPS), solver=solver, engine="native")
    # With a fixed step all stages lie before the jump; error control meets it to its tolerance.
    within = {"euler": 1e-9, "RK4": 1e-9, "CVODES": 1e-7, "Adams": 1e-7}.get(solver, 1e-8)
    assert got["of_switch"][-1] == pytest.approx(2 * (1 - 0.3712345) - 0.3712345, abs=within)
    assert got["of_logic"][-1] == pytest.approx(0.1234567 + 1 - 0.8765432, abs=within)


def test_the_jumps_are_the_interpreter_s(load):
    diagram = load(JUMPS)
    native = sb.simulate(diagram, engine="native")
    interpreted = sb.simulate(diagram, engine="interpreter")
    assert_same_results(native, interpreted, ["switch", "early", "late", "either"], rel=1e-8)
    for name in ("switch", "early", "late", "either"):
        np.testing.assert_array_equal(native[name], interpreted[name])


SCHMITT = """
name: schmitt
blocks:
  wave: {type: WAVEFORM, wave: sine, freq: 0.5}
  relay: {type: RELAY, on: 0.4, off: -0.3, on_value: 5, off_value: 1}
wires: [wave -> relay]
run: {T: 5, log: [wave, relay], rtol: 1.0e-8}
"""
RISES = np.arcsin(0.4) / np.pi + 2 * np.arange(3)
FALLS = 1 + np.arcsin(0.3) / np.pi + 2 * np.arange(2)


@pytest.mark.parametrize("solver", SOLVERS)
def test_a_relay_on_a_sine_switches_at_the_crossings_of_its_points(load, solver):
    got = sb.simulate(load(SCHMITT), solver=solver, engine="native")
    want = np.sort(np.concatenate([RISES, FALLS]))
    assert [event.what for event in got.events] == ["switched"] * 5
    assert np.abs(np.array([event.t for event in got.events]) - want).max() < 1e-9
    apart = np.abs(got.t[:, None] - want).min(axis=1) > 1e-9
    on = np.searchsorted(want, got.t[apart], "right") % 2
    np.testing.assert_array_equal(got["relay"][apart], np.where(on == 1, 5.0, 1.0))


def test_a_relay_on_the_interpreter_is_the_native_one(load):
    diagram = load(SCHMITT)
    every = diagram.run.T / 500
    native = sb.simulate(diagram, engine="native", every=every)
    other = sb.simulate(diagram, engine="interpreter", every=every)
    assert_same_results(native, other, rel=1e-9)


OSCILLATOR = """
name: oscillator
blocks:
  relay: {type: RELAY, on: 0.31, off: -0.27, on_value: [1, 0.7], off_value: [-0.9, -0.5]}
  x: {type: INTEGRATOR, x0: [0.1, 0.2]}
  back: {type: GAIN, K: -1}
wires: [relay -> x, x -> back, back -> relay]
run: {T: 4, log: [x, relay], rtol: 1.0e-9, atol: 1.0e-11}
"""


def switching_times(start, rise, fall, end):
    """Of x' = rise or -fall between -0.31 and 0.27, falling from the start."""
    times = [(start + 0.31) / fall]
    while times[-1] < end:
        times.append(times[-1] + 0.58 / (rise if len(times) % 2 else fall))
    return times[:-1]


@pytest.mark.parametrize("engine", ["native", "interpreter"])
@pytest.mark.parametrize("solver", ["RK45", "BDF", "heun"])
def test_each_entry_of_a_relay_in_a_loop_oscillates_with_its_own_period(load, engine, solver):
    got = sb.simulate(load(OSCILLATOR), engine=engine, solver=solver)
    want = sorted(switching_times(0.1, 1.0, 0.9, 4.0) + switching_times(0.2, 0.7, 0.5, 4.0))
    assert len(want) == 10
    assert np.abs(np.array([event.t for event in got.events]) - want).max() < 1e-9
    assert np.abs(got["x"]).max() < 0.31 + 1e-9


@pytest.mark.parametrize(
    ("initial", "value"), [("off", 0.0), ("on", 1.0), ("auto", 1.0), ("auto", 0.0)]
)
def test_a_relay_between_its_points_starts_as_it_is_told(load, initial, value):
    at = 0.2 if value else -0.2
    text = f"""
blocks:
  u: {{type: CONSTANT, value: {at}}}
  relay: {{type: RELAY, on: 1, off: -1, initial: {initial}}}
wires: [u -> relay]
run: {{T: 0.1, log: [relay]}}
"""
    got = sb.simulate(load(text))
    assert set(got["relay"]) == {value}


def test_a_relay_that_starts_against_its_input_switches_at_once(load):
    text = """
blocks:
  u: {type: CONSTANT, value: [2.0, -2.0]}
  relay: {type: RELAY, on: 1, off: -1, initial: on, width: 2}
  other: {type: RELAY, on: 1, off: -1, width: 2}
wires: ["u -> relay, other"]
run: {T: 0.1, log: [relay, other]}
"""
    got = sb.simulate(load(text))
    np.testing.assert_array_equal(got["relay"][0], [1.0, 0.0])
    np.testing.assert_array_equal(got["other"][0], [1.0, 0.0])
    assert [event.t for event in got.events] == [0.0, 0.0]


def test_the_points_of_a_relay_are_parameters_of_the_program(load):
    program = sb.trace(load(SCHMITT)).with_parameters({"relay.on": 0.8, "relay.on_value": 9.0})
    got = sb.simulate(program)
    assert got.events[0].t == pytest.approx(np.arcsin(0.8) / np.pi, abs=1e-9)
    assert set(got["relay"]) == {1.0, 9.0}


@pytest.mark.parametrize("engine", ["native", "interpreter"])
def test_a_relay_that_never_fits_ends_the_run_with_its_name(load, engine):
    text = """
blocks:
  relay: {type: RELAY, on: 0, off: 0, on_value: -1, off_value: 1}
wires: [relay -> relay]
run: {T: 1}
"""
    with pytest.raises(RunError, match=r"block relay: .*switches without end"):
        sb.simulate(load(text), engine=engine)


# --- what is refused -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("block", "told"),
    [
        ("SWITCH, criterion: '=>'", "criterion must be one of >=, >, !="),
        ("SWITCH, threshold: [[1]]", "threshold must be a number or a list of numbers"),
        ("COMPARE, operator: '='", "operator must be one of ==, !=, <, <=, >, >="),
        ("COMPARE, operator: '<', constant: .nan", "constant must be finite"),
        ("LOGIC, operator: nan", "did you mean 'nand'"),
        ("RELAY, on: 0, off: 1", "off is 1.0, above on, 0.0"),
        ("RELAY, on: [1, 2], off: [0, 0, 0]", "on has 2 entries and off has 3 entries"),
        ("RELAY, on: 1, off: 0, initial: onn", "initial must be one of off, on, auto"),
        ("RELAY, on: 1, off: 0, width: 0", "width must be a whole number from 1"),
    ],
)
def test_a_wrong_parameter_is_refused_where_it_is_written(load, block, told):
    with pytest.raises(DiagramError) as refused:
        load(f"blocks:\n  u: {{type: TIME}}\n  b: {{type: {block}}}\n")
    assert told in str(refused.value)
    assert "diagram.yaml:3:" in str(refused.value)


def test_a_signal_of_the_wrong_length_is_refused_with_its_wire(load):
    text = """
blocks:
  u: {type: CONSTANT, value: [1, 2, 3]}
  relay: {type: RELAY, on: [1, 2], off: 0}
wires: [u -> relay]
"""
    with pytest.raises(DiagramError, match=r"u is \(3,\), relay.u takes \(2,\)"):
        sb.simulate(load(text), T=0.1)


def test_signals_that_a_switch_cannot_put_together_are_refused(load):
    text = """
blocks:
  u: {type: CONSTANT, value: [1, 2, 3]}
  v: {type: CONSTANT, value: [1, 2]}
  t: {type: TIME}
  switch: {type: SWITCH}
wires: [u -> switch.a, v -> switch.b, t -> switch.control]
"""
    with pytest.raises(DiagramError, match=r"do not fit together\n.*\n  switch.a is \(3,\)"):
        sb.simulate(load(text), T=0.1)
