"""Blocks that switch modes, such as RELAY, at a fixed step.

At the start of a step, after its ticks, they switch until they fit. So a mode changes up to
a step later than in a simulation, where it does at the crossing itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from spart_blocks.export.functions import indented, selected
from spart_blocks.program.program import Program

MOST_SWITCHES = 100
"""So often at one step; what does not fit by then goes on at the next."""


@dataclass(frozen=True)
class Mode:
    """A block that switches. rows: which watched values are its own. at: where these begin
    among those of all modes. states: its place in x."""

    block: str
    rows: tuple[int, ...]
    at: int
    states: slice


def modes_of(program: Program) -> list[Mode]:
    """The blocks of a program that switch modes, in the order in which they are watched."""
    places = {slot.name: slot.part for slot in program.states}
    rows: dict[str, list[int]] = {}
    for k, crossing in enumerate(program.crossings):
        if crossing.kind == "mode":
            rows.setdefault(crossing.block, []).append(k)
    modes, at = [], 0
    for block, own in rows.items():
        modes.append(Mode(block, tuple(own), at, places[block]))
        at += len(own)
    return modes


def watched_by(program: Program, modes: Sequence[Mode]) -> Any:
    """The Function (t, x, xd, p) -> the watched values of all modes."""
    return selected(program.watched, [k for mode in modes for k in mode.rows], "modes")


def switched(program: Program, mode: Mode) -> Any:
    """The Function (t, x, xd, p) -> the states of one block after it has switched."""
    rows = range(mode.states.start, mode.states.stop)
    return selected(program.switched, rows, "switched")


def settle_text(modes: Sequence[Mode], head: str, real: str, projects: int) -> str:
    """The C function that lets blocks switch until they fit. It calls `modes`, `switched_K`
    and `project`. head: its first line. projects: the length of x where this has constraints,
    else 0."""
    watched = modes[-1].at + len(modes[-1].rows)
    widest = max(mode.states.stop - mode.states.start for mode in modes)
    rounds = ["int unfit = 0, any;", "modes(t, x, xd, u, p, g);"]
    for k, mode in enumerate(modes):
        size = mode.states.stop - mode.states.start
        rounds += [
            "any = 0;",
            f"for (int i = {mode.at}; i < {mode.at + len(mode.rows)}; i++) any |= g[i] > 0;",
            "if (any) {",
            f"  switched_{k}(t, x, xd, u, p, after);",
            f"  for (int i = 0; i < {size}; i++) x[{mode.states.start} + i] = after[i];",
            "}",
            "unfit |= any;",
        ]
    rounds.append("if (!unfit) break;")
    lines = [
        f"{real} g[{watched}], after[{max(widest, projects)}];",
        *(["int moved = 0;"] if projects else []),
        f"for (int n = 0; n < {MOST_SWITCHES}; n++) {{",
        *indented([*rounds, *(["moved = 1;"] if projects else [])]),
        "}",
    ]
    if projects:
        lines += [
            "if (moved) {",
            "  project(t, x, xd, u, p, after);",
            f"  for (int i = 0; i < {projects}; i++) x[i] = after[i];",
            "}",
        ]
    return "\n".join([head, *indented(lines), "}"])
