/* The rows of the tables in sb_fmu_model.h. */

#ifndef SB_FMU_TYPES_H
#define SB_FMU_TYPES_H

#include <math.h>

/* The pieces of a long function stay apart: in one piece compilers take long over it. */
#if defined(__GNUC__)
#define SB_APART __attribute__((noinline))
#else
#define SB_APART
#endif

/* Who may set a variable. */
enum { SB_READ_ONLY, SB_INPUT, SB_TUNABLE, SB_FIXED };

/* Of each value the variable that begins there; size 0 where none does. */
typedef struct {
  int size, access;
  double min, max; /* of what may be set */
  const char *name;
} sb_slot;

typedef struct {
  int kind;
  int first; /* the first crossing of the same block */
  double direction;
  const char *block;
} sb_crossing;

/* Ticks are at (start + k stride) / common, rounded once; where common is 0, at
   offset + k period. first: the number of the first tick. */
typedef struct {
  long long start, stride, common, first;
  double offset, period;
} sb_clock;

#endif
