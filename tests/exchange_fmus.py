"""An FMU for model exchange, written by hand in C after the FMI 2.0.4 and 3.0.1
specifications: a state x' = k u + mode with everything that can happen to one. It refuses
calls in a mode of its own that does not allow them, and times before its last event.
"""

from __future__ import annotations

import re
import zipfile
from functools import cache

import fmpy
from fmpy.fmi2 import FMU2Model
from fmpy.fmi3 import FMU3Model

from spart_blocks.program.c.compiler import shared_library

TOKEN = "{exchange}"

C = r"""
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <stdint.h>

enum { START, INIT, EVENT, TIME };
typedef struct {
    double k, level, every, ask_at, end_at, most, fail_at, u, x, t, last, seen, first;
    int kind, mode, ticks, resets, asks, steps, wanted, status;
} model;

static double get(const model *m, unsigned v) {
    switch (v) {
    case 0: return m->k;      case 8: return m->x;       case 9: return m->k * m->u + m->mode;
    case 10: return m->seen;  case 11: return m->ticks;  case 12: return m->resets;
    case 13: return m->asks;  case 14: return m->steps;  case 15: return m->k * m->u;
    }
    return 0;
}

static int set(model *m, unsigned v, double value) {
    if (m->kind == TIME && v != 6) return 3;
    switch (v) {
    case 0: m->k = value; break;       case 1: m->level = value; break;
    case 2: m->every = value; break;   case 3: m->ask_at = value; break;
    case 4: m->end_at = value; break;  case 5: m->most = value; break;
    case 6: m->u = value; break;       case 7: m->mode = (int)value; break;
    case 8: m->x = value; break;       case 16: m->fail_at = value; break;
    case 17: m->status = (int)value; break;
    default: return 3;
    }
    return 0;
}

static model *made(void) {
    model *m = calloc(1, sizeof *m);
    m->k = 1; m->status = 3;
    m->level = m->ask_at = m->end_at = m->most = m->fail_at = 1e9;
    return m;
}

static int update(model *m, bool *moved, bool *end, bool *known, double *next) {
    if (m->kind != EVENT) return 3;
    *moved = m->x > m->level;
    if (*moved) { m->x -= m->level; m->resets += 1; }
    while (m->every > 0 && m->t >= m->first + (m->ticks + 1) * m->every) m->ticks += 1;
    if (m->wanted) { m->asks += 1; m->wanted = 0; }
    m->seen = m->u;
    m->last = m->t;
    *end = m->t >= m->end_at;
    *known = m->every > 0;
    *next = m->first + (m->ticks + 1) * m->every;
    return 0;
}

static int rates(const model *m, double *out) {
    if (m->t > m->fail_at) return m->status;
    if (m->x > m->most) return 2;
    out[0] = get(m, 9);
    return 0;
}

static int completed(model *m, bool *event, bool *end) {
    if (m->kind != TIME) return 3;
    m->steps += 1;
    *end = m->t >= m->end_at;
    *event = m->wanted = m->t >= m->ask_at && !m->asks;
    return 0;
}

static int put_time(model *m, double t) { m->t = t; return t < m->last || m->kind != TIME ? 3 : 0; }
static int put_x(model *m, const double *x) { m->x = x[0]; return m->kind != TIME ? 3 : 0; }
static int go(model *m, int kind) { m->kind = kind; return 0; }

#define EACH for (size_t i = 0; i < n; i++)
#define ENTRY(NAME) FMINAME(NAME)
#if FMI == 2
#define FMINAME(NAME) fmi2##NAME
typedef struct { int again, end, nominals, values, known; double next; } info;
const char *fmi2GetVersion(void) { return "2.0"; }
const char *fmi2GetTypesPlatform(void) { return "default"; }
void *fmi2Instantiate(void) { return made(); }
int fmi2SetupExperiment(model *m, int a, double b, double start, int d, double e) {
    (void)a; (void)b; (void)d; (void)e; m->t = m->last = m->first = start; return 0; }
int fmi2EnterInitializationMode(model *m) { return go(m, INIT); }
int fmi2SetDebugLogging(model *m, int a, size_t n, void *k) {
    (void)m; (void)a; (void)n; (void)k; return 0; }
int fmi2NewDiscreteStates(model *m, info *found) {
    bool moved, end, known;
    int status = update(m, &moved, &end, &known, &found->next);
    found->again = found->values = moved; found->end = end; found->known = known;
    found->nominals = 0;
    return status;
}
int fmi2CompletedIntegratorStep(model *m, int none, int *event, int *end) {
    bool asked = false, ended = false; int status = completed(m, &asked, &ended);
    (void)none; *event = asked; *end = ended; return status; }
int fmi2GetDerivatives(model *m, double *out, size_t n) { (void)n; return rates(m, out); }
#define ACCESS(NAME, TYPE) \
    int fmi2Get##NAME(void *c, const unsigned *v, size_t n, TYPE *y) { \
        EACH y[i] = (TYPE)get(c, v[i]); return 0; } \
    int fmi2Set##NAME(void *c, const unsigned *v, size_t n, const TYPE *y) { \
        int bad = 0; EACH bad |= set(c, v[i], y[i]); return bad; }
ACCESS(Real, double) ACCESS(Integer, int)
#else
#define FMINAME(NAME) fmi3##NAME
const char *fmi3GetVersion(void) { return "3.0"; }
void *fmi3InstantiateModelExchange(void) { return made(); }
int fmi3EnterInitializationMode(model *m, bool a, double b, double start, bool d, double e) {
    (void)a; (void)b; (void)d; (void)e; m->t = m->last = m->first = start; return go(m, INIT); }
int fmi3UpdateDiscreteStates(model *m, bool *again, bool *end, bool *nominals, bool *values,
                             bool *known, double *next) {
    int status = update(m, values, end, known, next);
    *again = *values; *nominals = false; return status; }
int fmi3CompletedIntegratorStep(model *m, bool none, bool *event, bool *end) {
    (void)none; return completed(m, event, end); }
int fmi3GetContinuousStateDerivatives(model *m, double *out, size_t n) {
    (void)n; return rates(m, out); }
int fmi3GetNumberOfContinuousStates(model *m, size_t *n) { (void)m; *n = 1; return 0; }
int fmi3GetNumberOfEventIndicators(model *m, size_t *n) { (void)m; *n = 1; return 0; }
#define ACCESS(NAME, TYPE) \
    int fmi3Get##NAME(void *c, const unsigned *v, size_t n, TYPE *y, size_t ny) { \
        EACH y[i] = (TYPE)get(c, v[i]); return n == ny ? 0 : 3; } \
    int fmi3Set##NAME(void *c, const unsigned *v, size_t n, const TYPE *y, size_t ny) { \
        int bad = n != ny; EACH bad |= set(c, v[i], y[i]); return bad; }
ACCESS(Float64, double) ACCESS(Int32, int32_t)
#endif
void ENTRY(FreeInstance)(void *c) { free(c); }
int ENTRY(ExitInitializationMode)(model *m) { return go(m, EVENT); }
int ENTRY(Terminate)(model *m) { (void)m; return 0; }
int ENTRY(EnterEventMode)(model *m) { return m->kind == TIME ? go(m, EVENT) : 3; }
int ENTRY(EnterContinuousTimeMode)(model *m) { return m->kind == EVENT ? go(m, TIME) : 3; }
int ENTRY(SetTime)(model *m, double t) { return put_time(m, t); }
int ENTRY(SetContinuousStates)(model *m, const double *x, size_t n) {
    (void)n; return put_x(m, x); }
int ENTRY(GetContinuousStates)(model *m, double *x, size_t n) { (void)n; x[0] = m->x; return 0; }
int ENTRY(GetEventIndicators)(model *m, double *z, size_t n) {
    (void)n; z[0] = m->x - m->level; return 0; }
"""

# name, reference, type, causality, variability
VARIABLES = (
    *((name, v, "Real", "parameter", "fixed") for v, name in enumerate(
        ("level", "every", "ask_at", "end_at", "most"), 1)),
    ("k", 0, "Real", "parameter", "tunable"),
    ("fail_at", 16, "Real", "parameter", "fixed"),
    ("status", 17, "Integer", "parameter", "fixed"),
    ("u", 6, "Real", "input", "continuous"),
    ("mode", 7, "Integer", "input", "discrete"),
    ("x", 8, "Real", "output", "continuous"),
    ("der(x)", 9, "Real", "local", "continuous"),
    ("seen", 10, "Real", "output", "discrete"),
    ("ticks", 11, "Integer", "output", "discrete"),
    ("resets", 12, "Integer", "output", "discrete"),
    ("asks", 13, "Integer", "output", "discrete"),
    ("steps", 14, "Integer", "local", "discrete"),
    ("direct", 15, "Real", "local", "continuous"),
)  # fmt: skip
STARTS = {"k": 1, "level": 1e9, "ask_at": 1e9, "end_at": 1e9, "most": 1e9, "fail_at": 1e9}


def description(version, told="true"):
    """The description of one version; told: whether it is to be told of steps."""
    if version == 2:
        return _description_2("false" if told == "true" else "true")
    names = {"Real": "Float64", "Integer": "Int32"}
    variables = "".join(
        f'<{names[of]} name="{name}" valueReference="{v}" causality="{causality}" '
        f'variability="{variability}"{_start(name, causality)}'
        f"{' derivative=' + chr(34) + '8' + chr(34) if v == 9 else ''}/>"
        for name, v, of, causality, variability in VARIABLES
    )
    outputs = "".join(
        f'<Output valueReference="{v}" dependencies=""/>'
        for _, v, _, causality, _ in VARIABLES
        if causality == "output"
    )
    return (
        '<?xml version="1.0" encoding="UTF-8"?>'
        f'<fmiModelDescription fmiVersion="3.0" modelName="All" instantiationToken="{TOKEN}">'
        f'<ModelExchange modelIdentifier="all" needsCompletedIntegratorStep="{told}"/>'
        '<ModelVariables><Float64 name="time" valueReference="99" causality="independent"/>'
        f'<Float64 name="z" valueReference="98" causality="local"/>{variables}</ModelVariables>'
        f'<ModelStructure>{outputs}<ContinuousStateDerivative valueReference="9"/>'
        '<EventIndicator valueReference="98"/></ModelStructure></fmiModelDescription>'
    )


def _start(name, causality):
    return f' start="{STARTS.get(name, 0)}"' if causality in ("parameter", "input") else ""


def _description_2(untold):
    places = {v: k for k, (_, v, *_) in enumerate(VARIABLES, 1)}
    variables = "".join(
        f'<ScalarVariable name="{name}" valueReference="{v}" causality="{causality}" '
        f'variability="{variability}"><{of}{_start(name, causality)}'
        f"{' derivative=' + chr(34) + str(places[8]) + chr(34) if v == 9 else ''}/>"
        "</ScalarVariable>"
        for name, v, of, causality, variability in VARIABLES
    )
    outputs = "".join(
        f'<Unknown index="{places[v]}" dependencies=""/>'
        for _, v, _, causality, _ in VARIABLES
        if causality == "output"
    )
    return (
        '<?xml version="1.0" encoding="UTF-8"?>'
        f'<fmiModelDescription fmiVersion="2.0" modelName="All" guid="{TOKEN}" '
        'numberOfEventIndicators="1">'
        f'<ModelExchange modelIdentifier="all" completedIntegratorStepNotNeeded="{untold}"/>'
        f"<ModelVariables>{variables}</ModelVariables><ModelStructure>"
        f"<Outputs>{outputs}</Outputs>"
        f'<Derivatives><Unknown index="{places[9]}"/></Derivatives>'
        "</ModelStructure></fmiModelDescription>"
    )


@cache
def library(version):
    """It as a shared library of one version of FMI."""
    kind = FMU2Model if version == 2 else FMU3Model
    demanded = {name for name in dir(kind) if re.match(r"fmi[23]", name)}
    kinds = ("Float64", "Int32") if version == 3 else ("Real", "Integer")
    there = set(re.findall(r"fmi[23]\w+", C)) | {
        f"fmi{version}{name}" for name in re.findall(r"ENTRY\((\w+)\)", C)
    }
    there |= {f"fmi{version}{way}{of}" for way in ("Get", "Set") for of in kinds}
    stubs = "\n".join(f"int {name}(void) {{ return 3; }}" for name in sorted(demanded - there))
    path = shared_library(f"#define FMI {version}\n{C}\n{stubs}")
    assert path is not None, "a C compiler makes the FMUs of these tests"
    return path.read_bytes()


def write_fmu(path, version=2, told="true"):
    """Write it as an FMU; returns its path."""
    folder = fmpy.platform if version == 2 else fmpy.platform_tuple
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("modelDescription.xml", description(version, told))
        archive.writestr(f"binaries/{folder}/all{fmpy.sharedLibraryExtension}", library(version))
    return path
