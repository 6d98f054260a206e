"""A robot that cannot be accelerated is refused by name, never answered with NaN."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import robots

from spart_blocks.base.errors import InputError, SingularInertiaError
from spart_blocks.dynamics import fixed_forward_dynamics, multibody_rates


def massless(body):
    return replace(body, mass=0.0, inertia=np.zeros((3, 3)))


def without_inertia(robot, link):
    links = list(robot.links)
    links[link - 1] = massless(links[link - 1])
    return replace(robot, links=tuple(links))


def plant(robot, s):
    return multibody_rates(s.R0, s.u0, s.qm, s.um, s.tau0, s.taum, s.wF0, s.wFm, robot)


def spart(robot, s):
    return robots.everything(robot, s)


def fixed(robot, s):
    return plant(robot.with_base("fixed"), s)


def fixed_spart(robot, s):
    out = robots.everything(robots.random_robot(5, 4, kinds="r", chain=True), s.held())
    return fixed_forward_dynamics(
        s.taum, s.wFm, out["tL"], out["pm"], 0 * out["Im"], out["Bij"], out["Bi0"], s.um, robot
    )


@pytest.mark.parametrize("solve", [plant, spart, fixed, fixed_spart])
def test_a_massless_leaf_link_names_its_joint(solve):
    robot = without_inertia(robots.random_robot(5, 4, kinds="r", chain=True), 4)
    message = "joint 'joint4' moves nothing that has inertia in this configuration"
    with pytest.raises(SingularInertiaError, match=message):
        solve(robot, robots.random_state(robot, 1))


@pytest.mark.parametrize("solve", [plant, spart])
@pytest.mark.parametrize("n", [0, 1])
def test_a_massless_floating_base_names_the_base(solve, n):
    robot = robots.random_robot(5, n, kinds="f")
    robot = replace(robot, base_link=massless(robot.base_link))
    for link in range(1, n + 1):
        robot = without_inertia(robot, link)
    with pytest.raises(SingularInertiaError, match="of the base"):
        solve(robot, robots.random_state(robot, 1))


@pytest.mark.parametrize("solve", [plant, spart])
def test_point_masses_on_the_base_leave_it_singular_and_say_so(solve):
    robot = robots.random_robot(5, 0)
    point = replace(robot.base_link, inertia=np.zeros((3, 3)))
    with pytest.raises(SingularInertiaError, match="of the base"):
        solve(replace(robot, base_link=point), robots.random_state(robot, 1))


def test_a_massless_floating_base_with_an_arm_moves(close):
    # What hangs on the base gives it inertia, as the massless root of the iiwa shows.
    robot = robots.random_robot(6, 3, kinds="f")
    robot = replace(robot, base_link=massless(robot.base_link))
    s = robots.random_state(robot, 1)
    out = spart(robot, s)
    close(plant(robot, s).u0dot, out["u0dot_FD"], "u0dot", rel=1e-10)


@pytest.mark.parametrize("solve", [plant, spart])
def test_tiny_links_are_not_singular(solve):
    robot = robots.random_robot(5, 4, kinds="r", chain=True)
    gram = replace(robot.links[3], mass=1e-9, inertia=robot.links[3].inertia * 1e-9)
    solve(replace(robot, links=(*robot.links[:3], gram)), robots.random_state(robot, 1))


@pytest.mark.parametrize("name", ["R0", "qm", "um", "u0", "tau0", "taum", "wF0", "wFm"])
def test_a_wrong_shape_names_the_argument(name):
    robot = robots.random_robot(2, 4)
    s = robots.random_state(robot, 2)
    bad = replace(s, **{name: np.zeros(17)})
    with pytest.raises(InputError, match=rf"{name} has shape \(17,\), it must be"):
        plant(robot, bad)
    with pytest.raises(InputError, match=rf"{name} has shape \(17,\), it must be"):
        spart(robot, bad)


def test_words_are_not_numbers():
    robot = robots.random_robot(2, 1, kinds="r")
    s = replace(robots.random_state(robot, 2), qm=np.array(["half"]))
    with pytest.raises(InputError, match="qm must hold numbers"):
        spart(robot, s)


@pytest.mark.parametrize("i", [-1, 3, 99])
def test_a_jacobian_of_a_link_that_is_not_there_says_what_ids_run_to(i):
    robot = robots.random_robot(2, 2)
    s = robots.random_state(robot, 2)
    out = robots.everything(robot, s)
    from spart_blocks.dynamics import jacobian

    with pytest.raises(InputError, match=rf"link id is {i}, it must be within 0 and 2"):
        jacobian(s.r0, s.r0, out["rL"], out["P0"], out["pm"], i, robot)
