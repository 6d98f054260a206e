/* A loop that steps a model at absolute deadlines, and counts met and missed deadlines.

   In each period it waits for the deadline, receives, applies new parameters, computes the
   outputs, sends them, and updates the state. It allocates no memory and takes no lock. Its
   system calls are those of clocks, sleep and links.

   Times are nanoseconds of CLOCK_MONOTONIC. All state is in the caller's sb_loop, whose arrays
   also belong to the caller. */

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
  void (*init)(void *state, const double *p); /* NULL: it is not started anew */
} sb_model;

/* A histogram of durations. Bins are 1 ns wide up to 64 ns; beyond, there are 64 per octave, for
   a resolution of 1.6 %. Bin b >= 64 begins at (64 + b % 64) << (b / 64 - 1) ns. */
#define SB_BINS 2304
typedef struct {
  long long count, max;
  long long bins[SB_BINS];
} sb_histogram;

/* The policy if a step has not ended at the next deadline. */
enum {
  SB_SKIP,     /* the deadlines that have passed are skipped */
  SB_CATCH_UP, /* the missed steps are computed at once, one after another */
  SB_STOP      /* the loop ends */
};

/* Why a deadline was missed. */
enum {
  SB_BY_STEP,      /* the step used the processor for longer than a period */
  SB_BY_LINKS,     /* only with receiving and sending did it */
  SB_BY_WAKE_UP,   /* the machine woke the loop too late for it */
  SB_BY_INTERRUPT, /* the machine preempted the loop in the step */
  SB_CAUSES
};

enum { SB_WAITING, SB_RUNNING, SB_ENDED };

/* Why the loop ended. */
enum {
  SB_NOT_ENDED,
  SB_DONE,          /* all its periods have ended */
  SB_ASKED,         /* `stop` was set */
  SB_OVERRUN,       /* a deadline was missed, and the policy is to stop */
  SB_MODEL_STOPPED, /* a STOP block ended it */
  SB_NOT_FINITE,    /* a result was not a number */
  SB_TRIPPED,       /* the watchdog has sent the safe outputs */
  SB_UNHEARD,       /* no frame was received over a link while it waited */
  SB_FAULTED        /* a block reported a fault */
};

/* Memory shared with a watchdog in another process, which reads it and writes `tripped`.
   sequences: of the next frame of each output link. */
#define SB_MOST_WATCHED 64
typedef struct {
  long long at_ns, phase, tripped;
  long long sequences[SB_MOST_WATCHED];
} sb_heartbeat;

/* A ring of rows (t, u, y, tick, tuning): the loop's time, inputs and outputs at a step, the number
   of its deadline, and that of the parameters it used, 0 for the first ones. The loop writes, one
   other thread reads. */
typedef struct {
  double *data; /* `rows` rows; may be 0 */
  long long rows;
  long long streaming, tail; /* set by the other thread: whether rows are written; number read */
  long long head, dropped;   /* number of rows written so far, and of those without room */
} sb_ring;

typedef struct {
  /* The caller fills these in before sb_loop_run. */
  sb_model model;
  long long nin, nout;
  sb_link *const *in;
  sb_link *const *out;
  long long *heard; /* nin, zeros: whether a frame was received */
  double *u;        /* nu: the inputs at the start */
  double *y;        /* ny: sent while the loop waits, over links without safe values */
  double *tuned[3]; /* np + nu each, all equal: parameters, and inputs */
  long long nfree;
  const long long *free_inputs; /* nfree: the inputs not received over links; `tuned` sets them */
  sb_ring watched, recorded;
  long long policy, ticks; /* number of periods; -1: endless */
  long long wait;          /* whether it waits for a frame over each link: as long as it would
                              run, and at least SB_PATIENCE */
  sb_heartbeat *heartbeat; /* or NULL */

  /* Other threads may set these while it runs. */
  long long stop;
  long long held;   /* it computes no steps, and sends its safe outputs */
  long long anew;   /* its next step begins at the initial state; the loop sets it back */

  /* Zeros at the start; other threads may read them. */
  long long phase, ended;
  long long tick, steps, skipped; /* deadlines so far; steps computed, skipped */
  long long stale;                /* steps with stale inputs */
  long long missed[SB_CAUSES];    /* deadlines */
  long long begun_ns, ended_ns, cpu_ns;

  /* Internal to the loop, and to the exchange of parameters. */
  long long cause, front, middle, back; /* the last three are 0, 1 and 2 at the start */
  long long tuning, tunings[3];         /* number of the newest parameters, and of the three */

  sb_histogram latency;  /* deadline to wake-up, if it slept */
  sb_histogram shorter;  /* by how much a period was shorter than nominal */
  sb_histogram longer;   /* by how much it was longer */
  sb_histogram step;     /* output and update */
  sb_histogram response; /* deadline to when the outputs are sent */
} sb_loop;

/* Requests to the system for the calling thread (priority 0, lock 0: none), and errno if it
   refused them. */
typedef struct {
  long long priority, lock;
  long long priority_error, lock_error;
} sb_means;

/* Prepare the calling thread: set SCHED_FIFO, lock memory, touch the stack, make timers exact,
   leave signals to other threads. */
void sb_loop_prepare(sb_means *means);

/* Unlock the memory that sb_loop_prepare locked. */
void sb_loop_release(const sb_means *means);

/* Run until it ends, and return the reason. The safe outputs have been sent by then. */
int sb_loop_run(sb_loop *l);

/* Give the loop new parameters and inputs (np + nu numbers), which it applies together before a
   step. Never waits. Returns their number. One thread at a time. */
long long sb_loop_tune(sb_loop *l, const double *values);

/* Copy up to `most` rows out of a ring of the loop. Returns their number. One thread at a time. */
long long sb_loop_drain(const sb_loop *l, sb_ring *ring, double *rows, long long most);

#ifdef __cplusplus
}
#endif

#endif
