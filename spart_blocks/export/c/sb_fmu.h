/* An instance of an FMU: what FMI 2.0 and 3.0, model exchange and co-simulation, share.

   Above stands sb_fmu_model.h, made of the diagram: sizes (SB_NX states, SB_NXD discrete
   states, SB_NP inputs and parameters, SB_NY outputs, SB_CROSSINGS crossings, SB_NC clocks, SB_NE
   sources that switch), tables, and the static functions sb_model_*. All that lasts of an
   instance is in sb_state, which is plain numbers; nothing is global. */

#ifndef SB_FMU_H
#define SB_FMU_H

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The status codes of both versions of FMI. */
enum { SB_OK, SB_WARNING, SB_DISCARD, SB_ERROR, SB_FATAL };

/* Modes, each a bit. */
enum {
  SB_INSTANTIATED = 1,
  SB_INITIALIZING = 2,
  SB_EVENT_MODE = 4,
  SB_CONTINUOUS = 8,
  SB_STEPPING = 16,
  SB_TERMINATED = 32
};

/* An array has room for one entry at least: C knows none of length zero. */
#define SB_ROOM(n) ((n) > 0 ? (n) : 1)

/* All values in one row: time, p, x, dx/dt, xd, y, g. A value reference is a place in it. */
enum {
  SB_AT_P = 1,
  SB_AT_X = SB_AT_P + SB_NP,
  SB_AT_DX = SB_AT_X + SB_NX,
  SB_AT_XD = SB_AT_DX + SB_NX,
  SB_AT_Y = SB_AT_XD + SB_NXD,
  SB_AT_G = SB_AT_Y + SB_NY,
  SB_VALUES = SB_AT_G + SB_CROSSINGS
};

#define SB_TICK_EXACT 9007199254740992LL /* 2^53: up to here quotients are rounded once */
#define SB_LATEST 1e12       /* s, when a run may start: ticks are counted in 64 bits */
#define SB_FINEST 1e-13   /* tolerances lie between these */
#define SB_COARSEST 0.1
#define SB_PROBE 1e-4    /* s, over which a signal's rates are taken */
#define SB_FLIGHT 1e-9   /* s, on its old side, below which a signal rests at zero */
#define SB_HOP 1e-7      /* s, and */
#define SB_RESOLVED 1e-11 /* of the time: such a flight importers do not resolve */
#define SB_TURNED 1e-9   /* of its rate: a reset that leaves less turns a signal back */
#define SB_HARDLY 1e-300 /* as good as zero, with a sign */
#define SB_MOST_EVENTS 10000  /* in one communication step */
#define SB_MOST_SWITCHES 1000 /* of modes at one time */

#if SB_SLIDES
#define SB_SURFACES 2 /* slid along at once */
#define SB_MOST_CONTACTS 16
#define SB_CONTACTS (SB_RESETS < SB_MOST_CONTACTS ? SB_RESETS : SB_MOST_CONTACTS)

/* Where crossing k is zero; along: all crossings that are zero there, k with them. */
typedef struct {
  int32_t k;
  unsigned char along[SB_ROOM(SB_CROSSINGS)];
} sb_surface;

/* The signal of crossing k at rest; jump: what its reset added to the states, of length 1. */
typedef struct {
  int32_t k;
  double jump[SB_ROOM(SB_NX)];
} sb_touch;

/* What the last reset of an EVENT that turned its signal back, and was no mere touch, added to
   the states, and the highest speed that it turned. */
typedef struct {
  double jump[SB_ROOM(SB_NX)], hardest;
} sb_bounce;

/* What holds the states, and what has to be known to begin that. */
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
  int32_t stopped; /* a STOP block asked for the end */
  int32_t changed; /* what derivatives are made of, since the last event */
  double t;
  double passed;         /* events up to here are done */
  double next;           /* the next known one */
  double rtol;           /* of co-simulation's steps, where it chooses their length */
  double h;              /* of the next of them; 0: not known */
  double limit;          /* the longest that the next one may be; 0: none */
  double apex;           /* in model exchange, when an importer has to look; 0: never */
  double p[SB_ROOM(SB_NP)], x[SB_ROOM(SB_NX)], xd[SB_ROOM(SB_NXD)];
  double start[SB_ROOM(SB_NX)]; /* x where the step began, by which limits act */
  double g[SB_ROOM(SB_CROSSINGS)];     /* the crossings when last looked at */
  int32_t staged; /* the last crossing was one of a stage; 2: and at once */
  double quiet[SB_ROOM(SB_CROSSINGS)]; /* in model exchange, until when a signal that a reset has turned
                                   back is on its old side, whatever rounding says, and */
  double landing[SB_ROOM(SB_CROSSINGS)]; /* when it comes back */
  int64_t ticks[SB_ROOM(SB_NC)]; /* the number of each clock's next tick */
  unsigned char hit[SB_ROOM(SB_CROSSINGS)]; /* the crossings since the last event */
#if SB_SLIDES
  sb_holds holds;
#endif
} sb_state;

typedef struct sb_fmu sb_fmu;

struct sb_fmu {
  sb_state s;
  sb_state saved; /* before the communication step */
  int exchange;   /* model exchange; else co-simulation */
  int listening;  /* the importer wants to hear of events too, not of errors alone */
  int fresh;      /* which of the following belong to s, a bit each */
  double x[SB_ROOM(SB_NX)], dx[SB_ROOM(SB_NX)], xd[SB_ROOM(SB_NXD)];
  double y[SB_ROOM(SB_NY)], g[SB_ROOM(SB_CROSSINGS)], g1[SB_ROOM(SB_CROSSINGS)], gs[SB_ROOM(SB_CROSSINGS)];
  double slopes[(SB_STAGES + 1) * SB_ROOM(SB_NX)];
  double xt[SB_ROOM(SB_NX)], xm[SB_ROOM(SB_NX)], xn[SB_ROOM(SB_NX)];
  int crossed; /* the first crossing of a step */
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

/* Tell the importer, if it listens; returns the status. */
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

static int sb_finite(const double *v, int n) {
  double sum = 0;
  for (int i = 0; i < n; i++) sum += v[i] - v[i];
  return sum == 0;
}

static void sb_copy(double *to, const double *from, int n) {
  if (n > 0) memcpy(to, from, (size_t)n * sizeof(double));
}

#endif
