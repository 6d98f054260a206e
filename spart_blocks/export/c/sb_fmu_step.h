/* Co-simulation: a communication step in explicit Runge-Kutta steps of equal length, at most
   SB_STEP each, cut at ticks, at known switching times and at crossings. */

#ifndef SB_FMU_STEP_H
#define SB_FMU_STEP_H

/* One step from s.x: the result in xn. */
static void sb_try(sb_fmu *m, double h) {
  const double *K = m->stages;
  sb_rates(m, m->s.t, m->s.x, m->s.x, m->stages);
  for (int s = 1; s < SB_STAGES; s++) {
    for (int i = 0; i < SB_NX; i++) {
      double sum = 0;
      for (int j = 0; j < s; j++) sum += sb_rk_a[s * SB_STAGES + j] * K[j * SB_NX + i];
      m->xt[i] = m->s.x[i] + h * sum;
    }
    sb_rates(m, m->s.t + sb_rk_c[s] * h, m->xt, m->s.x, m->stages + s * SB_NX);
  }
  for (int i = 0; i < SB_NX; i++) {
    double sum = 0;
    for (int j = 0; j < SB_STAGES; j++) sum += sb_rk_b[j] * K[j * SB_NX + i];
    m->xn[i] = m->s.x[i] + h * sum;
  }
  if (SB_STEPPED) { /* blocks with a one-step map of their own */
    sb_model_advance(sb_within(m, m->s.t), m->s.x, m->s.xd, m->s.p, h, m->xt);
    for (int i = 0; i < SB_STEPPED; i++) m->xn[sb_stepped[i]] = m->xt[sb_stepped[i]];
  }
}

static int sb_any_crossed(sb_fmu *m, double h) {
  sb_watch(m, m->s.t + h, m->xn, m->g);
  for (int k = 0; k < SB_NG; k++)
    if (sb_crossed(k, m->s.g[k], m->g[k])) return 1;
  return 0;
}

/* A step of length h to just behind a crossing, with all its stages before it: where the rates
   jump there, one stage behind it would count as for the whole step. */
static void sb_up_to(sb_fmu *m, double h) {
  double gap = fmin(h, fmax(SB_BEFORE, SB_PART * h));
  sb_try(m, h - gap);
  sb_rates(m, m->s.t + h - gap, m->xn, m->s.x, m->stages); /* the rest by the midpoint rule */
  for (int i = 0; i < SB_NX; i++) m->xt[i] = m->xn[i] + 0.5 * gap * m->stages[i];
  sb_rates(m, m->s.t + h - 0.5 * gap, m->xt, m->s.x, m->stages);
  for (int i = 0; i < SB_NX; i++) m->xn[i] += gap * m->stages[i];
  if (!sb_any_crossed(m, h)) sb_try(m, h);
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
  if (SB_NX) sb_up_to(m, high);
  return high;
}

/* One step of at most h; returns its length, 0 where it leads to no finite state, and -1
   where a block switches without end, which has been told. */
static double sb_one_step(sb_fmu *m, double h) {
  int crossed = 0;
  if (SB_NX) sb_try(m, h);
  if (!sb_finite(m->xn, SB_NX)) return 0;
  if (SB_NG && sb_any_crossed(m, h)) {
    double until = sb_until_crossing(m, h);
    if (!sb_finite(m->xn, SB_NX)) return 0;
    h = until;
    crossed = 1;
  }
  m->s.t += h;
  sb_copy(m->s.x, m->xn, SB_NX);
  if (crossed) {
    sb_mark(m, 0);
    if (sb_act(m) != SB_OK) return -1;
    sb_look(m);
  } else {
    sb_copy(m->s.g, m->g, SB_NG);
  }
  return h;
}

/* Integrate to the time `end`, before which nothing is known to happen. */
static int sb_integrate(sb_fmu *m, double end) {
  int crossings = 0;
  while (m->s.t < end && !m->s.stopped) {
    double left = end - m->s.t, count = ceil(left / SB_STEP - 1e-9), done;
    double h = left / (count > 1 ? count : 1);
    int last = count <= 1;
    if (!SB_NX) {
      h = SB_NG && left > SB_STEP ? SB_STEP : left; /* signals of time alone may cross */
      last = h >= left;
    }
    done = sb_one_step(m, h);
    if (done < 0) return SB_ERROR;
    if (!(done > 0))
      return sb_log(m, SB_DISCARD, "the states are not finite after t = %.9g s", m->s.t);
    if (done < h && ++crossings > SB_MOST_EVENTS)
      return sb_log(m, SB_ERROR, "it crosses zero without end at t = %.9g s", m->s.t);
    if (done >= h && last) m->s.t = end;
  }
  return SB_OK;
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
