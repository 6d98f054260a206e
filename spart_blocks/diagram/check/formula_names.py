"""Warns about names that mean one thing in a formula and another in its file."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from spart_blocks.base.errors import warn
from spart_blocks.block_support.ports import attribute

_RENAMED = "where the parameter is meant, give it another name"


def warn_of_constants(block: Any, label: str, params: Collection[str]) -> None:
    """Warn if a formula uses e or pi as constants although the file has a parameter of that name.

    label: of the block, with its place. params: names of the file's parameters.
    """
    for formula in attribute(block, "formulas", ()):
        for name, meaning in formula.constants().items():
            if name in params:
                text = f"{label} takes {name} for {meaning}, not for the parameter {name}"
                warn(f"{text}\n  {_RENAMED}")
