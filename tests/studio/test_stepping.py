"""Steps and breakpoints of runs, on a clock that the tests turn."""

from __future__ import annotations

import numpy as np
import pytest
from test_runs_paced import DIAGRAMS, job, ran, same

from spart_blocks.run import DiagramFile, begin, finish

BALL = """
clocks: {c: {T: 0.25}}
blocks:
  gravity: {type: CONSTANT, value: -9.81}
  v: {type: INTEGRATOR, x0: 0}
  h: {type: INTEGRATOR, x0: 1}
  hold: {type: ZOH, clock: c}
  scope: {type: SCOPE}
wires: [gravity -> v, v -> h, h -> hold, h -> scope]
run: {T: 2}
"""


def paused(heard):
    """Where the run was paused, in turn."""
    found = []
    for header, _ in heard.frames:
        if header.get("tell") == "status" and header["paused"] not in (None, *found[-1:]):
            found.append(header["paused"])
    return found


def do(n, what, **more):
    return (np.inf, {"id": n, "do": what, **more})


@pytest.fixture
def fall(tmp_path):
    path = tmp_path / "fall.yaml"
    path.write_text(BALL)
    return path


def test_a_run_begins_paused_at_its_first_instant_and_steps_to_ticks_and_by_time(fall):
    script = [do(1, "step", to="tick"), do(2, "step", to="time", interval=0.3),
              do(3, "values", t=0.55, at="", names=["h"]), do(4, "step", to="tick"),
              do(5, "resume")]  # fmt: skip
    runner, _, heard = ran(fall, script, speed=None, paused=True)
    assert [(one["why"], one["t"]) for one in paused(heard)] == [
        ("start", 0.0), ("tick", 0.25), ("time", pytest.approx(0.55)), ("tick", 0.75)]  # fmt: skip
    same(runner.parts[0].results, finish(begin(DiagramFile(fall))))
    print(heard.last("status"), [h for h, _ in heard.frames if h.get("id") == 3])


def test_a_condition_is_located_within_a_step(fall):
    runner, _, heard = ran(fall, [do(1, "resume")], speed=None, breakpoints=["h < 0.5", "h"])
    print(paused(heard), heard.last("status"))
    assert 0
