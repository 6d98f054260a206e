"""Sampled blocks in subsystems with `reset:`: their law at ticks, and as from a new start."""

from __future__ import annotations

import json

import numpy as np
import pytest
from bdsim.components import SampledBlock
from lane_runs import in_order, nominal
from same_results import assert_same_results

import spart_blocks as sb
from spart_blocks.export import export_fmu, step_code, verify, verify_fmu
from spart_blocks.measures.work import Work
from spart_blocks.program.c.compiler import compiler_name
from spart_blocks.program.subdiagram import subdiagram_of
from spart_blocks.sweeps.run import lanes

T = 0.125  # exact in binary, as are the times of what switches at ticks
SUMS = {
    "inputs": ["u", "again"],
    "outputs": ["n", "count", "held"],
    "blocks": {
        "n": {"type": "INTEGRATOR_S", "clock": "c", "x0": 0.5},
        "last": {"type": "UNIT_DELAY", "clock": "c"},
        "count": {"type": "SUM", "signs": "++"},
        "held": {"type": "FIR", "clock": "c", "coefficients": [1, 0]},
        "shown": {"type": "ZOH", "clock": "c"},
    },
    "wires": ["in.u -> n, count.0, shown", "n -> out.n", "last -> count.1", "count -> last, held",
              "held -> out.count", "shown -> out.held"],
}  # fmt: skip
SIGNALS = {  # the delay, period and width of pulses: between ticks, at ticks, from the start on
    "between": (0.35, 1.03, 0.3),
    "at": (0.375, 1.0, 0.5),
    "first": (0.0, 1.13, 0.3),
    "short": (0.22, 0.9, 0.04),
    "quick": (0.05, 0.21, 0.4),
}
TRIED = ("between", "at", "first", "short")
SAMPLED = {"type": "FIR", "clock": "c", "coefficients": [1, 0]}


def pulses(*names):
    return {
        name: dict(zip(("delay", "period", "width"), SIGNALS[name], strict=True), type="PULSE")
        for name in names
    }


def sums(edge, names=TRIED):
    """The sums of ones, reset by each signal, and by each as it is at ticks."""
    blocks = {"one": {"type": "CONSTANT", "value": 1}, **pulses(*names)}
    wires, log = [], []
    for name in names:
        blocks |= {
            f"s_{name}": SAMPLED,
            f"a_{name}": {"type": "sums"},
            f"b_{name}": {"type": "sums"},
        }
        wires += [f"one -> a_{name}.u, b_{name}.u", f"{name} -> a_{name}.again, s_{name}",
                  f"s_{name} -> b_{name}.again"]  # fmt: skip
        log += [f"{k}_{name}.{port}" for k in "ab" for port in ("n", "count", "held")]
    reset = {"by": "again", "edge": edge}
    return {
        "clocks": {"c": {"T": T}},
        "subsystems": {"sums": {**SUMS, "reset": reset}},
        "blocks": blocks,
        "wires": wires,
        "run": {"T": 4, "every": T / 2, "log": log},
    }


def loaded(folder, text):
    (folder / "made.yaml").write_text(json.dumps(text))
    return sb.load(folder / "made.yaml")


def law(name, edge, sampled):
    """The integral and the count at each tick, from the times of the edges."""
    delay, period, width = SIGNALS[name]
    ticks = np.arange(33) * T
    rises = delay + period * np.arange(5)
    falls = rises + width * period
    late = 1e-9
    above = np.any([(ticks > r - late) & (ticks < f - late)
                    for r, f in zip(rises, falls, strict=True)], axis=0)  # fmt: skip
    rising, falling = rises[rises > 0], falls
    if sampled:  # what it is at ticks
        rising, falling = ticks[1:][np.diff(above * 1) > 0], ticks[1:][np.diff(above * 1) < 0]
    edges = {"rising": rising, "falling": falling, "level": rising,
             "either": np.concatenate([rising, falling])}[edge]  # fmt: skip
    resets = np.isin(np.arange(33), np.ceil(edges / T - late))
    kept = above if edge == "level" else np.zeros(33, bool)
    found, n, count = [], 0.5, 0
    for anew, stays in zip(resets, kept, strict=True):
        n, count = (0.5, 0) if anew or stays else (n, count)
        found.append((n, count + 1))
        n, count = (n, count) if stays else (n + T, count + 1)
    return np.array(found).T


@pytest.mark.parametrize("edge", ["rising", "falling", "either", "level"])
def test_sampled_blocks_are_at_their_start_at_the_tick_of_a_reset(edge, tmp_path):
    """At the first tick at or after the edge, with the output of this tick; held to the next."""
    results = sb.simulate(loaded(tmp_path, sums(edge)), engine="interpreter")
    for name in TRIED:
        for part in "ab":
            n, count = law(name, edge, part == "b")
            assert np.ptp(n) > 2 * T
            got = {
                port: results[f"{part}_{name}.{port}"].ravel() for port in ("n", "count", "held")
            }
            for at in (slice(0, None, 2), slice(1, None, 2)):  # at ticks, and between
                size = len(results.t[at])
                np.testing.assert_allclose(got["n"][at], n[:size], atol=1e-12, err_msg=name)
                np.testing.assert_allclose(got["count"][at], count[:size], atol=1e-12)
            if edge != "level":  # a ZOH shows the sample of the tick, whether it is reset or not
                np.testing.assert_allclose(got["held"], 1.0)


CASES = {
    "delay": {"type": "UNIT_DELAY", "initial": 0.7, "N": 2},
    "lead": {"type": "LTI_SISO_S", "N": [4.0, -3.8], "D": [1.0, -0.6]},
    "slow": {"type": "LTI_SS_S", "A": [[0.9]], "B": [[0.3]], "C": [[1.0]], "x0": [1.5]},
    "pid": {"type": "PID_S", "P": 2.0, "I": 0.5, "D": 0.1},
    "average": {"type": "MOVING_AVERAGE", "N": 4},
    "rate": {"type": "RATE_LIMITER_S", "rising": 1.0, "falling": -1.0},
    "noise": {"type": "NOISE", "seed": 3},
    "sum": {"type": "INTEGRATOR_S"},
}


def test_after_a_reset_a_subsystem_runs_as_from_the_start(tmp_path):
    """Blocks with and without direct feedthrough, alone and in a chain, on two clocks."""
    blocks, wires = {"smooth": {"type": "INTEGRATOR", "x0": 0.2}}, ["in.u -> smooth"]
    blocks["coarse"] = {"type": "INTEGRATOR_S", "clock": "d"}
    for name, given in CASES.items():
        blocks[name] = {**given, "clock": "c"}
        if name == "pid":
            wires.append("in.u -> pid.1")
            wires.append("zero -> pid.0")
        elif name != "noise":
            wires.append(f"in.u -> {name}")
    blocks |= {"zero": {"type": "CONSTANT", "value": 0.3}}
    blocks |= {"then": {"type": "INTEGRATOR_S", "clock": "c"}, "all": {"type": "MUX"}}
    wires += ["in.u -> coarse", "lead -> then"]
    wires += [f"{name} -> all" for name in (*CASES, "then", "smooth", "coarse")] + ["all -> out.y"]
    part = {"inputs": ["u", "again"], "outputs": ["y"], "reset": {"by": "again"},
            "blocks": blocks, "wires": wires}  # fmt: skip
    text = {
        "clocks": {"c": {"T": 0.1}, "d": {"T": 0.2}},
        "subsystems": {"part": part},
        "blocks": {"one": {"type": "CONSTANT", "value": 1.0}, "part": {"type": "part"},
                   "again": {"type": "STEP", "T": 1.0}},
        "wires": ["one -> part.u", "again -> part.again"],
        "run": {"T": 2, "every": 0.05, "log": ["part.y"], "rtol": 1e-10, "atol": 1e-12},
    }  # fmt: skip
    diagram = loaded(tmp_path, text)
    for engine in ("interpreter", "native"):
        y = sb.simulate(diagram, engine=engine)["part.y"]
        assert np.all(np.ptp(y, axis=0) > 0.1)
        np.testing.assert_allclose(y[20:40], y[:20], atol=1e-9)


class Late(SampledBlock):
    """Its input one tick ago, and half of what it was before."""

    nin = 1
    nout = 1
    delays = True

    def __init__(self, clock, **blockargs):
        super().__init__(clock=clock, x0=[0.25], feedthrough=False, nin=1, nout=1, **blockargs)

    def output(self, t, inputs, x):
        return [x[0]]

    def next(self, t, inputs, x):
        return np.array([0.5 * x[0] + inputs[0]])


READ = {
    "delay": lambda bd, clock: bd.UNIT_DELAY(clock, initial=0.7, name="delay"),
    "sum": lambda bd, clock: bd.INTEGRATOR_S(clock, x0=0.5, name="sum"),
    "linear": lambda bd, clock: bd.LTI_SISO_S(clock, [1.0], [1.0, -0.5], name="linear"),
    "own": lambda bd, clock: Late(clock, name="own", bd=bd),
    "hold": lambda bd, clock: bd.ZOH(clock, name="hold"),
}


def test_what_is_continuous_reads_sampled_blocks_that_are_reset(tmp_path):
    """Sampled blocks that another in the subsystem feeds run as from the start after a reset; their
    integrals are those of their outputs held from tick to tick, in runs, in C and in FMUs."""
    whole = sb.new_diagram("whole")
    one, again = whole.CONSTANT(1.0), whole.STEP(T=7.5 * T)  # seen at the eighth tick
    for name, make in READ.items():
        part = sb.new_diagram(f"inner_{name}")
        clock, ends, out = part.clock(T), part.INPORT(2, name="in"), part.OUTPORT(1, name="out")
        ramp, block = part.INTEGRATOR_S(clock, x0=1.0, name="ramp"), make(part, clock)
        part.connect(ends[0], ramp)
        part.connect(ramp, block)
        part.connect(block, out)
        subsystem = sb.conditional(whole.SUBSYSTEM(part, name=f"s_{name}"), reset={"by": "1"})
        whole.connect(one, subsystem[0])
        whole.connect(again, subsystem[1])
        whole.connect(subsystem, whole.INTEGRATOR(name=f"i_{name}"))
    log = [f"{where}{name}" for name in READ for where in (f"s_{name}/", "i_")]
    results = [
        sb.simulate(whole, T=2, every=T, engine=engine, log=log)
        for engine in ("interpreter", "native")
    ]
    for run in results:
        for name in READ:
            y, integral = run[f"s_{name}/{name}"].ravel(), run[f"i_{name}"].ravel()
            assert np.ptp(y) > 0.1, name
            np.testing.assert_allclose(y[8:16], y[:8], atol=1e-12, err_msg=name)
            held = np.concatenate([[0.0], np.cumsum(y[:-1] * T)])
            np.testing.assert_allclose(integral, held, atol=1e-9, err_msg=name)
    assert_same_results(*results, rel=1e-9)
    exported = subdiagram_of(whole, [])
    assert verify(step_code(exported, rate=80), np.zeros((160, 0))).passed
    found = verify_fmu(export_fmu(exported, tmp_path), exported, horizon=2.0)
    assert found.passed, (found.problems, found.errors)


def inner(**conditions):
    blocks = {
        "n": {"type": "INTEGRATOR_S", **({} if "triggered" in conditions else {"clock": "c"})}
    }
    return {"inputs": ["u", "c"], "outputs": ["n"], "blocks": blocks,
            "wires": ["in.u -> n", "n -> out.n"], **conditions}  # fmt: skip


def part(edge):
    """Subsystems that are enabled and triggered in one that is reset."""
    return {
        "inputs": ["u", "on", "again"],
        "outputs": ["a", "b", "d"],
        "reset": {"by": "again", "edge": edge},
        "blocks": {"a": {"type": "runs"}, "b": {"type": "steps"},
                   "d": {"type": "INTEGRATOR_S", "clock": "d"}},
        "wires": ["in.u -> a.u, b.u, d", "in.on -> a.c, b.c", "a -> out.a", "b -> out.b",
                  "d -> out.d"],
    }  # fmt: skip


def test_engines_c_fmu_and_lanes_agree(tmp_path):
    text = sums("falling", ["between"])
    text["subsystems"] |= {
        "runs": inner(enabled={"by": "c"}), "steps": inner(triggered={"by": "c"}),
        "either": part("either"), "level": part("level"),
        "whole": {
            "inputs": ["u", "on", "again", "all"], "outputs": ["a", "b", "d"],
            "enabled": {"by": "all", "states": "reset"},
            "blocks": {"part": {"type": "level"}},
            "wires": ["in.u -> part.u", "in.on -> part.on", "in.again -> part.again",
                      *(f"part.{k} -> out.{k}" for k in "abd")],
        },
    }  # fmt: skip
    text["clocks"]["d"] = {"T": 0.1875}
    text["blocks"] |= {
        "w": {"type": "whole"},
        "v": {"type": "either"},
        **pulses("at", "first", "quick"),
    }
    text["blocks"] |= {"s_at": SAMPLED, "s_first": SAMPLED}
    text["wires"] += ["one -> v.u, w.u", "quick -> v.on, w.on", "at -> v.again, s_at",
                      "first -> s_first", "s_first -> w.again", "s_at -> w.all"]  # fmt: skip
    text["run"] |= {
        "T": 3,
        "log": [*text["run"]["log"], *(f"{n}.{k}" for n in "vw" for k in "abd")],
    }
    diagram = loaded(tmp_path, text)
    native, blocks = (sb.simulate(diagram, engine=e) for e in ("native", "interpreter"))
    assert_same_results(native, blocks, rel=1e-9)
    for name in text["run"]["log"]:
        assert np.ptp(native[name]) > 0.1 or name.endswith("held"), name
    part_ = subdiagram_of(diagram, [])
    assert verify(step_code(part_, rate=80), np.zeros((300, 0))).passed
    found = verify_fmu(export_fmu(part_, tmp_path), part_, horizon=2.0)
    assert found.passed, (found.problems, found.errors)
    program = sb.trace(diagram)
    if compiler_name() is not None:
        work = Work(program, np.arange(3), np.tile(program.p, (3, 1)), ())
        done = in_order(lanes.run(work, lanes=4, threads=1))
        x, _, _ = nominal(program, ())
        np.testing.assert_allclose(done.x, np.tile(x, (3, 1)), atol=1e-9)
        for slot in program.discrete:
            want = native.final_state.discrete[slot.name]
            np.testing.assert_array_equal(done.xd[:, slot.part], np.tile(want, (3, 1)))


def test_a_run_in_two_parts_equals_one(tmp_path):
    diagram = loaded(tmp_path, sums("either"))
    whole = sb.simulate(diagram)
    first = sb.simulate(diagram, T=1.37)
    second = sb.simulate(diagram, T=4, initial=first)
    for name in diagram.run.log:
        assert second[name][-1] == whole[name][-1], name


def test_a_count_that_resets_itself_is_a_loop_unless_it_is_read_later(tmp_path):
    text = {
        "clocks": {"c": {"T": 0.1}},
        "subsystems": {"sums": {**SUMS, "reset": {"by": "again", "edge": "level"}}},
        "blocks": {"one": {"type": "CONSTANT", "value": 1}, "part": {"type": "sums"},
                   "full": {"type": "COMPARE", "operator": ">=", "constant": 4}},
        "wires": ["one -> part.u", "part.count -> full", "full -> part.again"],
        "run": {"T": 2, "every": 0.1, "log": ["part.count"]},
    }  # fmt: skip
    with pytest.raises(sb.DiagramError, match=r"algebraic loop: .*full"):
        sb.simulate(loaded(tmp_path, text))
    text["blocks"]["later"] = {"type": "UNIT_DELAY", "clock": "c"}
    text["wires"][2:] = ["full -> later", "later -> part.again"]
    count = sb.simulate(loaded(tmp_path, text))["part.count"].ravel()
    assert count.tolist() == [*([1, 2, 3, 4, 1] * 4), 1]


@pytest.mark.parametrize(
    ("edge", "ticks"), [("rising", [0, 1, 2, 0, 1]), ("level", [0, 1, 2, 0, 0])]
)
def test_a_level_moves_on_a_tick_later_than_an_edge(edge, ticks, tmp_path):
    path = tmp_path / "level.yaml"
    path.write_text(f"""
clocks: {{c: {{T: 1}}}}
subsystems:
  count:
    inputs: [again]
    outputs: [n]
    reset: {{by: again, edge: {edge}}}
    blocks: {{one: {{type: CONSTANT, value: 1}}, n: {{type: INTEGRATOR_S, clock: c}}}}
    wires: [one -> n, n -> out.n]
blocks:
  pulse: {{type: PULSE, period: 10, width: 0.05, delay: 3}}
  count: {{type: count}}
  mean: {{type: MOVING_AVERAGE, clock: c, N: 2}}
wires: [pulse -> count.again, count -> mean]
run: {{T: 4, every: 1, log: [count.n]}}
""")
    results = sb.simulate(path)
    assert results["count.n"].ravel().tolist() == ticks
    said = "count/n (INTEGRATOR_S), mean (MOVING_AVERAGE) hold their outputs"
    assert said in results.info["notes"]
