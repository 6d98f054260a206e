/* A step of exported C in which crossings act where they are: those of EVENTs, modes, STOPs and faults,
   and surfaces along which states slide. The steps, the location of crossings and what they do are those
   of other runs (sb_trial.h, sb_advance.h). Included by sb_fixed_rate.h.

   In one step at most SB_MOST_EVENTS crossings act; more are a fault, as are resets that accumulate,
   where nothing holds their signal. Then, and where a STOP acts within a step, the state stays that of
   its start. */

/* Memory for a step. */
typedef struct {
  SB_KEPT kept;
  double x[SB_ROOM(SB_NX)], next[SB_ROOM(SB_NX)], xd[SB_ROOM(SB_NXD)], before[SB_ROOM(SB_NXD)];
  double room[(SB_STAGES + 3) * SB_ROOM(SB_NX)], g[4 * SB_CROSSINGS];
#if SB_IS_IMPLICIT
  double J[SB_ENTRIES(m) + SB_NX], lu[SB_ENTRIES(m)], row[SB_NX];
#endif
#if SB_SLIDES
  double normals[SB_CROSSINGS * SB_NX];
#endif
  unsigned char hit[SB_CROSSINGS];
  int due[SB_ROOM(SB_NC)];
} sb_space;

/* A time for signals: within the present segment, with its start. */
static double sb_seen(const sb_stepper *m, double t) {
  return t < m->begin ? m->begin : t > m->high ? m->high : t;
}

#if SB_SLIDES || SB_RESETS
static void sb_field(const sb_stepper *m, double t, const double *x, const double *xd, double *out) {
#if SB_NX
  sb_model_rates(sb_within(m, t), x, xd, m->u, m->p, x, out);
#else
  (void)m, (void)t, (void)x, (void)xd, (void)out;
#endif
}
#endif

static void sb_signals(const sb_stepper *m, double t, const double *x, const double *xd, double *out) {
  sb_model_watched(sb_seen(m, t), x, xd, m->u, m->p, out);
}

#if SB_SLIDES || SB_RESETS
static void sb_blame(sb_stepper *m, int number) {
  m->status = SB_FAULTY;
  m->fault = SB_OWN_FAULTS + number;
}
#endif

/* More has happened at crossing k than one step allows. */
static void sb_crowd(sb_stepper *m, int k) {
  m->status = SB_FAULTY;
  m->fault = SB_OWN_FAULTS + sb_block[k];
}

#if SB_SLIDES
static double sb_direction(int k) { return sb_directions[k] < 0 ? -1 : 1; }

static void sb_switch_into(const sb_stepper *m, double t, int k, const double *x, const double *xd, double *moved) {
  sb_copy(moved, x, SB_NX);
#if SB_SWITCHES
  sb_model_switched(k, sb_seen(m, t), x, xd, m->u, m->p, moved);
#else
  (void)m, (void)t, (void)k, (void)xd;
#endif
}

static void sb_tell_of(const sb_stepper *m, int k, const char *what) { (void)m, (void)k, (void)what; }

static int sb_too_many_surfaces(sb_stepper *m, const sb_surface *found) {
  (void)found;
  sb_blame(m, SB_BLOCKS + SB_RESETS);
  return m->status;
}

#if SB_RESETS
static int sb_too_many_contacts(sb_stepper *m) {
  sb_blame(m, SB_BLOCKS + SB_RESETS + 1);
  return m->status;
}
#endif

#define SB_OK SB_GOES_ON
#include "sb_slide.h"
#endif

/* --- the functions of the model ---------------------------------------------------------- */

static void sb_slope(sb_stepper *m, double t, const double *x, double *out) {
#if SB_SLIDES
  if (sb_held(m)) {
    sb_held_rates(m, t, x, m->xd, out);
    return;
  }
#endif
#if SB_NX
  sb_model_rates(sb_within(m, t), x, m->xd, m->u, m->p, m->x, out);
#else
  (void)m, (void)t, (void)x, (void)out;
#endif
}

/* The longest step in which no crossing is missed, for the first SB_MOST_STEPS steps. */
static double sb_reach(sb_stepper *m) {
  double reach[1] = {INFINITY};
#if SB_REACHES
  if (m->tries < SB_MOST_STEPS) sb_model_reach(sb_within(m, m->t), m->x, m->xd, m->u, m->p, reach);
#endif
  (void)m;
  return reach[0];
}

static void sb_watch_with(const sb_stepper *m, double t, const double *x, const double *xd, double *out) {
  sb_signals(m, t, x, xd, out);
#if SB_SLIDES
  if (sb_held(m)) sb_held_watch(m, t, x, xd, out);
#endif
}

static void sb_watch(sb_stepper *m, double t, const double *x, double *out) {
  sb_watch_with(m, t, x, m->xd, out);
}

static void sb_watch_now(sb_stepper *m, double *out) { sb_watch(m, m->t, m->x, out); }

#if SB_SWITCHES
static void sb_watch_modes(sb_stepper *m, double t, const double *x, const double *xd, double *out) {
  sb_watch_with(m, t, x, xd, out);
#if SB_SLIDES
  for (int k = 0; k < SB_CROSSINGS; k++)
    if (sb_leads(m, k)) out[k] = 0; /* its value depends on the surface, not on the mode */
#endif
}
#endif

static void sb_project(sb_stepper *m, int where) {
  if (!where) return;
#if SB_PROJECTS
  sb_model_project(m->t, m->x, m->xd, m->u, m->p, m->next);
  sb_copy(m->x, m->next, SB_NX);
#endif
#if SB_SLIDES
  if (sb_held(m)) sb_hold(m);
#endif
  (void)m;
}

/* --- crossings --------------------------------------------------------------------------- */

static void sb_count_crossings(sb_stepper *m, int where) {
  int k = 0;
  (void)where;
#if SB_SLIDES
  sb_remember(m);
#endif
  if (++m->crossings <= SB_MOST_EVENTS) return;
  while (k < SB_CROSSINGS - 1 && !m->hit[k]) k++;
  sb_crowd(m, k);
}

static void sb_settle(sb_stepper *m, int where, double *x, double *xd) {
#if SB_SWITCHES
  if (sb_switched(m, m->t, x, xd, m->g) < 0) {
    int k = 0;
    while (k < SB_CROSSINGS - 1 && !(sb_kinds[k] == SB_MODE && m->g[k] > 0)) k++;
    sb_crowd(m, k);
  }
#endif
  (void)m, (void)where, (void)x, (void)xd;
}

#if SB_RESETS
static double sb_span(const sb_stepper *m) {
  (void)m;
  return SB_PROBED * SB_STEP;
}

static int sb_reset(sb_stepper *m, int k, int where) {
  double moved[SB_ROOM(SB_NX + SB_NXD)];
#if SB_SLIDES
  if (sb_contact(m, k) >= 0) return 0; /* it releases a signal at rest */
#endif
#if SB_NX
  sb_copy(moved, m->x, SB_NX);
#endif
#if SB_NXD
  sb_copy(moved + SB_NX, m->xd, SB_NXD);
#endif
  sb_model_reset(k, sb_seen(m, m->t), m->x, m->xd, m->u, m->p, moved);
#if SB_NX
  sb_copy(m->x, moved, SB_NX);
#endif
#if SB_NXD
  sb_copy(m->xd, moved + SB_NX, SB_NXD);
#endif
  return where;
}

static void sb_bounced(sb_stepper *m, int k, int turned, int rests, const double *x, sb_motion before,
                       double flight) {
  (void)turned, (void)x, (void)before, (void)flight;
#if SB_SLIDES
  if (!turned) return; /* it passes through zero */
  sb_note_bounce(m, k, x, before.v);
  if (rests) sb_rest(m, k);
#else
  if (rests) {
    int number = SB_BLOCKS;
    for (int i = 0; i < k; i++) number += sb_kinds[i] == SB_EVENT;
    sb_blame(m, number);
  }
#endif
}
#endif

#if SB_SLIDES
static void sb_meet(sb_stepper *m, int where, int moved) {
  m->status = sb_meet_surfaces(m, m->hit);
  if (where && m->status == SB_GOES_ON) sb_settle(m, where, m->x, m->xd);
  if (moved && m->status == SB_GOES_ON) sb_let_go(m, m->hit);
}
#endif

/* --- steps ------------------------------------------------------------------------------- */

static double sb_next_look(const sb_stepper *m, double stop) {
  (void)m;
  return stop;
}

/* No step is possible; but steps become short, too, when the states are at a surface, along which they
   may begin to slide. */
static void sb_fail(sb_stepper *m, int where, int why, const sb_trial *s) {
  (void)where, (void)s;
#if SB_SLIDES
  if (why != SB_NO_END) {
    int lands = sb_lands(m);
    if (lands > 0) {
      m->sloped = 0;
      sb_take_values(m, 1);
    }
    if (lands) return;
  }
#endif
  if (why == SB_NO_LENGTH) sb_crowd(m, 0);
  else m->status = SB_NOT_A_NUMBER;
}

static void sb_record_step(sb_stepper *m, sb_trial *s) {
  (void)s;
  m->sloped = 0;
}

static void sb_hits(sb_stepper *m, int cut) {
  int bends;
  if (SB_DRIFTS(m)) sb_project(m, cut);
  sb_reached(m, cut, &bends);
  sb_cross(m, cut, 0);
  if (m->status == SB_GOES_ON) sb_take_values(m, 1);
}

/* The segment from now to `stop`, within which no source switches. */
static void sb_enter_segment(sb_stepper *m, double stop) {
  m->begin = m->t;
  m->low = SB_JUST_AFTER(m->t);
  m->high = SB_NX ? SB_JUST_BEFORE(stop) : nextafter(stop, m->t);
}

static double sb_segment_end(const sb_stepper *m, double end) {
#if SB_NE
  double at[2 * SB_NE];
  sb_model_edges(m->u, m->p, at);
  return sb_next_switch(at, m->t, end);
#else
  (void)m;
  return end;
#endif
}

/* Integrate to the stop, and act on what is crossed. */
static void sb_integrate(sb_stepper *m, double stop) {
  m->sloped = 0;
  while (m->t < stop && m->status == SB_GOES_ON) {
    if (++m->tries > 8 * SB_MOST_EVENTS) sb_crowd(m, m->crossed > 0 ? m->crossed : 0);
    else sb_go_on(m, 1, stop);
  }
  if (m->status == SB_GOES_ON) sb_project(m, 1);
}

static void sb_begin(sb_stepper *m, sb_space *space, const SB_STATE *s, const SB_INPUTS *u,
                     const SB_PARAMETERS *p) {
  space->kept = s->kept;
#if SB_NX
  sb_copy(space->x, s->x, SB_NX);
#endif
#if SB_NXD
  sb_copy(space->xd, s->xd, SB_NXD);
#endif
  m->t = sb_time(s->k);
  m->u = u;
  m->p = p;
  m->kept = &space->kept;
  m->x = space->x;
  m->next = space->next;
  m->xd = space->xd;
  m->before = space->before;
  m->room = space->room;
  m->g = space->g;
  m->hit = space->hit;
  m->due = space->due;
#if SB_IS_IMPLICIT
  m->J = space->J;
  m->lu = space->lu;
  m->row = space->row;
#endif
#if SB_SLIDES
  m->normals = space->normals;
#endif
  m->begun = s->k > 0;
  m->status = SB_GOES_ON;
  m->crossed = -1;
}

static void sb_keep(SB_STATE *s, const sb_stepper *m) {
#if SB_NX
  sb_copy(s->x, m->x, SB_NX);
#endif
#if SB_NXD
  sb_copy(s->xd, m->xd, SB_NXD);
#endif
  s->kept = *m->kept;
}

/* Ticks, jumps and outputs of the present step. If a result is not finite, nothing changes. */
static int sb_output_at(SB_STATE *s, const SB_INPUTS *u, const SB_PARAMETERS *p, SB_OUTPUTS *y) {
  sb_stepper m = {0};
  sb_space space;
  int stage = SB_COMES;
  sb_begin(&m, &space, s, u, p);
  sb_enter_segment(&m, sb_segment_end(&m, sb_time(s->k + 1)));
#if SB_NXD
  for (int c = 0; c < SB_NC; c++) m.any_due |= space.due[c] = sb_is_due(c, s->k);
#endif
  sb_enter(&m, 1, &stage);
  if (m.status == SB_NOT_A_NUMBER || !sb_finite(m.x, SB_NX)) return SB_NOT_A_NUMBER;
  if (m.status == SB_GOES_ON) {
#if SB_SLIDES
    sb_project(&m, 1);
#endif
    sb_take_values(&m, 1);
  }
#if SB_NY
  {
    SB_OUTPUTS found;
    sb_model_outputs(m.t, m.x, m.xd, u, p, &found);
    for (int i = 0; i < SB_NY; i++)
      if (!isfinite(((const SB_MEMBER *)(const void *)&found)[i])) return SB_NOT_A_NUMBER;
    *y = found;
  }
#else
  y->none = 0;
#endif
  sb_keep(s, &m);
  s->fault = m.fault;
  return m.status;
}

/* The states at the next step. If one is not finite, nothing changes. */
static int sb_update_to(SB_STATE *s, const SB_INPUTS *u, const SB_PARAMETERS *p) {
  const double end = sb_time(s->k + 1);
  sb_stepper m = {0};
  sb_space space;
  sb_begin(&m, &space, s, u, p);
  m.begun = 1;
  for (int n = 1; m.t < end && m.status == SB_GOES_ON; n++) { /* the last segment covers the rest */
    const double stop = n < SB_MOST_STEPS ? sb_segment_end(&m, end) : end;
    sb_enter_segment(&m, stop);
    if (n > 1) sb_jump(&m, 1, 0); /* a source has switched */
    if (n > 1 && m.status == SB_GOES_ON) sb_take_values(&m, 1);
    sb_integrate(&m, stop);
  }
  s->fault = m.fault;
  if (m.status) return m.status;
  if (!sb_finite(m.x, SB_NX) || !sb_finite(m.xd, SB_NXD)) return SB_NOT_A_NUMBER;
  sb_keep(s, &m);
  s->k++;
  return SB_GOES_ON;
}

/* What crossings leave, before the first step. */
static void sb_forget(SB_KEPT *kept) {
  static const SB_KEPT nothing;
  *kept = nothing;
  kept->limit = INFINITY;
#if SB_RESETS
  for (int k = 0; k < SB_CROSSINGS; k++) kept->bounced[k] = -INFINITY;
#endif
}
