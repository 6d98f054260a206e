/* Numbers of SB_SEEDS seeds side by side, which is defined ahead. */

#include <math.h>

#if SB_SEEDS == 1
typedef double sb_seeds;
#define SB_LANE(a, l) (a)
#else
typedef double sb_seeds __attribute__((vector_size(SB_SEEDS * sizeof(double)), aligned(8)));
#define SB_LANE(a, l) ((a)[l])
#endif
#if defined(__clang__)
#define SB_APART __attribute__((noinline, unused))
#else
#define SB_APART __attribute__((noipa, unused))
#endif
#define SB_ALL_SEEDS(value) ((value) - (sb_seeds){0})

static inline sb_seeds sb_seeds_if(double condition, sb_seeds a) {
  return condition != 0 ? a : (sb_seeds){0};
}

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
