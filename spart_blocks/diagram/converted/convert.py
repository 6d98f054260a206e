"""Converts a file of another tool to a diagram file, by its suffix."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from spart_blocks.base.errors import Fault, InputError, Place, refusing
from spart_blocks.diagram.converted.bdedit import from_bdedit
from spart_blocks.diagram.converted.draft import Draft
from spart_blocks.diagram.converted.simulink.conversion import from_simulink
from spart_blocks.diagram.converted.workspace import read_workspace


def convert(path: Path, values: Sequence[Path] = ()) -> tuple[Draft, list[str]]:
    """The diagram of a .bd, .slx or .mdl file, and what was left out of the files of values
    (.mat, .m), whose variables the parameters of a model name. Raises InputError."""
    place = Place(str(path))
    if path.suffix == ".bd":
        with refusing(InputError, place, "it cannot be converted"):
            return from_bdedit(path), []
    if path.suffix not in (".slx", ".mdl"):
        hint = "diagrams of bdsim's editor (.bd) and of Simulink (.slx, .mdl) can be converted"
        raise InputError(Fault("it is of no known kind", place, hint))
    workspace: dict[str, Any] = {}
    left: list[str] = []
    for file in values:
        with refusing(InputError, Place(str(file)), "it cannot be read"):
            found, missed = read_workspace(file)
        workspace |= found
        left += missed
    with refusing(InputError, place, "it cannot be converted"):
        return from_simulink(path, workspace), left
