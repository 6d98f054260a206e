"""Answers, and what is wrong, with the edit that corrects it."""

from __future__ import annotations

from typing import Any, Literal, NotRequired, TypedDict

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
    # The path in the file, as "set" names it, where it is deeper than a parameter.
    path: NotRequired[str]
    # The edit that corrects it.
    edit: NotRequired[WrapOperation]
    # Simulation time [s].
    time: NotRequired[float]
    # Further faults of the same request.
    others: NotRequired[list[Problem]]


class WrapOperation(TypedDict):
    """Move a choice of a slot into a subsystem with other ports. wires: those within."""

    op: Literal["wrap"]
    slot: str
    choice: str
    wires: list[str]
