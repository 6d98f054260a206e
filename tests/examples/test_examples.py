"""Every example runs from anywhere, and the numbers it prints are right.

The numbers come from elsewhere: SPART's reference robot, the geometry worked out by hand,
Pinocchio, a textbook's matrix, the same diagram from its YAML file.
"""

from __future__ import annotations

import re
import runpy
import subprocess
import sys
from math import cos, sin
from pathlib import Path

import control
import numpy as np
import pytest
import robots
import yaml

import spart_blocks as sb
from spart_blocks import spart
from spart_blocks.diagram.build.library import runtime
from spart_blocks.robot._transforms import rotation_x, rotation_z, translation

EXAMPLES = Path(__file__).parents[2] / "examples"
SCRIPTS = sorted(EXAMPLES.glob("*.py"))
NUMBER = re.compile(r"(?<![\w.])-?\d+\.?\d*(?:e[+-]?\d+)?")
SPACECRAFT = robots.golden_robot("spart_sc_3dof")


@pytest.fixture
def run(monkeypatch, tmp_path, capsys):
    """run(name, *arguments): what an example prints, started in an empty folder."""

    def run(name, *arguments):
        bdsim = sys.modules.get("bdsim")
        if bdsim is not None:  # a script's own process finds the block library unread
            monkeypatch.setattr(bdsim.BDSim, "_blocklibrary", None)
            runtime.cache_clear()
        monkeypatch.chdir(tmp_path)
        monkeypatch.setattr(sys, "argv", [name, *arguments])
        with np.printoptions():
            runpy.run_path(str(EXAMPLES / f"{name}.py"), run_name="__main__")
        return capsys.readouterr().out

    yield run
    runtime.cache_clear()  # made with a block library that goes with the test


def numbers(text, label):
    """The numbers after a label, up to the next text that is neither number nor bracket."""
    found = re.search(re.escape(label) + r"([-+\d.e\s\[\],]*)", text)
    assert found, f"{label!r} is not in:\n{text}"
    values = [float(x) for x in NUMBER.findall(found[1])]
    assert values, f"no number after {label!r} in:\n{text}"
    return np.array(values)


def test_every_example_is_short_and_has_a_test():
    here = Path(__file__).read_text(encoding="utf-8")
    for script in SCRIPTS:
        assert len(script.read_text(encoding="utf-8").splitlines()) < 100, script.name
        assert f'run("{script.stem}"' in here, f"{script.name} has no test"


def test_an_example_runs_in_a_process_of_its_own(tmp_path):
    script = EXAMPLES / "robot_model.py"
    done = subprocess.run(
        [sys.executable, str(script)], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert "total mass: 130 kg" in done.stdout
    assert not done.stderr
    assert not list(tmp_path.iterdir())


def test_robot_model(run):
    out, want = run("robot_model"), robots.golden("spart_sc_3dof")
    assert numbers(out, "active joints n_q:") == want["robot"]["n_q"]
    assert numbers(out, "not counted:") == want["robot"]["n_links_joints"]
    assert numbers(out, "total mass:") == SPACECRAFT.mass
    assert f"link ids: {want['keys']['link']}" in out
    assert f"joint ids: {want['keys']['joint']}" in out
    assert f"counted from 1: {want['keys']['q']}" in out
    assert "to link 3" in out
    branch = np.array(want["connectivity"]["branch"]).ravel()
    assert (numbers(out, "branch:") == branch).all()


def test_kinematics(run, tmp_path):
    out = run("kinematics", "--plot")
    # Joint 1 turns about z; 2 and 3 bend the arm about x; two links of 0.75 m in between.
    a, b, c = np.radians([30, -45, 60])
    side = -0.75 * (sin(b) + sin(b + c))
    height = 0.375 + 0.25 + 0.2 + 0.75 * (cos(b) + cos(b + c))
    tool = [-sin(a) * side, cos(a) * side, height]
    assert numbers(out, "position of the tool, link 5:") == pytest.approx(tool, abs=6e-5)
    assert numbers(out, "axis of Joint_2:") == pytest.approx([cos(a), sin(a), 0], abs=6e-5)
    twist = numbers(out, "twist of the tool:")
    elbow = [0.75 * sin(b) * sin(a), -0.75 * sin(b) * cos(a), 0.825 + 0.75 * cos(b)]
    bend = np.array([cos(a), sin(a), 0])
    turns = [  # rate, and a point of its axis
        (np.array([0.01, 0, 0]), [0, 0, 0]),
        (np.radians([0, 0, 4]), [0, 0, 0]),
        (np.radians(-1) * bend, [0, 0, 0.825]),
        (np.radians(5) * bend, elbow),
    ]
    v = np.array([0, 0.02, 0]) + sum(np.cross(w, np.subtract(tool, p)) for w, p in turns)
    assert twist == pytest.approx([*sum(w for w, _ in turns), *v], abs=6e-5)
    assert (numbers(out, "difference:") < 1e-15).all()
    assert numbers(out[out.index("rate of the tool") :], "difference:") < 1e-15
    assert (tmp_path / "out" / "kinematics.png").stat().st_size > 1000


def test_no_picture_is_written_unless_asked_for(run, tmp_path):
    run("kinematics")
    assert not list(tmp_path.iterdir())


def test_dynamics(run):
    pytest.importorskip("pinocchio")
    from pinocchio_twin import Twin

    out = run("dynamics")
    zero6, n = np.zeros(6), SPACECRAFT.n_links_joints
    umdot = np.array([0.1, -0.2, 0.3])
    state = robots.State(
        R0=np.eye(3), r0=np.zeros(3), qm=np.radians([30, -45, 60]), u0=zero6,
        um=np.radians([4, -1, 5]), u0dot=zero6, umdot=umdot, tau0=zero6,
        taum=np.array([1, 0.5, -0.2]), wF0=zero6, wFm=np.zeros((n, 6)),
    )  # fmt: skip
    twin = Twin(SPACECRAFT, floating=True)
    H = twin.crba(state)
    Hm = numbers(out, "inertia of the arm Hm [kg m^2]:").reshape(3, 3)
    assert pytest.approx(H[6:, 6:], abs=6e-5) == Hm
    lowest = np.linalg.eigvalsh(H)[0]
    assert numbers(out, "eigenvalue of H:") == pytest.approx(lowest, abs=6e-5)
    u0dot, joints = twin.aba(state)
    assert numbers(out, "joints:") == pytest.approx(joints, abs=6e-5)
    assert numbers(out, "base:") == pytest.approx(u0dot, abs=6e-5)
    assert numbers(out, "H udot + C u - tau:") < 1e-12
    assert numbers(out, "free fall: base") == -9.81
    # Held still, the base bears all the weight, at an arm to the common centre of mass.
    assert numbers(out, "on the base:")[3:] == pytest.approx([0, 0, 130 * 9.81], abs=6e-2)
    # A floating base leaves H0 u0dot + H0m umdot + the rest = 0 on the base: Pinocchio's rnea
    # with the accelerations printed needs no base force, and the torques printed.
    falling = numbers(out, "the base answers with:")
    torques = numbers(out, "joint torques:")
    weights = sb.dynamics.gravity_wrenches([0, 0, -9.81], SPACECRAFT)
    fields = state.arrays() | {"u0dot": falling, **weights._asdict()}
    tau0, taum = twin.rnea(robots.State(**fields))
    assert tau0 == pytest.approx(np.zeros(6), abs=130 * 1e-4)
    assert taum == pytest.approx(torques, abs=5e-3)
    assert numbers(out, "differs by") < 1e-12


def test_dh(run):
    out, data = run("dh"), robots.golden("spart_dh_5dof")
    T_Ln_EE = np.array(data["T_Ln_EE"])
    assert numbers(out, "to the end-effector:") == pytest.approx(T_Ln_EE[:3, 3])
    for part, q in zip(
        out.split("qm = ")[1:], ([0] * 5, np.radians([20, 10, -15, 30, 5])), strict=True
    ):
        T = np.array(data["dh_data"]["base"]["T_L0_J1"], float)
        for q_i, man in zip(q, data["dh_data"]["man"], strict=True):
            dh = man["DH"]
            T = T @ rotation_z(dh["theta"] + q_i) @ translation([0, 0, dh["d"]])
            T = T @ translation([dh["a"], 0, 0]) @ rotation_x(dh["alpha"])
        end = data["dh_data"]["EE"]
        T = T @ rotation_z(end["theta"]) @ translation([0, 0, end["d"]])
        assert numbers(part, "end-effector at") == pytest.approx(T[:3, 3], abs=6e-5)
        angles = np.radians(numbers(part, "321 angles x, y, z:"))
        R = sb.spart.Angles321_DCM(angles).T
        assert pytest.approx(T[:3, :3], abs=2e-6) == R


def test_symbolic(run):
    pytest.importorskip("sympy")
    out = run("symbolic")
    # Textbook: l = 1, lc = 0.5, m = 2, I = 0.25 of both links of a planar arm.
    assert "Hm(q) = [[2*cos(q2) + 7/2, cos(q2) + 3/4], [cos(q2) + 3/4, 3/4]] kg m^2" in out
    c = cos(-0.7)
    want = [2 * c + 3.5, c + 0.75, c + 0.75, 0.75]
    assert numbers(out, "rad:") == pytest.approx(want, rel=1e-14)
    assert numbers(out, "difference from numbers:") < 1e-14
    if "CasADi is not" not in out:
        assert numbers(out, "CasADi: difference from numbers:") < 1e-14
        assert numbers(out, "dHm11/dq =") == pytest.approx([0, -2 * sin(-0.7)], rel=1e-14)


def test_diagram_in_python_is_the_diagram_of_the_yaml_file(run, tmp_path):
    out = run("diagram_in_python", "--plot", "pictures")
    same = sb.simulate(EXAMPLES.parent / "diagrams" / "spacecraft_pd.yaml", T=20)
    assert numbers(out, "joints after 20 s:") == pytest.approx(same["plant.qm"][-1], abs=6e-5)
    angles = np.degrees(same["attitude"][-1])
    for name, angle in zip(("roll", "pitch", "yaw"), angles, strict=True):
        assert numbers(out, name) == pytest.approx(angle, abs=6e-4)
    assert numbers(out, "largest joint torque:") == pytest.approx(same.scale("ctrl.tau"), abs=6e-3)
    drawn = {path.stem for path in (tmp_path / "pictures").iterdir()}
    assert drawn == {"joints", "torques", "base"}


def test_own_controller(run):
    out = run("own_controller")
    free, limited = out.split("limit ")[1:]
    # The step asks for kp times its height at once: 40 N m/rad times 0.5 rad.
    assert numbers(free, "largest torque:") == 20
    assert numbers(limited, "largest torque:") == 2
    assert 1 < numbers(free, "from t =") < numbers(limited, "from t =") < 10
    for part in (free, limited):
        assert numbers(part, "joint error after 20 s:") < 1e-6


def test_lqr(run):
    """The gain is that of python-control, from SPART's inertia matrix, and the diagram's own."""
    printed = re.search(r"gain K.*?:\n(.*?)poles", run("lqr"), re.DOTALL)
    gain = np.array(NUMBER.findall(printed[1]), float).reshape(3, 6)
    robot = sb.Robot.from_urdf(EXAMPLES.parent / "models" / "spacecraft_3dof.urdf")
    H = reduced_inertia(robot, np.array([0.5, -0.3, 0.2]))
    A, B = np.zeros((6, 6)), np.zeros((6, 3))
    A[:3, 3:], B[3:] = np.eye(3), np.linalg.inv(H)
    want, _, _ = control.lqr(A, B, np.diag([1600, 1600, 400, 100, 100, 25]), np.eye(3))
    assert gain == pytest.approx(want, abs=6e-5)
    file = EXAMPLES.parent / "diagrams" / "controllers" / "lqr.yaml"
    assert np.array_equal(yaml.safe_load(file.read_text())["params"]["K"], gain)


def reduced_inertia(robot, qm):
    """The inertia matrix of the joints of a free base at rest: Hm - H0m' inv(H0) H0m."""
    state = (np.eye(3), np.zeros(3))
    K = spart.Kinematics(*state, qm, robot)
    Bij, Bi0, P0, pm = spart.DiffKinematics(*state, K.rL, K.e, K.g, robot)
    I0, Im = spart.I_I(state[0], K.RL, robot)
    M0, Mm = spart.MCB(I0, Im, Bij, Bi0, robot)
    H0, H0m, Hm = spart.GIM(M0, Mm, Bij, Bi0, P0, pm, robot)
    return Hm - H0m.T @ np.linalg.solve(H0, H0m)


def test_matlab_port(run):
    out = run("matlab_port")
    zero6, n = np.zeros(6), SPACECRAFT.n_links_joints
    um, umdot = np.radians([4, -1, 5]), np.radians([-0.1, 0.2, 0.1])
    state = robots.State(
        R0=np.eye(3), r0=np.zeros(3), qm=np.zeros(3), u0=zero6, um=um, u0dot=zero6,
        umdot=umdot, tau0=zero6, taum=np.array([1, 0.5, -0.2]), wF0=zero6, wFm=np.zeros((n, 6)),
    )  # fmt: skip
    want = robots.everything(SPACECRAFT, state, link=n)
    # The straight arm: joints at 0.625, 0.825, 1.575 m, the tool at 2.325 m.
    assert numbers(out, "centre of mass of link 2:") == pytest.approx([0, 0, 0.725])
    speed = -(um[1] * 1.5 + um[2] * 0.75)
    assert numbers(out, "velocity of link 5:") == pytest.approx([0, speed, 0], abs=6e-7)
    for label, value in {
        "twist of link 2:": want["tL"][1],
        "acceleration of link 5:": want["tLdot"][4, 3:],
        "diagonal of Hm:": np.diag(want["Hm"]),
        "joint accelerations:": want["umdot_FD"],
        "torques with the base held:": want["taum_ID"],
        "torques with the base free:": want["taum_floating"],
    }.items():
        assert numbers(out, label) == pytest.approx(value, abs=6e-7), label


def planar_jacobians(q1, q2, base_mass):
    """The Jacobians (2,2) of the arm's end, its base held and floating: two bars of 0.5 m and
    10 kg on a cube of 0.5 m, in x, y and the turn of the base, worked out by hand."""
    angles, axle = np.array([0.0, q1, q1 + q2]), 0.25
    along = np.array([[cos(a), sin(a)] for a in angles])
    across = along @ [[0, 1], [-1, 0]]
    # Of each point the way by the rates x, y, base turn, q1, q2.
    arms = np.array([[0, 0, 0], [axle, 0.25, 0], [axle, 0.5, 0.25], [axle, 0.5, 0.5]])
    turned_by = np.array([[1, 1, 1], [0, 1, 1], [0, 0, 1]])  # by base, q1, q2: each part of the arm
    ways = [np.vstack([np.eye(2), turned_by @ (arm[:, None] * across)]).T for arm in arms]
    masses = [base_mass, 10, 10]
    spins = np.array([[0, 0, 1, 0, 0], [0, 0, 1, 1, 0], [0, 0, 1, 1, 1]])
    moments = [base_mass * 0.5**2 / 6, *([10 * (0.5**2 + 0.05**2) / 12] * 2)]
    H = sum(m * W.T @ W for m, W in zip(masses, ways[:3], strict=True))
    H = H + sum(I * np.outer(w, w) for I, w in zip(moments, spins, strict=True))
    end = ways[3]
    return end[:, 3:], end[:, 3:] - end[:, :3] @ np.linalg.solve(H[:3, :3], H[:3, 3:])


def test_workspace(run, tmp_path):
    out = run("workspace", "--plot")
    assert numbers(out, "from the shoulder:") == 1.0
    grid = [np.radians(np.linspace(-end, end, 41)) for end in (90, 135)]
    all_of_it = [[planar_jacobians(a, b, 100.0) for b in grid[1]] for a in grid[0]]
    for k, name in enumerate(("held", "floating")):
        measure = np.array([[abs(np.linalg.det(J[k])) for J in row] for row in all_of_it])
        assert numbers(out, f"base {name}: manipulability at most") == pytest.approx(
            measure.max(), abs=6e-5
        )
        line = out[out.index(f"base {name}: mani") :]
        assert numbers(line, "mean") == pytest.approx(measure.mean(), abs=6e-5)
    pose = np.radians([45, -90])
    assert numbers(out, "deg, base held:") == 0.25  # l1 l2 |sin q2|
    for mass in (100, 500):
        want = abs(np.linalg.det(planar_jacobians(*pose, mass)[1]))
        assert numbers(out, f"floating, {mass} kg:") == pytest.approx(want, abs=6e-7)
    assert (tmp_path / "out" / "workspace.png").stat().st_size > 1000


def test_resolved_motion(run, tmp_path):
    out = run("resolved_motion", "--plot", "pictures")
    assert not numbers(out, "first momentum:").any()
    assert numbers(out, "error of the twist:") < 1e-12
    start = [0.25 + 2 * cos(np.pi / 4) + 1, 0]
    start[1] = sin(np.pi / 4) - sin(np.pi / 4)
    end = numbers(out, "end-effector after 10 s:")
    assert end == pytest.approx([start[0] - 0.3, start[1] + 0.2, 0], abs=6e-5)
    joints = np.radians(numbers(out, "joints:"))
    turned = np.radians(numbers(out, "turned by"))
    assert turned + joints.sum() == pytest.approx(np.radians(-45) + 0.1, abs=1e-5)
    # The common centre of mass stays, and the arm leads from the base to the end.
    moved = numbers(out, "moved by")[:2]
    before, after = (
        centres_of_bars(turn, place, q)
        for turn, place, q in (
            (0.0, np.zeros(2), np.radians([45, -45, -45])),
            (turned[0], moved, joints),
        )
    )
    masses = np.array([100, 10, 10, 10])
    assert masses @ after[0] == pytest.approx(masses @ before[0], abs=130 * 1e-4)
    assert after[1] == pytest.approx(end[:2], abs=3e-4)
    assert (tmp_path / "pictures" / "resolved_motion.png").stat().st_size > 1000


def centres_of_bars(turn, place, q):
    """The centres (4,2) of the base and three bars of 1 m, and the arm's end (2,)."""
    angles = turn + np.array([0.0, *np.cumsum(q)])
    along = np.array([[cos(a), sin(a)] for a in angles])
    joints = np.cumsum([place + 0.25 * along[0], *along[1:]], axis=0)
    return np.vstack([place, joints[:-1] + along[1:] / 2]), joints[-1]
