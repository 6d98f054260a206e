"""Rows of a tape with their changes by a compiled loop, over directions in lanes."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from spart_blocks.gradients.lanes import Blocks, aligned
from spart_blocks.gradients.loops import Equations, loop_of
from spart_blocks.gradients.place import Place
from spart_blocks.gradients.tangents import Directions, Floats, Integers

_TABLES = ("A", "b", "c", "e", "p", "dp", "size")
_PLACE = ("x", "xd", "dx", "dxd", "sum")
_ROOM = ("start", "slopes", "x_stage", "x_after", "xd_after", "w", "w_instant")
_ROOM_OF_CHANGES = ("changes", "dx_stage", "dx_after", "dxd_after", "added")


class _Struct(ctypes.Structure):
    """The struct sb_tangents of tangent_rows.h, field by field."""

    _fields_ = (
        ("blocks", ctypes.c_longlong),
        *((name, ctypes.c_void_p) for name in _TABLES),
        *((name, ctypes.c_double) for name in ("rtol", "atol", "same", "exponent", "t")),
        *((name, ctypes.c_void_p) for name in _PLACE),
        *((name, ctypes.c_double) for name in ("low", "high")),
        ("wanted", ctypes.c_void_p),
        ("next", ctypes.c_longlong),
        ("last", ctypes.c_longlong),
        ("dense", ctypes.c_void_p),
        ("order", ctypes.c_longlong),
        *((name, ctypes.c_void_p) for name in ("read_x", "read_xd")),
        *((name, ctypes.c_double) for name in ("off", "read_before")),
        *((name, ctypes.c_void_p) for name in ("read_dx", "read_dxd")),
        ("known", ctypes.c_longlong),
        *((name, ctypes.c_void_p) for name in (*_ROOM, *_ROOM_OF_CHANGES)),
    )


class CompiledRows:
    """Repeats steps of a method with changes along directions. Arrays are as those of forward.py,
    with a column for each direction; in C, blocks of directions stand side by side.
    """

    def __init__(
        self, directions: Directions, equations: Equations, tolerances: tuple[float, float, float]
    ) -> None:
        """tolerances: rtol, atol, and the size of a difference from the run. Raises LookupError
        where there is no machine code.
        """
        self._in = blocks = Blocks.of(directions.m)
        loop = loop_of("tangent", equations, directions.engine, blocks.lanes)
        pointer, number = ctypes.c_void_p, ctypes.c_longlong
        self._rows = loop.function(
            *("sb_tangent_rows", number), pointer, pointer, pointer, number, ctypes.c_int
        )  # fmt: skip
        self._rates = loop.function(
            *("sb_tangent_rates", None), pointer, ctypes.c_double, ctypes.c_int
        )  # fmt: skip
        self._try = loop.function("sb_tangent_try", ctypes.c_double, pointer, ctypes.c_double)
        method = equations.method
        nx, nd, k = equations.sizes
        s, p = len(method.b), directions.engine.program.p
        tables = {"A": method.A[:s, :s], "b": method.b, "c": method.c, "p": p}
        tables |= {} if method.e is None else {"e": method.e}
        arrays = {name: np.ascontiguousarray(a, float) for name, a in tables.items()}
        arrays["dp"] = blocks.packed(directions.dp)
        arrays["size"] = blocks.packed(directions.size[None])
        arrays["size"][arrays["size"] == 0] = 1.0
        self._dense = np.ascontiguousarray(method.P) if method.reads else None
        sizes = dict.fromkeys(("x", "start", "x_stage", "x_after"), nx) | {"xd": nd, "xd_after": nd}
        sizes |= dict(zip(("w", "w_instant"), loop.rooms, strict=True)) | {"slopes": s * nx}
        arrays |= {name: aligned((size,)) for name, size in sizes.items()}
        rows = dict.fromkeys(("dx", "dx_stage", "dx_after"), nx) | {"dxd": nd, "dxd_after": nd}
        rows |= {"sum": k, "added": k}
        arrays |= {name: blocks.zeros(size) for name, size in rows.items()}
        arrays["changes"] = blocks.zeros(s, nx + k)
        arrays["slopes"] = arrays["slopes"].reshape(s, nx)
        self._arrays = arrays
        rtol, atol, same = tolerances
        self._struct = _Struct(
            blocks=blocks.count, rtol=rtol, atol=atol, same=same, exponent=1 / method.order,
            **{name: array.ctypes.data for name, array in arrays.items()},
        )  # fmt: skip

    @property
    def off(self) -> float:
        """By how much the states at the row that `rows` stopped at differ from the run's."""
        return float(self._struct.off)

    @property
    def reads(self) -> bool:
        """Whether the method's stages give its dense output."""
        return self._dense is not None

    def rows(
        self,
        at: Place,
        integral: Floats,
        tape: Floats,
        codes: Integers,
        *,
        starts: bool,
        wanted: Sequence[float],
    ) -> tuple[int, Place, Floats, list[Place]]:
        """Repeat rows of a tape that are not special.

        at: the states at the start of the first. integral (k, m): the changes of integrals there.
        codes: of the rows, as in stops.py. starts: whether the first begins at a stop. wanted:
        ascending times to read the states at, by the dense output of a method that has one. Returns
        the number of rows at whose starts the states were the run's, and at the end of the last the
        states and integral; and the states that were read.
        """
        q, arrays = self._struct, self._arrays
        self._set(at)
        arrays["sum"][:] = self._in.packed(integral)
        q.known, q.next, q.last = 0, 0, len(wanted)
        n, times = len(wanted), np.array(wanted, float)
        reads = {
            "wanted": times, "read_x": np.empty((n, len(at.x))),
            "read_xd": np.empty((n, len(at.xd))),
            "read_dx": aligned((n, *arrays["dx"].shape)),
            "read_dxd": aligned((n, *arrays["dxd"].shape)),
        }  # fmt: skip
        for name, array in reads.items():
            setattr(q, name, array.ctypes.data)
        q.dense = q.order = 0
        if n:
            assert self._dense is not None
            q.dense, q.order = self._dense.ctypes.data, self._dense.shape[1]
        tape, codes = np.ascontiguousarray(tape), np.ascontiguousarray(codes)
        given = tape.ctypes.data, codes.ctypes.data, len(tape)
        count = int(self._rows(ctypes.byref(q), *given, int(starts)))
        dx, dxd, total = (self._in.unpacked(arrays[name]) for name in ("dx", "dxd", "sum"))
        after = replace(
            at, t=float(q.t), x=arrays["x"].copy(), xd=arrays["xd"].copy(), dx=dx, dxd=dxd
        )
        changes = [self._in.unpacked(reads[name]) for name in ("read_dx", "read_dxd")]
        rows = zip(times.tolist(), reads["read_x"], reads["read_xd"], *changes, strict=True)
        return count, after, total, [replace(after, t=t, x=x, xd=xd, dx=dx, dxd=dxd)
                                     for t, x, xd, dx, dxd in rows]  # fmt: skip

    def attempt(
        self, at: Place, h: float, inside: tuple[float, float], start: Floats
    ) -> tuple[Floats, Floats, Floats, Floats, Floats, float]:
        """One step of length h from a place. start: the states at the start of the run's step.
        Returns the slopes (s, nx) and changes (s, nx, m) of the stages, the sums (k, m), x and dx
        after it, and the error of the changes.
        """
        q, arrays = self._struct, self._arrays
        self._set(at)
        arrays["start"][:] = start
        q.t, q.known = at.t, 0
        q.low, q.high = inside
        error = self._try(ctypes.byref(q), h)
        changes = self._in.unpacked(arrays["changes"])[:, : len(at.x)]
        sums, dx = self._in.unpacked(arrays["added"]), self._in.unpacked(arrays["dx_after"])
        return arrays["slopes"].copy(), changes, sums, arrays["x_after"].copy(), dx, error

    def slope(self, at: Place, t: float, start: Floats) -> Floats:
        """The rates (nx,) at a place, or at another time. start: as for `attempt`."""
        arrays = self._arrays
        arrays["x"][:], arrays["xd"][:], arrays["start"][:] = at.x, at.xd, start
        self._rates(ctypes.byref(self._struct), t, 0)
        return np.array(arrays["slopes"][0])

    def changes(self, at: Place, start: Floats) -> tuple[Floats, Floats]:
        """The changes of the rates (nx, m), and of the integrands (k, m)."""
        self._set(at)
        self._arrays["start"][:] = start
        self._rates(ctypes.byref(self._struct), at.t, 1)
        changes = self._in.unpacked(self._arrays["changes"][0])
        return changes[: len(at.x)], changes[len(at.x) :]

    def _set(self, at: Place) -> None:
        arrays = self._arrays
        arrays["x"][:], arrays["xd"][:] = at.x, at.xd
        arrays["dx"][:], arrays["dxd"][:] = self._in.packed(at.dx), self._in.packed(at.dxd)
