"""`spart robot`: what a robot file was read as."""

from __future__ import annotations

from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from spart_blocks.cli.reporting import Debug, reporting
from spart_blocks.cli.terminal import put

if TYPE_CHECKING:
    from rich.table import Table

    from spart_blocks.robot import Joint, Robot

_UNITS = {"REVOLUTE": "rad", "PRISMATIC": "m"}


def robot(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A URDF file.", show_default=False)],
    strict: Annotated[
        bool, typer.Option("--strict", help="Refuse doubtful inertias instead of warning.")
    ] = False,
    debug: Debug = False,
) -> None:
    """Read a robot and print its links and joints, with SPART's numbers."""
    with reporting(debug):
        from spart_blocks.robot import Robot

        found = Robot.from_urdf(file, strict=strict)
        put(*_heading(found), "", _tree(found), as_list=True)


def _heading(robot: Robot) -> list[str]:
    n, active = robot.n_links_joints, robot.n_q
    return [
        f"{robot.name}: {robot.base} base, {_count(n, 'joint')} ({active} active), "
        f"{robot.mass:.6g} kg",
    ]


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" + ("" if number == 1 else "s")


def _tree(robot: Robot) -> Table:
    """One row for each link and the joint that carries it, indented below its parent."""
    from rich.table import Table

    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    for column in ("link", "mass [kg]", "joint", "type", "qm", "limits", "effort", "velocity"):
        right = column in ("mass [kg]", "qm")
        table.add_column(column, justify="right" if right else "left", overflow="fold")
    base = robot.base_link
    table.add_row(f"0 {base.name}", f"{base.mass:.6g}", "", "base", "", "", "", "")
    depth = {0: 0}
    children: dict[int, list[int]] = {}
    for joint in robot.joints:
        children.setdefault(joint.parent_link, []).append(joint.child_link)
    waiting = children.get(0, [])[::-1]
    while waiting:
        i = waiting.pop()
        joint, link = robot.joints[i - 1], robot.links[i - 1]
        depth[i] = depth[joint.parent_link] + 1
        name = f"{'  ' * depth[i]}{i} {link.name}"
        table.add_row(name, f"{link.mass:.6g}", *_joint_cells(joint))
        waiting += children.get(i, [])[::-1]
    return table


def _joint_cells(joint: Joint) -> tuple[str, ...]:
    kind, limits = joint.type.name, joint.limits
    unit = _UNITS.get(kind)
    index = "" if joint.q_id < 1 else f"qm[{joint.q_id - 1}]"
    cells = (f"{joint.id} {joint.name}", kind.lower(), index)
    if limits is None or unit is None:
        return (*cells, "", "", "")
    span = f"{limits.lower:.4g} to {limits.upper:.4g} {unit}"
    force = "N m" if unit == "rad" else "N"
    return (
        *cells,
        span if isfinite(limits.lower) or isfinite(limits.upper) else "none",
        f"{limits.effort:.4g} {force}" if isfinite(limits.effort) else "",
        f"{limits.velocity:.4g} {unit}/s" if isfinite(limits.velocity) else "",
    )
