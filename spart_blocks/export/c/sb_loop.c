/* See sb_loop.h. */

#ifndef _POSIX_C_SOURCE
#define _POSIX_C_SOURCE 200809L
#endif

#include "sb_loop.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#ifdef __linux__
#include <sys/prctl.h>
#endif

#define SB_SECOND 1000000000LL
#define SB_SLICE 50000000LL /* ns: longest sleep before it checks whether to end */
#define SB_PATIENCE 10.0    /* s: shortest time that it waits for first frames */
#define SB_LAST_WORDS 3     /* times that safe outputs are sent at the end: packets may be lost */
#define SB_STACK 65536

#ifndef SB_OWN_CLOCKS /* a test defines its own */
static long long sb_read(clockid_t clock) {
  struct timespec t;
  clock_gettime(clock, &t);
  return (long long)t.tv_sec * SB_SECOND + t.tv_nsec;
}

static long long sb_now(void) { return sb_read(CLOCK_MONOTONIC); }

static long long sb_cpu(void) { return sb_read(CLOCK_THREAD_CPUTIME_ID); }

static void sb_sleep_until(long long ns) {
  struct timespec t;
  t.tv_sec = (time_t)(ns / SB_SECOND);
  t.tv_nsec = (long)(ns % SB_SECOND);
  clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL); /* EINTR: the caller checks again */
}
#endif

static double sb_seconds(long long ns) { return (double)ns / (double)SB_SECOND; }

/* --- the thread ------------------------------------------------------------------------- */

static void sb_touch_stack(void) {
  volatile char room[SB_STACK];
  size_t k;
  for (k = 0; k < sizeof room; k += 1024) room[k] = 0;
  (void)room[0];
}

/* Leave signals to other threads, except those of its own faults: a handler may have safe outputs
   to send. */
static void sb_leave_signals(void) {
  static const int own[] = {SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGSEGV};
  sigset_t others;
  size_t k;
  sigfillset(&others);
  for (k = 0; k < sizeof own / sizeof *own; k++) sigdelset(&others, own[k]);
  pthread_sigmask(SIG_BLOCK, &others, NULL);
}

void sb_loop_prepare(sb_means *means) {
  struct sched_param parameters;
  sb_leave_signals();
  sb_touch_stack();
#ifdef __linux__
  prctl(PR_SET_TIMERSLACK, 1UL, 0UL, 0UL, 0UL);
#endif
  /* The memory that the loop needs is mapped by now; pages mapped later need no lock. */
  if (means->lock) means->lock_error = mlockall(MCL_CURRENT) ? errno : 0;
  if (means->priority > 0) {
    memset(&parameters, 0, sizeof parameters);
    parameters.sched_priority = (int)means->priority;
    means->priority_error = sched_setscheduler(0, SCHED_FIFO, &parameters) ? errno : 0;
  }
}

void sb_loop_release(const sb_means *means) {
  if (means->lock && !means->lock_error) munlockall();
}

/* --- durations --------------------------------------------------------------------------- */

static void sb_count(sb_histogram *h, long long ns) {
  long long value = ns < 0 ? 0 : ns, octave = 0, bin;
  while (value >> octave >= 128) octave++;
  bin = 64 * octave + (value >> octave);
  h->bins[bin < SB_BINS ? bin : SB_BINS - 1]++;
  h->count++;
  if (value > h->max) h->max = value;
}

/* --- parameters and signals --------------------------------------------------------------

   A triple buffer: the loop reads `front`, the other thread writes `back`, and both exchange
   `middle`, which is marked SB_FRESH if the loop has not read it yet. Neither thread ever waits,
   and neither sees partly written data. */

#define SB_FRESH 4

long long sb_loop_tune(sb_loop *l, const double *values) {
  size_t size = (size_t)(l->model.np + l->model.nu) * sizeof(double);
  memcpy(l->tuned[l->back], values, size);
  l->tunings[l->back] = ++l->tuning;
  l->back = __atomic_exchange_n(&l->middle, l->back | SB_FRESH, __ATOMIC_ACQ_REL) & ~SB_FRESH;
  return l->tuning;
}

static void sb_take_tuned(sb_loop *l) {
  long long k;
  if (!(__atomic_load_n(&l->middle, __ATOMIC_RELAXED) & SB_FRESH)) return;
  l->front = __atomic_exchange_n(&l->middle, l->front, __ATOMIC_ACQ_REL) & ~SB_FRESH;
  for (k = 0; k < l->nfree; k++) {
    long long place = l->free_inputs[k];
    l->u[place] = l->tuned[l->front][l->model.np + place];
  }
}

static long long sb_row(const sb_loop *l) { return 1 + l->model.nu + l->model.ny + 2; }

static void sb_stream(const sb_loop *l, sb_ring *ring) {
  long long head = ring->head, nu = l->model.nu, ny = l->model.ny;
  double *row;
  if (!ring->rows || !__atomic_load_n(&ring->streaming, __ATOMIC_RELAXED)) return;
  if (head - __atomic_load_n(&ring->tail, __ATOMIC_ACQUIRE) >= ring->rows) {
    ring->dropped++;
    return;
  }
  row = ring->data + (head % ring->rows) * sb_row(l);
  row[0] = (double)l->steps * l->model.period_s;
  memcpy(row + 1, l->u, (size_t)nu * sizeof(double));
  memcpy(row + 1 + nu, l->y, (size_t)ny * sizeof(double));
  row[1 + nu + ny] = (double)l->tick;
  row[2 + nu + ny] = (double)l->tunings[l->front];
  __atomic_store_n(&ring->head, head + 1, __ATOMIC_RELEASE);
}

long long sb_loop_drain(const sb_loop *l, sb_ring *ring, double *rows, long long most) {
  long long tail = ring->tail, k;
  long long there = __atomic_load_n(&ring->head, __ATOMIC_ACQUIRE) - tail;
  long long count = there < most ? there : most, width = sb_row(l);
  for (k = 0; k < count; k++)
    memcpy(rows + k * width, ring->data + ((tail + k) % ring->rows) * width,
        (size_t)width * sizeof(double));
  __atomic_store_n(&ring->tail, tail + count, __ATOMIC_RELEASE);
  return count;
}

/* --- links ------------------------------------------------------------------------------- */

static void sb_receive(sb_loop *l, double now) {
  long long k;
  for (k = 0; k < l->nin; k++)
    if (sb_link_receive(l->in[k], now, l->u)) l->heard[k] = 1;
}

static int sb_all_heard(const sb_loop *l) {
  long long k;
  for (k = 0; k < l->nin && l->heard[k]; k++) continue;
  return k == l->nin;
}

static int sb_any_stale(const sb_loop *l, double now) {
  long long k;
  for (k = 0; k < l->nin && !sb_link_stale(l->in[k], now); k++) continue;
  return k < l->nin;
}

/* Send the outputs, or the link's safe values if `safe` is set and it has them. time: of the run
   [s]. */
static void sb_send(sb_loop *l, int safe, double now, double time) {
  long long k;
  for (k = 0; k < l->nout; k++) {
    sb_link *link = l->out[k];
    if (link->run_clock) link->epoch = time - now;
    if (safe && link->safe)
      sb_link_send_safe(link, now);
    else
      sb_link_send(link, now, l->y);
    if (l->heartbeat && k < SB_MOST_WATCHED)
      __atomic_store_n(&l->heartbeat->sequences[k], (long long)link->sequence, __ATOMIC_RELEASE);
  }
}

/* At the end: only safe values. */
static void sb_send_last_words(sb_loop *l) {
  long long k, words;
  for (words = 0; words < SB_LAST_WORDS; words++)
    for (k = 0; k < l->nout; k++)
      if (l->out[k]->safe) sb_link_send_safe(l->out[k], sb_seconds(sb_now()));
}

/* --- time -------------------------------------------------------------------------------- */

static long long sb_deadline(const sb_loop *l, long long tick) {
  return l->begun_ns + (long long)((double)tick * l->model.period_s * (double)SB_SECOND + 0.5);
}

static void sb_beat(sb_loop *l, long long now) {
  if (l->heartbeat) __atomic_store_n(&l->heartbeat->at_ns, now, __ATOMIC_RELEASE);
}

static void sb_enter(sb_loop *l, long long phase) {
  __atomic_store_n(&l->phase, phase, __ATOMIC_RELEASE);
  if (l->heartbeat) __atomic_store_n(&l->heartbeat->phase, phase, __ATOMIC_RELEASE);
}

/* Whether another thread or the watchdog has ended it. */
static int sb_called_off(sb_loop *l) {
  if (__atomic_load_n(&l->stop, __ATOMIC_RELAXED)) l->ended = SB_ASKED;
  if (l->heartbeat && __atomic_load_n(&l->heartbeat->tripped, __ATOMIC_ACQUIRE))
    l->ended = SB_TRIPPED;
  return l->ended != SB_NOT_ENDED;
}

/* Wait until a time, unless the loop is ended. Returns whether it had to wait. */
static int sb_wait(sb_loop *l, long long due, long long *now) {
  int slept = 0;
  while (!sb_called_off(l) && (*now = sb_now()) < due) {
    sb_beat(l, *now);
    sb_sleep_until(due - *now > SB_SLICE ? *now + SB_SLICE : due);
    slept = 1;
  }
  return slept;
}

/* --- steps ------------------------------------------------------------------------------- */

static void sb_take_status(sb_loop *l, int status) {
  static const int why[] = {SB_NOT_ENDED, SB_MODEL_STOPPED, SB_NOT_FINITE, SB_FAULTED};
  if (status) l->ended = why[status];
}

/* Step of the deadline `due`, begun `now`. Returns the duration of output and update. */
static long long sb_step(sb_loop *l, long long due, long long now) {
  long long ready, computed, sent, done, own;
  const double *p;
  int stale;
  sb_take_tuned(l);
  p = l->tuned[l->front];
  sb_receive(l, sb_seconds(now));
  if (__atomic_exchange_n(&l->anew, 0, __ATOMIC_ACQ_REL) && l->model.init)
    l->model.init(l->model.state, p);
  if (__atomic_load_n(&l->held, __ATOMIC_ACQUIRE)) {
    sb_send(l, 1, sb_seconds(now), (double)l->tick * l->model.period_s);
    return 0;
  }
  stale = sb_any_stale(l, sb_seconds(now));
  l->stale += stale;
  ready = sb_now();
  sb_take_status(l, l->model.output(l->model.state, l->u, p, l->y));
  computed = sb_now();
  if (l->ended == SB_NOT_FINITE) return computed - ready;
  sb_send(l, stale || l->ended, sb_seconds(computed), (double)l->tick * l->model.period_s);
  sent = sb_now();
  sb_stream(l, &l->watched);
  sb_stream(l, &l->recorded);
  done = sb_now();
  if (!l->ended) sb_take_status(l, l->model.update(l->model.state, l->u, p));
  own = computed - ready + (sb_now() - done);
  sb_count(&l->step, own);
  sb_count(&l->response, sent - due);
  l->steps++;
  return own;
}

/* Whether the deadline after this step was missed, and the cause. own: duration of its output and
   update. begun: processor time when it began; how much it used is read only after a miss. slept:
   whether the step began with a wake-up; if not, it follows a missed deadline, and its own miss has
   the same cause.

   The step is the cause only if clock and processor time agree: in a virtual machine, processor
   time also runs while the host runs other processes. All that passed outside of output and update
   is put down to the links, since system calls and interrupts are charged to the thread too. */
static int sb_missed(sb_loop *l, long long now, long long woke, long long own, long long begun,
    int slept) {
  long long next = sb_deadline(l, l->tick + 1), cpu, links = now - woke - own;
  double period = l->model.period_s * (double)SB_SECOND;
  if (now <= next) {
    l->cause = SB_CAUSES;
    return 0;
  }
  cpu = sb_cpu() - begun;
  if ((double)cpu > period && now - woke - cpu > cpu)
    l->cause = SB_BY_INTERRUPT; /* off the processor for the greater part */
  else if ((double)own > period && (double)(cpu - links) > period)
    l->cause = SB_BY_STEP;
  else if ((double)cpu > period)
    l->cause = SB_BY_LINKS;
  else if (slept || l->cause == SB_CAUSES)
    l->cause = woke + cpu > next ? SB_BY_WAKE_UP : SB_BY_INTERRUPT;
  l->missed[l->cause]++;
  return 1;
}

/* The next deadline after a missed one. */
static void sb_follow_policy(sb_loop *l, long long now) {
  if (l->policy == SB_STOP) l->ended = SB_OVERRUN;
  if (l->policy != SB_SKIP) return;
  while (sb_deadline(l, l->tick) < now && l->tick != l->ticks) {
    l->tick++;
    l->skipped++;
  }
}

/* Send in every period, until a frame was received over each link. */
static void sb_await(sb_loop *l) {
  long long now = sb_now(), tick = 0, least = (long long)(SB_PATIENCE / l->model.period_s);
  l->begun_ns = now;
  for (;;) {
    sb_receive(l, sb_seconds(now));
    if (sb_all_heard(l)) break;
    sb_send(l, 1, sb_seconds(now), 0.0);
    while (sb_deadline(l, tick) <= now) tick++;
    sb_wait(l, sb_deadline(l, tick), &now);
    if (!l->ended && l->ticks >= 0 && tick > l->ticks && tick > least) l->ended = SB_UNHEARD;
    if (l->ended) break;
  }
}

static void sb_count_wake_up(sb_loop *l, long long due, long long now, long long before) {
  long long longer = now - before - (long long)(l->model.period_s * (double)SB_SECOND + 0.5);
  sb_count(&l->latency, now - due);
  if (before) sb_count(longer < 0 ? &l->shorter : &l->longer, longer < 0 ? -longer : longer);
}

static void sb_run_steps(sb_loop *l) {
  long long woke = 0, before = 0;
  l->begun_ns = sb_now();
  for (;;) {
    long long due = sb_deadline(l, l->tick), now, own, cpu;
    int slept = sb_wait(l, due, &woke);
    if (!l->ended && l->tick == l->ticks) l->ended = SB_DONE;
    if (l->ended) return;
    if (slept) sb_count_wake_up(l, due, woke, before);
    cpu = sb_cpu();
    own = sb_step(l, due, woke);
    now = sb_now();
    sb_beat(l, now);
    if (l->ended) return;
    before = sb_missed(l, now, woke, own, cpu, slept) ? 0 : woke;
    l->tick++;
    if (!before) sb_follow_policy(l, now);
  }
}

int sb_loop_run(sb_loop *l) {
  l->ended = SB_NOT_ENDED;
  l->cause = SB_CAUSES;
  sb_beat(l, sb_now());
  sb_enter(l, SB_WAITING);
  if (l->wait && l->nin) sb_await(l);
  sb_enter(l, SB_RUNNING);
  l->cpu_ns = sb_cpu();
  if (!l->ended) sb_run_steps(l);
  sb_send_last_words(l);
  l->ended_ns = sb_now();
  l->cpu_ns = sb_cpu() - l->cpu_ns;
  sb_enter(l, SB_ENDED);
  return (int)l->ended;
}

