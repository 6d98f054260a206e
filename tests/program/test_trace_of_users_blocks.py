"""Blocks and functions of users trace by running their own code, or say where they cannot."""

from __future__ import annotations

import math
import threading
from math import sin

import numpy as np
import pytest
from bdsim.components import ContinuousBlock, FunctionBlock, SampledBlock

from spart_blocks.program import TraceError, trace


class Thruster(FunctionBlock):
    nin, nout = 2, 1
    tunable = ("force", "limit")

    def __init__(self, force=2.0, limit=(0.5, 1.0), **blockargs):
        super().__init__(**blockargs)
        self.force, self.limit = force, np.array(limit)

    def output(self, t, inputs, x):
        out = np.zeros(2)
        out[0] = np.clip(self.force * inputs[0], -self.limit[0], self.limit[0])
        out[1] = np.where(inputs[1][0] > self.limit[1], np.sin(t), inputs[1] @ inputs[1])
        return [out]


class Pendulum(ContinuousBlock):
    nin, nout = 1, 1
    tunable = ("length",)

    def __init__(self, length=1.5, **blockargs):
        super().__init__(nstates=2, **blockargs)
        self.length, self._x0 = length, np.array([0.3, 0.0])

    def output(self, t, inputs, x):
        return [x[0]]

    def deriv(self, t, inputs, x):
        angle, rate = x
        return np.array([rate, inputs[0] - 9.81 / self.length * np.sin(angle)])


class Filter(SampledBlock):
    nin, nout = 1, 1
    tunable = ("pole",)

    def __init__(self, clock, pole=0.8, **blockargs):
        super().__init__(clock=clock, x0=[0.0, 0.0], **blockargs)
        self.pole = pole

    def output(self, t, inputs, x):
        return [x.copy()]

    def next(self, t, inputs, x):
        after = np.empty(2)
        after[:] = self.pole * x + (1 - self.pole) * inputs[0]
        return after


def add(bench, cls, *shapes, clocked=False, **options):
    """A block of the class, wired to signals of these shapes."""
    if clocked:
        options["clock"] = bench.clock()
    block = cls(bd=bench.bd, name=cls.__name__.lower(), **options)
    for number, shape in enumerate(shapes):
        bench.bd.connect(bench.signal(*shape), block[number])
    return block


def test_blocks_of_users_are_their_expressions(bench, assert_parity):
    add(bench, Thruster, (), (3,))
    add(bench, Pendulum, ())
    add(bench, Filter, (2,), clocked=True)
    program = assert_parity(bench.diagram)
    names = [slot.name for slot in program.parameters]
    for name in ("thruster.force", "thruster.limit", "pendulum.length", "filter.pole"):
        assert name in names


def fills_an_array(q, v):
    out = np.zeros((2, 3))
    out[0] = q
    out[1, :2] = v[:2]
    eye = np.eye(3)
    eye[0, 1] = q[2]
    return out @ eye


def builds_then_limits(q):
    return np.maximum(np.array([q[0], q[1] - q[2], 0.3]), 0.1)


FUNCTIONS = {
    "np.zeros, then assignment": (fills_an_array, (3,), (3,)),
    "np.array, then np.maximum": (builds_then_limits, (3,)),
    "np.empty_like": (lambda q: _set(np.empty_like(q), q), (3,)),
    "np.empty": (lambda q: _set(np.empty(3), q), (3,)),
    "np.full": (lambda q: _fill(np.full(3, 2.0), q), (3,)),
    "np.array of numbers": (lambda q: _fill(np.array([0.0, 1.0, 2.0]), q), (3,)),
    "np.asarray(x, float)": (lambda q: np.asarray(q, float) * 2, (3,)),
    "np.array(..., dtype=float)": (lambda q: np.array([q[0], 1.0], dtype=float), (3,)),
    "np.linalg.norm of an array": (lambda q: np.linalg.norm(np.array([q[0], q[1]])), (3,)),
    "np.clip of an array": (lambda q: np.clip(np.array([q[0], q[1]]), -0.1, 0.1), (3,)),
    "a comparison of an array": (lambda q: 1.0 * (np.array([q[0], q[1]]) > 0.1), (3,)),
    "numbers and signals in sin": (lambda q: np.sin(np.array([q[0], 0.5])), (3,)),
    "a loop": (lambda q: sum(k * x for k, x in enumerate(q)), (3,)),
    "its input changed": (lambda q: _fill(q, 2 * q), (3,)),
}


def _set(out, q):
    out[0], out[1:] = q[1], q[:2]
    return out


def _fill(out, q):
    out[0] = q[1]
    out[1:] += q[:2]
    return out


@pytest.mark.parametrize("name", FUNCTIONS)
def test_how_numpy_code_builds_arrays(bench, assert_parity, name):
    function, *shapes = FUNCTIONS[name]
    if name == "its input changed":
        # The interpreter's blocks share arrays: give the function one of its own.
        bench.function(lambda q: function(q * 1.0), *shapes)
    else:
        bench.function(function, *shapes)
    assert_parity(bench.diagram)


def test_the_constructors_of_numpy_are_put_back(bench):
    before = (np.zeros, np.array, np.empty)
    bench.function(builds_then_limits, (3,))
    trace(bench.diagram)
    bench.function(lambda q: float(q), ())
    with pytest.raises(TraceError):
        trace(bench.diagram)
    assert (np.zeros, np.array, np.empty) == before
    assert math.sin is sin
    assert np.zeros(3).dtype == float


def of_math(q, r):
    angle = math.atan2(q[0], r[1]) + math.radians(r[0])
    size = math.sqrt(q[0] ** 2 + 1) + math.hypot(q[1], r[0]) + math.pow(abs(q[2]) + 1, 1.5)
    return (
        math.exp(-abs(angle)) * size
        + math.log(size)
        + math.log(size, 3)
        + math.floor(r[1])
        + math.sin(math.pi / 3)
    )


def test_the_functions_of_math_take_signals(bench, assert_parity):
    bench.function(of_math, (3,), (3,))
    assert_parity(bench.diagram)


def test_other_threads_keep_their_float_arrays(bench):
    found = []

    def function(q):
        other = threading.Thread(target=lambda: found.append(np.zeros(2).dtype))
        other.start()
        other.join()
        return fills_an_array(q, q)

    bench.function(function, (3,))
    trace(bench.diagram)
    assert found == [np.dtype(float)] * 2


# --- errors ------------------------------------------------------------------------------------


def branches(q):
    if q > 0.5:  # line of `branches`
        return 1.0
    return 2.0


def helper(q):
    return float(q)  # line of `helper`


def calls_a_helper(q):
    return 2 * helper(q)


def takes_too_much(q, r):
    return q


class Branching(FunctionBlock):
    nin, nout = 1, 1

    def output(self, t, inputs, x):
        gain = 1.0 if t > 1 else 2.0  # line of `Branching`
        return [gain * inputs[0]]


class Remembering(ContinuousBlock):
    nin, nout = 1, 1

    def __init__(self, **blockargs):
        super().__init__(nstates=1, **blockargs)
        self._x0 = np.zeros(1)

    def output(self, t, inputs, x):
        return [x[0]]

    def deriv(self, t, inputs, x):
        self.last = float(inputs[0])  # line of `Remembering`
        return x


def line_of(name):
    from pathlib import Path

    lines = Path(__file__).read_text(encoding="utf-8").splitlines()
    return next(k for k, text in enumerate(lines, 1) if text.endswith(f"# line of `{name}`"))


FAULTS = {
    "branches": (branches, "its code branches on a signal; use np.where"),
    "helper": (calls_a_helper, "its code turns a signal into a float"),
    "Branching": (Branching, "its code branches on a signal"),
    "Remembering": (Remembering, "its code turns a signal into a float"),
}


@pytest.mark.parametrize("name", FAULTS)
def test_an_error_names_block_type_file_line_and_reason(bench, name):
    culprit, text = FAULTS[name]
    make = add if isinstance(culprit, type) else type(bench).function
    block = make(bench, culprit, ())
    with pytest.raises(TraceError) as caught:
        trace(bench.diagram)
    kind = block.type.upper()
    start = f"block {block.name} ({kind}) ({__file__}:{line_of(name)}): {text}"
    assert str(caught.value).startswith(start)


OTHERS = {
    "a captured sin": (lambda q: sin(q), "turns a signal into a float"),
    "text": (lambda q: "text", "it gives a str, not numbers"),
    "nothing": (lambda q: None, "it gives a NoneType, not numbers"),
    "two for one": (lambda q: [q, q], "gives 2 values for 1 outputs"),
    "its own error": (lambda q: {}[1], "KeyError: 1"),
    "an unknown method": (lambda q: q.hex(), "AttributeError: 'Symbol' object has no"),
}


@pytest.mark.parametrize("name", OTHERS)
def test_other_faults_of_a_function(bench, name):
    function, text = OTHERS[name]
    bench.function(function, ())
    with pytest.raises(TraceError, match="FUNCTION") as caught:
        trace(bench.diagram)
    assert text in str(caught.value)


def test_a_derivative_of_the_wrong_length_is_refused(bench):
    class Short(Pendulum):
        def deriv(self, t, inputs, x):
            return x[:1].repeat(3)

    add(bench, Short, ())
    with pytest.raises(TraceError, match=r"its method deriv gives \(3,\), its state is \(2,\)"):
        trace(bench.diagram)
