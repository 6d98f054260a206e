/* Co-simulation: a communication step in explicit Runge-Kutta steps, which end at ticks, known
   switching times and crossings. Their length is controlled by the error estimate of an embedded
   method, to the importer's tolerance, or is constant, at most SB_STEP (sb_step.h). */

#ifndef SB_FMU_STEP_H
#define SB_FMU_STEP_H

/* No step is possible: the loop says what that means. */
static void sb_fail(sb_fmu *m, int where, int why, const sb_trial *s) {
  (void)where, (void)s;
  m->why = why;
}

#if SB_SLIDES

/* Whether the straight line of length h along the first slope crosses a surface. */
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
   method, and then goes over it. Returns whether the step just tried is to be repeated. */
static int sb_meets_lines(sb_fmu *m, sb_trial *s, int good) {
  double low = 0, high = s->h;
  if (!good || !sb_line_crosses(m, high)) return 0;
  m->gap = 0;
  while (high - low > SB_LOCATED && high - low > SB_PART * low) {
    double middle = 0.5 * (low + high);
    if (sb_line_crosses(m, middle)) high = middle;
    else low = middle;
  }
  if (low > SB_BEFORE) {
    m->s.limit = fmin(m->s.limit, low);
    return 1;
  }
  s->over = 1;
  s->h = high;
  return 0;
}

#endif

/* --- steps ------------------------------------------------------------------------------- */

/* A step without states, from which signals that depend only on time may cross. */
static sb_trial sb_waited(sb_fmu *m, double end) {
  const double left = end - m->s.t;
  sb_trial s = {0};
  s.last = !SB_CROSSINGS || left <= SB_STEP;
  s.h = s.last ? left : SB_STEP;
  s.theta = SB_CROSSINGS ? sb_find_crossing(m, s.h, end) : 2;
  s.taken = 1;
  s.cut = s.theta < 2;
  s.until = s.cut ? m->s.t + s.theta * s.h : s.last ? end : m->s.t + s.h;
  return s;
}

/* No step is possible; but steps become short, too, when the states are at a surface, along which they
   may begin to slide. */
static int sb_stuck(sb_fmu *m) {
#if SB_SLIDES
  int lands = m->why == SB_NO_END ? 0 : sb_lands(m);
  if (lands < 0) return SB_ERROR;
  if (lands) {
    m->s.h = 0;
    m->sloped = 0;
    sb_look(m);
    return SB_OK;
  }
#endif
  if (m->why == SB_NO_END)
    return sb_log(m, SB_DISCARD, "the states are not finite after t = %.9g s", m->s.t);
  return sb_log(m, SB_DISCARD,
                "no step is short enough after t = %.9g s: the states do not stay finite, or "
                "change too fast", m->s.t);
}

/* Act on what the step just accepted has crossed. */
static int sb_cross(sb_fmu *m) {
  sb_mark(m, 0, 0);
  for (int k = 0; k < SB_CROSSINGS; k++)
    if (m->s.hit[k] && (SB_SLIDES || SB_ACTS_AT(sb_crossings[k].kind))) m->s.h = 0;
  if (sb_act(m, 0) != SB_OK) return SB_ERROR;
  sb_look(m);
  return SB_OK;
}

/* Integrate to the time `end`, before which there is no known event. */
static int sb_integrate(sb_fmu *m, double end) {
  int crossings = 0, status = SB_OK;
  m->gap = 0;
  m->end = end;
  m->sloped = 0;
  while (m->s.t < end && !m->s.stopped && status == SB_OK) {
    sb_trial s;
    if (SB_NX) sb_begin_step(m, 1, end - m->s.t);
    s = SB_NX ? sb_tried(m, 1, end) : sb_waited(m, end);
    if (s.failed) status = sb_stuck(m);
    if (!s.taken) continue;
    sb_accept(m, &s);
    if (SB_DRIFTS) sb_project(m);
    if (SB_DRIFTS || !SB_CONTROLLED(m)) m->sloped = 0;
    if (!s.cut) continue;
    if (++crossings > SB_MOST_EVENTS)
      return sb_log(m, SB_ERROR, "it crosses zero without end at t = %.9g s", m->s.t);
    status = sb_cross(m);
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
