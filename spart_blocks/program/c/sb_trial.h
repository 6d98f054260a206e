/* A step of the loop, from its slope to its end: what is tried, what is repeated in a shorter step,
   and where it ends. See sb_step.h, which includes this. */

#ifdef SB_ADVANCES

/* Why no step was possible: none is long enough to change the time; the end of one is not finite, or
   the slope there is not; one that is accurate is too short. */
enum { SB_NO_LENGTH = 1, SB_NO_END, SB_NO_SLOPE, SB_NO_ACCURACY };

/* A trial step of length h, up to `until`. theta: where it crosses first, as a fraction of h, 2:
   nowhere. In which lanes it leads to the stop, is not possible, is taken, ends at a crossing, and goes
   over a surface along its first slope. */
typedef struct {
  SB_REAL h, theta;
  SB_TIME until;
  SB_MASK last, failed, taken, cut, over;
} sb_trial;

SB_FUNCTION void sb_fail(SB_SELF *m, SB_MASK where, int why, const sb_trial *s);

/* The slope at the states, where it is not known, and the length of the first step. left: time to the
   stop. */
SB_FUNCTION void sb_begin_step(SB_SELF *m, SB_MASK on, SB_TIME left) {
  if (!SB_ANY(on & SB_NOT(SB_SLOPED(m)))) return;
  sb_slope(m, SB_T(m), SB_X(m), SB_XM(m));
  for (int i = 0; i < SB_N(m); i++) SB_K(m)[i] = SB_SELECT(SB_SLOPED(m), SB_K(m)[i], SB_XM(m)[i]);
  SB_SLOPED(m) |= on;
#ifdef SB_CONTROLS
  if (SB_CONTROLLED(m) && SB_ANY(on & SB_NOT(SB_H(m) > 0)))
    SB_H(m) = SB_SELECT(SB_H(m) > 0, SB_H(m), sb_first_step(m, left));
#else
  (void)left;
#endif
}

/* Tell the host why no step is possible in some of the lanes `on`; returns the others. */
SB_FUNCTION SB_MASK sb_without(SB_SELF *m, SB_MASK on, SB_MASK failed, int why, sb_trial *s) {
  failed &= on;
  if (!SB_ANY(failed)) return on;
  s->failed |= failed;
  sb_fail(m, failed, why, s);
  return on & SB_NOT(failed);
}

#if defined(SB_MEETS_LINES)

SB_FUNCTION SB_MASK sb_meets_lines(SB_SELF *m, sb_trial *s, SB_MASK good); /* the host's */

#elif defined(SB_HOLDS_OFF)
#define SB_MEETS_LINES

/* Steps that may stay before a surface at which something acts are repeated up to near it, or lead
   over it along their first slope. Returns where the step just tried is one to repeat. */
SB_FUNCTION SB_MASK sb_meets_lines(SB_SELF *m, sb_trial *s, SB_MASK good) {
  SB_MASK stays = {0}, again;
  SB_REAL line;
  if (!SB_CONTROLLED(m)) return stays;
  line = sb_held_off(m, s->h, SB_LAST_SEEN(m), good);
  stays = good & (line < (SB_SCALAR)INFINITY);
  again = stays & (line > SB_LAST_LINE_AT(SB_T(m)));
  if (!SB_ANY(stays)) return again;
  SB_GAP(m) = SB_SELECT(stays, SB_OF(0), SB_GAP(m));
  SB_STEP_LIMIT(m) = SB_SELECT(again, line - (SB_SCALAR)SB_SHORT_OF, SB_STEP_LIMIT(m));
  s->over = stays & SB_NOT(again);
  s->h = SB_SELECT(s->over, SB_MIN(line, SB_LAST_SEEN(m) - SB_T(m)), s->h);
  return again;
}

#endif

/* Where the step just tried crosses first, and whether it is to be repeated in a shorter one: returns
   the lanes of `good` where it is not. far: where it was not accurate; a bend within it, not its
   length, may be why, and then the steps after it are no shorter than up to there. But a step that is
   far too long for its modes seems to cross a bend just after its start, wherever it is begun anew:
   its length, `pace`, must not stay. */
SB_FUNCTION SB_MASK sb_searched(SB_SELF *m, sb_trial *s, SB_MASK good, SB_MASK far, SB_REAL pace) {
  const SB_REAL h = s->h;
#ifdef SB_CONTROLS
  if (SB_ANY(far)) far &= sb_finite(SB_XN(m), SB_N(m));
#endif
  if (!SB_ANY(good | far)) return good;
  sb_watch_end(m, h, SB_LAST_SEEN(m));
#ifdef SB_CONTROLS
  if (SB_ANY(far)) far &= sb_spans_bend(m, h);
  if (!SB_ANY(good | far)) return good;
#endif
  s->theta = sb_find_before(m, h, SB_LAST_SEEN(m));
#ifdef SB_MEETS_LINES
  good &= SB_NOT(sb_meets_lines(m, s, good));
#endif
#ifdef SB_CONTROLS
  if (SB_CONTROLLED(m)) {
    const SB_REAL shorter = sb_short_of(m, (good & SB_NOT(s->over)) | far, h, s->theta);
    const SB_MASK again = shorter > 0;
    SB_STEP_LIMIT(m) = SB_SELECT(again & (shorter < SB_STEP_LIMIT(m)), shorter, SB_STEP_LIMIT(m));
    SB_H(m) = SB_SELECT(again & far, SB_MAX(SB_H(m), SB_MIN(pace, shorter)), SB_H(m));
    good &= SB_NOT(again);
  }
#else
  (void)pace;
#endif
  return good;
}

/* End the step at its crossing without error control: by a shorter step. */
SB_FUNCTION void sb_cut_short(SB_SELF *m, sb_trial *s) {
  const SB_MASK cut = s->cut & SB_NOT(s->over);
#if defined(SB_LANES) && SB_LANES > 1
  SB_REAL end[SB_ROOM(SB_N(m))], slope[SB_ROOM(SB_N(m))];
  sb_try(m, s->h); /* the search has tried other steps in all lanes */
  sb_slope(m, s->until, SB_XN(m), SB_SLOPE(m));
  for (int i = 0; i < SB_N(m); i++) end[i] = SB_XN(m)[i], slope[i] = SB_SLOPE(m)[i];
#endif
  if (!SB_ANY(cut)) return;
  s->h = SB_SELECT(cut, s->theta * s->h, s->h);
  s->theta = SB_SELECT(cut, SB_OF(1), s->theta);
  sb_up_to_crossing(m, s->h);
#if defined(SB_LANES) && SB_LANES > 1
  for (int i = 0; i < SB_N(m); i++) {
    SB_XN(m)[i] = SB_SELECT(cut, SB_XN(m)[i], end[i]);
    SB_SLOPE(m)[i] = SB_SELECT(cut, SB_SLOPE(m)[i], slope[i]);
  }
#endif
}

/* One trial step in the lanes `on`, with the slope in SB_K, towards the stop at `stop`. */
SB_FUNCTION sb_trial sb_tried(SB_SELF *m, SB_MASK on, SB_TIME stop) {
  const SB_MASK none = {0};
  SB_MASK far = none, good;
  SB_REAL pace = SB_OF(0);
  sb_trial s;
  s.theta = SB_OF(2);
  s.failed = s.taken = s.cut = s.over = none;
  s.h = sb_length(m, SB_SELECT(on, stop - SB_T(m), SB_OF(0)), &s.last);
  s.until = SB_SELECT(s.last, stop, SB_T(m) + s.h);
  on = sb_without(m, on, SB_NOT(s.last) & (s.h < SB_SHORTEST(SB_T(m))), SB_NO_LENGTH, &s);
  if (!SB_ANY(on)) return s;
  s.h = SB_SELECT(on, s.h, SB_OF(0));
  sb_try(m, s.h);
#ifdef SB_CONTROLS
  if (SB_CONTROLLED(m)) {
    pace = SB_H(m);
    good = on & sb_accurate(m, s.h, s.last);
    SB_H(m) = SB_SELECT(on, SB_H(m), pace);
    far = on & SB_NOT(good);
  } else
#endif
  {
    good = sb_without(m, on, SB_NOT(sb_finite(SB_XN(m), SB_N(m))), SB_NO_END, &s);
    if (SB_NEEDS_SLOPE(m, &s)) { /* for crossings, what is kept of the step, and the next one */
      sb_slope(m, s.until, SB_XN(m), SB_SLOPE(m));
      good = sb_without(m, good, SB_NOT(sb_finite(SB_SLOPE(m), SB_N(m))), SB_NO_SLOPE, &s);
    }
  }
  if (SB_NG(m)) good = sb_searched(m, &s, good, far, pace);
#ifdef SB_CONTROLS
  if (SB_ANY(far)) sb_without(m, far, SB_H(m) < SB_SHORTEST(SB_T(m)), SB_NO_ACCURACY, &s);
#endif
  if (SB_ANY(s.over)) {
    s.theta = SB_SELECT(s.over, SB_OF(1), s.theta);
    SB_CROSSED(m) = SB_PICK(s.over, -1, SB_CROSSED(m)); /* what has crossed is found there */
  }
  s.taken = good;
  s.cut = good & (s.theta < 2);
  s.until = SB_SELECT(s.cut, SB_T(m) + s.theta * s.h, s.until);
  if (!SB_CONTROLLED(m) && SB_ANY(s.theta < 2)) sb_cut_short(m, &s);
  SB_STEP_LIMIT(m) = SB_SELECT(good, SB_OF((SB_SCALAR)INFINITY), SB_STEP_LIMIT(m));
  return s;
}

/* Go to the end of the step, where it was taken: its last slope is the first of the next, since
   methods with error control end on it. At a crossing the slope is to be found again. */
SB_FUNCTION void sb_accept(SB_SELF *m, const sb_trial *s) {
  const SB_MASK past = s->taken & SB_NOT(s->cut);
  const SB_REAL *slope = SB_DENSE_ORDER(m) > 0 ? SB_SLOPE(m) - SB_N(m) : SB_SLOPE(m);
  SB_REAL *x = SB_X(m), *xn = SB_XN(m), *to = SB_XM(m);
  if (SB_ANY(s->cut) && SB_CONTROLLED(m)) {
    sb_dense(m, s->h, SB_SELECT(s->cut, s->theta, SB_OF(1)), to);
    for (int i = 0; i < SB_N(m); i++) xn[i] = SB_SELECT(s->cut, to[i], xn[i]);
  }
  if (SB_ANY(s->over))
    for (int i = 0; i < SB_N(m); i++) xn[i] = SB_SELECT(s->over, x[i] + s->h * SB_K(m)[i], xn[i]);
  for (int k = 0; k < SB_NG(m); k++) SB_G0(m)[k] = SB_SELECT(past, SB_G1(m)[k], SB_G0(m)[k]);
  for (int i = 0; i < SB_N(m); i++) {
    x[i] = SB_SELECT(s->taken, xn[i], x[i]);
    SB_K(m)[i] = SB_SELECT(past, slope[i], SB_K(m)[i]);
  }
  SB_T(m) = SB_SELECT(s->taken, s->until, SB_T(m));
  SB_SLOPED(m) &= SB_NOT(s->cut);
}

#ifdef SB_WAITS

SB_FUNCTION SB_TIME sb_next_look(const SB_SELF *m, SB_TIME stop);

/* The same without states: a time from which on signals that depend on time alone may cross. */
SB_FUNCTION sb_trial sb_waited(SB_SELF *m, SB_MASK on, SB_TIME stop) {
  const SB_MASK none = {0};
  sb_trial s;
  s.until = sb_next_look(m, stop);
  s.last = s.until >= stop;
  s.h = s.until - SB_T(m);
  s.theta = SB_OF(2);
  if (SB_NG(m) && SB_ANY(on)) s.theta = sb_find_crossing(m, s.h, SB_MIN(s.until, SB_LAST_SEEN(m)));
  s.failed = s.over = none;
  s.taken = on;
  s.cut = on & (s.theta < 2);
  s.until = SB_SELECT(s.cut, SB_T(m) + s.theta * s.h, s.until);
  return s;
}

#endif

#endif
