"""What a client may send to a running loop: lines of its protocol, with anything in them."""

from __future__ import annotations

import json
import random
from functools import cache
from pathlib import Path
from typing import Any

from fuzz.cases import Case, Format
from fuzz.damage import bent, odd_value, spoilt

_ASKED: tuple[dict[str, Any], ...] = (
    {"do": "describe"},
    {"do": "status"},
    {"do": "set", "values": {"ctrl.kp": [1, 2, 3], "qd": [0.1, 0.2, 0.3], "ctrl.kd[0]": 3}},
    {"do": "watch", "signals": ["ctrl.tau", "sum[0:2]"], "rate": 100},
    {"do": "watch", "signals": [], "rate": None},
    {"token": "x"},
)
_NAMES = ("ctrl.kp", "ctrl.kp[0]", "ctrl.kp[0:2]", "ctrl.kp[9]", "ctrl.kp[", "qd", "qm", "sum.x0",
          "ctrl.tau", "ctrl.kd[-1]", "ctrl.kp[::0]", "", "x", "ctrl.kp[0,0]", "t")  # fmt: skip


def draw(chance: random.Random) -> Case:
    message = bent(chance.choice(_ASKED), chance, 2)
    if chance.random() < 0.5:
        values = {chance.choice(_NAMES): odd_value(chance) for _ in range(chance.randint(1, 3))}
        message = chance.choice((
            {"do": "set", "values": values},
            {"do": "watch", "signals": list(values), "rate": odd_value(chance)},
        ))  # fmt: skip
    raw = json.dumps(message).encode("utf-8", "surrogatepass") + b"\n"
    if chance.random() < 0.4:
        raw = spoilt(raw, chance)
    return Case({"lines": raw}, {})


@cache
def _server() -> Any:
    """A server of a loop that does not run, without its thread and sockets."""
    from live_loop import DirectedLoop

    from spart_blocks.realtime.live import LiveServer

    return LiveServer(DirectedLoop(), "servo")


class _Client:
    watch, lost, trusted, leaving = None, 0, True, False


def attempt(case: Case, ground: Path) -> str:
    from spart_blocks.realtime.live_protocol import BadMessageError, LineSplitter, read, written

    lines = LineSplitter(2**20)
    lines.add(case.files["lines"])
    answers = []
    try:
        while (line := lines.next()) is not None:
            answers.append(_server()._reply(_Client(), read(line)))
    except BadMessageError:
        return "dismissed"
    for answer in answers:
        written(answer)
    return "answered"


FORMAT = Format("live", 1.5, draw, attempt)
