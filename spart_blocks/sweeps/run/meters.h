/* What is measured of a run while it proceeds, panel by panel: the meters of
   run/measure/gauges.py and step_meter.py for one run, in memory of fixed size.

   A panel is a part of a step; on it a signal is the polynomial of fourth degree through its values
   at five Gauss-Lobatto nodes. Before this file stand SB_METERS, their number; SB_METER_ROWS and
   SB_METER_COLUMNS, the rows of the tables below; SB_WIDTH, the number of measured signals.
   Nothing depends on the number of lanes: each is measured by itself. */

#define SB_NODES 5
#define SB_FINE 17                  /* points of a panel between which extremes are looked for */
#define SB_SAME 1e-12               /* of a signal's size: rounding */
#define SB_LARGEST_DOUBLE 1.7976931348623157e308
#define SB_SAME_REFERENCE 1e-9      /* of a reference's size: no change */
#define SB_BAND 0.02                /* half the width of the settling band, of the step */
#define SB_HALVED 60                /* bisections for the time at which a level is met */

#define SB_EXTREMES_SIZE 7          /* numbers that a meter of extremes keeps */
#define SB_CONSTANT SB_TABLE

/* In the order in which lane_meters.py numbers them. */
enum { SB_EXTREMES, SB_SQUARE, SB_INTEGRAL, SB_FROM_START, SB_BACK, SB_STEP };

/* kind, sign: what is measured. column, count: of which signals, the rows of sb_meter_columns;
   after these come their references, if it has any. at: where its numbers lie. since, until [s]:
   only the time between counts. */
typedef struct {
  int kind, column, count, references, at;
  double sign, since, until;
} sb_meter;

#if SB_METERS
SB_CONSTANT sb_meter sb_meters[] = {SB_METER_ROWS};
SB_CONSTANT int sb_meter_columns[] = {SB_METER_COLUMNS};
#endif

SB_CONSTANT double SB_NODE[SB_NODES] = {0, 0.1726731646460114, 0.5, 0.8273268353539886, 1};
SB_CONSTANT double SB_WEIGHT[SB_NODES] = {0.05, 0.2722222222222222, 0.35555555555555557,
                                          0.2722222222222222, 0.05};
/* The coefficient of T4 from the values at the nodes. */
SB_CONSTANT double SB_FOURTH[SB_NODES] = {0.109375, -0.25520833333333333, 0.29166666666666667,
                                          -0.25520833333333333, 0.109375};
/* Between two nodes: where the polynomial through them misses a smooth signal most, and its value
   there from those at the nodes. */
SB_CONSTANT double SB_BETWEEN = 0.33;
SB_CONSTANT double SB_THERE[SB_NODES] = {-0.12476606, 0.6106387761747121, 0.64584784,
                                          -0.19317249617471205, 0.06145194};
/* Gauss' rule, exact for squares of panels: its weights, and the values at its points from those at
   the nodes. */
SB_CONSTANT double SB_GAUSS[SB_NODES] = {0.11846344252809454, 0.23931433524968324,
                                         0.28444444444444444, 0.23931433524968324,
                                         0.11846344252809454};
SB_CONSTANT double SB_AT_GAUSS[SB_NODES][SB_NODES] = {
    {0.5933706960199465, 0.5164351986496176, -0.16382363939660802, 0.08322282221995994,
     -0.029205077492916103},
    {-0.100482568805083, 0.9313661019373952, 0.22966726079578495, -0.0906949046999769,
     0.030144110771879746},
    {0.0, 0.0, 1.0, 0.0, 0.0},
    {0.030144110771879746, -0.0906949046999769, 0.22966726079578495, 0.9313661019373952,
     -0.100482568805083},
    {-0.029205077492916103, 0.08322282221995994, -0.16382363939660802, 0.5164351986496176,
     0.5933706960199465}};
/* The coefficients of 1, s, ..., s^4 from the values at the nodes. */
SB_CONSTANT double SB_POWERS[SB_NODES][SB_NODES] = {
    {1.0, 0.0, 0.0, 0.0, 0.0},
    {-10.0, 13.51300497744848, -5.333333333333333, 2.8203283558848535, -1.0},
    {30.0, -56.872348265678774, 42.666666666666664, -24.794318400987894, 9.0},
    {-35.0, 76.02600995489696, -74.66666666666667, 54.64065671176971, -21.0},
    {14.0, -32.666666666666664, 37.333333333333336, -32.666666666666664, 14.0}};

/* A panel from a to b of one signal. */
typedef struct {
  double a, b, y[SB_NODES];
} sb_panel;

SB_FUNCTION void sb_powers(const double *y, double *c) {
  for (int k = 0; k < SB_NODES; k++) {
    c[k] = 0;
    for (int n = 0; n < SB_NODES; n++) c[k] += SB_POWERS[k][n] * y[n];
  }
}

SB_FUNCTION double sb_at(const double *c, double s) {
  return (((c[4] * s + c[3]) * s + c[2]) * s + c[1]) * s + c[0];
}

/* Whether the polynomial only rises or only falls between 0 and 1, by the signs of its slope's
   Bernstein coefficients. */
SB_FUNCTION int sb_monotone(const double *c) {
  double a = c[1], b = a + 2 * c[2] / 3, d = b + 2 * c[2] / 3 + c[3];
  double e = c[1] + 2 * c[2] + 3 * c[3] + 4 * c[4];
  return (a > 0 && b > 0 && d > 0 && e > 0) || (a < 0 && b < 0 && d < 0 && e < 0);
}

SB_FUNCTION double sb_rate_at(const double *c, double s) {
  return ((4 * c[4] * s + 3 * c[3]) * s + 2 * c[2]) * s + c[1];
}

SB_FUNCTION double sb_bend_at(const double *c, double s) {
  return (12 * c[4] * s + 6 * c[3]) * s + 2 * c[2];
}

/* The part of a panel between two times; 0 where there is none. */
SB_FUNCTION int sb_trimmed(sb_panel *p, double since, double until) {
  double a = p->a > since ? p->a : since, b = p->b < until ? p->b : until, c[SB_NODES], s0, s1;
  if (p->a == p->b) return p->a >= since && p->b <= until; /* an instant */
  if (!(p->b > since && p->a < until)) return 0;
  if (a == p->a && b == p->b) return 1;
  sb_powers(p->y, c);
  s0 = (a - p->a) / (p->b - p->a), s1 = (b - p->a) / (p->b - p->a);
  for (int n = 0; n < SB_NODES; n++) p->y[n] = sb_at(c, s0 + SB_NODE[n] * (s1 - s0));
  p->a = a, p->b = b;
  return 1;
}

/* Points of a panel, as fractions s, with all its extremes among them, and the values there, in
   order; returns how many. */
SB_FUNCTION int sb_fine(const double *y, double *s, double *v) {
  double c[SB_NODES], slope[SB_FINE], size = 0, low = y[0], high = y[0];
  int count = 0, flat_low = 0, flat_high = 0;
  sb_powers(y, c);
  for (int n = 0; n < SB_NODES; n++) {
    if (fabs(y[n]) > size) size = fmin(fabs(y[n]), SB_LARGEST_DOUBLE);
    if (y[n] < low) low = y[n];
    if (y[n] > high) high = y[n];
  }
  for (int k = 0; k < SB_FINE; k++) slope[k] = sb_rate_at(c, (double)k / (SB_FINE - 1));
  for (int k = 0; k < SB_FINE; k++) {
    s[count] = (double)k / (SB_FINE - 1);
    v[count] = k == 0 ? y[0] : k == SB_FINE - 1 ? y[SB_NODES - 1] : sb_at(c, s[count]);
    count++;
    if (k < SB_FINE - 1 && slope[k] * slope[k + 1] < 0) {
      double from = (double)k / (SB_FINE - 1), to = (double)(k + 1) / (SB_FINE - 1);
      double at = from + slope[k] / (slope[k] - slope[k + 1]) * (to - from);
      for (int i = 0; i < 2; i++) { /* Newton's method */
        double bend = sb_bend_at(c, at);
        if (bend != 0) at -= sb_rate_at(c, at) / bend;
        at = at < from ? from : at > to ? to : at;
      }
      s[count] = at;
      v[count++] = sb_at(c, at);
    }
  }
  /* Two nodes with the extreme value of all: the signal saturates there, and what the polynomial
     has beyond it is an artefact; so is that of rounding. */
  for (int n = 1; n < SB_NODES; n++) {
    flat_low |= y[n] == y[n - 1] && y[n] == low;
    flat_high |= y[n] == y[n - 1] && y[n] == high;
  }
  for (int k = 0; k < count; k++) {
    if (fabs(v[k] - high) <= SB_SAME * size || (flat_high && v[k] > high)) v[k] = high;
    if (fabs(v[k] - low) <= SB_SAME * size || (flat_low && v[k] < low)) v[k] = low;
  }
  return count;
}

/* --- extremes: any, first, last, least, its time, most, its time -------------------------- */

SB_FUNCTION void sb_extremes_begin(double *m) {
  m[0] = 0, m[1] = m[2] = m[4] = m[6] = NAN, m[3] = INFINITY, m[5] = -INFINITY;
}

SB_FUNCTION void sb_extremes_take(double *m, const sb_panel *p) {
  double low = p->y[0], high = p->y[0], slack, s[2 * SB_FINE], v[2 * SB_FINE], c[SB_NODES];
  int count;
  if (m[0] == 0) m[0] = 1, m[1] = p->y[0];
  m[2] = p->y[SB_NODES - 1];
  for (int n = 1; n < SB_NODES; n++) {
    low = p->y[n] < low ? p->y[n] : low;
    high = p->y[n] > high ? p->y[n] : high;
  }
  slack = high - low; /* a polynomial exceeds its nodes by less than it varies between them */
  if (!(low - slack < m[3] || high + slack > m[5])) return;
  sb_powers(p->y, c);
  if (sb_monotone(c)) { /* its ends are its extremes */
    s[0] = 0, v[0] = p->y[0], s[1] = 1, v[1] = p->y[SB_NODES - 1];
    count = 2;
  } else {
    count = sb_fine(p->y, s, v);
  }
  for (int k = 0; k < count; k++) {
    double t = p->a + s[k] * (p->b - p->a);
    if (v[k] < m[3]) m[3] = v[k], m[4] = t;
    if (v[k] > m[5]) m[5] = v[k], m[6] = t;
  }
}

/* --- the integral of a power, and the span of time ----------------------------------------- */

SB_FUNCTION void sb_integral_take(double *m, const sb_panel *p, int squared) {
  double sum = 0;
  for (int n = 0; n < SB_NODES; n++) {
    double y = 0;
    if (!squared) sum += SB_WEIGHT[n] * p->y[n];
    if (!squared) continue;
    for (int i = 0; i < SB_NODES; i++) y += SB_AT_GAUSS[n][i] * p->y[i];
    sum += SB_GAUSS[n] * y * y;
  }
  m[0] += (p->b - p->a) * sum;
  m[1] += p->b - p->a;
}

/* --- the way back from the former maximum: top, back, when, reached, got -------------------- */

SB_FUNCTION void sb_back_begin(double *m) {
  m[0] = -INFINITY, m[1] = 0, m[2] = m[3] = m[4] = NAN;
}

SB_FUNCTION void sb_back_take(double *m, const sb_panel *p, double sign) {
  double s[2 * SB_FINE], v[2 * SB_FINE];
  int count = sb_fine(p->y, s, v);
  for (int k = 0; k < count; k++) {
    double w = sign * v[k], top = w > m[0] ? w : m[0];
    if (top - w <= SB_SAME * fabs(top)) w = top;
    m[0] = top;
    if (top - w > m[1] || m[2] != m[2])
      m[1] = top - w, m[2] = p->a + s[k] * (p->b - p->a), m[3] = sign * top, m[4] = sign * w;
  }
}

/* --- the answer to the last step of a reference --------------------------------------------- */

enum {
  SB_SIZE_OF, SB_KNOWN, SB_BEFORE_IT, SB_FLAT, SB_STEPPED_AT_ALL, SB_BEGIN, SB_FROM, SB_TO,
  SB_LOW, SB_HIGH, SB_LEFT, SB_OUTSIDE, SB_MOST, SB_LARGEST
};

SB_FUNCTION void sb_answer_new(double *m, int stepped, double begin, double from, double to) {
  m[SB_STEPPED_AT_ALL] = stepped;
  m[SB_BEGIN] = begin, m[SB_FROM] = from, m[SB_TO] = to;
  m[SB_LOW] = m[SB_HIGH] = m[SB_LEFT] = NAN;
  m[SB_OUTSIDE] = 0, m[SB_MOST] = -INFINITY, m[SB_LARGEST] = 0;
}

SB_FUNCTION void sb_answer_begin(double *m) {
  m[SB_SIZE_OF] = m[SB_KNOWN] = m[SB_BEFORE_IT] = 0;
  m[SB_FLAT] = 1;
  sb_answer_new(m, 0, NAN, NAN, NAN);
}

/* The fraction between two at which the polynomial c meets a level. */
SB_FUNCTION double sb_meets(const double *c, double low, double high, double level) {
  int side = sb_at(c, low) > level;
  for (int i = 0; i < SB_HALVED; i++) {
    double middle = 0.5 * (low + high);
    if ((sb_at(c, middle) > level) == side) low = middle;
    else high = middle;
  }
  return high;
}

SB_FUNCTION void sb_answer_level(double *reached, double level, int count, const double *s,
                                 const double *v, const double *c, const sb_panel *p,
                                 double begin) {
  int j = 0;
  double at;
  if (*reached == *reached) return;
  while (j < count && !(v[j] >= level)) j++;
  if (j == count) return;
  at = j ? sb_meets(c, s[j - 1], s[j], level) : s[0];
  *reached = p->a + at * (p->b - p->a) - begin;
}

SB_FUNCTION void sb_answer_take(double *m, const sb_panel *p, const double *r) {
  double low = r[0], high = r[0], near, s[2 * SB_FINE], v[2 * SB_FINE], c[SB_NODES];
  sb_panel part = *p;
  int flat, was_flat = m[SB_FLAT] != 0, first = m[SB_KNOWN] == 0, jumps, count, last;
  for (int n = 0; n < SB_NODES; n++) {
    low = r[n] < low ? r[n] : low;
    high = r[n] > high ? r[n] : high;
    if (fabs(r[n]) > m[SB_SIZE_OF]) m[SB_SIZE_OF] = fabs(r[n]);
  }
  near = SB_SAME_REFERENCE * m[SB_SIZE_OF];
  flat = high - low <= near;
  jumps = !first && fabs(r[0] - m[SB_BEFORE_IT]) > near;
  m[SB_KNOWN] = 1, m[SB_BEFORE_IT] = r[SB_NODES - 1], m[SB_FLAT] = flat;
  if (first) sb_answer_new(m, 1, p->a, p->y[0], r[SB_NODES - 1]);
  if (jumps || !flat) {
    if (!flat || !was_flat) {
      sb_answer_new(m, 0, NAN, NAN, NAN);
      return;
    }
    sb_answer_new(m, 1, p->a, p->y[0], r[0]);
  }
  if (m[SB_STEPPED_AT_ALL] == 0) return;
  for (int n = 0; n < SB_NODES; n++)
    if (fabs(p->y[n] - m[SB_TO]) > m[SB_LARGEST]) m[SB_LARGEST] = fabs(p->y[n] - m[SB_TO]);
  if (m[SB_TO] == m[SB_FROM]) return;
  for (int n = 0; n < SB_NODES; n++) part.y[n] = (p->y[n] - m[SB_FROM]) / (m[SB_TO] - m[SB_FROM]);
  count = sb_fine(part.y, s, v);
  sb_powers(part.y, c);
  for (int k = 0; k < count; k++)
    if (v[k] > m[SB_MOST]) m[SB_MOST] = v[k];
  sb_answer_level(&m[SB_LOW], 0.1, count, s, v, c, p, m[SB_BEGIN]);
  sb_answer_level(&m[SB_HIGH], 0.9, count, s, v, c, p, m[SB_BEGIN]);
  for (last = count - 1; last >= 0 && !(fabs(v[last] - 1) > SB_BAND);) last--;
  if (last == count - 1) m[SB_LEFT] = p->b;
  else if (last >= 0)
    m[SB_LEFT] = p->a + (p->b - p->a) * sb_meets(c, s[last], s[last + 1],
                                                 1 + (v[last] > 1 ? SB_BAND : -SB_BAND));
  m[SB_OUTSIDE] = last == count - 1;
}

/* --- all meters ------------------------------------------------------------------------------ */

#if SB_METERS

SB_FUNCTION void sb_meters_begin(double *m) {
  for (int k = 0; k < SB_METERS; k++) {
    double *own = m + sb_meters[k].at;
    switch (sb_meters[k].kind) {
      case SB_EXTREMES: sb_extremes_begin(own); break;
      case SB_SQUARE:
      case SB_INTEGRAL: own[0] = own[1] = 0; break;
      case SB_FROM_START: sb_extremes_begin(own); break;
      case SB_BACK: sb_back_begin(own); break;
      default: sb_answer_begin(own);
    }
  }
}

/* Of the panel from a to b, the part that counts of the signal in a column, less that in another
   (-1: none); 0 where no part does. */
SB_FUNCTION int sb_part(sb_panel *p, const sb_meter *one, double a, double b, const double *y,
                        int column, int less) {
  p->a = a, p->b = b;
  for (int n = 0; n < SB_NODES; n++) {
    p->y[n] = y[n * SB_WIDTH + column];
    if (less >= 0) p->y[n] -= y[n * SB_WIDTH + less];
  }
  return sb_trimmed(p, one->since, one->until);
}

/* The square of the distance of some signals from their first values, kept behind the extremes. */
SB_FUNCTION void sb_from_start_take(double *own, const sb_meter *one, const int *column, double a,
                                    double b, const double *y) {
  double *first = own + SB_EXTREMES_SIZE;
  sb_panel p, square;
  p.a = a, p.b = b;
  for (int n = 0; n < SB_NODES; n++) square.y[n] = 0;
  for (int i = 0; i < one->count; i++) {
    int less = one->references ? column[one->count + i] : -1;
    if (!sb_part(&p, one, a, b, y, column[i], less)) return;
    if (own[0] == 0) first[i] = p.y[0];
    for (int n = 0; n < SB_NODES; n++) {
      double d = p.y[n] - first[i];
      square.y[n] += d * d;
    }
  }
  square.a = p.a, square.b = p.b;
  sb_extremes_take(own, &square);
}

/* Take a panel from a to b with the values y (SB_NODES by SB_WIDTH) of all measured signals. */
SB_FUNCTION void sb_meters_take(double *m, double a, double b, const double *y) {
  for (int k = 0; k < SB_METERS; k++) {
    const sb_meter *one = &sb_meters[k];
    const int *column = sb_meter_columns + one->column;
    double *own = m + one->at;
    int step = one->kind == SB_STEP, less = one->references && !step ? column[1] : -1;
    sb_panel p, r;
    if (one->kind == SB_FROM_START) {
      sb_from_start_take(own, one, column, a, b, y);
      continue;
    }
    if (!sb_part(&p, one, a, b, y, column[0], less) || (step && a == b)) continue;
    if (step) {
      sb_part(&r, one, a, b, y, column[1], -1);
      sb_answer_take(own, &p, r.y);
    } else if (one->kind == SB_EXTREMES) sb_extremes_take(own, &p);
    else if (one->kind == SB_BACK) sb_back_take(own, &p, one->sign);
    else sb_integral_take(own, &p, one->kind == SB_SQUARE);
  }
}

#endif
