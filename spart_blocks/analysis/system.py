"""A linear time-invariant system between named signals."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from spart_blocks.analysis.response_plots import Bode, bode_figure, pole_figure
from spart_blocks.base import html
from spart_blocks.base.argument_checks import as_numbers, as_path
from spart_blocks.base.errors import Fault, InputError, optional
from spart_blocks.results.files import write_atomically, write_bytes
from spart_blocks.results.plots import presented, write_figures
from spart_blocks.run.engines.engine import Floats

if TYPE_CHECKING:
    from matplotlib.figure import Figure

BODE_POINTS = 500
SUFFIXES = (".npz", ".json")
_ARRAYS = ("A", "B", "C", "D", "x", "u", "y", "drift")
_NAMES = ("states", "inputs", "outputs")
_MOST = 12
"""Largest number of rows and columns of a matrix that are shown."""


class Pole(NamedTuple):
    """A pole, and its values in continuous time: frequency [rad/s]; damping ratio (1 without
    oscillation, negative if it grows, nan at frequency 0); time_constant [s] (negative if it
    grows).
    """

    value: complex
    frequency: float
    damping: float
    time_constant: float


@dataclass(frozen=True, eq=False, repr=False)
class LinearSystem:
    """A linear system dx/dt = A x + B u, y = C x + D u for deviations from an operating point; x+
    = A x + B u if dt > 0 [s].

    states, inputs, outputs: names of the elements, such as 'plant.qm[0]'. x, u, y: values at the
    operating point. drift: dx/dt (or x+ - x) there, zero at an equilibrium.
    """

    A: Floats
    B: Floats
    C: Floats
    D: Floats
    dt: float
    states: tuple[str, ...]
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    x: Floats
    u: Floats
    y: Floats
    drift: Floats
    name: str = "system"

    def __post_init__(self) -> None:
        n, m, k = len(self.states), len(self.inputs), len(self.outputs)
        shapes = dict(zip(_ARRAYS, [(n, n), (n, m), (k, n), (k, m), (n,), (m,), (k,), (n,)],
                          strict=True))  # fmt: skip
        for name, shape in shapes.items():
            array = np.array(getattr(self, name), dtype=float) + 0.0  # no negative zeros
            if array.shape != shape:
                raise InputError(f"{name} has shape {array.shape}, takes {shape}")
            array.flags.writeable = False
            object.__setattr__(self, name, array)

    def __repr__(self) -> str:
        kind = f"discrete, dt = {self.dt:g} s" if self.dt else "continuous"
        counts = (f"{len(getattr(self, part))} {part}" for part in _NAMES)
        return f"<linear system {self.name}: {kind}; {', '.join(counts)}>"

    def _repr_html_(self) -> str:
        """HTML for notebooks: A, B, C, D with their names, and the poles."""
        return _html(self)

    # --- poles ---------------------------------------------------------------------

    def poles(self) -> NDArray[np.complex128]:
        """The eigenvalues of A (n,): slowest first; of a conjugate pair, the one with Im > 0
        first.
        """
        found = np.asarray(np.linalg.eigvals(self.A) + 0.0, dtype=complex)
        speed = np.abs(self._continuous(found))
        # Rounded, since the two of a pair differ in their last digits.
        rounded = [float(f"{w:.9e}") for w in speed]
        order = sorted(range(len(found)), key=lambda k: (rounded[k], found[k].real, -found[k].imag))
        return found[order]

    def damping(self) -> tuple[Pole, ...]:
        """Each pole with its frequency, damping and time constant."""
        poles = self.poles()
        table = []
        for value, s in zip(poles, self._continuous(poles), strict=True):
            frequency = float(abs(s))
            real = float(s.real)
            if np.isinf(frequency):  # z = 0: gone after one step
                table.append(Pole(complex(value), frequency, 1.0, 0.0))
                continue
            damping = -real / frequency if frequency else float("nan")
            constant = -1 / real if real else float("inf")
            table.append(Pole(complex(value), frequency, damping, constant))
        return tuple(table)

    @property
    def stable(self) -> bool:
        """Whether every pole is in the open left half-plane, or for dt > 0 inside the
        unit circle.
        """
        poles = self.poles()
        return bool((np.abs(poles) < 1).all() if self.dt else (poles.real < 0).all())

    def _continuous(self, poles: NDArray[Any]) -> NDArray[np.complex128]:
        """The poles in the s-plane: ln(z)/dt for a discrete system."""
        if not self.dt:
            return np.asarray(poles, dtype=complex)
        with np.errstate(divide="ignore", invalid="ignore"):
            s = np.log(np.asarray(poles, dtype=complex)) / self.dt
        return np.where(poles == 0, -np.inf + 0j, s)

    # --- frequencies -----------------------------------------------------------------

    def frequency_response(self, w: Any) -> NDArray[np.complex128]:
        """C (s I - A)^-1 B + D at s = j w, or z = exp(j w dt): (N, outputs, inputs).

        w (N,) [rad/s]. Infinite where w is exactly at a pole.
        """
        w = as_numbers(w, "frequencies")
        points = np.exp(1j * w * self.dt) if self.dt else 1j * w
        out = np.empty((len(w), *self.D.shape), dtype=complex)
        eye, B = np.eye(len(self.A)), self.B.astype(complex)
        for k, s in enumerate(points):
            try:
                out[k] = self.C @ np.linalg.solve(s * eye - self.A, B) + self.D
            except np.linalg.LinAlgError:
                out[k] = np.inf
        return out

    def bode(self, w: Any = None) -> Bode:
        """Magnitude and phase over w (N,) [rad/s], by default from a decade below the
        slowest pole to a decade above the fastest, or to the Nyquist frequency pi/dt."""
        w = self._frequencies() if w is None else as_numbers(w, "frequencies")
        response = self.frequency_response(w)
        with np.errstate(invalid="ignore"):
            phase = np.unwrap(np.angle(response), axis=0)
        return Bode(w, np.abs(response), phase)

    def _frequencies(self) -> Floats:
        speed = np.abs(self._continuous(np.linalg.eigvals(self.A)))
        top = np.pi / self.dt if self.dt else np.inf
        scale = speed[np.isfinite(speed)].max(initial=0.0)
        # A double pole at zero comes out as two of some 1e-8 of the others.
        moving = speed[np.isfinite(speed) & (speed > 1e-6 * scale)]
        low, high = (moving.min() / 10, moving.max() * 10) if len(moving) else (0.01, 100.0)
        if self.dt:
            low, high = min(low, top / 100), 0.999 * top  # at it many responses are zero
        return np.geomspace(low, high, BODE_POINTS)

    def plot(self, w: Any = None, *, show: bool | None = None) -> list[Figure]:
        """A Bode plot and a map of the poles, for Matplotlib. show: as for `Results.plot`."""
        ends = self.inputs, self.outputs
        bode = [bode_figure(self.name, *ends, self.bode(w))] if all(ends) else []
        return presented([*bode, pole_figure(self.name, self.poles(), self.dt)], show)

    def save_figures(self, folder: Path) -> list[Path]:
        """Write the figures of `plot()` as PNG files to a folder, which is made if missing."""
        named = [(str(figure.get_label()).rpartition(" ")[2], figure) for figure in self.plot()]
        return write_figures(named, folder, "png")

    # --- other programs ----------------------------------------------------------------

    def to_control(self) -> Any:
        """The system as python-control's StateSpace; in signal names '.' becomes '_'.

        Raises MissingExtraError where python-control is not installed.
        """
        control = optional("control", "control", "control", "LinearSystem.to_control")
        names = {key: [name.replace(".", "_") for name in getattr(self, key)] for key in _NAMES}
        return control.ss(self.A, self.B, self.C, self.D, self.dt, **names)

    def save(self, path: str | Path) -> Path:
        """Write A, B, C, D, dt, the names and the point to .npz or .json, atomically."""
        target = as_path(path, "the file of a linear system")
        arrays = {name: getattr(self, name) for name in _ARRAYS}
        names = {key: list(getattr(self, key)) for key in _NAMES}
        if target.suffix.lower() == ".npz":
            texts = {key: np.array(value, dtype=str) for key, value in names.items()}
            content: dict[str, Any] = {**arrays, **texts, "dt": self.dt, "name": self.name}
            write_atomically(target, lambda file: np.savez(file, **content))
        elif target.suffix.lower() == ".json":
            lists = {name: array.tolist() for name, array in arrays.items()}
            text = json.dumps({"name": self.name, "dt": self.dt, **names, **lists}, indent=1)
            write_bytes(target, text.encode("utf-8"))
        else:
            hint = f"end it in {' or '.join(SUFFIXES)}"
            raise InputError(Fault(f"cannot save a linear system to {target}", hint=hint))
        return target


def _html(system: LinearSystem) -> str:
    """The HTML of a linear system: its matrices with their names, and its poles."""
    kind = f"discrete, dt = {system.dt:g} s" if system.dt else "continuous"
    stable = "stable" if system.stable else "not stable"
    parts = [html.heading(system.name, f"{kind}, {stable}, {len(system.states)} states")]
    sides = {
        "A": (system.A, system.states, system.states),
        "B": (system.B, system.states, system.inputs),
        "C": (system.C, system.outputs, system.states),
        "D": (system.D, system.outputs, system.inputs),
    }
    parts += [_matrix(name, *side) for name, side in sides.items() if side[0].size]
    poles = [
        [f"{p.value:.5g}", f"{p.frequency:.4g}", f"{p.damping:.4g}", f"{p.time_constant:.4g}"]
        for p in system.damping()
    ]
    columns = ("pole", "frequency [rad/s]", "damping", "time constant [s]")
    return "".join([*parts, html.table(columns, poles, 2 * _MOST)])


def _matrix(name: str, matrix: NDArray[Any], rows: Sequence[str], columns: Sequence[str]) -> str:
    if matrix.shape[1] > _MOST:
        size = (
            f"{matrix.shape[0]} x {matrix.shape[1]}, largest magnitude {np.abs(matrix).max():.4g}"
        )
        return html.heading(name, size)
    cells = [
        [row, *(f"{value:.4g}" for value in values)]
        for row, values in zip(rows, matrix, strict=True)
    ]
    return html.table((name, *columns), cells, _MOST)
