/* An instance of an FMU: the code shared by FMI 2.0 and 3.0, model exchange and co-simulation.

   sb_fmu_model.h, generated from the diagram, is included before: sizes (SB_NX states, SB_NXD
   discrete states, SB_NP inputs and parameters, SB_NY outputs, SB_CROSSINGS crossings, SB_NC
   clocks, SB_NE sources that switch), tables, and the static functions sb_model_*. The state of an
   instance is in sb_state, which contains only numbers. There are no global variables. */

#ifndef SB_FMU_H
#define SB_FMU_H

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The status codes of both versions of FMI. */
enum { SB_OK, SB_WARNING, SB_DISCARD, SB_ERROR, SB_FATAL };

/* Modes, one bit each. */
enum {
  SB_INSTANTIATED = 1,
  SB_INITIALIZING = 2,
  SB_EVENT_MODE = 4,
  SB_CONTINUOUS = 8,
  SB_STEPPING = 16,
  SB_TERMINATED = 32
};

/* An array has at least one entry, since C has no arrays of length zero. */
#define SB_ROOM(n) ((n) > 0 ? (n) : 1)

/* All values in one row: time, p, x, dx/dt, xd, y, g. A value reference is an index into it. */
enum {
  SB_AT_P = 1,
  SB_AT_X = SB_AT_P + SB_NP,
  SB_AT_DX = SB_AT_X + SB_NX,
  SB_AT_XD = SB_AT_DX + SB_NX,
  SB_AT_Y = SB_AT_XD + SB_NXD,
  SB_AT_G = SB_AT_Y + SB_NY,
  SB_VALUES = SB_AT_G + SB_CROSSINGS
};

#define SB_TICK_EXACT 9007199254740992LL /* 2^53: up to this quotients are rounded only once */
#define SB_LATEST 1e12       /* s, latest start of a run: ticks are counted in 64 bits */
#define SB_FINEST 1e-13   /* limits of tolerances */
#define SB_COARSEST 0.1
#define SB_HOP 1e-7      /* s, flight that importers do not resolve, */
#define SB_RESOLVED 1e-11 /* and the same as a fraction of the time */
#define SB_HARDLY 1e-300 /* nearly zero, with a sign */
#define SB_MOST_EVENTS 10000  /* in one communication step */

#if SB_SLIDES
/* The surface on which crossing k is zero. along: all crossings that are zero there, with k. */
typedef struct {
  int32_t k;
  unsigned char along[SB_ROOM(SB_CROSSINGS)];
} sb_surface;

/* The signal of crossing k at rest. jump: change of the states by its reset, of length 1. */
typedef struct {
  int32_t k;
  double jump[SB_ROOM(SB_NX)];
} sb_touch;

/* The change of the states by the last reset of an EVENT that turned its signal back and was not
   merely a touch, and the highest speed that it turned back. */
typedef struct {
  double jump[SB_ROOM(SB_NX)], hardest;
} sb_bounce;

/* The surfaces and contacts that hold the states, and the data needed to detect new ones. */
typedef struct {
  int32_t surfaces, contacts, met;
  double recent[3]; /* the times of the last crossings, of which there are `met` */
  sb_surface surface[SB_SURFACES];
  sb_touch contact[SB_ROOM(SB_CONTACTS)];
  sb_bounce bounce[SB_ROOM(SB_RESETS)];
} sb_holds;
#endif

typedef struct {
  int32_t mode;
  int32_t begun;   /* the first events are done */
  int32_t stopped; /* a STOP block ended the run */
  int32_t changed; /* the derivatives changed since the last event */
  double t;
  double passed;         /* events up to this time are done */
  double next;           /* time of the next known event */
  double rtol;           /* of co-simulation's steps with error control */
  double h;              /* length of the next of them; 0: not known */
  double limit;          /* largest length of the next one */
  double apex;           /* in model exchange, time that an importer must not step over; 0: none */
  double p[SB_ROOM(SB_NP)], x[SB_ROOM(SB_NX)], xd[SB_ROOM(SB_NXD)];
  double start[SB_ROOM(SB_NX)]; /* x at the start of the step, by which limits act */
  double g[SB_ROOM(SB_CROSSINGS)];     /* the crossings at the last check */
  int32_t staged; /* the last crossing was in a stage; 2: and at once */
  double quiet[SB_ROOM(SB_CROSSINGS)]; /* in model exchange, until when a signal that a reset has turned
                                   back is on its old side, whatever rounding says, and */
  double landing[SB_ROOM(SB_CROSSINGS)]; /* when it comes back */
  double bounced[SB_ROOM(SB_CROSSINGS)]; /* when a reset last turned a signal back */
  int64_t ticks[SB_ROOM(SB_NC)]; /* the number of each clock's next tick */
  unsigned char hit[SB_ROOM(SB_CROSSINGS)]; /* the crossings since the last event */
#if SB_SLIDES
  sb_holds holds;
#endif
} sb_state;

typedef struct sb_fmu sb_fmu;

struct sb_fmu {
  sb_state s;
  sb_state saved; /* the state before the communication step */
  int exchange;   /* model exchange; else co-simulation */
  int listening;  /* events are logged too, not only errors */
  int fresh;      /* which of the following values are those of s, one bit each */
  double x[SB_ROOM(SB_NX)], dx[SB_ROOM(SB_NX)], xd[SB_ROOM(SB_NXD)];
  double y[SB_ROOM(SB_NY)], g[SB_ROOM(SB_CROSSINGS)], g1[SB_ROOM(SB_CROSSINGS)], gs[SB_ROOM(SB_CROSSINGS)];
  double slopes[(SB_STAGES_IN_ALL + 1) * SB_ROOM(SB_NX)];
#if SB_IS_IMPLICIT
  double J[SB_ENTRIES(m) + SB_NX], lu[SB_ENTRIES(m)], row[SB_NX];
#endif
  double xt[SB_ROOM(SB_NX)], xm[SB_ROOM(SB_NX)], xn[SB_ROOM(SB_NX)];
  int crossed; /* the first crossing of a step */
  double gap; /* of a step that is repeated to end before a bend */
  double end; /* of the present integration */
  int sloped; /* whether the first of the slopes is the one at s.x, */
  int made;   /* and whether those of dense output alone are known */
  int status, crossings; /* of the present events or integration */
  unsigned char errs[SB_ROOM(SB_CROSSINGS)]; /* signals that go on in place of a reset (sb_errs) */
  double moved[SB_ROOM(SB_NX + SB_NXD)];
  double seed[SB_VALUES], sensitivity[SB_VALUES];
#if SB_SLIDES
  double normals[SB_ROOM(SB_CROSSINGS) * SB_ROOM(SB_NX)];
#endif
  void *environment;
  void (*logger)(void);
  void (*send)(const sb_fmu *m, int status, const char *message);
  char *name;
};

enum { SB_FRESH_DX = 1, SB_FRESH_XD = 2, SB_FRESH_Y = 4, SB_FRESH_G = 8 };

/* Log a message to the importer, if it wants it. Returns the status. */
static int sb_log(const sb_fmu *m, int status, const char *format, ...) {
  char text[512];
  va_list arguments;
  if (!m->logger || (status == SB_OK && !m->listening)) return status;
  va_start(arguments, format);
  vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  m->send(m, status, text);
  return status;
}

/* Whether a function may be called in the present mode. */
static int sb_allowed(const sb_fmu *m, int modes, const char *function) {
  if (m->s.mode & modes) return 1;
  sb_log(m, SB_ERROR, "%s is not allowed in the mode in which this instance is", function);
  return 0;
}

static void sb_copy(double *to, const double *from, int n) {
  if (n > 0) memcpy(to, from, (size_t)n * sizeof(double));
}

#endif
