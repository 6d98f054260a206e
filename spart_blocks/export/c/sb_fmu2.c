/* FMI 2.0 over the functions of sb_fmu_*.h, model exchange and co-simulation. */

#include "sb_fmi2.h"

#include "sb_fmu_model.h"

#include "sb_fmu.h"

#include "sb_fmu_events.h"

#include "sb_fmu_step.h"

#include "sb_fmu_values.h"

#include "sb_fmu_saved.h"

/* A function of FMI: its declaration, and the head of its definition. */
#define SB_API(type, name, ...)               \
  SB_EXPORT type SB_NAME(name)(__VA_ARGS__);  \
  SB_EXPORT type SB_NAME(name)(__VA_ARGS__)
#define SB_ENTER(modes, function) \
  sb_fmu *m = (sb_fmu *)c;        \
  if (!m || !sb_allowed(m, modes, #function)) return fmi2Error

/* The modes of both interfaces in which variables have values. */
#define SB_ALIVE                                                                  \
  (SB_INSTANTIATED | SB_INITIALIZING | SB_EVENT_MODE | SB_CONTINUOUS | SB_STEPPING | \
   SB_TERMINATED)
#define SB_RUNNING (SB_EVENT_MODE | SB_CONTINUOUS | SB_STEPPING)

static void sb_send(const sb_fmu *m, int status, const char *message) {
  ((fmi2CallbackLogger)m->logger)(m->environment, m->name, (fmi2Status)status,
                                  status == SB_OK ? "logEvents" : "logStatusError", "%s",
                                  message);
}

SB_API(const char *, fmi2GetTypesPlatform, void) { return "default"; }

SB_API(const char *, fmi2GetVersion, void) { return "2.0"; }

/* --- life cycle -------------------------------------------------------------------------- */

SB_API(fmi2Component, fmi2Instantiate, fmi2String instanceName, fmi2Type fmuType, fmi2String
       fmuGUID, fmi2String fmuResourceLocation, const fmi2CallbackFunctions *functions, fmi2Boolean
       visible, fmi2Boolean loggingOn) {
  sb_fmu *m = NULL;
  const char *reason = "there is no memory";
  (void)fmuResourceLocation;
  (void)visible;
  if (!fmuGUID || strcmp(fmuGUID, SB_TOKEN) != 0) reason = "the GUID is not that of this FMU";
  else m = sb_new(instanceName, fmuType == fmi2ModelExchange);
  if (!m) {
    if (functions && functions->logger)
      functions->logger(functions->componentEnvironment, instanceName, fmi2Error, "logStatusError",
                        "%s", reason);
    return NULL;
  }
  if (functions) {
    m->environment = functions->componentEnvironment;
    m->logger = (void (*)(void))functions->logger;
  }
  m->listening = loggingOn;
  m->send = sb_send;
  return m;
}

SB_API(void, fmi2FreeInstance, fmi2Component c) {
  sb_free((sb_fmu *)c);
}

SB_API(fmi2Status, fmi2SetDebugLogging, fmi2Component c, fmi2Boolean loggingOn, size_t nCategories,
       const fmi2String categories[]) {
  SB_ENTER(SB_ALIVE, fmi2SetDebugLogging);
  return (fmi2Status)sb_listen(m, loggingOn, nCategories, categories);
}

SB_API(fmi2Status, fmi2SetupExperiment, fmi2Component c, fmi2Boolean toleranceDefined, fmi2Real
       tolerance, fmi2Real startTime, fmi2Boolean stopTimeDefined, fmi2Real stopTime) {
  SB_ENTER(SB_INSTANTIATED, fmi2SetupExperiment);
  (void)stopTimeDefined;
  (void)stopTime;
  if (toleranceDefined) sb_set_tolerance(m, tolerance);
  return (fmi2Status)sb_set_time(m, startTime);
}

SB_API(fmi2Status, fmi2EnterInitializationMode, fmi2Component c) {
  SB_ENTER(SB_INSTANTIATED, fmi2EnterInitializationMode);
  return (fmi2Status)sb_initialize(m, m->s.t);
}

SB_API(fmi2Status, fmi2ExitInitializationMode, fmi2Component c) {
  SB_ENTER(SB_INITIALIZING, fmi2ExitInitializationMode);
  return (fmi2Status)sb_initialized(m);
}

SB_API(fmi2Status, fmi2Terminate, fmi2Component c) {
  SB_ENTER(SB_RUNNING, fmi2Terminate);
  m->s.mode = SB_TERMINATED;
  return fmi2OK;
}

SB_API(fmi2Status, fmi2Reset, fmi2Component c) {
  SB_ENTER(SB_ALIVE, fmi2Reset);
  sb_begin(m);
  return fmi2OK;
}

/* --- variables: all are Real --------------------------------------------------------------- */

SB_API(fmi2Status, fmi2GetReal, fmi2Component c, const fmi2ValueReference vr[], size_t nvr, fmi2Real
       value[]) {
  SB_ENTER(SB_ALIVE, fmi2GetReal);
  return (fmi2Status)sb_get(m, vr, nvr, value, nvr);
}

SB_API(fmi2Status, fmi2SetReal, fmi2Component c, const fmi2ValueReference vr[], size_t nvr, const
       fmi2Real value[]) {
  SB_ENTER(SB_ALIVE, fmi2SetReal);
  return (fmi2Status)sb_set(m, vr, nvr, value, nvr);
}

static fmi2Status sb_none(fmi2Component c, size_t n, const char *type) {
  if (!c) return fmi2Error;
  if (!n) return fmi2OK;
  return (fmi2Status)sb_log((sb_fmu *)c, SB_ERROR, "there is no variable of type %s", type);
}

#define SB_NO_TYPE(type)                                                                         \
  SB_API(fmi2Status, fmi2Get##type, fmi2Component c, const fmi2ValueReference *vr, size_t n,     \
         fmi2##type *value) {                                                                    \
    (void)vr;                                                                                    \
    (void)value;                                                                                 \
    return sb_none(c, n, #type);                                                                 \
  }                                                                                              \
  SB_API(fmi2Status, fmi2Set##type, fmi2Component c, const fmi2ValueReference *vr, size_t n,     \
         const fmi2##type *value) {                                                              \
    (void)vr;                                                                                    \
    (void)value;                                                                                 \
    return sb_none(c, n, #type);                                                                 \
  }

SB_NO_TYPE(Integer)
SB_NO_TYPE(Boolean)
SB_NO_TYPE(String)

/* --- the state as a whole ------------------------------------------------------------------ */

SB_API(fmi2Status, fmi2GetFMUstate, fmi2Component c, fmi2FMUstate *FMUstate) {
  SB_ENTER(SB_ALIVE, fmi2GetFMUstate);
  return (fmi2Status)sb_save(m, FMUstate);
}

SB_API(fmi2Status, fmi2SetFMUstate, fmi2Component c, fmi2FMUstate FMUstate) {
  SB_ENTER(SB_ALIVE, fmi2SetFMUstate);
  return (fmi2Status)sb_restore(m, FMUstate);
}

SB_API(fmi2Status, fmi2FreeFMUstate, fmi2Component c, fmi2FMUstate *FMUstate) {
  if (!c) return fmi2Error;
  if (FMUstate) {
    free(*FMUstate);
    *FMUstate = NULL;
  }
  return fmi2OK;
}

SB_API(fmi2Status, fmi2SerializedFMUstateSize, fmi2Component c, fmi2FMUstate FMUstate, size_t *size)
       {
  if (!c || !FMUstate) return fmi2Error;
  *size = sizeof(sb_saved);
  return fmi2OK;
}

SB_API(fmi2Status, fmi2SerializeFMUstate, fmi2Component c, fmi2FMUstate FMUstate, fmi2Byte
       serializedState[], size_t size) {
  SB_ENTER(SB_ALIVE, fmi2SerializeFMUstate);
  return (fmi2Status)sb_to_bytes(m, FMUstate, serializedState, size);
}

SB_API(fmi2Status, fmi2DeSerializeFMUstate, fmi2Component c, const fmi2Byte serializedState[],
       size_t size, fmi2FMUstate *FMUstate) {
  SB_ENTER(SB_ALIVE, fmi2DeSerializeFMUstate);
  return (fmi2Status)sb_from_bytes(m, serializedState, size, FMUstate);
}

/* --- derivatives --------------------------------------------------------------------------- */

SB_API(fmi2Status, fmi2GetDirectionalDerivative, fmi2Component c, const fmi2ValueReference
       vUnknown_ref[], size_t nUnknown, const fmi2ValueReference vKnown_ref[], size_t nKnown, const
       fmi2Real dvKnown[], fmi2Real dvUnknown[]) {
  SB_ENTER(SB_INITIALIZING | SB_RUNNING | SB_TERMINATED, fmi2GetDirectionalDerivative);
  return (fmi2Status)sb_forward(m, vUnknown_ref, nUnknown, vKnown_ref, nKnown, dvKnown, nKnown,
                                dvUnknown, nUnknown);
}

/* --- model exchange ------------------------------------------------------------------------ */

SB_API(fmi2Status, fmi2EnterEventMode, fmi2Component c) {
  SB_ENTER(SB_CONTINUOUS | SB_EVENT_MODE, fmi2EnterEventMode);
  sb_enter_events(m);
  return fmi2OK;
}

SB_API(fmi2Status, fmi2NewDiscreteStates, fmi2Component c, fmi2EventInfo *eventInfo) {
  sb_change change;
  fmi2Status status;
  SB_ENTER(SB_EVENT_MODE, fmi2NewDiscreteStates);
  status = (fmi2Status)sb_update(m, &change);
  eventInfo->newDiscreteStatesNeeded = fmi2False;
  eventInfo->terminateSimulation = m->s.stopped != 0;
  eventInfo->nominalsOfContinuousStatesChanged = fmi2False;
  eventInfo->valuesOfContinuousStatesChanged = change.states != 0;
  eventInfo->nextEventTimeDefined = change.next < INFINITY;
  eventInfo->nextEventTime = change.next;
  return status;
}

SB_API(fmi2Status, fmi2EnterContinuousTimeMode, fmi2Component c) {
  SB_ENTER(SB_EVENT_MODE, fmi2EnterContinuousTimeMode);
  m->s.mode = SB_CONTINUOUS;
  return fmi2OK;
}

SB_API(fmi2Status, fmi2CompletedIntegratorStep, fmi2Component c, fmi2Boolean
       noSetFMUStatePriorToCurrentPoint, fmi2Boolean *enterEventMode, fmi2Boolean
       *terminateSimulation) {
  SB_ENTER(SB_CONTINUOUS, fmi2CompletedIntegratorStep);
  (void)noSetFMUStatePriorToCurrentPoint;
  *enterEventMode = sb_step_completed(m) != 0;
  *terminateSimulation = fmi2False;
  return fmi2OK;
}

SB_API(fmi2Status, fmi2SetTime, fmi2Component c, fmi2Real time) {
  SB_ENTER(SB_EVENT_MODE | SB_CONTINUOUS, fmi2SetTime);
  return (fmi2Status)sb_set_time(m, time);
}

SB_API(fmi2Status, fmi2SetContinuousStates, fmi2Component c, const fmi2Real x[], size_t nx) {
  SB_ENTER(SB_CONTINUOUS | SB_EVENT_MODE, fmi2SetContinuousStates);
  return (fmi2Status)sb_set_states(m, x, nx);
}

SB_API(fmi2Status, fmi2GetDerivatives, fmi2Component c, fmi2Real derivatives[], size_t nx) {
  SB_ENTER(SB_INITIALIZING | SB_EVENT_MODE | SB_CONTINUOUS | SB_TERMINATED, fmi2GetDerivatives);
  return (fmi2Status)sb_get_row(m, SB_AT_DX, SB_NX, derivatives, nx);
}

SB_API(fmi2Status, fmi2GetEventIndicators, fmi2Component c, fmi2Real eventIndicators[], size_t ni) {
  SB_ENTER(SB_INITIALIZING | SB_EVENT_MODE | SB_CONTINUOUS | SB_TERMINATED, fmi2GetEventIndicators);
  return (fmi2Status)sb_get_indicators(m, eventIndicators, ni);
}

SB_API(fmi2Status, fmi2GetContinuousStates, fmi2Component c, fmi2Real x[], size_t nx) {
  SB_ENTER(SB_INITIALIZING | SB_EVENT_MODE | SB_CONTINUOUS | SB_TERMINATED, fmi2GetContinuousStates);
  return (fmi2Status)sb_get_row(m, SB_AT_X, SB_NX, x, nx);
}

SB_API(fmi2Status, fmi2GetNominalsOfContinuousStates, fmi2Component c, fmi2Real x_nominal[], size_t
       nx) {
  SB_ENTER(SB_ALIVE, fmi2GetNominalsOfContinuousStates);
  return (fmi2Status)sb_nominals(m, x_nominal, nx);
}

/* --- co-simulation ------------------------------------------------------------------------- */

SB_API(fmi2Status, fmi2DoStep, fmi2Component c, fmi2Real currentCommunicationPoint, fmi2Real
       communicationStepSize, fmi2Boolean noSetFMUStatePriorToCurrentPoint) {
  int status;
  SB_ENTER(SB_STEPPING, fmi2DoStep);
  (void)noSetFMUStatePriorToCurrentPoint;
  status = sb_do_step(m, currentCommunicationPoint, communicationStepSize);
  return status == SB_OK && m->s.stopped ? fmi2Discard : (fmi2Status)status;
}

SB_API(fmi2Status, fmi2GetRealStatus, fmi2Component c, const fmi2StatusKind s, fmi2Real *value) {
  SB_ENTER(SB_STEPPING | SB_TERMINATED, fmi2GetRealStatus);
  if (s != fmi2LastSuccessfulTime) return fmi2Discard;
  *value = m->s.t;
  return fmi2OK;
}

SB_API(fmi2Status, fmi2GetBooleanStatus, fmi2Component c, const fmi2StatusKind s, fmi2Boolean
       *value) {
  SB_ENTER(SB_STEPPING | SB_TERMINATED, fmi2GetBooleanStatus);
  if (s != fmi2Terminated) return fmi2Discard;
  *value = m->s.stopped != 0;
  return fmi2OK;
}

/* --- functions that are not supported ------------------------------------------------------ */

SB_API(fmi2Status, fmi2GetStatus, fmi2Component c, const fmi2StatusKind s, fmi2Status *value) {
  (void)c;
  (void)s;
  (void)value;
  return fmi2Discard;
}

SB_API(fmi2Status, fmi2GetIntegerStatus, fmi2Component c, const fmi2StatusKind s, fmi2Integer
       *value) {
  (void)c;
  (void)s;
  (void)value;
  return fmi2Discard;
}

SB_API(fmi2Status, fmi2GetStringStatus, fmi2Component c, const fmi2StatusKind s, fmi2String *value)
       {
  (void)c;
  (void)s;
  (void)value;
  return fmi2Discard;
}

SB_API(fmi2Status, fmi2CancelStep, fmi2Component c) {
  if (!c) return fmi2Error;
  return (fmi2Status)sb_log((sb_fmu *)c, SB_ERROR, "no step is under way");
}

SB_API(fmi2Status, fmi2SetRealInputDerivatives, fmi2Component c, const fmi2ValueReference vr[],
       size_t nvr, const fmi2Integer order[], const fmi2Real value[]) {
  (void)vr;
  (void)nvr;
  (void)order;
  (void)value;
  if (!c) return fmi2Error;
  return (fmi2Status)sb_log((sb_fmu *)c, SB_ERROR, "inputs are not interpolated");
}

SB_API(fmi2Status, fmi2GetRealOutputDerivatives, fmi2Component c, const fmi2ValueReference vr[],
       size_t nvr, const fmi2Integer order[], fmi2Real value[]) {
  (void)vr;
  (void)nvr;
  (void)order;
  (void)value;
  if (!c) return fmi2Error;
  return (fmi2Status)sb_log((sb_fmu *)c, SB_ERROR, "outputs have no derivatives");
}
