/* An explicit Runge-Kutta step by a tableau, and its length: what simulations and FMUs share.

   The step control and the choice of the first step are those of E. Hairer, S. P. Norsett,
   G. Wanner, "Solving Ordinary Differential Equations I" (1993), sec. II.4.

   Above stand SB_SELF, the type of what steps, and of one such m, in real numbers SB_REAL:
   SB_N(m) states SB_X(m) at the time SB_T(m); SB_STAGES_OF(m) slopes one behind another in
   SB_K(m), the first of them at SB_X; room for a state each in SB_XN(m), where a step leads,
   SB_XT(m), its stages, SB_XM(m) and SB_SLOPE(m); the tableau SB_A(m), SB_B(m), SB_C(m) and
   its error weights SB_E(m); -1 / order in SB_EXPONENT(m); SB_ERROR_OF(m, size), the error that
   a state of that size may have; and
     static void sb_slope(SB_SELF *m, SB_REAL t, const SB_REAL *x, SB_REAL *out)
   for the rates. sb_own_steps(m, h) puts the entries of SB_XN that have a map of their own.
   No step here branches on a state. */

#ifndef SB_STEP_H
#define SB_STEP_H

#define SB_BEFORE 5e-11 /* s, and */
#define SB_PART 1e-3 /* of a step: its stages lie so far before a crossing */
#define SB_SHORTEN 0.2 /* at most by this, and */
#define SB_LENGTHEN 10 /* by this at most, a step after another */
#define SB_SAFETY_OF_STEPS 0.9

/* The state of stage s of a step of length h, into SB_XT. */
static void sb_stage(SB_SELF *m, long long s, SB_REAL h) {
  const long long n = SB_N(m);
  const SB_REAL *x = SB_X(m), *K = SB_K(m), *a = SB_A(m) + s * SB_STAGES_OF(m);
  SB_REAL *to = SB_XT(m);
  for (long long i = 0; i < n; i++) {
    SB_REAL sum = 0;
    for (long long j = 0; j < s; j++) sum += a[j] * K[j * n + i];
    to[i] = x[i] + h * sum;
  }
}

/* One trial step of length h from SB_X with the slope in SB_K: result in SB_XN. */
static void sb_try(SB_SELF *m, SB_REAL h) {
  const long long n = SB_N(m), stages = SB_STAGES_OF(m);
  const SB_REAL *x = SB_X(m), *K = SB_K(m), *b = SB_B(m);
  SB_REAL *to = SB_XN(m);
  for (long long s = 1; s < stages; s++) {
    sb_stage(m, s, h);
    sb_slope(m, SB_T(m) + SB_C(m)[s] * h, SB_XT(m), SB_K(m) + s * n);
  }
  for (long long i = 0; i < n; i++) {
    SB_REAL sum = 0;
    for (long long j = 0; j < stages; j++) sum += b[j] * K[j * n + i];
    to[i] = x[i] + h * sum;
  }
  sb_own_steps(m, h);
}

/* The size of v, 1 where it is what the tolerances allow between the states x and y. */
static SB_REAL sb_norm(const SB_SELF *m, const SB_REAL *v, const SB_REAL *x, const SB_REAL *y) {
  const long long n = SB_N(m);
  SB_REAL sum = 0;
  for (long long i = 0; i < n; i++) {
    SB_REAL size = fabs(x[i]) > fabs(y[i]) ? fabs(x[i]) : fabs(y[i]);
    SB_REAL e = v[i] / SB_ERROR_OF(m, size);
    sum += e * e;
  }
  return sqrt(sum / (SB_REAL)(n > 0 ? n : 1));
}

/* The error of the step of length h that was just tried. */
static SB_REAL sb_error(SB_SELF *m, SB_REAL h) {
  const long long n = SB_N(m), stages = SB_STAGES_OF(m);
  const SB_REAL *K = SB_K(m), *e = SB_E(m);
  SB_REAL *to = SB_XM(m);
  for (long long i = 0; i < n; i++) {
    SB_REAL sum = 0;
    for (long long j = 0; j < stages; j++) sum += e[j] * K[j * n + i];
    to[i] = h * sum;
  }
  return sb_norm(m, to, SB_X(m), SB_XN(m));
}

/* The length of the step to try after one of length h with that error, also if it is no
   number. */
static SB_REAL sb_next_length(const SB_SELF *m, SB_REAL h, SB_REAL error) {
  SB_REAL factor = error > 0    ? SB_SAFETY_OF_STEPS * pow(error, SB_EXPONENT(m))
                   : error == 0 ? SB_LENGTHEN
                                : 0;
  return h * fmin(SB_LENGTHEN, fmax(SB_SHORTEN, factor));
}

/* The length of the first step where `left` is left, from the slope in SB_K. */
static SB_REAL sb_first_step(SB_SELF *m, SB_REAL left) {
  const long long n = SB_N(m);
  const SB_REAL *x = SB_X(m), *K = SB_K(m);
  SB_REAL *slope = SB_SLOPE(m);
  SB_REAL d0 = sb_norm(m, x, x, x), d1 = sb_norm(m, K, x, x), d2, d, h0, h1, h;
  h0 = fmin(d0 < 1e-5 || d1 < 1e-5 ? 1e-6 : 0.01 * d0 / d1, left);
  for (long long i = 0; i < n; i++) SB_XT(m)[i] = x[i] + h0 * K[i];
  sb_slope(m, SB_T(m) + h0, SB_XT(m), slope);
  for (long long i = 0; i < n; i++) slope[i] -= K[i];
  d2 = sb_norm(m, slope, x, x) / h0;
  d = fmax(d1, d2);
  h1 = d <= 1e-15 ? fmax(1e-6, h0 * 1e-3) : pow(0.01 / d, -SB_EXPONENT(m));
  h = fmin(100 * h0, h1);
  return h > 0 ? h : 1e-6; /* also for what is no number */
}

/* Of equal steps of at most `longest` over what is left the length of one. */
static SB_REAL sb_equal_length(SB_REAL left, SB_REAL longest) {
  return left / fmax(1, ceil(left / longest - 1e-9));
}

/* Whether a step of length h ends where `left` does. */
static int sb_is_last(SB_REAL h, SB_REAL left) { return h >= left * (1 - 1e-12); }

/* A step of length h to just behind a crossing, with all its stages before it: where the rates
   jump there, one stage behind it would count as for the whole step. */
static void sb_up_to(SB_SELF *m, SB_REAL h) {
  const long long n = SB_N(m);
  SB_REAL gap = fmin(h, fmax(SB_BEFORE, SB_PART * h)), *slope = SB_SLOPE(m);
  sb_try(m, h - gap);
  sb_slope(m, SB_T(m) + h - gap, SB_XN(m), slope); /* the rest by the midpoint rule */
  for (long long i = 0; i < n; i++) SB_XM(m)[i] = SB_XN(m)[i] + 0.5 * gap * slope[i];
  sb_slope(m, SB_T(m) + h - 0.5 * gap, SB_XM(m), slope);
  for (long long i = 0; i < n; i++) SB_XN(m)[i] += gap * slope[i];
}

#endif
