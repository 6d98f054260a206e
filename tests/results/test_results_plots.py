"""Plots show the lines they should, named, with units, without pyplot."""

from __future__ import annotations

import dataclasses
import subprocess
import sys
from io import BytesIO

import matplotlib
import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.colors import to_hex
from matplotlib.layout_engine import ConstrainedLayoutEngine

import spart_blocks as sb
from spart_blocks.base.errors import InputError
from spart_blocks.results import FinalState, Results, ScopeSpec, show_windows
from spart_blocks.results.plots import COLOURS, render


def with_scope(run: Results, **fields) -> Results:
    return dataclasses.replace(run, scopes=(ScopeSpec("s", **fields),))


def legend(axis) -> list[str]:
    found = axis.get_legend()
    return [text.get_text().strip() for text in found.get_texts()] if found else []


def test_each_scope_is_a_figure_with_its_lines_labels_and_title(run):
    joints, path, both = run.plot()
    axis = joints.axes[0]
    assert axis.get_title(loc="left") == "Joints"
    assert legend(axis) == ["q1", "q2", "q3"]
    assert axis.get_xlabel() == "time [s]"
    assert axis.get_ylabel() == "plant.qm [rad]"
    for i, line in enumerate(axis.lines):
        np.testing.assert_array_equal(line.get_xdata(), run.t)
        np.testing.assert_array_equal(line.get_ydata(), run["plant.qm"][:, i])

    [line] = path.axes[0].lines
    np.testing.assert_array_equal(line.get_xdata(), run["plant.qm[0]"])
    np.testing.assert_array_equal(line.get_ydata(), run["plant.qm[1]"])
    assert (line.get_color(), line.get_linestyle()) == ("r", "--")
    assert path.axes[0].get_xlabel() == "plant.qm[0] [rad]"
    assert path.axes[0].get_aspect() == 1.0

    assert legend(both.axes[0]) == [
        "clock.k", "plant.qm[0] [rad]", "plant.qm[1] [rad]", "plant.qm[2] [rad]"
    ]  # fmt: skip
    assert [line.get_linewidth() for line in both.axes[0].lines] == [3.0, 1.6, 1.6, 1.6]


def test_named_signals_share_a_figure_a_panel_each(run):
    [figure] = run.plot("plant.qm[1:]", "clock.k", "states.plant")
    assert [len(axis.lines) for axis in figure.axes] == [2, 1, 6]
    assert legend(figure.axes[0]) == ["plant.qm[1]", "plant.qm[2]"]
    assert figure.axes[0].get_ylabel() == "[rad]"
    assert figure.axes[1].get_ylabel() == "clock.k"
    assert [axis.get_xlabel() for axis in figure.axes] == ["", "", "time [s]"]


def test_without_scopes_the_kept_signals_or_the_states_are_shown(run):
    [signals] = dataclasses.replace(run, scopes=()).plot()
    assert len(signals.axes) == len(run)
    [states] = dataclasses.replace(run, scopes=(), signals={}).plot()
    assert [len(axis.lines) for axis in states.axes] == [6]


def test_labels_and_styles_go_to_lines_or_to_ports(run):
    [figure] = with_scope(
        run, signals=("plant.qm", "ctrl.tau"), labels=("q", "tau"), styles=("k", {"c": "red"})
    ).plot()
    axis = figure.axes[0]
    assert legend(axis)[:4] == ["q[0] [rad]", "q[1] [rad]", "q[2] [rad]", "tau[0] [N m]"]
    assert [to_hex(line.get_color()) for line in axis.lines] == ["#000000"] * 3 + ["#ff0000"] * 3


def test_a_signal_is_drawn_in_stairs_if_it_changes_at_ticks_only(tmp_path):
    path = tmp_path / "stairs.yaml"
    path.write_text("""
clocks: {c: {T: 0.1}}
blocks:
  t: {type: TIME}
  k: {type: ZOH, clock: c}
  twice: {type: GAIN, K: 2}
  later: {type: FCN, expression: "u + t"}
  past: {type: TRANSPORT_DELAY, clock: c, delay: 0.1}
  show: {type: SCOPE, nin: 4}
wires: [t -> k, t -> past, k -> twice, k -> later, k -> show.0, twice -> show.1, later -> show.2,
  past -> show.3]
run: {T: 1}
""")
    [figure] = sb.simulate(path).plot()
    drawn = [line.get_drawstyle() for line in figure.axes[0].lines]
    assert drawn == ["steps-post", "steps-post", "default", "default"]


def test_scale_stairs_and_vector_are_honoured(run):
    [figure] = with_scope(
        run, signals=("plant.qm",), vector=(2,), stairs=True, scale=(-2.0, 3.0)
    ).plot()
    [line] = figure.axes[0].lines
    np.testing.assert_array_equal(line.get_ydata(), run["plant.qm[2]"])
    assert line.get_drawstyle() == "steps-post"
    assert figure.axes[0].get_ylim() == (-2.0, 3.0)
    [figure] = with_scope(
        run, kind="xy", signals=("clock.k", "ctrl[0]"), scale=(0.0, 1.0, 2.0, 3.0), xlabel="here"
    ).plot()
    assert (figure.axes[0].get_xlim(), figure.axes[0].get_ylim()) == ((0.0, 1.0), (2.0, 3.0))
    assert figure.axes[0].get_xlabel() == "here"
    assert figure.axes[0].get_aspect() == "auto"


def test_a_style_string_without_colour_keeps_the_cycle(run):
    [figure] = with_scope(run, signals=("plant.qm",), styles=("--", "-.", ":")).plot()
    lines = figure.axes[0].lines
    assert [line.get_linestyle() for line in lines] == ["--", "-.", ":"]
    assert [line.get_color() for line in lines] == list(COLOURS[:3])


def test_lines_beyond_the_colours_differ_in_dashes_and_the_legend_leaves_the_data(run):
    wide = dataclasses.replace(run, signals={"h.q": np.random.default_rng(1).normal(size=(21, 44))})
    figure = dataclasses.replace(wide, scopes=()).plot()[0]
    axis = figure.axes[0]
    looks = {(line.get_color(), str(line._dash_pattern)) for line in axis.lines}
    assert len(looks) == min(44, 35)
    render(figure, "png")
    box = axis.get_legend().get_window_extent()
    assert box.x0 >= axis.get_window_extent().x1
    assert box.x1 <= figure.bbox.x1
    assert box.y0 >= 0


@pytest.mark.parametrize("fmt", ["png", "svg", "pdf"])
def test_plots_are_saved_one_file_a_scope(run, tmp_path, fmt):
    scopes = [dataclasses.replace(run.scopes[0], name=name) for name in ("a/b", "a b", "A_b", "é")]
    run = dataclasses.replace(run, scopes=tuple(scopes))
    paths = run.save_plots(tmp_path / "new" / "plots", fmt)
    assert [path.name for path in paths] == [f"{n}.{fmt}" for n in ("a_b", "a_b_2", "A_b_3", "é")]
    assert all(path.stat().st_size > 1000 for path in paths)


def test_the_same_figure_gives_the_same_file(run):
    assert render(run.plot()[0], "svg") == render(run.plot()[0], "svg")


def test_names_are_shown_as_they_are(run):
    odd = {"_p.$x": run.t, "p.y$": run.t, "図.角": run.t}
    [figure] = dataclasses.replace(
        run, signals=odd, scopes=(ScopeSpec("$cost", signals=tuple(odd)),)
    ).plot()
    assert len(legend(figure.axes[0])) == 3
    svg = render(figure, "svg").decode()
    for name in (*odd, "$cost"):
        assert name in svg


def test_a_run_that_stopped_says_so_in_its_plots(run):
    stopped = dataclasses.replace(run, complete=False, stopped="Ctrl-C")
    svg = render(stopped.plot()[0], "svg").decode()
    assert "stopped at 2 s: Ctrl-C" in svg


@pytest.mark.parametrize(
    ("act", "text"),
    [
        (lambda r, d: r.save_plots(d, "bmp"), "choose one of png, svg, pdf"),
        (lambda r, d: r.save_plots(d / "file" / "x"), "cannot make the folder"),
        (lambda r, d: r.plot("plant.qn"), "did you mean 'plant.qm'"),
        (
            lambda r, d: with_scope(r, signals=("plant.qm",), styles=("quack",) * 3).plot(),
            r"plant.qm\[0\]: bad line style 'quack'",
        ),
        (
            lambda r, d: with_scope(r, signals=("plant.qm",), styles=({"quack": 1},) * 3).plot(),
            "bad line style",
        ),
        (
            lambda r, d: with_scope(r, signals=("plant.qm",), vector=(3,)).plot(),
            "scope s shows element 3 of plant.qm, which has 3",
        ),
        (
            lambda r, d: with_scope(r, kind="xy", signals=("clock.k", "plant.qm")).plot(),
            "x and y are scalars",
        ),
        (
            lambda r, d: dataclasses.replace(r, signals={"a.z": r.t * 1j}).plot("a.z"),
            "a.z is complex",
        ),
    ],
)
def test_what_cannot_be_plotted_is_explained(run, tmp_path, act, text):
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match=text):
        act(run, tmp_path)


def test_runs_of_no_and_of_one_sample_can_be_plotted():
    for count in (0, 1):
        t = np.zeros(count)
        results = Results(t, {"a.b": np.zeros((count, 3))}, {}, FinalState(0.0), complete=False)
        assert len(render(results.plot()[0], "png")) > 1000


def test_no_window_is_opened_where_there_is_none(run):
    matplotlib.use("agg")
    assert show_windows(run.plot()) is False
    assert show_windows([]) is False


def test_plotting_to_files_leaves_pyplot_alone():
    code = (
        "import sys, numpy as np\n"
        "from spart_blocks.results import FinalState, Results\n"
        "t = np.arange(3.0)\n"
        "Results(t, {'a.b': t}, {}, FinalState(2.0)).save_plots(sys.argv[1])\n"
        "sys.exit('matplotlib.pyplot' in sys.modules)"
    )
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run([sys.executable, "-c", code, folder], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_signals_that_number_states_are_rows_of_bars():
    t = np.array([0.0, 1.0, 1.0, 2.5, 2.5, 4.0])
    signals = {"m.state": np.array([1.0, 1, 3, 3, 1, 1]), "n.state": np.array([2.0, 2, 2, 2, 2, 2])}
    levels = {"m.state": ("off", "idle", "on"), "n.state": ("a", "b")}
    run = Results(t=t, signals=signals, states={}, final_state=FinalState(4.0), levels=levels)

    def bars(axis):
        rows = [label.get_text() for label in axis.get_yticklabels()]
        spans = [
            [(path.vertices[:, 0].min(), path.vertices[:, 0].max()) for path in found.get_paths()]
            for found in axis.collections
        ]
        return dict(zip(rows, spans, strict=True))

    own = {"off": [(0, 1), (2.5, 4)], "idle": [], "on": [(1, 2.5)]}
    assert bars(run.plot("m.state")[0].axes[0]) == own
    both = bars(with_scope(run, signals=("m.state", "n.state")).plot()[0].axes[0])
    assert both == {**{f"m: {name}": spans for name, spans in own.items()},
                    "n: a": [], "n: b": [(0, 4)]}  # fmt: skip
    assert "(off)" in run.summary()


def test_a_long_curve_is_drawn_by_its_least_and_greatest_values():
    t = np.linspace(0, 1e5, 400_001)
    y = np.sin(np.pi * t)
    y[123_457] = 3.0
    info = {"thinned": 12.5}
    figure = Results(t, {"y": y}, {}, FinalState(t=1e5), info=info).plot()[0]
    [line] = figure.axes[0].lines
    x, drawn = line.get_data()
    assert len(x) <= 10_000
    assert np.isin(x, t).all()
    assert drawn.max() == 3.0
    for part in np.array_split(drawn, 20):  # a band everywhere
        assert part.min() < -0.7
        assert part.max() > 0.7
    assert [text.get_text() for text in figure.axes[0].texts] == [
        "thinned: least and greatest of each 12.5 s"
    ]


def pixels(png: bytes):
    return matplotlib.image.imread(BytesIO(png), format="png")


def test_a_picture_has_the_pixels_that_matplotlib_draws(run):
    powers = dataclasses.replace(run, signals={"small": 1e-12 * run.t, "large": 1e9 + run.t})
    for plots in (run.plot, lambda: powers.plot("small", "large")):
        for figure, again in zip(plots(), plots(), strict=True):
            canvas = FigureCanvasAgg(again)
            canvas.draw()
            drawn = np.asarray(canvas.buffer_rgba())[..., :3] / np.float32(255)
            np.testing.assert_array_equal(pixels(render(figure, "png")), drawn)


def test_the_only_panel_is_placed_within_two_pixels_of_matplotlib_s_two_passes(run):
    wide = with_scope(run, signals=("plant.qm", "ctrl.tau"), title="Powers", ylabel="two\nlines")
    for figure in (run.plot()[0], wide.plot()[0], *run.plot("plant.qm")):
        FigureCanvasAgg(figure).draw()
        placed = figure.axes[0].get_position(original=True).extents
        figure.set_layout_engine(ConstrainedLayoutEngine(w_pad=0.08, h_pad=0.08))
        FigureCanvasAgg(figure).draw()
        twice = figure.axes[0].get_position(original=True).extents
        size = np.tile(figure.get_size_inches() * figure.dpi, 2)
        assert np.abs((placed - twice) * size).max() < 2
