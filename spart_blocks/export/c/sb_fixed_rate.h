/* A step of exported C: its ticks and outputs, and the integration of the states to the next step.

   The including file defines, from the diagram: the types SB_STATE, SB_INPUTS, SB_PARAMETERS,
   SB_OUTPUTS and SB_REAL; sizes; tables; and the functions of the model. Step k is a stop, which is
   entered as in other runs (sb_advance.h); then the outputs are computed. Then the states are
   integrated with the inputs held, in segments between the times at which sources switch. The only
   state is SB_STATE.

   SB_EVENTFUL: crossings act where they are, within the step (sb_eventful.h): there are EVENTs, or
   states slide along surfaces. Otherwise modes and STOPs act at the steps. */

#ifndef SB_FIXED_RATE_H
#define SB_FIXED_RATE_H

typedef struct {
  double t, low, high; /* sources see only times strictly within a segment */
  const SB_INPUTS *u;
  const SB_PARAMETERS *p;
  SB_REAL *xd, *before;              /* discrete states, and those before ticks */
  SB_REAL *given, *x, *next, *spare; /* states: of SB_STATE, now, where a step leads; and room */
  SB_REAL *room, *g;                 /* room for steps, and for watched values */
#if SB_IS_IMPLICIT
  SB_REAL *J, *lu, *row; /* see SB_LINEARISES */
#endif
  int crossed, staged;
  const int *due;
  int any_due, status;
  long long fault; /* its number */
#if SB_EVENTFUL
  unsigned char *hit;
  SB_KEPT *kept; /* what crossings leave to the next step */
  double begin; /* of the segment */
  double *normals; /* room for sb_slide.h */
  int begun, sloped, crossings, tries; /* begun: there was a step before; the others: in this one */
#else
  int *hit;
#endif
} sb_stepper;

/* Definitions for sb_step.h. */
#define SB_SELF sb_stepper
#define SB_SCALAR SB_REAL
#define SB_TIME double
#define SB_N(m) SB_NX
#define SB_STAGES_OF(m) SB_STAGES
#define SB_T(m) ((m)->t)
#define SB_X(m) ((m)->x)
#define SB_XN(m) ((m)->next)
#define SB_XT(m) ((m)->room)
#define SB_XM(m) ((m)->room + SB_NX)
#define SB_K(m) ((m)->room + 2 * SB_NX)
#define SB_A(m) sb_rk_a
#define SB_B(m) sb_rk_b
#define SB_C(m) sb_rk_c
#if SB_IS_IMPLICIT
#define SB_LINEARISES
#define SB_J(m) ((m)->J)
#define SB_LU(m) ((m)->lu)
#define SB_ROW(m) ((m)->row)
#endif
#define SB_CONTROLLED(m) 0
#define SB_LONGEST(m) INFINITY
#define SB_NG(m) SB_CROSSINGS
#define SB_KIND(m, k) sb_kinds[k]
#define SB_DIRECTION(m, k) sb_directions[k]
#define SB_FIRST(k) sb_first[k]
#define SB_G(m) ((m)->g)
#define SB_G1(m) ((m)->g + 2 * SB_CROSSINGS)
#define SB_GS(m) ((m)->g + 3 * SB_CROSSINGS)
#define SB_CROSSED(m) ((m)->crossed)
#define SB_P(m) sb_rk_b /* never read */
#define SB_DENSE_ORDER(m) 0
#define SB_ND(m) SB_NXD
#define SB_CLOCKS(m) SB_NC
#define SB_HANDOVER_CLOCK(m, k) sb_handover_clocks[k]
#define SB_GOES(m) ((m)->status == SB_GOES_ON)
#define SB_XD(m) ((m)->xd)
#define SB_BEFORE_TICKS(m) ((m)->before)
#define SB_AFTER_TICKS(m) ((m)->xd) /* if one is not finite, the step has failed */
#if SB_NXD
#define SB_HAS_CLOCKS
#endif
#if SB_CROSSINGS
#define SB_MARKS
#define SB_HIT(m) ((m)->hit)
#define SB_ACTS_IN_C
#define SB_ENDED(m) ((m)->status == SB_STOPPED)
#endif
#if SB_NXD || SB_CROSSINGS
#define SB_LOOPS
#endif
#if SB_REACHES || SB_EVENTFUL
#define SB_BOUNDS
#define SB_LOCATES
#endif
#if SB_EVENTFUL
#define SB_STEP_LIMIT(m) ((m)->kept->limit)
#define SB_G0(m) ((m)->kept->g)
#define SB_STAGED(m) ((m)->kept->staged)
#define SB_ADVANCES
#define SB_WAITS
#define SB_BEGUN(m) ((m)->begun)
#define SB_SLOPED(m) ((m)->sloped)
#define SB_LAST_SEEN(m) ((m)->high)
#define SB_SHORTEST(t) (SB_TOO_SHORT * (nextafter(t, INFINITY) - (t)))
#define SB_NEEDS_SLOPE(m, s) 0 /* the next step finds its own */
#if SB_RESETS
#define SB_MEETS_RESETS
#define SB_SHORTEST_FLIGHT(m) SB_FLIGHT
#define SB_BOUNCED(m) ((m)->kept->bounced)
#endif
#if SB_SLIDES
#define SB_HOLDS(m) (&(m)->kept->holds)
#define SB_NORMALS(m) ((m)->normals)
#define SB_HELD_ANEW(m) ((void)0)
#endif
#else
#define SB_STEP_LIMIT(m) INFINITY
#define SB_G0(m) ((m)->g + SB_CROSSINGS)
#define SB_STAGED(m) ((m)->staged)
#define SB_OWN_MARKS
#define SB_NO_EVENTS
#if SB_NX == 0
#define SB_NO_STATES
#endif
#endif

#if SB_NX || SB_NXD
static void sb_copy(SB_REAL *to, const SB_REAL *from, int n) {
  for (int i = 0; i < n; i++) to[i] = from[i];
}
#endif

#if SB_EVENTFUL
static void sb_slope(sb_stepper *m, double t, const double *x, double *out);
static double sb_reach(sb_stepper *m);
#if SB_SLIDES || SB_RESETS
static void sb_field(const sb_stepper *m, double t, const double *x, const double *xd, double *out);
#endif
static void sb_signals(const sb_stepper *m, double t, const double *x, const double *xd, double *out);
#if SB_SLIDES
static int sb_leads(const sb_stepper *m, int k);
static int sb_jumped_off(sb_stepper *m);
static double sb_direction(int k);
static void sb_meet(sb_stepper *m, int where, int moved);
#endif
#endif

#if SB_NX || SB_EVENTFUL
static double sb_within(const sb_stepper *m, double t) {
  return t < m->low ? m->low : t > m->high ? m->high : t;
}

#if !SB_EVENTFUL
static void sb_slope(sb_stepper *m, double t, const SB_REAL *x, SB_REAL *out) {
  sb_model_rates(sb_within(m, t), x, m->xd, m->u, m->p, m->x, out);
}
#endif

#if SB_IS_IMPLICIT
static void sb_derivatives(sb_stepper *m, double t, const SB_REAL *x, SB_REAL *out) {
  sb_model_linearised(sb_within(m, t), x, m->xd, m->u, m->p, m->x, out);
}
#endif

/* Blocks that have their own one-step map. */
static void sb_own_steps(sb_stepper *m, SB_REAL h) {
#if SB_STEPPED
  sb_model_advance(m->t, m->x, m->xd, m->u, m->p, h, SB_XM(m));
  for (int i = 0; i < SB_STEPPED; i++) SB_XN(m)[sb_stepped[i]] = SB_XM(m)[sb_stepped[i]];
#else
  (void)m;
  (void)h;
#endif
}
#endif

#if SB_REACHES && !SB_EVENTFUL
/* The longest step in which no crossing is missed. */
static double sb_reach(sb_stepper *m) {
  SB_REAL reach[1];
  sb_model_reach(sb_within(m, m->t), m->x, m->xd, m->u, m->p, reach);
  return (double)reach[0];
}
#endif

#if SB_REACHES || SB_EVENTFUL
static void sb_watch(sb_stepper *m, double t, const SB_REAL *x, SB_REAL *out);
#endif

#if SB_NXD
static int sb_due(const sb_stepper *m, int c) { return m->due[c]; }

static void sb_hand_over(sb_stepper *m, int k, const SB_REAL *before, SB_REAL *xd) {
  sb_model_handover(k, m->t, m->x, before, m->u, m->p, xd);
}

static void sb_tick_clock(sb_stepper *m, int c, const SB_REAL *before, SB_REAL *xd) {
  sb_model_tick(c, m->t, m->x, before, m->u, m->p, xd);
}
#endif

#if SB_SWITCHES
#if SB_EVENTFUL
static void sb_watch_modes(sb_stepper *m, double t, const SB_REAL *x, const SB_REAL *xd, SB_REAL *out);
#else
static void sb_watch_modes(sb_stepper *m, double t, const SB_REAL *x, const SB_REAL *xd, SB_REAL *out) {
  sb_model_watched(t, x, xd, m->u, m->p, out);
}
#endif

static void sb_switch(sb_stepper *m, double t, int k, int where, SB_REAL *x, SB_REAL *xd) {
  SB_REAL moved[SB_NX]; /* the block reads the states before the step */
  (void)where;
  for (int i = 0; i < SB_NX; i++) moved[i] = x[i];
  sb_model_switched(k, t, x, xd, m->u, m->p, moved);
  for (int i = 0; i < SB_NX; i++) x[i] = moved[i];
}
#endif

#if SB_CROSSINGS
static void sb_watch_now(sb_stepper *m, SB_REAL *out);
#if !SB_EVENTFUL
static int sb_jumped(sb_stepper *m, int at, int ticks_follow);
#endif
#endif

#include "sb_step.h"

#if SB_REACHES && !SB_EVENTFUL
static void sb_watch(sb_stepper *m, double t, const SB_REAL *x, SB_REAL *out) {
  sb_model_watched(t, x, m->xd, m->u, m->p, out);
  for (int k = 0; k < SB_CROSSINGS; k++) /* modes and STOPs act only at the steps */
    if (sb_kinds[k] == SB_MODE || sb_kinds[k] == SB_STOP) out[k] = 0;
}
#endif

#if SB_NE
/* The first time within (t, end) at which a source switches, else end. at: the first time and the
   period of each source. */
static double sb_next_switch(const double *at, double t, double end) {
  double next = end;
  for (int i = 0; i < SB_NE; i++) {
    const double first = at[2 * i], period = at[2 * i + 1];
    double found = first;
    if (!isfinite(first) || !isfinite(period)) continue;
    if (period > 0 && first <= t + SB_NEAR)
      found = first + (floor((t + SB_NEAR - first) / period) + 1) * period;
    if (found > t + SB_NEAR && found < next - SB_NEAR) next = found;
  }
  return next;
}
#endif

/* --- at a step --------------------------------------------------------------------------- */

#if SB_NXD
static int sb_any_due(sb_stepper *m, int at) { return at && m->any_due; }

static void sb_count_ticks(sb_stepper *m, int due, int bad) {
  (void)due;
  if (bad) m->status = SB_NOT_A_NUMBER;
}
#endif

#if SB_CROSSINGS
static void sb_stop(sb_stepper *m, int k, int where) {
  (void)k, (void)where;
  m->status = SB_STOPPED;
}

static void sb_fault(sb_stepper *m, int k, int where) {
  (void)where;
  m->status = SB_FAULTY;
  for (int i = 0; i < k; i++) m->fault += sb_kinds[i] == SB_FAULT;
}

static void sb_acted(sb_stepper *m, int where, int ends) { (void)m, (void)where, (void)ends; }
#endif

#if SB_EVENTFUL
#include "sb_eventful.h"
#else

#if SB_CROSSINGS
static void sb_watch_now(sb_stepper *m, SB_REAL *out) {
  sb_model_watched(m->t, m->x, m->xd, m->u, m->p, out);
}

/* Mark the modes that do not fit. Where all do, mark STOPs and faults, unless ticks follow: blocks
   switch up to a step late, and until they have, a signal may be what it is in no other run. */
static int sb_jumped(sb_stepper *m, int at, int ticks_follow) {
  const unsigned modes = 1U << SB_MODE, ends = (1U << SB_STOP) | (1U << SB_FAULT);
  unsigned above = 0;
  if (!at || (!SB_SWITCHES && ticks_follow)) return 0;
  sb_watch_now(m, SB_G(m));
  for (int k = 0; k < SB_CROSSINGS; k++)
    if (SB_G(m)[k] > 0) above |= 1U << sb_kinds[k];
  above &= ((above & modes) || ticks_follow) ? modes : ends;
  for (int k = 0; k < SB_CROSSINGS && above; k++)
    m->hit[k] = SB_G(m)[k] > 0 && (above & (1U << sb_kinds[k]));
  return above != 0;
}

static void sb_count_crossings(sb_stepper *m, int where) { (void)m, (void)where; }

/* Blocks that still switch after SB_MOST_SWITCHES rounds go on at the next step. */
static void sb_settle(sb_stepper *m, int where, SB_REAL *x, SB_REAL *xd) {
#if SB_SWITCHES
  sb_switched(m, m->t, x, xd, SB_G(m));
#endif
  (void)m, (void)where, (void)x, (void)xd;
}

static void sb_project(sb_stepper *m, int where) {
#if SB_SWITCHES && SB_PROJECTS
  SB_REAL moved[SB_NX];
  if (!where) return;
  sb_model_project(m->t, m->x, m->xd, m->u, m->p, moved);
  sb_copy(m->x, moved, SB_NX);
#endif
  (void)m, (void)where;
}
#endif

/* Ticks, modes and outputs of the present step. If a result is not finite, nothing changes. */
static int sb_output_at(SB_STATE *s, const SB_INPUTS *u, const SB_PARAMETERS *p, SB_OUTPUTS *y) {
  sb_stepper m; /* what only integration uses stays unset */
#if SB_SWITCHES
  SB_REAL x[SB_NX];
#endif
#if SB_NXD
  SB_REAL xd[SB_NXD], before[SB_NXD];
  int due[SB_NC];
#endif
#if SB_CROSSINGS
  SB_REAL g[SB_CROSSINGS];
  int hit[SB_CROSSINGS];
  m.g = g;
  m.hit = hit;
#endif
  m.t = sb_time(s->k);
  m.u = u;
  m.p = p;
  m.status = SB_GOES_ON;
  m.fault = 0;
  m.x = m.xd = 0;
#if SB_SWITCHES
  m.x = x;
  sb_copy(x, s->x, SB_NX);
#elif SB_NX
  m.x = s->x;
#endif
#if SB_NXD
  m.xd = xd;
  m.before = before;
  m.due = due;
  m.any_due = 0;
  for (int c = 0; c < SB_NC; c++) m.any_due |= due[c] = sb_is_due(c, s->k);
  sb_copy(xd, s->xd, SB_NXD);
#endif
#ifdef SB_LOOPS
  {
    int stage = SB_COMES;
    sb_enter(&m, 1, &stage);
    if (m.status == SB_NOT_A_NUMBER) return SB_NOT_A_NUMBER;
  }
#endif
#if SB_SWITCHES
  if (!sb_finite(x, SB_NX)) return SB_NOT_A_NUMBER;
#endif
#if SB_NY
  {
    SB_OUTPUTS found;
    sb_model_outputs(m.t, m.x, m.xd, u, p, &found);
    if (!sb_finite((const SB_REAL *)(const void *)&found, SB_NY)) return SB_NOT_A_NUMBER;
    *y = found;
  }
#else
  y->none = 0;
#endif
#if SB_SWITCHES
  sb_copy(s->x, x, SB_NX);
#endif
#if SB_NXD
  sb_copy(s->xd, xd, SB_NXD);
#endif
#if SB_FAULTS
  s->fault = m.fault;
#endif
  return m.status;
}

/* --- to the next step -------------------------------------------------------------------- */

#if SB_NX

/* Set the states to the result of the step. */
static void sb_take(sb_stepper *m) {
  SB_REAL *left = m->x == m->given ? m->spare : m->x;
  m->x = m->next;
  m->next = left;
}

/* The same, projected onto their constraints: unit quaternions, loops, limits. */
static void sb_take_projected(sb_stepper *m) {
  sb_take(m);
#if SB_PROJECTS
  sb_model_project(m->t, m->x, m->xd, m->u, m->p, m->next);
  sb_take(m);
#endif
}

#if SB_SWITCHES && SB_JUMPS

/* The first mode that does not fit at a state, or -1. */
static int sb_unfit(sb_stepper *m, double t, const SB_REAL *x) {
  SB_REAL g[SB_CROSSINGS];
  sb_model_watched(sb_within(m, t), x, m->xd, m->u, m->p, g);
  for (int k = 0; k < SB_CROSSINGS; k++)
    if (sb_kinds[k] == SB_MODE && g[k] > 0) return k;
  return -1;
}

/* What a zero-crossing function becomes within SB_AHEAD, less what it is. */
static SB_REAL sb_change(sb_stepper *m, int k, double t, const SB_REAL *x) {
  SB_REAL slope[SB_NX], to[SB_NX], now[SB_CROSSINGS], then[SB_CROSSINGS];
  sb_slope(m, t, x, slope);
  for (int i = 0; i < SB_NX; i++) to[i] = x[i] + (SB_REAL)SB_AHEAD * slope[i];
  sb_model_watched(sb_within(m, t), x, m->xd, m->u, m->p, now);
  sb_model_watched(sb_within(m, t + SB_AHEAD), to, m->xd, m->u, m->p, then);
  return then[k] - now[k];
}

static void sb_along(const sb_stepper *m, SB_REAL h, SB_REAL *to) {
  for (int i = 0; i < SB_NX; i++) to[i] = m->x[i] + h * SB_K(m)[i];
}

/* The step of length h just tried goes along its first slope instead where this leads over the
   surface at which a block switches its mode, and rates beyond lead back, as where a clutch locks.
   With stages on both sides steps stay before it for ever, and nothing would switch. */
static void sb_over_surface(sb_stepper *m, double h) {
  SB_REAL line[SB_NX];
  double low = 0, high = h;
  int k;
  if (sb_unfit(m, m->t, m->x) >= 0) return;
  sb_along(m, (SB_REAL)h, line);
  k = sb_unfit(m, m->t + h, line);
  if (k < 0 || sb_unfit(m, m->t + h, m->next) >= 0) return;
  while (high - low > SB_LOCATED) {
    double middle = 0.5 * (low + high);
    int found;
    if (!(low < middle && middle < high)) break;
    sb_along(m, (SB_REAL)middle, line);
    found = sb_unfit(m, m->t + middle, line);
    if (found < 0) low = middle;
    else high = middle, k = found;
  }
  sb_along(m, (SB_REAL)low, line);
  if (!(sb_change(m, k, m->t + low, line) > 0)) return;
  sb_along(m, (SB_REAL)high, line);
  if (sb_change(m, k, m->t + high, line) <= 0) sb_along(m, (SB_REAL)h, m->next);
}

#endif

/* Integrate from m->t to `end`, between which no source switches: in one step, or in steps short
   enough to detect poses in which loops lose rank. */
static int sb_segment(sb_stepper *m, double end) {
  m->low = SB_JUST_AFTER(m->t);
  m->high = SB_JUST_BEFORE(end);
#if SB_REACHES
  sb_watch(m, m->t, m->x, SB_G0(m));
  for (int n = 1; m->t < end; n++) {
    double h = end - m->t, theta = 2;
    int last = 1;
    const int short_of = n < SB_MOST_STEPS; /* the last step covers the rest */
    if (short_of) h = sb_length(m, h, &last);
    sb_slope(m, m->t, m->x, SB_K(m));
    sb_try(m, (SB_REAL)h);
    if (short_of) theta = sb_find_crossing(m, (SB_REAL)h, m->high);
    else sb_watch(m, m->high, SB_XN(m), SB_G1(m));
#if SB_SWITCHES && SB_JUMPS
    if (theta > 1) sb_over_surface(m, h);
#endif
    if (theta <= 1) sb_up_to_crossing(m, (SB_REAL)(theta * h));
    m->t = theta <= 1 ? m->t + theta * h : last ? end : m->t + h;
    sb_take_projected(m);
    sb_copy(SB_G0(m), SB_G1(m), SB_CROSSINGS);
    if (theta > 1) continue;
    sb_watch(m, m->t, m->x, SB_G0(m));
    for (int k = 0; k < SB_CROSSINGS && !m->status; k++)
      if (sb_kinds[k] == SB_FAULT && SB_G0(m)[k] > 0) sb_fault(m, k, 1);
    if (m->status) return m->status;
  }
#else
  sb_slope(m, m->t, m->x, SB_K(m));
  sb_try(m, (SB_REAL)(end - m->t));
#if SB_SWITCHES && SB_JUMPS
  sb_over_surface(m, end - m->t);
#endif
  m->t = end;
  sb_take_projected(m);
#endif
  return SB_GOES_ON;
}

#endif

/* The states at the next step. If one is not finite, nothing changes. */
static int sb_update_to(SB_STATE *s, const SB_INPUTS *u, const SB_PARAMETERS *p) {
#if SB_NX
  const double end = sb_time(s->k + 1);
  SB_REAL next[SB_NX], spare[SB_NX], room[(SB_STAGES + 3) * SB_NX];
#if SB_IS_IMPLICIT
  SB_REAL J[SB_ENTRIES(m) + SB_NX], lu[SB_ENTRIES(m)], row[SB_NX];
#endif
#if SB_REACHES
  SB_REAL g[4 * SB_CROSSINGS];
#endif
  sb_stepper m = {0};
  int status = SB_GOES_ON;
  m.t = sb_time(s->k);
  m.u = u;
  m.p = p;
  m.given = m.x = s->x;
  m.next = next;
  m.spare = spare;
  m.room = room;
#if SB_IS_IMPLICIT
  m.J = J;
  m.lu = lu;
  m.row = row;
#endif
#if SB_REACHES
  m.g = g;
#endif
#if SB_NXD
  m.xd = s->xd;
#endif
#if SB_NE
  {
    double at[2 * SB_NE];
    sb_model_edges(u, p, at);
    for (int n = 1; m.t < end && !status; n++) /* the last step covers the rest */
      status = sb_segment(&m, n < SB_MOST_STEPS ? sb_next_switch(at, m.t, end) : end);
  }
#else
  status = sb_segment(&m, end);
#endif
#if SB_FAULTS
  s->fault = m.fault;
#endif
  if (status) return status;
  if (!sb_finite(m.x, SB_NX)) return SB_NOT_A_NUMBER;
  sb_copy(s->x, m.x, SB_NX);
#else
  (void)u;
  (void)p;
#endif
  s->k++;
  return SB_GOES_ON;
}

#endif

#endif
