"""What the viewer does with a recording, for tests: poses between rows."""

from __future__ import annotations

import base64
import json
import re
import zlib

import numpy as np
from packed_arrays import unpacked
from scipy.spatial.transform import Rotation, Slerp


def recording_in(page):
    """The recording within a page."""
    found = re.search(r'<script id="spartRecording"[^>]*>([^<]*)</script>', page)
    return json.loads(zlib.decompress(base64.b64decode(found[1])))


def body_named(recording, name, robot=None):
    (body,) = [b for b in recording["bodies"] if b["name"] == name and robot in (None, b["robot"])]
    return body


def poses_at(track, times):
    """Positions (m, 3) and rotations at times (m,): linear, and slerp; after a jump at its time."""
    t, p, q = (unpacked(track[key]) for key in "tpq")
    assert (np.diff(t) >= 0).all()
    if len(t) == 1:
        return np.repeat(p, len(times), axis=0), Rotation.from_quat(np.repeat(q, len(times), 0))
    k = np.clip(np.searchsorted(t, times, side="right") - 1, 0, len(t) - 2)
    span = t[k + 1] - t[k]
    s = np.clip((times - t[k]) / np.where(span > 0, span, 1.0), 0, 1)[:, None]
    turns = [
        Slerp([0, 1], Rotation.from_quat(q[i : i + 2]))(float(part))
        for i, part in zip(k, s[:, 0], strict=True)
    ]
    return (1 - s) * p[k] + s * p[k + 1], Rotation.concatenate(turns)
