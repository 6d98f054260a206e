"""Rodas5P in every execution: its order, published solutions of stiff problems, events, faults."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from scipy.linalg import expm

import spart_blocks as sb
from spart_blocks.base.errors import SpartWarning
from spart_blocks.program.c.compiler import compiler_name
from spart_blocks.program.linearised import linearised

RODAS = {"solver": "Rodas5P"}
ENGINES = ["compiled", "virtual machine", "interpreter"]


def of_equations(equations, starts, params, **run):
    """The text of a diagram with an integrator for each equation x' = ... by name."""
    states = list(equations)
    lines = ["blocks:"]
    lines += [f"  {x}: {{type: INTEGRATOR, x0: {starts[x]!r}}}" for x in states]
    wires = []
    for x, right in equations.items():
        words = set(re.findall(r"[a-z]+", right))
        read = [y for y in states if y in words]
        given = {"arguments": f"[{', '.join(read)}]"}
        if words & params.keys():
            given["params"] = "{" + ", ".join(f"{k}: {v!r}" for k, v in params.items()) + "}"
        more = "".join(f", {k}: {v}" for k, v in given.items())
        lines.append(f'  f_{x}: {{type: FCN, expression: "{right}"{more}}}')
        wires += [f"{y} -> f_{x}.{y}" for y in read] + [f"f_{x} -> {x}"]
    options = ", ".join(f"{k}: {v}" for k, v in run.items())
    return "\n".join([*lines, f"wires: [{', '.join(wires)}]", f"run: {{{options}}}", ""])


def ends(results, names):
    return np.array([results[f"states.{name}"][-1, 0] for name in names])


# E. Hairer, G. Wanner, "Solving Ordinary Differential Equations II", sec. IV.10, and the Test Set
# for IVP Solvers, release 2.4: the equations, and reference solutions at the end.
HIRES = of_equations(
    {
        "a": "-1.71*a + 0.43*b + 8.32*c + 0.0007",
        "b": "1.71*a - 8.75*b",
        "c": "-10.03*c + 0.43*d + 0.035*k",
        "d": "8.32*b + 1.71*c - 1.12*d",
        "k": "-1.745*k + 0.43*f + 0.43*g",
        "f": "-280*f*h + 0.69*d + 1.71*k - 0.43*f + 0.69*g",
        "g": "280*f*h - 1.81*g",
        "h": "-280*f*h + 1.81*g",
    },
    dict(zip("abcdkfgh", [1.0, *[0.0] * 6, 0.0057], strict=True)),
    {},
    T=321.8122,
)
HIRES_END = [0.7371312573325668e-3, 0.1442485726316185e-3, 0.5888729740967575e-4,
             0.1175651343283149e-2, 0.2386356198831331e-2, 0.6238968252742796e-2,
             0.2849998395185769e-2, 0.2850001604814231e-2]  # fmt: skip
OREGO = of_equations(
    {
        "a": "77.27*(b + a*(1 - 8.375e-6*a - b))",
        "b": "(c - (1 + a)*b)/77.27",
        "c": "0.161*(a - c)",
    },
    {"a": 1.0, "b": 2.0, "c": 3.0},
    {},
    T=360,
)
OREGO_END = [0.1000814870318523e1, 0.1228178521549917e4, 0.1320554942846706e3]
VAN_DER_POL = of_equations(
    {"x": "v", "v": "mu*((1 - x**2)*v - x)"}, {"x": 2.0, "v": 0.0}, {"mu": 1.0e6}, T=2
)
VAN_DER_POL_END = [0.1706167732170483e1, -0.8928097010247975]
ROBERTSON = of_equations(
    {
        "a": "-0.04*a + 1.0e4*b*c",
        "b": "0.04*a - 1.0e4*b*c - 3.0e7*b**2",
        "c": "3.0e7*b**2",
    },
    {"a": 1.0, "b": 0.0, "c": 0.0},
    {},
    T=1.0e11,
)
ROBERTSON_END = [0.2083340149701255e-7, 0.8333360770334713e-13, 0.9999999791665050]


@pytest.mark.parametrize(
    ("text", "names", "end", "atol"),
    [
        (HIRES, "abcdkfgh", HIRES_END, 1e-12),
        (OREGO, "abc", OREGO_END, 1e-9),
        (VAN_DER_POL, "xv", VAN_DER_POL_END, 1e-9),
        (ROBERTSON, "abc", ROBERTSON_END, 1e-20),
    ],
    ids=["hires", "orego", "van_der_pol", "robertson"],
)
def test_published_solutions_are_met(load, text, names, end, atol):
    results = sb.simulate(load(text), rtol=1e-8, atol=atol, **RODAS)
    np.testing.assert_allclose(ends(results, names), end, rtol=2e-7)
    assert results.info["solver"] == "Rodas5P"


def test_all_engines_take_the_same_steps(load, engine):
    results = sb.simulate(load(OREGO), engine=engine, T=5, **RODAS)
    reference = sb.simulate(load(OREGO), T=5, solver="Radau", rtol=1e-10, atol=1e-10)
    assert abs(results.info["steps"] - 23) <= 1
    np.testing.assert_allclose(ends(results, "abc"), ends(reference, "abc"), rtol=2e-6)


PENDULUM = of_equations({"x": "v", "v": "-sin(x)*(1 + cos(t))"}, {"x": 1.0, "v": 0.3}, {}, T=2)


def test_its_order_is_five_and_that_of_its_dense_output_too(load):
    """Globally: a step's dense output is of order four, whose error is of the fifth power."""
    best = sb.simulate(
        load(PENDULUM), solver="DOP853", rtol=1e-13, atol=1e-13, every=0.01, log=["x"]
    )
    errors = []
    for h in (0.1, 0.05):
        found = sb.simulate(load(PENDULUM), rtol=1, atol=1, max_step=h, every=0.01, **RODAS)
        assert found.info["steps"] == round(2 / h)
        errors.append(
            (
                abs(ends(found, "xv") - ends(best, "xv")).max(),
                abs(found["states.x"] - best["states.x"]).max(),
            )
        )
    orders = np.log2(np.array(errors[0]) / errors[1])
    assert orders == pytest.approx([5, 5], abs=0.2)


def test_random_stiff_linear_systems_agree_with_the_matrix_exponential(load):
    """A hundred of eight states, coupled densely or sparsely, with rates from 1 to 1e7 per second
    and oscillations.
    """
    n, T = 8, 0.5
    rows = np.arange(n * n, dtype=float).reshape(n, n).tolist()
    text = (
        "blocks:\n"
        "  zero: {type: CONSTANT, value: 0.0}\n"
        f"  plant: {{type: STATE_SPACE, A: {rows}, B: {[[0.0]] * n}, C: {np.eye(n).tolist()}, "
        f"x0: {[1.0] * n}}}\n"
        "wires: [zero -> plant]\n"
    )
    program = sb.trace(load(text))
    for seed in range(100):
        random = np.random.default_rng(seed)
        V = random.normal(size=(n, n))
        if seed % 2:
            V = np.where(random.random((n, n)) < 0.3, V, 0) + 3 * np.eye(n)
        D = np.diag(-(10.0 ** random.uniform(0, 7, n)))
        if seed % 3 == 0:
            D[:2, :2] = [[-1, 20], [-20, -1]]
        A = V @ D @ np.linalg.inv(V)
        x0 = random.normal(size=n)
        one = program.with_parameters({"plant.A": A, "plant.x0": x0})
        results = sb.simulate(one, T=T, rtol=1e-7, atol=1e-10, every=T, **RODAS)
        off = results["states.plant"][-1] - expm(A * T) @ x0
        assert np.abs(off).max() < 3e-6 * np.linalg.norm(x0), seed
        assert results.info["steps"] < 3000, seed


@pytest.mark.parametrize("kind", ["sampled", "limited"])
def test_ticks_and_limits_are_met_as_by_other_methods(load, engine, kind):
    text = SAMPLED if kind == "sampled" else LIMITED
    found = sb.simulate(load(text), engine=engine, every=0.05, **RODAS)
    other = sb.simulate(load(text), every=0.05, solver="RK45", rtol=1e-9, atol=1e-11)
    assert abs(found["states.y"] - other["states.y"]).max() < 2e-5
    assert len(found.events) == len(other.events)


SAMPLED = """
clocks: {c: {T: 0.1}}
blocks:
  y: {type: INTEGRATOR, x0: 1.0}
  f: {type: FCN, expression: "-200*(y - u) + sin(3*t)", arguments: [y, u]}
  hold: {type: ZOH, clock: c}
  target: {type: FCN, expression: "0.5*u + 0.2"}
wires: [y -> f.y, y -> target, target -> hold, hold -> f.u, f -> y]
run: {T: 1}
"""
LIMITED = """
blocks:
  y: {type: INTEGRATOR, x0: 0.0, max: 0.4, min: -0.2}
  f: {type: FCN, expression: "-300*(z - 4*cos(5*t))", arguments: [z]}
  z: {type: INTEGRATOR, x0: 0.0}
wires: [f -> z, z -> f.z, z -> y]
run: {T: 2}
"""


def test_a_slope_that_is_not_finite_at_the_start_is_passed(load, engine):
    """y' = 2 sqrt(y) + 1: with u = sqrt(y), t = u - log(1 + 2 u) / 2."""
    text = of_equations({"y": "2*sqrt(y) + 1"}, {"y": 0.0}, {}, T=2)
    results = sb.simulate(load(text), engine=engine, rtol=1e-8, atol=1e-10, **RODAS)
    u = np.sqrt(results["states.y"][-1, 0])
    assert u - np.log(1 + 2 * u) / 2 == pytest.approx(2, abs=1e-6)


def test_rates_that_are_no_numbers_are_told_with_their_block(load, engine):
    text = of_equations({"y": "(1 - t)**6.5 - 50*y"}, {"y": 1.0}, {}, T=2)
    with pytest.raises(sb.RunError, match="f_y") as caught:
        sb.simulate(load(text), engine=engine, **RODAS)
    assert caught.value.time == pytest.approx(1, abs=1e-3)


@pytest.mark.skipif(compiler_name() is None, reason="no C compiler")
@pytest.mark.parametrize("solver", ["Rodas5P", "auto"])
def test_a_sweep_takes_it_in_lanes_with_the_bits_of_one(load, monkeypatch, solver):
    """Also runs that turn out stiff. A single run begins in explicit steps: it has other bits."""
    mu = {"f_v.mu": [1.0e4, 2.0e4, 4.0e4, 1.0e5, 1.0e6]}
    found = {}
    for lanes in (1, 2, 4, 8):
        monkeypatch.setattr("spart_blocks.sweeps.run.lanes.usual_lanes", lambda n=lanes: n)
        monkeypatch.setattr("spart_blocks.sweeps.run.lane_setup.usual_lanes", lambda n=lanes: n)
        found[lanes] = sb.sweep(load(VAN_DER_POL), mu, metrics={"x": "final(x)"}, solver=solver)[
            "x"
        ]
        assert np.array_equal(found[1], found[lanes])
    for value, x in zip(mu["f_v.mu"], found[1], strict=True):
        text = VAN_DER_POL.replace("mu: 1000000.0", f"mu: {value}")
        single = sb.simulate(load(text), solver=solver)
        assert single["states.x"][-1, 0] == pytest.approx(x, rel=3e-6)


def test_the_factors_of_a_chain_get_no_more_entries_and_rebuild_its_derivatives(load):
    """Each of ten compartments, written out of order, exchanges with its neighbours."""
    names = [f"c{'abcdefghij'[k]}" for k in (3, 7, 0, 9, 5, 1, 8, 2, 6, 4)]
    chain = sorted(names)
    equations = {}
    for name in names:
        k = chain.index(name)
        near = [chain[i] for i in (k - 1, k + 1) if 0 <= i < len(chain)]
        equations[name] = " + ".join(f"2*({other} - {name})**3" for other in near)
    program = sb.trace(load(of_equations(equations, dict.fromkeys(names, 1.0), {}, T=1)))
    found = linearised(program)
    assert len(found.columns) == 10 + 2 * 9
    x = np.random.default_rng(1).normal(size=10)
    column = np.array(found.function(0.0, x, program.xd0, program.p)).ravel()
    J, drift = found.parted(column)
    assert pytest.approx(program.jacobian("xdot", "x", x=x)) == J
    assert not drift.any()


def test_a_gradient_refuses_it(load):
    with pytest.raises(sb.InputError, match="repeats explicit steps"):
        sb.gradient(load(PENDULUM), of="final(x)", by="x.x0", **RODAS)


def test_derivatives_that_are_too_long_to_compile_are_found_by_differences(load, monkeypatch):
    best = sb.simulate(load(OREGO), T=5, **RODAS)
    monkeypatch.setattr("spart_blocks.program.linearised.LONGEST", 10)
    found = sb.simulate(load(OREGO), T=5, **RODAS)
    assert found.info["steps"] == best.info["steps"]
    np.testing.assert_allclose(ends(found, "abc"), ends(best, "abc"), rtol=1e-6)
    changed = sb.simulate(load(VAN_DER_POL))
    assert changed.info["solvers"].startswith("RK45, CVODES from t = ")
    with pytest.warns(SpartWarning, match="derivatives of its rates are too long"):
        sweep = sb.sweep(load(OREGO), {"a.x0": [1.0]}, metrics={"a": "final(a)"}, T=5, **RODAS)
    assert sweep["a"][0] == pytest.approx(ends(best, "a")[0], rel=1e-6)


def test_derivatives_by_columns_lead_to_the_same_steps_in_runs_and_lanes(load, monkeypatch):
    """A short program is taken for one whose derivatives are too long to be written out."""
    best = sb.simulate(load(HIRES), **RODAS)
    expected = ends(best, "abcdkfgh")
    monkeypatch.setattr("spart_blocks.program.linearised._length", lambda rates: np.inf)
    program = sb.trace(load(HIRES))
    assert "columns_" in str(linearised(program).function.find_functions())
    found = sb.simulate(program, **RODAS)
    assert found.info["steps"] == best.info["steps"]
    np.testing.assert_allclose(ends(found, "abcdkfgh"), expected, rtol=1e-9)
    if compiler_name() is not None:
        sweep = sb.sweep(program, {"a.x0": [1.0]}, metrics={"a": "final(a)"}, **RODAS)
        assert sweep["a"][0] == pytest.approx(expected[0], rel=1e-9)


@pytest.mark.skipif(compiler_name() is None, reason="no C compiler")
def test_a_delta_robot_on_a_stiff_table_agrees_with_cvodes_in_compiled_steps():
    """Its rates, of 10,000 instructions, jump where the plate touches the table."""
    path = Path(__file__).parents[2] / "benchmarks/delta_contact.yaml"
    program = sb.trace(sb.load(path))
    found = sb.simulate(program, rtol=1e-5, atol=1e-7, every=program.run.T, **RODAS)
    assert found.info["steps"] < 120
    assert found.info["evaluations"] < 15 * found.info["steps"]  # none is for derivatives
    other = sb.simulate(program, solver="CVODES", rtol=1e-8, atol=1e-10, every=program.run.T)
    ends = (results["states.plant"][-1] for results in (found, other))
    np.testing.assert_allclose(*ends, rtol=1e-5, atol=1e-6)
