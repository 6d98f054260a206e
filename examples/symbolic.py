"""Expressions instead of numbers: the inertia matrix of a two-joint arm, by SymPy and CasADi.

The functions follow the number type of their inputs, so the code is that of the other
examples. Run it from anywhere: python examples/symbolic.py
"""

import sys

import numpy as np

try:
    import sympy as sp
except ImportError:
    sys.exit("this example needs SymPy: pip install 'spart_blocks[symbolic]'")

import spart_blocks as sb
from spart_blocks import dynamics

# Two links of 1 m and 2 kg in a plane, their centres of mass halfway.
link = {
    "type": 1,
    "DH": {"d": 0, "a": 1, "alpha": 0, "theta": 0},
    "b": [0.5, 0, 0],
    "mass": 2,
    "I": np.diag([0.0625, 0.25, 0.25]),
}
base = {"T_L0_J1": np.eye(4), "mass": 10, "I": np.eye(3)}
robot = sb.Robot.from_dh({"n": 2, "man": [link, link], "base": base})


def arm_inertia(qm):
    """Hm (2,2) [kg m^2] at qm (2,) [rad], for numbers and for symbols."""
    R0, r0 = np.eye(3), np.zeros(3)
    K = dynamics.kinematics(R0, r0, qm, robot)
    D = dynamics.diff_kinematics(R0, r0, K.rL, K.e, K.g, robot)
    I = dynamics.inertias(R0, K.RL, robot)
    M = dynamics.mass_composite_body(I.I0, I.Im, D.Bij, D.Bi0, robot)
    return dynamics.generalized_inertia(*M, D.Bij, D.Bi0, D.P0, D.pm, robot).Hm


# SymPy: an object array of symbols in, an object array of expressions out.
q1, q2 = sp.symbols("q1 q2", real=True)
Hm = sp.simplify(sp.nsimplify(sp.Matrix(arm_inertia(np.array([q1, q2], dtype=object)))))
print(f"Hm(q) = {Hm.tolist()} kg m^2")

# At a point, the expressions give what the numbers give.
q = np.array([0.3, -0.7])
got = np.array(Hm.subs({q1: q[0], q2: q[1]}), dtype=float)
print(f"at q = {q} rad: {got.tolist()}")
print(f"difference from numbers: {np.abs(got - arm_inertia(q)).max():.1e}")

# CasADi: the same, and the result is a function that compiles and differentiates.
try:
    import casadi as ca
except ImportError:
    print("CasADi is not installed: pip install 'spart_blocks[symbolic]'")
else:
    x = ca.SX.sym("q", 2)
    scalars = np.empty(2, dtype=object)
    scalars[:] = [x[0], x[1]]
    expressions = arm_inertia(scalars)
    H = ca.vertcat(*[ca.horzcat(*row) for row in expressions])
    f = ca.Function("Hm", [x], [H, ca.jacobian(H[0, 0], x)])
    value, slope = f(q)
    print(f"CasADi: difference from numbers: {np.abs(value.full() - arm_inertia(q)).max():.1e}")
    print(f"CasADi: dHm11/dq = {slope.full()[0].tolist()} kg m^2/rad")
