"""Steps that recur are written once, as a loop, with the same results."""

from __future__ import annotations

import ctypes
import re
from dataclasses import replace

import casadi as ca
import lane_libraries
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lane_libraries import Lanes, same_bits

import spart_blocks as sb
from spart_blocks.export import step_code
from spart_blocks.program.c import repeats
from spart_blocks.program.c.compiler import compiler_name, strict_library
from spart_blocks.program.c.dialects import DOUBLE, LANES
from spart_blocks.program.c.functions import c_function, c_function_where_it_pays
from spart_blocks.program.c.machine_code import c_source
from spart_blocks.program.subdiagram import subdiagram_of

compiled = pytest.mark.skipif(compiler_name() is None, reason="no C compiler")
PLAIN = ("-std=c99", "-O1", "-shared", "-fPIC", "-Wall", "-Wextra", "-Werror")


def servos(count, more=""):
    """Copies of a servo with a limit, a sampled filter and states of its own."""
    gains = [1 + 0.01 * k for k in range(count)]
    return f"""
clocks: {{c: {{rate: 100}}}}
subsystems:
  servo:
    params: {{k: 1}}
    inputs: [goal]
    outputs: [angle]
    blocks:
      error: {{type: SUM, signs: "+-"}}
      gain: {{type: GAIN, K: $k}}
      held: {{type: ZOH, clock: c}}
      sampled: {{type: INTEGRATOR_S, clock: c, gain: 0.3}}
      sum: {{type: SUM, signs: "++"}}
      force: {{type: CLIP, min: -0.5, max: 0.5}}
      angle: {{type: INTEGRATOR, max: 0.9}}
    wires: [in.goal -> error.0, angle -> error.1, error -> gain, gain -> held, error -> sampled,
            held -> sum.0, sampled -> sum.1, sum -> force, force -> angle, angle -> out.angle]
blocks:
  goals: {{type: CONSTANT, value: {[round(0.5 + 0.5 * k / count, 4) for k in range(count)]}}}
  joints: {{type: servo, for_each: {{over: [goal, k]}}, k: {gains}}}
wires: [goals -> joints.goal]
run: {{T: 3, log: [joints.angle]{more}}}
"""


@pytest.fixture(scope="module")
def programs(tmp_path_factory):
    found = {}
    for count in (120, 360):
        path = tmp_path_factory.mktemp("servos") / "servos.yaml"
        path.write_text(servos(count))
        found[count] = sb.trace(path)
    return found


@pytest.mark.parametrize("name", ["rates", "updates", "outputs", "watched"])
def test_the_code_of_copies_does_not_grow_with_their_number(programs, name):
    lines = set()
    for program in programs.values():
        function = (
            next(iter(program.updates.values())) if name == "updates" else getattr(program, name)
        )
        text = c_source([function])
        assert "for (int i = 0; i <" in text
        lines.add(re.sub(r"\{[^{}]*\}", "", text).count("\n"))
    assert max(lines) - min(lines) <= 2


def test_a_loop_reads_each_copy_by_an_index(programs):
    text = c_function_where_it_pays("f", programs[120].rates)
    assert text.count("for (") == 1
    assert "for (int i = 0; i < 120; i++) {" in text
    assert re.search(r"const double e\d+ = p\[(\d+ \+ )?(\d+ \* )?i\];", text)


@compiled
def test_runs_of_copies_are_those_of_their_blocks(tmp_path):
    path = tmp_path / "servos.yaml"
    path.write_text(servos(120, ", rtol: 1.0e-9, atol: 1.0e-11"))
    assert c_function_where_it_pays("f", sb.trace(path).rates)
    results = sb.simulate(path)
    reference = sb.simulate(path, engine="interpreter", T=0.3)
    at = np.searchsorted(results.t, 0.3)
    last = results["joints.angle"][at]
    assert results.t[at] == reference.t[-1]
    np.testing.assert_allclose(last, reference["joints.angle"][-1], rtol=1e-7)
    assert results["joints.angle"].max() <= 0.9 + 1e-9


def test_short_functions_are_written_as_they_are():
    x = ca.SX.sym("x", 20)
    function = ca.Function("f", [x], [ca.sin(x) * 2], ["x"], ["y"])
    assert c_function_where_it_pays("f", function) is None
    assert "for (" not in c_function("f", function)


# --- equal bits ---------------------------------------------------------------------------


def coupled(rounds, chance):
    """A function of rounds of the same operations, in which some read their neighbours, a common
    value, their own constants, or a table of one's own.
    """
    x, p = ca.SX.sym("x", 2 * rounds), ca.SX.sym("p", rounds)
    order = chance.permutation(rounds) if chance.random() < 0.3 else np.arange(rounds)
    common, before, parts, total = ca.sin(x[0] + p[0]), x[1], [], ca.SX(0)
    odd = int(chance.integers(rounds))
    use = chance.random(7) < 0.6
    for k in range(rounds):
        v = x[2 * k] * p[int(order[k])] + (0.5 + k if use[0] else 0.5)
        v = ca.sin(v) + ca.cos(v) if use[1] else v
        v = v * common if use[2] else v
        v = v - before if use[3] else v
        v = ca.exp(-v * v) if k == odd and use[4] else v
        v = ca.if_else(v > x[2 * k + 1], v, 0.25 * v) if use[5] else v
        if use[6]:  # the same operations, with operands exchanged in every second round
            w = ca.exp(-v * v)
            v = v / w if k % 2 else w / v
        before, total = v, total + v
        parts += [v, x[2 * k + 1]]
    mask = ca.if_else(total > 1, total, -total)
    return ca.Function("f", [x, p], [ca.cse(ca.vertcat(*parts, total, mask))], ["x", "p"], ["y"])


@compiled
@settings(max_examples=8, deadline=None)
@given(seed=st.integers(0, 10_000), rounds=st.integers(3, 9))
def test_loops_give_the_bits_of_the_steps_that_they_replace(seed, rounds):
    with pytest.MonkeyPatch.context() as patch:
        for name, value in (("LEAST_SAVED", 3), ("_LEAST_MORE", 1), ("_MANY", 2), ("_GRAM", 2)):
            patch.setattr(repeats, name, value)
        function = coupled(rounds, np.random.default_rng(seed))
        text = c_function("f", function)
    assert "for (" in text
    source = f"#include <math.h>\n{text}\nvoid g(const double *x, const double *p, double *out);\n"
    source += "void g(const double *x, const double *p, double *out) { f(x, p, out); }\n"
    library = ctypes.CDLL(str(strict_library(source, PLAIN)))
    chance = np.random.default_rng(1)
    given = [chance.uniform(-2, 2, function.numel_in(k)) for k in (0, 1)]
    out = np.zeros(function.numel_out(0))
    library.g(*(ctypes.c_void_p(array.ctypes.data) for array in (*given, out)))
    np.testing.assert_array_equal(out, np.array(function(*given)).ravel())


ONE = (ca.sin, ca.cos, ca.fabs, ca.sign, ca.floor, ca.logic_not, lambda a: -a, lambda a: 1 / a)
TWO = (
    *(ca.logic_and, ca.logic_or, ca.if_else, ca.atan2),
    *(lambda a, b: a + b, lambda a, b: a - b, lambda a, b: a * b, lambda a, b: a / b),
    *(lambda a, b: a < b, lambda a, b: a != b, lambda a, b: ca.if_else(a <= b, a, b)),
)
NUMBERS = (np.nan, np.inf, -np.inf, -0.0, 0.0, 1.0, -2.5, 1e308)


def chained(chance):
    """A function of stages of random rounds, whose steps read each other, other rounds, other
    stages, arguments in order or not, and constants; its results are in another order.
    """
    t, x, p = ca.SX.sym("t"), ca.SX.sym("x", 30), ca.SX.sym("p", 20)
    known = [*ca.vertsplit(x), *ca.vertsplit(p), t]
    results = []
    for _ in range(chance.integers(1, 4)):
        count, length = chance.integers(2, 12), chance.integers(2, 9)
        before, order, rounds = list(known), chance.permutation(count), []
        recipe = [
            (
                int(chance.integers(len(ONE) + 2 * len(TWO))),
                [(int(chance.integers(9)), int(chance.integers(1000)), int(chance.integers(1, 3)))
                 for _ in (0, 1)],
            )
            for _ in range(length)
        ]  # fmt: skip

        def read(place, at, step, k, own, rounds=rounds, order=order, before=before):
            choices = {
                0: own or None,
                1: rounds[-1] if rounds else None,
                2: rounds[order[k] % len(rounds)] if rounds else None,
                3: [t],
                4: [ca.SX(number) for number in NUMBERS],
            }
            if choices.get(place):
                return choices[place][at % len(choices[place])]
            if place == 5:
                return ca.SX(NUMBERS[(at + k) % len(NUMBERS)]) if at % 2 else ca.SX(0.5 + k)
            if place == 6:
                return before[at % len(before)]
            if place == 7:
                return x[int(order[k])]
            return before[(at + step * k) % len(before)]

        for k in range(count):
            own = []
            for which, operands in recipe:
                given = [read(*one, k, own) for one in operands]
                given = given[::-1] if chance.random() < 0.02 else given
                if which < len(ONE):
                    own.append(ONE[which](given[0]))
                else:
                    operation = TWO[(which - len(ONE)) // 2]
                    own.append(
                        operation(*given, 0) if operation is ca.if_else else operation(*given)
                    )
            rounds.append(own)
        made = [value for own in rounds for value in own]
        known += made
        results += [rounds[k][int(chance.integers(length))] for k in order]
        results += [value for value in made if chance.random() < 0.3]
        results += [t, ca.SX(NUMBERS[int(chance.integers(8))]), results[0]]
    y = ca.densify(ca.vertcat(*results))
    y = ca.cse(y) if chance.random() < 0.6 else y
    return ca.Function("f", [t, x, p], [y], ["t", "x", "p"], ["y"])


@compiled
@pytest.mark.parametrize("longest", [5, 10_000])
def test_loops_of_random_steps_give_their_bits(monkeypatch, longest):
    """In one piece, and in pieces. All numbers are compared but the signs of NaN."""
    for name, value in (("LEAST_SAVED", 3), ("_LEAST_MORE", 1), ("_MANY", 2), ("_GRAM", 2)):
        monkeypatch.setattr(repeats, name, value)
    dialect = replace(DOUBLE, longest=longest, piece=4)
    functions = {f"f{seed}": chained(np.random.default_rng(seed)) for seed in range(20)}
    texts = ["#include <math.h>", "#define SB_APART __attribute__((noinline))"]
    for name, function in functions.items():
        texts.append(c_function(name, function, dialect=dialect))
        texts.append(f"void call_{name}(double *t, double *x, double *p, double *y) {{")
        texts.append(f"  {name}(*t, x, p, y);\n}}")
    source = "\n".join(texts)
    assert source.count("for (int i = 0;") >= 20
    library = ctypes.CDLL(str(strict_library(source, (*PLAIN[:4], "-ffp-contract=off"))))
    chance = np.random.default_rng(1)
    for name, function in functions.items():
        given = [chance.uniform(-2, 2, function.numel_in(k)) for k in range(3)]
        out = np.full(function.numel_out(0), 7.0)
        call = library[f"call_{name}"]
        call(*(ctypes.c_void_p(array.ctypes.data) for array in (*given, out)))
        assert same_bits(out, np.array(function(*given)).ravel()), name


@compiled
def test_loops_write_every_result_of_a_function():
    def both(x, p):
        first = [np.sin(x[k] * p[k]) * np.exp(-(x[k] ** 2)) + p[k] for k in range(100)]
        return np.array(first), 2.5, np.array([first[99 - k] * x[k] for k in range(100)])

    function = sb.compiled(both, 100, 100)
    assert "for (int i = 0; i < 100; i++) {" in c_source([function.program])
    given = np.linspace(-1, 1, 100), np.linspace(0.5, 2, 100)
    for found, wanted in zip(function(*given), both(*given), strict=True):
        np.testing.assert_allclose(found, wanted, rtol=1e-13, atol=1e-13)


@compiled
@pytest.mark.parametrize("longest", [5, 10_000])
def test_loops_are_alike_in_all_lanes(monkeypatch, longest):
    """In one piece, and in pieces between which values pass."""
    for name, value in (("LEAST_SAVED", 3), ("_LEAST_MORE", 1), ("_MANY", 2), ("_GRAM", 2)):
        monkeypatch.setattr(repeats, name, value)
    monkeypatch.setattr(lane_libraries, "LANES", replace(LANES, longest=longest, piece=10))
    for seed in range(3):
        functions = {"f": coupled(40, np.random.default_rng(seed))}
        text = lane_libraries.text_of(functions, 4)
        assert "for (int i = 0" in text
        assert ("f_0(" in text) == (longest < 100)
        chance = np.random.default_rng(2)
        rows = [chance.uniform(-2, 2, (8, functions["f"].numel_in(k))) for k in (0, 1)]
        alone, together = Lanes(functions, 1)("f", *rows), Lanes(functions, 4)("f", *rows)
        assert same_bits(alone, together)
        exact = [np.array(functions["f"](*row)).ravel() for row in zip(*rows, strict=True)]
        np.testing.assert_allclose(alone, exact, rtol=1e-12, atol=1e-13)


def test_exported_c_has_the_loop(tmp_path):
    path = tmp_path / "servos.yaml"
    path.write_text(servos(120) + "export: {part: [joints], rate: 100}\n")
    code = step_code(subdiagram_of(path))
    assert "for (int i = 0; i < 120; i++) {" in code.files[f"{code.name}.c"]
