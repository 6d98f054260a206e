"""Inertial parameters of links: they stay those of bodies, and what torques tell of them."""

from __future__ import annotations

import json
import re
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from arm_torques import TILTED, UPRIGHT, measured_arm, true_base, true_values
from scipy.spatial.transform import Rotation

import spart_blocks as sb
from spart_blocks.base.errors import InputError
from spart_blocks.fits.inertial import PLACES, Body, physical

ROOT = Path(__file__).parents[2]


@pytest.fixture
def arm(tmp_path):
    """arm(gravity=, noise=, factor=): as `measured_arm`."""
    return partial(measured_arm, tmp_path)


# --- log-Cholesky numbers ---------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(5))
def test_any_numbers_are_those_of_a_body_and_each_body_has_one_set(seed):
    """Of a body the principal moments obey the triangle inequality."""
    rng = np.random.default_rng(seed)
    body = Body("arm", 1, Rotation.random(random_state=seed).as_matrix())
    z = rng.normal(size=10)
    values = body.values(z)
    moments = np.sort(np.linalg.eigvalsh(body.quantities(values)["arm.inertia[1]"]))
    assert values[0] > 0
    assert moments[0] > 0
    assert moments[0] + moments[1] > moments[2]
    np.testing.assert_allclose(body.searched(values), z, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(body.of_linear(body.linear(values)), values, rtol=1e-9, atol=1e-12)


def test_derivatives_by_log_cholesky_numbers_are_those_of_the_values():
    body = Body("arm", 1, Rotation.random(random_state=0).as_matrix())
    z, h = np.random.default_rng(0).normal(size=10) / 2, 1e-6
    for slopes, function, at in ((body.slopes(z), body.values, z),
                                 (np.linalg.inv(body.by_linear(body.values(z))), body.linear,
                                  body.values(z))):  # fmt: skip
        steps = h * np.eye(10)
        want = np.array([(function(at + s) - function(at - s)) / (2 * h) for s in steps]).T
        np.testing.assert_allclose(slopes, want, atol=1e-7)


def test_an_inertia_of_no_body_becomes_that_of_one_nearby():
    line = np.array([2.0, 0, 0, 0.1, 0.3, 0.3, 0, 0, 0, 0])
    values, moved = physical(line)
    assert moved
    assert not physical(values)[1]
    assert np.abs(values - line).max() < 1e-4
    assert not physical(np.array([2.0, 0, 0, 0.1, 0.3, 0.3, 0.2, 0, 0, 0]))[1]


# --- base parameters --------------------------------------------------------------------------


@pytest.mark.parametrize(("gravity", "count"), [(UPRIGHT, 43), (TILTED, 45)])
def test_base_parameters_are_those_of_the_literature(arm, gravity, count):
    """43 for seven revolute joints, the first along gravity (C. Gaz, F. Flacco, A. De Luca, ICRA
    2016); otherwise its first moments act too. Each sum is right: Pinocchio's regressor gives the
    same torques of all parameters and of the sums alone.
    """
    path, measured, regressor = arm(gravity)
    found = sb.fit(path, {"arm.inertial": None}, measured)
    base = found.statistics.base
    assert len(base) == np.linalg.matrix_rank(regressor) == count
    assert not found.statistics.combinations
    order = ["m", "mx", "my", "mz", "xx", "xy", "yy", "zx", "yz", "zz"]  # Pinocchio's
    names = [f"{name}[{k}]" for k in range(1, 8) for name in order]
    column = {name: regressor[:, k] for k, name in enumerate(names)}
    pi = np.random.default_rng(1).normal(size=70)
    sums = [sum(factor * pi[names.index(name)] for name, factor in one.parts) for one in base]
    kept = np.column_stack([column[one.parts[0][0]] for one in base])
    np.testing.assert_allclose(kept @ sums, regressor @ pi, atol=1e-9 * abs(regressor @ pi).max())
    assert str(base[0]) == "zz[1] + yy[2]"


def test_torques_without_noise_give_the_base_parameters(arm):
    path, measured, _ = arm(factor=1.2)
    found = sb.fit(path, {"arm.inertial": None}, measured)
    got = np.array([one.value for one in found.statistics.base])
    np.testing.assert_allclose(got, true_base(found), atol=2e-7)
    for k in range(1, 8):
        body = Body("arm", k, np.eye(3))
        body.searched(np.array([found[f"arm.mass[{k}]"], *found[f"arm.com[{k}]"],
                                *(found[f"arm.inertia[{k}]"][at] for at in PLACES)]))  # fmt: skip


def test_standard_errors_of_base_parameters_are_those_of_the_errors(arm):
    path, measured, _ = arm(noise=0.05, factor=1.2)
    found = sb.fit(path, {"arm.inertial": None}, measured)
    got = np.array([one.value for one in found.statistics.base])
    errors = np.array([one.error for one in found.statistics.base])
    off = (got - true_base(found)) / errors
    assert abs(off).max() < 4
    assert 0.4 < np.mean(off**2) < 1.8  # of a chi-squared variable of 43, over 43


def test_an_estimate_is_known_only_if_others_cannot_replace_it(arm):
    path, measured, _ = arm(noise=0.05)
    found = sb.fit(path, {"arm.inertial[7]": None}, measured)
    known = dict(zip(found.statistics.labels, np.isfinite(found.statistics.errors), strict=True))
    assert known["arm.mass[7]"]  # the other links are known, and gravity weighs it
    every = sb.fit(path, {"arm.inertial": None}, measured)
    known = dict(zip(every.statistics.labels, np.isfinite(every.statistics.errors), strict=True))
    assert not known["arm.mass[7]"]
    assert known["arm.inertia[7,2,2]"]
    assert "tell 43 sums" in str(every)


def test_masses_alone_are_found_within_their_standard_errors(arm):
    path, measured, _ = arm(noise=0.05)
    masses = {f"arm.mass[{k}]": {"start": 1.0, "min": 0} for k in range(2, 8)}
    found = sb.fit(path, masses, measured)
    off = np.array([found[name] for name in masses]) - true_values()[1:, 0]
    assert abs(off / found.statistics.errors).max() < 4
    assert found.overrides == {}
    with pytest.raises(InputError, match="stands in the robot's file"):
        found.write(path)


def test_a_prior_holds_what_the_torques_do_not_tell(arm):
    path, measured, _ = arm(noise=0.05, factor=1.3)
    near = sb.fit(path, {"arm.inertial": None}, measured, prior=1e-4)
    for k in range(1, 8):
        assert near[f"arm.mass[{k}]"] == pytest.approx(1.3 * true_values()[k - 1, 0], rel=0.05)


def test_a_fit_of_links_is_kept_and_simulated(arm, tmp_path):
    path, measured, _ = arm(factor=1.2)
    found = sb.fit(path, {"arm.inertial": None}, measured)
    kept = json.loads(found.save(tmp_path / "fit.json").read_text())
    assert len(kept["base_parameters"]) == 43
    assert kept["base_parameters"][0]["sum"] == {"zz[1]": 1.0, "yy[2]": pytest.approx(1.0)}
    assert "Base parameters" in found.report(tmp_path / "fit.html").read_text()
    again = sb.fit(path, {"arm.inertial": None}, measured, start=tmp_path / "fit.json")
    assert again["arm.mass[3]"] == pytest.approx(found["arm.mass[3]"], rel=1e-4)
    run = sb.simulate(found.program, T=5, every=0.05)
    tau = np.load(tmp_path / "torques.npz")["tau"][: len(run.t)]
    np.testing.assert_allclose(run["needed.taum"], tau, atol=1e-5)
    with pytest.raises(InputError, match="stands in the robot's file"):
        found.write(path)


# --- from motions -----------------------------------------------------------------------------


def test_a_motion_tells_base_parameters_of_a_pendulum(tmp_path):
    """Two links that swing in a plane, with known torques: of each its moment of inertia about its
    joint and two first moments, the first link's with the second's mass at the second joint."""
    model = ROOT / "models" / "double_pendulum.urdf"
    path = tmp_path / "swing.yaml"
    (tmp_path / "p.urdf").write_text(model.read_text())
    (tmp_path / "spart.toml").touch()
    path.write_text("""
name: swing
robots: {p: {urdf: p.urdf, base: fixed}}
blocks:
  push: {type: WAVEFORM, wave: sine, freq: 0.7, amplitude: 2}
  both: {type: GAIN, K: [1, -0.5]}
  weight: {type: GRAVITY, robot: p}
  plant: {type: MULTIBODY, robot: p, initial: {qm: [0.4, -0.2]}}
  s: {type: SCOPE}
wires:
  - push -> both
  - both -> plant.taum
  - weight.wFm -> plant.wFm
  - plant.qm -> s
run: {T: 3, rtol: 1.0e-9, atol: 1.0e-11}
""")
    run = sb.simulate(path, every=0.02)
    np.savez(tmp_path / "swing.npz", t=run.t, q=run["plant.qm"])
    measured = {"run": {"file": str(tmp_path / "swing.npz"), "signals": {"plant.qm": "q"}}}
    text = model.read_text()
    (tmp_path / "p.urdf").write_text(text.replace('mass value="1"', 'mass value="1.4"'))
    found = sb.fit(path, {"p.inertial": None}, measured)
    about, m, com = 0.08335833, 1.0, -0.5
    end = about + m * com**2  # of a rod about its joint
    want = {"p.xx[1]": end + m, "p.mz[1]": m * com - m, "p.xx[2]": end, "p.mz[2]": m * com,
            "p.my[1]": 0, "p.my[2]": 0}  # fmt: skip
    got = {one.name: one.value for one in found.statistics.base}
    assert got == pytest.approx(want, abs=1e-7)
    held = sb.fit(path, {"p.inertial": None}, measured, prior=1e-8)
    assert held["p.mass[1]"] == pytest.approx(1.4, abs=0.01)


# --- what is refused --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "bounds", "text"),
    [
        ("arm.inertial", [0, 1], "arm.inertial takes no bounds, no start and no scale"),
        ("arm.inertial[9]", None, "arm.inertial[9] names no link of lbr_iiwa"),
        ("arm.inertial.link_3", None, "arm.inertial.link_3 names no link of lbr_iiwa"),
        ("arm.inertial[0]", None, "arm.inertial[0]: the link has no mass to start from"),
    ],
)
def test_links_that_cannot_be_estimated_are_refused(arm, name, bounds, text):
    path, measured, _ = arm()
    with pytest.raises(InputError, match=re.escape(text)):
        sb.fit(path, {name: bounds}, measured)


def test_a_link_may_be_named_and_a_number_of_it_is_estimated_once(arm):
    path, measured, _ = arm()
    found = sb.fit(path, {"arm.inertial.lbr_iiwa_link_7": None}, measured)
    assert found["arm.mass[7]"] == pytest.approx(0.3)
    with pytest.raises(InputError, match=r"arm.inertial\[7\] and arm.mass\[7\] are one number"):
        sb.fit(path, {"arm.inertial[7]": None, "arm.mass[7]": None}, measured)


def test_friction_is_estimated_beside_the_links(arm, tmp_path):
    """Viscous friction of each joint: the damping of a JOINT_PD without stiffness."""
    path, _, _ = arm()
    blocks = "  rub: {type: JOINT_PD, kp: 0, kd: [0, 0, 0, 0, 0, 0, 0]}\n"
    blocks += "  whole: {type: SUM, signs: '+-'}\n  torques:"
    wires = "  - motion.q -> rub.qd, rub.qm\n  - motion.qd -> rub.um\n"
    wires += "  - needed.taum -> whole.0\n  - rub -> whole.1\n  - whole -> torques"
    text = path.read_text().replace("  torques:", blocks)
    path.write_text(text.replace("  - needed.taum -> torques", wires))
    c = np.array([2.0, 1.5, 1.0, 0.8, 0.4, 0.3, 0.1])
    data, motion = (dict(np.load(tmp_path / f"{name}.npz")) for name in ("torques", "motion"))
    np.savez(tmp_path / "rubbed.npz", t=data["t"], tau=data["tau"] + c * motion["qd"])
    measured = {"run": {"file": str(tmp_path / "rubbed.npz"), "signals": {"whole": "tau"}}}
    found = sb.fit(path, {"arm.inertial": None, "rub.kd": [0, 10]}, measured)
    np.testing.assert_allclose(found["rub.kd"], c, atol=1e-5)
    assert len(found.statistics.base) == 43
    got = np.array([one.value for one in found.statistics.base])
    np.testing.assert_allclose(got, true_base(found), atol=1e-5)


def test_a_bound_that_is_met_is_kept_beside_links(arm, tmp_path):
    """The convex search knows no bounds: where one is met, the ordinary one goes on."""
    path, measured, _ = arm(noise=0.05)
    gravity = {"start": -9.3, "min": -9.5}
    found = sb.fit(path, {"arm.inertial[7]": None, "weight.gravity[2]": gravity}, measured)
    assert found["weight.gravity[2]"] == pytest.approx(-9.5, abs=1e-3)


def test_a_load_is_estimated_for_the_run_that_carries_it(arm, tmp_path):
    """One run with the arm alone, one with 2 kg on its last link: a parameter of that run."""
    path, measured, regressor = arm()
    data = dict(np.load(tmp_path / "torques.npz"))
    load = np.zeros(70)
    load[[60, 63, 64, 66]] = 2.0, 2.0 * 0.1, 2.0 * 0.01, 2.0 * 0.01  # its m, mz, xx, yy of link 7
    more = (regressor @ load).reshape(-1, 7)
    np.savez(tmp_path / "loaded.npz", t=data["t"], tau=data["tau"] + more)
    measured["loaded"] = {**measured["run"], "file": str(tmp_path / "loaded.npz"),
                          "estimate": {"arm.inertial[7]": None}}  # fmt: skip
    found = sb.fit(path, {"arm.mass[6]": [0.1, 5]}, measured)
    assert found["arm.mass[6]"] == pytest.approx(1.8, abs=1e-4)
    assert found["arm.mass[7] (loaded)"] == pytest.approx(2.3, abs=1e-3)
    center = (0.3 * 0.02 + 2.0 * 0.1) / 2.3
    np.testing.assert_allclose(found["arm.com[7] (loaded)"], [0, 0, center], atol=1e-3)


def test_an_interrupt_keeps_the_best_bodies_so_far(arm):
    path, measured, _ = arm(noise=0.05, factor=1.3)

    def stop(step, cost, moved, name):
        if step == 8:
            raise KeyboardInterrupt

    found = sb.fit(path, {"arm.inertial[7]": None}, measured, progress=stop)
    assert found.why == "interrupted"
    assert found["arm.mass[7]"] != pytest.approx(1.3 * 0.3, rel=1e-3)


def test_outliers_of_torques_are_heeded_less(arm, tmp_path):
    path, measured, _ = arm(noise=0.05)
    data = dict(np.load(tmp_path / "torques.npz"))
    data["tau"][::20] += 100.0
    np.savez(tmp_path / "torques.npz", **data)
    off = {loss: abs(sb.fit(path, {"arm.inertial[7]": None}, measured, loss=loss)["arm.mass[7]"]
                     - 0.3) for loss in ("linear", "huber")}  # fmt: skip
    assert off["huber"] < 0.5 * off["linear"]
