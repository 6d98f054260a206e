"""A file of bodies for the tests."""

from __future__ import annotations

from pathlib import Path

ROUND = {"mass": 1.0, "inertia": [0.1, 0.1, 0.1]}

FOURBAR = """
name: fourbar
bodies:
  crank: {mass: 1.0, com: [0.1, 0, 0], inertia: [0.01, 0.02, 0.02]}
  rod: {mass: 2.0, com: [0.2, 0, 0], inertia: {ixx: 0.01, iyy: 0.04, izz: 0.04, ixy: 0.001}}
  rocker: {mass: 1.5, com: [0.1, 0, 0], inertia: [[0.01, 0, 0], [0, 0.02, 0], [0, 0, 0.02]]}
joints:
  J1: {type: Rz, parent: ground, child: crank, q: 0.6, gear: 50, motor_inertia: 1e-5}
  J2: {type: Rz, parent: rod, child: crank, child_frame: {xyz: [0.2, 0, 0]}}
  J3:
    type: Rz
    parent: rod
    child: rocker
    parent_frame: {xyz: [0.5, 0, 0]}
    child_frame: {xyz: [0.3, 0, 0]}
  J4: {type: Rz, parent: rocker, child: ground, child_frame: {xyz: [0.4, 0, 0]}, q: -1.1,
       limits: {lower: -2, upper: 2}}
forces:
  motor: {type: torque, joint: J1, port: tau}
  bushing: {type: joint, joint: J4, stiffness: 3, rest: -0.2, damping: 0.1}
  spring: {type: spring, parent: ground, child: rod, child_point: [0.5, 0, 0], stiffness: 10,
           free_length: 0.3}
  push: {type: force, body: rod, point: [0.25, 0, 0], local: true}
  piston: {type: force, parent: crank, child: rocker, parent_point: [0.1, 0, 0], port: p}
"""


def written(folder: Path, text: str, name: str = "bodies.yaml") -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path
