"""Blocks that work on each entry of their signals: numbers, or vectors of one length."""

from __future__ import annotations

from typing import Any

import numpy as np

from spart_blocks.base.spatial import Array
from spart_blocks.block_support.declared import Declared


class Channels(Declared):
    """A block that works on each entry of its signals. Its state has rows of w entries; a signal
    that is a number has one. By default its output is its state.
    """

    in_ports: Any
    out_ports: Any

    def begin(self, width: Any, without: str = "", **start: Any) -> dict[str, Any]:
        """The arguments of bdsim's constructor. width: length of the signals, None where the
        parameters give it. without: names of absent ports. start: the initial state, each part a
        number or a vector.
        """
        shape = self.shared_shape(width, **start)
        parts = [np.broadcast_to(part, shape or (1,)) for part in start.values()]
        ports = self.resolve_ports(n=shape, without=without)
        return {"x0": np.concatenate(parts), **ports} if parts else ports

    @property
    def _width(self) -> int:
        shape = (self.in_ports or self.out_ports)[0].shape
        return int(shape[0]) if shape else 1

    def _each(self, signal: Any) -> Any:
        """The entries of a signal (w,)."""
        return np.reshape(signal, (self._width,))

    def _signal(self, y: Any) -> Any:
        """The signal of entries (w,)."""
        return y if (self.in_ports or self.out_ports)[0].shape else y[0]

    def _parts(self, x: Array) -> list[Any]:
        """The rows of the state, each (w,)."""
        return [x[k : k + self._width] for k in range(0, len(x), self._width)]

    def output(self, t: float, inputs: list[Any], x: Any) -> list[Any]:
        return [self._signal(x)]
