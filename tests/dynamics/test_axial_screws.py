"""The plant's frames: whichever way two joint axes lie, the screws between them lead there."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import robots
from scipy.spatial.transform import Rotation

from spart_blocks.dynamics import (
    gravity_wrenches,
    multibody_forces,
    multibody_inertia,
    multibody_rates,
)
from spart_blocks.dynamics.screws import path_of, screw_matrix
from spart_blocks.robot import JointType


def placed(rotvec, p):
    T = np.eye(4)
    T[:3, :3], T[:3, 3] = Rotation.from_rotvec(rotvec).as_matrix(), p
    return T


HALF, ASIDE, NOWHERE = np.pi / 2, (0.3, -0.2, 0.5), (0.0, 0.0, 0.0)
FRAMES = {
    "the same": placed(NOWHERE, NOWHERE),
    "along the axis": placed((0, 0, 0.7), (0, 0, 0.4)),
    "parallel": placed((0, 0, 0.7), ASIDE),
    "antiparallel": placed((0, np.pi, 0), ASIDE),
    "antiparallel on one line": placed((np.pi, 0, 0), (0, 0, 0.4)),
    "crossing at right angles": placed((HALF, 0, 0), NOWHERE),
    "at right angles apart": placed((0, -HALF, 0), ASIDE),
    "parallel but for rounding": placed((1e-15, -2e-16, 0.3), ASIDE),
    "parallel but for a file's digits": placed((3e-12, -4e-12, 0.3), ASIDE),
    "a little tilted": placed((0.03, 0.02, 0.1), ASIDE),
    "skew": placed((0.4, -0.9, 1.3), ASIDE),
}


@pytest.fixture(params=FRAMES.values(), ids=FRAMES.keys())
def frame(request):
    return request.param


def test_the_screws_of_a_path_lead_where_it_leads(frame, close):
    path = path_of(frame)
    there = (
        screw_matrix(2, path.turn, path.z)
        @ screw_matrix(1, 0.0, path.y)
        @ screw_matrix(0, path.tilt, path.x)
        @ screw_matrix(2, path.angle, path.slide)
    )
    close(there, frame, "T", rel=1e-13)
    assert np.abs([path.z, path.y, path.x, path.slide]).max() < 20  # no far common normal


def arranged(frame, kinds):
    """A tree of five joints, every one lying to its parent as the frame says, on axis z."""
    robot = robots.random_robot(12, 5, kinds="r")
    joints = tuple(
        replace(joint, T=np.linalg.inv(robot.links[joint.parent_link - 1].T) @ frame
                if joint.parent_link else frame,
                axis=np.array([0.0, 0.0, 1.0]), type=kinds[i % len(kinds)])
        for i, joint in enumerate(robot.joints)
    )  # fmt: skip
    return replace(robot, joints=joints)


R, P = JointType.REVOLUTE, JointType.PRISMATIC


@pytest.mark.parametrize("kinds", [(R,), (R, P), (P, R, R)], ids=["r", "rp", "prr"])
@pytest.mark.parametrize("base", ["fixed", "floating"])
def test_any_arrangement_of_axes_gives_spart_s_forward_dynamics(frame, kinds, base, close):
    robot = arranged(frame, kinds).with_base(base)
    s = robots.random_state(robot, 4)
    s = s if base == "floating" else s.held()
    got = multibody_rates(s.R0, s.u0, s.qm, s.um, s.tau0, s.taum, s.wF0, s.wFm, robot)
    if base == "floating":
        out = robots.everything(robot, s)
        close(got.u0dot, out["u0dot_FD"], "u0dot", rel=1e-10)
        close(got.umdot, out["umdot_FD"], "umdot", rel=1e-10)
    else:
        close(got.umdot, robots.bookkeeping(robot, s, np.zeros(3))["umdot_fixed"], "u", rel=1e-10)


@pytest.mark.parametrize("kinds", [(R,), (R, P), (P, R, R)], ids=["r", "rp", "prr"])
@pytest.mark.parametrize("base", ["fixed", "floating"])
def test_any_arrangement_of_axes_gives_spart_s_forces_and_inertia(frame, kinds, base, close):
    robot = arranged(frame, kinds).with_base(base)
    s = robots.random_state(robot, 4)
    s = s if base == "floating" else replace(s.held(), wF0=s.wF0)
    out = robots.everything(robot, s)
    got = multibody_forces(s.R0, s.u0, s.qm, s.um, s.u0dot, s.umdot, s.wF0, s.wFm, robot)
    want = np.concatenate([out["tau0_ID"], out["taum_ID"]])
    close(np.concatenate(got), want, "tau0 and taum")
    for name, block in multibody_inertia(s.R0, s.qm, robot)._asdict().items():
        close(block, out[name], name)


@pytest.mark.parametrize("base", ["fixed", "floating"])
@pytest.mark.parametrize("on_the_base", [1.0, 0.0])
@pytest.mark.parametrize("more", [0.0, 0.3])
def test_weights_are_an_acceleration_of_the_frame_and_other_wrenches_are_not(
    base, on_the_base, more, close
):
    robot = robots.random_robot(9, 8).with_base(base)
    s = robots.random_state(robot, 5)
    weights = gravity_wrenches(np.array([1.0, -2.0, -9.0]), robot)
    wF0, wFm = on_the_base * weights.wF0, weights.wFm + more * s.wFm
    # Numbers among objects could be symbols, and stay wrenches.
    loads = (wF0, wFm), (wF0.astype(object), wFm.astype(object))
    found = [
        (
            *multibody_rates(s.R0, s.u0, s.qm, s.um, s.tau0, s.taum, *load, robot),
            *multibody_forces(s.R0, s.u0, s.qm, s.um, s.u0dot, s.umdot, *load, robot),
        )
        for load in loads
    ]
    for number, (got, want) in enumerate(zip(*found, strict=True)):
        close(got, want, f"result {number}")


def instructions(function, *shapes):
    """How many a function of arrays of these shapes takes, in CasADi's count."""
    casadi = pytest.importorskip("casadi")
    from spart_blocks.program.tracing.symbol import column_of, symbols

    columns, arrays = zip(*(symbols(f"i{k}", s) for k, s in enumerate(shapes)), strict=True)
    return casadi.Function(
        "f", columns, [casadi.cse(column_of([function(*arrays)]))]
    ).n_instructions()


def cost(robot, wFm):
    """Of forward dynamics, inverse dynamics and inertia matrix."""
    none, n, R0 = np.zeros(6), robot.nu, np.eye(3)

    def forward(q, u, tau):
        return multibody_rates(R0, none, q, u, none, tau, none, wFm, robot).umdot

    def inverse(q, u, udot):
        return multibody_forces(R0, none, q, u, none, udot, none, wFm, robot).taum

    return [
        instructions(forward, (n,), (n,), (n,)),
        instructions(inverse, (n,), (n,), (n,)),
        instructions(lambda q: multibody_inertia(R0, q, robot).Hm, (n,)),
    ]


def test_wrenches_that_are_zero_cost_nothing_and_weights_little():
    robot = robots.random_robot(8, 7, kinds="r", chain=True).with_base("fixed")
    none = np.zeros((7, 6))
    free = cost(robot, none)
    assert cost(robot, none.astype(object)) == free
    weights = gravity_wrenches(np.array([0.0, 0.0, -9.81]), robot).wFm
    loaded = cost(robot, weights)
    assert free[0] < loaded[0] < 1.02 * free[0]
    assert free[1] < loaded[1] < 1.03 * free[1]


def test_a_slide_along_the_axis_of_a_turning_arm_is_traced():
    robot = robots.golden_robot("spart_dh_prismatic").with_base("fixed")
    assert cost(robot, np.zeros((robot.n_links_joints, 6)))[0] > 0  # a number among symbols


def test_links_on_fixed_joints_cost_nothing():
    robot = robots.random_robot(8, 7, kinds="r", chain=True).with_base("fixed")
    extra = robots.random_robot(9, 14, kinds="f")
    joints = tuple(
        replace(joint, id=joint.id + 7, parent_link=i // 2 + 1, child_link=joint.child_link + 7)
        for i, joint in enumerate(extra.joints)
    )
    links = tuple(
        replace(link, id=link.id + 7, parent_joint=link.parent_joint + 7) for link in extra.links
    )
    more = replace(robot, joints=robot.joints + joints, links=robot.links + links)
    assert cost(more, np.zeros((21, 6))) == cost(robot, np.zeros((7, 6)))


def test_one_more_link_costs_the_same_however_many_there_are():
    chains = [robots.random_robot(2, n, kinds="r", chain=True) for n in (8, 16, 32)]
    counts = np.array([cost(robot, np.zeros((robot.nu, 6)))[:2] for robot in chains])
    prices = np.diff(counts, axis=0) / np.array([[8], [16]])
    assert (np.abs(prices[1] / prices[0] - 1) < 0.02).all()


def test_sympy_runs_through_the_plant(close):
    sympy = pytest.importorskip("sympy")
    robot = arranged(FRAMES["at right angles apart"], (R, P)).with_base("fixed")
    s = robots.random_state(robot, 4)
    names = ("qm", "um", "taum")
    made = {name: np.array(sympy.symbols(f"{name}:{robot.nu}"), dtype=object) for name in names}
    symbols, numbers = replace(s, **made), [getattr(s, name) for name in names]
    got, want = (
        multibody_rates(x.R0, x.u0, x.qm, x.um, x.tau0, x.taum, x.wF0, x.wFm, robot)
        for x in (symbols, s)
    )
    f = sympy.lambdify([x for v in made.values() for x in v], list(got.umdot), "math", cse=True)
    close(np.array(f(*np.concatenate(numbers))), want.umdot, "umdot")
