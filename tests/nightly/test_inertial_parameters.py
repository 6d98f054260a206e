"""Inertial parameters of the 7-joint arm from torques with 5 % noise, 100 a second for 5 minutes.

bard (arXiv 2605.31481) has a mean error of the masses of 1.24 %.
"""

import numpy as np
from arm_torques import measured_arm, true_base, true_values

import spart_blocks as sb

T = np.arange(30_000) / 100


def test_masses_and_base_parameters_are_found_to_one_per_cent(tmp_path):
    path, measured, _ = measured_arm(tmp_path, noise=0.05, factor=1.3, t=T)
    masses = {f"arm.mass[{k}]": {"min": 0} for k in range(2, 8)}
    found = sb.fit(path, masses, measured)
    off = np.array([found[name] for name in masses]) / true_values()[1:, 0] - 1
    assert abs(off).mean() < 0.01
    found = sb.fit(path, {"arm.inertial": None}, measured)
    got, want = np.array([one.value for one in found.statistics.base]), true_base(found)
    assert np.linalg.norm(got - want) < 0.01 * np.linalg.norm(want)
