"""What the shipped diagrams with references show."""

from __future__ import annotations

import numpy as np
import pytest
from robots import ROOT

import spart_blocks as sb

FOLDER = ROOT / "diagrams" / "motion"
REFERENCES = ("quintic", "trapezoid", "via_points", "file")


@pytest.mark.parametrize("choice", REFERENCES)
def test_an_arm_that_starts_on_its_reference_stays_on_it(choice):
    # e'' + 20 e' + 100 e = 0 from e = e' = 0: what is left is the solver's error, 1e-8.
    results = sb.simulate(FOLDER / "joint_references.yaml", variants={"reference": choice})
    assert np.abs(results["error"]).max() < 1e-8
    assert np.ptp(results["plant.qm"], axis=0).min() > 0.15
    end = [0.1, 0, 0.2] if choice == "file" else [0.9, -0.5, -0.6]
    np.testing.assert_allclose(results["plant.qm"][-1], end, atol=1e-5)
    # The free base turned, and the whole kept its momentum of zero.
    assert np.ptp(results["plant.R0"], axis=0).max() > 0.02
    assert np.abs(results["plant.audit.h"]).max() < 1e-6


def test_the_slowest_joint_of_the_trapezoid_goes_at_its_limit():
    results = sb.simulate(FOLDER / "joint_references.yaml", variants={"reference": "trapezoid"})
    u = np.abs(results["plant.um"])
    assert u[:, :2].max() == pytest.approx(0.3, abs=1e-7)  # both go 0.8 rad, the third as much
    # 0.8 rad at 0.3 rad/s and 0.4 rad/s^2: 0.8/0.3 + 0.3/0.4 s after T = 0.2 s it rests.
    after = results.t > 0.2 + 0.8 / 0.3 + 0.3 / 0.4 + 0.01
    assert u[after].max() < 1e-6


def test_the_tool_of_a_floating_robot_goes_round_in_inertial_space():
    results = sb.simulate(FOLDER / "circle_by_ik.yaml")
    assert np.abs(results["attitude"]).max() > 0.1  # the base gave way
    assert results["ik.position_error"].max() < 1e-9
    # Behind by no more than two periods of 10 ms at 0.24 m/s.
    assert np.linalg.norm(results["away"], axis=1).max() < 0.0048
    radius = np.linalg.norm(results["tool.rp"] - [0, 0.8, 1.5], axis=1)
    np.testing.assert_allclose(radius, 0.15, atol=3e-3)
    # All the way round: 6 s less half of the start at a turn in 4 s.
    angle = np.unwrap(np.arctan2(*(results["tool.rp"][:, [1, 0]] - [0.8, 0]).T))
    assert np.ptp(angle) == pytest.approx(2 * np.pi * 5.5 / 4, abs=0.03)


def test_the_tool_of_an_arm_arrives_at_its_pose():
    results = sb.simulate(FOLDER / "pose_by_ik.yaml")
    assert results["ik.position_error"].max() < 1e-9
    assert results["ik.rotation_error"].max() < 1e-9
    assert np.linalg.norm(results["away"], axis=1).max() < 0.006  # two periods at 0.3 m/s
    turned = results["tool.R"] @ results["pose.R"].transpose(0, 2, 1)
    angle = np.arccos(np.clip((np.trace(turned, axis1=1, axis2=2) - 1) / 2, -1, 1))
    assert angle.max() < 2 * 0.01 * 15 / 8 * np.pi / 4 / 3  # and at 0.5 rad/s
    # One second after the end the error has decayed as (1 + 30 t) exp(-30 t).
    np.testing.assert_allclose(results["tool.rp"][-1], [0.45, 0.25, 0.65], atol=1e-9)
    np.testing.assert_allclose(results["tool.R"][-1], results["pose.R"][-1], atol=1e-9)
    # Straight: the tool keeps to the line between the ends.
    line = np.array([-0.05, 0.45, 0.15])
    off = np.cross(results["tool.rp"] - [0.5, -0.2, 0.5], line / np.linalg.norm(line))
    assert np.abs(off).max() < 5e-4
