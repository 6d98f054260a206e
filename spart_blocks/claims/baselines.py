"""Baselines: recorded signals in text files for git, with which later runs are compared.

A few lines of comment, then CSV: t [s] and a column for each element of a signal.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from fractions import Fraction
from io import StringIO
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from spart_blocks.analysis.claims import Band, Floats, elements, near
from spart_blocks.base.errors import Fault, InputError, Place
from spart_blocks.claims.outcome import Change
from spart_blocks.diagram.build.companions import AUDIT
from spart_blocks.diagram.diagram import RunOptions
from spart_blocks.diagram.sections.expectations import BaselineSection, Expectations
from spart_blocks.results import Results
from spart_blocks.results.csv_columns import csv_of
from spart_blocks.results.files import write_whole

FORMAT = "# spart_blocks baseline 1"
MAX_BYTES = 64_000_000
DIGITS = 12
SAME_TIME = 1e-9
"""Relative tolerance of sample times, which are stored with 12 digits."""
_MARK = FORMAT.rstrip("0123456789")
_AGAIN = "record it again: spart test --update"
_VERSIONS = ("spart_blocks", "bdsim", "casadi", "numpy", "scipy")


@dataclass(frozen=True, eq=False)
class Baseline:
    """Recorded samples: t (K,) [s], and columns (K,) by the name of the element."""

    t: Floats
    columns: Mapping[str, Floats]


def names_of(section: BaselineSection, results: Results) -> tuple[str, ...]:
    """The signals that a baseline records. Raises InputError if there are none."""
    # What an audit finds is zero but for errors of the solver, and has a claim of its own.
    kept = (name for name in results.signals if AUDIT not in name)
    names = section.signals or tuple(kept)
    if not names:
        hint = "name signals under expect: baseline: signals:, or put a SCOPE on one"
        raise InputError(Fault("the baseline has no signals to record", hint=hint))
    return names


# Taking and writing


def times(expected: Expectations, variant: str, end: Fraction) -> Floats:
    """The times (K,) [s] at which a run must record its signals: those of the existing baseline, if
    it is readable, and those of a new one. end: of the run [s]."""
    section, path = expected.section.baseline, expected.baseline
    if section is None or path is None:
        return np.zeros(0)
    wanted = _even(float(end), section.samples)
    path = path.with_stem(path.stem + variant)
    with suppress(InputError, OSError):
        wanted = np.union1d(wanted, read(path).t)
    return np.asarray(wanted[wanted <= float(end)], dtype=float)


def _even(end: float, samples: int) -> Floats:
    return np.asarray(np.arange(samples + 1) * (end / samples), dtype=float)


def taken(results: Results, names: Sequence[str], section: BaselineSection) -> Baseline:
    """A new baseline of about `section.samples` samples: every k-th row of uniform samples, or rows
    at equidistant times of a record. Numbers are rounded to 12 digits, relative to the largest
    magnitude in their column (or to atol if that is larger), since further digits are noise."""
    pick = _at_even_times if results.info.get("record") == "lines" else _rows
    rows = pick(results, section.samples)
    columns: dict[str, Floats] = {}
    for name in names:
        values = elements(results, name)[rows].T
        rounded = (_rounded(column, section.atol) for column in values)
        columns |= zip(results.labels(name), rounded, strict=True)
    return Baseline(results.t[rows], columns)


def _rows(results: Results, samples: int) -> list[int]:
    last = _last_on_grid(results)
    step = max(1, -(-last // samples))
    return [*range(0, last, step), last]


def _at_even_times(results: Results, samples: int) -> list[int]:
    """The rows at equidistant times; if rows at these times are missing, every k-th row."""
    t, end = results.t, float(results.info.get("T", results.t[-1]))
    wanted = _even(end, samples)
    wanted = wanted[wanted <= t[-1] * (1 + SAME_TIME)]
    rows = _nearest(t, wanted)
    if (np.abs(t[rows] - wanted) > SAME_TIME * end).any():
        return _rows(results, samples)
    return [int(row) for row in rows]


def _nearest(t: Floats, wanted: Floats) -> NDArray[np.intp]:
    """The row nearest to each time; of several rows at that time the last, which is after an
    event."""
    slack = SAME_TIME * float(t[-1])
    last = np.clip(np.searchsorted(t, wanted + slack, side="right") - 1, 0, len(t) - 1)
    after = np.clip(np.searchsorted(t, wanted), 1, len(t) - 1)
    near = np.where(wanted - t[after - 1] < t[after] - wanted, after - 1, after)
    return np.where(np.abs(t[last] - wanted) <= slack, last, near)


def _last_on_grid(results: Results) -> int:
    """The last row that other runs to the same end have too. A STOP ends a run at a time that
    depends on the tolerances, so the row there is left out."""
    t = results.t
    stopped = len(t) > 2 and t[-1] != results.info.get("T", t[-1])
    off_grid = stopped and abs(t[-1] - t[-2] - (t[1] - t[0])) > SAME_TIME * t[-1]
    return len(t) - (2 if off_grid else 1)


def text_of(baseline: Baseline, results: Results, options: RunOptions) -> str:
    """The text of a baseline's file. It is the same for the same run."""
    info = results.info
    versions = ", ".join(f"{name} {info[name]}" for name in _VERSIONS if name in info)
    out = StringIO()
    out.write(f"{FORMAT}\n# diagram: {' '.join(results.diagram_name.split())}\n")
    out.write(f"# run: engine {info.get('engine', '?')}, solver {options.solver}, ")
    out.write(f"rtol {options.rtol:g}, atol {options.atol:g}\n# made with: {versions}\n")
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(["t", *baseline.columns])
    for row in zip(baseline.t, *baseline.columns.values(), strict=True):
        writer.writerow([f"{value:.{DIGITS}g}" for value in row])
    return out.getvalue()


def _rounded(column: Floats, atol: float) -> Floats:
    scale = max(float(np.abs(column).max(initial=0.0)), atol, 1e-300)
    decimals = DIGITS - 1 - int(np.floor(np.log10(scale)))
    if abs(decimals) > 250:
        return column
    return np.round(column, decimals) + 0.0  # -0.0 becomes 0.0


def record(change: Change) -> None:
    """Write the new text of a baseline atomically. Its folder is created if missing."""
    write_whole(change.path, change.text.encode())


# Reading


def read(path: Path) -> Baseline:
    """Read a baseline. The file is not trusted: InputError names file and line."""
    text = _text(path)
    try:
        file = csv_of(path, text)
        if len(file.names) < 2 or file.names[0] != "t" or len(set(file.names)) != len(file.names):
            place = Place(str(path), file.header)
            raise _wrong("the columns must be t and the signals, each once", place)
        table = file.numbers(file.names)
        file.check_rising("t", table[:, 0])
    except InputError as error:
        raise InputError([replace(fault, hint=_AGAIN) for fault in error.faults]) from None
    return Baseline(table[:, 0], dict(zip(file.names[1:], table[:, 1:].T, strict=True)))


def _text(path: Path) -> str:
    try:
        with path.open("rb") as file:
            raw = file.read(MAX_BYTES + 1)
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror}") from None
    first = raw.split(b"\n", 1)[0].decode("utf-8", "replace").rstrip("\r")
    if not first.startswith(_MARK):
        hint = "name another file in expect: baseline: file:, or move this one away"
        raise InputError(Fault("is no baseline", Place(str(path), 1), hint))
    if len(raw) > MAX_BYTES:
        raise _wrong(f"is larger than {MAX_BYTES:,} bytes", Place(str(path)))
    if first != FORMAT:
        raise _wrong(f"is {first[2:60]!r}, this version reads {FORMAT[2:]!r}", Place(str(path), 1))
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError as error:
        place = Place(str(path), raw.count(b"\n", 0, error.start) + 1)
        raise _wrong("is not UTF-8 text", place) from None


def is_baseline(path: Path) -> bool:
    """Whether a file was written as a baseline, even if it is damaged."""
    with path.open("rb") as file:
        return file.read(len(_MARK)) == _MARK.encode()


def _wrong(message: str, place: Place) -> InputError:
    return InputError(Fault(message, place, _AGAIN))


# Comparing


def bands(
    baseline: Baseline, results: Results, names: Sequence[str], section: BaselineSection
) -> Iterator[tuple[str, Band | str]]:
    """For each signal its tolerance band around the baseline, or a text that says why they cannot
    be compared; the signal is '' if that concerns no single signal.

    |got - expected| <= atol + rtol * (largest magnitude of the element in the baseline).
    """
    rows, problem = _same_rows(baseline, results, section.samples)
    if problem:
        yield "", f"{problem}; {_AGAIN}"
        return
    known: set[str] = set()
    for name in names:
        labels = results.labels(name)
        known |= set(labels)
        missing = [label for label in labels if label not in baseline.columns]
        if missing:
            yield name, f"{_few(missing)} not in the baseline; {_AGAIN}"
            continue
        expected = np.stack([baseline.columns[label] for label in labels], axis=1)
        tolerance = section.atol + section.rtol * np.abs(expected).max(axis=0)
        yield name, near(baseline.t, elements(results, name)[rows], expected, tolerance)
    unknown = [label for label in baseline.columns if label not in known]
    if unknown:
        yield "", f"{_few(unknown)} in the baseline but recorded no more; {_AGAIN}"


def _few(labels: Sequence[str]) -> str:
    listed = ", ".join(labels[:6]) + (", ..." if len(labels) > 6 else "")
    return f"{listed} {'is' if len(labels) == 1 else 'are'}"


def _same_rows(baseline: Baseline, results: Results, samples: int) -> tuple[NDArray[np.intp], str]:
    """The rows of the results at the times of the baseline, and '' or why they cannot be
    compared."""
    t = results.t
    slack = SAME_TIME * float(t[-1])
    rows = _nearest(t, baseline.t)
    missing = np.flatnonzero(np.abs(t[rows] - baseline.t) > slack)
    if missing.size:
        at = baseline.t[missing[0]]
        if at > t[-1]:
            return (
                rows,
                f"the run ends at t = {t[-1]:.6g} s, the baseline at {baseline.t[-1]:.6g} s",
            )
        return rows, f"the run keeps no sample at t = {at:.9g} s, the baseline does"
    even = results.info.get("record") == "lines"
    end = t[_at_even_times(results, samples)[-1] if even else _last_on_grid(results)]
    if baseline.t[-1] < end - slack:
        return (
            rows,
            f"the run goes on to t = {end:.6g} s, the baseline ends at {baseline.t[-1]:.6g} s",
        )
    return rows, ""


def changes(old: Baseline, new: Baseline) -> tuple[str, ...]:
    """The differences of a new baseline from the old one, a line each: times, new and removed
    columns, and for the other columns the largest difference."""
    lines = []
    same = old.t.shape == new.t.shape and np.allclose(
        old.t, new.t, rtol=0, atol=SAME_TIME * new.t[-1]
    )
    if not same:
        lines.append(f"samples: {_span(old)} become {_span(new)}")
    for name, column in new.columns.items():
        if name not in old.columns:
            lines.append(f"{name}: new")
        elif same:
            lines += _difference(name, old.columns[name], column, new.t)
    lines += [f"{name}: gone" for name in old.columns if name not in new.columns]
    return tuple(lines)


def _difference(name: str, old: Floats, new: Floats, t: Floats) -> list[str]:
    k = int(np.argmax(np.abs(new - old)))
    if f"{old[k]:.{DIGITS}g}" == f"{new[k]:.{DIGITS}g}":
        return []
    by = f"{abs(new[k] - old[k]):.3g}"
    return [f"{name}: by {by} at most, at t = {t[k]:.6g} s from {old[k]:.9g} to {new[k]:.9g}"]


def _span(baseline: Baseline) -> str:
    return f"{len(baseline.t)} to {baseline.t[-1]:.6g} s"
