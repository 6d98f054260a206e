"""`sb.sweep` as a whole: tables, histories, folders, replays, on small diagrams."""

from __future__ import annotations

import re

import numpy as np
import pytest

import spart_blocks as sb
from spart_blocks.base.errors import InputError, RunError, SpartWarning
from spart_blocks.sweeps import statistics
from spart_blocks.sweeps.plan.describing import planned_of
from spart_blocks.sweeps.plan.sweep_job import Planned
from spart_blocks.sweeps.run.batches import SweepRun
from spart_blocks.sweeps.storage.store import described

SPRING = """
name: spring
params: {x0: 1.0}
blocks:
  stiff: {type: GAIN, K: -4.0}
  damper: {type: GAIN, K: -0.5}
  sum: {type: SUM, signs: "++"}
  v: {type: INTEGRATOR}
  x: {type: INTEGRATOR, x0: $x0}
wires: [x -> stiff, v -> damper, stiff -> sum.0, damper -> sum.1, sum -> v, v -> x]
run: {T: 2, log: [x]}
sweep:
  runs: 6
  seed: 1
  over:
    stiff.K: [-4, -9]
    x0: {normal: {mean: 1, sd: 0.3}}
  metrics: {low: least(x), last: final(x)}
"""

# 1/(c - t) has no integral beyond t = c.
FAILING = """
name: failing
blocks:
  c: {type: CONSTANT, value: 3.0}
  time: {type: TIME}
  gap: {type: SUM, signs: "+-"}
  inverse: {type: POW, p: -1}
  int: {type: INTEGRATOR}
wires: [c -> gap.0, time -> gap.1, gap -> inverse, inverse -> int]
run: {T: 2}
sweep:
  over: {c.value: [1, 3, 4]}
  metrics: {last: final(int)}
"""


@pytest.fixture
def spring(diagram_file):
    return diagram_file(SPRING, "spring.yaml")


def test_a_row_for_each_run_equals_the_simulations(spring):
    found = sb.sweep(spring)
    assert len(found) == 12
    assert found.complete
    assert found.metrics == ("low", "last")
    assert found["draw"].tolist() == [0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5]
    assert found["stiff.K"].tolist() == [-4, -9] * 6
    assert found["status"].tolist() == ["complete"] * 12
    assert found["passed"].tolist() == [None] * 12
    for k in (0, 1, 11):
        values = {"stiff.K": found["stiff.K"][k], "x0": found["x0"][k]}
        alone = sb.simulate(spring, overrides=values)
        assert found["last"][k] == pytest.approx(alone["x"][-1], rel=1e-9)
        assert found["low"][k] == pytest.approx(alone["x"].min(), abs=1e-3)


def test_arguments_take_the_place_of_the_section(spring):
    metrics = {"last": "final(x)", "low": "2 * least(x)"}
    found = sb.sweep(spring, {"x0": [1, 2, 3]}, runs=1, metrics=metrics, T=1.0)
    assert len(found) == 3
    assert found.metrics == ("low", "last")
    assert found["t_end"].tolist() == [1.0] * 3
    assert np.diff(found["low"]) == pytest.approx([found["low"][0]] * 2, rel=1e-5)


def test_a_longer_sweep_begins_as_a_shorter_one(spring):
    short, long = sb.sweep(spring, runs=2), sb.sweep(spring, runs=4)
    for name in ("x0", "low", "last", "steps"):
        assert long[name][:4].tobytes() == short[name].tobytes()


def test_the_table_is_a_data_frame(spring):
    pytest.importorskip("pandas")
    frame = sb.sweep(spring).table()
    assert list(frame)[:6] == ["run", "draw", "grid", "variant", "fault", "stiff.K"]
    assert str(frame["status"].dtype) == "category"
    assert frame["passed"].isna().all()
    assert frame.groupby("stiff.K")["low"].count().tolist() == [6, 6]


def test_repr_and_statistics_are_short(spring):
    found = sb.sweep(spring)
    assert repr(found) == "<sweep spring: 12 runs (12 complete) metrics low, last>"
    assert "12 runs: 12 complete" in str(found.statistics())
    assert "<table>" in found._repr_html_()


@pytest.mark.parametrize(
    ("conditions", "equal", "expected"),
    [
        (["stiff.K == -9"], {}, [1, 3, 5, 7, 9, 11]),
        (["stiff.K = -9", "draw < 2"], {}, [1, 3]),
        ([lambda c: c["draw"] == 2], {}, [4, 5]),
        (["variant == default", "run >= 10"], {}, [10, 11]),
        ([], {"draw": 1}, [2, 3]),
        (["status != complete"], {}, []),
        (["passed == None"], {"grid": 0, "draw": 0}, [0]),
    ],
)
def test_runs_are_found_by_conditions(spring, conditions, equal, expected):
    assert sb.sweep(spring).runs_where(*conditions, **equal).tolist() == expected


@pytest.mark.parametrize(
    ("condition", "said"),
    [
        ("low", "no comparison of a column"),
        ("lo < 1", "did you mean 'low'"),
        ("low < much", "compared with a number"),
        ("variant < 3", "holds no numbers"),
        (np.ones(3, bool), "a truth value for each of the 12 runs"),
    ],
)
def test_a_wrong_condition_is_refused(spring, condition, said):
    with pytest.raises(InputError, match=re.escape(said)):
        sb.sweep(spring).runs_where(condition)


# --- runs that fail ----------------------------------------------------------------------


def test_runs_that_fail_are_counted_named_and_replayable(diagram_file):
    found = sb.sweep(diagram_file(FAILING))
    assert found.failed.tolist() == [0]
    assert found["status"].tolist() == ["failed", "complete", "complete"]
    assert "t = 1" in found["message"][0]
    assert np.isnan(found["last"][0])
    assert found["last"][1:] == pytest.approx([np.log(3), np.log(2)], rel=1e-3)
    partial = found.replay(0)
    assert not partial.complete
    assert partial.t[-1] == pytest.approx(1.0, abs=1e-3)


def test_a_run_that_cannot_begin_is_a_failed_one(diagram_file):
    text = FAILING.replace("over: {c.value: [1, 3, 4]}", "over: {gap.signs: ['+-', '+*', '++']}")
    found = sb.sweep(diagram_file(text))
    assert found["status"].tolist() == ["complete", "failed", "complete"]
    assert found["message"][1]
    assert found["gap.signs"].tolist() == ["+-", "+*", "++"]
    with pytest.raises(RunError, match="run 1 cannot begin"):
        found.replay(1)


# --- claims ------------------------------------------------------------------------------


def test_claims_decide_which_runs_pass(diagram_file):
    claims = "expect: {never_exceeds: [{signal: x, limit: 1.1}]}\n"
    found = sb.sweep(diagram_file(SPRING + claims))
    assert found["passed"].tolist() == (found["x0"] <= 1.1).tolist()
    assert found.failed.tolist() == []
    assert found.unsuccessful.tolist() == np.flatnonzero(found["x0"] > 1.1).tolist()
    assert found.counts() == {"complete": 12, "passed": int(np.sum(found["x0"] <= 1.1))}


# --- histories ---------------------------------------------------------------------------


@pytest.mark.parametrize(("keep", "kept"), [("all", range(12)), (3, [0, 1, 2]), ("none", [])])
def test_histories_are_kept_where_asked(spring, keep, kept):
    found = sb.sweep(spring, keep=keep, every=0.5)
    if not kept:
        with pytest.raises(InputError, match="has kept no histories"):
            found.histories()
        return
    data = found.histories()
    assert data["run"].values.tolist() == list(kept)
    assert data["time"].values.tolist() == [0, 0.5, 1.0, 1.5, 2.0]
    assert data["x"].values[:, -1] == pytest.approx(found["last"][list(kept)], rel=1e-12)
    assert data["x"].values[:, 0] == pytest.approx(found["x0"][list(kept)])
    assert set(data.data_vars) == {"x", "states.x", "states.v"}
    assert list(found.histories("x").data_vars) == ["x"]


def test_histories_of_failed_runs_end_where_they_end(diagram_file):
    text = FAILING.replace("run: {T: 2}", "run: {T: 2, log: [int]}")
    found = sb.sweep(diagram_file(text), keep="failed", every=0.25)
    data = found.histories("int")
    assert data["run"].values.tolist() == [0]
    known = np.isfinite(data["int"].values[0])
    assert data["time"].values[known].tolist()[:4] == [0, 0.25, 0.5, 0.75]
    assert not known[5:].any()


# --- folders -----------------------------------------------------------------------------


def test_results_come_back_from_their_folder(spring, tmp_path):
    found = sb.sweep(spring, out=tmp_path / "out", keep=2)
    again = sb.SweepResults.load(tmp_path / "out")
    assert len(again) == 12
    for name in found.columns:
        assert again[name].tolist() == found[name].tolist() or name in found.metrics
    assert again["low"].tobytes() == found["low"].tobytes()
    assert again.histories().equals(found.histories())
    assert again.folder == tmp_path / "out"


def test_results_in_memory_are_saved(spring, tmp_path):
    found = sb.sweep(spring)
    found.save(tmp_path / "out")
    again = sb.SweepResults.load(tmp_path / "out")
    assert again["low"].tobytes() == found["low"].tobytes()
    assert again.replay(3).complete


def test_a_sweep_is_resumed_after_an_interrupt(spring, tmp_path, monkeypatch):
    whole = sb.sweep(spring)
    do = SweepRun._do

    def interrupted(self, runs):
        do(self, runs[:5])
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(SweepRun, "_do", interrupted)
        first = sb.sweep(spring, out=tmp_path / "out")
    assert first.stopped == "interrupted"
    assert len(first) == 5
    second = sb.sweep(spring, out=tmp_path / "out", resume=True)
    assert second.stopped is None
    for name in ("low", "last", "x0", "steps"):
        assert second[name].tobytes() == whole[name].tobytes()


def test_the_folder_of_another_sweep_is_refused_with_what_differs(spring, tmp_path):
    sb.sweep(spring, out=tmp_path / "out")
    with pytest.raises(InputError, match=r"holds this sweep already[\s\S]*resume"):
        sb.sweep(spring, out=tmp_path / "out")
    with pytest.raises(InputError, match="seed: 1 there, 2 here"):
        sb.sweep(spring, out=tmp_path / "out", resume=True, seed=2)
    with pytest.raises(InputError, match=r"options\.T: nothing there, 1\.0 here"):
        sb.sweep(spring, out=tmp_path / "out", resume=True, T=1.0)
    with pytest.raises(InputError, match=r"metrics\.low"):
        sb.sweep(spring, out=tmp_path / "out", resume=True, metrics={"low": "most(x)"})
    spring.write_text(SPRING.replace("-0.5", "-0.6"))
    with pytest.raises(InputError, match=r"spring.yaml has changed since"):
        sb.sweep(spring, out=tmp_path / "out", resume=True)


def test_a_longer_sweep_continues_a_shorter_one(spring, tmp_path):
    sb.sweep(spring, out=tmp_path / "out")
    longer = sb.sweep(spring, out=tmp_path / "out", runs=9, resume=True)
    assert len(longer) == 18
    assert longer["low"].tobytes() == sb.sweep(spring, runs=9)["low"].tobytes()


# --- replays -----------------------------------------------------------------------------


def test_a_replay_has_the_stored_bits_and_all_of_a_run(spring, tmp_path, recwarn):
    sb.sweep(spring, out=tmp_path / "out")
    found = sb.SweepResults.load(tmp_path / "out")
    for run in (0, 7):
        results = found.replay(run)
        assert results["x"][-1] == pytest.approx(found["last"][run], rel=1e-12)
        assert results.info["sweep_run"] == run
        assert results.info["steps"] == found["steps"][run]
        assert results["stiff.0"].shape == results.t.shape  # also what was not kept
    assert not [w for w in recwarn if "stored" in str(w.message)]


def test_a_replay_that_differs_is_told(spring):
    found = sb.sweep(spring)
    found.store._columns[0]["low"][3] += 1e-15
    with pytest.warns(SpartWarning, match=r"run 3 is not as the sweep has stored it"):
        found.replay(3)


def test_a_run_that_was_not_done_has_no_replay(spring):
    with pytest.raises(InputError, match="has not done run 12"):
        sb.sweep(spring).replay(12)


def test_a_changed_diagram_is_not_replayed(spring, tmp_path):
    sb.sweep(spring, out=tmp_path / "out")
    spring.write_text(SPRING.replace("-0.5", "-0.6"))
    with pytest.raises(InputError, match="has changed since the sweep"):
        sb.SweepResults.load(tmp_path / "out").replay(0)


def test_the_plan_comes_back_from_a_folder(spring, tmp_path):
    sb.sweep(spring, {"x0": [1.0, 2.0]}, T=1.5, keep=1, out=tmp_path / "out")
    again = planned_of(described(tmp_path / "out"))
    asked = Planned.of(spring, {"over": {"x0": [1.0, 2.0]}, "keep": 1}, {"T": 1.5})
    assert again.section == asked.section
    assert again.plan.identity() == asked.plan.identity()


# --- what cannot be asked for ------------------------------------------------------------


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"until": 2}, "until is the width of an interval"),
        ({"until": 0.1, "runs": 1}, "until needs random draws"),
        ({"until": 0.1, "design": "sobol"}, "independent draws"),
        ({"resume": True}, "resume needs the folder"),
        ({"device": "gpu"}, "there is no device 'gpu'"),
        ({"workers": 0}, "workers is a number"),
        ({"workers": "two"}, "workers is a number of threads or processes, not 'two'"),
        ({"workers": 1.5}, "workers is a number of threads or processes, not 1.5"),
        ({"progress": 5}, "progress is a function of two numbers, not 5"),
        ({"metrics": ["least(x)"]}, "metrics are formulas or functions by name, not ['least(x)']"),
        ({"over": {"x": [1j]}}, "sweep.over.x: takes numbers, texts, lists and mappings, not 1j"),
        ({"over": {"x": []}}, "sweep.over.x: takes at least one value"),
        (
            {"over": {"x": {"choice": {"values": []}}}},
            "sweep.over.x.choice.values must not be empty",
        ),
        ({"keep": "some"}, "none, failed, all or a number"),
        ({"rtol": -1}, "rtol"),
        ({"metrics": {"low": "least(y)"}}, "'y'"),
        ({"over": {"x1": [1]}}, "x1"),
    ],
)
def test_wrong_input_is_refused(spring, asked, said):
    with pytest.raises(InputError, match=re.escape(said)):
        sb.sweep(spring, **asked)


def test_a_sweep_is_compared_with_a_sweep(spring):
    with pytest.raises(InputError, match="a sweep is compared with the results of another, not 5"):
        sb.sweep(spring).compare(5)


# --- diagrams in memory ------------------------------------------------------------------


def test_a_diagram_in_memory_and_a_program_are_swept(spring):
    over = {"stiff.K": [-4.0, -9.0]}
    metrics = {"last": "final(x)"}
    by_file = sb.sweep(spring, over, runs=1, metrics=metrics)
    diagram = sb.load(spring)
    for given in (diagram, sb.trace(diagram)):
        found = sb.sweep(given, over, metrics=metrics)
        assert found["last"].tobytes() == by_file["last"].tobytes()
        assert found.replay(1)["x"][-1] == pytest.approx(found["last"][1], rel=1e-12)


def test_a_metric_in_python(spring):
    found = sb.sweep(spring, metrics={"twice": lambda run: 2 * run["final(x)"]})
    assert found.metrics == ("low", "last", "twice")
    assert found["twice"] == pytest.approx(2 * found["last"], rel=1e-15)


def test_without_a_compiler_runs_go_one_by_one_with_a_line(spring, monkeypatch):
    by_lanes = sb.sweep(spring)
    monkeypatch.setattr("spart_blocks.sweeps.run.lane_setup.compiler_name", lambda: None)
    with pytest.warns(SpartWarning, match="runs go one by one, .*no C compiler"):
        found = sb.sweep(spring, workers=1)
    assert found["last"] == pytest.approx(by_lanes["last"], rel=1e-9)
    with pytest.raises(InputError, match="cannot go to cuda: there is no C compiler"):
        sb.sweep(spring, device="cuda")


# --- diagrams that cannot be traced ---------------------------------------------------------

BRANCHING = '''
from bdsim.components import FunctionBlock


class Branching(FunctionBlock):
    """Twice what is above a level."""

    nin = 1
    nout = 1

    def __init__(self, level=0.0, **blockargs):
        super().__init__(**blockargs)
        self.level = level

    def output(self, t, inputs, x):
        return [2 * inputs[0] if inputs[0] > self.level else inputs[0]]
'''
UNTRACED = """
clocks: {c: {T: 0.1}}
blocks:
  noise: {type: NOISE, clock: c, std: 0.1, seed: 5}
  bend: {type: BRANCHING, level: 0.05}
  plant: {type: INTEGRATOR, x0: 0}
wires: [noise -> bend, bend -> plant]
run: {T: 1, log: [plant]}
sweep: {over: {bend.level: [0, 0.05]}, runs: 2}
"""


def test_a_diagram_that_cannot_be_traced_runs_by_its_blocks(diagram_file):
    own = diagram_file(BRANCHING, "own.py")
    path = diagram_file(UNTRACED)
    with pytest.warns(SpartWarning, match="one by one.*the diagram cannot be traced"):
        found = sb.sweep(path, blocks=own, keep="all", every=0.5, workers=1)
    assert found["bend.level"].tolist() == [0, 0.05, 0, 0.05]
    assert found["status"].tolist() == ["complete"] * 4
    data = found.histories("plant")
    assert data["time"].values.tolist() == [0, 0.5, 1.0]
    assert np.isfinite(data["plant"].values).all()


@pytest.mark.filterwarnings("ignore:.*one by one")
def test_metrics_and_claims_of_a_diagram_that_cannot_be_traced(diagram_file, tmp_path):
    own = diagram_file(BRANCHING, "own.py")
    path = diagram_file(UNTRACED + "expect: {final: [{signal: plant, value: 0, within: 0.1}]}\n")
    metrics = {
        "last": "final(plant)",
        "size": "sqrt(integral(plant**2))",
        "steep": "most(bend) / bend.level if bend.level > 0 else 0",
        "both": lambda run: run["last"] + run["duration"],
    }
    found = sb.sweep(
        path, {"bend.level": [0, 0.05, 0.3]}, blocks=own, metrics=metrics, keep="all", every=0.01,
        workers=1, out=tmp_path / "out",
    )  # fmt: skip
    assert found.metrics == tuple(metrics)
    plant = found.histories("plant")["plant"].values
    np.testing.assert_allclose(found["last"], plant[:, -1], rtol=1e-12)
    size = np.sqrt(np.trapezoid(plant**2, dx=0.01, axis=1))
    np.testing.assert_allclose(found["size"], size, rtol=1e-3)
    np.testing.assert_array_equal(found["both"], found["last"] + 1)
    held = abs(plant[:, -1]) <= 0.1
    assert found["passed"].tolist() == held.tolist()
    assert found["missed"].tolist() == ["" if ok else "final plant" for ok in held]
    with pytest.raises(InputError, match="formula of signals is measured only where") as refused:
        sb.sweep(path, blocks=own, metrics={"worst": "most(abs(plant))"})
    assert "metric worst" in str(refused.value)
    with pytest.raises(InputError, match="there is no signal 'plan'"):
        sb.sweep(path, blocks=own, metrics={"last": "final(plan)"})


def test_draws_of_a_base_point_count_together_in_all_that_is_said(diagram_file, tmp_path):
    """Each base point of a saltelli design for one quantity has three draws."""
    text = SPRING.replace("sweep:", "expect:\n  final: [{signal: x, value: 0, within: 0.2}]\n"
                          "  success: {at_least: 0.99}\nsweep:\n  design: saltelli", 1)  # fmt: skip
    found = sb.sweep(diagram_file(text), runs=16, seed=3)
    assert found.together == 3
    told = found.statistics()
    assert told.groups[0].draws == 16
    assert told.groups[0].success == statistics.success_of(
        found.success(), draws=found["draw"] // found.together
    )
    assert "count together" in str(told)
    assert "saltelli design depend on each other" in str(told)
    page = found.report(tmp_path / "page.html").read_text()
    assert "were the draws independent" in page
    assert "depend on each other" in page
    assert "95 % confidence)" not in page


def test_pairs_of_variants_are_those_of_base_points(diagram_file):
    variants = """variants:
  loss:
    default: low
    choices: {low: {type: GAIN, K: -0.5}, high: {type: GAIN, K: -1}}
"""
    text = SPRING.replace("  damper: {type: GAIN, K: -0.5}\n", "").replace("damper", "loss")
    text = text.replace("params:", f"{variants}params:").replace("    stiff.K: [-4, -9]\n", "")
    found = sb.sweep(diagram_file(text), runs=8, design="saltelli", variants="all")
    told = found.compare_variants()
    want = statistics.compare_variants(found.columns, found.metrics, together=3)
    assert [d.difference for d in told.differences] == [d.difference for d in want.differences]
    assert [d.p for d in told.differences] == [d.p for d in want.differences]
    assert "the 3 draws of each base point count together" in str(told)
    assert "only a guide" in str(found.compare(found))


@pytest.mark.parametrize(("design", "grid", "band"), [
    ("random", False, True), ("random", True, False), ("sobol", False, False),
])  # fmt: skip
def test_a_band_is_drawn_for_independent_runs_alone(spring, design, grid, band):
    over = {"x0": {"normal": {"mean": 1, "sd": 0.3}}} | ({"stiff.K": [-4, -9]} if grid else {})
    found = sb.sweep(spring, over, runs=8, design=design)
    figure = found.plot_distribution("low")
    texts = [text.get_text() for axes in figure.axes for text in axes.texts]
    assert any("band" in text for text in texts) == band
    assert ("only a guide" in str(found.statistics())) == (design != "random")


def test_a_plain_grid_has_no_probability_in_its_report(spring, tmp_path):
    found = sb.sweep(spring, {"stiff.K": [-4, -9]}, runs=1)
    page = found.report(tmp_path / "page.html").read_text()
    assert "the probability lies" not in page
    assert "nan" not in page.split("What was run")[0]


CLAIMED = (
    SPRING
    + """
expect:
  final: [{signal: x, value: 0, within: 0.2}, {signal: x, value: 0, within: 0.5}]
  stays_within: [{signal: v, low: -2}]
  engines: {}
"""
)


def test_the_table_and_the_statistics_tell_which_claims_were_missed(diagram_file, tmp_path):
    found = sb.sweep(diagram_file(CLAIMED), runs=20, out=tmp_path / "out")
    lines = (found["stiff.K"] == -9) & (found["x0"] > 1)
    assert lines.any()
    for k in range(len(found)):
        missed = set(filter(None, found["missed"][k].split("; ")))
        last = abs(found["last"][k])
        assert ("final x" in missed) == (last > 0.2)
        assert ("final x (2)" in missed) == (last > 0.5)
        assert bool(missed) == (not found["passed"][k])
    counts = found.statistics().groups[0].missed
    assert counts["final x"] == sum("final x" in text.split("; ") for text in found["missed"])
    text = str(found.statistics())
    assert "claim not met" in text
    assert "stays_within v" in text
    assert "left out of expect: engines" in text
    page = found.report(tmp_path / "page.html").read_text()
    assert "claim not met" in page
    assert "left out of expect: engines" in page
    assert found["missed"][~found.success()][0] in page
    again = sb.SweepResults.load(tmp_path / "out")
    assert again["missed"].tolist() == found["missed"].tolist()
    assert again.statistics().groups[0].missed == counts


def test_a_sweep_without_claims_has_no_column_of_them(spring):
    assert "missed" not in sb.sweep(spring, runs=1).columns
