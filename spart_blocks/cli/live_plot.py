"""A scrolling plot of the signals of a running loop."""

from __future__ import annotations

import time
from collections import deque
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from spart_blocks.realtime.live_client import WatchedSignals
    from spart_blocks.realtime.live_protocol import Floats

_PAUSE = 0.03  # s, for the window's own events
_SHARE = 1 / 3  # share of a processor for drawing, since the loop may need the same processor
_LAYOUT = 10  # drawings for which the room around the panels stays as it is
_POINTS = 2000  # of a curve, about as many as a screen has columns


class LivePlot:
    """A plot with a panel for each signal, over the last `window` [s]."""

    def __init__(self, watched: WatchedSignals, window: float) -> None:
        from spart_blocks.realtime.live_client import SignalRecording

        self.window = window
        self.watched = watched
        self.closed = False
        self._due, self._drawn = 0.0, 0
        [self.figure] = SignalRecording(watched).results(0).plot(*watched.names)
        self._layout = self.figure.get_layout_engine()
        self._rows: deque[Floats] = deque()

    def open(self) -> bool:
        """Open the window; returns whether it could be opened."""
        from spart_blocks.results import show_windows

        if not show_windows([self.figure], block=False):
            return False
        self.figure.canvas.mpl_connect("close_event", self._close)
        return True

    def _close(self, event: Any) -> None:
        self.closed = True

    def show(self, rows: Floats) -> bool:
        """Add rows and redraw if it is due; returns whether the window is still open."""
        if len(rows):
            self.add(rows)
        begun = time.monotonic()
        if self._rows and begun >= self._due:
            self.draw()
            self._due = begun + (time.monotonic() - begun) / _SHARE
        if not self.closed:
            self.figure.canvas.start_event_loop(_PAUSE)
        return not self.closed

    def add(self, rows: Floats) -> None:
        """Add rows, and drop those older than the window."""
        self._rows.append(rows)
        while self._rows[0][-1, 0] < rows[-1, 0] - self.window:
            self._rows.popleft()

    def draw(self) -> None:
        """Redraw the curves with the latest rows."""
        self._move()
        self.figure.set_layout_engine("none" if self._drawn % _LAYOUT else self._layout)
        self._drawn += 1
        self.figure.canvas.draw()

    def _move(self) -> None:
        end = self._rows[-1][-1, 0]
        held = np.concatenate(self._rows)
        held = held[held[:, 0] >= end - self.window]
        held = held[:: -(-len(held) // _POINTS)]
        for axis, values in zip(self.figure.axes, self._panels(held), strict=True):
            for line, column in zip(axis.get_lines(), values.T, strict=True):
                line.set_data(held[:, 0], column)
            _fit(axis, values)
            axis.set_xlim(max(held[0, 0], end - self.window), max(end, held[0, 0] + 1e-9))

    def _panels(self, rows: Floats) -> list[Floats]:
        """The values of each panel's curves, each (k, lines)."""
        signals = self.watched.parted(rows).values()
        return [signal.reshape(len(rows), -1) for signal in signals]


def _fit(axis: Axes, values: Floats) -> None:
    """Set the y axis to the range of all finite values, with a margin."""
    finite = values[np.isfinite(values)]
    if finite.size:
        low, high = finite.min(), finite.max()
        room = 0.05 * (high - low) or max(1e-9, 0.05 * abs(high))
        axis.set_ylim(low - room, high + room)
