/* FMI 3.0 over the functions of sb_fmu_*.h, model exchange and co-simulation. */

#include "sb_fmi3.h"

#include "sb_fmu_model.h"

#include "sb_fmu.h"

#include "sb_fmu_events.h"

#include "sb_fmu_step.h"

#include "sb_fmu_values.h"

#include "sb_fmu_adjoint.h"

#include "sb_fmu_saved.h"

/* A function of FMI: its declaration, and the head of its definition. */
#define SB_API(type, name, ...)               \
  SB_EXPORT type SB_NAME(name)(__VA_ARGS__);  \
  SB_EXPORT type SB_NAME(name)(__VA_ARGS__)
#define SB_ENTER(modes, function)                                   \
  sb_fmu *m = (sb_fmu *)instance;                                   \
  if (!m || !sb_allowed(m, modes, #function)) return fmi3Error

/* The modes of both interfaces in which variables have values. */
#define SB_ALIVE                                                                  \
  (SB_INSTANTIATED | SB_INITIALIZING | SB_EVENT_MODE | SB_CONTINUOUS | SB_STEPPING | \
   SB_TERMINATED)
#define SB_RUNNING (SB_EVENT_MODE | SB_CONTINUOUS | SB_STEPPING)

static void sb_send(const sb_fmu *m, int status, const char *message) {
  ((fmi3LogMessageCallback)m->logger)(m->environment, (fmi3Status)status,
                                      status == SB_OK ? "logEvents" : "logStatusError", message);
}

SB_API(const char *, fmi3GetVersion, void) { return "3.0"; }

/* --- life cycle -------------------------------------------------------------------------- */

static fmi3Instance sb_made(fmi3String name, fmi3String token, int exchange, int refused,
                            int listening, fmi3InstanceEnvironment environment,
                            fmi3LogMessageCallback log) {
  sb_fmu *m = NULL;
  const char *reason = "there is no memory";
  if (refused) reason = "this FMU has no event mode";
  else if (!token || strcmp(token, SB_TOKEN) != 0)
    reason = "the instantiation token is not that of this FMU";
  else m = sb_new(name, exchange);
  if (!m) {
    if (log) log(environment, fmi3Error, "logStatusError", reason);
    return NULL;
  }
  m->environment = environment;
  m->listening = listening;
  m->logger = (void (*)(void))log;
  m->send = sb_send;
  return m;
}

SB_API(fmi3Instance, fmi3InstantiateModelExchange, fmi3String instanceName, fmi3String
       instantiationToken, fmi3String resourcePath, fmi3Boolean visible, fmi3Boolean loggingOn,
       fmi3InstanceEnvironment instanceEnvironment, fmi3LogMessageCallback logMessage) {
  (void)resourcePath;
  (void)visible;
  return sb_made(instanceName, instantiationToken, 1, 0, loggingOn, instanceEnvironment,
                 logMessage);
}

SB_API(fmi3Instance, fmi3InstantiateCoSimulation, fmi3String instanceName, fmi3String
       instantiationToken, fmi3String resourcePath, fmi3Boolean visible, fmi3Boolean loggingOn,
       fmi3Boolean eventModeUsed, fmi3Boolean earlyReturnAllowed, const fmi3ValueReference
       requiredIntermediateVariables[], size_t nRequiredIntermediateVariables,
       fmi3InstanceEnvironment instanceEnvironment, fmi3LogMessageCallback logMessage,
       fmi3IntermediateUpdateCallback intermediateUpdate) {
  (void)resourcePath;
  (void)visible;
  (void)earlyReturnAllowed;
  (void)requiredIntermediateVariables;
  (void)nRequiredIntermediateVariables;
  (void)intermediateUpdate;
  return sb_made(instanceName, instantiationToken, 0, eventModeUsed, loggingOn,
                 instanceEnvironment, logMessage);
}

SB_API(fmi3Instance, fmi3InstantiateScheduledExecution, fmi3String instanceName, fmi3String
       instantiationToken, fmi3String resourcePath, fmi3Boolean visible, fmi3Boolean loggingOn,
       fmi3InstanceEnvironment instanceEnvironment, fmi3LogMessageCallback logMessage,
       fmi3ClockUpdateCallback clockUpdate, fmi3LockPreemptionCallback lockPreemption,
       fmi3UnlockPreemptionCallback unlockPreemption) {
  (void)instanceName;
  (void)instantiationToken;
  (void)resourcePath;
  (void)visible;
  (void)loggingOn;
  (void)clockUpdate;
  (void)lockPreemption;
  (void)unlockPreemption;
  if (logMessage)
    logMessage(instanceEnvironment, fmi3Error, "logStatusError", "there is no scheduled execution");
  return NULL;
}

SB_API(void, fmi3FreeInstance, fmi3Instance instance) {
  sb_free((sb_fmu *)instance);
}

SB_API(fmi3Status, fmi3SetDebugLogging, fmi3Instance instance, fmi3Boolean loggingOn, size_t
       nCategories, const fmi3String categories[]) {
  SB_ENTER(SB_ALIVE, fmi3SetDebugLogging);
  return (fmi3Status)sb_listen(m, loggingOn, nCategories, categories);
}

SB_API(fmi3Status, fmi3EnterInitializationMode, fmi3Instance instance, fmi3Boolean toleranceDefined,
       fmi3Float64 tolerance, fmi3Float64 startTime, fmi3Boolean stopTimeDefined, fmi3Float64
       stopTime) {
  SB_ENTER(SB_INSTANTIATED, fmi3EnterInitializationMode);
  (void)stopTimeDefined;
  (void)stopTime;
  if (toleranceDefined) sb_set_tolerance(m, tolerance);
  return (fmi3Status)sb_initialize(m, startTime);
}

SB_API(fmi3Status, fmi3ExitInitializationMode, fmi3Instance instance) {
  SB_ENTER(SB_INITIALIZING, fmi3ExitInitializationMode);
  return (fmi3Status)sb_initialized(m);
}

SB_API(fmi3Status, fmi3EnterEventMode, fmi3Instance instance) {
  SB_ENTER(SB_CONTINUOUS, fmi3EnterEventMode);
  sb_enter_events(m);
  return fmi3OK;
}

SB_API(fmi3Status, fmi3Terminate, fmi3Instance instance) {
  SB_ENTER(SB_RUNNING, fmi3Terminate);
  m->s.mode = SB_TERMINATED;
  return fmi3OK;
}

SB_API(fmi3Status, fmi3Reset, fmi3Instance instance) {
  SB_ENTER(SB_ALIVE, fmi3Reset);
  sb_begin(m);
  return fmi3OK;
}

/* --- variables: all are Float64 ----------------------------------------------------------- */

SB_API(fmi3Status, fmi3GetFloat64, fmi3Instance instance, const fmi3ValueReference
       valueReferences[], size_t nValueReferences, fmi3Float64 values[], size_t nValues) {
  SB_ENTER(SB_ALIVE, fmi3GetFloat64);
  return (fmi3Status)sb_get(m, valueReferences, nValueReferences, values, nValues);
}

SB_API(fmi3Status, fmi3SetFloat64, fmi3Instance instance, const fmi3ValueReference
       valueReferences[], size_t nValueReferences, const fmi3Float64 values[], size_t nValues) {
  SB_ENTER(SB_ALIVE, fmi3SetFloat64);
  return (fmi3Status)sb_set(m, valueReferences, nValueReferences, values, nValues);
}

static fmi3Status sb_none(fmi3Instance instance, size_t n, const char *type) {
  if (!instance) return fmi3Error;
  if (!n) return fmi3OK;
  return (fmi3Status)sb_log((sb_fmu *)instance, SB_ERROR, "there is no variable of type %s", type);
}

#define SB_NO_TYPE(type)                                                                         \
  SB_API(fmi3Status, fmi3Get##type, fmi3Instance instance, const fmi3ValueReference *references, \
         size_t n, fmi3##type *values, size_t nValues) {                                         \
    (void)references;                                                                            \
    (void)values;                                                                                \
    (void)nValues;                                                                               \
    return sb_none(instance, n, #type);                                                          \
  }                                                                                              \
  SB_API(fmi3Status, fmi3Set##type, fmi3Instance instance, const fmi3ValueReference *references, \
         size_t n, const fmi3##type *values, size_t nValues) {                                   \
    (void)references;                                                                            \
    (void)values;                                                                                \
    (void)nValues;                                                                               \
    return sb_none(instance, n, #type);                                                          \
  }

SB_NO_TYPE(Float32)
SB_NO_TYPE(Int8)
SB_NO_TYPE(UInt8)
SB_NO_TYPE(Int16)
SB_NO_TYPE(UInt16)
SB_NO_TYPE(Int32)
SB_NO_TYPE(UInt32)
SB_NO_TYPE(Int64)
SB_NO_TYPE(UInt64)
SB_NO_TYPE(Boolean)
SB_NO_TYPE(String)

SB_API(fmi3Status, fmi3GetBinary, fmi3Instance instance, const fmi3ValueReference valueReferences[],
       size_t nValueReferences, size_t valueSizes[], fmi3Binary values[], size_t nValues) {
  (void)valueReferences;
  (void)valueSizes;
  (void)values;
  (void)nValues;
  return sb_none(instance, nValueReferences, "Binary");
}

SB_API(fmi3Status, fmi3SetBinary, fmi3Instance instance, const fmi3ValueReference valueReferences[],
       size_t nValueReferences, const size_t valueSizes[], const fmi3Binary values[], size_t
       nValues) {
  (void)valueReferences;
  (void)valueSizes;
  (void)values;
  (void)nValues;
  return sb_none(instance, nValueReferences, "Binary");
}

SB_API(fmi3Status, fmi3GetClock, fmi3Instance instance, const fmi3ValueReference valueReferences[],
       size_t nValueReferences, fmi3Clock values[]) {
  (void)valueReferences;
  (void)values;
  return sb_none(instance, nValueReferences, "Clock");
}

SB_API(fmi3Status, fmi3SetClock, fmi3Instance instance, const fmi3ValueReference valueReferences[],
       size_t nValueReferences, const fmi3Clock values[]) {
  (void)valueReferences;
  (void)values;
  return sb_none(instance, nValueReferences, "Clock");
}

/* --- the state as a whole ------------------------------------------------------------------ */

SB_API(fmi3Status, fmi3GetFMUState, fmi3Instance instance, fmi3FMUState *FMUState) {
  SB_ENTER(SB_ALIVE, fmi3GetFMUState);
  return (fmi3Status)sb_save(m, FMUState);
}

SB_API(fmi3Status, fmi3SetFMUState, fmi3Instance instance, fmi3FMUState FMUState) {
  SB_ENTER(SB_ALIVE, fmi3SetFMUState);
  return (fmi3Status)sb_restore(m, FMUState);
}

SB_API(fmi3Status, fmi3FreeFMUState, fmi3Instance instance, fmi3FMUState *FMUState) {
  if (!instance) return fmi3Error;
  if (FMUState) {
    free(*FMUState);
    *FMUState = NULL;
  }
  return fmi3OK;
}

SB_API(fmi3Status, fmi3SerializedFMUStateSize, fmi3Instance instance, fmi3FMUState FMUState, size_t
       *size) {
  if (!instance || !FMUState) return fmi3Error;
  *size = sizeof(sb_saved);
  return fmi3OK;
}

SB_API(fmi3Status, fmi3SerializeFMUState, fmi3Instance instance, fmi3FMUState FMUState, fmi3Byte
       serializedState[], size_t size) {
  SB_ENTER(SB_ALIVE, fmi3SerializeFMUState);
  return (fmi3Status)sb_to_bytes(m, FMUState, serializedState, size);
}

SB_API(fmi3Status, fmi3DeserializeFMUState, fmi3Instance instance, const fmi3Byte serializedState[],
       size_t size, fmi3FMUState *FMUState) {
  SB_ENTER(SB_ALIVE, fmi3DeserializeFMUState);
  return (fmi3Status)sb_from_bytes(m, serializedState, size, FMUState);
}

/* --- derivatives --------------------------------------------------------------------------- */

SB_API(fmi3Status, fmi3GetDirectionalDerivative, fmi3Instance instance, const fmi3ValueReference
       unknowns[], size_t nUnknowns, const fmi3ValueReference knowns[], size_t nKnowns, const
       fmi3Float64 seed[], size_t nSeed, fmi3Float64 sensitivity[], size_t nSensitivity) {
  SB_ENTER(SB_INITIALIZING | SB_RUNNING | SB_TERMINATED, fmi3GetDirectionalDerivative);
  return (fmi3Status)sb_forward(m, unknowns, nUnknowns, knowns, nKnowns, seed, nSeed, sensitivity,
                                 nSensitivity);
}

SB_API(fmi3Status, fmi3GetAdjointDerivative, fmi3Instance instance, const fmi3ValueReference
       unknowns[], size_t nUnknowns, const fmi3ValueReference knowns[], size_t nKnowns, const
       fmi3Float64 seed[], size_t nSeed, fmi3Float64 sensitivity[], size_t nSensitivity) {
  SB_ENTER(SB_INITIALIZING | SB_RUNNING | SB_TERMINATED, fmi3GetAdjointDerivative);
  return (fmi3Status)sb_backward(m, unknowns, nUnknowns, knowns, nKnowns, seed, nSeed, sensitivity,
                                 nSensitivity);
}

/* --- model exchange ------------------------------------------------------------------------ */

SB_API(fmi3Status, fmi3UpdateDiscreteStates, fmi3Instance instance, fmi3Boolean
       *discreteStatesNeedUpdate, fmi3Boolean *terminateSimulation, fmi3Boolean
       *nominalsOfContinuousStatesChanged, fmi3Boolean *valuesOfContinuousStatesChanged, fmi3Boolean
       *nextEventTimeDefined, fmi3Float64 *nextEventTime) {
  sb_change change;
  fmi3Status status;
  SB_ENTER(SB_EVENT_MODE, fmi3UpdateDiscreteStates);
  status = (fmi3Status)sb_update(m, &change);
  *discreteStatesNeedUpdate = false;
  *terminateSimulation = m->s.stopped != 0;
  *nominalsOfContinuousStatesChanged = false;
  *valuesOfContinuousStatesChanged = change.states != 0;
  *nextEventTimeDefined = change.next < INFINITY;
  *nextEventTime = change.next;
  return status;
}

SB_API(fmi3Status, fmi3EvaluateDiscreteStates, fmi3Instance instance) {
  SB_ENTER(SB_INITIALIZING | SB_EVENT_MODE, fmi3EvaluateDiscreteStates);
  return fmi3OK;
}

SB_API(fmi3Status, fmi3EnterContinuousTimeMode, fmi3Instance instance) {
  SB_ENTER(SB_EVENT_MODE, fmi3EnterContinuousTimeMode);
  if (!m->exchange) return fmi3Error;
  m->s.mode = SB_CONTINUOUS;
  return fmi3OK;
}

SB_API(fmi3Status, fmi3CompletedIntegratorStep, fmi3Instance instance, fmi3Boolean
       noSetFMUStatePriorToCurrentPoint, fmi3Boolean *enterEventMode, fmi3Boolean
       *terminateSimulation) {
  SB_ENTER(SB_CONTINUOUS, fmi3CompletedIntegratorStep);
  (void)noSetFMUStatePriorToCurrentPoint;
  *enterEventMode = sb_step_completed(m) != 0;
  *terminateSimulation = false;
  return fmi3OK;
}

SB_API(fmi3Status, fmi3SetTime, fmi3Instance instance, fmi3Float64 time) {
  SB_ENTER(SB_EVENT_MODE | SB_CONTINUOUS, fmi3SetTime);
  return (fmi3Status)sb_set_time(m, time);
}

SB_API(fmi3Status, fmi3SetContinuousStates, fmi3Instance instance, const fmi3Float64
       continuousStates[], size_t nContinuousStates) {
  SB_ENTER(SB_CONTINUOUS, fmi3SetContinuousStates);
  return (fmi3Status)sb_set_states(m, continuousStates, nContinuousStates);
}

SB_API(fmi3Status, fmi3GetContinuousStateDerivatives, fmi3Instance instance, fmi3Float64
       derivatives[], size_t nContinuousStates) {
  SB_ENTER(SB_INITIALIZING | SB_EVENT_MODE | SB_CONTINUOUS | SB_TERMINATED, fmi3GetContinuousStateDerivatives);
  return (fmi3Status)sb_get_row(m, SB_AT_DX, SB_NX, derivatives, nContinuousStates);
}

SB_API(fmi3Status, fmi3GetEventIndicators, fmi3Instance instance, fmi3Float64 eventIndicators[],
       size_t nEventIndicators) {
  SB_ENTER(SB_INITIALIZING | SB_EVENT_MODE | SB_CONTINUOUS | SB_TERMINATED, fmi3GetEventIndicators);
  return (fmi3Status)sb_get_indicators(m, eventIndicators, nEventIndicators);
}

SB_API(fmi3Status, fmi3GetContinuousStates, fmi3Instance instance, fmi3Float64 continuousStates[],
       size_t nContinuousStates) {
  SB_ENTER(SB_INITIALIZING | SB_EVENT_MODE | SB_CONTINUOUS | SB_TERMINATED, fmi3GetContinuousStates);
  return (fmi3Status)sb_get_row(m, SB_AT_X, SB_NX, continuousStates, nContinuousStates);
}

SB_API(fmi3Status, fmi3GetNominalsOfContinuousStates, fmi3Instance instance, fmi3Float64 nominals[],
       size_t nContinuousStates) {
  SB_ENTER(SB_INITIALIZING | SB_EVENT_MODE | SB_CONTINUOUS | SB_TERMINATED,
           fmi3GetNominalsOfContinuousStates);
  return (fmi3Status)sb_nominals(m, nominals, nContinuousStates);
}

SB_API(fmi3Status, fmi3GetNumberOfEventIndicators, fmi3Instance instance, size_t *nEventIndicators)
       {
  if (!instance) return fmi3Error;
  *nEventIndicators = SB_CROSSINGS;
  return fmi3OK;
}

SB_API(fmi3Status, fmi3GetNumberOfContinuousStates, fmi3Instance instance, size_t
       *nContinuousStates) {
  if (!instance) return fmi3Error;
  *nContinuousStates = SB_NX;
  return fmi3OK;
}

/* --- co-simulation ------------------------------------------------------------------------- */

SB_API(fmi3Status, fmi3DoStep, fmi3Instance instance, fmi3Float64 currentCommunicationPoint,
       fmi3Float64 communicationStepSize, fmi3Boolean noSetFMUStatePriorToCurrentPoint, fmi3Boolean
       *eventHandlingNeeded, fmi3Boolean *terminateSimulation, fmi3Boolean *earlyReturn, fmi3Float64
       *lastSuccessfulTime) {
  int status;
  SB_ENTER(SB_STEPPING, fmi3DoStep);
  (void)noSetFMUStatePriorToCurrentPoint;
  status = sb_do_step(m, currentCommunicationPoint, communicationStepSize);
  *eventHandlingNeeded = false;
  *terminateSimulation = m->s.stopped != 0;
  *earlyReturn = false;
  *lastSuccessfulTime = m->s.t;
  return (fmi3Status)status;
}

/* --- functions that are not supported ------------------------------------------------------ */

SB_API(fmi3Status, fmi3GetNumberOfVariableDependencies, fmi3Instance instance, fmi3ValueReference
       valueReference, size_t *nDependencies) {
  (void)valueReference;
  (void)nDependencies;
  if (!instance) return fmi3Error;
  return (fmi3Status)sb_log((sb_fmu *)instance, SB_ERROR, "dependencies of single elements are not given");
}

SB_API(fmi3Status, fmi3GetVariableDependencies, fmi3Instance instance, fmi3ValueReference dependent,
       size_t elementIndicesOfDependent[], fmi3ValueReference independents[], size_t
       elementIndicesOfIndependents[], fmi3DependencyKind dependencyKinds[], size_t nDependencies) {
  (void)dependent;
  (void)elementIndicesOfDependent;
  (void)independents;
  (void)elementIndicesOfIndependents;
  (void)dependencyKinds;
  (void)nDependencies;
  if (!instance) return fmi3Error;
  return (fmi3Status)sb_log((sb_fmu *)instance, SB_ERROR, "dependencies of single elements are not given");
}

SB_API(fmi3Status, fmi3EnterConfigurationMode, fmi3Instance instance) {
  if (!instance) return fmi3Error;
  return (fmi3Status)sb_log((sb_fmu *)instance, SB_ERROR, "there are no structural parameters");
}

SB_API(fmi3Status, fmi3ExitConfigurationMode, fmi3Instance instance) {
  if (!instance) return fmi3Error;
  return (fmi3Status)sb_log((sb_fmu *)instance, SB_ERROR, "there are no structural parameters");
}

SB_API(fmi3Status, fmi3EnterStepMode, fmi3Instance instance) {
  if (!instance) return fmi3Error;
  return (fmi3Status)sb_log((sb_fmu *)instance, SB_ERROR, "co-simulation has no event mode");
}

SB_API(fmi3Status, fmi3GetOutputDerivatives, fmi3Instance instance, const fmi3ValueReference
       valueReferences[], size_t nValueReferences, const fmi3Int32 orders[], fmi3Float64 values[],
       size_t nValues) {
  (void)valueReferences;
  (void)nValueReferences;
  (void)orders;
  (void)values;
  (void)nValues;
  if (!instance) return fmi3Error;
  return (fmi3Status)sb_log((sb_fmu *)instance, SB_ERROR, "outputs have no derivatives");
}

SB_API(fmi3Status, fmi3GetIntervalDecimal, fmi3Instance instance, const fmi3ValueReference
       valueReferences[], size_t nValueReferences, fmi3Float64 intervals[], fmi3IntervalQualifier
       qualifiers[]) {
  (void)valueReferences;
  (void)nValueReferences;
  (void)intervals;
  (void)qualifiers;
  if (!instance) return fmi3Error;
  return (fmi3Status)sb_log((sb_fmu *)instance, SB_ERROR, "there are no clocks");
}

SB_API(fmi3Status, fmi3GetIntervalFraction, fmi3Instance instance, const fmi3ValueReference
       valueReferences[], size_t nValueReferences, fmi3UInt64 counters[], fmi3UInt64 resolutions[],
       fmi3IntervalQualifier qualifiers[]) {
  (void)valueReferences;
  (void)nValueReferences;
  (void)counters;
  (void)resolutions;
  (void)qualifiers;
  if (!instance) return fmi3Error;
  return (fmi3Status)sb_log((sb_fmu *)instance, SB_ERROR, "there are no clocks");
}

SB_API(fmi3Status, fmi3GetShiftDecimal, fmi3Instance instance, const fmi3ValueReference
       valueReferences[], size_t nValueReferences, fmi3Float64 shifts[]) {
  (void)valueReferences;
  (void)nValueReferences;
  (void)shifts;
  if (!instance) return fmi3Error;
  return (fmi3Status)sb_log((sb_fmu *)instance, SB_ERROR, "there are no clocks");
}

SB_API(fmi3Status, fmi3GetShiftFraction, fmi3Instance instance, const fmi3ValueReference
       valueReferences[], size_t nValueReferences, fmi3UInt64 counters[], fmi3UInt64 resolutions[])
       {
  (void)valueReferences;
  (void)nValueReferences;
  (void)counters;
  (void)resolutions;
  if (!instance) return fmi3Error;
  return (fmi3Status)sb_log((sb_fmu *)instance, SB_ERROR, "there are no clocks");
}

SB_API(fmi3Status, fmi3SetIntervalDecimal, fmi3Instance instance, const fmi3ValueReference
       valueReferences[], size_t nValueReferences, const fmi3Float64 intervals[]) {
  (void)valueReferences;
  (void)nValueReferences;
  (void)intervals;
  if (!instance) return fmi3Error;
  return (fmi3Status)sb_log((sb_fmu *)instance, SB_ERROR, "there are no clocks");
}

SB_API(fmi3Status, fmi3SetIntervalFraction, fmi3Instance instance, const fmi3ValueReference
       valueReferences[], size_t nValueReferences, const fmi3UInt64 counters[], const fmi3UInt64
       resolutions[]) {
  (void)valueReferences;
  (void)nValueReferences;
  (void)counters;
  (void)resolutions;
  if (!instance) return fmi3Error;
  return (fmi3Status)sb_log((sb_fmu *)instance, SB_ERROR, "there are no clocks");
}

SB_API(fmi3Status, fmi3SetShiftDecimal, fmi3Instance instance, const fmi3ValueReference
       valueReferences[], size_t nValueReferences, const fmi3Float64 shifts[]) {
  (void)valueReferences;
  (void)nValueReferences;
  (void)shifts;
  if (!instance) return fmi3Error;
  return (fmi3Status)sb_log((sb_fmu *)instance, SB_ERROR, "there are no clocks");
}

SB_API(fmi3Status, fmi3SetShiftFraction, fmi3Instance instance, const fmi3ValueReference
       valueReferences[], size_t nValueReferences, const fmi3UInt64 counters[], const fmi3UInt64
       resolutions[]) {
  (void)valueReferences;
  (void)nValueReferences;
  (void)counters;
  (void)resolutions;
  if (!instance) return fmi3Error;
  return (fmi3Status)sb_log((sb_fmu *)instance, SB_ERROR, "there are no clocks");
}

SB_API(fmi3Status, fmi3ActivateModelPartition, fmi3Instance instance, fmi3ValueReference
       clockReference, fmi3Float64 activationTime) {
  (void)clockReference;
  (void)activationTime;
  if (!instance) return fmi3Error;
  return (fmi3Status)sb_log((sb_fmu *)instance, SB_ERROR, "there is no scheduled execution");
}
