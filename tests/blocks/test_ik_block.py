"""The block IK follows a pose from tick to tick, within limits, alike on both engines."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from robots import ROOT, golden_robot

import spart_blocks as sb
from spart_blocks.base.errors import SpartWarning
from spart_blocks.diagram.build.registry import find_type, new_clock
from spart_blocks.dynamics import frame_of_link, kinematics

ARM = sb.Robot.from_urdf(ROOT / "models" / "arm7.urdf")
TOOL = "lbr_iiwa_link_7"
DOWN = np.diag([-1.0, 1.0, -1.0])
TWISTED = np.diag([1.0, -1.0, -1.0])  # down too, with the last joint near its limit
CENTRE = np.array([0.55, 0.0, 0.5])
BENT = np.array([0.0, 0.5, 0.0, -1.4, 0.0, 1.2, 0.0])


def add(bd, kind, name, **parameters):
    return find_type(kind).construct(bd, name, parameters)


def following(rate, T=0.01, robot=ARM, frame=TOOL, pose=DOWN, **options):
    """A diagram in which the tool follows a circle about CENTRE."""
    bd = sb.new_diagram("ik")
    goal = add(bd, "CIRCLE", "goal", centre=CENTRE, radius=0.12, rate=rate, rise=0.5)
    clock = new_clock(bd, T, 0.0, "clock")
    block = add(bd, "IK", "ik", robot=robot, frame=frame, clock=clock, **options)
    bd.connect(goal[0], block.rd)
    for port, value in (("Rd", pose), ("R0", np.eye(3)), ("r0", np.zeros(3))):
        if value is not None:
            bd.connect(add(bd, "CONSTANT", f"{port}_held", value=value), getattr(block, port))
    return bd


def beginning(pose=DOWN):
    found = sb.ik(ARM, TOOL, (CENTRE + np.array([0.12, 0, 0]), pose), q0=BENT)
    assert found.converged
    return found.qm


def tool(q, robot=ARM, link=7):
    K = kinematics(np.eye(3), np.zeros(3), q, robot)
    return frame_of_link(link, np.eye(3), np.zeros(3), K.RL, K.rL, robot)


@pytest.fixture(scope="module")
def runs():
    bd = following(rate=1.0, q0=beginning(), iterations=2, damping=1e-8)
    return [sb.simulate(bd, T=3, every=0.01, engine=e) for e in ("native", "interpreter")]


def test_both_engines_give_the_same(runs):
    native, interpreter = runs
    assert native.info["engine"] == "native"
    for name in ("ik.qm", "ik.position_error", "ik.rotation_error"):
        np.testing.assert_allclose(native[name], interpreter[name], rtol=1e-10, atol=1e-12)


def test_a_slow_pose_is_followed_to_rounding_error_at_every_tick(runs):
    results = runs[0]
    assert results["ik.position_error"].max() < 1e-9
    assert results["ik.rotation_error"].max() < 1e-9
    # What the block says is so: the tool is where the circle was at the tick.
    for k in range(10, 300, 25):
        T = tool(results["ik.qm"][k])
        goals = results["goal.r"][[k - 1, k]]
        assert np.abs(T[:3, 3] - goals).max(axis=1).min() < 1e-9
        np.testing.assert_allclose(T[:3, :3], DOWN, atol=1e-9)


def test_where_a_joint_meets_its_limit_the_others_take_over():
    bd = following(rate=1.0, q0=beginning(TWISTED), pose=TWISTED)
    run = sb.simulate(bd, T=4, every=0.01, engine="interpreter")
    last = run["ik.qm"][:, 6]
    assert np.abs(last).max() == ARM.joints[6].limits.upper
    assert np.ptp(last) > 0.1
    assert run["ik.position_error"].max() < 1e-7
    assert run["ik.rotation_error"].max() < 1e-6


def test_from_far_away_more_iterations_come_nearer():
    left = []
    for iterations in (1, 4, 12):
        bd = following(rate=0.0, q0=BENT + 0.3, iterations=iterations)
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            run = sb.simulate(bd, T=0.005, engine="interpreter")
        assert [w.category for w in told] == [SpartWarning] * (iterations == 1)
        left.append(run["ik.position_error"][-1] + run["ik.rotation_error"][-1])
    assert left[0] > left[1] > left[2]
    assert left[2] < 1e-6


def test_limits_are_kept_while_the_pose_is_out_of_reach():
    bd = following(rate=0.0, q0=BENT, iterations=5, pose=-np.diag([1.0, 1.0, -1.0]))
    lower = np.array([joint.limits.lower for joint in ARM.joints])
    with pytest.warns(SpartWarning, match=r"ik \(IK\) does not reach its pose: from t = 0"):
        q = sb.simulate(bd, T=1, engine="interpreter")["ik.qm"]
    assert (q >= lower).all()
    assert (q <= -lower).all()


def test_a_position_alone_needs_no_rotation():
    bd = following(rate=1.0, q0=beginning(), components="vx vy vz", pose=None)
    run = sb.simulate(bd, T=0.5, engine="interpreter")
    assert run["ik.position_error"].max() < 1e-6
    assert not run["ik.rotation_error"].any()
    with pytest.raises(sb.DiagramError, match="Rd"):
        sb.simulate(following(rate=1.0, q0=beginning(), pose=None), T=0.1)


def test_a_robot_without_limits_is_followed_too():
    planar = golden_robot("spart_resolved_motion_4dof")
    link = planar.n_links_joints
    q0 = np.radians([45.0, -45, -45, 45])
    bd = sb.new_diagram("ik")
    goal = tool(q0, planar, link)
    block = add(bd, "IK", "ik", robot=planar, frame=link, clock=new_clock(bd, 0.1, 0.0, "clock"),
                q0=q0 + 0.1, components="wz vx vy", iterations=10)  # fmt: skip
    for port, value in (("rd", goal[:3, 3]), ("Rd", goal[:3, :3]), ("R0", np.eye(3)),
                        ("r0", np.zeros(3))):  # fmt: skip
        bd.connect(add(bd, "CONSTANT", f"{port}_held", value=value), getattr(block, port))
    run = sb.simulate(bd, T=1, engine="interpreter")
    assert run["ik.position_error"][-1] < 1e-12


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"frame": "lbr_iiwa_link_9"}, "no link 'lbr_iiwa_link_9'.*\n.*did you mean"),
        ({"q0": [0.0, 0.0]}, r"q0 has shape \(2,\), it takes \(7,\)"),
        ({"q0": np.full(7, 2.5)}, "q0 of joint .* is 2.5; its limits are -2.0944 and 2.0944"),
        ({"components": "wx wy wq"}, "no component 'wq'"),
        ({"iterations": 0}, "iterations must be a whole number from 1 to 50, not 0"),
        ({"iterations": 1000}, "iterations must be a whole number from 1 to 50"),
        ({"iterations": 2.5}, "iterations must be a whole number from 1 to 50"),
        ({"damping": 0.0}, "damping must be above zero, not 0"),
        ({"robot": None}, "IK needs a Robot"),
    ],
)
def test_wrong_parameters_are_refused(options, text):
    with pytest.raises((ValueError, sb.InputError), match=text):
        following(**{"rate": 1.0, "q0": BENT, **options})


def test_a_changed_damping_is_a_block_built_anew():
    def after(program):
        x = program.xd0 + 0.1
        return np.array([np.array(f(0.3, program.x0, x, program.p)).ravel()
                         for f in program.updates.values()])  # fmt: skip

    program = sb.trace(following(rate=1.0, q0=BENT, iterations=1))
    anew = sb.trace(following(rate=1.0, q0=BENT, iterations=1, damping=0.3))
    moved = program.with_parameters({"ik.damping": 0.3})
    np.testing.assert_allclose(after(moved), after(anew), rtol=1e-12)
    assert np.abs(after(program) - after(anew)).max() > 1e-3
