"""Algebraic loops that are solved: on both engines, in lanes, as C and as FMUs."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import fmpy
import fmpy.fmi1
import numpy as np
import pytest
from scipy.optimize import brentq

import spart_blocks as sb
from spart_blocks import spart
from spart_blocks.base.errors import SpartWarning
from spart_blocks.export import export_fmu, step_code, verify, verify_fmu
from spart_blocks.program.subdiagram import subdiagram_of

MODELS = Path(__file__).parents[2] / "models"
ENGINES = ("native", "interpreter")
VT, LEAKAGE = 0.02585, 1e-14

FAMILY = """
name: loops
params: {k: 3.0}
subsystems:
  half:
    inputs: [u]
    outputs: [y]
    blocks: {s: {type: SUM, signs: "+-"}, g: {type: GAIN, K: 2}}
    wires: [in.u -> s.0, g -> s.1, s -> g, s -> out.y]
clocks: {c: {T: 0.1}}
blocks:
  t: {type: TIME}
  u: {type: FCN, expression: "sin(3*t) + 0*u"}
  k: {type: GAIN, K: $k}
  s: {type: SUM, signs: "+-"}
  i: {type: INTEGRATOR}
  v: {type: FCN, expression: ["cos(w[1] + t)", "0.5*sin(w[0]) + 0.2*w[2]", "0.3*w[0] - t"],
      arguments: [w]}
  E: {type: ALGEBRAIC_CONSTRAINT}
  kepler: {type: FCN, expression: "E - 0.9*sin(E) - 3*M", arguments: [E, M]}
  diode: {type: ALGEBRAIC_CONSTRAINT, initial: 0.5}
  circuit: {type: FCN, expression: "(5*sin(t) - v)/1000 - 1e-14*(exp(v/0.02585) - 1)",
            arguments: [v]}
  sub: {type: half}
  xd: {type: ZOH, clock: c}
  d: {type: SUM, signs: "+-"}
  dk: {type: GAIN, K: 0.5}
wires:
  - t -> u, kepler.M
  - u -> s.0, sub.u, xd
  - k -> s.1
  - s -> k, i
  - v -> v.w
  - E -> kepler.E
  - kepler -> E
  - diode -> circuit.v
  - circuit -> diode
  - xd -> d.0
  - d -> dk
  - dk -> d.1
run: {T: 1.5, algebraic_loops: solve, loop_start: {v: [0, 0, 0]}, every: 0.05, rtol: 1e-9,
      atol: 1e-11, log: [u, s, v, E, diode, sub.y, d, xd, i]}
"""


@pytest.fixture
def family(tmp_path):
    path = tmp_path / "loops.yaml"
    path.write_text(FAMILY)
    return path


@pytest.fixture
def written(tmp_path):
    def write(run="", **blocks):
        """A file with these blocks, wired as their `from` says."""
        wires = [
            f"{source} -> {name}.{port}" if port else f"{source} -> {name}"
            for name, block in blocks.items()
            for port, source in block.pop("from", {}).items()
        ]
        options = {"T": 2, **json.loads(run or "{}")}
        text = json.dumps({"blocks": blocks, "wires": wires, "run": options})
        (tmp_path / "file.yaml").write_text(text)
        return tmp_path / "file.yaml"

    return write


def diode(t):
    return brentq(
        lambda v: (5 * np.sin(t) - v) / 1000 - LEAKAGE * np.expm1(v / VT), -6, 1, xtol=1e-15
    )


def test_the_solutions_are_the_closed_forms_on_both_engines(family):
    native, blocks = (sb.simulate(family, engine=engine) for engine in ENGINES)
    for r in (native, blocks):
        v, E = r["v"], r["E"].ravel()
        np.testing.assert_allclose(r["s"], r["u"] / 4, rtol=0, atol=1e-14)
        np.testing.assert_allclose(r["sub.y"], r["u"] / 3, rtol=0, atol=1e-14)
        np.testing.assert_allclose(r["d"], r["xd"] / 1.5, rtol=0, atol=1e-14)
        np.testing.assert_allclose(E - 0.9 * np.sin(E), 3 * r.t, rtol=0, atol=1e-13)
        want = [np.cos(v[:, 1] + r.t), 0.5 * np.sin(v[:, 0]) + 0.2 * v[:, 2], 0.3 * v[:, 0] - r.t]
        np.testing.assert_allclose(v, np.transpose(want), rtol=0, atol=1e-13)
        np.testing.assert_allclose(r["diode"].ravel(), [diode(t) for t in r.t], rtol=0, atol=1e-12)
    for name in native.signals:
        atol = 1e-8 if name == "i" else 1e-10  # the steps of the integrator differ
        np.testing.assert_allclose(native[name], blocks[name], rtol=0, atol=atol, err_msg=name)
    assert native["algebraic_loop.error"].max() <= 1e-12


def test_the_derivatives_are_those_of_the_solutions(family):
    program = sb.trace(family)
    places = {slot.name: slot.part for slot in program.signals}
    for t in (0.3, 1.0):
        y = np.array(program.outputs(t, program.x0, program.xd0, program.p)).ravel()
        E, u, v, w = (y[places[name]] for name in ("E.z", "u.y", "diode.z", "v.y"))
        of_E = 3 / (1 - 0.9 * np.cos(E))
        np.testing.assert_allclose(program.jacobian("E.z", "t", t=t), of_E[0], rtol=1e-12)
        np.testing.assert_allclose(program.jacobian("s", "k.K", t=t), -u[0] / 16, rtol=1e-12)
        of_v = 5 * np.cos(t) / 1000 / (1e-3 + LEAKAGE / VT * np.exp(v / VT))
        np.testing.assert_allclose(program.jacobian("diode.z", "t", t=t), of_v[0], rtol=1e-9)
        slope, half = -np.sin(w[1] + t), 0.5 * np.cos(w[0])
        J = np.array([[0, slope, 0], [half, 0, 0.2], [0.3, 0, 0]])
        want = np.linalg.solve(np.eye(3) - J, [slope, 0, -1])
        np.testing.assert_allclose(program.jacobian("v.y", "t", t=t), want, rtol=1e-11)


@pytest.mark.parametrize("real", ["double", "float"])
def test_exported_c_solves_them(family, real):
    part = subdiagram_of(family, [])
    found = verify(step_code(part, rate=50, real=real), np.zeros((50, 0)))
    assert found.passed, found


def test_an_fmu_solves_them(family, tmp_path):
    part = subdiagram_of(family, [])
    found = verify_fmu(export_fmu(part, tmp_path), part, horizon=1.0)
    assert found.passed, (found.problems, found.errors)


def test_a_sweep_in_lanes_solves_them(family):
    gains = [0.5, 1.0, 3.0, 7.0, 20.0]
    metrics = {"s": "final(s)", "E": "final(E)", "diode": "final(diode)", "w": "final(v[0])"}
    table = sb.sweep(family, over={"params.k": gains}, metrics=metrics).table()
    one = sb.simulate(family)
    np.testing.assert_allclose(table["s"], np.sin(4.5) / (1 + np.array(gains)), atol=1e-14)
    for name, signal in (("E", "E"), ("diode", "diode"), ("w", "v")):
        np.testing.assert_allclose(table[name], one[signal][-1].ravel()[0], rtol=0, atol=1e-12)


# --- no solution, and several ----------------------------------------------------------------


def vanishing(written, run="{}"):
    """z = z + a - t - z z: no solution from t = a on."""
    given = {
        "algebraic_loops": "solve",
        "loop_start": {"f": 0.8},
        "log": ["f"],
        "every": 0.1,
        "max_step": 0.05,
    }
    f = {"type": "FCN", "expression": "z + a - t - z*z", "arguments": ["z"], "params": {"a": 1},
         "from": {"z": "f"}}  # fmt: skip
    return written(
        json.dumps({**given, **json.loads(run)}), f=f, x={"type": "INTEGRATOR", "from": {"": "f"}}
    )


@pytest.mark.parametrize(
    ("engine", "solver"),
    [("interpreter", "RK45"), *(("native", s) for s in ("RK45", "RK4", "BDF", "CVODES"))],
)
def test_a_run_ends_where_the_solution_vanishes(written, engine, solver):
    with pytest.raises(sb.RunError) as error:
        sb.simulate(vanishing(written), engine=engine, solver=solver)
    text = str(error.value)
    assert text.startswith("no solution was found for the algebraic loop f.y (FCN) -> f.y (FCN)")
    assert "at t = 1 s" in text
    assert error.value.time == pytest.approx(1, abs=1e-9)
    kept = error.value.results
    assert kept.t[-1] == pytest.approx(1, abs=1e-9)
    want = np.sqrt(np.maximum(1 - kept.t, 0))
    np.testing.assert_allclose(kept["f"].ravel(), want, rtol=0, atol=1e-6)


def test_a_program_alone_says_so_too(written):
    with pytest.raises(sb.RunError, match=r"no solution was found for the algebraic loop f\.y"):
        sb.simulate(sb.trace(vanishing(written)))


def test_a_run_without_a_solution_at_its_start_ends_there(written):
    path = vanishing(written)
    for engine in ENGINES:
        with pytest.raises(sb.RunError, match=r"what should be zero is 1 at t = 0 s"):
            sb.simulate(path, engine=engine, overrides={"blocks.f.params.a": -1})


def test_of_a_sweep_only_the_run_without_a_solution_fails(written):
    table = sb.sweep(
        vanishing(written), over={"blocks.f.params.a": [0.5, 1.5, 3.0]}, metrics={"y": "final(f)"}
    ).table()
    np.testing.assert_allclose(table["t_end"], [0.5, 1.5, 2.0], atol=1e-8)
    np.testing.assert_allclose(table["y"], [np.nan, np.nan, 1.0], atol=1e-12)
    assert "no solution was found" in str(table["message"][0])


def test_exported_c_gives_a_status_where_the_solution_vanishes(written):
    found = verify(step_code(subdiagram_of(vanishing(written), []), rate=100), np.zeros((150, 0)))
    assert found.passed
    assert 100 <= found.steps <= 103
    assert found.ended.startswith("no solution was found for the algebraic loop")


def test_several_solutions_are_told_and_chosen(written):
    f = {"type": "FCN", "expression": "z + 1 + t - z*z", "arguments": ["z"], "from": {"z": "f"}}
    path = written('{"algebraic_loops": "solve", "log": ["f"], "T": 0.3, "every": 0.1}', f=f)
    for engine in ENGINES:
        with pytest.warns(SpartWarning, match="several solutions") as told:
            used = sb.simulate(path, engine=engine)["f"][0].item()
        assert f"f.y = {used:.6g} is used, others are {-used:.6g}" in str(told[0].message)
        for start in (-0.7, 0.7):
            chosen = sb.simulate(path, engine=engine, loop_start={"f": start})
            want = np.sign(start) * np.sqrt(1 + chosen.t)
            np.testing.assert_allclose(chosen["f"].ravel(), want, rtol=0, atol=1e-12)


FOLD = """
clocks: {c: {T: 0.01}}
blocks:
  t: {type: TIME}
  f: {type: FCN, expression: "z**3 - 3*z - 3*sin(t)", arguments: [z]}
  z: {type: ALGEBRAIC_CONSTRAINT}
  last: {type: UNIT_DELAY, clock: c, initial: 2}
wires: [z -> f.z, f -> z, z -> last]
run: {T: 8, every: 0.01, log: [z], loop_start: {z: last}}
"""


def test_a_start_at_the_last_solution_follows_its_branch(tmp_path):
    path = tmp_path / "fold.yaml"
    path.write_text(FOLD)
    native, blocks = (sb.simulate(path, engine=engine) for engine in ENGINES)
    np.testing.assert_allclose(native["z"], blocks["z"], rtol=0, atol=1e-10)
    z = native["z"].ravel()
    np.testing.assert_allclose(z**3 - 3 * z, 3 * np.sin(native.t), rtol=0, atol=1e-12)
    jumps = native.t[1:][np.abs(np.diff(z)) > 0.5]
    end = np.arcsin(2 / 3)
    np.testing.assert_allclose(jumps, [np.pi + end, 2 * np.pi + end], atol=0.021)
    with pytest.raises(sb.DiagramError, match="part of an algebraic loop itself"):
        sb.simulate(path, loop_start={"z": "f"})


def test_an_fmu_reports_where_the_solution_vanishes(written, tmp_path):
    path = export_fmu(subdiagram_of(vanishing(written), []), tmp_path)
    for kind in ("CoSimulation", "ModelExchange"):
        told = []
        with pytest.raises(fmpy.fmi1.FMICallException, match=r"status 3 \(error\)"):
            fmpy.simulate_fmu(
                str(path), fmi_type=kind, stop_time=2, logger=lambda *a, to=told: to.append(a)
            )
        text = b"no solution was found for the algebraic loop f.y (FCN) -> f.y (FCN) at t = 1 s"
        assert text in told[-1]


def test_a_jump_within_a_loop_is_named(written):
    blocks = {
        "t": {"type": "TIME"},
        "w": {
            "type": "SWITCH",
            "threshold": 0.0,
            "from": {"a": "low", "control": "z", "b": "high"},
        },
        "low": {"type": "CONSTANT", "value": -1.0},
        "high": {"type": "CONSTANT", "value": 1.0},
        "z": {"type": "SUM", "signs": "+-", "from": {"0": "w", "1": "t"}},
    }
    path = written('{"algebraic_loops": "solve"}', **blocks)
    with pytest.raises(sb.RunError, match=r"w \(SWITCH\) switches within the loop"):
        sb.simulate(path)


# --- refusals --------------------------------------------------------------------------------


LINEAR = {
    "u": {"type": "STEP", "T": 0},
    "s": {"type": "SUM", "signs": "+-", "from": {"0": "u", "1": "k"}},
    "k": {"type": "GAIN", "K": 3, "from": {"": "s"}},
}


def linear():
    return json.loads(json.dumps(LINEAR))


def test_a_refused_loop_is_told_with_its_smallest_cut(written):
    blocks = linear()
    blocks["m"] = {"type": "GAIN", "K": 1, "from": {"": "k"}}
    blocks["s"] = {"type": "SUM", "signs": "+--", "from": {"0": "u", "1": "k", "2": "m"}}
    with pytest.raises(sb.DiagramError) as error:
        sb.simulate(written(**blocks))
    text = str(error.value)
    assert "algebraic loop: s (SUM) -> k (GAIN) -> s (SUM)" in text
    assert "such as INTEGRATOR, UNIT_DELAY or the plant: at s is enough" in text
    assert "run: {algebraic_loops: solve}" in text


def test_a_loop_with_a_singular_slope_has_no_solution(written):
    blocks = linear()
    blocks["k"]["K"] = -1  # s = u + s
    with pytest.raises(sb.RunError, match=r"no solution .* at t = 0 s"):
        sb.simulate(written('{"algebraic_loops": "solve"}', **blocks))


def test_a_start_names_a_signal_of_a_loop(written):
    run = '{"algebraic_loops": "solve", "loop_start": {"u": 1}}'
    with pytest.raises(sb.DiagramError, match="loop_start: 'u' is no signal in an algebraic loop"):
        sb.simulate(written(run, **linear()))
    with pytest.raises(sb.DiagramError, match="no block 'nobody'"):
        sb.load(written(run.replace('"u"', '"nobody"'), **linear()))


def test_a_constraint_needs_a_way_from_its_output_to_its_input(written):
    blocks = {"u": {"type": "STEP"}, "c": {"type": "ALGEBRAIC_CONSTRAINT", "from": {"": "u"}}}
    with pytest.raises(sb.DiagramError, match=r"input of c .* does not depend on its output"):
        sb.simulate(written(**blocks))
    with pytest.raises(sb.DiagramError, match="initial must be"):
        sb.simulate(written(c={"type": "ALGEBRAIC_CONSTRAINT", "initial": "x"}))


SAMPLED_LOOP = """
clocks: {c: {T: 0.1}, d: {T: 0.2}}
blocks:
  t: {type: TIME}
  s: {type: SUM, signs: "+-"}
  D: {type: TRANSFER_FUNCTION_S, clock: c, num: [1, 2], den: [1, -0.5], method: none}
wires: [t -> s.0, D -> s.1, s -> D]
run: {T: 1, every: 0.05, log: [s, D], algebraic_loops: solve}
"""


@pytest.mark.parametrize("engine", ENGINES)
def test_a_sampled_loop_is_solved_at_its_ticks_and_held_between(engine, tmp_path):
    """D (z - 0.5) = s (z + 2), s = t - D: x' = 0.5 x + s, y = 2.5 x + s."""
    (tmp_path / "held.yaml").write_text(SAMPLED_LOOP)
    results = sb.simulate(tmp_path / "held.yaml", engine=engine)
    x = y = 0.0
    for k, (s, D) in enumerate(zip(results["s"].ravel(), results["D"].ravel(), strict=True)):
        if k % 2 == 0:
            error = (0.05 * k - 2.5 * x) / 2
            y = 2.5 * x + error
            x = 0.5 * x + error
        assert (s, D) == pytest.approx((0.05 * k - y, y), abs=1e-12)


@pytest.mark.parametrize(
    ("old", "new", "several"),
    [
        ("s -> D]", "s -> z, z -> D]", "blocks on several clocks"),
        (
            "D -> s.1, s -> D]",
            "D -> s.1, g -> s.2, s -> D, s -> g]",
            "a loop between its ticks too",
        ),
    ],
)
def test_a_loop_that_is_not_of_one_clocks_ticks_alone_is_refused(old, new, several, tmp_path):
    more = "wires:", "  z: {type: ZOH, clock: d}\n  g: {type: GAIN, K: 0.5}\nwires:"
    text = SAMPLED_LOOP.replace(old, new).replace(*more)
    if "s.2" in new:
        text = text.replace('"+-"', '"+--"').replace("  z: {type: ZOH, clock: d}\n", "")
    else:
        text = text.replace("  g: {type: GAIN, K: 0.5}\n", "")
    (tmp_path / "held.yaml").write_text(text)
    with pytest.raises(sb.DiagramError, match=rf"D .*algebraic loop with {several}: .*"):
        sb.simulate(tmp_path / "held.yaml")


def test_a_start_that_depends_on_the_solution_is_refused(tmp_path):
    path = tmp_path / "fold.yaml"
    path.write_text(FOLD.replace("UNIT_DELAY, clock: c, initial: 2", "ZOH, clock: c, x0: 2"))
    with pytest.raises(sb.DiagramError, match=r"z\.z starts at a signal that depends on it"):
        sb.simulate(path)


def test_a_sampled_loop_behind_holds_is_solved_at_its_ticks(tmp_path):
    """D (z - 0.5) = s (z + 2), s = u - D."""
    text = """
clocks: {c: {T: 0.1}}
blocks:
  t: {type: TIME}
  u: {type: ZOH, clock: c}
  s: {type: SUM, signs: "+-"}
  D: {type: TRANSFER_FUNCTION_S, clock: c, num: [1, 2], den: [1, -0.5], method: none}
wires: [t -> u, u -> s.0, D -> s.1, s -> D]
run: {T: 2, algebraic_loops: solve, log: [u, s, D], every: 0.1}
"""
    (tmp_path / "sampled.yaml").write_text(text)
    for engine in ENGINES:
        r = sb.simulate(tmp_path / "sampled.yaml", engine=engine)
        u, s, D = (r[name].ravel() for name in ("u", "s", "D"))
        np.testing.assert_allclose(s, u - D, rtol=0, atol=1e-14)
        np.testing.assert_allclose(D[1:] - 0.5 * D[:-1], s[1:] + 2 * s[:-1], rtol=0, atol=1e-14)
        assert s[1] == pytest.approx(0.05)


def test_the_options_are_part_of_a_program(written):
    program = sb.trace(written('{"algebraic_loops": "solve"}', **linear()))
    with pytest.raises(sb.InputError, match="part of a program"):
        sb.simulate(program, loop_start={"s": 1.0})


# --- plants, parts and linear systems ------------------------------------------------------------


def test_the_feedback_of_accelerations_adds_to_the_inertia(tmp_path):
    shutil.copy(MODELS / "arm3.urdf", tmp_path)
    text = """
robots: {arm: {urdf: arm3.urdf, base: fixed}}
blocks:
  qd: {type: STEP, T: 0.1, on: [0.5, -0.3, 0.2]}
  pd: {type: JOINT_PD, kp: 40, kd: 12, robot: arm}
  J: {type: GAIN, K: -0.7}
  tau: {type: SUM, signs: "++"}
  plant: {type: MULTIBODY, robot: arm}
wires: [qd -> pd.qd, plant.qm -> pd.qm, plant.um -> pd.um, pd -> tau.0, J -> tau.1,
        plant.umdot -> J, tau -> plant.taum]
run: {T: 0.6, algebraic_loops: solve, log: [plant.umdot, pd, tau], every: 0.1}
"""
    (tmp_path / "arm.yaml").write_text(text)
    diagram = sb.load(tmp_path / "arm.yaml")
    robot = diagram.robots["arm"]
    native, blocks = (sb.simulate(diagram, engine=engine) for engine in ENGINES)
    np.testing.assert_allclose(native["plant.umdot"], blocks["plant.umdot"], rtol=0, atol=1e-10)
    for k in range(len(native.t)):
        q, u, tau = (native[name][k] for name in ("plant.qm", "plant.um", "pd"))
        Hm, bias = inertia_and_bias(q, u, robot)
        want = np.linalg.solve(Hm + 0.7 * np.eye(3), tau - bias)
        np.testing.assert_allclose(native["plant.umdot"][k], want, rtol=1e-12, atol=1e-12)


def inertia_and_bias(q, u, robot):
    """Hm (nu,nu) and Cm um (nu,) of a robot on a fixed base, by SPART's functions."""
    R0, r0 = np.eye(3), np.zeros(3)
    _, RL, _, rL, e, g = spart.Kinematics(R0, r0, q, robot)
    Bij, Bi0, P0, pm = spart.DiffKinematics(R0, r0, rL, e, g, robot)
    t0, tL = spart.Velocities(Bij, Bi0, P0, pm, np.zeros(6), u, robot)
    I0, Im = spart.I_I(R0, RL, robot)
    M0, Mm = spart.MCB(I0, Im, Bij, Bi0, robot)
    Hm = spart.GIM(M0, Mm, Bij, Bi0, P0, pm, robot)[2]
    Cm = spart.CIM(t0, tL, I0, Im, M0, Mm, Bij, Bi0, P0, pm, robot)[3]
    return Hm, Cm @ u


def test_linearising_goes_through_the_loop(written):
    blocks = linear()
    blocks["x"] = {"type": "INTEGRATOR", "from": {"": "s"}}
    blocks["u"] = {"type": "CONSTANT", "value": 0}
    path = written('{"algebraic_loops": "solve"}', **blocks)
    at_u = sb.linearize(path, inputs=["u"], outputs=["s"])
    np.testing.assert_allclose([at_u.B.item(), at_u.D.item()], [0.25, 0.25], rtol=1e-12)
    within = sb.linearize(path, inputs=["k"], outputs=["s"])
    np.testing.assert_allclose(within.D, [[-0.25]], rtol=1e-12)
    opened = sb.linearize(path, inputs=["k"], outputs=["s"], open_at=["k"])
    np.testing.assert_allclose(opened.D, [[-1.0]], rtol=1e-12)


def test_a_part_of_a_loop_has_its_cut_wires_as_inputs(written):
    path = written('{"algebraic_loops": "solve"}', **linear())
    whole, half = subdiagram_of(path, ["s", "k"]), subdiagram_of(path, ["s"])
    assert [slot.name for slot in whole.inputs] == ["u"]
    assert [slot.name for slot in half.inputs] == ["u", "k"]
    p, at = whole.program, np.array([2.0, 3.0])
    y = np.array(p.outputs(0, [], [], at)).ravel()
    places = {slot.name: slot.start for slot in p.signals}
    values = {slot.name: at[slot.start] for slot in p.parameters}
    assert y[places["s"]] == pytest.approx(values["u.value"] / (1 + values["k.K"]), abs=1e-15)
