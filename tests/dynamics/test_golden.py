"""Every function against SPART's own numbers (tests/golden/README.md), relative 1e-12."""

from __future__ import annotations

import numpy as np
import pytest
import robots

from spart_blocks import spart
from spart_blocks.dynamics import multibody_rates


def test_every_function_gives_spart_s_numbers(golden_case, assert_close_to_golden):
    robot, state, case = golden_case
    given = case["inputs"]
    got = robots.everything(robot, state, given["i"], np.array(given["rp_off"]))
    assert set(got) == set(case["outputs"])
    assert_close_to_golden(got, case["outputs"])


def test_the_plant_s_recursion_gives_spart_s_forward_dynamics(golden_case, assert_close_to_golden):
    robot, s, case = golden_case
    rates = multibody_rates(s.R0, s.u0, s.qm, s.um, s.tau0, s.taum, s.wF0, s.wFm, robot)
    got = {"u0dot_FD": rates.u0dot, "umdot_FD": rates.umdot}
    assert_close_to_golden(got, {name: case["outputs"][name] for name in got})


def test_the_orthogonal_complement_gives_spart_s_inertia_matrices(golden_case, close):
    robot, _, case = golden_case
    known = {key: np.array(v, float) for key, v in {**case["inputs"], **case["outputs"]}.items()}
    n, nu = robot.n_links_joints, robot.nu
    N, Ndot = (known[key].reshape(6 + 6 * n, 6 + nu) for key in ("N", "Ndot"))
    I0, Im = known["I0"], known["Im"].reshape(n, 3, 3)
    shapes = {"H0m": (6, nu), "Hm": (nu, nu), "C0m": (6, nu), "Cm0": (nu, 6), "Cm": (nu, nu)}
    H, C = robots.whole({**known, **{key: known[key].reshape(s) for key, s in shapes.items()}})
    close(spart.GIM_NOC(N, I0, Im, robot), H, "H")
    t0, tL = known["t0"], known["tL"].reshape(n, 6)
    close(spart.CIM_NOC(N, Ndot, t0, tL, I0, Im, robot), C, "C")


@pytest.mark.parametrize("name", ["spart_dh_5dof", "spart_dh_prismatic"])
def test_dh_frames_lead_to_spart_s_end_effector(name, golden, close):
    reference = golden(name)
    data = reference["dh_data"]
    for case in reference["cases"]:
        qm = np.array(case["inputs"]["qm"], float).ravel()
        base = np.array(data["base"]["T_L0_J1"], float)
        R, r = np.array(case["inputs"]["R0"]), np.array(case["inputs"]["r0"], float).ravel()
        R, r = R @ base[:3, :3], r + R @ base[:3, 3]
        for k, man in enumerate(data["man"]):
            turn, step = spart.DH_Rs(man["DH"], qm[k], man["type"] - 1)
            R, r = R @ turn, r + R @ step
        c, s = np.cos(data["EE"]["theta"]), np.sin(data["EE"]["theta"])
        R, r = R @ [[c, -s, 0], [s, c, 0], [0, 0, 1]], r + R @ [0, 0, data["EE"]["d"]]
        T = np.array(reference["T_Ln_EE"], float)
        n = len(data["man"])
        RL = np.array(case["outputs"]["RL"], float).reshape(n, 3, 3)[-1]
        rL = np.array(case["outputs"]["rL"], float).reshape(n, 3)[-1]
        close(R, RL @ T[:3, :3], "R")
        close(r, rL + RL @ T[:3, 3], "r", rel=1e-11)


@pytest.mark.parametrize("name", robots.SPART_FILES)
def test_connectivity_is_spart_s(name, golden, golden_robot):
    maps = spart.ConnectivityMap(golden_robot(name))
    for key, got in zip(("branch", "child", "child_base"), maps, strict=True):
        want = np.array(golden(name)["connectivity"][key]).reshape(got.shape)
        np.testing.assert_array_equal(got, want)


ATTITUDE = [
    ("Angles321_DCM", ("angles",)),
    ("Angles123_DCM", ("angles",)),
    ("DCM_Angles321", ("Angles321_DCM",)),
    ("DCM_quat_of_321", ("Angles321_DCM",)),
    ("quat_DCM", ("DCM_quat_of_321",)),
    ("quat_Angles321", ("DCM_quat_of_321",)),
    ("Euler_DCM", ("euler_axis", "euler_angle")),
]


@pytest.mark.parametrize(("name", "inputs"), ATTITUDE, ids=[name for name, _ in ATTITUDE])
def test_attitude_functions_give_spart_s_numbers(name, inputs, golden, close):
    reference = golden("spart_attitude")
    function = getattr(spart, name.removesuffix("_of_321"))
    assert len(reference[name]) == 18
    for j, want in enumerate(reference[name]):
        got = function(*(np.array(reference[given][j]) for given in inputs))
        close(np.reshape(got, np.shape(want)), want, f"{name}[{j}]")


def test_axis_and_angle_come_back_from_spart_s_own_matrices(golden, close):
    reference = golden("spart_attitude")
    for axis, angle, dcm in zip(
        *(reference[key] for key in ("euler_axis", "euler_angle", "Euler_DCM")), strict=True
    ):
        got = spart.DCM_Euler(np.array(dcm))
        turn, least = np.array(axis) * float(angle), got[:3] * got[3]
        # The least turn is the given one, but for whole turns about its axis.
        whole = np.round(float(angle) / (2 * np.pi)) * 2 * np.pi * np.array(axis)
        close(least, turn - whole, "turn", rel=1e-9)
        assert np.linalg.norm(got[:3]) == pytest.approx(1, abs=1e-14)


def test_a_golden_comparison_notices_a_wrong_digit(golden_case, assert_close_to_golden):
    robot, state, case = golden_case
    got = robots.everything(robot, state, case["inputs"]["i"], np.array(case["inputs"]["rp_off"]))
    got["Hm"] = got["Hm"] * (1 + 1e-11)
    with pytest.raises(AssertionError, match="Hm: differs"):
        assert_close_to_golden(got, case["outputs"])


def test_spart_names_are_all_there():
    assert len(spart.__all__) == 34
    assert all(callable(getattr(spart, name)) for name in spart.__all__)
