"""Steps with their changes by a compiled loop over stages and directions."""

from __future__ import annotations

import ctypes
from functools import cache
from pathlib import Path

import numpy as np

from spart_blocks.base.tableaus import Tableau
from spart_blocks.gradients.tangents import Directions, Floats, Tangent
from spart_blocks.program.c.compiler import loaded_library

_POINTERS = ("rates", "along", "sums")
_COUNTS = ("nx", "nd", "ne", "m", "k", "s")
_TABLES = ("A", "b", "c", "e", "p", "dp", "size")
_PLACE = ("x", "xd", "start", "dx", "dxd")
_RESULTS = ("slopes", "changes", "sum", "x_after", "dx_after", "x_stage", "dx_stage", "one")


class _Struct(ctypes.Structure):
    """The struct sb_tangent_step of tangent_step.c, field by field."""

    _fields_ = (
        *((name, ctypes.c_void_p) for name in _POINTERS),
        *((name, ctypes.c_longlong) for name in _COUNTS),
        *((name, ctypes.c_void_p) for name in _TABLES),
        *((name, ctypes.c_double) for name in ("low", "high", "rtol", "atol", "t")),
        *((name, ctypes.c_void_p) for name in _PLACE),
        *((name, ctypes.c_void_p) for name in _RESULTS),
    )


@cache
def _library() -> ctypes.CDLL | None:
    source = Path(__file__).with_name("c") / "tangent_step.c"
    library = loaded_library(source.read_text("utf-8"))
    if library is not None:
        library.sb_tangent_try.restype = ctypes.c_double
        library.sb_tangent_try.argtypes = [ctypes.c_void_p, ctypes.c_double]
    return library


class CompiledSteps:
    """Tries steps of a method. Arrays are as those of steps.py."""

    def __init__(
        self,
        directions: Directions,
        method: Tableau,
        rates: Tangent,
        summed: Tangent | None,
        tolerances: tuple[float, float],
    ) -> None:
        """Raises LookupError where the functions are no machine code. tolerances: rtol and atol."""
        library = _library()
        codes = [rates.codes, *([summed.codes] if summed is not None else [])]
        if library is None or any(code is None for pair in codes for code in pair):
            raise LookupError("not compiled")
        self._try = library.sb_tangent_try
        engine, m = directions.engine, directions.m
        x, xd = engine.initial()
        k = 0 if summed is None else summed.n
        s = len(method.c)
        self.shapes = (s, m, len(x), k)
        self._tables = {
            "A": method.A, "b": method.b, "c": method.c, "p": engine.program.p,
            "dp": directions.dp.T, "size": directions.size,
        } | ({} if method.e is None else {"e": method.e})  # fmt: skip
        self._tables = {n: np.ascontiguousarray(a, float) for n, a in self._tables.items()}
        room = {"x_stage": np.empty(len(x)), "dx_stage": np.empty((m, len(x))), "one": np.empty(k)}
        self._room = room
        self._codes = codes  # they keep their libraries
        self._struct = _Struct(
            nx=len(x), nd=len(xd), ne=len(directions.entries), m=m, k=k, s=s,
            rtol=tolerances[0], atol=tolerances[1],
            **{name: array.ctypes.data for name, array in {**self._tables, **room}.items()},
        )  # fmt: skip
        pairs = zip(_POINTERS, (rates.codes[0], rates.codes[1]), strict=False)
        for name, code in pairs:
            assert code is not None
            setattr(self._struct, name, code.address)
        if summed is not None:
            assert summed.codes[1] is not None
            self._struct.sums = summed.codes[1].address

    def attempt(
        self,
        t: float,
        h: float,
        inside: tuple[float, float],
        states: tuple[Floats, Floats, Floats, Floats, Floats],
    ) -> tuple[Floats, Floats, Floats, Floats, Floats, float]:
        """One step of length h from time t. states: x, xd, the states at the start of the run's
        step, dx (nx, m), dxd (nd, m). Returns the slopes (s, nx) and changes (s, nx, m) of the
        stages, the sums (k, m), x and dx after it, and the error of the changes.
        """
        s, m, n, k = self.shapes
        q = self._struct
        q.t, q.low, q.high = t, *inside
        x, xd, start, dx, dxd = states
        given = [np.ascontiguousarray(a) for a in (x, xd, start, dx.T, dxd.T)]
        q.x, q.xd, q.start, q.dx, q.dxd = (array.ctypes.data for array in given)
        found = (np.empty((s, n)), np.empty((s, m, n)), np.empty((m, k)), np.empty(n),
                 np.empty((m, n)))  # fmt: skip
        q.slopes, q.changes, q.sum, q.x_after, q.dx_after = (a.ctypes.data for a in found)
        error = self._try(ctypes.byref(q), h)
        slopes, changes, sums, after, moved = found
        return slopes, changes.transpose(0, 2, 1), sums.T, after, moved.T, error
