/* After sb_loop and the rig: every policy, cause, end and exchange once, for sanitizers. */

static double u[1], y[1], tuned[3][3], ring[4][5], out[8][5];
static long long heard[1], free_inputs[1];
static sb_link link_of;
static sb_link *links[1] = {&link_of};
static sb_heartbeat heartbeat;

static void run_once(long long policy, long long late, long long work, long long status) {
  static sb_loop loop;
  static const sb_loop empty;
  static const sb_rig fresh;
  static const double more[3] = {1.0, 2.0, 3.0};
  int k;
  loop = empty;
  rig = fresh;
  rig.loop = &loop;
  loop.model.nu = loop.model.ny = 1;
  loop.model.np = 2;
  loop.model.period_s = 1e-3;
  loop.model.output = sb_rig_output;
  loop.model.update = sb_rig_update;
  loop.u = u;
  loop.y = y;
  loop.heard = heard;
  for (k = 0; k < 3; k++) loop.tuned[k] = tuned[k];
  loop.middle = 1;
  loop.back = 2;
  loop.nfree = 1;
  loop.free_inputs = free_inputs;
  loop.watched.data = ring[0];
  loop.watched.rows = 4;
  loop.watched.streaming = 1;
  loop.policy = policy;
  loop.ticks = 20;
  loop.wait = policy == SB_SKIP;
  loop.nin = loop.nout = 1;
  loop.in = loop.out = links;
  link_of.safe = more;
  loop.heartbeat = &heartbeat;
  rig.heard[3] = 1;
  rig.late[5] = late;
  rig.work[7] = work;
  rig.status[11] = status;
  rig.tune = more;
  rig.tune_at = 2;
  sb_loop_run(&loop);
  while (sb_loop_drain(&loop, &loop.watched, out[0], 3)) continue;
}

int main(void) {
  static const long long times[] = {0, 300000, 5000000, 4000000000000LL};
  long long policy, status;
  size_t a, b;
  sigset_t blocked;
  sb_means means = {1, 1, 0, 0};
  for (policy = SB_SKIP; policy <= SB_STOP; policy++)
    for (status = 0; status < 3; status++)
      for (a = 0; a < 4; a++)
        for (b = 0; b < 4; b++)
          if (policy == SB_SKIP || (a < 3 && b < 3)) run_once(policy, times[a], times[b], status);
  sb_loop_prepare(&means);
  sb_loop_release(&means);
  /* What asks it to end goes to other threads; its own mistakes stay its own. */
  pthread_sigmask(SIG_BLOCK, NULL, &blocked);
  if (!sigismember(&blocked, SIGINT) || !sigismember(&blocked, SIGTERM)) return 1;
  if (sigismember(&blocked, SIGSEGV) || sigismember(&blocked, SIGFPE)) return 2;
  return 0;
}
