"""The command `spart`. Prints, progress bars and exit codes live here and nowhere else.

What a command needs beyond Typer it imports when it runs, so that `spart --help` is quick.
"""

from __future__ import annotations

from spart_blocks.cli.app import main

__all__ = ["main"]
