"""Writes an optimum into the file of a diagram."""

from __future__ import annotations

from pathlib import Path

from spart_blocks.base.document import read_file
from spart_blocks.base.errors import Fault, InputError
from spart_blocks.fits.written import rounded
from spart_blocks.optimal.curves import Samples
from spart_blocks.optimal.problem import Problem
from spart_blocks.optimal.recorded import VALUE
from spart_blocks.optimal.rerun import block_of, data_blocks, signals_of
from spart_blocks.optimal.transcription import Motion
from spart_blocks.results.files import save_table
from spart_blocks.versions.edits import Operation, Put, Tune, edit, edited

DIGITS = 15


def write_optimum(path: Path, problem: Problem, motion: Motion, samples: Samples) -> Path:
    """Write DATA blocks that give the controls into a diagram's file, with the chosen parameters
    and the duration; and their file beside it, which is given. Raises InputError."""
    if any(phase.set for phase in problem.section.phases.values()):
        text = "its phases set parameters, which one run cannot"
        raise InputError(Fault(text, hint="save the controls, and run each phase"))
    for one in problem.controls:
        block = block_of(problem, one)
        if one.name.removeprefix("blocks.").removesuffix(VALUE) != block:
            text = f"{one.name} of params: would no longer be what {block} gives"
            raise InputError(Fault(text, hint=f"name the block as control: {block}"))
    data = path.with_name(f"{path.stem}_optimum.csv")
    text = read_file(path)[1]
    operations: list[Operation] = list(data_blocks(problem, text, str(path), data.name))
    for one in problem.parameters:
        operations.append(Tune(one.name, rounded(motion.q, one, DIGITS)))
    T = float(f"{motion.T:.{DIGITS}g}")
    operations.append(Put(("run", "T"), T))
    edited(text, operations, str(path))  # raises before anything is written
    save_table(signals_of(problem, samples), data)
    edit(path, operations)
    return data
