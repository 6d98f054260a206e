"""Writes a design into the file of a diagram."""

from __future__ import annotations

from pathlib import Path

from spart_blocks.fits.free import Space
from spart_blocks.fits.written import rounded
from spart_blocks.gradients.tangents import Floats
from spart_blocks.versions.edits import Tune, edit

DIGITS = 9
"""Significant digits that are written."""


def write_design(path: Path, space: Space, values: Floats) -> None:
    """Set the parameters in the file."""
    edit(path, [Tune(one.name, rounded(values, one, DIGITS)) for one in space.free])
