"""FMUs for tests, written by hand in C after the FMI 2.0.4 and 3.0.1 specifications: a
first-order lag x' = (k u - x) / tau, stepped exactly, with a port of every kind."""

from __future__ import annotations

import re
import zipfile
from functools import cache

import fmpy
from fmpy.fmi2 import FMU2Slave
from fmpy.fmi3 import FMU3Slave

from spart_blocks.program.c.compiler import shared_library

TOKEN = "{a-token}"

C = r"""
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

typedef void (*logger2)(void *, const char *, int, const char *, const char *, ...);
typedef void (*logger3)(void *, int, const char *, const char *);
typedef struct { logger2 log; void *allocate, *release, *finished; void *environment; } callbacks;
typedef struct {
    double k, tau, fail_at, end_at, u, on, mode, x, t, steps; char label[40];
    callbacks calls; logger3 log; void *environment;
} model;

static double get(const model *m, unsigned v) {
    switch (v) {
    case 0: return m->k;      case 1: return m->tau;  case 2: return m->fail_at;
    case 3: return m->u;      case 4: return m->x;    case 5: return m->x;
    case 6: return 2 * m->x;  case 7: return m->mode; case 8: return m->on;
    case 9: return 2 * m->mode; case 10: return !m->on; case 11: return m->steps;
    case 14: return m->end_at;
    }
    return (double)strlen(m->label);
}

static int set(model *m, unsigned v, double value) {
    switch (v) {
    case 0: m->k = value; break;    case 1: m->tau = value; break;
    case 2: m->fail_at = value; break; case 3: m->u = value; break;
    case 4: m->x = value; break;    case 7: m->mode = value; break;
    case 8: m->on = value; break;   case 14: m->end_at = value; break;
    default: return 3;
    }
    return 0;
}

static void init(model *m) { m->k = 1; m->tau = 0.5; m->fail_at = m->end_at = 1e9; m->on = 1; }

static int step(model *m, double t, double h) {
    double u = m->on ? m->k * m->u : 0;
    if (fabs(t - m->t) > 1e-9) return 3; /* it must be asked to go on from where it is */
    if (t + h / 2 > m->fail_at) return 2;
    if (t + h > m->end_at) h = m->end_at - t;
    m->x = u + (m->x - u) * exp(-h / m->tau);
    m->t = t + h;
    m->steps += 1;
    return 0;
}

#define EACH for (size_t i = 0; i < n; i++)
#if FMI == 2
const char *fmi2GetVersion(void) { return "2.0"; }
const char *fmi2GetTypesPlatform(void) { return "default"; }
void *fmi2Instantiate(const char *name, int kind, const char *guid, const char *where,
                      const callbacks *calls, int visible, int logging) {
    model *m = calloc(1, sizeof *m);
    (void)kind; (void)where; (void)visible; (void)logging;
    if (strcmp(guid, TOKEN)) {
        calls->log(calls->environment, name, 3, "error", "the guid is %s", guid);
        return NULL;
    }
    m->calls = *calls; init(m);
    return m;
}
void fmi2FreeInstance(void *c) { free(c); }
int fmi2SetupExperiment(void *c, int a, double b, double start, int d, double e) {
    (void)a; (void)b; (void)d; (void)e; ((model *)c)->t = start; return 0; }
int fmi2EnterInitializationMode(void *c) { return ((model *)c)->tau > 0 ? 0 : 3; }
int fmi2ExitInitializationMode(void *c) { (void)c; return 0; }
int fmi2Terminate(void *c) { (void)c; return 0; }
int fmi2Reset(void *c) { (void)c; return 3; }
int fmi2SetDebugLogging(void *c, int a, size_t n, const char *const *k) {
    (void)c; (void)a; (void)n; (void)k; return 0; }
#define ACCESS(NAME, TYPE) \
    int fmi2Get##NAME(void *c, const unsigned *v, size_t n, TYPE *y) { \
        EACH y[i] = (TYPE)get(c, v[i]); return 0; } \
    int fmi2Set##NAME(void *c, const unsigned *v, size_t n, const TYPE *y) { \
        int bad = 0; EACH bad |= set(c, v[i], y[i]); return bad; }
ACCESS(Real, double) ACCESS(Integer, int) ACCESS(Boolean, int)
int fmi2SetString(void *c, const unsigned *v, size_t n, const char *const *y) {
    (void)v; EACH strncpy(((model *)c)->label, y[i], 39); return 0; }
int fmi2DoStep(void *c, double t, double h, int flag) {
    model *m = c; int status = step(m, t, h); (void)flag;
    if (status) m->calls.log(m->calls.environment, "lag", status, "error", "no step at %g s", t);
    return m->t >= m->end_at ? 2 : status;
}
int fmi2GetBooleanStatus(void *c, int kind, int *value) {
    *value = kind == 3 && ((model *)c)->t >= ((model *)c)->end_at; return 0; }
int fmi2GetRealStatus(void *c, int kind, double *value) {
    *value = ((model *)c)->t; return kind == 2 ? 0 : 3; }
#else
const char *fmi3GetVersion(void) { return "3.0"; }
void *fmi3InstantiateCoSimulation(const char *name, const char *token, const char *where,
        bool visible, bool logging, bool events, bool early, const unsigned *refs, size_t n,
        void *environment, logger3 log, void *update) {
    model *m = calloc(1, sizeof *m);
    (void)name; (void)where; (void)visible; (void)logging; (void)events; (void)early;
    (void)refs; (void)n; (void)update;
    if (strcmp(token, TOKEN)) { log(environment, 3, "error", "the token is wrong"); return NULL; }
    m->environment = environment; m->log = log; init(m);
    return m;
}
void fmi3FreeInstance(void *c) { free(c); }
int fmi3EnterInitializationMode(void *c, bool a, double b, double start, bool d, double e) {
    (void)a; (void)b; (void)d; (void)e; ((model *)c)->t = start;
    return ((model *)c)->tau > 0 ? 0 : 3; }
int fmi3ExitInitializationMode(void *c) { (void)c; return 0; }
int fmi3Terminate(void *c) { (void)c; return 0; }
#define ACCESS(NAME, TYPE) \
    int fmi3Get##NAME(void *c, const unsigned *v, size_t n, TYPE *y, size_t ny) { \
        size_t k = 0; EACH { y[k++] = (TYPE)get(c, v[i]); \
            if (v[i] == 5) y[k++] = (TYPE)get(c, 6); } return k == ny ? 0 : 3; } \
    int fmi3Set##NAME(void *c, const unsigned *v, size_t n, const TYPE *y, size_t ny) { \
        int bad = n != ny; EACH bad |= set(c, v[i], y[i]); return bad; }
ACCESS(Float64, double) ACCESS(Int32, int) ACCESS(UInt8, unsigned char) ACCESS(Boolean, bool)
int fmi3SetString(void *c, const unsigned *v, size_t n, const char *const *y, size_t ny) {
    (void)v; (void)ny; EACH strncpy(((model *)c)->label, y[i], 39); return 0; }
int fmi3DoStep(void *c, double t, double h, bool flag, bool *event, bool *end, bool *early,
               double *reached) {
    model *m = c; int status = step(m, t, h); (void)flag;
    *event = *early = false; *end = m->t >= m->end_at; *reached = m->t;
    if (status) m->log(m->environment, status, "error", "no step now");
    return status;
}
#endif
"""


def functions(version):
    """All that FMPy looks for in a library: FMI demands them, used or not."""
    slave = FMU2Slave if version == 2 else FMU3Slave
    return [name for name in dir(slave) if re.match(r"fmi[23]", name)]


HEAD2 = f"""<?xml version="1.0" encoding="UTF-8"?>
<fmiModelDescription fmiVersion="2.0" modelName="Lag" guid="{TOKEN}"
  variableNamingConvention="structured">
<CoSimulation modelIdentifier="lag" canHandleVariableCommunicationStepSize="true"/>
<UnitDefinitions><Unit name="V"/></UnitDefinitions>
"""
XML2 = (
    HEAD2
    + """<ModelVariables>
<ScalarVariable name="k" valueReference="0" causality="parameter" variability="tunable">
  <Real start="1"/></ScalarVariable>
<ScalarVariable name="tau" valueReference="1" causality="parameter" variability="fixed">
  <Real start="0.5"/></ScalarVariable>
<ScalarVariable name="fail_at" valueReference="2" causality="parameter" variability="fixed">
  <Real start="1e9"/></ScalarVariable>
<ScalarVariable name="u" valueReference="3" causality="input"><Real start="0" unit="V"/>
  </ScalarVariable>
<ScalarVariable name="y" valueReference="4" causality="output" initial="exact">
  <Real start="0"/></ScalarVariable>
<ScalarVariable name="motor.q[1]" valueReference="5" causality="output"><Real/></ScalarVariable>
<ScalarVariable name="motor.q[2]" valueReference="6" causality="output"><Real/></ScalarVariable>
<ScalarVariable name="mode" valueReference="7" causality="input" variability="discrete">
  <Integer start="0"/></ScalarVariable>
<ScalarVariable name="on" valueReference="8" causality="input" variability="discrete">
  <Boolean start="true"/></ScalarVariable>
<ScalarVariable name="n" valueReference="9" causality="output" variability="discrete">
  <Integer/></ScalarVariable>
<ScalarVariable name="off" valueReference="10" causality="output" variability="discrete">
  <Boolean/></ScalarVariable>
<ScalarVariable name="steps" valueReference="11" causality="local" variability="discrete">
  <Integer/></ScalarVariable>
<ScalarVariable name="label" valueReference="12" causality="parameter" variability="fixed">
  <String start=""/></ScalarVariable>
<ScalarVariable name="length" valueReference="13" causality="local"><Real/></ScalarVariable>
<ScalarVariable name="end_at" valueReference="14" causality="parameter" variability="fixed">
  <Real start="1e9"/></ScalarVariable>
</ModelVariables>
<ModelStructure><Outputs><Unknown index="5"/><Unknown index="6"/><Unknown index="7"/>
<Unknown index="10"/><Unknown index="11"/></Outputs></ModelStructure>
</fmiModelDescription>
"""
)
HEAD3 = f"""<?xml version="1.0" encoding="UTF-8"?>
<fmiModelDescription fmiVersion="3.0" modelName="Lag" instantiationToken="{TOKEN}">
<CoSimulation modelIdentifier="lag" canHandleVariableCommunicationStepSize="true"/>
<UnitDefinitions><Unit name="V"/></UnitDefinitions>
"""
TIME3 = '<Float64 name="time" valueReference="99" causality="independent"/>'
XML3 = (
    HEAD3
    + f"""<ModelVariables>{TIME3}
<Float64 name="k" valueReference="0" causality="parameter" variability="tunable" start="1"/>
<Float64 name="tau" valueReference="1" causality="parameter" variability="fixed" start="0.5"/>
<Float64 name="fail_at" valueReference="2" causality="parameter" variability="fixed" start="1e9"/>
<Float64 name="u" valueReference="3" causality="input" start="0" unit="V"/>
<Float64 name="y" valueReference="4" causality="output" initial="exact" start="0"/>
<Float64 name="motor.q" valueReference="5" causality="output"><Dimension start="2"/></Float64>
<UInt8 name="mode" valueReference="7" causality="input" variability="discrete" start="0"/>
<Boolean name="on" valueReference="8" causality="input" variability="discrete" start="true"/>
<Int32 name="n" valueReference="9" causality="output" variability="discrete"/>
<Boolean name="off" valueReference="10" causality="output" variability="discrete"/>
<Int32 name="steps" valueReference="11" causality="local" variability="discrete"/>
<String name="label" valueReference="12" causality="parameter" variability="fixed">
  <Start value=""/></String>
<Float64 name="length" valueReference="13" causality="local"/>
<Float64 name="end_at" valueReference="14" causality="parameter" variability="fixed" start="1e9"/>
</ModelVariables>
<ModelStructure><Output valueReference="4"/><Output valueReference="5"/>
<Output valueReference="9"/><Output valueReference="10"/></ModelStructure>
</fmiModelDescription>
"""
)
XML = {2: XML2, 3: XML3}
LIBRARY = {
    version: f"binaries/{folder}/lag{fmpy.sharedLibraryExtension}"
    for version, folder in ((2, fmpy.platform), (3, fmpy.platform_tuple))
}


@cache
def library(version):
    """The lag as a shared library of one version of FMI."""
    kinds = ("Float64", "Int32", "UInt8", "Boolean", "Real", "Integer")
    macros = {f"fmi{version}{way}{kind}" for way in ("Get", "Set") for kind in kinds}
    stubs = "\n".join(
        f"int {name}(void) {{ return 3; }}"
        for name in functions(version)
        if f"{name}(" not in C and name not in macros
    )
    source = f'#define FMI {version}\n#define TOKEN "{TOKEN}"\n{C}\n{stubs}'
    path = shared_library(source)
    assert path is not None, "a C compiler makes the FMUs of these tests"
    return path.read_bytes()


def write_fmu(path, version=2, xml=None, code=None, more=None):
    """Write the lag, or what is told instead, as an FMU; returns its path. The same files
    make the same FMU."""
    files = {
        "modelDescription.xml": XML[version] if xml is None else xml,
        LIBRARY[version]: library(version) if code is None else code,
        **(more or {}),
    }
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in files.items():
            archive.writestr(zipfile.ZipInfo(name), content)
    return path


def of_outputs(names):
    """The description of an FMU of FMI 3.0 with these outputs and nothing else."""
    outputs = "".join(
        f'<Float64 name="{name}" valueReference="{k}" causality="output"/>'
        for k, name in enumerate(names, 100)
    )
    structure = "".join(f'<Output valueReference="{k}"/>' for k in range(100, 100 + len(names)))
    return (
        f"{HEAD3}<ModelVariables>{TIME3}{outputs}</ModelVariables>"
        f"<ModelStructure>{structure}</ModelStructure></fmiModelDescription>"
    )


def empty_fmu(path):
    """An FMU without ports and with a library that is none; it can be read, not run."""
    return write_fmu(path, 3, of_outputs([]), b"")
