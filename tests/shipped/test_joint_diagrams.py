"""The diagrams of joints with friction and of prescribed joints show what they claim."""

from pathlib import Path

import numpy as np

import spart_blocks as sb

FOLDER = Path(__file__).parents[2] / "diagrams" / "joints"
TIGHT = {"rtol": 1e-10, "atol": 1e-12}


def test_friction_holds_below_break_away_and_the_stop_holds_the_arm():
    results = sb.simulate(FOLDER / "friction.yaml")
    shoulder, second = results["plant.qm"][:, 0], results["plant.qm"][:, 1]
    held = results.t < 2.0
    assert np.abs(shoulder[held]).max() < 0.2  # the falling links pull at it, it sticks again
    assert shoulder[-1] > 0.2
    limit = sb.Robot.from_urdf(FOLDER.parents[1] / "models" / "arm3.urdf").joints[1].limits.upper
    assert limit < second[-1] <= second.max() < limit + 0.05
    assert not results["plant.modes"][-1].any()
    assert not results["plant.um"][-1].any()
    energy = np.ptp(results["plant.audit.energy_balance"])
    assert energy < 1e-5 * np.abs(results["plant.audit.work"]).max()


def test_a_prescribed_joint_moves_by_its_formula_whatever_the_rest_does():
    results = sb.simulate(FOLDER / "prescribed.yaml", **TIGHT)
    w = 2 * np.pi * 0.25
    # The double integral of 0.6 sin(w t) from rest at zero.
    exact = 0.6 / w * results.t - 0.6 / w**2 * np.sin(w * results.t)
    assert np.abs(results["plant.qm"][:, 0] - exact).max() < 1e-9
    assert np.ptp(results["plant.qm"][:, 1]) > 0.05
    for quantity in ("p", "h"):
        assert np.abs(results[f"plant.audit.{quantity}"]).max() < 1e-8
    assert np.abs(results["plant.tau_k"]).max() > 1.0


def test_the_functions_agree_with_a_plant_that_swings_a_prescribed_joint():
    results = sb.simulate(FOLDER / "prescribed_functions.yaml", T=1.0)
    for error in ("fd_error", "fd_torque_error", "id_error", "fid_error", "on_base"):
        assert np.abs(results[error]).max() < 1e-11, error
    assert np.abs(results["id.tau0"]).max() < 1e-11  # nothing acts on the base
    assert np.abs(results["held"][:, 0]).max() > 0.4  # and something on the joint


def test_implicit_solvers_stick_and_slide_as_explicit_ones_do():
    """A stuck joint to which Newton's iterations leave 1e-37 rad/s is stuck."""
    runs = [
        sb.simulate(FOLDER / "friction.yaml", T=1.3, every=0.01, solver=s)
        for s in ("RK45", "CVODES")
    ]
    one, other = ([(event.block, event.what) for event in run.events] for run in runs)
    assert one == other
    np.testing.assert_allclose(
        [event.t for event in runs[0].events], [event.t for event in runs[1].events], atol=1e-6
    )
    np.testing.assert_allclose(runs[0]["plant.qm"], runs[1]["plant.qm"], atol=1e-6)
