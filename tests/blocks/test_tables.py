"""LOOKUP and LOOKUP_2D: their values, their ends, and both engines."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.interpolate import CubicSpline, RegularGridInterpolator

import spart_blocks as sb
from spart_blocks.base.errors import InputError, RunError

X = np.array([0.5, 1.0, 1.75, 2.0, 3.5])
Y = np.array([2.0, -1.0, 0.5, 4.0, 3.0])
SIZES = {"small": (X, Y), "large": (np.linspace(0.5, 3.5, 301), np.sin(np.linspace(0, 9, 301)))}
UNEVEN = 0.5 + 3 * np.linspace(0, 1, 301) ** 2
SIZES["large and uneven"] = (UNEVEN, np.cos(UNEVEN))


@pytest.fixture
def looked_up(bdsim_runtime):
    """looked_up(kind, *args, along=[...]): t and the outputs of a table whose inputs are
    gain * t + offset, on both engines, which agree."""

    def run(kind, *args, along=((1.0, 0.0),), T=4.0, **options):
        bd = bdsim_runtime.blockdiagram(name="table")
        block = getattr(bd, kind)(*args, name="table", **options)
        time = bd.TIME(name="time")
        for k, (gain, offset) in enumerate(along):
            scaled = bd.GAIN(gain, name=f"gain{k}")
            moved = bd.SUM("++", name=f"sum{k}")
            bd.connect(time, scaled)
            bd.connect(scaled, moved[0])
            bd.connect(bd.CONSTANT(offset, name=f"offset{k}"), moved[1])
            bd.connect(moved, block[k])
        both = [
            sb.simulate(bd, T=T, engine=engine, every=0.0625, log=["table"])
            for engine in ("interpreter", "native")
        ]
        np.testing.assert_allclose(both[0]["table"], both[1]["table"], rtol=1e-12, atol=1e-13)
        return both[1].t, both[1]["table"]

    return run


def held(x, y, u):
    return y[np.clip(np.searchsorted(x, u, side="right") - 1, 0, None)]


def nearest(x, y, u):
    return held(np.append(x[0], (x[1:] + x[:-1]) / 2), y, u)


WITHIN = {
    "linear": lambda x, y, u: np.interp(u, x, y),
    "previous": held,
    "nearest": nearest,
    "cubic": lambda x, y, u: CubicSpline(x, y)(u),
}


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("interpolation", WITHIN)
def test_a_table_gives_what_numpy_and_scipy_give(looked_up, interpolation, size):
    x, y = SIZES[size]
    t, got = looked_up("LOOKUP", x, y, interpolation)
    want = WITHIN[interpolation](x, y, np.clip(t, x[0], x[-1]))
    np.testing.assert_allclose(got, want, rtol=1e-11, atol=1e-12)


@pytest.mark.parametrize("size", SIZES)
def test_lines_and_cubics_go_on_outside_where_asked_to(looked_up, size):
    x, y = SIZES[size]
    t, line = looked_up("LOOKUP", x, y, "linear", "extrapolate")
    before, after = t < x[0], t > x[-1]
    first, last = (np.diff(y) / np.diff(x))[[0, -1]]
    np.testing.assert_allclose(line[before], (y[0] + first * (t - x[0]))[before], rtol=1e-11)
    np.testing.assert_allclose(line[after], (y[-1] + last * (t - x[-1]))[after], rtol=1e-11)
    _, cubic = looked_up("LOOKUP", x, y, "cubic", "extrapolate")
    np.testing.assert_allclose(cubic, CubicSpline(x, y)(t), rtol=1e-10, atol=1e-11)


@pytest.mark.parametrize("interpolation", WITHIN)
def test_a_table_may_hold_vectors(looked_up, interpolation):
    y = np.column_stack([Y, 2 * Y, -Y])
    t, got = looked_up("LOOKUP", X, y, interpolation)
    assert got.shape == (len(t), 3)
    want = WITHIN[interpolation](X, Y, np.clip(t, X[0], X[-1]))
    np.testing.assert_allclose(got, np.outer(want, [1, 2, -1]), rtol=1e-12, atol=1e-13)


def test_a_vector_is_looked_up_entry_by_entry(looked_up):
    _, got = looked_up("LOOKUP", X, Y, along=[(np.eye(2) @ [1.0, 2.0], np.zeros(2))])
    t, _ = looked_up("LOOKUP", X, Y)
    want = np.interp(np.outer(t, [1.0, 2.0]), X, Y)
    np.testing.assert_allclose(got, want, rtol=1e-13)


@pytest.mark.parametrize("engine", ["interpreter", "native"])
@pytest.mark.parametrize(("kind", "inputs"), [("LOOKUP", 1), ("LOOKUP_2D", 2)])
def test_outside_a_table_that_refuses_it_a_run_ends(bdsim_runtime, engine, kind, inputs):
    bd = bdsim_runtime.blockdiagram(name="refused")
    axes = [[0.0, 1.0]] * inputs
    block = getattr(bd, kind)(*axes, np.zeros((2,) * inputs), outside="refuse", name="table")
    bd.connect(bd.TIME(name="time"), *(block[k] for k in range(inputs)))
    bd.connect(block, bd.INTEGRATOR(name="sum"))
    assert sb.simulate(bd, T=1.0, engine=engine).t[-1] == 1.0
    with pytest.raises(RunError, match="not finite"):
        sb.simulate(bd, T=2.0, engine=engine)


@pytest.mark.parametrize("kind", ["LOOKUP", "LOOKUP_2D"])
def test_steps_end_where_a_table_bends(bdsim_runtime, kind):
    """The integral of |u - 1|, where u is a state: within each step the rate is a line, so
    that RK4 is exact but for the place of the crossing."""
    bd = bdsim_runtime.blockdiagram(name="bends")
    ramp = bd.INTEGRATOR(name="ramp")
    bd.connect(bd.CONSTANT(1.0, name="one"), ramp)
    if kind == "LOOKUP":
        table = bd.LOOKUP([0, 1, 3], [1, 0, 2], name="bend")
    else:
        table = bd.LOOKUP_2D([0, 1, 3], [0, 1], np.outer([1, 0, 2], [1, 1]), name="bend")
        bd.connect(bd.CONSTANT(0.5, name="half"), table[1])
    bd.connect(ramp, table[0])
    bd.connect(table, bd.INTEGRATOR(name="sum"))
    final = sb.simulate(bd, T=3.0, solver="RK4", max_step=0.4)["sum"][-1]
    assert final == pytest.approx(0.5 + 2.0, rel=1e-9)


PLANES = {"small": (5, 7), "large": (40, 30), "of one cell": (2, 2)}


@pytest.mark.parametrize("size", PLANES)
@pytest.mark.parametrize("outside", ["clip", "extrapolate"])
def test_a_plane_table_is_bilinear(looked_up, size, outside):
    n, m = PLANES[size]
    x, y = 0.5 + 2 * np.linspace(0, 1, n) ** 2, np.linspace(-1.0, 1.0, m)
    z = np.sin(x)[:, None] + np.outer(x, y**3)
    t, got = looked_up("LOOKUP_2D", x, y, z, outside, along=[(1.0, 0.0), (-0.7, 1.2)])
    u, v = t, 1.2 - 0.7 * t
    table = RegularGridInterpolator((x, y), z, bounds_error=False, fill_value=None)
    if outside == "clip":
        u, v = np.clip(u, x[0], x[-1]), np.clip(v, y[0], y[-1])
    np.testing.assert_allclose(got, table(np.column_stack([u, v])), rtol=1e-11, atol=1e-12)


WRONG = {
    "x must rise: 1 follows 1": ("LOOKUP", [0, 1, 1], [0, 1, 2]),
    "two numbers or more": ("LOOKUP", [0], [1]),
    "x must be finite": ("LOOKUP", [0, np.nan], [1, 1]),
    "y must be a number or a list of numbers": ("LOOKUP", [0, 1], [[1, 2], [3]]),
    "y must have a number or a vector for each of the 3": ("LOOKUP", [0, 1, 2], [0, 1]),
    "did you mean 'linear'": ("LOOKUP", [0, 1], [0, 1], "liner"),
    "outside must be one of clip, extrapolate": (
        "LOOKUP",
        [0, 1],
        [0, 1],
        "linear",
        "wrap",
    ),
    "z must have a row of 2": ("LOOKUP_2D", [0, 1, 2], [0, 1], [[0, 1], [1, 2]]),
    "y must rise": ("LOOKUP_2D", [0, 1], [1, 0], [[0, 1], [1, 2]]),
}


@pytest.mark.parametrize("problem", WRONG)
def test_what_is_no_table_is_refused(bdsim_runtime, problem):
    kind, *given = WRONG[problem]
    with pytest.raises((ValueError, InputError), match=problem):
        bdsim_runtime._blocklibrary[kind]["class"](*given)
