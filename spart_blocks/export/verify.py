"""Comparison of the compiled C of a subdiagram with its program, step by step."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from spart_blocks.base.errors import InputError, RunError
from spart_blocks.export.excitation import moved
from spart_blocks.export.header import FAULT, NOT_FINITE, OK
from spart_blocks.export.interface import numbers_of
from spart_blocks.export.loaded import LoadedStep
from spart_blocks.export.reference import stepper_of
from spart_blocks.export.schedule import eventful
from spart_blocks.export.step import StepCode
from spart_blocks.export.unique import unique_outputs, unique_states
from spart_blocks.program.subdiagram import entries_of
from spart_blocks.run import simulate
from spart_blocks.run.engines.engine import Floats

if TYPE_CHECKING:
    from spart_blocks.diagram import Diagram

TOLERANCES = {"double": 1e-12, "float": 1e-4}
"""Relative to the largest magnitude of a signal over all steps.

In double precision both run independently. In single precision each step starts from the program's
states, so that the error of one step is compared, not its growth over a thousand steps.
"""
EVENTFUL = 1e-6
"""The same in double precision where crossings act within steps. Their times are located to
25 ps, motions along surfaces go by differences of rates, and rounding decides whether a crossing at
the end of a step divides it or the next one.
"""
FLOOR = {"double": 1e-14, "float": 1e-6}


@dataclass(frozen=True)
class Verification:
    """The result of a verification. steps: number of compared steps. errors: largest difference of
    each output and state, relative to its largest magnitude. tolerance: of the errors. ended: the
    reason why both ended before the last step, if they did."""

    steps: int
    errors: Mapping[str, float]
    tolerance: float
    ended: str = ""

    @property
    def passed(self) -> bool:
        return all(error <= self.tolerance for error in self.errors.values())

    @property
    def worst(self) -> float:
        return max(self.errors.values(), default=0.0)


def recorded_inputs(diagram: Diagram, code: StepCode, horizon: float) -> Floats:
    """The inputs of the subdiagram (steps, inputs) in the whole diagram at each step, up to the
    horizon [s] or the time of a STOP.
    """
    if not 0 < horizon < math.inf:
        raise InputError(f"the time to compare must be positive and finite, not {horizon:g} s")
    step = float(code.schedule.step)
    steps = max(1, round(horizon / step))
    if not code.part.inputs:
        return np.zeros((steps, 0))
    names = tuple(slot.name for slot in code.part.inputs)
    results = simulate(diagram, T=steps * step, every=step, log=names)
    at = np.searchsorted(results.t, [code.schedule.time(k) - 0.01 * step for k in range(steps)])
    at = at[at < len(results.t)]
    columns = [np.asarray(results[name])[at].reshape(len(at), -1) for name in names]
    return np.concatenate(columns, axis=1)


def moving_inputs(code: StepCode, inputs: Floats) -> tuple[Floats, dict[str, str]]:
    """Inputs (steps, nu) from `recorded_inputs`, with sines instead of constant inputs, since a
    subdiagram at rest would prove nothing; and the source of each. Constant inputs are kept if the
    subdiagram would not stay finite.
    """
    recorded, start = {}, 0
    for slot in code.part.inputs:
        size = slot.part.stop - slot.part.start
        recorded[slot.name] = inputs[:, start : start + size]
        start += size
    rows, told = moved(code.part, recorded, len(inputs))
    reference, entries = stepper_of(code.part, code.schedule), entries_of(code.part.inputs)
    try:
        for row in rows:
            reference.p[entries] = row
            if reference.output()[1] or reference.update():
                break
    except RunError:
        return inputs, {name: "held" if text == "sines" else text for name, text in told.items()}
    return rows, told


def verify(code: StepCode, inputs: Floats) -> Verification:
    """Compare outputs and states of the compiled C with the program stepped by the same method.

    inputs (steps, nu): the inputs at each step, in the order of the subdiagram.
    Raises RunError if either fails, CompilerError if the C does not compile.
    """
    compiled, reference = LoadedStep(code), stepper_of(code.part, code.schedule)
    entries = entries_of(code.part.inputs)
    pairs: list[tuple[Floats, Floats]] = []
    ended = OK
    for row in inputs:
        reference.p[entries] = row
        compiled.set_inputs(reference.p)
        if code.real == "float":
            compiled.set_states(reference.x, reference.xd)
        status, y = compiled.output()
        wanted, ended = reference.output()
        _agree(status, ended, reference.t)
        if not ended:
            ended = reference.update()
            _agree(compiled.update(), ended, reference.t)
        ends = (compiled.states(), np.concatenate([reference.x, reference.xd]))
        pairs.append((np.concatenate([y, ends[0]]), np.concatenate([wanted, ends[1]])))
        if ended:
            break
    found, expected = (np.array(column) for column in zip(*pairs, strict=True))
    errors = _errors(code, found, expected)
    why = ""
    if len(pairs) < len(inputs):
        why = compiled.fault if ended == FAULT else "a STOP block acts"
    tolerance = TOLERANCES[code.real]
    if eventful(code.part.program, code.schedule.method):
        tolerance = max(tolerance, EVENTFUL)
    return Verification(len(pairs), errors, tolerance, why)


def _agree(status: int, wanted: int, t: float) -> None:
    if status == NOT_FINITE:
        raise RunError("the C gives a number that is not finite, the program does not", time=t)
    if status != wanted:
        raise RunError("the C and the program do not end at the same step", time=t)


def _errors(code: StepCode, found: Floats, expected: Floats) -> dict[str, float]:
    parts = {m.name: slice(m.place, m.place + m.size) for m in code.interface.outputs}
    start = numbers_of(code.interface.outputs)
    program = code.part.program
    for slots in (program.states, program.discrete):
        for slot in slots:
            parts[f"state of {slot.name}"] = slice(start + slot.part.start, start + slot.part.stop)
        start += slots[-1].part.stop if slots else 0
    states = {f"state of {name}" for name in unique_states(program)}
    unique = unique_outputs(code.part) | states
    errors = {}
    for name, part in parts.items():
        if name not in unique:
            continue
        scale = max(np.abs(expected[:, part]).max(initial=0.0), FLOOR[code.real])
        difference = np.abs(found[:, part] - expected[:, part]).max(initial=0.0)
        errors[name] = float(difference / scale)
    return errors
