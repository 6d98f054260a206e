"""Collecting faults and quoting what was read."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from pathlib import Path

from spart_blocks.base.errors import Fault, Place, RobotError, brief, did_you_mean, refusing

HINTS_LIMIT = 20  # names that get a did-you-mean; a hostile file must not make them cost
CHOICES_LIMIT = 2000
QUOTE_LIMIT = 60
MOST_FAULTS = 200
"""Largest number of faults of an input; then reading stops."""


class Faults:
    """The faults of one input, raised together at the end."""

    def __init__(self) -> None:
        self.found: list[Fault] = []
        self._hints = 0

    def add(self, message: str, place: Place | None = None, hint: str | None = None) -> None:
        """Add a fault; raise RobotError if there are too many."""
        self.found.append(Fault(message, place, hint))
        if len(self.found) >= MOST_FAULTS:
            raise RobotError([*self._in_order(), Fault("there may be more: the rest is not read")])

    def hint_for(self, name: str, choices: Sequence[str]) -> str | None:
        """A suggestion for the first unknown names, as long as that is cheap."""
        self._hints += 1
        if self._hints > HINTS_LIMIT or len(choices) > CHOICES_LIMIT or len(name) > QUOTE_LIMIT:
            return None
        return did_you_mean(name, [choice for choice in choices if len(choice) <= QUOTE_LIMIT])

    def raise_if_any(self) -> None:
        """Raise RobotError with all faults so far, sorted by line if lines are known."""
        if self.found:
            raise RobotError(self._in_order())

    def _in_order(self) -> list[Fault]:
        return sorted(self.found, key=_line)


def _line(fault: Fault) -> int:
    return (fault.place.line or 0) if fault.place else 0


def reading(source: object) -> AbstractContextManager[None]:
    """Context manager that turns any exception of a robot reader into a RobotError with its
    file.
    """
    place = Place(str(source)) if isinstance(source, (str, Path)) else None
    return refusing(RobotError, place, "cannot be read as a robot")


def quote(value: object) -> str:
    """A value that was read, in quotes, shortened."""
    return brief(value, QUOTE_LIMIT)


def names_list(names: Sequence[str]) -> str:
    """A list of names, each in quotes; only the first of very many."""
    listed = ", ".join(repr(name) for name in names[:MOST_FAULTS])
    return listed if len(names) <= MOST_FAULTS else f"{listed}, ... ({len(names)} in all)"
