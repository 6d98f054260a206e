"""sb_step.h over vectors of four numbers does in each lane what it does over one number."""

import re
import shutil
import subprocess
from ctypes import POINTER, c_double, c_int

import numpy as np
import pytest

from spart_blocks.base.tableaus import FIXED_STEP, PAIRS, STIFF, Implicit, tableau
from spart_blocks.program.c.compiler import compiler_name, strict_loaded
from spart_blocks.program.c.text import with_headers

LANES = """
typedef double SB_REAL __attribute__((vector_size(32)));
typedef long SB_MASK __attribute__((vector_size(32)));
#define LANES 4
#define SB_MASK SB_MASK
#define SB_INDEX SB_MASK
#define NUMBER SB_MASK
#define SB_SCALAR double
#define SB_OF(value) ((SB_REAL){0} + (double)(value))
#define SB_NOT(mask) (~(mask))
#define SB_PICK(mask, a, b) (((mask) & (a)) | (~(mask) & (b)))
#define EACH(expression) SB_REAL z; for (int k = 0; k < 4; k++) z[k] = expression; return z
static int SB_ANY(SB_MASK m) { return m[0] || m[1] || m[2] || m[3]; }
static SB_REAL SB_SELECT(SB_MASK m, SB_REAL a, SB_REAL b) { EACH(m[k] ? a[k] : b[k]); }
static SB_REAL SB_ABS(SB_REAL a) { EACH(fabs(a[k])); }
static SB_REAL SB_MIN(SB_REAL a, SB_REAL b) { EACH(fmin(a[k], b[k])); }
static SB_REAL SB_MAX(SB_REAL a, SB_REAL b) { EACH(fmax(a[k], b[k])); }
static SB_REAL SB_SQRT(SB_REAL a) { EACH(sqrt(a[k])); }
static SB_REAL SB_POW(SB_REAL a, SB_REAL b) { EACH(pow(a[k], b[k])); }
static SB_REAL SB_CEIL(SB_REAL a) { EACH(ceil(a[k])); }
"""
ONE = """
typedef double SB_REAL;
#define LANES 1
#define NUMBER int
"""
# A van der Pol oscillator that is watched at two heights, each lane from a state of its own.
SYSTEM = """
#include <math.h>
NUMBERS
#define MOST 21
typedef struct {
  SB_REAL t, h, x[2], xn[2], xt[2], xm[2], K[2 * (MOST + 1)], g0[2], g1[2], gs[2], g[2];
  double A[MOST * MOST], b[MOST], c[MOST], e[2 * MOST], P[8 * MOST], order;
  double gamma, C[MOST * MOST], d[MOST];
  SB_REAL J[6], lu[4], row[2];
  int stages, all, estimates, made, dense, controlled;
  NUMBER crossed, staged;
  SB_REAL gap, limit;
} walk;
#define SB_SELF walk
#define SB_N(m) 2
#define SB_STAGES_OF(m) ((m)->stages)
#define SB_ALL_STAGES(m) ((m)->all)
#define SB_MADE(m) ((m)->made)
#define SB_ESTIMATES(m) ((m)->estimates)
#define SB_T(m) ((m)->t)
#define SB_X(m) ((m)->x)
#define SB_XN(m) ((m)->xn)
#define SB_XT(m) ((m)->xt)
#define SB_XM(m) ((m)->xm)
#define SB_K(m) ((m)->K)
#define SB_A(m) ((m)->A)
#define SB_B(m) ((m)->b)
#define SB_C(m) ((m)->c)
#define SB_CONTROLS
#define SB_CONTROLLED(m) ((m)->controlled)
#define SB_E(m) ((m)->e)
#define SB_EXPONENT(m) (-1 / (m)->order)
#define SB_H(m) ((m)->h)
#define SB_ERROR_OF(m, size) (1e-9 + 1e-6 * (size))
#define SB_BOUNDS
#define SB_LONGEST(m) ((m)->t * 0 + 0.125)
#define SB_STEP_LIMIT(m) ((m)->limit)
#define SB_LOCATES
#define SB_NG(m) 2
#define SB_KIND(m, k) ((k) ? SB_BEND : SB_EVENT)
#define SB_DIRECTION(m, k) ((k) ? 0 : -1)
#define SB_G0(m) ((m)->g0)
#define SB_G1(m) ((m)->g1)
#define SB_GS(m) ((m)->gs)
#define SB_G(m) ((m)->g)
#define SB_CROSSED(m) ((m)->crossed)
#define SB_STAGED(m) ((m)->staged)
#define SB_GAP(m) ((m)->gap)
#define SB_P(m) ((m)->P)
#define SB_DENSE_ORDER(m) ((m)->dense)
#define SB_LINEARISES
#define SB_GAMMA(m) ((m)->gamma)
#define SB_GAMMAS(m) ((m)->C)
#define SB_GAMMA_SUMS(m) ((m)->d)
#define SB_ENTRIES(m) 4
#define SB_ROW_STATES(m) pattern
#define SB_ROW_STARTS(m) (pattern + 2)
#define SB_COLUMNS(m) (pattern + 5)
#define SB_DIAGONAL(m) (pattern + 9)
#define SB_J(m) ((m)->J)
#define SB_LU(m) ((m)->lu)
#define SB_ROW(m) ((m)->row)
static const int pattern[] = {0, 1, 0, 2, 4, 0, 1, 0, 1, 0, 3};
static void sb_derivatives(walk *m, SB_REAL t, const SB_REAL *x, SB_REAL *out) {
  (void)m;
  out[0] = 0 * t;
  out[1] = 1 + 0 * t;
  out[2] = -2 * x[0] * x[1] * (1 + t * t / 16) - 1;
  out[3] = (1 - x[0] * x[0]) * (1 + t * t / 16);
  out[4] = 0 * t;
  out[5] = (1 - x[0] * x[0]) * x[1] * t / 8;
}
static void sb_slope(walk *m, SB_REAL t, const SB_REAL *x, SB_REAL *out) {
  (void)m;
  out[0] = x[1];
  out[1] = (1 - x[0] * x[0]) * x[1] * (1 + t * t / 16) - x[0];
}
static void sb_own_steps(walk *m, SB_REAL h) { (void)m, (void)h; }
static SB_REAL sb_reach(walk *m) { return 0.25 / (1 + m->x[1] * m->x[1]); }
static void sb_watch(walk *m, SB_REAL t, const SB_REAL *x, SB_REAL *out) {
  (void)m;
  out[0] = x[0] - 0.4 * t;
  out[1] = x[1] + 0.3;
}
#include "sb_step.h"
#if LANES == 1
#define LANE(value) (*(value))
#else
#define LANE(value) ((value)[0][lane])
#endif
static double lane_of(const SB_REAL *value, int lane) { (void)lane; return LANE(value); }

/* 60 steps with lengths of their own, each cut at its crossing, from `start` (LANES, 2) to
   `found` (LANES, 4): time, states, and how many were cut. */
void go(int stages, int all, int estimates, int dense, int controlled, double order,
        const double *A, const double *b, const double *c, const double *e, const double *P,
        double gamma, const double *C, const double *d, const double *start, double *found) {
  static walk w;
  SB_REAL cuts = {0}, zero = {0};
  NUMBER none = {0};
  w.stages = stages, w.all = all, w.estimates = estimates;
  w.dense = dense, w.controlled = controlled, w.order = order;
  w.gamma = gamma;
  for (int i = 0; i < all * all; i++) w.C[i] = C[i];
  for (int i = 0; i < all; i++) w.d[i] = d[i];
  w.t = zero, w.crossed = none, w.staged = none, w.gap = zero, w.limit = 1 + zero;
  for (int i = 0; i < all * all; i++) w.A[i] = A[i];
  for (int i = 0; i < stages; i++) w.b[i] = b[i];
  for (int i = 0; i < all; i++) w.c[i] = c[i];
  for (int i = 0; i < stages * estimates; i++) w.e[i] = e[i];
  for (int i = 0; i < all * dense; i++) w.P[i] = P[i];
  for (int i = 0; i < 2; i++)
    for (int k = 0; k < LANES; k++) ((double *)&w.x[i])[k] = start[2 * k + i];
  sb_slope(&w, w.t, w.x, w.K);
  w.h = sb_first_step(&w, 1 + zero);
  for (int n = 0; n < 60; n++) {
    SB_REAL h, theta, far[2];
    NUMBER last, good, cut;
    sb_slope(&w, w.t, w.x, w.K);
    h = sb_length(&w, 40 - w.t, &last);
    sb_try(&w, h);
    good = w.h == w.h;
    if (controlled) good = sb_accurate(&w, h, last);
    if (!controlled) sb_slope(&w, w.t + h, w.xn, SB_SLOPE(&w));
    sb_watch(&w, w.t, w.x, w.g0);
    theta = sb_find_crossing(&w, h, w.t + h);
    if (controlled) {
      SB_REAL shorter = sb_short_of(&w, good, h, theta);
      w.limit = SB_SELECT(good, 1 + zero, w.limit);
      w.limit = SB_SELECT(shorter > 0, shorter, w.limit);
      good &= SB_NOT(shorter > 0);
    }
    cut = theta < 2;
    for (int i = 0; i < 2; i++) far[i] = w.xn[i];
    theta = SB_SELECT(cut, theta, 1 + zero);
    if (controlled) sb_dense(&w, h, theta, far);
    else {
      sb_try(&w, h);
      for (int i = 0; i < 2; i++) far[i] = w.xn[i];
      sb_up_to_crossing(&w, theta * h);
      for (int i = 0; i < 2; i++) far[i] = SB_SELECT(cut, w.xn[i], far[i]);
    }
    for (int i = 0; i < 2; i++) w.x[i] = SB_SELECT(good, far[i], w.x[i]);
    w.t = SB_SELECT(good, w.t + theta * h, w.t);
    cuts = cuts + SB_SELECT(good & cut, 1 + zero, zero);
  }
  for (int k = 0; k < LANES; k++) {
    found[4 * k] = lane_of(&w.t, k);
    found[4 * k + 1] = lane_of(&w.x[0], k);
    found[4 * k + 2] = lane_of(&w.x[1], k);
    found[4 * k + 3] = lane_of(&cuts, k);
  }
}
"""
STARTS = np.array([[0.5, 0.1], [2.0, -1.0], [-1.5, 2.5], [0.01, 0.0]])


def text_of(numbers):
    source = SYSTEM.replace("NUMBERS", numbers)
    return with_headers(source)


def compiled(lanes):
    return strict_loaded(text_of(LANES if lanes else ONE), ["-O1", "-ffp-contract=off", "-w"])


def gone(library, method, starts):
    """[time, x0, x1, cuts] of each start, all of a library's lanes at once."""
    tables = [method.A, method.b, method.c]
    tables += [np.zeros(1) if t is None else t for t in (method.estimates, method.P)]
    if method.e is None:
        tables[3] = np.zeros(len(method.b))
    implicit = method.implicit or Implicit(0.0, np.zeros_like(method.A), np.zeros_like(method.c))
    tables += [implicit.C, implicit.d]
    arrays = [np.ascontiguousarray(v, float) for v in (*tables, starts)]
    found = np.zeros((len(starts), 4))
    pointers = [v.ctypes.data_as(POINTER(c_double)) for v in (*arrays, found)]
    pointers.insert(5, c_double(implicit.gamma))
    dense = 0 if method.P is None else method.P.shape[1]
    estimates = 2 if method.e2 is not None else 1
    counts = (len(method.b), len(method.c), estimates, dense, method.e is not None)
    sizes = [c_int(n) for n in counts]
    library.go(*sizes, c_double(method.order), *pointers)
    return found


@pytest.mark.skipif(compiler_name() is None, reason="no C compiler")
@pytest.mark.parametrize("name", [*FIXED_STEP, *PAIRS, STIFF])
def test_each_lane_goes_as_it_does_alone(name):
    method = tableau(name)
    together = gone(compiled(lanes=True), method, STARTS)
    one = compiled(lanes=False)
    alone = np.vstack([gone(one, method, start[None]) for start in STARTS])
    assert len(set(alone[:, 0])) == len(STARTS)  # each at a time of its own
    assert (alone[:, 3] > 0).sum() >= 3
    np.testing.assert_array_equal(together, alone)


def compiles(command, source, folder):
    file = folder / f"step.{'cu' if command[0] == 'nvcc' else 'cpp'}"
    file.write_text(source)
    run = subprocess.run([*command, file.name], cwd=folder, capture_output=True, text=True)
    return run.returncode == 0, run.stderr


@pytest.mark.skipif(shutil.which("g++") is None, reason="no C++ compiler")
def test_the_step_is_c_plus_plus_too(tmp_path):
    source = text_of(ONE)
    assert compiles(["g++", "-fsyntax-only", "-Wall", "-Werror"], source, tmp_path) == (True, "")


@pytest.mark.skipif(shutil.which("nvcc") is None, reason="no CUDA compiler")
def test_the_step_compiles_as_a_kernel_of_cuda(tmp_path):
    source = re.sub(
        r"static (void|SB_REAL|double) (sb_|lane_)", r"static __device__ \1 \2", text_of(ONE)
    )
    source = source.replace("void go(", 'extern "C" __global__ void go(')
    source = source.replace("static const int", "static __device__ const int")
    source = source.replace("static walk w;", "walk w;").replace(
        "= {0}, zero = {0}", "= 0, zero = 0"
    )
    fits, told = compiles(["nvcc", "-arch=sm_90", "-cubin"], source, tmp_path)
    assert fits, told
