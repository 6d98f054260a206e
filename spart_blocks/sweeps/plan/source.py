"""Base class of the sources of a sweep. A source finds paths in programs, and makes programs for
structural values.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spart_blocks.base import paths
from spart_blocks.base.document import Keys
from spart_blocks.base.errors import Fault, InputError, Place, did_you_mean
from spart_blocks.diagram.sections.robot_section import QUANTITIES
from spart_blocks.diagram.sections.run_options import RunOptions
from spart_blocks.program import Program, TraceError
from spart_blocks.program.parameter_paths import Standing
from spart_blocks.program.slots import Places, Slot, Target, entry_places
from spart_blocks.robot import Robot
from spart_blocks.run.engines.from_file import DiagramFile
from spart_blocks.run.engines.native import Native

Floats = NDArray[np.float64]


def dotted(path: str) -> str:
    """A path in dot notation: `plant.initial.qm.0` for `plant.initial.qm[0]`. A text that is not a
    path is returned unchanged.
    """
    try:
        return paths.dotted(paths.keys_of(path))
    except InputError:
        return path


@dataclass(frozen=True)
class StartTarget:
    """An entry of the `initial` of a plant, such as ('qm',) or ('qm', 0)."""

    block: str
    entry: Keys


@dataclass(frozen=True)
class MatterTarget:
    """Masses or inertias of a robot. target: the varied ones. whole: indices in p of
    all of them.
    """

    target: Target
    whole: Places
    robot: str
    quantity: str


def slots_of(program: Program) -> dict[str, Slot]:
    """The parameters of a program by name."""
    return {slot.name: slot for slot in program.parameters}


def matter_of(path: str, robots: Sequence[str]) -> tuple[str, str, Keys] | None:
    """The robot, the quantity and the index of `sc.mass`, `robots.sc.mass` or `sc.mass.1`."""
    parts = path.removeprefix("robots.").split(".")
    if len(parts) < 2 or parts[0] not in robots or parts[1] not in QUANTITIES:
        return None
    return parts[0], parts[1], tuple(parts[2:])


def matter_target(program: Program, robot: str, quantity: str, within: Keys) -> MatterTarget | None:
    """The entries of p of masses or inertias; None if they are not parameters."""
    slot = slots_of(program).get(f"{robot}.{quantity}")
    place = None if slot is None else entry_places(slot, within)
    if slot is None or place is None:
        return None
    whole = np.arange(slot.part.start, slot.part.stop, dtype=np.intp).reshape(slot.shape)
    return MatterTarget(Target((place,), (slot.name,)), whole, robot, quantity)


def start_of(program: Program, block: str) -> Slot | None:
    """The parameter that is the initial state of a block; None if there is none."""
    return slots_of(program).get(program.start.get(block, ""))


def as_given(plant: Any, x: Floats) -> Mapping[str, Any]:
    """The entries of a plant's `initial` for a state x, in the frame of the base's
    centre of mass.
    """
    named: dict[str, list[float]] = {}
    for name, value in zip(plant.names, x, strict=False):
        named.setdefault(name.partition(".")[0], []).append(float(value))
    named.pop("mode", None)
    if "q0" in named:
        named["quaternion"] = named.pop("q0")
    return {key: np.array(values) for key, values in named.items()}


Chosen = Mapping[str, str]
FRAMELESS = ("qm", "um")
"""Entries of a plant's `initial` that do not depend on the frame of its base."""


@dataclass(frozen=True)
class Found:
    """Where a program has the value of a path: in parameters (target), in initial states of plants
    (starts), or in masses or inertias of a robot (matter).
    """

    target: Target | None = None
    starts: tuple[StartTarget, ...] = ()
    matter: MatterTarget | None = None

    @property
    def places(self) -> Target | None:
        """The entries of p that are set to the value unchanged."""
        return self.target if self.matter is None else self.matter.target

    @property
    def structural_values(self) -> frozenset[float]:
        """Values with which the path is structural although it is a parameter otherwise."""
        return frozenset() if self.target is None else self.target.apart

    @property
    def nowhere(self) -> bool:
        """Whether nothing in the program has the value."""
        return self.places is None and not self.starts


class Source(ABC):
    """The diagram or program that a sweep runs. title: its name in messages."""

    title: str
    structural = False
    """Whether structural values can be changed."""

    @abstractmethod
    def robots_and_tunable(self, chosen: Chosen) -> tuple[list[str], Sequence[str]]:
        """The names of the robots, and the masses and inertias that are parameters."""

    def matter_overrides(self, paths: Sequence[str], chosen: Chosen) -> dict[str, Any]:
        """The overrides with which masses and inertias among the paths are parameters of the
        program.
        """
        robots, had = self.robots_and_tunable(chosen)
        found = (".".join(one[:2]) for p in paths if (one := matter_of(dotted(p), robots)))
        more = [name for name in dict.fromkeys(found) if name not in had]
        return {"tunable": [*had, *more]} if more else {}

    @abstractmethod
    def robot(self, name: str, chosen: Chosen) -> Robot:
        """A robot of the diagram. Raises InputError if the source has none of this name."""

    @abstractmethod
    def engine(self, chosen: Chosen, overrides: Mapping[str, Any]) -> Native:
        """The engine of a variant with some values replaced. Raises InputError; TraceError if the
        diagram cannot be traced.
        """

    @abstractmethod
    def find(
        self, path: str, engine: Native, chosen: Chosen, overrides: Mapping[str, Any]
    ) -> Found | None:
        """Where the program of `engine` has the value of a path (possibly nowhere); None if it is
        not a parameter.

        chosen, overrides: with which the engine was made. Raises InputError if the path does not
        exist.
        """

    @abstractmethod
    def digest(self) -> str:
        """A digest of the contents of the source."""

    def slots(self) -> Mapping[str, tuple[str, ...]]:
        """The choices for each slot of variants, the selected one first."""
        return {}

    def place(self, *keys: str | int) -> Place | None:
        """Where an entry of the file is written."""
        return None

    def structural_values(self, path: str, engine: Native, chosen: Chosen) -> frozenset[float]:
        """The values of a path that need other blocks than all other values. engine: of the
        unchanged diagram.
        """
        return frozenset()

    def run_option(self, path: str) -> str | None:
        """The name of the run option that a path sets, for which no new program is needed; None
        for other paths.
        """
        name = dotted(path).removeprefix("run.")
        return name if name in RunOptions.model_fields and dotted(path).startswith("run.") else None

    def written(self, path: str, chosen: Chosen) -> Any:
        """The value of a path in the file; None if it is not written there."""
        return None

    def file(self, chosen: Chosen, overrides: Mapping[str, Any]) -> DiagramFile | None:
        """The file that `engine` loads."""
        return None

    def initial(self, block: str, chosen: Chosen) -> tuple[Mapping[str, Any] | None, str]:
        """The `initial` of a plant, None if unknown, and the frame in which it is given."""
        return None, "com"

    def nominal(self, path: str) -> Any:
        """The value of a path in the first variant; None if there is none."""
        chosen = {slot: names[0] for slot, names in self.slots().items()}
        written = self.written(path, chosen)
        if written is not None:
            return written
        try:
            overrides = self.matter_overrides([path], chosen)
            engine = self.engine(chosen, overrides)
        except TraceError:
            return None
        return nominal_in(engine, self.find(path, engine, chosen, overrides))


def nominal_in(engine: Native, found: Found | None) -> Any:
    """The value of a path in the program of `engine`; None if it has none."""
    program = engine.program
    if found is None:
        return None
    if found.places is not None:
        return found.places.of(program.p)
    for start in found.starts:
        places = start_places(engine, start)
        slot = start_of(program, start.block)
        if places is not None and slot is not None:
            return program.p[slot.part][places]
    return None


# --- initial states ------------------------------------------------------------------------


def start_places(engine: Native, start: StartTarget) -> Any:
    """The indices of a plant's state that equal an entry of its `initial`; None if the state is
    not a plain copy of it.
    """
    plant = engine.plant_state(start.block)
    groups: dict[str, list[int]] = {}
    for k, name in enumerate(plant.names):
        groups.setdefault(name.partition(".")[0], []).append(k)
    groups["u0"] = groups.get("omega0", []) + groups.get("v0", [])
    groups["quaternion"] = groups.pop("q0", [])
    key, *within = start.entry
    places = np.array(groups.get(str(key), []), dtype=np.intp)
    if not len(places) or len(within) > 1:
        return None
    if not within:
        return places
    if str(within[0]).isdecimal():
        return places[int(within[0])] if int(within[0]) < len(places) else None
    name = f"{key}.{within[0]}"
    return np.intp(plant.names.index(name)) if name in plant.names else None


def found_start(engine: Native, block: str, entry: Keys) -> StartTarget | None:
    """The entry of a plant's `initial`, if its state is a parameter that contains this entry;
    otherwise None. Raises InputError for an unknown entry.
    """
    plant = engine.plant_state(block) if start_of(engine.program, block) is not None else None
    if plant is None or not entry:
        return None
    base = ("r0", "quaternion", "angles321", "u0", "omega0", "v0")
    if entry[0] in base and not plant.floating:
        return None  # the pose of a fixed base is a constant of the program
    known = (*base, *FRAMELESS)
    if entry[0] not in known:
        hint = did_you_mean(str(entry[0]), known)
        raise InputError(Fault(f"{block}: initial has no entry {entry[0]!r}", hint=hint))
    return StartTarget(block, entry)


def found_of(standing: Standing | None, engine: Native) -> Found | None:
    """Where the program has a value, with the entries of plants' `initial`; None if one of these
    cannot be set.
    """
    if standing is None:
        return None
    starts = []
    for block, entry in standing.starts:
        start = found_start(engine, block, entry)
        if start is None or ("/" in block and start.entry[0] not in FRAMELESS):
            return None
        starts.append(start)
    return Found(standing.target, tuple(starts))
