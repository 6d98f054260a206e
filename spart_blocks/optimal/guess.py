"""Where a search starts: a run of the diagram, straight lines, or an earlier optimum."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction

import numpy as np

from spart_blocks.base.errors import Fault, InputError, RunError, warn
from spart_blocks.base.paths import split_index
from spart_blocks.optimal.mesh import Floats, Mesh
from spart_blocks.optimal.problem import Problem, whole
from spart_blocks.optimal.recorded import Recorded
from spart_blocks.optimal.transcription import Motion, PhaseMotion
from spart_blocks.program.added_signals import entries
from spart_blocks.program.tracing.switching import SwitchTimes
from spart_blocks.run.engines.native import Native

WILD = 1e6
"""States of a run that are larger than this, times those at its start, are no guess."""
MOST_RATES = 100_000
"""Rates that a run for a guess may take; one that needs more has come near a singularity."""

Rates = Callable[[float, Floats], Floats]
"""The derivatives (nx,) of states at a time."""


def guessed(problem: Problem) -> Motion:
    """The motion at which a search starts."""
    meshes = first_meshes(problem)
    asked = problem.section.guess
    if asked.by == "run":
        try:
            return _by_run(problem, meshes)
        except RunError as error:
            warn(f"the run from which the search would start fails ({error}); it starts at rest")
    return _by_lines(problem, meshes)


def first_meshes(problem: Problem) -> list[Mesh]:
    """Meshes of even intervals, with borders where sources switch. Warns of sources that switch in
    a phase whose time is free, where no border can follow them."""
    section = problem.section.mesh
    meshes, t0, moves = list[Mesh](), 0.0, False
    for phase in problem.phases:
        borders = np.linspace(0.0, 1.0, section.intervals + 1)
        moves = moves or not phase.T.fixed
        known = problem.program.switches(phase.p)
        end = t0 + (phase.start if not moves or phase.T.max is None else float(phase.T.max))
        inner = [(one.block, t) for one in known for t in _times(one, t0, end)]
        if inner and moves:
            warn(
                f"{inner[0][0]} switches at {inner[0][1]:g} s, which no mesh of a free time follows"
            )
        elif inner:
            at = [(t - t0) / phase.start for _, t in inner]
            borders = np.union1d(borders, [share for share in at if 1e-9 < share < 1 - 1e-9])
            borders = borders[np.append(np.diff(borders) > 1e-9, True)]
        meshes.append(Mesh(borders, section.degree))
        t0 += phase.start
    return meshes


def _times(one: SwitchTimes, start: float, end: float) -> list[float]:
    """The times at which a source switches within a phase."""
    found = one.within(Fraction(start), Fraction(end))
    if found is None:
        return []
    first, period, k, count = found
    return [float(first + (k + j) * period) for j in range(count)]


def chosen_at_start(problem: Problem) -> Floats:
    """What is chosen once, at the start of the search."""
    return whole([one.start for one in problem.parameters])


def controls_at_start(problem: Problem) -> Floats:
    """The controls at the start of the search."""
    return whole([one.start for one in problem.controls])


def parameters_of(problem: Problem, k: int, u: Floats, q: Floats) -> Floats:
    """The parameters p (np,) in phase k with these controls and what is chosen once."""
    p = problem.control_places.parameters(problem.phases[k].p, u)
    return problem.parameter_places.parameters(p, q)


def _by_run(problem: Problem, meshes: Sequence[Mesh]) -> Motion:
    u, q = controls_at_start(problem), chosen_at_start(problem)
    x: Floats | None = None
    phases, t0 = [], 0.0
    for k, (phase, mesh) in enumerate(zip(problem.phases, meshes, strict=True)):
        engine = problem.engine.with_parameters(parameters_of(problem, k, u, q))
        T = phase.start
        x = engine.project(0.0, engine.program.x0.copy()) if x is None else x
        recorded = problem.recorded
        times = t0 + T * np.concatenate([[0.0], mesh.times])
        states = followed(_rates(engine if recorded is None else recorded.engine), x, times)
        if not np.abs(states).max() <= WILD * max(1.0, float(np.abs(states[0]).max())):
            raise RunError("its states grow without bound")
        controls = np.tile(u, (mesh.points, 1))
        if recorded is not None:
            _put_recorded(problem, recorded, times[1:], states[1:], controls)
        phases.append(PhaseMotion(mesh, T, states, controls))
        t0, x = t0 + T, states[-1].copy()
    return Motion(tuple(phases), q)


def _put_recorded(
    problem: Problem, recorded: Recorded, times: Floats, states: Floats, controls: Floats
) -> None:
    """Set controls (n, nu) to what DATA blocks give at these times."""
    program = recorded.engine.program
    xd = program.xd0
    for one, signal in zip(problem.controls, recorded.signals, strict=True):
        if signal is not None:
            rows = entries(program, signal).ravel()
            values = np.array(program.outputs(times[None], states.T, xd, program.p))
            controls[:, one.part] = values[rows].T


def _rates(engine: Native) -> Rates:
    xd = engine.program.xd0
    return lambda t, x: engine.rates(t, x, xd)


def followed(rates: Rates, x: Floats, times: Floats, rtol: float = 1e-6) -> Floats:
    """The states (n, nx) of a motion from x at these times (n,), of which the first is its start.
    Raises RunError where it fails or hardly goes on."""
    from scipy.integrate import solve_ivp

    if not len(x):
        return np.zeros((len(times), 0))
    count = 0

    def counted(t: float, y: Floats) -> Floats:
        nonlocal count
        count += 1
        if count > MOST_RATES:
            raise RunError(f"it hardly goes on at {t:.4g} s")
        return rates(t, np.ascontiguousarray(y))

    span = float(times[0]), float(times[-1])
    found = solve_ivp(
        counted, span, x, t_eval=times, method="LSODA", rtol=rtol, atol=1e-2 * rtol,
    )  # fmt: skip
    if not found.success or found.y.shape[1] != len(times):
        raise RunError(str(found.message))
    return np.ascontiguousarray(found.y.T)


def _by_lines(problem: Problem, meshes: Sequence[Mesh]) -> Motion:
    u, q = controls_at_start(problem), chosen_at_start(problem)
    p = parameters_of(problem, 0, u, q)
    program = problem.program
    first = problem.engine.with_parameters(p).program.x0.copy()
    first = problem.engine.project(0.0, first)
    last = first.copy()
    for name, value in problem.section.guess.states.items():
        base, index = split_index(name)
        slot = next((one for one in program.states if one.name == base), None)
        if slot is None:
            names = ", ".join(one.name for one in program.states)
            place = None
            raise InputError(Fault(f"guess: there is no state {base}", place, f"there are {names}"))
        places = slot.places(index, name)
        try:
            last[places] = np.asarray(value, float)
        except ValueError:
            text = f"guess: {name} has shape {np.shape(places)}, and it is given {value}"
            raise InputError(text) from None
    count = len(problem.phases)
    phases = []
    for k, (phase, mesh) in enumerate(zip(problem.phases, meshes, strict=True)):
        at = (k + np.concatenate([[0.0], mesh.times])) / count
        states = first + at[:, None] * (last - first)
        phases.append(PhaseMotion(mesh, phase.start, states, np.tile(u, (mesh.points, 1))))
    return Motion(tuple(phases), q)


def on_meshes(motion: Motion, meshes: tuple[Mesh, ...]) -> Motion:
    """The motion at the points of other meshes."""
    phases = []
    for one, mesh in zip(motion.phases, meshes, strict=True):
        x, u = one.mesh.resampled(one.x, one.u, mesh)
        phases.append(PhaseMotion(mesh, one.T, x, u))
    return replace(motion, phases=tuple(phases))
