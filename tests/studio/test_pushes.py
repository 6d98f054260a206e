"""Pushing bodies of a run: wrenches that its file does not have."""

from __future__ import annotations

import json

import numpy as np
import pytest
from test_runs_paced import DIAGRAMS, ran

from spart_blocks.diagram import load
from spart_blocks.program.tracing.gains import wired
from spart_blocks.studio.runs.answers import ANSWERS
from spart_blocks.studio.runs.pushes import find_body, wrench
from spart_blocks.studio.runs.record import joined
from spart_blocks.studio.runs.runner import COMPILING, LOADING, TRACING

PD = DIAGRAMS / "spacecraft_pd.yaml"


def push(at, id, **asked):
    return at, {"id": id, "do": "push", **asked}


def test_a_push_gives_momentum_and_lets_go():
    script = [
        push(1.0, 1, body="Link_2", force=[0.0, 3.0, 0.0]),
        push(2.0, 2, body=2, force=[0.0, 0.0, 0.0]),
    ]
    runner, _, heard = ran(PD, script, T=3.0, speed=50.0)
    assert not [h["error"] for h, _ in heard.frames if "error" in h]
    assert len(runner.parts) == 3
    answers = [ANSWERS["pushed"](runner, {"t": t})[0] for t in (0.5, 1.5, 2.9)]
    assert answers == [[], ["plant"], []]
    waits = [h["doing"] for h, _ in heard.frames if h.get("state") == "running" and h["doing"]]
    # Of the first push alone; where no program of it is in the cache, its file is loaded, too.
    assert waits in ([TRACING, COMPILING], [TRACING, LOADING, TRACING, COMPILING])
    begun, let_go = (part.begins for part in runner.parts[1:])
    whole = joined(runner.parts, {})
    assert whole.complete
    assert whole["plant.audit.p"][-1] == pytest.approx([0, 3 * (let_go - begun), 0], abs=1e-6)
    assert np.abs(whole["plant.audit.p_balance"]).max() < 1e-6
    assert np.abs(whole["plant.audit.h_balance"]).max() < 1e-6
    assert whole["plant.um"].shape == (len(whole.t), 3)


def test_until_the_first_push_the_run_is_that_of_the_file():
    runner, _, _ = ran(PD, [push(1.0, 1, body="Spacecraft", force=[1, 0, 0])], T=1.5, speed=50.0)
    plain, _, _ = ran(PD, T=1.5)
    first, alone = runner.parts[0].results, plain.parts[0].results
    shared = first.t < runner.parts[1].begins
    assert np.array_equal(first.t[shared], alone.t[: shared.sum()])
    assert np.array_equal(first["plant.qm"][shared], alone["plant.qm"][: shared.sum()])


@pytest.mark.parametrize(
    ("asked", "why"),
    [
        ({"body": "Tail", "force": [1, 0, 0]}, "there is no body 'Tail'"),
        ({"body": 9, "force": [1, 0, 0]}, "there is no body '9'"),
        ({"body": "Link_1", "force": [1, 0]}, "force is three numbers"),
        ({"body": "Link_1", "force": [1, 0, "x"]}, "force is three numbers"),
        ({"body": "Link_1"}, "needs its force"),
    ],
)
def test_a_push_that_means_nothing_is_refused(asked, why):
    runner, _, heard = ran(PD, [push(0.5, 4, **asked)], T=1.0, speed=50.0)
    (answer,) = [h for h, _ in heard.frames if h.get("id") == 4]
    assert why in json.dumps(answer["error"])
    assert len(runner.parts) == 1


def test_what_has_no_input_for_wrenches_cannot_be_pushed():
    path = DIAGRAMS / "control" / "dc_motor.yaml"
    runner, _, heard = ran(path, [push(0.0, 4, body=0, force=[1, 0, 0])], T=0.5, speed=50.0)
    (answer,) = [h for h, _ in heard.frames if h.get("id") == 4]
    assert "no plant of this diagram has an input for wrenches" in json.dumps(answer["error"])
    assert len(runner.parts) == 1


def test_a_force_at_a_point_turns_about_the_centre_of_mass():
    nodes = wired(load(PD)).nodes
    plant, link = find_body(nodes, "plant/Spacecraft")
    assert link == 0
    x = np.array(plant.x0)
    x[4:7] = [1.0, 2.0, 3.0]
    force, point = np.array([0.0, 0.0, 2.0]), np.array([1.5, 2.0, 3.0])
    assert wrench(plant, 0, x, force, point) == pytest.approx([0, -1, 0, 0, 0, 2])
    assert wrench(plant, 0, x, force, None) == pytest.approx([0, 0, 0, 0, 0, 2])
    plant, link = find_body(nodes, "Link_3")
    moved = wrench(plant, link, x, force, point)[:3]
    x[4:7] = 0.0
    assert wrench(plant, link, x, force, point - [1, 2, 3])[:3] == pytest.approx(moved)
