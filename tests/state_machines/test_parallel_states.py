"""Parallel states of STATE_MACHINE and STATE_MACHINE_S: closed forms, the order of regions, random
machines against the rule, all executions, and wrong entries."""

from __future__ import annotations

import json
import random

import bdsim
import numpy as np
import pytest
from compositions.judging import judged, placed
from random_charts import Machine, random_machine

import spart_blocks as sb
from spart_blocks.base.errors import InputError
from spart_blocks.diagram.build.registry import find_type
from spart_blocks.program.c.compiler import compiler_name
from spart_blocks.state_machines import steps

ENGINES = ("native", "interpreter")


def diagram(machine, T=3.0, **run):
    """One machine m, whose input u is the time, or the tenths of it at ticks."""
    sampled = machine.get("type", "").endswith("_S")
    regions = [name for name, body in walked(machine) if body.get("parallel")]
    inner = [child for name, body in walked(machine) if name in regions for child in body["states"]]
    outputs = [*([] if machine.get("parallel") else ["state"]), *inner, *machine.get("outputs", {})]
    content = {
        "blocks": {
            "time": {"type": "TIME"},
            "m": {"type": "STATE_MACHINE", "arguments": ["u"], **machine},
        },
        "wires": ["time -> m.u"],
        "run": {"T": T, "log": [f"m.{name}" for name in outputs], "rtol": 1e-9, **run},
    }
    if sampled:
        content["clocks"] = {"c": {"T": 0.1}}
        content["blocks"]["m"]["clock"] = "c"
    return content


def walked(body, name=None):
    """All states, with the chart as that of no name."""
    yield name, body
    for child, inner in (body.get("states") or {}).items():
        yield from walked(inner, child)


@pytest.fixture
def written(tmp_path):
    def write(machine, T=3.0, **run):
        path = tmp_path / "machine.yaml"
        path.write_text(json.dumps(diagram(machine, T, **run)))
        return path

    return write


def told(results):
    return [event.what for event in results.events]


def times(results):
    return [event.t for event in results.events]


# --- continuous time -------------------------------------------------------------------

# A digit for each action: the order in which they act.
WORK = {
    "outputs": {"order": 0},
    "initial": "off",
    "states": {
        "off": {},
        "work": {
            "parallel": True,
            "entry": {"order": "10*order + 1"},
            "exit": {"order": "10*order + 2"},
            "states": {
                "arm": {
                    "entry": {"order": "10*order + 3"},
                    "exit": {"order": "10*order + 4"},
                    "initial": "moves",
                    "states": {"moves": {"exit": {"order": "10*order + 5"}}, "held": {}},
                },
                "camera": {
                    "entry": {"order": "10*order + 6"},
                    "exit": {"order": "10*order + 7"},
                    "initial": "looks",
                    "states": {"looks": {}, "seen": {"exit": {"order": "10*order + 8"}}},
                },
            },
        },
    },
}


START = {"from": "off", "to": "work", "when": "u > 0.5 and u < 0.6"}


def work(*transitions, **entries):
    return {**WORK, **entries, "transitions": [START, *transitions]}


ARM = {"from": "moves", "to": "held", "after": 0.25}
CAMERA = {"from": "looks", "to": "seen", "after": 0.5}


@pytest.mark.parametrize("engine", ENGINES)
def test_regions_run_beside_each_other_and_are_joined_by_a_condition(written, engine):
    join = {"from": "work", "to": "off", "when": "active(held) and active(seen)"}
    results = sb.simulate(written(work(ARM, CAMERA, join), T=1.2, every=0.01), engine=engine)
    assert told(results) == [
        "off -> work, enters moves, enters looks", "moves -> held", "looks -> seen",
        "work -> off, leaves held, leaves seen",
    ]  # fmt: skip
    np.testing.assert_allclose(times(results), [0.5, 0.75, 1.0, 1.0], atol=1e-9)
    # In: work, arm, camera; a move; out: the camera and its state first, then the arm, then work.
    assert results["m.order"][-1] == 136_5_87_42
    state, arm, camera = (results[f"m.{name}"].ravel() for name in ("state", "arm", "camera"))
    at = results.t
    ends = (0.0, 0.5, 0.75, 1.0, 1.2)
    for k, numbers in enumerate([(1, 0, 0), (2, 1, 1), (2, 2, 1), (1, 0, 0)]):
        within = (at > ends[k] + 1e-6) & (at < ends[k + 1] - 1e-6)
        assert {*zip(state[within], arm[within], camera[within], strict=True)} == {numbers}


@pytest.mark.parametrize("engine", ENGINES)
def test_a_transition_out_of_a_region_leaves_all_of_them(written, engine):
    way = {"from": "moves", "to": "off", "when": "u > 0.7"}
    results = sb.simulate(written(work(way, ARM, CAMERA), T=0.8), engine=engine)
    assert told(results)[1] == "work -> off, leaves moves, leaves looks"
    assert results["m.order"][-1] == 136_7_54_2


@pytest.mark.parametrize("engine", ENGINES)
def test_a_way_into_a_region_enters_the_others_by_their_defaults(written, engine):
    machine = work(ARM, CAMERA, initial="off")
    machine["transitions"][0] = {"from": "off", "to": "seen", "when": "u > 0.5"}
    results = sb.simulate(written(machine, T=1.0), engine=engine)
    assert told(results) == ["off -> work, enters moves, enters seen", "moves -> held"]
    assert results["m.order"][-1] == 1365


@pytest.mark.parametrize("engine", ENGINES)
def test_a_region_can_be_restarted_alone_and_remember(written, engine):
    machine = work(
        ARM,
        CAMERA,
        {"from": "camera", "to": "camera", "when": "u > 1.2", "after": 0.6},
        {"from": "work", "to": "off", "after": 1.0},
        {"from": "off", "to": "work", "when": "u > 1.9"},
    )
    states = json.loads(json.dumps(machine["states"]))
    states["work"]["states"]["arm"]["history"] = True
    results = sb.simulate(written({**machine, "states": states}, T=2.2), engine=engine)
    assert told(results) == [
        "off -> work, enters moves, enters looks", "moves -> held", "looks -> seen",
        "seen -> looks", "work -> off, leaves held, leaves looks",
        "off -> work, enters held, enters looks",
    ]  # fmt: skip
    np.testing.assert_allclose(times(results), [0.5, 0.75, 1.0, 1.2, 1.5, 1.9], atol=1e-9)


@pytest.mark.parametrize("engine", ENGINES)
def test_of_two_regions_at_one_instant_the_later_one_has_the_last_word(written, engine):
    machine = {
        "parallel": True,
        "outputs": {"y": 0, "seen": 0},
        "states": {
            "a": {"initial": "a1", "states": {"a1": {}, "a2": {"entry": {"y": 1}}}},
            "b": {"initial": "b1", "states": {"b1": {}, "b2": {"entry": {"y": 2}}}},
        },
        "transitions": [
            {"from": "b1", "to": "b2", "when": "u > 1", "do": {"seen": "10*active(a2) + y"}},
            {"from": "a1", "to": "a2", "when": "u > 1"},
        ],
    }
    results = sb.simulate(written(machine, T=2.0), engine=engine)
    assert told(results) == ["a1 -> a2, b1 -> b2"]
    assert abs(times(results)[0] - 1.0) < 1e-9
    assert results["m.y"][-1] == 2
    assert results["m.seen"][-1] == 11  # a is visited first, as written: b sees what it did
    assert "m.state" not in results.signals


@pytest.mark.parametrize("engine", ENGINES)
def test_elapsed_is_of_each_region_and_a_transition_to_itself_is_told(written, engine):
    machine = {
        "parallel": True,
        "outputs": {"a_age": 0, "b_age": 0},
        "states": {
            "a": {"initial": "one", "states": {"one": {"during": {"a_age": "elapsed"}}}},
            "b": {"during": {"b_age": "elapsed"}},
        },
        "transitions": [{"from": "one", "to": "one", "after": 0.4}],
    }
    results = sb.simulate(written(machine, T=1.0, every=0.1), engine=engine)
    assert told(results) == ["one -> one"] * 2
    np.testing.assert_allclose(results["m.b_age"].ravel(), results.t, atol=1e-9)
    k = np.argmin(np.abs(results.t - 0.7))
    assert abs(results["m.a_age"].ravel()[k] - 0.3) < 1e-9


def test_the_names_of_states_are_those_of_the_regions(written):
    final = sb.simulate(written(work(ARM, CAMERA), T=0.1))
    assert final.state_names["m"] == (
        "state", "since.0", "arm", "since.arm.0", "since.arm.1", "camera", "since.camera.0",
        "since.camera.1", "order",
    )  # fmt: skip
    assert final.levels_of("m.arm") == ("moves", "held")
    assert final.levels_of("m.state") == ("off", "work")


def test_an_event_sets_states_that_exist_together(bdsim_runtime):
    """The region of a state that an event leaves is not active, that of one it enters is."""
    bd = bdsim_runtime.blockdiagram(name="set")
    parallel = {"parallel": True, "states": {"a": {"states": {"a1": {}}}, "b": {}}}
    states = {"off": {}, "on": parallel}
    machine = bd.STATE_MACHINE(states, initial="off", arguments=["u"], name="m")

    def jump(event, found):
        found[machine] = [1.6, *found[machine][1:]]

    time, level = bd.TIME(name="t"), bd.CONSTANT(-0.5, name="level")
    total, crossing = bd.SUM("++", name="sum"), bd.EVENT("+", jump, name="crossing")
    bd.connect(time, machine[0], total[0])
    bd.connect(level, total[1])
    bd.connect(total, crossing)
    results = sb.simulate(bd, T=1.0, log=["m.state", "m.a", "m.b"])
    assert [results[f"m.{name}"][-1].item() for name in ("state", "a", "b")] == [2, 1, 1]
    assert [results[f"m.{name}"][0].item() for name in ("state", "a", "b")] == [1, 0, 0]


# --- on a clock ------------------------------------------------------------------------


def ticks(results, name, count):
    return [results[f"m.{name}"][results.t > k / 10 + 1e-9][0].item() for k in range(count)]


@pytest.mark.parametrize("engine", ENGINES)
def test_each_region_takes_one_transition_at_a_tick_outer_ones_first(written, engine):
    machine = {
        "type": "STATE_MACHINE_S",
        "outputs": {"n": 0, "y": 0},
        "initial": "on",
        "states": {
            "on": {
                "parallel": True,
                "during": {"n": "n + 1"},
                "states": {
                    "a": {
                        "initial": "a1",
                        "during": {"y": 1},
                        "states": {"a1": {}, "a2": {}, "a3": {}},
                    },
                    "b": {
                        "initial": "b1",
                        "during": {"y": "y + 1"},
                        "states": {"b1": {}, "b2": {}},
                    },
                },
            },
            "end": {},
        },
        "transitions": [
            {"from": "a1", "to": "a2"},
            {"from": "a2", "to": "a3"},
            {"from": "b1", "to": "b2", "when": "active(a2)"},
            {"from": "on", "to": "end", "when": "active(a3) and active(b2)"},
        ],
    }
    results = sb.simulate(written(machine, T=0.55, every=0.01), engine=engine)
    # b sees the state that a has entered at the same tick; the outer transition comes a tick later.
    assert ticks(results, "a", 5) == [1, 2, 3, 0, 0]
    assert ticks(results, "b", 5) == [1, 2, 2, 0, 0]
    assert ticks(results, "state", 5) == [1, 1, 1, 2, 2]
    assert ticks(results, "n", 5) == [0, 1, 2, 2, 2]
    assert ticks(results, "y", 5) == [0, 2, 2, 2, 2]  # a writes 1, then b adds to it
    fast = sb.simulate(written({**machine, "super_step": 4}, T=0.55, every=0.01), engine=engine)
    assert ticks(fast, "state", 3) == [1, 2, 2]


# --- random machines and the rule --------------------------------------------------------


def shown(block, x, u, t):
    values = block.output(t, [u], x)
    return dict(zip((port.name for port in block.out_ports), map(float, values), strict=True))


def aged(rule, step):
    for name in rule.ages:
        rule.ages[name] += step


def sampled_differences(seed, count):
    """The first tick at which a machine on a clock does not follow the rule, if any."""
    given, most, draw = random_machine(seed), 1 + seed % 3, random.Random(seed)
    made = find_type("STATE_MACHINE_S").cls
    block, rule = made(clock=bdsim.Clock(0.1), super_step=most, **given), Machine(given)
    x = block.layout.initial()
    for k in range(count):
        u, t = draw.random(), 0.1 * k
        aged(rule, 0.1)
        if k == 0:
            rule.start({"u": u, "t": t})
        else:
            again = rule.visit({"u": u, "t": t}, during=True)
            for _ in range(most - 1):
                again = again and rule.visit({"u": u, "t": t}, during=False)
        x = block.next(t, [u], x)
        if shown(block, x, u, t) != {**rule.numbers(), **rule.values}:
            return k
    return None


@pytest.mark.parametrize("seed", range(8))
def test_a_machine_on_a_clock_follows_the_rule(seed):
    assert sampled_differences(seed, 15) is None


def test_the_rule_finds_a_region_that_is_not_entered(monkeypatch):
    """And one whose states are left in the wrong order, or that is visited after it was left."""
    monkeypatch.setattr(steps, "_beside", lambda *_: False)
    assert any(sampled_differences(seed, 15) for seed in range(8))
    monkeypatch.undo()
    monkeypatch.setattr(steps, "reversed", lambda these: these, raising=False)
    assert any(sampled_differences(seed, 15) for seed in range(8))
    monkeypatch.undo()
    monkeypatch.setattr(steps, "_changed", lambda chart, transition: -1)
    assert any(sampled_differences(seed, 15) for seed in range(8))


@pytest.mark.parametrize("seed", range(8))
def test_a_machine_in_continuous_time_follows_the_rule(seed):
    """At instants with any inputs, up to four visits at each."""
    given, draw = random_machine(seed, during=False), random.Random(seed)
    block, rule = find_type("STATE_MACHINE").cls(**given), Machine(given)
    x, starts = block.layout.initial(), block.layout.starts
    rule.start({"u": 0.0, "t": 0.0})
    if starts:
        x = block.switch(0.0, [0.0], x)
    for k in range(12):
        u, t = draw.random(), 0.1 * k
        aged(rule, 0.1 if k else 0.0)
        for _ in range(4):
            fits = any(value > 0 for value in block.watch(t, [u], x))
            assert rule.visit({"u": u, "t": t}, during=False) == fits
            if not fits:
                break
            x = block.switch(t, [u], x)
            assert shown(block, x, u, t) == {**rule.numbers(), **rule.values}


def calm(seed):
    """A machine whose states last, each transition with a time of its own."""
    draw = random.Random(f"calm {seed}")
    machine = random_machine(seed, during=False)
    for way in machine["transitions"]:
        way["after"] = round(draw.uniform(0.1, 0.6), 7)  # so that no event is at a sample
    return machine


def in_all_ways(seed):
    """A diagram with a machine in continuous time and one on a clock, whose inputs move."""
    blocks = {
        "time": {"type": "TIME"},
        "wave": {"type": "FCN", "expression": "0.5 + 0.5*sin(4.1*s)", "arguments": ["s"]},
        "m": {"type": "STATE_MACHINE", **calm(seed)},
        "d": {"type": "STATE_MACHINE_S", "clock": "c", "super_step": 2, **random_machine(seed + 1)},
        "sum": {"type": "INTEGRATOR"},
        "scale": {"type": "GAIN", "K": 0.001},
    }
    wires = ["time -> wave", "wave -> m.u, d.u", "m.n -> scale", "scale -> sum"]
    names = [f"{b}.{n}" for b in "md" for n in (*Machine(blocks[b]).numbers(), "n", "k")]
    run = {"T": 1.5, "log": [*names, "sum"], "rtol": 1e-9, "atol": 1e-11, "max_step": 0.02}
    return {"clocks": {"c": {"T": 0.09}}, "blocks": blocks, "wires": wires, "run": run}


WAYS = ("interpreter", "traced", "split", "fmu2", "fmu3")
COMPILED = ("compiled", "lanes", "c", "loop")


@pytest.mark.parametrize("seed", [0, 3])
def test_all_executions_of_random_machines_agree(seed, tmp_path):
    content = in_all_ways(seed)
    ways = WAYS + (COMPILED if compiler_name() else ())
    found = judged(content, placed(content, tmp_path), ways, pure=False)
    assert found.outcome == "agree", (found.differ, found.error)


# --- wrong entries -----------------------------------------------------------------------

TWO = {"a": {"initial": "a1", "states": {"a1": {}, "a2": {}}}, "b": {}}
GOOD = {"outputs": {"y": 0, "z": 0}, "arguments": ["u"], "parallel": True, "states": TWO}


def acting(a, b):
    return {**GOOD, "states": {"a": {"during": a}, "b": {"during": b}}}


def led(**way):
    return {**GOOD, "transitions": [way]}


WRONG = {
    "an initial one": (
        {**GOOD, "initial": "a"},
        "^initial: parallel states are all entered, none is the first\n  leave out `initial`",
    ),
    "an initial one further in": (
        {"states": {"p": {"parallel": True, "initial": "a", "states": TWO}}},
        "states.p.initial: parallel states are all entered",
    ),
    "no truth": ({**GOOD, "parallel": 1}, "parallel must be true or false, not 1"),
    "a leaf": ({"states": {"p": {"parallel": True}}}, "p.parallel is of a state with substates"),
    "history": (
        {"states": {"p": {"parallel": True, "history": True, "states": TWO}}},
        "states.p.history: the substates of p are parallel, all entered\n.*in its regions",
    ),
    "from region to region": (
        led(**{"from": "a1", "to": "b", "when": "u > 1"}),
        r"transitions.0 leads from a to b, which are active together\n.*`when: active\(...\)`",
    ),
    "a region with a variable's name": (
        {**GOOD, "outputs": {"b": 0}},
        "states.b is a region, whose state is an output b, and there is a variable b",
    ),
    "a region with an input's name": (
        {**GOOD, "arguments": ["u", "b"]},
        "states.b is a region, .* and there is an input or a parameter b",
    ),
    "a region named state": ({**GOOD, "states": {"state": {}}}, "there is an output state"),
    "no state to ask for": (
        led(**{"from": "a1", "to": "a2", "when": "active(a3)"}),
        r"transitions.0.when: .*column 8: active finds no 'a3'\n.*did you mean 'a\d?'",
    ),
    "no name to ask for": (
        led(**{"from": "a1", "to": "a2", "when": "active(2)"}),
        r"column 1: active takes one name\n.*write active\(a\)",
    ),
    "two definitions": (
        acting({"y": "u"}, {"y": 2}),
        "states.b.during.y: a defines y too, and both may be active together\n.*in one of them",
    ),
    "a value of before": (
        acting({"y": "2*z"}, {"z": "u"}),
        "states.a.during.y reads z, which b defines further below.*\n.*that defines it first",
    ),
}


@pytest.mark.parametrize("case", WRONG)
def test_a_wrong_entry_is_told(case):
    given, message = WRONG[case]
    with pytest.raises(InputError, match=message):
        find_type("STATE_MACHINE").cls(**given)


def test_what_is_well_defined_is_accepted():
    made = find_type("STATE_MACHINE").cls
    made(**acting({"z": "u"}, {"y": "2*z"}))
    inner = {"during": {"y": 1}, "states": {"a1": {"during": {"y": 2}}}}
    made(**{**GOOD, "states": {"a": inner, "b": {"during": {"z": "y"}}}})
    sampled = find_type("STATE_MACHINE_S").cls
    sampled(clock=bdsim.Clock(1.0), **acting({"y": "y + z"}, {"y": 1, "z": "y"}))


def test_a_fault_of_a_file_has_its_place(tmp_path):
    path = tmp_path / "machine.yaml"
    path.write_text("""
blocks:
  time: {type: TIME}
  m:
    type: STATE_MACHINE
    outputs: {y: 0}
    states:
      on:
        parallel: true
        states:
          a: {during: {y: u}}
          b: {during: {y: 2}}
wires: [time -> m.u]
""")
    with pytest.raises(sb.DiagramError, match=r"machine.yaml:12:27: .*a defines y too"):
        sb.load(path)


def test_regions_that_are_never_entered_are_told():
    parallel = {"parallel": True, "states": {**TWO, "c": {"initial": "c1", "states": {
        "c1": {}, "c2": {}}}}}  # fmt: skip
    states = {"off": {}, "on": parallel}
    made = find_type("STATE_MACHINE").cls
    ways = [{"from": "off", "to": "c2", "when": "u > 1"}]
    assert made(states, ways, initial="off").doubts == (
        "never enters a2, c1: no transition leads there",
    )
    assert made(states, initial="off").doubts == (
        "never enters on, a, a1, a2, b, c, c1, c2: no transition leads there",
    )
