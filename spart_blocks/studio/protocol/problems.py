"""Answers, and what is wrong."""

from __future__ import annotations

from typing import Any, NotRequired, TypedDict

Keys = list[str | int]

# x and y.
Point = tuple[float, float]


class Answer(TypedDict):
    """The answer of a request."""

    n: int
    ok: NotRequired[Any]
    problem: NotRequired[Problem]


class Problem(TypedDict):
    """One fault as a person reads it, with its place."""

    message: str
    hint: NotRequired[str]
    # file:line:column, as the command line shows it.
    place: NotRequired[str]
    # The block at which the page shows it, as a path of instances: "ctrl", "arm/servo".
    block: NotRequired[str]
    # The parameter of that block, or a port.
    argument: NotRequired[str]
    # Simulation time [s].
    time: NotRequired[float]
    # Further faults of the same request.
    others: NotRequired[list[Problem]]
