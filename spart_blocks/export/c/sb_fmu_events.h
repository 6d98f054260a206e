/* The events of an instance: clocks, known switching times, crossings.

   Ticks are at offset + k T, counted in integers. Between two events, sources see only times
   within the segment, so that a source that switches at its end does so after it. At a tick all
   clocks that are due read the values before it and are updated together. */

#ifndef SB_FMU_EVENTS_H
#define SB_FMU_EVENTS_H

/* Definitions for sb_step.h. */
#define SB_SELF sb_fmu
#define SB_REAL double
#define SB_N(m) SB_NX
#define SB_STAGES_OF(m) SB_STAGES
#define SB_ALL_STAGES(m) SB_STAGES_IN_ALL
#define SB_MADE(m) ((m)->made)
#define SB_T(m) ((m)->s.t)
#define SB_X(m) ((m)->s.x)
#define SB_XN(m) ((m)->xn)
#define SB_XT(m) ((m)->xt)
#define SB_XM(m) ((m)->xm)
#define SB_K(m) ((m)->slopes)
#define SB_A(m) sb_rk_a
#define SB_B(m) sb_rk_b
#define SB_C(m) sb_rk_c
#if SB_IS_IMPLICIT
#define SB_LINEARISES
#define SB_J(m) ((m)->J)
#define SB_LU(m) ((m)->lu)
#define SB_ROW(m) ((m)->row)
static void sb_derivatives(sb_fmu *m, double t, const double *x, double *out);
#endif
#define SB_CONTROLS
#define SB_E(m) sb_rk_e
#define SB_ERROR_OF(m, size) ((m)->s.rtol * (SB_ATOL_PER_RTOL + (size)))
#define SB_H(m) ((m)->s.h)
#define SB_BOUNDS
#define SB_LONGEST(m) (SB_CONTROLLED(m) ? SB_MAX_STEP : SB_STEP)
#define SB_STEP_LIMIT(m) ((m)->s.limit)
#define SB_LOCATES
#if SB_NX && SB_CROSSINGS && !SB_SLIDES
#define SB_HOLDS_OFF
#endif
#define SB_NG(m) SB_CROSSINGS
#define SB_KIND(m, k) sb_crossings[k].kind
#define SB_DIRECTION(m, k) sb_crossings[k].direction
#define SB_G0(m) ((m)->s.g)
#define SB_G1(m) ((m)->g1)
#define SB_GS(m) ((m)->gs)
#define SB_G(m) ((m)->g)
#define SB_CROSSED(m) ((m)->crossed)
#define SB_STAGED(m) ((m)->s.staged)
#define SB_GAP(m) ((m)->gap)
#define SB_P(m) sb_rk_p
#define SB_HAS_CLOCKS
#define SB_ND(m) SB_NXD
#define SB_CLOCKS(m) SB_NC
#define SB_HANDOVER_CLOCK(m, k) sb_handover_clocks[k]
#define SB_FIRST(k) sb_crossings[k].first
#define SB_MEETS_RESETS
#define SB_ADVANCES
#define SB_MARKS
#define SB_OWN_MARKS
#define SB_HIT(m) ((m)->s.hit)
#define SB_BEGUN(m) ((m)->s.begun)
#define SB_LOOPS
#define SB_WAITS
#define SB_GOES(m) ((m)->status == SB_OK)
#define SB_XD(m) ((m)->s.xd)
#define SB_BEFORE_TICKS(m) ((m)->moved)
#define SB_AFTER_TICKS(m) ((m)->xd)
#define SB_ACTS_IN_C
#define SB_ENDED(m) ((m)->s.stopped)
#define SB_SHORTEST_FLIGHT(m) sb_shortest(m)
#define SB_BOUNCED(m) ((m)->s.bounced)
#define SB_SLOPED(m) ((m)->sloped)
#define SB_LAST_SEEN(m) ((m)->end)
#define SB_SHORTEST(t) (SB_TOO_SHORT * (nextafter(t, INFINITY) - (t)))
#define SB_NEEDS_SLOPE(m, s) 0 /* the next step finds its own */
#if SB_SLIDES
#define SB_MEETS_LINES
#define SB_HOLDS(m) (&(m)->s.holds)
#define SB_NORMALS(m) ((m)->normals)
#define SB_HELD_ANEW(m) ((m)->s.changed = 1, (m)->fresh = 0)
#endif

static void sb_slope(sb_fmu *m, double t, const double *x, double *out);
static void sb_own_steps(sb_fmu *m, double h);
static double sb_reach(sb_fmu *m);
static void sb_watch(const sb_fmu *m, double t, const double *x, double *out);
static void sb_field(const sb_fmu *m, double t, const double *x, const double *xd, double *out);
static void sb_signals(const sb_fmu *m, double t, const double *x, const double *xd, double *out);
static int sb_due(const sb_fmu *m, int c);
static void sb_hand_over(sb_fmu *m, int k, const double *before, double *xd);
static void sb_tick_clock(sb_fmu *m, int c, const double *before, double *xd);
static void sb_watch_now(sb_fmu *m, double *out);
static int sb_jumped(sb_fmu *m, int at, int ticks_follow);
static double sb_shortest(const sb_fmu *m);
#if SB_SLIDES
static void sb_meet(sb_fmu *m, int where, int moved);
#endif
#if SB_SWITCHES
static void sb_watch_modes(sb_fmu *m, double t, const double *x, const double *xd, double *out);
static void sb_switch(sb_fmu *m, double t, int k, int where, double *x, double *xd);
#endif

#include "sb_step.h"

/* Importers accumulate rounding errors in time: an event this near happens now. SB_NEAREST is far
   below the period of every clock. */
static double sb_near(double t) {
  double near = 1e-10 * (fabs(t) > 1 ? fabs(t) : 1);
  return near < SB_NEAREST ? near : SB_NEAREST;
}

static double sb_clamped(double t, double low, double high) {
  return t < low ? low : t > high ? high : t;
}

static double sb_segment_end(const sb_fmu *m) {
  return m->s.next < INFINITY ? SB_JUST_BEFORE(m->s.next) : INFINITY;
}

/* Time for signals and crossings. */
static double sb_seen(const sb_fmu *m, double t) {
  return sb_clamped(t, m->s.passed, sb_segment_end(m));
}

/* Time for derivatives: strictly after the last switching time. */
static double sb_within(const sb_fmu *m, double t) {
  return sb_clamped(t, SB_JUST_AFTER(m->s.passed), sb_segment_end(m));
}

static double sb_direction(int k) {
  return sb_crossings[k].direction < 0 ? -1 : 1;
}

/* The rates and the watched values of any states, as if nothing held them. */
static void sb_field(const sb_fmu *m, double t, const double *x, const double *xd, double *out) {
  sb_model_rates(sb_within(m, t), x, xd, m->s.p, x, out);
}

static void sb_signals(const sb_fmu *m, double t, const double *x, const double *xd, double *out) {
  sb_model_watched(sb_seen(m, t), x, xd, m->s.p, out);
}

#if SB_SLIDES
static void sb_switch_into(const sb_fmu *m, double t, int k, const double *x, const double *xd, double *moved) {
  sb_copy(moved, x, SB_NX);
  sb_copy(moved + SB_NX, xd, SB_NXD);
  sb_model_reset(k, sb_seen(m, t), x, xd, m->s.p, moved);
}

static void sb_tell_of(const sb_fmu *m, int k, const char *what) {
  sb_log(m, SB_OK, "block %s %s at t = %.9g s", sb_crossings[k].block, what, m->s.t);
}

static int sb_too_many_surfaces(sb_fmu *m, const sb_surface *found) {
  return sb_log(m, SB_ERROR,
                "the surfaces of %s, %s and %s meet at t = %.9g s, and motions along two at most "
                "are known", sb_crossings[found[0].k].block, sb_crossings[found[1].k].block,
                sb_crossings[found[2].k].block, m->s.t);
}

static int sb_too_many_contacts(sb_fmu *m) {
  return sb_log(m, SB_ERROR, "more than %d signals would rest at t = %.9g s", SB_CONTACTS, m->s.t);
}

#include "sb_slide.h"
#include "sb_fmu_slide.h"
#endif

/* --- the functions of the model ---------------------------------------------------------- */

static void sb_rates(const sb_fmu *m, double t, const double *x, const double *start,
                     double *out) {
#if SB_SLIDES
  if (sb_held(m)) {
    sb_held_rates(m, t, x, m->s.xd, out);
    return;
  }
#endif
  sb_model_rates(sb_within(m, t), x, m->s.xd, m->s.p, start, out);
}

static void sb_watch_with(const sb_fmu *m, double t, const double *x, const double *xd,
                          double *out) {
  sb_model_watched(sb_seen(m, t), x, xd, m->s.p, out);
#if SB_SLIDES
  if (sb_held(m)) sb_held_watch(m, t, x, xd, out);
#endif
  for (int k = 0; k < SB_CROSSINGS && m->exchange; k++)
    if (t < m->s.quiet[k]) out[k] = -sb_direction(k) * fmax(fabs(out[k]), SB_HARDLY);
}

static void sb_watch(const sb_fmu *m, double t, const double *x, double *out) {
  sb_watch_with(m, t, x, m->s.xd, out);
}

static void sb_watch_now(sb_fmu *m, double *out) { sb_watch(m, m->s.t, m->s.x, out); }

static void sb_slope(sb_fmu *m, double t, const double *x, double *out) {
  sb_rates(m, t, x, m->s.x, out);
}

#if SB_IS_IMPLICIT
static void sb_derivatives(sb_fmu *m, double t, const double *x, double *out) {
  sb_model_linearised(sb_within(m, t), x, m->s.xd, m->s.p, m->s.x, out);
}
#endif

/* Blocks that have their own one-step map. */
static void sb_own_steps(sb_fmu *m, double h) {
  if (!SB_STEPPED || SB_CONTROLLED(m)) return;
  sb_model_advance(sb_within(m, m->s.t), m->s.x, m->s.xd, m->s.p, h, m->xm);
  for (int i = 0; i < SB_STEPPED; i++) m->xn[sb_stepped[i]] = m->xm[sb_stepped[i]];
}

/* The longest step in which no crossing is missed. */
static double sb_reach(sb_fmu *m) {
  double reach[1] = {INFINITY};
  if (SB_REACHES) sb_model_reach(sb_within(m, m->s.t), m->s.x, m->s.xd, m->s.p, reach);
  return reach[0];
}

static void sb_hand_over(sb_fmu *m, int k, const double *before, double *xd) {
  sb_model_handover(k, sb_seen(m, m->s.t), m->s.x, before, m->s.p, xd);
}

static void sb_tick_clock(sb_fmu *m, int c, const double *before, double *xd) {
  sb_model_tick(c, sb_seen(m, m->s.t), m->s.x, before, m->s.p, xd);
}

#if SB_SWITCHES
static void sb_watch_modes(sb_fmu *m, double t, const double *x, const double *xd, double *out) {
  sb_watch_with(m, t, x, xd, out);
#if SB_SLIDES
  for (int k = 0; k < SB_NG(m); k++)
    if (sb_leads(m, k)) out[k] = 0; /* its value depends on the surface, not on the mode */
#endif
}

static void sb_switch(sb_fmu *m, double t, int k, int where, double *x, double *xd) {
  (void)where;
  sb_copy(m->moved, x, SB_NX); /* the block writes its own states */
  sb_copy(m->moved + SB_NX, xd, SB_NXD);
  sb_model_reset(k, sb_seen(m, t), x, xd, m->s.p, m->moved);
  sb_copy(x, m->moved, SB_NX);
  sb_copy(xd, m->moved + SB_NX, SB_NXD);
}
#endif

/* Project the states onto their constraints: unit quaternions, limits of integrators, and the
   surfaces and contacts that hold them. */
static void sb_project(sb_fmu *m, int where) {
  if (!where) return;
  if (SB_PROJECTS) {
    sb_model_project(m->s.t, m->s.x, m->s.xd, m->s.p, m->moved);
    sb_copy(m->s.x, m->moved, SB_NX);
  }
#if SB_SLIDES
  if (sb_held(m)) sb_hold(m);
#endif
}

/* --- known times ------------------------------------------------------------------------- */

static double sb_tick_time(int c, int64_t k) {
  const sb_clock *clock = &sb_clocks[c];
  if (clock->common && k < SB_TICK_EXACT / clock->stride)
    return (double)(clock->start + k * clock->stride) / (double)clock->common;
  return clock->offset + (double)k * clock->period;
}

static int sb_due(const sb_fmu *m, int c) {
  double now = m->s.t > m->s.passed ? m->s.t : m->s.passed;
  return sb_tick_time(c, m->s.ticks[c]) <= now + sb_near(now);
}

/* The next time after `t` at which a source switches, at `first` and then every `period`. */
static double sb_next_edge(double first, double period, double t) {
  double k, at;
  if (!isfinite(first) || !isfinite(period)) return INFINITY;
  if (first > t) return first;
  if (period <= 0) return INFINITY;
  k = floor((t - first) / period);
  at = first + k * period;
  for (int i = 0; i < 4 && at <= t; i++) at = first + (k += 1) * period;
  return at > t ? at : INFINITY; /* a period below the resolution of time */
}

static void sb_find_next(sb_fmu *m) {
  double edges[SB_ROOM(2 * SB_NE)], next = INFINITY;
  if (SB_NE) sb_model_edges(m->s.p, edges);
  for (int i = 0; i < SB_NE; i++) {
    double at = sb_next_edge(edges[2 * i], edges[2 * i + 1], m->s.passed);
    if (at < next) next = at;
  }
  for (int c = 0; c < SB_NC; c++) {
    double at = sb_tick_time(c, m->s.ticks[c]);
    for (int i = 1; i < SB_MOST_EVENTS && at <= m->s.passed; i++) /* not done yet */
      at = sb_tick_time(c, m->s.ticks[c] + i);
    if (at > m->s.passed && at < next) next = at;
  }
  if (m->s.apex > m->s.passed && m->s.apex < next) next = m->s.apex;
  m->s.next = next;
}

/* Mark the known times up to now as passed. */
static int sb_pass(sb_fmu *m) {
  double now = m->s.t + sb_near(m->s.t);
  sb_find_next(m);
  for (int i = 0; m->s.next <= now; i++) {
    if (i == SB_MOST_EVENTS)
      return sb_log(m, SB_ERROR, "sources switch without end at t = %.9g s", m->s.t);
    m->s.passed = m->s.next;
    m->s.changed = 1;
    sb_find_next(m);
  }
  return SB_OK;
}

static int sb_any_due(sb_fmu *m, int at) {
  int any = 0;
  for (int c = 0; c < SB_NC; c++) any |= sb_due(m, c);
  return at && any;
}

static void sb_count_ticks(sb_fmu *m, int due, int bad) {
  (void)due;
  if (bad)
    m->status = sb_log(m, SB_DISCARD, "a discrete state is not finite after the tick at t = %.9g s",
                       m->s.t);
  for (int c = 0; c < SB_NC && !bad; c++) /* a clock whose time an importer has passed ticks once */
    for (int i = 0; i < SB_MOST_EVENTS && sb_due(m, c); i++) m->s.ticks[c]++;
  m->s.changed = 1;
  m->fresh = 0;
  sb_find_next(m);
}

/* --- crossings --------------------------------------------------------------------------- */

static void sb_stop(sb_fmu *m, int k, int where) {
  (void)where;
  if (!m->s.stopped)
    sb_log(m, SB_OK, "stopped by block %s at t = %.9g s", sb_crossings[k].block, m->s.t);
  m->s.stopped = 1;
}

static void sb_fault(sb_fmu *m, int k, int where) {
  (void)where;
  m->status = sb_log(m, SB_ERROR, "%s at t = %.9g s", sb_crossings[k].fault, m->s.t);
}

static void sb_settle(sb_fmu *m, int where, double *x, double *xd) {
#if SB_SWITCHES
  if (sb_switched(m, m->s.t, x, xd, m->g) < 0)
    m->status = sb_log(m, SB_ERROR, "a block switches without end at t = %.9g s", m->s.t);
#endif
  (void)m, (void)where, (void)x, (void)xd;
}

static double sb_span(const sb_fmu *m) {
  (void)m;
  return SB_PROBED * SB_MAX_STEP;
}

/* The shortest flight [s] that is resolved. */
static double sb_shortest(const sb_fmu *m) {
  return m->exchange ? fmax(SB_HOP, SB_RESOLVED * fabs(m->s.t)) : SB_FLIGHT;
}

/* A signal that does not come back from zero: it rests there if the diagram slides, and is an error
   otherwise. */
static void sb_stays(sb_fmu *m, int k) {
  m->s.quiet[k] = m->s.landing[k] = -INFINITY;
#if SB_SLIDES
  m->status = sb_rest(m, k);
#else
  m->status = sb_log(m, SB_ERROR,
                "the resets of block %s accumulate (Zeno), or leave its signal at zero, at "
                "t = %.9g s: it would go on through zero", sb_crossings[k].block, m->s.t);
#endif
}

/* A flight after a time [s]: in model exchange the next step does not mistake rounding for the return.
   Importers end steps within rounding of zero, on either side. */
static void sb_flies(sb_fmu *m, int k, double after, double flight) {
  m->s.quiet[k] = m->s.t + after + fmin(flight / 4, sb_span(m));
  m->s.landing[k] = m->s.t + after + flight;
}

static void sb_bounced(sb_fmu *m, int k, int turned, int rests, const double *x, sb_motion before,
                       double flight) {
  if (!turned) return; /* it passes through zero */
#if SB_SLIDES
  sb_note_bounce(m, k, x, before.v);
#endif
  (void)x, (void)before;
  if (rests) sb_stays(m, k);
  else sb_flies(m, k, 0, flight);
}

/* Whether a signal that was just turned back is beyond zero only by the error of an importer's
   solver, on its way to its old side. A reset would send it through zero. */
static int sb_errs(sb_fmu *m, int k) {
  return m->exchange && m->s.t < m->s.landing[k] &&
         sb_motion_of(m, k, m->s.x, m->s.xd, sb_span(m)).v < 0;
}

/* Let such a signal continue, if it reaches its old side. */
static void sb_let_on(sb_fmu *m, int k) {
  const sb_motion now = sb_motion_of(m, k, m->s.x, m->s.xd, sb_span(m));
  double flight = sb_flight(now), depth = now.v * now.v - 2 * now.a * now.q, after;
  if (flight < sb_shortest(m)) {
    sb_stays(m, k);
    return;
  }
  after = now.a > 0 ? (-now.v - sqrt(depth)) / now.a : -now.q / now.v;
  m->s.limit = fmin(m->s.limit, after + flight / 2);
  sb_flies(m, k, after, flight);
}

static void sb_count_crossings(sb_fmu *m, int where) {
  (void)where;
  memset(m->errs, 0, sizeof m->errs);
  m->s.changed = 1;
  m->fresh = 0;
#if SB_SLIDES
  sb_remember(m);
#endif
}

static int sb_reset(sb_fmu *m, int k, int where) {
#if SB_SLIDES
  if (sb_contact(m, k) >= 0) return 0; /* it releases a signal at rest */
#endif
  m->errs[k] = (unsigned char)sb_errs(m, k);
  if (m->errs[k]) return 0;
  sb_model_reset(k, sb_seen(m, m->s.t), m->s.x, m->s.xd, m->s.p, m->moved);
  sb_copy(m->s.x, m->moved, SB_NX);
  sb_copy(m->s.xd, m->moved + SB_NX, SB_NXD);
  return where;
}

#if SB_SLIDES
static void sb_meet(sb_fmu *m, int where, int moved) {
  m->status = sb_meet_surfaces(m, m->s.hit);
  if (where && m->status == SB_OK) sb_settle(m, where, m->s.x, m->s.xd);
  if (moved) sb_let_go(m, m->s.hit);
}
#endif

static void sb_acted(sb_fmu *m, int where, int ends) {
  (void)where;
  for (int k = 0; k < SB_CROSSINGS; k++) {
    if (SB_NX && m->errs[k] && !ends && m->status == SB_OK) sb_let_on(m, k);
    m->s.hit[k] = 0;
  }
}

/* Mark the functions that have crossed zero since the last check, and all of STOPs and modes that
   are positive. jump: only those that act on a jump. ticks_follow: STOPs and faults wait for the
   ticks at this time. Returns whether any is marked. */
static int sb_mark(sb_fmu *m, int jump, int ticks_follow) {
  int any = 0;
  sb_watch_now(m, m->g);
  for (int k = 0; k < SB_CROSSINGS; k++) {
    int kind = sb_crossings[k].kind, ends = kind == SB_STOP || kind == SB_FAULT;
    int seen = !jump || kind == SB_EVENT;
    int above = ends || kind == SB_MODE;
    any |= m->s.hit[k];
    if (ends && ticks_follow) continue;
#if SB_SLIDES
    if (sb_leads(m, k) && m->g[k] * sb_direction(k) > 0) m->s.hit[k] = 1;
#endif
    if (above ? m->g[k] > 0 : seen && sb_crossed(m->s.g[k], m->g[k], sb_crossings[k].direction)) m->s.hit[k] = 1;
    any |= m->s.hit[k];
  }
  return any;
}

/* Mark what jumps at the present time; in model exchange also what has crossed zero up to it. */
static int sb_jumped(sb_fmu *m, int at, int ticks_follow) {
#if SB_SLIDES
  if (sb_jumped_off(m) != SB_OK) m->status = SB_ERROR;
#endif
  if (m->exchange && !m->s.begun) sb_take_values(m, 1);
  return at && m->status == SB_OK && sb_mark(m, !m->exchange, ticks_follow);
}

/* All events at the present time. */
static int sb_events(sb_fmu *m) {
  int stage = SB_COMES;
  m->fresh = 0;
  m->status = sb_pass(m);
  if (m->status == SB_OK) sb_enter(m, 1, &stage);
  m->s.begun = 1;
  if (m->status != SB_OK) return m->status;
  if (m->exchange && m->s.limit < INFINITY) { /* so that a step of the importer does not miss the return */
    m->s.apex = m->s.t + m->s.limit;
    m->s.limit = INFINITY;
    sb_find_next(m);
  }
  sb_project(m, 1);
  sb_take_values(m, 1);
  sb_copy(m->s.start, m->s.x, SB_NX);
  m->fresh = 0;
  if (sb_finite(m->s.x, SB_NX) && sb_finite(m->s.xd, SB_NXD)) return SB_OK;
  return sb_log(m, SB_DISCARD, "a state is not finite after the events at t = %.9g s", m->s.t);
}

#endif
