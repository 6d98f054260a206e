"""sb_numbers.h and the elementary functions over it: over tricky numbers, in lanes and alone."""

import ctypes
from functools import cache

import numpy as np
import pytest
from lane_libraries import STRICT, aligned, same_bits

from spart_blocks.program.c.compiler import compiler_name, loaded_library
from spart_blocks.program.c.dialects import FLAGS, numbers_header

OF_ONE = (
    *("sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "tanh", "asinh", "acosh"),
    *("atanh", "exp", "expm1", "log", "log1p", "erf", "sqrt", "fabs", "floor", "ceil", "rint"),
)
OF_TWO = ("pow", "atan2", "hypot", "fmod", "remainder", "copysign", "fmin", "fmax", "nextafter")
ENTRY = """
void each_{name}(long n, const SB_REAL *a, const SB_REAL *b, SB_REAL *z);
void each_{name}(long n, const SB_REAL *a, const SB_REAL *b, SB_REAL *z) {{
  (void)b;
  for (long k = 0; k < n / SB_LANES; k++) z[k] = sb_{name}({given});
}}
void math_{name}(long n, const SB_SCALAR *a, const SB_SCALAR *b, SB_SCALAR *z);
void math_{name}(long n, const SB_SCALAR *a, const SB_SCALAR *b, SB_SCALAR *z) {{
  (void)b;
  for (long k = 0; k < n; k++) z[k] = SB_MATH({name})({given});
}}
"""
TRICKY = [0.0, 5e-324, 1e-310, 2.2250738585072014e-308, 1e-20, 0.1, 0.4375, 0.5, 0.6875, 0.7, 1.0]
TRICKY += [np.nextafter(1, 0), np.nextafter(1, 2), 1.1875, 1.5, 2.0, 2.4375, 3.0, 22.0, 36.0, 37.0]
TRICKY += [0.5 * np.pi, np.pi, 100 * np.pi, 53245.5 * np.pi, 1e5, 1e22, 708.0, 709.7, 745.2, 1e300]
TRICKY += [2.0**51, 2.0**52 - 0.5, 2.0**53, 2.5, 1.7976931348623157e308, np.inf, np.nan]
TRICKY = np.array([*TRICKY, *(-np.array(TRICKY))])

pytestmark = pytest.mark.skipif(compiler_name() is None, reason="no C compiler")


@cache
def library(lanes, single=False):
    head = f"#define SB_LANES {lanes}\n" + "#define SB_SINGLE\n" * single
    entries = [ENTRY.format(name=name, given="a[k]") for name in OF_ONE]
    entries += [ENTRY.format(name=name, given="a[k], b[k]") for name in OF_TWO]
    return loaded_library(head + numbers_header() + "\n".join(entries), STRICT)


def found(name, lanes, a, b=None, *, kind=np.float64, prefix="each_"):
    n = len(a) // 8 * 8
    arrays = [aligned(np.asarray(v[:n], kind)) for v in (a, a if b is None else b)]
    z = aligned(np.zeros(n, kind))
    pointers = (ctypes.c_void_p(array.ctypes.data) for array in (*arrays, z))
    library(lanes, kind is np.float32)[prefix + name](ctypes.c_long(n), *pointers)
    return z


def of_math(name, a, b=None, kind=np.float64):
    return found(name, 1, a, b, kind=kind, prefix="math_")


def arguments(name):
    """Every tricky number, with every other where there are two; and numbers of all sizes."""
    rng = np.random.default_rng(5)
    wide = np.ldexp(rng.uniform(-1, 1, 4000), rng.integers(-60, 60, 4000))
    a = np.concatenate([TRICKY, wide, rng.uniform(-7, 7, 4000)])
    if name in OF_ONE:
        return a, None
    x, y = (v.ravel() for v in np.meshgrid(TRICKY, TRICKY))
    return np.concatenate([x, a]), np.concatenate([y, rng.permutation(a)])


@pytest.mark.parametrize("kind", [np.float64, np.float32])
@pytest.mark.parametrize("name", [*OF_ONE, *OF_TWO])
def test_all_lanes_have_the_bits_of_one(name, kind):
    with np.errstate(over="ignore", under="ignore"):
        a, b = arguments(name)
        alone = found(name, 1, a, b, kind=kind)
        for lanes in (2, 4, 8)[kind is np.float32 :]:
            assert same_bits(found(name, lanes, a, b, kind=kind), alone), lanes


@pytest.mark.parametrize("name", [*OF_ONE, *OF_TWO])
def test_what_is_no_number_infinite_or_signed_is_as_in_math_h(name):
    a, b = arguments(name)
    ours, theirs = found(name, 1, a, b), of_math(name, a, b)
    exact = ~np.isfinite(theirs) | (theirs == 0)
    if name in ("fmin", "fmax"):  # of both zeros, either
        exact &= theirs != 0
    assert same_bits(ours[exact], theirs[exact])
    with np.errstate(invalid="ignore", over="ignore"):
        close = np.abs(ours - theirs) <= 4 * np.abs(np.spacing(theirs))
    assert (close | exact | (theirs == 0)).all()


# Largest error [units in the last place], and the range on which it is measured.
ACCURACY = {
    "sin": (1.0, (-1e5, 1e5)),
    "cos": (1.0, (-1e5, 1e5)),
    "exp": (1.0, (-708, 709)),
    "expm1": (1.5, (-700, 700)),
    "log": (1.0, (0, 1e3)),
    "atan": (1.0, (-50, 50)),
    "tanh": (2.5, (-22, 22)),
    "tan": (1.0, (-1e5, 1e5)),
    "asin": (1.0, (-1, 1)),
    "acos": (1.0, (-1, 1)),
    "sinh": (2.0, (-708, 708)),
    "cosh": (2.0, (-708, 708)),
    "asinh": (2.0, (-50, 50)),
    "acosh": (2.0, (1, 50)),
    "atanh": (2.0, (-1, 1)),
    "log1p": (1.0, (-1, 1e3)),
}
ARC = {f"a{name}": f"arc{name}" for name in ("sin", "cos", "tan", "sinh", "cosh", "tanh")}
LONG = np.finfo(np.longdouble).nmant > 60


def ulps(got, exact):
    with np.errstate(all="ignore"):
        return np.abs(got - exact) / np.spacing(np.abs(exact).astype(np.float64))


@pytest.mark.skipif(not LONG, reason="no numbers of more digits")
@pytest.mark.parametrize("name", ACCURACY)
def test_errors_are_about_one_unit_in_the_last_place(name):
    allowed, (low, high) = ACCURACY[name]
    rng = np.random.default_rng(7)
    near = min(high, 3.0)
    parts = [rng.uniform(low, high, 40_000), rng.uniform(max(low, -near), near, 40_000)]
    parts += [np.ldexp(rng.uniform(0.5, 1, 8_000), rng.integers(-30, 2, 8_000))]
    if name in ("sin", "cos", "tan"):
        multiples = 0.5 * np.pi * rng.integers(-60_000, 60_000, 16_000)
        parts += [
            multiples,
            np.nextafter(multiples, 0),
            multiples + rng.uniform(-1, 1, 16_000) / 1e6,
        ]
    a = np.concatenate(parts)
    a = a[(a >= low) & (a <= high)]
    a = a[: len(a) // 8 * 8]
    exact = getattr(np, ARC.get(name, name))(a.astype(np.longdouble))
    worst = ulps(found(name, 8, a), exact).max()
    print(name, worst, ulps(of_math(name, a), exact).max())
    assert worst < allowed


@pytest.mark.skipif(not LONG, reason="no numbers of more digits")
def test_angles_and_powers_are_accurate_too():
    rng = np.random.default_rng(9)
    a, b = np.ldexp(rng.uniform(-1, 1, (2, 80_000)), rng.integers(-8, 8, (2, 80_000)))
    worst = ulps(found("atan2", 8, a, b), np.arctan2(a.astype(np.longdouble), b)).max()
    print("atan2", worst)
    assert worst < 1.5
    a = np.abs(a)
    with np.errstate(over="ignore"):
        exact = a.astype(np.longdouble) ** (10 * b).astype(np.longdouble)
    usual = (exact < 1e307) & (exact > 1e-307)
    worst = ulps(found("pow", 8, a, 10 * b)[usual], exact[usual]).max()
    print("pow", worst)
    assert worst < 1


@pytest.mark.skipif(not LONG, reason="no numbers of more digits")
def test_lengths_and_integrals_of_gauss_are_accurate_too():
    rng = np.random.default_rng(10)
    a, b = np.ldexp(rng.uniform(-1, 1, (2, 80_000)), rng.integers(-30, 30, (2, 80_000)))
    worst = ulps(found("hypot", 8, a, b), np.hypot(a.astype(np.longdouble), b)).max()
    print("hypot", worst)
    assert worst < 1.5
    mpmath = pytest.importorskip("mpmath")
    a = np.concatenate([rng.uniform(-6, 6, 3000), np.ldexp(rng.uniform(-1, 1, 1000), -9)])
    exact = np.array([np.longdouble(mpmath.nstr(mpmath.erf(x), 25)) for x in a])
    worst = ulps(found("erf", 8, a), exact).max()
    print("erf", worst)
    assert worst < 1.5


def test_remainders_are_exact():
    rng = np.random.default_rng(11)
    a = np.ldexp(rng.uniform(-1, 1, 80_000), rng.integers(-30, 70, 80_000))
    b = np.ldexp(rng.uniform(-1, 1, 80_000), rng.integers(-30, 30, 80_000))
    a[:20_000] = np.round(rng.uniform(-1e6, 1e6, 20_000)) * b[:20_000]  # about a multiple
    a[20_000:40_000] = np.round(rng.uniform(-1e6, 1e6, 20_000)) * 0.5  # halves of b
    b[20_000:40_000] = np.round(rng.uniform(1, 1e3, 20_000))
    for name in ("fmod", "remainder"):
        assert same_bits(found(name, 8, a, b), of_math(name, a, b)), name


# Where each function needs no math.h: lanes are quick there, and of one library as of another.
USUAL = {
    **dict.fromkeys(("sin", "cos", "tan", "atan", "asinh"), (-1e5, 1e5)),
    **dict.fromkeys(("exp", "sinh", "cosh", "expm1", "tanh", "erf"), (-30, 30)),
    **dict.fromkeys(("asin", "acos", "atanh"), (-1, 1)),
    **dict.fromkeys(("log", "acosh"), (1, 1e5)),
    "log1p": (-1, 1e5),
    **dict.fromkeys(("atan2", "hypot", "fmod", "remainder"), (-1e5, 1e5)),
    "pow": (0.1, 30),
}


def test_usual_arguments_need_no_library_of_the_machine():
    counted = ""
    for name in USUAL:
        given = "double a, double b" if name in OF_TWO else "double a"
        body = "(void)b; return a + ++calls;" if name in OF_TWO else "return a + ++calls;"
        counted += f"static double counted_{name}({given}) {{ {body} }}\n"
        counted += f"#define {name} counted_{name}\n"
    entries = [
        ENTRY.format(name=name, given="a[k], b[k]" if name in OF_TWO else "a[k]") for name in USUAL
    ]
    head = "#include <math.h>\n#define SB_LANES 4\nint calls;\n" + counted
    counting = loaded_library(head + numbers_header() + "\n".join(entries), FLAGS)
    calls = ctypes.c_int.in_dll(counting, "calls")
    rng = np.random.default_rng(12)
    for name, (low, high) in USUAL.items():
        a, b, z = (aligned(v) for v in (*rng.uniform(low, high, (2, 4000)), np.zeros(4000)))
        given = (ctypes.c_void_p(array.ctypes.data) for array in (a, b, z))
        counting["each_" + name](ctypes.c_long(4000), *given)
        assert calls.value == 0, name
