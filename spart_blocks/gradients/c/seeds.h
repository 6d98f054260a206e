/* What the loops over a tape share. Defined ahead: SB_SEEDS and SB_NX. */

#include <math.h>

#include "sb_seeds.h"

#define SB_APART SB_SEEDS_APART

/* The larger of the sizes of two numbers. */
static inline double sb_largest(double a, double b) {
  a = a < 0 ? -a : a;
  b = b < 0 ? -b : b;
  return a < b ? b : a;
}
static inline sb_seeds sb_larger(sb_seeds a, sb_seeds b) {
#if SB_SEEDS == 1
  return sb_largest(a, b);
#else
  for (int l = 0; l < SB_SEEDS; l++) a[l] = sb_largest(a[l], b[l]);
  return a;
#endif
}

/* to = from + h sum_j w_j K_j of the states. */
static void sb_stage(double *to, const double *from, double h, const double *w, long long stages, const double *K) {
  for (long long i = 0; i < SB_NX; i++) {
    double sum = 0;
    for (long long j = 0; j < stages; j++) sum += w[j] * K[j * SB_NX + i];
    to[i] = from[i] + h * sum;
  }
}

/* The largest difference of states from those wanted; size: the largest of these, at least 1. */
static double sb_apart(const double *found, const double *wanted, long long n, double *size) {
  double off = 0;
  *size = 1;
  for (long long i = 0; i < n; i++) {
    off = sb_largest(off, found[i] - wanted[i]);
    *size = sb_largest(*size, wanted[i]);
  }
  return off;
}
