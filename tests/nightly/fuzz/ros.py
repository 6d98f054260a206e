"""Messages of ROS and definitions of them (.msg)."""

from __future__ import annotations

import random
from pathlib import Path

from fuzz.cases import Case, Format
from fuzz.damage import NUMBERS, TEXTS, spoilt

_TYPES = ("sensor_msgs/JointState", "nav_msgs/Odometry", "tf2_msgs/TFMessage",
          "trajectory_msgs/JointTrajectory", "rcl_interfaces/SetParametersResult",
          "sensor_msgs/PointCloud2", "std_msgs/Float64MultiArray",
          "visualization_msgs/InteractiveMarker")  # fmt: skip
_GOOD = ("float64 x", "string<=5[<=2] s", "geometry_msgs/Pose p", "Header h", "uint8 A=3",
         "#", "string B='x'", "byte[16] id", "bool on true", "int8[2] pair [1, 2]",
         "float32[] r")  # fmt: skip
_BAD = ("float64[3] v 1 2", "Thing t", "fuzz_msgs/Other o", "../x y", "int8[99999999] n",
        "wstring w", "---", "=", "====", "float64[[]] z", "uint8 x -1", "string B=1")  # fmt: skip
_DIAGRAM = """
blocks:
  b: {{type: ROS_IN, topic: t, message: {message}, definitions: Thing.msg{more}}}
  n: {{type: 'NULL', nin: 1}}
  c: {{type: CONSTANT, value: 1}}
wires: [c -> n.0]
"""


def draw(chance: random.Random) -> Case:
    if chance.random() < 0.5:
        return Case({"message.bin": _message(chance)}, {"type": chance.choice(_TYPES)})
    lines = ["float64 x", *chance.sample(_GOOD[1:], chance.randint(0, 6))]
    if chance.random() < 0.5:
        lines.insert(chance.randrange(len(lines)), chance.choice((*_BAD, *TEXTS[:20])))
    raw = "\n".join(lines).encode("utf-8", "surrogatepass")
    if chance.random() < 0.4:
        raw = spoilt(raw or b"float64 x", chance)
    more = chance.choice(("", "", ", fields: {a: x}", ", fields: {a: 'r[3]', c: p.position}",
                          ", values: {id: [1], h: {frame_id: a}}", ", joints: [a, b]",
                          f", qos: {{depth: {chance.choice(NUMBERS)}}}"))  # fmt: skip
    message = chance.choice(("fuzz_msgs/Thing",) * 4 + (*_TYPES, "Thing", "a/b/c", "''"))
    text = _DIAGRAM.format(message=message, more=more)
    return Case({"Thing.msg": raw, "fuzzed.yaml": text.encode()}, {"type": None})


def _message(chance: random.Random) -> bytes:
    """Bytes that begin as a message does: lengths of strings and sequences, and numbers."""
    words = b"".join(
        chance.choice((0, 1, 2, 3, 4, 5, 8, 2**16, 2**31, 2**32 - 1)).to_bytes(4, "little")
        for _ in range(chance.randint(0, 60))
    )
    header = chance.choice((b"\0\1\0\0",) * 6 + (b"\0\0\0\0", b"\0\7\0\0", b""))
    raw = header + words + bytes(chance.choice((0, 0, 7, 400)))
    return spoilt(raw, chance) if chance.random() < 0.5 else raw


def attempt(case: Case, ground: Path) -> str:
    if case.options["type"] is None:
        from spart_blocks.diagram import load

        load(ground / "fuzzed.yaml")
        return "loaded"
    from spart_blocks.ros.cdr import decode
    from spart_blocks.ros.library import bundled

    try:
        decode((ground / "message.bin").read_bytes(), bundled().message(case.options["type"]))
    except ValueError:
        return "no message"
    return "read"


FORMAT = Format("ros", 4, draw, attempt)
