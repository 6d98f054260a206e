/* The loop of a run from one instant to the next, the same for all hosts: see sb_step.h, which includes
   this. A stop is entered, then steps lead to the next one. What acts at one time stands in Python in
   run/events/acting.py, under the same names and in the same order.

   The host defines SB_LOOPS, and SB_GOES(m), the lanes that have not ended, failed or left the loop;
   SB_XD(m), SB_BEFORE_TICKS(m) and SB_AFTER_TICKS(m), the discrete states and room for them.
   SB_WAITS: sb_next_look(m, stop) is the next time to look at a program without states.
   SB_ADVANCES: steps lead to the next stop (sb_trial.h); else the host gets there in its own way.
   SB_OWN_MARKS: the host has its own sb_jumped.
   SB_ACTS_IN_C: crossings act here, else in the host's own sb_cross. Then also SB_MEETS_RESETS if there
     are EVENTs; SB_ENDED(m), the lanes in which a STOP has ended the run; SB_SHORTEST_FLIGHT(m), the
     shortest flight that is resolved [s]; with SB_BOUNCED(m), for each crossing the time of the last reset
     that turned its signal back, at first -infinity, one that is back so soon that its rate may have
     either sign, by the error of the step, rests; with SB_SLIDES, sb_meet(m, where, moved): states may begin to
     slide, and signals leave where they rest.
   Its own functions are declared below. They may end lanes. */

#ifdef SB_LOOPS

#if defined(SB_ADVANCES) || defined(SB_ACTS_IN_C)
/* The states on their constraints. */
SB_FUNCTION void sb_project(SB_SELF *m, SB_MASK where);
#endif
#ifdef SB_ADVANCES
/* Record the step just tried. It takes lanes that it ends out of s->taken and s->cut. */
SB_FUNCTION void sb_record_step(SB_SELF *m, sb_trial *s);
#endif
#ifdef SB_MARKS
/* Act on the marked crossings. */
SB_FUNCTION void sb_cross(SB_SELF *m, SB_MASK where, int ticks_follow);
#ifdef SB_ADVANCES
/* Mark what the step just accepted has crossed, and act on it. */
SB_FUNCTION void sb_hits(SB_SELF *m, SB_MASK cut);
#endif
#endif
#ifdef SB_HAS_CLOCKS
/* The lanes in which a clock is due. */
SB_FUNCTION SB_MASK sb_any_due(SB_SELF *m, SB_MASK at);
/* Clocks have ticked. bad: where a result is not finite. */
SB_FUNCTION void sb_count_ticks(SB_SELF *m, SB_MASK due, SB_MASK bad);
#endif
#ifdef SB_ACTS_IN_C
SB_FUNCTION void sb_count_crossings(SB_SELF *m, SB_MASK where);
SB_FUNCTION void sb_stop(SB_SELF *m, int k, SB_MASK where);
SB_FUNCTION void sb_fault(SB_SELF *m, int k, SB_MASK where);
/* Let blocks switch modes. */
SB_FUNCTION void sb_settle(SB_SELF *m, SB_MASK where, SB_REAL *x, SB_REAL *xd);
/* Crossings have acted. ends: where the run has stopped. */
SB_FUNCTION void sb_acted(SB_SELF *m, SB_MASK where, SB_MASK ends);
#ifdef SB_MEETS_RESETS
/* The reset of an EVENT. Returns where there was one. */
SB_FUNCTION SB_MASK sb_reset(SB_SELF *m, int k, SB_MASK where);
/* The time over which rates of signals are differenced [s]. */
SB_FUNCTION SB_REAL sb_span(const SB_SELF *m);
/* A reset has turned its signal back; rests: where it stays at zero. x, before: states and motion then. */
SB_FUNCTION void sb_bounced(SB_SELF *m, int k, SB_MASK turned, SB_MASK rests, const SB_REAL *x,
                            sb_motion before, SB_REAL flight);
#endif

/* --- what a crossing does ---------------------------------------------------------------- */

/* Count a crossing at t in a run of this length. Returns whether there have been too many within a short
   time. since: of the first that counts. */
SB_SMALL int sb_chatters(double t, double whole, double *since, long long *count) {
  if (t - *since > SB_CHATTERED * whole) *since = t, *count = 0;
  return ++*count >= SB_CHATTER;
}

#ifdef SB_MEETS_RESETS

/* Bound the next step so that no return to zero of a signal that a reset has turned back is missed. A
   signal that does not come back from zero would go on through it: the host holds it there, or ends the
   run. reset: where the crossings have reset states; x, xd: the states before. */
SB_FUNCTION void sb_after_resets(SB_SELF *m, SB_MASK where, const SB_MASK *reset, const SB_REAL *x,
                                 const SB_REAL *xd) {
  const SB_REAL span = sb_span(m);
  const SB_MASK wide = where & (span > SB_FLIGHT);
  if (!SB_N(m) || !SB_ANY(wide)) return;
  SB_STEP_LIMIT(m) = SB_SELECT(where, SB_OF((SB_SCALAR)INFINITY), SB_STEP_LIMIT(m));
  for (int k = 0; k < SB_NG(m); k++) {
    const SB_MASK hit = wide & reset[k] & SB_GOES(m);
    SB_MASK turns, rests, soon = {0};
    SB_REAL flight;
    sb_motion before, after;
    if (!SB_ANY(hit)) continue;
    before = sb_motion_of(m, k, x, xd, span);
    after = sb_motion_of(m, k, SB_X(m), SB_XD(m), span);
    flight = sb_flight(after);
#ifdef SB_BOUNCED
    soon = hit & (SB_T(m) - SB_BOUNCED(m)[k] < SB_FLIGHT);
#endif
    turns = soon | (hit & sb_turned(before, after));
    rests = turns & (soon | sb_at_rest(before, after, SB_SHORTEST_FLIGHT(m)));
#ifdef SB_BOUNCED
    SB_BOUNCED(m)[k] = SB_SELECT(turns, SB_T(m), SB_BOUNCED(m)[k]);
#endif
    SB_STEP_LIMIT(m) = SB_SELECT(turns & SB_NOT(rests) & ((SB_SCALAR)0.5 * flight < SB_STEP_LIMIT(m)),
                                 (SB_SCALAR)0.5 * flight, SB_STEP_LIMIT(m));
    sb_bounced(m, k, turns, rests, x, before, flight);
  }
}

/* Let EVENTs act whose signals the resets and switches just made have made cross, in these lanes, and
   those that these set off in turn; each once at a time. g: the watched values before, overwritten. */
SB_FUNCTION void sb_set_off(SB_SELF *m, SB_MASK where, SB_REAL *g) {
  for (int n = 0; n < SB_NG(m); n++) {
    SB_MASK any = {0}, more[SB_ROOM(SB_NG(m))];
    where &= SB_GOES(m) & SB_BEGUN(m);
    if (!SB_ANY(where)) return;
    sb_watch_now(m, SB_G(m));
    for (int k = 0; k < SB_NG(m); k++) {
      more[k] = where & SB_NOT(SB_HIT(m)[k]) & sb_crossed(g[k], SB_G(m)[k], SB_DIRECTION(m, k));
      g[k] = SB_G(m)[k];
      if (SB_KIND(m, k) == SB_EVENT) any |= more[k];
    }
    if (!SB_ANY(any)) return;
    for (int k = 0; k < SB_NG(m); k++) {
      if (SB_KIND(m, k) != SB_EVENT || !SB_ANY(more[k])) continue;
      SB_HIT(m)[k] |= more[k];
      sb_reset(m, k, more[k]);
    }
    sb_settle(m, any, SB_X(m), SB_XD(m));
  }
}

#endif

/* Act on the marked crossings, in these lanes: stop the run, reset states by the function of an EVENT,
   switch modes until none requests it, let EVENTs act that these set off, or put states on the limits
   that they reached. ticks_follow: a STOP or fault whose signal becomes positive by this waits for the
   ticks at this time. */
SB_FUNCTION void sb_cross(SB_SELF *m, SB_MASK where, int ticks_follow) {
  const SB_MASK none = {0};
  SB_MASK moved = none, limits = none, ends = SB_ENDED(m), acts;
#ifdef SB_MEETS_RESETS
  SB_MASK resets = none, reset[SB_ROOM(SB_NG(m))];
  SB_REAL x[SB_ROOM(SB_N(m))], xd[SB_ROOM(SB_ND(m))], g[SB_ROOM(SB_NG(m))];
  for (int i = 0; i < SB_N(m); i++) x[i] = SB_X(m)[i];
  for (int i = 0; i < SB_ND(m); i++) xd[i] = SB_XD(m)[i];
  sb_watch_now(m, SB_G(m));
  for (int k = 0; k < SB_NG(m); k++) g[k] = SB_G(m)[k];
#endif
  sb_count_crossings(m, where);
  for (int k = 0; k < SB_NG(m); k++) {
    const SB_MASK hit = where & SB_HIT(m)[k] & SB_GOES(m);
    const int kind = SB_KIND(m, k);
#ifdef SB_MEETS_RESETS
    reset[k] = none;
#endif
    if (!SB_ANY(hit)) continue;
    if (kind == SB_STOP) sb_stop(m, k, hit), ends |= hit;
    if (kind == SB_FAULT) sb_fault(m, k, hit);
#ifdef SB_MEETS_RESETS
    if (kind == SB_EVENT) resets |= reset[k] = sb_reset(m, k, hit);
#endif
    if (kind == SB_EVENT || kind == SB_MODE) moved |= hit;
    if (kind == SB_LIMIT) limits |= hit;
  }
  where &= SB_GOES(m);
  acts = moved & where & SB_NOT(ends);
  if (SB_ANY(acts)) sb_settle(m, acts, SB_X(m), SB_XD(m));
#ifdef SB_MEETS_RESETS
  if (SB_ANY(acts)) sb_set_off(m, acts, g);
#endif
#if SB_SLIDES
  if (SB_GOES(m)) sb_meet(m, where & SB_NOT(ends), moved);
#endif
  sb_project(m, where & (moved | limits));
  acts &= SB_GOES(m);
  if (SB_ANY(acts) && !ticks_follow) {
    sb_watch_now(m, SB_G(m));
    for (int k = 0; k < SB_NG(m); k++) {
      const SB_MASK over = acts & SB_NOT(ends) & SB_GOES(m) & (SB_G(m)[k] > 0);
      if (!SB_ANY(over)) continue;
      if (SB_KIND(m, k) == SB_STOP) sb_stop(m, k, over), ends |= over;
      if (SB_KIND(m, k) == SB_FAULT) sb_fault(m, k, over);
    }
  }
#ifdef SB_MEETS_RESETS
  sb_after_resets(m, resets & where & SB_GOES(m) & SB_NOT(ends), reset, x, xd);
#endif
  sb_acted(m, where, ends);
}

#endif

/* --- at a stop --------------------------------------------------------------------------- */

#ifdef SB_MARKS

/* Act on jumps at a stop, in the lanes that are there. ticks_follow: STOPs and faults wait for the ticks
   at this stop. */
SB_FUNCTION void sb_jump(SB_SELF *m, SB_MASK at, int ticks_follow) {
  const SB_MASK any = SB_ANY(at) ? sb_jumped(m, at, ticks_follow) : at;
  if (SB_ANY(any)) sb_cross(m, any, ticks_follow);
}

#endif

#ifdef SB_HAS_CLOCKS

/* Tick the clocks due in these lanes; where a result is not finite, nothing changes. */
SB_FUNCTION void sb_tick(SB_SELF *m, SB_MASK due) {
  SB_MASK bad;
  for (int i = 0; i < SB_ND(m); i++) SB_BEFORE_TICKS(m)[i] = SB_XD(m)[i];
  sb_ticked(m, SB_BEFORE_TICKS(m), SB_AFTER_TICKS(m));
  bad = due & SB_NOT(sb_finite(SB_AFTER_TICKS(m), (int)SB_ND(m)));
  for (int i = 0; i < SB_ND(m); i++)
    SB_XD(m)[i] = SB_SELECT(due & SB_NOT(bad), SB_AFTER_TICKS(m)[i], SB_XD(m)[i]);
  sb_count_ticks(m, due, bad);
}

#endif

/* How far a stop has been entered: not yet; what comes before its ticks has acted; it has ticked. */
enum { SB_COMES, SB_ARRIVED, SB_TICKED };

/* Enter a stop, in the lanes that are there: what is known ahead and what it sets off, then the ticks,
   which all read the values before them, and what these set off. Goes on from a stage, where a host acts
   on crossings outside. Returns the lanes that go on. */
SB_FUNCTION SB_MASK sb_enter(SB_SELF *m, SB_MASK at, int *stage) {
#ifdef SB_HAS_CLOCKS
  if (*stage == SB_COMES) {
    *stage = SB_ARRIVED;
#ifdef SB_MARKS
    sb_jump(m, sb_any_due(m, at), 1);
    at &= SB_GOES(m);
    if (!SB_ANY(at)) return at;
#endif
  }
#endif
  if (*stage == SB_TICKED) return at;
#ifdef SB_HAS_CLOCKS
  {
    const SB_MASK due = sb_any_due(m, at);
#if defined(SB_MARKS) && !defined(SB_NO_EVENTS)
    if (SB_ANY(due)) sb_take_values(m, due);
#endif
    if (SB_ANY(due)) sb_tick(m, due);
    at &= SB_GOES(m);
    if (!SB_ANY(at)) return at;
  }
#endif
  *stage = SB_TICKED;
#ifdef SB_MARKS
  sb_jump(m, at, 0);
  at &= SB_GOES(m);
#endif
  return at;
}

#ifdef SB_ADVANCES

/* --- to the next stop -------------------------------------------------------------------- */

/* Go along the slope to a stop that differs only by rounding, in these lanes. */
SB_FUNCTION void sb_pass_by(SB_SELF *m, SB_MASK where, SB_TIME stop) {
  if (!SB_ANY(where)) return;
  sb_slope(m, SB_T(m), SB_X(m), SB_XM(m));
  for (int i = 0; i < SB_N(m); i++)
    SB_X(m)[i] = SB_SELECT(where, SB_X(m)[i] + (stop - SB_T(m)) * SB_XM(m)[i], SB_X(m)[i]);
  SB_T(m) = SB_SELECT(where, stop, SB_T(m));
}

/* One step towards the stop at `stop`, in these lanes: it is tried, kept and accepted, and what it has
   crossed acts. One that is to be repeated is tried again by the next call. */
SB_FUNCTION void sb_go_on(SB_SELF *m, SB_MASK on, SB_TIME stop) {
  const SB_TIME left = SB_SELECT(on, stop - SB_T(m), SB_OF(0));
  const SB_MASK same = on & (left < SB_SAME_STOP * SB_SELECT(stop > 1, stop, SB_OF(1)));
  sb_trial s;
  sb_pass_by(m, same, stop);
  on &= SB_NOT(same);
#ifdef SB_WAITS
  if (SB_N(m) == 0) {
    s = sb_waited(m, on, stop);
  } else
#endif
  {
    sb_begin_step(m, on, left);
    s = sb_tried(m, on, stop);
  }
  sb_record_step(m, &s);
  if (!SB_ANY(s.taken)) return; /* and compilers know that one lane has taken it */
  sb_accept(m, &s);
  if (SB_DRIFTS(m)) {
    if (SB_ANY(s.taken & SB_NOT(s.cut))) sb_project(m, s.taken & SB_NOT(s.cut));
    SB_SLOPED(m) &= SB_NOT(s.taken);
  }
#ifdef SB_MARKS
  if (SB_ANY(s.cut)) sb_hits(m, s.cut);
#endif
}

#endif

#endif
