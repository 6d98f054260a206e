"""FCN: formulas in text, what they give on numbers and symbols, and what is refused."""

from __future__ import annotations

import math

import casadi as ca
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from same_results import assert_same_results

import spart_blocks as sb
from spart_blocks.base.errors import DiagramError, InputError, RunError
from spart_blocks.formulas.reader import DEEPEST, FUNCTIONS, LONGEST, read_formula
from spart_blocks.program.tracing.symbol import sx_of, symbols


def valued(text, **known):
    """A formula's value on numbers, which must be that on symbols too."""
    known = {name: np.float64(value) for name, value in known.items()}
    formula = read_formula(text, known)
    with np.errstate(all="ignore"):
        got = formula.value({**known, "t": np.float64(0.0)})
        column, entries = symbols("u", (len(known),))
        traced = formula.value({**dict(zip(known, entries, strict=True)), "t": 0.0})
    of_symbols = float(ca.Function("f", [column], [sx_of(traced)])(list(known.values())))
    np.testing.assert_allclose(of_symbols, got, rtol=1e-13)
    return float(got)


# --- values -------------------------------------------------------------------------------

A, B = 0.7, -2.3
VALUES = {
    "a + b*2 - 3/a": A + B * 2 - 3 / A,
    "-a**2": -(A**2),
    "2**-1 + +a": 0.5 + A,
    "b % 1.5": B % 1.5,
    "7 % 4": 3.0,
    "1e3 + .5": 1000.5,
    "sin(a)*cos(b) + tan(a)": math.sin(A) * math.cos(B) + math.tan(A),
    "asin(a) + acos(a) + atan(b)": math.pi / 2 + math.atan(B),
    "atan2(b, a)": math.atan2(B, A),
    "hypot(a, b)": math.hypot(A, B),
    "exp(a) + log(a) + log10(a) + sqrt(a)": math.exp(A)
    + math.log(A)
    + math.log10(A)
    + math.sqrt(A),
    "sinh(a) + cosh(a) + tanh(b)": math.sinh(A) + math.cosh(A) + math.tanh(B),
    "abs(b) + sign(b) + sign(0)": 2.3 - 1,
    "floor(b) + ceil(b) + round(b) + round(2.5)": -3 - 2 - 2 + 2,
    "min(a, b, 0) + max(a, b)": B + A,
    "clip(b, -1, 1) + clip(a, -1, 1)": -1 + A,
    "norm(b) + 4*any(a > 1) + 8*all(a > 0)": 2.3 + 8,
    "pi + e": math.pi + math.e,
    "a if a > 0 else sqrt(a)": A,
    "where(b >= 0, sqrt(b), -b)": -B,
    "(a > b) + 2*(a < b) + 4*(a == a) + 8*(a != a) + 16*(a >= a) + 32*(a <= b)": 1 + 4 + 16,
    "-1 < a < 1": 1.0,
    "-1 < b < 1": 0.0,
    "a > 0 and b > 0": 0.0,
    "a > 0 or b > 0": 1.0,
    "not a": 0.0,
    "(not b) + (b and a)": 1.0,
    "(1 if a else 2) if b else 3": 1.0,
    "1e300 * 1e10 > 0": 1.0,
    "(-8) ** (1/3) != 0": 1.0,
}


@pytest.mark.parametrize("text", VALUES)
def test_a_formula_gives_what_python_s_mathematics_gives(text):
    assert valued(text, a=A, b=B) == pytest.approx(VALUES[text], rel=1e-14, abs=1e-15)


def test_every_function_is_in_the_table_of_values():
    for name in FUNCTIONS:
        assert any(f"{name}(" in text for text in VALUES), name


def test_a_formula_works_on_arrays_and_their_entries():
    u, m = np.array([1.0, -2.0, 3.0]), np.arange(6.0).reshape(2, 3)
    formula = read_formula("abs(u)*m[1, 0] + u[-1]", ["u", "m"])
    np.testing.assert_array_equal(formula.value({"u": u, "m": m}), [6.0, 9.0, 12.0])
    of_all = read_formula("norm(u) + 100*any(u < 0) + 1000*all(u < 0)", ["u"])
    assert of_all.value({"u": u}) == pytest.approx(math.sqrt(14) + 100)
    with pytest.raises(ValueError, match=r"column 1: u is \(3,\), it has no such entry"):
        read_formula("u[3]", ["u"]).value({"u": u})


def test_numbers_are_floats_so_that_no_power_takes_long():
    with np.errstate(all="ignore"):
        assert read_formula("2**10**9", []).value({}) == np.inf
        assert read_formula("9**9**9**9", []).value({}) == np.inf
        assert read_formula("1/0", []).value({}) == np.inf


# --- in a diagram --------------------------------------------------------------------------

SPRING = """
name: spring
params: {stiffness: 9.0}
blocks:
  force: {type: FCN, expression: "-k*x - c*v + a*sin(t)", arguments: [x, v],
          params: {k: $stiffness, c: 0.4, a: 0}}
  v: {type: INTEGRATOR, x0: 0}
  x: {type: INTEGRATOR, x0: 1}
  parts: {type: FCN, expression: ["u*u", "u if u > 0 else 0", "sin(t)"]}
wires: [force -> v, "v -> x, force.v", "x -> force.x, parts"]
run: {T: 2, rtol: 1.0e-10, atol: 1.0e-12, log: [x, parts]}
"""


def oscillation(t, k, c):
    rate, damping = math.sqrt(k - c * c / 4), c / 2
    return np.exp(-damping * t) * (np.cos(rate * t) + damping / rate * np.sin(rate * t))


@pytest.mark.parametrize("engine", ["native", "interpreter"])
def test_a_formula_closes_a_loop_and_gives_a_vector(load, engine):
    got = sb.simulate(load(SPRING), engine=engine)
    x = oscillation(got.t, 9.0, 0.4)
    np.testing.assert_allclose(got["x"], x, atol=1e-8)
    want = np.stack([x * x, np.maximum(x, 0), np.sin(got.t)], axis=1)
    np.testing.assert_allclose(got["parts"], want, atol=1e-7)


def test_params_are_parameters_of_the_program_by_their_names(load):
    program = sb.trace(load(SPRING)).with_parameters({"force.k": 4.0, "force.c": 0.1})
    got = sb.simulate(program)
    np.testing.assert_allclose(got["x"], oscillation(got.t, 4.0, 0.1), atol=1e-8)


# Each entry jumps, or bends, at times that are no multiples of a step.
BENDS = """
name: bends
blocks:
  t: {type: TIME}
  f: {type: FCN, arguments: [x], params: {h: 0.3}, expression: [
        "1 if x > h else 0", "abs(x - 0.4567)", "floor(7*x)", "x % 0.23", "sign(x - 0.777)",
        "min(x, 0.6, 1.1 - x)", "x < 0.2 or x > 0.9", "sqrt(x - 0.5) if x > 0.5 else 0"]}
  of: {type: INTEGRATOR, x0: [0, 0, 0, 0, 0, 0, 0, 0]}
wires: [t -> f, f -> of]
run: {T: 1, rtol: 1.0e-9, atol: 1.0e-11, log: [f, of]}
"""


@pytest.mark.parametrize("engine", ["native", "interpreter"])
def test_steps_end_where_a_formula_jumps_or_bends(load, engine):
    got = sb.simulate(load(BENDS), engine=engine)
    rest = 1 - 4 * 0.23
    want = [
        0.7,
        (0.4567**2 + 0.5433**2) / 2,
        sum(range(7)) / 7,
        4 * 0.23**2 / 2 + rest**2 / 2,
        1 - 2 * 0.777,
        0.55**2 / 2 + (0.55**2 - 0.1**2) / 2,
        0.3,
        0.5**1.5 * 2 / 3,
    ]
    np.testing.assert_allclose(got["of"][-1], want, atol=2e-6)


def test_formulas_with_bends_are_the_interpreter_s(load):
    diagram = load(BENDS)
    tight = {"rtol": 1e-11, "atol": 1e-13, "every": diagram.run.T / 500}
    native = sb.simulate(diagram, engine="native", **tight)
    other = sb.simulate(diagram, engine="interpreter", **tight)
    np.testing.assert_allclose(native["f"], other["f"], rtol=1e-10, atol=1e-13)
    assert_same_results(native, other, ["of"], rel=1e-6)


def test_a_branch_that_is_not_taken_is_not_watched():
    formula = read_formula("abs(log(u)) if u > 0 else 1", ["u"])
    with np.errstate(all="ignore"):
        assert formula.crossings({"u": np.float64(-1.0)}) == [-1.0, 1.0]
        assert formula.crossings({"u": np.float64(math.e)}) == [math.e, 1.0]


def test_a_formula_that_is_not_finite_names_its_block(load):
    text = """
blocks:
  t: {type: TIME}
  f: {type: FCN, expression: "1/(u - u)"}
  x: {type: INTEGRATOR}
wires: [t -> f, f -> x]
run: {T: 1}
"""
    with pytest.raises(RunError, match=r"f\.y.*not finite") as caught:
        sb.simulate(load(text))
    assert "computed from u = 0" in caught.value.hint
    assert ":4:3" in caught.value.hint


# --- what is refused -----------------------------------------------------------------------

WRONG = {
    "a + ": "it is no formula",
    "a b": "column 3: it is no formula",
    "a + c": "column 5: there is no 'c'",
    "2*spin(a)": "column 3: there is no function 'spin'\n  did you mean 'sin'",
    "sin": "column 1: sin is a function\n  write sin(...)",
    "sin(a, b)": "column 1: sin takes 1 argument, not 2",
    "max(a)": "column 1: max takes 2 or more arguments, not 1",
    "where(a, b)": "column 1: where takes 3 arguments, not 2",
    "clip(a, 0, max=1)": "clip takes 3 arguments, not 2",
    "a.real": "a formula has no attributes",
    "a.__class__.__bases__": "a formula has no attributes",
    "().__class__": "a formula has no attributes",
    "__import__('os')": "there is no function '__import__'",
    "(lambda: 1)()": "only a function's name is called",
    "math.sin(a)": "only a function's name is called",
    "[a, b]": "a formula has no lists",
    "[x for x in a]": "a formula has no loops",
    "'x'*9": "'x' is no real number",
    "f'{a}'": "a formula has no texts",
    "2j": "2j is no real number",
    "True": "True is no real number",
    "None": "None is no real number",
    "(b := 3)": "a formula has no assignments",
    "a // b": "column 1: a formula has + - * / ** and %, no other operator\n  write floor(a/b)",
    "a ^ b": "no other operator\n  a power is written u**2",
    "a @ b": "no other operator",
    "a & b": "no other operator\n  write a and b",
    "~a": "a formula has no ~",
    "a is b": "compares with == != < <= > >= only",
    "a in b": "compares with == != < <= > >= only",
    "a[b]": "an index is a whole number",
    "a[0:2]": "an index is a whole number",
    "(a + b)[0]": "only an input or a parameter has entries",
    "sin(*a)": "sin takes values only",
    "10**400 + 1" + "0" * 400: "the number is too large",
    "": "a formula is a text",
}


@pytest.mark.parametrize("text", WRONG)
def test_what_is_no_formula_is_refused_with_its_column(text):
    with pytest.raises(InputError) as refused:
        read_formula(text, ["a", "b"])
    assert WRONG[text] in str(refused.value)


def test_a_formula_has_limits_of_length_and_depth():
    with pytest.raises(InputError, match="the most is 10,000"):
        read_formula("1+" * LONGEST + "1", [])
    for deep in ("(" * 150 + "1" + ")" * 150 + "+1" * DEEPEST, "abs(" * 101 + "1" + ")" * 101):
        with pytest.raises(InputError, match=r"levels|too deep|no formula"):
            read_formula(deep, [])
    assert read_formula("1" + "+1" * (DEEPEST - 1), []).value({}) == DEEPEST


TOKENS = [
    *"ab0123.+-*/%()[],<>=! \\'é\0:@",
    *("**", "sin", "if", "else", "and", "not", "lambda", "__"),
]


@settings(max_examples=200, deadline=None)
@given(st.lists(st.sampled_from(TOKENS), max_size=25))
def test_any_text_is_a_formula_or_refused(tokens):
    try:
        formula = read_formula("".join(tokens), ["a", "b"])
    except InputError:
        return
    with np.errstate(all="ignore"):
        known = {"a": np.float64(0.5), "b": np.array([1.0, -1.0])}
        try:
            formula.value(known)
        except ValueError:  # an entry that there is not
            return
        formula.crossings(known)


@pytest.mark.parametrize(
    ("parameters", "told"),
    [
        ('expression: "k*u"', "there is no 'k'"),
        ('expression: "u", arguments: [a, a]', "arguments has a twice"),
        ('expression: "u", arguments: [2a]', "which is not a name"),
        ('expression: "u", arguments: [_a]', "which is not a name"),
        ('expression: "u", arguments: [lambda]', "which is not a name"),
        ('expression: "t", arguments: [t]', "t has a meaning of its own"),
        ('expression: "u", params: {sin: 2}', "sin has a meaning of its own"),
        ('expression: "u", params: {name: 2}', "name has a meaning of its own"),
        ('expression: "u", params: {output: 2}', "output has a meaning of its own"),
        ('expression: "u", params: {u: 2}', "u is an input and a parameter"),
        ('expression: "u", params: {k: .inf}', "k in params must be finite numbers"),
        ('expression: "u", params: {k: two}', "k in params must be finite numbers"),
        ("expression: []", "expression is a text or a list of them"),
        ("expression: 3", "expression"),
    ],
)
def test_a_wrong_parameter_is_refused_where_it_is_written(load, parameters, told):
    with pytest.raises(DiagramError) as refused:
        load(f"blocks:\n  u: {{type: TIME}}\n  f: {{type: FCN, {parameters}}}\n")
    assert told in str(refused.value)
    assert "diagram.yaml:3:" in str(refused.value)


def test_a_list_of_formulas_takes_scalars_only(load):
    text = """
blocks:
  u: {type: CONSTANT, value: [1, 2]}
  f: {type: FCN, expression: ["u", "u[0]"]}
wires: [u -> f]
"""
    with pytest.raises(RunError, match=r"formula 'u' in a list gives \(2,\)"):
        sb.simulate(load(text), T=0.1, engine="interpreter")
