/* Events at one time: see sb_step.h, which includes this. */

#ifdef SB_HAS_CLOCKS

/* The discrete states after the clocks due have ticked, into xd; before: those until then.
   First the held outputs that other clocks read are renewed in it, then all clocks due read the
   same. Returns whether any was due. */
SB_FUNCTION int sb_ticked(SB_SELF *m, SB_REAL *before, SB_REAL *xd) {
  int any = 0;
  for (int i = 0; i < SB_ND(m); i++) xd[i] = before[i];
  for (int k = 0; k < SB_HANDOVERS(m); k++)
    if (sb_due(m, SB_HANDOVER_CLOCK(m, k))) {
      sb_hand_over(m, k, before, xd);
      for (int i = 0; i < SB_ND(m); i++) before[i] = xd[i];
    }
  for (int c = 0; c < SB_CLOCKS(m); c++)
    if (sb_due(m, c)) {
      sb_tick_clock(m, c, before, xd);
      any = 1;
    }
  return any;
}

#endif

#if SB_SWITCHES

/* Let blocks switch modes until nothing that they watch is above zero: changes x and xd. g: memory
   for the watched values. Returns the number of rounds of switches, or -1 if they do not end. */
SB_FUNCTION int sb_switched(SB_SELF *m, SB_TIME t, SB_REAL *x, SB_REAL *xd, SB_REAL *g) {
  for (int n = 0; n < SB_MOST_SWITCHES; n++) {
    int last = -1; /* a block switches once at a time */
    sb_watch_modes(m, t, x, xd, g);
    for (int k = 0; k < SB_NG(m); k++) {
      SB_MASK where = g[k] > 0;
      if (SB_KIND(m, k) != SB_MODE || SB_FIRST(k) == last || !SB_ANY(where)) continue;
      last = SB_FIRST(k);
      sb_switch(m, t, last, where, x, xd);
    }
    if (last < 0) return n;
  }
  return -1;
}

#endif

#ifdef SB_MARKS

#ifndef SB_NO_EVENTS

/* The values from which jumps are told: those of now, in these lanes. */
SB_FUNCTION void sb_take_values(SB_SELF *m, SB_MASK where) {
  if (!SB_NG(m)) return;
  sb_watch_now(m, SB_G(m));
  for (int k = 0; k < SB_NG(m); k++) SB_G0(m)[k] = SB_SELECT(where, SB_G(m)[k], SB_G0(m)[k]);
}

#endif

#ifndef SB_OWN_MARKS

/* Mark the crossings by a jump at a stop, in the lanes that are there, and those that act whenever
   their value is above zero: modes that do not fit, and STOPs and faults, unless ticks follow. Returns
   where there are any. */
SB_FUNCTION SB_MASK sb_jumped(SB_SELF *m, SB_MASK at, int ticks_follow) {
  const SB_MASK none = {0};
  SB_MASK any = none;
  if (!SB_NG(m)) return any;
#if SB_SLIDES
  sb_jumped_off(m);
  if (!SB_ANY(at & SB_GOES(m))) return any;
#endif
  sb_watch_now(m, SB_G(m));
  for (int k = 0; k < SB_NG(m); k++) {
    const int kind = SB_KIND(m, k), ends = kind == SB_STOP || kind == SB_FAULT;
    SB_MASK hit = none;
    if (kind == SB_MODE || (ends && !ticks_follow)) hit = at & (SB_G(m)[k] > 0);
    if (kind == SB_EVENT)
      hit = at & SB_BEGUN(m) & sb_crossed(SB_G0(m)[k], SB_G(m)[k], SB_DIRECTION(m, k));
#if SB_SLIDES
    if (sb_leads(m, k)) hit |= at & (SB_G(m)[k] * sb_direction(k) > 0);
#endif
    SB_HIT(m)[k] = hit;
    any |= hit;
  }
  return any;
}

/* Mark the crossings where the one found has led, in these lanes: it and those that coincide with it.
   Returns where one of them acts; bends: where one bends signals. */
SB_FUNCTION SB_MASK sb_reached(SB_SELF *m, SB_MASK where, SB_MASK *bends) {
  const SB_MASK none = {0};
  SB_MASK acts = none;
  *bends = none;
  sb_watch_now(m, SB_G(m));
  for (int k = 0; k < SB_NG(m); k++) {
    const SB_MASK over = sb_crossed(SB_G0(m)[k], SB_G(m)[k], SB_DIRECTION(m, k));
    const SB_MASK hit = where & ((SB_CROSSED(m) == k) | over);
    SB_HIT(m)[k] = hit;
    if (SB_KIND(m, k) == SB_BEND) *bends |= hit;
    else if (SB_ACTS_AT(SB_KIND(m, k))) acts |= hit;
  }
  return acts;
}

#ifdef SB_RECORDS

/* The change within SB_AHEAD of each watched value, from those now in SB_G. The rates are in SB_XM. */
SB_FUNCTION void sb_changes_from(SB_SELF *m, SB_REAL *changes) {
  sb_slope(m, SB_T(m), SB_X(m), SB_XM(m));
  for (int i = 0; i < SB_N(m); i++) SB_XT(m)[i] = SB_X(m)[i] + (SB_SCALAR)SB_AHEAD * SB_XM(m)[i];
  sb_watch(m, SB_T(m) + (SB_SCALAR)SB_AHEAD, SB_XT(m), SB_GS(m));
  for (int k = 0; k < SB_NG(m); k++) changes[k] = SB_GS(m)[k] - SB_G(m)[k];
}

/* The same, with the values now, into SB_G. */
SB_SMALL void sb_changes(SB_SELF *m, SB_REAL *changes) {
  sb_watch_now(m, SB_G(m));
  sb_changes_from(m, changes);
}

#endif

#endif

#endif

#ifdef SB_MEETS_RESETS

/* The motion of a signal: its value, rate and acceleration; beyond zero counts as positive. */
typedef struct {
  SB_REAL q, v, a;
} sb_motion;

/* That of crossing k from the states x and xd on, by differences over a time span. */
SB_FUNCTION sb_motion sb_motion_of(SB_SELF *m, int k, const SB_REAL *x, const SB_REAL *xd, SB_REAL span) {
  const SB_SCALAR sign = SB_DIRECTION(m, k) < 0 ? -1 : 1;
  const SB_TIME t = SB_T(m);
  SB_REAL *slope = SB_XM(m), *to = SB_XT(m), *rate = SB_XN(m), q[3];
  sb_motion found;
  sb_field(m, t, x, xd, slope);
  sb_signals(m, t, x, xd, SB_GS(m));
  q[0] = sign * SB_GS(m)[k];
  for (int n = 1; n < 3; n++) { /* by the midpoint rule */
    const SB_REAL s = (SB_SCALAR)n * span;
    for (int i = 0; i < SB_N(m); i++) to[i] = x[i] + (SB_SCALAR)0.5 * s * slope[i];
    sb_field(m, t + (SB_SCALAR)0.5 * s, to, xd, rate);
    for (int i = 0; i < SB_N(m); i++) to[i] = x[i] + s * rate[i];
    sb_signals(m, t + s, to, xd, SB_GS(m));
    q[n] = sign * SB_GS(m)[k];
  }
  found.q = q[0];
  found.v = (4 * q[1] - q[2] - 3 * q[0]) / (2 * span);
  found.a = (q[2] - 2 * q[1] + q[0]) / (span * span);
  return found;
}

/* Time [s] for which a signal stays on its old side; 0 if it does not get there. */
SB_FUNCTION SB_REAL sb_flight(sb_motion s) {
  const SB_REAL depth = s.v * s.v - 2 * s.a * s.q, zero = SB_OF(0);
  const SB_MASK returns = (s.v < 0) & (depth > 0), never = (s.v < 0) | (s.a < 0);
  const SB_REAL flight = 2 * SB_SQRT(SB_SELECT(depth > 0, depth, zero)) / s.a;
  return SB_SELECT(s.a <= 0, SB_SELECT(never, SB_OF((SB_SCALAR)INFINITY), zero),
                   SB_SELECT(returns, flight, zero));
}

/* Whether a reset has turned its signal back, in place of letting it pass, slower or faster. */
SB_FUNCTION SB_MASK sb_turned(sb_motion before, sb_motion after) {
  return SB_NOT((before.v <= 0) | (after.v > (SB_SCALAR)SB_TURNED * before.v));
}

/* Whether a signal that was turned back rests at zero: a mere touch, or back sooner than `shortest`. */
SB_FUNCTION SB_MASK sb_at_rest(sb_motion before, sb_motion after, SB_REAL shortest) {
  const SB_MASK touch = (SB_ABS(after.v) <= (SB_SCALAR)SB_TURNED * before.v) & (after.a > 0);
  return touch | (sb_flight(after) < shortest);
}

#endif
