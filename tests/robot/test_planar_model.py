"""The planar arm of the resolved-motion diagrams."""

from __future__ import annotations

import numpy as np
import robots
import yaml

from spart_blocks.robot import Robot


def test_the_shipped_planar_arm_is_spart_s_with_inertias_about_x_and_y_besides(close):
    planar = robots.golden_robot("spart_resolved_motion_4dof")
    text = (robots.ROOT / "models" / "planar_4dof.yaml").read_text(encoding="utf-8")
    shipped = Robot.from_dh(yaml.safe_load(text))
    bodies = zip(
        (shipped.base_link, *shipped.links), (planar.base_link, *planar.links), strict=True
    )
    for body, reference in bodies:
        assert body.mass == reference.mass
        close(body.T, reference.T, "T")
        close(body.inertia[2], reference.inertia[2], "about z")
        close(body.inertia - np.diag(np.diag(body.inertia)), np.zeros((3, 3)), "products")
    for joint, reference in zip(shipped.joints, planar.joints, strict=True):
        close(joint.T, reference.T, "T")
        close(joint.axis, reference.axis, "axis")
