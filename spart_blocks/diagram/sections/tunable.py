"""`tunable: [sc.mass]`: quantities of robots that stay parameters of the program."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from spart_blocks.base.document import Document
from spart_blocks.base.errors import Fault, did_you_mean, near_names

QUANTITIES = ("mass", "inertia")
"""Of a robot: mass (n+1,) [kg], inertia (n+1, 3, 3) [kg m^2], the base-link first."""


def read_tunable(
    entries: Mapping[int, str], robots: Collection[str], document: Document, faults: list[Fault]
) -> tuple[str, ...]:
    """The quantities listed in a file, as written; one fault for each wrong entry.

    entries: by their number in the section. robots: the names of the file's robots.
    """
    found: list[str] = []
    for number, text in entries.items():
        problem = ("is given twice", None) if text in found else _problem(text, robots)
        if problem is not None:
            message, hint = problem
            place = document.place("tunable", number)
            faults.append(Fault(f"tunable {text[:60]!r} {message}", place, hint))
        found.append(text)
    return tuple(found)


def _problem(text: str, robots: Collection[str]) -> tuple[str, str | None] | None:
    robot, dot, quantity = text.rpartition(".")
    if not dot:
        robot, quantity = text, ""
    if robot not in robots:
        listed = did_you_mean(robot, robots)
        hint = listed or "there are no robots; blocks' parameters are tunable as they are"
        return f"names no robot: there is no {robot[:60]!r}", hint
    if quantity not in QUANTITIES:
        choices = [f"{robot}.{name}" for name in QUANTITIES]
        near = near_names(text, choices) if dot else None
        hint = near or f"write {' or '.join(choices)}"
        return "names no quantity of a robot", hint
    return None
