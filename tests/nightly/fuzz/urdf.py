"""URDF files: those of models/, with elements, attributes and bytes that are others."""

from __future__ import annotations

import random
from functools import cache
from pathlib import Path

from fuzz.cases import PROJECT, Case, Format
from fuzz.damage import bent_xml, spoilt


@cache
def sound() -> list[bytes]:
    return [path.read_bytes() for path in sorted((PROJECT / "models").glob("*.urdf"))]


def draw(chance: random.Random) -> Case:
    raw = chance.choice(sound())
    if chance.random() < 0.04:
        raw = _many(chance)
    elif chance.random() < 0.7:
        raw = bent_xml(raw, chance)
    if chance.random() < 0.35:
        raw = spoilt(raw, chance)
    options = {
        "strict": chance.random() < 0.3,
        "base": chance.choice((None, "fixed", "floating")),
        "checked": chance.random() < 0.3,
    }
    return Case({"fuzzed.urdf": raw}, options)


def _many(chance: random.Random) -> bytes:
    """A file of many links that are all wrong in the same way."""
    n = chance.choice((200, 2000, 10_000))
    inertia = chance.choice(('ixx="1" iyy="-1" izz="1"', 'ixx="0" iyy="0" izz="0"', 'ixx="x"',
                             'ixx="1" iyy="1" izz="9"', ""))  # fmt: skip
    mass = chance.choice(("1", "0", "-1", "nan"))
    rest = 'ixy="0" ixz="0" iyz="0"'
    body = f'<inertial><mass value="{mass}"/><inertia {inertia} {rest}/></inertial>'
    parent = chance.choice(("{p}", "0", "no", "{i}"))
    links = "".join(f'<link name="l{i}">{body}</link>' for i in range(n))
    joints = "".join(
        f'<joint name="j{i}" type="revolute"><parent link="l{parent.format(p=i - 1, i=i)}"/>'
        f'<child link="l{i}"/><axis xyz="0 0 1"/></joint>'
        for i in range(1, n)
    )
    return f'<robot name="many">{links}{joints}</robot>'.encode()


def attempt(case: Case, ground: Path) -> str:
    from spart_blocks.robot import Robot

    options = case.options
    file = ground / "fuzzed.urdf"
    robot = Robot.from_urdf(file, base=options["base"], strict=options["strict"])
    if options["checked"] and len(robot.links) <= 1000:
        from spart_blocks.diagram import load

        diagram = ground / "fuzzed-diagram.yaml"
        text = "robots: {r: {urdf: fuzzed.urdf}}\nblocks: {p: {type: MULTIBODY, robot: r}}\n"
        diagram.write_text(text)
        load(diagram)
    return "loaded"


FORMAT = Format("urdf", 16, draw, attempt)
