"""The summary of a sweep's table."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest

from spart_blocks.base.errors import InputError
from spart_blocks.measures.work import STATUSES
from spart_blocks.sweeps.statistics import mean, quantile, success, summarize
from spart_blocks.sweeps.storage.columns import Column, Columns

FAULTS, VARIANTS = ("none", "stuck"), ("pd", "lqr")
SCHEMA = (
    *(Column(name, "int") for name in ("run", "draw", "grid")),
    Column("variant", "name", VARIANTS),
    Column("fault", "name", FAULTS),
    Column("status", "name", STATUSES),
    Column("passed", "truth"),
    Column("miss", "float"),
)


def columns(draws=50, grid=1, claims=True):
    """Each tenth run under the fault fails, each other tenth misses its claims."""
    run = np.arange(draws * grid * 4)
    failed = (run % 2 == 1) & (run // 4 % 10 == 3)
    missed = (run % 2 == 1) & (run // 4 % 10 == 4)
    kept = {
        "run": run,
        "draw": run // (4 * grid),
        "grid": run // 4 % grid,
        "variant": (run // 2 % 2).astype(np.int32),
        "fault": (run % 2).astype(np.int32),
        "status": np.where(failed, STATUSES.index("failed"), 0).astype(np.int32),
        "passed": np.where(failed | missed, 0, 1).astype(np.int8)
        if claims
        else np.full_like(run, -1),
        "miss": np.where(failed, math.nan, np.random.default_rng(0).normal(size=len(run))),
    }
    return Columns(SCHEMA, kept.__getitem__)


def test_each_variant_and_fault_has_its_numbers():
    table = columns()
    got = summarize(table, ("miss",))
    assert got.runs == 200
    assert got.status == {"complete": 190, "failed": 10}
    assert got.judged
    assert [tuple(g.group.values()) for g in got.groups] == [
        (variant, fault) for variant in VARIANTS for fault in FAULTS
    ]
    group = got.groups[3]
    assert (group.runs, group.draws, group.successes) == (50, 50, 40)
    assert group.status == {"complete": 45, "failed": 5}
    assert group.success == success(40, 50)
    assert group.wilson == success(40, 50, method="wilson")
    metric = group.metrics[0]
    values = table["miss"][(table["variant"] == "lqr") & (table["fault"] == "stuck")]
    values = values[~np.isnan(values)]
    assert (metric.runs, metric.missing) == (45, 5)
    assert metric.mean == mean(values)
    assert metric.sd == pytest.approx(values.std(ddof=1))
    assert (metric.least, metric.most) == (values.min(), values.max())
    at = {int(run): value for run, value in zip(table["run"], table["miss"], strict=True)}
    assert (at[metric.least_run], at[metric.most_run]) == (metric.least, metric.most)
    assert f"{metric.most:.4g} (run {metric.most_run})" in str(got)
    assert metric.quantiles == tuple(quantile(values, share) for share in (0.05, 0.5, 0.95))


def test_columns_as_users_read_them_give_the_same():
    table = columns()
    shown = {name: table[name] for name in table}
    assert shown["passed"].dtype == object
    by = ("fault", "variant")
    one, other = (summarize(t, ("miss",), by=by).to_dict() for t in (table, shown))

    def by_group(plain):
        return sorted(plain["groups"], key=lambda g: (g["group"]["fault"], g["group"]["variant"]))

    assert by_group(one) == by_group(other)
    for passed in (shown["passed"].astype(bool), shown["passed"].astype(float)):
        assert summarize(shown | {"passed": passed}, ()).groups[1].successes == 40


def test_without_claims_a_success_is_a_run_without_an_error():
    for unknown in (None, math.nan):
        table = {name: columns()[name] for name in columns()}
        table["passed"] = np.full(200, unknown)
        got = summarize(table, ())
        assert not got.judged
        assert got.groups[1].successes == 45
        assert "success: the run was not ended by an error" in str(got)
    assert summarize(columns(claims=False), ()).groups[1].successes == 45


def test_runs_of_one_draw_count_together():
    got = summarize(columns(draws=25, grid=8), ("miss",))
    assert (got.groups[0].runs, got.groups[0].draws) == (200, 25)
    assert got.groups[0].success.low == success(25, 25).low
    assert "runs of one draw count together in intervals" in got.notes()
    by_point = summarize(columns(draws=25, grid=8), ("miss",), by=("grid", "fault"))
    assert len(by_point.groups) == 16
    assert by_point.groups[0].group == {"grid": 0, "fault": "none"}
    assert by_point.groups[0].runs == 50


def test_draws_of_one_base_point_count_together():
    got = summarize(columns(draws=50), ("miss",), together=5)
    assert (got.groups[0].runs, got.groups[0].draws) == (50, 10)
    assert got.groups[0].success.low == success(10, 10).low


def test_a_grid_without_draws_has_no_intervals():
    got = summarize(columns(draws=1, grid=30), ("miss",), by=("fault",))
    group = got.groups[0]
    assert group.success.estimate == 1
    assert math.isnan(group.success.low)
    assert math.isnan(group.metrics[0].mean.low)
    assert math.isnan(group.metrics[0].quantiles[1].low)
    assert "one draw: its runs are no random sample, so there are no intervals" in got.notes()


def test_a_summary_is_shown_as_text_html_and_json():
    got = summarize(columns(), ("miss",))
    lines = str(got).splitlines()
    assert lines[0] == "200 runs: 190 complete, 10 failed"
    assert lines[2].split()[:6] == ["variant", "fault", "runs", "complete", "failed", "success"]
    assert lines[6].startswith("lqr      stuck  50    45        5       40       0.8 (0.6628 to ")
    assert lines[8].split()[:4] == ["metric", "variant", "fault", "runs"]
    assert lines[-2:] == [
        "success: the run met its claims; intervals: 95 %",
        "metrics leave out runs without a value, 10 of the first metric",
    ]
    assert got._repr_html_().count("<table>") == 2
    plain = json.loads(json.dumps(got.to_dict(), allow_nan=False))
    assert plain["groups"][3]["success"]["estimate"] == 0.8
    assert plain["groups"][3]["group"] == {"variant": "lqr", "fault": "stuck"}


def test_a_column_that_is_the_same_for_all_is_not_shown():
    table = {name: columns()[name][::4] for name in columns()}
    got = summarize(table, ("miss",))
    outcomes, metrics = got.outcome_table(), got.metric_table()
    assert outcomes.head[0] == metrics.head[1] == "runs"
    assert len(outcomes.rows) == len(metrics.rows) == 1


def test_infinite_and_absent_values():
    table = {name: columns()[name] for name in columns()}
    table["settling"] = np.where(np.arange(200) % 8 < 4, math.inf, 2.0)
    table["never"] = np.full(200, math.nan)
    got = summarize(table, ("settling", "never"))
    settling, never = got.groups[0].metrics
    assert settling.mean.estimate == math.inf
    assert settling.most == math.inf
    assert settling.quantiles[0].estimate == 2.0
    assert never.runs == 0
    assert math.isnan(never.quantiles[0].estimate)
    json.dumps(got.to_dict(), allow_nan=False)
    assert "inf" in str(got)


def test_no_runs_at_all():
    table = {name: columns()[name][:0] for name in columns()}
    got = summarize(table, ("miss",))
    assert str(got) == "no runs"
    assert got.groups == ()


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ({"metrics": ("mis",)}, "no column 'mis'"),
        ({"metrics": (), "by": ("variants",)}, "no column 'variants'"),
        ({"metrics": (), "confidence": 2}, "confidence lies between 0 and 1"),
        ({"metrics": ("variant",)}, "variant is not a number of each run"),
    ],
)
def test_wrong_arguments_are_named(arguments, text):
    with pytest.raises(InputError, match=text):
        summarize(columns(), **arguments)


def test_too_many_groups_are_refused():
    with pytest.raises(InputError, match="1,200 groups of runs by run; at most 1,000"):
        summarize(columns(draws=300), (), by=("run",))
