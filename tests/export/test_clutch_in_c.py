"""A clutch that locks, at a fixed rate: steps with stages on both sides of its jump would never let
its speeds meet."""

import numpy as np
import pytest
from clutches import CLUTCH
from compositions.executing import executed

from spart_blocks.program.c.compiler import compiler_name

pytestmark = pytest.mark.skipif(compiler_name() is None, reason="no C compiler")

STEP = 0.001
LOCKS = 4 / 5.6
"""The speeds are 4 and 0, their rates -4 and 1.6."""


@pytest.mark.parametrize("solver", ["RK4", "heun", "euler"])
@pytest.mark.parametrize("way", ["c", "loop"])
def test_a_clutch_locks_within_a_step_of_the_time_at_which_its_speeds_meet(way, solver, tmp_path):
    run = f"run: {{T: 1, solver: {solver}, log: [we, wv, lock.l]}}\nclocks: {{c: {{T: {STEP}}}}}\n"
    blocks = CLUTCH.replace("start: 20.0", "start: 4.0")
    path = tmp_path / "clutch.yaml"
    blocks = blocks.replace("wires:", "  z: {type: ZOH, clock: c}\nwires:\n  - wv -> z")
    path.write_text(blocks + run)
    found = executed(way, path)
    assert not found.error
    if way == "c":  # compared with its reference
        return
    locked = found.signals["lock.l"][:, 0] > 0.5
    assert locked.any()
    assert -1e-9 <= found.t[np.argmax(locked)] - LOCKS <= 2 * STEP
    slips, late = np.minimum(found.t, LOCKS), np.maximum(found.t - LOCKS, 0)
    # The torque of the clutch may act for a step longer, at rates of 12 and 1.6.
    for name, at in (("we", 4 - 4 * slips), ("wv", 1.6 * slips)):
        assert np.abs(found.signals[name][:, 0] - at - late * 2 / 3).max() < 13.6 * STEP


BLOCK = f"""
name: locks
clocks: {{c: {{T: {STEP}}}}}
blocks:
  tau: {{type: CONSTANT, value: 4}}
  one: {{type: CONSTANT, value: 1}}
  clutch: {{type: CLUTCH, inertia1: 1, inertia2: 5, coulomb: 8, w10: 4}}
  force: {{type: CONSTANT, value: 1}}
  mass: {{type: FRICTION_MASS, mass: 1, coulomb: 1, v0: 2, upper: 1, pressed: true}}
  z: {{type: ZOH, clock: c}}
wires: [tau -> clutch.tau1, one -> clutch.normal, force -> mass.f, one -> mass.normal,
        clutch.w2 -> z]
run: {{T: 1, solver: SOLVER, log: [clutch.w1, clutch.w2, clutch.mode, mass.x, mass.v]}}
"""


@pytest.mark.parametrize("solver", ["RK4", "euler"])
@pytest.mark.parametrize("way", ["c", "loop"])
def test_the_block_locks_and_a_mass_meets_its_stop_within_a_step(way, solver, tmp_path):
    """The mass slides at 2 m/s, where the force is its friction, to the stop at 1 m."""
    path = tmp_path / "clutch.yaml"
    path.write_text(BLOCK.replace("SOLVER", solver))
    found = executed(way, path)
    assert not found.error
    if way == "c":  # compared with its reference
        return
    w1, w2, mode, x, v = (found.signals[name][:, 0] for name in (
        "clutch.w1", "clutch.w2", "clutch.mode", "mass.x", "mass.v"))  # fmt: skip
    assert -1e-9 <= found.t[np.argmax(mode == 0)] - LOCKS <= 2 * STEP
    assert (w1 == w2)[mode == 0].all()
    assert np.abs(w1 + 5 * w2 - 4 - 4 * found.t).max() < 1e-9
    assert np.abs(w2 - np.where(found.t < LOCKS, 1.6 * found.t, 1.6 * LOCKS
                                + (found.t - LOCKS) * 2 / 3)).max() < 13.6 * STEP  # fmt: skip
    late = found.t > 0.5 + 2 * STEP
    assert (x[late] == 1).all()
    assert (v[late] == 0).all()
    assert np.abs(x - np.minimum(2 * found.t, 1)).max() < 1e-9
