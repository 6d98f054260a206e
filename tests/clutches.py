"""A clutch that locks: a chart's transition on the surface of a jump to which rates lead back."""

import numpy as np

CLUTCH = """
name: clutch
params: {start: 20.0}
blocks:
  lock:
    type: STATE_MACHINE
    arguments: [we, wv]
    outputs: {l: 0}
    initial: slips
    states: {slips: {}, locked: {entry: {l: 1}}}
    transitions: [{from: slips, to: locked, when: "we - wv <= 0"}]
  fe: {type: FCN, expression: "(4 - 8*sign(we - wv)) if l < 0.5 else 4/6", arguments: [we, wv, l]}
  fv: {type: FCN, expression: "8*sign(we - wv)/5 if l < 0.5 else 4/6", arguments: [we, wv, l]}
  we: {type: INTEGRATOR, x0: $start}
  wv: {type: INTEGRATOR}
wires:
  - fe -> we
  - fv -> wv
  - we -> fe.we, fv.we, lock.we
  - wv -> fe.wv, fv.wv, lock.wv
  - lock.l -> fe.l, fv.l
"""
LOCKS = 25 / 7


def speeds(t):
    """Of both sides (n, 2)."""
    slips, late = np.minimum(t, LOCKS), np.maximum(t - LOCKS, 0)
    return np.stack([20 - 4 * slips + late * 2 / 3, 1.6 * slips + late * 2 / 3], axis=-1)
