"""Where a filter's model of its plant comes from: formulas, or the plant of a diagram."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class FormulaModel:
    """f and h by formulas, each a list: a formula is a function of values by name.

    states, inputs: the names of their entries. params: the shapes of the parameters by name.
    continuous: whether f gives the rates, and not the next state.
    """

    f: tuple[Any, ...]
    h: tuple[Any, ...]
    states: tuple[str, ...]
    inputs: tuple[str, ...]
    params: Mapping[str, tuple[int, ...]]
    continuous: bool


@dataclass(frozen=True)
class PlantModel:
    """Plants of a diagram, with the loop open at their control inputs.

    plant: names of blocks. inputs: those of their inputs that are u. outputs: the signals that
    are y. diagram: another diagram, a path or a loaded one; None for the filter's own.
    """

    plant: tuple[str, ...]
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    diagram: Any = None
