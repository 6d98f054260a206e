"""Values of a plan become parameters of programs: each run is what `sb.simulate` makes of it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from works import works_of

import spart_blocks as sb
from spart_blocks.base.errors import InputError, SpartWarning
from spart_blocks.measures.work import FileWork
from spart_blocks.run import DiagramFile
from spart_blocks.sweeps.plan import assignments
from spart_blocks.sweeps.plan.memory_source import FileSource
from spart_blocks.sweeps.plan.requested_plan import plan_of
from spart_blocks.sweeps.plan.source import dotted
from spart_blocks.sweeps.run import one_by_one

DIAGRAMS = Path(__file__).parents[2] / "diagrams"
MODELS = DIAGRAMS.with_name("models")

DIAGRAM = """\
params: {kp: 20, gain: 3, same: $gain, pair: [$gain, 2], begin: 0.5}
clocks: {c: {T: 0.1}}
subsystems:
  filter:
    params: {k: 1, unused_here: 5}
    inputs: [u]
    outputs: [y]
    blocks:
      g: {type: GAIN, K: $k}
      extra: {type: GAIN, K: $gain}
    wires: [in -> g -> extra -> out]
variants:
  ctrl:
    default: pd
    choices:
      pd: {type: GAIN, K: $kp}
      stiff: {type: GAIN, K: 50}
blocks:
  ref: {type: STEP, T: $begin, on: 1}
  err: {type: SUM, signs: "+-"}
  f: {type: filter, k: 0.2}
  sat: {type: CLIP, min: -100, max: 100}
  plant: {type: INTEGRATOR, x0: 0}
  v: {type: CONSTANT, value: $pair}
  w: {type: GAIN, K: $same}
  noise: {type: NOISE, clock: c, std: 0.1, seed: 5}
  n: {type: "NULL"}
wires:
  - ref -> err.0
  - plant -> err.1
  - err -> ctrl -> f -> sat -> plant
  - v -> w -> n
  - noise -> n2
run: {T: 1, log: [w, v]}
"""
DIAGRAM = DIAGRAM.replace("  - err -> ctrl -> f -> sat -> plant\n", "".join(
    f"  - {a} -> {b}\n" for a, b in zip(["err", "ctrl", "f", "sat"], ["ctrl", "f", "sat", "plant"],
                                       strict=True)
)).replace("  - v -> w -> n\n", "  - v -> w\n  - w -> n\n").replace(
    "    wires: [in -> g -> extra -> out]\n", "    wires: [in -> g, g -> extra, extra -> out]\n"
).replace('  n: {type: "NULL"}\n', '  n: {type: "NULL"}\n  n2: {type: "NULL"}\n')  # fmt: skip


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "some.yaml"
    path.write_text(DIAGRAM, encoding="utf-8")
    return path


def ran(work, number):
    """The results of a run."""
    [k] = np.flatnonzero(work.runs == number)
    return sb.simulate(replace(work.program, p=work.p[k]))


def assert_same(a, b, blocks=None):
    for name in blocks or b.final_state.continuous:
        np.testing.assert_array_equal(
            a.final_state.continuous[name], b.final_state.continuous[name]
        )


@pytest.mark.parametrize(
    "over",
    [
        {"kp": [10, 30]},
        {"params.kp": [10]},
        {"gain": [4]},  # in two blocks, in a subsystem, and within another parameter
        {"pair": [[5, 6]]},
        {"pair[1]": [7]},
        {"same": [9]},  # stands for another until it varies
        {"w.K": [9]},  # shares its value with others until it varies
        {"f.k": [0.5]},
        {"ctrl.K": [9]},
        {"begin": [0.2]},
        {"ref.on": [2.0]},
        {"ref.off": [0.5]},  # is not written in the file
        {"plant.x0": [0.25]},
        {"sat.max": [5]},
        {"run.T": [0.5]},
        {"rtol": [1e-3]},
    ],
)
def test_a_value_that_varies_is_the_value_of_the_file(file, over):
    plan = plan_of(file, over=over)
    placed = works_of(plan, range(len(plan)))
    assert not placed.failed
    [work] = placed.works
    for run in range(len(plan)):
        got = ran(work, run)
        case = {dotted(path): value for path, value in plan.case(run).items()}
        want = sb.simulate(file, overrides=case)
        assert got.t[-1] == want.t[-1]
        np.testing.assert_array_equal(got["w"][-1], want["w"][-1])
        np.testing.assert_array_equal(got["v"][-1], want["v"][-1])
        assert_same(got, want)


def test_what_is_structural_is_loaded_once_for_each_value(file):
    plan = plan_of(file, over={"clocks.c.T": [0.1, 0.2], "kp": [1, 2, 3]})
    placed = works_of(plan, range(6))
    assert [work.runs.tolist() for work in placed.works] == [[0, 1, 2], [3, 4, 5]]
    periods = [float(work.program.clocks[0].period) for work in placed.works]
    assert periods == [0.1, 0.2]
    assert works_of(plan, [4]).works[0].program is placed.works[1].program, "kept with the plan"


def test_variants_and_faults_at_the_start(file):
    plan = plan_of(
        file, over={"kp": [10, 20]}, variants="all", faults={"off": {"set": {"gain": 0}}}
    )
    placed = works_of(plan, range(len(plan)))
    assert [w.runs.tolist() for w in placed.works] == [[0, 1, 4, 5], [2, 3, 6, 7]]
    for variant, work in zip(("pd", "stiff"), placed.works, strict=True):
        for run in work.runs:
            over = {"kp": plan.case(run)["kp"]}
            fault = plan.fault_names[plan.numbers(run).fault[0]]
            if variant == "stiff":
                over = {}
            want = sb.simulate(
                file,
                overrides=over | ({"gain": 0} if fault == "off" else {}),
                variants={"ctrl": variant},
            )
            assert_same(ran(work, run), want)


def test_what_no_variant_uses_is_told(file):
    file.write_text(DIAGRAM.replace("params: {", "params: {idle: 1, "))
    with pytest.raises(InputError, match="idle: no block takes this parameter"):
        works_of(plan_of(file, over={"idle": [1]}, variants="all"), [0])


def test_a_fault_begins_within_a_run_and_all_share_a_program(file):
    faults = {"weak": {"at": 0.7, "set": {"kp": 0}}, "late": {"at": 0.9, "set": {"gain": 1}}}
    plan = plan_of(file, over={"kp": [10, 20]}, faults=faults)
    [work] = works_of(plan, range(6)).works
    assert work.runs.tolist() == list(range(6))
    assert_same(ran(work, 0), sb.simulate(file, overrides={"kp": 10}))
    before = sb.simulate(file, overrides={"kp": 20}, T=0.7)
    after = sb.simulate(file, overrides={"kp": 0}, initial=before.final_state)
    np.testing.assert_allclose(
        ran(work, 4).final_state.continuous["plant"],
        after.final_state.continuous["plant"],
        rtol=1e-6,
    )


def test_random_sequences_differ_by_draw_and_not_by_grid_or_fault(file):
    plan = plan_of(file, over={"kp": [10, 20]}, runs=3, seed=1)
    [work] = works_of(plan, range(6)).works
    [slot] = [slot for slot in work.program.parameters if slot.name == "noise.x0"]
    states = work.p[:, slot.part]
    assert len(np.unique(states, axis=0)) == 3
    np.testing.assert_array_equal(states[0], states[1])
    [alone] = works_of(plan, [5]).works
    np.testing.assert_array_equal(alone.p[0], work.p[5])
    other = works_of(plan_of(file, over={"kp": [10]}, seed=2), [0]).works[0].p[0, slot.part]
    assert (other != states[0]).all()
    chosen = works_of(plan_of(file, over={"noise.seed": [5, 6]}), [0, 1]).works
    seeded = [sb.trace(sb.load(file, overrides={"noise.seed": s})).p[slot.part] for s in (5, 6)]
    np.testing.assert_array_equal([work.p[0, slot.part] for work in chosen], seeded)


INITIAL = [
    {"plant.initial.qm": [[0.1, 0.2, 0.3]]},
    {"plant.initial.qm[1]": [0.4]},
    {"plant.initial.um": [[0.1, 0, 0]]},
    {"plant.initial.r0": [[1, 2, 3]], "plant.initial.v0": [[0.1, 0, 0]]},
    {"plant.initial.omega0": [[0.1, 0, 0.2]]},
    {"plant.initial.u0": [[0.1, 0, 0.2, 0.1, 0, 0]]},
    {"plant.initial.quaternion": [[0.6, 0, 0, 0.8]]},
    {"plant.initial.angles321": [[0.1, 0.2, 0.3]]},
]


@pytest.mark.parametrize("over", INITIAL)
def test_initial_states_of_a_plant_are_parameters(over):
    path = DIAGRAMS / "spacecraft_pd.yaml"
    plan = plan_of(path, over=over)
    [work] = works_of(plan, [0]).works
    case = {dotted(path): value for path, value in plan.case(0).items()}
    want = sb.trace(sb.load(path, overrides=case))
    np.testing.assert_allclose(work.p[0], want.p, atol=1e-15)


def test_initial_states_by_joint_name():
    path = DIAGRAMS / "spacecraft_pd.yaml"
    names = sb.load(path).robots["sc"].position_names
    plan = plan_of(path, over={f"plant.initial.qm.{names[1]}": {"normal": {"sd": 0.1}}}, runs=3)
    [work] = works_of(plan, range(3)).works
    want = sb.trace(
        sb.load(path, overrides={"plant.initial.qm": [0.1, plan.case(2)[plan.paths[0]], 0]})
    )
    np.testing.assert_array_equal(work.p[2], want.p)


def test_masses_never_retrace_and_those_below_zero_fail_alone():
    path = DIAGRAMS / "spacecraft_pd.yaml"
    over = {"sc.mass": {"values": [1, 1.5, -1], "relative": True}, "ctrl.kp": [1, 2]}
    plan = plan_of(path, over=over)
    placed = works_of(plan, range(6))
    [work] = placed.works
    assert work.runs.tolist() == [0, 1, 2, 3]
    assert set(placed.failed) == {4, 5}
    assert "cannot be negative" in placed.failed[4]
    nominal = sb.load(path).robots["sc"].matter[0]
    np.testing.assert_array_equal(work.program.with_parameters({}).parameter("sc.mass"), nominal)
    heavier = sb.load(path, overrides={"tunable": ["sc.mass"], "ctrl.kp": 1})
    want = sb.simulate(sb.trace(heavier).with_parameters({"sc.mass": 1.5 * nominal}))
    assert_same(ran(work, 2), want)
    element = plan_of(path, over={"sc.mass[1]": {"uniform": {"low": 3, "high": 4}}}, runs=2)
    [work] = works_of(element, range(2)).works
    [slot] = [slot for slot in work.program.parameters if slot.name == "sc.mass"]
    np.testing.assert_array_equal(work.p[:, slot.part][:, 1], element.columns([0, 1])["sc.mass[1]"])


def test_inertias_that_no_body_has_fail_alone():
    path = DIAGRAMS / "spacecraft_pd.yaml"
    plan = plan_of(path, over={"sc.inertia": {"values": [1, 2, -1], "relative": True}})
    placed = works_of(plan, range(3))
    assert placed.works[0].runs.tolist() == [0, 1]
    assert "indefinite" in placed.failed[2]


def test_values_that_are_wrong_fail_their_runs_alone(file):
    plan = plan_of(file, over={"clocks.c.T": [0.1, -1], "kp": [1, 2]})
    placed = works_of(plan, range(4))
    assert [work.runs.tolist() for work in placed.works] == [[0, 1]]
    assert set(placed.failed) == {2, 3}
    assert "clocks.c.T must be greater than 0" in placed.failed[2]
    over = {"plant.initial.quaternion": [[0, 0, 0, 1], [1, 1, 1, 1], [0, 0, 0.6, 0.8]]}
    placed = works_of(plan_of(DIAGRAMS / "spacecraft_pd.yaml", over=over), range(3))
    assert placed.works[0].runs.tolist() == [0, 2]
    assert "length" in placed.failed[1]


def test_numbers_that_are_not_finite_fail_their_runs_alone(file):
    plan = plan_of(file, over={"kp": [1, 2, 3]})
    plan.axes[0].tables[0][1] = np.nan
    placed = works_of(plan, range(3))
    assert placed.works[0].runs.tolist() == [0, 2]
    assert placed.failed == {1: "kp holds a number that is not finite"}


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"over": {"kpp": [1]}}, "there is nothing named 'kpp'\n  did you mean 'kp'"),
        ({"over": {"ctrll.K": [1]}}, "there is nothing named 'ctrll'\n  did you mean 'ctrl'"),
        ({"over": {"ctrl.KK": [1]}}, "'KK'"),
        (
            {"over": {"kp": [1]}, "faults": {"x": {"at": 1, "set": {"gane": 1}}}},
            "did you mean 'gain'",
        ),
        ({"faults": {"x": {"at": 1, "set": {"clocks.c.T": 1}}}}, "cannot change during a run"),
        ({"faults": {"x": {"at": 1, "set": {"plant.x0": 1}}}}, "cannot change during a run"),
        ({"faults": {"x": {"at": 1, "set": {"run.T": 1}}}}, "cannot change during a run"),
    ],
)
def test_a_path_that_is_not_there_is_told_before_anything_runs(file, changes, told):
    with pytest.raises(InputError, match=told):
        works_of(plan_of(file, **changes), [0])


def test_a_path_of_a_file_is_told_at_its_place(tmp_path):
    path = tmp_path / "some.yaml"
    path.write_text(DIAGRAM + "sweep:\n  over:\n    kp: [1]\n    kpp: [2]\n    gane: [3]\n")
    with pytest.raises(InputError) as caught:
        works_of(plan_of(path), [0])
    places = [(fault.place.line, fault.message) for fault in caught.value.faults]
    lines = DIAGRAM.count("\n")
    assert [line for line, _ in places] == [lines + 4, lines + 5]


def test_a_diagram_in_memory_and_a_program_vary_their_parameters(file):
    diagram = sb.load(file)
    for given in (diagram, sb.trace(diagram)):
        plan = plan_of(given, over={"kp": [10, 20], "plant.x0": [0.5], "gain": [2]})
        [work] = works_of(plan, [0, 1], given).works
        want = sb.simulate(file, overrides=plan.case(1))
        assert_same(ran(work, 1), want)
        with pytest.raises(InputError, match="is no parameter of the program"):
            works_of(plan_of(given, over={"clocks.c.T": [1]}), [0], given)


def test_masses_and_initial_states_of_a_diagram_in_memory():
    path = DIAGRAMS / "spacecraft_pd.yaml"
    diagram = sb.load(path)
    over = {
        "sc.mass": {"values": [2], "relative": True},
        "plant.initial.qm": [[0.1, 0.2, 0.3]],
        "plant.initial.quaternion": {"rotation": {"sd": 0.1}},
    }
    plan = plan_of(diagram, over=over, runs=1)
    [work] = works_of(plan, [0], diagram).works
    [same] = works_of(plan_of(path, over=over, runs=1), [0]).works
    np.testing.assert_array_equal(work.p, same.p)


def test_rows_of_many_runs_are_made_at_once(file):
    over = {"kp": {"normal": {"mean": 20, "sd": 1}}, "plant.x0": {"normal": {"sd": 1}}}
    plan = plan_of(file, over=over, runs=50_000)
    [work] = works_of(plan, np.arange(50_000)).works
    [one] = works_of(plan, [49_999]).works
    np.testing.assert_array_equal(work.p[-1], one.p[0])


OWN = '''
from bdsim.components import FunctionBlock

class Branching(FunctionBlock):
    """Doubles what is above a level.

    :param level: where
    :type level: float
    """
    nin = 1
    nout = 1

    def __init__(self, level=0.0, **blockargs):
        super().__init__(**blockargs)
        self.level = level

    def output(self, t, inputs, x):
        return [2 * inputs[0] if inputs[0] > self.level else inputs[0]]
'''
UNTRACED = """\
clocks: {c: {T: 0.1}}
blocks:
  noise: {type: NOISE, clock: c, std: 0.1, seed: 5}
  bend: {type: BRANCHING, level: 0.05}
  plant: {type: INTEGRATOR, x0: 0}
wires: [noise -> bend, bend -> plant]
run: {T: 1}
"""


def test_a_file_that_cannot_be_traced_gives_works_of_its_blocks(tmp_path):
    (tmp_path / "own.py").write_text(OWN, encoding="utf-8")
    path = tmp_path / "some.yaml"
    path.write_text(UNTRACED, encoding="utf-8")
    file = DiagramFile(path, blocks=(str(tmp_path / "own.py"),))
    over = {"bend.level": [0, 0.05], "plant.x0": {"normal": {"sd": 1}}}
    plan = plan_of(file, over=over, runs=2)
    placed = works_of(plan, [0, 1, 3])
    [work] = placed.works
    assert isinstance(work, FileWork)
    assert work.overrides[2] == ("bend.level=0.05", f"plant.x0={plan.case(3)['plant.x0']!r}")
    assert work.start["noise"].shape == (3, 6)
    np.testing.assert_array_equal(work.start["noise"][0], work.start["noise"][1])
    done = list(one_by_one.each_run(work))
    assert sum(len(part.runs) for part in done) == 3
    with pytest.raises(InputError, match="during a run\n  the diagram has no program"):
        works_of(plan_of(file, faults={"x": {"at": 0.5, "set": {"bend.level": 1}}}), [0])
    with pytest.raises(InputError, match="unknown parameter 'levl'"):
        works_of(plan_of(file, over={"bend.levl": [1]}), [0])
    diagram = file.load()
    with pytest.raises(InputError, match="cannot be traced"):
        plan_of(diagram, over={"bend.level": [1]})


def test_a_fault_of_what_the_file_leaves_open_changes_its_own_runs_alone(file):
    file.write_text(DIAGRAM.replace("{type: CLIP, min: -100, max: 100}", "{type: CLIP, min: -100}"))
    faults = {"saturated": {"set": {"sat.max": 0.5}}}
    plan = plan_of(file, over={"kp": [10]}, faults=faults)
    free, clipped = works_of(plan, [0, 1]).works
    assert_same(ran(free, 0), sb.simulate(file, overrides={"kp": 10}))
    assert_same(ran(clipped, 1), sb.simulate(file, overrides={"kp": 10, "sat.max": 0.5}))
    late = {"saturated": {"at": 0.5, "set": {"sat.max": 0.5}}}
    with pytest.raises(InputError, match=r"sat\.max cannot change during a run"):
        works_of(plan_of(file, over={"kp": [10]}, faults=late), [0])


def test_many_structures_are_warned_of(file, monkeypatch):
    monkeypatch.setattr(assignments, "MANY_STRUCTURES", 2)
    plan = plan_of(file, over={"clocks.c.T": [0.1, 0.2, 0.5]})
    with pytest.warns(SpartWarning, match=r"clocks\.c\.T: no parameters of the program"):
        works_of(plan, range(3))


def test_values_that_a_block_refuses_fail_their_runs_alone(file):
    over = {"noise.std": {"normal": {"mean": 0.1, "sd": 0.1}}}
    plan = plan_of(file, over=over, runs=200)
    placed = works_of(plan, range(200))
    drawn = plan.columns(range(200))["noise.std"]
    assert sorted(placed.failed) == np.flatnonzero(drawn < 0).tolist()
    assert len(placed.failed) > 10
    assert "std must not be negative" in next(iter(placed.failed.values()))
    for runs in (range(50), [int(np.flatnonzero(drawn < 0)[3])]):
        part = works_of(plan_of(file, over=over, runs=200), runs)
        assert set(part.failed) == set(placed.failed) & set(runs), "whatever else is placed"


def test_only_values_of_another_sign_are_asked_for(file, monkeypatch):
    asked = []
    monkeypatch.setattr(
        FileSource, "problem", lambda self, chosen, values: asked.append(values) or None
    )
    over = {"kp": {"uniform": {"low": 1, "high": 99}}, "plant.x0": {"normal": {"sd": 1}}}
    works_of(plan_of(file, over=over, runs=50), range(50))
    assert not asked
    plan = plan_of(file, over={"ref.on": {"normal": {"sd": 1}}}, runs=50)
    works_of(plan, range(50))
    assert len(asked) == 2, "its own value, and the farthest"


def test_a_fault_to_values_that_a_block_refuses_fails_alone(file):
    faults = {"loud": {"at": 0.5, "set": {"noise.std": -1}}}
    placed = works_of(plan_of(file, over={"kp": [1]}, faults=faults), [0, 1])
    assert placed.works[0].runs.tolist() == [0]
    assert "std must not be negative" in placed.failed[1]
