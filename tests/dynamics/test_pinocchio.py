"""Pinocchio agrees: forward and inverse dynamics and mass matrix of random trees."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import robots
from ball_robots import robot_with_balls

from spart_blocks.dynamics import (
    fixed_forward_dynamics,
    multibody_forces,
    multibody_inertia,
    multibody_rates,
)

pytest.importorskip("pinocchio")
from pinocchio_twin import Twin

# 50 trees, from a lone base to 40 joints; every fifth is all revolute, one chain in ten.
# And five with spherical joints.
TREES = [
    (seed, [0, 1, 2, 3, 5, 8, 13, 20, 30, 40][seed % 10], "r" if seed % 5 == 0 else "rrrpf")
    for seed in range(50)
] + [(seed, seed - 47, "b") for seed in range(50, 55)]


def ids(tree):
    return f"{tree[1]}joints-{tree[0]}"


@pytest.fixture(params=TREES, ids=ids)
def tree(request):
    seed, n, kinds = request.param
    if kinds == "b":
        robot = robot_with_balls(seed, bodies=n)
        s = robots.random_state(robot, seed)
        # What would act on the massless links of their rows is no matter of a turn.
        rows = [i for i, carrier in enumerate(robot.carriers) if carrier != i + 1]
        s.wFm[rows] = 0.0
        return robot, s
    robot = robots.random_robot(seed, n, kinds=kinds, chain=seed % 10 == 7)
    return robot, robots.random_state(robot, seed)


def test_floating_trees_agree_with_pinocchio(tree, close):
    robot, s = tree
    twin, ours = Twin(robot, floating=True), robots.everything(robot, s)
    u0dot, umdot = twin.aba(s)
    close(ours["u0dot_FD"], u0dot, "FD u0dot against aba", rel=1e-10)
    close(ours["umdot_FD"], umdot, "FD umdot against aba", rel=1e-10)
    rates = multibody_rates(s.R0, s.u0, s.qm, s.um, s.tau0, s.taum, s.wF0, s.wFm, robot)
    close(rates.u0dot, u0dot, "multibody_rates u0dot against aba", rel=1e-10)
    close(rates.umdot, umdot, "multibody_rates umdot against aba", rel=1e-10)
    tau0, taum = twin.rnea(s)
    close(ours["tau0_ID"], tau0, "ID tau0 against rnea", rel=1e-10)
    close(ours["taum_ID"], taum, "ID taum against rnea", rel=1e-10)
    needed = multibody_forces(s.R0, s.u0, s.qm, s.um, s.u0dot, s.umdot, s.wF0, s.wFm, robot)
    whole = np.concatenate([tau0, taum])
    close(np.concatenate(needed), whole, "multibody_forces against rnea")
    H = twin.crba(s)
    close(robots.whole(ours)[0], H, "GIM against crba", rel=1e-10)
    made = multibody_inertia(s.R0, s.qm, robot)
    made = np.block([[made.H0, made.H0m], [made.H0m.T, made.Hm]])
    close(made, H, "multibody_inertia against crba")


def test_fixed_trees_agree_with_pinocchio(tree, close):
    floating, s = tree
    robot, s = floating.with_base("fixed"), s.held()
    # Pinocchio's fixed base stands at the origin, upright: let ours stand there too.
    s = replace(s, R0=np.eye(3), r0=np.zeros(3))
    twin, ours = Twin(robot, floating=False), robots.everything(robot, s)
    _, umdot = twin.aba(s)
    got = fixed_forward_dynamics(
        s.taum, s.wFm, ours["tL"], ours["pm"], ours["Im"], ours["Bij"], ours["Bi0"], s.um, robot
    )
    close(got, umdot, "fixed_forward_dynamics against aba", rel=1e-10)
    rates = multibody_rates(s.R0, s.u0, s.qm, s.um, s.tau0, s.taum, s.wF0, s.wFm, robot)
    close(rates.umdot, umdot, "multibody_rates against aba", rel=1e-10)
    close(ours["taum_ID"], twin.rnea(s)[1], "ID against rnea", rel=1e-10)
    needed = multibody_forces(s.R0, s.u0, s.qm, s.um, s.u0dot, s.umdot, s.wF0, s.wFm, robot)
    close(needed.taum, twin.rnea(s)[1], "multibody_forces against rnea")
    close(ours["Hm"], twin.crba(s), "Hm against crba", rel=1e-10)
    close(multibody_inertia(s.R0, s.qm, robot).Hm, twin.crba(s), "multibody_inertia against crba")


def test_the_comparison_notices_a_joint_turned_the_wrong_way(close):
    robot = robots.random_robot(3, 3, kinds="r")
    s = robots.random_state(robot, 3)
    wrong = replace(s, um=-s.um)
    ours = robots.everything(robot, wrong)
    with pytest.raises(AssertionError, match="differs"):
        close(ours["umdot_FD"], Twin(robot, floating=True).aba(s)[1], "umdot", rel=1e-10)
