"""Symbols run through the same code as numbers: SymPy and CasADi scalars in object arrays."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import robots
from ball_robots import robot_with_balls

from spart_blocks import dynamics, spart
from spart_blocks.base import spatial
from spart_blocks.robot import BaseLink, Joint, JointType, Link, Robot

GRAVITY = np.array([0.3, -0.2, -9.81])


# --- CasADi ---------------------------------------------------------------------------


def casadi_symbols(state):
    """The state's arrays as object arrays of CasADi scalars, and the scalars' vectors."""
    casadi = pytest.importorskip("casadi")
    vectors, arrays = [], {}
    for name, value in state.arrays().items():
        vector = casadi.SX.sym(name, value.size)
        out = np.empty(value.size, dtype=object)
        for k in range(value.size):
            out[k] = vector[k]
        vectors.append(vector)
        arrays[name] = out.reshape(value.shape)
    return vectors, replace(state, **arrays)


def casadi_function(vectors, outputs):
    """One CasADi function of all outputs, flattened in order; and their names and shapes."""
    import casadi

    entries = [casadi.SX(x) for value in outputs.values() for x in np.ravel(value)]
    return casadi.Function("f", vectors, [casadi.vertcat(*entries)])


def evaluated(function, state, outputs):
    flat = np.array(function(*(v.ravel() for v in state.arrays().values()))).ravel()
    ends = np.cumsum([np.size(value) for value in outputs.values()])[:-1]
    parts = np.split(flat, ends)
    return {n: p.reshape(np.shape(v)) for (n, v), p in zip(outputs.items(), parts, strict=True)}


TREES = [robots.random_robot(20, 6), robots.random_robot(22, 6), robot_with_balls(2, bodies=3)]


@pytest.mark.parametrize("seed", range(3))
def test_casadi_runs_through_every_function(seed, close):
    robot = TREES[seed]
    s = robots.random_state(robot, seed)
    vectors, symbols = casadi_symbols(s)
    outputs = robots.everything(robot, symbols, link=4)
    outputs |= robots.by_complement(robot, symbols, outputs)
    outputs |= robots.bookkeeping(robot, symbols, GRAVITY)
    want = robots.everything(robot, s, link=4)
    want |= robots.by_complement(robot, s, want) | robots.bookkeeping(robot, s, GRAVITY)
    got = evaluated(casadi_function(vectors, outputs), s, outputs)
    assert set(got) == set(want)
    # Numbers and symbols take the same path but for the 6 by 6 solve.
    for name, value in want.items():
        close(got[name], value, name, rel=1e-12)


@pytest.mark.parametrize("tree", [robots.random_robot(31, 6), robot_with_balls(2, bodies=3)])
def test_casadi_runs_through_the_plant_with_a_fixed_base(tree, close):
    robot = tree.with_base("fixed")
    s = robots.random_state(robot, 1)
    vectors, symbols = casadi_symbols(s)
    outputs = robots.bookkeeping(robot, symbols, GRAVITY)
    got = evaluated(casadi_function(vectors, outputs), s, outputs)
    for name, value in robots.bookkeeping(robot, s, GRAVITY).items():
        close(got[name], value, name)


def test_casadi_runs_through_the_attitude_functions(golden, close):
    casadi = pytest.importorskip("casadi")
    reference = golden("spart_attitude")
    functions = [
        ("Angles321_DCM", "angles"),
        ("Angles123_DCM", "angles"),
        ("DCM_Angles321", "Angles321_DCM"),
        ("quat_DCM", "DCM_quat_of_321"),
        ("quat_Angles321", "DCM_quat_of_321"),
        ("DCM_Euler", "Angles321_DCM"),
        ("Matrix_QuatProd_Left", "DCM_quat_of_321"),
        ("Matrix_QuatProd_Right", "DCM_quat_of_321"),
        ("SkewSym", "angles"),
    ]
    for name, given in functions:
        value = np.array(reference[given][3])
        vector = casadi.SX.sym("v", value.size)
        symbols = np.array([vector[k] for k in range(value.size)], dtype=object)
        out = getattr(spart, name)(symbols.reshape(value.shape))
        f = casadi.Function("f", [vector], [casadi.vertcat(*map(casadi.SX, np.ravel(out)))])
        got = np.array(f(value.ravel())).reshape(np.shape(out))
        want = reference[name][3] if name in reference else getattr(spart, name)(value)
        close(got, want, name)


def test_sympy_and_casadi_run_through_dh_frames(close):
    casadi, sympy = pytest.importorskip("casadi"), pytest.importorskip("sympy")
    dh = {"d": 0.3, "theta": 0.2, "alpha": -0.7, "a": 0.5}
    for kind in (0, 1):
        want = spart.DH_Rs(dh, 0.4, kind)
        q = casadi.SX.sym("q")
        for got, value in zip(spart.DH_Rs(dh, q, kind), want, strict=True):
            f = casadi.Function("f", [q], [casadi.vertcat(*map(casadi.SX, np.ravel(got)))])
            close(np.array(f(0.4)).reshape(value.shape), value)
        symbols = dict(zip(dh, sympy.symbols("d theta alpha a"), strict=True))
        R, s = spart.DH_Rs(symbols, 0, kind)
        there = [(symbols[key], dh[key] + 0.4 * (key == ("theta", "d")[kind])) for key in dh]
        close(np.array([[x.subs(there) for x in map(sympy.sympify, row)] for row in R], float),
              want[0])  # fmt: skip
        close(np.array([sympy.sympify(x).subs(there) for x in s], float), want[1])
    assert spart.QuaternionProduct(sympy.symbols("a:4"), [0, 0, 0, 1]).shape == (4,)


def test_a_casadi_quaternion_of_a_rotation_is_that_of_numbers_near_the_identity(close):
    casadi = pytest.importorskip("casadi")
    dcm = spatial.angles321_dcm(np.array([0.4, -0.3, 0.9]))
    vector = casadi.SX.sym("c", 9)
    symbols = np.array([vector[k] for k in range(9)], dtype=object).reshape(3, 3)
    f = casadi.Function("f", [vector], [casadi.vertcat(*spatial.dcm_quat(symbols))])
    close(np.array(f(dcm.ravel())).ravel(), spatial.dcm_quat(dcm), "quaternion")


def test_casadi_differentiates_forward_dynamics_as_finite_differences_do(close):
    casadi = pytest.importorskip("casadi")
    robot = robots.random_robot(33, 4, kinds="r")
    s = robots.random_state(robot, 1)
    vectors, symbols = casadi_symbols(s)
    rates = robots.bookkeeping(robot, symbols, GRAVITY)
    umdot = casadi.vertcat(*rates["umdot"])
    J = casadi.Function("J", vectors, [casadi.jacobian(umdot, vectors[2])])
    got = np.array(J(*(v.ravel() for v in s.arrays().values())))
    for k, unit in enumerate(np.eye(robot.nq)):
        slope = robots.rate(
            lambda h, unit=unit: robots.bookkeeping(robot, replace(s, qm=s.qm + h * unit), GRAVITY)[
                "umdot"
            ]
        )
        close(got[:, k], slope, f"column {k}", rel=1e-8, floor=1e-8)


# --- cost -----------------------------------------------------------------------------


def operations(n):
    robot = robots.random_robot(2, n, kinds="r", chain=True)
    vectors, s = casadi_symbols(robots.random_state(robot, 2))
    rates = dynamics.multibody_rates(s.R0, s.u0, s.qm, s.um, s.tau0, s.taum, s.wF0, s.wFm, robot)
    return casadi_function(vectors, {"u": rates.u0dot, "m": rates.umdot}).n_instructions()


def test_the_plant_costs_in_proportion_to_its_links():
    # Operations counted, not timed: the price of one more link is the same everywhere.
    counts = {n: operations(n) for n in (5, 10, 20, 40)}
    prices = [(counts[2 * n] - counts[n]) / n for n in (5, 10, 20)]
    assert max(prices) < 1.02 * min(prices)
    # A quadratic algorithm would show the price doubling from one pair to the next.
    assert counts[40] < 8.5 * counts[5]


# --- SymPy ----------------------------------------------------------------------------


@pytest.fixture(scope="module")
def two_joints():
    """A spacecraft with a revolute and a prismatic joint, its frames parallel at zero."""

    def at(x, y, z):
        T = np.eye(4)
        T[:3, 3] = x, y, z
        return T

    kinds = (JointType.REVOLUTE, [0.0, 0.0, 1.0]), (JointType.PRISMATIC, [1.0, 0.0, 0.0])
    joints = tuple(
        Joint(i, f"j{i}", kind, i, i - 1, i, np.array(axis), at(0.5, 0, 0.1))
        for i, (kind, axis) in enumerate(kinds, start=1)
    )
    links = tuple(
        Link(i, f"l{i}", i, at(0.25, 0, 0), 1.0 + i, np.diag([0.01, 0.2, 0.3])) for i in (1, 2)
    )
    base = BaseLink("base", np.eye(4), 10.0, np.diag([2.0, 3.0, 4.0]))
    return Robot("two joints", links, joints, base)


@pytest.fixture(scope="module")
def sympy_case(two_joints):
    """Numbers and SymPy symbols of R0, qm, u0 and um; the forces stay numbers."""
    sympy = pytest.importorskip("sympy")
    s = robots.random_state(two_joints, 3)
    names = ("R0", "qm", "u0", "um")

    def symbols(name, shape):
        out = np.empty(shape, dtype=object)
        for index in np.ndindex(*shape):
            out[index] = sympy.Symbol(name + "_" + "".join(map(str, index)))
        return out

    made = {name: symbols(name, getattr(s, name).shape) for name in names}
    given = [x for name in names for x in made[name].ravel()]
    numbers = np.concatenate([getattr(s, name).ravel() for name in names])
    return two_joints, s, replace(s, **made), given, numbers


def lambdified(given, expressions, numbers):
    """SymPy's own evaluation. Written out, forward dynamics has 1e12 terms, but only some
    2,000 different ones: they are told apart first (unsorted: sorting takes minutes)."""
    import sympy

    flat = [sympy.sympify(x) for x in expressions]
    common = sympy.cse(flat, order="none", list=False)
    f = sympy.lambdify(given, common[1], "math", cse=lambda _: common)
    return np.array(f(*numbers), dtype=float)


def kinematics_of(robot, s):
    K = dynamics.kinematics(s.R0, s.r0, s.qm, robot)
    D = dynamics.diff_kinematics(s.R0, s.r0, K.rL, K.e, K.g, robot)
    V = dynamics.velocities(*D, s.u0, s.um, robot)
    return K, D, V, dynamics.inertias(s.R0, K.RL, robot)


def test_sympy_s_inertia_matrix_evaluates_to_the_numbers(sympy_case, close):
    robot, s, symbols, given, numbers = sympy_case

    def blocks(state):
        _, D, _, I = kinematics_of(robot, state)
        bodies = dynamics.mass_composite_body(*I, D.Bij, D.Bi0, robot)
        H = dynamics.generalized_inertia(*bodies, *D, robot)
        return np.concatenate([np.ravel(block) for block in H])

    close(lambdified(given, blocks(symbols), numbers), blocks(s), "H")


def test_sympy_s_forward_dynamics_evaluates_to_the_numbers(sympy_case, close):
    robot, s, symbols, given, numbers = sympy_case

    def accelerations(state):
        _, D, V, I = kinematics_of(robot, state)
        return np.concatenate(
            dynamics.forward_dynamics(
                s.tau0, s.taum, s.wF0, s.wFm, *V, D.P0, D.pm, *I, D.Bij, D.Bi0,
                state.u0, state.um, robot,
            )
        )  # fmt: skip

    close(lambdified(given, accelerations(symbols), numbers), accelerations(s), "udot")


def test_floats_in_floats_out(two_joints):
    s = robots.random_state(two_joints, 3)
    outputs = robots.everything(two_joints, s) | robots.bookkeeping(two_joints, s, GRAVITY)
    assert {np.asarray(value).dtype for value in outputs.values()} == {np.dtype(float)}
