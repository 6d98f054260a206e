"""Arguments of blocks that bdsim makes of other blocks, such as PID, are parameters of programs."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from works import works_of

import spart_blocks as sb
from spart_blocks.run import DiagramFile
from spart_blocks.sweeps.plan.requested_plan import plan_of
from spart_blocks.sweeps.plan.source import dotted

PART = """\
params: {P: 5, D: 1.5}
inputs: [r, y]
outputs: [u]
blocks:
  c: {type: PID, P: $P, D: $D, D_pole: 20}
wires: [in.r -> c.1, in.y -> c.0, c -> out]
"""
DIAGRAM = """\
params: {kp: 12, soft: $kp, ki: 2, none: 0, zeta: 0.5}
clocks: {c: {T: 0.05}}
subsystems:
  loop:
    params: {P: 5, D: 1.5}
    inputs: [r, y]
    outputs: [u]
    blocks:
      c: {type: PID, P: $P, D: $D, D_pole: 20}
    wires: [in.r -> c.1, in.y -> c.0, c -> out]
variants:
  ctrl:
    default: pid
    choices:
      pid: {type: PID, P: $kp, I: $ki, D: 3, D_pole: 20, I_limit: 2.5}
      other: {type: PID, P: 7, D: 2, D_pole: $kp}
blocks:
  goal:  {type: STEP, T: 0.1}
  two:   {type: PID, P: 3, I: 1, D: 1, D_pole: 20}
  own:   {type: loop, P: 4}
  soft:  {type: loop, P: $soft}
  used:  {use: part.yaml, P: 6}
  pids:  {type: PID_S, clock: c, P: 2, I: 0.5, D: 0.1, I_limit: [-3, 4]}
  slope: {type: DERIV, alpha: 10, x0: 0.5, gain: 0.2}
  gain:  {type: GAIN, K: $kp}
  sum:   {type: SUM, signs: "++++++++"}
  plant: {type: INTEGRATOR, x0: 0, gain: 0.01}
wires:
  - goal -> ctrl.1, two.1, own.r, soft.r, used.r, pids.1, slope, gain
  - plant -> ctrl.0, two.0, own.y, soft.y, used.y, pids.0
  - ctrl -> sum.0
  - two -> sum.1
  - own -> sum.2
  - soft -> sum.3
  - used -> sum.4
  - pids -> sum.5
  - slope -> sum.6
  - gain -> sum.7
  - sum -> plant
run: {T: 1, log: [plant, sum]}
"""


@pytest.fixture
def file(tmp_path):
    (tmp_path / "part.yaml").write_text(PART, encoding="utf-8")
    path = tmp_path / "some.yaml"
    path.write_text(DIAGRAM, encoding="utf-8")
    return path


@pytest.fixture
def loads(monkeypatch):
    """The overrides with which files were loaded."""
    found = []
    load = DiagramFile.load

    def counted(self, *args, **more):
        found.append(self.overrides)
        return load(self, *args, **more)

    monkeypatch.setattr(DiagramFile, "load", counted)
    return found


def assert_as_loaded(file, plan, placed, variants=None):
    """Each run of works is that of the file with its values, bit for bit."""
    assert not placed.failed
    for work in placed.works:
        for k, run in enumerate(work.runs):
            got = sb.simulate(replace(work.program, p=work.p[k]))
            numbers = plan.numbers([run])
            over = {dotted(path): value for path, value in plan.case(run).items()}
            fault = plan.faults[int(numbers.fault[0])]
            want = sb.simulate(
                file,
                overrides=over | {dotted(path): value for path, value in fault.set.items()},
                variants=plan.variants[int(numbers.variant[0])],
            )
            np.testing.assert_array_equal(got.t, want.t)
            np.testing.assert_array_equal(got["plant"], want["plant"])
            np.testing.assert_array_equal(got["sum"], want["sum"])


@pytest.mark.parametrize(
    "over",
    [
        {"ctrl.P": [10, -1.5]},
        {"ctrl.I": [0.7, 3]},
        {"ctrl.D": [0.7, 3]},
        {"ctrl.D_pole": [7, 30]},
        {"ctrl.I_limit": [0.01, 0.02]},
        {"blocks.ctrl.P": [10]},
        {"two.D": [2, 3]},
        {"kp": [3, 4]},  # of two PID in different places, and of a GAIN
        {"ki": [3]},
        {"soft": [3]},  # stands for another until it varies
        {"own.P": [2, 3]},
        {"own.D": [2, 0.5]},
        {"blocks.soft.P": [2]},
        {"used.P": [2]},
        {"used.D": [2]},
        {"pids.P": [3]},
        {"pids.I": [3]},
        {"pids.D": [0.3]},
        {"slope.alpha": [12]},
        {"slope.gain": [0.5]},
        {"slope.x0": [0.25]},
        {"ctrl.P": [10, 11], "ctrl.I": [1, 2], "ctrl.D": [1.5, 2]},
    ],
)
def test_an_argument_of_a_composed_block_never_retraces(file, over, loads):
    plan = plan_of(file, over=over)
    placed = works_of(plan, range(len(plan)))
    assert len(placed.works) == 1
    before = len(loads)
    works_of(plan, range(len(plan)))
    assert len(loads) == before <= 5
    assert_as_loaded(file, plan, placed)


@pytest.mark.parametrize(
    ("over", "works"),
    [
        ({"ctrl.I": [1, 0, 2, 0]}, [[0, 2], [1, 3]]),
        ({"ctrl.D": [0, 2, 3]}, [[0], [1, 2]]),
        ({"ctrl.D": [0, 3], "ctrl.P": [2, 3]}, [[0, 1], [2, 3]]),
        ({"ctrl.D": [0, 3], "ctrl.D_pole": [10, 20]}, [[0], [1], [2, 3]]),
        ({"two.D": [1, 2, 3]}, [[0, 1, 2]]),
        ({"slope.gain": [1, 2]}, [[0, 1]]),
        ({"none": [0, 2], "kp": [1]}, [[0], [1]]),
    ],
)
def test_a_value_for_which_there_are_other_blocks_is_structural_alone(file, over, works):
    text = file.read_text().replace("{type: PID, P: 3, I: 1", "{type: PID, P: 3, I: $none")
    file.write_text(text)
    plan = plan_of(file, over=over)
    placed = works_of(plan, range(len(plan)))
    assert sorted(work.runs.tolist() for work in placed.works) == works
    assert_as_loaded(file, plan, placed)


def test_a_gain_that_the_file_leaves_at_zero_is_a_parameter_once_it_varies(file):
    text = file.read_text().replace("ki: 2", "ki: 0")
    file.write_text(text)
    plan = plan_of(file, over={"ki": [0, 1, 2, 3], "ctrl.P": [10, 11]})
    placed = works_of(plan, range(len(plan)))
    assert sorted(work.runs.tolist() for work in placed.works) == [[0, 1], [2, 3, 4, 5, 6, 7]]
    assert_as_loaded(file, plan, placed)


def test_draws_variants_and_faults_share_a_program_for_each_structure(file):
    plan = plan_of(
        file,
        over={"kp": {"normal": {"mean": 12, "sd": 2}}, "two.D": {"uniform": {"low": 1, "high": 2}}},
        runs=3,
        variants="all",
        faults={"off": {"set": {"two.P": 0.5}}, "open": {"set": {"two.I": 0}}},
    )
    placed = works_of(plan, range(len(plan)))
    assert len(placed.works) == 4, "two variants, each with and without an integral"
    assert_as_loaded(file, plan, placed)


def test_a_gain_of_a_pid_can_change_during_a_run(file):
    plan = plan_of(file, faults={"off": {"at": 0.5, "set": {"ctrl.I": 0, "two.P": 1, "own.P": 2}}})
    [work] = works_of(plan, range(2)).works
    names = {slot.name: slot.part for slot in work.program.parameters}
    assert work.p[1, names["after.ctrl.I"]] == 0
    got = sb.simulate(replace(work.program, p=work.p[1]))
    want = sb.simulate(replace(work.program, p=work.p[0]))
    before = want.t[want.t < 0.5]
    np.testing.assert_array_equal(got.t[: len(before)], before)
    assert got["plant"][-1] != want["plant"][-1]


def test_a_reference_to_the_gain_of_a_pid_is_a_parameter_of_the_program(file):
    program = sb.trace(sb.load(file))
    got = sb.simulate(program.with_parameters({"kp": 5.0, "ki": 1.0}))
    np.testing.assert_array_equal(
        got["plant"], sb.simulate(file, overrides={"kp": 5, "ki": 1})["plant"]
    )


def test_limits_of_an_integral_as_a_pair_are_loaded_for_each(file):
    plan = plan_of(file, over={"pids.I_limit": [[-1, 1], [-0.1, 0.2]]})
    placed = works_of(plan, range(2))
    assert len(placed.works) == 2
    assert_as_loaded(file, plan, placed)
    plan = plan_of(file, over={"pids.I_limit[1]": [3, 0.2]})
    assert_as_loaded(file, plan, works_of(plan, range(2)))


@pytest.mark.parametrize(
    "over",
    [{"two.P": [5, 6]}, {"own/c.D": [2]}, {"kp": [5]}, {"ctrl.I_limit": [0.01]}, {"two.I": [0.5]}],
)
def test_arguments_of_composed_blocks_of_a_diagram_in_memory(file, over):
    diagram = sb.load(file)
    plan = plan_of(diagram, over=over)
    [work] = works_of(plan, range(len(plan)), diagram).works
    for k in range(len(plan)):
        case = {path.replace("own/c", "own"): value for path, value in plan.case(k).items()}
        got = sb.simulate(replace(work.program, p=work.p[k]))
        np.testing.assert_array_equal(got["plant"], sb.simulate(file, overrides=case)["plant"])
