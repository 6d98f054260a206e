"""`spart check`: run a diagram on both engines and compare."""

from __future__ import annotations

from pathlib import Path

import typer

from spart_blocks.cli.commands import (
    END,
    FILE,
    QUIET,
    Loading,
    command,
    diagram_file,
)
from spart_blocks.cli.terminal import FAILED, ProgressBar, complain, headed_table, put, say


@command(
    "spart check diagrams/spacecraft_pd.yaml",
    "spart check diagrams/dual_arm.yaml --t 2",
)
def check(
    *,
    file: Path = FILE,
    end: float | None = END,
    loading: Loading,
    quiet: bool = QUIET,
) -> int:
    """Run a diagram on the native engine and on the interpreter, and compare.

    Both run at rtol 1e-10. Prints the difference of every kept signal and state, relative to its
    largest magnitude; the exit code is 1 if a difference exceeds 1e-7.
    """
    diagram = diagram_file(file, loading, quiet).load()
    from spart_blocks.analysis.agreement import ALIKE, compare_engines

    until = diagram.run.T if end is None else end
    say(f"running {diagram.name} on both engines to t = {until:g} s", unless=quiet)
    with ProgressBar(wanted=not quiet) as progress:
        differences = compare_engines(diagram, end, progress)
    if not quiet:
        columns = ("signal or state", "relative difference", "largest magnitude", "at t [s]")
        numbers = (
            (d.name, f"{d.relative:.2e}", f"{d.scale:.6g}", f"{d.t:.6g}") for d in differences
        )
        put(headed_table(columns, numbers))
    apart = [one.name for one in differences if not one.alike]
    if apart:
        complain(f"the engines are more than {ALIKE:g} apart in {', '.join(apart)}")
        return FAILED
    if not quiet:
        typer.echo(f"{diagram.name}: the engines agree to {ALIKE:g}")
    return 0
