"""`spart tune`: find parameters of a design."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from spart_blocks.base.errors import Fault, InputError
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
from spart_blocks.cli.terminal import FAILED, Ticker, complain

if TYPE_CHECKING:
    pass


@dataclass(frozen=True)
class Design:
    """Options: what is tuned, what is asked of it, and how it is searched."""

    parameters: Texts = option(
        "--parameter -p NAME=[MIN,MAX]",
        "Tune a parameter between bounds, in place of those of the file: 'kp=[1,100]', "
        "'kp={min: 1, max: 100, scale: log}'. May be repeated.",
    )
    minimize: str | None = option(
        "--minimize METRIC", "What is to be small, in place of what the file asks: 'rms(error)'."
    )
    maximize: str | None = option("--maximize METRIC", "The same, to be large.")
    constraints: Texts = option(
        "--constraint -c NAME=INEQUALITY",
        "What must hold, in place of the constraints of the file: 'torque=peak(tau) <= 2'. "
        "May be repeated.",
    )
    claims: Texts = option(
        "--claim NAME", "A claim of the file's expect: that must hold, or all. May be repeated."
    )
    aggregate: str | None = option(
        "--aggregate NAME", "Of the objective over the cases: worst, mean or a quantile, 0.95."
    )
    by_values: bool = switch(
        "--derivative-free", "Search by values alone, where runs have no exact derivatives."
    )
    samples: int | None = option("--samples N", "Designs that are tried before.", min=0)
    searches: int | None = option("--searches N", "Searches, from the best of these.", min=1)
    seed: int | None = option("--seed S", "Selects the samples and the draws.", min=0)
    iterations: int | None = option("--iterations N", "Most steps of a search.", min=1)
    resume: Path | None = option("--start FILE", "Start at the design of an earlier result: .json.")

    def changes(self) -> dict[str, Any]:
        """The arguments of `tune` that the options give."""
        found: dict[str, Any] = {
            "parameters": bounded("--parameter", self.parameters),
            "aggregate": _aggregate(self.aggregate), "samples": self.samples,
            "searches": self.searches, "seed": self.seed, "iterations": self.iterations,
            "start": self.resume, "claims": _claims(self.claims),
            "search": "derivative-free" if self.by_values else None,
        }  # fmt: skip
        if self.minimize or self.maximize:
            found |= {"minimize": self.minimize or {}, "maximize": self.maximize or {}}
        if self.constraints:
            found["constraints"] = dict(map(_constraint, self.constraints))
        return given(found)


def _constraint(text: str) -> tuple[str, str]:
    name, equals, inequality = text.partition("=")
    if not equals or not name.strip().isidentifier():
        hint = "--constraint 'torque=peak(tau) <= 2'"
        raise InputError(Fault(f"--constraint {text}: takes NAME=INEQUALITY", hint=hint))
    return name.strip(), inequality


def _claims(given: Texts) -> Any:
    if not given:
        return None
    return "all" if "all" in given else list(given)


def _aggregate(given: str | None) -> Any:
    try:
        return {"quantile": float(given or "")}
    except ValueError:
        return given


@command(
    "spart tune diagrams/tunes/servo.yaml --report out/servo.html",
    "spart tune servo.yaml -p 'kp=[1,100]' -p 'kd=[0,10]' --minimize 'rms(error)'",
    "spart tune servo.yaml -c 'torque=peak(motor) <= 2' --write --out out/servo.json",
)
def tune(
    *,
    file: Path = FILE,
    design: Design,
    loading: Loading,
    out: Path | None = option("--out -o FILE", "Save the design: .json."),
    page: Path | None = option("--report FILE", "Write a report: .html."),
    write: bool = switch(
        "--write", "Write the design into the diagram's file; the rest of its text stays."
    ),
    quiet: bool = QUIET,
) -> int:
    """Find the parameters of a design with which a metric is least, and constraints hold in every
    case: print them with what became of all that was asked.

    What is tuned and what is asked is in the diagram's tune section or in the options. Ctrl-C ends
    the search and keeps the best so far; --start goes on from it. The exit code is 1 if constraints
    do not hold, or the search has not ended by itself.
    """
    page = checked_file(page, (".html", ".htm"), REPORT)
    out = checked_file(out, (".json",))
    changes = design.changes()
    read = diagram_file(file, loading, quiet)
    from spart_blocks.tunes.tune import tune as tuned

    with Ticker(wanted=not quiet) as ticker:
        found = tuned(read, **changes, progress=lambda step, objective, excess: ticker(
            f"step {step}: objective {objective:.6g}, largest violation {excess:.2g}"
        ))  # fmt: skip
    with writing():
        finish(found, file, out, page, "the design" if write else None, quiet)
    if not found.feasible:
        complain(f"no design that was tried fulfils all constraints; {found.lacking}")
    return 0 if found.good else FAILED
