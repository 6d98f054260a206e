"""What a run keeps: time, states, and the signals that scopes or `log` ask for.

Samples come one at a time, or a block of many at once, which is kept as it is.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spart_blocks.simulation.engine import Engine, Floats


class Recorder:
    """Samples of the kept signals and of every state."""

    def __init__(self, engine: Engine, names: Sequence[str]) -> None:
        self.engine, self.names = engine, tuple(names)
        self._pick = engine.picked(self.names)
        self._acts = bool(engine.display.acting)
        self._t: list[Floats] = []
        self._x: list[Floats] = []
        self._xd: list[Floats] = []
        self._signals: list[list[Floats]] = [[] for _ in self.names]

    def keep(self, t: float, x: Floats, xd: Floats) -> None:
        """Evaluate the diagram at a sample and keep what is wanted of it."""
        values = self._pick(t, x, xd)
        self.adopt(np.array([t]), [v[None] for v in values], x[None].copy(), xd[None].copy())
        if self._acts:
            self.engine.act(t, x, xd)

    def keep_all(self, t: Floats, x: Floats, xd: Floats) -> None:
        """Keep many samples at which xd (nd,) is the same: t (N,), x (N, nx)."""
        if not len(t):
            return
        if self._acts:
            for one, state in zip(t, x, strict=True):
                self.keep(float(one), state, xd)
            return
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
        """Take over N samples made elsewhere: each kept signal, (N, ...)."""
        self._t.append(t)
        self._x.append(x)
        self._xd.append(xd)
        for kept, values in zip(self._signals, signals, strict=True):
            kept.append(values)

    def ends_at(self, t: float) -> bool:
        """Whether the last kept sample is at t."""
        return bool(self._t) and bool(len(self._t[-1])) and bool(self._t[-1][-1] == t)

    def times(self) -> Floats:
        """The times of the samples (N,) [s]."""
        return _joined(self._t)

    def signals(self) -> dict[str, NDArray[Any]]:
        """The kept signals by name, (N, ...)."""
        return {name: _joined(kept) for name, kept in zip(self.names, self._signals, strict=True)}

    def states(self) -> dict[str, NDArray[Any]]:
        """The states of every block that has one, (N, nstates)."""
        if not self._t:
            return {}
        x, xd = _joined(self._x), _joined(self._xd)
        states = {name: x[:, part] for name, part in self.engine.continuous.items()}
        return states | {name: xd[:, part] for name, part in self.engine.sampled.items()}

    def recompute(self, name: str) -> NDArray[Any]:
        """A signal that was not kept, from the kept states; KeyError where there is none."""
        with np.errstate(all="ignore"):
            return self.engine.over([name], self.times(), _joined(self._x), _joined(self._xd))[0]


def _joined(blocks: list[Floats]) -> Floats:
    """Blocks of samples as one array; a single one is not copied."""
    if len(blocks) == 1:
        return blocks[0]
    return np.concatenate(blocks) if blocks else np.zeros(0)
