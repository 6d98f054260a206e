"""Optima are those of published problems, by name.

Source: E. D. Dolan, J. J. More, T. S. Munson, "Benchmarking optimization software with COPS 3.0",
Argonne National Laboratory, ANL/MCS-TM-273 (2004), with the trapezoidal rule on even meshes. Some
values are of a coarse mesh. As the benchmark of PDEOptimizationProblems.jl lists them by intervals:
robot arm 9.14138 with 200, 9.14101 with 400, 9.14093 with 800; glider 1254.61 with 100 (1255.05 in
COPSBenchmark.jl), 1248.80 with 200, 1247.97 with 400. The glider is compared with the last.
benchmarks/optimal_control.py computes these by that rule too.
"""

from pathlib import Path

import pytest

import spart_blocks as sb
from spart_blocks.base.errors import SpartWarning

COPS = Path(__file__).parents[2] / "benchmarks" / "cops"


@pytest.mark.parametrize(
    ("name", "published"),
    [
        ("rocket", 1.01283),
        ("steering", 0.554577),
        ("robot_arm", 9.14138),
        ("catalyst", -4.80556e-2),
        ("glider", 1247.97),
    ],
)
def test_published_optima_are_met(name, published):
    found = sb.optimize(COPS / f"{name}.yaml")
    assert found.ended
    assert found.objective == pytest.approx(published, rel=1e-4)
    assert found.rerun.worst < 1e-4


def test_a_guess_that_runs_into_a_singularity_is_left():
    """At half thrust the rocket has no mass after 0.286 s."""
    T = {"min": 0.01, "max": 1, "start": 0.9}
    with pytest.warns(SpartWarning, match=r"hardly goes on at 0\.28.* starts at rest"):
        found = sb.optimize(COPS / "rocket.yaml", T=T, mesh={"refinements": 2})
    assert found.objective == pytest.approx(1.01283, rel=1e-4)
