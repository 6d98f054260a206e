"""Plans: the numbers of runs, their values, and plans as text."""

from __future__ import annotations

import json
import os
from pathlib import Path

import numpy as np
import pytest

import spart_blocks as sb
from spart_blocks.base.errors import DiagramError, InputError
from spart_blocks.sweeps.plan.requested_plan import plan_of, section_of

DIAGRAM = """\
params: {kp: 20, kd: 4, tau: [1, 2]}
variants:
  ctrl:
    default: pd
    choices:
      pd: {type: GAIN, K: $kp}
      stiff: {type: GAIN, K: 99}
blocks:
  ref: {type: STEP, T: 1, on: 1}
  err: {type: SUM, signs: "+-"}
  plant: {type: INTEGRATOR, x0: 0}
  v: {type: CONSTANT, value: $tau}
  n: {type: "NULL"}
wires:
  - ref -> err.0
  - plant -> err.1
  - err -> ctrl
  - ctrl -> plant
  - v -> n
run: {T: 2}
"""


@pytest.fixture
def file(tmp_path):
    def write(sweep="", text=DIAGRAM):
        path = tmp_path / "some.yaml"
        path.write_text(text + sweep, encoding="utf-8")
        return path

    return write


SWEEP = """\
sweep:
  runs: 5
  seed: 7
  over:
    kp: [10, 20, 40]
    plant.x0: {normal: {mean: 0, sd: 0.1}}
    tau: [[1, 2], [3, 4]]
  variants: all
  faults:
    weak: {at: 0.5, set: {kp: 0}}
"""


def test_runs_are_numbered_with_the_draw_outermost(file):
    plan = plan_of(file(SWEEP))
    assert len(plan) == 5 * 6 * 2 * 2
    assert plan.counts == (6, 2, 2)
    assert plan.variant_names == ("pd", "stiff")
    assert plan.fault_names == ("none", "weak")
    numbers = plan.numbers(np.arange(len(plan)))
    again = np.ravel_multi_index(tuple(numbers), (5, 6, 2, 2))
    assert again.tolist() == list(range(len(plan)))
    assert (np.diff(numbers.draw) >= 0).all()
    assert numbers.fault[:2].tolist() == [0, 1]


def test_the_values_of_a_run_follow_from_its_number_alone(file):
    plan = plan_of(file(SWEEP))
    whole = plan.columns(np.arange(len(plan)))
    assert list(whole) == ["kp", "plant.x0", "tau"]
    assert whole["tau"].shape == (120, 2)
    for run in (0, 17, 119):
        case = plan.case(run)
        assert case == {path: column[run].tolist() for path, column in whole.items()}
    numbers = plan.numbers(np.arange(len(plan)))
    for draw in range(5):
        assert len(set(whole["plant.x0"][numbers.draw == draw])) == 1, "common random numbers"
    grid = {(whole["kp"][k], *whole["tau"][k]) for k in np.flatnonzero(numbers.draw == 0)}
    assert len(grid) == 6


def test_a_longer_sweep_begins_as_a_shorter_one(file):
    path = file(SWEEP)
    short, longer = plan_of(path), plan_of(path, runs=50)
    assert short.identity() == longer.identity()
    assert longer.case(100) == short.case(100)
    assert plan_of(path, seed=8).identity() != short.identity()
    assert plan_of(path, over={"kp": [1]}).identity() != short.identity()
    square = [plan_of(path, runs=n, design="latin_hypercube").identity() for n in (4, 5)]
    assert square[0] != square[1], "its points depend on their count"


def test_the_identity_follows_the_diagram_and_not_its_claims(file):
    key = plan_of(file(SWEEP)).identity()
    assert plan_of(file(SWEEP + "expect:\n")).identity() == key
    assert plan_of(file(SWEEP, DIAGRAM.replace("T: 2}", "T: 3}"))).identity() != key


def test_lists_that_are_zipped_walk_together(file):
    path = file("sweep:\n  over: {kp: [1, 2], tau: [[1, 2], [3, 4]]}\n  zip: [[kp, tau]]\n")
    plan = plan_of(path)
    assert [plan.case(k) for k in range(2)] == [
        {"kp": 1.0, "tau": [1.0, 2.0]},
        {"kp": 2.0, "tau": [3.0, 4.0]},
    ]
    assert len(plan) == 2


def test_a_file_of_cases_is_one_axis(file):
    path = file("sweep: {cases: cases.csv, over: {kp: [1, 2, 3]}}\n")
    path.with_name("cases.csv").write_text("# two\nplant.x0, tau[0]\n0.5, 7\n0.25, 8\n")
    plan = plan_of(path)
    assert len(plan) == 6
    assert plan.case(3) == {"kp": 2.0, "plant.x0": 0.25, "tau[0]": 8.0}
    path.with_name("cases.csv").write_text("plant.x0\nmuch\n")
    with pytest.raises(InputError, match=r"cases\.csv:2:1: column 'plant\.x0' needs finite"):
        plan_of(path)
    with pytest.raises(InputError, match=r"none\.csv does not exist"):
        plan_of(file("sweep: {cases: none.csv}\n"))


def test_a_file_of_cases_is_a_regular_file(file, tmp_path):
    os.mkfifo(tmp_path / "cases.csv")
    with pytest.raises(InputError, match="is not a file"):
        plan_of(sb.load(file()), cases=str(tmp_path / "cases.csv"))


def test_a_file_of_cases_may_have_very_many_columns(file, tmp_path):
    names = ",".join(f"kp.extra{k}" for k in range(20_000))
    values = ",".join(["1"] * 20_000)
    (tmp_path / "cases.csv").write_text(f"kp,{names}\n1,{values}\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"kp and kp\.extra0 both vary") as caught:
        plan_of(file(), cases=str(tmp_path / "cases.csv"))
    assert len(caught.value.faults) == 20_000


def test_values_are_relative_to_those_of_the_diagram(file):
    over = {
        "kp": {"values": [0.5, 1, 2], "relative": True},
        "tau": {"uniform": {"low": 0.9, "high": 1.1}, "relative": True, "each": True},
    }
    plan = plan_of(file(), over=over, runs=4)
    columns = plan.columns(np.arange(12))
    assert columns["kp"][:3].tolist() == [10, 20, 40]
    ratio = columns["tau"] / [1, 2]
    assert ((ratio > 0.9) & (ratio < 1.1)).all()
    assert (ratio[:, 0] != ratio[:, 1]).all()


def test_a_sweep_in_python_takes_arrays(file):
    plan = plan_of(file(), over={"kp": np.linspace(1, 2, 3), "tau": [np.ones(2), np.zeros(2)]})
    assert plan.case(5) == {"kp": 2.0, "tau": [0.0, 0.0]}


def test_a_million_runs_cost_little_and_keep_little(file):
    over = {"kp": {"normal": {"mean": 20, "sd": 2}}, "plant.x0": {"uniform": {"low": 0, "high": 1}}}
    plan = plan_of(file(), over=over, runs=10**6)
    columns = plan.columns(np.arange(10**6))
    assert columns["kp"].shape == (10**6,)
    assert columns["kp"][-1] == plan.case(10**6 - 1)["kp"]
    assert len(json.dumps(plan.identity())) < 2000


@pytest.mark.parametrize(
    ("sweep", "told"),
    [
        ("over: {kp: {normal: {sd: 1}}}", "how many draws there are of kp is not said"),
        ("over: {kp: [1], kp.0: [2]}", r"kp and kp\.0 both vary"),
        ("variants: {control: [pd]}", r"some\.yaml:\d+:\d+: there is no slot 'control'"),
        ("variants: {ctrl: [pdd]}", r"some\.yaml:\d+:\d+: ctrl has no choice 'pdd'"),
        ("{over: {kpp: {values: [2], relative: true}}}", "there is nothing named 'kpp'"),
        ("design: saltelli", "needs random paths"),
        ("{over: {kp: [1, 2], kd: [1]}, zip: [[kp, kd]]}", "kp has 2 and kd has 1"),
        ("{over: {kp: [1, 2]}, zip: [[kp, kd]]}", "zip: 'kd' is no list of over"),
        ("faultless: false", "leaves no runs"),
    ],
)
def test_what_is_wrong_is_told_where_it_is_written(file, sweep, told):
    text = sweep if sweep.startswith("{") else "{" + sweep + "}"
    with pytest.raises(InputError, match=told):
        plan_of(file(f"sweep: {text}\n"))


def test_faults_of_a_call_have_no_place_in_a_file(file):
    with pytest.raises(InputError, match=r"^sweep\.over\.kp\.normal: takes either sd or cov"):
        section_of(file(), over={"kp": {"normal": {"mean": 1}}})
    with pytest.raises(InputError, match="no entry 'run'\n  did you mean 'runs'"):
        section_of(file(), run=3)
    with pytest.raises(DiagramError, match=r"some\.yaml:\d+:\d+: sweep\.runs must be 1 or more"):
        section_of(file("sweep: {runs: 0}\n"), runs=3)


def test_a_run_that_is_not_there_is_told(file):
    plan = plan_of(file(SWEEP))
    with pytest.raises(InputError, match="there is no run 120; they are 0 to 119"):
        plan.columns([5, 120])
    with pytest.raises(InputError, match="whole numbers"):
        plan.case(0.5)


def test_a_file_that_is_not_there_is_told():
    with pytest.raises(InputError, match="there is no such file"):
        plan_of(Path("nowhere.yaml"))
