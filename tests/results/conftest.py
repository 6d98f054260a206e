"""A small run with every kind of thing in it."""

from __future__ import annotations

import numpy as np
import pytest

from spart_blocks.results import Event, FinalState, Results, ScopeSpec


@pytest.fixture
def run() -> Results:
    t = np.linspace(0.0, 2.0, 21)
    q = np.stack([np.sin(t + i) / 3 for i in range(3)], axis=1)
    matrix = np.arange(21 * 4, dtype=float).reshape(21, 2, 2)
    return Results(
        t=t,
        signals={"plant.qm": q, "ctrl.tau": -40 * q, "plant.Mm": matrix, "clock.k": np.arange(21)},
        states={"plant": np.hstack([q, 2 * q])},
        final_state=FinalState(
            2.0, {"plant": np.array([1.0, 2.0 / 3.0])}, {"hold": np.array([0.1])}, {"clock": 21}
        ),
        scopes=(
            ScopeSpec("joints", signals=("plant.qm",), labels=("q1", "q2", "q3"), title="Joints"),
            ScopeSpec("path", "xy", ("plant.qm",), vector=(0, 1), styles=("r--",), equal=True),
            ScopeSpec("both", signals=("clock.k", "plant.qm"), styles=({"lw": 3.0}, None)),
        ),
        events=(Event(1.0, "qd", "step"),),
        diagram_name="arm-pd",
        info={"engine": "interpreter", "solver": "RK45", "steps": 57, "wall_time": 0.5},
        aliases={"ctrl": "ctrl.tau"},
        units={"plant.qm": "rad", "ctrl.tau": "N m"},
        levels={"mode.state": ("off", "on")},
    )
