"""The step in Python is that of sb_step.h in C, function by function."""

from ctypes import POINTER, byref, c_double, c_int
from itertools import product

import numpy as np
import pytest

from spart_blocks.base.tableaus import FIXED_STEP, PAIRS, STIFF, Tableau, tableau
from spart_blocks.formulas.crossings import LOCATED_WITHIN
from spart_blocks.program.c.compiler import compiler_name, strict_loaded
from spart_blocks.program.c.text import step_headers
from spart_blocks.program.tracing.switching import Crossing
from spart_blocks.run.events import stops
from spart_blocks.run.events.crossings import locate
from spart_blocks.run.solvers import steps

METHODS = (*FIXED_STEP, *PAIRS, STIFF)
N, T, X = 3, 0.7, np.array([1.3, -0.4, 2.1])
RTOL, ATOL = 1e-4, 1e-6
CLOSE = {"rtol": 4e-15, "atol": 1e-15}
SOLVED = {"rtol": 3e-14, "atol": 1e-14}
"""Where equations are solved, which NumPy does in another order."""

# A driven pendulum whose third state follows it; it has a map of its own where that is asked for.
SYSTEM = """
#include <math.h>
#define MOST 21
typedef struct {
  double t, x[3], xn[3], xt[3], xm[3], K[3 * (MOST + 1)], h, g0[1], g1[1], gs[1], g[1];
  double A[MOST * MOST], b[MOST], c[MOST], e[2 * MOST], P[8 * MOST], exponent, direction;
  double gamma, C[MOST * MOST], d[MOST], J[12], lu[9], row[3];
  double gap, limit;
  int stages, all, estimates, made, order, own, controlled, crossed, staged;
} walk;
#define SB_SELF walk
#define SB_REAL double
#define SB_N(m) 3
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
#define SB_H(m) ((m)->h)
#define SB_E(m) ((m)->e)
#define SB_EXPONENT(m) ((m)->exponent)
#define SB_ERROR_OF(m, size) (1e-6 + 1e-4 * (size))
#define SB_BOUNDS
#define SB_LONGEST(m) INFINITY
#define SB_STEP_LIMIT(m) ((m)->limit)
#define SB_LOCATES
#define SB_NG(m) 1
#define SB_KIND(m, k) SB_EVENT
#define SB_DIRECTION(m, k) ((m)->direction)
#define SB_G0(m) ((m)->g0)
#define SB_G1(m) ((m)->g1)
#define SB_GS(m) ((m)->gs)
#define SB_G(m) ((m)->g)
#define SB_CROSSED(m) ((m)->crossed)
#define SB_STAGED(m) ((m)->staged)
#define SB_GAP(m) ((m)->gap)
#define SB_P(m) ((m)->P)
#define SB_DENSE_ORDER(m) ((m)->order)
#define SB_LINEARISES
#define SB_GAMMA(m) ((m)->gamma)
#define SB_GAMMAS(m) ((m)->C)
#define SB_GAMMA_SUMS(m) ((m)->d)
#define SB_ENTRIES(m) 9
#define SB_ROW_STATES(m) pattern
#define SB_ROW_STARTS(m) (pattern + 3)
#define SB_COLUMNS(m) (pattern + 7)
#define SB_DIAGONAL(m) (pattern + 16)
#define SB_J(m) ((m)->J)
#define SB_LU(m) ((m)->lu)
#define SB_ROW(m) ((m)->row)
static const int pattern[] = {0, 1, 2, 0, 3, 6, 9, 0, 1, 2, 0, 1, 2, 0, 1, 2, 0, 4, 8};
static void sb_derivatives(walk *m, double t, const double *x, double *out) {
  const double J[] = {0, 1, 0, -cos(x[0]), -0.1, 0, x[1], x[0], -1, 0, 0.6 * t, 0};
  (void)m;
  for (int k = 0; k < 12; k++) out[k] = J[k];
}
static double sb_reach(walk *m) { (void)m; return INFINITY; }
static void sb_watch(walk *m, double t, const double *x, double *out) {
  out[0] = cos(9 * x[0] + t);
}
static void sb_slope(walk *m, double t, const double *x, double *out) {
  out[0] = x[1];
  out[1] = -sin(x[0]) - 0.1 * x[1] + 0.3 * t * t;
  out[2] = x[0] * x[1] - x[2];
}
static void sb_own_steps(walk *m, double h) {
  if (m->own) m->xn[2] = (m->x[2] + h * m->x[0]) / (1 + h * m->t);
}
#include "sb_step.h"
static walk w;
void start(double t, const double *x, int stages, int all, int estimates, double order, int own,
           int of_dense, const double *A, const double *b, const double *c, const double *e,
           const double *P, double gamma, const double *C, const double *d) {
  w.gamma = gamma;
  for (int i = 0; gamma && i < all * all; i++) w.C[i] = C[i];
  for (int i = 0; gamma && i < all; i++) w.d[i] = d[i];
  w.t = t, w.stages = stages, w.all = all, w.exponent = -1 / order, w.own = own;
  w.order = of_dense, w.controlled = of_dense > 0, w.estimates = estimates;
  for (int i = 0; i < all * of_dense; i++) w.P[i] = P[i];
  for (int i = 0; i < 3; i++) w.x[i] = x[i];
  for (int i = 0; i < all * all; i++) w.A[i] = A[i];
  for (int i = 0; i < stages; i++) w.b[i] = b[i];
  for (int i = 0; i < all; i++) w.c[i] = c[i];
  for (int i = 0; i < stages * estimates; i++) w.e[i] = e[i];
  sb_slope(&w, t, w.x, w.K);
}
static void ends(double *x) { for (int i = 0; i < 3; i++) x[i] = w.xn[i]; }
void tried(double h, double *x) { sb_try(&w, h), ends(x); }
void led_up_to(double h, double *x, double *slope) {
  sb_up_to(&w, h), ends(x);
  for (int i = 0; i < 3; i++) slope[i] = SB_SLOPE(&w)[i];
}
void within_step(double h, double theta, double *x) {
  sb_try(&w, h);
  if (!w.order) sb_slope(&w, w.t + h, w.xn, SB_SLOPE(&w));
  sb_dense(&w, h, theta, x);
}
int crossed(double before, double after, double direction) {
  return sb_crossed(before, after, direction);
}
double where(double h, double direction, double up) {
  const int among[] = {1};
  double near[] = {-up}, after[] = {up};
  int which = 0;
  w.direction = direction, *SB_G0(&w) = -up;
  sb_try(&w, h);
  return sb_first_of(&w, h, sb_whole_step(), among, near, after, &which);
}
double error_of_step(double h) { return sb_error(&w, h); }
double next_length(double h, double error) { return sb_next_length(&w, h, error); }
double first_step(double left) { return sb_first_step(&w, left); }
double equal_length(double left, double longest) { return sb_equal_length(left, longest); }
/* The length of an accurate step with a bound on it alone, and of the next one without. */
double limited(double pace, double limit, double *next) {
  int last;
  double h;
  w.h = pace, w.limit = limit;
  h = sb_length(&w, 1, &last);
  sb_try(&w, h);
  if (!sb_accurate(&w, h, last)) return -1;
  w.limit = INFINITY;
  *next = sb_length(&w, 10, &last);
  return h;
}
int is_last(double h, double left) { return sb_is_last(h, left); }
"""


def rates(t, x):
    return np.array([x[1], -np.sin(x[0]) - 0.1 * x[1] + 0.3 * t * t, x[0] * x[1] - x[2]])


def derivatives_of(method):
    """df/dx and df/dt at T and X, where the method asks for them."""
    if method.implicit is None:
        return None
    J = [[0, 1, 0], [-np.cos(X[0]), -0.1, 0], [X[1], X[0], -1]]
    return np.array(J), np.array([0, 0.6 * T, 0])


def tried(method, h, own=None):
    linear = steps.linear_over(method, derivatives_of(method), h)
    return steps.try_(method, rates, T, X, rates(T, X), h, own, linear)


def close(method):
    return CLOSE if method.implicit is None else SOLVED


def own_steps(t, h, x, after):
    after[2] = (x[2] + h * x[0]) / (1 + h * t)


def error_of(size):
    return ATOL + RTOL * size


class InC:
    """sb_step.h over the same system, at T and X."""

    def __init__(self, method: Tableau, own: bool) -> None:
        source = SYSTEM.replace('#include "sb_step.h"', step_headers()["sb_step.h"])
        # Products and sums apart, as NumPy has them.
        self.library = strict_loaded(source, ["-O1", "-ffp-contract=off"])
        for name in ("error_of_step", "next_length", "first_step", "equal_length", "where"):
            getattr(self.library, name).restype = c_double
        e = np.zeros(len(method.b)) if method.estimates is None else method.estimates
        P = np.zeros((1, 0)) if method.P is None else method.P
        arrays = [np.ascontiguousarray(v) for v in (method.A, method.b, method.c, e, P)]
        sizes = map(c_int, (len(method.b), len(method.c), len(e) // len(method.b)))
        sizes = (*sizes, c_double(method.order), c_int(own), c_int(P.shape[1]))
        more = (c_double(0), None, None)
        if method.implicit is not None:
            tables = method.implicit.C, method.implicit.d
            more = (c_double(method.implicit.gamma), *map(pointer, tables))
        self.library.start(c_double(T), pointer(X), *sizes, *map(pointer, arrays), *more)

    def vectors(self, name, h, count):
        out = [np.zeros(N) for _ in range(count)]
        getattr(self.library, name)(c_double(h), *map(pointer, out))
        return out

    def number(self, name, *arguments):
        return getattr(self.library, name)(*map(c_double, arguments))


def pointer(vector):
    return vector.ctypes.data_as(POINTER(c_double))


@pytest.fixture(params=METHODS)
def method(request):
    if compiler_name() is None:
        pytest.skip("no C compiler")
    return tableau(request.param)


@pytest.mark.parametrize("own", [None, own_steps])
@pytest.mark.parametrize("h", [0.0, 1e-9, 0.013, 0.4])
def test_a_step_is_that_of_the_c(method, own, h):
    c = InC(method, own is not None)
    trial, within = tried(method, h, own), close(method)
    np.testing.assert_allclose(trial.x, *c.vectors("tried", h, 1), **within)
    end, slope = steps.up_to(method, rates, T, X, rates(T, X), h, own, derivatives_of(method))
    x, last = c.vectors("led_up_to", h, 2)
    np.testing.assert_allclose(end, x, **within)
    np.testing.assert_allclose(slope, last, **within)


def test_what_the_error_and_the_next_length_are_is_as_in_the_c(method):
    if method.e is None:
        pytest.skip("it tells no error")
    c, h = InC(method, False), 0.4
    c.vectors("tried", h, 1)
    found = steps.error(method, X, tried(method, h), h, error_of)
    # A difference of slopes that all but cancel.
    np.testing.assert_allclose(found, c.number("error_of_step", h), rtol=1e-10)
    for error in (found, 0.0, 1e-30, 0.3, 1.0, 7.0, 1e30, np.inf, np.nan):
        wanted = c.number("next_length", h, error)
        np.testing.assert_allclose(steps.next_length(method, h, error), wanted, **CLOSE)


@pytest.mark.parametrize("left", [0.0, 1e-9, 0.01, 3.0])
def test_the_first_step_is_that_of_the_c(method, left):
    found = steps.first_step(method, rates, T, X, rates(T, X), left, error_of)
    np.testing.assert_allclose(found, InC(method, False).number("first_step", left), rtol=1e-12)


AT_REST = np.arcsin(0.3 * T**2)


@pytest.mark.parametrize(
    "state", [(0, 0, 0), (1e-7, 0, 0), (AT_REST, 3e-12, 0), (np.inf, 0, 0), (np.nan, 0, 0)]
)
def test_a_first_step_is_told_also_where_little_is_known(method, state, monkeypatch):
    x = np.array(state, dtype=float)
    monkeypatch.setitem(globals(), "X", x)
    with np.errstate(invalid="ignore"):
        found = steps.first_step(method, rates, T, x, rates(T, x), 1.0, error_of)
    wanted = InC(method, False).number("first_step", 1.0)
    np.testing.assert_allclose(found, wanted, rtol=1e-12)
    assert found > 0


def test_equal_lengths_are_those_of_the_c(method):
    c = InC(method, False)
    for left in (1e-12, 0.3, 0.3 * (1 + 1e-10), 0.301, 1.0, 7.7):
        for longest in (1e-3, 0.1, 0.3, 1.0, np.inf):
            h = steps.equal_length(left, longest)
            assert h == c.number("equal_length", left, longest)
            for after in (left, left - h, left - 2 * h):
                assert steps.is_last(h, after) == bool(c.number("is_last", h, after))


def test_a_bound_on_one_step_makes_the_next_no_shorter(method):
    if method.e is None:
        pytest.skip("its steps have one length")
    c, following = InC(method, False), c_double()
    c.library.limited.restype = c_double
    for limit, pace in ((1e-4, 0.05), (0.01, 0.02), (0.05, 0.05), (np.inf, 0.05)):
        h = c.library.limited(c_double(pace), c_double(limit), byref(following))
        assert h == min(pace, limit)
        assert following.value >= pace if limit < pace else following.value > 0


def test_the_state_within_a_step_is_that_of_the_c(method):
    c, h, thetas = InC(method, False), 0.4, np.array([0.0, 0.1, 0.5, 0.93, 1.0])
    trial = tried(method, h)
    slopes = steps.make_dense(method, rates, T, X, trial.slopes, h)
    ends = (X, slopes, trial.x, rates(T + h, trial.x), h)
    found = steps.dense(method, *ends, thetas)
    out = np.zeros(N)
    for column, theta in zip(found.T, thetas, strict=True):
        c.library.within_step(c_double(h), c_double(theta), pointer(out))
        np.testing.assert_allclose(column, out, **close(method))
        np.testing.assert_array_equal(column, steps.dense(method, *ends, theta))


@pytest.mark.parametrize("direction", [-1.0, 0.0, 1.0])
def test_crossings_are_found_and_located_as_in_the_c(method, direction):
    c, crossing, h = InC(method, False), Crossing("b", "event", direction), 0.4
    values = (-np.inf, -1.0, -1e-320, -0.0, 0.0, 1e-320, 1.0, np.inf, np.nan)
    for before, after in product(values, values):
        assert crossing.crossed(before, after) == c.number("crossed", before, after, direction)

    def state(t):
        trial = tried(method, h if method.P is not None else t - T)
        if method.P is None:
            return trial.x
        slopes = steps.make_dense(method, rates, T, X, trial.slopes, h)
        return steps.dense(method, X, slopes, trial.x, trial.x, h, (t - T) / h)

    for up in (-1.0, 1.0):
        if direction in (0.0, up):
            found, _ = locate(
                lambda t: np.cos([9 * state(t)[0] + t]),
                lambda before, after: [0] if crossing.crossed(before[0], after[0]) else [],
                np.array([-up]),
                np.array([up]),
                T,
                T + h,
            )
            wanted = T + h * c.number("where", h, direction, up)
            assert found == pytest.approx(wanted, abs=LOCATED_WITHIN / 2)


# For each method the order of its step and of its dense output (None: cubic between the ends), and
# two lengths of a step at which these show, and rounding does not.
ORDERS = {
    "euler": (1, None, 1e-3, 5e-4),
    "heun": (2, None, 0.01, 0.005),
    "RK4": (4, None, 0.05, 0.025),
    "Rodas3": (3, None, 0.02, 0.01),
    "RK45": (5, 4, 0.02, 0.01),
    "Tsit5": (5, 4, 0.02, 0.01),
    "DOP853": (8, 7, 0.1, 0.064),
    "Vern7": (7, 7, 0.12, 0.08),
    "Vern8": (8, 8, 0.1, 0.064),
    "Rodas5P": (5, 4, 0.02, 0.012),
}
LONG = np.longdouble  # coefficients are rounded, and sums need not be


def ellipse(t):
    """A body on an orbit of eccentricity 0.3, by Kepler's equation: positions and velocities."""
    E, e = LONG(t), LONG(3) / 10
    t = E
    for _ in range(80):
        E = E - (E - e * np.sin(E) - t) / (1 - e * np.cos(E))
    r, b = 1 - e * np.cos(E), np.sqrt(1 - e * e)
    return np.array([np.cos(E) - e, b * np.sin(E), -np.sin(E) / r, b * np.cos(E) / r])


def attraction(t, x):
    r = np.sqrt(x[0] ** 2 + x[1] ** 2)
    return np.array([x[2], x[3], -x[0] / r**3, -x[1] / r**3])


def fall(x):
    """The derivatives of `attraction`, which does not depend on time."""
    p = x[:2].astype(float)
    r = np.linalg.norm(p)
    J = np.zeros((4, 4))
    J[:2, 2:], J[2:, :2] = np.eye(2), 3 * np.outer(p, p) / r**5 - np.eye(2) / r**3
    return J, np.zeros(4)


def local_errors(method, h):
    """Of a step of length h, and of its dense output, over parts of an orbit."""
    ends, between = [], []
    for t in np.arange(6) * 0.9:
        x, h = ellipse(t), LONG(h)
        linear = None
        if method.implicit is not None:
            x, h = x.astype(float), float(h)  # equations are solved in double precision
            linear = steps.Linear(method, fall(x), h)
        trial = steps.try_(method, attraction, t, x, attraction(t, x), h, linear=linear)
        ends.append(trial.x - ellipse(t + h))
        if method.P is None:
            continue
        slopes = steps.make_dense(method, attraction, t, x, trial.slopes, h)
        for theta in (0.15, 0.4, 0.65, 0.9):
            read = x + h * sum(map(np.multiply, method.dense_weights(theta), slopes))
            between.append(read - ellipse(t + LONG(theta) * h))
    return [float(np.sqrt(np.mean(np.square(one)))) for one in (ends, between) if one]


@pytest.mark.parametrize("name", METHODS)
def test_a_method_and_its_dense_output_have_their_orders(name):
    order, dense, *lengths = ORDERS[name]
    errors = [local_errors(tableau(name), h) for h in lengths]
    ratio = np.log(lengths[0] / lengths[1])
    found = [np.log(long / short) / ratio - 1 for long, short in zip(*errors, strict=True)]
    assert found == pytest.approx([order, dense][: len(found)], abs=0.2)
    assert order == tableau(name).order


@pytest.mark.parametrize("name", PAIRS)
def test_dense_output_meets_both_ends_with_their_slopes(name):
    method, h = tableau(name), 0.1
    trial = steps.try_(method, rates, T, X, rates(T, X), h)
    slopes = steps.make_dense(method, rates, T, X, trial.slopes, h)

    def at(theta):
        return steps.dense(method, X, slopes, trial.x, X, h, theta)

    np.testing.assert_array_equal(at(0.0), X)
    np.testing.assert_allclose(at(1.0), trial.x, rtol=1e-12)
    m = np.arange(method.P.shape[1])
    before, after = (
        method.P @ (-1.0) ** m,
        method.P @ (1 + 2 * m),
    )  # d/dtheta of theta (2 theta - 1)^m
    start, end = np.eye(len(method.c))[[0, len(method.b) - 1]]
    np.testing.assert_allclose(before, start, atol=3e-11)
    np.testing.assert_allclose(after, end, atol=3e-11)


def test_a_time_just_before_a_power_of_two_is_as_near_as_in_the_c():
    assert stops.just_before(0.125) == 0.125 - 16 * 2.0**-56
    assert stops.just_after(0.125) == 0.125 + 16 * 2.0**-55
