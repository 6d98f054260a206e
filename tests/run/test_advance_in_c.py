"""What acts at one time of a run is the same in Python (acting.py) and in C (sb_advance.h)."""

from ctypes import POINTER, byref, c_double, c_int, c_longlong, create_string_buffer
from fractions import Fraction
from types import SimpleNamespace

import numpy as np
import pytest

from spart_blocks.base.errors import RunError
from spart_blocks.program.c.compiler import compiler_name, strict_loaded
from spart_blocks.program.c.text import step_headers
from spart_blocks.program.tracing.switching import KINDS, Crossing
from spart_blocks.run.events import acting
from spart_blocks.run.events.crossings import Chatter, chatters
from spart_blocks.run.events.holds import Held
from spart_blocks.run.record.event_log import EventLog
from spart_blocks.run.solvers.solver import SegmentSolver

N = 6
# Six states, each watched by a crossing; what one does moves others, and so do the ticks.
SYSTEM = """
#include <math.h>
#include <stdio.h>
#include <string.h>
#define N 6
typedef struct {
  double t, x[N], xn[N], xt[N], xm[N], K[2 * N], xd[1], before[1], after[1], A[1];
  double g[N], g0[N], g1[N], gs[N], direction[N], limit;
  int kinds[N], hit[N], begun, due, crossed, staged, sloped, going, ended;
  char log[4000];
} loop;
#define SB_SELF loop
#define SB_REAL double
#define SB_N(m) N
#define SB_STAGES_OF(m) 1
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
#define SB_BOUNDS
#define SB_LONGEST(m) INFINITY
#define SB_STEP_LIMIT(m) ((m)->limit)
#define SB_LOCATES
#define SB_ADVANCES
#define SB_SLOPED(m) ((m)->sloped)
#define SB_LAST_SEEN(m) INFINITY
#define SB_SHORTEST(t) 0
#define SB_NEEDS_SLOPE(m, s) 0
#define SB_MARKS
#define SB_LOOPS
#define SB_ACTS_IN_C
#define SB_MEETS_RESETS
#define SB_HAS_CLOCKS
#define SB_HANDOVERS(m) 0
#define SB_DRIFTS(m) 0
#define SB_HANDOVER_CLOCK(m, k) 0
#define SB_SWITCHES 1
#define SB_CLOCKS(m) 1
#define SB_ND(m) 1
#define SB_XD(m) ((m)->xd)
#define SB_BEFORE_TICKS(m) ((m)->before)
#define SB_AFTER_TICKS(m) ((m)->after)
#define SB_GOES(m) ((m)->going)
#define SB_ENDED(m) ((m)->ended)
#define SB_SHORTEST_FLIGHT(m) SB_FLIGHT
#define SB_NG(m) N
#define SB_KIND(m, k) ((m)->kinds[k])
#define SB_DIRECTION(m, k) ((m)->direction[k])
#define SB_FIRST(k) (k)
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
static void told(loop *m, const char *what, int k) {
  sprintf(m->log + strlen(m->log), "%s %d,", what, k);
}
static void sb_field(loop *m, double t, const double *x, const double *xd, double *out) {
  (void)m, (void)xd;
  for (int k = 0; k < N; k++) out[k] = (x[k] < 0 ? -2 : 2) + 0.2 * t;
}
static void sb_signals(loop *m, double t, const double *x, const double *xd, double *out) {
  (void)m, (void)t;
  for (int k = 0; k < N; k++) out[k] = x[k] + 0.3 * (k - 2) * xd[0];
}
static void sb_slope(loop *m, double t, const double *x, double *out) {
  sb_field(m, t, x, m->xd, out);
}
static void sb_own_steps(loop *m, double h) { (void)m, (void)h; }
static double sb_reach(loop *m) { (void)m; return INFINITY; }
static void sb_watch(loop *m, double t, const double *x, double *out) {
  sb_signals(m, t, x, m->xd, out);
}
static void sb_watch_now(loop *m, double *out) { sb_watch(m, m->t, m->x, out); }
static void sb_watch_modes(loop *m, double t, const double *x, const double *xd, double *out) {
  sb_signals(m, t, x, xd, out);
}
static int sb_due(loop *m, int c) { (void)c; return m->due; }
static void sb_hand_over(loop *m, int k, const double *before, double *xd) {
  (void)m, (void)k, (void)before, (void)xd;
}
static void sb_tick_clock(loop *m, int c, const double *before, double *xd) {
  told(m, "tick", c);
  xd[0] = before[0] + m->x[0];
}
static void sb_switch(loop *m, double t, int k, int where, double *x, double *xd) {
  (void)t, (void)where, (void)xd;
  told(m, "switch", k);
  x[k] = -1.5;
  x[(k + 2) % N] += 0.3;
}
#include "sb_step.h"
static int sb_any_due(loop *m, int at) { return at && m->due; }
static void sb_count_ticks(loop *m, int due, int bad) {
  (void)due;
  if (bad) m->going = 0;
}
static void sb_fail(loop *m, int where, int why, const sb_trial *s) {
  (void)m, (void)where, (void)why, (void)s;
}
static void sb_record_step(loop *m, sb_trial *s) { (void)m, (void)s; }
static void sb_hits(loop *m, int cut) { (void)m, (void)cut; }
static void sb_project(loop *m, int where) {
  if (!where) return;
  told(m, "project", 0);
  for (int k = 0; k < N; k++) m->x[k] = m->x[k] < 1 ? m->x[k] : 1;
}
static void sb_count_crossings(loop *m, int where) { (void)where; told(m, "count", 0); }
static void sb_stop(loop *m, int k, int where) {
  (void)where;
  told(m, "stop", k);
  m->ended = 1;
}
static void sb_fault(loop *m, int k, int where) {
  (void)where;
  told(m, "fault", k);
  m->going = 0;
}
static int sb_reset(loop *m, int k, int where) {
  told(m, "reset", k);
  m->x[k] = -0.2;
  m->x[(k + 1) % N] += 0.7;
  return where;
}
static void sb_settle(loop *m, int where, double *x, double *xd) {
  (void)where;
  sb_switched(m, m->t, x, xd, m->g);
}
static double sb_span(const loop *m) { (void)m; return 1e-3; }
static void sb_bounced(loop *m, int k, int turned, int rests, const double *x, sb_motion before,
                       double flight) {
  (void)x, (void)before, (void)flight;
  if (turned) told(m, "turned", k);
  if (rests) m->going = 0;
}
static void sb_acted(loop *m, int where, int ends) { (void)m, (void)where, (void)ends; }
static loop m;
void begin(double t, const double *x, double xd, const int *kinds, const double *directions,
           int due, int begun) {
  memset(&m, 0, sizeof m);
  m.t = t, m.xd[0] = xd, m.due = due, m.begun = begun, m.going = 1, m.limit = INFINITY;
  for (int k = 0; k < N; k++) m.x[k] = x[k], m.kinds[k] = kinds[k], m.direction[k] = directions[k];
}
void values_before(const double *g) { for (int k = 0; k < N; k++) m.g0[k] = g[k]; }
int enter(void) { int stage = SB_COMES; return sb_enter(&m, 1, &stage); }
void cross(const int *hit, int ticks_follow) {
  for (int k = 0; k < N; k++) m.hit[k] = hit[k];
  sb_cross(&m, 1, ticks_follow);
}
double pass_by(double stop) { sb_go_on(&m, 1, stop); return m.t; }
void found(double *x, double *xd, double *limit, char *log) {
  for (int k = 0; k < N; k++) x[k] = m.x[k];
  *xd = m.xd[0], *limit = m.limit;
  strcpy(log, m.log);
}
int chatters(double t, double whole, double *since, long long *count) {
  return sb_chatters(t, whole, since, count);
}
"""


class Engine:
    """The same as an engine of Python."""

    def __init__(self, run):
        self.run, self.crossings = run, run.crossings

    def jump_inputs(self, t, x, xd):
        return ()

    def jumped(self, before, t, x, xd):
        return []

    def watch(self, t, x, xd):
        return x + 0.3 * (np.arange(N) - 2) * xd[0]

    def derivative(self, t, x, xd):
        return np.where(x < 0, -2.0, 2.0) + 0.2 * t

    def tick(self, t, x, xd, due):
        self.run.log("tick", 0)
        return xd + x[0]

    def failure(self, k, t, x, xd):
        self.run.log("fault", k)
        return RunError("a fault")

    def reset(self, k, t, x, xd):
        x, event = x.copy(), self.crossings[k].kind == "event"
        self.run.log("reset" if event else "switch", k)
        x[k] = -0.2 if event else -1.5
        x[(k + (1 if event else 2)) % N] += 0.7 if event else 0.3
        return x, xd


class Run(SimpleNamespace):
    """What acting.py reads and sets of a run."""

    slides = False
    tape = None

    def __init__(self, t, x, xd, kinds, directions, due, begun):
        crossings = [Crossing(f"b{k}", KINDS[kind], directions[k]) for k, kind in enumerate(kinds)]
        super().__init__(t=Fraction(t), x=x, xd=xd, crossings=crossings, before=None, lines=[])
        self.clocks = [SimpleNamespace(name="c", time=lambda _: self.t)] if due else []
        self.ticks, self.held, self.events, self.stopped = {"c": 0}, Held(), EventLog(), None
        self.options, self.end, self.bounces = SimpleNamespace(max_step=1.0), 100.0, {}
        self.recent, self.chatter, self.limit = [], Chatter(), np.inf
        self.resetting = {k for k, one in enumerate(crossings) if one.kind == "event"}
        self.start = 0 if begun else self.t
        self.engine = Engine(self)
        self.engine.display = SimpleNamespace(checks=(), told={}, states={})
        self.engine.continuous = {}

    def log(self, what, k):
        self.lines.append(f"{what} {k}")

    def watch(self, t, x):
        return self.engine.watch(t, x, self.xd)

    def project(self, t, x):
        self.log("project", 0)
        return np.minimum(x, 1.0)

    def crossed(self, before, after):
        pairs = zip(self.crossings, before, after, strict=True)
        return [k for k, (one, a, b) in enumerate(pairs) if one.crossed(float(a), float(b))]


@pytest.fixture(scope="module")
def c():
    if compiler_name() is None:
        pytest.skip("no C compiler")
    source = SYSTEM.replace('#include "sb_step.h"', step_headers()["sb_step.h"])
    return strict_loaded(source, ["-O1", "-ffp-contract=off"])


@pytest.fixture
def logged(monkeypatch):
    """Stops and counts are logged as in the C."""

    def stop(run, block, t):
        run.log("stop", block[1:])
        run.stopped = block

    monkeypatch.setattr(acting, "stop", stop)
    monkeypatch.setattr(acting, "count_crossings", lambda run, found, t: run.log("count", 0))


def pointer(vector):
    return vector.ctypes.data_as(POINTER(c_int if vector.dtype == np.int32 else c_double))


def pair(c, rng, *, due=False, begun=True):
    """The same state of a run in Python and in C, with kinds other than bends."""
    kinds = rng.choice([k for k, kind in enumerate(KINDS) if kind != "bend"], N).astype(np.int32)
    directions = np.where(kinds == KINDS.index("event"), rng.integers(-1, 2, N), 1).astype(float)
    x, xd, t = rng.uniform(-1.0, 0.6, N), rng.uniform(-1, 1, 1), float(rng.uniform(1, 9))
    vectors = (pointer(kinds), pointer(directions))
    c.begin(c_double(t), pointer(x), c_double(xd[0]), *vectors, int(due), int(begun))
    return Run(t, x, xd, kinds, directions, due, begun)


def found_in_c(c):
    x, xd, limit, log = np.zeros(N), c_double(), c_double(), create_string_buffer(4000)
    c.found(pointer(x), byref(xd), byref(limit), log)
    return x, xd.value, limit.value, [line for line in log.value.decode().split(",") if line]


def assert_same(c, run):
    x, xd, limit, lines = found_in_c(c)
    turns = [line for line in lines if line.startswith("turned")]
    assert run.lines == [line for line in lines if line not in turns]
    assert [f"turned {k}" for k in run.bounces] == turns
    np.testing.assert_array_equal(run.x, x)
    assert run.xd[0] == xd
    assert run.limit == pytest.approx(limit, rel=1e-9)
    return {line.split()[0] for line in lines}


@pytest.mark.usefixtures("logged")
def test_what_crossings_do_is_as_in_the_c(c):
    rng, seen = np.random.default_rng(0), set()
    for _ in range(400):
        run, follow = pair(c, rng), bool(rng.integers(2))
        hit = rng.integers(0, 2, N).astype(np.int32)
        hit[[one.kind == "fault" for one in run.crossings]] &= rng.random() < 0.1
        if not hit.any():
            continue
        c.cross(pointer(hit), int(follow))
        try:
            acting.cross(run, np.flatnonzero(hit).tolist(), float(run.t), ticks_follow=follow)
        except RunError:
            if run.lines[-1].startswith("fault"):  # also one that a reset or a switch sets off
                assert found_in_c(c)[3][: len(run.lines)] == run.lines
                seen |= {"fault"} if "project 0" in run.lines else set()
            continue
        seen |= assert_same(c, run)
    assert seen == {"count", "stop", "fault", "reset", "switch", "project", "turned"}


@pytest.mark.usefixtures("logged")
@pytest.mark.parametrize("due", [False, True])
@pytest.mark.parametrize("begun", [False, True])
def test_a_stop_is_entered_as_in_the_c(c, due, begun):
    rng, seen = np.random.default_rng(1), set()
    for _ in range(300):
        run = pair(c, rng, due=due, begun=begun)
        g = rng.uniform(-1, 1, N)
        run.before = g if begun else None
        c.values_before(pointer(g))
        goes = c.enter()
        try:
            acting.enter(run, ())
        except RunError:
            twice = any(len(one.times) > 1 for one in run.bounces.values())  # at this one time
            assert twice or not goes
            continue
        assert goes
        seen |= assert_same(c, run)
    assert {"stop", "switch", "project"} | ({"tick"} if due else set()) <= seen
    assert ("reset" in seen) == begun or due


def test_too_many_crossings_are_counted_as_in_the_c(c):
    rng, chatter, since, count = np.random.default_rng(2), Chatter(), c_double(), c_longlong()
    t, told = 0.0, set()
    for k in range(20_000):
        t += rng.exponential(1e-10 if k // 3000 % 2 else 1e-7)
        mine = chatters(chatter, t, 10.0)
        assert mine == bool(c.chatters(c_double(t), c_double(10.0), byref(since), byref(count)))
        assert (chatter.since, chatter.count) == (since.value, count.value)
        told.add(mine)
    assert told == {True, False}


def test_stops_that_differ_by_rounding_are_passed_by_as_in_the_c(c):
    class Passing(SegmentSolver):
        def advance(self, a, b):
            raise NotImplementedError

    run = pair(c, np.random.default_rng(3))
    run.options.solver = "RK45"
    run.derivative = lambda t, x: run.engine.derivative(t, x, run.xd)
    t, stop = float(run.t), float(run.t) + 3e-13
    c.pass_by.restype = c_double
    assert c.pass_by(c_double(stop)) == stop
    assert Passing(run).pass_by(t, stop)
    assert not Passing(run).pass_by(t, t + 1e-10)
    assert_same(c, run)
