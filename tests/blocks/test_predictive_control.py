"""Optimal control from measurements and with bounds: the separation of LQG, and model predictive
control against OSQP's solution of the same program, written with all states, and against the gain
of the regulator.
"""

from __future__ import annotations

import bdsim
import numpy as np
import osqp
import pytest
import scipy.sparse as sp
from dynamic_blocks import check_c, check_engines, check_fmu, made
from scipy.linalg import solve_discrete_are
from scipy.signal import cont2discrete

import spart_blocks as sb
from spart_blocks.base.errors import InputError
from spart_blocks.blocks.predictive_control import _one_later
from spart_blocks.program.c.machine_code import c_source
from spart_blocks.program.derivatives import Point, Rowwise

T = 0.1
CLOCK = bdsim.Clock(T)
PLANT = {"A": [[0.0, 1.0], [1.0, -0.2]], "B": [0.0, 1.0]}
SEEN = {**PLANT, "C": [1.0, 0.0], "Q": [1.0, 0.1], "R": 0.05, "W": [0.01, 0.1], "V": 0.001}
WEIGHED = {**PLANT, "Q": [1.0, 0.1], "R": 0.05}
CASES = [
    ("LQG", SEEN, [None, 2, None]),
    ("LQG_S", {**SEEN, "x0": [0.1, 0.2]}, [None, 2, None]),
    ("MPC_S", {**WEIGHED, "N": 6, "iterations": 6, "lower": -3, "upper": 2, "rate": 20,
               "C": [0, 1], "y_upper": 0.1, "S": 0.1}, [2, 2, None]),
    ("MPC_S", {**WEIGHED, "B": [[0, 0.5], [1, 0]], "R": [0.05, 0.1], "N": 4, "iterations": 4,
               "lower": [-1, -2], "upper": 2}, [2, 2, 2]),
]  # fmt: skip


def test_both_engines_run_alike(tmp_path):
    check_engines(CASES, tmp_path)


def test_the_c_agrees_back_to_back(tmp_path):
    check_c(CASES, tmp_path)


def test_the_fmu_agrees(tmp_path):
    check_fmu(CASES, tmp_path)


# --- LQG ------------------------------------------------------------------------------------------


def test_the_poles_of_the_loop_are_those_of_the_regulator_and_of_the_filter():
    """The separation principle: Anderson and Moore (1990), sec. 8.1."""
    block = made("LQG", CLOCK, **SEEN)
    A, B, C, K, L = block.A, block.B, block.C, block.K, block.L
    loop = np.zeros((4, 4))
    for k, e in enumerate(np.eye(4)):
        u, _ = block.output(0.0, [0.0, np.zeros(2), 0.0], e[2:])
        loop[:2, k] = A @ e[:2] + B[:, 0] * u
        loop[2:, k] = block.deriv(0.0, [(C @ e[:2])[0], np.zeros(2), 0.0], e[2:])
    want = np.concatenate([np.linalg.eigvals(A - B @ K), np.linalg.eigvals(A - L @ C)])
    np.testing.assert_allclose(np.poly(loop), np.poly(want), rtol=1e-10)


def test_the_sampled_loop_separates_too():
    block = made("LQG_S", CLOCK, **SEEN)
    A, B, C, K, L = block.A, block.B, block.C, block.K, block.L
    loop = np.zeros((4, 4))
    for k, e in enumerate(np.eye(4)):
        inputs = [(C @ e[:2])[0], np.zeros(2), 0.0]
        u, _ = block.output(0.0, inputs, e[2:])
        loop[:2, k] = A @ e[:2] + B[:, 0] * u
        loop[2:, k] = block.next(0.0, inputs, e[2:])
    want = np.concatenate([np.linalg.eigvals(A - B @ K), np.linalg.eigvals(A - A @ L @ C)])
    np.testing.assert_allclose(np.poly(loop), np.poly(want), rtol=1e-10)


# --- MPC ------------------------------------------------------------------------------------------


def sampled(A, B):
    found = cont2discrete((np.array(A), np.reshape(B, (len(A), -1)), np.eye(2), 0), T)
    return found[0], found[1]


def test_without_bounds_it_is_the_regulator():
    A, B = sampled(**PLANT)
    S = solve_discrete_are(A, B, np.diag(WEIGHED["Q"]), [[WEIGHED["R"]]])
    K = np.linalg.solve(WEIGHED["R"] + B.T @ S @ B, B.T @ S @ A)
    far = made("MPC_S", CLOCK, **WEIGHED, N=8, lower=-1e3, upper=1e3, iterations=20)
    free = made("MPC_S", CLOCK, **WEIGHED, N=8)
    x, xd = np.array([0.4, -0.7]), np.array([0.3, 0.0])
    hold = -0.3  # x'' = x + u rests at 0.3
    for block in (far, free):
        u, residual = block.output(0.0, [x, np.zeros(2), 0.0], block._x0)
        np.testing.assert_allclose(u, -(K @ x)[0], rtol=1e-10)
        assert residual < 1e-12
        u, _ = block.output(0.0, [x, xd, hold], block._x0)
        np.testing.assert_allclose(u, hold - (K @ (x - xd))[0], rtol=1e-9)


BOUNDS = {
    "inputs": {"lower": -0.5, "upper": 0.6},
    "rate": {"lower": -1.0, "upper": 1.0, "rate": 2.0, "iterations": 400, "penalty": 10.0},
    "soft": {"lower": -1.0, "upper": 1.0, "C": [0, 1], "y_lower": -0.2, "y_upper": 0.4,
             "y_weight": 100.0, "iterations": 200, "penalty": 10.0},
    "all": {"lower": -1.5, "upper": 1.0, "rate": 4.0, "S": 0.05, "C": [0, 1],
            "y_upper": 0.3, "y_weight": 5.0, "iterations": 600, "penalty": 30.0},
}  # fmt: skip
N = 8


def osqp_solution(A, B, x, xd, before, bounds):
    """u_0 of the program in all states, inputs and excesses (Stellato et al. (2020))."""
    n, m = B.shape
    at = lambda name, size, other: np.broadcast_to(  # noqa: E731
        np.asarray(bounds.get(name, other), float), size
    )
    Q, R, S = np.diag(WEIGHED["Q"]), np.eye(m) * WEIGHED["R"], np.eye(m) * bounds.get("S", 0.0)
    end = solve_discrete_are(A, B, Q, R)
    C = np.atleast_2d(bounds.get("C", np.zeros((1, n))))
    p, eye = len(C), np.eye(N * m)
    change = eye - np.eye(N * m, k=-m)
    parts = [np.kron(np.eye(N - 1), Q), end, np.kron(np.eye(N), R) + change.T @ (
        np.kron(np.eye(N), S)) @ change, bounds.get("y_weight", 1.0) * np.eye(N * p)]  # fmt: skip
    H = 2 * sp.block_diag(parts, format="csc")
    first = np.zeros(N * m)
    first[:m] = before
    pull = -2 * change.T @ np.kron(np.eye(N), S) @ first
    q = np.concatenate([np.tile(-2 * Q @ xd, N - 1), -2 * end @ xd, pull, np.zeros(N * p)])
    moves = np.eye(N * n) - np.kron(np.eye(N, k=-1), A)
    start = np.concatenate([A @ x, np.zeros((N - 1) * n)])
    zero = lambda rows, columns: np.zeros((rows * N, columns * N))  # noqa: E731
    G = np.vstack([
        np.hstack([moves, -np.kron(np.eye(N), B), zero(n, p)]),
        np.hstack([zero(m, n), eye, zero(m, p)]),
        np.hstack([zero(m, n), change, zero(m, p)]),
        np.hstack([np.kron(np.eye(N), C), zero(p, m), -np.eye(N * p)]),
    ])  # fmt: skip
    rate = at("rate", N * m, 1e20) * T
    low = [start, at("lower", N * m, -1e20), first - rate, np.tile(at("y_lower", p, -1e20), N)]
    high = [start, at("upper", N * m, 1e20), first + rate, np.tile(at("y_upper", p, 1e20), N)]
    solver = osqp.OSQP()
    solver.setup(H, q, sp.csc_matrix(G), np.concatenate(low), np.concatenate(high), eps_abs=1e-9,
                 eps_rel=1e-9, max_iter=200_000, verbose=False, polishing=True)  # fmt: skip
    found = solver.solve()
    assert found.info.status == "solved"
    return found.x[N * n : N * n + m]


@pytest.mark.parametrize("which", BOUNDS)
def test_it_gives_the_inputs_of_osqp(which):
    """In a loop from rest to another place, so that bounds are met and left."""
    A, B = sampled(**PLANT)
    block = made("MPC_S", CLOCK, **WEIGHED, **BOUNDS[which], N=N)
    x, z, before, met = np.array([0.2, 0.0]), block._x0, np.zeros(1), 0
    xd = np.array([-0.2, 0.0])
    for _ in range(20):
        inputs = [x, xd, 0.0]
        u, residual = block.output(0.0, inputs, z)
        want = osqp_solution(A, B, x, xd, before, BOUNDS[which])
        np.testing.assert_allclose(u, want[0], atol=1e-6)
        assert residual < 1e-4
        met += np.isclose(u, BOUNDS[which]["lower"]) or np.isclose(abs(u - before[0]), 0.2)
        z, x, before = block.next(0.0, inputs, z), A @ x + B[:, 0] * u, np.array([u])
    assert which != "inputs" or met > 1


def test_u_is_within_its_bounds_however_few_the_steps():
    block = made("MPC_S", CLOCK, **WEIGHED, lower=-0.3, upper=0.4, rate=1.0, N=5, iterations=1)
    rng, z, before = np.random.default_rng(1), block._x0, 0.0
    for _ in range(50):
        inputs = [rng.normal(size=2), np.zeros(2), 0.0]
        u, _ = block.output(0.0, inputs, z)
        assert -0.3 <= u <= 0.4
        assert abs(u - before) <= 0.1 + 1e-12
        z, before = block.next(0.0, inputs, z), u


def test_a_tick_begins_with_the_solution_of_the_one_before_moved_by_one():
    np.testing.assert_array_equal(_one_later(3, [1, 2]), [1, 2, 2, 5, 6, 7, 8, 7, 8])
    block = made("MPC_S", CLOCK, **WEIGHED, lower=-0.5, upper=0.5, N=8, iterations=5)
    A, B = sampled(**PLANT)
    x, z = np.array([0.35, 0.0]), block._x0
    for _ in range(3):
        inputs = [x, np.zeros(2), 0.0]
        u = block.output(0, inputs, z)[0]
        z, x = block.next(0, inputs, z), A @ x + B[:, 0] * u
    cold, warm = (block.output(0, [x, np.zeros(2), 0.0], s)[1] for s in (block._x0, z))
    assert 0 < warm < cold / 3


LOOP = """
clocks: {c: {T: 0.1}}
blocks:
  goal: {type: CONSTANT, value: [1, 0]}
  plant: {type: STATE_SPACE, A: [[0, 1], [0, 0]], B: [0, 1], C: [[1, 0], [0, 1]]}
  mpc: {type: MPC_S, clock: c, A: [[0, 1], [0, 0]], B: [0, 1], Q: [1, 0.1], R: 0.05, N: 12,
        lower: -0.5, upper: 1, iterations: 30}
wires: [plant -> mpc.x, goal -> mpc.xd, mpc.u -> plant]
run: {T: 6, log: [plant, mpc.u]}
"""


def test_a_mass_is_moved_within_the_bounds_of_its_force(tmp_path):
    (tmp_path / "loop.yaml").write_text(LOOP)
    results = sb.simulate(tmp_path / "loop.yaml")
    assert results.info["engine"] == "native"
    assert np.abs(results["plant"][-1] - [1, 0]).max() < 1e-3
    assert results["mpc.u"].min() == -0.5
    assert results["mpc.u"].max() == 1


def loop_with(tmp_path, **given):
    text = LOOP
    for name, (old, new) in given.items():
        text = text.replace(f"{name}: {old}", f"{name}: {new}")
    (tmp_path / "loop.yaml").write_text(text)
    return sb.load(tmp_path / "loop.yaml")


def test_the_code_does_not_grow_with_the_iterations(tmp_path):
    lines = [
        c_source(sb.trace(loop_with(tmp_path, iterations=(30, count))).updates.values()).count("\n")
        for count in (30, 2000)
    ]
    assert lines[1] < lines[0] + 50


def test_the_code_grows_with_the_horizon_by_its_tables_only(tmp_path):
    """A table of N^2 numbers has eight in a line; written out, each product is a line."""
    for N in (12, 96):
        program = sb.trace(loop_with(tmp_path, N=(12, N), iterations=(30, 40)))
        lines = c_source(program.updates.values()).count("\n")
        assert lines < 1500 + 40 * N + N**2


def test_derivatives_are_those_of_the_steps(tmp_path):
    """Central differences of the program, where some bounds act and the steps are few."""
    program = sb.trace(loop_with(tmp_path, iterations=(30, 3)))
    (update,) = program.updates.values()
    found = Rowwise(update, np.arange(len(program.xd0)))
    rng, e = np.random.default_rng(2), 1e-6
    x, xd = np.array([0.3, 0.4]), 0.1 * rng.normal(size=len(program.xd0))
    given = found(Point(0.0, x, xd, program.p))
    for by, size in (("x", 2), ("xd", len(xd))):
        for k in range(size):
            shift = e * np.eye(size)[k]
            ends = [
                update(0.0, *((x + s, xd) if by == "x" else (x, xd + s)), program.p).full()
                for s in (shift, -shift)
            ]
            want = (ends[0] - ends[1]).ravel() / (2 * e)
            np.testing.assert_allclose(getattr(given, by)[:, k], want, atol=1e-7)


@pytest.mark.parametrize(
    ("kind", "given", "told"),
    [
        ("LQG", {**SEEN, "Q": -1.0}, "Q is not positive semidefinite"),
        ("LQG", {**SEEN, "V": 0.0}, "V is not positive definite"),
        ("LQG", {**SEEN, "B": [0.0, 0.0]}, "no input moves"),
        ("LQG", {**SEEN, "Q": None}, "it takes Q and R, or K"),
        ("LQG", {**SEEN, "V": None}, "it takes W and V, or L"),
        ("LQG", {**SEEN, "K": [1.0, 2.0, 3.0]}, r"K must have shape \(1, 2\)"),
        ("LQG_S", {**SEEN, "method": "tustin"}, "method must be one of"),
        ("MPC_S", {**WEIGHED, "N": 0}, "N must be a whole number"),
        ("MPC_S", {**WEIGHED, "N": 5, "lower": 2.0, "upper": 1.0}, "above upper"),
        ("MPC_S", {**WEIGHED, "N": 5, "lower": [1.0, 2.0]}, "lower has shape"),
        ("MPC_S", {**WEIGHED, "N": 5, "rate": 0.0}, "rate must be above zero"),
        ("MPC_S", {**WEIGHED, "N": 5, "y_upper": 1.0}, "y_lower and y_upper are of y = C x"),
        ("MPC_S", {**WEIGHED, "N": 5, "u0": [1.0, 2.0]}, "u0 has shape"),
        ("MPC_S", {**WEIGHED, "N": 5, "R": 0.0}, "R is not positive definite"),
        ("MPC_S", {**WEIGHED, "N": 600, "lower": 0, "rate": 1.0}, "1,200 bounds"),
    ],
)
def test_wrong_parameters_are_refused(kind, given, told):
    with pytest.raises((InputError, ValueError), match=told):
        made(kind, CLOCK, **given)
