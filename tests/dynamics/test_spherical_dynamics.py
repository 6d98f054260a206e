"""Robots with spherical joints: all formulations agree, as far as a turn goes."""

from __future__ import annotations

import numpy as np
import pytest
import robots
from ball_robots import random_state, robot_with_balls

from spart_blocks.dynamics import multibody_forces, multibody_inertia, multibody_rates

TREES = [(seed, base) for seed in range(5) for base in ("floating", "fixed")]


@pytest.fixture(params=TREES, ids=lambda tree: f"{tree[1]}-{tree[0]}")
def tree(request):
    seed, base = request.param
    robot = robot_with_balls(seed, base, 4 + seed)
    return robot, random_state(robot, seed)


def test_the_plant_s_forces_and_inertia_are_spart_s(tree, close):
    robot, s = tree
    out = robots.everything(robot, s)
    got = multibody_forces(s.R0, s.u0, s.qm, s.um, s.u0dot, s.umdot, s.wF0, s.wFm, robot)
    close(np.concatenate(got), np.concatenate([out["tau0_ID"], out["taum_ID"]]), "tau0 and taum")
    for name, block in multibody_inertia(s.R0, s.qm, robot)._asdict().items():
        close(block, out[name], name)


def test_the_plant_s_rates_are_those_that_its_forces_were_asked_for(tree, close):
    robot, s = tree
    tau0, taum = multibody_forces(s.R0, s.u0, s.qm, s.um, s.u0dot, s.umdot, s.wF0, s.wFm, robot)
    tau0 = tau0 if robot.base == "floating" else s.tau0
    got = multibody_rates(s.R0, s.u0, s.qm, s.um, tau0, taum, s.wF0, s.wFm, robot)
    close(got.umdot, s.umdot, "umdot")
    close(got.u0dot, s.u0dot, "u0dot")
