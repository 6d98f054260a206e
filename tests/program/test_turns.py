"""Sines and cosines of an evaluation are computed together, in vectors, with the bits of lanes."""

from __future__ import annotations

import ctypes
import re
from dataclasses import replace

import casadi as ca
import numpy as np
import pytest
from lane_libraries import Lanes, same_bits
from operations import every_operation

from spart_blocks.program.c import machine_code
from spart_blocks.program.c.compiler import compiler_name, loaded_library, usual_lanes
from spart_blocks.program.c.dialects import DOUBLE, FLOAT
from spart_blocks.program.c.functions import c_function
from spart_blocks.program.c.machine_code import c_source
from spart_blocks.program.c.values import (
    steps_of,
    steps_with_turns,
    values_of,
    with_few_waiting,
)

pytestmark = [
    pytest.mark.skipif(compiler_name() is None, reason="no C compiler"),
    pytest.mark.skipif(usual_lanes() < 4, reason="no wide vectors"),
]

FAR = [0.0, -0.0, 5e-324, 1e-20, 0.5 * np.pi, np.pi, 100 * np.pi, 1e5, -1e5, 1.0000001e5]
FAR += [53245.5 * np.pi, 1e22, -1e300, 1.7976931348623157e308, np.inf, -np.inf, np.nan]


def called(function, *arguments):
    """Each result of a function in machine code."""
    library = loaded_library(c_source([function]))
    given = [np.asarray(a, float) for a in arguments]
    results = [np.full(function.numel_out(k), 7.0) for k in range(function.n_out())]
    arg, res = (
        (ctypes.c_void_p * len(arrays))(*(a.ctypes.data for a in arrays))
        for arrays in (given, results)
    )
    library[function.name()](arg, res, 0, 0, 0)
    return results


def turns(n):
    x = ca.SX.sym("x", n)
    return ca.Function("turns", [x], [ca.sin(x), ca.cos(x)], ["x"], ["s", "c"])


def column(name, function):
    """A function for lanes with one of the results."""
    x = function.sx_in()
    return ca.Function("f", x, [function(*x)[name]], ["x"], ["y"])


def test_an_evaluation_and_lanes_share_the_bits_of_sines_and_cosines():
    """Near and far, of no number and of infinity, of as many angles as do not fill vectors."""
    rng = np.random.default_rng(4)
    x = np.array([*FAR, *rng.uniform(-7, 7, 50), *rng.uniform(-1e5, 1e5, 50)])
    function = turns(len(x))
    rows = np.tile(x, (8, 1))
    lanes = Lanes({"s": column(0, function), "c": column(1, function)}, 8)
    for name, alone in zip("sc", called(function, x), strict=True):
        assert same_bits(lanes(name, rows)[0], alone)


def test_sines_and_cosines_are_those_of_math():
    x = np.array([*FAR, *np.linspace(-30, 30, 400)])
    with np.errstate(invalid="ignore"):
        exact = np.sin(x), np.cos(x)
    for got, truth in zip(called(turns(len(x)), x), exact, strict=True):
        assert same_bits(got[~np.isfinite(truth)], truth[~np.isfinite(truth)])
        np.testing.assert_allclose(got, truth, rtol=4e-16, atol=0)


def test_angles_that_depend_on_equally_many_others_are_computed_at_once():
    x = ca.SX.sym("x", 5)
    first = [ca.sin(x[0]), ca.cos(x[0] + x[1]), ca.cos(x[2] * x[3]), ca.sin(x[2] * x[3])]
    second = ca.sin(first[0] + x[4]) * ca.cos(first[1] * first[2]) + first[3]
    third = ca.cos(second)
    function = ca.Function("f", [x], [ca.vertcat(*first, second, third)], ["x"], ["y"])
    text = c_source([function])
    calls = re.findall(r"sb_turns\((\d), (\w+)_angles", text)
    assert [int(count) for count, _ in calls] == [1, 1]
    assert "cos(" in text  # of one angle alone
    given = np.random.default_rng(1).uniform(-3, 3, 5)
    np.testing.assert_allclose(
        called(function, given)[0], np.array(function(given)).ravel(), rtol=1e-14
    )


def test_a_long_chain_of_angles_is_put_in_order():
    """Each pair of angles depends on all before."""
    x = ca.SX.sym("x", 2)
    a, b = x[0], x[1]
    for _ in range(500):
        a, b = ca.sin(a) + b, ca.cos(b) - a
    values = values_of(ca.Function("f", [x], [ca.vertcat(a, b)]))
    steps = steps_with_turns(values)
    assert sum(len(step) == 2 for step in steps) == 500
    made = set()
    for step in steps:
        assert made.issuperset(operand for value in step for operand in value.of)
        made.update(step)
    assert made == set(values)


def test_in_large_functions_few_values_wait():
    """Of a sum of products by halves that is recorded level by level."""
    x = ca.SX.sym("x", 64)
    level = [ca.sin(x[k]) * x[k] for k in range(64)]
    while len(level) > 1:
        level = [a + b for a, b in zip(level[::2], level[1::2], strict=True)]
    values = values_of(ca.Function("f", [x], [level[0]]))
    ranked = sorted(values, key=depths(values).__getitem__)
    steps = steps_of([v for v in ranked if v.operation != ca.OP_INPUT], paired=False)
    assert most_waiting(steps) == 64
    ordered = with_few_waiting(steps)
    assert sorted(map(id, ordered)) == sorted(map(id, steps))
    assert most_waiting(ordered) <= 8


def depths(values):
    found = {}
    for value in values:
        found[value] = 1 + max((found[v] for v in value.of), default=0)
    return found


def most_waiting(steps):
    """The most values of steps that are made and not yet read for the last time."""
    made = {value: k for k, step in enumerate(steps) for value in step}
    last = dict(made)
    for k, step in enumerate(steps):
        for operand in (v for value in step for v in value.of if v in made):
            assert made[operand] < k
            last[operand] = k
    return max(sum(made[v] <= k < last[v] for v in made) for k in range(len(steps)))


@pytest.mark.parametrize(("longest", "large"), [(1000, 1000), (20, 1000), (20, 20)])
def test_every_operation_is_as_in_casadi(longest, large, monkeypatch):
    """In one piece, in several, and these in an order of their own."""
    here = replace(machine_code._HERE, longest=longest, piece=longest, large=large)
    monkeypatch.setattr(machine_code, "_HERE", here)
    monkeypatch.setattr(machine_code, "user_folder", lambda: None)  # of stored texts
    one, x, p = every_operation(), ca.SX.sym("x", 3), ca.DM([0.7, -1.3])
    function = ca.Function("f", [x], [ca.vertcat(one(x, p), ca.sin(x), ca.cos(x))], ["x"], ["y"])
    text = c_source([function])
    assert "sb_turns(" in text
    assert ("double *restrict room" in text) is (longest < 1000)
    rng = np.random.default_rng(2)
    for point in [[0.0, 1.0, -1.0], *rng.uniform(-3, 3, (40, 3))]:
        truth = np.array(function(point)).ravel()
        np.testing.assert_allclose(called(function, point)[0], truth, rtol=1e-11, atol=1e-12)


@pytest.mark.parametrize("dialect", [DOUBLE, FLOAT])
def test_c_for_other_machines_has_no_vectors(dialect):
    text = c_function("f", column(0, turns(6)), dialect=dialect)
    assert text.count("sin") == 6
    assert "sb_" not in text


def test_machines_without_wide_vectors_keep_math_h(monkeypatch):
    monkeypatch.setenv("SPART_LANES", "2")
    assert "sb_turns" not in c_source([turns(6)])
