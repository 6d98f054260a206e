/* The rows of the tables in sb_fmu_model.h. */

#ifndef SB_FMU_TYPES_H
#define SB_FMU_TYPES_H

#include <math.h>

/* The functions into which a long one is split are not inlined: a large one compiles slowly. */
#if defined(__GNUC__)
#define SB_APART __attribute__((noinline))
#else
#define SB_APART
#endif

/* Who may set a variable. */
enum { SB_READ_ONLY, SB_INPUT, SB_TUNABLE, SB_FIXED };

/* For each value the variable that starts there; size 0 if none does. */
typedef struct {
  int size, access;
  double min, max; /* of values that may be set */
  const char *name;
} sb_slot;

typedef struct {
  int kind;
  int first; /* the first crossing of the same block */
  double direction;
  const char *block;
  const char *fault; /* what the log says where a fault is above zero */
} sb_crossing;

/* Ticks are at (start + k stride) / common, rounded once; if common is 0, at offset + k period.
   first: the number of the first tick. */
typedef struct {
  long long start, stride, common, first;
  double offset, period;
} sb_clock;

#endif
