/* The steps of a tape with the changes of their states along directions.

   Defined ahead: what seeds.h says; SB_NX, SB_ND, SB_NE, SB_NK the numbers of states, discrete
   states, parameters that vary, and integrals; SB_STAGES; SB_HOLDS, whether limits act by the state
   at the start of a step; SB_PROJECTS, whether steps are projected; SB_LAST, whether a step ends on
   the rates at its end; the constants of run/constants.py; and of the rates and integrands
   tangent_point, tangent_seeds, of the projection project_point, project_seeds.

   Arrays of changes hold blocks of directions: (blocks, n) vectors of SB_SEEDS numbers. */

#include <math.h>
#include <string.h>

#define SB_ROWS (SB_NX + SB_NK)

typedef struct {
  long long blocks;
  const double *A, *b, *c, *e; /* e: 0 for a method without error control */
  const double *p;
  const sb_seeds *dp, *size;
  double rtol, atol, same, exponent;
  /* where the changes are */
  double t, *x, *xd;
  sb_seeds *dx, *dxd, *sum;
  double low, high; /* the times within which the equations hold */
  /* times to read the states at, the next of them, and what was read */
  const double *wanted;
  long long next, last;
  const double *dense; /* P of the dense output, with `order` columns; 0: nothing is read */
  long long order;
  double *read_x, *read_xd, off, read_before;
  sb_seeds *read_dx, *read_dxd;
  /* room */
  long long known; /* whether the first stage is known */
  double *start, *slopes, *x_stage, *x_after, *xd_after, *w, *w_instant;
  sb_seeds *changes, *dx_stage, *dx_after, *dxd_after, *added;
} sb_tangents;

/* sb_stage of the changes in blocks of SB_ROWS, which are followed by the integrals' in K. */
static void sb_stage_of_changes(sb_seeds *to, const sb_seeds *from, double h, const double *w, long long stages,
                                const sb_seeds *K, long long blocks) {
  const long long row = blocks * SB_ROWS;
  for (long long b = 0; b < blocks; b++)
    for (long long i = 0; i < SB_NX; i++) {
      sb_seeds sum = {0};
      const sb_seeds *k = K + b * SB_ROWS + i;
      for (long long j = 0; j < stages; j++) sum += w[j] * k[j * row];
      to[b * SB_NX + i] = from[b * SB_NX + i] + h * sum;
    }
}

static double sb_inside(const sb_tangents *q, double t) { return t < q->low ? q->low : t > q->high ? q->high : t; }

/* The rates at a time, to the first of `slopes`, and their changes with those of the integrands if
   these are asked for. */
void sb_tangent_rates(sb_tangents *q, double t, int with_changes) {
  SB_POINT(&t, q->x, q->xd, q->p, q->start, q->slopes, q->w);
  if (!with_changes) return;
  for (long long b = 0; b < q->blocks; b++)
    tangent_seeds(q->dx + b * SB_NX, q->dxd + b * SB_ND, q->dp + b * SB_NE, q->w, q->changes + b * SB_ROWS);
}

/* The largest error of the changes relative to what is allowed. */
static double sb_error(const sb_tangents *q, double h) {
  const long long row = q->blocks * SB_ROWS;
  double worst = 0;
  for (long long b = 0; b < q->blocks; b++) {
    sb_seeds total = {0};
    for (long long i = 0; i < SB_NX; i++) {
      const sb_seeds before = q->dx[b * SB_NX + i], after = q->dx_after[b * SB_NX + i];
      const double state = q->atol + q->rtol * sb_largest(q->x[i], q->x_after[i]);
      sb_seeds off = {0};
      const sb_seeds *k = q->changes + b * SB_ROWS + i;
      for (long long j = 0; j < SB_STAGES; j++) off += q->e[j] * k[j * row];
      off *= h / (state / q->size[b] + q->rtol * sb_larger(before, after));
      total += off * off;
    }
    for (int l = 0; l < SB_SEEDS; l++) {
      double one = sqrt(SB_LANE(total, l) / SB_NX);
      if (!(one <= worst)) worst = one; /* and what is not finite */
    }
  }
  return worst;
}

/* Take a step of length h, to x_after, dx_after and `added`; returns the error of the changes. */
double sb_tangent_try(sb_tangents *q, double h) {
  const long long row = q->blocks * SB_ROWS;
  for (long long j = q->known ? 1 : 0; j < SB_STAGES; j++) {
    const double t = sb_inside(q, q->t + q->c[j] * h);
    sb_stage(q->x_stage, q->x, h, q->A + j * SB_STAGES, j, q->slopes);
    sb_stage_of_changes(q->dx_stage, q->dx, h, q->A + j * SB_STAGES, j, q->changes, q->blocks);
    SB_POINT(&t, q->x_stage, q->xd, q->p, q->start, q->slopes + j * SB_NX, q->w);
    for (long long b = 0; b < q->blocks; b++)
      tangent_seeds(q->dx_stage + b * SB_NX, q->dxd + b * SB_ND, q->dp + b * SB_NE, q->w,
                    q->changes + j * row + b * SB_ROWS);
  }
  q->known = 1;
  sb_stage(q->x_after, q->x, h, q->b, SB_STAGES, q->slopes);
  sb_stage_of_changes(q->dx_after, q->dx, h, q->b, SB_STAGES, q->changes, q->blocks);
  for (long long b = 0; b < q->blocks; b++)
    for (long long i = 0; i < SB_NK; i++) {
      sb_seeds sum = {0};
      const sb_seeds *k = q->changes + b * SB_ROWS + SB_NX + i;
      for (long long j = 0; j < SB_STAGES; j++) sum += q->b[j] * k[j * row];
      q->added[b * SB_NK + i] = h * sum;
    }
  return q->e && SB_NX ? sb_error(q, h) : 0;
}

/* Read the states at the wanted times of the last step, of length h from x and dx. */
static void sb_read(sb_tangents *q, double h) {
  double weights[SB_STAGES];
  const double before = q->t + h < q->read_before ? q->t + h : q->read_before;
  for (; q->next < q->last && q->wanted[q->next] < before; q->next++) {
    const double theta = (q->wanted[q->next] - q->t) / h;
    for (long long j = 0; j < SB_STAGES; j++) {
      double power = theta;
      weights[j] = 0;
      for (long long k = 0; k < q->order; k++, power *= 2 * theta - 1)
        weights[j] += q->dense[j * q->order + k] * power;
    }
    sb_stage(q->read_x + q->next * SB_NX, q->x, h, weights, SB_STAGES, q->slopes);
    sb_stage_of_changes(q->read_dx + q->next * q->blocks * SB_NX, q->dx, h, weights, SB_STAGES, q->changes,
                        q->blocks);
    memcpy(q->read_xd + q->next * SB_ND, q->xd, SB_ND * sizeof(double));
    memcpy(q->read_dxd + q->next * q->blocks * SB_ND, q->dxd, (size_t)(q->blocks * SB_ND) * sizeof(sb_seeds));
  }
}

/* Take the last step that was tried. */
static void sb_take(sb_tangents *q, double h) {
  const long long row = q->blocks * SB_ROWS, last = SB_STAGES - 1;
  memcpy(q->x, q->x_after, SB_NX * sizeof(double));
  memcpy(q->dx, q->dx_after, (size_t)(q->blocks * SB_NX) * sizeof(sb_seeds));
  for (long long i = 0; i < q->blocks * SB_NK; i++) q->sum[i] += q->added[i];
  q->t += h;
  q->known = SB_LAST;
  if (SB_LAST) {
    memcpy(q->slopes, q->slopes + last * SB_NX, SB_NX * sizeof(double));
    memcpy(q->changes, q->changes + last * row, (size_t)row * sizeof(sb_seeds));
  }
}

/* Set the states to their constraints. */
static void sb_project(sb_tangents *q) {
#if SB_PROJECTS
  project_point(&q->t, q->x, q->xd, q->p, q->x_after, q->w_instant);
  memcpy(q->x, q->x_after, SB_NX * sizeof(double));
  for (long long b = 0; b < q->blocks; b++)
    project_seeds(q->dx + b * SB_NX, q->dxd + b * SB_ND, q->dp + b * SB_NE, q->w_instant, q->dx_after + b * SB_NX);
  memcpy(q->dx, q->dx_after, (size_t)(q->blocks * SB_NX) * sizeof(sb_seeds));
#endif
  q->known = 0;
}

/* Let a set of clocks tick. */
static void sb_tick(sb_tangents *q, long long which) {
  memcpy(q->xd_after, q->xd, SB_ND * sizeof(double));
  memcpy(q->dxd_after, q->dxd, (size_t)(q->blocks * SB_ND) * sizeof(sb_seeds));
  sb_tick_point(which, &q->t, q->x, q->xd, q->p, q->xd_after, q->w_instant);
  for (long long b = 0; b < q->blocks; b++)
    sb_tick_seeds(which, q->dx + b * SB_NX, q->dxd + b * SB_ND, q->dp + b * SB_NE, q->w_instant,
                  q->dxd_after + b * SB_ND);
  memcpy(q->xd, q->xd_after, SB_ND * sizeof(double));
  memcpy(q->dxd, q->dxd_after, (size_t)(q->blocks * SB_ND) * sizeof(sb_seeds));
}

/* Go on by h, in shorter parts where the changes need them: Step.within of steps.py. */
static void sb_within(sb_tangents *q, double h) {
  const double begin = q->t;
  double left = h, part = h;
  memcpy(q->start, q->x, SB_NX * sizeof(double));
  for (;;) {
    if (part > left) part = left;
    const double error = sb_tangent_try(q, part);
    if (error > SB_ALLOWED && part > SB_LEAST * h) {
      part *= fmax(SB_SHORTEN, SB_SAFETY * pow(error / SB_ALLOWED, -q->exponent));
      continue;
    }
    if (q->dense) sb_read(q, part);
    sb_take(q, part);
    left -= part;
    if (left <= 1e-12 * h) break;
    part *= fmin(SB_LENGTHEN, SB_SAFETY * pow(fmax(error / SB_ALLOWED, 1e-9), -0.2));
  }
  q->t = begin + h;
}

/* Whether states differ from the run's by more than is the same, which `off` gets. */
static int sb_differs(sb_tangents *q, const double *found, const double *wanted, long long n, double *moved) {
  double size;
  const double off = sb_apart(found, wanted, n, &size);
  *moved = sb_largest(*moved, off / size);
  q->off = off;
  return off > q->same * size;
}

/* Repeat rows of a tape, which end plainly or at a stop, from the states at the start of the first.
   codes: 0 for a row that ends plainly, else one more than the number of the clocks that tick at its
   end. starts: whether the first begins at a stop. Returns the number of rows that were the same as
   the run's at their start, and after the last. */
long long sb_tangent_rows(sb_tangents *q, const double *rows, const long long *codes, long long count, int starts) {
  const long long width = SB_HEAD + SB_NX + SB_ND;
  for (long long k = 0; k < count; k++, rows += width) {
    double moved = 0;
    const double t = rows[0], until = rows[2], *x = rows + SB_HEAD, *xd = x + SB_NX;
    if (sb_differs(q, q->x, x, SB_NX, &moved) || sb_differs(q, q->xd, xd, SB_ND, &moved)) return k;
    memcpy(q->x, x, SB_NX * sizeof(double));
    memcpy(q->xd, xd, SB_ND * sizeof(double));
    if (SB_HOLDS || moved > SB_ROUNDED) q->known = 0;
    q->t = t;
    q->low = starts ? t + SB_INSIDE * (nextafter(t, INFINITY) - t) : t;
    starts = codes[k] > 0;
    q->high = starts ? until - SB_INSIDE * (until - nextafter(until, -INFINITY)) : rows[1];
    q->read_before = starts ? until - SB_SAME * (until - nextafter(until, -INFINITY)) : INFINITY;
    sb_within(q, until - t);
    q->t = until;
    if (starts || SB_DRIFTS) sb_project(q);
    if (starts) sb_tick(q, codes[k] - 1);
  }
  return count;
}
