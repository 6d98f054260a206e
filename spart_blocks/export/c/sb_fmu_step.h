/* Co-simulation: a communication step in explicit Runge-Kutta steps, cut at ticks, at known
   switching times and at crossings. Their length is chosen by the error that an embedded
   method tells, to the importer's tolerance, or is the same all along, at most SB_STEP
   (sb_step.h). */

#ifndef SB_FMU_STEP_H
#define SB_FMU_STEP_H

/* What sb_step.h is told. */
#define SB_SELF sb_fmu
#define SB_REAL double
#define SB_N(m) SB_NX
#define SB_STAGES_OF(m) SB_STAGES
#define SB_T(m) ((m)->s.t)
#define SB_X(m) ((m)->s.x)
#define SB_XN(m) ((m)->xn)
#define SB_XT(m) ((m)->xt)
#define SB_XM(m) ((m)->xt)
#define SB_K(m) ((m)->stages)
#define SB_SLOPE(m) ((m)->slope)
#define SB_A(m) sb_rk_a
#define SB_B(m) sb_rk_b
#define SB_C(m) sb_rk_c
#define SB_E(m) sb_rk_e
#define SB_ERROR_OF(m, size) ((m)->s.rtol * (SB_ATOL_PER_RTOL + (size)))

static void sb_slope(sb_fmu *m, double t, const double *x, double *out) {
  sb_rates(m, t, x, m->s.x, out);
}

/* Blocks with a one-step map of their own. */
static void sb_own_steps(sb_fmu *m, double h) {
  if (!SB_STEPPED || SB_CONTROLLED) return;
  sb_model_advance(sb_within(m, m->s.t), m->s.x, m->s.xd, m->s.p, h, m->xt);
  for (int i = 0; i < SB_STEPPED; i++) m->xn[sb_stepped[i]] = m->xt[sb_stepped[i]];
}

#include "sb_step.h"

/* --- the length of a step ---------------------------------------------------------------- */

/* The length of the step to try where `left` is left, and whether it is the last. */
static double sb_length(sb_fmu *m, double left, int *last) {
  double longest = SB_CONTROLLED ? SB_MAX_STEP : SB_STEP, h;
  if (!SB_NX) { /* signals of time alone may cross */
    *last = !SB_NG || left <= SB_STEP;
    return *last ? left : SB_STEP;
  }
  if (SB_REACHES) {
    double reach[1];
    sb_model_reach(sb_within(m, m->s.t), m->s.x, m->s.xd, m->s.p, reach);
    longest = fmin(longest, reach[0]);
  }
  if (m->s.limit > 0) longest = fmin(longest, m->s.limit);
  if (SB_CONTROLLED) {
    if (!(m->s.h > 0)) m->s.h = sb_first_step(m, left);
    m->s.h = fmin(m->s.h, longest);
    *last = sb_is_last(m->s.h, left);
    return *last ? left : m->s.h;
  }
  h = sb_equal_length(left, longest);
  *last = sb_is_last(h, left);
  return h;
}

/* Whether the error of the step just tried is small enough; sets the length of the next. */
static int sb_accurate(sb_fmu *m, double h, int last) {
  double error, grown;
  if (!SB_CONTROLLED) return 1;
  error = sb_error(m, h);
  grown = sb_next_length(m, h, error);
  if (!(error < 1)) { /* too large, or no number */
    m->s.h = grown;
    return 0;
  }
  if (!last || grown > m->s.h) m->s.h = grown; /* a step cut short says little */
  return 1;
}

/* --- crossings --------------------------------------------------------------------------- */

static int sb_any_crossed(sb_fmu *m, double h) {
  sb_watch(m, m->s.t + h, m->xn, m->g);
  for (int k = 0; k < SB_NG; k++)
    if (sb_crossed(k, m->s.g[k], m->g[k])) return 1;
  return 0;
}

/* The length of the step up to the first crossing within h, just at its far side; the result
   of that step is in xn. */
static double sb_until_crossing(sb_fmu *m, double h) {
  double low = 0, high = h;
  while (high - low > 2.5e-11 && high - low > 1e-15 * h) {
    double middle = 0.5 * (low + high);
    if (SB_NX) sb_try(m, middle);
    if (sb_any_crossed(m, middle)) high = middle;
    else low = middle;
  }
  if (SB_NX) {
    sb_up_to(m, high);
    if (!sb_any_crossed(m, high)) sb_try(m, high);
  }
  return high;
}

#if SB_SLIDES
/* Whether the straight line of length h along the first slope crosses a surface: into xt. */
static int sb_line_crosses(sb_fmu *m, double h) {
  for (int i = 0; i < SB_NX; i++) m->xt[i] = m->s.x[i] + h * m->stages[i];
  sb_watch(m, m->s.t + h, m->xt, m->g);
  for (int k = 0; k < SB_NG; k++)
    if (sb_crossings[k].kind == SB_BEND && !sb_leads(m, k) &&
        sb_crossed(k, m->s.g[k], m->g[k]))
      return 1;
  return 0;
}

/* A step with stages on both sides of a surface may stay on its own side for ever, each time by
   as little as error control allows. So a step ends where its first slope leads to a surface,
   as Newton's method comes to a root, and there goes over it. */
enum { SB_FREE, SB_NEARER, SB_OVER };

/* SB_NEARER: the step of length h has to be taken anew, of the length s.limit at most; SB_OVER:
   one of the new length h goes over a surface. */
static int sb_nears(sb_fmu *m, double *h) {
  double low = 0, high = *h;
  if (!sb_line_crosses(m, high)) return SB_FREE;
  while (high - low > 2.5e-11 && high - low > 1e-3 * low) {
    double middle = 0.5 * (low + high);
    if (sb_line_crosses(m, middle)) high = middle;
    else low = middle;
  }
  if (low > 5e-11) {
    m->s.limit = m->s.limit > 0 ? fmin(m->s.limit, low) : low;
    return SB_NEARER;
  }
  sb_line_crosses(m, high);
  sb_copy(m->xn, m->xt, SB_NX);
  *h = high;
  return SB_OVER;
}
#endif

/* --- steps ------------------------------------------------------------------------------- */

/* Take the step of length h that was just tried, or its part up to a crossing. over: it goes
   just over one. */
static int sb_take(sb_fmu *m, double h, double end, int last, int over, int *crossings) {
  int crossed = SB_NG && sb_finite(m->xn, SB_NX) && sb_any_crossed(m, h);
  if (crossed && !over) h = sb_until_crossing(m, h);
  if (!sb_finite(m->xn, SB_NX))
    return sb_log(m, SB_DISCARD, "the states are not finite after t = %.9g s", m->s.t);
  m->s.t = last && !crossed ? end : m->s.t + h;
  sb_copy(m->s.x, m->xn, SB_NX);
  if (SB_DRIFTS) sb_project(m);
  m->s.limit = 0;
  if (!crossed) {
    sb_copy(m->s.g, m->g, SB_NG);
    return SB_OK;
  }
  if (++*crossings > SB_MOST_EVENTS)
    return sb_log(m, SB_ERROR, "it crosses zero without end at t = %.9g s", m->s.t);
  m->s.h = 0;
  sb_mark(m, 0);
  if (sb_act(m) != SB_OK) return SB_ERROR;
  sb_look(m);
  return SB_OK;
}

/* Integrate to the time `end`, before which nothing is known to happen. */
static int sb_integrate(sb_fmu *m, double end) {
  int crossings = 0, known = 0, status = SB_OK; /* known: the slope at s.x */
  while (m->s.t < end && !m->s.stopped && status == SB_OK) {
    int last, over = 0, before = crossings;
    double h;
    if (SB_NX && !known) sb_rates(m, m->s.t, m->s.x, m->s.x, m->stages);
    h = sb_length(m, end - m->s.t, &last);
    if (SB_NX && !last && h < 10 * (nextafter(m->s.t, INFINITY) - m->s.t)) {
#if SB_SLIDES
      int lands = sb_lands(m); /* steps grow short where the states have come to a surface */
      if (lands < 0) return SB_ERROR;
      if (lands) {
        m->s.h = 0;
        known = 0;
        sb_look(m);
        continue;
      }
#endif
      return sb_log(m, SB_DISCARD,
                    "no step is short enough after t = %.9g s: the states do not stay finite, or "
                    "change too fast", m->s.t);
    }
    if (SB_NX) sb_try(m, h);
    known = 1;
    if (SB_NX && !sb_accurate(m, h, last)) continue;
#if SB_SLIDES
    over = sb_nears(m, &h);
    if (over == SB_NEARER) continue;
#endif
    status = sb_take(m, h, end, last, over, &crossings);
    /* The last slope of the step is the first of the next. */
    known = SB_CONTROLLED && SB_NX > 0 && !SB_DRIFTS && crossings == before;
    if (known) sb_copy(m->stages, m->stages + (SB_STAGES - 1) * SB_NX, SB_NX);
  }
  return status;
}

/* One communication step; at its end known switches are passed, and ticks are left for when
   the inputs of that time are known. A step that fails leaves the instance as it was. */
static int sb_do_step(sb_fmu *m, double from, double h) {
  double end = from + h, close = sb_near(end);
  int status = SB_OK;
  if (!(h > 0) || !isfinite(end) || fabs(from - m->s.t) > close + 1e-3 * h)
    return sb_log(m, SB_ERROR, "a step of %.9g s from %.9g s does not go on from t = %.9g s", h,
                  from, m->s.t);
  m->saved = m->s;
  for (int events = 0; status == SB_OK; events++) {
    double until = end;
    status = sb_events(m, 0);
    if (status != SB_OK || m->s.stopped) break;
    if (m->s.next <= end + close) until = m->s.next;
    if (m->s.t < until) status = sb_integrate(m, until);
    if (status != SB_OK || m->s.stopped) break;
    sb_project(m);
    if (until >= end - close) {
      status = sb_pass(m);
      break;
    }
    if (events > 100 * SB_MOST_EVENTS)
      status = sb_log(m, SB_ERROR, "too many events after t = %.9g s", from);
  }
  m->fresh = 0;
  if (status != SB_OK) m->s = m->saved;
  return status;
}

#endif
