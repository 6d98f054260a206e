"""FMUs for tests: diagrams with everything that can happen, and instances through FMPy."""

from __future__ import annotations

import shutil
from contextlib import contextmanager

import fmpy

from spart_blocks.export.fmu.variables import variables_of

# A limit that is met and left, a clip, a square wave, a step, two clocks, and gains.
EVENTFUL = """
name: eventful
params: {k: 2.0}
clocks: {c: {T: 0.25}, d: {T: 0.1, offset: 0.05}}
blocks:
  up: {type: STEP, T: 0.75, on: 2.0}
  saw: {type: WAVEFORM, wave: square, freq: 1.0}
  sum: {type: SUM, signs: "++"}
  gain: {type: GAIN, K: $k}
  hold: {type: ZOH, clock: c}
  clip: {type: CLIP, min: -1.0, max: 1.25}
  x: {type: INTEGRATOR, x0: 0.5, max: 1.5}
  seen: {type: ZOH, clock: d}
wires: [up -> sum.0, saw -> sum.1, sum -> gain, gain -> hold, hold -> x, x -> seen, x -> clip]
run: {T: 3, log: [hold, x, seen, clip]}
"""

# x = t^2 / 2 - 1 crosses zero at sqrt 2.
STOPPING = """
name: stopping
blocks:
  u: {type: RAMP, T: 0.0, slope: 1.0}
  x: {type: INTEGRATOR, x0: -1.0}
  stop: {type: STOP}
wires: [u -> x, x -> stop]
run: {T: 5, log: [x]}
"""

# x slides along zero until its switch no longer holds it, at t = 2; y, of a RELAY, for ever.
SLIDING = """
name: sliding
blocks:
  f: {type: FCN, expression: "-sign(x) + t/2", arguments: [x]}
  x: {type: INTEGRATOR, x0: 0.25}
  r: {type: RELAY, on: 0, off: 0, on_value: -1, off_value: 1, initial: auto}
  y: {type: INTEGRATOR, x0: 0.5}
wires: [f -> x, x -> f.x, r -> y, y -> r]
run: {T: 4, sliding: filippov, rtol: 1.0e-9, log: [x, y]}
"""

# A feedback y = -k tanh-like function of two states, with an input and a sampled block.
SMOOTH = """
name: smooth
clocks: {c: {T: 0.5}}
blocks:
  r: {type: CONSTANT, value: 0.5}
  e: {type: SUM, signs: "+-"}
  k: {type: GAIN, K: 3.0}
  hold: {type: ZOH, clock: c, x0: 0.25}
  all: {type: SUM, signs: "++"}
  v: {type: INTEGRATOR, x0: 0.1}
  square: {type: PROD, ops: "**"}
  y: {type: INTEGRATOR, x0: -0.3}
wires:
  - r -> e.0
  - y -> e.1
  - e -> k, hold
  - k -> all.0
  - hold -> all.1
  - all -> v
  - v -> square.0, square.1
  - square -> y
run: {T: 2, log: [k, square, y]}
"""


# FMPy 0.3.32 hands every message of FMI 2 to the logger that was made last, alive or not.
_KEPT = []


def references(part):
    """The value references of a part's variables by the names that they have in it."""
    return {v.title: v.reference for v in variables_of(part)}


@contextmanager
def instance(path, kind="CoSimulation", start=True, token=None):
    """An instance of an FMU, initialised where asked to be. Its messages are in `.said`."""
    folder = fmpy.extract(str(path))
    said = []
    try:
        description = fmpy.read_model_description(folder)
        description.instantiationToken = token or description.instantiationToken
        fmu = fmpy.instantiate_fmu(
            folder,
            description,
            fmi_type=kind,
            debug_logging=True,
            logger=lambda *arguments: said.append(arguments[-1].decode()),
        )
        fmu.said = said
        _KEPT.append(fmu)
        if start:
            if description.fmiVersion == "2.0":
                fmu.setupExperiment(startTime=0.0)
            fmu.enterInitializationMode()
            fmu.exitInitializationMode()
        yield fmu
        fmu.freeInstance()
    finally:
        shutil.rmtree(folder, ignore_errors=True)
