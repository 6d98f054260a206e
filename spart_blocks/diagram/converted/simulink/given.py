"""A block of a model as its rule sees it, and what a rule makes of it."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np


class NotCarriedError(Exception):
    """A block, or one of its parameters, that has no counterpart; the message says why."""


@dataclass(frozen=True)
class Carried:
    """What a block of a model becomes.

    arguments: of the block that gets its name; none if it is a wire, or nothing. remark: what
    differs. parts: arguments of further blocks by name. wires: between these, the block, `it`, and
    the ports of the model's block, `in.1` and `out.1`; none if the block's own ports have the same
    numbers. wire: the number of the input that its output is. ports: whether the block's inputs go
    by number even if there is one.
    """

    arguments: dict[str, Any]
    remark: str = ""
    parts: Mapping[str, dict[str, Any]] = field(default_factory=dict)
    wires: tuple[str, ...] = ()
    wire: int = 0


class Given(Protocol):
    """A block of a model."""

    def text(self, key: str, default: str = "") -> str:
        """A parameter as it is written."""

    def on(self, key: str) -> bool:
        """Whether a parameter is `on`."""

    def value(self, key: str, default: str = "") -> Any:
        """The value of a parameter. Raises NotCarriedError if it is not known."""

    def param(self, key: str, default: str = "") -> Any:
        """A parameter for the file: its value, or `$name` of a variable."""

    def computed(self, text: str) -> Any:
        """The value of an expression. Raises NotCarriedError if it is not known."""

    def clock(self, default: str = "-1") -> str | None:
        """The name of the clock of its sample time; None in a triggered subsystem, whose edges are
        its ticks. Raises NotCarriedError if it has none."""

    def period(self, default: str = "-1") -> float:
        """The period of that clock [s]; 1 in a triggered subsystem."""

    def every(self, period: float) -> str:
        """The name of the clock with a period [s]."""

    def constant(self, number: int) -> Any:
        """The value of an input that comes out of a Constant, for the file; None of others."""

    def beginning(self, number: int) -> Any:
        """The value of an input at the start, for the file: that of a Constant or of an IC block;
        None of others."""

    def width(self, number: int) -> int | None:
        """The length of the signal at an input, where it is known without computing all."""

    def line_names(self) -> list[str]:
        """The names of the lines at its inputs."""

    def store(self, name: str) -> tuple[Any, int]:
        """The initial value of a data store, and how many blocks write it."""

    @property
    def inputs(self) -> int:
        """The number of its inputs."""

    @property
    def outputs(self) -> int:
        """The number of its outputs."""

    @property
    def triggered(self) -> bool:
        """Whether it is in a triggered subsystem."""

    @property
    def takes_vector(self) -> bool:
        """Whether its first input comes out of a Mux."""


Rule = Callable[[Given], Carried]


def made(kind: str, remark: str = "", /, **arguments: Any) -> Carried:
    """One block with ports of the same numbers."""
    return Carried(_block(kind, **arguments), remark)


def _block(kind: str, **arguments: Any) -> dict[str, Any]:
    kept = {k: v for k, v in arguments.items() if not (k == "clock" and v is None)}
    return {"type": kind, **kept}


def together(
    wires: str, it: dict[str, Any], remark: str = "", /, **parts: dict[str, Any]
) -> Carried:
    """Several blocks. wires: separated by semicolons, as `in.1 -> it.0, before`."""
    listed = tuple(one.strip() for one in wires.split(";"))
    return Carried(it, remark, parts, listed)


def block(kind: str, **arguments: Any) -> dict[str, Any]:
    """A block of several; a clock that is None is that of the edges."""
    return _block(kind, **arguments)


def formula(expression: str, *arguments: str, **params: Any) -> dict[str, Any]:
    """An FCN of named inputs, or of one, `u`."""
    found: dict[str, Any] = {"type": "FCN", "expression": expression}
    if arguments and arguments != ("u",):
        found["arguments"] = list(arguments)
    return {**found, **({"params": params} if params else {})}


def wire(remark: str = "", number: int = 1) -> Carried:
    """A block that is nothing but a wire."""
    return Carried({}, remark, wire=number)


def nothing(remark: str = "") -> Carried:
    """A block of which nothing is needed here."""
    return Carried({}, remark)


def only(given: Given, key: str, default: str, *allowed: str) -> None:
    """Refuse other choices of a parameter."""
    if given.text(key, default).casefold() not in [one.casefold() for one in allowed]:
        raise NotCarriedError(f"{key} is {given.text(key)!r}")


def off(given: Given, *keys: str) -> None:
    """Refuse parameters that are on."""
    for key in keys:
        if given.on(key):
            raise NotCarriedError(f"{key} is on")


def signs(given: Given, letter: str, default: str) -> str:
    """The signs of the inputs of a Sum or a Product, which may be a number of inputs."""
    text = given.text("Inputs", default).replace("|", "").replace(" ", "")
    if re.fullmatch(r"[+*/-]+", text):
        return text
    return letter * count(given, "Inputs", default)


def count(given: Given, key: str, default: str) -> int:
    """A number of ports."""
    found = given.value(key, default)
    if np.ndim(found) or not 1 <= found <= 1000:
        raise NotCarriedError(f"{key} is {given.text(key)}")
    return int(found)


def finite(given: Given, lower: str, upper: str, names: tuple[str, str]) -> dict[str, Any]:
    """The limits that are finite, by their names here."""
    found = {names[0]: given.value(lower, "-inf"), names[1]: given.value(upper, "inf")}
    return {key: value for key, value in found.items() if np.all(np.isfinite(value))}


def entries(text: str) -> list[str]:
    """The entries of a list that is written with commas, those within brackets left together."""
    found, depth = [""], 0
    for letter in text.strip().removeprefix("{").removesuffix("}"):
        depth += (letter in "[({") - (letter in "])}")
        if letter == "," and depth == 0:
            found.append("")
        else:
            found[-1] += letter
    return [one.strip() for one in found if one.strip()]
