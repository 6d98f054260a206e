"""What blocks that check a signal share: what they do where it fails, and the memory of it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from spart_blocks.base.errors import InputError, brief
from spart_blocks.base.spatial import Array
from spart_blocks.block_support.declared import Declared, PortSpec
from spart_blocks.block_support.values import chosen, number
from spart_blocks.formulas.crossings import zero_or_one

ACTIONS = {"error": ("fault",), "stop": ("stop",), "warn": ()}
"""The kinds of crossings of each action."""
UNFAILED = (-1.0,)
"""The start of the state of a check: the time at which it first failed [s], negative if never."""
OK = PortSpec("ok", "", "", "1 until the check first fails with action: warn, then 0")
MOST_LETTERS = 200


class Check(Declared):
    """A block that checks its inputs.

    `excess` returns what they exceed the permitted values by. Where an entry is positive, the
    run ends with an error or in an orderly way, or a warning follows after the run.
    """

    acts_by: ClassVar[Mapping[str, tuple[str, ...]]] = ACTIONS

    def set_check(self, action: Any, message: Any, after: Any = 0.0) -> None:
        """Read the parameters of all checks: the action, what to say, and the start [s]."""
        self.action = chosen(action, "action", tuple(ACTIONS))
        if not isinstance(message, str) or len(message) > MOST_LETTERS:
            told = f"message must be a text of at most {MOST_LETTERS} characters"
            raise InputError(f"{told}, not {brief(message)}")
        self.message, self.after = message.strip(), number(after, "after")
        self.watched_kinds = self.acts_by[self.action]

    @property
    def fault_text(self) -> str:
        """What is wrong where the check fails."""
        return self.message or self.claim

    @property
    def claim(self) -> str:
        """What is wrong, if the user has not said it."""
        raise NotImplementedError

    @property
    def warns_of(self) -> str | None:
        """What a run warns of, if the state says that the check has failed."""
        return self.fault_text if self.action == "warn" else None

    def excess(self, t: Any, inputs: list[Any], x: Array) -> Any:
        """What the inputs exceed the permitted values by."""
        raise NotImplementedError

    def fault(self, t: float, inputs: list[Any], x: Array) -> str:
        """The message of a run that the check ends."""
        shown = ", ".join(
            f"{port.name} = {_shown(value)}"
            for port, value in zip(self.in_ports, inputs, strict=True)
        )
        return f"{self.fault_text}: {shown}"

    def output(self, t: float, inputs: list[Any], x: Array) -> list[Any]:
        return [zero_or_one(x[0] < 0.0)]

    def watch(self, t: float, inputs: list[Any], x: Array) -> list[Any]:
        if not self.watched_kinds:
            return []
        failing = np.max(self.excess(t, inputs, x))
        return [np.where(np.logical_and(x[0] < 0.0, t >= self.after), failing, -1.0)]

    def edges(self) -> list[tuple[Any, float]]:
        """The time from which it checks."""
        return [(self.after, 0.0)]


class CheckInTime(Check):
    """A check at all times, which finds the time of a failure between two steps."""

    acts_by = {**ACTIONS, "warn": ("mode",)}

    def deriv(self, t: float, inputs: list[Any], x: Array) -> Array:
        return np.zeros(1)

    def switch(self, t: float, inputs: list[Any], x: Array) -> Any:
        return np.array([t + 0.0 * x[0]])


def _shown(value: Any) -> str:
    flat = np.ravel(value)
    text = ", ".join(f"{entry:.6g}" for entry in flat[:6])
    more = ", ..." if flat.size > 6 else ""
    return f"[{text}{more}]" if np.ndim(value) else text
