/* A clock, links and a model that do as they are told, around sb_loop.c. The clock moves only
   where the loop sleeps and sends, and where the model computes. */

#define MOST 4096

typedef struct {
  long long now, cpu;               /* ns */
  long long sleeps, outputs, updates, torn, changes;
  long long late[MOST];             /* by sleep: how much later than asked it wakes */
  long long work[MOST], away[MOST]; /* by step: on the processor, and off it */
  long long status[MOST];           /* by step: what the model returns */
  long long heard[MOST];            /* by number of looks: whether a frame has come */
  long long sending[MOST];          /* by number of frames sent: time on the processor */
  long long between[MOST];          /* by sleep: time on the processor */
  long long looks, sent, sent_safe;
  long long stale_from, stale_until; /* ns */
  long long stop_at;                 /* a number of outputs */
  long long done[MOST];              /* by output: the number of updates before it */
  double seen_u[MOST], seen_p[MOST], last_p;
  sb_loop *loop;
  const double *tune;
  long long tune_at; /* a number of outputs */
} sb_rig;

static sb_rig rig;

sb_rig *sb_rig_of(void);
sb_rig *sb_rig_of(void) { return &rig; }
long long sb_rig_size(void);
long long sb_rig_size(void) { return (long long)sizeof rig; }

long long sb_rig_safe_place(void);
long long sb_rig_safe_place(void) { return (long long)offsetof(sb_link, safe); }

static long long sb_now(void) { return rig.now; }
static long long sb_cpu(void) { return rig.cpu; }
static void sb_sleep_until(long long ns) {
  rig.cpu += rig.between[rig.sleeps % MOST];
  rig.now = ns + rig.late[rig.sleeps++ % MOST];
}

int sb_link_receive(sb_link *link, double now, double *u) {
  (void)link;
  (void)now;
  if (!rig.heard[rig.looks++ % MOST]) return 0;
  u[0] = (double)rig.looks;
  return 1;
}

int sb_link_stale(const sb_link *link, double now) {
  long long ns = (long long)(now * 1e9 + 0.5);
  (void)link;
  return ns >= rig.stale_from && ns < rig.stale_until;
}

int sb_link_send(sb_link *link, double now, const double *y) {
  (void)now;
  (void)y;
  link->sequence++;
  rig.now += rig.sending[rig.sent % MOST];
  rig.cpu += rig.sending[rig.sent % MOST];
  rig.sent++;
  return 0;
}

int sb_link_send_safe(sb_link *link, double now) {
  (void)now;
  link->sequence++;
  rig.sent_safe++;
  return 0;
}

int sb_rig_output(void *state, const double *u, const double *p, double *y);
int sb_rig_output(void *state, const double *u, const double *p, double *y) {
  long long k = rig.outputs++ % MOST, i;
  (void)state;
  for (i = 1; i < rig.loop->model.np; i++)
    if (p[i] != p[0]) rig.torn++;
  if (p[0] != rig.last_p) rig.changes++;
  rig.last_p = p[0];
  rig.done[k] = rig.updates;
  rig.seen_u[k] = u[0];
  rig.seen_p[k] = p[0];
  y[0] = (double)(rig.outputs - 1);
  rig.now += rig.work[k] + rig.away[k];
  rig.cpu += rig.work[k];
  if (rig.outputs == rig.stop_at) rig.loop->stop = 1;
  if (rig.outputs == rig.tune_at) sb_loop_tune(rig.loop, rig.tune);
  return (int)rig.status[k];
}

int sb_rig_update(void *state, const double *u, const double *p);
int sb_rig_update(void *state, const double *u, const double *p) {
  (void)state;
  (void)u;
  (void)p;
  rig.updates++;
  return 0;
}
