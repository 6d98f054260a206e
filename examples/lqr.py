"""A linear quadratic regulator for the arm of a free-floating spacecraft.

The plant is linearised where the arm is to come to rest, with the loop open at its torques;
the gain is that of the algebraic Riccati equation (Astrom and Murray, "Feedback Systems",
2nd ed., sec. 7.5). It is the one in diagrams/controllers/lqr.yaml; diagrams/control/lqr.yaml
has blocks that find theirs when they are run. python examples/lqr.py
"""

from pathlib import Path

import numpy as np

import spart_blocks as sb

ROOT = Path(__file__).resolve().parents[1]
np.set_printoptions(precision=4, suppress=True)

# The cost: integral of x'Qx + u'Ru, for the errors x of joint positions and rates, and the
# torques u.
gain = sb.lqr(
    ROOT / "diagrams" / "spacecraft_controllers.yaml",
    "plant",
    Q=[1600.0, 1600.0, 400.0, 100.0, 100.0, 25.0],
    R=1.0,
    at={"qm": [0.5, -0.3, 0.2]},
)
print("gain K, torques = -K [qm - qd, um]:")
print(gain.K)
print("poles of the closed loop:")
print(np.sort_complex(gain.poles))
