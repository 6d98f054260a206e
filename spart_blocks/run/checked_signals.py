"""Warnings of a run in which blocks that check signals have failed."""

from __future__ import annotations

from spart_blocks.base.errors import warn
from spart_blocks.results import Results
from spart_blocks.run.engines.engine import Engine


def warn_of_checks(results: Results, engine: Engine) -> None:
    """Emit a warning for each block of a check that has failed, with the time."""
    states = {**results.final_state.continuous, **results.final_state.discrete}
    for block, text in engine.display.checks.items():
        since = float(states[block][0])
        if since >= 0:
            warn(f"block {block}: {text}, at t = {since:.6g} s")
