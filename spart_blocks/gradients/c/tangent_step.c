/* One step of an explicit Runge-Kutta method with the changes of its states along directions.

Arrays of changes have a row for each direction. */

#include <math.h>
#include <string.h>

typedef int (*sb_function)(const double **, double **, long long *, double *, int);

typedef struct {
  sb_function rates, along, sums; /* sums: 0 without integrals */
  long long nx, nd, ne, m, k, s;
  const double *A, *b, *c, *e; /* e: 0 for a method without error control */
  const double *p, *dp, *size;
  double low, high; /* the times within which the equations hold */
  double rtol, atol;
  double t;
  const double *x, *xd, *start, *dx, *dxd;
  double *slopes, *changes, *sum; /* of each stage: (s, nx), (s, m, nx), and (m, k) of them all */
  double *x_after, *dx_after;
  double *x_stage, *dx_stage, *one; /* room for a stage, and for the sums of a direction */
} sb_tangent_step;

static const double sb_still = 0.0;

/* to = from + h sum_j w_j K_j, of n numbers; rows of K are `row` apart. */
static void sb_stage(double *to, const double *from, double h, const double *w, long long stages, const double *K,
                     long long n, long long row) {
  memcpy(to, from, (size_t)n * sizeof(double));
  for (long long j = 0; j < stages; j++) {
    double factor = h * w[j];
    if (factor != 0)
      for (long long i = 0; i < n; i++) to[i] += factor * K[j * row + i];
  }
}

/* Take a step of length h; returns the error of the changes relative to what is allowed. */
double sb_tangent_try(sb_tangent_step *q, double h) {
  const long long nx = q->nx, all = q->m * nx;
  memset(q->sum, 0, (size_t)(q->m * q->k) * sizeof(double));
  for (long long j = 0; j < q->s; j++) {
    double t = q->t + q->c[j] * h;
    t = t < q->low ? q->low : t > q->high ? q->high : t;
    sb_stage(q->x_stage, q->x, h, q->A + j * q->s, j, q->slopes, nx, nx);
    sb_stage(q->dx_stage, q->dx, h, q->A + j * q->s, j, q->changes, all, all);
    const double *arg[16] = {&t, q->x_stage, q->xd, q->p, q->start};
    double *res[4] = {q->slopes + j * nx};
    if (q->rates(arg, res, 0, 0, 0)) return NAN;
    for (long long d = 0; d < q->m; d++) {
      const double *given[16] = {&t, q->x_stage, q->xd, q->p, &sb_still, q->dx_stage + d * nx, q->dxd + d * q->nd,
                                 q->dp + d * q->ne, q->start};
      double *found[4] = {q->changes + j * all + d * nx};
      if (q->along(given, found, 0, 0, 0)) return NAN;
      if (!q->sums || q->b[j] == 0) continue;
      found[0] = q->one;
      if (q->sums(given, found, 0, 0, 0)) return NAN;
      for (long long i = 0; i < q->k; i++) q->sum[d * q->k + i] += h * q->b[j] * q->one[i];
    }
  }
  sb_stage(q->x_after, q->x, h, q->b, q->s, q->slopes, nx, nx);
  sb_stage(q->dx_after, q->dx, h, q->b, q->s, q->changes, all, all);
  if (!q->e || !nx) return 0;
  double worst = 0;
  for (long long d = 0; d < q->m; d++) {
    double total = 0;
    for (long long i = 0; i < nx; i++) {
      double off = 0, before = fabs(q->dx[d * nx + i]), after = fabs(q->dx_after[d * nx + i]);
      for (long long j = 0; j < q->s; j++) off += q->e[j] * q->changes[j * all + d * nx + i];
      double state = q->atol + q->rtol * fmax(fabs(q->x[i]), fabs(q->x_after[i]));
      off *= h / (state / q->size[d] + q->rtol * fmax(before, after));
      total += off * off;
    }
    total = sqrt(total / (double)nx);
    if (!(total <= worst)) worst = total; /* and what is not finite */
  }
  return worst;
}
