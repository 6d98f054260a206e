"""What is true of every sheet."""

from __future__ import annotations

from itertools import pairwise


def blocks(sheet):
    """The blocks of a sheet by name."""
    return {block["name"]: block for block in sheet["blocks"]}


def assert_apart(sheet):
    """No block lies on another."""
    boxes = [(b["x"], b["y"], b["x"] + b["width"], b["y"] + b["height"]) for b in sheet["blocks"]]
    for k, a in enumerate(boxes):
        for b in boxes[:k]:
            assert a[2] <= b[0] or b[2] <= a[0] or a[3] <= b[1] or b[3] <= a[1], sheet["at"]


def port_place(block, port, output):
    """Where a port of a block is, whichever side it faces."""
    facing, offset = block["facing"], port["offset"]
    if facing in ("right", "left"):
        return [block["x"] + block["width"] * ((facing == "right") == output), block["y"] + offset]
    return [block["x"] + offset, block["y"] + block["height"] * ((facing == "down") == output)]


def assert_routed(sheet):
    """Each wire is right-angled, from its output to its input."""
    found = blocks(sheet)
    for wire in sheet["wires"]:
        start, end = found[wire["from"]["block"]], found[wire["to"]["block"]]
        out = next(p for p in start["outputs"] if p["name"] == wire["from"]["port"])
        into = next(p for p in end["inputs"] if p["name"] == wire["to"]["port"])
        points = wire["points"]
        assert points[0] == port_place(start, out, True)
        assert points[-1] == port_place(end, into, False)
        for (x0, y0), (x1, y1) in pairwise(points):
            assert (x0 == x1) != (y0 == y1), points


def whole(before, change):
    """The sheet after changes that were told of another one."""
    if "base" not in change:
        return change
    assert change["base"] == before["version"]
    kinds = {
        kind: [
            one
            for part in change[kind]
            for one in (before[kind][slice(*part)] if isinstance(part, list) else [part])
        ]
        for kind in ("blocks", "wires")
    }
    return {key: value for key, value in change.items() if key != "base"} | kinds
