"""Every diagram in diagrams/ runs to its end and shows what it claims."""

from functools import cache
from pathlib import Path

import numpy as np
import pytest
from same_results import assert_same_results

import spart_blocks as sb

ROOT = Path(__file__).parents[2]
DIAGRAMS = sorted((ROOT / "diagrams").glob("*.yaml"))
MODELS = ROOT / "models"


def at_rest_at(results, signal, target, within):
    assert np.abs(results[signal][-1] - target).max() < within


def spacecraft_pd(results):
    at_rest_at(results, "plant.qm", [0.5, -0.3, 0.2], 1e-3)
    # The free base turned, and nothing pushed the system: its centre of mass stayed.
    assert np.abs(results["attitude"][-1]).max() > 0.01


def spacecraft_functions(results):
    at_rest_at(results, "pose.qm", [0.5, -0.3, 0.2], 1e-3)


def spacecraft_sampled(results):
    at_rest_at(results, "plant.qm", [0.5, -0.3, 0.2], 1e-3)
    held = results["hold"]
    assert len(np.unique(held[:, 0])) > 50  # torques do change, tick by tick


def off_the_closed_form(results):
    # e'' + 20 e' + 100 e = 0 from e(0) = e0, e'(0) = v0: critically damped, exactly.
    t, e = results.t, results["error"]
    e0 = np.array([-0.2, 0, 0, -0.3, 0, 0, 0])
    v0 = 0.5 * np.pi * np.array([0.4, 0.5, 0.3, 0.6, 0.4, 0.5, 0.6])
    exact = (e0 + (v0 + 10 * e0) * t[:, None]) * np.exp(-10 * t[:, None])
    return np.abs(e - exact).max()


def arm_over_udp(results):
    assert off_the_closed_form(results) < 5e-3  # torques are held for a millisecond


def arm_computed_torque(results):
    assert off_the_closed_form(results) < 1e-6
    # At the end the ground carries the weight and what the motion needs.
    weight = 9.81 * sb.Robot.from_urdf(MODELS / "arm7.urdf").mass
    assert results["plant.reaction"][-1, 5] == pytest.approx(weight, rel=0.05)


def momentum_exchange(results):
    for balance in ("plant.audit.p_balance", "plant.audit.h_balance"):
        assert np.ptp(results[balance], axis=0).max() < 1e-6
    assert np.ptp(results["plant.audit.energy_balance"]) < 1e-6
    assert np.ptp(results["plant.audit.energy"]) > 0.1  # the arm does move
    assert np.abs(np.linalg.norm(results["plant.state[0:4]"], axis=1) - 1).max() < 1e-14


def dual_arm(results):
    at_rest_at(results, "plant.qm", [0.6, -0.4, 0.3, -0.6, 0.4, -0.3], 2e-3)


def spacecraft_controllers(results):
    at_rest_at(results, "plant.qm", [0.5, -0.3, 0.2], 1e-6)


def test_every_controller_of_the_slot_brings_the_arm_to_rest():
    file = ROOT / "diagrams" / "spacecraft_controllers.yaml"
    for choice in ("pd", "computed_torque", "lqr"):
        results = sb.simulate(file, variants={"controller": choice})
        spacecraft_controllers(results)
        # Which way the joints went there matters little to the base, as nothing pushes it.
        assert np.abs(results["attitude"][-1] - [0.0864, 0.0469, -0.0102]).max() < 2e-3


def test_computed_torque_gives_each_joint_the_error_it_asks_for():
    # From the step at t = 1 s on: e'' + 4 e' + 4 e = 0 from rest, e = e0 (1 + 2 t) exp(-2 t).
    file = ROOT / "diagrams" / "spacecraft_controllers.yaml"
    tight = {"rtol": 1e-10, "atol": 1e-12}
    results = sb.simulate(file, variants={"controller": "computed_torque"}, **tight)
    t = results.t - 1.0
    want = np.array([-0.3, 0.2])
    e = results["plant.qm"][:, 1:] - want
    exact = -want * ((1 + 2 * t) * np.exp(-2 * t))[:, None]
    assert np.abs((e - exact)[t >= 0]).max() < 1e-7


CLAIMS = {
    check.__name__: check
    for check in (
        arm_computed_torque,
        arm_over_udp,
        dual_arm,
        momentum_exchange,
        spacecraft_controllers,
        spacecraft_functions,
        spacecraft_pd,
        spacecraft_sampled,
    )
}


def test_every_shipped_diagram_has_a_claim():
    assert {path.stem for path in DIAGRAMS} == set(CLAIMS)


@pytest.mark.parametrize("path", DIAGRAMS, ids=lambda path: path.stem)
def test_shipped_diagram_shows_what_it_claims(path):
    results = sb.simulate(path)
    assert results.complete
    CLAIMS[path.stem](results)


# So long that every part of a diagram has moved, and the interpreter takes a second or two.
# Over 30 s the error of CVODES itself grows past 1e-7 in momentum_exchange.
TIGHT = {"rtol": 1e-10, "atol": 1e-12}
UNTIL = {
    "arm_computed_torque": 0.5,
    "arm_over_udp": 0.1,
    "dual_arm": 1.6,
    "momentum_exchange": 3.0,
    "spacecraft_controllers": 2.0,
    "spacecraft_functions": 2.0,
    "spacecraft_pd": 2.0,
    "spacecraft_sampled": 2.0,
}


@cache
def interpreted(path):
    return sb.simulate(
        path, engine="interpreter", T=UNTIL[path.stem], every=UNTIL[path.stem] / 100, **TIGHT
    )


# The others by night; every day `expect: engines` compares them over a shorter while.
EVERY_DAY = [path for path in DIAGRAMS if path.stem in ("momentum_exchange", "spacecraft_sampled")]


@pytest.mark.parametrize("compiler", ["if there", "none"])
@pytest.mark.parametrize("path", EVERY_DAY, ids=lambda path: path.stem)
def test_both_engines_give_the_same_results(path, compiler, monkeypatch):
    if compiler == "none":
        monkeypatch.setenv("SPART_COMPILER", "none")
    assert_engines_agree(path)


def assert_engines_agree(path):
    native = sb.simulate(
        path, engine="native", T=UNTIL[path.stem], every=UNTIL[path.stem] / 100, **TIGHT
    )
    assert max(np.ptp(x, axis=0).max(initial=0) for x in native.states.values()) > 0.05
    blocks = interpreted(path)
    assert_same_results(native, blocks, [name for name in blocks if ".audit." not in name])
    audits = {name: array for name, array in blocks.signals.items() if ".audit." in name}
    # Sums that come out as zero: their errors are those of what goes into them.
    largest = max((np.abs(array).max() for array in audits.values()), default=0.0)
    for name, array in audits.items():
        assert np.abs(native[name] - array).max() <= 1e-6 * largest, name


def test_diagram_of_single_functions_moves_like_the_one_with_the_plant():
    options = {"rtol": 1e-10, "atol": 1e-12, "T": 5, "every": 0.05}
    whole = sb.simulate(ROOT / "diagrams" / "spacecraft_pd.yaml", **options)
    parts = sb.simulate(ROOT / "diagrams" / "spacecraft_functions.yaml", **options)
    difference = np.abs(whole["plant.qm"] - parts["pose.qm"]).max()
    assert difference < 1e-9
    assert np.abs(whole["plant.R0"] - parts["pose.R0"]).max() < 1e-9
