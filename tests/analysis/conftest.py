"""Diagrams from text, beside the closed forms of what they are."""

from __future__ import annotations

from pathlib import Path

import pytest

import spart_blocks as sb

ROOT = Path(__file__).parents[2]


@pytest.fixture
def diagram(tmp_path):
    """diagram(text, kp=3): a diagram from YAML within the repository's reach."""

    def made(text, **params):
        file = tmp_path / "diagram.yaml"
        file.write_text(text.replace("MODELS", (ROOT / "models").as_posix()), encoding="utf-8")
        overrides = [f"params.{name}={value}" for name, value in params.items()]
        return sb.load(file, overrides=overrides, root=Path("/"))

    return made


OSCILLATOR = """
name: oscillator
params: {inverse_mass: 0.5, stiffness: 8.0, damping: 0.6, f: 0.0}
blocks:
  force: {type: CONSTANT, value: $f}
  total: {type: SUM, signs: "+--"}
  accel: {type: GAIN, K: $inverse_mass}
  v: {type: INTEGRATOR}
  x: {type: INTEGRATOR}
  spring: {type: GAIN, K: $stiffness}
  damper: {type: GAIN, K: $damping}
wires:
  - force -> total.0
  - spring -> total.1
  - damper -> total.2
  - total -> accel
  - accel -> v
  - v -> x, damper
  - x -> spring
run: {T: 1}
"""

# The arm holds still where its torques are those of its weight.
HELD_ARM = """
name: held-arm
robots: {arm: {urdf: MODELS/arm7.urdf, base: fixed}}
blocks:
  torque: {type: CONSTANT, value: [0, 0, 0, 0, 0, 0, 0]}
  weight: {type: GRAVITY, robot: arm, gravity: [0, 0, -9.81]}
  plant: {type: MULTIBODY, robot: arm, initial: {qm: [0.3, -0.4, 0.5, 0.9, -0.2, 0.6, 0.1]}}
wires:
  - torque -> plant.taum
  - weight.wFm -> plant.wFm
run: {T: 1}
"""

PD_ARM = """
name: pd-arm
robots: {arm: {urdf: MODELS/arm7.urdf, base: fixed}}
blocks:
  qd: {type: STEP, T: 0.0, on: [0.1, 0.2, -0.1, 0.4, 0.0, 0.3, -0.2]}
  ctrl: {type: JOINT_PD, kp: 50, kd: 5}
  plant: {type: MULTIBODY, robot: arm, initial: {qm: [0.1, 0.2, -0.1, 0.4, 0.0, 0.3, -0.2]}}
wires:
  - qd -> ctrl.qd
  - plant.qm -> ctrl.qm
  - plant.um -> ctrl.um
  - ctrl -> plant.taum
run: {T: 1}
"""

# m x'' = u with u = -kp x - kd x', m = 2.
SERVO = """
name: servo
params: {kp: 12.0, kd: 3.0}
blocks:
  goal: {type: CONSTANT, value: 0.0}
  error: {type: SUM, signs: "+-"}
  p: {type: GAIN, K: $kp}
  d: {type: GAIN, K: $kd}
  u: {type: SUM, signs: "+-"}
  mass: {type: GAIN, K: 0.5}
  v: {type: INTEGRATOR}
  x: {type: INTEGRATOR}
wires:
  - goal -> error.0
  - x -> error.1
  - error -> p
  - v -> d, x
  - p -> u.0
  - d -> u.1
  - u -> mass
  - mass -> v
run: {T: 1}
"""

# x' = -0.7 x + 2 u, u held and renewed every 0.1 s as -1.5 x + r.
SAMPLED = """
name: sampled
clocks: {computer: {T: 0.1}}
blocks:
  r: {type: CONSTANT, value: 0.0}
  gain: {type: GAIN, K: 1.5}
  law: {type: SUM, signs: "+-"}
  hold: {type: ZOH, clock: computer}
  drive: {type: GAIN, K: 2.0}
  loss: {type: GAIN, K: 0.7}
  rate: {type: SUM, signs: "+-"}
  x: {type: INTEGRATOR, x0: 1.0}
wires:
  - x -> gain, loss
  - r -> law.0
  - gain -> law.1
  - law -> hold
  - hold -> drive
  - drive -> rate.0
  - loss -> rate.1
  - rate -> x
run: {T: 1}
"""

TWO_CLOCKS = """
name: two-clocks
clocks: {fast: {T: 0.1}, slow: {T: 0.3, offset: 0.1}}
blocks:
  one: {type: CONSTANT, value: 1.0}
  a: {type: ZOH, clock: fast}
  b: {type: ZOH, clock: slow}
wires: [one -> a, a -> b]
run: {T: 1}
"""


@pytest.fixture
def oscillator(diagram):
    return diagram(OSCILLATOR)


@pytest.fixture
def held_arm(diagram):
    return diagram(HELD_ARM)


@pytest.fixture
def held_arm_text():
    return HELD_ARM


@pytest.fixture
def pd_arm_text():
    return PD_ARM


@pytest.fixture
def pd_arm(diagram):
    return diagram(PD_ARM)


@pytest.fixture
def servo(diagram):
    return diagram(SERVO)


@pytest.fixture
def sampled(diagram):
    return diagram(SAMPLED)


@pytest.fixture
def two_clocks(diagram):
    return diagram(TWO_CLOCKS)
