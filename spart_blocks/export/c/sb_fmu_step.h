/* Co-simulation: a communication step in Runge-Kutta steps, which end at ticks, known
   switching times and crossings. Their length is controlled by the error estimate of an embedded
   method, to the importer's tolerance, or is constant, at most SB_STEP (sb_step.h). */

#ifndef SB_FMU_STEP_H
#define SB_FMU_STEP_H

/* --- steps ------------------------------------------------------------------------------- */

static double sb_next_look(const sb_fmu *m, double stop) {
  return SB_CROSSINGS && stop - m->s.t > SB_STEP ? m->s.t + SB_STEP : stop;
}

/* No step is possible; but steps become short, too, when the states are at a surface, along which they
   may begin to slide. */
static void sb_fail(sb_fmu *m, int where, int why, const sb_trial *s) {
  (void)where, (void)s;
#if SB_SLIDES
  if (why != SB_NO_END) {
    int lands = sb_lands(m);
    if (lands < 0) m->status = SB_ERROR;
    if (lands > 0) {
      m->s.h = 0;
      m->sloped = 0;
      sb_take_values(m, 1);
    }
    if (lands) return;
  }
#endif
  m->status = why == SB_NO_END
                  ? sb_log(m, SB_DISCARD, "the states are not finite after t = %.9g s", m->s.t)
                  : sb_log(m, SB_DISCARD,
                           "no step is short enough after t = %.9g s: the states do not stay finite, "
                           "or change too fast", m->s.t);
}

static void sb_record_step(sb_fmu *m, sb_trial *s) {
  (void)s;
  if (!SB_CONTROLLED(m)) m->sloped = 0; /* the next step finds its own slope */
}

static void sb_hits(sb_fmu *m, int cut) {
  if (SB_DRIFTS(m)) sb_project(m, cut);
  if (++m->crossings > SB_MOST_EVENTS) {
    m->status = sb_log(m, SB_ERROR, "it crosses zero without end at t = %.9g s", m->s.t);
    return;
  }
  cut = sb_mark(m, 0, 0);
  for (int k = 0; k < SB_CROSSINGS; k++)
    if (m->s.hit[k] && (SB_SLIDES || SB_ACTS_AT(sb_crossings[k].kind))) m->s.h = 0;
  if (cut) sb_cross(m, cut, 0);
  if (m->status == SB_OK) sb_take_values(m, 1);
}

/* Integrate to the time `end`, before which there is no known event. */
static int sb_integrate(sb_fmu *m, double end) {
  m->crossings = m->sloped = 0;
  m->gap = 0;
  m->end = end;
  m->status = SB_OK;
  while (m->s.t < end && !m->s.stopped && m->status == SB_OK) sb_go_on(m, 1, end);
  return m->status;
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
    status = sb_events(m);
    if (status != SB_OK || m->s.stopped) break;
    if (m->s.next <= end + close) until = m->s.next;
    if (m->s.t < until) status = sb_integrate(m, until);
    if (status != SB_OK || m->s.stopped) break;
    sb_project(m, 1);
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
