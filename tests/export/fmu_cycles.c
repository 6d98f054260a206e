/* Two FMUs linked into one program, each instantiated, run and freed again and again.
   Prints the resident memory in pages after a tenth of the cycles, and after all. */

#include <stdio.h>
#include <stdlib.h>

#include "sb_fmi3.h"

#define DECLARE(prefix)                                                                        \
  fmi3Instance prefix##fmi3InstantiateCoSimulation(                                             \
      fmi3String, fmi3String, fmi3String, fmi3Boolean, fmi3Boolean, fmi3Boolean, fmi3Boolean,   \
      const fmi3ValueReference[], size_t, fmi3InstanceEnvironment, fmi3LogMessageCallback,      \
      fmi3IntermediateUpdateCallback);                                                          \
  fmi3Instance prefix##fmi3InstantiateModelExchange(fmi3String, fmi3String, fmi3String,         \
                                                    fmi3Boolean, fmi3Boolean,                   \
                                                    fmi3InstanceEnvironment,                    \
                                                    fmi3LogMessageCallback);                    \
  fmi3Status prefix##fmi3EnterInitializationMode(fmi3Instance, fmi3Boolean, fmi3Float64,        \
                                                 fmi3Float64, fmi3Boolean, fmi3Float64);        \
  fmi3Status prefix##fmi3ExitInitializationMode(fmi3Instance);                                  \
  fmi3Status prefix##fmi3UpdateDiscreteStates(fmi3Instance, fmi3Boolean *, fmi3Boolean *,       \
                                              fmi3Boolean *, fmi3Boolean *, fmi3Boolean *,      \
                                              fmi3Float64 *);                                   \
  fmi3Status prefix##fmi3GetFMUState(fmi3Instance, fmi3FMUState *);                             \
  fmi3Status prefix##fmi3SetFMUState(fmi3Instance, fmi3FMUState);                               \
  fmi3Status prefix##fmi3FreeFMUState(fmi3Instance, fmi3FMUState *);                            \
  fmi3Status prefix##fmi3SerializedFMUStateSize(fmi3Instance, fmi3FMUState, size_t *);          \
  fmi3Status prefix##fmi3SerializeFMUState(fmi3Instance, fmi3FMUState, fmi3Byte[], size_t);     \
  fmi3Status prefix##fmi3DeserializeFMUState(fmi3Instance, const fmi3Byte[], size_t,            \
                                             fmi3FMUState *);                                   \
  fmi3Status prefix##fmi3DoStep(fmi3Instance, fmi3Float64, fmi3Float64, fmi3Boolean,            \
                                fmi3Boolean *, fmi3Boolean *, fmi3Boolean *, fmi3Float64 *);    \
  fmi3Status prefix##fmi3Terminate(fmi3Instance);                                               \
  void prefix##fmi3FreeInstance(fmi3Instance);

DECLARE(one_)
DECLARE(two_)

static void check(int status) {
  if (status == 0) return;
  fprintf(stderr, "status %d\n", status);
  exit(1);
}

#define CYCLE(prefix, token)                                                                   \
  static void prefix##cycle(void) {                                                            \
    fmi3Boolean a, b, c, d, e;                                                                 \
    fmi3Float64 t;                                                                             \
    fmi3FMUState state = NULL, again = NULL;                                                   \
    fmi3Byte bytes[20000];                                                                     \
    size_t size;                                                                               \
    fmi3Instance m = prefix##fmi3InstantiateCoSimulation("m", token, NULL, false, false, false, \
                                                         false, NULL, 0, NULL, NULL, NULL);    \
    if (!m) exit(2);                                                                           \
    check(prefix##fmi3EnterInitializationMode(m, false, 0, 0, false, 0));                      \
    check(prefix##fmi3ExitInitializationMode(m));                                              \
    check(prefix##fmi3DoStep(m, 0, 0.01, true, &a, &b, &c, &t));                               \
    check(prefix##fmi3GetFMUState(m, &state));                                                 \
    check(prefix##fmi3SerializedFMUStateSize(m, state, &size));                                \
    check(prefix##fmi3SerializeFMUState(m, state, bytes, size));                               \
    check(prefix##fmi3DeserializeFMUState(m, bytes, size, &again));                            \
    check(prefix##fmi3SetFMUState(m, again));                                                  \
    check(prefix##fmi3DoStep(m, 0.01, 0.01, true, &a, &b, &c, &t));                            \
    check(prefix##fmi3FreeFMUState(m, &state));                                                \
    check(prefix##fmi3FreeFMUState(m, &again));                                                \
    check(prefix##fmi3Terminate(m));                                                           \
    prefix##fmi3FreeInstance(m);                                                               \
    if (prefix##fmi3InstantiateCoSimulation("m", "another", NULL, false, false, false, false,  \
                                            NULL, 0, NULL, NULL, NULL))                        \
      exit(3);                                                                                 \
    m = prefix##fmi3InstantiateModelExchange("m", token, NULL, false, false, NULL, NULL);      \
    check(prefix##fmi3EnterInitializationMode(m, false, 0, 0, false, 0));                      \
    check(prefix##fmi3ExitInitializationMode(m));                                              \
    check(prefix##fmi3UpdateDiscreteStates(m, &a, &b, &c, &d, &e, &t));                        \
    prefix##fmi3FreeInstance(m); /* in the middle of it */                                     \
  }

CYCLE(one_, ONE_TOKEN)
CYCLE(two_, TWO_TOKEN)

static long resident(void) {
  long pages = 0;
  FILE *file = fopen("/proc/self/statm", "r");
  if (!file || fscanf(file, "%*d %ld", &pages) != 1) exit(4);
  fclose(file);
  return pages;
}

int main(int argc, char **argv) {
  long cycles = argc > 1 ? atol(argv[1]) : 10, early = resident(); /* which takes some itself */
  for (long i = 0; i < cycles; i++) {
    one_cycle();
    two_cycle();
    if (i == cycles / 10) early = resident();
  }
  printf("%ld %ld\n", early, resident());
  return 0;
}
