"""Runs a diagram again with the controls of an optimum as recorded signals."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from spart_blocks.base.document import Document
from spart_blocks.base.errors import Fault, InputError
from spart_blocks.base.paths import element_names
from spart_blocks.diagram.build.loader import load_document
from spart_blocks.fits.free import Free
from spart_blocks.optimal.curves import Samples
from spart_blocks.optimal.mesh import Floats
from spart_blocks.optimal.problem import Problem
from spart_blocks.optimal.recorded import VALUE
from spart_blocks.optimal.transcription import Motion
from spart_blocks.results import Results
from spart_blocks.results.files import save_table
from spart_blocks.results.signal_names import STATES
from spart_blocks.run.engines.from_file import DiagramFile
from spart_blocks.run.simulate import simulate
from spart_blocks.sweeps.plan.memory_source import FileSource, MemorySource
from spart_blocks.versions.edits import Operation, Retype, edited

DIGITS = 9
"""Significant digits of controls in a file."""


@dataclass(frozen=True)
class Rerun:
    """A run with the controls of an optimum. results: of each phase. off: the largest difference of
    each state from the optimum's, by name, relative to the size of the state.
    """

    results: tuple[Results, ...]
    off: Mapping[str, float]

    @property
    def worst(self) -> float:
        """The largest difference, relative to the size of its state."""
        return max(self.off.values(), default=0.0)


def data_blocks(problem: Problem, text: str, file: str, data: str) -> list[Operation]:
    """The edits of a diagram's text by which DATA blocks give the controls. data: their file, as
    the diagram names it, in which each signal has the name of its control. Raises InputError for a
    control that is no block's whole value."""
    written = edited(text, [], file).file
    operations = []
    for one in problem.controls:
        parameters: dict[str, Any] = {"file": data, "signals": {"y": one.name}}
        operations.append(_retyped(written, block_of(problem, one), parameters))
    return operations


def _retyped(file: Any, name: str, parameters: Mapping[str, Any]) -> Operation:
    home, _, own = name.rpartition("/")
    section: Any = file.data
    for part in home.split("/") if home else ():
        section = section["subsystems"].get(part, {})
    block = section["blocks"].get(own, {})
    others = tuple(key for key in block if key not in ("type", *parameters))
    return Retype(own, "DATA", parameters, others, home)


def block_of(problem: Problem, one: Free) -> str:
    """The block whose whole value a control is. Raises InputError if there is none."""
    program = problem.program
    known = {slot.name for slot in program.parameters}
    base = one.name.removeprefix("blocks.")
    own = program.given.get(base, ())  # of a name of params: that one block takes
    names: list[str] = [base, f"{base}{VALUE}", *(own if len(own) == 1 else ())]
    for name in names:
        if name in known and name.endswith(VALUE):
            return name.removesuffix(VALUE)
    hint = "make the control the value of a CONSTANT block"
    raise InputError(
        Fault(f"{one.name} is not the value of a block, as DATA could give it", hint=hint)
    )


def signals_of(problem: Problem, samples: Samples) -> dict[str, Floats]:
    """The columns of a DATA block's file: the controls over time."""
    columns = {"t": samples.t}
    for one in problem.controls:
        for k, name in enumerate(element_names(one.name, one.shape)):
            column = samples.u[:, one.part.start + k].tolist()
            columns[name] = np.array([float(f"{value:.{DIGITS}g}") for value in column])
    return columns


def rerun(
    source: FileSource | MemorySource, problem: Problem, motion: Motion, samples: Samples
) -> Rerun:
    """Run the diagram again. Raises RunError if that fails; InputError for a diagram that is no
    file."""
    if isinstance(source, MemorySource):
        hint = "save the controls, and give them to a DATA block"
        raise InputError(Fault("only a diagram in a file is run again", hint=hint))
    with TemporaryDirectory() as folder:
        data = save_table(signals_of(problem, samples), Path(folder) / "optimum.csv")
        document = source.document()
        blocks = data_blocks(problem, document.text, document.file, str(data))
        after = edited(document.text, blocks, document.file).file.document
        return _run(source.given, problem, motion, samples, after)


def _run(
    given: DiagramFile, problem: Problem, motion: Motion, samples: Samples, document: Document
) -> Rerun:
    program = problem.program
    values = {}
    for given_once in problem.parameters:
        values[given_once.name] = np.asarray(given_once.shaped(motion.q)).tolist()
    results: list[Results] = []
    off: dict[str, float] = {}
    labels = [label.removeprefix(STATES) for label in problem.state_labels]
    sizes = np.maximum(np.abs(samples.x).max(axis=0, initial=0.0), 1e-9)
    for phase, one, t0 in zip(problem.phases, motion.phases, motion.starts, strict=True):
        changes = problem.section.phases[phase.name].set if problem.section.phases else {}
        overrides = (*given.overrides, *_texts({**values, **changes}))
        ready = load_document(document, given.path, "/", overrides, given.variants, given.blocks)
        initial = results[-1].final_state if results else None
        found = simulate(ready, T=t0 + one.T, initial=initial)
        results.append(found)
        gaps = np.abs(_states_of(found, program) - one.states((found.t - t0) / one.T))
        for label, gap in zip(labels, (gaps.max(axis=0) / sizes).tolist(), strict=True):
            off[label] = max(off.get(label, 0.0), gap)
    return Rerun(tuple(results), off)


def _texts(values: Mapping[str, Any]) -> list[str]:
    return [f"{name}={json.dumps(value)}" for name, value in values.items()]


def _states_of(results: Results, program: Any) -> Floats:
    """The states (n, nx) of a run at its rows."""
    columns = [np.asarray(results.states[slot.name]).reshape(len(results.t), -1)
               for slot in program.states]  # fmt: skip
    return np.concatenate([np.zeros((len(results.t), 0)), *columns], axis=1)
