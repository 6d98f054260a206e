"""Recordings made by hand, packed here by themselves, with the motion that they hold."""

from __future__ import annotations

from base64 import b64encode

import numpy as np

STEP = 1e-6
SVG = """<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink"
 viewBox="0 0 200 60" onload="window.harm = 1">
<script>window.harm = 2</script>
<foreignObject><b>harm</b></foreignObject>
<a xlink:href="https://example.invalid/"><text x="10" y="10">link</text></a>
<image href="https://example.invalid/harm.png" width="5" height="5"/>
<g id="block plant"><path d="M20 15h60v30h-60z" fill="none" stroke="#333"
 onclick="window.harm = 3"/></g>
<g id="block ctrl"><path d="M110 15h60v30h-60z" fill="none" stroke="#333"/></g></svg>"""


def packed(values, kind="f64", **more):
    values = np.asarray(values)
    dtype = {"f64": "<f8", "f32": "<f4", "i32": "<i4", "i16": "<i2", "u32": "<u4"}[kind]
    data = b64encode(values.astype(dtype).tobytes()).decode()
    return {"type": kind, "shape": list(values.shape), "data": data, **more}


def differences(values, step=STEP):
    """A table as sums of whole steps, as tracks come from a run."""
    values = np.asarray(values, dtype=float)
    steps = np.rint((values - values[0]) / step)
    rows = np.diff(steps, axis=0, prepend=0 * steps[:1])
    return packed(rows, "i32", scale=step, offset=values[0].tolist(), delta=True)


def track(t, p, q):
    return {"t": packed(t), "p": differences(p), "q": differences(q)}


def about_z(angles):
    half = np.asarray(angles)[:, None] / 2
    return np.hstack([0 * half, 0 * half, np.sin(half), np.cos(half)])


# A body that goes along x and turns, and at 1 s is at another place at once.
T = np.array([0.0, 0.5, 1.0, 1.0, 2.0])
P = np.array([[0, 0, 0.2], [0.3, 0, 0.2], [0.6, 0.1, 0.2], [-0.5, 0.4, 0.3], [-0.2, 0.4, 0.3]])
ANGLES = np.array([0.0, 0.8, 1.9, -1.2, 0.4])


def pose(time):
    """Position and angle about z of the body at a time, by these rows."""
    row = min(max(int(np.searchsorted(T, time, side="right")) - 1, 0), len(T) - 1)
    if row == len(T) - 1:
        return P[row], ANGLES[row]
    share = (time - T[row]) / (T[row + 1] - T[row])
    return P[row] + share * (P[row + 1] - P[row]), ANGLES[row] + share * (
        ANGLES[row + 1] - ANGLES[row]
    )


def shape(kind="box", colour=(0.3, 0.5, 0.8, 1), **fields):
    return {"kind": kind, "pose": [0, 0, 0, 0, 0, 0, 1], "colour": list(colour), **fields}


def bodies():
    still = {"t": packed([0.0]), "p": packed([[0, 0, 0.0]]), "q": packed([[0, 0, 0, 1.0]])}
    return [
        {
            "name": "base",
            "robot": "r",
            "parent": -1,
            "shapes": [shape(size=[0.3, 0.3, 0.1])],
            "track": still,
        },
        {
            "name": "hand",
            "robot": "r",
            "parent": 0,
            "shapes": [
                shape("mesh", mesh=0, scale=[1, 1, 1]),
                shape("cylinder", radius=0.05, length=0.3),
                shape("sphere", radius=0.07, colour=(0.8, 0.3, 0.2, 1)),
                shape(size=[0.2, 0.2, 0.2], colour=(0.5, 0.5, 0.5, 1), stands_for="inertia"),
            ],
            "track": track(T, P, about_z(ANGLES)),
            "com": [0.05, 0, 0],
            "frames": [{"name": "tip", "pose": [0.2, 0, 0, 0, 0, 0, 1]}],
        },
    ]


TETRAHEDRON = {
    "positions": packed([[0.2, 0, 0], [0, 0.2, 0], [0, 0, 0.2], [0, 0, 0]], "f32"),
    "indices": packed([[0, 1, 2], [0, 3, 1], [0, 2, 3], [1, 3, 2]], "u32"),
}
SIGNALS = [
    {
        "name": "plant.qm",
        "unit": "rad",
        "labels": ["q1", "q2"],
        "t": packed([0.0, 1.0, 1.0, 2.0]),
        "v": packed([[0, 1], [1, 2], [5, 3], [6, 3.0]]),
        "scope": 0,
    },
    {"name": "ctrl", "unit": "N m", "t": packed([0.0]), "v": packed([[7.0]]), "scope": 1},
    {"name": "plant.um", "unit": "rad/s", "t": packed([0.0, 2.0]), "v": packed([[0, 0], [2, 4.0]])},
]
FORCE = {
    "name": "plant.wF0",
    "kind": "force",
    "body": 1,
    "unit": "N",
    "track": {"t": packed([0.0, 2.0]), "v": packed([[0, 0, 1], [0, 3.0, 1]])},
}


def recording(**changes):
    """The whole recording, or one that differs."""
    return {
        "format": 1,
        "name": "hand <b>made</b>",
        "start": 0.0,
        "end": 2.0,
        "reach": 1.0,
        "bodies": bodies(),
        "meshes": [TETRAHEDRON],
        "arrows": [FORCE, {**FORCE, "name": "plant.n", "kind": "torque"}],
        "signals": SIGNALS,
        "diagram": SVG,
        **changes,
    }
