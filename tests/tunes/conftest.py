"""Diagrams whose best designs are known."""

import pytest

# x'' = u - 2 zeta x' - x, which follows a unit step: the integral of e^2 is zeta + 1/(4 zeta).
OSCILLATOR = """
name: oscillator
params: {zeta: 0.2}
blocks:
  goal: {type: STEP, T: 0, on: 1}
  u: {type: SUM, signs: "+--"}
  damp: {type: GAIN, K: $zeta}
  twice: {type: GAIN, K: 2}
  v: {type: INTEGRATOR}
  x: {type: INTEGRATOR}
  e: {type: SUM, signs: "+-"}
  s: {type: SCOPE}
wires:
  - goal -> u.0
  - x -> u.1
  - v -> damp
  - damp -> twice
  - twice -> u.2
  - u -> v
  - v -> x
  - goal -> e.0
  - x -> e.1
  - e -> s
run: {T: 60, rtol: 1.0e-8, atol: 1.0e-10}
"""


@pytest.fixture
def oscillator(tmp_path):
    path = tmp_path / "oscillator.yaml"
    path.write_text(OSCILLATOR, encoding="utf-8")
    return path
