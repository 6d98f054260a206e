/* One step of a run, shared by the loop of simulations, FMUs and exported C.

   An explicit Runge-Kutta step by a tableau, its length, its dense output, the location of zero
   crossings, and events at one time: ticks and changes of modes. The step control and the
   choice of the first step are those of E. Hairer, S. P. Norsett, G. Wanner, "Solving Ordinary
   Differential Equations I" (1993), sec. II.4.

   The including file first defines the model type and the number type:
     SB_SELF                 the type of the model; m points to one
     SB_REAL                 a number, or one for each of several lanes
     SB_N(m)                 the number of states
     SB_X(m) SB_T(m)         the states, and their time
     SB_XN(m)                the end of a step
     SB_XT(m) SB_XM(m)       work memory for the state of a stage, and for one more
     SB_K(m)                 memory for SB_STAGES_OF(m) + 1 slopes; the first is the one at SB_X
     SB_A(m) SB_B(m) SB_C(m) the tableau
     sb_slope(m, t, x, out)  the rates; sb_own_steps(m, h) puts into SB_XN the states that have
                             a map of their own

   SB_FIXED: sizes and the tableau are constants: sums over stages are unrolled.
   SB_NO_STATES: there are no states, and none of this.
   SB_CONTROLS: methods may estimate their error. Then also SB_CONTROLLED(m), whether this one does;
     its weights SB_E(m); SB_EXPONENT(m), -1 / order; SB_H(m), the length of the next step;
     SB_ERROR_OF(m, size), the error that a state of that size may have; with SB_LOCATES also
     SB_GAP(m), of a step that is repeated to end before a bend, 0 at first and of any other.
   SB_BOUNDS: the length of steps is bounded. Then SB_LONGEST(m); sb_reach(m), the longest step that
   misses nothing; and SB_STEP_LIMIT(m), a bound on the next step alone: it makes those after it no
   shorter.
   SB_LOCATES: zero crossings are located. Then also SB_NG(m), their number; SB_KIND(m, k) and
     SB_DIRECTION(m, k) of each; SB_G0(m), the values before the step; room for values in
     SB_G1(m), SB_GS(m) and SB_G(m); SB_CROSSED(m) and SB_STAGED(m), what was found;
     sb_watch(m, t, x, out), the values; SB_P(m) of SB_DENSE_ORDER(m), the dense output;
     of order 0 there is none.
   SB_RECORDS: signals are recorded or measured, so that also bends and limits without states are
     located. Otherwise they are not, as there is no step that they could spoil.
   SB_HOLDS_OFF: steps with error control look for surfaces that they may never cross
     (sb_held_off).
   SB_HAS_CLOCKS: clocks tick. Then SB_ND discrete states, SB_CLOCKS(m), SB_HANDOVERS,
     SB_HANDOVER_CLOCK(k), sb_due(m, c), sb_hand_over(m, k, before, xd) and
     sb_tick_clock(m, c, before, xd), which read `before` and write into xd.
   SB_SWITCHES: how many crossings are of blocks that switch modes. Then SB_MOST_SWITCHES,
     SB_FIRST(k), the first crossing of the same block, sb_watch_modes(m, t, x, xd, out) and
     sb_switch(m, t, k, where, x, xd), which switches the block of k in some lanes.

   Lanes: where SB_REAL is a vector, each lane has its own time, length and crossing. No lane
   branches alone: the macros under "numbers" are all that differs. */

#ifndef SB_STEP_H
#define SB_STEP_H

/* --- numbers ----------------------------------------------------------------------------- */

#ifndef SB_MASK      /* one lane; else all of these are given */
#define SB_MASK int  /* of a comparison */
#define SB_INDEX int /* the number of a crossing */
#define SB_OF(value) ((SB_REAL)(value)) /* in all lanes */
#define SB_ANY(mask) (mask)             /* in any lane */
#define SB_NOT(mask) (!(mask))
#define SB_SELECT(mask, a, b) ((mask) ? (a) : (b)) /* numbers, and */
#define SB_PICK(mask, a, b) ((mask) ? (a) : (b))   /* numbers of crossings */
#define SB_ABS fabs
#define SB_MIN fmin
#define SB_MAX fmax
#define SB_SQRT sqrt
#define SB_POW pow
#define SB_CEIL ceil
#endif
#ifndef SB_SCALAR /* constants, which all lanes have in common */
#define SB_SCALAR SB_REAL
#endif
#ifndef SB_TIME /* may be of more digits than states */
#define SB_TIME SB_REAL
#endif
#ifdef __CUDACC__
#define SB_FUNCTION static __device__
#endif
#ifndef SB_FUNCTION
#define SB_FUNCTION static
#endif
#ifdef __cplusplus
#define SB_RESTRICT __restrict__
#else
#define SB_RESTRICT restrict
#endif

#ifdef SB_FIXED
#define SB_INLINE static inline __attribute__((always_inline))
#ifdef __clang__
#define SB_UNROLLED _Pragma("unroll")
#else
#define SB_UNROLLED _Pragma("GCC unroll 16")
#endif
#else
#define SB_INLINE SB_FUNCTION
#define SB_UNROLLED
#endif

#define SB_BEFORE 5e-11 /* s: stages of a step to a crossing stay before it by this, or */
#define SB_PART 1e-3 /* by this fraction of the step, whichever is larger */
#define SB_WIDEN 8 /* a step that is repeated once more stays before it by so many times as much, */
#define SB_WIDEST 0.1 /* at most by this fraction */
#define SB_SHORTEN 0.2 /* least ratio of a step to the one before it */
#define SB_LENGTHEN 10 /* largest ratio of a step to the one before it */
#define SB_SAFETY_OF_STEPS 0.9
#define SB_LOCATED 2.5e-11 /* s: tolerance of the time of a crossing */
#define SB_EARLY 0.99 /* fraction of the way: a stage that crosses before has made the step's end
                         wrong */
#define SB_AHEAD 1e-9 /* s: time over which a signal is checked for an immediate return */
#define SB_NEARBY 10 /* a surface is looked at if it is no further than this many times the change
                        of its value by a step */
#define SB_LAST_LINE 2e-10 /* s: a line leads over a surface that is no further, or than 16 units in
                              the last place, for no step is shorter than 10 */
#define SB_LAST_LINE_AT(t) SB_MAX(SB_OF(SB_LAST_LINE), 3.6e-15 * (t))
#define SB_SHORT_OF 1e-10 /* s: a step along a line ends before the surface by this */

#ifndef SB_JUST_AFTER /* the ends of a segment lie just inside its stops: */
#define SB_INSIDE 16  /* units in the last place, the accuracy of switching times */
#define SB_JUST_AFTER(t) ((t) + SB_INSIDE * (nextafter(t, INFINITY) - (t)))
#define SB_JUST_BEFORE(t) ((t) - SB_INSIDE * ((t) - nextafter(t, -INFINITY)))
#endif

/* The action where a zero-crossing function crosses zero. */
enum { SB_EVENT, SB_STOP, SB_LIMIT, SB_MODE, SB_BEND, SB_FAULT };
#define SB_ACTS_AT(kind) ((kind) != SB_LIMIT && (kind) != SB_BEND)

#ifndef SB_NO_STATES

/* --- a step ------------------------------------------------------------------------------ */

/* The slope at the far end, which dense output needs, lies behind those of the stages. */
#define SB_SLOPE(m) (SB_K(m) + SB_STAGES_OF(m) * SB_N(m))

#ifdef SB_FIXED

/* The sum of `count` slopes of state i with these weights. */
SB_INLINE SB_REAL sb_sum(const SB_REAL *K, const SB_SCALAR *weights, int count, int n, int i) {
  SB_REAL sum = SB_OF(0);
  int begun = 0;
  SB_UNROLLED
  for (int j = 0; j < count; j++)
    if (weights[j] != 0) {
      sum = begun ? sum + weights[j] * K[j * n + i] : weights[j] * K[j * n + i];
      begun = 1;
    }
  return sum;
}

SB_INLINE void sb_combine(const SB_SELF *m, const SB_SCALAR *weights, int count, SB_REAL *to) {
  for (int i = 0; i < SB_N(m); i++) to[i] = sb_sum(SB_K(m), weights, count, SB_N(m), i);
}

SB_INLINE void sb_lead(const SB_SELF *m, const SB_SCALAR *weights, int count, SB_REAL h,
                       SB_REAL *to) {
  for (int i = 0; i < SB_N(m); i++)
    to[i] = SB_X(m)[i] + h * sb_sum(SB_K(m), weights, count, SB_N(m), i);
}

#else

/* The sum of `count` slopes with these weights into `to`. */
SB_FUNCTION void sb_combine(const SB_SELF *m, const SB_SCALAR *weights, int count, SB_REAL *to) {
  const int n = (int)SB_N(m);
  const SB_REAL *K = SB_K(m);
  int j = 0;
  while (j < count - 1 && weights[j] == 0) j++; /* begin with the first that counts */
  for (int i = 0; i < n; i++) to[i] = weights[j] * K[j * n + i];
  for (j++; j < count; j++)
    if (weights[j] != 0)
      for (int i = 0; i < n; i++) to[i] += weights[j] * K[j * n + i];
}

/* The state after h along that sum, into `to`. */
SB_FUNCTION void sb_lead(const SB_SELF *m, const SB_SCALAR *weights, int count, SB_REAL h,
                         SB_REAL *to) {
  const int n = (int)SB_N(m);
  int first = 0, last = count - 1;
  const SB_REAL *x = SB_X(m), *K;
  while (last > 0 && weights[last] == 0) last--;
  while (first < last && weights[first] == 0) first++;
  K = SB_K(m) + last * n;
  if (first < last) {
    sb_combine(m, weights, last, to);
    for (int i = 0; i < n; i++) to[i] = x[i] + h * (to[i] + weights[last] * K[i]);
  } else {
    for (int i = 0; i < n; i++) to[i] = x[i] + h * (weights[last] * K[i]);
  }
}

#endif

/* The state of stage s of a step of length h, into SB_XT. */
SB_INLINE void sb_stage(SB_SELF *m, int s, SB_REAL h) {
  sb_lead(m, SB_A(m) + s * SB_STAGES_OF(m), s, h, SB_XT(m));
}

/* One trial step of length h from SB_X with the slope in SB_K: result in SB_XN. */
SB_FUNCTION void sb_try(SB_SELF *m, SB_REAL h) {
  const int stages = (int)SB_STAGES_OF(m);
  SB_UNROLLED
  for (int s = 1; s < stages; s++) {
    sb_stage(m, s, h);
    sb_slope(m, SB_T(m) + SB_C(m)[s] * h, SB_XT(m), SB_K(m) + s * SB_N(m));
  }
  sb_lead(m, SB_B(m), stages, h, SB_XN(m));
  sb_own_steps(m, h);
}

#ifdef SB_BOUNDS

/* Length of equal steps of at most `longest` over the time left. */
SB_FUNCTION SB_TIME sb_equal_length(SB_TIME left, SB_TIME longest) {
  return left / SB_MAX(SB_OF(1), SB_CEIL(left / longest - 1e-9));
}

/* Whether a step of length h covers all of `left`. */
SB_FUNCTION SB_MASK sb_is_last(SB_TIME h, SB_TIME left) { return h >= left * (1 - 1e-12); }

#endif

/* --- its error and its length ------------------------------------------------------------ */

#ifdef SB_CONTROLS

/* The size of v, 1 where it is what the tolerances allow between the states x and y. */
SB_FUNCTION SB_REAL sb_norm(const SB_SELF *m, const SB_REAL *v, const SB_REAL *x,
                            const SB_REAL *y) {
  const int n = (int)SB_N(m);
  SB_REAL sum = SB_OF(0);
  for (int i = 0; i < n; i++) {
    SB_REAL size = SB_SELECT(SB_ABS(x[i]) > SB_ABS(y[i]), SB_ABS(x[i]), SB_ABS(y[i]));
    SB_REAL e = v[i] / SB_ERROR_OF(m, size);
    sum += e * e;
  }
  return SB_SQRT(sum / (SB_SCALAR)(n > 0 ? n : 1));
}

/* The error of the step of length h that was just tried. */
SB_FUNCTION SB_REAL sb_error(SB_SELF *m, SB_REAL h) {
  const int n = (int)SB_N(m);
  SB_REAL *to = SB_XM(m);
  sb_combine(m, SB_E(m), (int)SB_STAGES_OF(m), to);
  for (int i = 0; i < n; i++) to[i] *= h;
  return sb_norm(m, to, SB_X(m), SB_XN(m));
}

/* The length of the step to try after one of length h with that error, also if it is no
   number. */
SB_FUNCTION SB_REAL sb_next_length(const SB_SELF *m, SB_REAL h, SB_REAL error) {
  SB_REAL some = SB_SAFETY_OF_STEPS * SB_POW(error, SB_OF(SB_EXPONENT(m)));
  SB_REAL none = SB_SELECT(error == 0, SB_OF(SB_LENGTHEN), SB_OF(0));
  SB_REAL factor = SB_SELECT(error > 0, some, none);
  return h * SB_MIN(SB_OF(SB_LENGTHEN), SB_MAX(SB_OF(SB_SHORTEN), factor));
}

/* The length of the first step where `left` is left, from the slope in SB_K. */
SB_FUNCTION SB_REAL sb_first_step(SB_SELF *m, SB_REAL left) {
  const int n = (int)SB_N(m);
  const SB_REAL *x = SB_X(m), *K = SB_K(m);
  SB_REAL *slope = SB_SLOPE(m);
  SB_REAL d0 = sb_norm(m, x, x, x), d1 = sb_norm(m, K, x, x), d2, d, h0, h1, h;
  h0 = SB_MIN(SB_SELECT((d0 < 1e-5) | (d1 < 1e-5), SB_OF(1e-6), 0.01 * d0 / d1), left);
  for (int i = 0; i < n; i++) SB_XT(m)[i] = x[i] + h0 * K[i];
  sb_slope(m, SB_T(m) + h0, SB_XT(m), slope);
  for (int i = 0; i < n; i++) slope[i] -= K[i];
  d2 = sb_norm(m, slope, x, x) / h0;
  d = SB_MAX(d1, d2);
  h1 = SB_SELECT(d <= 1e-15, SB_MAX(SB_OF(1e-6), h0 * 1e-3),
                 SB_POW(0.01 / d, SB_OF(-SB_EXPONENT(m))));
  h = SB_MIN(100 * h0, h1);
  return SB_SELECT(h > 0, h, SB_OF(1e-6)); /* also for NaN */
}

/* Whether the error of the step just tried is small enough; sets the length of the next. */
SB_FUNCTION SB_MASK sb_accurate(SB_SELF *m, SB_REAL h, SB_MASK last) {
  SB_REAL error = sb_error(m, h), next = sb_next_length(m, h, error);
  SB_MASK small = error < 1; /* false for NaN */
  /* A step cut short, by its end or a limit, says little: it makes the next one no shorter. */
  SB_MASK says = SB_NOT(small) | SB_NOT(last | (h < SB_H(m))) | (next > SB_H(m));
  SB_H(m) = SB_SELECT(says, next, SB_H(m));
  return small;
}

#endif

#ifdef SB_BOUNDS

/* The length of the step to try where `left` is left, and whether it is the last: up to the
   end at once, or in equal steps where no error is told. */
SB_FUNCTION SB_TIME sb_length(SB_SELF *m, SB_TIME left, SB_MASK *last) {
  SB_TIME longest = SB_MIN(SB_LONGEST(m), sb_reach(m)), h;
#ifdef SB_CONTROLS
  if (SB_CONTROLLED(m)) {
    SB_H(m) = SB_SELECT(SB_H(m) > longest, longest, SB_H(m));
    h = SB_MIN(SB_H(m), SB_STEP_LIMIT(m));
    *last = sb_is_last(h, left);
    return SB_SELECT(*last, left, h);
  }
#endif
  h = sb_equal_length(left, SB_MIN(longest, SB_STEP_LIMIT(m)));
  *last = sb_is_last(h, left);
  return h;
}

#endif

/* --- zero crossings ---------------------------------------------------------------------- */

#ifdef SB_LOCATES

/* A step of length h to just after a crossing, with all its stages before it: if the rates jump
   there, a stage after it would count for the whole step. */
SB_FUNCTION void sb_up_to(SB_SELF *m, SB_REAL h) {
  const int n = (int)SB_N(m);
  SB_REAL gap = SB_MIN(h, SB_MAX(SB_OF(SB_BEFORE), SB_PART * h)), *slope = SB_SLOPE(m);
  sb_try(m, h - gap);
  sb_slope(m, SB_T(m) + h - gap, SB_XN(m), slope); /* the rest by the midpoint rule */
  for (int i = 0; i < n; i++) SB_XM(m)[i] = SB_XN(m)[i] + (SB_SCALAR)0.5 * gap * slope[i];
  sb_slope(m, SB_T(m) + h - (SB_SCALAR)0.5 * gap, SB_XM(m), slope);
  for (int i = 0; i < n; i++) SB_XN(m)[i] += gap * slope[i];
}

/* The state at t + theta h within the step just tried, into out. */
SB_FUNCTION void sb_dense(const SB_SELF *m, SB_REAL h, SB_REAL theta, SB_REAL *SB_RESTRICT out) {
  const int n = (int)SB_N(m), stages = (int)SB_STAGES_OF(m);
#ifdef SB_FIXED
  if (SB_DENSE_ORDER(m) > 0) {
    SB_REAL weights[SB_STAGES_OF(m)];
    SB_UNROLLED
    for (int j = 0; j < stages; j++) {
      SB_REAL power = theta;
      weights[j] = SB_OF(0);
      SB_UNROLLED
      for (int k = 0; k < SB_DENSE_ORDER(m); k++, power *= theta)
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
      for (int k = 0; k < SB_DENSE_ORDER(m); k++, power *= theta)
        weight += SB_P(m)[j * SB_DENSE_ORDER(m) + k] * power;
      weight *= h;
      if (SB_ANY(weight != 0))
        for (int i = 0; i < n; i++) out[i] += weight * K[i];
    }
    return;
  }
#endif
  /* Cubic Hermite between both ends. */
  SB_REAL s = theta, u = 1 - theta;
  for (int i = 0; i < n; i++) {
    SB_REAL x0 = SB_X(m)[i], x1 = SB_XN(m)[i], f0 = SB_K(m)[i], f1 = SB_SLOPE(m)[i];
    out[i] = u * x0 + s * x1 + s * (s - 1) * ((1 - 2 * s) * (x1 - x0) + (s - 1) * h * f0 + s * h * f1);
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
SB_FUNCTION SB_MASK sb_crossed(SB_REAL before, SB_REAL after, SB_SCALAR direction) {
  if (direction == 0) return (before > 0) != (after > 0);
  return (before * direction <= 0) & (after * direction > 0);
}

/* Whether a value lies beyond its crossing; up: direction of a crossing that counts both ways. */
SB_FUNCTION SB_MASK sb_beyond(SB_REAL value, SB_SCALAR direction, SB_MASK up) {
  if (direction > 0) return value > 0;
  if (direction < 0) return value < 0;
  return (value > 0) == up;
}

/* Location of crossing k in the step, as a fraction of h up to `high`, just on its far side.
   staged: also where the last stage of a shorter step crosses. */
SB_FUNCTION SB_REAL sb_where(SB_SELF *m, SB_REAL h, SB_REAL high, int k, SB_MASK up, int staged) {
  SB_REAL low = SB_OF(0);
  for (;;) {
    SB_REAL middle = (SB_SCALAR)0.5 * (low + high);
    SB_MASK open = ((high - low) * h > SB_LOCATED) & (high - low > 1e-15), beyond;
    open &= (low < middle) & (middle < high); /* single precision reaches its limit sooner */
    if (!SB_ANY(open)) return high;
    sb_within_step(m, h, middle, SB_XM(m));
    sb_watch(m, SB_T(m) + middle * h, SB_XM(m), SB_G(m));
    beyond = sb_beyond(SB_G(m)[k], SB_DIRECTION(m, k), up);
    if (staged) {
      sb_watch(m, SB_T(m) + middle * h, SB_XT(m), SB_G(m));
      beyond |= sb_beyond(SB_G(m)[k], SB_DIRECTION(m, k), up);
    }
    high = SB_SELECT(open & beyond, middle, high);
    low = SB_SELECT(open & SB_NOT(beyond), middle, low);
  }
}

/* The first crossing within the step just tried: its time as a fraction of h, or 2 if there is
   none. Values are evaluated no later than `until`. Without error control the last stage may cross
   a bend long before the step's end does; then the end is wrong, or the signal returns. If it
   returned at once, it is left out of the next step. A repeated step is searched beyond its end,
   for it was to end before the crossing: by as much again. */
SB_FUNCTION SB_REAL sb_find_crossing(SB_SELF *m, SB_REAL h, SB_TIME until) {
  const int look = !SB_CONTROLLED(m) && SB_N(m) > 0 && SB_STAGES_OF(m) > 1;
  const SB_INDEX none = {0};
  const SB_MASK freely = SB_STAGED(m) < 2;
  const SB_REAL *after = SB_G1(m);
  SB_REAL first = SB_OF(2), far = SB_OF(1);
  SB_TIME end = SB_MIN(SB_T(m) + h, until);
  sb_watch(m, end, SB_XN(m), SB_G1(m));
#ifdef SB_CONTROLS
  if (SB_CONTROLLED(m) && SB_ANY(SB_GAP(m) > 0)) {
    SB_MASK short_of = SB_GAP(m) > 0;
    far = SB_SELECT(short_of, SB_MIN(1 + 2 * SB_GAP(m), (until - SB_T(m)) / h), far);
    sb_dense(m, h, far, SB_XM(m));
    sb_watch(m, SB_MIN(SB_T(m) + far * h, until), SB_XM(m), SB_GS(m));
    for (int k = 0; k < SB_NG(m); k++)
      SB_GS(m)[k] = SB_SELECT(short_of, SB_GS(m)[k], SB_G1(m)[k]);
    after = SB_GS(m);
  }
#endif
  if (look) sb_watch(m, end, SB_XT(m), SB_GS(m));
  SB_STAGED(m) = none;
  for (int k = 0; k < SB_NG(m); k++) {
    const SB_SCALAR direction = SB_DIRECTION(m, k);
    SB_MASK ends, staged = {0}, sooner;
    SB_REAL at = SB_OF(2);
#ifndef SB_RECORDS
    if (!SB_N(m) && (SB_KIND(m, k) == SB_LIMIT || SB_KIND(m, k) == SB_BEND)) continue; /* no step */
#endif
    ends = sb_crossed(SB_G0(m)[k], after[k], direction);
    if (look && SB_KIND(m, k) == SB_BEND)
      staged = freely & sb_crossed(SB_G0(m)[k], SB_GS(m)[k], direction);
    if (SB_ANY(ends)) at = SB_SELECT(ends, sb_where(m, h, far, k, after[k] > 0, 0), at);
    if (SB_ANY(staged)) {
      SB_REAL early = sb_where(m, h, SB_OF(1), k, SB_GS(m)[k] > 0, 1);
      staged &= early < SB_EARLY * at;
      at = SB_SELECT(staged, early, at);
    }
    sooner = at < first;
    first = SB_SELECT(sooner, at, first);
    SB_CROSSED(m) = SB_PICK(sooner, k, SB_CROSSED(m));
    SB_STAGED(m) = SB_PICK(sooner, SB_PICK(staged, 1, 0), SB_STAGED(m));
  }
  SB_STAGED(m) = SB_PICK((SB_STAGED(m) > 0) & (first * h < SB_AHEAD), 2, SB_STAGED(m));
  return first;
}

#ifdef SB_CONTROLS

/* Whether a bend is crossed between the values before the step and these. */
SB_FUNCTION SB_MASK sb_bent(const SB_SELF *m, const SB_REAL *after) {
  SB_MASK any = {0};
  for (int k = 0; k < SB_NG(m); k++)
    if (SB_KIND(m, k) == SB_BEND) any |= sb_crossed(SB_G0(m)[k], after[k], SB_DIRECTION(m, k));
  return any;
}

/* The stage nearest to the middle of a step; 0 without bends, or stages between its ends. */
SB_FUNCTION int sb_middle_stage(const SB_SELF *m) {
  const int stages = (int)SB_STAGES_OF(m);
  SB_SCALAR off = (SB_SCALAR)0.5;
  int bends = 0, middle = 0;
  (void)m; /* an FMU's tables are constants */
  for (int k = 0; k < SB_NG(m); k++) bends |= SB_KIND(m, k) == SB_BEND;
  for (int s = 1; s < stages && bends; s++) {
    const SB_SCALAR away = (SB_SCALAR)fabs(SB_C(m)[s] - 0.5);
    if (away < off) off = away, middle = s;
  }
  return middle;
}

/* Whether stage s of the step of length h just tried has crossed a bend. g: its watched values. */
SB_FUNCTION SB_MASK sb_stage_bent(SB_SELF *m, int s, SB_REAL h, SB_REAL *g) {
  sb_stage(m, s, h);
  sb_watch(m, SB_T(m) + SB_C(m)[s] * h, SB_XT(m), g);
  return sb_bent(m, g);
}

/* Whether the middle stage of that step has, with its values in SB_GS. */
SB_FUNCTION SB_MASK sb_middle_spans_bend(SB_SELF *m, SB_REAL h) {
  const int middle = sb_middle_stage(m);
  const SB_MASK none = {0};
  return middle ? sb_stage_bent(m, middle, h, SB_GS(m)) : none;
}

/* Whether the step of length h just tried has a bend within it. */
SB_FUNCTION SB_MASK sb_spans_bend(SB_SELF *m, SB_REAL h, SB_TIME until) {
  sb_watch(m, SB_MIN(SB_T(m) + h, until), SB_XN(m), SB_G1(m));
  return sb_bent(m, SB_G1(m)) | sb_middle_spans_bend(m, h);
}

/* Where within the step just tried a bend is crossed that is crossed again before its end, as a
   fraction of h, 2 if there is none: such a step may look accurate. where: in these lanes. */
SB_FUNCTION SB_REAL sb_find_pair(SB_SELF *m, SB_REAL h, SB_MASK where) {
  SB_REAL first = SB_OF(2);
  SB_MASK any = where & sb_middle_spans_bend(m, h);
  if (!SB_ANY(any)) return first;
  for (int k = 0; k < SB_NG(m); k++) {
    SB_MASK crossed = any & sb_crossed(SB_G0(m)[k], SB_GS(m)[k], SB_DIRECTION(m, k));
    SB_REAL high = SB_OF(SB_C(m)[sb_middle_stage(m)]), at;
    if (SB_KIND(m, k) != SB_BEND || !SB_ANY(crossed)) continue;
    at = sb_where(m, h, high, k, SB_GS(m)[k] > 0, 0);
    first = SB_SELECT(crossed & (at < first), at, first);
  }
  return first;
}

/* Whether a stage of that step has crossed a bend: the state of a stage is less accurate than the
   step's end, and may do so before it. */
SB_FUNCTION SB_MASK sb_stage_spans_bend(SB_SELF *m, SB_REAL h) {
  const int stages = (int)SB_STAGES_OF(m);
  SB_MASK any = {0};
  for (int s = 1; s < stages; s++) any |= sb_stage_bent(m, s, h, SB_G(m));
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
  gap = SB_SELECT(SB_GAP(m) > 0, SB_WIDEN * SB_GAP(m), SB_OF(SB_PART));
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

#endif

/* --- events at one time ------------------------------------------------------------------ */

#ifdef SB_HAS_CLOCKS

/* The discrete states after the clocks due have ticked, into xd; before: those until then.
   First the held outputs that other clocks read are renewed in it, then all clocks due read the
   same. Returns whether any was due. */
SB_FUNCTION int sb_ticked(SB_SELF *m, SB_REAL *before, SB_REAL *xd) {
  int any = 0;
  for (int i = 0; i < SB_ND(m); i++) xd[i] = before[i];
  for (int k = 0; k < SB_HANDOVERS; k++)
    if (sb_due(m, SB_HANDOVER_CLOCK(k))) {
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

#endif
