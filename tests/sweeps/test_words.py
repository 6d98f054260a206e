"""What a sweep varies, in words."""

from __future__ import annotations

import pytest

from spart_blocks.diagram.sections.sweep_section import Varied
from spart_blocks.sweeps.plan.describing import drawn_in_words, plan_in_words
from spart_blocks.sweeps.plan.plan import Factor, GridAxis, Plan, PlannedFault


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"normal": {"mean": 20, "sd": 2}}, "normal, mean 20, sd 2"),
        (
            {"uniform": {"low": 0.9, "high": 1.1}, "relative": True},
            "uniform, low 0.9, high 1.1, times the value of the diagram",
        ),
        ({"log_uniform": {"low": 1e-4, "high": 1}, "each": True},
         "log uniform, low 0.0001, high 1, a number for each element"),
        ({"choice": {"values": ["a", 1, [1, 2]]}}, "choice, values [a, 1, [1, 2]]"),
        ({"rotation": {"within": 0.5}}, "rotation, within 0.5"),
        ({"rotation": None}, "rotation"),
    ],
)  # fmt: skip
def test_a_distribution_in_words(given, words):
    assert drawn_in_words(Varied.model_validate(given)) == words


def test_a_plan_in_words():
    plan = Plan(
        seed=7,
        runs=100,
        design="random",
        paths=("kp", "kd"),
        axes=(GridAxis(("kp",), (tuple(range(1, 11)),)),),
        factors=(Factor("kd", Varied.model_validate({"normal": {"sd": 1}})),),
        variants=({"controller": "pd"}, {"controller": "lqr"}),
        faults=(
            PlannedFault("none", 0.0, {}),
            PlannedFault("off", 2.5, {"gain": 0, "works": [1, 0]}),
            PlannedFault("early", 0.0, {"run.solver": "BDF"}),
        ),
    )
    assert dict(plan_in_words(plan)) == {
        "draws": "100 (seed 7, design random)",
        "grid points": "10",
        "variants": "pd, lqr",
        "fault none": "no fault",
        "fault off": "from 2.5 s on gain = 0, works = [1, 0]",
        "fault early": "run.solver = BDF, from the start",
        "kp": "1, 2, 3, 4, ..., 10",
        "kd": "normal, sd 1",
    }
