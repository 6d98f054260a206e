/* A program, as the inner loop of a run calls it. Its library holds the one constant sb_program_here. */

typedef int (*sb_function)(const double **, double **, long long *, double *, int);

/* A function of xd, the entries that it renews, and the number of the clock at which it does. */
typedef struct {
  sb_function function;
  long long size;
  const long long *states;
  long long clock;
} sb_update;

/* Functions are null that a program does not have. */
typedef struct {
  sb_function rates, linearised, cross, project, reach, advance, kept, looked, measured;
  const sb_update *ticks, *handovers; /* of each clock, and of each handover */
  const long long *stepped;           /* the states that `advance` gives */
  const int *order, *starts, *columns, *diagonal; /* the pattern of `linearised` */
  long long nhandovers, nstepped;
  int drifts; /* each step ends with a projection */
} sb_program;
