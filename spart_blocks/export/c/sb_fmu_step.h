/* Co-simulation: a communication step in explicit Runge-Kutta steps, which end at ticks, known
   switching times and crossings. Their length is controlled by the error estimate of an embedded
   method, to the importer's tolerance, or is constant, at most SB_STEP (sb_step.h). */

#ifndef SB_FMU_STEP_H
#define SB_FMU_STEP_H

/* The length of the step to try if `left` remains, and whether it is the last. */
static double sb_next_step(sb_fmu *m, double left, int *last) {
  if (SB_NX) {
    if (SB_CONTROLLED(m) && !(m->s.h > 0)) m->s.h = sb_first_step(m, left);
    return sb_length(m, left, last);
  }
  *last = !SB_CROSSINGS || left <= SB_STEP; /* signals that depend only on time may cross */
  return *last ? left : SB_STEP;
}

/* Steps may stay before a surface for ever, with stages on both sides. SB_NEARER: the step of length
   h must be repeated, with a length of at most s.limit. SB_OVER: a step of the new length h goes
   over a surface. */
enum { SB_FREE, SB_NEARER, SB_OVER };

#if SB_SLIDES
/* Whether the straight line of length h along the first slope crosses a surface. Writes its end to
   xt. */
static int sb_line_crosses(sb_fmu *m, double h) {
  for (int i = 0; i < SB_NX; i++) m->xt[i] = m->s.x[i] + h * m->slopes[i];
  sb_watch(m, m->s.t + h, m->xt, m->g);
  for (int k = 0; k < SB_CROSSINGS; k++)
    if (sb_crossings[k].kind == SB_BEND && !sb_leads(m, k) &&
        sb_crossed(m->s.g[k], m->g[k], sb_crossings[k].direction))
      return 1;
  return 0;
}

/* With stages on both sides of a surface, steps could stay on one side for ever, each as short as
   error control allows. So a step ends where its first slope meets a surface, as in Newton's
   method, and then goes over it. */
static int sb_nears(sb_fmu *m, double *h, double end) {
  double low = 0, high = *h;
  (void)end;
  if (!sb_line_crosses(m, high)) return SB_FREE;
  while (high - low > SB_LOCATED && high - low > SB_PART * low) {
    double middle = 0.5 * (low + high);
    if (sb_line_crosses(m, middle)) high = middle;
    else low = middle;
  }
  if (low > SB_BEFORE) {
    m->s.limit = m->s.limit > 0 ? fmin(m->s.limit, low) : low;
    return SB_NEARER;
  }
  sb_line_crosses(m, high);
  sb_copy(m->xn, m->xt, SB_NX);
  *h = high;
  return SB_OVER;
}
#else
/* At surfaces where something acts. */
static int sb_nears(sb_fmu *m, double *h, double end) {
#ifdef SB_HOLDS_OFF
  double at;
  int acts = 0;
  for (int k = 0; k < SB_CROSSINGS; k++) acts |= SB_ACTS_AT(sb_crossings[k].kind);
  if (!SB_CONTROLLED(m) || !acts) return SB_FREE;
  sb_watch(m, m->s.t + *h, m->xn, m->g1);
  at = sb_held_off(m, *h, end, 1);
  if (at == INFINITY) return SB_FREE;
  if (at > SB_LAST_LINE_AT(m->s.t)) {
    m->s.limit = at - SB_SHORT_OF;
    return SB_NEARER;
  }
  *h = fmin(at, end - m->s.t);
  for (int i = 0; i < SB_NX; i++) m->xn[i] = m->s.x[i] + *h * m->slopes[i];
  return SB_OVER;
#else
  (void)m, (void)h, (void)end;
  return SB_FREE;
#endif
}
#endif

/* --- steps ------------------------------------------------------------------------------- */

/* The states at a crossing within the step of length h, into xn: by dense output if there is error
   control, else by a shorter step. */
static void sb_cut(sb_fmu *m, double h, double theta) {
  if (!SB_NX) return;
  if (SB_CONTROLLED(m)) {
    sb_dense(m, h, theta, m->xm);
    sb_copy(m->xn, m->xm, SB_NX);
  } else {
    sb_up_to_crossing(m, theta * h);
  }
}

/* The first crossing in the step of length h that was just tried, as a fraction of h, or 2. Returns
   whether the step must be repeated, with a length of at most s.limit. */
static int sb_spans(sb_fmu *m, double h, double end, double *theta) {
  double shorter = 0;
  *theta = SB_CROSSINGS && sb_finite(m->xn, SB_NX) ? sb_find_crossing(m, h, end) : 2;
  if (SB_NX && SB_CROSSINGS && SB_CONTROLLED(m)) shorter = sb_short_of(m, 1, h, *theta);
  if (shorter > 0) m->s.limit = m->s.limit > 0 ? fmin(m->s.limit, shorter) : shorter;
  return shorter > 0;
}

/* Accept the step of length h that was just tried, or its part up to a crossing at theta h. over: it
   goes just over one. */
static int sb_take(sb_fmu *m, double h, double theta, double end, int last, int over,
                   int *crossings) {
  if (!sb_finite(m->xn, SB_NX))
    return sb_log(m, SB_DISCARD, "the states are not finite after t = %.9g s", m->s.t);
  if (theta < 2 && !over) sb_cut(m, h, theta);
  m->s.t = theta < 2 ? m->s.t + theta * h : last ? end : m->s.t + h;
  sb_copy(m->s.x, m->xn, SB_NX);
  if (SB_DRIFTS) sb_project(m);
  m->s.limit = 0;
  if (theta >= 2) {
    sb_copy(m->s.g, m->g1, SB_CROSSINGS);
    return SB_OK;
  }
  if (++*crossings > SB_MOST_EVENTS)
    return sb_log(m, SB_ERROR, "it crosses zero without end at t = %.9g s", m->s.t);
  sb_mark(m, 0, 0);
  for (int k = 0; k < SB_CROSSINGS; k++)
    if (m->s.hit[k] && (SB_SLIDES || SB_ACTS_AT(sb_crossings[k].kind))) m->s.h = 0;
  if (sb_act(m, 0) != SB_OK) return SB_ERROR;
  sb_look(m);
  return SB_OK;
}

/* Integrate to the time `end`, before which there is no known event. */
static int sb_integrate(sb_fmu *m, double end) {
  int crossings = 0, known = 0, status = SB_OK; /* known: the slope at s.x */
  m->gap = 0;
  while (m->s.t < end && !m->s.stopped && status == SB_OK) {
    int last, over = 0, before = crossings;
    double h, theta = 1;
    if (SB_NX && !known) sb_rates(m, m->s.t, m->s.x, m->s.x, m->slopes);
    h = sb_next_step(m, end - m->s.t, &last);
    if (SB_NX && !last && h < 10 * (nextafter(m->s.t, INFINITY) - m->s.t)) {
#if SB_SLIDES
      int lands = sb_lands(m); /* steps become short when the states are at a surface */
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
    if (SB_NX && SB_CONTROLLED(m)) {
      const double pace = m->s.h;
      if (!sb_accurate(m, h, last)) { /* a bend, not its length, may be why */
        if (sb_finite(m->xn, SB_NX) && sb_spans_bend(m, h, end) && sb_spans(m, h, end, &theta))
          m->s.h = pace;
        continue;
      }
    }
    over = sb_nears(m, &h, end);
    if (over) m->gap = 0;
    if (over == SB_NEARER) continue;
    if (!over && sb_spans(m, h, end, &theta)) continue;
    status = sb_take(m, h, theta, end, last, over, &crossings);
    /* The last slope of the step is the first of the next. */
    known = SB_CONTROLLED(m) && SB_NX > 0 && !SB_DRIFTS && crossings == before;
    if (known) sb_copy(m->slopes, m->slopes + (SB_STAGES - 1) * SB_NX, SB_NX);
  }
  return status;
}

/* One communication step. Known switches at its end are passed; ticks there wait until the inputs
   of that time are known. A step that fails leaves the instance unchanged. */
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
