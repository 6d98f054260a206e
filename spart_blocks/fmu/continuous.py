"""A running FMU for model exchange, as a block uses it: evaluated at any time, states and mode."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from spart_blocks.fmu import hidden_states as modes
from spart_blocks.fmu.archive import INTEGERS
from spart_blocks.fmu.cosimulation import Owner
from spart_blocks.fmu.exchange import Exchanged, Update
from spart_blocks.fmu.hidden_states import FmuMode, Step
from spart_blocks.fmu.instance import Floats, FmuError, channels_of


@dataclass(eq=False)
class Continuous(Owner):
    """One instance of an FMU, and its current mode.

    first (m,): NaN for the inputs at the start, when none have been set. flows, whole, truth (m,):
    which of them are continuous, integer, boolean.
    """

    def __post_init__(self) -> None:
        super().__post_init__()
        taken = self.taken
        self.flowing = channels_of(taken, lambda v: v.flows)
        each = [v for v in taken for _ in range(v.size)]
        self.first = np.full(len(each), np.nan)
        self.flows = np.array([v.flows for v in each], dtype=bool)
        self.whole = np.array([v.kind in INTEGERS for v in each], dtype=bool)
        self.truth = np.array([v.kind == "Boolean" for v in each], dtype=bool)
        self.of = (self.model.digest, self.given, tuple(v.name for v in taken))
        self._root: FmuMode | None = None
        self.mode: FmuMode | None = None
        self.asked: FmuMode | None = None
        """The mode in which it has requested an event."""
        self._steps = 0
        self._instance: Exchanged | None = None
        self._fatal: FmuError | None = None

    # --- called by the block --------------------------------------------------------------

    def start(self, t: float) -> FmuMode:
        """The mode at the FMU's start, at time t [s]."""
        self._fatal = None
        if self._root is None or self._root.t != t or not modes.is_kept(self._root):
            self.drop()
            update = self._begun(t)
            self._root = self.mode = FmuMode(self.of, t, update.x, self.first, update)
        return self._root

    def found(self, name: float) -> FmuMode:
        """The mode that a state vector names."""
        mode = modes.found(name, self.of) or self.mode
        if mode is None:
            raise FmuError(f"the FMU {self.model.path.name} has not been started")
        return mode

    def asks(self, mode: FmuMode, call: Callable[[Exchanged], Any]) -> Any:
        """The values of an FMU in a mode."""
        self._ready(mode)
        return self._called(call)

    def is_to_be_told(self, mode: FmuMode, u: Floats) -> bool:
        """Whether integer inputs differ from those at the last event."""
        last = mode.u
        rounded = self.whole & (np.rint(u) != np.rint(last))
        turned = self.truth & ((u != 0) != (last != 0))
        return bool((rounded | turned).any())

    def event(self, mode: FmuMode, t: float, x: Floats, u: Floats) -> FmuMode:
        """The mode after an event in another."""
        t = max(t, mode.t)
        self._ready(mode)
        past = tuple(mode.steps)
        stepped = _stepped(t, mode, past)
        update = self._called(lambda fmu: fmu.event(t, x, u, stepped), whole=True)
        self.mode = FmuMode(self.of, t, x.copy(), u.copy(), update, mode, past)
        self._steps, self.asked = 0, None
        return self.mode

    def completed(self, mode: FmuMode, t: float, x: Floats, u: Floats) -> bool:
        """Complete an integrator step in a mode; returns whether the FMU requests an event."""
        if mode.steps and mode.steps[-1][0] >= t:  # another run continued from here
            mode.steps = [step for step in mode.steps if step[0] < t]
            self.drop()
        asked = bool(self.asks(mode, lambda fmu: fmu.completed(t, x, u)))
        mode.steps.append((t, x.copy(), u.copy()))
        self._steps = len(mode.steps)
        self.asked = mode if asked else None
        return asked

    # --- the instance ----------------------------------------------------------------------

    def _ready(self, mode: FmuMode) -> None:
        """Bring the FMU to a mode, from its current mode or from its start."""
        if self.mode is mode and self._instance is not None and self._steps == len(mode.steps):
            return
        here = self.mode if self._instance is not None else None
        missing: list[FmuMode] = []
        for one in mode.back():
            steps = missing[-1].past if missing else mode.steps
            if one is here and self._steps <= len(steps):
                break
            missing.append(one)
        else:
            self.drop()
            self._begun(missing.pop().t)
        for one in reversed(missing):
            self._give(one.past)
            assert one.parent is not None
            stepped = _stepped(one.t, one.parent, one.past)
            call = partial(Exchanged.event, t=one.t, x=one.x, u=one.u, stepped=stepped)
            self._called(call, whole=True)
            self.mode, self._steps = one, 0
        self._give(mode.steps)
        self.mode = mode

    def _give(self, steps: Sequence[Step]) -> None:
        """Replay the accepted steps of its mode that it has not seen."""
        for t, x, u in steps[self._steps :]:
            self._called(partial(Exchanged.completed, t=t, x=x, u=u))
        self._steps = len(steps)

    def _begun(self, t: float) -> Update:
        if self._fatal is not None:
            raise self._fatal
        self.take_turn()
        try:
            self._instance = Exchanged(
                *(self.model, self.unpacked(), self.name, self.inputs, self.outputs),
                *(self.values, t),
                flowing=self.flowing,
            )
        except FmuError as error:
            self._fatal = error if error.fatal else None
            raise
        self._steps = 0
        update: Update = self._called(partial(Exchanged.settle, t=t), whole=True)
        return update

    def _called(self, call: Callable[[Exchanged], Any], whole: bool = False) -> Any:
        """whole: if the call fails, the instance can no longer be used."""
        assert self._instance is not None
        try:
            return call(self._instance)
        except FmuError as error:
            if whole or not error.discarded:
                self.drop(error.fatal)
            self._fatal = error if error.fatal else None
            raise


def _stepped(t: float, mode: FmuMode, steps: Sequence[Step]) -> bool:
    """Whether a step to t was accepted in a mode, other than these steps."""
    return t > (steps[-1][0] if steps else mode.t)
