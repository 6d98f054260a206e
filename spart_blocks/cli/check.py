"""`spart check`: run a diagram on both engines and compare."""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

from spart_blocks.cli.help_texts import with_examples
from spart_blocks.cli.options import (
    Blocks,
    DiagramFile,
    EndTime,
    Quiet,
    Root,
    Settings,
    Variants,
    diagram_file,
)
from spart_blocks.cli.progress import ProgressBar
from spart_blocks.cli.reporting import FAILED, Debug, reporting
from spart_blocks.cli.terminal import complain, put, say

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.table import Table

    from spart_blocks.analysis.agreement import Difference


@with_examples(
    "spart check diagrams/spacecraft_pd.yaml",
    "spart check diagrams/dual_arm.yaml --t 2",
)
def check(
    file: DiagramFile,
    settings: Settings = None,
    end: EndTime = None,
    variants: Variants = None,
    blocks: Blocks = None,
    root: Root = None,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Run a diagram on the native engine and on the interpreter, and compare.

    Both run at rtol 1e-10. Prints the difference of every kept signal and state, relative to its
    largest magnitude; the exit code is 1 if a difference exceeds 1e-7.
    """
    with reporting(debug):
        diagram = diagram_file(file, settings, root, variants, blocks, quiet).load()
        from spart_blocks.analysis.agreement import ALIKE, compare_engines

        if not quiet:
            until = diagram.run.T if end is None else end
            say(f"running {diagram.name} on both engines to t = {until:g} s")
        with ProgressBar(wanted=not quiet) as progress:
            differences = compare_engines(diagram, end, progress)
        if not quiet:
            put(_table(differences))
        apart = [one.name for one in differences if not one.alike]
        if apart:
            complain(f"the engines are more than {ALIKE:g} apart in {', '.join(apart)}")
            raise typer.Exit(FAILED)
        if not quiet:
            typer.echo(f"{diagram.name}: the engines agree to {ALIKE:g}")


def _table(differences: Sequence[Difference]) -> Table:
    from rich.table import Table

    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    for column in ("signal or state", "relative difference", "largest magnitude", "at t [s]"):
        table.add_column(column, justify="left" if column == "signal or state" else "right")
    for one in differences:
        table.add_row(one.name, f"{one.relative:.2e}", f"{one.scale:.6g}", f"{one.t:.6g}")
    return table
