"""Figures of a linear system: Bode plots and a map of its poles."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from spart_blocks.results.plots import (
    COLOURS,
    FAINT,
    INK,
    add_legend,
    dress,
    look,
    new_figure,
    plain_text,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_MOST_CURVES = 60  # more cannot be told apart, nor their legend read


class Bode(NamedTuple):
    """w (N,) [rad/s]; magnitude and phase [rad], (N, outputs, inputs), phase unwrapped."""

    w: NDArray[np.float64]
    magnitude: NDArray[np.float64]
    phase: NDArray[np.float64]


def bode_figure(name: str, inputs: Sequence[str], outputs: Sequence[str], bode: Bode) -> Figure:
    """Magnitude [dB] above phase [deg], with a curve from each input to each output."""
    figure = new_figure(f"{name} bode", 6.5)
    above, below = figure.subplots(2, 1, sharex=True)
    pairs = [(i, j) for i in range(len(outputs)) for j in range(len(inputs))]
    shown = [pair for pair in pairs if bode.magnitude[:, pair[0], pair[1]].any()][:_MOST_CURVES]
    many = "" if len(shown) < _MOST_CURVES else f" (the first {_MOST_CURVES} pairs)"
    dress(above, plain_text(f"{name}: frequency response{many}"))
    dress(below, "")
    labels = []
    for number, (i, j) in enumerate(shown):
        style = look(number)
        labels.append(plain_text(f"{inputs[j]} to {outputs[i]}"))
        with np.errstate(divide="ignore", invalid="ignore"):
            decibels = 20 * np.log10(bode.magnitude[:, i, j])
        above.semilogx(bode.w, decibels, **style, label=labels[-1])
        below.semilogx(bode.w, np.degrees(bode.phase[:, i, j]), **style)
    add_legend(above, labels)
    above.set_ylabel("magnitude [dB]")
    below.set_ylabel("phase [deg]")
    below.set_xlabel("frequency [rad/s]")
    return figure


def pole_figure(name: str, poles: NDArray[np.complex128], dt: float) -> Figure:
    """The poles in the s-plane, or in the z-plane with the unit circle."""
    figure = new_figure(f"{name} poles", 5.5)
    axis = figure.subplots()
    dress(axis, plain_text(f"{name}: poles"))
    if dt:
        angle = np.linspace(0, 2 * np.pi, 361)
        axis.plot(np.cos(angle), np.sin(angle), color=FAINT, linewidth=1.0)
        axis.set_aspect("equal", adjustable="datalim")
    axis.axhline(0, color=FAINT, linewidth=0.8)
    axis.axvline(0, color=FAINT, linewidth=0.8)
    axis.plot(poles.real, poles.imag, "x", color=COLOURS[0], markersize=8, markeredgewidth=1.8)
    unit = "" if dt else " [rad/s]"
    axis.set_xlabel(f"real part{unit}")
    axis.set_ylabel(f"imaginary part{unit}")
    _note(axis, len(poles))
    return figure


def _note(axis: Axes, count: int) -> None:
    if not count:
        axis.text(0.5, 0.5, "no states", transform=axis.transAxes, ha="center", color=INK)
