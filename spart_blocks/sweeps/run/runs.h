/* Many runs of one program, several at once: each lane of a number is a run by itself.

   Every lane has its own time, step, next stop and crossing; a lane that is done takes the next run
   from the queue. What a lane computes depends on its run alone, so that results are the same
   in one lane, in eight, in a thread of a GPU, and in any order. The step stands in sb_step.h, and
   the loop in sb_advance.h. A run that
   needs more than is here (sliding, another solver, a search for the cause of a failure) is
   handed back: that depends on the run alone too.

   Before this file stand sb_numbers.h, the functions of the program over SB_REAL, and
     SB_NX SB_NXD SB_NP SB_CROSSINGS   numbers of states, discrete states, parameters, crossings
     SB_WIDTH                      numbers that are measured; sb_squared[j], whether distances
                                   take the square of one
     SB_METERS, sb_meters, ...     see meters.h; SB_METER_NUMBERS in all
     SB_BLOCKS                     how many blocks' first events are wanted; sb_block_of[k], that
                                   of a crossing, or -1
     SB_NC                         number of clocks; SB_HANDOVERS(m), SB_HANDOVER_CLOCKS, and the
                                   masks sb_clock_states[c][i], sb_handover_states[k][i]
     SB_PROJECTS SB_DRIFTS(m) SB_REACHES SB_HELD SB_STEPPED, sb_stepped[]
     SB_SWITCHES SB_RESETS         crossings that let blocks switch; EVENTs; sb_first[k],
                                   sb_kind[k], sb_direction[k], and sb_mode_states[k][i]
     SB_STAGES_COUNT, SB_STAGES_IN_ALL, SB_ESTIMATES_COUNT, SB_BORDER_OF_STEPS, sb_a, sb_b, sb_c,
     SB_IS_CONTROLLED, sb_e, SB_ORDER, SB_DENSE, sb_p
     SB_IS_IMPLICIT, SB_ENTRIES(m), ... see implicit_text in writer.py

   In single precision, for one lane alone, times keep double precision, so that stops are met
   exactly, and so do meters; states, rates and signals have the other. */

enum { SB_PENDING = 255, SB_COMPLETE = 0, SB_STOPPED = 1, SB_FAILED = 2, SB_HANDED_BACK = 3 };
enum { SB_NO_STEP = 1, SB_BAD_TICK, SB_BAD_VALUE, SB_IS_STIFF };

#define SB_LOOKED 20000     /* steps between two looks at the progress of a run */
#define SB_NO_CHANGE 1e-6   /* of the change before something acted: none */
#define SB_HALVINGS 5       /* of a panel that is not smooth */
#define SB_SMOOTH 3e-6      /* largest error of a panel between its nodes, relative to a signal's range */

#ifdef SB_SINGLE
#define SB_TIME double
#define SB_ROUNDED 4e-6     /* of a signal's size: what rounding may leave between nodes */
#define SB_PROBED 5e-2      /* part of the longest step over which rates of signals are differenced */
#define SB_SEES_RETURNS 0   /* whether numbers tell what a signal does within SB_AHEAD */
#define SB_BEFORE_START -1e-44 /* a time */
#else
#define SB_TIME SB_REAL
#define SB_ROUNDED 1e-11
#define SB_SEES_RETURNS 1
#define SB_BEFORE_START -5e-324
#endif

/* The runs of a call, and what comes of them. */
typedef struct {
  long long runs;              /* how many */
  const double *x0, *xd0, *p;  /* of each: (runs, SB_NX), ... */
  const double *ticks;         /* times at which clocks tick, in order */
  const unsigned char *due;    /* of each: which clocks (nticks, SB_NC) */
  const double *known;         /* known times at which signals switch */
  const long long *known_from, *known_to; /* where those of each run begin and end */
  const double *samples;       /* times of kept rows */
  long long nticks, nsamples;
  double end, rtol, atol, max_step, fixed_step, coarse;
  int heeds_stiffness;            /* whether a stiff run is handed back */
  unsigned char *status, *reason; /* (runs,) */
  double *t, *x, *xd, *meters, *events, *rows;
  long long *steps;
  const volatile int *stop; /* not zero: leave off */
} sb_work;

#define SB_ROOM(n) ((n) > 0 ? (n) : 1)

#if SB_LANES == 1
#define SB_LANE(value, k) (value)
#define SB_LANE_SET(value, k, to) ((value) = (to))
#define SB_MASK_SET(value, k, to) ((value) = (to) != 0)
#else
#define SB_LANE(value, k) ((value)[k])
#define SB_LANE_SET(value, k, to) ((value)[k] = (to))
#define SB_MASK_SET(value, k, to) ((value)[k] = (to) ? -1 : 0)
#endif

typedef struct {
  SB_TIME t, stop, lo, hi;
  SB_REAL h, x[SB_ROOM(SB_NX)], xn[SB_ROOM(SB_NX)], xt[SB_ROOM(SB_NX)], xm[SB_ROOM(SB_NX)];
  SB_REAL K[(SB_STAGES_IN_ALL + 1) * SB_ROOM(SB_NX)];
#if SB_IS_IMPLICIT
  SB_REAL J[SB_ENTRIES(m) + SB_NX], lu[SB_ENTRIES(m)], row[SB_NX];
#endif
  SB_REAL kept[SB_ROOM(SB_NX)], far[SB_ROOM(SB_NX)];
  SB_REAL xd[SB_ROOM(SB_NXD)], xdn[SB_ROOM(SB_NXD)], xdo[SB_ROOM(SB_NXD)], p[SB_ROOM(SB_NP)];
  SB_REAL g0[SB_ROOM(SB_CROSSINGS)], g1[SB_ROOM(SB_CROSSINGS)], gs[SB_ROOM(SB_CROSSINGS)], g[SB_ROOM(SB_CROSSINGS)];
  SB_REAL v[(SB_NODES + 1) * SB_ROOM(SB_WIDTH)], f[SB_ROOM(SB_NX + SB_NXD)];
  SB_REAL low[SB_ROOM(SB_WIDTH)], high[SB_ROOM(SB_WIDTH)]; /* the range of measured signals */
  SB_REAL limit, longest, gap;
  SB_MASK alive, sloped, within, known; /* within: of sb_watch_modes */
  SB_MASK due[SB_ROOM(SB_NC)], hit[SB_ROOM(SB_CROSSINGS)];
  SB_INDEX crossed, staged;
  int made;
  const sb_work *w;
  long long run[SB_LANES], steps[SB_LANES], tick[SB_LANES], event[SB_LANES], sample[SB_LANES];
  long long looked_steps[SB_LANES], crossings[SB_LANES];
  double looked_at[SB_LANES], crossed_from[SB_LANES], recent[SB_LANES][3];
  int stiff[SB_LANES], calm[SB_LANES];
  double meters[SB_LANES][SB_ROOM(SB_METER_NUMBERS)];
  double events[SB_LANES][SB_ROOM(SB_BLOCKS)];
} sb_crew;

#define SB_SELF sb_crew
#define SB_N(m) SB_NX
#define SB_STAGES_OF(m) SB_STAGES_COUNT
#if SB_STAGES_IN_ALL > SB_STAGES_COUNT
#define SB_ALL_STAGES(m) SB_STAGES_IN_ALL
#define SB_MADE(m) ((m)->made)
#endif
#define SB_T(m) ((m)->t)
#define SB_X(m) ((m)->x)
#define SB_XN(m) ((m)->xn)
#define SB_XT(m) ((m)->xt)
#define SB_XM(m) ((m)->xm)
#define SB_K(m) ((m)->K)
#define SB_A(m) sb_a
#define SB_B(m) sb_b
#define SB_C(m) sb_c
#if SB_IS_IMPLICIT
#define SB_LINEARISES
#define SB_J(m) ((m)->J)
#define SB_LU(m) ((m)->lu)
#define SB_ROW(m) ((m)->row)
#endif
#define SB_CONTROLS
#define SB_CONTROLLED(m) SB_IS_CONTROLLED
#define SB_E(m) sb_e
#define SB_ESTIMATES(m) SB_ESTIMATES_COUNT
#define SB_EXPONENT(m) (-1.0 / SB_ORDER)
#define SB_H(m) ((m)->h)
#define SB_ERROR_OF(m, size) ((m)->w->atol + (m)->w->rtol * (size))
#define SB_BOUNDS
#define SB_LONGEST(m) ((m)->longest)
#define SB_STEP_LIMIT(m) ((m)->limit)
#define SB_LOCATES
#define SB_RECORDS
#define SB_ADVANCES
#define SB_LOOPS
#define SB_GOES(m) ((m)->alive)
#define SB_XD(m) ((m)->xd)
#define SB_BEFORE_TICKS(m) ((m)->xdo)
#define SB_AFTER_TICKS(m) ((m)->xdn)
#define SB_SLOPED(m) ((m)->sloped)
#define SB_LAST_SEEN(m) ((m)->hi)
#define SB_SHORTEST(t) (2.3e-15 * (t) + 5e-323) /* ten units in the last place, at zero too */
#define SB_NEEDS_SLOPE(m, s) 1
#if SB_IS_CONTROLLED && SB_NX && !SB_IS_IMPLICIT
#define SB_SEES_STIFFNESS
#define SB_BORDER(m) SB_BORDER_OF_STEPS
#endif
#if SB_CROSSINGS
#define SB_MARKS
#define SB_HIT(m) ((m)->hit)
#define SB_BEGUN(m) ((m)->stop > 0)
#endif
#if SB_CROSSINGS
#define SB_ACTS_IN_C
#define SB_ENDED(m) SB_NOT((m)->alive == (m)->alive)
#define SB_SHORTEST_FLIGHT(m) SB_OF(SB_FLIGHT)
#endif
#if SB_CROSSINGS && SB_RESETS
#define SB_MEETS_RESETS
#endif
#if SB_IS_CONTROLLED && SB_NX && SB_CROSSINGS && SB_SEES_RETURNS
#define SB_HOLDS_OFF
#endif
#define SB_KIND(m, k) sb_kind[k]
#define SB_DIRECTION(m, k) sb_direction[k]
#define SB_G0(m) ((m)->g0)
#define SB_G1(m) ((m)->g1)
#define SB_GS(m) ((m)->gs)
#define SB_G(m) ((m)->g)
#define SB_CROSSED(m) ((m)->crossed)
#define SB_STAGED(m) ((m)->staged)
#define SB_GAP(m) ((m)->gap)
#define SB_P(m) sb_p
#define SB_DENSE_ORDER(m) SB_DENSE
#define SB_ND(m) SB_NXD
#define SB_CLOCKS(m) SB_NC
#define SB_HANDOVER_CLOCK(m, k) SB_HANDOVER_CLOCKS[k]
#define SB_FIRST(k) sb_first[k]
#ifndef __CUDACC__ /* whose registers it would take */
#define SB_FIXED
#endif

/* --- the program ---------------------------------------------------------------------------- */

/* A time within the segment, in the precision of states: rounded, it stays within. */
SB_FUNCTION SB_REAL sb_inside(const sb_crew *m, SB_TIME t) {
#ifdef SB_SINGLE
  SB_REAL near = (SB_REAL)t;
  if (near > m->hi) return SB_MATH(nextafter)(near, -(SB_REAL)INFINITY);
  return near < m->lo ? SB_MATH(nextafter)(near, (SB_REAL)INFINITY) : near;
#else
  (void)m;
  return t;
#endif
}

SB_FUNCTION SB_REAL sb_seen(const sb_crew *m, SB_TIME t) {
  return sb_inside(m, SB_SELECT(t < m->lo, m->lo, SB_SELECT(t > m->hi, m->hi, t)));
}

SB_FUNCTION void sb_slope(sb_crew *m, SB_TIME t, const SB_REAL *x, SB_REAL *out) {
#if SB_HELD
  program_rates(sb_seen(m, t), x, m->xd, m->p, m->x, out); /* limits act by the step's start */
#else
  program_rates(sb_seen(m, t), x, m->xd, m->p, out);
#endif
}

#if SB_IS_IMPLICIT
SB_FUNCTION void sb_derivatives(sb_crew *m, SB_TIME t, const SB_REAL *x, SB_REAL *out) {
#if SB_HELD
  program_linearised(sb_seen(m, t), x, m->xd, m->p, m->x, out);
#else
  program_linearised(sb_seen(m, t), x, m->xd, m->p, out);
#endif
}
#endif

SB_FUNCTION void sb_own_steps(sb_crew *m, SB_REAL h) {
#if SB_STEPPED
  program_advance(m->t, m->x, m->xd, m->p, h, m->far);
  for (int i = 0; i < SB_STEPPED; i++) m->xn[sb_stepped[i]] = m->far[sb_stepped[i]];
#else
  (void)m, (void)h;
#endif
}

SB_FUNCTION SB_REAL sb_reach(sb_crew *m) {
#if SB_REACHES
  SB_REAL longest[1];
  program_reach(m->t, m->x, m->xd, m->p, longest);
  return longest[0];
#else
  return SB_OF((double)INFINITY);
#endif
}

SB_FUNCTION void sb_watch(sb_crew *m, SB_TIME t, const SB_REAL *x, SB_REAL *out) {
#if SB_CROSSINGS
  program_cross(sb_inside(m, t), x, m->xd, m->p, out);
#else
  (void)m, (void)t, (void)x, (void)out;
#endif
}

#if SB_CROSSINGS
SB_FUNCTION void sb_watch_now(sb_crew *m, SB_REAL *out) {
  program_cross(m->t, m->x, m->xd, m->p, out);
}
#endif

#ifdef SB_MEETS_RESETS
SB_FUNCTION void sb_field(sb_crew *m, SB_TIME t, const SB_REAL *x, const SB_REAL *xd, SB_REAL *out) {
#if SB_HELD
  program_rates(sb_seen(m, t), x, xd, m->p, x, out);
#else
  program_rates(sb_seen(m, t), x, xd, m->p, out);
#endif
}

SB_FUNCTION void sb_signals(sb_crew *m, SB_TIME t, const SB_REAL *x, const SB_REAL *xd, SB_REAL *out) {
  program_cross(t, x, xd, m->p, out);
}
#endif

#if SB_NC
#define SB_HAS_CLOCKS
SB_FUNCTION int sb_due(const sb_crew *m, int clock) { return SB_ANY(m->due[clock]) != 0; }

SB_FUNCTION void sb_hand_over(sb_crew *m, int k, const SB_REAL *before, SB_REAL *xd) {
#if SB_HANDOVERS(m)
  SB_MASK due = m->due[SB_HANDOVER_CLOCKS[k]];
  sb_handed_over(k, m->t, m->x, before, m->p, m->f);
  for (int i = 0; i < SB_NXD; i++)
    if (sb_handover_states[k][i]) xd[i] = SB_SELECT(due, m->f[i], xd[i]);
#else
  (void)m, (void)k, (void)before, (void)xd;
#endif
}

SB_FUNCTION void sb_tick_clock(sb_crew *m, int c, SB_REAL *before, SB_REAL *xd) {
  SB_MASK due = m->due[c];
  sb_moved(c, m->t, m->x, before, m->p, m->f);
  for (int i = 0; i < SB_NXD; i++)
    if (sb_clock_states[c][i]) xd[i] = SB_SELECT(due, m->f[i], xd[i]);
}
#endif

#if SB_SWITCHES
SB_FUNCTION void sb_watch_modes(sb_crew *m, SB_TIME t, SB_REAL *x, SB_REAL *xd, SB_REAL *g) {
  program_cross(t, x, xd, m->p, g);
  for (int k = 0; k < SB_CROSSINGS; k++) g[k] = SB_SELECT(m->within, g[k], SB_OF(-1));
}

SB_FUNCTION void sb_happened(sb_crew *m, int k, SB_MASK where);

SB_FUNCTION void sb_switch(sb_crew *m, SB_TIME t, int k, SB_MASK where, SB_REAL *x, SB_REAL *xd) {
  program_switched(t, x, xd, m->p, m->far);
  for (int i = 0; i < SB_NX; i++)
    if (sb_mode_states[k][i]) x[i] = SB_SELECT(where, m->far[i], x[i]);
  sb_happened(m, k, where);
}
#endif

#define SB_NG(m) SB_CROSSINGS
#include "sb_step.h"

SB_FUNCTION void sb_project(sb_crew *m, SB_MASK where) {
#if SB_PROJECTS
  program_project(m->t, m->x, m->xd, m->p, m->far);
  for (int i = 0; i < SB_NX; i++) m->x[i] = SB_SELECT(where, m->far[i], m->x[i]);
#else
  (void)m, (void)where;
#endif
}

/* --- lanes and their runs --------------------------------------------------------------------- */

SB_FUNCTION double sb_next_stop(const sb_crew *m, int k) {
  const sb_work *w = m->w;
  double at = w->end;
  if (m->tick[k] < w->nticks && w->ticks[m->tick[k]] < at) at = w->ticks[m->tick[k]];
  if (m->event[k] < w->known_to[m->run[k]] && w->known[m->event[k]] < at)
    at = w->known[m->event[k]];
  return at;
}

/* Just after or before a time t >= 0: by 8 to 16 units in the last place. */
SB_FUNCTION double sb_just(double t, int way) { return t + way * (1.7763568394002505e-15 * t + 4e-323); }

/* A segment begins in lane k: rates look no further than just inside its stops. */
SB_FUNCTION void sb_bound(sb_crew *m, int k) {
  SB_LANE_SET(m->lo, k, sb_just(SB_LANE(m->t, k), 1));
  SB_LANE_SET(m->hi, k, sb_just(SB_LANE(m->stop, k), -1));
}

/* Put a run into lane k. */
SB_FUNCTION void sb_load(sb_crew *m, int k, long long run) {
  const sb_work *w = m->w;
  m->run[k] = run;
  for (int i = 0; i < SB_NX; i++) SB_LANE_SET(m->x[i], k, w->x0[run * SB_NX + i]);
  for (int i = 0; i < SB_NXD; i++) SB_LANE_SET(m->xd[i], k, w->xd0[run * SB_NXD + i]);
  for (int i = 0; i < SB_NP; i++) SB_LANE_SET(m->p[i], k, w->p[run * SB_NP + i]);
  SB_LANE_SET(m->t, k, 0.0);
  SB_LANE_SET(m->h, k, 0.0);
  SB_LANE_SET(m->stop, k, 0.0);
  SB_LANE_SET(m->limit, k, (double)INFINITY);
  SB_LANE_SET(m->gap, k, 0.0);
  SB_LANE_SET(m->lo, k, -(double)INFINITY);
  SB_LANE_SET(m->hi, k, (double)INFINITY);
  SB_MASK_SET(m->alive, k, 1);
  SB_MASK_SET(m->sloped, k, 0);
  SB_LANE_SET(m->staged, k, 0);
  m->steps[k] = m->tick[k] = m->sample[k] = m->looked_steps[k] = m->crossings[k] = 0;
  m->event[k] = w->known_from[run];
  m->looked_at[k] = m->crossed_from[k] = 0;
  m->recent[k][0] = m->recent[k][1] = m->recent[k][2] = -1;
  m->stiff[k] = m->calm[k] = 0;
  for (int j = 0; j < SB_WIDTH; j++) {
    SB_LANE_SET(m->low[j], k, (double)INFINITY);
    SB_LANE_SET(m->high[j], k, -(double)INFINITY);
  }
  for (int j = 0; j < SB_BLOCKS; j++) m->events[k][j] = NAN;
#if SB_METERS
  sb_meters_begin(m->meters[k]);
#endif
}

/* Keep the state x at a sample's time in lane k. */
SB_FUNCTION void sb_keep_row(sb_crew *m, int k, const SB_REAL *x) {
  const sb_work *w = m->w;
  double *row = w->rows + (m->run[k] * w->nsamples + m->sample[k]++) * (SB_NX + SB_NXD);
  for (int i = 0; i < SB_NX; i++) row[i] = SB_LANE(x[i], k);
  for (int i = 0; i < SB_NXD; i++) row[SB_NX + i] = SB_LANE(m->xd[i], k);
}

/* The run of lane k is over. */
SB_FUNCTION void sb_over(sb_crew *m, int k, int status, int reason) {
  const sb_work *w = m->w;
  long long run = m->run[k];
  if (status == SB_STOPPED && m->sample[k] < w->nsamples &&
      w->samples[m->sample[k]] == SB_LANE(m->t, k))
    sb_keep_row(m, k, m->x);
#if SB_METERS && SB_WIDTH
  if (status == SB_COMPLETE || status == SB_STOPPED) { /* what the run ends with */
    double y[SB_NODES * SB_WIDTH], t = SB_LANE(m->t, k);
    program_measured(m->t, m->x, m->xd, m->p, m->v);
    for (int i = 0; i < SB_NODES * SB_WIDTH; i++) y[i] = SB_LANE(m->v[i % SB_WIDTH], k);
    sb_meters_take(m->meters[k], t, t, y);
  }
#endif
  w->t[run] = SB_LANE(m->t, k);
  w->steps[run] = m->steps[k];
  for (int i = 0; i < SB_NX; i++) w->x[run * SB_NX + i] = SB_LANE(m->x[i], k);
  for (int i = 0; i < SB_NXD; i++) w->xd[run * SB_NXD + i] = SB_LANE(m->xd[i], k);
  for (int i = 0; i < SB_METER_NUMBERS; i++)
    w->meters[run * SB_METER_NUMBERS + i] = m->meters[k][i];
  for (int i = 0; i < SB_BLOCKS; i++) w->events[run * SB_BLOCKS + i] = m->events[k][i];
  w->reason[run] = (unsigned char)reason;
  w->status[run] = (unsigned char)status;
  SB_MASK_SET(m->alive, k, 0);
}

SB_FUNCTION void sb_over_where(sb_crew *m, SB_MASK where, int status, int reason) {
  where = where & m->alive;
  if (!SB_ANY(where)) return;
  for (int k = 0; k < SB_LANES; k++)
    if (SB_LANE(where, k)) sb_over(m, k, status, reason);
}

/* The first event of the block of crossing j. */
SB_FUNCTION void sb_happened(sb_crew *m, int j, SB_MASK where) {
#if SB_BLOCKS
  int block = sb_block_of[j];
  if (block < 0) return;
  for (int k = 0; k < SB_LANES; k++)
    if (SB_LANE(where, k) && m->events[k][block] != m->events[k][block])
      m->events[k][block] = SB_LANE(m->t, k);
#else
  (void)m, (void)j, (void)where;
#endif
}

/* --- what a crossing does ----------------------------------------------------------------------- */

#if SB_CROSSINGS

#if SB_RESETS

SB_FUNCTION SB_REAL sb_span(const sb_crew *m) {
  return SB_PROBED * SB_MIN(SB_OF(m->w->max_step), m->w->end - m->t);
}

SB_FUNCTION void sb_bounced(sb_crew *m, int k, SB_MASK turned, SB_MASK rests, const SB_REAL *x,
                            sb_motion before, SB_REAL flight) {
  (void)k, (void)turned, (void)x, (void)before, (void)flight;
  sb_over_where(m, rests, SB_HANDED_BACK, 0);
}

#endif

/* Too many crossings, or three switches at once: who looks for the cause is the general engine. */
SB_FUNCTION void sb_count_crossings(sb_crew *m, SB_MASK where) {
  for (int k = 0; k < SB_LANES; k++) {
    double t = SB_LANE(m->t, k), *recent = m->recent[k];
    int many, switched = 0;
    if (!SB_LANE(where, k)) continue;
    for (int j = 0; j < SB_CROSSINGS; j++) switched |= sb_kind[j] == SB_MODE && SB_LANE(m->hit[j], k);
    recent[0] = recent[1], recent[1] = recent[2], recent[2] = t;
    many = sb_chatters(t, m->w->end, &m->crossed_from[k], &m->crossings[k]);
    if (many || (switched && recent[0] >= 0 && t - recent[0] < SB_RAPID))
      sb_over(m, k, SB_HANDED_BACK, 0);
  }
}

SB_FUNCTION void sb_stop(sb_crew *m, int k, SB_MASK where) { sb_happened(m, k, where); }

SB_FUNCTION void sb_fault(sb_crew *m, int k, SB_MASK where) {
  (void)k;
  sb_over_where(m, where, SB_HANDED_BACK, 0);
}

#if SB_RESETS
SB_FUNCTION SB_MASK sb_reset(sb_crew *m, int k, SB_MASK where) {
  sb_happened(m, k, where);
  sb_reset_by(k, m->t, m->x, m->xd, m->p, m->f);
  for (int i = 0; i < SB_NX; i++) m->x[i] = SB_SELECT(where, m->f[i], m->x[i]);
  for (int i = 0; i < SB_NXD; i++) m->xd[i] = SB_SELECT(where, m->f[SB_NX + i], m->xd[i]);
  return where;
}
#endif

SB_FUNCTION void sb_settle(sb_crew *m, SB_MASK where, SB_REAL *x, SB_REAL *xd) {
#if SB_SWITCHES
  SB_MASK still = {0};
  m->within = where;
  if (sb_switched(m, m->t, x, xd, m->g) >= 0) return;
  sb_watch_modes(m, m->t, x, xd, m->g);
  for (int j = 0; j < SB_CROSSINGS; j++) /* those that still switch */
    if (sb_kind[j] == SB_MODE) still = still | (m->g[j] > 0);
  sb_over_where(m, still, SB_HANDED_BACK, 0);
#else
  (void)m, (void)where, (void)x, (void)xd;
#endif
}

SB_FUNCTION void sb_acted(sb_crew *m, SB_MASK where, SB_MASK ends) {
  sb_over_where(m, ends & where, SB_STOPPED, 0);
}

/* The crossings that act where the first one has led, into m->hit: it and those that coincide
   with it. A bend to which its signal comes back at once, after what acts, is for the general
   engine. */
SB_FUNCTION void sb_hits(sb_crew *m, SB_MASK where) {
  SB_MASK bends, acts = sb_reached(m, where, &bends), back = {0}, hit[SB_ROOM(SB_CROSSINGS)];
  SB_REAL before[SB_ROOM(SB_CROSSINGS)] = {0}, after[SB_ROOM(SB_CROSSINGS)];
  int look;
  for (int j = 0; j < SB_CROSSINGS; j++) hit[j] = m->hit[j];
  look = SB_NX && SB_SEES_RETURNS && SB_ANY(bends);
  if (look && SB_ANY(acts)) sb_changes(m, before);
  if (SB_ANY(acts)) sb_cross(m, acts, 0);
  m->h = SB_SELECT(acts, SB_OF(0), m->h);
  if (look) {
    sb_changes(m, after);
    for (int j = 0; j < SB_CROSSINGS; j++) {
      SB_REAL away = SB_SELECT(m->g[j] > 0, after[j], -after[j]);
      SB_MASK none = acts & (SB_ABS(after[j]) <= SB_NO_CHANGE * SB_ABS(before[j])); /* no effect now */
      if (sb_kind[j] == SB_BEND) back = back | (hit[j] & SB_NOT(away > 0) & SB_NOT(none));
    }
    sb_over_where(m, back & m->alive, SB_HANDED_BACK, 0);
  }
  sb_project(m, where & SB_NOT(acts));
  where = where & m->alive;
  for (int k = 0; k < SB_LANES; k++)
    if (SB_LANE(where, k)) sb_bound(m, k);
  sb_take_values(m, where);
}

#endif

/* --- stops --------------------------------------------------------------------------------------- */

#if SB_NC

/* Mark the clocks due in the lanes that have got to a stop. */
SB_FUNCTION void sb_take_due(sb_crew *m, SB_MASK at) {
  const sb_work *w = m->w;
  for (int c = 0; c < SB_NC; c++) m->due[c] = SB_NOT(at == at);
  for (int k = 0; k < SB_LANES; k++)
    if (SB_LANE(at, k) && m->tick[k] < w->nticks && w->ticks[m->tick[k]] == SB_LANE(m->stop, k)) {
      for (int c = 0; c < SB_NC; c++)
        SB_MASK_SET(m->due[c], k, w->due[m->tick[k] * SB_NC + c]);
      m->tick[k]++;
    }
}

SB_FUNCTION SB_MASK sb_any_due(sb_crew *m, SB_MASK at) {
  SB_MASK any = m->due[0];
  for (int c = 1; c < SB_NC; c++) any = any | m->due[c];
  return any & at;
}

SB_FUNCTION void sb_count_ticks(sb_crew *m, SB_MASK due, SB_MASK bad) {
  (void)due;
  sb_over_where(m, bad, SB_FAILED, SB_BAD_TICK);
}

#endif

/* Enter the stops at which some lanes are, and keep the samples there; then go on to the next. */
SB_FUNCTION void sb_stop_at(sb_crew *m, SB_MASK at) {
  const sb_work *w = m->w;
  int stage = SB_COMES;
#if SB_NC
  sb_take_due(m, at);
#endif
  m->sloped = m->sloped & SB_NOT(at);
  at = sb_enter(m, at, &stage);
  for (int k = 0; k < SB_LANES; k++) {
    double now = SB_LANE(m->stop, k);
    if (!SB_LANE(at, k)) continue;
    while (m->event[k] < w->known_to[m->run[k]] && w->known[m->event[k]] <= now) m->event[k]++;
    while (m->sample[k] < w->nsamples && w->samples[m->sample[k]] <= now) sb_keep_row(m, k, m->x);
    if (now >= w->end) {
      sb_over(m, k, SB_COMPLETE, 0);
      continue;
    }
    SB_LANE_SET(m->stop, k, sb_next_stop(m, k));
    sb_bound(m, k);
  }
#if SB_CROSSINGS
  sb_take_values(m, at & m->alive);
#endif
}

/* --- what is measured and kept of a step ---------------------------------------------------------- */

/* The state at t + theta h of the step just done, into m->kept. */
SB_FUNCTION void sb_state_within(sb_crew *m, SB_REAL h, SB_REAL theta) {
  sb_dense(m, h, theta, m->kept);
#if SB_DRIFTS(m)
  program_project(m->t + theta * h, m->kept, m->xd, m->p, m->far);
  for (int i = 0; i < SB_NX; i++) m->kept[i] = m->far[i];
#endif
}

#if SB_WIDTH

/* A part of a step that is measured, in panels: equal ones, each of them halved where it is not
   smooth. count: how many; index: of how many before this one; part, of pieces: of a halved one. */
typedef struct {
  SB_TIME from, span, until, a, b;
  SB_REAL count, index, part, pieces;
} sb_panels;

/* The ends of the panels that are next. */
SB_FUNCTION void sb_next_panels(sb_panels *p) {
  SB_REAL low = (p->index + p->part / p->pieces) / p->count;
  SB_REAL high = (p->index + (p->part + 1) / p->pieces) / p->count;
  p->a = p->from + p->span * low;
  p->b = SB_SELECT(high >= 1, p->until, p->from + p->span * high);
}

/* Go on where a mask says so; returns where more is left. */
SB_FUNCTION SB_MASK sb_past_panels(sb_panels *p, SB_MASK where) {
  p->part = SB_SELECT(where, p->part + 1, p->part);
  for (int n = 0; n < SB_HALVINGS; n++) { /* both halves are done */
    SB_REAL half = 0.5 * p->part;
    SB_MASK done = where & (p->pieces > 1) & (sb_floor(half) == half);
    if (!SB_ANY(done)) break;
    p->part = SB_SELECT(done, half, p->part);
    p->pieces = SB_SELECT(done, 0.5 * p->pieces, p->pieces);
  }
  where = where & (p->pieces == 1);
  p->index = SB_SELECT(where, p->index + p->part, p->index);
  p->part = SB_SELECT(where, SB_OF(0), p->part);
  return p->index < p->count;
}

/* The values of what is measured at a fraction of the panels, into `to`. */
SB_FUNCTION void sb_values(sb_crew *m, SB_REAL h, SB_TIME t, SB_REAL *to) {
  SB_REAL theta = SB_SELECT(h > 0, (t - m->t) / SB_SELECT(h > 0, h, SB_OF(1)), SB_OF(0));
  sb_state_within(m, h, theta);
  program_measured(sb_inside(m, t), m->kept, m->xd, m->p, to);
}

/* Where the panels at m->v are rough: the polynomial through the nodes misses a value between them,
   or its square is not of fourth degree but for rounding, where that is measured. Notes the range of
   the signals. bad: where a value is not finite. */
SB_FUNCTION SB_MASK sb_rough(sb_crew *m, SB_MASK open, SB_MASK *bad) {
  SB_MASK rough = SB_NOT(open == open);
  SB_REAL sum = SB_OF(0);
  for (int j = 0; j < SB_WIDTH; j++) {
    SB_REAL low = m->low[j], high = m->high[j], size;
    SB_REAL missed = -m->v[SB_NODES * SB_WIDTH + j], fourth = SB_OF(0), slack;
    for (int n = 0; n < SB_NODES; n++) {
      SB_REAL y = m->v[n * SB_WIDTH + j];
      sum = sum + (y - y);
      low = SB_SELECT(y < low, y, low);
      high = SB_SELECT(y > high, y, high);
      missed = missed + SB_THERE[n] * y;
      fourth = fourth + SB_FOURTH[n] * y;
    }
    sum = sum + (missed - missed);
    m->low[j] = low = SB_SELECT(open, low, m->low[j]);
    m->high[j] = high = SB_SELECT(open, high, m->high[j]);
    size = SB_SELECT(SB_ABS(low) > SB_ABS(high), SB_ABS(low), SB_ABS(high));
    slack = SB_SMOOTH * (high - low) + SB_ROUNDED * size + 1e-14;
    rough = rough | (SB_ABS(missed) > slack);
    if (sb_squared[j]) rough = rough | (SB_ABS(fourth) > slack);
  }
  *bad = open & SB_NOT(sum == 0);
  return rough & open & (sum == 0);
}

/* Measure the step of length h, from `from` to `until` (times), where a mask says so. */
SB_FUNCTION void sb_measure(sb_crew *m, SB_MASK where, SB_REAL h, SB_TIME from, SB_TIME until) {
  SB_MASK open = where & (until > from), taken = open, bad;
  SB_REAL zero = SB_OF(0), one = SB_OF(1);
  sb_panels p;
  int follows = 0;
  p.from = from, p.until = until, p.span = until - from;
  p.count = SB_MAX(one, SB_CEIL(p.span / m->w->coarse - 1e-9));
  p.index = p.part = zero, p.pieces = one;
  while (SB_ANY(open)) {
    sb_next_panels(&p);
    if (follows) /* a panel begins with the values at the end of the one before */
      for (int j = 0; j < SB_WIDTH; j++)
        m->v[j] = SB_SELECT(taken, m->v[(SB_NODES - 1) * SB_WIDTH + j], m->v[j]);
    for (int n = follows; n < SB_NODES - 1; n++)
      sb_values(m, h, p.a + SB_NODE[n] * (p.b - p.a), m->v + n * SB_WIDTH);
    sb_values(m, h, p.a + SB_BETWEEN * (p.b - p.a), m->v + SB_NODES * SB_WIDTH);
    sb_values(m, h, p.b, m->v + (SB_NODES - 1) * SB_WIDTH);
    follows = 1;
    taken = sb_rough(m, open, &bad) & (p.pieces < (1 << SB_HALVINGS)) & (p.a < 0.5 * (p.a + p.b));
    p.part = SB_SELECT(taken, 2 * p.part, p.part);
    p.pieces = SB_SELECT(taken, 2 * p.pieces, p.pieces);
    taken = open & SB_NOT(taken) & SB_NOT(bad);
    sb_over_where(m, bad, SB_FAILED, SB_BAD_VALUE);
    for (int k = 0; k < SB_LANES; k++) {
      double y[SB_NODES * SB_WIDTH], low = SB_LANE(p.a, k), high = SB_LANE(p.b, k);
      if (!SB_LANE(taken, k) || !(high > low)) continue;
      for (int i = 0; i < SB_NODES * SB_WIDTH; i++) y[i] = SB_LANE(m->v[i], k);
      sb_meters_take(m->meters[k], low, high, y);
    }
    open = open & SB_NOT(bad) & (sb_past_panels(&p, taken) | SB_NOT(taken));
  }
}

#endif

/* Keep the samples of the step of length h before `until`, where a mask says so. */
SB_FUNCTION void sb_sample(sb_crew *m, SB_MASK where, SB_REAL h, SB_TIME until) {
  const sb_work *w = m->w;
  while (w->nsamples) {
    SB_REAL theta = SB_OF(0);
    SB_MASK open = SB_NOT(where == where);
    for (int k = 0; k < SB_LANES; k++) {
      double at;
      if (!SB_LANE(where, k) || m->sample[k] >= w->nsamples) continue;
      at = w->samples[m->sample[k]];
      if (!(at < SB_LANE(until, k))) continue;
      SB_MASK_SET(open, k, 1);
      SB_LANE_SET(theta, k, (at - SB_LANE(m->t, k)) / SB_LANE(h, k));
    }
    if (!SB_ANY(open)) return;
    sb_state_within(m, h, theta);
    for (int k = 0; k < SB_LANES; k++)
      if (SB_LANE(open, k)) sb_keep_row(m, k, m->kept);
  }
}

/* --- a step ---------------------------------------------------------------------------------------- */

#ifdef SB_SEES_STIFFNESS

/* Hand back the runs that are stiff, where an implicit method is cheaper. */
SB_FUNCTION void sb_look_for_stiffness(sb_crew *m, SB_MASK done, SB_REAL h) {
  SB_MASK border;
  int any = 0;
  for (int k = 0; k < SB_LANES; k++)
    any |= SB_LANE(done, k) && sb_tests_stiffness(m->steps[k], m->stiff[k]);
  if (!any) return;
  border = sb_at_border(m, h);
  for (int k = 0; k < SB_LANES; k++) {
    double left;
    if (!SB_LANE(done, k) || !sb_tests_stiffness(m->steps[k], m->stiff[k])) continue;
    if (!sb_seems_stiff(SB_LANE(border, k) != 0, &m->stiff[k], &m->calm[k])) continue;
    left = (double)(m->w->nticks - m->tick[k] + m->w->known_to[m->run[k]] - m->event[k]);
    if ((m->w->end - SB_LANE(m->t, k)) / SB_LANE(h, k) >= SB_COMPILED + SB_DEARER * left)
      sb_over(m, k, SB_HANDED_BACK, SB_IS_STIFF);
  }
}

#endif

/* Whether lane k makes no progress. */
SB_FUNCTION void sb_look_at_progress(sb_crew *m) {
  for (int k = 0; k < SB_LANES; k++) {
    double t = SB_LANE(m->t, k);
    if (!SB_LANE(m->alive, k)) continue;
    if (m->steps[k] - m->looked_steps[k] < SB_LOOKED) continue;
    if (SB_IS_CONTROLLED && t - m->looked_at[k] < SB_SLOW * SB_LOOKED * m->w->end)
      sb_over(m, k, SB_HANDED_BACK, 0);
    m->looked_steps[k] = m->steps[k];
    m->looked_at[k] = t;
  }
}

SB_FUNCTION void sb_fail(sb_crew *m, SB_MASK where, int why, const sb_trial *s) {
  (void)why, (void)s;
  sb_over_where(m, where, SB_FAILED, SB_NO_STEP);
}

/* The lanes of the step s that still have a run. */
SB_FUNCTION void sb_alive_of(const sb_crew *m, sb_trial *s) {
  s->taken = s->taken & m->alive;
  s->cut = s->cut & m->alive;
}

SB_FUNCTION void sb_record_step(sb_crew *m, sb_trial *s) {
#if SB_WIDTH
  SB_MASK plain;
  SB_TIME to = s->until;
#endif
  for (int k = 0; k < SB_LANES; k++) m->steps[k] += SB_NX && SB_LANE(s->taken, k);
#ifdef SB_SEES_STIFFNESS
  if (m->w->heeds_stiffness) {
    sb_look_for_stiffness(m, s->taken, s->h);
    sb_alive_of(m, s);
  }
#endif
#if SB_WIDTH
  plain = SB_NOT(s->cut) & SB_NOT(s->last);
  for (int k = 0; k < SB_LANES; k++)
    if (SB_LANE(s->taken, k) && !SB_LANE(plain, k))
      SB_LANE_SET(to, k, sb_just(SB_LANE(s->until, k), -1));
#if SB_CROSSINGS
  /* A crossing is located just on its far side. */
  to = SB_SELECT(s->cut & (to > s->until - SB_LOCATED), s->until - SB_LOCATED, to);
#endif
  sb_measure(m, s->taken, s->h, SB_SELECT(m->t < m->lo, m->lo, m->t), to);
  sb_alive_of(m, s);
#endif
  if (m->w->nsamples) sb_sample(m, s->taken, s->h, s->until);
}

#ifdef __CUDACC__
#define SB_TAKE(next) ((long long)atomicAdd((unsigned long long *)(next), 1ULL))
#else
#define SB_TAKE(next) __atomic_fetch_add(next, 1, __ATOMIC_RELAXED)
#endif

/* Put the next runs from the queue into lanes that have none. */
SB_FUNCTION void sb_refill(sb_crew *m, const long long *last, long long *next) {
  SB_MASK fresh = SB_NOT(m->alive == m->alive);
  int any = 0;
  for (int k = 0; k < SB_LANES; k++) {
    long long run;
    if (SB_LANE(m->alive, k)) continue;
    run = SB_TAKE(next);
    if (run >= *last) continue;
    sb_load(m, k, run);
    SB_MASK_SET(fresh, k, 1);
    any = 1;
  }
  if (!any) return;
  sb_project(m, fresh);
#if SB_CROSSINGS
  program_cross(SB_OF(SB_BEFORE_START), m->x, m->xd, m->p, m->g);
  for (int j = 0; j < SB_CROSSINGS; j++) m->g0[j] = SB_SELECT(fresh, m->g[j], m->g0[j]);
#endif
  m->longest = SB_OF(SB_IS_CONTROLLED ? m->w->max_step : m->w->fixed_step);
  sb_stop_at(m, fresh);
}

/* All runs of the queue, from *next up to *last. */
SB_FUNCTION void sb_go_through(sb_crew *m, const sb_work *w, const long long *last,
                               long long *next) {
  m->w = w;
  m->alive = SB_NOT(m->t == m->t) & SB_NOT(m->t != m->t);
  for (;;) {
    SB_MASK at;
    if (*w->stop) return;
    if (SB_ANY(SB_NOT(m->alive))) {
      if (*(volatile const long long *)next < *last) sb_refill(m, last, next);
      else if (!SB_ANY(m->alive)) return;
      if (!SB_ANY(m->alive)) continue;
    }
    at = m->alive & (m->t >= m->stop);
    if (SB_ANY(at)) {
      sb_project(m, at);
      sb_stop_at(m, at);
      continue;
    }
    sb_go_on(m, m->alive, m->stop);
    sb_look_at_progress(m);
  }
}
