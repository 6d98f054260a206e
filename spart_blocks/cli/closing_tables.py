"""A robot's loops and forces as tables for `spart robot`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from spart_blocks.cli.text_tables import headed_table

if TYPE_CHECKING:
    from rich.table import Table

    from spart_blocks.robot import Force, Loop, Robot
    from spart_blocks.robot.graph import BodiesGraph


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
