"""Prepares a process for a run before there is one: importing this module imports what runs need,
and `prepare` fills the caches that make the run of a file begin at once.

The run itself does all that it always does. The caches look at the contents of the files, so that
a file that has changed since is traced again.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from typing import Any

from spart_blocks.run.loop import library
from spart_blocks.run.simulate import begin
from spart_blocks.studio.runs.runner import COMPILING, LOADING, ToldFile, file_of_job

# Imported for the runs that follow.
from spart_blocks.studio.runs.worker import serve as serve


def prepare(order: Mapping[str, Any], say: Callable[[Mapping[str, Any]], None]) -> None:
    """Load the program and the compiled code of a file. order: the file, as in the job of a run;
    whether to trace and compile it if its program is not in the cache."""
    if "file" not in order:
        return

    def stage(doing: str) -> None:
        say({"tell": "doing", "doing": doing})

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the run gives them
        file = file_of_job(order)
        if not order["trace"] and file.remembered() is None:
            return
        stage(LOADING)
        run = begin(ToldFile.of(file, stage))
        stage(COMPILING)
        library(run)
