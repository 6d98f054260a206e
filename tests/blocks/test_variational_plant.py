"""MULTIBODY with `integrator: variational`, in runs and as C."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

import spart_blocks as sb
from spart_blocks.dynamics import kinematics, loop_errors, multibody_inertia, potential_energy
from spart_blocks.export import step_code, verify
from spart_blocks.program.subdiagram import subdiagram_of

ROOT = Path(__file__).parents[2]
PENDULUM = ROOT / "diagrams" / "joints" / "variational_pendulum.yaml"

# Nothing acts from outside; inside, torques swing the arm.
SPACECRAFT = """
name: floating
robots: {sc: {urdf: sc.urdf, base: floating}}
blocks:
  torque: {type: WAVEFORM, wave: sine, freq: 0.5, amplitude: [0.3, 0.5, -0.2]}
  plant:
    type: MULTIBODY
    robot: sc
    integrator: variational
    audit: true
    initial: {qm: [0.3, -0.5, 0.8], u0: [0.1, -0.2, 0.15, 0.02, 0, -0.01]}
wires: [torque -> plant.taum]
run: {T: 1, solver: euler, max_step: 0.02, every: 0.02}
"""


@pytest.fixture(scope="module")
def spacecraft(tmp_path_factory):
    path = tmp_path_factory.mktemp("variational") / "floating.yaml"
    (path.parent / "sc.urdf").write_text((ROOT / "models/spacecraft_3dof.urdf").read_text())
    path.write_text(SPACECRAFT)
    return path


def pendulum(integrator="variational", **overrides):
    return sb.load(PENDULUM, overrides={"params.integrator": integrator, **overrides})


def test_both_engines_take_the_same_steps_and_keep_the_momentum(spacecraft, monkeypatch):
    monkeypatch.setenv("SPART_COMPILER", "none")  # for 50 steps of a large program
    native = sb.simulate(spacecraft, engine="native", log=["plant.audit.p", "plant.audit.h"])
    blocks = sb.simulate(sb.load(spacecraft), engine="interpreter", T=0.1)
    few = len(blocks.t)
    assert np.abs(native["states.plant"][:few] - blocks["states.plant"]).max() < 1e-11
    for name in ("plant.audit.p", "plant.audit.h"):
        drift = np.ptp(native[name], axis=0).max()
        assert drift < 1e-12 * native.scale(name), name


def test_its_step_knows_the_masses_that_are_parameters(spacecraft):
    path = spacecraft.with_name("tunable.yaml")
    path.write_text(f"{SPACECRAFT}tunable: [sc.mass]\n")
    program = sb.trace(sb.load(path))
    mass = program.parameter("sc.mass") * np.linspace(1, 2, program.parameter("sc.mass").size)
    other = program.with_parameters({"sc.mass": mass})
    moved, before = (p.advance(0.0, p.x0, p.xd0, p.p, 0.02) for p in (other, program))
    assert np.abs(np.array(moved - before)).max() > 1e-6


def test_the_energy_of_the_shipped_pendulum_comes_back():
    """Heun's method has the same order, and no more than half of its loss is by chance."""
    spread, drift = {}, {}
    for integrator in ("variational", "solver"):
        results = sb.simulate(pendulum(integrator), T=60, every=0.1, log=["energy"])
        energy = results["energy.y"].ravel()
        spread[integrator] = np.ptp(energy)
        drift[integrator] = abs(np.mean(energy[:300]) - np.mean(energy[300:]))
    assert spread["variational"] < 3e-3
    assert drift["variational"] < 0.05 * spread["variational"]
    assert drift["solver"] > 0.4 * spread["solver"] > 10 * spread["variational"]


DAMPED = """
name: damped
robots: {arm: {urdf: arm.urdf, drives: drives.yaml}}
blocks:
  damper: {type: GAIN, K: OUTSIDE}
  weight: {type: GRAVITY, robot: arm}
  plant: {type: MULTIBODY, robot: arm, initial: {qm: [0.7, 0.4]}, integrator: variational}
wires: [plant.um -> damper, damper -> plant.taum, weight.wFm -> plant.wFm]
run: {T: 1, solver: heun, max_step: 0.02, every: 1}
"""


@pytest.mark.parametrize(("inside", "outside", "order"), [(0.4, 0, 2), (0, -0.4, 1)])
def test_a_damper_counts_to_second_order_inside_the_plant_and_to_first_outside(
    tmp_path, monkeypatch, inside, outside, order
):
    monkeypatch.setenv("SPART_COMPILER", "none")
    path = tmp_path / "damped.yaml"
    (tmp_path / "arm.urdf").write_text((ROOT / "models/double_pendulum.urdf").read_text())
    drives = f"joints: {{j1: {{viscous: {inside}}}, j2: {{viscous: {inside}}}}}"
    (tmp_path / "drives.yaml").write_text(drives)
    path.write_text(DAMPED.replace("OUTSIDE", str(outside)))
    ends = [sb.simulate(path, max_step=h)["plant.qm"][-1] for h in (0.04, 0.02, 0.01)]
    coarse, fine = (np.abs(a - b).max() for a, b in pairwise(ends))
    assert np.log2(coarse / fine) == pytest.approx(order, abs=0.2)


def test_it_is_the_same_in_c():
    code = step_code(subdiagram_of(PENDULUM), rate=100, method="heun")
    found = verify(code, np.zeros((100, 0)))
    assert found.passed, found
    assert "state of plant" in found.errors


# A four-bar swings freely about its motor, without the bearing's friction.
LINKAGE = """
name: linkage
robots: {bars: {bodies: bars.yaml}}
blocks:
  weight: {type: GRAVITY, robot: bars, gravity: [0, -9.81, 0]}
  plant:
    type: CLOSED_CHAIN
    robot: bars
    integrator: variational
    initial: {qm: {J1: 0.6}, um: {J1: 5}}
  loose: {type: CONSTANT, value: [0]}
wires: [weight.wFm -> plant.wFm, loose -> plant.tau]
run: {T: 20, solver: euler, max_step: 0.005, every: 0.05}
"""


@pytest.fixture(scope="module")
def linkage(tmp_path_factory):
    path = tmp_path_factory.mktemp("closed") / "linkage.yaml"
    model = (ROOT / "models/four_bar.yaml").read_text()
    (path.parent / "bars.yaml").write_text(model.replace("damping: 0.05", "damping: 0"))
    path.write_text(LINKAGE)
    return path


def total_energy(robot, qm, um):
    Hm = multibody_inertia(np.eye(3), qm, robot).Hm
    K = kinematics(np.eye(3), np.zeros(3), qm, robot)
    weight = potential_energy(np.zeros(3), K.rL, [0, -9.81, 0], robot)
    return um @ Hm @ um / 2 + weight[0]


def test_a_closed_plant_keeps_its_loops_and_its_energy(linkage):
    run = sb.simulate(linkage)
    robot = sb.load(linkage).robots["bars"]
    opened = [np.abs(loop_errors(q, robot)).max() for q in run["plant.qm"]]
    pairs = zip(run["plant.qm"], run["plant.um"], strict=True)
    energy = np.array([total_energy(robot, q, u) for q, u in pairs])
    assert max(opened) < 1e-12
    assert np.ptp(energy) < 0.02  # [J], of a kinetic energy of up to 8
    assert abs(energy[:200].mean() - energy[200:].mean()) < 0.1 * np.ptp(energy)


def test_a_closed_plant_takes_the_same_steps_on_both_engines_and_in_c(linkage):
    native = sb.simulate(linkage, T=0.1, every=0.005)["states.plant"]
    blocks = sb.simulate(linkage, T=0.1, every=0.005, engine="interpreter")["states.plant"]
    assert np.abs(native - blocks).max() < 1e-11
    found = verify(step_code(subdiagram_of(linkage), rate=200, method="euler"), np.zeros((50, 0)))
    assert found.passed, found


# --- refused ------------------------------------------------------------------------------


@pytest.mark.parametrize("engine", ["native", "interpreter"])
@pytest.mark.parametrize("solver", ["auto", "LSODA", "CVODES"])
def test_a_solver_with_steps_of_its_own_is_refused(engine, solver):
    text = r"plant steps by itself, and solver \w+ chooses its own steps\n.*solver: RK4, max_step"
    with pytest.raises(sb.InputError, match=text):
        sb.simulate(pendulum(), engine=engine, solver=solver)


def test_a_step_too_long_to_converge_ends_the_run_and_says_so():
    with pytest.raises(sb.RunError, match=r"no finite number at t = .*\n.*smaller max_step"):
        sb.simulate(pendulum(), engine="native", max_step=2.0)


def test_an_unknown_integrator_is_refused():
    with pytest.raises(sb.InputError, match="integrator must be one of solver, variational"):
        pendulum("rk4")
