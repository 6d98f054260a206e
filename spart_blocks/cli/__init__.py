"""The command `spart`. Prints, progress bars and exit codes live here and nowhere else.

A command imports packages other than Typer only when it runs, so that `spart --help` is fast.
"""

from __future__ import annotations

import gc
import sys
from collections.abc import Sequence

__all__ = ["main"]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; returns its exit code. arguments: by default the process's own."""
    if arguments is None:  # modules make many objects, and hardly any that end
        gc.set_threshold(50_000)
    try:
        from spart_blocks.cli.app import main as command
    except KeyboardInterrupt:  # before there is anything that could be lost
        sys.stderr.write("error: interrupted\n")
        return 1
    return command(arguments)
