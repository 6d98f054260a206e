"""One motion, three ways: the plant, its parts as blocks, and bdsim's own run."""

from __future__ import annotations

import numpy as np
import pytest
import robots

TIGHT = {"rtol": 1e-11, "atol": 1e-12, "solver": "DOP853"}
START = {"qm": [0.1, -0.2, 0.3], "um": [0.05, 0, -0.1], "u0": [0.02, -0.01, 0.03, 0.1, 0, 0]}


def controlled(bd, robot):
    """A controller and its set-point, without a plant."""
    bd.STEP(T=0.5, on=np.array([0.5, -0.3, 0.2]), off=np.zeros(3), name="qd")
    bd.JOINT_PD(kp=[40, 40, 10], kd=[20, 20, 5], name="ctrl")
    bd.CONSTANT(np.zeros(3), name="ud")
    bd.CONSTANT(np.array([0.1, 0, -0.1, 0, 0.2, 0]), name="tau0")
    bd.CONSTANT(np.zeros(6), name="wF0")
    bd.CONSTANT(0.01 * np.ones((robot.n_links_joints, 6)), name="wFm")
    return ["qd -> ctrl.qd", "ud -> ctrl.ud"]


def with_a_plant(bd, robot, wire):
    wires = controlled(bd, robot)
    bd.MULTIBODY(robot, initial=START, name="plant")
    wire(
        bd,
        *wires,
        "plant.qm -> ctrl.qm",
        "plant.um -> ctrl.um",
        "ctrl -> plant.taum",
        *(f"{name} -> plant.{name}" for name in ("tau0", "wF0", "wFm")),
    )
    return bd


def with_parts(bd, robot, wire):
    """The same loop from SPART's functions, one block each, and integrators."""
    wires = controlled(bd, robot)
    for name in ("KINEMATICS", "DIFFKINEMATICS", "VELOCITIES", "INERTIAS", "FD"):
        getattr(bd, name)(robot, name=name.lower())
    bd.STATE_INTEGRATOR(robot, initial={"qm": START["qm"]}, name="pose")
    bd.INTEGRATOR(x0=START["u0"], name="u0")
    bd.INTEGRATOR(x0=START["um"], name="um")
    wire(
        bd,
        *wires,
        "pose.R0 -> kinematics.R0, diffkinematics.R0, inertias.R0",
        "pose.r0 -> kinematics.r0, diffkinematics.r0",
        "pose.qm -> kinematics.qm, ctrl.qm",
        *(f"kinematics.{name} -> diffkinematics.{name}" for name in ("rL", "e", "g")),
        "kinematics.RL -> inertias.RL",
        *(f"diffkinematics.{n} -> velocities.{n}, fd.{n}" for n in ("Bij", "Bi0", "P0", "pm")),
        "u0 -> velocities.u0, fd.u0, pose.u0",
        "um -> velocities.um, fd.um, pose.um, ctrl.um",
        *(f"velocities.{name} -> fd.{name}" for name in ("t0", "tL")),
        *(f"inertias.{name} -> fd.{name}" for name in ("I0", "Im")),
        "ctrl -> fd.taum",
        *(f"{name} -> fd.{name}" for name in ("tau0", "wF0", "wFm")),
        "fd.u0dot -> u0",
        "fd.umdot -> um",
    )
    return bd


def test_single_function_blocks_move_as_the_plant_does(spacecraft, diagram, wire, simulate, close):
    whole = simulate(with_a_plant(diagram(), spacecraft, wire), T=2, every=0.25, **TIGHT)
    parts = simulate(with_parts(diagram(), spacecraft, wire), T=2, every=0.25, **TIGHT)
    pairs = [("plant.qm", "pose.qm"), ("plant.r0", "pose.r0"), ("plant.R0", "pose.R0")]
    pairs += [("plant.um", "um"), ("plant.u0", "u0"), ("ctrl.tau", "ctrl.tau")]
    assert np.ptp(whole["plant.qm"][:, 0]) > 0.1
    for one, other in pairs:
        close(parts[other], whole[one], one, rel=1e-8)


def test_bdsim_s_own_run_ends_in_the_same_state(
    spacecraft, diagram, wire, simulate, bdsim_runtime, close
):
    ours = simulate(with_a_plant(diagram(), spacecraft, wire), T=1.5, **TIGHT)
    bd = with_a_plant(diagram(), spacecraft, wire)
    bd.compile(report=False, verbose=False)
    arguments = {"rtol": 1e-11, "atol": 1e-12}
    theirs = bdsim_runtime.run(bd, T=1.5, solver="DOP853", solver_args=arguments)
    assert theirs.t[-1] == pytest.approx(1.5, abs=1e-12)
    close(ours.final_state.continuous["plant"], theirs.x[-1], "final state", rel=1e-8)


@pytest.mark.parametrize("base", ["floating", "fixed"])
def test_the_engines_agree_on_a_branched_robot_with_gravity(base, diagram, wire, close):
    import spart_blocks as sb

    robot = robots.golden_robot("spart_branched").with_base(base)
    bd = diagram()
    bd.GRAVITY(robot, name="gravity")
    bd.MULTIBODY(robot, initial={"qm": np.linspace(-0.3, 0.3, robot.nq)}, name="plant")
    bd.CONSTANT(np.zeros(robot.nu), name="taum")
    wire(bd, "taum -> plant.taum", "gravity.wFm -> plant.wFm")
    if base == "floating":
        wire(bd, "gravity.wF0 -> plant.wF0")
    runs = [sb.simulate(bd, engine=name, T=0.5, every=0.1, **TIGHT) for name in
            ("interpreter", "native")]  # fmt: skip
    close(runs[1]["plant.state"], runs[0]["plant.state"], "state", rel=1e-8)
    if base == "floating":
        # Everything falls together: the joints do not move.
        close(runs[0]["plant.r0"][-1], runs[0]["plant.r0"][0] - [0, 0, 9.81 / 8], "fall", rel=1e-9)
        close(runs[0]["plant.qm"][-1], runs[0]["plant.qm"][0], "joints", rel=1e-9)


def test_a_pendulum_of_one_joint_swings_as_its_closed_form(diagram, wire, simulate):
    # theta'' = -(m g d / J) sin theta; energy gives the rate at the bottom exactly.
    base = robots.BaseLink("ground", np.eye(4), 1.0, np.eye(3))
    arm = np.eye(4)
    arm[:3, 3] = 0, 0, -0.5
    link = robots.Link(1, "arm", 1, arm, 2.0, np.diag([0.1, 0.1, 0.01]))
    joint = robots.Joint(
        1, "hinge", robots.JointType.REVOLUTE, 1, 0, 1, np.array([0.0, 1, 0]), np.eye(4)
    )
    robot = robots.Robot("pendulum", (link,), (joint,), base, base="fixed")
    bd = diagram()
    bd.GRAVITY(robot, name="gravity")
    bd.MULTIBODY(robot, initial={"qm": [1.0]}, name="plant")
    bd.CONSTANT(np.zeros(1), name="taum")
    wire(bd, "taum -> plant.taum", "gravity.wFm -> plant.wFm")
    res = simulate(bd, T=3, **TIGHT)
    q, u = res["plant.qm"][:, 0], res["plant.um"][:, 0]
    J, mgd = 0.1 + 2 * 0.25, 2 * 9.81 * 0.5
    energy = 0.5 * J * u**2 - mgd * np.cos(q)
    assert np.ptp(energy) < 1e-9 * mgd
    assert q.min() == pytest.approx(-1.0, abs=1e-3)
    assert q.max() == pytest.approx(1.0, abs=1e-9)
