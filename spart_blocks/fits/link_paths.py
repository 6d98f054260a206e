"""Paths of a fit that name the inertial parameters of links: `arm.inertial`, `arm.inertial[3]`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache

import numpy as np

from spart_blocks.base.errors import Fault, InputError, Place, did_you_mean, warn
from spart_blocks.diagram.sections.bounds import Bounds
from spart_blocks.diagram.sections.robot_section import QUANTITIES
from spart_blocks.fits.inertial import PLACES, Body, physical
from spart_blocks.gradients.tangents import Floats
from spart_blocks.program.slots import Places
from spart_blocks.robot import Robot
from spart_blocks.run.engines.native import Native
from spart_blocks.sweeps.plan.source import Source, dotted, slots_of

INERTIAL = "inertial"
"""What a path calls all ten inertial parameters of a link."""


class LinkPaths:
    """The paths among some that name links. quantities: of robots, which they need as parameters
    of the program."""

    def __init__(self, source: Source, paths: Sequence[str]) -> None:
        self.source = source
        self.robots = source.robots_and_tunable({})[0]
        named = dict.fromkeys(self._parts(path)[0] for path in paths if self.names(path))
        self.quantities = [f"{robot}.{name}" for robot in named for name in QUANTITIES]
        self._robot = cache(lambda name: source.robot(name, {}))

    def names(self, path: str) -> bool:
        """Whether a path names links."""
        parts = self._parts(path)
        return len(parts) > 1 and parts[0] in self.robots and parts[1] == INERTIAL

    def bodies(
        self, path: str, bounds: Bounds, engine: Native, place: Place | None
    ) -> Iterator[tuple[Body, tuple[Places, ...]]]:
        """The links of a path, each with the entries of p that have its values. Without a link it
        is all with a mass, the base if it floats. Raises InputError.
        """
        if bounds.model_fields_set:
            text = f"{path} takes no bounds, no start and no scale"
            hint = f"write {path}: null; the values stay those of a body by themselves"
            raise InputError(Fault(text, place, hint))
        name, _, *rest = self._parts(path)
        robot = self._robot(name)
        slots = slots_of(engine.program)
        mass, com, inertia = (
            np.arange(slot.part.start, slot.part.stop, dtype=np.intp).reshape(slot.shape)
            for slot in (slots[f"{name}.{quantity}"] for quantity in QUANTITIES)
        )
        for link in self._links(path, robot, rest, place):
            one, two = ([inertia[link][at[::way]] for at in PLACES] for way in (1, -1))
            both = (np.array([mass[link], *com[link], *six]) for six in (one, two))
            yield Body.of(name, robot, link), tuple(both)

    def start(self, body: Body, values: Floats, place: Place | None) -> Floats:
        """The values (10,) at which the search starts. Raises InputError without a mass."""
        name = f"{body.robot}.{INERTIAL}[{body.link}]"
        if values[0] <= 0:
            text = f"{name}: the link has no mass to start from"
            raise InputError(Fault(text, place, "give it a mass in the robot's file"))
        found, moved = physical(values)
        if moved:
            warn(f"{name}: no body has this inertia, or it is one of a line or a point; the search "
                 "starts from one nearby")  # fmt: skip
        return found

    def _links(
        self, path: str, robot: Robot, rest: Sequence[str], place: Place | None
    ) -> Iterator[int]:
        if not rest:
            base = [0] if robot.base == "floating" and robot.base_link.mass > 0 else []
            yield from (*base, *(link.id for link in robot.links if link.mass > 0))
            return
        names = [robot.body(k).name for k in range(len(robot.links) + 1)]
        word = ".".join(rest)
        if word.isdecimal() and int(word) < len(names):
            yield int(word)
        elif word in names:
            yield names.index(word)
        else:
            hint = did_you_mean(word, names)
            hint = hint or f"a number to {len(names) - 1}, 0 the base, or the name of a link"
            raise InputError(Fault(f"{path} names no link of {robot.name}", place, hint))

    def _parts(self, path: str) -> list[str]:
        return dotted(path).removeprefix("robots.").split(".")
