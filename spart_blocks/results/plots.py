"""Figures of results. Matplotlib is imported within functions, and pyplot only to show figures."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from spart_blocks.base.argument_checks import as_path, as_text
from spart_blocks.base.errors import InputError
from spart_blocks.base.html import notebook
from spart_blocks.base.rows import extreme_rows
from spart_blocks.results.files import make_folder, write_whole
from spart_blocks.results.level_bars import LevelBar, bars_of, draw_bars
from spart_blocks.results.png import png_bytes
from spart_blocks.results.run_data import RunData, ScopeSpec
from spart_blocks.results.signal_names import STATES, THINNED, file_name

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis
    from matplotlib.figure import Figure

FORMATS = ("png", "svg", "pdf")
# Okabe and Ito's colours, told apart by colour-blind readers, yellow left out.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#222222")
DASHES = ("-", "--", "-.", ":", (0, (8, 2, 1, 2, 1, 2)))
INK, GRID, FAINT = "#222222", "#E3E6EA", "#6B7280"
_LEGEND_ROWS = 26
MOST_POINTS = 4_000
"""Largest number of points of a curve over time in a figure: four for each pixel of its width."""


@dataclass(frozen=True)
class Line:
    """One curve: values (N,), its label, its style if the user gave one, its unit if the label does
    not contain it, and whether it is held between samples."""

    values: NDArray[Any]
    label: str
    style: str | dict[str, Any] | None = None
    unit: str = ""
    held: bool = False


def plot(results: RunData, names: Sequence[str]) -> list[Figure]:
    """See Results.plot."""
    if names:
        return [_panels(results, names)]
    if results.scopes:
        return [_scope(results, scope) for scope in results.scopes]
    every = [*results.signals] or [STATES + block for block in results.states]
    return [_panels(results, every)] if every else []


def preview(results: RunData) -> Figure | None:
    """A small figure of the first scope, or else of the first signal or states; None if there are
    none."""
    if not len(results.t):
        return None
    every = [*results.signals] or [STATES + block for block in results.states]
    if not results.scopes and not every:
        return None
    first = _scope(results, results.scopes[0]) if results.scopes else _panels(results, every[:1])
    first.set_size_inches(6.5, 2.8)
    return first


def save_plots(results: RunData, folder: str | Path, fmt: str) -> list[Path]:
    """See Results.save_plots."""
    _check_format(fmt)
    names = [scope.name for scope in results.scopes] or [results.diagram_name or "signals"]
    return write_figures(list(zip(names, plot(results, ()), strict=False)), folder, fmt)


def write_figures(
    figures: Sequence[tuple[str, Figure]], folder: str | Path, fmt: str
) -> list[Path]:
    """Write named figures to a folder, each atomically. The folder is created if missing."""
    fmt = _check_format(fmt)
    target = as_path(folder, "the folder of plots")
    make_folder(target)
    paths = [target / f"{stem}.{fmt}" for stem in _stems([name for name, _ in figures])]
    for (_, figure), path in zip(figures, paths, strict=True):
        write_whole(path, render(figure, fmt))
    return paths


def _check_format(fmt: str) -> str:
    fmt = as_text(fmt, "the format of plots").lower().removeprefix(".")
    if fmt not in FORMATS:
        raise InputError(f"cannot write plots as {fmt!r}; choose one of {', '.join(FORMATS)}")
    return fmt


def _stems(names: Sequence[str]) -> Iterator[str]:
    """A file name for each name, unique also on file systems that ignore case."""
    used: set[str] = set()
    for name in names:
        plain = file_name(name, "scope")
        stem, number = plain, 2
        while stem.casefold() in used:
            stem, number = f"{plain}_{number}", number + 1
        used.add(stem.casefold())
        yield stem


def render(figure: Figure, fmt: str, dpi: float | None = None) -> bytes:
    """The figure as the bytes of a file, the same bytes each time. Text in SVG remains text."""
    import warnings

    import matplotlib

    image = BytesIO()
    with warnings.catch_warnings(), _ticks_kept(figure):
        warnings.filterwarnings("ignore", message="Glyph .* missing from")
        if fmt == "png":
            return _drawn_once(figure, dpi or figure.dpi)
        options = {"svg.fonttype": "none", "svg.hashsalt": "spart"}
        metadata = {"svg": {"Date": None}, "pdf": {"CreationDate": None}}[fmt]
        with matplotlib.rc_context(options):
            figure.savefig(image, format=fmt, dpi=dpi or figure.dpi, metadata=metadata)
    return image.getvalue()


def _drawn_once(figure: Figure, dpi: float) -> bytes:
    """A figure as PNG, with one drawing pass; savefig makes another for the layout."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    before = figure.dpi, figure.canvas
    figure.dpi = dpi
    try:
        canvas = FigureCanvasAgg(figure)
        canvas.draw()
        return png_bytes(np.asarray(canvas.buffer_rgba())[:, :, :3], dpi)
    finally:
        figure.dpi = before[0]
        figure.set_canvas(before[1])


@contextmanager
def _ticks_kept(figure: Figure) -> Iterator[None]:
    """Compute the ticks of an axis, and the boxes of their labels, once for each place that it has
    while a figure is drawn. Matplotlib computes them for each label and title that keeps clear of
    them, fifteen times in a figure of one panel.
    """
    axes = [axis for axes in figure.axes for axis in (axes.xaxis, axes.yaxis)]
    for axis in axes:
        for name in _OF_TICKS:
            if hasattr(axis, name):
                setattr(axis, name, _once_in_each_place(axis, getattr(axis, name)))
    try:
        yield
    finally:
        for axis in axes:
            for name in _OF_TICKS:
                vars(axis).pop(name, None)


_OF_TICKS = ("_update_ticks", "_get_ticklabel_bboxes")


def _once_in_each_place(axis: Axis, compute: Callable[..., Any]) -> Callable[..., Any]:
    """A function that calls another when the interval of an axis, or the place of its panel in the
    figure, differs from that at the last call."""
    known: list[Any] = [None, None]

    def computed(*args: Any) -> Any:
        place = (*axis.get_view_interval(), *axis.axes.bbox.bounds)
        if known[0] != place:
            known[:] = place, compute(*args)
        return known[1]

    return computed


def show_windows(figures: Sequence[Figure], block: bool | None = None) -> bool:
    """Open the figures in windows. Returns False, without any effect, if there are no figures or no
    window can be opened.

    block: wait until the windows are closed; by default as pyplot.show does.
    """
    if not figures:
        return False
    from matplotlib import pyplot as plt

    try:
        shells = _shells(figures)
    except (ImportError, RuntimeError):  # a backend was asked for that cannot start here
        return False
    if shells[0].canvas.required_interactive_framework is None:
        for shell in shells:
            plt.close(shell)
        return False
    for shell, figure in zip(shells, figures, strict=True):
        _adopt(shell, figure)
    plt.show(block=block)
    return True


def presented(figures: list[Figure], show: bool | None) -> list[Figure]:
    """The figures of a `plot`, shown in the notebook cell (as Matplotlib shows pyplot figures at
    the end of the cell) or in windows. show: default None shows them in notebooks only."""
    if show is not False and notebook() is not None:
        for shell, figure in zip(_shells(figures), figures, strict=True):
            _adopt(shell, figure)
    elif show:
        show_windows(figures)
    return figures


def _shells(figures: Sequence[Figure]) -> list[Any]:
    """An empty pyplot figure for each figure, of the same size, without Matplotlib's warning about
    many figures."""
    import warnings

    from matplotlib import pyplot as plt

    with warnings.catch_warnings():  # rc_context would undo what a notebook sets with the backend
        warnings.filterwarnings("ignore", message="More than .* figures have been opened")
        return [plt.figure(figsize=fig.get_size_inches(), dpi=fig.dpi) for fig in figures]


def _adopt(shell: Any, figure: Figure) -> None:
    """Show a figure that was made without pyplot in the window of a pyplot figure."""
    canvas = shell.canvas
    canvas.figure = figure
    figure.set_canvas(canvas)
    canvas.manager.set_window_title(figure.get_label())


# Figures


def new_figure(label: str, height: float = 4.5) -> Figure:
    from matplotlib.figure import Figure

    from spart_blocks.results.layout import PanelLayout

    figure = Figure(figsize=(8, height), dpi=120, layout=PanelLayout(), facecolor="white")
    figure.set_label(label)
    return figure


def _panels(results: RunData, names: Sequence[str]) -> Figure:
    """A figure with one panel for each signal, with a common time axis."""
    figure = new_figure(results.diagram_name or names[0], max(4.5, 0.8 + 1.9 * len(names)))
    axes = figure.subplots(len(names), 1, sharex=True, squeeze=False)[:, 0]
    for axis, name in zip(axes, names, strict=True):
        if rows := bars_of(results, [name]):
            dress(axis, plain_text(name))
            _draw_states(axis, results, rows)
            continue
        lines = lines_of(results, ScopeSpec(name, signals=(name,)))
        dress(axis, plain_text(name) if len(lines) > 1 else "")
        _draw_time(axis, results, lines)
        add_legend(axis, [line.label for line in lines])
        axis.set_ylabel(quantity("" if len(lines) > 1 else plain_text(name), results.unit(name)))
    axes[-1].set_xlabel("time [s]")
    _note_run(axes[-1], results)
    return figure


def _scope(results: RunData, scope: ScopeSpec) -> Figure:
    figure = new_figure(scope.title or scope.name)
    axis = figure.subplots()
    dress(axis, plain_text(scope.title or scope.name, keep_math=scope.title is not None))
    rows = bars_of(results, scope.signals) if scope.kind == "time" else None
    if rows:
        _draw_states(axis, results, rows)
        axis.set_xlabel(scope.xlabel or "time [s]")
        _note_run(axis, results)
        return figure
    lines = lines_of(results, scope)
    if scope.kind == "xy":
        _draw_xy(axis, results, scope, lines)
    else:
        _draw_time(axis, results, lines, scope.stairs)
        axis.set_xlabel(scope.xlabel or "time [s]")
        axis.set_ylabel(scope.ylabel or _common_label(results, scope, lines))
        add_legend(axis, [line.label for line in lines])
        if scope.scale is not None:
            axis.set_ylim(*scope.scale)
    _note_run(axis, results)
    return figure


def dress(axis: Axes, title: str) -> None:
    """Apply the common style of all panels."""
    axis.set_title(title, loc="left", fontsize=10.5, fontweight="bold", color=INK, pad=8)
    axis.grid(True, color=GRID, linewidth=0.8)
    axis.set_axisbelow(True)
    axis.tick_params(colors=INK, labelsize=9, length=3, width=0.8)
    for side, spine in axis.spines.items():
        spine.set_visible(side in ("left", "bottom"))
        spine.set_color("#9AA1AB")
    axis.xaxis.label.set(color=INK, fontsize=9.5)
    axis.yaxis.label.set(color=INK, fontsize=9.5)
    axis.yaxis.get_offset_text().set(color=FAINT, fontsize=8)


def _draw_time(axis: Axes, results: RunData, lines: Sequence[Line], stairs: bool = False) -> None:
    for number, line in enumerate(lines):
        held = {"drawstyle": "steps-post"} if stairs or line.held else {}
        _curve(axis, *_drawn(results.t, line.values), line, number, held)
    _span_run(axis, results)


def _drawn(t: NDArray[Any], y: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    """A curve of at most MOST_POINTS points, t and y (N,). Of a longer one, the least and the
    greatest value of equal stretches of time, which looks the same.
    """
    if len(t) <= MOST_POINTS:
        return t, y
    stretch = np.floor((t - t[0]) / (t[-1] - t[0]) * (MOST_POINTS // 4)).astype(np.int64)
    shown = extreme_rows(stretch, [y], MOST_POINTS)
    shown[[0, -1]] = True
    return t[shown], y[shown]


def _draw_states(axis: Axes, results: RunData, rows: Sequence[LevelBar]) -> None:
    draw_bars(axis, rows, COLOURS)
    _span_run(axis, results)


def _span_run(axis: Axes, results: RunData) -> None:
    """Set the time axis from the start to the end of the run."""
    axis.margins(x=0)
    if len(results.t) > 1 and results.t[-1] > results.t[0]:
        axis.set_xlim(results.t[0], results.t[-1])


def _draw_xy(axis: Axes, results: RunData, scope: ScopeSpec, lines: Sequence[Line]) -> None:
    x, y = lines
    style = scope.styles[0] if scope.styles else None
    _curve(axis, x.values, y.values, Line(y.values, "", style), 0, {})
    frame_xy(axis, scope, x, y)


def frame_xy(axis: Axes, scope: ScopeSpec, x: Line, y: Line) -> None:
    """Label and scale the axes of an xy scope."""
    axis.set_xlabel(scope.xlabel or x.label)
    axis.set_ylabel(scope.ylabel or y.label)
    if scope.scale is not None:
        axis.set_xlim(*scope.scale[:2])
        axis.set_ylim(*scope.scale[-2:])
    if scope.equal:
        axis.set_aspect("equal", adjustable="datalim" if scope.scale is None else "box")


def look(number: int) -> dict[str, Any]:
    """The colour and the dashes of a curve by its number."""
    return {
        "color": COLOURS[number % len(COLOURS)],
        "linestyle": DASHES[number // len(COLOURS) % len(DASHES)],
        "linewidth": 1.6,
    }


def _curve(
    axis: Axes,
    x: NDArray[Any],
    y: NDArray[Any],
    line: Line,
    number: int,
    fixed: dict[str, Any],
) -> None:
    """Draw one curve; properties that the user's style leaves open come from the default cycle."""
    from matplotlib import cbook
    from matplotlib.lines import Line2D

    plain = {**look(number), "label": line.label}
    chosen = cbook.normalize_kwargs(line.style if isinstance(line.style, dict) else {}, Line2D)
    args = [line.style] if isinstance(line.style, str) else []
    try:
        [curve] = axis.plot(x, y, *args, **({} if args else plain) | chosen | fixed)
        if args:
            curve.set(label=line.label, linewidth=1.6)
            if not re.search(r"[bgrcmykw]|C\d", re.sub("-[.-]?|:", "", str(line.style))):
                curve.set_color(plain["color"])
    except (ValueError, TypeError, AttributeError) as error:
        raise InputError(f"{line.label or 'xy'}: bad line style {line.style!r}: {error}") from error


# Lines and their names


def lines_of(results: RunData, scope: ScopeSpec) -> list[Line]:
    """The curves of a scope: all elements of each port, with labels and styles."""
    values: list[tuple[NDArray[Any], str, int]] = []
    for port, signal in enumerate(scope.signals):
        array = results[signal]
        if array.dtype.kind == "c":
            raise InputError(f"{signal} is complex; plot its parts from results[{signal!r}]")
        labels = results.legends(signal)
        flat = array.reshape(len(results.t), len(labels))
        wanted = range(flat.shape[1]) if scope.vector is None else scope.vector
        for element in wanted:
            if not -len(labels) <= element < len(labels):
                what = f"element {element} of {signal}, which has {len(labels)}"
                raise InputError(f"scope {scope.name} shows {what}")
            values.append((flat[:, element], labels[element], port))
    ports = [port for _, _, port in values]
    texts = _deal(scope.labels, ports, len(scope.signals))
    styles = _deal(scope.styles, ports, len(scope.signals))
    units = [results.unit(name) for name in scope.signals]
    mixed = len(set(units)) > 1 or scope.kind == "xy"
    lines = []
    for (array, name, port), text, style in zip(values, texts, styles, strict=True):
        label, unit = _line_label(results, scope, name, text, port), units[port]
        held = bool(scope.held) and scope.held[port]
        label, unit = (quantity(label, unit), "") if mixed else (label, unit)
        lines.append(Line(array, label, style, unit, held))
    if scope.kind == "xy" and len(lines) != 2:
        raise InputError(f"scope {scope.name}: x and y are scalars, it has {len(lines)} signals")
    return lines


def _deal(given: Sequence[Any] | None, line_ports: Sequence[int], ports: int) -> list[Any]:
    """One value for each line, from values given for each line or for each port."""
    if given is None:
        return [None] * len(line_ports)
    if len(given) == ports:
        return [given[port] for port in line_ports]
    return [given[i] if i < len(given) else None for i in range(len(line_ports))]


def _line_label(
    results: RunData, scope: ScopeSpec, element: str, given: str | None, port: int
) -> str:
    name = scope.signals[port]
    label = plain_text(element)
    if given is not None:
        for_port = len(results.labels(name)) > 1 and len(scope.labels or ()) == len(scope.signals)
        tail = element[element.rindex("[") :] if for_port and element.endswith("]") else ""
        label = plain_text(f"{given}{tail}", keep_math=True)
    return label


def _common_label(results: RunData, scope: ScopeSpec, lines: Sequence[Line]) -> str:
    """The y label: name and unit if there is one line or signal, otherwise the unit if all signals
    share it."""
    units = {results.unit(name) for name in scope.signals}
    unit = units.pop() if len(units) == 1 else ""
    signal = plain_text(scope.signals[0]) if len(scope.signals) == 1 else ""
    return quantity(lines[0].label if len(lines) == 1 else signal, unit)


def quantity(label: str, unit: str) -> str:
    """A label followed by its unit, if it has one."""
    return f"{label} [{unit}]".strip() if unit else label


def plain_text(text: str, keep_math: bool = False) -> str:
    """A text escaped for Matplotlib, where $ would start a formula, and a leading underscore would
    hide a curve from the legend. keep_math: keep formulas with paired $."""
    if not keep_math or text.count("$") % 2:
        text = text.replace("$", r"\$")
    return f" {text}" if text.startswith("_") else text


def add_legend(axis: Axes, labels: Sequence[str]) -> None:
    """Add a legend beside or above the curves, where it covers none; no legend for a single
    curve."""
    if len(labels) < 2:
        return
    style = {"frameon": False, "fontsize": 8.5, "labelcolor": INK, "borderaxespad": 0.0}
    if len(labels) <= 4 and sum(map(len, labels)) <= 44:
        axis.legend(
            loc="lower right", bbox_to_anchor=(1, 1.02), ncols=len(labels),
            columnspacing=1.4, handlelength=1.6, **style,
        )  # fmt: skip
        return
    if len(labels) > 14:
        style["fontsize"] = 7
    axis.legend(
        loc="upper left", bbox_to_anchor=(1.02, 1.0), ncols=-(-len(labels) // _LEGEND_ROWS),
        handlelength=2.4, **style,
    )  # fmt: skip


def _note_run(axis: Axes, results: RunData) -> None:
    """Note below a figure that the record is thinned, and that the run has stopped early."""
    if THINNED in results.info:
        stretch = float(results.info[THINNED])
        _note(axis, f"thinned: least and greatest of each {stretch:.3g} s", "left", FAINT)
    _note_stop(axis, results)


def _note_stop(axis: Axes, results: RunData) -> None:
    if results.complete or not len(results.t):
        return
    why = f": {results.stopped}" if results.stopped else ""
    note = plain_text(f"stopped at {results.t[-1]:.4g} s{why}".splitlines()[0])
    _note(axis, note if len(note) < 70 else f"{note[:68]}…", "right", "#B42318")


def _note(axis: Axes, text: str, side: Literal["left", "right"], colour: str) -> None:
    """A small text below one end of the time axis."""
    axis.annotate(
        text, (0 if side == "left" else 1, 0), xytext=(0, -24), ha=side, va="top",
        xycoords="axes fraction", textcoords="offset points", fontsize=8, color=colour,
    )  # fmt: skip
