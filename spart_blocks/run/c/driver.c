/* The inner loop of a run. It is compiled once, and calls the functions of a program (sb_program.h).

   Explicit Runge-Kutta steps by tableau, between stops: clock ticks and known event
   times. At a stop the clocks due read the values before it and update together. Samples
   come from the dense output of a step, or, at a stop, from after it. The step stands in sb_step.h,
   and the loop in sb_advance.h; crossings act in Python, between two calls.

   Everything lives in memory of the caller; a call works off at most `budget` steps, so
   that the caller can report progress and be interrupted. The stops and the samples come in
   windows: the caller gives the next ones when the last stop of a window has been dealt with. */

#include <math.h>
#include <string.h>

enum { SB_TICK = 1, SB_SWITCH }; /* what may jump at a stop */
enum {
  SB_DONE,
  SB_MORE,
  SB_CROSSED,
  SB_STEP_TOO_SMALL,
  SB_BAD_SAMPLE,
  SB_BAD_TICK,
  SB_STIFF,
  SB_FULL
};

/* The steps of a run, for its derivatives: see run/tape.py. */
typedef struct {
  long long count, room;
  double *rows;
} sb_tape;

typedef struct sb_run {
  const sb_program *program;
  /* sizes */
  long long nx, nd, nkept, nlooked, ncross, nclocks, nstops, nsamples, stages, all_stages, dense_order;
  long long estimates, entries;
  /* states and parameters */
  double *x, *xd, *p;
  /* where to stop, which clocks tick there (nstops by nclocks), when to sample */
  const double *stops, *samples;
  const unsigned char *due;
  const unsigned char *sides; /* of each stop: whether signals jump there */
  /* kept data: nsamples rows each, or as many as lines need */
  double *kept, *xs, *xds;
  sb_log *log; /* null where samples are kept */
  sb_gauge *gauge; /* null where nothing is measured */
  sb_tape *tape; /* null where steps are not noted */
  /* tableau: A (all_stages by all_stages), b, c, error weights e of `estimates` or null, dense P or null */
  const double *A, *b, *c, *e, *P;
  const double *C, *d; /* of a linearly implicit method, else null */
  double rtol, atol, max_step, fixed_step, error_exponent, border, gamma;
  /* sign of each crossing's direction, and its values before the step */
  const double *direction;
  const unsigned char *kinds; /* of each crossing: SB_EVENT, SB_STOP, ... */
  double *g0, *g1, *gs;
  unsigned char *hit; /* the crossings that act now */
  /* room: K (all_stages + 1 by nx), xt, xn, xm (nx each), f (the largest of nx, nd, ncross),
     xdn (nd), and the functions' work; xl (2 nx); J (entries + nx), lu (entries), row (nx) */
  double *K, *xt, *xn, *xm, *xl, *f, *xdn, *J, *lu, *row, *w;
  long long *iw;
  const double **arg;
  double **res;
  /* progress */
  double t, h, lo, hi, bad; /* bad: the time of the failed state in xt, or of the failed row */
  double limit; /* bound on the next step alone [s] */
  double taken; /* the step that was just tried */
  long long stop, sample, steps, evaluations, budget;
  int crossed, have_slope, entered, behind, far_slope, made, status;
  int resumes, follow; /* whether the last call ended within a segment; whether more stops follow these */
  /* whether stiffness is looked for, steps at the border of stability, steps within it in a
     row, and the length of the last */
  int heeds_stiffness, stiff, calm;
  double stiff_step;
  int staged; /* the last crossing was one of a stage; 2: and at once */
  double gap; /* see SB_GAP in sb_step.h */
} sb_run;

static void sb_call(sb_run *r, sb_function f, double t, const double *x, double *out) {
  r->arg[0] = &t;
  r->arg[1] = x;
  r->arg[2] = r->xd;
  r->arg[3] = r->p;
  r->res[0] = out;
  f(r->arg, r->res, r->iw, r->w, 0);
}

static double sb_seen(const sb_run *r, double t) { return t < r->lo ? r->lo : t > r->hi ? r->hi : t; }

static void sb_slope(sb_run *r, double t, const double *x, double *out) {
  r->arg[4] = r->x; /* limits act by the state at the start of the step */
  sb_call(r, r->program->rates, sb_seen(r, t), x, out);
  r->evaluations++;
}

static void sb_derivatives(sb_run *r, double t, const double *x, double *out) {
  r->arg[4] = r->x;
  sb_call(r, r->program->linearised, sb_seen(r, t), x, out);
}

static void sb_watch(sb_run *r, double t, const double *x, double *out) {
  sb_call(r, r->program->cross, t, x, out);
}

static void sb_watch_now(sb_run *r, double *out) { sb_watch(r, r->t, r->x, out); }

/* The longest step that misses nothing (the program's reach). */
static double sb_reach(sb_run *r) {
  if (!r->program->reach) return INFINITY;
  sb_call(r, r->program->reach, r->t, r->x, r->f);
  return r->f[0];
}

static int sb_due(const sb_run *r, long long clock) { return r->due[r->stop * r->nclocks + clock]; }

/* Write the entries of xd that a function of the program gives. */
static void sb_move(sb_run *r, const sb_update *update, double *from, double *to) {
  double *xd = r->xd;
  r->xd = from;
  sb_call(r, update->function, r->t, r->x, r->f);
  r->xd = xd;
  for (long long i = 0; i < update->size; i++) to[update->states[i]] = r->f[update->states[i]];
}

static void sb_hand_over(sb_run *r, int k, double *before, double *xd) {
  sb_move(r, &r->program->handovers[k], before, xd);
}

static void sb_tick_clock(sb_run *r, int c, double *before, double *xd) {
  sb_move(r, &r->program->ticks[c], before, xd);
}

/* Configuration of sb_step.h. */
#define SB_SELF sb_run
#define SB_REAL double
#define SB_N(r) ((r)->nx)
#define SB_STAGES_OF(r) ((r)->stages)
#define SB_ALL_STAGES(r) ((r)->all_stages)
#define SB_MADE(r) ((r)->made)
#define SB_T(r) ((r)->t)
#define SB_X(r) ((r)->x)
#define SB_XN(r) ((r)->xn)
#define SB_XT(r) ((r)->xt)
#define SB_XM(r) ((r)->xm)
#define SB_K(r) ((r)->K)
#define SB_A(r) ((r)->A)
#define SB_B(r) ((r)->b)
#define SB_C(r) ((r)->c)
#define SB_LINEARISES
#define SB_GAMMA(r) ((r)->gamma)
#define SB_GAMMAS(r) ((r)->C)
#define SB_GAMMA_SUMS(r) ((r)->d)
#define SB_ENTRIES(r) ((r)->entries)
#define SB_ROW_STATES(r) ((r)->program->order)
#define SB_ROW_STARTS(r) ((r)->program->starts)
#define SB_COLUMNS(r) ((r)->program->columns)
#define SB_DIAGONAL(r) ((r)->program->diagonal)
#define SB_J(r) ((r)->J)
#define SB_LU(r) ((r)->lu)
#define SB_ROW(r) ((r)->row)
#define SB_CONTROLS
#define SB_CONTROLLED(r) ((r)->e != NULL)
#define SB_E(r) ((r)->e)
#define SB_ESTIMATES(r) ((r)->estimates)
#define SB_EXPONENT(r) ((r)->error_exponent)
#define SB_ERROR_OF(r, size) ((r)->atol + (r)->rtol * (size))
#define SB_H(r) ((r)->h)
#define SB_BOUNDS
#define SB_LONGEST(r) ((r)->e ? (r)->max_step : (r)->fixed_step)
#define SB_STEP_LIMIT(r) ((r)->limit)
#define SB_LOCATES
#define SB_RECORDS
#define SB_HOLDS_OFF
#define SB_ADVANCES
#define SB_SEES_STIFFNESS
#define SB_BORDER(r) ((r)->border)
#define SB_MARKS
#define SB_LOOPS
#define SB_GOES(r) ((r)->status == SB_DONE)
#define SB_WAITS
#define SB_XD(r) ((r)->xd)
#define SB_BEFORE_TICKS(r) ((r)->xd)
#define SB_AFTER_TICKS(r) ((r)->xdn)
#define SB_SLOPED(r) ((r)->have_slope)
#define SB_LAST_SEEN(r) ((r)->hi)
#define SB_SHORTEST(t) (SB_TOO_SHORT * (nextafter(t, INFINITY) - (t)))
#define SB_NEEDS_SLOPE(r, s) ((r)->far_slope = !(s)->last || (r)->ncross || sb_samples_before(r, (s)->until))
#define SB_HIT(r) ((r)->hit)
#define SB_BEGUN(r) ((r)->stop > 0)
#define SB_NG(r) ((r)->ncross)
#define SB_KIND(r, k) ((r)->kinds[k])
#define SB_DIRECTION(r, k) ((r)->direction[k])
#define SB_G0(r) ((r)->g0)
#define SB_G1(r) ((r)->g1)
#define SB_GS(r) ((r)->gs)
#define SB_G(r) ((r)->f)
#define SB_CROSSED(r) ((r)->crossed)
#define SB_STAGED(r) ((r)->staged)
#define SB_GAP(r) ((r)->gap)
#define SB_P(r) ((r)->P)
#define SB_DENSE_ORDER(r) ((r)->dense_order)
#define SB_HAS_CLOCKS
#define SB_ND(r) ((r)->nd)
#define SB_CLOCKS(r) ((r)->nclocks)
#define SB_HANDOVERS(r) ((r)->program->nhandovers)
#define SB_HANDOVER_CLOCK(r, k) ((r)->program->handovers[k].clock)
#define SB_DRIFTS(r) ((r)->program->drifts)

/* Blocks with a one-step map of their own. */
static void sb_own_steps(sb_run *r, double h) {
  if (!r->program->advance || r->e) return;
  r->arg[4] = &h;
  sb_call(r, r->program->advance, r->t, r->x, r->xm);
  for (long long i = 0; i < r->program->nstepped; i++) {
    long long k = r->program->stepped[i];
    r->xn[k] = r->xm[k];
  }
}

/* Whether a sample lies before a time. */
static int sb_samples_before(const sb_run *r, double t) {
  return r->sample < r->nsamples && r->samples[r->sample] < t;
}

enum { SB_KEPT = 3 }; /* after the stages of sb_enter: its rows are kept */

#include "sb_step.h"

/* Store in xt and `bad` the state and time at which a step of size h failed: its first stage with
   non-finite rates, since all later stages follow from it; else its end. */
static void sb_blame(sb_run *r, double h) {
  long long nx = r->nx, S = r->stages, s = 0;
  while (s < S && sb_finite(r->K + s * nx, nx)) s++;
  if (s == S) {
    memcpy(r->xt, r->xn, (size_t)nx * sizeof(double));
    r->bad = r->t + h;
    return;
  }
  sb_stage(r, s, h);
  r->bad = r->t + r->c[s] * h;
}

/* Note the state and the time at which no step is possible. */
static void sb_fail(sb_run *r, int where, int why, const sb_trial *s) {
  (void)where;
  if (why == SB_NO_END || why == SB_NO_ACCURACY) {
    sb_blame(r, s->h);
    return;
  }
  if (why == SB_NO_SLOPE) { /* no dense output, and no further step */
    memcpy(r->x, r->xn, (size_t)r->nx * sizeof(double));
    r->t = s->until;
  }
  memcpy(r->xt, r->x, (size_t)r->nx * sizeof(double));
  r->bad = r->t;
}

/* Whether a step of length h shows that the run is stiff. */
static int sb_stiff(sb_run *r, double h) {
  if (!r->heeds_stiffness || !sb_tests_stiffness(r->steps, r->stiff)) return 0;
  if (!sb_seems_stiff(sb_at_border(r, h), &r->stiff, &r->calm)) return 0;
  r->stiff_step = h;
  return 1;
}

static int sb_record(sb_run *r, double t, const double *x) {
  long long k = r->sample++;
  double *kept = r->xs + k * r->nx;
  if (r->program->drifts) sb_call(r, r->program->project, t, x, kept);
  else memcpy(kept, x, (size_t)r->nx * sizeof(double));
  memcpy(r->xds + k * r->nd, r->xd, (size_t)r->nd * sizeof(double));
  if (r->nkept) sb_call(r, r->program->kept, t, kept, r->kept + k * r->nkept);
  return sb_finite(r->kept + k * r->nkept, r->nkept) && sb_finite(kept, r->nx);
}

static int sb_evaluate(sb_run *r, double t, const double *x, double *row) {
  const long long width = r->nlooked + r->nx;
  double *states = row + r->nlooked;
  int bad = 0;
  if (r->program->drifts) sb_call(r, r->program->project, t, x, states);
  else memcpy(states, x, (size_t)r->nx * sizeof(double));
  if (r->nlooked) sb_call(r, r->program->looked, t, states, row);
  for (long long j = 0; j < width; j++) bad |= !(fabs(row[j]) < INFINITY); /* several at a time */
  if (!bad) return 1;
  r->bad = t; /* and where, for who asks why */
  if (x != r->xl) memcpy(r->xl, x, (size_t)r->nx * sizeof(double));
  return 0;
}

static const double *sb_off(sb_run *r, const double *x, int way) {
  double *near = r->xl + r->nx;
  for (long long i = 0; i < r->nx; i++) {
    double off = r->atol + r->rtol * fabs(x[i]);
    near[i] = x[i] + ((i >> (2 * way)) % 2 ? -off : off);
  }
  return near;
}

static void sb_state_at(sb_run *r, double t, double *x) {
  if (!r->nx) return;
  if (!r->P && !r->far_slope) { /* the dense output of a segment's last step was not needed yet */
    sb_slope(r, r->t + r->taken, r->xn, r->K + r->stages * r->nx);
    r->far_slope = 1;
  }
  sb_dense(r, r->taken, (t - r->t) / r->taken, x);
}

static void sb_measured(sb_run *r, double t, const double *x, double *v) {
  double *states = r->xl + r->nx;
  if (r->program->drifts) sb_call(r, r->program->project, t, x, states);
  sb_call(r, r->program->measured, t, r->program->drifts ? states : x, v);
}

static const double *sb_held(sb_run *r, long long *count) {
  *count = r->nd;
  return r->xd;
}

static double *sb_room(sb_run *r) { return r->xl; }

/* Keep samples before `until` from the dense output of the step from r->t. */
static int sb_sample_step(sb_run *r, double h, double until) {
  while (r->sample < r->nsamples && r->samples[r->sample] < until) {
    double ts = r->samples[r->sample];
    sb_dense(r, h, (ts - r->t) / h, r->xm);
    if (!sb_record(r, ts, r->xm)) return 0;
  }
  return 1;
}

/* Keep the state at t as the samples up to then. */
static int sb_sample_now(sb_run *r, double t) {
  while (r->sample < r->nsamples && r->samples[r->sample] <= t)
    if (!sb_record(r, t, r->x)) return 0;
  return 1;
}

/* What ends a step: nothing else, a stop, or a crossing. */
enum { SB_PLAIN, SB_STOPPED, SB_CROSSES };

static double sb_near_side(sb_run *r, double h);

/* Write a step from the present state on the tape. */
static void sb_note(sb_run *r, double last, double until, int end) {
  double *row = r->tape->rows + r->tape->count++ * (4 + r->nx + r->nd);
  row[0] = r->t, row[1] = last, row[2] = until, row[3] = end;
  memcpy(row + 4, r->x, (size_t)r->nx * sizeof(double));
  memcpy(row + 4 + r->nx, r->xd, (size_t)r->nd * sizeof(double));
}

/* Keep rows or samples of the step from r->t up to `until`, exclusive. h: of its dense output. */
static int sb_keep_step(sb_run *r, double h, double until, int end) {
  double last = until;
  r->taken = h;
  if (end == SB_STOPPED) last = SB_JUST_BEFORE(until);
  if (end == SB_CROSSES) last = sb_near_side(r, until - r->t);
  if (r->tape) sb_note(r, last, until, end);
  if (!r->log) { /* samples between the sides of a crossing show what holds after it */
    if (!sb_sample_step(r, h, end == SB_CROSSES ? nextafter(last, INFINITY) : until)) return 0;
    if (!r->gauge) return 1;
  }
  if (r->gauge) sb_measure(r, r->gauge, fmax(r->t, r->lo), last);
  if (!r->log || (end == SB_PLAIN && sb_unseen(r->log, r->t, until, r->xn))) return 1;
  return sb_cover(r, r->log, last);
}

/* Keep the state reached where integration restarts: at a stop, or just after a crossing. */
static int sb_keep_state(sb_run *r, int sides, int tick) {
  r->behind = 0;
  return !r->log || sb_anew(r, r->log, r->t, r->x, sides, tick);
}

/* The same at a known event, whose time is rounded. */
static int sb_keep_event(sb_run *r) {
  return !r->log || sb_late(r, r->log, SB_JUST_AFTER(r->t), r->x);
}

static int sb_is_full(const sb_run *r) {
  return (r->log && r->log->rows > r->log->room - 2 * r->log->step_rows - r->log->marks) ||
         (r->gauge && r->gauge->count > r->gauge->room / 2) || (r->tape && r->tape->count >= r->tape->room);
}

/* Whether nothing has crossed at a time of the step just tried. */
static int sb_is_near(sb_run *r, double t) {
  sb_state_at(r, t, r->xm);
  sb_watch(r, t, r->xm, r->f);
  for (long long k = 0; k < r->ncross; k++)
    if (sb_crossed(r->g0[k], r->f[k], r->direction[k])) return 0;
  return 1;
}

/* The latest time before the crossing at r->t + h at which nothing has crossed. A crossing is located
   just on its far side: what is kept of the step ends here, on the near one. A sample as near as that
   decides for itself. */
static double sb_near_side(sb_run *r, double h) {
  double end = r->t + h;
  for (double gap = SB_LOCATED; gap < 0.5 * h; gap *= 8) {
    double near = end - gap;
    if (!sb_is_near(r, near)) continue;
    for (long long k = r->sample; k < r->nsamples && r->samples[k] < end; k++)
      if (r->samples[k] > near && sb_is_near(r, r->samples[k])) near = r->samples[k];
    return near;
  }
  return SB_JUST_BEFORE(end);
}

/* Mark the crossings where the first one has led. Returns whether one of them acts: also a bend to which
   its signal comes back at once, along the rates on its new side. */
static int sb_acts(sb_run *r) {
  int bends, acts = sb_reached(r, 1, &bends);
  if (acts || !bends || !r->nx) return acts;
  sb_changes_from(r, r->gs);
  for (long long k = 0; k < r->ncross; k++)
    if (r->hit[k] && r->kinds[k] == SB_BEND) acts |= !(r->gs[k] * (r->f[k] > 0 ? 1 : -1) > 0);
  if (acts || r->program->project) return acts;
  memcpy(r->K, r->xm, (size_t)r->nx * sizeof(double)); /* the first slope of the next step */
  r->have_slope = 1;
  return 0;
}

/* Whether a mode does not fit just after a stop: a known event, whose time is rounded, may come a
   few units after its stop. Then the run is there, and these crossings are marked. */
static int sb_unfit(sb_run *r, double end) {
  int any = 0;
  sb_take_values(r, 1);
  for (long long k = 0; k < r->ncross; k++) any |= r->hit[k] = r->kinds[k] == SB_MODE && r->g0[k] > 0;
  if (!any || r->lo >= end) return 0;
  if (r->t < r->lo) r->t = r->lo;
  return 1;
}

static int sb_any_due(sb_run *r, int at) {
  int any = 0;
  for (int c = 0; c < r->nclocks; c++) any |= sb_due(r, c);
  return at && any;
}

static void sb_count_ticks(sb_run *r, int due, int bad) {
  (void)due;
  if (bad) r->status = SB_BAD_TICK;
  r->have_slope = 0;
}

static void sb_project(sb_run *r, int where) {
  if (!r->program->project || !r->nx || !where) return;
  sb_call(r, r->program->project, r->t, r->x, r->xm);
  memcpy(r->x, r->xm, (size_t)r->nx * sizeof(double));
}

static void sb_record_step(sb_run *r, sb_trial *s) {
  if (s->failed) r->status = SB_STEP_TOO_SMALL;
  if (!s->taken) return;
  r->steps += r->nx > 0;
  if (sb_stiff(r, s->h) && !s->cut && !s->last) r->status = SB_STIFF;
  if (s->over) sb_try(r, s->h);
  if (sb_keep_step(r, s->h, s->until, s->cut ? SB_CROSSES : s->last ? SB_STOPPED : SB_PLAIN)) return;
  r->status = SB_BAD_SAMPLE;
  s->taken = s->cut = 0;
}

static void sb_cross(sb_run *r, int where, int ticks_follow) {
  (void)where, (void)ticks_follow;
  r->behind = 1;
  r->status = SB_CROSSED;
}

static void sb_hits(sb_run *r, int cut) {
  r->behind = 1;
  if (sb_acts(r)) {
    r->h = 0;
    sb_cross(r, cut, 0);
    return;
  }
  if (r->program->project) {
    sb_project(r, cut);
    sb_take_values(r, 1);
  } else {
    memcpy(r->g0, r->f, (size_t)r->ncross * sizeof(double)); /* those where it has led */
  }
  if (!sb_keep_state(r, 1, 0)) r->status = SB_BAD_SAMPLE;
}

static double sb_next_look(const sb_run *r, double stop) {
  double coarse = r->log ? r->log->coarse : r->gauge ? r->gauge->coarse : INFINITY;
  if (r->sample < r->nsamples && r->samples[r->sample] < stop) return r->samples[r->sample];
  return r->t + coarse < SB_JUST_BEFORE(stop) ? r->t + coarse : stop; /* nearer, it is at the stop */
}

/* Advance from r->t to the stop at `end`. */
static int sb_integrate(sb_run *r, double end) {
  if (!r->resumes) {
    r->lo = SB_JUST_AFTER(r->t);
    r->hi = r->nx ? SB_JUST_BEFORE(end) : nextafter(end, r->t);
    if (r->behind && !sb_keep_state(r, 1, 0)) return SB_BAD_SAMPLE;
    if (r->ncross && sb_unfit(r, end)) {
      r->behind = !r->nx;
      return SB_CROSSED;
    }
  }
  r->resumes = 1; /* the steps do not depend on where a call ends */
  while (r->t < end && r->status == SB_DONE) {
    if (r->budget-- <= 0) return SB_MORE;
    if (sb_is_full(r)) return SB_FULL;
    if (!r->nx && !sb_sample_now(r, r->t)) return SB_BAD_SAMPLE;
    sb_go_on(r, 1, end);
  }
  r->resumes = 0;
  return r->status;
}

/* Compute all kept signals (nkept) of rows kept by lines. Each row, at time t, holds the signals
   looked at, the states, and its discrete states. Returns the number of rows before the first
   that is not finite. */
long long sb_complete(sb_run *r, long long rows, const double *t, const double *row,
                  const double *held, double *out) {
  double *xd = r->xd;
  long long k = 0;
  for (; k < rows; k++) {
    double *kept = out + k * r->nkept;
    memcpy(r->xdn, held + k * r->nd, (size_t)r->nd * sizeof(double));
    r->xd = r->xdn;
    sb_call(r, r->program->kept, t[k], row + k * (r->nlooked + r->nx) + r->nlooked, kept);
    if (!sb_finite(kept, r->nkept)) break;
  }
  r->xd = xd;
  return k;
}

int sb_advance(sb_run *r) {
  r->status = SB_DONE;
  while (1) {
    double at = r->stops[r->stop];
    if (r->entered == SB_COMES && r->t < at) {
      int status = sb_integrate(r, at);
      if (status != SB_DONE) return status;
      sb_project(r, 1);
      r->have_slope = 0; /* knowledge of the far side is discarded */
    } else if (r->entered == SB_COMES && r->ncross) { /* a crossing led here, and its action is done */
      sb_call(r, r->program->cross, nextafter(at, -INFINITY), r->x, r->g0);
    }
    if (r->entered < SB_KEPT) {
      int sides = r->sides[r->stop];
      if (!sb_enter(r, 1, &r->entered)) return r->status;
      r->entered = SB_KEPT;
      if (!sb_keep_state(r, (sides && r->stop) || r->behind, sides == SB_TICK && !r->behind)) return SB_BAD_SAMPLE;
      int last = r->stop + 1 == r->nstops && !r->follow;
      if (sides == SB_SWITCH && !last && !sb_keep_event(r)) return SB_BAD_SAMPLE;
      if (!sb_sample_now(r, at)) return SB_BAD_SAMPLE;
    }
    if (r->stop + 1 >= r->nstops) return SB_DONE;
    r->stop++;
    r->entered = SB_COMES;
    if (!r->nx && r->budget-- <= 0) return SB_MORE;
    if (sb_is_full(r)) return SB_FULL;
  }
}
