"""LOOKUP_ND and GAIN_SCHEDULE: against SciPy's interpolator, on both engines, in C and as FMU."""

from __future__ import annotations

import numpy as np
import pytest
from output_cases import BlockCase, check_c, check_engines, check_fmu, check_symbols, check_values
from scipy.interpolate import RegularGridInterpolator

import spart_blocks as sb
from spart_blocks.base.errors import InputError, RunError
from spart_blocks.diagram.build.registry import find_type

X, Y, Z = [0.0, 0.4, 1.0, 2.0], [-1.0, 0.0, 2.5], [1.0, 3.0]
RNG = np.random.default_rng(5)


def table(*axes, inner=()):
    return RNG.normal(size=(*(len(axis) for axis in axes), *inner)).round(3)


def scipy_at(axes, values, at):
    found = RegularGridInterpolator(axes, values, bounds_error=False, fill_value=None)
    return found([at])[0]


def nd(axes, inner, at, outside="clip"):
    """A LOOKUP_ND at a place, with SciPy's number."""
    values = table(*axes, inner=inner)
    place = at
    if outside == "clip":
        place = [np.clip(u, a[0], a[-1]) for u, a in zip(at, axes, strict=True)]
    given = {"axes": [list(a) for a in axes], "values": values.tolist(), "outside": outside}
    return BlockCase("LOOKUP_ND", given, tuple(at), scipy_at(axes, values, place))


def schedule(axes, inner, at, u):
    K = table(*axes, inner=inner)
    gain = scipy_at(axes, K, at)
    want = gain @ np.atleast_1d(u) if len(inner) == 2 else gain * np.array(u)
    want = want[0] if len(inner) == 2 and inner[0] == 1 else want
    return BlockCase(
        "GAIN_SCHEDULE", {"axes": [list(a) for a in axes], "K": K.tolist()}, (u, *at), want
    )


LONG = np.linspace(0.0, 2.0, 40) ** 2
EXPORTED = (3, 6, 9, 14)
"""Cases whose C is compiled."""
U = [0.3, -0.7]
CASES = [
    nd([X], (), [0.7]),
    nd([X, Y], (), [0.2, 1.7]),
    nd([X, Y, Z], (), [1.4, -0.6, 2.2]),
    nd([X, Y, Z, X], (), [1.4, -0.6, 2.2, 0.6], "extrapolate"),
    nd([Z] * 5, (), [1.4, 1.6, 2.2, 2.6, 1.9]),
    nd([X, Y], (2,), [3.0, -2.0]),
    nd([X, Y], (2,), [3.0, -2.0], "extrapolate"),
    nd([X, Y, Z], (2, 3), [0.7, 1.3, 0.2], "extrapolate"),
    nd([LONG, LONG[:15]], (), [1.3, 0.15]),
    nd([LONG, LONG[:15]], (2,), [4.5, -0.3], "extrapolate"),
    nd([X, LONG[:15], Y, Z], (2,), [0.7, 0.21, 1.3, 1.8], "refuse"),
    schedule([X], (), [0.7], 2.0),
    schedule([X], (), [0.7], U),
    schedule([X, Y], (2,), [0.7, 1.3], U),
    schedule([X, Y, Z], (3, 2), [0.7, 1.3, 2.0], U),
    schedule([X, Y], (1, 2), [0.7, 1.3], U),
    schedule([X], (1, 1), [0.7], 0.5),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.type}")
def test_it_gives_what_scipy_gives(case):
    check_values(case)
    check_symbols(case, points=5)


def test_both_engines_run_alike(tmp_path):
    check_engines(CASES, tmp_path)


def test_the_c_agrees_back_to_back(tmp_path):
    check_c([CASES[k] for k in EXPORTED], tmp_path)


def test_the_fmu_agrees(tmp_path):
    check_fmu([CASES[k] for k in EXPORTED], tmp_path)


def test_a_table_gives_its_values_exactly_at_its_points():
    values = table(X, Y, Z)
    block = find_type("LOOKUP_ND").cls(axes=[X, Y, Z], values=values)
    for node in np.ndindex(values.shape):
        at = [axis[k] for axis, k in zip((X, Y, Z), node, strict=True)]
        assert block.output(0.0, at, None) == [values[node]]


@pytest.mark.parametrize("size", ["small", "large"])
def test_a_number_that_is_none_stays_none_and_refuse_gives_none(size):
    axes = [X, Y] if size == "small" else [LONG, LONG]
    values = table(*axes, inner=(2,))
    clips, refuses = (
        find_type("LOOKUP_ND").cls(axes=axes, values=values, outside=outside)
        for outside in ("clip", "refuse")
    )
    assert np.isnan(clips.output(0.0, [np.nan, 0.5], None)[0]).all()
    assert np.isnan(refuses.output(0.0, [0.5, 99.0], None)[0]).all()
    assert np.isfinite(refuses.output(0.0, [axes[0][-1], axes[1][0]], None)[0]).all()


@pytest.mark.parametrize("engine", ["interpreter", "native"])
def test_a_schedule_that_is_left_ends_the_run_where_asked_to(bdsim_runtime, engine):
    bd = bdsim_runtime.blockdiagram(name="left")
    block = bd.GAIN_SCHEDULE([[0.0, 1.0]], [1.0, 2.0], outside="refuse", name="gain")
    bd.connect(bd.CONSTANT(1.0, name="one"), block[0])
    bd.connect(bd.TIME(name="time"), block[1])
    bd.connect(block, bd.INTEGRATOR(name="sum"))
    got = sb.simulate(bd, T=1.0, engine=engine)["sum"][-1]
    assert got == pytest.approx(1.5, rel=1e-9)
    with pytest.raises(RunError, match="not finite"):
        sb.simulate(bd, T=2.0, engine=engine)


WRONG = {
    "axes must be a list of 1 to 5 lists": ("LOOKUP_ND", [[0, 1]] * 6, [0, 1]),
    "axes must be a list of 1 to 3 lists": ("GAIN_SCHEDULE", [], [0, 1]),
    r"axes\[0\] must be a list of two numbers": ("LOOKUP_ND", [0, 1], [0, 1]),
    r"axes\[1\] must rise: 1 follows 2": ("LOOKUP_ND", [[0, 1], [2, 1]], np.eye(2)),
    r"must begin with \(2, 2\), it is \(2,\)": ("LOOKUP_ND", [[0, 1], [0, 1]], [0, 1]),
    r"values must be finite": ("LOOKUP_ND", [[0, 1]], [0, np.inf]),
    "outside must be one of clip": ("GAIN_SCHEDULE", [[0, 1]], [0, 1], "wrap"),
    "a number, a vector or a matrix": ("GAIN_SCHEDULE", [[0, 1]], np.zeros((2, 2, 2, 2))),
    "a schedule takes up to 10,000": ("GAIN_SCHEDULE", [[0, 1]], np.zeros((2, 99, 99))),
}


@pytest.mark.parametrize("problem", WRONG)
def test_what_is_no_table_is_refused(problem):
    kind, *given = WRONG[problem]
    with pytest.raises((ValueError, InputError), match=problem):
        find_type(kind).cls(*given)
