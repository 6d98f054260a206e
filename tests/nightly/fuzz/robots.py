"""Files of bodies, of links, of Denavit-Hartenberg data, of drives and loops, and SPART's
structure: the shipped ones, bent."""

from __future__ import annotations

import json
import random
from functools import cache
from pathlib import Path
from typing import Any

from fuzz.cases import PROJECT, Case, Format
from fuzz.damage import bent, copied, odd_value, spoilt, spots, yaml_text

_BALL = {"mass": 2.0, "inertia": [0.1, 0.1, 0.1]}
# All that a file of bodies can say.
EVERYTHING: dict[str, Any] = {
    "name": "everything",
    "bodies": {
        "a": {"mass": 2.0, "com": [0.1, 0, 0], "inertia": {"ixx": 0.1, "iyy": 0.1, "izz": 0.1}},
        "b": {"mass": 1.0, "inertia": [[0.1, 0, 0], [0, 0.1, 0], [0, 0, 0.1]]},
        "c": _BALL,
    },
    "joints": {
        "J": {
            "type": "Rz",
            "parent": "ground",
            "child": "a",
            "q": 0.2,
            "gear": 10,
            "motor_inertia": 1e-4,
            "coulomb": [0.4, -0.5],
            "static": [0.6, -0.5],
            "stribeck": 0.1,
            "qlim": [-2, 2],
        },
        "K": {
            "type": "spherical",
            "parent": "a",
            "child": "b",
            "parent_frame": {"xyz": [0.5, 0, 0], "rpy": [0, 0, 0.1]},
            "child_frame": {"xyz": [-0.5, 0, 0], "quaternion": [0, 0, 0, 1]},
        },
        "L": {"type": "Tx", "parent": "b", "child": "c", "limits": {"lower": -1, "upper": 1}},
    },
    "distances": {
        "rod": {"parent": "ground", "child": "c", "length": 1.2, "child_point": [0.1, 0, 0]}
    },
    "forces": {
        "s": {"type": "spring", "parent": "a", "child": "c", "stiffness": 10, "length": 1},
        "p": {"type": "force", "body": "b", "port": "push"},
        "t": {"type": "torque", "joint": "J", "port": "turn"},
    },
    "prescribed": ["L"],
}
LOOPS = {
    "joints": {"pin": {"type": "Rz", "parent": "Link_0", "child": "Link_3", "cut": True}},
    "home": {"Joint_1": 0.1},
}
STRUCTURE = "structure"


@cache
def sound() -> dict[str, Any]:
    """Trees by how they are read and a name: bodies/..., links/..., dh/..., drives/..."""
    from spart_blocks.base.document import read_document
    from spart_blocks.robot import Robot
    from spart_blocks.robot.structure import robot_to_structure

    found: dict[str, Any] = {"bodies/everything": EVERYTHING, "loops/pin": LOOPS}
    for path in sorted((PROJECT / "models").glob("*.yaml")):
        data = read_document(path).data
        kind = next((k for k in ("bodies", "links") if k in data), "dh")
        kind = "drives" if path.stem.endswith("drives") else kind
        found[f"{kind}/{path.stem}"] = data
    robot = Robot.from_urdf(PROJECT / "models/spacecraft_3dof.urdf")
    found["structure/spacecraft_3dof"] = robot_to_structure(robot)
    return found


def draw(chance: random.Random) -> Case:
    name = chance.choice((*sound(), "bodies/everything", "bodies/everything", "bodies/four_bar"))
    tree = sound()[name]
    tree = (_all_places if chance.random() < 0.25 else bent)(tree, chance)
    as_json = name.startswith(STRUCTURE)
    raw = json.dumps(tree).encode() if as_json else yaml_text(tree)
    raw = spoilt(raw, chance) if chance.random() < 0.08 else raw
    options = {"kind": name.split("/")[0], "strict": chance.random() < 0.3}
    return Case({f"fuzzed.{'json' if as_json else 'yaml'}": raw}, options)


def _all_places(tree: Any, chance: random.Random) -> Any:
    """One list of the tree, or one number, with an odd value in each of its places."""
    tree = copied(tree)
    lists = [(h, k) for h, k in spots(tree) if isinstance(h[k], list) and h[k]]
    if lists:
        holder, key = chance.choice(lists)
        holder[key] = [odd_value(chance) if chance.random() < 0.5 else v for v in holder[key]]
    return tree


def attempt(case: Case, ground: Path) -> str:
    import numpy as np

    from spart_blocks.base.document import read_document
    from spart_blocks.robot import Robot

    kind, strict = case.options["kind"], case.options["strict"]
    file = ground / next(iter(case.files))
    if kind == "bodies":
        robot = Robot.from_bodies(file, strict=strict)
    elif kind == "links":
        robot = Robot.from_links(file)
    elif kind == "dh":
        robot = Robot.from_dh(read_document(file).data)
    elif kind == "drives":
        robot = Robot.from_urdf(ground / "models/arm3.urdf").with_drives(file)
    elif kind == "loops":
        robot = Robot.from_urdf(ground / "models/spacecraft_3dof.urdf", loops=file)
    else:
        return _structure(file, strict)
    assert np.isfinite(robot.matter[0]).all()
    return kind


def _structure(file: Path, strict: bool) -> str:
    """As a diagram reads it: `robots: {r: {spart: file.json}}`."""
    from spart_blocks.diagram import load

    text = f"robots: {{r: {{spart: fuzzed.json, strict: {str(strict).lower()}}}}}\n"
    text += "blocks: {k: {type: GRAVITY, robot: r}, n: {type: 'NULL'}}\nwires: []\n"
    diagram = file.with_name("fuzzed-diagram.yaml")
    diagram.write_text(text)
    load(diagram)
    return STRUCTURE


FORMAT = Format("robots", 22, draw, attempt)
