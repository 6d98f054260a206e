"""Small URDF texts for the tests, one element a line, so that lines can be asserted."""

from __future__ import annotations

from pathlib import Path

INERTIAL = (
    '<inertial><mass value="1"/>'
    '<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>'
)


def link(name: str, inertial: str = INERTIAL) -> str:
    return f'<link name="{name}">{inertial}</link>'


def body(name: str, mass: float, *moments: float) -> str:
    """A link with a mass and the moments ixx, iyy, izz."""
    xx, yy, zz = moments
    return link(
        name,
        f'<inertial><mass value="{mass}"/><inertia ixx="{xx}" iyy="{yy}" izz="{zz}" '
        'ixy="0" ixz="0" iyz="0"/></inertial>',
    )


def joint(name: str, parent: str, child: str, kind: str = "revolute", extra: str = "") -> str:
    return (
        f'<joint name="{name}" type="{kind}"><parent link="{parent}"/>'
        f'<child link="{child}"/>{extra}</joint>'
    )


def robot(*elements: str) -> str:
    """A document: the first element is on line 2."""
    return "\n".join(['<robot name="r">', *elements, "</robot>"])


def write(folder: Path, text: str | bytes) -> Path:
    path = folder / "robot.urdf"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path
