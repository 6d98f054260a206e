"""What the diagrams of diagrams/signals show: noise, delays, tables and recordings."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import numpy as np
import pytest
from scipy.interpolate import RegularGridInterpolator
from scipy.special import lambertw

import spart_blocks as sb

FOLDER = Path(__file__).parents[2] / "diagrams" / "signals"


@cache
def run_of(name):
    return sb.simulate(FOLDER / f"{name}.yaml", engine="native")


def test_a_sampled_loop_is_left_with_the_noise_of_its_recurrence():
    """x' = x - a (x + n) of the step before, a = K T = 0.2: an autoregression of order two,
    of variance (1 + a) / (1 - a) a / (2 + a) times the noise's; G. E. P. Box et al., "Time
    Series Analysis" (2008), eq. 3.2.28. 1800 samples estimate it within a few percent."""
    results = run_of("delayed_loops")
    a = 20 * 0.01
    want = (1 + a) / (1 - a) * a / (2 + a) * 0.01**2
    settled = results["rate"][results.t > 2]
    assert np.var(settled) == pytest.approx(want, rel=0.15)
    assert np.std(results["noise"]) == pytest.approx(0.01, rel=0.05)


def test_a_loop_with_a_dead_time_decays_at_its_slowest_mode():
    """x'(t) = -K x(t - d): s = W(-K d) / d; R. M. Corless et al., "On the Lambert W function",
    Advances in Computational Mathematics 5 (1996), sec. 2."""
    results = run_of("delayed_loops")
    slowest = float(np.real(lambertw(-0.6 * 0.5))) / 0.5
    at = np.searchsorted(results.t, [6.0, 12.0])
    times, levels = results.t[at], results["level"][at]
    rate = np.log(levels[1] / levels[0]) / (times[1] - times[0])
    assert rate == pytest.approx(slowest, rel=1e-6)


def test_a_recorded_command_is_replayed_and_followed():
    results = run_of("recorded_motion")
    table = np.genfromtxt(FOLDER / "command.csv", delimiter=",", skip_header=1)
    want = np.column_stack([np.interp(results.t, table[:, 0], table[:, k]) for k in (1, 2, 3)])
    np.testing.assert_allclose(results["command.qd"], want, rtol=1e-13, atol=1e-15)
    assert np.abs(results["plant.qm"][-1] - [0.5, -0.3, 0.2]).max() < 1e-3
    # Nothing outside acts on the spacecraft.
    assert np.ptp(results["plant.audit.h_balance"], axis=0).max() < 1e-9


def test_motors_give_what_their_tables_say():
    results = run_of("recorded_motion")
    allowed = np.interp(results["ctrl"], [-12, -4, 4, 12], [-6, -4, 4, 6])
    np.testing.assert_allclose(results["motors"], allowed, rtol=1e-13, atol=1e-14)
    z = [[0.9, 0.5, 0.4], [0.7, 0.3, 0.5], [0.5, 0.3, 0.7], [0.4, 0.5, 0.9]]
    table = RegularGridInterpolator(([-0.5, -0.1, 0.1, 0.5], [-6, 0, 6]), z)
    point = np.column_stack([results["plant.um"][:, 0], results["motors"][:, 0]])
    np.testing.assert_allclose(results["efficiency"], table(point), rtol=1e-12)
