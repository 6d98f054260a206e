/* Variables of an instance by value reference, derivatives, and its life cycle. */

#ifndef SB_FMU_VALUES_H
#define SB_FMU_VALUES_H

/* --- life cycle -------------------------------------------------------------------------- */

/* Reset the instance: parameters and inputs get their start values. */
static void sb_begin(sb_fmu *m) {
  memset(&m->s, 0, sizeof m->s);
  m->s.mode = SB_INSTANTIATED;
  m->s.next = m->s.limit = INFINITY;
  m->s.rtol = SB_RTOL;
  sb_copy(m->s.p, sb_p, SB_NP);
  for (int k = 0; k < SB_CROSSINGS; k++) m->s.quiet[k] = m->s.landing[k] = m->s.bounced[k] = -INFINITY;
  m->fresh = 0;
}

static sb_fmu *sb_new(const char *name, int exchange) {
  sb_fmu *m = calloc(1, sizeof *m);
  size_t size = name ? strlen(name) + 1 : 1;
  char *copy = malloc(size);
  if (!m || !copy) {
    free(m);
    free(copy);
    return NULL;
  }
  memcpy(copy, name ? name : "", size);
  m->name = copy;
  m->exchange = exchange;
  sb_begin(m);
  return m;
}

static void sb_free(sb_fmu *m) {
  if (m) free(m->name);
  free(m);
}

/* Errors are always logged; events if requested, for all categories or by category. */
static int sb_listen(sb_fmu *m, int on, size_t n, const char *const *categories) {
  int named = n == 0;
  for (size_t i = 0; i < n; i++) {
    if (!categories[i] || (strcmp(categories[i], "logEvents") != 0 &&
                           strcmp(categories[i], "logStatusError") != 0))
      return sb_log(m, SB_ERROR, "there is no such log category");
    named |= strcmp(categories[i], "logEvents") == 0;
  }
  if (named) m->listening = on;
  return SB_OK;
}

/* The importer's tolerance for the steps of co-simulation. An invalid one is ignored. */
static void sb_set_tolerance(sb_fmu *m, double tolerance) {
  if (tolerance > 0 && isfinite(tolerance))
    m->s.rtol = sb_clamped(tolerance, SB_FINEST, SB_COARSEST);
}

/* The states while their start values may still be set. */
static void sb_take_start(sb_fmu *m) {
  for (int i = 0; i < SB_NX; i++) m->s.x[i] = m->s.start[i] = m->s.p[sb_start_of_x[i]];
  for (int i = 0; i < SB_NXD; i++) /* a held output is zero before its first tick */
    m->s.xd[i] = sb_start_of_xd[i] < 0 ? 0 : m->s.p[sb_start_of_xd[i]];
}

static int sb_initialize(sb_fmu *m, double start) {
  if (!(fabs(start) < SB_LATEST))
    return sb_log(m, SB_ERROR, "a run cannot start at t = %.9g s", start);
  m->s.t = m->s.passed = start;
  sb_take_start(m);
  for (int c = 0; c < SB_NC; c++) {
    double k = ceil((start - sb_clocks[c].offset) / sb_clocks[c].period) - 1;
    int64_t number = k < SB_TICK_EXACT ? (int64_t)k : SB_TICK_EXACT;
    m->s.ticks[c] = number > sb_clocks[c].first ? number : sb_clocks[c].first;
    for (int i = 0; i < 2 && sb_tick_time(c, m->s.ticks[c]) < start - sb_near(start); i++)
      m->s.ticks[c]++;
  }
  sb_find_next(m);
  m->s.mode = SB_INITIALIZING;
  m->fresh = 0;
  return SB_OK;
}

/* Enter event mode, or step mode for co-simulation. The first ticks are not done yet. */
static int sb_initialized(sb_fmu *m) {
  sb_take_start(m);
  m->fresh = 0;
  sb_find_next(m);
  sb_take_values(m, 1);
  m->s.mode = m->exchange ? SB_EVENT_MODE : SB_STEPPING;
  if (sb_finite(m->s.x, SB_NX) && sb_finite(m->s.xd, SB_NXD)) return SB_OK;
  return sb_log(m, SB_ERROR, "the initial states are not finite");
}

/* --- values ------------------------------------------------------------------------------ */

static int sb_slot_at(const sb_fmu *m, uint32_t reference) {
  if (reference < SB_VALUES && sb_slots[reference].size) return 1;
  sb_log(m, SB_ERROR, "there is no variable with value reference %lu", (unsigned long)reference);
  return 0;
}

/* Before steps, and in co-simulation between them: the discrete states after the ticks that are due
   now with the present inputs, and the states, with the modes that blocks switch before and after
   these. */
static const double *sb_discrete(sb_fmu *m) {
  double x[SB_ROOM(SB_NX)], xd[SB_ROOM(SB_NXD)];
  if (m->exchange || m->s.mode != SB_STEPPING) return m->s.xd;
  if (m->fresh & SB_FRESH_XD) return m->xd;
  sb_copy(x, m->s.x, SB_NX);
  sb_copy(xd, m->s.xd, SB_NXD);
  if (sb_any_due(m, 1)) sb_settle(m, 1, m->s.x, m->s.xd);
  sb_copy(m->moved, m->s.xd, SB_NXD);
  sb_ticked(m, m->moved, m->xd);
  sb_copy(m->x, m->s.x, SB_NX);
  sb_settle(m, 1, m->x, m->xd);
  sb_copy(m->s.x, x, SB_NX);
  sb_copy(m->s.xd, xd, SB_NXD);
  m->fresh |= SB_FRESH_XD;
  return m->xd;
}

static const double *sb_continuous(sb_fmu *m) {
  return sb_discrete(m) == m->s.xd ? m->s.x : m->x;
}

#if !SB_SLIDES
/* Whether at x something acts, and whether signals bend or jump, on the other side than at the last
   check. */
static void sb_beyond_last(const sb_fmu *m, const double *x, const double *xd, int *acts,
                           int *bends) {
  double g[SB_ROOM(SB_CROSSINGS)];
  *acts = *bends = 0;
  sb_model_watched(sb_seen(m, m->s.t), x, xd, m->s.p, g);
  for (int k = 0; k < SB_CROSSINGS; k++) {
    if (!sb_crossed(m->s.g[k], g[k], sb_crossings[k].direction)) continue;
    *bends |= sb_crossings[k].kind == SB_BEND;
    *acts |= SB_ACTS_AT(sb_crossings[k].kind);
  }
}

/* x, or, if it is beyond a surface at which something acts and beyond one at which rates may jump,
   the point between it and the state at the last check at which rates are still those of the old
   side. If rates beyond led back, the importer's solver might never step over it, and nothing would
   act. */
static const double *sb_this_side(const sb_fmu *m, const double *x, const double *xd,
                                  double *moved) {
  double low = 0, high = 1;
  int acts = 0, bends = 0;
  for (int k = 0; k < SB_CROSSINGS; k++) {
    acts |= SB_ACTS_AT(sb_crossings[k].kind);
    bends |= sb_crossings[k].kind == SB_BEND;
  }
  if (!SB_NX || !acts || !bends) return x;
  sb_beyond_last(m, x, xd, &acts, &bends);
  if (!acts || !bends) return x;
  sb_beyond_last(m, m->s.start, xd, &acts, &bends);
  if (bends) return x; /* by time alone */
  while (high - low > 1e-15) {
    double middle = 0.5 * (low + high);
    if (!(low < middle && middle < high)) break;
    for (int i = 0; i < SB_NX; i++) moved[i] = m->s.start[i] + middle * (x[i] - m->s.start[i]);
    sb_beyond_last(m, moved, xd, &acts, &bends);
    if (bends) high = middle;
    else low = middle;
  }
  for (int i = 0; i < SB_NX; i++) moved[i] = m->s.start[i] + low * (x[i] - m->s.start[i]);
  return moved;
}
#endif

/* All derivatives, outputs or crossings: the group that contains a reference. */
static const double *sb_computed(sb_fmu *m, uint32_t reference) {
  const double *xd = sb_discrete(m), *x = sb_continuous(m);
  double t = sb_seen(m, m->s.t);
  if (reference < SB_AT_XD) {
    if (!(m->fresh & SB_FRESH_DX)) {
      double moved[SB_ROOM(SB_NX)];
      if (m->s.mode == SB_CONTINUOUS) x = sb_this_side(m, x, xd, moved);
#if SB_SLIDES
      if (sb_held(m)) sb_held_rates(m, m->s.t, x, xd, m->dx);
      else
#endif
        sb_model_rates(sb_within(m, m->s.t), x, xd, m->s.p, m->s.start, m->dx);
    }
    m->fresh |= SB_FRESH_DX;
    return m->dx + (reference - SB_AT_DX);
  }
  if (reference < SB_AT_G) {
    if (!(m->fresh & SB_FRESH_Y)) sb_model_outputs(t, x, xd, m->s.p, m->y);
    m->fresh |= SB_FRESH_Y;
    return m->y + (reference - SB_AT_Y);
  }
  sb_watch_with(m, m->s.t, x, xd, m->g);
  return m->g + (reference - SB_AT_G);
}

static const double *sb_value(sb_fmu *m, uint32_t reference) {
  if (m->s.mode & (SB_INSTANTIATED | SB_INITIALIZING)) sb_take_start(m);
  if (reference < SB_AT_P) return &m->s.t;
  if (reference < SB_AT_X) return m->s.p + (reference - SB_AT_P);
  if (reference < SB_AT_DX) return sb_continuous(m) + (reference - SB_AT_X);
  if (reference < SB_AT_XD) return sb_computed(m, reference);
  if (reference < SB_AT_Y) return sb_discrete(m) + (reference - SB_AT_XD);
  return sb_computed(m, reference);
}

/* Values of n variables, concatenated. room: size of the array. */
static int sb_get(sb_fmu *m, const uint32_t *references, size_t n, double *values, size_t room) {
  size_t used = 0;
  for (size_t i = 0; i < n; i++) {
    uint32_t reference = references[i];
    const double *from;
    size_t size;
    if (!sb_slot_at(m, reference)) return SB_ERROR;
    size = (size_t)sb_slots[reference].size;
    if (size > room - used) return sb_log(m, SB_ERROR, "fewer values than the variables have");
    from = sb_value(m, reference);
    if (reference >= SB_AT_DX && !sb_finite(from, (int)size))
      return sb_log(m, SB_DISCARD, "%s is not finite at t = %.9g s", sb_slots[reference].name,
                    m->s.t);
    sb_copy(values + used, from, (int)size);
    used += size;
  }
  return used == room ? SB_OK : sb_log(m, SB_ERROR, "more values than the variables have");
}

static int sb_settable(const sb_fmu *m, uint32_t reference) {
  int before = m->s.mode & (SB_INSTANTIATED | SB_INITIALIZING);
  switch (sb_slots[reference].access) {
    case SB_INPUT: return m->s.mode != SB_TERMINATED;
    case SB_TUNABLE: return before || m->s.mode & (SB_EVENT_MODE | SB_STEPPING);
    case SB_FIXED: return before != 0;
    default: return 0;
  }
}

/* Whether all values lie within the bounds of their variable; a NaN does not. */
static int sb_within_bounds(const sb_fmu *m, uint32_t reference, const double *values) {
  const sb_slot *slot = &sb_slots[reference];
  for (int i = 0; i < slot->size; i++)
    if (!(values[i] >= slot->min && values[i] <= slot->max)) {
      sb_log(m, SB_ERROR, "%s must lie between %.9g and %.9g, not be %.9g", slot->name, slot->min,
             slot->max, values[i]);
      return 0;
    }
  return 1;
}

/* Set all values or none. */
static int sb_set(sb_fmu *m, const uint32_t *references, size_t n, const double *values,
                  size_t count) {
  size_t used = 0;
  for (size_t i = 0; i < n; i++) {
    if (!sb_slot_at(m, references[i])) return SB_ERROR;
    if (!sb_settable(m, references[i]))
      return sb_log(m, SB_ERROR, "%s cannot be set now", sb_slots[references[i]].name);
    if ((size_t)sb_slots[references[i]].size > count - used)
      return sb_log(m, SB_ERROR, "fewer values than the variables have");
    if (!sb_within_bounds(m, references[i], values + used)) return SB_ERROR;
    used += (size_t)sb_slots[references[i]].size;
  }
  if (used != count) return sb_log(m, SB_ERROR, "more values than the variables have");
  for (size_t i = 0; i < n; i++) {
    int size = sb_slots[references[i]].size;
    double *to = m->s.p + (references[i] - SB_AT_P);
    if (m->s.mode == SB_EVENT_MODE)
      for (int j = 0; j < size; j++) m->s.changed |= to[j] != values[j];
    sb_copy(to, values, size);
    values += size;
  }
  m->fresh = 0;
  return SB_OK;
}

/* --- model exchange ---------------------------------------------------------------------- */

static int sb_get_row(sb_fmu *m, uint32_t first, int size, double *values, size_t n) {
  if (n != (size_t)size)
    return sb_log(m, SB_ERROR, "there are %d values, not %lu", size, (unsigned long)n);
  if (!size) return SB_OK;
  sb_copy(values, sb_value(m, first), size);
  if (sb_finite(values, size)) return SB_OK;
  return sb_log(m, SB_DISCARD, "%s and others are not finite at t = %.9g s", sb_slots[first].name,
                m->s.t);
}

/* The crossings as event indicators. Zero counts as the side before the crossing, and is reported
   as such, since importers take an indicator of exactly zero as the crossing itself. */
static int sb_get_indicators(sb_fmu *m, double *values, size_t n) {
  int status = sb_get_row(m, SB_AT_G, SB_CROSSINGS, values, n);
  for (int k = 0; status == SB_OK && k < SB_CROSSINGS; k++)
    if (values[k] == 0) values[k] = -SB_HARDLY * sb_direction(k);
  return status;
}

static int sb_set_states(sb_fmu *m, const double *x, size_t n) {
  if (n != SB_NX)
    return sb_log(m, SB_ERROR, "there are %d states, not %lu", SB_NX, (unsigned long)n);
  sb_copy(m->s.x, x, SB_NX);
  m->fresh = 0;
  return SB_OK;
}

static int sb_set_time(sb_fmu *m, double t) {
  if (!isfinite(t)) return sb_log(m, SB_ERROR, "time is not finite");
  m->s.t = t;
  m->fresh = 0;
  return SB_OK;
}

/* Enter event mode, with the states projected to where they are held, unless the surfaces that hold
   them have moved. */
static void sb_enter_events(sb_fmu *m) {
#if SB_SLIDES
  double before[SB_ROOM(SB_NX)];
  sb_copy(before, m->s.x, SB_NX);
  if (sb_held(m)) sb_project(m, 1);
  for (int i = 0; i < SB_NX; i++) m->s.changed |= m->s.x[i] != before[i];
  m->fresh = 0;
#endif
  m->s.mode = SB_EVENT_MODE;
}

/* After a step of the importer's solver. Returns whether there is an event to handle. */
static int sb_step_completed(sb_fmu *m) {
  int acts = 0;
  sb_mark(m, 0, 0);
  sb_copy(m->s.g, m->g, SB_CROSSINGS);
  for (int k = 0; k < SB_CROSSINGS; k++)
    acts |= m->s.hit[k] && (SB_SLIDES || !SB_BENDS(sb_crossings[k].kind));
  sb_copy(m->s.start, m->s.x, SB_NX);
  m->fresh = 0;
#if SB_SLIDES
  acts = acts || sb_strays(m);
#endif
  return acts;
}

static int sb_nominals(const sb_fmu *m, double *nominals, size_t n) {
  if (n != SB_NX)
    return sb_log(m, SB_ERROR, "there are %d states, not %lu", SB_NX, (unsigned long)n);
  for (int i = 0; i < SB_NX; i++) nominals[i] = 1;
  return SB_OK;
}

typedef struct {
  int states;  /* whether a solver must restart */
  double next; /* the next known event, reported early by the rounding error of its time, so
                  that a point of the importer's at that time is not too near after it for a
                  solver to start between them */
} sb_change;

/* One event. It needs no second iteration, since all that happens at one time is done at once.

   FMI cannot report that derivatives jump or bend while the states stay the same. A solver that has
   evaluated the derivatives beyond the event has seen the old segment continue there. If it keeps
   this data unless states have changed, it must be told that they have. */
static int sb_update(sb_fmu *m, sb_change *change) {
  double before[SB_ROOM(SB_NX)];
  int status;
  sb_copy(before, m->s.x, SB_NX);
  status = sb_events(m);
  change->states = SB_NX > 0 && m->s.changed;
  for (int i = 0; i < SB_NX; i++) change->states |= before[i] != m->s.x[i];
  m->s.changed = 0;
  change->next = sb_segment_end(m);
  return status;
}

/* --- derivatives ------------------------------------------------------------------------- */

/* Write the seeds of n variables into the row of all values. */
static int sb_seeded(sb_fmu *m, const uint32_t *references, size_t n, const double *seed,
                     size_t count) {
  size_t used = 0;
  memset(m->seed, 0, sizeof m->seed);
  for (size_t i = 0; i < n; i++) {
    size_t size;
    if (!sb_slot_at(m, references[i])) return 0;
    size = (size_t)sb_slots[references[i]].size;
    if (size > count - used) break;
    for (size_t j = 0; j < size; j++) m->seed[references[i] + j] += seed[used + j];
    used += size;
    if (i + 1 == n && used == count) return 1;
  }
  if (n == 0 && count == 0) return 1;
  sb_log(m, SB_ERROR, "the number of seeds is not that of the variables' values");
  return 0;
}

static int sb_sensitive(sb_fmu *m, const uint32_t *references, size_t n, double *sensitivity,
                        size_t room) {
  size_t used = 0;
  for (size_t i = 0; i < n; i++) {
    size_t size;
    if (!sb_slot_at(m, references[i])) return SB_ERROR;
    size = (size_t)sb_slots[references[i]].size;
    if (size > room - used) return sb_log(m, SB_ERROR, "fewer values than the variables have");
    sb_copy(sensitivity + used, m->sensitivity + references[i], (int)size);
    used += size;
  }
  if (used != room) return sb_log(m, SB_ERROR, "more values than the variables have");
  if (sb_finite(sensitivity, (int)room)) return SB_OK;
  return sb_log(m, SB_DISCARD, "a derivative is not finite at t = %.9g s", m->s.t);
}

/* A motion along surfaces has none: its rates are finite differences of the model's. */
#define SB_NO_DERIVATIVES "a diagram that slides has no directional derivatives"

/* d unknowns = (d unknowns / d knowns) seed. While start values may be set, states follow
   the parameters that they start from. */
static int sb_forward(sb_fmu *m, const uint32_t *unknowns, size_t n_unknowns,
                      const uint32_t *knowns, size_t n_knowns, const double *seed, size_t n_seed,
                      double *sensitivity, size_t room) {
  double *s = m->seed;
  const double *xd = sb_discrete(m);
  if (SB_SLIDES) return sb_log(m, SB_ERROR, SB_NO_DERIVATIVES);
  if (!sb_seeded(m, knowns, n_knowns, seed, n_seed)) return SB_ERROR;
  if (m->s.mode & (SB_INSTANTIATED | SB_INITIALIZING)) {
    sb_take_start(m);
    for (int i = 0; i < SB_NX; i++) s[SB_AT_X + i] += s[SB_AT_P + sb_start_of_x[i]];
    for (int i = 0; i < SB_NXD; i++)
      if (sb_start_of_xd[i] >= 0) s[SB_AT_XD + i] += s[SB_AT_P + sb_start_of_xd[i]];
  }
  memcpy(m->sensitivity, s, sizeof m->sensitivity);
  if (SB_NX + SB_NY + SB_CROSSINGS) {
    double out[SB_ROOM(SB_NX + SB_NY + SB_CROSSINGS)];
    sb_model_forward(sb_within(m, m->s.t), sb_continuous(m), xd, m->s.p, m->s.start, s, s + SB_AT_X,
                     s + SB_AT_XD, s + SB_AT_P, out);
    sb_copy(m->sensitivity + SB_AT_DX, out, SB_NX);
    sb_copy(m->sensitivity + SB_AT_Y, out + SB_NX, SB_NY + SB_CROSSINGS);
  }
  return sb_sensitive(m, unknowns, n_unknowns, sensitivity, room);
}

#endif
