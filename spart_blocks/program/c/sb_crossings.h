/* Zero crossings within a step: see sb_step.h, which includes this. */

#ifdef SB_LOCATES

/* A step of length h to just after a crossing, with all its stages before it: if the rates jump
   there, a stage after it would count for the whole step. The rest is by the midpoint rule, or linearly
   implicit, which keeps what is stiff stable. */
SB_FUNCTION void sb_up_to(SB_SELF *m, SB_REAL h) {
  const int n = (int)SB_N(m);
  SB_REAL gap = SB_MIN(h, SB_MAX(SB_OF(SB_BEFORE), SB_PART * h)), *slope = SB_SLOPE(m);
  sb_try(m, h - gap);
  sb_slope(m, SB_T(m) + h - gap, SB_XN(m), slope);
#ifdef SB_LINEARISES
  if (SB_GAMMA(m) > 0) {
    sb_factor(m, gap);
    sb_solve(m, slope);
    for (int i = 0; i < n; i++) slope[i] /= SB_GAMMA(m);
  } else
#endif
  {
    for (int i = 0; i < n; i++) SB_XM(m)[i] = SB_XN(m)[i] + (SB_SCALAR)0.5 * gap * slope[i];
    sb_slope(m, SB_T(m) + h - (SB_SCALAR)0.5 * gap, SB_XM(m), slope);
  }
  for (int i = 0; i < n; i++) SB_XN(m)[i] += gap * slope[i];
}

#ifdef SB_MADE

/* The slopes of the stages for dense output alone, once in the step of length h just tried. */
SB_FUNCTION void sb_make_dense(SB_SELF *m, SB_REAL h) {
  if (SB_MADE(m)) return;
  for (int s = (int)SB_STAGES_OF(m); s < SB_ALL_STAGES(m); s++) {
    sb_stage(m, s, h);
    sb_slope(m, SB_T(m) + SB_C(m)[s] * h, SB_XT(m), SB_K(m) + s * SB_N(m));
  }
  SB_MADE(m) = 1;
}

#endif

/* The state at t + theta h within the step of length h just tried, into out; SB_XT may change. */
SB_FUNCTION void sb_dense(SB_SELF *m, SB_REAL h, SB_REAL theta, SB_REAL *SB_RESTRICT out) {
  const int n = (int)SB_N(m), stages = (int)SB_ALL_STAGES(m);
  const SB_REAL off = theta + theta - 1; /* from the middle */
#ifdef SB_MADE
  if (SB_DENSE_ORDER(m) > 0) sb_make_dense(m, h);
#endif
#ifdef SB_FIXED
  if (SB_DENSE_ORDER(m) > 0) {
    SB_REAL weights[SB_ALL_STAGES(m)];
    SB_UNROLLED
    for (int j = 0; j < stages; j++) {
      SB_REAL power = theta;
      weights[j] = SB_OF(0);
      SB_UNROLLED
      for (int k = 0; k < SB_DENSE_ORDER(m); k++, power *= off)
        weights[j] += SB_P(m)[j * SB_DENSE_ORDER(m) + k] * power;
      weights[j] *= h;
    }
    for (int i = 0; i < n; i++) {
      SB_REAL sum = SB_X(m)[i];
      SB_UNROLLED
      for (int j = 0; j < stages; j++) sum += weights[j] * SB_K(m)[j * n + i];
      out[i] = sum;
    }
    return;
  }
#else
  if (SB_DENSE_ORDER(m) > 0) {
    for (int i = 0; i < n; i++) out[i] = SB_X(m)[i];
    for (int j = 0; j < stages; j++) {
      const SB_REAL *SB_RESTRICT K = SB_K(m) + j * n;
      SB_REAL weight = SB_OF(0), power = theta;
      for (int k = 0; k < SB_DENSE_ORDER(m); k++, power *= off)
        weight += SB_P(m)[j * SB_DENSE_ORDER(m) + k] * power;
      weight *= h;
      if (SB_ANY(weight != 0))
        for (int i = 0; i < n; i++) out[i] += weight * K[i];
    }
    return;
  }
#endif
  /* Cubic Hermite between both ends; of an implicit step a straight line where a state decays within it,
     so that its slopes are far too large for the way between them. */
  SB_REAL s = theta, u = 1 - theta;
  for (int i = 0; i < n; i++) {
    SB_REAL x0 = SB_X(m)[i], x1 = SB_XN(m)[i], f0 = SB_K(m)[i], f1 = SB_SLOPE(m)[i];
    SB_REAL bend = (1 - 2 * s) * (x1 - x0) + (s - 1) * h * f0 + s * h * f1;
#ifdef SB_LINEARISES
    if (SB_GAMMA(m) > 0) {
      const SB_REAL off = h * (f0 + f1) - 2 * (x1 - x0);
      bend = SB_SELECT(SB_ABS(off) > SB_MISFIT * h * (SB_ABS(f0) + SB_ABS(f1)), SB_OF(0), bend);
    }
#endif
    out[i] = u * x0 + s * x1 + s * (s - 1) * bend;
  }
}

/* The state at t + theta h: without error control by a shorter step, no stage of which lies after
   that time, where the equations may have changed. */
SB_FUNCTION void sb_within_step(SB_SELF *m, SB_REAL h, SB_REAL theta, SB_REAL *out) {
  const int n = (int)SB_N(m);
  if (!n) return;
  if (SB_CONTROLLED(m)) {
    sb_dense(m, h, theta, out);
    return;
  }
  sb_try(m, theta * h);
  for (int i = 0; i < n; i++) out[i] = SB_XN(m)[i];
}

/* Whether a value goes through zero in a direction: up, down, or with 0 both. */
SB_SMALL SB_MASK sb_crossed(SB_REAL before, SB_REAL after, SB_SCALAR direction) {
  if (direction == 0) return (before > 0) != (after > 0);
  return (before * direction <= 0) & (after * direction > 0);
}

/* Whether a value of crossing k has crossed since before the step. */
SB_SMALL SB_MASK sb_has_crossed(const SB_SELF *m, int k, SB_REAL value) {
  return sb_crossed(SB_G0(m)[k], value, SB_DIRECTION(m, k));
}

/* Where to look next for a crossing that lies between these fractions of a step of length h, from an
   estimate of where it is: the ITP method, which keeps the estimate, moved towards the middle so that
   the crossing comes to lie between it and the nearer end, but no further from the middle than leaves
   as many looks as bisection takes, and a few. whole: the width of the first interval. spare: twice
   this at first, and half as much with each look.
   Source: I. F. D. Oliveira, R. H. C. Takahashi, "An enhancement of the bisection method average
   performance preserving minmax optimality", ACM Trans. Math. Softw. 47 (2020). */
SB_FUNCTION SB_REAL sb_next_probe(SB_REAL low, SB_REAL high, SB_REAL at, SB_REAL h, SB_REAL whole,
                                  SB_REAL spare) {
  const SB_REAL width = high - low, middle = (SB_SCALAR)0.5 * (low + high);
  const SB_REAL side = SB_SELECT(at < middle, SB_OF(1), SB_OF(-1));
  const SB_REAL least = (SB_SCALAR)(0.4 * SB_LOCATED) / h, moved = SB_MOVED * width * width / whole;
  const SB_REAL far = SB_ABS(middle - at), room = spare - (SB_SCALAR)0.5 * width;
  SB_REAL left = far - SB_MIN(far, SB_MAX(least, moved));
  left = SB_MIN(left, SB_MAX(room, SB_OF(0)));
  at = middle - side * left;
  return SB_SELECT((low < at) & (at < high), at, middle); /* also where an estimate is no number */
}

/* A part of a step, as fractions of its length, in which some crossing lies. roughly: where it need not be
   located but to a quarter of the gap that a repeated step leaves before it. staged: also where the last
   stage of a shorter step crosses. */
typedef struct {
  SB_REAL low, high;
  SB_MASK roughly;
  int staged;
} sb_span_of_step;

SB_FUNCTION sb_span_of_step sb_whole_step(void) {
  const SB_MASK none = {0};
  sb_span_of_step whole;
  whole.low = SB_OF(0), whole.high = SB_OF(1), whole.roughly = none, whole.staged = 0;
  return whole;
}

/* Location of the first of some crossings in the step, as a fraction of h, just on its far side, and which
   it is. Where it looks all of them count, not only those that have crossed at the end of the range, where
   the values are `after`. near: the values at its start, which are replaced. among: which they are, and in
   which lanes. */
SB_FUNCTION SB_REAL sb_first_of(SB_SELF *m, SB_REAL h, sb_span_of_step range, const SB_MASK *among, SB_REAL *near,
                                const SB_REAL *after, SB_INDEX *which) {
  const SB_MASK none = {0};
  const SB_REAL whole = range.high - range.low;
  SB_REAL low = range.low, high = range.high;
  SB_REAL spare = 2 * whole, far[SB_ROOM(SB_NG(m))], end[SB_ROOM(SB_NG(m))];
  SB_MASK open, any = none;
  for (int k = 0; k < SB_NG(m); k++) far[k] = after[k], any |= among[k];
  for (;; spare *= (SB_SCALAR)0.5) {
    const SB_REAL middle = (SB_SCALAR)0.5 * (low + high);
    SB_REAL at = high;
    SB_MASK over = none, found = none;
    open = any & ((high - low) * h > SB_LOCATED) & (high - low > SB_LEAST_PART);
    open &= (low < middle) & (middle < high); /* single precision reaches its limit sooner */
    open &= SB_NOT(range.roughly & (high - low < (SB_SCALAR)(0.25 * SB_FIRST_GAP) * high) & (high * h > SB_ROUGH));
    if (!SB_ANY(open)) break;
    for (int k = 0; k < SB_NG(m); k++) { /* the first by a straight line between the values */
      SB_REAL line;
      SB_MASK sooner;
      if (!SB_ANY(among[k])) continue;
      line = low + (high - low) * near[k] / (near[k] - far[k]);
      sooner = among[k] & sb_has_crossed(m, k, far[k]) & (line < at);
      found |= sooner;
      at = SB_SELECT(sooner, line, at);
    }
    at = sb_next_probe(low, high, SB_SELECT(found, at, middle), h, whole, spare);
    sb_within_step(m, h, at, SB_XM(m));
    sb_watch(m, SB_T(m) + at * h, SB_XM(m), SB_G(m));
    if (range.staged) {
      for (int k = 0; k < SB_NG(m); k++) end[k] = SB_G(m)[k];
      sb_watch(m, SB_T(m) + at * h, SB_XT(m), SB_G(m));
      for (int k = 0; k < SB_NG(m); k++)
        SB_G(m)[k] = SB_SELECT(sb_has_crossed(m, k, SB_G(m)[k]), SB_G(m)[k], end[k]);
    }
    for (int k = 0; k < SB_NG(m); k++) over |= among[k] & sb_has_crossed(m, k, SB_G(m)[k]);
    for (int k = 0; k < SB_NG(m); k++) {
      far[k] = SB_SELECT(open & over, SB_G(m)[k], far[k]);
      near[k] = SB_SELECT(open & SB_NOT(over), SB_G(m)[k], near[k]);
    }
    high = SB_SELECT(open & over, at, high);
    low = SB_SELECT(open & SB_NOT(over), at, low);
  }
  for (int k = (int)SB_NG(m) - 1; k >= 0; k--)
    *which = SB_PICK(among[k] & sb_has_crossed(m, k, far[k]), k, *which);
  return high;
}

#ifdef SB_CONTROLS

/* Whether a bend is crossed between the values before the step and these. */
SB_FUNCTION SB_MASK sb_bent(const SB_SELF *m, const SB_REAL *after) {
  SB_MASK any = {0};
  for (int k = 0; k < SB_NG(m); k++)
    if (SB_KIND(m, k) == SB_BEND) any |= sb_crossed(SB_G0(m)[k], after[k], SB_DIRECTION(m, k));
  return any;
}

#endif

/* Whether a crossing is located: without states a bend has no step that it could spoil, and is located
   only for the record. */
SB_FUNCTION int sb_counts(const SB_SELF *m, int k) {
  (void)m, (void)k; /* an export's tables are constants */
#ifdef SB_RECORDS
  return 1;
#else
  return SB_N(m) > 0 || SB_ACTS_AT(SB_KIND(m, k));
#endif
}

/* The values at the end of the step of length h just tried, no later than `until`, into SB_G1. */
SB_FUNCTION void sb_watch_end(SB_SELF *m, SB_REAL h, SB_TIME until) {
  sb_watch(m, SB_MIN(SB_T(m) + h, until), SB_XN(m), SB_G1(m));
}

/* The first crossing within the step just tried: its time as a fraction of h, or 2 if there is
   none. The values at its end are in SB_G1; others are evaluated no later than `until`. Without error
   control the last stage may cross a bend long before the step's end does; then the end is wrong, or
   the signal returns. If it returned at once, it is left out of the next step. A repeated step is
   searched beyond its end, for it was to end before the crossing: by as much again. */
SB_FUNCTION SB_REAL sb_find_before(SB_SELF *m, SB_REAL h, SB_TIME until) {
  const int look = !SB_CONTROLLED(m) && SB_N(m) > 0 && SB_STAGES_OF(m) > 1;
  const SB_INDEX none = {0};
  const SB_MASK freely = SB_STAGED(m) < 2;
  const SB_REAL *after = SB_G1(m);
  SB_REAL first = SB_OF(2), near[SB_ROOM(SB_NG(m))];
  sb_span_of_step range = sb_whole_step();
  SB_TIME end = SB_MIN(SB_T(m) + h, until);
  SB_MASK among[SB_ROOM(SB_NG(m))], no = {0}, any = no;
  for (int k = 0; k < SB_NG(m); k++) near[k] = SB_G0(m)[k];
#ifdef SB_CONTROLS
  if (SB_CONTROLLED(m) && SB_ANY(SB_GAP(m) > 0)) {
    SB_MASK short_of = SB_GAP(m) > 0, ahead = short_of;
    range.high = SB_SELECT(short_of, SB_MIN(1 + 2 * SB_GAP(m), (until - SB_T(m)) / h), range.high);
    sb_dense(m, h, range.high, SB_XM(m));
    sb_watch(m, SB_MIN(SB_T(m) + range.high * h, until), SB_XM(m), SB_GS(m));
    for (int k = 0; k < SB_NG(m); k++)
      SB_GS(m)[k] = SB_SELECT(short_of, SB_GS(m)[k], SB_G1(m)[k]);
    after = SB_GS(m);
    for (int k = 0; k < SB_NG(m); k++) ahead &= SB_NOT(sb_has_crossed(m, k, SB_G1(m)[k]));
    for (int k = 0; k < SB_NG(m); k++) near[k] = SB_SELECT(ahead, SB_G1(m)[k], near[k]);
    range.low = SB_SELECT(ahead, SB_OF(1), range.low);
  }
#endif
  if (look) sb_watch(m, end, SB_XT(m), SB_GS(m));
  SB_STAGED(m) = none;
  for (int k = 0; k < SB_NG(m); k++)
    if (sb_counts(m, k)) any |= sb_has_crossed(m, k, after[k]);
  for (int k = 0; k < SB_NG(m); k++) among[k] = sb_counts(m, k) ? any : no;
  if (SB_ANY(any)) {
#ifdef SB_CONTROLS
    if (SB_CONTROLLED(m)) range.roughly = SB_NOT(SB_GAP(m) > 0) & sb_bent(m, SB_G1(m)); /* to be repeated */
#endif
    first = SB_SELECT(any, sb_first_of(m, h, range, among, near, after, &SB_CROSSED(m)), first);
  }
  any = no;
  for (int k = 0; k < SB_NG(m) && look; k++)
    if (SB_KIND(m, k) == SB_BEND) any |= freely & sb_has_crossed(m, k, SB_GS(m)[k]);
  for (int k = 0; k < SB_NG(m); k++) among[k] = SB_KIND(m, k) == SB_BEND ? any : no;
  if (SB_ANY(any)) {
    SB_INDEX by = SB_CROSSED(m);
    SB_REAL early;
    SB_MASK staged;
    for (int k = 0; k < SB_NG(m); k++) near[k] = SB_G0(m)[k];
    range = sb_whole_step();
    range.staged = 1;
    early = sb_first_of(m, h, range, among, near, SB_GS(m), &by);
    staged = any & (early < SB_EARLY * first);
    first = SB_SELECT(staged, early, first);
    SB_CROSSED(m) = SB_PICK(staged, by, SB_CROSSED(m));
    SB_STAGED(m) = SB_PICK(staged, 1, SB_STAGED(m));
  }
  SB_STAGED(m) = SB_PICK((SB_STAGED(m) > 0) & (first * h < SB_AHEAD), 2, SB_STAGED(m));
  return first;
}

/* The same, with the values at the end of the step. */
SB_SMALL SB_REAL sb_find_crossing(SB_SELF *m, SB_REAL h, SB_TIME until) {
  sb_watch_end(m, h, until);
  return sb_find_before(m, h, until);
}

#ifdef SB_CONTROLS

/* The stage nearest to the middle of a step; 0 without bends, or stages between its ends. */
SB_FUNCTION int sb_middle_stage(const SB_SELF *m) {
  const int stages = (int)SB_STAGES_OF(m);
  SB_SCALAR off = (SB_SCALAR)0.5;
  int bends = 0, middle = 0;
  (void)m; /* an FMU's tables are constants */
  for (int k = 0; k < SB_NG(m); k++) bends |= SB_BENDS(SB_KIND(m, k));
  for (int s = 1; s < stages && bends; s++) {
    const SB_SCALAR away = (SB_SCALAR)fabs(SB_C(m)[s] - 0.5);
    if (away < off) off = away, middle = s;
  }
  return middle;
}

/* The watched values of stage s of the step of length h just tried, into g. */
SB_FUNCTION void sb_watch_stage(SB_SELF *m, int s, SB_REAL h, SB_REAL *g) {
  sb_stage(m, s, h);
  sb_watch(m, SB_T(m) + SB_C(m)[s] * h, SB_XT(m), g);
}

/* Whether the middle stage of that step has crossed a bend, with its values in SB_GS. */
SB_FUNCTION SB_MASK sb_middle_spans_bend(SB_SELF *m, SB_REAL h) {
  const int middle = sb_middle_stage(m);
  const SB_MASK none = {0};
  if (!middle) return none;
  sb_watch_stage(m, middle, h, SB_GS(m));
  return sb_bent(m, SB_GS(m));
}

/* Whether the step of length h just tried has a bend within it. The values at its end are in SB_G1. */
SB_FUNCTION SB_MASK sb_spans_bend(SB_SELF *m, SB_REAL h) {
  const SB_MASK bent = sb_bent(m, SB_G1(m));
  return SB_ANY(SB_NOT(bent)) ? bent | sb_middle_spans_bend(m, h) : bent;
}

/* Where within the step just tried a bend, also one that only signals show, is crossed that is crossed
   again before its end, as a fraction of h, 2 if there is none: such a step may look accurate.
   where: in these lanes. */
SB_FUNCTION SB_REAL sb_find_pair(SB_SELF *m, SB_REAL h, SB_MASK where) {
  const int middle = sb_middle_stage(m);
  SB_MASK among[SB_ROOM(SB_NG(m))], no = {0}, any = no;
  SB_INDEX first = {0};
  SB_REAL at, near[SB_ROOM(SB_NG(m))];
  sb_span_of_step range = sb_whole_step();
  if (!middle) return SB_OF(2);
  sb_watch_stage(m, middle, h, SB_GS(m));
  for (int k = 0; k < SB_NG(m); k++)
    if (SB_BENDS(SB_KIND(m, k))) any |= where & sb_has_crossed(m, k, SB_GS(m)[k]);
  if (!SB_ANY(any)) return SB_OF(2);
  for (int k = 0; k < SB_NG(m); k++) among[k] = SB_BENDS(SB_KIND(m, k)) ? any : no;
  for (int k = 0; k < SB_NG(m); k++) near[k] = SB_G0(m)[k];
  range.high = SB_OF(SB_C(m)[middle]);
  range.roughly = any;
  at = sb_first_of(m, h, range, among, near, SB_GS(m), &first);
  return SB_SELECT(any, at, SB_OF(2));
}

/* Whether a stage of that step has crossed a bend: the state of a stage is less accurate than the
   step's end, and may do so before it. */
SB_FUNCTION SB_MASK sb_stage_spans_bend(SB_SELF *m, SB_REAL h) {
  const int stages = (int)SB_STAGES_OF(m);
  SB_MASK any = {0};
  for (int s = 1; s < stages; s++) {
    sb_watch_stage(m, s, h, SB_G(m));
    any |= sb_bent(m, SB_G(m));
  }
  return any;
}

/* With error control: the length with which to repeat the step just tried, the first crossing of
   which is at theta h (2: none), if it has stages beyond a bend; else 0. Such stages count for the
   whole step, and dense output has far more of their error than the end. The repeated step ends
   before the crossing by SB_GAP of its way, and what is left of the way is read from its dense
   output. If it or one of its stages crosses again, it is repeated with a wider gap.
   where: lanes with such a step. */
SB_FUNCTION SB_REAL sb_short_of(SB_SELF *m, SB_MASK where, SB_REAL h, SB_REAL theta) {
  SB_MASK cuts = where & (theta <= 1), behind = where & (theta > 1) & (theta < 2);
  SB_MASK smooth = where & (theta >= 2), again = {0};
  SB_REAL way, gap, length;
  if (SB_ANY(smooth)) {
    SB_REAL pair = sb_find_pair(m, h, smooth);
    again |= pair <= 1;
    theta = SB_SELECT(again, pair, theta);
  }
  way = theta * h;
  if (SB_ANY(cuts)) again |= cuts & sb_bent(m, SB_G1(m));
  if (SB_ANY(behind)) again |= behind & sb_stage_spans_bend(m, h);
  gap = SB_SELECT(SB_GAP(m) > 0, SB_WIDEN * SB_GAP(m), SB_OF(SB_FIRST_GAP));
  gap = SB_MAX(gap, (SB_SCALAR)SB_BEFORE / way);
  length = (1 - gap) * way;
  again &= (gap < SB_WIDEST) & (length > 1e-13 * SB_T(m));
  SB_GAP(m) = SB_SELECT(where, SB_SELECT(again, gap, SB_OF(0)), SB_GAP(m));
  return SB_SELECT(again, length, SB_OF(0));
}

#endif

#ifdef SB_HOLDS_OFF

/* The state at t + span along the first slope, into SB_XT, and its watched values, into g, at a time
   no later than `until`. */
SB_FUNCTION void sb_along(SB_SELF *m, SB_REAL span, SB_TIME until, SB_REAL *g) {
  for (int i = 0; i < SB_N(m); i++) SB_XT(m)[i] = SB_X(m)[i] + span * SB_K(m)[i];
  sb_watch(m, SB_MIN(SB_T(m) + span, until), SB_XT(m), g);
}

/* The values that those of SB_XT become within SB_AHEAD, into SB_G. */
SB_FUNCTION void sb_shortly_after(SB_SELF *m, SB_REAL span, SB_TIME until) {
  sb_slope(m, SB_MIN(SB_T(m) + span, until), SB_XT(m), SB_XM(m));
  for (int i = 0; i < SB_N(m); i++) SB_XT(m)[i] += SB_AHEAD * SB_XM(m)[i];
  sb_watch(m, SB_MIN(SB_T(m) + span + SB_AHEAD, until), SB_XT(m), SB_G(m));
}

/* Where the line along the first slope of the step of length h just tried first meets a surface at
   which something acts, and from beyond which rates lead back: the time [s] from its start, up to
   half of SB_SHORT_OF beyond its end, and infinity if there is none. With stages on both sides,
   steps may stay before it for ever, each by as little as error control allows, and then nothing
   acts. where: in these lanes. until: the latest time at which values are evaluated. Those of the
   step's end are in SB_G1. */
SB_FUNCTION SB_REAL sb_held_off(SB_SELF *m, SB_REAL h, SB_TIME until, SB_MASK where) {
  const SB_MASK none = {0};
  const SB_REAL away = SB_OF((SB_SCALAR)INFINITY);
  SB_REAL low = SB_OF(0), high = h + (SB_SCALAR)(0.5 * SB_SHORT_OF), *g = SB_GS(m);
  SB_MASK near = none, found = none, back = none;
  int acts = 0;
  for (int k = 0; k < SB_NG(m); k++) {
    acts |= SB_ACTS_AT(SB_KIND(m, k));
    near |= SB_ABS(SB_G0(m)[k]) <= SB_NEARBY * SB_ABS(SB_G1(m)[k] - SB_G0(m)[k]);
  }
  near &= where;
  if (!acts || !SB_N(m) || !SB_ANY(near)) return away;
  sb_along(m, high, until, g);
  for (int k = 0; k < SB_NG(m); k++)
    if (SB_ACTS_AT(SB_KIND(m, k))) found |= sb_crossed(SB_G0(m)[k], g[k], SB_DIRECTION(m, k));
  found &= near;
  if (!SB_ANY(found)) return away;
  for (;;) {
    SB_REAL middle = (SB_SCALAR)0.5 * (low + high);
    SB_MASK open = found & (high - low > SB_LOCATED), beyond = none;
    open &= (low < middle) & (middle < high);
    if (!SB_ANY(open)) break;
    sb_along(m, middle, until, g);
    for (int k = 0; k < SB_NG(m); k++)
      if (SB_ACTS_AT(SB_KIND(m, k))) beyond |= sb_crossed(SB_G0(m)[k], g[k], SB_DIRECTION(m, k));
    high = SB_SELECT(open & beyond, middle, high);
    low = SB_SELECT(open & SB_NOT(beyond), middle, low);
  }
  /* Just before it: another surface there comes first, and signals that do not come nearer are no
     numbers in what follows. */
  low = SB_SELECT(low > 2 * SB_SHORT_OF, low - (SB_SCALAR)SB_SHORT_OF, (SB_SCALAR)0.5 * low);
  sb_along(m, low, until, g);
  sb_shortly_after(m, low, until);
  for (int k = 0; k < SB_NG(m); k++) {
    SB_REAL change = SB_G(m)[k] - g[k];
    SB_MASK nearer = SB_SELECT(SB_G0(m)[k] > 0, -change, change) > 0;
    found &= SB_NOT(sb_crossed(SB_G0(m)[k], g[k], SB_DIRECTION(m, k)));
    g[k] = SB_SELECT(nearer, g[k], SB_OF((SB_SCALAR)NAN));
  }
  if (!SB_ANY(found)) return away;
  /* Just after it: what has crossed, and where that goes. */
  sb_along(m, high, until, SB_G(m));
  for (int k = 0; k < SB_NG(m); k++) {
    SB_MASK over = (g[k] == g[k]) & sb_crossed(SB_G0(m)[k], SB_G(m)[k], SB_DIRECTION(m, k));
    g[k] = SB_SELECT(over, SB_G(m)[k], SB_OF((SB_SCALAR)NAN));
  }
  sb_shortly_after(m, high, until);
  for (int k = 0; k < SB_NG(m); k++) {
    SB_REAL change = SB_G(m)[k] - g[k];
    if (SB_KIND(m, k) != SB_LIMIT) back |= SB_SELECT(SB_G0(m)[k] > 0, -change, change) <= 0;
  }
  return SB_SELECT(found & back, high, away);
}

#endif

/* A step of length h to just after the crossing found, if it leads there; else a plain one. */
SB_FUNCTION void sb_up_to_crossing(SB_SELF *m, SB_REAL h) {
  const int n = (int)SB_N(m);
  SB_REAL *x = SB_XN(m), *kept = SB_XM(m), *slope = SB_SLOPE(m);
  SB_MASK over = SB_STAGED(m) > 0;
  sb_up_to(m, h);
  sb_watch(m, SB_T(m) + h, x, SB_G(m));
  for (int k = 0; k < SB_NG(m); k++)
    over |= (SB_CROSSED(m) == k) & sb_crossed(SB_G0(m)[k], SB_G(m)[k], SB_DIRECTION(m, k));
  if (!SB_ANY(SB_NOT(over))) return;
  for (int i = 0; i < n; i++) kept[i] = x[i];
  sb_try(m, h);
  sb_slope(m, SB_T(m) + h, x, SB_XT(m));
  for (int i = 0; i < n; i++) x[i] = SB_SELECT(over, kept[i], x[i]);
  for (int i = 0; i < n; i++) slope[i] = SB_SELECT(over, slope[i], SB_XT(m)[i]);
}

#endif
