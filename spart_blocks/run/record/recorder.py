"""Stores the record of a run: times, states, and the signals that scopes or `log` request.

Samples are added one at a time, or as blocks. They are stored unchanged, until a record with a
bound is full; from then on it is thinned (thinning.py).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from spart_blocks.base.interrupts import deferred
from spart_blocks.base.rows import parted
from spart_blocks.diagram.build.companions import AUDIT
from spart_blocks.diagram.network.clocks import grid
from spart_blocks.results.run_data import RATES
from spart_blocks.run.engines.engine import Engine, Floats
from spart_blocks.run.record import thinning
from spart_blocks.run.record.thinning import Bound

if TYPE_CHECKING:
    from spart_blocks.run.record.streams import Stream

# --- Sample times ---------------------------------------------------------------------------------


_ROUNDED = 4
"""Largest rounding error of n * (T / n), in units in the last place of T."""


class Samples:
    """The grid of sample times k * every, each of which is passed once.

    A time that differs from the start or end of the run by rounding only counts as equal to it: a
    multiple of the rounded interval T / 300 may end just before T.
    """

    def __init__(self, start: Fraction, every: Fraction, end: Fraction) -> None:
        self.every, self.end = every, end
        self.k = -(-start // every)  # the first grid time at or after start
        self.passed_over: set[int] = {k for t in (start, end) for k in self._beside(t)}
        self._skip()

    def _beside(self, t: Fraction) -> list[int]:
        """The index k of the grid time that equals t up to rounding, in a list; empty if it is
        exact or there is none.
        """
        k = round(t / self.every)
        away = abs(k * self.every - t)
        hair = _ROUNDED * Fraction(float(np.spacing(float(t))))
        return [k] if 0 < away <= min(hair, self.every / 4) else []

    def _skip(self) -> None:
        while self.k in self.passed_over:
            self.k += 1

    def due_at(self, t: Fraction) -> bool:
        return self.k * self.every == t

    def pass_by(self, t: Fraction) -> None:
        self.k = t // self.every + 1
        self._skip()

    def before(self, b: Fraction) -> list[Fraction]:
        """The grid times below b that were not passed yet; they are passed by this call."""
        times = []
        while self.k * self.every < b:
            times.append(self.k * self.every)
            self.k += 1
            self._skip()
        return times

    def within(self, a: Fraction, b: Fraction) -> list[Fraction]:
        """All grid times between a and b, whether passed or not."""
        first, last = a // self.every + 1, -(-b // self.every)
        return [k * self.every for k in range(first, last) if k not in self.passed_over]

    def ahead(self) -> Floats:
        """The grid times not yet passed, up to the end of the run [s]."""
        times = grid(Fraction(0), self.every, self.k, self.end)
        beside = [k - self.k for k in self.passed_over if 0 <= k - self.k < len(times)]
        return np.delete(times, beside)


def is_book(name: str) -> bool:
    """Whether a signal is one of a plant's audit. Its balances are errors of the solver, so no
    rows are kept because of them.
    """
    return f"{AUDIT}." in name


SINGLES = 1000
"""Number of single samples that are combined into one block."""
_AT_ONCE = 8
"""A full record is thinned by parts of its bound divided by this number."""


class Recorder:
    """Samples of the kept signals and of every state.

    stream: into which all samples are written. bound: of its size, None for none. stretch [s]: if
    the record has been thinned, the length of the stretches of which it keeps the extremes.
    count: samples so far; a thinned record holds fewer.
    """

    def __init__(self, engine: Engine, names: Sequence[str]) -> None:
        self.engine, self.names = engine, tuple(names)
        self.stream: Stream | None = None
        self.bound: Bound | None = None
        self.stretch: float | None = None
        self.count = 0
        self._pick = engine.picked(self.names)
        self._acts = bool(engine.display.acting)
        self._singles: list[tuple[float, list[Floats], Floats, Floats]] = []
        self._t: list[Floats] = []
        self._x: list[Floats] = []
        self._xd: list[Floats] = []
        self._signals: list[list[Floats]] = [[] for _ in self.names]
        self._numbers: list[NDArray[np.int64]] = []
        """The number of each sample that is stored, in blocks as the samples."""
        self._stored = self._done = 0
        """Count of samples that are stored, and of those at the start that have been thinned."""
        self.shapes: list[tuple[int, ...]] = []
        """Shapes of the kept signals, known from the first look on."""

    def keep(self, t: float, x: Floats, xd: Floats) -> None:
        """Evaluate the diagram at a sample and keep the requested signals."""
        if self.engine.drifting:
            x = self.engine.project(t, x)
        signals = self._pick(t, x, xd)
        self._singles.append((t, signals, x.copy(), xd.copy()))
        self.count += 1
        if len(self._singles) >= SINGLES:
            self._gather()
        if self._acts:
            self.engine.act(t, x, xd)

    def evaluated(self, t: Floats, x: Floats, xd: Floats) -> Floats:
        """The kept signals and the states as recorded, side by side (N, width), at times t (N,),
        states x (N, nx) and xd (nd,).
        """
        if self.engine.drifting:
            x = self.engine.project_all(t, x)
        held = np.broadcast_to(xd, (len(t), len(xd)))
        signals = self.engine.over(self.names, t, x, held)
        self.shapes = [signal.shape[1:] for signal in signals]
        values = np.hstack([*(signal.reshape(len(t), -1) for signal in signals), x])
        finite = np.isfinite(values).all(axis=1)
        if not finite.all():
            k = int(np.argmin(finite))
            self.engine.explain(float(t[k]), x[k], xd)
        return values

    def adopt_evaluated(self, t: Floats, values: Floats, xd: Floats) -> None:
        """Store rows in the form that `evaluated` returns."""
        width = values.shape[1] - sum(math.prod(shape) for shape in self.shapes)
        *signals, x = parted(values, [*self.shapes, (width,)])
        self.adopt(t, signals, x, xd)

    def keep_all(self, t: Floats, x: Floats, xd: Floats) -> None:
        """Evaluate and store many samples with the same xd (nd,): t (N,), x (N, nx)."""
        if not len(t):
            return
        if self._acts:
            for one, state in zip(t, x, strict=True):
                self.keep(float(one), state, xd)
            return
        if self.engine.drifting:
            x = self.engine.project_all(t, x)
        held = np.broadcast_to(xd, (len(t), len(xd)))
        signals = self.engine.over(self.names, t, x, held)
        finite = np.isfinite(x).all(axis=1)
        for values in signals:
            finite &= np.isfinite(values).reshape(len(t), -1).all(axis=1)
        good = len(t) if finite.all() else int(np.argmin(finite))
        self.adopt(t[:good], [values[:good] for values in signals], x[:good], held[:good])
        if good < len(t):
            self.engine.explain(float(t[good]), x[good], xd)

    def adopt(self, t: Floats, signals: Sequence[Floats], x: Floats, xd: Floats) -> None:
        """Store N samples that are already evaluated; signals: an array (N, ...) for each kept
        signal.
        """
        self._gather()
        self.count += len(t)
        self._add(t, signals, x, xd)

    def _gather(self) -> None:
        """Combine the single samples into one block. An array for each would need more memory than
        its numbers, and would keep the array of all signals alive, of which it is a view.
        """
        if not self._singles:
            return
        t, values, x, xd = zip(*self._singles, strict=True)
        self._singles.clear()
        signals = [np.array(column) for column in zip(*values, strict=True)]
        self._add(np.array(t), signals, np.array(x), np.array(xd))

    def _add(self, t: Floats, signals: Sequence[Floats], x: Floats, xd: Floats) -> None:
        if self.stream is not None:
            self.stream.write(self.names, t, signals, x, xd)
        numbers = np.arange(self.count - len(t), self.count)
        rows = (t, x, xd, numbers, *signals)
        for blocks, values in zip(self._columns(), rows, strict=True):
            blocks.append(values)
        self._stored += len(t)
        if self.bound is None:
            return
        if self._full(self._stored):
            self._halve(self.bound)
        elif self.stretch is not None and self._full(_AT_ONCE * (self._stored - self._done)):
            self._thin(self._done)

    def _columns(self) -> list[list[Any]]:
        """The blocks of all that is stored: times, states, numbers and signals."""
        return [self._t, self._x, self._xd, self._numbers, *self._signals]

    @property
    def _width(self) -> int:
        """Numbers in a sample."""
        width: int = sum(math.prod(blocks[-1].shape[1:]) for blocks in self._columns()) - 1
        return width

    def _full(self, samples: int) -> bool:
        """Whether so many samples exceed the bound."""
        return samples * self._width > thinning.MOST_NUMBERS

    def _halve(self, bound: Bound) -> None:
        """Thin the whole record until it is below its bound."""
        looked = sum(1 for _ in self._looked(self._stored - 1))
        if self.stretch is None:
            last = float(self._t[-1][-1])
            self.stretch = bound.stretch_for(last, self._width, max(looked, 1))
        self._thin(self._done)
        while self._full(self._stored) and self.stretch < bound.length:
            self.stretch *= 2
            self._thin(0)

    def _thin(self, first: int) -> None:
        """Thin the samples from number `first` of those stored on."""
        assert self.bound is not None
        assert self.stretch is not None
        if first >= self._stored:
            return
        with deferred():  # an interrupt would leave columns of different lengths
            t = _rest(self._t, first)
            kept = self.bound.kept(t, self._looked(first), self._width, self.stretch)
            for blocks in self._columns():
                _replace_rest(blocks, first, kept)
            left = t[kept]
            self._stored = first + len(left)
            self._done = first + self.bound.last_stretch(left, self.stretch)

    def _looked(self, first: int) -> Iterator[Floats]:
        """The numbers whose extremes are kept, from sample `first` on, each (N,): those of kept
        signals and continuous states without audits; of discrete states if there are no others.
        """
        some = False
        for name, blocks in zip(self.names, self._signals, strict=True):
            if not is_book(name):
                for column in _flat(_rest(blocks, first)):
                    some = True
                    yield column
        x = _rest(self._x, first)
        for name, part in self.engine.continuous.items():
            if not name.endswith(AUDIT):
                for column in _flat(x[:, part]):
                    some = True
                    yield column
        if not some:
            yield from _flat(_rest(self._xd, first))

    def end_stream(self, complete: bool) -> None:
        """Write the last samples into the stream. complete: whether the run reached its end."""
        self._gather()
        if self.stream is not None:
            self.stream.close(complete)

    def settle(self) -> None:
        """Thin what came last like the rest; at the end of a run."""
        self._gather()
        if self.bound is not None and self.stretch is not None:
            self._thin(self._done)

    def ends_at(self, t: float) -> bool:
        """Whether the last kept sample is at t."""
        self._gather()
        return bool(self._t) and bool(len(self._t[-1])) and bool(self._t[-1][-1] == t)

    @property
    def stored(self) -> int:
        """Number of samples in the record."""
        return self._stored + len(self._singles)

    def since(self, first: int, stride: int = 1) -> tuple[Floats, list[Floats], Floats, Floats]:
        """Every `stride`-th stored sample from number `first` on: times (N,), the kept signals,
        each (N, ...), the states (N, nx) and (N, nd).
        """
        self._gather()
        at = sum(int(np.searchsorted(numbers, first)) for numbers in self._numbers)
        t, x, xd, _, *signals = (_rest(blocks, at)[::stride] for blocks in self._columns())
        return t, signals, x, xd

    def times(self) -> Floats:
        """The times of the samples (N,) [s]."""
        self._gather()
        t: Floats = _joined(self._t)
        return t

    def signals(self) -> dict[str, NDArray[Any]]:
        """The kept signals by name, (N, ...)."""
        self._gather()
        return {name: _joined(kept) for name, kept in zip(self.names, self._signals, strict=True)}

    def states(self) -> dict[str, NDArray[Any]]:
        """The states of every block that has one, (N, nstates)."""
        self._gather()
        if not self._t:
            return {}
        x, xd = _joined(self._x), _joined(self._xd)
        states = {name: x[:, part] for name, part in self.engine.continuous.items()}
        return states | {name: xd[:, part] for name, part in self.engine.sampled.items()}

    def recompute(self, name: str) -> NDArray[Any]:
        """A signal that was not kept, or the rates of a block's states ('rates.plant'), computed
        from the recorded states. Raises KeyError for an unknown name.
        """
        t, x, xd = self.times(), _joined(self._x), _joined(self._xd)
        block = name.removeprefix(RATES)
        with np.errstate(all="ignore"):
            if name.startswith(RATES) and block in self.engine.continuous:
                part = self.engine.continuous[block]
                rows = [self.engine.derivative(*one)[part] for one in zip(t, x, xd, strict=True)]
                return np.array(rows).reshape(len(t), part.stop - part.start)
            return self.engine.over([name], t, x, xd)[0]


def _flat(values: Floats) -> Iterator[Floats]:
    """The columns of an array (N, ...), each (N,)."""
    yield from values.reshape(len(values), math.prod(values.shape[1:])).T


def _rest(blocks: list[Any], first: int) -> Any:
    """The rows from number `first` on of blocks, as one array."""
    left = sum(map(len, blocks)) - first
    found: list[Any] = []
    for block in reversed(blocks):
        if left <= 0:
            break
        found.append(block[max(len(block) - left, 0) :])
        left -= len(block)
    return found[0] if len(found) == 1 else np.concatenate(found[::-1] or [blocks[-1][:0]])


def _replace_rest(blocks: list[Any], first: int, kept: Any) -> None:
    """Keep some of the rows from number `first` on."""
    rest = _rest(blocks, first)[kept]
    while blocks and sum(map(len, blocks)) > first:
        last = blocks.pop()
        before = first - sum(map(len, blocks))
        if before > 0:
            blocks.append(last[:before])
    blocks.append(rest)


def _joined(blocks: list[Any]) -> Any:
    """Merge blocks of samples into one array. It replaces the blocks, so that samples are in
    memory only once.
    """
    if len(blocks) > 1:
        blocks[:] = [np.concatenate(blocks)]
    return blocks[0] if blocks else np.zeros(0)
