"""`spart fit`: estimate parameters of a diagram from measured signals."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from spart_blocks.base.errors import Fault, InputError
from spart_blocks.cli.commands import (
    FILE,
    QUIET,
    Loading,
    Texts,
    command,
    diagram_file,
    named_values,
    option,
    switch,
)
from spart_blocks.cli.ending import writing
from spart_blocks.cli.outputs import REPORT, checked_file
from spart_blocks.cli.searches import bounded, finish, given
from spart_blocks.cli.terminal import FAILED, Ticker

if TYPE_CHECKING:
    pass


@dataclass(frozen=True)
class Search:
    """Options: what is estimated, and how it is searched."""

    parameters: Texts = option(
        "--parameter -p NAME=[MIN,MAX]",
        "Estimate a parameter between bounds, in place of those of the file: 'J=[1e-6,1]', "
        "'J={min: 1e-6, scale: log}', or J alone. May be repeated.",
    )
    data: Path | None = option(
        "--data FILE", "Measured signals: .csv, .npz, .mat, .mcap, or a bag of ROS."
    )
    signals: Texts = option(
        "--signal SIGNAL=COLUMN", "A signal and its name in the data. May be repeated."
    )
    loss: str | None = option(
        "--loss NAME", "linear, or soft_l1, huber, cauchy, arctan, which heed outliers less."
    )
    starts: int | None = option("--starts N", "Searches from different starts.", min=1)
    seed: int | None = option("--seed S", "Selects the starts.", min=0)
    iterations: int | None = option("--iterations N", "Most runs of a search.", min=1)
    prior: float | None = option(
        "--prior P", "How far, as a fraction, the file's inertial parameters may be wrong."
    )
    resume: Path | None = option("--start FILE", "Start from the estimates of a fit: its .json.")

    def changes(self) -> dict[str, Any]:
        """The arguments of `fit` that the options give."""
        found: dict[str, Any] = {
            "parameters": bounded("--parameter", self.parameters),
            "loss": self.loss, "starts": self.starts, "seed": self.seed,
            "iterations": self.iterations, "start": self.resume,
            "prior": self.prior,
        }  # fmt: skip
        if (self.data is None) != (not self.signals):
            hint = "--data step.csv --signal motor.w=w"
            raise InputError(Fault("--data and --signal go together", hint=hint))
        if self.data is not None:
            pairs = named_values("--signal", self.signals, "motor.w=w")
            one = {"file": str(self.data), "signals": dict(pairs)}
            found["experiments"] = {self.data.stem: one}
        return given(found)


@command(
    "spart fit diagrams/fitted_motor.yaml --report out/fit.html",
    "spart fit motor.yaml --data step.csv --signal motor.w=w -p 'J=[1e-6,1]' -p b",
    "spart fit diagrams/fitted_motor.yaml --write --out out/fit.json",
)
def fit(
    *,
    file: Path = FILE,
    search: Search,
    loading: Loading,
    out: Path | None = option("--out -o FILE", "Save the estimates: .json."),
    profile: Texts = option(
        "--profile NAME",
        "Move this estimate while the others follow: its interval where the model is far from "
        "linear. May be repeated.",
    ),
    leave_one_out: bool = switch(
        "--leave-one-out",
        "Cross validation: predict each experiment by the estimates of the others.",
    ),
    page: Path | None = option("--report FILE", "Write a report: .html."),
    write: bool = switch(
        "--write",
        "Write the estimates into the diagram's file, with their intervals as comments; "
        "the rest of its text stays.",
    ),
    quiet: bool = QUIET,
) -> int:
    """Estimate parameters so that runs are as they were measured: print the estimates with
    intervals, what cannot be told apart, and what is left of the errors.

    What is estimated, and from which files, is in the diagram's fit section or in the options.
    Ctrl-C ends the search and keeps the best so far; --start goes on from it. The exit code is 1 if
    the search has not ended by itself.
    """
    page = checked_file(page, (".html", ".htm"), REPORT)
    out = checked_file(out, (".json",))
    changes = search.changes()
    read = diagram_file(file, loading, quiet)
    from spart_blocks.fits.fit import fit as fitted

    with Ticker(wanted=not quiet) as ticker:
        found = fitted(
            read, **changes, profiles=tuple(profile or ()), several=leave_one_out,
            progress=lambda step, cost, moved, name: ticker(
                f"{f'{name}, ' if name else ''}step {step}: sum of squares {cost:.6g}, "
                f"values moved by {moved:.2g}"
            ),
        )  # fmt: skip
    with writing():
        finish(found, file, out, page, "the estimates" if write else None, quiet)
    for name in profile or ():
        with Ticker(wanted=not quiet) as ticker:
            ticker(f"the profile of {name}")
            shown = found.profile(name)
        typer.echo(f"by its profile {shown}")
    if leave_one_out:
        with Ticker(wanted=not quiet) as ticker:
            crossed = found.leave_one_out(lambda name: ticker(f"without {name}"))
        typer.echo(f"\n{crossed}")
    return 0 if found.ended else FAILED
