"""Outputs that are held between ticks, in exported C and FMUs: as the run has them."""

import numpy as np
import pytest

import spart_blocks as sb
from spart_blocks.export import export_fmu, recorded_inputs, step_code, verify, verify_fmu
from spart_blocks.export.loaded import LoadedStep

# A lead and an integral on a clock, a filter on a slower one that reads the lead where they
# meet, and one on a clock that comes later.
HELD = """
name: held
clocks: {c: {T: 0.02}, slow: {T: 0.06}, late: {T: 0.02, offset: 0.01}}
blocks:
  r: {type: STEP, T: 0.1}
  e: {type: SUM, signs: "+-"}
  lead: {type: LTI_SISO_S, clock: c, N: [4.0, -3.8], D: [1.0, -0.6]}
  after: {type: LTI_SISO_S, clock: slow, N: [1.5, -1.0], D: [1.0, 0.2]}
  back: {type: LTI_SISO_S, clock: c, N: [0.2, 0.1], D: [1.0, -0.5]}
  total: {type: INTEGRATOR_S, clock: late, gain: 0.5, x0: 0.1}
  u: {type: SUM, signs: "+++"}
  v: {type: INTEGRATOR, x0: 0.0}
  x: {type: INTEGRATOR, x0: 0.0}
wires:
  - r -> e.0
  - x -> e.1
  - e -> lead, total
  - lead -> after, u.0
  - after -> back
  - back -> u.1
  - total -> u.2
  - u -> v
  - v -> x
run: {T: 2, log: [x, lead, after, back, total]}
"""


def test_what_meets_on_several_clocks_is_handed_over(part_from):
    program = part_from(HELD).program
    assert [one.name for one in program.holds] == [
        "total.held", "lead.held", "after.held", "back.held"
    ]  # fmt: skip
    assert [one.slots[-1] for one in program.handovers][-2:] == ["after.held", "back.held"]


@pytest.mark.parametrize("real", ["double", "float"])
@pytest.mark.parametrize("blocks", [(), ("lead",), ("lead", "after", "back"), ("total",)])
def test_the_c_agrees_back_to_back(blocks, real, part_from, tmp_path):
    code = step_code(part_from(HELD, *blocks), rate=100, real=real)
    found = verify(code, recorded_inputs(tmp_path / "diagram.yaml", code, horizon=2.0))
    assert found.passed, found.errors


@pytest.mark.parametrize("blocks", [(), ("lead", "after", "back", "total")])
def test_steps_of_c_are_those_of_the_run(blocks, part_from, tmp_path):
    part = part_from(HELD, *blocks)
    code = step_code(part, rate=100)
    names = tuple(slot.name for slot in part.outputs)
    results = sb.simulate(
        tmp_path / "diagram.yaml", T=2, every=0.01, solver="RK4", max_step=0.01, log=names
    )
    step = LoadedStep(code)
    for k, row in enumerate(recorded_inputs(tmp_path / "diagram.yaml", code, horizon=2.0)):
        p = part.program.p.copy()
        p[[i for slot in part.inputs for i in range(slot.part.start, slot.part.stop)]] = row
        step.set_inputs(p)
        _, y = step.output()
        want = [np.ravel(results[name][k]) for name in names]
        np.testing.assert_allclose(y, np.concatenate(want), rtol=0, atol=1e-5, err_msg=f"{k}")
        step.update()


def test_a_controller_alone_gives_the_output_of_its_tick(part_from):
    code = step_code(part_from(HELD, "lead"), rate=100)
    step, x = LoadedStep(code), 0.0
    y = 0.0
    for k in range(20):
        u = np.sin(0.3 * k)
        p = code.part.program.p.copy()
        p[code.part.inputs[0].part] = u
        step.set_inputs(p)
        if k % 2 == 0:  # 4 + (0.6 * 4 - 3.8) / (z - 0.6)
            y = (2.4 - 3.8) * x + 4.0 * u
            x = 0.6 * x + u
        assert step.output()[1][0] == pytest.approx(y, abs=1e-14)
        step.update()


@pytest.mark.parametrize("version", [2, 3])
@pytest.mark.parametrize("blocks", [(), ("lead", "after", "back")])
def test_fmus_agree_by_both_interfaces(version, blocks, part_from, tmp_path):
    part = part_from(HELD, *blocks)
    found = verify_fmu(export_fmu(part, tmp_path, version), part, horizon=1.0)
    assert found.passed, (found.problems, found.errors)
