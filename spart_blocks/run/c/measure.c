/* Measurements of a run while it proceeds: signals as polynomials, panel by panel.

   A panel is a part of a step. The signals are evaluated at its five Gauss-Lobatto nodes,
   through which a polynomial of fourth degree goes; a panel whose highest coefficient is not small
   is halved. Extremes and integrals are those of these polynomials.
   Source: J. P. Boyd, Chebyshev and Fourier Spectral Methods (2nd ed., 2001), sec. 2.12. */

#define SB_NODES 5
#define SB_HALVINGS 5
#define SB_SMOOTH 3e-6 /* largest highest coefficient, relative to a signal's range */
#define SB_STEP_PANELS 1024 /* panels that one step may need without halving */

typedef struct {
  long long width, count, room; /* numbers of the signals, panels present, capacity */
  double coarse;                /* the longest panel [s] */
  double *t;                    /* starts and ends */
  double *y;                    /* values at the nodes, panel by panel */
  double *least, *most;         /* the range of each so far */
} sb_gauge;

static const double SB_NODE[SB_NODES] = {0, 0.1726731646460114, 0.5, 0.8273268353539886, 1};
/* The coefficient of T4 from the values at the nodes. */
static const double SB_FOURTH[SB_NODES] = {0.109375, -0.25520833333333333, 0.29166666666666667,
                                           -0.25520833333333333, 0.109375};

/* The measured values at t from a state x. */
static void sb_measured(struct sb_run *r, double t, const double *x, double *v);

static void sb_panel(struct sb_run *r, sb_gauge *G, double a, double b, int depth) {
  double *y = G->y + G->count * SB_NODES * G->width, *x = sb_room(r);
  int rough = 0, bad = 0;
  for (int n = 0; n < SB_NODES; n++) {
    double t = n == SB_NODES - 1 ? b : a + SB_NODE[n] * (b - a), *v = y + n * G->width;
    sb_state_at(r, t, x);
    sb_measured(r, t, x, v);
    for (long long j = 0; j < G->width; j++) {
      if (!(fabs(v[j]) < INFINITY)) bad = 1;
      if (v[j] < G->least[j]) G->least[j] = v[j];
      if (v[j] > G->most[j]) G->most[j] = v[j];
    }
  }
  if (bad) return; /* the record tells why */
  for (long long j = 0; j < G->width; j++) {
    double fourth = 0, size = fmax(fabs(G->least[j]), fabs(G->most[j]));
    for (int n = 0; n < SB_NODES; n++) fourth += SB_FOURTH[n] * y[n * G->width + j];
    rough |= fabs(fourth) > SB_SMOOTH * (G->most[j] - G->least[j]) + 1e-11 * size + 1e-14;
  }
  if (rough && depth < SB_HALVINGS && G->count < G->room - SB_STEP_PANELS) {
    double m = 0.5 * (a + b);
    if (m > a && m < b) {
      sb_panel(r, G, a, m, depth + 1);
      sb_panel(r, G, m, b, depth + 1);
      return;
    }
  }
  G->t[2 * G->count] = a;
  G->t[2 * G->count + 1] = b;
  G->count++;
}

/* Measure the part of a step from a to b. */
static void sb_measure(struct sb_run *r, sb_gauge *G, double a, double b) {
  if (!(b > a)) return;
  long long count = (long long)ceil((b - a) / G->coarse - 1e-9);
  if (count < 1) count = 1;
  for (long long k = 0; k < count; k++) {
    double from = a + (b - a) * (double)k / (double)count,
           to = k + 1 == count ? b : a + (b - a) * (double)(k + 1) / (double)count;
    sb_panel(r, G, from, to, 0);
  }
}
