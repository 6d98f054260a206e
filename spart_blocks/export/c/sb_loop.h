/* A loop that steps a model at absolute deadlines, and counts what becomes of them.

   In each period it waits for the deadline, receives, takes new parameters, computes the
   outputs, sends them, and updates the state. It allocates nothing and takes no lock; its
   system calls are those of clocks, sleep and sockets.

   Times are nanoseconds of CLOCK_MONOTONIC. All that lasts is in the caller's sb_loop, whose
   arrays are the caller's too. */

#ifndef SB_LOOP_H
#define SB_LOOP_H

#include "sb_link.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The model, over flat arrays of doubles: nu inputs, ny outputs, np parameters. Status of its
   functions: 0 ok, 1 stopped (a STOP block), 2 not finite. */
typedef struct {
  long long nu, ny, np;
  double period_s;
  void *state;
  int (*output)(void *state, const double *u, const double *p, double *y);
  int (*update)(void *state, const double *u, const double *p);
} sb_model;

/* Durations, counted in bins that are 1 ns wide up to 64 ns and then 64 to an octave: a
   value is known to 1.6 %. Bin b >= 64 begins at (64 + b % 64) << (b / 64 - 1) ns. */
#define SB_BINS 2304
typedef struct {
  long long count, max;
  long long bins[SB_BINS];
} sb_histogram;

/* What is done where a step has not ended at the next deadline. */
enum {
  SB_SKIP,     /* the deadlines that have passed are left out */
  SB_CATCH_UP, /* the missed steps are done at once, one after another */
  SB_STOP      /* the loop ends */
};

/* Why a deadline was missed. */
enum {
  SB_BY_STEP,      /* the step used the processor for longer than a period */
  SB_BY_WAKE_UP,   /* the machine woke the loop too late for it */
  SB_BY_INTERRUPT, /* the machine took the processor away within the step */
  SB_CAUSES
};

enum { SB_WAITING, SB_RUNNING, SB_ENDED };

/* Why the loop ended. */
enum {
  SB_NOT_ENDED,
  SB_DONE,          /* all its periods are over */
  SB_ASKED,         /* `stop` was set */
  SB_OVERRUN,       /* a deadline was missed, and the policy is to stop */
  SB_MODEL_STOPPED, /* a STOP block asked for it */
  SB_NOT_FINITE,    /* a result was not a number */
  SB_TRIPPED,       /* the watchdog has sent the safe outputs */
  SB_UNHEARD,       /* no frame has come over a link while it waited */
  SB_LOST_RANK      /* the loops of a mechanism have lost rank */
};

/* What a watchdog in another process reads, and `tripped`, which it writes: memory that
   both have. sequences: of the next frame of each output link. */
#define SB_MOST_WATCHED 64
typedef struct {
  long long at_ns, phase, tripped;
  long long sequences[SB_MOST_WATCHED];
} sb_heartbeat;

typedef struct {
  /* The caller fills these in before sb_loop_run. */
  sb_model model;
  long long nin, nout;
  sb_link *const *in;
  sb_link *const *out;
  long long *heard; /* nin, zeros: whether a frame has come */
  double *u;        /* nu: the inputs at the start */
  double *y;        /* ny: what is sent while the loop waits, over links without safe values */
  double *tuned[3]; /* np + nu each, all alike: parameters, and inputs */
  long long nfree;
  const long long *free_inputs; /* nfree: the inputs that no link brings; `tuned` sets them */
  double *ring; /* rows of (t, u, y), `rows` of them; none where rows is 0 */
  long long rows;
  long long policy, ticks; /* how many periods, or -1: for ever */
  long long wait;          /* whether it waits until a frame has come over each link: as long
                              as it would run, and SB_PATIENCE at least */
  sb_heartbeat *heartbeat; /* or NULL */

  /* Other threads may set these while it runs. */
  long long stop;
  long long streaming; /* whether rows are written */
  long long ring_tail; /* rows that were read, ever */

  /* Zeros at the start; other threads may read them. */
  long long ring_head, dropped; /* rows that were written, and that found no room, ever */
  long long phase, ended;
  long long tick, steps, skipped; /* deadlines that have come; steps done, left out */
  long long stale;                /* steps whose inputs were too old */
  long long missed[SB_CAUSES];    /* deadlines */
  long long begun_ns, ended_ns, cpu_ns;

  /* Of the loop, and of the exchange of parameters. */
  long long cause, front, middle, back; /* the last three are 0, 1 and 2 at the start */

  sb_histogram latency;  /* deadline to wake-up, where it slept */
  sb_histogram shorter;  /* how much shorter a period was than it should be */
  sb_histogram longer;   /* and how much longer */
  sb_histogram step;     /* output and update */
  sb_histogram response; /* deadline to when the outputs are sent */
} sb_loop;

/* What is asked of the system for the calling thread (priority 0, lock 0: not asked), and
   errno where it was refused. */
typedef struct {
  long long priority, lock;
  long long priority_error, lock_error;
} sb_means;

/* Prepare the calling thread: SCHED_FIFO, memory locked, stack touched, timers exact, signals
   left to other threads. */
void sb_loop_prepare(sb_means *means);

/* Unlock the memory that sb_loop_prepare locked. */
void sb_loop_release(const sb_means *means);

/* Run until it ends, and return why. The safe outputs have been sent then. */
int sb_loop_run(sb_loop *l);

/* Give the loop new parameters and inputs (np + nu numbers), which it takes together before
   a step. Never waits. One thread at a time. */
void sb_loop_tune(sb_loop *l, const double *values);

/* Copy up to `most` rows out of the ring; returns how many. One thread at a time. */
long long sb_loop_drain(sb_loop *l, double *rows, long long most);

#ifdef __cplusplus
}
#endif

#endif
