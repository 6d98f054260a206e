"""Pictures of sweeps show the runs' numbers, with units, also where runs failed or are few."""

from __future__ import annotations

import numpy as np
import pytest

from spart_blocks.base.errors import InputError
from spart_blocks.results.plots import render
from spart_blocks.sweeps.report.history_pictures import extreme_runs, fan, pick, quantiles
from spart_blocks.sweeps.report.picture_data import Quantity, Traces, outcomes
from spart_blocks.sweeps.report.pictures import distribution, heat_map, tornado
from spart_blocks.sweeps.report.scatter_picture import scatter
from spart_blocks.sweeps.statistics import SobolIndices

T = np.linspace(0.0, 4.0, 41)


def traces(n=50, **fields):
    rng = np.random.default_rng(1)
    values = rng.normal(size=(n, 1)) * np.exp(-T) + np.sin(T)
    given = {"times": T, "values": values, "runs": np.arange(n), "unit": "rad"} | fields
    return Traces("plant.qm[0]", **given)


def legend(axis):
    found = axis.get_legend()
    return [text.get_text().strip() for text in found.get_texts()] if found else []


def notes(axis):
    return [text.get_text() for text in axis.texts]


# Fan chart


def test_a_fan_chart_shows_median_and_bands_of_the_runs():
    shown = traces()
    figure = fan(shown)
    axis = figure.axes[0]
    assert legend(axis) == ["5 to 95 %", "25 to 75 %", "median of 50 runs"]
    assert axis.get_ylabel() == "plant.qm[0] [rad]"
    assert axis.get_xlabel() == "time [s]"
    [line] = axis.lines
    np.testing.assert_allclose(line.get_ydata(), np.median(shown.values, axis=0))
    outer = axis.collections[0].get_paths()[0].get_extents()
    low, high = np.quantile(shown.values, [0.05, 0.95], axis=0)
    assert (outer.y0, outer.y1) == pytest.approx((low.min(), high.max()))
    assert notes(axis) == []


def test_quantiles_leave_out_the_runs_that_have_ended():
    values = traces().values
    values[:20, 30:] = np.nan
    values[:, 40] = np.nan
    got = quantiles(values, (0.05, 0.5, 0.9))
    np.testing.assert_allclose(got[:, :30], np.quantile(values[:, :30], (0.05, 0.5, 0.9), axis=0))
    expected = np.quantile(values[20:, 30:40], (0.05, 0.5, 0.9), axis=0)
    np.testing.assert_allclose(got[:, 30:40], expected)
    assert np.isnan(got[:, 40]).all()


def test_runs_that_ended_are_counted_below_the_chart():
    shown = traces()
    shown.values[:3, 30:] = np.nan
    assert "3 of 50 runs ended earlier" in notes(fan(shown).axes[-1])[0]


@pytest.mark.parametrize(
    ("n", "lines", "texts"),
    [
        (1, 1, []),
        (4, 4, []),
        (19, 20, ["5 to 95 %", "25 to 75 %", "median of 19 runs"]),
        (21, 1, ["5 to 95 %", "25 to 75 %", "median of 21 runs"]),
    ],
)
def test_few_runs_are_drawn_one_by_one(n, lines, texts):
    axis = fan(traces(n)).axes[0]
    assert len(axis.lines) == lines
    assert legend(axis) == texts


def test_a_fan_chart_tells_variants_apart_by_colour_and_dashes():
    labels = np.array(["pd", "lqr"] * 25)
    axis = fan(traces(), labels).axes[0]
    assert legend(axis) == ["pd", "lqr", "5 to 95 %", "25 to 75 %"]
    first, second = axis.lines
    assert first.get_color() != second.get_color()
    assert first.get_linestyle() != second.get_linestyle()


def test_faults_have_a_column_each():
    labels, faults = np.array(["pd", "lqr"] * 25), np.array(["none", "stuck"])[np.arange(50) // 25]
    values = np.repeat(traces().values[:, :, None], 2, axis=2)
    figure = fan(traces(values=values), labels, faults)
    assert [axis.get_title(loc="left") for axis in figure.axes] == ["none", "stuck", "", ""]
    np.testing.assert_allclose(
        figure.axes[1].lines[0].get_ydata(), np.median(values[25:, :, 0][1::2], axis=0)
    )
    figure = distribution(Quantity("m", np.arange(50.0)), labels, apart=faults)
    counts = [axis.patches[0].get_data().values.sum() for axis in figure.axes[:2]]
    assert counts == [13, 12]
    with pytest.raises(InputError, match="10 groups beside each other; at most 6"):
        fan(traces(), None, np.arange(50) // 5)


def test_a_vector_has_a_panel_for_each_element():
    values = np.repeat(traces().values[:, :, None], 3, axis=2)
    figure = fan(traces(values=values, elements=("q[1]", "q[2]", "q[3]")))
    assert [axis.get_ylabel() for axis in figure.axes] == ["q[1] [rad]", "q[2] [rad]", "q[3] [rad]"]


@pytest.mark.parametrize("n", [0, 3])
def test_without_kept_histories_the_error_says_how_to_keep_them(n):
    with pytest.raises(InputError, match=r"no histories of .* were kept\n.*keep='all'"):
        fan(traces(n, values=np.full((n, len(T)), np.nan)))


def test_too_many_elements_are_refused():
    with pytest.raises(InputError, match="has 36 elements; at most 12 can be shown"):
        fan(traces(values=np.zeros((50, len(T), 6, 6))))


# Worst, median and best runs


def test_the_extreme_runs_are_named_with_their_values():
    metric = Quantity("miss", np.linspace(2.0, 3.0, 50), "m")
    axis = extreme_runs(traces(runs=np.arange(100, 150)), metric).axes[0]
    texts = ["worst: run 149 (3 m)", "median: run 125 (2.51 m)", "best: run 100 (2 m)"]
    assert legend(axis) == texts
    np.testing.assert_array_equal(axis.lines[0].get_ydata(), traces().values[49])


def test_picked_runs_have_a_value_and_are_picked_once():
    metric = Quantity("miss", np.array([np.nan, 3.0, np.inf, 1.0, 2.0]))
    assert pick(metric) == {"worst": 1, "median": 4, "best": 3}
    assert pick(metric, "smallest") == {"worst": 3, "median": 4, "best": 1}
    assert pick(Quantity("miss", np.array([np.nan, 3.0]))) == {"worst": 1}
    with pytest.raises(InputError, match="none of the 2 runs has one"):
        pick(Quantity("miss", np.full(2, np.nan)))
    with pytest.raises(InputError, match="worst is 'largest' or 'smallest'"):
        pick(metric, "biggest")


# Distribution


def test_a_distribution_counts_every_run_once_and_says_which_have_none():
    rng = np.random.default_rng(2)
    values = rng.normal(size=1000)
    values[:7] = np.nan
    above, below = distribution(Quantity("effort", values, "N m s")).axes
    assert above.patches[0].get_data().values.sum() == 993
    assert below.get_xlabel() == "effort [N m s]"
    [line] = below.lines
    np.testing.assert_array_equal(line.get_xdata()[1:], np.sort(values)[:993])
    assert line.get_ydata()[-1] == 1.0
    assert "7 of 1,000 runs have no value" in notes(below)[0]
    assert "band: 95 % confidence" in notes(below)[0]


def test_the_band_about_the_distribution_has_the_stated_half_width():
    below = distribution(Quantity("m", np.arange(200.0))).axes[1]
    corners = below.collections[0].get_paths()[0].vertices
    half = np.sqrt(np.log(2 / 0.05) / 400)
    at_middle = corners[np.isclose(corners[:, 0], 99.0)]
    assert at_middle[:, 1].min() >= 0.49 - half
    assert at_middle[:, 1].max() == pytest.approx(0.5 + half, abs=0.006)
    assert not distribution(Quantity("m", np.arange(200.0)), confidence=None).axes[1].collections


@pytest.mark.parametrize("values", [[3.0], [0.0, 0.0], [1e-300, 2e-300], [1e6, 1e6 + 1e-7], [0, 9]])
def test_few_and_equal_values_have_a_distribution(values):
    figure = distribution(Quantity("m", np.array(values, dtype=float)))
    assert figure.axes[0].patches[0].get_data().values.sum() == len(values)
    assert render(figure, "svg")


def test_values_over_decades_have_a_logarithmic_axis():
    figure = distribution(Quantity("m", np.logspace(-6, 2, 500)))
    assert figure.axes[0].get_xscale() == "log"
    assert figure.axes[0].patches[0].get_data().values.sum() == 500
    assert distribution(Quantity("m", np.linspace(-1, 1e9, 500))).axes[0].get_xscale() == "linear"


def test_variants_share_the_bars_of_a_distribution():
    labels = np.array(["pd"] * 30 + ["lqr"] * 20)
    above, _ = distribution(Quantity("m", np.arange(50.0)), labels).axes
    assert legend(above) == ["pd", "lqr"]
    edges = [patch.get_data().edges for patch in above.patches]
    np.testing.assert_array_equal(edges[0], edges[2])


@pytest.mark.parametrize("values", [[], [np.nan, np.nan]])
def test_without_a_value_there_is_no_distribution(values):
    with pytest.raises(InputError, match="nothing to show of miss"):
        distribution(Quantity("miss", np.array(values)))


# Heat map


def grid(xs, ys, draws=1):
    x, y = (np.repeat(one.ravel(), draws) for one in np.meshgrid(xs, ys))
    return Quantity("kp", x, "N m/rad"), Quantity("kd", y)


def test_a_heat_map_shows_means_at_unevenly_spaced_values():
    x, y = grid([1.0, 2.0, 5.0, 6.0], [0.0, 10.0, 11.0], draws=2)
    value = Quantity("miss", x.values + 100 * y.values + np.tile([-1.0, 1.0], 12), "m")
    figure = heat_map(value, x, y)
    axis, bar = figure.axes
    mesh = axis.collections[0]
    np.testing.assert_allclose(mesh.get_array()[1], [1001, 1002, 1005, 1006])
    corners = mesh.get_coordinates()
    np.testing.assert_allclose(corners[0, :, 0], [0.5, 1.5, 3.5, 5.5, 6.5])
    np.testing.assert_allclose(corners[:, 0, 1], [-5, 5, 10.5, 11.5])
    assert axis.get_xlabel() == "kp [N m/rad]"
    assert bar.get_ylabel() == "mean of miss [m]"
    assert notes(axis)[-1] == "up to 2 runs in a cell"


def test_a_grid_over_decades_is_logarithmic():
    x, y = grid([1.0, 10.0, 100.0], [1.0, 2.0, 3.0])
    axis = heat_map(Quantity("m", x.values), x, y).axes[0]
    assert (axis.get_xscale(), axis.get_yscale()) == ("log", "linear")


def test_a_cell_without_a_value_is_hatched_and_runs_without_one_are_left_out():
    x, y = grid([1.0, 2.0], [1.0, 2.0], draws=2)
    value = Quantity("miss", np.array([np.nan, np.nan, np.nan, 3.0, 1.0, 2.0, 3.0, 4.0]))
    axis = heat_map(value, x, y).axes[0]
    mask = axis.collections[0].get_array().mask
    np.testing.assert_array_equal(mask, [[True, False], [False, False]])
    assert sum(patch.get_hatch() is not None for patch in axis.patches) == 1
    assert "3 of 8 runs have no value" in notes(axis)[-1]


def test_verdicts_are_shown_as_a_success_rate():
    x, y = grid([1.0, 2.0], [5.0], draws=2)
    figure = heat_map(Quantity("passed", np.array([True, False, True, None], dtype=object)), x, y)
    assert figure.axes[1].get_ylabel() == "success rate"
    assert figure.axes[0].collections[0].get_clim() == (0.0, 1.0)
    assert notes(figure.axes[0])[:2] == ["50 %", "100 %"]


def test_names_of_variants_are_an_axis_of_a_heat_map():
    x, _ = grid([1.0, 2.0], [1.0, 2.0])
    y = Quantity("controller", np.array(["pd", "pd", "lqr", "lqr"]))
    axis = heat_map(Quantity("m", np.arange(4.0)), x, y).axes[0]
    assert [tick.get_text() for tick in axis.get_yticklabels()] == ["pd", "lqr"]


def test_values_drawn_at_random_are_no_grid():
    x, y = Quantity("kp", np.random.default_rng(0).normal(size=100)), Quantity("kd", np.ones(100))
    with pytest.raises(InputError, match=r"kp has 100 values, so its runs form no grid\n.*scatter"):
        heat_map(Quantity("m", np.ones(100)), x, y)


# Sobol indices


def indices(first, total, below=0.05, above=0.1):
    first, total = np.array(first), np.array(total)
    ends = [np.stack([one - below, one + above], axis=1) for one in (first, total)]
    names = ("kp", "kd", "mass")[: len(first)]
    return SobolIndices(names, first, ends[0], total, ends[1], 0.95, 64, 0)


def test_indices_are_sorted_by_their_total_with_intervals():
    axis = tornado("miss", indices([0.1, 0.5, 0.0], [0.3, 0.6, 0.02])).axes[0]
    assert [tick.get_text() for tick in axis.get_yticklabels()] == ["kd", "kp", "mass"]
    assert [bar.get_width() for bar in axis.patches] == [0.6, 0.3, 0.02, 0.5, 0.1, 0.0]
    total, first = [c.get_segments() for c in axis.collections]
    np.testing.assert_allclose(total[0][:, 0], [0.55, 0.7])
    np.testing.assert_allclose(first[1][:, 0], [0.05, 0.2])
    assert axis.yaxis_inverted()


def test_without_indices_there_is_no_tornado():
    with pytest.raises(InputError, match="miss has no Sobol indices"):
        tornado("miss", indices([np.nan], [np.nan]))


# Scatter matrix


def test_a_scatter_matrix_marks_the_runs_that_failed():
    outcome = outcomes(
        np.array(["complete", "stopped", "failed", "complete"]),
        np.array([True, False, None, None], dtype=object),
    )
    assert outcome.tolist() == ["passed", "claims not met", "failed", "complete"]
    kp = Quantity("kp", np.array([1.0, 2.0, 3.0, 4.0]))
    miss = Quantity("miss", np.array([0.1, 0.2, np.nan, 0.4]), "m")
    figure = scatter([kp, miss], outcome)
    panel = figure.axes[1]
    points = [line.get_xdata() for line in panel.lines if len(line.get_xdata())]
    assert sorted(np.concatenate(points)) == [1, 2, 3, 4]  # the failed run is at the edge
    [edge] = [line for line in panel.lines if 3.0 in line.get_xdata()]
    assert edge.get_marker() == "x"
    [box] = figure.legends
    texts = [text.get_text() for text in box.get_texts()]
    assert texts == ["passed: 1 run", "complete: 1 run", "claims not met: 1 run", "failed: 1 run"]
    assert panel.get_ylabel() == "miss [m]"


def test_a_scatter_matrix_of_many_runs_is_thinned_but_keeps_each_failure():
    n = 20_000
    outcome = np.full(n, "passed", dtype=object)
    outcome[::1000] = "claims not met"
    columns = [
        Quantity("a", np.arange(n) / n),
        Quantity("variant", np.array(["pd", "lqr"] * (n // 2))),
    ]
    figure = scatter(columns, outcome)
    lines = [line for line in figure.axes[1].lines if len(line.get_xdata())]
    assert [len(line.get_xdata()) for line in lines] == [5000, 20]
    assert "5,020 of 20,000 shown" in figure.legends[0].get_texts()[-1].get_text()
    assert len(render(figure, "svg")) < 400_000


def test_a_scatter_matrix_has_bounds():
    with pytest.raises(InputError, match="at least one"):
        scatter([])
    with pytest.raises(InputError, match=r"9 columns; .* at most 8"):
        scatter([Quantity(str(k), np.ones(2)) for k in range(9)])
    with pytest.raises(InputError, match="no runs"):
        scatter([Quantity("a", np.ones(0))])
    assert render(scatter([Quantity("a", np.ones(1)), Quantity("b", np.full(1, np.nan))]), "png")


def test_dollars_in_names_are_shown_as_they_are():
    column = Quantity("a$b$", np.arange(10.0))
    assert b"a$b$" in render(distribution(column), "svg")


def test_a_column_of_texts_is_no_metric():
    with pytest.raises(InputError, match="variant is not a number of each run"):
        distribution(Quantity("variant", np.array(["pd", "lqr"])))
