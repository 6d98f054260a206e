"""A running FMU for co-simulation, as a block uses it: brought to the start of a step, and
stepped.
"""

from __future__ import annotations

import shutil
import weakref
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spart_blocks.base.errors import SpartError
from spart_blocks.fmu import input_record as past
from spart_blocks.fmu.archive import Model, unpack
from spart_blocks.fmu.input_record import Branch
from spart_blocks.fmu.instance import CoSimulated, FmuError, Instance, channels_of
from spart_blocks.fmu.ports import PortGroup

Floats = NDArray[np.float64]

_ALONE: weakref.WeakValueDictionary[str, Owner] = weakref.WeakValueDictionary()
"""The owner of the instance of an FMU that allows one per process, by digest."""


@dataclass(eq=False)
class Owner:
    """The FMU of a block: its files, and one instance, which may be restarted. takes, gives: its
    ports. taken: the variables of its input ports."""

    model: Model
    name: str
    values: Mapping[str, Any]
    takes: tuple[PortGroup, ...]
    gives: tuple[PortGroup, ...]

    def __post_init__(self) -> None:
        self.taken = [v for group in self.takes for v in group.variables]
        given = [v for group in self.gives for v in group.variables]
        self.inputs, self.outputs = channels_of(self.taken), channels_of(given)
        self._folder: Path | None = None
        self._instance: Instance | None = None

    @property
    def given(self) -> str:
        """The start values as a text, which is the same for equal values."""
        shown = sorted((key, np.asarray(value).tolist()) for key, value in self.values.items())
        return repr(shown)

    def drop(self, fatal: bool = False) -> None:
        """Close the instance, if there is one."""
        instance, self._instance = self._instance, None
        if instance is not None:
            instance.close(fatal)

    def take_turn(self) -> None:
        """Make another block give up its instance, if a process can have only one."""
        if self.model.once:
            other = _ALONE.get(self.model.digest)
            if other is not None:  # which restarts and replays when it is used again
                other.drop()
            _ALONE[self.model.digest] = self

    def unpacked(self) -> Path:
        """The folder with the FMU's files."""
        if self._folder is None:
            folder = Path(mkdtemp(prefix="spart-fmu-")).resolve()
            try:
                unpack(self.model, folder)
            except BaseException:
                shutil.rmtree(folder, ignore_errors=True)
                raise
            self._folder = folder
        return self._folder

    def close(self) -> None:
        """Free the FMU and remove its files."""
        self.drop()
        if self._folder is not None:
            shutil.rmtree(self._folder, ignore_errors=True)
            self._folder = None


@dataclass(eq=False)
class Live(Owner):
    """One instance of an FMU, its files, and its position: after `count` steps of a branch, or at
    its start without a branch. clock: period and offset [s] of the clock that steps it.
    """

    clock: tuple[Fraction, Fraction]

    def __post_init__(self) -> None:
        super().__post_init__()
        self.width = sum(v.size for v in self.taken)
        self.period, self.offset = self.clock
        names = tuple(v.name for v in self.taken)
        self.of = (self.model.digest, self.given, names, self.clock)
        self.branch: Branch | None = None
        self.count = 0
        self._instance: CoSimulated | None = None
        self._started = 0.0

    # --- time ----------------------------------------------------------------------------

    def time(self, k: int) -> float:
        """The time of tick k, as in the run."""
        return float(self.offset + k * self.period)

    def tick(self, t: float) -> int:
        """The number of the tick at t."""
        return round((Fraction(repr(t)) - self.offset) / self.period)

    # --- called by the block --------------------------------------------------------------

    def start(self, t: float) -> Floats:
        """The outputs at the FMU's start, at time t [s]."""
        if self._instance is None or self.branch is not None or self._started != t:
            self._begin(t)
        assert self._instance is not None
        return self._instance.read()

    def step(
        self, number: int, count: int, k: int, u: Floats
    ) -> tuple[Floats, int, int, float | None]:
        """The outputs after a step from tick k, the branch and count of the new state, and the end
        time if the model requests the end of the run. number, count: the state at the start of the
        step; 0 steps is the start of the FMU.
        """
        branch = self._at(number, count, k)
        assert self._instance is not None
        if branch is None:
            branch = past.begun(self.of, k, self.width)
        branch = past.forked(branch, count)
        try:
            end = self._instance.step(self.time(k), float(self.period), u)
            y = self._instance.read()
        except FmuError as error:
            self.drop(error.fatal)
            raise
        branch.add(u)
        self.branch, self.count = branch, count + 1
        return y, branch.number, count + 1, end

    def _at(self, number: int, count: int, k: int) -> Branch | None:
        """Bring the FMU to a state; returns its branch."""
        if count == 0:
            self.start(self.time(k))
            return None
        branch = self.branch
        if branch is None or branch.number != number or self.count != count:
            branch = past.found(number, count, self.of)
            self._replay(branch, count)
        if branch.first + count != k:
            raise SpartError(
                f"the FMU stands at t = {self.time(branch.first + count):.9g} s, and cannot "
                f"step from t = {self.time(k):.9g} s"
            )
        return branch

    def _replay(self, branch: Branch, count: int) -> None:
        """Restart the FMU, and replay the inputs that lead to a state."""
        self._begin(self.time(branch.first))
        assert self._instance is not None
        try:
            for k, u in enumerate(branch.inputs(count), branch.first):
                self._instance.step(self.time(k), float(self.period), u)
        except FmuError as error:
            self.drop(error.fatal)
            raise
        self.branch, self.count = branch, count

    # --- the instance ----------------------------------------------------------------------

    def _begin(self, t: float) -> None:
        self.drop()
        self.take_turn()
        self._instance = CoSimulated(
            self.model, self.unpacked(), self.name, self.inputs, self.outputs, self.values, t
        )
        self._started = t

    def drop(self, fatal: bool = False) -> None:
        super().drop(fatal)
        self.branch, self.count = None, 0
