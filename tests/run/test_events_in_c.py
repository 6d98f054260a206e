"""The constants of a run, its events and its test for stiffness are the same in Python and in C."""

import re
from ctypes import POINTER, byref, c_double, c_int, c_longlong
from importlib.resources import files

import numpy as np
import pytest

from spart_blocks.formulas.crossings import LOCATED_WITHIN
from spart_blocks.program.c.compiler import compiler_name, strict_loaded
from spart_blocks.program.c.text import step_headers
from spart_blocks.program.tracing.switching import KINDS, Crossing
from spart_blocks.run import constants
from spart_blocks.run.events.bounces import Motion, at_rest, flight, motion_of, turned
from spart_blocks.run.events.crossings import jumped
from spart_blocks.run.solvers.stiffness import StiffnessTest, at_border

# A ball with drag above a floor, at x[0] with the rate x[1], which six crossings watch.
SYSTEM = """
#include <math.h>
#define N 2
#define STAGES 4
typedef struct {
  double t, x[N], xn[N], xt[N], xm[N], K[N * (STAGES + 1)], A[STAGES * STAGES];
  double g[7], g0[7], g1[7], gs[7], direction[7];
  int kinds[7], hit[7], begun, crossed, staged;
} ball;
#define SB_SELF ball
#define SB_REAL double
#define SB_N(m) N
#define SB_STAGES_OF(m) STAGES
#define SB_T(m) ((m)->t)
#define SB_X(m) ((m)->x)
#define SB_XN(m) ((m)->xn)
#define SB_XT(m) ((m)->xt)
#define SB_XM(m) ((m)->xm)
#define SB_K(m) ((m)->K)
#define SB_A(m) ((m)->A)
#define SB_B(m) ((m)->A)
#define SB_C(m) ((m)->A)
#define SB_CONTROLLED(m) 0
#define SB_LOCATES
#define SB_SEES_STIFFNESS
#define SB_BORDER(m) 3.25
#define SB_MARKS
#define SB_MEETS_RESETS
#define SB_NG(m) 7
#define SB_KIND(m, k) ((m)->kinds[k])
#define SB_DIRECTION(m, k) ((m)->direction[k])
#define SB_G0(m) ((m)->g0)
#define SB_G1(m) ((m)->g1)
#define SB_GS(m) ((m)->gs)
#define SB_G(m) ((m)->g)
#define SB_HIT(m) ((m)->hit)
#define SB_BEGUN(m) ((m)->begun)
#define SB_CROSSED(m) ((m)->crossed)
#define SB_STAGED(m) ((m)->staged)
#define SB_P(m) ((m)->A)
#define SB_DENSE_ORDER(m) 0
static void sb_slope(ball *m, double t, const double *x, double *out) {
  (void)m;
  out[0] = x[1];
  out[1] = -10 - 0.3 * x[1] * t;
}
static void sb_own_steps(ball *m, double h) { (void)m, (void)h; }
static void sb_watch(ball *m, double t, const double *x, double *out) {
  (void)m;
  for (int k = 0; k < 7; k++) out[k] = x[0] + 0.1 * k * t;
}
static double now[7];
static void sb_watch_now(ball *m, double *out) {
  (void)m;
  for (int k = 0; k < 7; k++) out[k] = now[k];
}
static void sb_field(ball *m, double t, const double *x, const double *xd, double *out) {
  (void)xd;
  sb_slope(m, t, x, out);
}
static void sb_signals(ball *m, double t, const double *x, const double *xd, double *out) {
  (void)xd;
  sb_watch(m, t, x, out);
}
#include "sb_step.h"
static ball b;
void motion_of(double t, const double *x, int k, double direction, double span, double *found) {
  sb_motion s;
  b.t = t, b.direction[k] = direction;
  s = sb_motion_of(&b, k, x, x, span);
  found[0] = s.q, found[1] = s.v, found[2] = s.a, found[3] = sb_flight(s);
}
int turned(double before, double after) {
  sb_motion one = {0, before, 0}, other = {0, after, 0};
  return sb_turned(one, other);
}
int at_rest(double before, const double *s, double shortest) {
  sb_motion one = {0, before, 0}, other = {s[0], s[1], s[2]};
  return sb_at_rest(one, other, shortest);
}
void jumped(const int *kinds, const double *directions, const double *before, const double *after,
            int begun, int ticks_follow, int *hit) {
  b.begun = begun;
  for (int k = 0; k < 7; k++) {
    b.kinds[k] = kinds[k], b.direction[k] = directions[k];
    b.g0[k] = before[k], now[k] = after[k];
  }
  sb_jumped(&b, 1, ticks_follow);
  for (int k = 0; k < 7; k++) hit[k] = b.hit[k];
}
int tests_stiffness(long long steps, int stiff) { return sb_tests_stiffness(steps, stiff); }
int seems_stiff(int border, int *stiff, int *calm) { return sb_seems_stiff(border, stiff, calm); }
/* x: before and after the step; K, A: of its stages. */
int at_border(const double *x, const double *xn, const double *K, const double *A, double h) {
  for (int i = 0; i < N; i++) b.x[i] = x[i], b.xn[i] = xn[i];
  for (int i = 0; i < N * STAGES; i++) b.K[i] = K[i];
  for (int i = 0; i < STAGES * STAGES; i++) b.A[i] = A[i];
  return sb_at_border(&b, h);
}
"""


class Ball:
    """The same as an engine of Python."""

    def __init__(self, direction):
        self.crossings = [Crossing("b", "event", direction)] * 7

    def watch(self, t, x, xd):
        return x[0] + 0.1 * np.arange(7) * t

    def derivative(self, t, x, xd):
        return np.array([x[1], -10 - 0.3 * x[1] * t])


@pytest.fixture(scope="module")
def c():
    if compiler_name() is None:
        pytest.skip("no C compiler")
    source = SYSTEM.replace('#include "sb_step.h"', step_headers()["sb_step.h"])
    return strict_loaded(source, ["-O1", "-ffp-contract=off"])


def pointer(vector):
    kind = c_int if vector.dtype == np.int32 else c_double
    return vector.ctypes.data_as(POINTER(kind))


def test_each_constant_is_the_same_in_c():
    text = files("spart_blocks.program.c").joinpath("sb_constants.h").read_text()
    found = dict(re.findall(r"^#define SB_(\w+) ([-+.\de]+)\b", text, re.MULTILINE))
    only_in_c = {"TOO_SHORT", "ROUGH"}
    python = {name for name in vars(constants) if name.isupper()}
    assert python == found.keys() - only_in_c
    for name in python:
        assert float(found[name]) == getattr(constants, name), name
    assert constants.LOCATED == LOCATED_WITHIN / 4
    assert constants.SHORT_OF == LOCATED_WITHIN


@pytest.mark.parametrize("direction", [-1.0, 0.0, 1.0])
@pytest.mark.parametrize("v", [-3.0, 0.0, 1e-12, 2.5])
def test_the_motion_of_a_signal_and_its_flight_are_those_of_the_c(c, direction, v):
    x, found = np.array([1e-6, v]), np.zeros(4)
    for k, span in ((0, 1e-3), (3, 0.02)):
        args = (c_double(0.7), pointer(x), k, c_double(direction), c_double(span), pointer(found))
        c.motion_of(*args)
        s = motion_of(Ball(direction), k, 0.7, x, x, span)
        np.testing.assert_allclose([s.q, s.v, s.a], found[:3], rtol=1e-12, atol=1e-12)
        assert flight(Motion(*found[:3])) == pytest.approx(found[3], rel=1e-14)


def test_what_a_reset_does_to_a_signal_is_as_in_the_c(c):
    numbers = (-np.inf, -2.0, -1e-12, 0.0, 1e-12, 2.0, np.inf, np.nan)
    for before in numbers:
        for after in numbers:
            mine = turned(Motion(0, before, 0), Motion(0, after, 0))
            assert mine == bool(c.turned(c_double(before), c_double(after))), (before, after)
            for a in (-1.0, 0.0, 1e-3, 30.0):
                s = np.array([1e-14, after, a])
                with np.errstate(all="ignore"):
                    mine = at_rest(Motion(0, before, 0), Motion(*s), 1e-9)
                assert mine == bool(c.at_rest(c_double(before), pointer(s), c_double(1e-9)))


@pytest.mark.parametrize("ticks_follow", [False, True])
@pytest.mark.parametrize("begun", [False, True])
def test_what_acts_at_a_stop_is_as_in_the_c(c, begun, ticks_follow):
    rng = np.random.default_rng(0)
    for _ in range(200):
        kinds = rng.permutation(len(KINDS)).astype(np.int32)
        directions = rng.integers(-1, 2, 7).astype(float)
        before, now = rng.integers(-1, 2, (2, 7)).astype(float)
        crossings = [
            Crossing("b", KINDS[kind], way) for kind, way in zip(kinds, directions, strict=True)
        ]
        crossed = [
            k for k in range(7) if begun and crossings[k].crossed(float(before[k]), float(now[k]))
        ]
        hit = np.zeros(7, np.int32)
        vectors = map(pointer, (kinds, directions, before, now))
        c.jumped(*vectors, int(begun), int(ticks_follow), pointer(hit))
        assert jumped(crossings, crossed, now, ticks_follow) == np.flatnonzero(hit).tolist()


def test_stiffness_is_counted_as_in_the_c(c):
    rng, test = np.random.default_rng(1), StiffnessTest("RK45")
    stiff, calm = c_int(), c_int()
    told = 0
    for steps in range(990, 4100):
        asked = test.tests(steps)
        assert asked == bool(c.tests_stiffness(c_longlong(steps), stiff))
        if asked:
            border = bool(rng.random() < 0.9)
            mine = test.seems_stiff(border)
            assert mine == bool(c.seems_stiff(int(border), byref(stiff), byref(calm)))
            told += mine
        assert (test.stiff, test.calm) == (stiff.value, calm.value)
    assert told > 0


def test_the_border_of_stability_is_that_of_the_c(c):
    rng, seen = np.random.default_rng(2), set()
    for _ in range(200):
        x, K, A = rng.normal(size=2), rng.normal(size=(4, 2)), np.tril(rng.normal(size=(4, 4)), -1)
        h, way = rng.uniform(0.1, 2), rng.normal(size=2)
        inner = x + h * (A[2, :2] @ K[:2])
        K[3] = K[2] + way * rng.uniform(1, 8) / h
        after = inner + way
        mine = at_border(after - inner, K[3] - K[2], h, 3.25)
        vectors = [np.ascontiguousarray(v) for v in (x, after, K, A)]
        assert mine == bool(c.at_border(*map(pointer, vectors), c_double(h)))
        seen.add(mine)
    assert seen == {True, False}
