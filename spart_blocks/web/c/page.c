/* What a page calls: memory, one run, and the signals of its rows. */

#include <stdlib.h>

static sb_crew sb_alone;

/* Memory, which is kept: a page asks once for each of its arrays. */
void *sb_room(size_t bytes) { return malloc(bytes); }

/* One run. numbers: its end, rtol, atol, longest step, fixed step, and longest panel of meters [s].
   found: its last time and its number of steps. Returns its status, and its reason times 8. */
int sb_run(const double *numbers, int heeds_stiffness, const double *x0, const double *xd0,
           const double *p, const double *ticks, const unsigned char *due, int nticks,
           const double *known, int nknown, const double *samples, int nsamples, double *found,
           double *x, double *xd, double *meters, double *events, double *rows) {
  unsigned char status = SB_PENDING, reason = 0;
  long long first = 0, last = nknown, runs = 1, next = 0, steps = 0;
  int stop = 0;
  sb_work w = {0};
  w.runs = 1;
  w.x0 = x0, w.xd0 = xd0, w.p = p, w.ticks = ticks, w.due = due;
  w.known = known, w.known_from = &first, w.known_to = &last, w.samples = samples;
  w.nticks = nticks, w.nsamples = nsamples;
  w.end = numbers[0], w.rtol = numbers[1], w.atol = numbers[2];
  w.max_step = numbers[3], w.fixed_step = numbers[4], w.coarse = numbers[5];
  w.heeds_stiffness = heeds_stiffness;
  w.status = &status, w.reason = &reason, w.t = found, w.x = x, w.xd = xd;
  w.meters = meters, w.events = events, w.rows = rows, w.steps = &steps, w.stop = &stop;
  memset(&sb_alone, 0, sizeof sb_alone);
  sb_go_through(&sb_alone, &w, &runs, &next);
  found[1] = (double)steps;
  return status + 8 * reason;
}

/* What is shown of each row (t; x, xd): signals, then frames of bodies. */
void sb_show(const double *t, const double *rows, int count, const double *p, double *out) {
  for (int k = 0; k < count; k++) {
    const double *x = rows + (long)k * (SB_NX + SB_NXD);
    program_shown(t[k], x, x + SB_NX, p, out + (long)k * SB_PAGE_WIDTH);
  }
}

/* The first times and the periods [s] at which blocks switch. */
void sb_edges(const double *p, double *out) {
#if SB_PAGE_EDGES
  program_edges(0.0, p, p, p, out);
#endif
}
