"""Diagrams whose best designs are known."""

import pytest

OSCILLATOR = """
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
wires: [goal -> u.0, x -> u.1, v -> damp, damp -> twice, twice -> u.2, u -> v, v -> x]
run: {T: 60, rtol: 1.0e-8, atol: 1.0e-10}
"""
"""x'' = 1 - 2 zeta x' - x: the integral of the squared error is zeta + 1/(4 zeta)."""

PRODUCT = """
params: {k: 1.0, a: 1.0}
blocks:
  one: {type: CONSTANT, value: 1.0}
  a: {type: GAIN, K: $a}
  y: {type: GAIN, K: $k}
  s: {type: SCOPE}
wires: [one -> a, a -> y, y -> s]
run: {T: 1}
"""
"""y = a k"""


@pytest.fixture
def written(tmp_path):
    """written(text): the path of a diagram with this text."""

    def write(text):
        path = tmp_path / "design.yaml"
        path.write_text(f"name: design\n{text}", encoding="utf-8")
        return path

    return write


@pytest.fixture
def oscillator(written):
    """The path of x'' = 1 - 2 zeta x' - x."""
    text = OSCILLATOR.replace("v -> x]", "v -> x, goal -> e.0, x -> e.1, e -> s]")
    return written(text)


@pytest.fixture
def product(written):
    """The path of y = a k."""
    return written(PRODUCT)
