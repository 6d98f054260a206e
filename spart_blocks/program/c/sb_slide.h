/* Motion along surfaces on which the equations jump, and signals of EVENT blocks at rest: for hosts
   that take single runs in double precision (sb_step.h).

   Next to the surfaces g = 0 there is a vector field for each choice of sides. A motion along them
   is a combination of these fields whose weights are products of one number in [0, 1] for each
   surface, such that g stays zero. On one surface it is the convex combination of A. F. Filippov,
   "Differential Equations with Discontinuous Righthand Sides" (1988). On the intersection of two
   it is the bilinear one of L. Dieci, L. Lopez, "Sliding motion on discontinuity surfaces of high
   co-dimension", Numer. Math. 117 (2011).

   A signal q at rest is held by a force along the jump w that its resets made to the states:
   x' = f + w s, with s such that q' stays zero. It is held as long as it is pressed on.

   The formulas and constants are those of sliding.py, meeting.py and holds.py of run/events.

   The host defines SB_SURFACES, SB_CONTACTS and SB_RESETS, the most surfaces of one motion, the most
   signals at rest, and the number of EVENTs; the types sb_surface, sb_touch, sb_bounce and sb_holds;
   SB_HOLDS(m), the active surfaces and contacts; SB_NORMALS(m), room for SB_CROSSINGS rows of SB_WIDE;
   SB_HELD_ANEW(m), called where what holds the states has changed; sb_direction(k), the sign of that
   of crossing k; and the functions that are declared below. Times are those of the present segment: a
   signal that jumps at its end has no rate there. */

#ifndef SB_SLIDE_H
#define SB_SLIDE_H

#define SB_SINGULAR 1e-10  /* of the largest pivot of normals of length 1, and */
#define SB_IDLE 1e-5       /* of forces, whose rates are differences of differences */
#define SB_ROWS (SB_CONTACTS > SB_SURFACES ? SB_CONTACTS : SB_SURFACES)
#define SB_WIDE SB_ROOM(SB_NX)

/* A time within the present segment. */
static double sb_seen(const SB_SELF *m, double t);
/* The states x and xd after the mode of crossing k has switched, into moved. */
static void sb_switch_into(const SB_SELF *m, double t, int k, const double *x, const double *xd, double *moved);
/* Tell what happens to the signal of crossing k. */
static void sb_tell_of(const SB_SELF *m, int k, const char *what);
/* More surfaces meet than SB_SURFACES, these among them, or more signals would rest than
   SB_CONTACTS. Return the status of an error. */
static int sb_too_many_surfaces(SB_SELF *m, const sb_surface *found);
#ifdef SB_MEETS_RESETS
static int sb_too_many_contacts(SB_SELF *m);
#endif

static int sb_held(const SB_SELF *m) { return SB_HOLDS(m)->surfaces + SB_HOLDS(m)->contacts > 0; }

/* The number of the contact that holds crossing k, -1 if none does. */
static int sb_contact(const SB_SELF *m, int k) {
  for (int c = 0; c < SB_HOLDS(m)->contacts; c++)
    if (SB_HOLDS(m)->contact[c].k == k) return c;
  return -1;
}

/* Whether the value of crossing k indicates that a surface or contact is released. */
static int sb_leads(const SB_SELF *m, int k) {
  for (int j = 0; j < SB_HOLDS(m)->surfaces; j++)
    if (SB_HOLDS(m)->surface[j].k == k) return 1;
  return sb_contact(m, k) >= 0;
}

static double sb_dot(const double *a, const double *b) {
  double sum = 0;
  for (int i = 0; i < SB_NX; i++) sum += a[i] * b[i];
  return sum;
}

/* The solution x of a x = b for n equations, by elimination with full pivoting. Undetermined
   entries are zero. a, with rows of length SB_ROWS, and b are overwritten. */
static void sb_solve(int n, double a[][SB_ROWS], double *b, double *x, double least) {
  int column[SB_ROWS], rank = 0;
  double first = 0;
  for (int i = 0; i < n; i++) column[i] = i;
  for (; rank < n; rank++) {
    int row = rank, place = rank;
    for (int i = rank; i < n; i++)
      for (int j = rank; j < n; j++)
        if (fabs(a[i][column[j]]) > fabs(a[row][column[place]])) row = i, place = j;
    double pivot = a[row][column[place]], other = b[row];
    int taken = column[place];
    if (!rank) first = fabs(pivot);
    if (!(fabs(pivot) > least * first)) break;
    column[place] = column[rank];
    column[rank] = taken;
    for (int j = 0; j < n; j++) {
      double kept = a[row][j];
      a[row][j] = a[rank][j];
      a[rank][j] = kept;
    }
    b[row] = b[rank];
    b[rank] = other;
    for (int i = rank + 1; i < n; i++) {
      double part = a[i][taken] / pivot;
      for (int j = 0; j < n; j++) a[i][j] -= part * a[rank][j];
      b[i] -= part * b[rank];
    }
  }
  for (int i = 0; i < n; i++) x[i] = 0;
  for (int i = rank - 1; i >= 0; i--) {
    double sum = b[i];
    for (int j = i + 1; j < rank; j++) sum -= a[i][column[j]] * x[column[j]];
    x[column[i]] = sum / a[i][column[i]];
  }
}

/* --- geometry ---------------------------------------------------------------------------- */

/* For n crossings near a point: values g, their derivatives J by the states and g_t by time, and
   unit vectors along each of which only one value changes, at the rate `per`. size: of the states
   along it. */
typedef struct {
  int n;
  double g[SB_ROWS], g_t[SB_ROWS], per[SB_ROWS], size[SB_ROWS];
  double J[SB_ROWS * SB_WIDE], along[SB_ROWS * SB_WIDE];
} sb_geometry;

/* The derivatives of n zero-crossing functions by the states, by central differences: rows of J. */
static void sb_slopes(const SB_SELF *m, double t, const double *x, const double *xd, const int *ks,
                      int n, double apart, double *J) {
  double to[SB_WIDE], up[SB_ROOM(SB_CROSSINGS)], down[SB_ROOM(SB_CROSSINGS)];
  sb_copy(to, x, SB_NX);
  for (int i = 0; i < SB_NX; i++) {
    double h = apart * fmax(fabs(x[i]), 1);
    to[i] = x[i] + h;
    sb_signals(m, t, to, xd, up);
    to[i] = x[i] - h;
    sb_signals(m, t, to, xd, down);
    to[i] = x[i];
    for (int r = 0; r < n; r++) J[r * SB_WIDE + i] = (up[ks[r]] - down[ks[r]]) / (2 * h);
  }
}

/* Whether crossing k jumps near x. scale: the length of its slopes, which grow at a jump as the
   distance of the differences shrinks, or vanish beside it. */
static int sb_jumps(const SB_SELF *m, double t, const double *x, const double *xd, int k,
                    double scale) {
  double J[SB_WIDE], closer;
  sb_slopes(m, t, x, xd, &k, 1, SB_CLOSER * SB_DIFFERENCE, J);
  closer = sqrt(sb_dot(J, J));
  return !(closer < SB_STEEPER * scale && scale < SB_STEEPER * closer);
}

/* The derivatives by time, within the segment. */
static void sb_drifts(const SB_SELF *m, double t, const double *x, const double *xd, const int *ks,
                      int n, double *g_t) {
  double h = 1e-7 * fmax(fabs(t), 1), from = sb_seen(m, t - h), to = sb_seen(m, t + h);
  double up[SB_ROOM(SB_CROSSINGS)], down[SB_ROOM(SB_CROSSINGS)];
  sb_signals(m, to, x, xd, up);
  sb_signals(m, from, x, xd, down);
  for (int r = 0; r < n; r++) g_t[r] = to > from ? (up[ks[r]] - down[ks[r]]) / (to - from) : 0;
}

static void sb_look_around(const SB_SELF *m, double t, const double *x, const double *xd,
                           const int *ks, int n, sb_geometry *at) {
  double g[SB_ROOM(SB_CROSSINGS)], N[SB_ROWS * SB_WIDE], a[SB_ROWS][SB_ROWS], b[SB_ROWS], c[SB_ROWS];
  at->n = n;
  sb_signals(m, t, x, xd, g);
  sb_slopes(m, t, x, xd, ks, n, SB_DIFFERENCE, at->J);
  sb_drifts(m, t, x, xd, ks, n, at->g_t);
  for (int r = 0; r < n; r++) {
    double length = sqrt(sb_dot(at->J + r * SB_WIDE, at->J + r * SB_WIDE));
    int plain = length > 0 && isfinite(length);
    at->g[r] = g[ks[r]];
    for (int i = 0; i < SB_NX; i++)
      N[r * SB_WIDE + i] = plain ? at->J[r * SB_WIDE + i] / length : 0;
  }
  for (int r = 0; r < n; r++) {
    double *along = at->along + r * SB_WIDE, length;
    for (int i = 0; i < n; i++) {
      for (int j = 0; j < n; j++) a[i][j] = sb_dot(N + i * SB_WIDE, N + j * SB_WIDE);
      b[i] = i == r;
    }
    sb_solve(n, a, b, c, SB_SINGULAR);
    for (int i = 0; i < SB_NX; i++) {
      along[i] = 0;
      for (int j = 0; j < n; j++) along[i] += c[j] * N[j * SB_WIDE + i];
    }
    length = sqrt(sb_dot(along, along));
    at->size[r] = 1e-2;
    for (int i = 0; i < SB_NX; i++) {
      if (length > 0) along[i] /= length;
      at->size[r] += fabs(along[i]) * fabs(x[i]);
    }
    at->per[r] = sb_dot(at->J + r * SB_WIDE, along);
  }
}

/* The x at which all values are zero, to first order. */
static void sb_onto(const sb_geometry *at, const double *x, double *out) {
  if (out != x) sb_copy(out, x, SB_NX);
  for (int r = 0; r < at->n; r++)
    for (int i = 0; i < SB_NX && at->per[r] != 0; i++)
      out[i] -= at->g[r] / at->per[r] * at->along[r * SB_WIDE + i];
}

/* --- along surfaces ---------------------------------------------------------------------- */

/* The field for each choice of sides of one or two surfaces, and the rates of their values along
   it. Bit j of a choice is set for the upper side of surface j. */
typedef struct {
  double field[1 << SB_SURFACES][SB_WIDE], rate[1 << SB_SURFACES][SB_SURFACES], largest;
} sb_beside;

/* Let the blocks of these surfaces switch the modes in x until the modes are consistent. */
static void sb_settle_beside(const SB_SELF *m, double t, double *x, const double *xd,
                             const sb_surface *surfaces, int n) {
  unsigned char own[SB_ROOM(SB_CROSSINGS)] = {0};
  double g[SB_ROOM(SB_CROSSINGS)], moved[SB_ROOM(SB_NX + SB_NXD)];
  for (int j = 0; j < n; j++)
    for (int k = 0; k < SB_CROSSINGS; k++)
      if (surfaces[j].along[k]) own[SB_FIRST(k)] = 1;
  for (int i = 0; i < (SB_SWITCHES ? SB_MOST_SETTLED : 0); i++) {
    int last = -1;
    sb_signals(m, t, x, xd, g);
    for (int k = 0; k < SB_CROSSINGS; k++) {
      int first = SB_FIRST(k);
      if (SB_KIND(m, k) != SB_MODE || !own[first] || !(g[k] > 0) || first == last) continue;
      last = first;
      sb_switch_into(m, t, first, x, xd, moved);
      sb_copy(x, moved, SB_NX);
    }
    if (last < 0) return;
  }
}

/* The fields next to n surfaces, extrapolated to a point x on them. */
static void sb_look_beside(const SB_SELF *m, double t, const double *x, const double *xd,
                           const sb_surface *surfaces, int n, const sb_geometry *at,
                           sb_beside *found) {
  double to[SB_WIDE], slopes[2][SB_WIDE];
  found->largest = 0;
  for (int sides = 0; sides < 1 << n; sides++) {
    for (int far = 0; far < 2; far++) {
      sb_copy(to, x, SB_NX);
      for (int j = 0; j < n; j++) {
        double step = (sides >> j & 1 ? 1 : -1) * (far + 1) * at->size[j] * SB_BESIDE;
        for (int i = 0; i < SB_NX; i++) to[i] += step * at->along[j * SB_WIDE + i];
      }
      sb_settle_beside(m, t, to, xd, surfaces, n);
      sb_field(m, t, to, xd, slopes[far]);
    }
    for (int i = 0; i < SB_NX; i++) found->field[sides][i] = 2 * slopes[0][i] - slopes[1][i];
    for (int j = 0; j < n; j++) {
      double size = fabs(at->g_t[j]);
      for (int i = 0; i < SB_NX; i++)
        size += fabs(at->J[j * SB_WIDE + i] * found->field[sides][i]);
      found->rate[sides][j] = sb_dot(at->J + j * SB_WIDE, found->field[sides]) + at->g_t[j];
      found->largest = fmax(found->largest, size);
    }
  }
}

/* The roots of a polynomial of second or first order. Returns their number. */
static int sb_roots(double square, double linear, double constant, double *roots) {
  double under = linear * linear - 4 * square * constant, half;
  if (fabs(square) <= 1e-14 * fabs(linear)) {
    if (linear == 0) return 0;
    roots[0] = -constant / linear;
    return 1;
  }
  if (!(under >= 0)) return 0;
  half = -0.5 * (linear + copysign(sqrt(under), linear));
  roots[0] = half / square;
  if (half == 0) return 1;
  roots[1] = constant / half;
  return 2;
}

/* The weight of the upper side of each of one or two surfaces, in [0, 1] for a motion along them.
   Of several solutions, the one that is least outside. */
static void sb_weigh(int n, double rate[][SB_SURFACES], double *numbers) {
  double a[2], b[2], c[2], d[2], roots[2], least = INFINITY;
  int count;
  if (n == 1) {
    double down = rate[0][0], up = rate[1][0];
    numbers[0] = down != up ? down / (down - up) : 0.5;
    return;
  }
  /* rate = c + a u + b v + d u v for both surfaces; v is eliminated. */
  for (int j = 0; j < 2; j++) {
    c[j] = rate[0][j];
    a[j] = rate[1][j] - rate[0][j];
    b[j] = rate[2][j] - rate[0][j];
    d[j] = rate[3][j] - rate[1][j] - rate[2][j] + rate[0][j];
  }
  count = sb_roots(a[0] * d[1] - a[1] * d[0], c[0] * d[1] + a[0] * b[1] - c[1] * d[0] - a[1] * b[0],
                   c[0] * b[1] - c[1] * b[0], roots);
  numbers[0] = numbers[1] = 0.5;
  for (int r = 0; r < count; r++) {
    double u = roots[r], slope[2] = {b[0] + d[0] * u, b[1] + d[1] * u}, v = 0.5, outside;
    int i = fabs(slope[1]) > fabs(slope[0]);
    if (slope[i] != 0) v = -(c[i] + a[i] * u) / slope[i];
    outside = fmax(fabs(u - 0.5), fabs(v - 0.5));
    if (!(outside < least)) continue;
    least = outside;
    numbers[0] = u;
    numbers[1] = v;
  }
}

/* The weight of a choice of sides of n surfaces. */
static double sb_share(int n, int sides, const double *numbers) {
  double share = 1;
  for (int j = 0; j < n; j++) share *= sides >> j & 1 ? numbers[j] : 1 - numbers[j];
  return share;
}

static int sb_leaders(const SB_SELF *m, int *ks) {
  for (int j = 0; j < SB_HOLDS(m)->surfaces; j++) ks[j] = SB_HOLDS(m)->surface[j].k;
  return SB_HOLDS(m)->surfaces;
}

/* dx/dt along the active surfaces, next to them as at their nearest point, and the weight of each
   surface. */
static void sb_slide(const SB_SELF *m, double t, const double *x, const double *xd, double *out,
                     double *numbers) {
  sb_geometry at;
  sb_beside beside;
  double on[SB_WIDE];
  int ks[SB_SURFACES] = {0}, n = sb_leaders(m, ks);
  sb_look_around(m, t, x, xd, ks, n, &at);
  sb_onto(&at, x, on);
  sb_look_beside(m, t, on, xd, SB_HOLDS(m)->surface, n, &at, &beside);
  sb_weigh(n, beside.rate, numbers);
  for (int i = 0; i < SB_NX; i++) {
    out[i] = 0;
    for (int sides = 0; sides < 1 << n; sides++)
      out[i] += sb_share(n, sides, numbers) * beside.field[sides][i];
  }
}

/* dx/dt without contacts. */
static void sb_unheld(const SB_SELF *m, double t, const double *x, const double *xd, double *out) {
  double numbers[SB_SURFACES];
  if (SB_HOLDS(m)->surfaces) sb_slide(m, t, x, xd, out, numbers);
  else sb_field(m, t, x, xd, out);
}

/* --- contacts ---------------------------------------------------------------------------- */

static int sb_resting(const SB_SELF *m, int *ks) {
  for (int c = 0; c < SB_HOLDS(m)->contacts; c++) ks[c] = SB_HOLDS(m)->contact[c].k;
  return SB_HOLDS(m)->contacts;
}

/* The rates of the signals at rest, positive towards the side beyond zero. */
static void sb_signal_rates(const SB_SELF *m, double t, const double *x, const double *xd,
                            double *rates) {
  double J[SB_ROWS * SB_WIDE], g_t[SB_ROWS], slope[SB_WIDE];
  int ks[SB_ROOM(SB_CONTACTS)] = {0}, n = sb_resting(m, ks);
  sb_slopes(m, t, x, xd, ks, n, SB_DIFFERENCE, J);
  sb_drifts(m, t, x, xd, ks, n, g_t);
  sb_unheld(m, t, x, xd, slope);
  for (int c = 0; c < n; c++)
    rates[c] = sb_direction(ks[c]) * (sb_dot(J + c * SB_WIDE, slope) + g_t[c]);
}

/* Their change from x + behind way at one time to x + ahead way at another. */
static void sb_rates_change(const SB_SELF *m, const double *x, const double *xd, const double *way,
                            double t0, double behind, double t1, double ahead, double *change) {
  double to[SB_WIDE], before[SB_ROWS];
  for (int i = 0; i < SB_NX; i++) to[i] = x[i] + behind * way[i];
  sb_signal_rates(m, t0, to, xd, before);
  for (int i = 0; i < SB_NX; i++) to[i] = x[i] + ahead * way[i];
  sb_signal_rates(m, t1, to, xd, change);
  for (int c = 0; c < SB_HOLDS(m)->contacts; c++) change[c] -= before[c];
}

/* The accelerations `push` of the signals for a unit force of each contact, in columns. */
static void sb_pushes(const SB_SELF *m, double t, const double *x, const double *xd,
                      double push[][SB_ROWS]) {
  double largest = 0, change[SB_ROWS], size;
  for (int i = 0; i < SB_NX; i++) largest = fmax(largest, fabs(x[i]));
  size = SB_RATES_APART * (1 + largest);
  for (int c = 0; c < SB_HOLDS(m)->contacts; c++) {
    sb_rates_change(m, x, xd, SB_HOLDS(m)->contact[c].jump, t, -size, t, size, change);
    for (int r = 0; r < SB_HOLDS(m)->contacts; r++) push[r][c] = change[r] / (2 * size);
  }
}

/* The accelerations of the signals at rest along the free motion dx/dt. */
static void sb_pressed(const SB_SELF *m, double t, const double *x, const double *xd,
                       const double *slope, double *pressed) {
  double from = sb_seen(m, t - SB_RATES_APART), to = sb_seen(m, t + SB_RATES_APART), now = sb_seen(m, t);
  double span = to - from, behind = from - now, ahead = to - now;
  if (!(span > 0.5 * SB_RATES_APART)) { /* in such a short segment, only by the states */
    behind = -SB_RATES_APART;
    ahead = SB_RATES_APART;
    span = 2 * SB_RATES_APART;
  }
  sb_rates_change(m, x, xd, slope, from, behind, to, ahead, pressed);
  for (int c = 0; c < SB_HOLDS(m)->contacts; c++) pressed[c] /= span;
}

/* Add to `out` the jumps that cancel these rates of the signals. */
static void sb_by_forces(const SB_SELF *m, double push[][SB_ROWS], const double *rates,
                         double *out) {
  double forces[SB_ROWS], wanted[SB_ROWS];
  int n = SB_HOLDS(m)->contacts;
  for (int r = 0; r < n; r++) { /* signals have different units */
    double largest = 0;
    for (int c = 0; c < n; c++) largest = fmax(largest, fabs(push[r][c]));
    for (int c = 0; c < n && largest > 0; c++) push[r][c] /= largest;
    wanted[r] = largest > 0 ? -rates[r] / largest : 0;
  }
  sb_solve(n, push, wanted, forces, SB_IDLE);
  for (int c = 0; c < n; c++)
    for (int i = 0; i < SB_NX; i++) out[i] += forces[c] * SB_HOLDS(m)->contact[c].jump[i];
}

/* x, corrected so that the signals at rest and their rates are zero. */
static void sb_put_to_rest(const SB_SELF *m, double t, const double *x, const double *xd,
                           double *out) {
  sb_geometry at;
  double push[SB_ROWS][SB_ROWS], rates[SB_ROWS];
  int ks[SB_ROOM(SB_CONTACTS)] = {0}, n = sb_resting(m, ks);
  sb_look_around(m, t, x, xd, ks, n, &at);
  sb_onto(&at, x, out);
  sb_pushes(m, t, out, xd, push);
  sb_signal_rates(m, t, out, xd, rates);
  sb_by_forces(m, push, rates, out);
}

/* --- active surfaces and contacts -------------------------------------------------------- */

/* dx/dt if surfaces or contacts hold the states. */
static void sb_held_rates(const SB_SELF *m, double t, const double *x, const double *xd,
                          double *out) {
  double on[SB_WIDE], push[SB_ROWS][SB_ROWS], pressed[SB_ROWS];
  if (!SB_HOLDS(m)->contacts) {
    sb_unheld(m, t, x, xd, out);
    return;
  }
  sb_put_to_rest(m, t, x, xd, on);
  sb_unheld(m, t, on, xd, out);
  sb_pressed(m, t, on, xd, out, pressed);
  sb_pushes(m, t, on, xd, push);
  sb_by_forces(m, push, pressed, out);
}

/* Replace the values of the active crossings: a positive value means release. */
static void sb_held_watch(const SB_SELF *m, double t, const double *x, const double *xd,
                          double *g) {
  double slope[SB_WIDE], on[SB_WIDE], numbers[SB_SURFACES], pressed[SB_ROWS];
  if (SB_HOLDS(m)->surfaces) sb_slide(m, t, x, xd, slope, numbers);
  for (int j = 0; j < SB_HOLDS(m)->surfaces; j++) {
    const sb_surface *one = &SB_HOLDS(m)->surface[j];
    for (int k = 0; k < SB_CROSSINGS; k++)
      if (one->along[k]) g[k] = -sb_direction(k);
    g[one->k] *= 1 - 2 * fabs(numbers[j] - 0.5);
  }
  if (!SB_HOLDS(m)->contacts) return;
  sb_put_to_rest(m, t, x, xd, on);
  sb_unheld(m, t, on, xd, slope);
  sb_pressed(m, t, on, xd, slope, pressed);
  for (int c = 0; c < SB_HOLDS(m)->contacts; c++) {
    int k = SB_HOLDS(m)->contact[c].k;
    g[k] = -pressed[c] * sb_direction(k);
  }
}

/* Project the states onto the surfaces, and set the signals at rest to zero. */
static void sb_hold(SB_SELF *m) {
  sb_geometry at;
  double t = SB_T(m), on[SB_WIDE];
  int ks[SB_SURFACES] = {0}, n = sb_leaders(m, ks);
  for (int i = 0; i < 3 && n; i++) {
    sb_look_around(m, t, SB_X(m), SB_XD(m), ks, n, &at);
    sb_onto(&at, SB_X(m), SB_X(m));
  }
  if (!SB_HOLDS(m)->contacts) return;
  sb_put_to_rest(m, t, SB_X(m), SB_XD(m), on);
  sb_copy(SB_X(m), on, SB_NX);
}

/* --- where a surface is met -------------------------------------------------------------- */

/* The surfaces on which the states are, among those of n crossings, up to SB_SURFACES + 1.
   Crossings that are zero on one surface are grouped; one that jumps has no zero. Returns the
   number of surfaces. */
static int sb_surfaces_at(SB_SELF *m, const int *ks, int n, sb_surface *found) {
  double g[SB_ROOM(SB_CROSSINGS)];
  int all[SB_ROOM(SB_CROSSINGS)], count = 0;
  unsigned char on[SB_ROOM(SB_CROSSINGS)];
  for (int k = 0; k < SB_CROSSINGS; k++) all[k] = k;
  sb_signals(m, SB_T(m), SB_X(m), SB_XD(m), g);
  sb_slopes(m, SB_T(m), SB_X(m), SB_XD(m), all, SB_CROSSINGS, SB_DIFFERENCE, SB_NORMALS(m));
  for (int k = 0; k < SB_CROSSINGS; k++) {
    double *normal = SB_NORMALS(m) + k * SB_WIDE, scale = sqrt(sb_dot(normal, normal)), size = 1e-2;
    int plain = scale > 0 && isfinite(scale);
    for (int i = 0; i < SB_NX && plain; i++) {
      normal[i] /= scale;
      size += fabs(normal[i]) * fabs(SB_X(m)[i]);
    }
    on[k] = plain && SB_KIND(m, k) != SB_LIMIT && SB_KIND(m, k) != SB_FAULT &&
            fabs(g[k]) <= SB_NEAR_SURFACE * scale * size &&
            !sb_jumps(m, SB_T(m), SB_X(m), SB_XD(m), k, scale);
  }
  for (int i = 0; i < n && count <= SB_SURFACES; i++) {
    const double *normal = SB_NORMALS(m) + ks[i] * SB_WIDE;
    int known = !on[ks[i]];
    for (int j = 0; j < count; j++)
      known |= fabs(sb_dot(normal, SB_NORMALS(m) + found[j].k * SB_WIDE)) > 1 - SB_PARALLEL;
    if (known) continue;
    found[count].k = ks[i];
    for (int k = 0; k < SB_CROSSINGS; k++)
      found[count].along[k] =
          on[k] && fabs(sb_dot(normal, SB_NORMALS(m) + k * SB_WIDE)) > 1 - SB_PARALLEL;
    count++;
  }
  return count;
}

/* Whether there is a motion along the surfaces of `slid`, on these sides of the others, and the
   rates of the others' values in it. */
static int sb_consistent(const sb_beside *beside, int n, int slid, int sides, double *rate) {
  double own[1 << SB_SURFACES][SB_SURFACES], numbers[SB_SURFACES];
  int which[SB_SURFACES], count = 0;
  for (int j = 0; j < n; j++)
    if (slid >> j & 1) which[count++] = j;
  for (int j = 0; j < n; j++) rate[j] = 0;
  for (int pass = 0; pass < 2; pass++) { /* first the weights, then the rates */
    for (int choice = 0; choice < 1 << count; choice++) {
      int whole = sides;
      for (int i = 0; i < count; i++) whole |= (choice >> i & 1) << which[i];
      for (int i = 0; i < count; i++) own[choice][i] = beside->rate[whole][which[i]];
      for (int j = 0; j < n && pass; j++)
        rate[j] += sb_share(count, choice, numbers) * beside->rate[whole][j];
    }
    if (pass || !count) continue;
    if (count == 1 && !(own[0][0] > 0 && own[1][0] < 0)) return 0; /* towards it from both */
    sb_weigh(count, own, numbers);
    for (int i = 0; i < count; i++)
      if (fabs(numbers[i] - 0.5) > 0.5) return 0;
  }
  return 1;
}

/* How the motion continues from the intersection of n surfaces: along as few of them as possible,
   on the sides to which it moves. Sets the bits of those that it slides along, and of the upper
   sides of the others. */
static void sb_way_on(const SB_SELF *m, const sb_surface *surfaces, int n, int *along, int *upper) {
  sb_geometry at;
  sb_beside beside;
  double on[SB_WIDE], rate[SB_SURFACES];
  int ks[SB_SURFACES] = {0};
  for (int j = 0; j < n; j++) ks[j] = surfaces[j].k;
  sb_look_around(m, SB_T(m), SB_X(m), SB_XD(m), ks, n, &at);
  sb_onto(&at, SB_X(m), on);
  sb_look_beside(m, SB_T(m), on, SB_XD(m), surfaces, n, &at, &beside);
  for (int count = 0; count <= n; count++) {
    int best = -1;
    for (int slid = 0; slid < 1 << n; slid++) {
      if ((slid & 1) + (slid >> 1) != count) continue;
      for (int order = 0; order < 1 << n; order++) {
        /* the last surface's side changes first */
        int sides = n == 2 ? (order >> 1) | (order & 1) << 1 : order, same = 0, goes;
        if (sides & slid) continue;
        goes = sb_consistent(&beside, n, slid, sides, rate);
        for (int j = 0; j < n && goes; j++) {
          double side = sides >> j & 1 ? 1 : -1;
          if (slid >> j & 1) continue;
          goes = rate[j] * side >= -SB_NO_RATE * beside.largest;
          same += side * at.g[j] > 0;
        }
        if (!goes || same <= best) continue;
        best = same;
        *along = slid;
        *upper = sides;
      }
    }
    if (best >= 0) return;
  }
  *along = (1 << n) - 1;
  *upper = 0;
}

/* Tell of the surfaces along which sliding starts or ends. */
static void sb_tell(const SB_SELF *m, const sb_holds *a, const sb_holds *b, const char *what) {
  for (int i = 0; i < a->surfaces; i++) {
    int known = 0;
    for (int j = 0; j < b->surfaces; j++) known |= b->surface[j].k == a->surface[i].k;
    if (!known) sb_tell_of(m, a->surface[i].k, what);
  }
}

/* Find how the motion continues from these n crossings and the active surfaces: put the states on
   the surfaces along which it slides, and next to the others. */
static int sb_decide(SB_SELF *m, const int *switching, int n) {
  sb_surface surfaces[SB_SURFACES + 1];
  sb_geometry at;
  sb_holds *holds = SB_HOLDS(m), before = *holds;
  int ks[SB_ROOM(SB_CROSSINGS + SB_SURFACES)] = {0}, count = sb_leaders(m, ks), along = 0, upper = 0;
  for (int i = 0; i < n; i++) ks[count++] = switching[i];
  count = sb_surfaces_at(m, ks, count, surfaces);
  if (count > SB_SURFACES) return sb_too_many_surfaces(m, surfaces);
  if (count) sb_way_on(m, surfaces, count, &along, &upper);
  holds->surfaces = 0;
  for (int j = 0; j < count; j++) {
    double side = upper >> j & 1 ? 1 : -1;
    if (along >> j & 1) {
      holds->surface[holds->surfaces++] = surfaces[j];
      continue;
    }
    sb_look_around(m, SB_T(m), SB_X(m), SB_XD(m), &surfaces[j].k, 1, &at);
    if (side * at.g[0] > 0) continue;
    sb_onto(&at, SB_X(m), SB_X(m));
    for (int i = 0; i < SB_NX; i++) SB_X(m)[i] += side * SB_CLEAR * at.size[0] * at.along[i];
  }
  sb_tell(m, holds, &before, "slides along zero");
  sb_tell(m, &before, holds, "leaves zero");
  if (count) sb_project(m, 1);
  SB_HELD_ANEW(m);
  return SB_OK;
}

/* Whether a signal that has just crossed may cross again at once. */
static int sb_may_return(const SB_SELF *m, int k) {
  double slope[SB_WIDE], to[SB_WIDE], g[SB_ROOM(SB_CROSSINGS)], now;
  if (SB_KIND(m, k) == SB_MODE)
    return SB_HOLDS(m)->met >= 3 && SB_HOLDS(m)->recent[2] - SB_HOLDS(m)->recent[0] < SB_RAPID;
  sb_signals(m, SB_T(m), SB_X(m), SB_XD(m), g);
  now = g[k];
  sb_field(m, SB_T(m), SB_X(m), SB_XD(m), slope);
  for (int i = 0; i < SB_NX; i++) to[i] = SB_X(m)[i] + SB_AHEAD * slope[i];
  sb_signals(m, SB_T(m) + SB_AHEAD, to, SB_XD(m), g);
  return (g[k] - now) * (now > 0 ? 1 : -1) <= 0;
}

/* Keep the times of the last crossings. */
static void sb_remember(SB_SELF *m) {
  double *recent = SB_HOLDS(m)->recent;
  recent[0] = recent[1];
  recent[1] = recent[2];
  recent[2] = SB_T(m);
  if (SB_HOLDS(m)->met < 3) SB_HOLDS(m)->met++;
}

/* Make the motion pass through, slide along or leave the surfaces of the crossings found. */
static int sb_meet_surfaces(SB_SELF *m, const unsigned char *found) {
  int switching[SB_ROOM(SB_CROSSINGS)], n = 0, decides = SB_HOLDS(m)->surfaces > 0;
  for (int k = 0; k < SB_CROSSINGS; k++)
    if (found[k] && (SB_KIND(m, k) == SB_BEND || SB_KIND(m, k) == SB_MODE))
      switching[n++] = k;
  for (int i = 0; i < n; i++) decides = decides || sb_may_return(m, switching[i]);
  return n && decides ? sb_decide(m, switching, n) : SB_OK;
}

/* Release the surfaces that have moved away from the states. */
static int sb_jumped_off(SB_SELF *m) {
  sb_surface surfaces[SB_SURFACES + 1];
  int ks[SB_SURFACES] = {0}, n = sb_leaders(m, ks);
  if (!n || sb_surfaces_at(m, ks, n, surfaces) == n) return SB_OK;
  return sb_decide(m, ks, 0);
}

/* Whether the states start to slide along a surface that they are on; -1 for an error. */
static int sb_lands(SB_SELF *m) {
  int switching[SB_ROOM(SB_CROSSINGS)], n = 0, before[SB_SURFACES], after[SB_SURFACES];
  int count = sb_leaders(m, before);
  for (int k = 0; k < SB_CROSSINGS; k++)
    if (SB_KIND(m, k) == SB_BEND || SB_KIND(m, k) == SB_MODE) switching[n++] = k;
  if (sb_decide(m, switching, n) != SB_OK) return -1;
  if (sb_leaders(m, after) != count) return 1;
  for (int j = 0; j < count; j++)
    if (before[j] != after[j]) return 1;
  return 0;
}

/* --- where a signal comes to rest -------------------------------------------------------- */

#ifdef SB_MEETS_RESETS

/* The index of an EVENT's crossing among those of all EVENTs. */
static int sb_reset_number(int crossing) {
  int number = 0;
  for (int k = 0; k < crossing; k++) number += SB_KIND(m, k) == SB_EVENT;
  return number;
}

/* Store the change of the states x by a reset that was not merely a touch. speed: of the signal
   before it. */
static void sb_note_bounce(SB_SELF *m, int k, const double *x, double speed) {
  sb_bounce *bounce = &SB_HOLDS(m)->bounce[sb_reset_number(k)];
  if (speed >= 1e-3 * bounce->hardest)
    for (int i = 0; i < SB_NX; i++) bounce->jump[i] = SB_X(m)[i] - x[i];
  bounce->hardest = fmax(bounce->hardest, speed);
}

/* Start to hold the signal of an EVENT at zero. */
static int sb_rest(SB_SELF *m, int k) {
  const sb_bounce *bounce = &SB_HOLDS(m)->bounce[sb_reset_number(k)];
  double length = sqrt(sb_dot(bounce->jump, bounce->jump));
  sb_touch *contact = &SB_HOLDS(m)->contact[SB_HOLDS(m)->contacts];
  if (SB_HOLDS(m)->contacts == SB_CONTACTS) return sb_too_many_contacts(m);
  contact->k = k;
  for (int i = 0; i < SB_NX; i++) contact->jump[i] = length > 0 ? bounce->jump[i] / length : 0;
  SB_HOLDS(m)->contacts++;
  sb_tell_of(m, k, "rests at zero");
  sb_project(m, 1);
  return SB_OK;
}

#endif

/* Release the signals at rest among the crossings found, and those that move off. Put the states
   slightly on their old side. */
static void sb_let_go(SB_SELF *m, const unsigned char *found) {
  sb_holds *holds = SB_HOLDS(m);
  sb_geometry at;
  double rates[SB_ROWS];
  int count = holds->contacts, kept = 0;
  if (!count) return;
  sb_signal_rates(m, SB_T(m), SB_X(m), SB_XD(m), rates);
  for (int c = 0; c < count; c++) {
    int k = holds->contact[c].k;
    if (!found[k] && rates[c] >= -1e-9) {
      holds->contact[kept++] = holds->contact[c];
      continue;
    }
    sb_look_around(m, SB_T(m), SB_X(m), SB_XD(m), &k, 1, &at);
    sb_onto(&at, SB_X(m), SB_X(m));
    for (int i = 0; i < SB_NX; i++)
      SB_X(m)[i] -= sb_direction(k) * SB_CLEAR * at.size[0] * at.along[i];
    sb_tell_of(m, k, "leaves zero");
  }
  holds->contacts = kept;
}

#ifdef SB_MEETS_LINES

/* --- steps that may stay before a surface ------------------------------------------------ */

/* Whether the straight line of length h along the first slope crosses a surface. */
static int sb_line_crosses(SB_SELF *m, double h) {
  for (int i = 0; i < SB_NX; i++) SB_XT(m)[i] = SB_X(m)[i] + h * SB_K(m)[i];
  sb_watch(m, SB_T(m) + h, SB_XT(m), SB_G(m));
  for (int k = 0; k < SB_CROSSINGS; k++)
    if (SB_KIND(m, k) == SB_BEND && !sb_leads(m, k) &&
        sb_crossed(SB_G0(m)[k], SB_G(m)[k], SB_DIRECTION(m, k)))
      return 1;
  return 0;
}

/* With stages on both sides of a surface, steps could stay on one side for ever, each as short as
   error control allows. So a step with error control ends where its first slope meets a surface, as in
   Newton's method, and then goes over it. Returns whether the step just tried is to be repeated. */
static int sb_meets_lines(SB_SELF *m, sb_trial *s, int good) {
  double low = 0, high = s->h;
  if (!good || !SB_CONTROLLED(m) || !sb_line_crosses(m, high)) return 0;
  SB_GAP(m) = 0;
  while (high - low > SB_LOCATED && high - low > SB_PART * low) {
    double middle = 0.5 * (low + high);
    if (sb_line_crosses(m, middle)) high = middle;
    else low = middle;
  }
  if (low > SB_BEFORE) {
    SB_STEP_LIMIT(m) = fmin(SB_STEP_LIMIT(m), low);
    return 1;
  }
  s->over = 1;
  s->h = high;
  return 0;
}

#endif

#endif
