"""STATE_MACHINE and STATE_MACHINE_S: closed forms, the order of actions, both engines, C, FMU."""

from __future__ import annotations

import json
import warnings

import numpy as np
import pytest
from same_results import assert_same_results

import spart_blocks as sb
from spart_blocks.base.errors import InputError, SpartWarning
from spart_blocks.diagram.build.registry import find_type
from spart_blocks.export import export_fmu, step_code, verify, verify_fmu
from spart_blocks.program.subdiagram import subdiagram_of

ENGINES = ("native", "interpreter")


@pytest.fixture
def written(tmp_path):
    """A diagram file with one machine m, whose inputs are formulas of time."""

    def write(machine, inputs=None, T=3.0, log=(), **run):
        inputs = {"u": "t"} if inputs is None else inputs
        sampled = {"clock": "c"} if machine.get("type", "").endswith("_S") else {}
        blocks = {
            "time": {"type": "TIME"},
            "m": {"type": "STATE_MACHINE", "arguments": list(inputs), **sampled, **machine},
        }
        wires = []
        for name, formula in inputs.items():
            blocks[f"in_{name}"] = {"type": "FCN", "expression": formula, "arguments": ["s"]}
            wires += [f"time -> in_{name}", f"in_{name} -> m.{name}"]
        names = ["m.state", *(f"m.{name}" for name in machine.get("outputs", {}))]
        run = {"T": T, "log": [*names, *log], "rtol": 1e-9, "atol": 1e-11, **run}
        path = tmp_path / "machine.yaml"
        clocks = {"clocks": {"c": {"T": 0.1}}} if sampled else {}
        path.write_text(json.dumps({**clocks, "blocks": blocks, "wires": wires, "run": run}))
        return path

    return write


def told(results):
    return [(event.t, event.what) for event in results.events]


def assert_told(results, want):
    got = told(results)
    assert [what for _, what in got] == [what for _, what in want]
    np.testing.assert_allclose([t for t, _ in got], [t for t, _ in want], rtol=0, atol=1e-9)


# --- continuous time ---------------------------------------------------------------------

THERMOSTAT = """
blocks:
  relay: {type: RELAY, on: 0.2, off: -0.3, on_value: 1, off_value: -0.5, initial: off}
  machine:
    type: STATE_MACHINE
    arguments: [cold]
    outputs: {y: -0.5}
    initial: off
    states: {on: {entry: {y: 1}}, off: {entry: {y: -0.5}}}
    transitions:
      - {from: off, to: on, when: cold > 0.2}
      - {from: on, to: off, when: cold < -0.3}
  x: {type: INTEGRATOR}
  y: {type: INTEGRATOR}
  cold_x: {type: GAIN, K: -1}
  cold_y: {type: GAIN, K: -1}
wires:
  - relay -> x
  - x -> cold_x
  - cold_x -> relay
  - machine.y -> y
  - y -> cold_y
  - cold_y -> machine.cold
run: {T: 5, log: [x, y, machine.state], rtol: 1.0e-9, atol: 1.0e-11}
"""


@pytest.mark.parametrize("engine", ENGINES)
def test_a_thermostat_is_a_relay(tmp_path, engine):
    (tmp_path / "thermostat.yaml").write_text(THERMOSTAT)
    results = sb.simulate(tmp_path / "thermostat.yaml", engine=engine)
    np.testing.assert_allclose(results["y"], results["x"], atol=1e-9)
    times = [event.t for event in results.events if event.block == "machine"][1:]  # enters off
    relay = [event.t for event in results.events if event.block == "relay"]
    np.testing.assert_allclose(times, relay, rtol=0, atol=1e-9)
    np.testing.assert_allclose(np.diff(times)[:4], [0.5, 1.0, 0.5, 1.0], atol=1e-9)
    on = results["machine.state"].ravel() == 1  # in the order written
    assert np.ptp(results["y"].ravel()[on]) > 0.4


ORDER = {
    "outputs": {"trace": 0, "y": 0},
    "variables": {"n": 0},
    "params": {"wait": 0.25},
    "initial": "a",
    "states": {
        "a": {
            "entry": {"trace": "trace*10 + 1"},
            "exit": {"trace": "trace*10 + 2"},
            "during": {"y": "2*u + elapsed"},
        },
        "b": {
            "initial": "b1",
            "history": True,
            "entry": {"trace": "trace*10 + 3"},
            "exit": {"trace": "trace*10 + 4"},
            "states": {
                "b1": {"entry": {"trace": "trace*10 + 5"}, "exit": {"trace": "trace*10 + 6"}},
                "b2": {"entry": {"trace": "trace*10 + 7"}, "exit": {"trace": "trace*10 + 8"}},
            },
        },
    },
    "transitions": [
        {"from": "a", "to": "b", "when": "u > 0.5", "do": {"trace": "trace*10 + 9", "n": "n + 1"}},
        {"from": "b1", "to": "b2", "after": "wait"},
        {"from": "b", "to": "a", "after": 1, "do": {"trace": "trace*10"}},
    ],
}


@pytest.mark.parametrize("engine", ENGINES)
def test_states_are_left_from_within_and_entered_from_without(written, engine):
    results = sb.simulate(written(ORDER, T=2.0), engine=engine)
    assert_told(results, [(0.0, "enters a"), (0.5, "a -> b1"), (0.75, "b1 -> b2"),
                          (1.5, "b2 -> a"), (1.5, "a -> b2")])  # fmt: skip
    # a; not a, do, b, b1; not b1, b2; not b2, not b, do, a; not a, do, b, b2
    assert results["m.trace"][-1] == 1_2935_67_840_1_2937
    t, y = results.t, results["m.y"].ravel()
    want = np.where(t <= 0.5, 3 * t, 1.5)  # it keeps its last value; a is left at once at 1.5 s
    want = np.where(t < 1.5, want, 3.0)
    inside = np.abs(t - 1.5) > 1e-9
    np.testing.assert_allclose(y[inside], want[inside], atol=1e-8)


@pytest.mark.parametrize("engine", ENGINES)
def test_without_history_the_initial_substate_is_entered(written, engine):
    states = {**ORDER["states"], "b": {**ORDER["states"]["b"], "history": False}}
    results = sb.simulate(written({**ORDER, "states": states}, T=2.0), engine=engine)
    assert [what for _, what in told(results)][-2:] == ["a -> b1", "b1 -> b2"]


@pytest.mark.parametrize("engine", ENGINES)
def test_after_is_the_time_since_the_entry_of_its_state(written, engine):
    machine = {
        "initial": "work",
        "states": {
            "work": {"initial": "left", "states": {"left": {}, "right": {}}},
            "rest": {},
        },
        "transitions": [
            {"from": "left", "to": "right", "after": 0.3},
            {"from": "right", "to": "left", "after": 0.3},
            {"from": "work", "to": "rest", "after": 1},
            {"from": "rest", "to": "right", "after": 0.15, "when": "u > 1.2"},
        ],
    }
    results = sb.simulate(written(machine, T=2.4), engine=engine)
    assert_told(results, [(0.3, "left -> right"), (0.6, "right -> left"), (0.9, "left -> right"),
                          (1.0, "right -> rest"), (1.2, "rest -> right"), (1.5, "right -> left"),
                          (1.8, "left -> right"), (2.1, "right -> left"),
                          (2.2, "left -> rest"), (2.35, "rest -> right")])  # fmt: skip


@pytest.mark.parametrize("engine", ENGINES)
def test_a_guard_may_join_vectors_and_hold_at_equality(written, engine):
    machine = {
        "outputs": {"gain": [1, 1]},
        "params": {"limit": 0.5},
        "initial": "off",
        "states": {
            "off": {},
            "on": {"entry": {"gain": ["2*u[0]", 7]}, "exit": {"gain": 3}},
            "end": {},
        },
        "transitions": [
            {"from": "off", "to": "on", "when": "norm(u) >= limit and all(u > 0.1) and k >= 2"},
            {"from": "on", "to": "end", "when": "any(u > 1) or not k < 9"},
        ],
    }
    inputs = {"u": ["s", "s/2"], "k": "2 + 0*s"}
    results = sb.simulate(written(machine, inputs), engine=engine, every=0.1)
    first = 0.5 / np.hypot(1, 0.5)  # there u = (s, s/2) has the length 0.5, and both exceed 0.1
    assert_told(results, [(first, "off -> on"), (1.0, "on -> end")])
    on = (results.t > first + 1e-9) & (results.t < 1.0)
    np.testing.assert_allclose(results["m.gain"][on], [[2 * first, 7]] * on.sum(), atol=1e-8)
    np.testing.assert_array_equal(results["m.gain"][-1], [3, 3])


@pytest.mark.parametrize("engine", ENGINES)
def test_a_machine_that_never_settles_is_an_error(written, engine):
    machine = {
        "initial": "a",
        "states": {"a": {}, "b": {}},
        "transitions": [
            {"from": "a", "to": "b", "when": "u > 1"},
            {"from": "b", "to": "a", "when": "u > 1"},
        ],
    }
    with pytest.raises(sb.RunError, match=r"block m: it switches without end.* at t = 1\b"):
        sb.simulate(written(machine), engine=engine)


@pytest.mark.parametrize("engine", ENGINES)
def test_an_outer_transition_comes_first_and_a_composite_is_entered_anew(written, engine):
    machine = {
        "outputs": {"entries": 0},
        "initial": "all",
        "states": {
            "all": {
                "entry": {"entries": "entries + 1"},
                "initial": "one",
                "states": {"one": {}, "two": {}, "three": {}},
            },
        },
        "transitions": [
            {"from": "one", "to": "two", "when": "u > 1"},
            {"from": "all", "to": "three", "when": "u > 1 and entries < 2"},
        ],
    }
    results = sb.simulate(written(machine), engine=engine)
    assert_told(results, [(0.0, "enters one"), (1.0, "one -> three")])
    assert results["m.entries"][-1] == 2


@pytest.mark.parametrize("engine", ENGINES)
def test_what_is_not_a_number_takes_no_transition(written, engine):
    machine = {
        "initial": "a",
        "states": {"a": {}, "b": {}, "c": {}},
        "transitions": [
            {"from": "a", "to": "b", "when": "sqrt(u - 1) < 2 and 0/0 < 1"},
            {"from": "a", "to": "c", "when": "log(u - 1) > -1 or 0/0 < 1"},
        ],
    }
    results = sb.simulate(written(machine), engine=engine)
    assert_told(results, [(1 + np.exp(-1), "a -> c")])


@pytest.mark.parametrize("engine", ENGINES)
def test_a_machine_follows_the_state_of_another(tmp_path, engine):
    (tmp_path / "two.yaml").write_text("""
blocks:
  t: {type: TIME}
  first:
    type: STATE_MACHINE
    initial: a
    states: {a: {}, b: {}}
    transitions: [{from: a, to: b, when: u >= 0.4}]
  second:
    type: STATE_MACHINE
    arguments: [first]
    initial: c
    states: {c: {}, d: {}}
    transitions: [{from: c, to: d, when: first == 2}]
wires: [t -> first.u, first.state -> second.first]
run: {T: 1, log: [second.state]}
""")
    results = sb.simulate(tmp_path / "two.yaml", engine=engine)
    assert_told(results, [(0.4, "a -> b"), (0.4, "c -> d")])


def test_an_event_sets_the_active_state(bdsim_runtime):
    bd = bdsim_runtime.blockdiagram(name="set")
    states = {"a": {}, "b": {}, "c": {}}
    after = [{"from": "c", "to": "a", "after": 1.0}]
    machine = bd.STATE_MACHINE(states, after, initial="a", arguments=["u"], name="m")

    def jump(event, found):
        found[machine] = [7.2, 0.25]  # beyond the last one

    time, level = bd.TIME(name="t"), bd.CONSTANT(-0.5, name="level")
    total, crossing = bd.SUM("++", name="sum"), bd.EVENT("+", jump, name="crossing")
    bd.connect(time, machine[0], total[0])
    bd.connect(level, total[1])
    bd.connect(total, crossing)
    results = sb.simulate(bd, T=2.0, log=["m.state"])
    assert results["m.state"][results.t > 0.6][0] == 3
    assert results.events[-1].what == "c -> a"
    assert abs(results.events[-1].t - 1.25) < 1e-9


def test_a_kink_of_a_formula_of_the_active_state_ends_a_step(written):
    machine = {"outputs": {"y": 0}, "states": {"a": {"during": {"y": "abs(sin(u) - 0.5)"}}}}
    path = written(machine, T=2.0)
    results = sb.simulate(path, log=["m.y"])
    assert np.abs(results.t - np.pi / 6).min() < 1e-9
    np.testing.assert_allclose(results["m.y"].ravel(), np.abs(np.sin(results.t) - 0.5), atol=1e-12)


def test_a_run_in_two_parts_is_one_run(written):
    path = written(ORDER, T=2.0)
    whole, first = sb.simulate(path), sb.simulate(path, T=1.1)
    rest = sb.simulate(path, initial=first.final_state, T=2.0)
    np.testing.assert_allclose(
        rest.final_state.continuous["m"], whole.final_state.continuous["m"], atol=1e-9
    )


def test_parameters_are_those_of_the_program(written):
    machine = {
        "params": {"limit": 0.5, "wait": 1.0},
        "initial": "a",
        "states": {"a": {}, "b": {}, "c": {}},
        "transitions": [
            {"from": "a", "to": "b", "when": "u > limit"},
            {"from": "b", "to": "c", "after": "wait"},
        ],
    }
    program = sb.trace(written(machine))
    results = sb.simulate(program.with_parameters({"m.limit": 0.75, "m.wait": 0.5}))
    assert_told(results, [(0.75, "a -> b"), (1.25, "b -> c")])


# --- on a clock --------------------------------------------------------------------------

COUNTER = {
    "type": "STATE_MACHINE_S",
    "outputs": {"n": 0, "y": 0},
    "initial": "idle",
    "states": {
        "idle": {"entry": {"y": 5}},
        "run": {"entry": {"n": 0}, "during": {"n": "n + 1"}},
    },
    "transitions": [
        {"from": "idle", "to": "run", "when": "u > 0.25"},
        {"from": "run", "to": "idle", "after": 0.5},
    ],
}


def at_ticks(results, name):
    """The values just after each tick."""
    return [results[name][results.t > k / 10 + 1e-9][0].item() for k in range(12)]


@pytest.mark.parametrize("engine", ENGINES)
def test_a_sampled_machine_takes_one_transition_at_a_tick(written, engine):
    results = sb.simulate(written(COUNTER, T=1.15, every=0.01), engine=engine)
    # Tick 3 enters run, five ticks later it is idle, and one more tick later it runs again.
    assert at_ticks(results, "m.state") == [1, 1, 1, 2, 2, 2, 2, 2, 1, 2, 2, 2]
    assert at_ticks(results, "m.n") == [0, 0, 0, 0, 1, 2, 3, 4, 4, 0, 1, 2]
    assert at_ticks(results, "m.y") == [5] * 12


@pytest.mark.parametrize("engine", ENGINES)
def test_a_super_step_takes_more(written, engine):
    path = written({**COUNTER, "super_step": 2}, T=1.15, every=0.01)
    assert at_ticks(sb.simulate(path, engine=engine), "m.state") == [1] * 3 + [2] * 9


# --- engines, C, FMU ---------------------------------------------------------------------


def families():
    """Both machines in one diagram, with all that they have."""
    sampled = {
        **ORDER,
        "type": "STATE_MACHINE_S",
        "clock": "c",
        "arguments": ["u"],
        "super_step": 2,
    }
    waves = {
        "type": "STATE_MACHINE",
        "arguments": ["v", "s"],
        "outputs": {"gain": [0, 0], "level": 0},
        "params": {"high": 0.6},
        "initial": "low",
        "states": {
            "low": {"entry": {"gain": 0.5}, "during": {"level": "max(v[0], v[1])"}},
            "up": {"entry": {"gain": ["v[0]", "elapsed"]}, "during": {"level": "elapsed - v[0]"}},
        },
        "transitions": [
            {"from": "low", "to": "up", "when": "v[0] > high or any(v < -0.9)"},
            {"from": "up", "to": "low", "when": "v[0] < 0 and s != 2", "after": 0.1},
        ],
    }
    blocks = {
        "time": {"type": "TIME"},
        "a": {"type": "STATE_MACHINE", "arguments": ["u"], **ORDER},
        "b": sampled,
        "w": waves,
        "v": {"type": "FCN", "expression": ["sin(5*s)", "cos(7*s)"], "arguments": ["s"]},
        "sum": {"type": "INTEGRATOR", "x0": [0, 0]},
    }
    wires = ["time -> a.u, b.u, v", "v -> w.v", "b.state -> w.s", "w.gain -> sum"]
    outputs = [*(f"{m}.{port}" for m in "ab" for port in ("state", "trace", "y")),
               "w.state", "w.gain", "w.level", "sum"]  # fmt: skip
    run = {"T": 2.5, "every": 0.0173, "rtol": 1e-9, "atol": 1e-11, "log": outputs}
    clocks = {"c": {"T": 0.05, "offset": 0.02}}
    return json.dumps({"name": "machines", "clocks": clocks, "blocks": blocks, "wires": wires,
                       "run": run})  # fmt: skip


@pytest.fixture
def machines(tmp_path):
    path = tmp_path / "machines.yaml"
    path.write_text(families())
    return path


def test_both_engines_agree(machines):
    native, blocks = (sb.simulate(machines, engine=engine) for engine in ENGINES)
    assert len(native.events) > 8
    assert np.ptp(native["sum"], axis=0).min() > 0.1
    assert_same_results(native, blocks, rel=1e-7)


def test_exported_c_is_the_program(machines):
    part = subdiagram_of(machines, [])
    found = verify(step_code(part, rate=100), np.zeros((250, 0)))
    assert found.passed, found


def test_an_fmu_is_the_program(machines, tmp_path):
    part = subdiagram_of(machines, [])
    found = verify_fmu(export_fmu(part, tmp_path), part, horizon=1.0)
    assert found.passed, (found.problems, found.errors)


# --- wrong entries -----------------------------------------------------------------------

GOOD = {
    "outputs": {"y": 0},
    "initial": "a",
    "states": {"a": {}, "b": {"initial": "c", "states": {"c": {}, "d": {}}}},
    "transitions": [{"from": "a", "to": "b", "when": "u > 1"}],
}


def changed(**entries):
    return {**GOOD, **entries}


def between(**entries):
    return changed(transitions=[{**GOOD["transitions"][0], **entries}])


WRONG = {
    "no state of that name": (between(to="bb"), r"transitions.0.to: there is no state 'bb'"),
    "from nowhere": (changed(transitions=[{"to": "b"}]), r"transitions.0 has no `from`"),
    "to nowhere": (changed(transitions=[{"from": "a"}]), r"transitions.0 has no `to`"),
    "an unknown entry": (between(wen="u"), r"transitions.0 has no entry 'wen'\n.*when"),
    "a wrong guard": (between(when="u > limt"), r"transitions.0.when: .*column 5.*'limt'"),
    "a guard that is no text": (between(when=3), r"transitions.0.when takes a condition"),
    "a time below zero": (between(after=-1), r"transitions.0.after takes a time"),
    "no such variable": (between(do={"z": 1}), r"transitions.0.do.z: there is no variable 'z'"),
    "an input that is set": (between(do={"u": 1}), r"transitions.0.do.u: u is no variable"),
    "a wrong shape": (between(do={"y": [1, 2]}), r"do.y has the shape \(2,\)"),
    "no initial": (changed(initial=None), r"states has several states and no `initial`"),
    "an initial further in": (changed(initial="c"), r"initial: the state 'c' is not directly in"),
    "an initial that is not there": (changed(initial="z"), r"initial: the state 'z' is not there"),
    "a name twice": (
        changed(states={"a": {}, "b": {"states": {"a": {}}}}),
        r"states.b.states.a is a second state a",
    ),
    "a name that is none": (changed(states={"a b": {}}), "'a b', which is no name of a state"),
    "no states": (changed(states={}), "states takes states by name"),
    "an unknown entry of a state": (changed(states={"a": {"enter": {}}}), "did you mean 'entry'"),
    "history of a leaf": (changed(states={"a": {"history": True}}), "a has none"),
    "a formula of itself": (
        changed(states={"a": {"during": {"y": "y + 1"}}}),
        r"states.a.during.y reads y itself",
    ),
    "an output named as the input": (changed(outputs={"u": 0}), "arguments.u is there twice"),
    "an output named state": (changed(outputs={"state": 0}), "outputs.state is the output with"),
    "an output without a number": (changed(outputs={"y": "x"}), "outputs.y takes its initial"),
    "a parameter with a meaning": (changed(params={"elapsed": 1}), "elapsed has a meaning"),
    "a list that is none": (changed(transitions={"from": "a"}), "transitions takes a list"),
}


@pytest.mark.parametrize("case", WRONG)
def test_a_wrong_entry_is_told(case):
    given, message = WRONG[case]
    with pytest.raises(InputError, match=message):
        find_type("STATE_MACHINE").cls(**given)


def test_states_nested_in_themselves_are_refused():
    states = {"a": {}}
    states["a"]["states"] = {"b": states["a"]}
    with pytest.raises(InputError, match=r"states.a.states.b.states.b is a second|deeper than 20"):
        find_type("STATE_MACHINE").cls(states=states)
    deep = {"s20": {}}
    for k in reversed(range(20)):
        deep = {f"s{k}": {"states": deep}}
    with pytest.raises(InputError, match="deeper than 20 levels"):
        find_type("STATE_MACHINE").cls(states=deep)


def test_a_fault_of_a_file_has_its_place(tmp_path):
    path = tmp_path / "machine.yaml"
    path.write_text("""
blocks:
  time: {type: TIME}
  m:
    type: STATE_MACHINE
    initial: a
    states:
      a: {}
      b: {entry: {y: 1}}
    transitions:
      - {from: a, to: b, when: u > 1}
      - {from: b, to: c}
wires: [time -> m.u]
""")
    with pytest.raises(sb.DiagramError) as error:
        sb.load(path)
    places = [(fault.place.line, fault.place.column) for fault in error.value.faults]
    assert places == [(9, 22), (12, 23)]


LEAVES = {
    "idle": {},
    "work": {"initial": "fast", "history": True, "states": {"fast": {}, "slow": {}}},
    "lost": {"initial": "here", "states": {"here": {}, "there": {}}},
    "end": {},
}
GO = [{"from": "idle", "to": "work", "when": "u > 1"}]


@pytest.mark.parametrize("kind", ["STATE_MACHINE", "STATE_MACHINE_S"])
@pytest.mark.parametrize(
    ("more", "never", "idle"),
    [
        ([], "slow, lost, here, there, end", None),
        ([{"from": "lost", "to": "end"}], "slow, lost, here, there, end", "lost -> end"),
        ([{"from": "work", "to": "there"}], "slow, here, end", None),
        ([{"from": "fast", "to": "lost"}, {"from": "there", "to": "slow"}], "slow, there, end",
         "there -> slow"),
        ([{"from": "fast", "to": "slow"}, {"from": "work", "to": "lost"},
          {"from": "lost", "to": "there"}, {"from": "there", "to": "end"}], None, None),
    ],
)  # fmt: skip
def test_states_that_are_never_entered_are_told(tmp_path, kind, more, never, idle):
    machine = {"type": kind, "initial": "idle", "states": LEAVES,
               "transitions": [*GO, *(one | {"when": "u < 0"} for one in more)],
               **({"clock": "c"} if kind.endswith("_S") else {})}  # fmt: skip
    text = {"clocks": {"c": {"T": 0.1}}, "wires": ["time -> m.u"],
            "blocks": {"time": {"type": "TIME"}, "m": machine}}  # fmt: skip
    (tmp_path / "made.yaml").write_text(json.dumps(text))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", SpartWarning)
        sb.load(tmp_path / "made.yaml")
    told = [str(one.message) for one in caught if issubclass(one.category, SpartWarning)]
    if never is None:
        assert not told
        return
    (text,) = told
    assert f"m ({kind}) never enters {never}: no transition leads there" in text
    assert "made.yaml:1:" in text
    assert text.endswith(f"so that none of {idle} is taken" if idle else "leads there")


# --- names -------------------------------------------------------------------------------

TWO_STATES = {
    "states": {"low": {"entry": {"y": 0}}, "high": {"entry": {"y": 1}}},
    "initial": "low",
    "outputs": {"y": 0},
}
LOOKED_FOR = (
    "reach",
    "watch",
    "edges",
    "restart",
    "next_stop",
    "doubts",
    "period",
    "start",
    "name",
)


@pytest.mark.parametrize(
    ("name", "engine"),
    [*((name, "interpreter") for name in LOOKED_FOR), ("reach", "native"), ("watch", "native")],
)
@pytest.mark.parametrize("kind", ["STATE_MACHINE", "STATE_MACHINE_S"])
def test_an_input_may_have_the_name_of_what_other_blocks_have(written, name, kind, engine):
    rise = {"from": "low", "to": "high", "when": f"{name} > 0.5"}
    machine = {"type": kind, "transitions": [rise], **TWO_STATES}
    results = sb.simulate(written(machine, {name: "s"}, T=1.0), engine=engine)
    assert (results["m.y"][0], results["m.y"][-1]) == (0, 1)


@pytest.mark.parametrize("name", ["chart", "in_ports", "nin"])
@pytest.mark.parametrize("what", ["arguments", "outputs"])
def test_a_name_that_the_block_needs_is_refused(written, what, name):
    rise = {"from": "low", "to": "high", "when": "u > 0.5"}
    machine = {"transitions": [rise], **TWO_STATES}
    inputs = {"u": "s"}
    if what == "arguments":
        inputs[name] = "s"
    else:
        machine["outputs"] = {"y": 0, name: 0}
    with pytest.raises(InputError, match=f"{what}.{name} is an attribute of the block"):
        sb.simulate(written(machine, inputs))
