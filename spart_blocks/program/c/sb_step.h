/* One step of a run, shared by the loops of simulations, sweeps, FMUs and exported C.

   A Runge-Kutta step by a tableau, its length, its dense output, the location of zero
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
   and, if methods may have more stages for dense output alone, SB_ALL_STAGES(m), their number with
   those of the step, for as many of which SB_K(m) has memory, and SB_MADE(m), an int: whether the
   slopes of these are known.
     sb_slope(m, t, x, out)  the rates; sb_own_steps(m, h) puts into SB_XN the states that have
                             a map of their own; with several lanes it leaves SB_XM as it is

   SB_LINEARISES: methods may be linearly implicit, with SB_GAMMA(m) > 0 (see Implicit in
     base/tableaus.py). Then also SB_GAMMAS(m), its C, and SB_GAMMA_SUMS(m), its d; the pattern of the
     factors (see program/linearised.py): SB_ENTRIES(m), SB_ROW_STATES(m), the state of each row, SB_ROW_STARTS(m),
     SB_COLUMNS(m), SB_DIAGONAL(m); sb_derivatives(m, t, x, out), J in this pattern, then df/dt, into
     SB_J(m); room in SB_LU(m), for SB_ENTRIES(m), and SB_ROW(m), for SB_N(m).
   SB_FIXED: sizes and the tableau are constants: sums over stages are unrolled.
   SB_NO_STATES: there are no states, and none of this.
   SB_CONTROLS: methods may estimate their error. Then also SB_CONTROLLED(m), whether this one does;
     its weights SB_E(m), if SB_ESTIMATES(m) is 2 followed by those of a second estimate;
     SB_EXPONENT(m), -1 / order; SB_H(m), the length of the next step;
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
   SB_ADVANCES: the host takes whole steps by sb_begin_step, sb_tried and sb_accept (sb_trial.h). Then
     also SB_SLOPED(m), whether the first slope in SB_K is that at SB_X; SB_LAST_SEEN(m), the latest
     time at which crossings are looked for; SB_SHORTEST(t), the shortest step; SB_NEEDS_SLOPE(m, s),
     whether a step without dense output of its own needs the slope at its end; and
     sb_fail(m, where, why, s), called where no step is possible. With SB_MEETS_LINES, the host's own
     sb_meets_lines(m, s, good) in place of SB_HOLDS_OFF.
   SB_LOOPS: the host takes the whole loop. See sb_advance.h.
   SB_SEES_STIFFNESS: the host tests for stiffness: sb_tests_stiffness, sb_at_border, sb_seems_stiff.
     Then also SB_BORDER(m), the border of the method.
   SB_MARKS: crossings are marked: sb_jumped, sb_reached. Then SB_HIT(m), the marks; SB_BEGUN(m),
     whether the run has begun; sb_watch_now(m, out), the watched values of the present state.
   SB_NO_EVENTS: there are no EVENTs: marks need no values before a stop.
   SB_MEETS_RESETS: resets may turn signals back: sb_motion_of, sb_turned, sb_at_rest. Then
     sb_field(m, t, x, xd, out) and sb_signals(m, t, x, xd, out), the rates and watched values of any
     states.
   SB_HAS_CLOCKS: clocks tick. Then SB_ND discrete states, SB_CLOCKS(m), SB_HANDOVERS(m),
     SB_HANDOVER_CLOCK(m, k), sb_due(m, c), sb_hand_over(m, k, before, xd) and
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
#ifndef SB_ROOM /* an array has at least one entry, since C has no arrays of length zero */
#define SB_ROOM(n) ((n) > 0 ? (n) : 1)
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
#define SB_SMALL SB_FUNCTION inline /* also where nothing calls it */
#ifndef SB_ALL_STAGES
#define SB_ALL_STAGES(m) SB_STAGES_OF(m)
#endif
#ifndef SB_ESTIMATES
#define SB_ESTIMATES(m) 1
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

#include "sb_constants.h"

#ifndef SB_JUST_AFTER /* the ends of a segment lie just inside its stops */
#define SB_JUST_AFTER(t) ((t) + SB_INSIDE * (nextafter(t, INFINITY) - (t)))
#define SB_JUST_BEFORE(t) ((t) - SB_INSIDE * ((t) - nextafter(t, -INFINITY)))
#endif

/* The action where a zero-crossing function crosses zero. */
enum { SB_EVENT, SB_STOP, SB_LIMIT, SB_MODE, SB_BEND, SB_FAULT, SB_SHOWN };
#define SB_BENDS(kind) ((kind) == SB_BEND || (kind) == SB_SHOWN) /* has no effect of its own */
#define SB_ACTS_AT(kind) ((kind) != SB_LIMIT && !SB_BENDS(kind))

/* Whether all n numbers are finite. */
SB_SMALL SB_MASK sb_finite(const SB_REAL *v, int n) {
  SB_REAL sum = SB_OF(0);
  for (int i = 0; i < n; i++) sum += v[i] - v[i];
  return sum == 0;
}

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
  sb_lead(m, SB_A(m) + s * SB_ALL_STAGES(m), s, h, SB_XT(m));
}

#include "sb_implicit.h"

/* One trial step of length h from SB_X with the slope in SB_K: result in SB_XN. */
SB_FUNCTION void sb_try(SB_SELF *m, SB_REAL h) {
  const int stages = (int)SB_STAGES_OF(m);
#ifdef SB_MADE
  SB_MADE(m) = 0;
#endif
#ifdef SB_LINEARISES
  if (SB_GAMMA(m) > 0) sb_factor(m, h);
#endif
  SB_UNROLLED
  for (int s = 1; s < stages; s++) {
#ifdef SB_LINEARISES
    if (SB_GAMMA(m) > 0 && s < stages - (SB_CONTROLLED(m) != 0)) { /* else the slope at the end */
      sb_implicit_stage(m, s, h);
      continue;
    }
#endif
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

/* An estimate of the error of the step of length h that was just tried, by these weights; no number
   if a slope is none, also that at the end if it has no weight. */
SB_FUNCTION SB_REAL sb_estimate(SB_SELF *m, const SB_SCALAR *weights, SB_REAL h) {
  const int n = (int)SB_N(m), stages = (int)SB_STAGES_OF(m);
  const SB_REAL *last = SB_K(m) + (stages - 1) * n;
  SB_REAL *to = SB_XM(m);
  sb_combine(m, weights, stages, to);
  for (int i = 0; i < n; i++) to[i] = weights[stages - 1] != 0 ? h * to[i] : h * to[i] + 0 * last[i];
  return sb_norm(m, to, SB_X(m), SB_XN(m));
}

/* The error of that step. Two estimates make one, which is smaller where the second is larger: see
   Hairer, Norsett and Wanner, sec. II.10. */
SB_FUNCTION SB_REAL sb_error(SB_SELF *m, SB_REAL h) {
  const SB_REAL error = sb_estimate(m, SB_E(m), h);
  if (SB_ESTIMATES(m) > 1) {
    const SB_REAL other = sb_estimate(m, SB_E(m) + SB_STAGES_OF(m), h);
    const SB_REAL both = SB_SQRT(error * error + (SB_SCALAR)0.01 * other * other);
    return SB_SELECT(error == 0, error, error * error / both);
  }
  return error;
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
  SB_REAL error = sb_error(m, h), next;
  SB_MASK small;
#if defined(SB_LINEARISES) && defined(SB_LOCATES)
  if (SB_GAMMA(m) > 0) error = sb_error_within(m, h, error);
#endif
  next = sb_next_length(m, h, error);
  small = error < 1; /* false for NaN */
  /* A step cut short, by its end or a limit, says little: it makes the next one no shorter. */
  SB_MASK says = SB_NOT(small) | SB_NOT(last | (h < SB_H(m))) | (next > SB_H(m));
  SB_H(m) = SB_SELECT(says, next, SB_H(m));
  return small;
}

#endif

#ifdef SB_SEES_STIFFNESS

/* Whether the `steps`th step is tested for stiffness; stiff: how many of late were at the border. */
SB_FUNCTION int sb_tests_stiffness(long long steps, int stiff) {
  return steps >= SB_TESTED_EVERY && (steps % SB_TESTED_EVERY < SB_CALM_STEPS || stiff);
}

/* Whether stability bounds the step of length h just tried: Hairer's test, as in stiffness.py; the last
   two stages, at the same time, part the state by what the fastest mode makes of it. */
SB_FUNCTION SB_MASK sb_at_border(const SB_SELF *m, SB_REAL h) {
  const int n = (int)SB_N(m), stages = (int)SB_STAGES_OF(m), inner = stages - 2;
  const SB_REAL *K = SB_K(m);
  SB_REAL slopes = SB_OF(0), states = SB_OF(0);
  for (int i = 0; i < n; i++) {
    SB_REAL sum = SB_OF(0), slope = K[(inner + 1) * n + i] - K[inner * n + i], state;
    for (int j = 0; j < inner; j++) sum += SB_A(m)[inner * SB_ALL_STAGES(m) + j] * K[j * n + i];
    state = SB_XN(m)[i] - SB_X(m)[i] - h * sum;
    slopes += slope * slope;
    states += state * state;
  }
  return (states > 0) & (h * SB_SQRT(slopes) > (SB_SCALAR)SB_BORDER(m) * SB_SQRT(states));
}

/* Count a step that is tested. Returns whether the run is stiff. */
SB_FUNCTION int sb_seems_stiff(int at_border, int *stiff, int *calm) {
  if (at_border) *calm = 0, ++*stiff;
  else if (++*calm == SB_CALM_STEPS) *stiff = *calm = 0;
  if (*stiff < SB_STIFF_STEPS) return 0;
  *stiff = *calm = 0;
  return 1;
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

#include "sb_crossings.h"
#include "sb_trial.h"

#endif

#include "sb_events.h"
#include "sb_advance.h"

#endif
