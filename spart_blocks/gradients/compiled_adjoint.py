"""Rows of a tape backwards with adjoints, by a compiled loop."""

from __future__ import annotations

import ctypes
from dataclasses import dataclass

import numpy as np

from spart_blocks.gradients.lanes import Blocks, aligned
from spart_blocks.gradients.loops import MOST_PARTS, Equations, loop_of
from spart_blocks.gradients.tangents import Floats, Integers
from spart_blocks.run.engines.native import Native

_ADJOINTS = ("lx", "ld", "lp", "ls")
_ROOM = ("start", "starts", "slopes", "x_stage", "x_after", "xd_after", "w", "w_instant", "w_tick")
_ROOM_OF_SEEDS = ("found", "back", "seed", "before")


class _Struct(ctypes.Structure):
    """The struct sb_adjoints of adjoint_rows.h, field by field."""

    _fields_ = (
        ("blocks", ctypes.c_longlong),
        ("columns", ctypes.c_longlong),
        *((name, ctypes.c_void_p) for name in ("A", "b", "c", "e", "p", "weights")),
        *((name, ctypes.c_double) for name in ("rtol", "atol", "same", "exponent")),
        *((name, ctypes.c_void_p) for name in _ADJOINTS),
        *((name, ctypes.c_double) for name in ("low", "high", "off")),
        ("known", ctypes.c_longlong),
        *((name, ctypes.c_void_p) for name in (*_ROOM, *_ROOM_OF_SEEDS)),
    )


@dataclass(frozen=True)
class Adjoints:
    """The derivatives of n numbers by the states x (n, nx) and xd (n, nd) at a time, by the
    parameters that vary, p (n, ne), and by the integrals up to then, sums (n, k).
    """

    x: Floats
    xd: Floats
    p: Floats
    sums: Floats


class CompiledAdjoint:
    """Takes adjoints of n numbers backwards over the steps of a method."""

    def __init__(
        self, engine: Native, equations: Equations, n: int, tolerances: tuple[float, float, float]
    ) -> None:
        """tolerances: rtol, atol, and the size of a difference from the run. Raises LookupError
        where there is no machine code.
        """
        method = equations.method
        self._twice = 1 if method.e is None else 2
        self._in = blocks = Blocks.of(self._twice * n, 4)
        self._n = n
        loop = loop_of("adjoint", equations, engine, blocks.lanes)
        pointer, count = ctypes.c_void_p, ctypes.c_longlong
        self._rows = loop.function(
            *("sb_adjoint_rows", count), pointer, pointer, pointer, count, ctypes.c_int
        )  # fmt: skip
        nx, nd, k = equations.sizes
        ne, s = len(equations.entries), len(method.b)
        tables = {"A": method.A[:s, :s], "b": method.b, "c": method.c, "p": engine.program.p}
        weights = [method.b]
        if method.e is not None:
            tables["e"] = method.e
            weights.append(method.e)
        arrays = {name: np.ascontiguousarray(a, float) for name, a in tables.items()}
        lanes = np.repeat(np.array(weights), n, axis=0).T
        arrays["weights"] = aligned((s, blocks.count, blocks.lanes))
        arrays["weights"].reshape(s, -1)[:, : lanes.shape[1]] = lanes
        sizes = dict.fromkeys(("start", "x_stage", "x_after"), nx) | {"slopes": s * nx}
        sizes |= {"starts": MOST_PARTS * nx, "w": s * loop.rooms[0], "w_instant": loop.rooms[1]}
        sizes |= {"w_tick": loop.rooms[1], "xd_after": nd}
        arrays |= {name: aligned((size,)) for name, size in sizes.items()}
        one = blocks.lanes
        arrays |= {
            "found": aligned(((nx + nd + ne) * one,)),
            "back": aligned((s * nx * one,)),
            "seed": aligned(((nx + k) * one,)),
            "before": aligned(((2 * nx + nd + ne) * one * blocks.count,)),
            "ls": blocks.zeros(k),
        }
        self._kept = aligned(((nx + nd + ne) * one * blocks.count,))
        parts = np.split(self._kept, np.cumsum([nx, nd]) * one * blocks.count)
        for name, size, part in zip(_ADJOINTS[:3], (nx, nd, ne), parts, strict=True):
            arrays[name] = part.reshape(blocks.count, size, one)
        self._arrays = arrays
        rtol, atol, same = tolerances
        self._struct = _Struct(
            blocks=blocks.count, columns=n, rtol=rtol, atol=atol, same=same,
            exponent=1 / method.order,
            **{name: array.ctypes.data for name, array in arrays.items()},
        )  # fmt: skip

    def rows(
        self, tape: Floats, codes: Integers, after: Adjoints, *, starts: bool
    ) -> Adjoints | None:
        """The adjoints at the start of rows of a tape that are not special, from those after them.

        tape: the rows and the one after them, with their codes of stops.py. starts: whether the
        first begins at a stop. None where a repeated row differs from the run's, or has
        adjoints that need too short steps.
        """
        given = (after.x, after.xd, after.p, after.sums)
        for name, adjoints in zip(_ADJOINTS, given, strict=True):
            self._arrays[name][:] = self._in.packed(np.tile(adjoints, (self._twice, 1)).T)
        tape = np.ascontiguousarray(tape)
        count = len(tape) - 1
        codes = np.ascontiguousarray(codes)
        given_rows = tape.ctypes.data, codes.ctypes.data, count
        if self._rows(ctypes.byref(self._struct), *given_rows, int(starts)):
            return None
        found = (self._in.unpacked(self._arrays[name]) for name in _ADJOINTS)
        return Adjoints(*(one.T[: self._n] for one in found))
