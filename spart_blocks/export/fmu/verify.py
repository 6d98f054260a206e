"""Comparison of an FMU with the program from which it was made, through FMPy."""

from __future__ import annotations

import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from spart_blocks.base.errors import RunError, optional
from spart_blocks.diagram.network.clocks import exact
from spart_blocks.export.excitation import SEGMENTS, Excitation, driven, excitation_of, stopping
from spart_blocks.export.fmu.archive import started
from spart_blocks.export.fmu.stepping import stepping_of
from spart_blocks.export.fmu.variables import Variable, variables_of
from spart_blocks.export.unique import unique_outputs
from spart_blocks.program.subdiagram import Subdiagram
from spart_blocks.run import simulate
from spart_blocks.run.engines.engine import Floats

if TYPE_CHECKING:
    from spart_blocks.diagram import Diagram

SAMPLES = 100
CLOSE, SAME = 1e-6, 1e-9
"""Tolerances relative to the largest magnitude of an output: for a comparison with our run at rtol
1e-10, and with one in the same equal steps."""
ASKED = 1e-11
"""The tolerance of FMPy's solver, and of an FMU's own steps with error control."""
FLOOR = 1e-3
"""Magnitude of an output above which errors are relative."""
DRIFTING = 1e-2
"""The same in model exchange if only the importer's solver keeps states on constraints, such as
closed loops: an output that is zero on them then shows the drift of the solver."""
DAMPED = (
    "model exchange is not compared: with singular: damp the importer's solver may gain or lose "
    "energy where loops lose rank"
)


@dataclass(frozen=True)
class FmuVerification:
    """The result of a verification. problems: found by FMPy's validation. errors: the largest
    difference by interface and output, relative to the output's largest magnitude. tolerances: of
    the errors, by interface. fed: the source of the values of each input. note: what was not
    compared, and the reason."""

    problems: tuple[str, ...]
    errors: Mapping[tuple[str, str], float]
    tolerances: Mapping[str, float] = field(default_factory=dict)
    fed: Mapping[str, str] = field(default_factory=dict)
    note: str = ""

    @property
    def passed(self) -> bool:
        return not self.wrong

    @property
    def wrong(self) -> tuple[str, ...]:
        """The problems and the errors beyond tolerance, one line each."""
        return (
            *self.problems,
            *(
                f"{name} differs by {error:.2g} in {kind}, more than {self.tolerances[kind]:g}"
                for (kind, name), error in self.errors.items()
                if not error <= self.tolerances[kind]
            ),
        )


def verify_fmu(
    path: str | Path,
    part: Subdiagram,
    *,
    horizon: float = 1.0,
    rate: float | None = None,
    method: str | None = None,
    inputs: str = "zero",
    diagram: Diagram | None = None,
) -> FmuVerification:
    """Validate an FMU, and run it through both interfaces with changing inputs.

    horizon: duration of the runs [s]. rate, method, inputs: options of the export. diagram: the
    whole diagram; the inputs are then those of a run of it. Sines are added to constant inputs.
    Raises MissingExtraError without FMPy, RunError if a run fails.
    """
    optional("fmpy", "fmpy", "fmu", "checking an FMU")
    from fmpy.validation import validate_fmu

    problems = (*validate_fmu(str(path)), *_without_binary(path))
    errors: dict[tuple[str, str], float] = {}
    if problems:
        return FmuVerification(problems, errors)
    part = started(part, inputs)
    fed = excitation_of(part, horizon, diagram)
    every = interval_of(horizon)
    stepping = stepping_of(part, rate, method)
    accurate = {"solver": "auto", "rtol": 1e-10, "atol": 1e-12}
    alike = {"solver": stepping.method, "max_step": stepping.step}
    ours: dict[str, dict[str, Any]] = {
        "co-simulation": accurate if stepping.controlled else alike,
        "model exchange": accurate,
    }
    if part.program.damped:
        del ours["model exchange"]
    tolerances = {kind: CLOSE if how is accurate else SAME for kind, how in ours.items()}
    # In co-simulation steps end at communication points, and are equal up to there. In model
    # exchange the importer integrates all states, also those of blocks with own steps.
    program = driven(part.program, part, fed)
    programs = {
        "co-simulation": stopping(program, every, "communication points"),
        "model exchange": replace(program, fixed=()),
    }
    outputs = [v for v in variables_of(part) if v.causality == "output"]
    unique = unique_outputs(part)
    outputs = [v for v in outputs if v.title in unique] or outputs
    for kind, options in ours.items():
        names = tuple(v.title for v in outputs)
        wanted = simulate(programs[kind], T=horizon, every=every, log=names, **options)
        found = _simulated(path, kind, horizon, [n for v in outputs for n in _names(v)], part, fed)
        for variable in outputs:
            want = np.asarray(wanted[variable.title]).reshape(len(wanted.t), -1)
            got = _columns(found, variable)
            drifts = kind == "model exchange" and bool(part.program.drifting)
            floor = DRIFTING if drifts else FLOOR
            errors[kind, variable.title] = _error(got, want, bool(part.inputs), floor)
    note = DAMPED if part.program.damped else ""
    return FmuVerification(problems, errors, tolerances, fed.told, note)


def interval_of(horizon: float) -> float:
    """The time [s] between samples: exact for a decimal number, so that a sample at a tick is not
    slightly before it.
    """
    return float(exact(horizon) / SAMPLES)


def _simulated(
    path: str | Path, kind: str, horizon: float, names: list[str], part: Subdiagram, fed: Excitation
) -> Any:
    """FMPy's run through one interface, as a structured array."""
    import fmpy

    try:
        with _feeding(part, fed), _with_steps_enough():
            return fmpy.simulate_fmu(
                str(path),
                fmi_type=kind.title().replace(" ", "").replace("-", ""),
                stop_time=horizon,
                output_interval=interval_of(horizon),
                relative_tolerance=ASKED,
                record_events=False,
                output=names,
            )
    except Exception as error:  # FMPy raises exceptions of no more specific type
        raise RunError(f"FMPy cannot run the FMU in {kind}: {error}") from error


def _without_binary(path: str | Path) -> list[str]:
    with zipfile.ZipFile(path) as archive:
        if any(name.startswith("binaries/") for name in archive.namelist()):
            return []
    return ["the FMU has no binary for this platform, so it cannot run here"]


def _names(variable: Variable) -> list[str]:
    """The names of the array (FMI 3) and of its entries (FMI 2). FMPy ignores unknown names."""
    return [variable.name, *(entry.name for entry in variable.scalars())]


def _columns(found: Any, variable: Variable) -> Floats:
    if variable.name in found.dtype.names:
        return np.asarray(found[variable.name]).reshape(len(found), -1)
    return np.stack([np.asarray(found[entry.name]) for entry in variable.scalars()], axis=1)


@contextmanager
def _feeding(part: Subdiagram, fed: Excitation) -> Iterator[None]:
    """Make FMPy set the inputs of an FMU to these values. FMPy's own table of inputs accepts arrays
    of one shape only, and interpolates between its rows."""
    from fmpy import simulation

    usual = simulation.Input
    if part.inputs:
        simulation.Input = lambda fmu, modelDescription, *_, **more: _Fed(
            fmu, modelDescription, part, fed
        )
    try:
        yield
    finally:
        simulation.Input = usual


MOST_STEPS = 100_000
"""Most steps of FMPy's solver between two samples, of which it takes 500: a jump of what is stiff
needs more at these tolerances.
"""


@contextmanager
def _with_steps_enough() -> Iterator[None]:
    """Let FMPy's solver take more steps between two samples."""
    from fmpy import sundials

    usual = sundials.CVodeSolver
    sundials.CVodeSolver = partial(usual, maxNumSteps=MOST_STEPS)
    try:
        yield
    finally:
        sundials.CVodeSolver = usual


class _Fed:
    """Replaces FMPy's `Input`."""

    def __init__(self, fmu: Any, description: Any, part: Subdiagram, fed: Excitation) -> None:
        self._fed, self._segment = fed, -1
        titles = {v.title: v for v in variables_of(part) if v.causality == "input"}
        inputs = [titles[slot.name] for slot in part.inputs]
        if description.fmiVersion[0] == "3":
            self._set, self._references = fmu.setFloat64, [v.reference for v in inputs]
        else:
            entries = [entry for v in inputs for entry in v.scalars()]
            self._set, self._references = fmu.setReal, [entry.reference for entry in entries]

    def apply(self, time: float, *_: Any, after_event: bool = False, **more: Any) -> None:
        """Set the inputs at a time. A new segment starts at an event, not within a solver's
        step."""
        segment = min(int(time / self._fed.length + 1e-6), len(self._fed.rows) - 1)
        if self._segment < 0 or (after_event and segment != self._segment):
            self._segment = segment
            self._set(self._references, self._fed.rows[segment].tolist())

    def nextEvent(self, time: float) -> float:
        following = int(time / self._fed.length + 1e-6) + 1
        return following * self._fed.length if following < len(self._fed.rows) else np.inf


def _error(got: Floats, want: Floats, jumping: bool = False, floor: float = FLOOR) -> float:
    """The largest relative difference over the samples of both runs: a STOP may end a run between
    two samples. jumping: leave out the samples at which inputs jump, since the interfaces give
    outputs before or after the jump."""
    count = min(len(got), len(want))
    if abs(len(got) - len(want)) > 1:
        return float("inf")
    scale = max(np.abs(want).max(initial=0.0), floor)
    differences = np.abs(got[:count] - want[:count])
    if jumping:
        differences = np.delete(differences, slice(None, None, SAMPLES // SEGMENTS), axis=0)
    return float(differences.max(initial=0.0) / scale)
