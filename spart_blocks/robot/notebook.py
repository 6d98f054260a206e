"""HTML of a robot for notebooks: its links and joints."""

from __future__ import annotations

from math import isfinite
from typing import TYPE_CHECKING

from spart_blocks.base import html

if TYPE_CHECKING:
    from spart_blocks.robot.parts import Joint
    from spart_blocks.robot.robot_model import RobotModel

_COLUMNS = ("link", "mass [kg]", "parent", "joint", "type", "limits")


def to_html(robot: RobotModel) -> str:
    """See Robot._repr_html_."""
    about = (
        f"{robot.base} base, {robot.n_links_joints} links, {robot.n_q} active joints, "
        f"{robot.mass:.6g} kg"
    )
    base = robot.base_link
    rows = [(f"0 {base.name}", f"{base.mass:.6g}", "", "", "base", "")]
    for joint, link in zip(robot.joints, robot.links, strict=True):
        parent = robot.body(joint.parent_link)
        rows.append(
            (
                f"{link.id} {link.name}",
                f"{link.mass:.6g}",
                f"{joint.parent_link} {parent.name}",
                f"{joint.id} {joint.name}",
                joint.type.name.lower(),
                _limits(joint),
            )
        )
    closed = [f"{len(robot.loops)} loops closed"] if robot.loops else []
    looks: str = html.of_motion("frame_of_robot")(robot)
    return html.heading(robot.name, about) + html.table(_COLUMNS, rows) + html.lines(closed) + looks


def _limits(joint: Joint) -> str:
    limits = joint.limits
    if limits is None or not (isfinite(limits.lower) or isfinite(limits.upper)):
        return ""
    unit = {"REVOLUTE": " rad", "PRISMATIC": " m"}.get(joint.type.name, "")
    return f"{limits.lower:.4g} to {limits.upper:.4g}{unit}"
