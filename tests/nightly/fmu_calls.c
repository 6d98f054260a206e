/* Random calls of FMI 3.0 in random order with random arguments, on one FMU: it must neither
   crash nor hang, whatever they are. TOKEN is its instantiation token. */

#include <stdlib.h>

#include "sb_fmu3.c"

enum { CALLS = 300, ROOM = 64 };

static uint64_t seed = 88172645463325252ULL;

/* G. Marsaglia's xorshift, Journal of Statistical Software 8 (2003). */
static unsigned drawn(unsigned below) {
  seed ^= seed << 13;
  seed ^= seed >> 7;
  seed ^= seed << 17;
  return (unsigned)(seed % below);
}

static double number(void) {
  static const double some[] = {0,    1,   -1,       0.25, 0.1,  1e-9, 1e300,
                                -1e300, NAN, INFINITY, 0.01, 0.3, 2,    1e-3};
  return some[drawn(14)];
}

typedef struct {
  fmi3Instance m;
  fmi3FMUState states[2];
  double t, v[ROOM + SB_VALUES];
  fmi3ValueReference references[8];
} caller;

static void step(caller *c) {
  bool a, b, e;
  double reached, h = drawn(5) ? 0.01 * drawn(20) : fmin(number(), 10);
  if (fmi3DoStep(c->m, c->t, h, true, &a, &b, &e, &reached) == fmi3OK) c->t = reached;
}

/* A saved state as bytes, a few of them changed, and back. */
static void as_bytes(caller *c) {
  static fmi3Byte bytes[sizeof(sb_saved)];
  unsigned i = drawn(2);
  size_t n;
  if (fmi3SerializedFMUStateSize(c->m, c->states[i], &n) != fmi3OK) return;
  fmi3SerializeFMUState(c->m, c->states[i], bytes, n);
  if (drawn(2))
    for (int k = 0; k < 5; k++) bytes[drawn((unsigned)n)] = (fmi3Byte)drawn(256);
  fmi3DeserializeFMUState(c->m, bytes, n, &c->states[1 - i]);
}

static void call(caller *c) {
  bool a, b, d, e, f;
  double next;
  size_t n = drawn(4), values = drawn(6);
  for (int i = 0; i < 8; i++) c->references[i] = drawn(SB_VALUES + 3);
  for (int i = 0; i < ROOM; i++) c->v[i] = number();
  switch (drawn(21)) {
    case 0: fmi3GetFloat64(c->m, c->references, n, c->v, values); break;
    case 1: fmi3SetFloat64(c->m, c->references, n, c->v, values); break;
    case 2: case 3: case 4: step(c); break;
    case 5: fmi3UpdateDiscreteStates(c->m, &a, &b, &d, &e, &f, &next); break;
    case 6: fmi3EnterContinuousTimeMode(c->m); break;
    case 7: fmi3EnterEventMode(c->m); break;
    case 8: fmi3SetTime(c->m, c->t = drawn(6) ? c->t + 0.05 : number()); break;
    case 9: fmi3SetContinuousStates(c->m, c->v, drawn(5) ? SB_NX : values); break;
    case 10: fmi3CompletedIntegratorStep(c->m, true, &a, &b); break;
    case 11: fmi3GetEventIndicators(c->m, c->v, drawn(5) ? SB_NG : values); break;
    case 12: fmi3GetContinuousStateDerivatives(c->m, c->v, drawn(5) ? SB_NX : values); break;
    case 13: fmi3GetFMUState(c->m, &c->states[drawn(2)]); break;
    case 14: fmi3SetFMUState(c->m, c->states[drawn(2)]); break;
    case 15: fmi3FreeFMUState(c->m, &c->states[drawn(2)]); break;
    case 16: as_bytes(c); break;
    case 17:
      fmi3GetDirectionalDerivative(c->m, c->references, n, c->references + 4, drawn(4), c->v,
                                   values, c->v + 8, drawn(6));
      break;
    case 18:
      fmi3GetAdjointDerivative(c->m, c->references, n, c->references + 4, drawn(4), c->v, values,
                               c->v + 8, drawn(6));
      break;
    case 19:
      if (drawn(8) == 0) fmi3Reset(c->m);
      break;
    default:
      fmi3EnterInitializationMode(c->m, false, 0, c->t = drawn(2) ? 0 : number(), false, 0);
      fmi3ExitInitializationMode(c->m);
  }
}

int main(int argc, char **argv) {
  long runs = argc > 1 ? atol(argv[1]) : 10;
  for (long run = 0; run < runs; run++) {
    caller c = {0};
    c.m = drawn(2) ? fmi3InstantiateModelExchange("m", TOKEN, NULL, false, true, NULL, NULL)
                   : fmi3InstantiateCoSimulation("m", TOKEN, NULL, false, true, false, false,
                                                 NULL, 0, NULL, NULL, NULL);
    for (int k = 0; k < CALLS; k++) call(&c);
    fmi3FreeFMUState(c.m, &c.states[0]);
    fmi3FreeFMUState(c.m, &c.states[1]);
    fmi3FreeInstance(c.m);
  }
  return 0;
}
