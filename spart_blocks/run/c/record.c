/* Record of a run with `record: lines`: as many rows as straight lines need.

   A row holds the kept signals and the states at one time. Within a step a row is looked at
   wherever a straight line between its neighbours might stray, and kept only where the line
   from the last kept row would leave a looked-at row by more than the tolerance: a fraction of the
   signal's range so far. Both sides of a switch, a tick and a crossing are always kept. Deviations
   within a tenth of the error that the solver's tolerances allow count as straight: a balance that
   is zero up to this error has no range to follow.

   The rule is the swinging door of E. H. Bristol, "Swinging door trending: adaptive trend
   recording?", ISA National Conf. Proc. (1990): it allows the lines from the last kept row that
   pass each row since within the tolerance.

   sb_evaluate and sb_state_at, of the driver, give a row and the state within a step. */

#include <math.h>
#include <string.h>

#define SB_SHARE 0.6 /* of the part that lines may stray: a parabola that is off by so much
                       at the rows looked at is off by at most 0.7 between them */
#define SB_DEPTH 4 /* of the refinement between two rows, and */
#define SB_PARTS 16 /* intervals that it makes of one at most */
#define SB_WINDING 6 /* intervals at least, of a curve that may wind within a step */
#define SB_SPLIT 0.4 /* of an interval: there a bend and an inflection both show */
#define SB_CUSP 0.7 /* of the tolerance at that look: a cusp between two rows, as of a norm near zero,
                       is off by up to 2.5 times as much */
#define SB_BENT 1.3 /* of the tolerance: the second difference of three rows, at which a cusp between
                       two of them is off by two thirds of it at most, a parabola by a sixth */
#define SB_TRIPLE 6 /* intervals that the curvature may part a step into unseen, at most */
#define SB_SAFETY 1.5 /* by which the curvature between two rows may exceed that before */
#define SB_TRUST 16 /* intervals that pass unseen, at most */
#define SB_SHORT 0.3 /* of the step before: a step so short has met something */
#define SB_PAST 16 /* steps that do, at most */
#define SB_KINK 0.125 /* of the tolerance: by less than eight times what a parabola through
                         three rows is off, a bend between the last two is */
#define SB_HAIR 1e-3 /* of the tolerance: less is no jump */
#define SB_RELATIVE 1e-9 /* of a signal's magnitude, and */
#define SB_ABSOLUTE 1e-14 /* of its unit: less is rounding */
#define SB_BLUR 0.1 /* of what a signal changes when the states do by their tolerances */
#define SB_STALLS 2 /* refinements that do not help, after which a signal counts as noise */

/* Rows of work memory: the row looked at, those between at each depth, a step's first, a probe. */
#define SB_START (1 + (SB_DEPTH + 1) * (SB_PARTS + 1))

struct sb_run;

typedef struct {
  long long width, rows, room; /* numbers in a row, rows that are kept, rows there are:
                                  more than twice those of a step */
  long long step_rows, budget; /* rows that a step may add, and the present one still may */
  long long crowded;           /* steps that needed more */
  long long looks;             /* rows looked at */
  long long trusted;           /* intervals passed unseen since the last look */
  long long marks, mark;       /* times that are always kept, and the next of them */
  long long nx, passed;        /* continuous states, steps passed unseen since the last look */
  double part, coarse;         /* of a range, and the longest interval between looks [s] */
  double *t, *row, *held;      /* kept rows: times, values, discrete states */
  double *t_past, *past;       /* the ends of those steps: times, continuous states */
  const double *marked;
  double *least, *most;        /* the range of each value so far */
  double *blur, *tolerance;
  double *low, *high;          /* the slopes that the door allows */
  double *curve;               /* the latest second derivative of each value */
  double *off;                 /* room for a number of each value */
  double *before, *last, *now; /* the last rows looked at, and room for those between */
  double t_before, t_last;     /* their times */
  double step;                 /* the length of the last step */
  double stride, crowded_at;   /* an interval that needs no look; time of the first crowded step */
  int pending, known, smooth;  /* whether the row after the kept ones may still be dropped; how many
                                  of the last rows are known; whether curve may be trusted */
  int probed;                  /* whether blur was determined in this step */
  int winds;                   /* whether blocks step by themselves */
} sb_log;

/* Compute the values and the discrete states at t from x. Returns whether all are finite. */
static int sb_evaluate(struct sb_run *r, double t, const double *x, double *row);
/* The state as far from x as the tolerances allow, in one direction or the other. */
static const double *sb_off(struct sb_run *r, const double *x, int way);
/* The state at t within the step. */
static void sb_state_at(struct sb_run *r, double t, double *x);
static const double *sb_held(struct sb_run *r, long long *count);
static double *sb_room(struct sb_run *r);

/* Loops over the values of a row have no branches and no calls, and know their length beforehand, so
   that they take several values at a time. */

static void sb_range(sb_log *L, const double *restrict v) {
  double *restrict least = L->least, *restrict most = L->most, *restrict tolerance = L->tolerance;
  const double *restrict blur = L->blur;
  /* The tolerance is divided between the door and the curve between looks. */
  const double share = SB_SHARE * L->part;
  const long long width = L->width;
  for (long long j = 0; j < width; j++) {
    double low = v[j] < least[j] ? v[j] : least[j], high = v[j] > most[j] ? v[j] : most[j],
           rounding = SB_RELATIVE * (-low > high ? -low : high);
    least[j] = low;
    most[j] = high;
    tolerance[j] = share * (high - low) + (blur[j] > rounding ? blur[j] : rounding) + SB_ABSOLUTE;
  }
}

/* The row at t. */
static int sb_look(struct sb_run *r, sb_log *L, double t, const double *x, double *v) {
  L->looks++;
  if (!sb_evaluate(r, t, x, v)) return 0;
  sb_range(L, v);
  return 1;
}

/* Determine the uncertainty of each value. v: the row at t and x. */
static void sb_blurred(struct sb_run *r, sb_log *L, double t, const double *x, const double *v) {
  double *restrict near = L->now + (SB_START + 1) * L->width, *restrict blur = L->blur;
  const long long width = L->width;
  for (int way = 0; way < 2; way++) {
    if (!sb_evaluate(r, t, sb_off(r, x, way), near)) continue;
    for (long long j = 0; j < width; j++) {
      double off = SB_BLUR * fabs(near[j] - v[j]);
      blur[j] = off > blur[j] ? off : blur[j];
    }
  }
  L->probed = 1;
}

/* The largest of some numbers, none of them negative: four chains, which do not wait for each other. */
static double sb_largest(const double *v, long long n) {
  double most[4] = {0, 0, 0, 0};
  long long j = 0;
  for (; j + 4 <= n; j += 4)
    for (int k = 0; k < 4; k++) most[k] = v[j + k] > most[k] ? v[j + k] : most[k];
  for (; j < n; j++) most[0] = v[j] > most[0] ? v[j] : most[0];
  for (int k = 1; k < 4; k++) most[0] = most[k] > most[0] ? most[k] : most[0];
  return most[0];
}

/* Deviation of the row v, at this fraction of the way between two others, from their line. */
static double sb_bulge(const sb_log *L, const double *va, const double *v, const double *vb,
                       double part) {
  const double *tolerance = L->tolerance;
  double *restrict off = L->off;
  const long long width = L->width;
  for (long long j = 0; j < width; j++)
    off[j] = fabs(v[j] - (1 - part) * va[j] - part * vb[j]) / tolerance[j];
  return sb_largest(off, width);
}

static void sb_open_door(sb_log *L) {
  double *restrict low = L->low, *restrict high = L->high;
  const long long width = L->width;
  for (long long j = 0; j < width; j++) {
    low[j] = -INFINITY;
    high[j] = INFINITY;
  }
}

/* Whether the line from the last kept row to this one passes all rows between. */
static int sb_fits(const sb_log *L, double t, const double *v) {
  const double *restrict from = L->row + (L->rows - 1) * L->width;
  const double *restrict low = L->low, *restrict high = L->high;
  const long long width = L->width;
  double inverse = 1 / (t - L->t[L->rows - 1]);
  int out = 0;
  for (long long j = 0; j < width; j++) {
    double slope = (v[j] - from[j]) * inverse;
    out |= (slope < low[j]) | (slope > high[j]);
  }
  return !out;
}

static void sb_narrow_door(sb_log *L, double t, const double *restrict v) {
  const double *restrict from = L->row + (L->rows - 1) * L->width;
  const double *restrict tolerance = L->tolerance;
  double *restrict low = L->low, *restrict high = L->high;
  const long long width = L->width;
  double inverse = 1 / (t - L->t[L->rows - 1]);
  for (long long j = 0; j < width; j++) {
    double rise = v[j] - from[j], under = (rise - tolerance[j]) * inverse,
           over = (rise + tolerance[j]) * inverse;
    low[j] = under > low[j] ? under : low[j];
    high[j] = over < high[j] ? over : high[j];
  }
}

static void sb_write(struct sb_run *r, sb_log *L, long long at, double t, const double *v) {
  long long nd;
  const double *held = sb_held(r, &nd);
  L->t[at] = t;
  memcpy(L->row + at * L->width, v, (size_t)L->width * sizeof(double));
  memcpy(L->held + at * nd, held, (size_t)nd * sizeof(double));
}

/* Offer a row, which is kept if lines need it. */
static void sb_offer(struct sb_run *r, sb_log *L, double t, const double *v) {
  if (t <= L->t[L->rows - 1]) return;
  if (L->pending && !sb_fits(L, t, v) && L->budget > 0) {
    L->rows++;
    L->budget--;
    sb_open_door(L);
  }
  sb_write(r, L, L->rows, t, v);
  sb_narrow_door(L, t, v);
  L->pending = 1;
}

/* Keep a row. sides: also the row before it, even if they are equal. */
static void sb_keep(struct sb_run *r, sb_log *L, double t, const double *v, int sides) {
  if (L->rows && t <= L->t[L->rows - 1]) { /* a second row at one time: the last one stays */
    L->rows--;
    L->pending = 0;
  } else if (L->pending) {
    const double *p = L->row + L->rows * L->width;
    int jump = sides;
    for (long long j = 0; j < L->width; j++)
      jump |= fabs(v[j] - p[j]) > SB_HAIR * L->tolerance[j];
    /* A jump at one time, since a slope across it would be unbounded. */
    if ((jump && L->t[L->rows] > t - 1e-9 * fmax(1, fabs(t))) || !sb_fits(L, t, v)) L->rows++;
  }
  sb_write(r, L, L->rows++, t, v);
  sb_open_door(L);
  L->pending = 0;
}

/* Where a step is looked at.

   A step of the solver may be long, and each look within it costs an evaluation of all signals. So
   there are as few looks as the curvature of the signals allows:

   - sb_cover goes over a step in intervals, as long as the curvature between the last rows permits
     for a straight line (sb_bend: the interval is the stride). While nothing bends more than
     expected (sb_kinked), an interval passes by its end alone, SB_TRUST times in turn at most.
   - In any other interval sb_between looks once, at SB_SPLIT of it. A row that lies on the line ends the
     search. If not, the interval is cut into as many parts as a parabola with this bulge needs, and those
     parts where three neighbouring rows are not straight (sb_strays) are looked at in the same way, SB_DEPTH
     times at most. Where cutting does not lessen the bulge the signal is noise, and the search ends.
   - Steps shorter than half a stride are remembered (sb_unseen), and looked at only where they
     have led (sb_catch_up): at each of their ends if a signal has bent on the way.
   - A stop, a tick and a crossing end the line and begin a new one (sb_anew, sb_late).

   What is looked at is offered (sb_offer): whether the row is kept, the swinging door says. */

/* Learn the curvature from the last three rows. */
static void sb_bend(sb_log *L, double t, const double *v) {
  double first = 1 / (L->t_last - L->t_before), second = 1 / (t - L->t_last),
         whole = 2 / (t - L->t_before), sharpest;
  const double *restrict last = L->last, *restrict before = L->before;
  const double *restrict tolerance = L->tolerance;
  double *restrict curve = L->curve, *restrict sharp = L->off;
  const long long width = L->width;
  for (long long j = 0; j < width; j++) {
    double rate = (v[j] - last[j]) * second - (last[j] - before[j]) * first,
           bend = fabs(rate * whole), old = 0.5 * curve[j];
    curve[j] = bend > old ? bend : old;
    sharp[j] = curve[j] / tolerance[j];
  }
  sharpest = sb_largest(sharp, width);
  /* At most twice the interval looked at: near an inflection the curvature is small. */
  L->stride = 2 * fmax(t - L->t_last, L->t_last - L->t_before);
  if (sharpest > 0) L->stride = fmin(L->stride, sqrt(8 / (SB_SAFETY * sharpest)));
  /* Between the steps of blocks that step by themselves a curve is drawn, whose bends follow
     the steps: what is looked at in their rhythm seems smooth. */
  L->smooth = !L->winds;
}

/* Whether a signal has bent since the last row by more than it did before: there may be a
   bend, a contact say, which the curvature up to now tells nothing of. */
static int sb_kinked(const sb_log *L, double t, const double *v) {
  if (L->known < 2) return 0;
  double first = 1 / (L->t_last - L->t_before), second = 1 / (t - L->t_last),
         whole = 2 / (t - L->t_before), room = (t - L->t_last) * (t - L->t_last) / 8;
  const double *last = L->last, *before = L->before;
  int out = 0;
  for (long long j = 0; j < L->width; j++) {
    double rate = (v[j] - last[j]) * second - (last[j] - before[j]) * first,
           bend = fabs(rate * whole);
    out |= (bend > 2 * L->curve[j]) & (bend * room > SB_KINK * L->tolerance[j]);
  }
  return out;
}

/* Continue from this row. */
static void sb_looked(sb_log *L, double t, const double *v) {
  if (L->known > 1) sb_bend(L, t, v);
  double *oldest = L->before;
  L->before = L->last;
  L->t_before = L->t_last;
  L->last = oldest;
  memcpy(L->last, v, (size_t)L->width * sizeof(double));
  L->t_last = t;
  if (L->known < 2) L->known++;
}

/* Whether a line between two of three rows may stray from what lies between, be it a parabola
   through all three or two lines that meet in a cusp. */
static int sb_strays(const sb_log *L, const double *before, const double *v, const double *behind) {
  int out = 0;
  for (long long j = 0; j < L->width; j++)
    out |= fabs(before[j] - 2 * v[j] + behind[j]) > SB_BENT * L->tolerance[j];
  return out;
}

/* Whether the curvature up to now leads to expect that a line over dt strays: a look between
   that finds it straight has met it where it crosses the curve. */
static int sb_expected(const sb_log *L, double dt) {
  int out = 0;
  if (L->winds) return 1; /* such a curve may wind in each step */
  if (!L->smooth) return 0;
  for (long long j = 0; j < L->width; j++)
    out |= L->curve[j] * dt * dt > 16 * L->tolerance[j];
  return out;
}

/* Look between two rows a and b, and offer the rows there. */
static int sb_between(struct sb_run *r, sb_log *L, double a, const double *va, double b,
                      const double *vb, int depth, double parent, int stalls) {
  double m = a + SB_SPLIT * (b - a), worst, *x = sb_room(r),
         *room = L->now + (1 + depth * (SB_PARTS + 1)) * L->width;
  if (!(m > a && m < b)) return 1;
  sb_state_at(r, m, x);
  if (!sb_look(r, L, m, x, room)) return 0;
  worst = sb_bulge(L, va, room, vb, SB_SPLIT);
  if (worst > 1 && !L->probed) {
    sb_blurred(r, L, m, x, room);
    sb_range(L, room);
    worst = sb_bulge(L, va, room, vb, SB_SPLIT);
  }
  L->trusted = 0;
  if (depth == 0 && worst <= SB_CUSP && sb_expected(L, b - a)) worst = 1 + 1e-9;
  stalls += worst > 0.5 * parent;
  if (worst <= SB_CUSP || depth == SB_DEPTH || stalls == SB_STALLS || L->budget <= 0) {
    sb_offer(r, L, m, room);
    if (depth == 0) sb_looked(L, m, room);
    return 1;
  }
  /* As many parts as a parabola needs, and more if one of them still strays. */
  int parts = worst < 0.5 * SB_PARTS * SB_PARTS ? (int)ceil(1.3 * sqrt(worst)) : SB_PARTS;
  /* In quarters a cusp loses more than half of its bulge, wherever it is: noise does not. */
  if (parts < (depth ? 4 : 2)) parts = depth ? 4 : 2;
  if (L->winds && depth == 0 && parts < SB_WINDING) parts = SB_WINDING;
  const double *row[SB_PARTS + 1];
  row[0] = va;
  row[parts] = vb;
  for (int k = 1; k < parts; k++) {
    double at = a + (b - a) * k / parts, *v = room + k * L->width;
    sb_state_at(r, at, x);
    if (!sb_look(r, L, at, x, v)) return 0;
    row[k] = v;
  }
  /* The first look lies within this part. If it deviates there, the curve is no parabola. */
  int part = (int)(SB_SPLIT * parts),
      bent = sb_bulge(L, row[part], room, row[part + 1], SB_SPLIT * parts - part) > 1;
  for (int k = 1; k <= parts; k++) {
    double from = a + (b - a) * (k - 1) / parts, to = a + (b - a) * k / parts;
    int strays = (k > 1 && sb_strays(L, row[k - 2], row[k - 1], row[k])) ||
                 (k < parts && sb_strays(L, row[k - 1], row[k], row[k + 1])) ||
                 bent;
    if (strays && !sb_between(r, L, from, row[k - 1], to, row[k], depth + 1, worst, stalls))
      return 0;
    if (k == parts) continue;
    sb_offer(r, L, to, row[k]);
    if (depth == 0) sb_looked(L, to, row[k]);
  }
  return 1;
}

/* Look at where the steps that passed unseen have led, and at each of their ends where a
   signal has bent on the way. */
static int sb_catch_up(struct sb_run *r, sb_log *L) {
  double *v = L->now, *end = L->now + SB_START * L->width;
  long long last = L->passed - 1;
  L->passed = 0;
  if (!sb_look(r, L, L->t_past[last], L->past + last * L->nx, end)) return 0;
  for (long long k = 0; k < last && sb_kinked(L, L->t_past[last], end); k++) {
    if (!sb_look(r, L, L->t_past[k], L->past + k * L->nx, v)) return 0;
    sb_offer(r, L, L->t_past[k], v);
    sb_looked(L, L->t_past[k], v);
  }
  sb_offer(r, L, L->t_past[last], end);
  sb_looked(L, L->t_past[last], end);
  return 1;
}

/* Look at the part of a step up to `until`, which is a hair before a stop. */
static int sb_cover(struct sb_run *r, sb_log *L, double until) {
  double *x = sb_room(r), *v = L->now;
  if (!(until > L->t_last)) return 1;
  if (L->passed && !sb_catch_up(r, L)) return 0;
  L->budget = L->step_rows;
  L->probed = 0;
  while (L->t_last < until) {
    double from = L->t_last, left = until - from,
           parts = L->smooth ? ceil(left / L->stride - 1e-9) : INFINITY,
           most = parts <= SB_TRIPLE ? fmin(L->coarse, L->stride) : L->coarse,
           to = left > most ? from + left / ceil(left / most - 1e-9) : until;
    int marked = L->mark < L->marks && L->marked[L->mark] <= to;
    if (marked) to = L->marked[L->mark++];
    if (!(to > from)) continue;
    sb_state_at(r, to, x);
    if (!sb_look(r, L, to, x, v)) return 0;
    int trust = L->smooth && to - from <= L->stride * (1 + 1e-9) && !sb_kinked(L, to, v) &&
                L->trusted++ < SB_TRUST;
    if (!trust) {
      double *start = L->now + SB_START * L->width;
      memcpy(start, L->last, (size_t)L->width * sizeof(double));
      if (!sb_between(r, L, from, start, to, v, 0, INFINITY, 0)) return 0;
    }
    if (marked) sb_keep(r, L, to, v, 0);
    else sb_offer(r, L, to, v);
    sb_looked(L, to, v);
  }
  if (L->budget <= 0 && !L->crowded++) L->crowded_at = until;
  return 1;
}

/* Whether a step from `start` to `end`, with the state x there, may pass unseen; it is
   remembered. One that is far shorter than the step before has met something. */
static int sb_unseen(sb_log *L, double start, double end, const double *x) {
  double before = L->step;
  L->step = end - start;
  if (L->step < SB_SHORT * before) L->smooth = 0;
  if (!L->smooth || end - L->t_last >= 0.5 * fmin(L->stride, L->coarse) ||
      L->passed == SB_PAST || (L->mark < L->marks && L->marked[L->mark] <= end))
    return 0;
  L->t_past[L->passed] = end;
  memcpy(L->past + L->passed++ * L->nx, x, (size_t)L->nx * sizeof(double));
  return 1;
}

/* Keep the row at a stop, after a crossing, or at the start, and restart the record there.
   tick: only discrete states have changed, and the curvature is much as it was. */
static int sb_anew(struct sb_run *r, sb_log *L, double t, const double *x, int sides, int tick) {
  double *v = L->now;
  if (!sb_look(r, L, t, x, v)) return 0;
  L->passed = 0;
  if (!L->rows) sb_blurred(r, L, t, x, v);
  sb_range(L, v);
  sb_keep(r, L, t, v, sides);
  while (L->mark < L->marks && L->marked[L->mark] <= t) L->mark++;
  L->known = 0;
  if (!tick) L->smooth = 0;
  sb_looked(L, t, v);
  return 1;
}

/* Times of known events are rounded: where signals have jumped only a hair behind one, at
   `late`, that row is kept too. */
static int sb_late(struct sb_run *r, sb_log *L, double late, const double *x) {
  double *v = L->now;
  int jump = 0;
  if (!sb_look(r, L, late, x, v)) return 0;
  for (long long j = 0; j < L->width; j++)
    jump |= fabs(v[j] - L->last[j]) > SB_HAIR * L->tolerance[j];
  if (!jump) return 1;
  sb_keep(r, L, late, v, 0);
  L->known = 0;
  sb_looked(L, late, v);
  return 1;
}
