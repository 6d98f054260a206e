/* The steps of a tape backwards, with adjoints: the derivatives of a few numbers, the columns, by
   the states at a time, by the parameters that vary, and by the integrals so far.

   Defined ahead: as for tangent_rows.h, but the functions are adjoint_point, adjoint_seeds, and
   SB_ROOM is the length of their w.

   With x' = f, stages X_j = x + h sum_l a_jl K_l, K_j = f(X_j), and x_after = x + h sum_j b_j K_j, the
   adjoint l of x_after gives those of the stages from the last to the first,
     v_j = h (b_j l + sum_{i>j} a_ij J_i' v_i),
   and that of x, l + sum_j J_j' v_j, with the Jacobians J_j of f at the stages. With the weights e in
   place of b, the sum is the adjoint of the error of the step's changes. Source: E. Hairer, Ch.
   Lubich, G. Wanner, Geometric Numerical Integration, sec. VI.4.

   Lanes: the columns, then the columns once more with the weights e, if the method has them. */

#include <math.h>
#include <string.h>

#define SB_ROWS (SB_NX + SB_NK)
#define SB_FOUND (SB_NX + SB_ND + SB_NE)

typedef struct {
  long long blocks, columns;
  const double *A, *b, *c, *e; /* e: 0 for a method without error control */
  const double *p;
  const sb_seeds *weights; /* (stages, blocks): b, or e, of each lane */
  double rtol, atol, same, exponent;
  /* the adjoints of x, xd, p and the integrals, in blocks */
  sb_seeds *lx, *ld, *lp, *ls;
  double low, high, off;
  /* room */
  long long known; /* whether w begins with the functions at the end of the step */
  double *start, *starts, *slopes, *x_stage, *x_after, *xd_after, *w, *w_instant, *w_tick;
  sb_seeds *found, *back, *seed, *before;
} sb_adjoints;

/* The stages of a step of length h from x at t, to x_after. */
static void sb_forth(sb_adjoints *q, double t, const double *x, const double *xd, double h) {
  long long stages = SB_STAGES;
  if (q->known) {
    stages--;
    memcpy(q->w + stages * SB_ROOM, q->w, SB_ROOM * sizeof(double));
    memcpy(q->slopes + stages * SB_NX, q->slopes, SB_NX * sizeof(double));
  }
  for (long long j = 0; j < stages; j++) {
    double at = t + q->c[j] * h;
    at = at < q->low ? q->low : at > q->high ? q->high : at;
    sb_stage(q->x_stage, x, h, q->A + j * SB_STAGES, j, q->slopes);
    SB_POINT(&at, q->x_stage, xd, q->p, q->start, q->slopes + j * SB_NX, q->w + j * SB_ROOM);
  }
  sb_stage(q->x_after, x, h, q->b, SB_STAGES, q->slopes);
}

/* Add what a function found to the adjoints of xd and p. */
static void sb_note(sb_adjoints *q, long long b) {
  const sb_seeds *found = q->found + SB_NX;
  for (long long i = 0; i < SB_ND; i++) q->ld[b * SB_ND + i] += found[i];
  for (long long i = 0; i < SB_NE; i++) q->lp[b * SB_NE + i] += found[SB_ND + i];
}

/* The error of the adjoints, in lanes of the weights e, relative to what is allowed: a fraction of
   each, and of the largest, with states by their own sizes. */
static double sb_error(const sb_adjoints *q, const double *x) {
  const double *after = (const double *)q->lx, *before = (const double *)q->before;
  double worst = 0;
  for (long long c = 0; c < q->columns; c++) {
    const long long k = q->columns + c;
    const double *l = after + c / SB_SEEDS * SB_NX * SB_SEEDS + c % SB_SEEDS;
    const double *o = after + k / SB_SEEDS * SB_NX * SB_SEEDS + k % SB_SEEDS;
    const double *was = before + k / SB_SEEDS * SB_NX * SB_SEEDS + k % SB_SEEDS;
    double largest = 0, total = 0, sum = 0;
    for (long long i = 0; i < SB_NX; i++) sum += was[i * SB_SEEDS];
    if (!isfinite(sum)) continue; /* of a number without a derivative, the root of zero */
    for (int round = 0; round < 2; round++)
      for (long long i = 0; i < SB_NX; i++) {
        const double scale = q->atol + q->rtol * sb_largest(x[i], q->x_after[i]);
        const double size = scale * sb_largest(l[i * SB_SEEDS], was[i * SB_SEEDS]);
        if (!round) {
          largest = sb_largest(largest, size);
        } else {
          const double off = scale * (o[i * SB_SEEDS] - was[i * SB_SEEDS]);
          const double ratio = off / (q->rtol * (size > SB_SMALL * largest ? size : SB_SMALL * largest));
          if (off) total += ratio * ratio;
        }
      }
    total = sqrt(total / SB_NX);
    if (!(total <= worst)) worst = total == total ? total : INFINITY;
  }
  return worst;
}

/* Set the lanes of the weights e to those of the columns. */
static void sb_alike(const sb_adjoints *q, sb_seeds *adjoints, long long n) {
  double *lanes = (double *)adjoints;
  for (long long c = 0; c < q->columns; c++) {
    const long long k = q->columns + c;
    const double *from = lanes + c / SB_SEEDS * n * SB_SEEDS + c % SB_SEEDS;
    double *to = lanes + k / SB_SEEDS * n * SB_SEEDS + k % SB_SEEDS;
    for (long long i = 0; i < n; i++) to[i * SB_SEEDS] = from[i * SB_SEEDS];
  }
}

/* Take a step back whose stages are known; returns the error of the adjoints if they are checked:
   the last stage of a method that ends on the rates at its end is there for errors alone. */
static double sb_back(sb_adjoints *q, const double *x, double h, int checked) {
  const long long row = q->blocks * SB_NX, last = SB_STAGES - (SB_LAST && !checked ? 2 : 1);
  double error = 0;
  memcpy(q->before, q->lx, (size_t)row * sizeof(sb_seeds));
  for (long long b = 0; b < q->blocks; b++) {
    sb_seeds *l = q->lx + b * SB_NX;
    for (long long j = last; j >= 0; j--) {
      const sb_seeds weight = h * q->weights[j * q->blocks + b];
      for (long long i = 0; i < SB_NX; i++) {
        sb_seeds sum = {0};
        for (long long s = j + 1; s <= last; s++) sum += q->A[s * SB_STAGES + j] * q->back[s * SB_NX + i];
        q->seed[i] = weight * q->before[b * SB_NX + i] + h * sum;
      }
      for (long long i = 0; i < SB_NK; i++) q->seed[SB_NX + i] = weight * q->ls[b * SB_NK + i];
      adjoint_seeds(q->seed, q->w + j * SB_ROOM, q->found);
      memcpy(q->back + j * SB_NX, q->found, SB_NX * sizeof(sb_seeds));
      for (long long i = 0; i < SB_NX; i++) l[i] += q->found[i];
      sb_note(q, b);
    }
  }
  if (!q->e) return 0;
  if (checked) error = sb_error(q, x);
  sb_alike(q, q->lx, SB_NX);
  sb_alike(q, q->ld, SB_ND);
  return error;
}

/* Set x_after to its constraints; the room keeps what is needed to go back. */
static void sb_project(sb_adjoints *q, double t, const double *xd) {
#if SB_PROJECTS
  memcpy(q->x_stage, q->x_after, SB_NX * sizeof(double));
  project_point(&t, q->x_stage, xd, q->p, q->x_after, q->w_instant);
#else
  (void)q, (void)t, (void)xd;
#endif
}

/* Take the adjoints back over that. */
static void sb_project_back(sb_adjoints *q) {
#if SB_PROJECTS
  for (long long b = 0; b < q->blocks; b++) {
    project_seeds(q->lx + b * SB_NX, q->w_instant, q->found);
    memcpy(q->lx + b * SB_NX, q->found, SB_NX * sizeof(sb_seeds));
    sb_note(q, b);
  }
#else
  (void)q;
#endif
}

/* Take the adjoints back over a tick of clocks, to xd_after. */
static void sb_tick_back(sb_adjoints *q, long long which, double t, const double *xd) {
  memcpy(q->xd_after, xd, SB_ND * sizeof(double));
  sb_tick_point(which, &t, q->x_after, xd, q->p, q->xd_after, q->w_tick);
  for (long long b = 0; b < q->blocks; b++) {
    sb_seeds *ld = q->ld + b * SB_ND;
    memset(q->found, 0, SB_FOUND * sizeof(sb_seeds));
    memcpy(q->found + SB_NX, ld, SB_ND * sizeof(sb_seeds));
    sb_tick_seeds(which, ld, q->w_tick, q->found);
    for (long long i = 0; i < SB_NX; i++) q->lx[b * SB_NX + i] += q->found[i];
    memset(ld, 0, SB_ND * sizeof(sb_seeds));
    sb_note(q, b);
  }
}

static int sb_differs(sb_adjoints *q, const double *found, const double *wanted, long long n) {
  double size;
  const double off = sb_apart(found, wanted, n, &size);
  q->off = off;
  return off > q->same * size;
}

/* Go back over a row in so many equal parts. code: as for sb_tangent_rows. Returns the largest error
   of the adjoints in one, and infinity, and a positive `off`, where the row does not end as the run's. */
static double sb_row(sb_adjoints *q, const double *row, long long code, long long parts, int checked) {
  const double t = row[0], h = (row[2] - t) / (double)parts, *xd = row + SB_HEAD + SB_NX;
  const double *next = xd + SB_ND + SB_HEAD;
  double worst = 0;
  q->off = 0;
  q->known = q->known && parts == 1 && !code;
  memcpy(q->start, row + SB_HEAD, SB_NX * sizeof(double));
  memcpy(q->starts, q->start, SB_NX * sizeof(double));
  for (long long k = 0; k < parts; k++) {
    sb_forth(q, t + (double)k * h, q->starts + k * SB_NX, xd, h);
    if (k + 1 < parts) memcpy(q->starts + (k + 1) * SB_NX, q->x_after, SB_NX * sizeof(double));
  }
  if (code || SB_DRIFTS) sb_project(q, row[2], xd);
  if (sb_differs(q, q->x_after, next, SB_NX)) return INFINITY;
  if (code) {
    sb_tick_back(q, code - 1, row[2], xd);
    if (sb_differs(q, q->xd_after, next + SB_NX, SB_ND)) return INFINITY;
  }
  if (code || SB_DRIFTS) sb_project_back(q);
  q->off = 0;
  for (long long k = parts - 1; k >= 0; k--) {
    const double *x = q->starts + k * SB_NX;
    if (k + 1 < parts) {
      q->known = SB_LAST && !SB_HOLDS;
      sb_forth(q, t + (double)k * h, x, xd, h);
    }
    const double error = sb_back(q, x, h, checked);
    if (!(error <= worst)) worst = error;
  }
  q->known = SB_LAST && !SB_HOLDS && !SB_DRIFTS;
  return worst;
}

/* Go back over rows of a tape, which end plainly or at a stop; the row after them follows. codes,
   starts: as for sb_tangent_rows. Adjoints that need shorter steps than the run get them: this is checked
   in rows with other steps than the last that was checked, at least every so many rows, and, where it
   is found, again in each row since the last check. Returns the
   number of rows that are left, where one differs from the run's or needs more than SB_MOST_PARTS. */
long long sb_adjoint_rows(sb_adjoints *q, const double *rows, const long long *codes, long long count,
                          int starts) {
  const long long width = SB_HEAD + SB_NX + SB_ND;
  const size_t all = (size_t)(q->blocks * (SB_NX + SB_ND + SB_NE)) * sizeof(sb_seeds);
  sb_seeds *kept = q->before + q->blocks * SB_NX;
  long long safe = count, careful = 1, parts = 1; /* safe: rows that were left where `kept` was */
  double step = 0; /* the last that was checked */
  q->known = 0;
  memcpy(kept, q->lx, all);
  while (count > 0) {
    const double *row = rows + (count - 1) * width;
    const double ratio = (row[2] - row[0]) / step;
    const int alike = ratio < SB_ALIKE && ratio > 1 / SB_ALIKE;
    const int checked = q->e && (careful > 0 || safe - count >= SB_UNCHECKED || count == 1 || !alike);
    const long long code = codes[count - 1];
    const int stop = count == 1 ? starts : codes[count - 2] > 0;
    q->low = stop ? row[0] + SB_INSIDE * (nextafter(row[0], INFINITY) - row[0]) : row[0];
    q->high = code ? row[2] - SB_INSIDE * (row[2] - nextafter(row[2], -INFINITY)) : row[1];
    const double error = sb_row(q, row, code, parts, checked);
    if (q->off > 0) return count;
    if (checked && error > SB_ALLOWED) {
      if (safe == count) {
        const double more = (double)parts * fmin(1 / SB_SHORTEN, pow(error / SB_ALLOWED, q->exponent) / SB_SAFETY);
        if (parts == SB_MOST_PARTS) return count;
        parts = more < SB_MOST_PARTS ? (long long)ceil(more) : SB_MOST_PARTS;
      } else {
        careful = safe - count + 1 + SB_UNCHECKED;
        count = safe;
      }
      memcpy(q->lx, kept, all);
      q->known = 0;
      continue;
    }
    if (checked) step = (row[2] - row[0]) / (double)parts;
    count--;
    parts = 1;
    if (checked) {
      safe = count;
      memcpy(kept, q->lx, all);
      if (careful) careful--;
    }
  }
  return 0;
}
