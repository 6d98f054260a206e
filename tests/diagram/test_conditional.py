"""Conditional subsystems: against closed forms, on both engines, in C and as FMUs."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from bdsim.components import FunctionBlock
from same_results import assert_same_results
from scipy.interpolate import CubicSpline

import spart_blocks as sb
from spart_blocks.diagram.build.registry import block_types
from spart_blocks.diagram.network.nodes import Node
from spart_blocks.export import export_fmu, step_code, verify, verify_fmu
from spart_blocks.program.subdiagram import subdiagram_of
from spart_blocks.run.engines.parity import check
from spart_blocks.run.simulate import engine_of

MODELS = Path(__file__).parents[2] / "models"


def subsystem(blocks, wires, inputs, outputs, **conditions):
    return {"inputs": inputs, "outputs": outputs, "blocks": blocks, "wires": wires, **conditions}


def integrator(start=0.0, **conditions):
    """y' = u."""
    wires = ["in.u -> i", "i -> out.y"]
    return subsystem(
        {"i": {"type": "INTEGRATOR", "x0": start}}, wires, ["u", "on"], ["y"], **conditions
    )


SOURCES = {
    "one": {"type": "CONSTANT", "value": 1},
    "time": {"type": "TIME"},
    "square": {"type": "PULSE", "period": 1.53, "width": 0.4},
    "sine": {"type": "WAVEFORM", "wave": "sine", "freq": 0.31},
    "slow": {"type": "WAVEFORM", "wave": "sine", "freq": 0.21, "phase": 0.1},
    "ticked": {"type": "ZOH", "clock": "s"},
}


@pytest.fixture
def made(tmp_path):
    """A function that loads a diagram of subsystems; uses: block by its type, its inputs' sources
    by name; those that are ticked hold the slow wave."""

    def make(subsystems, uses, **run):
        blocks, wires = {}, ["slow -> ticked"]
        for name, (kind, sources) in uses.items():
            blocks[name] = {"type": kind}
            wires += [f"{source} -> {name}.{port}" for port, source in sources.items()]
        used = {wire.split(" -> ")[0] for wire in wires}
        blocks |= {k: v for k, v in SOURCES.items() if k in used or k == "ticked"}
        text = {"clocks": {"c": {"T": 0.1}, "s": {"T": 0.3}}, "subsystems": subsystems,
                "blocks": blocks, "wires": wires, "run": {"T": 8, "every": 0.05, "rtol": 1e-9,
                "atol": 1e-10, **run}}  # fmt: skip
        (tmp_path / "made.yaml").write_text(json.dumps(text))
        return sb.load(tmp_path / "made.yaml")

    return make


def on_time(t, period=1.53, share=0.4):
    """How long the square wave has been on."""
    return np.floor(t / period) * share * period + np.minimum(t % period, share * period)


@pytest.mark.parametrize("engine", ["interpreter", "native"])
def test_an_enabled_integrator_adds_its_on_times(made, engine):
    diagram = made(
        {"acc": integrator(enabled={"by": "on"})},
        {"a": ("acc", {"u": "one", "on": "square"}), "b": ("acc", {"u": "one", "on": "sine"})},
        log=["a.y", "b.y"],
    )
    results = sb.simulate(diagram, engine=engine)
    t = results.t
    np.testing.assert_allclose(results["a.y"].ravel(), on_time(t), atol=1e-9)
    np.testing.assert_allclose(results["b.y"].ravel(), on_time(t, 1 / 0.31, 0.5), atol=1e-9)
    told = [(round(float(e.t), 9), e.what) for e in results.events if e.block == "a"]
    assert told[:3] == [(0.0, "enabled"), (0.612, "disabled"), (1.53, "enabled")]


def test_states_are_reset_and_outputs_given_or_held(made):
    blocks = {
        "i": {"type": "INTEGRATOR", "x0": 0.5},
        "s": {"type": "INTEGRATOR_S", "clock": "c"},
        "twice": {"type": "GAIN", "K": 2},
    }
    wires = ["in.u -> i, s", "i -> out.y, twice", "twice -> out.z", "s -> out.s"]
    enabled = {"by": "on", "states": "reset", "outputs": {"z": 7}, "initial": {"y": 5}}
    part = subsystem(blocks, wires, ["u", "on"], ["y", "z", "s"], enabled=enabled)
    diagram = made({"part": part}, {"a": ("part", {"u": "one", "on": "slow"})},
                   log=["a.y", "a.z", "a.s"], every=0.1)  # fmt: skip
    results = sb.simulate(diagram, engine="interpreter")
    t, y, z, s = (results.t, *(results[f"a.{k}"].ravel() for k in "yzs"))
    starts, length = (0.1 + np.arange(2)) / 0.21, 0.5 / 0.21
    before, after = t < starts[0], (t > starts[0] + length) & (t < starts[1])
    assert np.all(y[before] == 5)
    assert np.all(z[before] == 7)
    assert np.all(s[before] == 0)
    np.testing.assert_allclose(y[after], 0.5 + length, atol=1e-8)
    assert np.all(z[after] == 7)
    for start in starts:  # it begins anew each time
        on = (t > start + 1e-6) & (t < start + length)
        np.testing.assert_allclose(y[on], 0.5 + t[on] - start, atol=1e-8)
        np.testing.assert_allclose(z[on], 2 * y[on], atol=1e-12)
        first = np.ceil(start / 0.1 - 1e-9) * 0.1  # the first tick at which it is enabled
        np.testing.assert_allclose(s[on & (t >= first - 1e-9)],
                                   (t[on & (t >= first - 1e-9)] - first), atol=1e-9)  # fmt: skip


def test_a_sampled_condition_acts_at_its_tick(made):
    """As in Simulink: at the tick k at which the condition is true the blocks run, with the inputs
    of that tick, and the output is held from the last such tick."""
    blocks = {"u": {"type": "ZOH", "clock": "s"}, "n": {"type": "INTEGRATOR_S", "clock": "s"}}
    wires = ["in.u -> u, n", "u -> out.u", "n -> out.n"]
    part = subsystem(blocks, wires, ["u", "on"], ["u", "n"], enabled={"by": "on"})
    diagram = made({"part": part}, {"a": ("part", {"u": "time", "on": "ticked"})},
                   log=["a.u", "a.n", "ticked", "slow"], every=0.3)  # fmt: skip
    for engine in ("interpreter", "native"):
        results = sb.simulate(diagram, engine=engine)
        t = results.t
        condition = results["slow"].ravel() > 0
        n, total = [], 0.0
        for k, on in enumerate(condition):
            n.append(total if on else (n[-1] if n else 0.0))
            total += t[k] * 0.3 * on
        np.testing.assert_allclose(results["a.n"].ravel(), n, atol=1e-9)


EVERY = {
    "acc": subsystem(
        {
            "i": {"type": "INTEGRATOR", "x0": 0.5},
            "d": {"type": "INTEGRATOR_S", "clock": "c"},
            "h": {"type": "UNIT_DELAY", "clock": "c"},
            "relay": {"type": "RELAY", "on": 0.6, "off": 0.4},
            "twice": {"type": "GAIN", "K": 2},
            "v": {"type": "MUX"},
        },
        ["in.u -> i, d", "i -> out.y, twice, relay, v", "twice -> out.z", "d -> out.k, h",
         "relay -> v", "h -> v", "v -> out.w"],
        ["u", "on"], ["y", "z", "w", "k"],
        enabled={"by": "on", "states": "reset", "outputs": {"z": 7}, "initial": {"y": 5}},
    ),
    "outer": subsystem(
        {"inner": {"type": "acc"}, "i": {"type": "INTEGRATOR"},
         "s": {"type": "SUM", "signs": "++"}},
        ["in.u -> inner.u, i", "in.b -> inner.on", "inner.y -> s.0", "i -> s.1", "s -> out.y"],
        ["u", "a", "b"], ["y"], enabled={"by": "a"},
    ),
    "trig": subsystem(
        {
            "n": {"type": "INTEGRATOR_S"},
            "one": {"type": "CONSTANT", "value": 1},
            "last": {"type": "UNIT_DELAY"},
            "older": {"type": "UNIT_DELAY"},
            "m": {"type": "MUX"},
        },
        ["one -> n", "n -> out.n", "in.u -> last, m", "last -> older, m", "older -> m",
         "m -> out.last"],
        ["u", "t"], ["n", "last"], triggered={"by": "t", "edge": "either"},
    ),
    "again": integrator(1.0, reset={"by": "on"}),
    "level": integrator(1.0, reset={"by": "on", "edge": "level"}),
    "both": subsystem(
        {"n": {"type": "INTEGRATOR_S"}}, ["in.u -> n", "n -> out.n"], ["u", "t", "e"], ["n"],
        enabled={"by": "e", "states": "reset", "outputs": {"n": -1}}, triggered={"by": "t"},
    ),
}  # fmt: skip
USES = {
    "a": ("acc", {"u": "one", "on": "square"}),
    "b": ("acc", {"u": "one", "on": "sine"}),
    "c": ("acc", {"u": "one", "on": "ticked"}),
    "o": ("outer", {"u": "one", "a": "sine", "b": "slow"}),
    "t1": ("trig", {"u": "time", "t": "sine"}),
    "t2": ("trig", {"u": "time", "t": "ticked"}),
    "r": ("again", {"u": "one", "on": "sine"}),
    "l": ("level", {"u": "one", "on": "slow"}),
    "b1": ("both", {"u": "one", "t": "sine", "e": "slow"}),
    "b2": ("both", {"u": "one", "t": "ticked", "e": "sine"}),
}
OUTPUTS = [f"{name}.{port}" for name, (kind, _) in USES.items() for port in EVERY[kind]["outputs"]]


@pytest.fixture
def every(made):
    return made(EVERY, USES, log=OUTPUTS)


def test_both_engines_agree(every):
    native, blocks = (sb.simulate(every, engine=e) for e in ("native", "interpreter"))
    assert_same_results(native, blocks, rel=1e-8)
    for name in OUTPUTS:
        assert np.ptp(native[name]) > 0.5, name
    told = [[(round(float(e.t), 6), e.block, e.what) for e in r.events] for r in (native, blocks)]
    assert told[0] == told[1]
    check(engine_of(every, "native"), engine_of(every, "interpreter"))


def test_exported_c_and_fmus_agree(every, tmp_path):
    part = subdiagram_of(every, [])
    found = verify(step_code(part, rate=100), np.zeros((300, 0)))
    assert found.passed, found
    exchanged = verify_fmu(export_fmu(part, tmp_path), part, horizon=3.0)
    assert exchanged.passed, (exchanged.problems, exchanged.errors)


@pytest.mark.parametrize("ticked", [False, True])
def test_what_is_enabled_and_triggered_gives_its_initial_until_it_runs(tmp_path, ticked):
    """Whether it is disabled at first, enabled without an edge yet, or disabled again; only where
    `outputs` has a value for a disabled time is it that."""
    part = subsystem({"n": {"type": "INTEGRATOR_S"}}, ["in.u -> n, out.y, out.z", "n -> out.n"],
                     ["u", "e", "t"], ["y", "z", "n"], enabled={"by": "e", "outputs": {"z": 2}},
                     triggered={"by": "t", "initial": {"y": -1, "z": 5, "n": 7}})  # fmt: skip
    blocks = {"time": {"type": "TIME"}, "part": {"type": "part"},
              "e": {"type": "PULSE", "delay": 0.5, "period": 1.5, "width": 0.5},
              "t": {"type": "PULSE", "delay": 1.5, "period": 1, "width": 0.25}}  # fmt: skip
    wires = ["time -> part.u", "e -> part.e", "t -> part.t"]
    if ticked:  # both conditions change at the ticks of a clock
        for name in "et":
            blocks[f"{name}s"] = {"type": "FIR", "clock": "c", "coefficients": [1, 0]}
        wires = ["time -> part.u", "e -> es", "t -> ts", "es -> part.e", "ts -> part.t"]
    text = {"clocks": {"c": {"T": 0.125}}, "subsystems": {"part": part}, "blocks": blocks,
            "wires": wires, "run": {"T": 3.25, "every": 0.125,
                                    "log": ["part.y", "part.z", "part.n"]}}  # fmt: skip
    (tmp_path / "made.yaml").write_text(json.dumps(text))
    diagram = sb.load(tmp_path / "made.yaml")
    for engine in ("interpreter", "native"):
        results = sb.simulate(diagram, engine=engine)
        t = results.t
        enabled = ((t - 0.5) % 1.5 < 0.75) & (t >= 0.5)
        y = np.where(t < 2.5, -1, 2.5)  # the first edge within an enabled time
        n = np.where(t < 2.5, 7, 0)
        np.testing.assert_allclose(results["part.y"].ravel(), y, atol=1e-9)
        np.testing.assert_allclose(results["part.n"].ravel(), n, atol=1e-9)
        z = np.where(enabled, np.where(t < 2.5, 5, 2.5), 2)
        np.testing.assert_allclose(results["part.z"].ravel(), z, atol=1e-9)
    exported = subdiagram_of(diagram, [])
    assert verify(step_code(exported, rate=80), np.zeros((260, 0))).passed
    found = verify_fmu(export_fmu(exported, tmp_path), exported, horizon=3.25)
    assert found.passed, (found.problems, found.errors)


TOGETHER = {
    "reset": {"reset": {"by": "f"}},
    "level": {"reset": {"by": "f", "edge": "level"}},
    "enabled": {"enabled": {"by": "f"}},
    "anew": {"enabled": {"by": "f", "states": "reset"}},
}


def steps_together(kind):
    """What a sum of t from 0.5 on and a delay of it give, stepped at 0.25, 0.5, ... s. f is above
    zero from 0.5 to 1, 1.5 to 2 s and so on, and edges of both are at one instant."""
    found, n, d, shown, before = {}, 0.5, 0.0, (0.0, 0.0), False
    for k in range(21):
        t = k * 0.125
        on, edge = t % 1 >= 0.5, k % 2 == 0 and k > 0
        begins, before = on and not before, on
        if begins and kind != "enabled":
            n, d = 0.5, 0.0
        if edge and (on or kind in ("reset", "level")):
            shown = (n, d)
            if not (kind == "level" and on):
                n, d = n + t, n
        found[t] = shown
    return np.array(list(found.values()))


def test_a_trigger_acts_as_at_ticks_where_another_condition_changes_at_its_instant(tmp_path):
    """A reset comes before the step, states are kept while `level` holds, and what is disabled at
    the instant of an edge does not run: of triggers in time and at ticks, in one subsystem or in
    two, in both engines, in C and in FMUs."""
    step = subsystem({"n": {"type": "INTEGRATOR_S", "x0": 0.5}, "d": {"type": "UNIT_DELAY"}},
                     ["in.u -> n", "n -> d, out.n", "d -> out.d"], ["u", "e"], ["n", "d"],
                     triggered={"by": "e"})  # fmt: skip
    around = subsystem({"k": {"type": "step"}},
                       ["in.u -> k.u", "in.e -> k.e", "k.n -> out.n", "k.d -> out.d"],
                       ["u", "e", "f"], ["n", "d"])  # fmt: skip
    subsystems, log = {"step": step}, {}
    blocks = {"time": {"type": "TIME"},
              "e": {"type": "PULSE", "delay": 0.25, "period": 0.25, "width": 0.5},
              "f": {"type": "PULSE", "delay": 0.5, "period": 1, "width": 0.5}}  # fmt: skip
    blocks |= {f"{k}s": {"type": "FIR", "clock": "c", "coefficients": [1, 0]} for k in "ef"}
    wires = ["e -> es", "f -> fs"]
    for kind, conditions in TOGETHER.items():
        subsystems[f"{kind}_one"] = {**step, "inputs": ["u", "e", "f"], **conditions}
        subsystems[f"{kind}_two"] = {**around, **conditions}
        for many in ("one", "two"):
            for late in ("", "s"):
                name = f"{kind}_{many}{late}"
                blocks[name] = {"type": f"{kind}_{many}"}
                wires += [f"time -> {name}.u", f"e{late} -> {name}.e", f"f{late} -> {name}.f"]
                log[name] = kind
    names = [f"{name}.{port}" for name in log for port in "nd"]
    text = {"clocks": {"c": {"T": 0.125}}, "subsystems": subsystems, "blocks": blocks,
            "wires": wires, "run": {"T": 2.5, "every": 0.125, "log": names}}  # fmt: skip
    (tmp_path / "made.yaml").write_text(json.dumps(text))
    diagram = sb.load(tmp_path / "made.yaml")
    for engine in ("interpreter", "native"):
        results = sb.simulate(diagram, engine=engine)
        for name, kind in log.items():
            got = np.column_stack([results[f"{name}.{port}"].ravel() for port in "nd"])
            np.testing.assert_allclose(got, steps_together(kind), atol=1e-9, err_msg=name)
    exported = subdiagram_of(diagram, [])
    assert verify(step_code(exported, rate=80), np.zeros((200, 0))).passed
    found = verify_fmu(export_fmu(exported, tmp_path), exported, horizon=2.5)
    assert found.passed, (found.problems, found.errors)


def test_a_plant_and_controllers_stand_still_while_they_are_disabled(tmp_path):
    """At a time t they are where those are that run always at the time that they have run."""
    text = {
        "robots": {"arm": {"urdf": "arm.urdf"}},
        "subsystems": {"part": {
            "inputs": ["tau", "on"], "outputs": ["qm", "u"], "enabled": {"by": "on"},
            "blocks": {"plant": {"type": "MULTIBODY", "robot": "arm"},
                       "lag": {"type": "TRANSFER_FUNCTION", "num": 1, "den": [0.2, 1]},
                       "p": {"type": "PID", "P": 2, "I": 1, "D": 0.3},
                       "zero": {"type": "CONSTANT", "value": 0}},
            "wires": ["in.tau -> plant.taum", "plant.qm -> out.qm", "zero -> p.1",
                      "in.tau[0] -> p.0", "p -> lag", "lag -> out.u"],
        }},
        "blocks": {
            "tau": {"type": "CONSTANT", "value": [0.2, -0.1, 0.05]},
            "square": {"type": "PULSE", "period": 1.53, "width": 0.4},
            "always": {"type": "CONSTANT", "value": 1},
            "a": {"type": "part"}, "b": {"type": "part"},
        },
        "wires": ["tau -> a.tau, b.tau", "square -> a.on", "always -> b.on"],
        "run": {"T": 5, "rtol": 1e-10, "atol": 1e-12, "log": ["a.qm", "a.u", "b.qm", "b.u"]},
    }  # fmt: skip
    (tmp_path / "arm.urdf").write_text((MODELS / "spacecraft_3dof.urdf").read_text())
    (tmp_path / "plants.yaml").write_text(json.dumps(text))
    results = sb.simulate(tmp_path / "plants.yaml", every=0.05)
    for name in ("qm", "u"):
        free, gated = results[f"b.{name}"], results[f"a.{name}"]
        columns = free.reshape(len(free), -1).T
        at = on_time(results.t)
        want = [CubicSpline(results.t, column)(at) for column in columns]
        np.testing.assert_allclose(gated.reshape(len(gated), -1).T, want, atol=2e-4)


def test_what_a_disabled_branch_cannot_compute_ends_no_run(made):
    root = subsystem({"y": {"type": "FCN", "expression": "sqrt(u + 0.1)"}},
                     ["in.u -> y", "y -> out.y"], ["u", "on"], ["y"],
                     enabled={"by": "on", "outputs": {"y": 0}})  # fmt: skip
    diagram = made({"root": root}, {"a": ("root", {"u": "sine", "on": "sine"})}, log=["a.y"])
    for engine in ("interpreter", "native"):
        results = sb.simulate(diagram, engine=engine)
        u = np.sin(2 * np.pi * 0.31 * results.t)
        want = np.where(u > 0, np.sqrt(np.maximum(u, 0) + 0.1), 0.0)
        np.testing.assert_allclose(results["a.y"].ravel(), want, atol=1e-9)


def test_vectors_are_joined_in_an_enabled_subsystem(made):
    blocks = {"two": {"type": "GAIN", "K": [1, 2]}, "y": {"type": "MUX"}}
    root = subsystem(blocks, ["in.u -> two", "two -> y", "two -> y", "y -> out.y"],
                     ["u", "on"], ["y"], enabled={"by": "on", "outputs": {"y": 0}})  # fmt: skip
    diagram = made({"root": root}, {"a": ("root", {"u": "time", "on": "sine"})}, log=["a.y"])
    for engine in ("interpreter", "native"):
        results = sb.simulate(diagram, engine=engine)
        on = np.sin(2 * np.pi * 0.31 * results.t) > 0
        want = np.where(on, results.t, 0.0)[:, None] * [1, 2, 1, 2]
        np.testing.assert_allclose(results["a.y"], want, atol=1e-9)


@pytest.mark.parametrize(
    ("condition", "text"),
    [
        ({"enabled": {"by": "off"}}, "by names no input .off.: there are u, on"),
        ({"enabled": {"by": "on", "outputs": {"z": 1}}}, "names no output .z.: there are y"),
        ({"enabled": {"by": "on", "outputs": {"y": [1, 2]}}}, "must be of shape"),
        ({"enabled": {"by": "on", "states": "maybe"}}, "must be .held. or .reset."),
        ({"enabled": {"by": "on", "initial": {"y": "x"}}}, "must be finite numbers"),
        ({"enabled": {"by": "on", "outputs": {"y": 0}, "initial": {"y": 0}}}, "takes none"),
        ({"triggered": {"by": "on"}}, "has a continuous state, which a triggered"),
        ({"reset": {"by": "on", "edges": "rising"}}, "unknown key .edges."),
    ],
)
def test_wrong_conditions_are_told(made, condition, text):
    with pytest.raises(sb.DiagramError, match=text):
        sb.simulate(made({"part": integrator(**condition)},
                         {"a": ("part", {"u": "one", "on": "sine"})}))  # fmt: skip


@pytest.mark.parametrize(
    "block",
    [
        {"type": "TRANSPORT_DELAY", "delay": 2},
        {"type": "VARIABLE_DELAY", "max_delay": 2},
        {"type": "PULSE_WIDTH"},
    ],
)
def test_blocks_that_count_periods_are_refused_where_edges_are_the_ticks(made, block):
    """They would take edges for 1 s apart; behind them, outside, a subsystem samples at edges."""
    wires = ["in.u -> d.0", "d -> out.y"] + ["in.u -> d.1"] * (block["type"] == "VARIABLE_DELAY")
    part = subsystem({"d": block}, wires, ["u", "on"], ["y"], triggered={"by": "on"})
    with pytest.raises(sb.DiagramError, match="counts periods of its clock, and the edges") as told:
        sb.simulate(made({"part": part}, {"a": ("part", {"u": "time", "on": "sine"})}))
    assert "put it outside with a clock, and wire its signal in" in str(told.value)


def test_a_transport_delay_before_a_triggered_subsystem_counts_the_time(made):
    """The time 2 s before each edge of the slow wave; edges are 1/0.31 s apart."""
    held = subsystem({"s": {"type": "ZOH"}}, ["in.u -> s", "s -> out.y"], ["u", "on"], ["y"],
                     triggered={"by": "on"})  # fmt: skip
    late = subsystem({"d": {"type": "TRANSPORT_DELAY", "clock": "c", "delay": 2}},
                     ["in.u -> d", "d -> out.y"], ["u"], ["y"])  # fmt: skip
    uses = {"late": ("late", {"u": "time"}), "a": ("held", {"u": "late.y", "on": "sine"})}
    diagram = made({"held": held, "late": late}, uses, log=["a.y"])
    for engine in ("interpreter", "native"):
        results = sb.simulate(diagram, engine=engine)
        edge = np.floor(results.t * 0.31 + 1e-9) / 0.31
        want = np.where(edge > 0, edge - 2, 0.0)
        apart = np.abs(results.t * 0.31 - np.round(results.t * 0.31)) > 1e-3
        np.testing.assert_allclose(np.ravel(results["a.y"])[apart], want[apart], atol=1e-7)


def test_a_subsystem_built_in_python_takes_conditions():
    diagram, inner = sb.new_diagram("whole"), sb.new_diagram("inner")
    signals, out = inner.INPORT(2), inner.OUTPORT(1)
    integral = inner.INTEGRATOR(name="i")
    inner.connect(signals[0], integral)
    inner.connect(integral, out)
    part = diagram.SUBSYSTEM(inner, name="part")
    with pytest.raises(sb.InputError, match=r"by names no input .on."):
        sb.conditional(part, enabled={"by": "on"})
    sb.conditional(part, enabled={"by": "1"})
    diagram.connect(diagram.CONSTANT(1.0), part[0])
    diagram.connect(diagram.WAVEFORM(wave="square", freq=1.0), part[1])
    results = sb.simulate(diagram, T=2.5)
    assert abs(results["part/i"].ravel()[-1] - 1.5) < 1e-9


def test_a_trigger_in_time_is_a_tick_of_what_it_runs(tmp_path):
    """At edge k a UNIT_DELAY shows u_{k-1}, a hold u_k, and so does a hold of a hold."""
    path = tmp_path / "edges.yaml"
    path.write_text("""
subsystems:
  s:
    inputs: [go, u]
    outputs: [delay, hold, again]
    triggered: {by: go}
    blocks:
      delay: {type: UNIT_DELAY, initial: -1}
      hold: {type: ZOH}
      again: {type: ZOH}
    wires: [in.u -> delay, in.u -> hold, hold -> again, delay -> out.delay, hold -> out.hold,
            again -> out.again]
blocks:
  t: {type: TIME}
  go: {type: WAVEFORM, wave: sine, freq: 1, phase: 0.1}
  s: {type: s}
wires: [t -> s.u, go -> s.go]
run: {T: 2.4, every: 0.6, log: [s.delay, s.hold, s.again]}
""")
    for engine in ("interpreter", "native"):
        results = sb.simulate(path, engine=engine)
        np.testing.assert_allclose(results["s.hold"].ravel(), [0, 0.1, 1.1, 1.1, 2.1], atol=1e-9)
        np.testing.assert_array_equal(results["s.again"], results["s.hold"])
        np.testing.assert_allclose(results["s.delay"].ravel(), [0, -1, 0.1, 0.1, 1.1], atol=1e-9)


class Late(FunctionBlock):
    """Its input from 0.25 s on."""

    nin = 1
    nout = 1

    def output(self, t, inputs, x):
        return [np.where(t > 0.25, inputs[0], 0.0)]


class Handed(FunctionBlock):
    """Its input; t is passed on in vain."""

    nin = 1
    nout = 1
    varies_between_ticks = False

    def output(self, t, inputs, x):
        return self.of(t, inputs)

    def of(self, t, inputs):
        return [1.0 * inputs[0]]


@pytest.mark.parametrize("engine", ["interpreter", "native"])
@pytest.mark.parametrize(("block", "first"), [(Late, 0.25), (Handed, 0.2)])
def test_a_block_that_reads_the_time_has_edges_between_ticks(block, first, engine):
    """A ZOH that rises at 0.2 sets off a trigger by a block of one's own."""
    diagram, inner = sb.new_diagram("own"), sb.new_diagram("inner")
    ports = inner.INPORT(2)
    held = inner.ZOH(clock=sb.trigger_clock(), name="held")
    inner.connect(ports[0], held)
    inner.connect(held, inner.OUTPORT(1))
    rise = diagram.ZOH(clock=diagram.clock(0.1, "s"), name="rise")
    diagram.connect(diagram.STEP(T=0.15), rise)
    late = block(bd=diagram, name="late")
    diagram.connect(rise, late)
    part = sb.conditional(diagram.SUBSYSTEM(inner, name="part"), triggered={"by": "1"})
    diagram.connect(diagram.TIME(), part[0])
    diagram.connect(late, part[1])
    results = sb.simulate(diagram, T=0.5, engine=engine)
    assert results["part/held"][-1] == pytest.approx(first)
    (event,) = results.events
    assert event.t == pytest.approx(first)


def test_functions_of_the_library_that_read_the_time_are_few(bdsim_runtime):
    """Those that pass t on in vain declare that they do not vary."""
    found = set()
    for kind in block_types():
        node = Node(0, "b", object.__new__(kind.cls), kind.blockclass, (), (), ())
        if kind.blockclass == "function" and node.varies_between_ticks:
            found.add(kind.name)
    links = {f"{link}_IN" for link in ("UDP", "TCP", "SERIAL", "SHM", "ZMQ", "MQTT", "ROS")}
    formulas = {"FCN", "IF"}  # one without t declares it
    earth = {"ECI_ECEF", "ECEF_ECI", "MAGNETIC_FIELD"}
    assert found == {"GYRO_STEERING", *links, *formulas, *earth}
