"""The layout of figures: the room for titles, labels and legends around their panels."""

from __future__ import annotations

from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine

_PAD = 0.08  # inches
_LEAST = 0.2  # inches


class PanelLayout(ConstrainedLayoutEngine):
    """Matplotlib's constrained layout. A figure of one panel gets it by one pass, which measures
    the texts around the panel once. Matplotlib's second pass moves the edges of such a panel by two
    pixels at most."""

    def __init__(self) -> None:
        super().__init__(w_pad=_PAD, h_pad=_PAD)

    def execute(self, fig: Figure) -> None:
        """Place the panels of a figure."""
        if not _placed(fig):
            super().execute(fig)


def _placed(figure: Figure) -> bool:
    """Place the panel of a figure, if it is the only one and nothing else takes room."""
    if len(figure.axes) != 1 or figure.legends or figure.get_suptitle():
        return False
    [panel] = figure.axes
    if panel.get_aspect() != "auto" or not panel.get_visible():
        return False
    whole = panel.get_tightbbox(for_layout_only=True)
    if whole is None:
        return False
    around = whole.transformed(figure.transFigure.inverted())
    place = panel.get_position(original=True)
    width, height = figure.get_size_inches()
    left, right = place.x0 - around.x0 + _PAD / width, 1 - (around.x1 - place.x1) - _PAD / width
    low, top = place.y0 - around.y0 + _PAD / height, 1 - (around.y1 - place.y1) - _PAD / height
    if (right - left) * width < _LEAST or (top - low) * height < _LEAST:
        return False
    panel.set_position((left, low, right - left, top - low), "original")
    panel.set_in_layout(True)
    return True
