"""Runs of plants with prescribed joints, against tests/golden/hybrid_joints.json."""

import numpy as np
import pytest
import robots


@pytest.fixture(params=["arm_6R", "arm_RRPRRR"])
def moving_arm(request, diagram, wire):
    """The diagram of the golden trajectory, and the trajectory."""
    robot, case = robots.hybrid_arm(request.param)
    path = case["trajectory"]
    c = path["coefficients"]

    def waves(names):
        """Blocks' arguments: of sums of a bias and a sine, one for each name."""
        rows = [c[name] for name in names]
        shift = [0.25 if row["fn"] == "cos" else 0.0 for row in rows]
        return [
            (
                row["amp"],
                row["w"] / (2 * np.pi),
                (-row["phase"] / (2 * np.pi) - s) % 1.0,
                row.get("bias", 0.0),
            )
            for row, s in zip(rows, shift, strict=True)
        ]

    bd = diagram()
    bd.MULTIBODY(robot, initial={"qm": path["q0"], "um": path["qd0"]}, name="plant")
    bd.GRAVITY(robot, gravity=[0, 0, -9.81], name="gravity")
    bd.MUX(6, name="torques")
    bd.MUX(2, name="accelerations")
    zero = ("zero2", "zero5")
    for name in zero:
        bd.CONSTANT(0.0, name=name)
    torques = {1: "tau1", 3: "tau3", 4: "tau4", 6: "tau6"}
    for name, (amplitude, freq, phase, bias) in zip(c, waves(c), strict=True):
        bd.WAVEFORM(
            wave="sine", amplitude=amplitude, freq=freq, phase=phase, offset=bias, name=name
        )
    for joint in range(1, 7):
        wire(bd, f"{torques.get(joint, f'zero{joint}')} -> torques.{joint - 1}")
    wire(bd, "acc2 -> accelerations.0", "acc5 -> accelerations.1")
    wire(bd, "torques -> plant.taum", "accelerations -> plant.umdot_k")
    wire(bd, "gravity.wFm -> plant.wFm")
    return bd, path


def test_the_run_follows_the_reference_trajectory(moving_arm, simulate):
    bd, path = moving_arm
    results = simulate(bd, T=1.0, every=0.01, rtol=1e-11, atol=1e-13)
    assert np.abs(results.t - path["t"]).max() < 1e-12
    for signal, want in (("plant.qm", path["q"]), ("plant.um", path["qd"])):
        error = np.abs(results[signal] - want).max()
        assert error < 1e-9 * np.abs(want).max(), signal
