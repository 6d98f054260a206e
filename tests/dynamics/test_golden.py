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


def test_a_golden_comparison_notices_a_wrong_digit(golden_case, assert_close_to_golden):
    robot, state, case = golden_case
    got = robots.everything(robot, state, case["inputs"]["i"], np.array(case["inputs"]["rp_off"]))
    got["Hm"] = got["Hm"] * (1 + 1e-11)
    with pytest.raises(AssertionError, match="Hm: differs"):
        assert_close_to_golden(got, case["outputs"])


def test_spart_names_are_all_there():
    assert len(spart.__all__) == 26
    assert all(callable(getattr(spart, name)) for name in spart.__all__)
