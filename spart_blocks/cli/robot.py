"""`spart robot`: the contents of a robot file."""

from __future__ import annotations

from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING

from spart_blocks.base.errors import Fault, InputError, counted
from spart_blocks.cli.commands import argument, command, holds_bodies, option, switch
from spart_blocks.cli.terminal import headed_table, put

if TYPE_CHECKING:
    from rich.table import Table

    from spart_blocks.robot import Drive, Force, Joint, Loop, Robot
    from spart_blocks.robot.graph import BodiesGraph

_UNITS = {"REVOLUTE": "rad", "PRISMATIC": "m"}


@command(
    "spart robot models/spacecraft_3dof.urdf",
    "spart robot arm.urdf --strict",
)
def robot(
    *,
    file: Path = argument(
        "FILE", "A URDF file, a YAML file of bodies, of links or of DH data, or a diagram."
    ),
    drives: Path | None = option("--drives FILE", "A YAML file of the motors of its joints."),
    loops: Path | None = option("--loops FILE", "A YAML file of the loops of a URDF."),
    strict: bool = switch("--strict", "Reject doubtful inertias instead of warning."),
) -> None:
    """Read a robot and print its links and joints, with SPART's numbers.

    Also its motors, active effects, loops and forces; for a file of bodies the tree and the chords
    of its joints; for a diagram all its robots.
    """
    if holds_bodies(file):
        from spart_blocks.robot.bodies import bodies_graph

        put(*graph_tables(bodies_graph(file)), "", as_list=True)
    for number, robot in enumerate(robots_of(file, strict, drives, loops)):
        blank = [""] if number else []
        put(*blank, *_heading(robot), "", _tree(robot), as_list=True)
        if any(joint.drive for joint in robot.joints):
            put("", _drives(robot), as_list=True)
        for closing in closing_tables(robot):
            put("", closing, as_list=True)


def robots_of(
    file: Path, strict: bool = False, drives: Path | None = None, loops: Path | None = None
) -> list[Robot]:
    """The robots of a file. drives, loops: YAML files of their motors and loops, if any. Raises
    InputError for a diagram without robots."""
    from spart_blocks.base.document import read_document
    from spart_blocks.robot import Robot

    if file.suffix not in (".yaml", ".yml"):
        return [Robot.from_urdf(file, strict=strict, drives=drives, loops=loops)]
    if loops is not None:
        raise InputError(Fault("--loops is for a URDF file", hint="other files name their own"))
    data = read_document(file).data
    if "bodies" in data:
        found = [Robot.from_bodies(file, strict=strict)]
    elif "links" in data:
        found = [Robot.from_links(file)]
    elif "man" in data:
        found = [Robot.from_dh(data, strict=strict)]
    else:
        from spart_blocks.diagram import load

        found = [*load(file).robots.values()]
    if not found:
        hint = "name one under robots:, or give the file of a robot"
        raise InputError(Fault(f"{file}: the diagram has no robots", hint=hint))
    return found if drives is None else [robot.with_drives(drives) for robot in found]


def _heading(robot: Robot) -> list[str]:
    n, active = robot.n_links_joints, robot.n_q
    lines = [
        f"{robot.name}: {robot.base} base, {counted(n, 'joint')} ({active} active), "
        f"{robot.mass:.6g} kg",
    ]
    if robot.effects or any(joint.drive for joint in robot.joints):
        lines.append(f"acting at its joints: {', '.join(robot.effects) or 'nothing'}")
    if robot.kinematic:
        lines.append(f"prescribed: {', '.join(c.name for c in robot.kin_configs)}")
    if robot.loops:
        from spart_blocks.dynamics.mobility import mobility

        lines.append(f"loops closed: {mobility(robot)}")
    return lines


def _tree(robot: Robot) -> Table:
    """A table with one row for each link and the joint that carries it, indented below its
    parent."""
    columns = ("link", "mass [kg]", "joint", "type", "qm", "limits", "effort", "velocity")
    table = headed_table(columns, left=len(columns))
    for number in ("mass [kg]", "qm"):
        table.columns[columns.index(number)].justify = "right"
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
        table.add_row(name, f"{link.mass:.6g}", *_joint_cells(joint, robot))
        waiting += children.get(i, [])[::-1]
    return table


def _drives(robot: Robot) -> Table:
    """A table with one row for each motor: its parameters, and its inertia at the joint."""
    columns = ["motor of", "gear", "Jm [kg m^2]", "B [N m s]", "Tc [N m]", "G^2 Jm"]
    static = any(joint.drive and joint.drive.static for joint in robot.joints)
    columns += ["Ts [N m]", "vs [rad/s]"] if static else []
    table = headed_table(columns)
    for joint in robot.joints:
        drive = joint.drive
        if drive is not None:
            forward, backward = drive.coulomb
            table.add_row(
                joint.name,
                f"{drive.gear:g}",
                f"{drive.motor_inertia:.4g}",
                f"{drive.viscous:.4g}",
                f"{forward:.4g}, {backward + 0.0:.4g}",
                f"{drive.gear**2 * drive.motor_inertia:.4g}",
                *(_static_cells(drive) if static else ()),
            )
    return table


def _static_cells(drive: Drive) -> tuple[str, str]:
    if drive.static is None:
        return "", ""
    return f"{drive.static[0]:.4g}, {drive.static[1] + 0.0:.4g}", f"{drive.stribeck:.4g}"


def _joint_cells(joint: Joint, robot: Robot) -> tuple[str, ...]:
    kind, limits = joint.type.name, joint.limits
    unit = _UNITS.get(kind)
    part = robot.q_slices[joint.id - 1]
    index = "" if part is None else f"qm[{part.start}]"
    if part is not None and part.stop > part.start + 1:
        index = f"qm[{part.start}:{part.stop}]"
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


# --- loops and forces -----------------------------------------------------------------------------


def graph_tables(graph: BodiesGraph) -> list[Table | str]:
    """A table of the joints, in the order of their levels, and one of the chords, if there are
    any."""
    joints = _table("level", "joint", "type", "parent", "child", "")
    cut = {chord.joint for chord in graph.chords}
    for joint in graph.joints:
        notes = [
            *(["against the tree"] if joint.flipped else []),
            *(["cut"] if joint.name in cut else []),
            *(["added: no joint leads to the ground"] if joint.added else []),
        ]
        cells = (joint.name, joint.kind, joint.parent, joint.child, ", ".join(notes))
        joints.add_row(str(joint.level), *cells)
    if not graph.chords:
        return [joints]
    chords = _table("chord", "from virtual body", "to body", "joint")
    for number, chord in enumerate(graph.chords):
        chords.add_row(f"[{number}]", chord.parent, chord.child, f"{chord.joint} {chord.kind}")
    return [joints, "", chords]


def closing_tables(robot: Robot) -> list[Table]:
    """A table of the loops and one of the forces, each if the robot has any."""
    names = [robot.base_link.name, *(link.name for link in robot.links)]
    found = []
    if robot.loops:
        loops = _table("loop", "type", "between", "and", "constrains", "length [m]")
        for loop in robot.loops:
            loops.add_row(loop.name, loop.type, names[loop.a], names[loop.b], *_loop_cells(loop))
        found.append(loops)
    if robot.forces:
        forces = _table("force", "kind", "acts on", "port")
        for force in robot.forces:
            forces.add_row(force.name, *_force_cells(force, names))
        found.append(forces)
    return found


def _loop_cells(loop: Loop) -> tuple[str, str]:
    if loop.coupling is not None:
        return str(loop.coupling), ""
    rows = ", ".join(row.rpartition(".")[2] for row in loop.rows)
    if loop.length is None:
        return rows, ""
    return rows, "prescribed" if isinstance(loop.length, str) else f"{loop.length:.6g}"


def _force_cells(force: Force, names: list[str]) -> tuple[str, str, str]:
    from spart_blocks.robot import JointPort, JointSpring, PointPort, PointSpring

    if isinstance(force, PointSpring):
        return "spring between points", f"{names[force.a]}, {names[force.b]}", ""
    if isinstance(force, JointSpring):
        return "spring at a joint", force.joint, ""
    if isinstance(force, JointPort):
        return "torque or force at a joint", force.joint, force.port
    if not isinstance(force, PointPort):
        return type(force).__name__, "", ""
    if force.b is not None:
        return "force between points", f"{names[force.a]}, {names[force.b]}", force.port
    axes = "link" if force.local else "inertial"
    return f"force in {axes} axes", names[force.a], f"{force.port} (3)"


def _table(*columns: str) -> Table:
    return headed_table(columns, left=len(columns))
