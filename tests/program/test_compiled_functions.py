"""A NumPy function, compiled, gives what it gave, and is safe to call in every way."""

from __future__ import annotations

import copy
import ctypes
import gc
import pickle
import sys
import threading
import weakref
from typing import NamedTuple

import numpy as np
import pytest
import robots

import spart_blocks as sb
from spart_blocks import dynamics
from spart_blocks.base import spatial
from spart_blocks.base.errors import SpartWarning
from spart_blocks.program.c import compiler

RNG = np.random.default_rng(5)


class Pair(NamedTuple):
    first: object
    second: object


def mixed(a, B, s):
    """Every kind of result, from a (3,), B (2,3) and a number s."""
    out = np.zeros(3)  # takes signals only once the constructors are replaced
    out[0], out[2] = s * a[1], np.sin(a).sum()
    return out, B @ a, s + a @ a, np.outer(a, B[0]), np.eye(2), 3.0


SHAPES = 3, (2, 3), ()


@pytest.fixture(params=["machine code", "virtual machine"])
def engine(request, monkeypatch, tmp_path):
    """Each way to run, with an empty cache."""
    monkeypatch.setenv("SPART_CACHE", str(tmp_path))
    monkeypatch.delenv("CC", raising=False)
    if request.param == "virtual machine":
        monkeypatch.setenv("SPART_COMPILER", "none")
    elif not compiler.compiler_name():
        pytest.fail("these tests need a C compiler")
    return request.param


def arguments():
    return RNG.normal(size=3), RNG.normal(size=(2, 3)), RNG.normal()


def same(got, want, close, rel=1e-14):
    assert len(got) == len(want)
    for number, (a, b) in enumerate(zip(got, want, strict=True)):
        assert np.shape(a) == np.shape(b)
        close(a, b, f"result {number}", rel=rel)


# --- the numbers ----------------------------------------------------------------------------


def test_a_compiled_function_gives_what_the_function_gives(engine, close):
    f = sb.compiled(mixed, *SHAPES)
    assert engine in repr(f)
    assert (f.address is None) == (engine == "virtual machine")
    for _ in range(3):
        given = arguments()
        same(f(*given), mixed(*given), close)


def test_the_dynamics_of_a_robot_compile(engine, close):
    robot = robots.random_robot(3, 9)
    s = robots.random_state(robot, 3)
    weights = dynamics.gravity_wrenches([0.1, 0.2, -9.81], robot)

    def forward(R0, u0, qm, um, tau0, taum):
        return dynamics.multibody_rates(R0, u0, qm, um, tau0, taum, *weights, robot)

    def inverse(R0, u0, qm, um, u0dot, umdot):
        return dynamics.multibody_forces(R0, u0, qm, um, u0dot, umdot, *weights, robot)

    def inertia(R0, qm):
        return dynamics.multibody_inertia(R0, qm, robot)

    shapes = (3, 3), 6, robot.nq, robot.nu, 6, robot.nu
    cases = [
        (forward, shapes, (s.R0, s.u0, s.qm, s.um, s.tau0, s.taum)),
        (inverse, shapes, (s.R0, s.u0, s.qm, s.um, s.u0dot, s.umdot)),
        (inertia, ((3, 3), robot.nq), (s.R0, s.qm)),
    ]
    for function, given_shapes, given in cases:
        got, want = sb.compiled(function, *given_shapes)(*given), function(*given)
        assert type(got) is type(want)
        same(got, want, close, rel=1e-12)


def test_a_bound_call_reads_and_writes_its_arrays_in_place(engine, close):
    f = sb.compiled(mixed, *SHAPES)
    a, B, s = np.zeros(3), np.zeros((2, 3)), np.zeros(())
    call = f.bound(a, B, s)
    for _ in range(3):
        a[:], B[:], s[()] = arguments()
        assert call() is call.result
        same(call.result, mixed(a, B, s[()]), close)
    assert all(x is y for x, y in zip(call.arguments, (a, B, s), strict=True))


def test_a_bound_call_writes_where_it_is_told(engine, close):
    f = sb.compiled(lambda a, b: Pair(a - b, a[0]), 3, 3)
    out = Pair(np.zeros(3), np.zeros(()))
    call = f.bound(np.array([3.0, 2.0, 1.0]), np.ones(3), out=out)
    call()
    assert call.result.first is out.first
    close(out.first, [2.0, 1.0, 0.0])
    assert out.second == 3.0
    one = sb.compiled(lambda a: 2 * a, 2)
    target = np.zeros(2)
    assert one.bound(np.ones(2), out=target)() is target
    close(target, [2.0, 2.0])


def test_results_are_fresh(engine):
    f = sb.compiled(lambda a: 2 * a, 2)
    first = f([1.0, 2.0])
    f([3.0, 4.0])
    assert first.tolist() == [2.0, 4.0]


def test_integers_lists_and_objects_that_are_numbers_are_taken(engine):
    f = sb.compiled(lambda a: 2 * a, 2)
    for given in ([1, 2], np.array([1, 2]), np.array([1.0, 2], object), np.float32([1, 2])):
        assert f(given).tolist() == [2.0, 4.0]


def test_strided_arguments_are_taken(engine):
    f = sb.compiled(lambda A: A @ A, (2, 2))
    A = RNG.normal(size=(4, 4))[::2, ::-2].T
    assert np.allclose(f(A), A @ A, rtol=1e-15)


def test_two_functions_and_two_bindings_keep_apart(engine):
    f, g = (sb.compiled(lambda a, k=k: k * a, 2) for k in (2.0, 3.0))
    x, y = np.array([1.0, 2.0]), np.array([5.0, 7.0])
    calls = f.bound(x), g.bound(x), f.bound(y)
    for call in calls:
        call()
    assert [call.result.tolist() for call in calls] == [[2, 4], [3, 6], [10, 14]]


def test_threads_get_their_own_results(engine):
    f = sb.compiled(lambda a: np.sin(a) * a, 50)
    wrong = []

    def work(seed):
        a = np.full(50, float(seed))
        for _ in range(300):
            if not (np.abs(f(a) - np.sin(a) * a) < 1e-14).all():
                wrong.append(seed)

    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(interval)
    assert not wrong


def test_empty_arrays_pass(engine):
    f = sb.compiled(lambda a, b: (a, b + 1), 0, 2)
    assert [x.tolist() for x in f(np.zeros(0), np.zeros(2))] == [[], [1, 1]]
    call = f.bound(np.zeros(0), np.zeros(2))
    assert call()[1].tolist() == [1, 1]
    assert sb.compiled(lambda: np.ones(2))().tolist() == [1, 1]


def test_nan_passes_through(engine):
    f = sb.compiled(lambda a: np.where(a > 0, a, 0.0) + a, 2)
    assert np.isnan(f([np.nan, 1.0])).tolist() == [True, False]


def test_a_library_that_does_not_load_is_done_without(tmp_path, monkeypatch):
    (tmp_path / "broken.so").write_text("no library")
    monkeypatch.setattr(compiler, "shared_library", lambda *source: tmp_path / "broken.so")
    with pytest.warns(SpartWarning, match="running without compiled code"):
        f = sb.compiled(lambda a: 2 * a, 2)
    assert f([1.0, 2.0]).tolist() == [2.0, 4.0]
    assert "virtual machine" in repr(f)


# --- lifetimes ------------------------------------------------------------------------------


def test_a_bound_call_keeps_alive_all_that_it_points_to(engine):
    f = sb.compiled(lambda a: 2 * a, 1000)
    given = np.ones(1000)
    call, seen = f.bound(given), weakref.ref(given)
    run = call.func  # the innermost, without its holder
    del f, given, call
    gc.collect()
    rubbish = [np.full(1000, np.nan) for _ in range(100)]
    assert seen() is not None
    assert run().tolist() == [2.0] * 1000
    del run, rubbish
    gc.collect()
    assert seen() is None


def test_calls_leave_no_references_behind(engine):
    f = sb.compiled(lambda a: 2 * a, 2)
    call = f.bound(np.ones(2))
    call()
    before = sys.getrefcount(call.result)
    for _ in range(1000):
        call()
    after = sys.getrefcount(call.result)
    assert after == before
    none = sys.getrefcount(None)
    for _ in range(1000):
        f([1.0, 2.0])
    assert sys.getrefcount(None) < none + 500


def test_a_function_pickles_and_a_bound_call_says_that_it_does_not(engine, close):
    f = sb.compiled(lambda a, b: Pair(a @ b, b), 3, 3)
    for twin in (pickle.loads(pickle.dumps(f)), copy.deepcopy(f)):
        got = twin([1, 2, 3], [4, 5, 6])
        assert type(got) is Pair
        assert got.first == 32.0
        assert repr(twin) == repr(f)
    for spoil in (pickle.dumps, copy.copy):
        with pytest.raises(TypeError, match="pickle the compiled function"):
            spoil(f.bound(np.ones(3), np.ones(3)))


def test_c_code_calls_it_by_its_address():
    f = sb.compiled(lambda a, b: a + 2 * b, 2, 2)
    pointers = ctypes.POINTER(ctypes.c_void_p)
    kind = ctypes.CFUNCTYPE(ctypes.c_int, pointers, pointers, *[ctypes.c_void_p] * 2, ctypes.c_int)
    a, b, out = np.array([1.0, 2.0]), np.array([10.0, 20.0]), np.zeros(2)
    given = (ctypes.c_void_p * 2)(a.ctypes.data, b.ctypes.data)
    made = (ctypes.c_void_p * 1)(out.ctypes.data)
    assert kind(f.address)(given, made, None, None, 0) == 0
    assert out.tolist() == [21.0, 42.0]


# --- in a larger trace ----------------------------------------------------------------------


def test_a_compiled_function_is_a_function_in_another_trace(close):
    inner = sb.compiled(lambda a, s: (a * s, a.sum()), 3, ())
    outer = sb.compiled(lambda a: inner(np.sin(a), a[0])[0] + inner(a, 2)[1], 3)
    a = RNG.normal(size=3)
    close(outer(a), np.sin(a) * a[0] + a.sum())


# --- refusals -------------------------------------------------------------------------------


def branches(a):
    if a[0] > 0:
        return a
    return -a


@pytest.mark.parametrize(
    ("function", "text"),
    [
        (branches, r"branches \(.*test_compiled_functions.py:\d+\): its code branches"),
        (lambda a: a[5], r"<lambda> \(.*test_compiled_functions.py:\d+\): IndexError"),
        (lambda a: [a, a], "returns a list, not an array, a number, or a tuple"),
        (lambda a: None, "returns a NoneType"),
        (lambda a: (a, {"b": a}), "returns a dict"),
        (lambda a: np.array([1j]), "returns a complex"),
    ],
)
def test_what_cannot_be_traced_is_named_with_its_line(function, text):
    with pytest.raises(sb.TraceError, match=text):
        sb.compiled(function, 3)


def test_the_line_is_that_of_the_branch():
    first = branches.__code__.co_firstlineno
    with pytest.raises(sb.TraceError, match=rf"\.py:{first + 1}\)"):
        sb.compiled(branches, 3)


@pytest.mark.parametrize(
    ("shapes", "text"),
    [
        ((2.5,), "2.5 is no shape"),
        ((-1,), "-1 is no shape"),
        (((2, "n"),), "is no shape"),
        ((2, 2), r"<lambda>\(a\) with 2 shapes: too many positional arguments"),
        ((), "missing a required argument: 'a'"),
    ],
)
def test_shapes_that_are_none_are_refused(shapes, text):
    with pytest.raises(sb.InputError, match=text):
        sb.compiled(lambda a: a, *shapes)


@pytest.mark.parametrize(
    ("given", "text"),
    [
        (([1, 2, 3],), r"1 arguments given, it takes 2 arrays \(q, u\)"),
        (([1, 2], [1, 2, 3]), r"argument q has shape \(2,\), it must be \(3,\)"),
        (([1, 2, 3], [[1, 2, 3]]), r"argument u has shape \(1, 3\)"),
        (([1, 2, 3], 1.0), r"argument u has shape \(\), it must be \(3,\)"),
        ((["a", "b", "c"], [1, 2, 3]), "argument q must hold numbers, not <U1"),
        (([1j, 0, 0], [1, 2, 3]), "argument q must hold numbers, not complex128"),
        (([None, 0, 0], [1, 2, 3]), "argument q must hold numbers, not object"),
    ],
)
def test_wrong_arguments_are_named(given, text):
    f = sb.compiled(lambda q, u: q + u, 3, 3)
    with pytest.raises(sb.InputError, match=text):
        f(*given)


def read_only():
    array = np.zeros(3)
    array.flags.writeable = False
    return array


def test_what_cannot_be_bound_is_refused():
    f, x = sb.compiled(lambda q, u: q + u, 3, 3), np.zeros(3)
    for arrays, out, text in [
        ((x,), None, "1 arguments given"),
        (
            (x, [1.0, 2.0, 3.0]),
            None,
            "argument u must be an array of float64 to be bound, not list",
        ),
        ((x, np.zeros(3, int)), None, "argument u must be an array of float64"),
        ((x, np.zeros(3, ">f8")), None, "argument u must be an array of float64"),
        ((x, np.zeros(4)), None, "argument u has shape"),
        ((x, np.zeros(6)[::2]), None, "argument u must be contiguous"),
        ((x, np.zeros(3)), read_only(), "out is read-only"),
        ((x, np.zeros(3)), x, "out shares memory"),
        ((x, np.zeros(3)), np.zeros(2), r"out has shape \(2,\), it must be \(3,\)"),
        ((x, np.zeros(3)), (np.zeros(3),), "out must be one array"),
    ]:
        with pytest.raises(sb.InputError, match=text):
            f.bound(*arrays, out=out)
    g, y = sb.compiled(lambda q: (q, -q), 3), np.zeros(3)
    for out, text in [
        ((y,), "out must be a tuple of 2 arrays"),
        (y, "out must be a tuple of 2 arrays"),
        ((y, y), "out shares memory"),
        ((y, np.zeros(2)), r"out\[1\] has shape"),
    ]:
        with pytest.raises(sb.InputError, match=text):
            g.bound(x, out=out)
    f.bound(x, x)  # reading one array twice is no harm


def test_a_compiled_quaternion_of_a_rotation_is_spart_s_at_every_angle():
    from scipy.spatial.transform import Rotation

    quaternion = sb.compiled(spatial.dcm_quat, (3, 3))
    half_turns = [np.diag(d) for d in ([1.0, -1, -1], [-1.0, 1, -1], [-1.0, -1, 1])]
    for R in [*Rotation.random(200, random_state=1).as_matrix(), *half_turns]:
        np.testing.assert_allclose(quaternion(R.T), spatial.dcm_quat(R.T), rtol=0, atol=1e-14)
