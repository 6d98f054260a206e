"""Rodas3 in exported C and in FMUs: stiff diagrams in steps that no explicit method keeps."""

import numpy as np
import pytest
from scipy.linalg import expm

import spart_blocks as sb
from spart_blocks.base.errors import DiagramError
from spart_blocks.export import export_fmu, step_code, verify, verify_fmu
from spart_blocks.export.fmu.stepping import stepping_of
from spart_blocks.export.loaded import LoadedStep

RODAS = "Rodas3"
N, SPREAD = 6, 1.0e4
ROD = (np.diag([-2.0] * N) + np.diag([1.0] * (N - 1), 1) + np.diag([1.0] * (N - 1), -1)) * SPREAD
WARM = SPREAD * np.eye(N)[:, :1]
HEAT = f"""
blocks:
  hot: {{type: CONSTANT, value: 1.0}}
  rod: {{type: STATE_SPACE, A: {ROD.tolist()}, B: {WARM.tolist()}, C: {np.eye(N).tolist()}}}
wires: [hot -> rod]
"""
KEPT_BY_RK4 = 2.785293563405282 / (4 * SPREAD)  # [s] the longest step
CONTACT = """
blocks:
  z: {type: INTEGRATOR, x0: 0.02}
  v: {type: INTEGRATOR, x0: 0.0}
  push: {type: WAVEFORM, wave: sine, freq: 1.4}
  f: {type: FCN, expression: "u - 9.81 - (k*z + d*v)*(z < 0)", arguments: [z, v, u],
      params: {k: 1.0e+7, d: 4.0e+5}}
wires: [z -> f.z, v -> f.v, push -> f.u, f -> v, v -> z]
run: {T: 1, log: [z]}
"""
# A stiff state follows a saw whose jumps lie within steps, and an EVENT resets another.
EVENTFUL = """
clocks: {c: {T: 0.02}}
blocks:
  seen: {type: ZOH, clock: c}
  one: {type: CONSTANT, value: 1}
  saw: {type: HYBRID_SYSTEM, states: [s], x0: [0], arguments: [u], f: [u],
        jumps: [{when: s > 0.0731, set: {s: 0}}]}
  x: {type: INTEGRATOR, x0: 0.5}
  f: {type: FCN, expression: "-1.0e+6*(x - sin(20*s))", arguments: [x, s]}
wires: [one -> saw.u, x -> f.x, saw -> f.s, f -> x, x -> seen]
run: {T: 1, log: [x]}
"""


def place_of(code, name):
    return next(m.place for m in code.interface.outputs if m.name == name)


def stepped(code, count):
    """The outputs at each of so many steps, and the status of the last."""
    step, rows, status = LoadedStep(code), [], 0
    for _ in range(count):
        status, y = step.output()
        rows.append(y.copy())
        status = status or step.update()
    return np.array(rows), status


def test_a_heat_rod_stays_stable_in_steps_a_hundred_times_longer_than_rk4_allows(part_from):
    h = 0.008
    assert h > 100 * KEPT_BY_RK4
    part = part_from(HEAT)
    code = step_code(part, rate=1 / h, method=RODAS)
    assert verify(code, np.zeros((60, 0))).passed
    rows, _ = stepped(code, 60)
    found = rows[:, -N:]
    exact = [np.linalg.solve(ROD, (expm(ROD * h * k) - np.eye(N)) @ WARM)[:, 0] for k in range(60)]
    assert np.abs(found - exact)[1:].max() < 0.1  # the first one jumps at its end
    assert np.abs(found - exact)[20:].max() < 1e-4
    explicit, _ = stepped(step_code(part, rate=1 / h, method="RK4"), 60)
    assert not np.abs(explicit).max() < 1e6


@pytest.mark.parametrize("real", ["double", "float"])
def test_a_body_that_lands_on_a_stiff_floor_stays_there(part_from, real):
    """The step in which it lands ends there: derivatives in the air do not know of the floor."""
    code = step_code(part_from(CONTACT), rate=1000, method=RODAS, real=real)
    assert verify(code, np.zeros((300, 0))).passed
    step, heights = LoadedStep(code), []
    for _ in range(1000):
        status, y = step.output()
        assert (status, step.update()) == (0, 0)
        heights.append(y[place_of(code, "z")])
    # It falls for 0.064 s, is stopped within 2 um, and sinks to where the floor bears it: 1 um.
    assert np.argmax(np.array(heights) < 0) == pytest.approx(64, abs=1)
    assert np.abs(heights[66:]).max() < 2e-6
    assert np.array(heights[500:]) == pytest.approx(-0.981e-6, abs=0.11e-6)
    explicit, status = stepped(step_code(part_from(CONTACT), rate=1000, method="RK4"), 300)
    assert status or not np.abs(explicit).max() < 1


@pytest.mark.parametrize("real", ["double", "float"])
def test_derivatives_by_columns_are_exported(part_from, monkeypatch, real):
    """A short program is taken for one whose derivatives are too long to be written out."""
    part, options = part_from(HEAT), {"rate": 100, "method": RODAS, "real": real}
    written = stepped(step_code(part, **options), 20)[0]
    monkeypatch.setattr("spart_blocks.program.linearised._length", lambda rates: np.inf)
    code = step_code(part_from(HEAT), **options)
    assert any("columns_" in text for text in code.files.values())
    assert verify(code, np.zeros((20, 0))).passed
    assert stepped(code, 20)[0] == pytest.approx(written, rel=1e-5 if real == "float" else 1e-12)


def test_its_order_is_three_in_c(part_from):
    text = CONTACT.replace("(k*z + d*v)*(z < 0)", "k*sin(z) - d*v").replace("1.0e+7", "90.0")
    part = part_from(text.replace("4.0e+5", "3.0"))
    options = {"T": 1, "every": 1, "solver": "DOP853", "rtol": 1e-13, "atol": 1e-14}
    best = sb.simulate(part.program, **options, log=["z"])["z"][-1]
    errors = []
    for rate in (40, 80):
        code = step_code(part, rate=rate, method=RODAS)
        rows, _ = stepped(code, rate + 1)
        errors.append(abs(rows[-1, place_of(code, "z")] - best))
    assert np.log2(errors[0] / errors[1]) == pytest.approx(3, abs=0.2)


def test_crossings_within_its_steps_act_where_they_are(part_from):
    part = part_from(EVENTFUL)
    code = step_code(part, rate=50, method=RODAS)
    assert verify(code, np.zeros((50, 0))).passed
    rows, _ = stepped(code, 51)
    run = sb.simulate(part.program, T=1, every=0.02, solver=RODAS, max_step=0.02, log=["x"])
    assert rows[:, place_of(code, "x")] == pytest.approx(run["x"], abs=1e-9)


@pytest.mark.parametrize("version", [3, 2])
def test_an_fmu_takes_it_in_equal_steps(version, part_from, tmp_path):
    """Compared by FMPy in both interfaces: in model exchange its solver takes thousands of steps
    after the jump.
    """
    part = part_from(HEAT.replace("CONSTANT, value: 1.0", "STEP, T: 0.1"))
    options = {"rate": 100.0, "method": RODAS}
    path = export_fmu(part, tmp_path, version, **options)
    found = verify_fmu(path, part, horizon=1.0, **options)
    assert found.passed
    assert found.errors["co-simulation", "rod.y"] < 1e-12


REFUSED = {
    "its derivatives are too long": CONTACT,
    "no derivatives along surfaces": CONTACT.replace("T: 1,", "T: 1, sliding: filippov,").replace(
        "(k*z + d*v)*(z < 0)", "k*z*sign(v) - d"
    ),
}


@pytest.mark.parametrize("why", REFUSED)
def test_what_has_no_derivatives_to_compile_is_refused_with_its_reason(why, part_from, monkeypatch):
    if "long" in why:
        monkeypatch.setattr("spart_blocks.program.linearised.LONGEST", 3)
    part = part_from(REFUSED[why])
    for refused in (step_code, stepping_of):
        with pytest.raises(DiagramError, match=f"Rodas3 cannot integrate .*{why}") as caught:
            refused(part, method=RODAS)
        assert "give another method: euler, heun, RK4" in str(caught.value)
    assert step_code(part, method="RK4").schedule.method == "RK4"


def test_blocks_that_step_by_themselves_do_so_beside_it():
    from pathlib import Path

    from spart_blocks.program.subdiagram import subdiagram_of

    path = Path(__file__).parents[2] / "diagrams/joints/variational_pendulum.yaml"
    implicit, explicit = (
        step_code(subdiagram_of(path), rate=100, method=method) for method in (RODAS, "RK4")
    )
    assert verify(implicit, np.zeros((20, 0))).passed
    ours, others = (LoadedStep(code) for code in (implicit, explicit))
    for _ in range(20):
        np.testing.assert_array_equal(ours.output()[1][:2], others.output()[1][:2])
        assert (ours.update(), others.update()) == (0, 0)
