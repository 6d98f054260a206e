"""Comparisons: what is measured, in processes of their own, against closed forms."""

from __future__ import annotations

import csv
import math
import signal
import sys
import threading
from pathlib import Path

import numpy as np
import pytest
from matplotlib.colors import to_hex
from mcap_writing import write_json

import spart_blocks as sb
from spart_blocks.analysis import compare as compare_files
from spart_blocks.analysis.cases import MAX_CASES, cases_of
from spart_blocks.analysis.measures import NO_TRACK, measures_of
from spart_blocks.base.errors import (
    DiagramError,
    InputError,
    RunError,
    SpartWarning,
)
from spart_blocks.diagram.written.overrides import as_texts
from spart_blocks.results.plots import COLOURS
from spart_blocks.run import processes

DIAGRAMS = Path(__file__).parents[2] / "diagrams"

# x' = k (r - x): from the step of 2 at 1 s on, r - x = 2 exp(-k (t - 1)).
LAG = """
name: lag
variants:
  gain:
    default: slow
    choices:
      slow: {type: GAIN, K: 2.0}
      fast: {type: GAIN, K: 5.0}
blocks:
  goal: {type: STEP, T: 1.0, on: 2.0}
  error: {type: SUM, signs: "+-"}
  x: {type: INTEGRATOR}
  scope: {type: SCOPE, nin: 2, labels: [goal, x], title: Answer}
  plane: {type: SCOPEXY}
wires:
  - goal -> error.0, scope, plane
  - x -> error.1, scope, plane
  - error -> gain
  - gain -> x
compare:
  track: {x: goal}
  effort: [gain]
run: {T: 6, every: 0.001, rtol: 1e-9, atol: 1e-11}
"""

# A user's own block, which no trace can follow.
BRANCH = """
from bdsim.components import FunctionBlock


class Branch(FunctionBlock):
    nin = 1
    nout = 1

    def output(self, t, inputs, x):
        [e] = inputs
        return [5.0 * e if e > 0 else 2.0 * e]
"""

# 1/(until - t) has no integral beyond t = until.
POLE = """
name: pole
params: {until: 9.0}
blocks:
  until: {type: CONSTANT, value: $until}
  time: {type: TIME}
  gap: {type: SUM, signs: "+-"}
  inverse: {type: POW, p: -1}
  x: {type: INTEGRATOR}
wires:
  - until -> gap.0
  - time -> gap.1
  - gap -> inverse
  - inverse -> x
run: {T: 2}
"""


@pytest.fixture
def lag(tmp_path):
    return written(tmp_path / "lag.yaml", LAG)


@pytest.fixture
def pole(tmp_path):
    return written(tmp_path / "pole.yaml", POLE)


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    """The comparison of all choices of LAG."""
    return sb.compare(written(tmp_path_factory.mktemp("lag") / "lag.yaml", LAG))


def written(path, text):
    path.write_text(text, encoding="utf-8")
    return path


def row(found, case, signal):
    [one] = [row for row in found.rows if (row.case, row.signal) == (case, signal)]
    return one.metrics


MEASURED = """
name: measured
params: {k: 2.0}
blocks:
  robot: {type: DATA, file: log.mcap, signals: /robot.x}
  flip: {type: GAIN, K: -1}
  gain: {type: GAIN, K: $k}
  x: {type: INTEGRATOR, x0: 1}
  end: {type: "NULL"}
wires: [x -> gain, gain -> flip, flip -> x, robot -> end]
compare:
  track: {x: robot}
run: {T: 2, rtol: 1e-9, atol: 1e-11}
"""


def test_cases_are_compared_with_a_recording(tmp_path):
    t = np.linspace(0, 2, 101)
    write_json(tmp_path / "log.mcap", _robot=(t, [{"x": v} for v in np.exp(-3 * t)]))
    file = written(tmp_path / "measured.yaml", MEASURED)
    found = sb.compare(file, cases={"file": {}, "better": {"k": 3.0}})
    errors = {one.case: one.metrics["rms_error"] for one in found.rows}
    between = np.exp(-2 * t) - np.exp(-3 * t)
    assert errors["file"] == pytest.approx(np.sqrt(np.trapezoid(between**2, t) / 2), rel=1e-3)
    assert errors["better"] < 2e-4


# --- what is found ---------------------------------------------------------------------------


@pytest.mark.parametrize(("case", "k"), [("slow", 2.0), ("fast", 5.0)])
def test_each_variant_is_measured_as_its_closed_form_says(found, case, k):
    tracking = row(found, case, "x")
    assert tracking["rise_time"] == pytest.approx(math.log(9) / k, rel=1e-6)
    assert tracking["settling_time"] == pytest.approx(math.log(50) / k, rel=1e-6)
    assert tracking["overshoot_percent"] == pytest.approx(0, abs=1e-6)
    assert tracking["peak_error"] == pytest.approx(2.0, rel=1e-12)
    # the mean over 6 s of 4 exp(-2 k t), whatever the run keeps
    left = 1 - math.exp(-2 * k * 5)
    assert tracking["rms_error"] == pytest.approx(math.sqrt(4 / (2 * k) / 6 * left), rel=1e-6)
    effort = row(found, case, "gain")
    assert effort["effort"] == pytest.approx((2 * k) ** 2 / (2 * k) * left, rel=1e-6)
    assert effort["peak_effort"] == pytest.approx(2 * k, rel=1e-12)


def test_the_results_of_each_case_are_those_of_a_run_of_its_own(found, lag):
    alone = sb.simulate(lag, variants={"gain": "fast"})
    assert list(found.results) == ["slow", "fast"]
    np.testing.assert_array_equal(found.results["fast"]["x"], alone["x"])
    assert found.diagram_name == "lag"


def test_the_table_has_columns_of_one_length_and_nan_where_there_is_no_number(found):
    table = found.table()
    assert {len(column) for column in table.values()} == {4}
    assert list(table["case"]) == ["slow", "slow", "fast", "fast"]
    assert list(table["signal"]) == ["x", "gain", "x", "gain"]
    assert np.isnan(table["effort"]).tolist() == [True, False, True, False]
    assert np.isnan(table["base_rotation"]).all()


def test_the_table_is_saved_as_csv_with_nothing_for_nan(found, tmp_path):
    path = found.save(tmp_path / "table.csv")
    with path.open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert [(one["case"], one["signal"]) for one in rows[:2]] == [("slow", "x"), ("slow", "gain")]
    assert float(rows[0]["rise_time"]) == row(found, "slow", "x")["rise_time"]
    assert rows[0]["effort"] == ""
    with pytest.raises(InputError, match=r"end it in \.csv"):
        found.save(tmp_path / "table.txt")


def test_the_text_lists_the_cases_of_a_signal_side_by_side(found):
    lines = [line.split() for line in str(found).splitlines()]
    assert ["x", "slow", "0.4082", "2", "1.099", "1.956", "0.00"] in lines
    assert ["fast", "10", "10"] in lines
    assert "base disturbance" not in str(found)


def test_every_case_has_its_colour_in_every_figure(found):
    plane, answer = found.plot()
    assert [axis.get_ylabel() for axis in answer.axes] == ["goal", "x"]
    for axis in (*answer.axes, *plane.axes):
        assert [to_hex(line.get_color()).upper() for line in axis.lines] == list(COLOURS[:2])
    for figure in (answer, plane):
        [legend] = figure.legends
        assert [text.get_text() for text in legend.get_texts()] == ["slow", "fast"]
    np.testing.assert_array_equal(answer.axes[1].lines[1].get_ydata(), found.results["fast"]["x"])


def test_the_figures_are_files_named_after_their_scopes(found, tmp_path):
    paths = found.save_plots(tmp_path / "figs")
    assert [path.name for path in paths] == ["plane.png", "scope.png"]
    assert all(path.read_bytes().startswith(b"\x89PNG") for path in paths)


def test_sets_of_values_are_cases_too_with_run_options_for_all(lag):
    sets = {"low": {"goal.on": 1.0}, "late": {"goal.T": np.float64(0.6)}}
    found = sb.compare(lag, {"gain": "fast"}, sets, T=1.2, overrides={"run.every": 0.01}, jobs=1)
    assert list(found.results) == ["low", "late"]
    assert row(found, "low", "x")["peak_error"] == pytest.approx(1.0, rel=1e-12)
    assert row(found, "late", "gain")["peak_effort"] == pytest.approx(10.0)
    assert {results.t[-1] for results in found.results.values()} == {1.2}


def test_runs_with_other_sample_times_are_drawn_as_they_are(lag):
    sets = {"coarse": {"run.every": 0.5}, "fine": {"run.every": 0.1}}
    [_, figure] = sb.compare(lag, cases=sets, T=2).plot()
    assert [len(line.get_xdata()) for line in figure.axes[0].lines] == [5, 21]


def test_without_scopes_the_kept_signals_are_drawn(pole):
    found = sb.compare(
        pole, cases={"a": {"until": 5.0}, "b": {}}, log=["inverse"], overrides=["run.T=1"]
    )
    assert [figure.get_label() for figure in found.plot()] == ["inverse"]
    assert found.notes == (NO_TRACK,)
    assert NO_TRACK in str(found)


def test_what_blocks_print_does_not_disturb(tmp_path):
    text = LAG.replace("  plane: {type: SCOPEXY}\n", "  plane: {type: PRINT}\n")
    text = text.replace("goal -> error.0, scope, plane", "goal -> error.0, scope")
    found = sb.compare(written(tmp_path / "prints.yaml", text), {"gain": "slow"}, T=0.01)
    assert list(found.results) == ["slow"]


def test_no_module_is_taken_from_the_current_folder(lag, tmp_path, monkeypatch):
    written(tmp_path / "json.py", "raise RuntimeError('somebody else')")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [place for place in sys.path if place])
    assert list(sb.compare(lag.name, {"gain": "slow"}, T=0.1).results) == ["slow"]


# --- what goes wrong -------------------------------------------------------------------------


def test_a_run_that_fails_leaves_the_others(pole):
    sets = {"good": {}, "bad": {"until": 1.0}}
    with pytest.raises(RunError, match=r"^case bad: ") as caught:
        sb.compare(pole, cases=sets)
    found = caught.value.results
    assert list(found.results) == ["good"]
    assert list(found.failures) == ["bad"]


def test_a_wrong_case_is_refused_before_anything_runs(lag, monkeypatch):
    monkeypatch.setattr(processes, "Worker", None)
    sets = {"good": {"goal.T": 0.5}, "bad": {"goal.TT": 3}, "worse": {"goll.T": 3}}
    with pytest.raises(DiagramError) as caught:
        sb.compare(lag, cases=sets)
    messages = [fault.message for fault in caught.value.faults]
    assert [message.split(":")[0] for message in messages] == ["case bad", "case worse"]
    with pytest.raises(InputError, match="gain has no choice 'fats'"):
        sb.compare(lag, {"gain": ["slow", "fats"]})
    with pytest.raises(InputError, match="there is no run option 'stiff'"):
        sb.compare(lag, stiff=True)
    with pytest.raises(InputError, match="jobs must be 1 or more"):
        sb.compare(lag, jobs=0)


def test_a_mistake_of_the_file_is_told_once_without_a_case(lag):
    lag.write_text(LAG.replace("-> gain\n", "-> gian\n"), encoding="utf-8")
    with pytest.raises(DiagramError) as caught:
        sb.compare(lag, cases={"a": {}, "b": {"goal.T": 2}})
    assert not any("case" in fault.message for fault in caught.value.faults)
    assert len(caught.value.faults) == len(set(caught.value.faults))


def test_a_file_without_variants_needs_cases(pole):
    with pytest.raises(InputError, match="nothing to compare: the file has no variants"):
        sb.compare(pole)


def test_a_reference_of_another_shape_is_refused(lag):
    text = LAG.replace("on: 2.0", "on: [2.0, 1.0]").replace("{x: goal}", "{goal: pair}")
    text = text.replace("  plane:", "  pair: {type: CONSTANT, value: [1, 2, 3]}\n  plane:")
    text = text.replace("INTEGRATOR}", "INTEGRATOR, x0: [0, 0]}")
    text = text.replace("  - error -> gain", "  - pair -> rest\n  - error -> gain")
    text = text.replace("nin: 2, labels: [goal, x], ", "nin: 2, ").replace(
        "  plane: {type: SCOPEXY}\n", "  rest: {type: 'NULL'}\n"
    ).replace(", plane", "")  # fmt: skip
    lag.write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=r"goal is \(2,\), pair is \(3,\)"):
        sb.compare(lag, {"gain": "slow"}, T=0.1)


def test_a_process_that_dies_is_an_error_with_its_last_words(lag, monkeypatch):
    monkeypatch.setattr(processes, "SERVED", "spart_blocks.no_such_worker")
    with pytest.raises(RunError, match="ended without an answer") as caught:
        sb.compare(lag, {"gain": "slow"})
    assert "no_such_worker" in str(caught.value)


def test_an_interrupt_ends_the_runs_and_keeps_what_has_ended(lag):
    """One at a time: once the second reports, the first has ended."""
    endless = {"run.max_step": 1e-3, "run.T": 1e6, "run.every": 1e3}
    main = threading.main_thread().ident

    def interrupt(t, end):
        if end == 1e6:
            signal.pthread_kill(main, signal.SIGINT)

    sets = {"short": {"run.T": 0.1}, "endless": endless, "waiting": {}}
    with pytest.raises(RunError, match=r"^case endless: interrupted\ncase waiting") as caught:
        sb.compare(lag, {"gain": "slow"}, sets, jobs=1, progress=interrupt)
    assert list(caught.value.results.results) == ["short"]


def test_only_files_are_compared(lag):
    with pytest.raises(InputError, match="takes the paths of diagram files"):
        sb.compare(sb.load(lag))


@pytest.fixture
def two(lag, tmp_path):
    """Two diagrams: the gain of the second is 5."""
    folder = tmp_path / "changed"
    folder.mkdir()
    text = lag.read_text()
    for path in (tmp_path / "fast.yaml", folder / lag.name):
        path.write_text(text.replace("default: slow", "default: fast"))
    return lag, tmp_path / "fast.yaml", folder / lag.name


def test_two_diagrams_are_compared_each_as_a_run_of_its_own(two):
    found = sb.compare(two[:2])
    assert list(found.results) == ["lag", "fast"]
    for path, results in zip(two, found.results.values(), strict=False):
        np.testing.assert_array_equal(results["x"], sb.simulate(path)["x"])
    errors = {row.case: row.metrics["rms_error"] for row in found.rows if row.signal == "x"}
    assert errors["lag"] > errors["fast"] > 0


def test_diagrams_of_one_name_are_told_apart_by_their_paths(two):
    files = two[0], two[2]
    cases = cases_of({"gain": "slow"}, {"long": {"run.T": 7}}, files)
    assert [case.label for case in cases] == [f"{file}, long" for file in files]
    assert [case.file for case in cases] == list(files)
    with pytest.raises(InputError, match="with another one"):
        sb.compare([two[0], two[0]])


def test_a_mistake_of_one_of_two_diagrams_is_told_with_its_file(two):
    two[1].write_text(two[1].read_text().replace("INTEGRATOR", "INTEGRATER"))
    with pytest.raises(InputError, match=r"fast\.yaml:\d+:\d+: .*INTEGRATER"):
        sb.compare(two[:2])


def test_a_warning_names_its_case_where_not_all_have_it(tmp_path):
    """A user's block that cannot be traced runs on the interpreter."""
    own = written(tmp_path / "mine_for_comparison.py", BRANCH)
    text = LAG.replace("fast: {type: GAIN, K: 5.0}", "fast: {type: BRANCH}")
    file = written(tmp_path / "lag.yaml", text)
    with pytest.warns(SpartWarning) as told:
        found = sb.compare(file, T=0.1, blocks=[own])
    assert [str(one.message).split(": ")[:2] for one in told] == [
        ["case fast", "running on the interpreter"]
    ]
    assert found.results["fast"].info["engine"] == "interpreter"
    with pytest.warns(SpartWarning, match="^running on the interpreter"):
        sb.compare(file, {"gain": "fast"}, T=0.1, blocks=own)


# --- cases -----------------------------------------------------------------------------------


def test_cases_are_called_after_what_tells_them_apart():
    assert [c.label for c in cases_of({"a": ["x", "y"]}, {})] == ["x", "y"]
    both = cases_of({"a": ["x", "y"], "b": ["u", "v"]}, {})
    assert [c.label for c in both] == ["a=x, b=u", "a=x, b=v", "a=y, b=u", "a=y, b=v"]
    assert both[1].variants == ("a=x", "b=v")
    named = cases_of({"a": ["x", "y"], "b": "u"}, {"soft": {"kp": 1}, "stiff": ["kp=2"]})
    assert [c.label for c in named] == ["x, soft", "x, stiff", "y, soft", "y, stiff"]
    assert named[3].overrides == ("kp=2",)
    assert [c.label for c in cases_of({"a": "x"}, {})] == ["x"]


@pytest.mark.parametrize(
    ("choices", "sets", "message"),
    [
        ({"a": []}, {}, "slot a is given no choices"),
        ({"a": ["x", "x"]}, {}, "'x' is given twice"),
        ({"a": list(map(str, range(MAX_CASES))), "b": ["u", "v"]}, {}, "128 cases, more than 64"),
    ],
)
def test_cases_that_make_no_sense_are_refused(choices, sets, message):
    with pytest.raises(InputError, match=message):
        cases_of(choices, sets)


def test_overrides_become_texts_that_yaml_reads_back():
    given = {"kp": np.array([1.0, 2.5]), "name": "true", "on": True, "q": {"a": (1, 2)}}
    assert as_texts(given) == ("kp=[1.0, 2.5]", 'name="true"', "on=true", 'q={"a": [1, 2]}')
    for bad in (math.nan, object()):
        with pytest.raises(InputError, match="has no place in a diagram file"):
            as_texts({"kp": bad})


# --- what is measured ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "track", "effort", "base"),
    [
        ("spacecraft_pd", {"plant.qm": "qd"}, ["ctrl.tau"], ["plant"]),
        ("spacecraft_controllers", {"plant.qm": "qd"}, ["controller.tau"], ["plant"]),
        ("arm_computed_torque", {"plant.qm": "sine"}, ["ctrl.tau"], []),
        (
            "dual_arm",
            {"plant.qm[0:3]": "left_target", "plant.qm[3:6]": "right_target"},
            ["torques"],
            ["plant"],
        ),
        ("spacecraft_sampled", {"plant.qm": "qd"}, ["hold"], ["plant"]),
        ("momentum_exchange", {}, ["torque"], ["plant"]),
    ],
)
def test_what_is_measured_is_found_from_the_wires(name, track, effort, base):
    found = measures_of(sb.load(DIAGRAMS / f"{name}.yaml"))
    assert dict(found.track) == track
    assert found.effort == tuple(effort)
    assert found.base == tuple(base)
    assert found.notes == (() if track else (NO_TRACK,))


def test_a_floating_base_and_slices_are_measured():
    found = compare_files(DIAGRAMS / "dual_arm.yaml", cases={"only": {}}, T=2)
    assert row(found, "only", "plant")["base_rotation"] > 1e-3
    names = [one.signal for one in found.rows if "rms_error" in one.metrics]
    assert names == [f"plant.qm[{k}]" for k in range(6)]


def test_the_section_is_checked_at_its_lines(tmp_path):
    text = LAG.replace("{x: goal}", "{y: goal, x: gaol}").replace("[gain]", "[gain, plant.u]")
    text = text.replace("  effort:", "  base: [x]\n  efort: [x]\n  effort:")
    file = written(tmp_path / "lag.yaml", text)
    with pytest.raises(DiagramError) as caught:
        sb.load(file)
    lines = text.splitlines()

    def place(line_with, what):
        number = next(k for k, line in enumerate(lines) if line_with in line)
        return number + 1, lines[number].index(what) + 1

    told = {(f.place.line, f.place.column): f.message for f in caught.value.faults}
    assert told[place("track:", "y:")] == "compare: track 'y': there is no block 'y'"
    assert told[place("track:", "gaol")] == "compare: track 'gaol': there is no block 'gaol'"
    assert told[place("  effort:", "plant.u")].startswith("compare: effort 'plant.u'")
    assert told[place("base:", "x]")].startswith("compare: base 'x.")
    assert told[place("efort", "efort")] == "unknown key 'efort' in compare"
