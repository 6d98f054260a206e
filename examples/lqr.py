"""A linear quadratic regulator for the arm of a free-floating spacecraft.

The diagram is linearized where the arm is to come to rest; the gain is that of the
algebraic Riccati equation (Astrom and Murray, "Feedback Systems", 2nd ed., sec. 7.5). It is
the one in diagrams/controllers/lqr.yaml. python examples/lqr.py
"""

from pathlib import Path

import numpy as np
from scipy.linalg import solve_continuous_are

import spart_blocks as sb

ROOT = Path(__file__).resolve().parents[1]
np.set_printoptions(precision=4, suppress=True)

# Where the arm is to come to rest, with the loop cut at the torques.
diagram = sb.load(
    ROOT / "diagrams" / "spacecraft_controllers.yaml",
    overrides=["plant.initial.qm=[0.5, -0.3, 0.2]", "qd.off=[0.5, -0.3, 0.2]"],
)
system = sb.linearize(
    diagram, inputs="plant.taum", outputs=["plant.qm", "plant.um"], open_at="plant.taum"
)

# The joints on their own: at rest the base follows them and does not act back.
names = [f"plant.{name}[{i}]" for name in ("qm", "um") for i in range(3)]
joints = [system.states.index(name) for name in names]
A, B = system.A[np.ix_(joints, joints)], system.B[joints]

# The cost: integral of q'Qq over errors in position and rate, and of the torques squared.
Q = np.diag([1600.0, 1600.0, 400.0, 100.0, 100.0, 25.0])
R = np.eye(3)
S = solve_continuous_are(A, B, Q, R)
K = np.linalg.solve(R, B.T @ S)
print("gain K, torques = -K [qm - qd, um]:")
print(K)
print("poles of the closed loop:")
print(np.sort_complex(np.linalg.eigvals(A - B @ K)))
