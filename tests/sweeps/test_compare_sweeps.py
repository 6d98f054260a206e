"""Two sweeps side by side: pairs where draws are the same, means where they are not."""

from __future__ import annotations

import csv

import numpy as np
import pytest
from scipy.stats import ttest_ind, ttest_rel
from sweep_tables import sweep_of

from spart_blocks.base.errors import InputError
from spart_blocks.sweeps.report.compare_sweeps import compare_studies
from spart_blocks.sweeps.storage.histories import Histories


def study(
    draws=50,
    gain=1.0,
    seed=7,
    variants=("pd",),
    faults=("none",),
    grid=(0.0,),
    rows=slice(None),
    change=lambda columns: None,
    **fields,
):
    """A sweep: miss = gain * mass + noise of the draw + the grid value; passed if below 10.5."""
    rng = np.random.default_rng(seed)
    mass, noise = rng.normal(10, 1, draws), rng.normal(0, 0.01, draws)
    counts = (draws, len(grid), len(variants), len(faults))
    draw, point, variant, fault = (one.ravel() for one in np.indices(counts))
    miss = gain * mass[draw] + noise[draw] * gain + np.array(grid)[point] + variant + 2 * fault
    n = len(draw)
    columns = {
        "run": np.arange(n),
        "draw": draw,
        "grid": point,
        "variant": np.array(variants, dtype=object)[variant],
        "fault": np.array(faults, dtype=object)[fault],
        "mass": mass[draw],
        "kp": np.array(grid)[point],
        "status": np.full(n, "complete", dtype=object),
        "message": np.full(n, "", dtype=object),
        "passed": (miss < 10.5).astype(object),
        "t_end": np.full(n, 1.0),
        "miss": miss,
    }
    given = {"varied": ("mass", "kp"), "metrics": ("miss",), "units": {"miss": "m"}, "seed": seed}
    change(columns)
    return sweep_of("arm", {k: v[rows] for k, v in columns.items()}, **(given | fields))


def row(found, what="miss", group="all"):
    [one] = [row for row in found.rows if (row.what, row.group) == (what, group)]
    return one


def test_the_same_draws_are_compared_pair_by_pair():
    a, b = study(), study(gain=1.02)
    found = compare_studies(a, b)
    assert found.paired
    one = row(found)
    test = ttest_rel(a.columns["miss"], b.columns["miss"])
    low, high = test.confidence_interval(0.95)
    got = (one.difference.estimate, one.difference.low, one.difference.high, one.pairs)
    mean = np.mean(a.columns["miss"] - b.columns["miss"])
    assert got == pytest.approx((mean, low, high, 50))
    assert one.p < 1e-6
    assert row(found, "success").pairs == 50


def test_other_draws_are_compared_by_their_means():
    a, b = study(400), study(400, seed=8)
    found = compare_studies(a, b)
    assert found.unlike == "seed 7 and 8"
    one = row(found)
    exact = ttest_ind(a.columns["miss"], b.columns["miss"], equal_var=False)
    low, high = exact.confidence_interval(0.95)
    assert (one.difference.low, one.difference.high) == pytest.approx((low, high), rel=0.02)
    assert one.pairs == 0
    # Newcombe's interval of two shares, from Wilson's.
    success = row(found, "success")
    assert success.difference.low < success.difference.estimate < success.difference.high
    assert np.isnan(success.p)


def test_equal_seeds_with_other_distributions_are_no_pairs():
    def change(columns):
        columns["mass"][3] += 0.1

    a, b = study(), study(change=change)
    assert compare_studies(a, b).unlike == "mass has other values in the same draws"
    c = study(design="sobol")
    assert compare_studies(a, c).unlike == "design random and sobol"


def test_a_longer_sweep_is_compared_in_the_draws_that_both_have():
    one = row(compare_studies(study(50), study(50, rows=slice(30))))
    assert one.pairs == 30
    assert one.difference.estimate == 0


def test_variants_and_faults_of_the_same_name_are_compared():
    a = study(variants=("pd", "lqr"), faults=("none", "stuck"))
    b = study(variants=("pd", "mpc"), faults=("none", "stuck"), gain=1.1)
    found = compare_studies(a, b, ("before", "after"))
    assert {row.group for row in found.rows} == {"none", "stuck"}
    assert "variant lqr is only in before, and left out" in found.notes()
    assert row(found, group="stuck").pairs == 50


def test_without_a_common_variant_all_runs_of_a_draw_are_compared():
    found = compare_studies(study(variants=("pd",)), study(variants=("lqr",)))
    assert row(found).pairs == 50
    assert (
        "variant: pd and lqr have no name in common; all runs of each are compared" in found.notes()
    )


def test_points_of_the_same_grid_are_pairs_and_of_other_grids_are_not():
    same = compare_studies(study(grid=(1.0, 2.0)), study(grid=(1.0, 2.0), gain=1.1))
    assert row(same).pairs == 100
    other = compare_studies(study(grid=(1.0, 2.0)), study(grid=(1.0, 3.0, 4.0)))
    assert row(other).pairs == 50
    assert "the grids differ; means over the grid are compared" in other.notes()


def test_a_run_without_a_value_leaves_its_pair_out():
    def change(columns):
        columns["miss"][:3] = np.nan

    a, b = study(change=change), study(gain=1.1)
    assert row(compare_studies(a, b)).pairs == 47


def test_metrics_of_one_sweep_only_are_left_out():
    a, b = study(), study(metrics=())
    assert {one.what for one in compare_studies(a, b).rows} == {"success"}


def test_the_table_reads_and_is_saved(tmp_path):
    found = compare_studies(study(), study(gain=1.02), ("old", "new"))
    lines = str(found).splitlines()
    assert lines[0].split() == ["runs", "old", "new", "difference", "pairs", "p"]
    assert lines[2].startswith("miss [m]")
    assert "difference: old minus new, pair by pair, on the same draws" in lines
    assert "<table>" in found._repr_html_()
    path = found.save(tmp_path / "table.csv")
    with path.open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["what"] for row in rows] == ["success", "miss"]
    assert float(rows[1]["difference"]) == row(found).difference.estimate
    with pytest.raises(InputError, match=r"end it in \.csv"):
        found.save(tmp_path / "table.txt")


def test_figures_show_both_sweeps(tmp_path):
    t = np.linspace(0, 1, 5)
    kept = Histories(np.arange(30), t, {"q": np.random.default_rng(0).normal(size=(30, 5))})
    a, b = (study(variants=("pd", "lqr"), histories=kept, gain=gain) for gain in (1.0, 1.1))
    metric, fan = compare_studies(a, b, ("old", "new")).plot(show=False)
    names = [text.get_text() for text in metric.axes[0].get_legend().get_texts()]
    assert names == ["old: pd", "old: lqr", "new: pd", "new: lqr"]
    names = [text.get_text() for text in fan.axes[0].get_legend().get_texts()]
    assert names == ["old", "new", "5 to 95 %", "25 to 75 %"]
    paths = compare_studies(a, b).save_plots(tmp_path)
    assert [path.name for path in paths] == ["miss.png", "q.png"]


def test_a_sweep_without_runs_is_not_compared():
    with pytest.raises(InputError, match="the sweep second has no runs"):
        compare_studies(study(), study(0))
