"""Figures of loops and transfers of a diagram by name, at points that move with its parameters."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np

from spart_blocks.analysis.frequency.margins import Loop
from spart_blocks.analysis.frequency.poles import Poles
from spart_blocks.analysis.frequency.reading import Reading
from spart_blocks.analysis.frequency.response import Changes, Matrices
from spart_blocks.analysis.frequency.transfers import Transfer
from spart_blocks.analysis.linearization import Linearization
from spart_blocks.program.derivatives import Moves, Point
from spart_blocks.run.engines.native import Native


@dataclass(frozen=True, eq=False)
class Linear:
    """A linear system at a point, with its changes. As a loop, it is what comes back to a cut."""

    system: Matrices
    changes: Changes

    @cached_property
    def loop(self) -> Loop:
        """The loop with negative feedback."""
        of, d = self.system, self.changes
        return Loop(Matrices(of.A, of.B, -of.C, -of.D, of.dt), Changes(d.dA, d.dB, -d.dC, -d.dD))

    @cached_property
    def closed(self) -> Poles:
        """The poles of the closed loop."""
        return Poles(*self.loop.closed_with_changes())

    @cached_property
    def transfer(self) -> Transfer:
        return Transfer(self.system, self.changes)

    @cached_property
    def poles(self) -> Poles:
        return Poles(self.system, self.changes)


@dataclass(frozen=True)
class Figure:
    """A figure of a linear system. unit: of its value. wanted: whether it is better large or small.
    most: the largest value that a search needs to tell.
    """

    read: Callable[[Linear], Reading]
    unit: str
    wanted: Literal["min", "max"]
    most: float = math.inf


def _decibels(of: Reading) -> Reading:
    per = 20 / math.log(10)
    finite = math.isfinite(of.value)
    changes = per / of.value * of.changes if finite else of.changes
    return Reading(per * math.log(of.value) if finite else math.inf, changes, of.w, of.kink)


def _degrees(of: Reading) -> Reading:
    return Reading(math.degrees(of.value), np.degrees(of.changes), of.w, of.kink)


OF_LOOPS: Mapping[str, Figure] = {
    "gain_margin_db": Figure(lambda one: _decibels(one.loop.gain_margin()), "dB", "min", 200.0),
    "phase_margin_deg": Figure(lambda one: _degrees(one.loop.phase_margin()), "deg", "min", 180.0),
    "delay_margin": Figure(lambda one: one.loop.delay_margin(), "s", "min", 1e6),
    "disk_margin": Figure(lambda one: one.loop.disk_margin(), "", "min"),
    "sensitivity_peak": Figure(lambda one: one.loop.sensitivity_peak(), "", "max"),
    "complementary_peak": Figure(lambda one: one.loop.complementary_peak(), "", "max"),
    "crossover": Figure(lambda one: one.loop.crossover(), "rad/s", "min"),
    "decay": Figure(lambda one: one.closed.decay(), "1/s", "min"),
    "damping": Figure(lambda one: one.closed.damping(), "", "min"),
}
"""The figures of a loop; decay and damping are those of its closed poles."""
OF_TRANSFERS: Mapping[str, Figure] = {
    "norm": Figure(lambda one: one.transfer.norm(), "", "max"),
    "bandwidth": Figure(lambda one: one.transfer.bandwidth(), "rad/s", "min"),
    "decay": Figure(lambda one: one.poles.decay(), "1/s", "min"),
    "damping": Figure(lambda one: one.poles.damping(), "", "min"),
}
"""The figures of a system from inputs to outputs, with loops closed."""


class Linearized:
    """A loop of a diagram, or a system from inputs to outputs, prepared for many points.

    loop: signals, or inputs of blocks, at which it is cut. inputs, outputs, open_at: as for
    `linearize`, in its place.
    """

    def __init__(
        self,
        diagram: Any,
        loop: Sequence[str] | str = (),
        inputs: Sequence[str] | str = (),
        outputs: Sequence[str] | str = (),
        open_at: Sequence[str] | str = (),
    ) -> None:
        self.of_loop = bool(loop)
        if loop:
            self._prepared = Linearization.of_loop(diagram, loop)
        else:
            self._prepared = Linearization(diagram, inputs, outputs, open_at)

    @property
    def engine(self) -> Native:
        """Of the diagram as it is."""
        return self._prepared.engine

    @property
    def figures(self) -> Mapping[str, Figure]:
        """The figures that it has."""
        return OF_LOOPS if self.of_loop else OF_TRANSFERS

    def at(self, point: Point, moves: Moves) -> Linear:
        """The system at a point that moves. Raises RunError for derivatives that are not finite."""
        found = self._prepared.at(point)
        system = Matrices(found.A, found.B, found.C, found.D, found.dt)
        if not moves.dp.shape[1]:
            return Linear(system, Changes.none(system))
        return Linear(system, self._prepared.changes(point, moves))
