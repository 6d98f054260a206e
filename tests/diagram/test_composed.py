"""Blocks that bdsim makes of others: every choice of their arguments works, and names are the
user's."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

import spart_blocks as sb
from spart_blocks.base.errors import InputError
from spart_blocks.diagram import new_diagram
from spart_blocks.program.parameter_paths import target_at

GAINS = {"P": 2, "I": 3, "D": 0.5, "D_pole": 10, "I_limit": 0.1}
SAMPLED = {"P": 2, "I": 3, "D": 0.5, "I_limit": 0.1}
STRUCTURES = ("parallel", "ideal", "series")
HEAD = """\
clocks: {c: {T: 0.05}}
blocks:
  r: {type: WAVEFORM, wave: sine, freq: 1, amplitude: 1}
  y: {type: WAVEFORM, wave: sine, freq: 0.3, amplitude: 0.5}
"""


def choices(gains):
    """Every subset of some arguments, in each structure."""
    for structure, *chosen in product(STRUCTURES, *([False, True] for _ in gains)):
        given = {name: gains[name] for name, used in zip(gains, chosen, strict=True) if used}
        yield given | ({} if structure == "parallel" else {"structure": structure})


def diagram_of(kind, cases):
    blocks, wires = [], []
    for k, given in enumerate(cases):
        listed = "".join(f", {name}: {value}" for name, value in given.items())
        blocks.append(f"  b{k}: {{type: {kind}{', clock: c' * (kind == 'PID_S')}{listed}}}")
        wires += [f"  - y -> b{k}.0", f"  - r -> b{k}.1"]
    log = ", ".join(f"b{k}" for k in range(len(cases)))
    return "\n".join(
        [HEAD + "\n".join(blocks), "wires:", *wires, f"run: {{T: 1, log: [r, y, {log}]}}", ""]
    )


def ran(tmp_path, text, **options):
    path = tmp_path / "some.yaml"
    path.write_text(text, encoding="utf-8")
    return sb.simulate(path, **options)


def law(given, t, e, step):
    """The output of a PID for the errors e at times t. step: period of its clock [s]; None for one
    in time, whose integrals are summed by the trapezoidal rule.
    """
    structure = given.get("structure", "parallel")
    gain = given.get("P", 0.0)
    v = e if structure == "parallel" else gain * e
    limit, pole = given.get("I_limit", np.inf), given.get("D_pole", 1.0)
    total = gain * e
    for stage in "ID":
        rate = given.get(stage, 0.0)
        if not rate:
            continue
        u = total if structure == "series" else v
        part = np.zeros_like(t)
        state = 0.0
        for k, now in enumerate(u):
            h = t[k] - t[k - 1] if k else 0.0
            if step and stage == "I":
                part[k] = state
                state = np.clip(state + step * rate * now, -limit, limit)
            elif step:
                part[k] = rate * (now - state) / step
                state = now
            elif stage == "I":
                state = np.clip(state + h * rate * (now + u[max(k - 1, 0)]) / 2, -limit, limit)
                part[k] = state
            else:
                held, q = (now + u[max(k - 1, 0)]) / 2, np.exp(-pole * h)
                state = q * state + (1 - q) * held
                part[k] = rate * pole * (now - state)
        total = total + part
    return total


@pytest.mark.parametrize("engine", ["native", "interpreter"])
@pytest.mark.parametrize(("kind", "gains"), [("PID", GAINS), ("PID_S", SAMPLED)])
def test_each_choice_of_arguments_gives_its_law(tmp_path, kind, gains, engine):
    cases = list(choices(gains))
    run = ran(tmp_path, diagram_of(kind, cases), engine=engine)
    ticks = np.round(np.arange(0, 1.001, 0.05), 12)
    t = ticks if kind == "PID_S" else np.linspace(0, 1, 1001)
    e = np.sin(2 * np.pi * t) - 0.5 * np.sin(0.6 * np.pi * t)
    at = np.linspace(0.05, 0.95, 19)
    for k, given in enumerate(cases):
        want = np.interp(at, t, law(given, t, e, 0.05 if kind == "PID_S" else None))
        rows = np.searchsorted(run.t, at + 1e-9, side="right") - 1
        got = np.array([np.interp(one, run.t, run[f"b{k}"]) for one in at])
        got = run[f"b{k}"][rows] if kind == "PID_S" else got
        np.testing.assert_allclose(got, want, rtol=0, atol=2e-2, err_msg=str(given))


NAMES = """\
clocks: {c: {T: 0.05}}
blocks:
  r: {type: STEP, T: 0.1}
  pid: {type: PID, P: 2, I: 0.5, D: 1, D_pole: 100, I_limit: 3}
  pids: {type: PID_S, clock: c, P: 2, I: 0.5, D: 0.1, I_limit: [-3, 4]}
  one: {type: PID, P: 2}
  slope: {type: DERIV, alpha: 10, x0: 0.5, gain: 1}
  plant: {type: LTI_SISO, N: 1, D: [1, 1, 0]}
  s: {type: SCOPE, nin: 4}
wires:
  - plant -> pid.0, pids.0, one.0, slope
  - r -> pid.1, pids.1, one.1
  - pid -> plant, s.0
  - pids -> s.1
  - one -> s.2
  - slope -> s.3
run: {T: 1}
"""


@pytest.fixture
def named(tmp_path):
    path = tmp_path / "named.yaml"
    path.write_text(NAMES, encoding="utf-8")
    return path


def test_parameters_signals_and_states_have_the_names_of_the_user(named):
    program = sb.trace(sb.load(named))
    starts = set(program.start.values())
    assert sorted(s.name for s in program.parameters if s.name not in {*starts, "r.T"}) == [
        "one.P", "pid.D", "pid.D_pole", "pid.I", "pid.I_limit", "pid.P",
        "pids.D", "pids.I", "pids.I_limit[0]", "pids.I_limit[1]", "pids.P",
        "r.off", "r.on", "slope.alpha", "slope.gain",
    ]  # fmt: skip
    assert program.parameter("slope.x0") == [0.5]
    run = sb.simulate(named)
    assert list(run.signals) == ["pid", "pids", "one", "slope"]
    assert {"pid/I", "pid/D/filter", "slope/filter", "pids/I", "pids/D"} < {*run.states}
    assert {"pid/P", "pid/I", "pid/D", "pid/error"} < {slot.name for slot in program.signals}


def test_names_of_inner_blocks_are_understood_still(named):
    program, run = sb.trace(sb.load(named)), sb.simulate(named)
    np.testing.assert_array_equal(run["pid/SUM"], run["pid"])
    np.testing.assert_array_equal(run["slope/K"], run["slope"])
    for former, name in {
        "pid/P.K": "pid.P", "pid/I.gain": "pid.I", "pid/D/K.K": "pid.D", "pids/gain.0.K": "pids.P",
        "slope/K.K": "slope.gain", "pid/I.max": "pid.I_limit",
    }.items():  # fmt: skip
        assert program.parameter_places(former) == program.parameter_places(name)
    with pytest.raises(InputError, match="there is nothing named 'pid/P'") as caught:
        sb.load(named, overrides=["pid/P.K=3"])
    assert caught.value.faults[0].hint == "write pid.P"
    with pytest.raises(InputError, match=r"there is no parameter 'pid/SUM\.K'"):
        program.parameter("pid/SUM.K")


@pytest.mark.parametrize(
    ("name", "value", "override"),
    [
        ("pid.I_limit", 0.01, "pid.I_limit=0.01"),
        ("pids.I_limit[1]", 0.01, "pids.I_limit=[-3,0.01]"),
    ],
)
def test_a_limit_is_one_parameter_for_both_sides_or_one_for_each(named, name, value, override):
    program = sb.trace(sb.load(named)).with_parameters({name: value})
    want = sb.simulate(named, overrides=[override])
    got = sb.simulate(program)
    for signal in want.signals:
        np.testing.assert_array_equal(got[signal], want[signal])


@pytest.mark.parametrize(
    ("limit", "names"),
    [
        ("[-2, 2]", ["pids.I_limit"]),
        ("[-.inf, 2]", ["pids.I_limit[1]"]),
        ("[1, 2]", ["pids.I_limit[0]", "pids.I_limit[1]"]),
    ],
)
def test_limits_that_are_there_are_parameters(named, limit, names):
    named.write_text(NAMES.replace("[-3, 4]", limit), encoding="utf-8")
    program = sb.trace(sb.load(named))
    assert [s.name for s in program.parameters if s.name.startswith("pids.I_l")] == names
    if len(names) == 2:
        assert [float(program.parameter(name)) for name in names] == [1, 2]


def test_alpha_is_structural_where_y0_is_given_since_x0_follows_from_both(named):
    named.write_text(NAMES.replace("x0: 0.5", "y0: 1"), encoding="utf-8")
    diagram = sb.load(named)
    assert target_at(sb.trace(diagram), "slope.alpha") is None
    named.write_text(NAMES, encoding="utf-8")
    assert target_at(sb.trace(sb.load(named)), "slope.alpha") is not None


def test_a_pid_with_p_alone_can_be_made_in_python_too():
    bd = new_diagram("one")
    for k, pid in enumerate([bd.PID(2, name="a"), bd.PID(name="b"), bd.PID_S(bd.clock(0.1), P=2)]):
        bd.connect(bd.CONSTANT(1, name=f"y{k}"), pid[0])
        bd.connect(bd.CONSTANT(4, name=f"r{k}"), pid[1])
        bd.connect(pid, bd.RECORD(name=f"n{k}"))
    run = sb.simulate(bd, T=0.3)
    assert [run[f"n{k}"][-1] for k in range(3)] == [6, 0, 6]


def test_faults_are_told_of_the_block_that_the_user_made():
    bd = new_diagram("one")
    pid = bd.PID(P=2, I=1, name="pid")
    bd.connect(pid, bd.RECORD(name="n"))
    with pytest.raises(InputError) as caught:
        sb.simulate(bd, T=0.3)
    told = [fault.message for fault in caught.value.faults]
    assert told == [f"input '{k}' of pid (PID) is not connected" for k in range(2)]


def test_a_circle_through_a_pid_is_told_with_its_name(tmp_path):
    path = tmp_path / "some.yaml"
    path.write_text(NAMES.replace("plant -> pid.0,", "pid -> pid.0\n  - plant ->"))
    with pytest.raises(InputError, match=r"pid \(PID\)") as caught:
        sb.simulate(path)
    assert "pid/SUM" not in str(caught.value)
