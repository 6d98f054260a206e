"""The result of an optimal control problem."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from spart_blocks.base.argument_checks import as_path
from spart_blocks.base.errors import Fault, InputError, counted
from spart_blocks.base.paths import element_names
from spart_blocks.fits.free import Free
from spart_blocks.optimal.curves import Samples, samples_of
from spart_blocks.optimal.expected import Expected
from spart_blocks.optimal.gains import Gains, gains_of
from spart_blocks.optimal.mesh import Floats, Mesh
from spart_blocks.optimal.pictures import pictures
from spart_blocks.optimal.problem import Problem
from spart_blocks.optimal.rerun import Rerun, rerun
from spart_blocks.optimal.search import Search
from spart_blocks.optimal.transcription import Motion, PhaseMotion
from spart_blocks.optimal.written import write_optimum
from spart_blocks.results.files import make_folder, save_table, write_bytes, write_whole
from spart_blocks.sweeps.plan.memory_source import FileSource, MemorySource
from spart_blocks.sweeps.statistics.tables import Tables, TextTable

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_FORMAT = "spart_blocks optimum 1"
MET = 1e-6
"""A condition is met to this fraction of its size."""
MOST_TOLD = 6


@dataclass(frozen=True)
class Optimum(Tables):
    """Controls and parameters that make a metric least or greatest. Printed, it is a table.

    search: how it was found. source: the diagram.
    """

    search: Search
    source: FileSource | MemorySource

    @property
    def title(self) -> str:
        """The diagram."""
        return self.source.title

    @property
    def problem(self) -> Problem:
        """The problem."""
        return self.search.problem

    @property
    def motion(self) -> Motion:
        """States and controls at the points of the mesh."""
        return self.search.solved.motion

    @property
    def objective(self) -> float:
        """The value that was made least or greatest."""
        return self.search.solved.objective

    @property
    def ended(self) -> bool:
        """Whether it is an optimum, and follows the equations to the tolerance."""
        return self.search.solved.ended and self.search.accurate

    @property
    def why(self) -> str:
        """How the search ended."""
        solved = self.search.solved
        if solved.ended and not self.search.accurate:
            return (
                f"optimal on the last mesh, but its motion is off by {self.search.errors[-1]:.1e}"
            )
        return solved.why

    @property
    def expected(self) -> Expected | None:
        """How well parameters could be estimated from the motion, where information is asked
        for."""
        return self.search.expected

    @property
    def T(self) -> float:
        """The whole duration [s]."""
        return self.motion.T

    @cached_property
    def samples(self) -> Samples:
        """Samples that straight lines join."""
        return samples_of(self.problem, self.motion)

    @property
    def t(self) -> Floats:
        """The times (n,) of `controls` and `states` [s]; a jump has two that differ by rounding."""
        return self.samples.t

    @property
    def controls(self) -> dict[str, Floats]:
        """Each control over time, (n, ...) in its shape."""
        return {one.name: _shaped(self.samples.u, one) for one in self.problem.controls}

    @property
    def states(self) -> dict[str, Floats]:
        """The states of each block over time (n, m)."""
        return {slot.name: self.samples.x[:, slot.part] for slot in self.problem.program.states}

    @property
    def parameters(self) -> dict[str, Any]:
        """The chosen parameters by name, numbers or arrays."""
        return {one.name: one.shaped(self.motion.q) for one in self.problem.parameters}

    def __getitem__(self, name: str) -> Any:
        known = {**self.controls, **self.parameters}
        if name not in known:
            raise InputError(f"there is no control and no parameter {name!r}")
        return known[name]

    @cached_property
    def rerun(self) -> Rerun:
        """The diagram, run by the ordinary engine with the controls as recorded signals, and how
        far this is from the optimum. Raises RunError if the run fails."""
        return rerun(self.source, self.problem, self.motion, self.samples)

    def gains(self, Q: Any = None, R: Any = None, end: Any = None) -> Gains:
        """Gains that keep a run near the optimum, u = u* - K(t) (x - x*): the linear quadratic
        regulator along its motion. Q, R, end: weights of deviations of the states, of the
        controls, and of the states at the end; matrices, their diagonals or numbers, by default by
        the sizes of states and controls. The deviation of a quaternion is that of its entries.
        Raises InputError for weights that do not fit, RunError if there are no gains."""
        s = self.search
        return gains_of(self.problem, self.motion, s.functions, s.sizes, (Q, R, end))

    # --- as text --------------------------------------------------------------------------

    @property
    def above(self) -> str:  # type: ignore[override]
        s = self.search
        kind = "least" if self.problem.sign > 0 else "greatest"
        value = f"{kind} {self.problem.objective} {self.objective:.9g}"
        if not s.solved.ended:
            value = f"no optimum ({self.problem.objective} {self.objective:.6g})"
        counts = f"{counted(s.solved.steps, 'step')}, {counted(s.intervals[-1], 'interval')}"
        return f"{self.title}: {value}, {counts}, {self.why}"

    def tables(self) -> list[TextTable]:
        return list(self.named_tables().values())

    def named_tables(self) -> dict[str, TextTable]:
        """The tables by their titles in a report."""
        found = {"Chosen": self.chosen_table()}
        if self.expected is not None:
            found["Expected errors"] = self.expected.table()
        if len(self.search.errors) > 1:
            found["Meshes"] = self.meshes_table()
        return found

    def chosen_table(self) -> TextTable:
        """What was chosen: parameters and durations with their bounds, and ranges of controls."""
        rows = []
        for one in self.problem.parameters:
            for label, k in zip(one.labels, range(one.part.start, one.part.stop), strict=True):
                j = k - one.part.start
                value, low, high = self.motion.q[k], one.low[j], one.high[j]
                rows.append((label, f"{value:.7g}", _at_bound(value, low, high)))
        for phase, motion in zip(self.problem.phases, self.motion.phases, strict=True):
            if not phase.T.fixed:
                name = f"T of {phase.name}" if phase.name else "T"
                rows.append((name, f"{motion.T:.7g} s", ""))
        for one in self.problem.controls:
            for k, label in enumerate(one.labels):
                u = self.samples.u[:, one.part.start + k]
                at = [float(p.low[one.part.start + k]) for p in self.problem.phases]
                to = [float(p.high[one.part.start + k]) for p in self.problem.phases]
                there = np.array([_bound(v, min(at), max(to)) for v in u], dtype=float)
                share = np.trapezoid(there, self.t) / self.T
                told = f"{100 * share:.0f} % of the time at a bound" if share > 0.005 else ""
                rows.append((label, f"{u.min():.5g} to {u.max():.5g}", told))
        return TextTable(("chosen", "value", ""), rows)

    def meshes_table(self) -> TextTable:
        """The objective and the error on each mesh."""
        s = self.search
        rows = [
            (str(n), f"{value:.9g}", f"{error:.1e}")
            for n, value, error in zip(s.intervals, s.objectives, s.errors, strict=True)
        ]
        return TextTable(("intervals", self.problem.objective, "largest error"), rows)

    def notes(self) -> list[str]:
        return [*self.broken()]

    def broken(self) -> Iterator[str]:
        """Conditions that are not met, with by how much: all of an infeasible problem."""
        solved = self.search.solved
        if solved.violation <= MET:
            return
        program = solved.program
        off = np.maximum(program.lbg - solved.conditions, solved.conditions - program.ubg)
        at, told = 0, list[tuple[float, str]]()
        for condition in program.conditions:
            part = off[at : at + condition.count]
            at += condition.count
            told += self._told(condition.label, condition.phase, part)
        for amount, text in sorted(told, reverse=True)[:MOST_TOLD]:
            yield f"not met: {text} by {amount:.4g}"

    def _told(self, label: str, k: int, off: Floats) -> Iterator[tuple[float, str]]:
        phase = self.problem.phases[k] if k >= 0 else None
        where = f" in phase {phase.name}" if phase is not None and phase.name else ""
        if phase is not None and label in ("path", "end"):
            limits = phase.path if label == "path" else phase.end
            rows = off.reshape(-1, sum(len(one.low) for one in limits))
            j = 0
            for one in limits:
                part = rows[:, j : j + len(one.low)]
                j += len(one.low)
                if part.max() > MET:
                    worst = int(part.max(axis=1).argmax())
                    time = self.motion.starts[k] + self.motion.phases[k].T * (
                        self.motion.phases[k].mesh.times[worst] if label == "path" else 1.0
                    )
                    yield float(part.max()), f"{one.label} at {time:.4g} s{where}"
        elif off.size and off.max() > MET:
            named = {"motion": "the equations of motion", "start": "the initial state"}
            yield float(off.max()), f"{named.get(label, label)}{where}"

    # --- files ----------------------------------------------------------------------------

    def save(self, path: str | Path) -> Path:
        """Write it: as .csv the controls and states over time, for a DATA block; as .npz t, x, u
        and the gains K that keep a run near it; as .json all, to go on from with `start=`. Raises
        InputError."""
        target = as_path(path, "the file of an optimum")
        if target.suffix.lower() == ".csv":
            make_folder(target.parent)
            return save_table(self.columns(), target)
        if target.suffix.lower() == ".npz":
            found = self.gains()
            make_folder(target.parent)
            write_bytes(target, _npz({"t": found.t, "x": found.x, "u": found.u, "K": found.K}))
            return target
        if target.suffix.lower() != ".json":
            hint = "end it in .csv, .npz or .json"
            raise InputError(Fault(f"cannot write an optimum to {target}", hint=hint))
        content = {
            "format": _FORMAT,
            "diagram": self.title,
            "objective": {"of": self.problem.objective, "value": self.objective},
            "ended": self.why,
            "parameters": {n: np.asarray(v).tolist() for n, v in self.parameters.items()},
            "controls": [one.name for one in self.problem.controls],
            "q": self.motion.q.tolist(),
            **({} if self.expected is None else {"information": self.expected.plain()}),
            "phases": [
                {"name": phase.name, "T": one.T, "degree": one.mesh.degree,
                 "borders": one.mesh.borders.tolist(), "x": one.x.tolist(), "u": one.u.tolist()}
                for phase, one in zip(self.problem.phases, self.motion.phases, strict=True)
            ],
        }  # fmt: skip
        make_folder(target.parent)
        write_whole(target, (json.dumps(content) + "\n").encode())
        return target

    def columns(self) -> dict[str, Floats]:
        """The columns of its .csv file."""
        found = {"t": self.t}
        for one in self.problem.controls:
            names = element_names(one.name, one.shape)
            found |= {n: self.samples.u[:, one.part.start + k] for k, n in enumerate(names)}
        return found | dict(zip(self.problem.state_labels, self.samples.x.T, strict=True))

    def write(self, path: str | Path) -> Path:
        """Write DATA blocks that give the controls into a diagram's file, with the chosen
        parameters and the duration; the rest of its text stays. Their file NAME_optimum.csv is
        written beside it, and returned. Raises InputError."""
        target = as_path(path, "the file of a diagram")
        return write_optimum(target, self.problem, self.motion, self.samples)

    def report(self, path: str | Path) -> Path:
        """Write a page with the numbers and pictures: .html."""
        from spart_blocks.optimal.report import write_report

        head = self.ended, self.above
        name = Path(self.title).name
        return write_report(path, name, head, self.named_tables(), self.notes(), self.plot())

    def plot(self) -> list[Figure]:
        """Pictures: controls, states and the errors of the intervals."""
        return pictures(self.problem, self.motion, self.samples)


def _npz(arrays: Mapping[str, Floats]) -> bytes:
    file = BytesIO()
    np.savez_compressed(file, allow_pickle=False, **arrays)
    return file.getvalue()


def _shaped(rows: Floats, one: Free) -> Floats:
    return rows[:, one.part].reshape(len(rows), *one.shape).copy()


def _bound(value: float, low: float, high: float) -> bool:
    span = high - low if np.isfinite(high - low) else max(abs(value), 1.0)
    return bool(min(value - low, high - value) <= 1e-4 * span)


def _at_bound(value: float, low: float, high: float) -> str:
    return "at its bound" if _bound(value, low, high) else ""


def started(problem: Problem, given: Optimum | str | Path) -> Motion:
    """The motion of an earlier optimum, or of its .json file, to start from. Raises InputError for
    a file that holds none, and for one of another problem."""
    motion = given.motion if isinstance(given, Optimum) else _read(given)
    nx, nu, nq = problem.counts
    fits = len(motion.phases) == len(problem.phases) and len(motion.q) == nq
    fits = fits and all(p.x.shape[1] == nx and p.u.shape[1] == nu for p in motion.phases)
    if not fits:
        text = "the earlier optimum has other phases, states, controls or parameters"
        raise InputError(Fault(text, hint="start from one of this problem"))
    return motion


def _read(given: str | Path) -> Motion:
    path = as_path(given, "the file of an optimum")
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        if content["format"] != _FORMAT:
            raise ValueError
        phases = tuple(_phase(one) for one in content["phases"])
        q = np.array(content["q"], dtype=float).reshape(-1)
        if not np.isfinite(q).all():
            raise ValueError
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror}") from None
    except (ValueError, TypeError, LookupError, AttributeError):
        hint = "spart optimize --out FILE.json"
        raise InputError(Fault(f"{path} is not the file of an optimum", hint=hint)) from None
    return Motion(phases, q)


def _phase(one: Mapping[str, Any]) -> PhaseMotion:
    borders = np.array(one["borders"], dtype=float)
    degree = int(one["degree"])
    n = (len(borders) - 1) * degree
    x = np.array(one["x"], dtype=float).reshape(n + 1, -1)
    u = np.array(one["u"], dtype=float).reshape(n, -1)
    numbers = np.concatenate([borders, x.ravel(), u.ravel(), [float(one["T"])]])
    ordered = borders[0] == 0 and borders[-1] == 1 and (np.diff(borders) > 0).all()
    if not np.isfinite(numbers).all() or not ordered or not 1 <= degree <= 9:
        raise ValueError
    return PhaseMotion(Mesh(borders, degree), float(one["T"]), x, u)
