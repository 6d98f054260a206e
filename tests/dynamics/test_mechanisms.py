"""Mechanisms with loops move as free bodies do, as closed forms say, and as the references."""

import free_bodies
import linkages
import numpy as np
import pytest
from linkages import FiveBar
from mechanisms import (
    DOWN,
    DOWN_Y,
    GRAVITY,
    MODELS,
    NONE,
    PORTS,
    SIX,
    closed_at,
    in_space,
    loop_forces,
    mechanism,
    moving,
    moving_with,
    place_in_u,
    solved,
    vector,
)
from robots import golden
from scipy.spatial.transform import Rotation

from spart_blocks.dynamics import (
    actuated_forces,
    applied_forces,
    assemble,
    gravity_wrenches,
    loop_jacobian,
    mobility,
)
from spart_blocks.robot import Robot


def as_free_bodies(name, placed, loads, prescribed):
    _, bodies = mechanism(name)
    placed = {body: placed[body] for body in bodies.bodies}
    assert max(free_bodies.errors(bodies, placed)) < 1e-10  # the loaded robot is the file's
    by_joint = {
        joint: load
        for port, joints in PORTS[name].items()
        for joint, load in zip(joints, loads[port], strict=True)
    }
    return free_bodies.accelerations(bodies, placed, by_joint, GRAVITY[name], prescribed)


@pytest.mark.parametrize("seed", [0, 1])
@pytest.mark.parametrize("name", GRAVITY)
def test_a_mechanism_moves_as_its_free_bodies(name, seed):
    robot, bodies = mechanism(name)
    rng = np.random.default_rng(seed)
    near = robot.integrate(robot.home, 0.1 * rng.normal(size=robot.nu) * lengths(robot))
    qm = assemble(robot, near).qm
    um = moving(robot, qm, 2 * rng.normal(size=robot.nu) * lengths(robot))
    loads = {port: 0.5 * rng.normal(size=len(joints)) for port, joints in PORTS[name].items()}
    names = [config.name for config in robot.kin_configs]
    umdot_k = rng.normal(size=len(names))
    got = solved(robot, qm, um, loads, GRAVITY[name], umdot_k)
    placed, motion = in_space(robot, qm, um, got.umdot)
    free = as_free_bodies(name, placed, loads, dict(zip(names, umdot_k, strict=True)))
    scale = max(np.abs(a).max() for pair in free.accelerations.values() for a in pair)
    for body, wanted in free.accelerations.items():
        assert np.abs(np.subtract(motion[body], wanted)).max() < 1e-9 * scale, body
    push = sum(np.abs(force).max() for force in free.force.values())
    ground = free_bodies.ground_wrench(bodies, placed, free.accelerations, GRAVITY[name])
    assert np.abs(got.reaction - ground).max() < 1e-9 * push
    for joint, force in loop_forces(robot, got.lam).items():
        size = np.linalg.norm(list(force.values()))  # in axes of the loop's own choice
        assert size == pytest.approx(np.linalg.norm(free.force[joint]), abs=1e-8 * push), joint
    assert np.abs(got.tau_k - [free.load[joint] for joint in names]).max(initial=0) < 1e-9 * push


def lengths(robot):
    """1 for joints that turn, and 0.1 m for those that slide."""
    slides = {joint.q_id - 1 for joint in robot.joints if joint.type.name == "PRISMATIC"}
    return np.array([0.1 if k in slides else 1.0 for k in range(robot.nu)])


@pytest.mark.parametrize(
    ("name", "freedoms", "redundant"),
    [
        ("delta_robot", 9, 0),  # three of the plate, and each rod's spin
        ("four_bar", 1, 3),  # out of the plane: a slide and two turns a loop
        ("andrews_squeezer", 1, 9),
        ("five_bar", 2, 3),
        ("slider_crank", 1, 3),
        ("stewart_platform", 6, 0),
    ],
)
def test_a_mechanism_has_its_freedoms_and_its_redundant_conditions(name, freedoms, redundant):
    found = mobility(mechanism(name)[0])
    assert (found.freedoms, len(found.redundant), found.singular) == (freedoms, redundant, False)


# --- the references and closed forms -----------------------------------------------------------


def delta_torque(t):
    torque = golden("delta_robot")["motor_torque"]
    a, b, w, p = (np.array(torque[key]) for key in "abwp")
    return a + b * np.sin(w * t + p)


def without_spin(robot, qm, um):
    """The rates with the rods of the delta robot not spinning about themselves: spin is free,
    and the reference starts without."""
    rods = [f"lower_link_{k}" for k in range(1, 7)]

    def spins(u):
        placed, _ = in_space(robot, qm, u, np.zeros(robot.nu))
        return np.array([placed[rod].w @ placed[rod].R[:, 2] for rod in rods])

    J = loop_jacobian(qm, robot)
    motors = np.eye(robot.nu)[[place_in_u(robot, joint) for joint in "BCD"]]
    fixed = np.vstack([J, motors, np.array([spins(unit) for unit in np.eye(robot.nu)]).T])
    wanted = np.hstack([np.zeros(len(J)), motors @ um, np.zeros(6)])
    return np.linalg.solve(fixed, wanted)  # 24 rates: 15 rows, 3 motors, 6 rods


def delta_at(angles):
    robot, _ = mechanism("delta_robot")
    return robot, closed_at(robot, dict(zip("BCD", angles, strict=True)))


def test_the_delta_robot_assembles_to_the_reference_configuration():
    reference = golden("delta_robot")
    robot, qm = delta_at(reference["initial_motor_angles"])
    placed, _ = in_space(robot, qm, np.zeros(robot.nu), np.zeros(robot.nu))
    names = list(mechanism("delta_robot")[1].bodies)
    for body in reference["initial_configuration"]:
        at = placed[names[body["body"]]]
        assert np.abs(at.r - body["com_pos_world"]).max() < 1e-12
        # The rods turn freely about themselves; their lines and the plate's axes are given.
        axes = slice(0, 3) if body["body"] in (0, 1, 2, 3, 10) else slice(2, 3)
        assert np.abs(at.R[:, axes] - np.array(body["rot"])[:, axes]).max() < 1e-11


def test_the_delta_robot_reaches_a_pose_of_its_plate_with_the_reference_motors():
    # Along the reference's motion, each pose from the one before.
    robot, qm = delta_at(golden("delta_robot")["initial_motor_angles"])
    reference = golden("delta_robot")["reference"]
    for k in (10, 20, 30, 40, 50):
        place = {"end_effector": np.array(reference["ee_pos_world"][k])}
        qm = assemble(robot, qm, place=place).qm
        motors = [qm[entry.q][0] for entry in robot.layout if entry.name in "BCD"]
        assert np.abs(motors - np.array(reference["motor_angle"][k])).max() < 1e-10


@pytest.mark.parametrize("k", [0, 23, 50])
def test_the_delta_robot_accelerates_as_the_reference(k):
    reference = golden("delta_robot")["reference"]
    robot, qm = delta_at(reference["motor_angle"][k])
    rates = dict(zip("BCD", reference["motor_rate"][k], strict=True))
    um = without_spin(robot, qm, vector(robot, rates))
    got = solved(robot, qm, um, {"tau": delta_torque(reference["t"][k])}, DOWN)
    motors = [got.umdot[place_in_u(robot, joint)] for joint in "BCD"]
    assert np.abs(motors - np.array(reference["motor_accel"][k])).max() < 1e-10
    placed, motion = in_space(robot, qm, um, got.umdot)
    assert np.abs(placed["end_effector"].v - reference["ee_vel_world"][k]).max() < 1e-11
    if k == 0:
        assert np.abs(motion["end_effector"][1] - reference["ee_accel_at_t0"]).max() < 1e-11
        wanted = {row["joint"]: row for row in reference["joint_forces_at_t0"]}
        forces = loop_forces(robot, got.lam)
        assert len(forces) == 5
        for joint, force in forces.items():
            size = np.linalg.norm(list(force.values()))  # in axes of the loop's own choice
            given = np.linalg.norm(wanted[joint]["force_on_child_world"])
            assert size == pytest.approx(given, abs=1e-11)


@pytest.mark.parametrize("k", [0, 23, 50])
def test_the_delta_robot_with_prescribed_motors_needs_the_torques_of_the_reference(k):
    reference = golden("delta_robot")["reference"]
    robot, qm = delta_at(reference["motor_angle"][k])
    rates = dict(zip("BCD", reference["motor_rate"][k], strict=True))
    um, given = without_spin(robot, qm, vector(robot, rates)), np.array(reference["motor_accel"][k])
    led = robot.with_kinematic(["B", "C", "D"])
    torque = delta_torque(reference["t"][k])
    assert np.abs(solved(led, qm, um, {}, DOWN, given).tau_k - torque).max() < 1e-11


def four_bar_at(case, k):
    angles, rates = np.array(case["angles"][k]), np.array(case["rates"][k])
    robot, _ = mechanism("four_bar")
    joints = ("J1", "J2", "J3")
    turns = ((a[0], a[1] - a[0], a[2]) for a in (angles, rates))
    qm, um = (vector(robot, dict(zip(joints, turn, strict=True))) for turn in turns)
    return robot, qm, um


@pytest.mark.parametrize("k", [0, 37, 100])
def test_the_four_bar_accelerates_as_the_reference(k):
    case = golden("fourbar")["case_torque"]
    robot, qm, um = four_bar_at(case, k)
    torque = 1.2 + 2.5 * np.sin(4 * case["t"][k] + 0.3)
    got = solved(robot, qm, um, {"tau": np.array([torque])}, DOWN_Y).umdot
    crank, coupler, rocker = case["accelerations"][k]
    wanted = vector(robot, {"J1": crank, "J2": coupler - crank, "J3": rocker})
    assert np.abs(got - wanted).max() < 1e-9


@pytest.mark.parametrize("k", [0, 37, 100])
def test_the_four_bar_with_a_prescribed_crank_needs_the_torque_of_the_reference(k):
    case = golden("fourbar")["case_kinematic"]
    robot, qm, um = four_bar_at(case, k)
    given = np.array([case["accelerations"][k][0]])
    got = solved(robot.with_kinematic(["J1"]), qm, um, {}, DOWN_Y, given)
    # The bearing's damper is a force of the robot, so that the drive overcomes it.
    assert got.tau_k[0] == pytest.approx(case["driving_torque"][k], abs=1e-10)
    ground = np.add(case["reaction_J1"][k], case["reaction_J3"][k])
    assert np.abs(got.reaction[3:5] - ground).max() < 1e-10
    pin = loop_forces(robot, got.lam)["J4"]
    assert np.abs([pin["x"], pin["y"]] - np.array(case["reaction_J4"][k])).max() < 1e-10


ANDREWS = ("O", "K1K2", "B", "K5K4", "A5", "K7K6", "A7")  # the source's order of q


def andrews_at(q, qd):
    robot, _ = mechanism("andrews_squeezer")
    values = vector(robot, dict(zip(ANDREWS, q, strict=True)))  # as many positions as rates
    um = vector(robot, dict(zip(ANDREWS, qd, strict=True)))
    got = solved(robot, values, um, {"drive": np.array([0.033])}, NONE)
    pins = loop_forces(robot, got.lam)
    lam = np.array([pins[pin][axis] for pin in ("P23", "P24", "P26") for axis in "xy"])
    return np.array([got.umdot[place_in_u(robot, joint)] for joint in ANDREWS]), lam


def test_andrews_mechanism_starts_as_published():
    start = golden("andrews_squeezer")["initial"]
    qdd, lam = andrews_at(start["q"], start["qd"])
    assert np.abs(qdd - start["qdd_published"]).max() < 1e-10 * np.abs(qdd).max()
    assert np.abs(lam - start["lambda_published"]).max() < 1e-10 * np.abs(lam).max()


def test_andrews_mechanism_has_the_published_accelerations_and_forces_at_the_end():
    end = golden("andrews_squeezer")["published_reference_t_0.03"]
    qdd, lam = andrews_at(end["q"], end["qd"])
    # The published rates close the loops to 1e-9 m/s, which shows in the accelerations.
    assert np.abs(qdd - end["qdd"]).max() < 1e-6 * np.abs(qdd).max()
    assert np.abs(lam - end["lam"]).max() < 1e-6 * np.abs(lam).max()


@pytest.mark.parametrize(
    ("motors", "rates"), [((2.3, 0.7), (1.4, -2.2)), ((1.8, 1.2), (-3.0, 0.5))]
)
def test_the_five_bar_accelerates_as_its_equations_in_the_motors_say(motors, rates):
    robot, bodies = mechanism("five_bar")
    five, torque = FiveBar(bodies), np.array([1.1, -0.6])
    qm = closed_at(robot, {"left": motors[0], "right": motors[1]})
    um = moving_with(robot, qm, {"left": rates[0], "right": rates[1]})
    placed, _ = in_space(robot, qm, um, np.zeros(robot.nu))
    tip = placed["left_forearm"]
    tool = tip.r + tip.R @ (bodies.pins["tool"].Ta[1] - bodies.bodies["left_forearm"].com)
    assert np.abs(tool[[0, 2]] - five.tool(motors)).max() < 1e-12
    got = solved(robot, qm, um, {"tau": torque}, DOWN).umdot
    wanted = five.accelerations(np.array(motors), np.array(rates), torque)
    both = [got[place_in_u(robot, joint)] for joint in ("left", "right")]
    assert np.abs(both - wanted).max() < 1e-10 * np.abs(wanted).max()


@pytest.mark.parametrize("angle", [0.7, 2.9, 5.0])
def test_the_slider_crank_needs_the_torque_that_virtual_work_gives(angle):
    robot, bodies = mechanism("slider_crank")
    rate, acceleration, gas = 31.0, -50.0, -800.0
    stroke = linkages.slider_crank(bodies, angle, rate, acceleration, gas)
    lean = -np.arcsin(0.05 / 0.16 * np.sin(angle))
    near = vector(robot, {"main": angle, "big_end": lean - angle, "liner": stroke.x})
    qm = assemble(robot, near, hold=["main"]).qm
    um = moving_with(robot, qm, {"main": rate})
    got = solved(robot, qm, um, {"gas": np.array([gas])}, DOWN_Y, np.array([acceleration]))
    piston = place_in_u(robot, "liner")
    assert qm[piston] == pytest.approx(stroke.x, abs=1e-13)
    assert um[piston] == pytest.approx(stroke.xdot, rel=1e-11)
    assert got.umdot[piston] == pytest.approx(stroke.xddot, rel=1e-11)
    assert got.tau_k[0] == pytest.approx(stroke.torque, rel=1e-11)


def test_the_legs_of_the_stewart_platform_carry_it_along_a_given_motion():
    robot, bodies = mechanism("stewart_platform")
    pose = np.array([0.03, -0.05, 0.83]), Rotation.from_rotvec([0.1, -0.15, 0.2]).as_matrix()
    twist, rate = np.random.default_rng(3).normal(size=(2, 2, 3))
    placed, motion, legs = linkages.stewart(bodies, pose, twist, rate)
    slides = PORTS["stewart_platform"]["force"]
    loads = free_bodies.loads_for(bodies, placed, motion, slides).load
    T = np.eye(4)
    T[:3, 3], T[:3, :3] = pose
    qm = assemble(robot, place={"platform": T}).qm
    at = [next(entry.q for entry in robot.layout if entry.name == slide) for slide in slides]
    assert np.abs(np.hstack([qm[q] for q in at]) - [leg.q[2] for leg in legs]).max() < 1e-12
    um = moving_with(
        robot, qm, {slide: leg.qdot[2] for slide, leg in zip(slides, legs, strict=True)}
    )
    got = solved(robot, qm, um, {"force": np.array([loads[slide] for slide in slides])}, DOWN)
    taum = applied_forces(np.eye(3), np.zeros(3), SIX, qm, um, robot, {"force": SIX}).taum
    weight = gravity_wrenches(DOWN, robot).wFm
    places = [place_in_u(robot, slide) for slide in slides]
    driven = [leg.qddot[2] for leg in legs]
    none = np.zeros(6)
    need = actuated_forces(np.eye(3), none, qm, um, driven, taum, none, weight, robot, places)
    assert np.abs(need.tau - [loads[slide] for slide in slides]).max() < 1e-9
    slid = [got.umdot[place_in_u(robot, slide)] for slide in slides]
    assert np.abs(slid - np.array([leg.qddot[2] for leg in legs])).max() < 1e-10
    _, moved = in_space(robot, qm, um, got.umdot)
    for body, wanted in motion.items():
        assert np.abs(np.subtract(moved[body], wanted)).max() < 1e-9, body


@pytest.mark.parametrize("lddot", [0.0, -1.3])
def test_a_string_of_prescribed_length_carries_the_bob_with_the_tension_of_the_closed_form(lddot):
    robot = Robot.from_bodies(MODELS / "string_pendulum.yaml")
    angle, rate, l, ldot = 0.4, 1.7, 1.2, -0.6
    along, across = (
        np.array([np.sin(angle), -np.cos(angle)]),
        np.array([np.cos(angle), np.sin(angle)]),
    )
    position, velocity = l * along, ldot * along + l * rate * across
    qm = vector(robot, {"hang.px": position[0], "hang.py": position[1], "string": l})
    um = vector(robot, {"hang.px": velocity[0], "hang.py": velocity[1], "string": ldot})
    got = solved(robot, qm, um, {}, DOWN, np.array([lddot]))
    swing = -2 * ldot / l * rate - 9.81 / l * np.sin(angle)
    a = (lddot - l * rate**2) * along + (l * swing + 2 * ldot * rate) * across
    assert np.abs(got.umdot[:2] - a).max() < 1e-12
    tension = linkages.string_tension(0.8, angle, rate, (l, ldot, lddot))
    # The force that holds the length pulls it in, against the bob.
    assert got.tau_k[0] == pytest.approx(-tension, rel=1e-12)
