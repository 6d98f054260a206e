/* A step of exported C: its ticks and outputs, and the integration of the states to the next step.

   The including file defines, from the diagram: the types SB_STATE, SB_INPUTS, SB_PARAMETERS,
   SB_OUTPUTS and SB_REAL; sizes; tables; and the functions of the model. At step k blocks switch
   modes, the clocks that are due tick, blocks switch modes that this sets off, and the outputs are
   computed. Then the states are integrated
   with the inputs held, in segments between the times at which sources switch. The only state is
   SB_STATE. */

#ifndef SB_FIXED_RATE_H
#define SB_FIXED_RATE_H

typedef struct {
  long long k; /* the number of the step */
  double t, low, high; /* sources see only times strictly within a segment */
  const SB_INPUTS *u;
  const SB_PARAMETERS *p;
  const SB_REAL *xd;
  SB_REAL *given, *x, *next, *spare; /* states: of SB_STATE, now, where a step leads; and room */
  SB_REAL *room;
  int crossed, staged;
  long long fault; /* its number */
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
#define SB_CONTROLLED(m) 0
#define SB_LONGEST(m) INFINITY
#define SB_STEP_LIMIT(m) INFINITY
#define SB_NG(m) SB_CROSSINGS
#define SB_KIND(m, k) sb_kinds[k]
#define SB_DIRECTION(m, k) sb_directions[k]
#define SB_FIRST(k) sb_first[k]
#define SB_VALUES(m) ((m)->room + (SB_STAGES + 3) * SB_NX)
#define SB_G0(m) SB_VALUES(m)
#define SB_G1(m) (SB_VALUES(m) + SB_CROSSINGS)
#define SB_GS(m) (SB_VALUES(m) + 2 * SB_CROSSINGS)
#define SB_G(m) (SB_VALUES(m) + 3 * SB_CROSSINGS)
#define SB_CROSSED(m) ((m)->crossed)
#define SB_STAGED(m) ((m)->staged)
#define SB_P(m) sb_rk_b /* never read */
#define SB_DENSE_ORDER(m) 0
#define SB_ND(m) SB_NXD
#define SB_CLOCKS(m) SB_NC
#define SB_HANDOVER_CLOCK(m, k) sb_handover_clocks[k]
#if SB_NXD
#define SB_HAS_CLOCKS
#endif
#if SB_REACHES
#define SB_BOUNDS
#define SB_LOCATES
#endif
#if SB_NX == 0
#define SB_NO_STATES
#endif

#if SB_NX
static double sb_within(const sb_stepper *m, double t) {
  return t < m->low ? m->low : t > m->high ? m->high : t;
}

static void sb_slope(sb_stepper *m, double t, const SB_REAL *x, SB_REAL *out) {
  sb_rates(sb_within(m, t), x, m->xd, m->u, m->p, m->x, out);
}

/* Blocks that have their own one-step map. */
static void sb_own_steps(sb_stepper *m, SB_REAL h) {
#if SB_STEPPED
  sb_advance(m->t, m->x, m->xd, m->u, m->p, h, SB_XM(m));
  for (int i = 0; i < SB_STEPPED; i++) SB_XN(m)[sb_stepped[i]] = SB_XM(m)[sb_stepped[i]];
#else
  (void)m;
  (void)h;
#endif
}
#endif

#if SB_REACHES
/* The longest step in which no crossing is missed. */
static double sb_reach(sb_stepper *m) {
  SB_REAL reach[1];
  sb_model_reach(sb_within(m, m->t), m->x, m->xd, m->u, m->p, reach);
  return (double)reach[0];
}

static void sb_watch(sb_stepper *m, double t, const SB_REAL *x, SB_REAL *out);
#endif

#if SB_NXD
static int sb_due(const sb_stepper *m, int c) { return sb_is_due(c, m->k); }

#if SB_SWITCHES
static int sb_any_due(const sb_stepper *m) {
  int any = 0;
  for (int c = 0; c < SB_NC; c++) any |= sb_due(m, c);
  return any;
}
#endif

static void sb_hand_over(sb_stepper *m, int k, const SB_REAL *before, SB_REAL *xd) {
  sb_handover(k, m->t, m->x, before, m->u, m->p, xd);
}

static void sb_tick_clock(sb_stepper *m, int c, const SB_REAL *before, SB_REAL *xd) {
  sb_tick(c, m->t, m->x, before, m->u, m->p, xd);
}
#endif

#if SB_SWITCHES
static void sb_watch_modes(sb_stepper *m, double t, const SB_REAL *x, const SB_REAL *xd, SB_REAL *out) {
  sb_watched(t, x, xd, m->u, m->p, out);
}

static void sb_switch(sb_stepper *m, double t, int k, int where, SB_REAL *x, SB_REAL *xd) {
  SB_REAL moved[SB_NX]; /* the block reads the states before the step */
  (void)where;
  for (int i = 0; i < SB_NX; i++) moved[i] = x[i];
  sb_switched_by(k, t, x, xd, m->u, m->p, moved);
  for (int i = 0; i < SB_NX; i++) x[i] = moved[i];
}
#endif

#include "sb_step.h"

#if SB_REACHES
static void sb_watch(sb_stepper *m, double t, const SB_REAL *x, SB_REAL *out) {
  sb_watched(t, x, m->xd, m->u, m->p, out);
  for (int k = 0; k < SB_CROSSINGS; k++) /* modes and STOPs act only at the steps */
    if (sb_kinds[k] == SB_MODE || sb_kinds[k] == SB_STOP) out[k] = 0;
}
#endif

#if SB_NX || SB_NXD
static void sb_copy(SB_REAL *to, const SB_REAL *from, int n) {
  for (int i = 0; i < n; i++) to[i] = from[i];
}
#endif

/* --- at a step --------------------------------------------------------------------------- */

#if SB_CROSSINGS
/* The status: a zero-crossing function that ends the run may be above zero. fault: the number of
   the fault, if it is one. */
static int sb_ended(const SB_REAL *g, long long *fault) {
  long long number = 0;
  for (int k = 0; k < SB_CROSSINGS; k++) {
    if (sb_kinds[k] == SB_STOP && g[k] > 0) return SB_STOPPED;
    if (sb_kinds[k] != SB_FAULT) continue;
    if (g[k] > 0) {
      *fault = number;
      return SB_FAULTY;
    }
    number++;
  }
  return SB_GOES_ON;
}
#endif

#if SB_SWITCHES
/* Let blocks switch modes: changes x and xd. */
static void sb_settle(sb_stepper *m, SB_REAL *x, SB_REAL *xd) {
  SB_REAL g[SB_CROSSINGS];
  if (!sb_switched(m, m->t, x, xd, g)) return;
#if SB_PROJECTS
  {
    SB_REAL moved[SB_NX];
    sb_model_project(m->t, x, xd, m->u, m->p, moved);
    sb_copy(x, moved, SB_NX);
  }
#endif
}
#endif

/* Ticks, modes and outputs of the present step. If a result is not finite, nothing changes. */
static int sb_output_at(SB_STATE *s, const SB_INPUTS *u, const SB_PARAMETERS *p, SB_OUTPUTS *y) {
  const double t = sb_time(s->k);
#if SB_SWITCHES
  SB_REAL states[SB_NX];
  SB_REAL *x = states;
#elif SB_NX
  SB_REAL *x = s->x;
#else
  SB_REAL *x = 0;
#endif
#if SB_NXD
  SB_REAL before[SB_NXD], xd[SB_NXD];
#else
  SB_REAL *xd = 0;
#endif
#if SB_NXD || SB_SWITCHES
  sb_stepper m = {0};
  m.k = s->k;
  m.t = t;
  m.u = u;
  m.p = p;
  m.x = x;
#endif
#if SB_SWITCHES
  sb_copy(x, s->x, SB_NX);
#endif
#if SB_NXD
  sb_copy(before, s->xd, SB_NXD);
#if SB_SWITCHES
  if (sb_any_due(&m)) sb_settle(&m, x, before);
#endif
  sb_ticked(&m, before, xd);
  if (!sb_finite(xd, SB_NXD)) return SB_NOT_A_NUMBER;
#endif
#if SB_SWITCHES
  sb_settle(&m, x, xd);
  if (!sb_finite(x, SB_NX)) return SB_NOT_A_NUMBER;
#endif
#if SB_NY
  {
    SB_OUTPUTS found;
    sb_outputs(t, x, xd, u, p, &found);
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
#if SB_CROSSINGS
  {
    SB_REAL g[SB_CROSSINGS];
    long long fault = 0;
    int status;
    sb_watched(t, x, xd, u, p, g);
    status = sb_ended(g, &fault);
#if SB_FAULTS
    s->fault = fault;
#endif
    return status;
  }
#else
  (void)t;
  (void)x;
  (void)xd;
  (void)u;
  (void)p;
  return SB_GOES_ON;
#endif
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
  sb_watched(sb_within(m, t), x, m->xd, m->u, m->p, g);
  for (int k = 0; k < SB_CROSSINGS; k++)
    if (sb_kinds[k] == SB_MODE && g[k] > 0) return k;
  return -1;
}

/* What a zero-crossing function becomes within SB_AHEAD, less what it is. */
static SB_REAL sb_change(sb_stepper *m, int k, double t, const SB_REAL *x) {
  SB_REAL slope[SB_NX], to[SB_NX], now[SB_CROSSINGS], then[SB_CROSSINGS];
  sb_slope(m, t, x, slope);
  for (int i = 0; i < SB_NX; i++) to[i] = x[i] + (SB_REAL)SB_AHEAD * slope[i];
  sb_watched(sb_within(m, t), x, m->xd, m->u, m->p, now);
  sb_watched(sb_within(m, t + SB_AHEAD), to, m->xd, m->u, m->p, then);
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
    if (sb_ended(SB_G0(m), &m->fault)) return SB_FAULTY;
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

#endif

/* The states at the next step. If one is not finite, nothing changes. */
static int sb_update_to(SB_STATE *s, const SB_INPUTS *u, const SB_PARAMETERS *p) {
#if SB_NX
  const double end = sb_time(s->k + 1);
  SB_REAL next[SB_NX], spare[SB_NX], room[(SB_STAGES + 3) * SB_NX + 4 * SB_CROSSINGS];
  sb_stepper m = {0};
  int status = SB_GOES_ON;
  m.t = sb_time(s->k);
  m.u = u;
  m.p = p;
  m.given = m.x = s->x;
  m.next = next;
  m.spare = spare;
  m.room = room;
#if SB_NXD
  m.xd = s->xd;
#endif
#if SB_NE
  {
    double at[2 * SB_NE];
    sb_edges(u, p, at);
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
