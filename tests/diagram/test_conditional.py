"""Conditional subsystems: against closed forms, on both engines, in C and as FMUs."""

from __future__ import annotations

import json

import numpy as np
import pytest
from same_results import assert_same_results

import spart_blocks as sb
from spart_blocks.export import export_fmu, step_code, verify, verify_fmu
from spart_blocks.program.subdiagram import subdiagram_of
from spart_blocks.simulation.parity import check
from spart_blocks.simulation.simulate import engine_of


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
        condition = np.concatenate([[0.0], results["slow"].ravel()[:-1]]) > 0  # a ZOH is read late
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
