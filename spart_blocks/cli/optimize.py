"""`spart optimize`: optimal control of a diagram."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from spart_blocks.base.errors import Fault, InputError, RunError
from spart_blocks.cli.commands import (
    FILE,
    QUIET,
    Loading,
    Texts,
    command,
    diagram_file,
    option,
    switch,
)
from spart_blocks.cli.ending import writing
from spart_blocks.cli.outputs import REPORT, checked_file
from spart_blocks.cli.searches import bounded, finish, given
from spart_blocks.cli.terminal import FAILED, Ticker, say

if TYPE_CHECKING:
    from spart_blocks.optimal.optimum import Optimum


@dataclass(frozen=True)
class Asked:
    """Options: what is chosen, and how it is searched."""

    minimize: str | None = option("--minimize METRIC", "Make this least: 'integral(u[0]**2)'.")
    maximize: str | None = option("--maximize METRIC", "Make this greatest.")
    controls: Texts = option(
        "--control -u NAME=[MIN,MAX]",
        "A value that becomes a function of time, between bounds, in place of those of the file. "
        "May be repeated.",
    )
    parameters: Texts = option(
        "--parameter -p NAME=[MIN,MAX]", "A value that is chosen once. May be repeated."
    )
    T: str | None = option("--t SECONDS|[MIN,MAX]", "The duration, fixed or between bounds.")
    end: Texts = option(
        "--end SIGNAL=LIMIT", "What must hold at the end: 'plant.qm=[1,0]', 'v={max: 1}'."
    )
    path: Texts = option(
        "--limit SIGNAL=LIMIT", "What must hold all the time: 'plant.um={max: 1}'."
    )
    intervals: int | None = option("--intervals N", "Intervals at the start.", min=1)
    degree: int | None = option("--degree N", "Of the polynomials in each interval, 2 to 9.", min=2)
    tolerance: float | None = option("--tolerance E", "Largest error of an interval.")
    iterations: int | None = option("--iterations N", "Most steps on one mesh.", min=1)
    resume: Path | None = option("--start FILE", "Start from an earlier optimum: its .json.")

    def changes(self) -> dict[str, Any]:
        """The arguments of `optimize` that the options give."""
        from spart_blocks.base.document import parse_value

        found: dict[str, Any] = {
            "minimize": self.minimize, "maximize": self.maximize, "iterations": self.iterations,
            "start": self.resume, "end": _limits("--end", self.end),
            "path": _limits("--limit", self.path), "controls": bounded("--control", self.controls),
            "parameters": bounded("--parameter", self.parameters),
        }  # fmt: skip
        if self.T is not None:
            found["T"] = parse_value(self.T, f"--t {self.T}")
        mesh = {"intervals": self.intervals, "degree": self.degree, "tolerance": self.tolerance}
        found["mesh"] = given(mesh) or None
        return given(found)


def _limits(option: str, texts: Texts) -> dict[str, Any] | None:
    """Limits by formula of `SIGNAL=LIMIT`; the last = parts them. None where nothing is given."""
    from spart_blocks.base.document import parse_value

    if not texts:
        return None
    found: dict[str, Any] = {}
    for text in texts:
        name, equals, value = text.rpartition("=")
        if not equals:
            raise InputError(Fault(f"{text} has no limit", hint=f"{option} plant.qm=[1,0]"))
        found[name.strip()] = parse_value(value, f"{option} {text}")
    return found


@command(
    "spart optimize diagrams/optimal/arm_in_least_time.yaml --report out/optimum.html",
    "spart optimize cart.yaml --minimize duration -u 'force=[-1,1]' --t '[0.1,10]' --end p=1",
    "spart optimize cart.yaml --write --out out/optimum.json",
)
def optimize(
    *,
    file: Path = FILE,
    asked: Asked,
    loading: Loading,
    out: Path | None = option(
        "--out -o FILE",
        "Save the controls and states over time, as a DATA block reads them: .csv; with gains that "
        "keep a run near them: .npz; or all, to go on from it: .json.",
    ),
    page: Path | None = option("--report FILE", "Write a report: .html."),
    write: bool = switch(
        "--write",
        "Write DATA blocks that give the controls into the diagram's file, and their .csv beside "
        "it; the rest of its text stays.",
    ),
    again: bool = switch("--no-rerun", "Do not run the diagram again with the controls."),
    quiet: bool = QUIET,
) -> int:
    """Find controls over time and parameters that make a metric least or greatest, and run the
    diagram with them: print what was chosen, and how far the run is from the optimum.

    What is chosen, and what must hold, is in the diagram's optimize section or in the options.
    Ctrl-C ends the search and keeps the best so far; --start goes on from it. The exit code is 1
    if no optimum was found.
    """
    page = checked_file(page, (".html", ".htm"), REPORT)
    out = checked_file(out, (".csv", ".npz", ".json"))
    read = diagram_file(file, loading, quiet)
    from spart_blocks.optimal.optimize import optimize as optimized

    changes = asked.changes()
    with Ticker(wanted=not quiet) as ticker:
        found = optimized(read, **changes, progress=lambda step, value, off: ticker(
            f"step {step}: {_objective(changes)}{value:.8g}, off by {off:.1e}"
        ))  # fmt: skip
    with writing():
        finish(found, file, out, page, "the optimum" if write else None, quiet)
    if found.ended and not again and not quiet:
        _run_again(found)
    return 0 if found.ended else FAILED


def _objective(changes: dict[str, Any]) -> str:
    """The name of the objective, where it was given."""
    text = changes.get("minimize") or changes.get("maximize")
    return f"{text} " if text else "objective "


def _run_again(found: Optimum) -> None:
    try:
        again = found.rerun
    except (RunError, InputError) as error:
        say(f"not run again with these controls: {error}")
        return
    worst = max(again.off, key=lambda name: again.off[name], default="")
    text = f"run again with these controls, states differ by at most {again.worst:.1e}"
    typer.echo(f"{text} of their size ({worst})" if worst else text)
