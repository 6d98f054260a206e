"""Runs of a page's WebAssembly outside of a browser, by the package wasmtime, to compare them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spart_blocks.base.errors import Fault, InputError, pip_install
from spart_blocks.measures.work import STATUSES
from spart_blocks.web.runnable import Runnable

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class PageRun:
    """A run. status: an entry of STATUSES, or "handed back"; t [s]: its last time; rows (k, n): the
    states at all samples; shown (k, m): signals, then frames of bodies; meters: as of a lane.
    """

    status: str
    t: float
    steps: int
    rows: Floats
    shown: Floats
    meters: Floats


class Executed:
    """The module of a runnable diagram, ready for runs. Raises InputError without wasmtime."""

    def __init__(self, made: Runnable) -> None:
        try:
            import wasmtime
        except ImportError:
            text = "WebAssembly is run by the package wasmtime, which is not there"
            raise InputError(Fault(text, hint=pip_install("web"))) from None
        self.made = made
        store = self._store = wasmtime.Store()
        module = wasmtime.Module(store.engine, made.module)
        self._exports: Any = wasmtime.Instance(store, module, []).exports(store)
        self._call("_initialize")

    def run(self, p: Floats | None = None) -> PageRun:
        """One run. p: parameters, by default the nominal ones."""
        made, program = self.made, self.made.program
        p = np.array(program.p if p is None else p, dtype=float)
        x0, xd0 = program.starts(p)
        ticks, due = made.setup.ticks
        known = made.setup.known_times(p[None])[0]
        count = int(known["known_to"][0] - known["known_from"][0])
        samples, width = made.setup.samples, len(x0) + len(xd0)
        data = made.data
        rows = self._put(np.full(len(samples) * width, np.nan))
        found, meters = self._room(2), self._room(data["meters"])
        places = [self._put(np.array(data["numbers"])), int(data["heeds_stiffness"])]
        places += [self._put(x0), self._put(xd0), (at_p := self._put(p))]
        places += [self._put(ticks), self._put(due), len(ticks), self._put(known["known"]), count]
        places += [(at_t := self._put(samples)), len(samples), found, self._room(len(x0))]
        places += [self._room(len(xd0)), meters, self._room(data["events"]), rows]
        code = self._call("sb_run", *places)
        shown_width = sum(one["count"] for one in data["signals"]) + 12 * len(data["bodies"])
        shown = self._room(len(samples) * shown_width)
        self._call("sb_show", at_t, rows, len(samples), at_p, shown)
        end, steps = self._read(found, 2)
        return PageRun(
            status=(*STATUSES, "handed back")[code % 8],
            t=float(end),
            steps=int(steps),
            rows=self._read(rows, len(samples) * width).reshape(len(samples), width),
            shown=self._read(shown, len(samples) * shown_width).reshape(len(samples), shown_width),
            meters=self._read(meters, data["meters"]),
        )

    def _call(self, name: str, *arguments: int) -> Any:
        return self._exports[name](self._store, *arguments)

    def _room(self, count: int) -> int:
        return int(self._call("sb_room", 8 * max(count, 1)))

    def _put(self, values: NDArray[Any]) -> int:
        data = np.ascontiguousarray(values).tobytes()
        at = self._room(-(-len(data) // 8))
        self._exports["memory"].write(self._store, data, at)
        return at

    def _read(self, at: int, count: int) -> Floats:
        data = self._exports["memory"].read(self._store, at, at + 8 * count)
        return np.frombuffer(bytes(data), dtype=float)


def differing(made: Runnable, ran: PageRun | None = None) -> str | None:
    """How the page's run differs from that of a lane; None if all bits are equal."""
    wanted, got = made.reference(), ran or Executed(made).run()
    status = STATUSES[int(wanted.status[0])]
    if status != got.status or float(wanted.t[0]) != got.t:
        return f"it is {got.status} at {got.t:g} s, and {status} at {float(wanted.t[0]):g} s"
    assert wanted.rows is not None
    rows = wanted.rows[0]
    if np.array_equal(rows, got.rows, equal_nan=True):
        return None
    apart = np.nanmax(np.abs(rows - got.rows))
    return f"states differ by up to {apart:.2g}"
