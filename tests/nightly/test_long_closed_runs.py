"""A minute of closed chains: their loops stay closed, whatever the solver and its tolerance."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest
from closed_robots import four_bar, opening, spatial_bar

import spart_blocks as sb
from spart_blocks.diagram import new_diagram

MODELS = Path(__file__).parents[2] / "models"
KEPT = ["plant.qm", "plant.um"]
SOLVERS = ("RK45", "CVODES", "BDF", "LSODA")
HANGING = """
robots: {delta: {bodies: delta_robot.yaml}}
blocks:
  plant: {type: CLOSED_CHAIN, robot: delta}
  weight: {type: GRAVITY, robot: delta, gravity: [0, 0, -9.81]}
  motors: {type: CONSTANT, value: [0, 0, 0]}
wires: [weight.wFm -> plant.wFm, motors -> plant.tau]
run: {T: 60, every: 0.05}
"""


def spinning(robot, **initial):
    """The program of a closed chain alone."""
    bd = new_diagram("spinning")
    bd.CLOSED_CHAIN(robot, name="plant", initial=initial)
    return sb.trace(bd)


@pytest.fixture(scope="module")
def delta(tmp_path_factory):
    """The delta robot swinging in gravity from rest: the robot, and its program."""
    folder = tmp_path_factory.mktemp("delta")
    shutil.copy(MODELS / "delta_robot.yaml", folder)
    (folder / "hanging.yaml").write_text(HANGING)
    diagram = sb.load(folder / "hanging.yaml")
    return diagram.robots["delta"], sb.trace(diagram)


@pytest.fixture(scope="module", params=["planar", "spatial"])
def bar(request):
    if request.param == "planar":
        robot = four_bar()
        return robot, spinning(robot, qm={"A": 0.9}, um={"A": 5.0})
    robot = spatial_bar()
    return robot, spinning(robot, um={"A": 3.0})


@pytest.mark.parametrize("rtol", [1e-3, 1e-6, 1e-9])
@pytest.mark.parametrize("solver", SOLVERS)
def test_a_minute_of_linkages_stays_closed(solver, rtol, bar):
    robot, program = bar
    results = sb.simulate(program, T=60.0, solver=solver, rtol=rtol, log=KEPT)
    assert max(opening(robot, results["plant.qm"], results["plant.um"])) < 1e-9


@pytest.mark.parametrize("solver", ["RK45", "CVODES", "BDF"])
def test_a_minute_of_the_delta_robot_stays_closed(solver, delta):
    robot, program = delta
    results = sb.simulate(program, solver=solver, log=KEPT)
    assert np.ptp(results["plant.qm"], axis=0).max() > 0.1
    assert max(opening(robot, results["plant.qm"], results["plant.um"])) < 1e-9


@pytest.mark.parametrize("solver", SOLVERS)
def test_a_linkage_near_a_parallelogram_runs_on(solver):
    """Its bars are a millimetre off, so that it passes flat without losing rank."""
    program = spinning(four_bar(0.2, 0.452, 0.201, 0.45), qm={"A": 0.9}, um={"A": 5.0})
    assert sb.simulate(program, T=10.0, solver=solver).complete
